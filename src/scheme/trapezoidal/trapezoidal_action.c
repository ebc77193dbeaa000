/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_action.c - see trapezoidal_action.h.
 */
#include "scheme/trapezoidal/trapezoidal_action.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void saltusi_action_layout(saltusi_action* action, const saltus_system* sys, saltus_arena* arena) {
  assert(action != NULL && sys != NULL && arena != NULL);
  int nv = sys->dims.nv;
  saltusi_linear_layout(&action->linear, sys, arena);
  action->u = SALTUS_PUSH(arena, double, nv);
  action->u_free = SALTUS_PUSH(arena, double, nv);
  action->momentum = SALTUS_PUSH(arena, double, nv);
  action->residual = SALTUS_PUSH(arena, double, nv);
  action->force = SALTUS_PUSH(arena, double, nv);
  action->q_next = SALTUS_PUSH(arena, double, sys->dims.nq);
  action->turned = SALTUS_PUSH(arena, double, saltusi_has_maps(sys) ? nv : 0);
  action->way = SALTUS_PUSH(arena, double, saltusi_has_maps(sys) ? nv : 0);
  saltusi_displacement_layout(&action->ways, sys, arena);
  saltusi_rate_rows_layout(&action->end_rows, sys, arena);
}

/* y = 1/2 E [M(t,q) + M(t + h, q_next)] u */
static void mean_momentum(saltusi_action* a, saltusi_impulse_node* node, const saltusi_step* s,
                          const saltus_point* at, const double* q_next, double* y) {
  int nv = s->eval->sys.dims.nv;
  const saltus_system* sys = &s->eval->sys;
  saltusi_impulse_node_mass_times(node, s, at, a->u, y);
  if ((sys->traits & SALTUS_CONSTANT_MASS) == 0) {
    saltus_point next = saltusi_at(s->eval, at->t + s->h, q_next, a->u);
    saltusi_impulse_node_mass_times(node, s, &next, a->u, node->product);
    for (int i = 0; i < nv; i++) {
      y[i] = 0.5 * (y[i] + node->product[i]);
    }
  }
  if (saltusi_has_maps(sys)) {
    for (int i = 0; i < nv; i++) {
      a->way[i] = s->h * a->u[i];
    }
    const saltusi_displacement way = {.q0 = at->q, .q1 = q_next, .d = a->way};
    saltusi_displacement_momentum(&a->ways, sys, &way, y, a->turned);
    memcpy(y, a->turned, (size_t)nv * sizeof(double));
  }
}

/* y += factor (F + M' u) at a point */
static void add_derivative(saltusi_action* a, saltusi_impulse_node* node, const saltusi_step* s,
                           const saltus_point* at, double factor, double* y) {
  saltusi_force(s->eval, at, a->force);
  saltusi_add_scaled(s->eval->sys.dims.nv, factor, a->force, y);
  saltusi_impulse_node_add_convective(node, s, at, factor, y);
}

saltus_status saltusi_action_linearize(saltusi_action* a, saltusi_impulse_node* node,
                                       const saltusi_step* s, const saltus_point* at) {
  assert(a != NULL && node != NULL && s != NULL && at != NULL);
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  saltusi_advance(sys, at->q, a->u, s->h, a->q_next);
  saltus_point here = saltusi_at(s->eval, at->t, at->q, a->u);
  saltus_status status = saltusi_linear_assemble(s->eval, &a->linear, &here, 1.0, -0.5 * s->h, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  mean_momentum(a, node, s, &here, a->q_next, a->residual);
  add_derivative(a, node, s, &here, -0.5 * s->h, a->residual);
  for (int i = 0; i < nv; i++) {
    a->u_free[i] = a->momentum[i] - a->residual[i];
  }
  saltusi_linear_solve(s->eval, &a->linear, a->u_free);
  saltusi_add_scaled(nv, 1.0, a->u, a->u_free);
  return SALTUS_OK;
}

void saltusi_action_finish(saltusi_action* a, saltusi_impulse_node* node, const saltusi_step* s,
                           const double* q0, double* q1) {
  assert(a != NULL && node != NULL && s != NULL);
  saltusi_advance(&s->eval->sys, q0, a->u, s->h, q1);
  saltus_point at = saltusi_at(s->eval, s->t, q0, a->u);
  mean_momentum(a, node, s, &at, q1, a->momentum);
  at = saltusi_at(s->eval, s->t + s->h, q1, a->u);
  add_derivative(a, node, s, &at, 0.5 * s->h, a->momentum);
}

void saltusi_action_joints(saltusi_action* a, saltusi_impulse_node* node, const saltusi_step* s,
                           double t) {
  assert(a != NULL && node != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  if (sys->dims.nj == 0) {
    return;
  }
  saltusi_operator* op = &node->op;
  saltus_point at = saltusi_at(s->eval, t + s->h, a->q_next, a->u);
  sys->ops->joints(sys->self, &at, op->rhs);
  saltusi_rate_rows_mean(&a->end_rows, sys, &op->rows, &at, s->h, op->rhs);
  for (int j = 0; j < sys->dims.nj; j++) {
    op->rhs[j] = op->rhs[j] / s->h + saltusi_row_dot(&op->rows, j, a->u_free) -
                 saltusi_row_dot(&op->rows, j, a->u);
  }
}

bool saltusi_action_is_linear(const saltus_system* sys) {
  assert(sys != NULL);
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  return (sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
         sys->dims.nj == 0 && !saltusi_has_maps(sys);
}

saltusi_progress saltusi_action_judge(saltusi_action* a, const saltusi_step* s, int iteration,
                                      double tol, double* change) {
  assert(a != NULL && s != NULL && tol >= 0.0);
  const saltus_dims* d = &s->eval->sys.dims;
  int nv = d->nv;
  double before = *change;
  /* u_free counts as well: velocities of bodies at rest are at the level of rounding */
  double size = fmax(saltusi_max_abs(nv, a->residual), saltusi_max_abs(nv, a->u));
  size = fmax(size, saltusi_max_abs(nv, a->u_free));
  saltusi_add_scaled(nv, -1.0, a->u, a->residual);
  *change = saltusi_max_abs(nv, a->residual);
  if (!isfinite(*change)) {
    return SALTUSI_NOT_A_NUMBER;
  }
  /* The last digits may fluctuate: an iteration that no longer shrinks has converged as well. u
   * follows from positions, gaps and joints divided by h, so that its rounding is that of positions
   * divided by h, also for slow motion: a pendulum at its turning point has almost no velocity. */
  double rounding = 64.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(d->nq, a->q_next)) / s->h;
  bool still = iteration > 1 && *change >= before;
  /* Friction of an over-constrained body is not unique, and the iteration may find another load
   * distribution each time: an impulse that repeats itself up to rounding has converged too. */
  bool long_enough = iteration > 10 && *change <= rounding;
  bool arrived =
      *change <= tol * size || (still && *change <= 1e5 * tol * size + rounding) || long_enough;
  return arrived ? SALTUSI_ARRIVED : SALTUSI_GO_ON;
}
