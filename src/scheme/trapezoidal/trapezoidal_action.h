/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_action.h - one step of the trapezoidal action, with momenta at both ends.
 *
 *   p_k     = 1/2 [M(q_k) + M(q_{k+1})] u - h/2 (F + M' u)(t_k, q_k, u),        q_{k+1} = q_k + h u
 *   p_{k+1} = 1/2 [M(q_k) + M(q_{k+1})] u + h/2 (F + M' u)(t_{k+1}, q_{k+1}, u)
 *
 * F + M' u = T_q + f is the derivative of the Lagrangian by q, with M' the rate of M along u. The map
 * from (q_k, p_k) to (q_{k+1}, p_{k+1}) is symplectic and symmetric, of order 2; with a constant mass
 * matrix it is the method of Stoermer and Verlet.
 *
 * With maps q' = N(q) v the step goes along constant velocity, q_{k+1} = q_k advanced along u, and the mean momentum
 * 1/2 [M + M] u is multiplied by E of system/displacement.h: the discrete Euler-Lagrange equations of the same action on a
 * group, whose variations of u are h du = T(h u)^-1 eta_{k+1} - T(-h u)^-1 eta_k. F has the gyroscopic force
 * ad_u^T M u, which T_q + f has not; half of it before and after the step is the odd part of T^-1. This requires M to
 * be constant under rotations, as for rigid bodies.
 *
 * Degree 2 has positions that are quadratic in time, with velocities u - a, u, u + a at the start, the middle and the
 * end of the step, and Simpson's rule for the action (Marsden and West, Acta Numerica 10 (2001) 357-514, section
 * 2.2.6; docs/theory/variational.md, 2.8). Its map is symplectic and of order 4:
 *
 *   0       = M_0 (u - a) - M_1 (u + a) + h (F + M' v)_m,         q_m = q_k + h/2 u - h/4 a
 *   p_k     = 1/2 M_0 (u - a) + 2/3 M_m u - 1/6 M_1 (u + a) - h/6 (F + M' v)_0
 *   p_{k+1} = -1/6 M_0 (u - a) + 2/3 M_m u + 1/2 M_1 (u + a) + h/6 (F + M' v)_1
 */
#ifndef SALTUSI_TRAPEZOIDAL_ACTION_H
#define SALTUSI_TRAPEZOIDAL_ACTION_H

#include "scheme/position/impulse_node.h"
#include "scheme/position/rate_rows.h"
#include "system/displacement.h"

typedef struct saltusi_action {
  saltusi_linear
      linear;       /* Newton's matrix M(q_k) - h/2 F_v(t_k, q_k, u); omitted terms are O(h^2) */
  double* u;        /* [nv] */
  double* u_free;   /* [nv] */
  double* momentum; /* [nv] at the start, then at the end */
  double* residual; /* [nv] */
  double* force;    /* [nv] */
  double* q_next;   /* [nq] q_k + h u */
  double* turned;   /* [nv] of systems with maps */
  double* way;      /* [nv] h u, of those */
  saltusi_displacement_map ways;
  saltusi_row_block end_rows; /* of nonholonomic joints at q_next */
  int degree;                 /* of positions in time, 1 or 2 */
  double* half_change;        /* [nv] a, half the change of the velocity in the step, of degree 2 */
  double* correction;         /* [nv] of a in the last iteration */
  double* v_node;             /* [nv] u - a or u + a */
  double* q_middle;           /* [nq] */
} saltusi_action;

void saltusi_action_layout(saltusi_action* action, int degree, const saltus_system* sys,
                           saltus_arena* arena);

/* q_next and u_free = u - K^-1 R without impulses, R the first equation; at is (t_k, q_k, -). */
saltus_status saltusi_action_linearize(saltusi_action* action, saltusi_impulse_node* node,
                                       const saltusi_step* s, const saltus_point* at);

/* momentum = p_{k+1} from u; q1 is written. */
void saltusi_action_finish(saltusi_action* action, saltusi_impulse_node* node,
                           const saltusi_step* s, const double* q0, double* q1);

/* Right-hand sides g(t + h, q_next) / h + G^T (u_free - u): zero when the joints hold at the end; of rate rows with
 * their mean velocity in place of g / h. */
void saltusi_action_joints(saltusi_action* action, saltusi_impulse_node* node,
                           const saltusi_step* s, double t);

/* One iteration is exact: the degree is 1, M is constant, F linear, and no position is used. */
bool saltusi_action_is_linear(const saltusi_action* action, const saltus_system* sys);

typedef enum saltusi_progress {
  SALTUSI_GO_ON,
  SALTUSI_ARRIVED,
  SALTUSI_NOT_A_NUMBER
} saltusi_progress;

/* Evaluates an iteration that led from action->residual to u; change holds the last one. */
saltusi_progress saltusi_action_judge(saltusi_action* action, const saltusi_step* s, int iteration,
                                      double tol, double* change);

#endif
