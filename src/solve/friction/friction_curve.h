/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_curve.h - coefficients of friction that depend on slip, in problems that have the slip as an answer: steps, and impacts by
 * every law (docs/theory/laws.md, 3.2).
 *
 *   P_T against u_T with mu(|u_T|) P_N,   |P_T| <= mu_s P_N where u_T = 0,   u_T the slip at the end
 *
 * Where mu falls with slip the problem may have several answers, and what the contact did before chooses: one that slid is
 * tried with the coefficient of that slip, one that stuck, or whose slip would turn round, with that of sticking first. The
 * rest is a fixed point on mu. Steps and impacts choose alike, so that steps of any scheme have impacts as their limit.
 */
#ifndef SALTUSI_FRICTION_CURVE_H
#define SALTUSI_FRICTION_CURVE_H

#include "saltus/friction_law.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct saltusi_curve {
  double ratio; /* of the coefficient to that of sticking */
  bool sticks;  /* it is tried with the coefficient of sticking */
  bool tried;   /* that has been tried before */
  double way;   /* last change of the ratio */
} saltusi_curve;

/* Rounds of the fixed point, and of these how many take the whole change of mu and half of it where it goes to and fro;
 * then a tenth. Where mu falls with slip it goes one way, and slowly past where an answer has just vanished: impacts, which
 * no smaller step helps, have more rounds. */
enum {
  SALTUSI_CURVE_ROUNDS = 400,
  SALTUSI_CURVE_ROUNDS_IMPACT = 20000,
  SALTUSI_CURVE_UNDAMPED = 20,
  SALTUSI_CURVE_DAMPED = 80
};
/* A change of ratios that is none. */
static const double saltusi_curve_settled = 1e-11;

static inline bool saltusi_has_curve(const saltus_friction_law* law) {
  return law != NULL && law->curve != SALTUS_CURVE_CONSTANT;
}

/* Part of a change to and fro that a round takes. */
static inline double saltusi_curve_damping(int round) {
  return round < SALTUSI_CURVE_UNDAMPED ? 1.0 : round < SALTUSI_CURVE_DAMPED ? 0.5 : 0.1;
}

/* First try of a contact that slips with `before` [m/s], 0: it rests; mu of sticking. */
void saltusi_curve_start(saltusi_curve* c, const saltus_friction_law* law, double mu,
                         double before);

/* After a round that ends with slip `after` [m/s], 0: at rest; turned: against that before. How much the ratio changes. */
double saltusi_curve_follow(saltusi_curve* c, const saltus_friction_law* law, double mu,
                            double after, bool turned, double damping);

#endif
