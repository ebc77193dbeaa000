/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * runge_kutta.h - one Runge-Kutta step of a system with joints and active contacts.
 *
 *   M a = F + G lambda,    G^T a + c = 0     joints and active contacts, both as equalities
 *
 * is an ordinary differential equation v' = a(t, q, v), the index-1 form. An explicit tableau evaluates one such
 * acceleration per stage and keeps its classical order; an implicit one solves for the stage accelerations K by
 * simplified Newton iteration (docs/theory/event-capturing.md, 2.6):
 *
 *   V_i = v + h sum a_ij K_j,      Q_i = q + h sum a_ij V_j,      R_i = a(t + c_i h, Q_i, V_i) - K_i
 *   (I - h A x a_v - h^2 A^2 x a_q) dK = R        a_q, a_v at the start of the step
 *
 * With maps q' = N(q) v the coordinates are those of an ordinary differential equation, too: Q_i = q + h sum a_ij Q'_j
 * with Q'_j = N(Q_j) V_j, for implicit methods a fixed point of its own for the velocities at hand; quaternions get
 * length 1 at the end of the step, which moves them by no more than its error, so the order stays. The columns of a_q
 * are along velocities.
 *
 * Friction of contacts that slip in space has the direction of the velocities of a stage: near the ends of slip that is
 * stiff, and differs from stage to stage. Implicit methods solve for the directions of their stages besides
 * (implicit_slip.c).
 *
 * A half-explicit tableau holds on velocity level instead, the index-2 form; see half_explicit.c.
 */
#ifndef SALTUSI_RUNGE_KUTTA_H
#define SALTUSI_RUNGE_KUTTA_H

#include "math/anderson.h"
#include "scheme/event/acceleration.h"
#include "scheme/event/tableau.h"

/* Start of a step and its active contacts. A view. */
typedef struct saltusi_rk_start {
  double t;
  const double* q;          /* [nq] */
  const double* v;          /* [nv] */
  saltusi_active_rows held; /* contacts */
} saltusi_rk_start;

/* Stages of large systems (implicit_large.c). */
typedef struct saltusi_rk_large {
  bool on;
  bool plain; /* forces are independent of the motion */
  saltusi_linear linear;
  saltusi_operator op;
  saltusi_anderson mixing;
  double* x; /* [nv] */
} saltusi_rk_large;

/* Directions of slip in space, one for each stage (implicit_slip.c). */
typedef struct saltusi_rk_follow_work {
  bool on;           /* they hold now */
  int most;          /* capacity for contacts */
  int* contact;      /* [most] indices among the active contacts */
  double* direction; /* [stages x 2 nc] by key */
  double* slip;      /* [stages x 2 nc] m/s, by index among the active contacts */
  double* turned;    /* [nv] change of an acceleration by a rotation of one direction */
  double* tangents;  /* [2 most x nv] rows of tangents at the start */
  double* J;         /* [(stages most)^2] */
  double* g;         /* [stages most] */
  int* pivot;        /* [stages most] */
} saltusi_rk_follow_work;

typedef struct saltusi_rk {
  const saltusi_tableau* method;
  saltusi_linear mass;
  saltusi_operator held; /* rows with convective parts; P are the forces [N], joints first */
  double* K;             /* [stages x nv] accelerations */
  double* V;             /* [stages x nv] velocities */
  double* Q;             /* [nq] */
  double* rates;         /* [stages x nq] of Q; V itself where q' = v */
  int each;              /* rows of forces of a contact: 1, with friction 3 */
  double* forces;        /* [stages x (nj + each nc)] */
  double*
      powers; /* [stages x (2 nc + 1)] W, of friction and on moving surfaces by contact; of joints */
  saltusi_rk_large large; /* of implicit methods for systems too large for dense matrices */
  /* of implicit methods with fewer; a0 and R of all: */
  double* a_q;                   /* [nv x nv] */
  double* a_v;                   /* [nv x nv] */
  double* a0;                    /* [nv] acceleration at the start */
  double* a1;                    /* [nv] */
  double* shift;                 /* [nq] */
  double* unit;                  /* [nv] of systems with maps */
  double* newton;                /* [(stages nv)^2] */
  double* R;                     /* [stages nv] */
  int* pivot;                    /* [stages nv] */
  bool prepared;                 /* a0, a_q and a_v are valid for the present start */
  saltusi_rk_follow_work follow; /* of implicit methods with slip in space */
  /* of half-explicit methods: */
  double* half_velocity; /* [nv] of the next stage, before constraints are enforced */
} saltusi_rk;

