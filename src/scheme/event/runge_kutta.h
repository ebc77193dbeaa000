/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * runge_kutta.h - one Runge-Kutta step of a system whose joints and some contacts are held.
 *
 *   M a = F + G lambda,    G^T a + c = 0     joints and held contacts, both as equalities
 *
 * is an ordinary differential equation v' = a(t, q, v), the index-1 form. An explicit tableau takes
 * one such acceleration a stage and keeps its classical order; an implicit one solves for the stage
 * accelerations K by simplified Newton iteration (methods: event capturing, 2.5):
 *
 *   V_i = v + h sum a_ij K_j,      Q_i = q + h sum a_ij V_j,      R_i = a(t + c_i h, Q_i, V_i) - K_i
 *   (I - h A x a_v - h^2 A^2 x a_q) dK = R        a_q, a_v at the start of the step
 *
 * With maps q' = N(q) v the coordinates are those of an ordinary differential equation, too: Q_i = q + h sum a_ij Q'_j
 * with Q'_j = N(Q_j) V_j, for implicit methods a fixed point of its own for the velocities at hand; quaternions get
 * length 1 at the end of the step, which moves them by no more than its error, so the order stays. The columns of a_q
 * are along velocities.
 *
 * A half-explicit tableau holds on velocity level instead, the index-2 form; see half_explicit.c.
 */
#ifndef SALTUSI_RUNGE_KUTTA_H
#define SALTUSI_RUNGE_KUTTA_H

#include "math/mixing.h"
#include "operator/operator.h"
#include "scheme/event/tableau.h"

/* Where a step starts, and what is held during it. A view. */
typedef struct saltusi_rk_start {
  double t;
  const double* q; /* [nq] */
  const double* v; /* [nv] */
  const int* keys; /* [count] held contacts */
  int count;
} saltusi_rk_start;

/* Stages of large systems (implicit_large.c). */
typedef struct saltusi_rk_large {
  bool on;
  bool plain; /* no forces depend on the motion */
  saltusi_linear linear;
  saltusi_operator op;
  saltusi_mixing mixing;
  double* x; /* [nv] */
} saltusi_rk_large;

typedef struct saltusi_rk {
  const saltusi_tableau* method;
  saltusi_linear mass;
  saltusi_operator held; /* rows with convective parts; P are the forces [N], joints first */
  double* K;             /* [stages x nv] accelerations */
  double* V;             /* [stages x nv] velocities */
  double* Q;             /* [nq] */
  double* rates;         /* [stages x nq] of Q; V itself where q' = v */
  double* forces;        /* [stages x (nj + nc)] */
  saltusi_rk_large
      large; /* of implicit methods with more unknowns than dense matrices are good for */
  /* of implicit methods with fewer; a0 and R of all: */
  double* a_q;    /* [nv x nv] */
  double* a_v;    /* [nv x nv] */
  double* a0;     /* [nv] acceleration at the start */
  double* a1;     /* [nv] */
  double* shift;  /* [nq] */
  double* unit;   /* [nv] of systems with maps */
  double* newton; /* [(stages nv)^2] */
  double* R;      /* [stages nv] */
  int* pivot;     /* [stages nv] */
  bool prepared;  /* a0, a_q and a_v belong to the present start */
  /* of half-explicit methods: */
  double* half_velocity; /* [nv] of the next stage, before it is held */
} saltusi_rk;

void saltusi_rk_layout(saltusi_rk* rk, const saltusi_tableau* method, const saltusi_eval* eval,
                       saltus_arena* arena);

/* a [nv] with `keys` held; forces stay in rk->held.P. */
saltus_status saltusi_rk_acceleration(saltusi_rk* rk, saltusi_eval* eval, const saltus_point* at,
                                      const int* keys, int count, double* a);

/* Has to be called when q, v, t or the held contacts of the start have changed. */
void saltusi_rk_restart(saltusi_rk* rk);

/* One step of length h from the start into q1, v1. SALTUS_RETRY_SMALLER when Newton's iteration
 * does not converge. */
saltus_status saltusi_rk_step(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                              double h, double* q1, double* v1);

/* The stages of a large system, from K on; residual: V from K, then R. */
typedef saltus_status saltusi_rk_residual_fn(saltusi_rk* rk, saltusi_eval* eval,
                                             const saltusi_rk_start* start, double h);
void saltusi_rk_large_layout(saltusi_rk_large* large, const saltusi_tableau* method,
                             const saltusi_eval* eval, saltus_arena* arena);
saltus_status saltusi_rk_large_stages(saltusi_rk* rk, saltusi_eval* eval,
                                      const saltusi_rk_start* start, double h,
                                      saltusi_rk_residual_fn* residual);

/* The stages of a half-explicit step (half_explicit.c). */
saltus_status saltusi_half_explicit_stages(saltusi_rk* rk, saltusi_eval* eval,
                                           const saltusi_rk_start* start, double h);

/* x = x0 + h sum over the first `stages` of weights k, all of n entries */
void saltusi_rk_combine(int n, int stages, const double* x0, double h, const double* weights,
                        const double* k, double* x);

/* Impulse of row `row` (joints first, then held contacts) over the last step of length h. */
double saltusi_rk_impulse(const saltusi_rk* rk, const saltus_dims* dims, int row, double h);

/* Adds the difference to the embedded method over the last step of length h. */
void saltusi_rk_add_error(const saltusi_rk* rk, const saltus_dims* dims, double h, double* q_error,
                          double* v_error);

#endif
