/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_curve.h - coefficients of friction that depend on slip, in problems that have the slip as an answer: steps, and impacts by
 * every law (docs/theory/laws.md, 3.2).
 *
 *   P_T against u_T with mu(|u_T|) P_N,   |P_T| <= mu_s P_N where u_T = 0,   u_T the slip at the end
 *
 * Where mu decreases with slip the problem may have several solutions, and the previous mode selects one: a contact
 * that slid starts with the coefficient of that slip; one that stuck, or whose slip would reverse, with that of
 * sticking. A fixed-point iteration on mu follows. Steps and impacts use the same rule, so impacts are the limit of
 * small steps.
 */
#ifndef SALTUSI_FRICTION_CURVE_H
#define SALTUSI_FRICTION_CURVE_H

#include "saltus/friction_law.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct saltusi_curve {
  double ratio; /* of the coefficient to that of sticking */
  bool sticks;  /* the present trial has the coefficient of sticking */
  bool tried;   /* sticking has been tried before */
  double way;   /* last change of the ratio */
} saltusi_curve;

/* Largest number of fixed-point iterations. The first of them take the whole change of mu, the next half of it if it
 * oscillates, the others a tenth. Where mu decreases with slip, convergence is slow near a fold of the solution;
 * impacts, for which no smaller step exists, have more iterations. */
enum {
  SALTUSI_CURVE_ROUNDS = 400,
  SALTUSI_CURVE_ROUNDS_IMPACT = 20000,
  SALTUSI_CURVE_UNDAMPED = 20,
  SALTUSI_CURVE_DAMPED = 80
};
/* Tolerance of the ratio. */
static const double saltusi_curve_settled = 1e-11;

static inline bool saltusi_has_curve(const saltus_friction_law* law) {
  return law != NULL && law->curve != SALTUS_CURVE_CONSTANT;
}

/* Damping of an oscillating change. */
static inline double saltusi_curve_damping(int round) {
  return round < SALTUSI_CURVE_UNDAMPED ? 1.0 : round < SALTUSI_CURVE_DAMPED ? 0.5 : 0.1;
}

/* Initial coefficient of a contact that slips with `before` [m/s] (0: at rest); mu of sticking. */
void saltusi_curve_start(saltusi_curve* c, const saltus_friction_law* law, double mu,
                         double before);

/* Updates the ratio after an iteration with slip `after` [m/s] (0: at rest); turned: the slip has reversed. Returns the
 * change of the ratio. */
double saltusi_curve_follow(saltusi_curve* c, const saltus_friction_law* law, double mu,
                            double after, bool turned, double damping);

#endif
