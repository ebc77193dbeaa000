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

void saltusi_action_layout(saltusi_action* action, int degree, const saltus_system* sys,
                           saltus_arena* arena) {
  assert(action != NULL && (degree == 1 || degree == 2) && sys != NULL && arena != NULL);
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
  action->degree = degree;
  action->half_change = SALTUS_PUSH(arena, double, degree == 2 ? nv : 0);
  action->correction = SALTUS_PUSH(arena, double, degree == 2 ? nv : 0);
  action->v_node = SALTUS_PUSH(arena, double, degree == 2 ? nv : 0);
  action->q_middle = SALTUS_PUSH(arena, double, degree == 2 ? sys->dims.nq : 0);
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

/* The nodes of an element of degree 2. */
typedef enum element_node { NODE_START, NODE_MIDDLE, NODE_END } element_node;

/* The point of a node with its velocity, of the element from `start` to q1; q_middle is current. */
static saltus_point node_point(saltusi_action* a, const saltusi_step* s, const saltus_point* start,
                               element_node which, const double* q1) {
  static const double part[3] = {-1.0, 0.0, 1.0};
  const double* q[3] = {start->q, a->q_middle, q1};
  memcpy(a->v_node, a->u, (size_t)s->eval->sys.dims.nv * sizeof(double));
  saltusi_add_scaled(s->eval->sys.dims.nv, part[which], a->half_change, a->v_node);
  return saltusi_at(s->eval, start->t + 0.5 * (int)which * s->h, q[which], a->v_node);
}

/* y += sum of weight M v over the nodes. */
static void add_momenta(saltusi_action* a, saltusi_impulse_node* node, const saltusi_step* s,
                        const saltus_point* start, const double* q1, const double weight[3],
                        double* y) {
  for (int k = NODE_START; k <= NODE_END; k++) {
    if (weight[k] != 0.0) {
      const saltus_point at = node_point(a, s, start, (element_node)k, q1);
      saltusi_impulse_node_mass_times(node, s, &at, a->v_node, a->force);
      saltusi_add_scaled(s->eval->sys.dims.nv, weight[k], a->force, y);
    }
  }
}

static void move_middle(saltusi_action* a, const saltusi_step* s, const double* q0) {
  const int nv = s->eval->sys.dims.nv;
  memcpy(a->v_node, a->u, (size_t)nv * sizeof(double));
  saltusi_add_scaled(nv, -0.5, a->half_change, a->v_node);
  saltusi_advance(&s->eval->sys, q0, a->v_node, 0.5 * s->h, a->q_middle);
}

/* One Newton step for a at fixed u, then the residual of the first equation without p_k. The matrix of u is that of a
 * as well: with a eliminated, forces enter the equation of u with h/6 + h/3 = h/2. */
static void element_residual(saltusi_action* a, saltusi_impulse_node* node, const saltusi_step* s,
                             const saltus_point* at) {
  static const double inner[3] = {0.5, 0.0, -0.5};
  static const double outer[3] = {1.0 / 2.0, 2.0 / 3.0, -1.0 / 6.0};
  const int nv = s->eval->sys.dims.nv;
  const size_t bytes = (size_t)nv * sizeof(double);
  memset(a->correction, 0, bytes);
  move_middle(a, s, at->q);
  saltus_point here = node_point(a, s, at, NODE_MIDDLE, a->q_next);
  add_derivative(a, node, s, &here, 0.5 * s->h, a->correction);
  add_momenta(a, node, s, at, a->q_next, inner, a->correction);
  saltusi_linear_solve(s->eval, &a->linear, a->correction);
  saltusi_add_scaled(nv, 1.0, a->correction, a->half_change);
  move_middle(a, s, at->q);
  memset(a->residual, 0, bytes);
  add_momenta(a, node, s, at, a->q_next, outer, a->residual);
  here = node_point(a, s, at, NODE_START, a->q_next);
  add_derivative(a, node, s, &here, -s->h / 6.0, a->residual);
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
  if (a->degree == 2) {
    element_residual(a, node, s, &here);
  } else {
    mean_momentum(a, node, s, &here, a->q_next, a->residual);
    add_derivative(a, node, s, &here, -0.5 * s->h, a->residual);
  }
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
  if (a->degree == 2) {
    static const double outer[3] = {-1.0 / 6.0, 2.0 / 3.0, 1.0 / 2.0};
    move_middle(a, s, q0);
    memset(a->momentum, 0, (size_t)s->eval->sys.dims.nv * sizeof(double));
    add_momenta(a, node, s, &at, q1, outer, a->momentum);
    at = node_point(a, s, &at, NODE_END, q1);
    add_derivative(a, node, s, &at, s->h / 6.0, a->momentum);
    return;
  }
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

bool saltusi_action_is_linear(const saltusi_action* a, const saltus_system* sys) {
  assert(a != NULL && sys != NULL);
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  return a->degree == 1 && (sys->traits & SALTUS_CONSTANT_MASS) != 0 &&
         (sys->traits & linear) != 0 && sys->dims.nj == 0 && !saltusi_has_maps(sys);
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
  if (a->degree == 2) {
    *change = fmax(*change, saltusi_max_abs(nv, a->correction));
  }
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