void saltusi_rk_layout(saltusi_rk* rk, const saltusi_tableau* method, const saltusi_eval* eval,
                       saltus_arena* arena);

/* a [nv] with active contacts as equalities; forces remain in rk->held.P. */
saltus_status saltusi_rk_acceleration(saltusi_rk* rk, saltusi_eval* eval, const saltus_point* at,
                                      const saltusi_active_rows* held, double* a);

/* The force of active contact i after that, normal first; tangential components are zero without friction. */
void saltusi_rk_force(const saltusi_rk* rk, const saltusi_active_rows* held, int i,
                      double force[3]);

/* Stores the forces of a stage. */
void saltusi_rk_keep(saltusi_rk* rk, const saltus_dims* dims, const saltusi_active_rows* held,
                     int stage);

/* Discards the derivatives at the start; to be called after a change of q, v, t or the active contacts there. */
void saltusi_rk_restart(saltusi_rk* rk);

/* One step of length h from the start into q1, v1. SALTUS_RETRY_SMALLER when Newton's iteration
 * does not converge. */
saltus_status saltusi_rk_step(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                              double h, double* q1, double* v1);
/* The same with the acceleration at the start in all stages of an implicit method. */
saltus_status saltusi_rk_coast(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                               double h, double* q1, double* v1);

/* The stages of a large system, from K on; residual: V from K, then R. */
typedef saltus_status saltusi_rk_residual_fn(saltusi_rk* rk, saltusi_eval* eval,
                                             const saltusi_rk_start* start, double h);
void saltusi_rk_large_layout(saltusi_rk_large* large, const saltusi_tableau* method,
                             const saltusi_eval* eval, saltus_arena* arena);
saltus_status saltusi_rk_large_stages(saltusi_rk* rk, saltusi_eval* eval,
                                      const saltusi_rk_start* start, double h,
                                      saltusi_rk_residual_fn* residual);

/* The acceleration of stage i for the velocities V and the stages of q that they make. */
saltus_status saltusi_rk_stage(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                               double h, int i, double* a);

/* implicit_slip.c: whether contacts slip in space. Without the following function friction has the initial direction in
 * every stage. */
void saltusi_rk_follow_layout(saltusi_rk_follow_work* f, const saltusi_tableau* method,
                              const saltusi_eval* eval, saltus_arena* arena);
bool saltusi_rk_follows(saltusi_rk* rk, const saltus_dims* dims, const saltusi_rk_start* start);
/* The stages with friction against their slip; stages: those for given directions, from K on. */
saltus_status saltusi_rk_follow(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                                double h, saltusi_rk_residual_fn* stages);

/* The stages of a half-explicit step (half_explicit.c). */
saltus_status saltusi_half_explicit_stages(saltusi_rk* rk, saltusi_eval* eval,
                                           const saltusi_rk_start* start, double h);

/* x = x0 + h sum over the first `stages` of weights k, all of n entries */
void saltusi_rk_combine(int n, int stages, const double* x0, double h, const double* weights,
                        const double* k, double* x);

/* Impulse of row `row` (joints first, then held contacts, rk->each of them) over the last step of length h. */
double saltusi_rk_impulse(const saltusi_rk* rk, const saltus_dims* dims, int row, double h);

/* Work of friction at held contact i over the last step of length h, and of its force on a surface that moves. */
void saltusi_rk_contact_work(const saltusi_rk* rk, const saltus_dims* dims, int i, double h,
                             double work[2]);

/* Work of all joints on their prescribed motion, lambda . b, over the last step of length h. */
double saltusi_rk_joint_work(const saltusi_rk* rk, const saltus_dims* dims, double h);

/* Adds the difference of the embedded method over the last step of length h. */
void saltusi_rk_add_error(const saltusi_rk* rk, const saltus_dims* dims, double h, double* q_error,
                          double* v_error);

#endif
