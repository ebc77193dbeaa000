/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_problems.h - the problems of Schindler and Acary 2011 and others (docs/theory/problems.md, 6),
 * with their exact motions. Used by studies and tests.
 */
#ifndef STUDIES_DG_PROBLEMS_H
#define STUDIES_DG_PROBLEMS_H

#include "saltus/scheme.h"
#include "saltus/time_dg.h"

/* ---- one mass over a floor --------------------------------------------------------------------- */

/* Unit mass under a force that depends on time alone. */
typedef struct dg_ball {
  const char* name;
  double (*force)(double t); /* N */
  bool floor;
  double restitution;
  double q0;                            /* m; v0 = 0 */
  double t_end;                         /* s */
  void (*exact)(double t, double x[3]); /* q, v, i right of t */
  double (*jump)(int k);                /* s, the k-th instant where the motion is not smooth */
  int jumps;
} dg_ball;

/* "4.2", "4.3", "4.4" of the paper, "4.2s" and "4.3s" with forces that no quadrature takes exactly,
 * "take-off"; NULL: no such problem. */
const dg_ball* dg_ball_find(const char* name);

/* L1 errors over [0, t_end] of q [m s], v [m] and the interaction i [N s^2], by dense output, exact
 * to the quadrature: each step is cut at the jumps of the motion. */
typedef struct dg_errors {
  double q, v, i;
  double q_end, v_end;               /* at t_end */
  double q_last, v_last;             /* values there */
  double least_force, largest_force; /* N, in the last step */
  int impacts;                       /* steps with an impulse */
  saltus_work work;
} dg_errors;

saltus_status dg_ball_measure(const dg_ball* ball, const char* scheme, const void* options,
                              int steps, saltus_log log, dg_errors* errors);

/* ---- systems ----------------------------------------------------------------------------------- */

typedef struct dg_motion {
  const char* name;
  saltus_system (*system)(void);
  double q0[3], v0[3];
  int n; /* coordinates */
} dg_motion;

extern const dg_motion dg_spring_pendulum; /* T3: M = diag(1, l^2), damped and driven */
extern const dg_motion dg_bowl;            /* T4: in a circle from 60 degrees, gravity 10 */
extern const dg_motion dg_bar;             /* T5: two contacts, one closed */
extern const dg_motion dg_block;           /* T7: spring and Coulomb friction */

/* Oscillator x'' = -k x - c x'. */
typedef struct dg_oscillator {
  double stiffness, damping;
} dg_oscillator;

typedef struct dg_end {
  double q[3], v[3];
  double lasting[2], impulse[2]; /* N s by contact, over the run; normal */
  double force;                  /* N, of contact 0 at the end of the last step, left */
  double drift;                  /* m, largest |gap| of contact 0 at the ends of steps */
  int impacts;                   /* contacts and steps with an impulse */
  int lost;                      /* steps in which contact 0 did not take part */
  int sweeps;
  saltus_work work;
} dg_end;

saltus_status dg_motion_run(const dg_motion* motion, const char* scheme, const void* options,
                            double t_end, int steps, saltus_log log, dg_end* end);

/* Reference at t = 1 by classical Runge-Kutta steps: of dg_spring_pendulum, and of dg_bowl with the
 * impulse and the force of the contact. */
void dg_spring_pendulum_exact(double q[2], double v[2]);
void dg_bowl_exact(double q[2], double v[2], double* impulse, double* force);

/* Largest modulus of the eigenvalues of one step of length 1 of the oscillator; adds to `work`. */
saltus_status dg_growth(const char* scheme, const void* options, const dg_oscillator* oscillator,
                        saltus_log log, double* growth, saltus_work* work);

/* The same for x'' = -c x' alone: |v1 / v0|. */
saltus_status dg_decay(const char* scheme, const void* options, double damping, saltus_log log,
                       double* factor, saltus_work* work);

#endif
