/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_kkt.c - the theta step of large mechanisms while no contact is active, by Newton's method on
 * velocities and impulses together (operator/newton_kkt.h).
 *
 *   R = M (v_{k+1} - v_k) - h F - G P,     S = (G^T v_weight + b) / weight       at q_theta
 *
 *   [ J - theta^2 h K                   -G ] [ dv ]     [ -R ]        K   = d(G P)/dq
 *   [ G^T + (theta^2 h / weight) U_q     0 ] [ dP ]  =  [ -S ]        U_q = d(G^T v_weight + b)/dq
 *
 * K is the geometric stiffness by tension: without it the iterations of a chain grow with its length. The iteration starts
 * from v_k and the impulses of the last step. The matrix stays as long as corrections shrink fast; where few bodies
 * move, as those near the support of a long chain, only their part is recomputed.
 */
#include "scheme/moreau/moreau_kkt.h"

#include "math/matrix.h"
#include "scheme/newton_end.h"
#include "scheme/projection.h"
#include "system/structure.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Successive corrections that no longer shrink: the last digits fluctuate. */
enum { WANDERS = 2 };

/* Largest velocity error of joints after a step, relative to the largest velocity. */
static const double moving = 1e-6;

/* Iterations that close joints with the matrix of the step. */
enum { SWEEPS_MAX = 8 };

/* Cost of a new matrix, in iterations. */
static const double dear = 4.0;

/* Bodies whose velocity changes by less than this part of the first change need no new matrix
 * entries. */
static const double local = 1e-3;

/* Part of the matrix that is recomputed. */
typedef enum renewal { RENEW_NOTHING, RENEW_MOVED, RENEW_ALL } renewal;

void saltusi_moreau_kkt_layout(saltusi_moreau_kkt* j, const saltusi_eval* eval,
                               saltus_arena* arena) {
  assert(j != NULL && eval != NULL && arena != NULL);
  const saltus_dims* d = &eval->sys.dims;
  *j = (saltusi_moreau_kkt){0};
  if ((eval->sys.traits & SALTUS_CONSTANT_MASS) == 0) {
    return;
  }
  saltusi_newton_kkt_layout(&j->factors, eval, arena);
  if (j->factors.serves) {
    j->n = d->nv + d->nj;
    j->z = SALTUS_PUSH(arena, double, j->n);
    j->f = SALTUS_PUSH(arena, double, j->n);
    j->q = SALTUS_PUSH(arena, double, d->nq);
    j->v = SALTUS_PUSH(arena, double, d->nv);
    j->impulses = SALTUS_PUSH(arena, double, d->nj);
    j->scale = SALTUS_PUSH(arena, double, d->nj);
    j->mass = SALTUS_PUSH(arena, double, saltusi_structure_values(eval->sys.structure));
  }
}

size_t saltusi_moreau_history_count(const saltus_system* sys) {
  assert(sys != NULL);
  const bool constant = (sys->traits & SALTUS_CONSTANT_MASS) != 0;
  return constant && saltusi_newton_kkt_serves(sys)
             ? saltusi_history_count(sys->dims.nv, sys->dims.nj)
             : 0;
}

/* f += G P and U = G^T v + b at a point with that v. */
static void act(const saltus_system* sys, const saltus_point* at, const double* P,
                saltusi_row_block* rows, double* f, double* U) {
  if (sys->ops->joints_act != NULL) {
    sys->ops->joints_act(sys->self, at, P, f, U);
    return;
  }
  saltusi_rows_joints(sys, at, rows);
  for (int r = 0; r < sys->dims.nj; r++) {
    saltusi_row_add(rows, r, P[r], f);
    U[r] = saltusi_row_dot(rows, r, at->v) + rows->b[r];
  }
}

/* Points at the latest q_theta: of forces, and of joints with the velocity that they hold in w->v_free. */
typedef struct points {
  saltus_point forces, joints;
} points;

/* -R and -S into f. */
static points evaluate(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                       const saltusi_step* s, double weight) {
  saltusi_moreau_kkt* j = &w->linked;
  const saltus_system* sys = &s->eval->sys;
  const int nv = sys->dims.nv;
  const double theta_h = o->theta * s->h;
  const double* v1 = j->z;
  for (int i = 0; i < nv; i++) {
    w->v_theta[i] = (1.0 - o->theta) * s->v0[i] + o->theta * v1[i];
    w->v_free[i] = v1[i] - s->v0[i];
  }
  saltusi_advance_within(sys, s->q0, w->v_theta, theta_h, w->q_theta);
  points at = {.forces = saltusi_at(s->eval, s->t + theta_h, w->q_theta, w->v_theta)};
  if (!j->mass_kept) {
    sys->ops->blocks(sys->self, &at.forces, 1.0, 0.0, 0.0, j->mass);
    j->mass_kept = true;
  }
  saltusi_force(s->eval, &at.forces, w->force);
  saltusi_structure_times(sys->structure, j->mass, w->v_free, j->f);
  for (int i = 0; i < nv; i++) {
    j->f[i] = s->h * w->force[i] - j->f[i];
    w->v_free[i] = (1.0 - weight) * s->v0[i] + weight * v1[i];
  }
  at.joints = saltusi_at(s->eval, s->t + weight * s->h, w->q_theta, w->v_free);
  act(sys, &at.joints, j->z + nv, &w->op.rows, j->f, j->f + nv);
  for (int r = nv; r < j->n; r++) {
    j->f[r] *= -1.0 / weight;
  }
  return at;
}

static saltus_status factor(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                            const saltusi_step* s, double weight, const points* at, renewal due) {
  saltusi_moreau_kkt* j = &w->linked;
  const double theta_h = o->theta * s->h;
  const saltusi_newton_kkt_at where = {.forces = &at->forces,
                                       .fv = -theta_h,
                                       .fq = -theta_h * theta_h,
                                       .joints = &at->joints,
                                       .P = j->z + s->eval->sys.dims.nv,
                                       .reach = o->theta * theta_h,
                                       .measured = o->theta * theta_h / weight};
  return due == RENEW_ALL
             ? saltusi_newton_kkt_factor(&j->factors, s->eval, &where, &w->op.rows, w->op.diagonal)
             : saltusi_newton_kkt_refresh(&j->factors, s->eval, &where, &w->op.rows,
                                          w->op.diagonal);
}

/* Part of the matrix to recompute before the next iteration, if `more` iterations remain with this
 * matrix. Changes of velocities are in f; fresh: the matrix is new, and its convergence rate shows
 * one iteration later. */
static renewal find_due(saltusi_moreau* w, const saltusi_step* s, double more, bool fresh,
                        double least) {
  if (more < 2.0) {
    return RENEW_NOTHING;
  }
  const double share =
      saltusi_newton_kkt_moved(&w->linked.factors, s->eval->sys.structure, w->linked.f, least);
  if (share > 0.0 && dear * share <= 0.5) {
    return RENEW_MOVED;
  }
  return !fresh && more > dear ? RENEW_ALL : RENEW_NOTHING;
}

/* Whether the iteration ends: the correction is small, or the next one will be at the present rate of convergence, or
 * corrections fluctuate at the level of rounding. */
static bool is_small(double change, double rate, double left, double wanders, bool fluctuates) {
  return change <= left || (rate < 0.1 && fmax(rate, 1e-3) * change <= 0.5 * left) ||
         (fluctuates && change <= wanders);
}

/* Newton corrections with one or several matrices: z += f until f is small. SALTUS_RETRY_SMALLER
 * when they do not shrink. */
static saltus_status correct(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                             const saltusi_step* s, double weight, bool bent) {
  saltusi_moreau_kkt* j = &w->linked;
  const int nv = s->eval->sys.dims.nv;
  const double start = saltusi_long_max_abs(nv, s->v0), floor = saltusi_newton_floor(s);
  renewal due = RENEW_ALL;
  double last = INFINITY, first = 0.0;
  int since = 0; /* iterations without improvement over the last: by 1 %, below rounding by half */
  int grown = 0; /* and all that grew */
  for (int k = 0; k < o->newton_max; k++) {
    const points at = evaluate(w, o, s, weight);
    saltus_status status = due != RENEW_NOTHING ? factor(w, o, s, weight, &at, due) : SALTUS_OK;
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_newton_kkt_solve(&j->factors, &s->eval->sys.dims, j->f);
    s->report->newton_iterations++;
    saltusi_add_scaled(j->n, 1.0, j->f, j->z);
    const double change = saltusi_long_max_abs(nv, j->f);
    const double left = o->newton_tol * fmax(start, saltusi_long_max_abs(nv, j->z));
    if (!isfinite(change)) {
      return SALTUS_RETRY_NAN;
    }
    const double rate = k == 0 ? 1.0 : change / last;
    since = change < (change <= floor ? 0.5 : 0.99) * last ? 0 : since + 1;
    const double wanders = fmax(1e4 * left, floor);
    grown += change > last && change > wanders ? 1 : 0;
    if (grown > 1) {
      return SALTUS_RETRY_SMALLER;
    }
    if (is_small(change, rate, left, wanders, since >= (change <= floor ? 1 : WANDERS))) {
      return SALTUS_OK;
    }
    const double more = rate >= 0.9 ? INFINITY : log(left / change) / log(rate);
    first = k == 0 ? change : first;
    due = since > 0 && change <= wanders ? RENEW_NOTHING
          : bent                         ? find_due(w, s, more, due != RENEW_NOTHING, local * first)
                                         : RENEW_ALL;
    bent = true;
    last = change;
  }
  return SALTUS_RETRY_SMALLER;
}

/* Joints at the end of the iteration, for the report; false: their velocities are not zero although
 * the corrections have converged. */
static bool report_joints(saltusi_moreau* w, const saltusi_step* s, double weight, double tol) {
  saltusi_moreau_kkt* j = &w->linked;
  const int nv = s->eval->sys.dims.nv, nj = s->eval->sys.dims.nj;
  double worst = 0.0, worst_impulse = 0.0;
  for (int r = 0; r < nj; r++) {
    const double miss = weight * fabs(j->f[nv + r]);
    s->joint_impulses[r] = w->op.P[r];
    worst = saltusi_larger(worst, miss);
    worst_impulse = saltusi_larger(worst_impulse, miss / w->op.diagonal[r]);
  }
  s->report->residual_velocity = worst;
  s->report->residual_impulse = worst_impulse;
  const double size = fmax(saltusi_long_max_abs(nv, s->v0), saltusi_long_max_abs(nv, s->v1));
  return worst <= fmax(fmax(moving, 1e4 * tol) * size, saltusi_newton_floor(s));
}

saltus_status saltusi_moreau_linked(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                    const saltusi_step* s, double weight) {
  saltusi_moreau_kkt* j = &w->linked;
  assert(j->n > 0 && s->report->active == 0);
  const int nv = s->eval->sys.dims.nv, nj = s->eval->sys.dims.nj;
  const saltusi_history_at at = {.nv = nv, .nj = nj, .h = s->h, .v0 = s->v0};
  saltusi_guess guess = saltusi_history_guess(w->past_before, &at, SALTUSI_GUESS_CONTINUED, j->z);
  saltus_status status = correct(w, o, s, weight, guess != SALTUSI_GUESS_NOTHING);
  const bool solvable = !j->factors.refused && !j->factors.redundant;
  const bool failed = status == SALTUS_RETRY_SMALLER || status == SALTUS_RETRY_NAN;
  if (failed && solvable && guess == SALTUSI_GUESS_CONTINUED) {
    guess = saltusi_history_guess(w->past_before, &at, SALTUSI_GUESS_LAST, j->z);
    status = correct(w, o, s, weight, guess != SALTUSI_GUESS_NOTHING);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  memcpy(s->v1, j->z, (size_t)nv * sizeof(double));
  memcpy(w->op.P, j->z + nv, (size_t)nj * sizeof(double));
  (void)evaluate(w, o, s, weight);
  return report_joints(w, s, weight, o->newton_tol) ? SALTUS_OK : SALTUS_RETRY_SMALLER;
}

/* Size of the terms of each joint, in units of rounding. */
static void measure_terms(const saltusi_moreau* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  const saltusi_row_block* rows = &w->op.rows;
  const double size = DBL_EPSILON * saltusi_long_max_abs(d->nq, s->q1);
  for (int r = 0; r < d->nj; r++) {
    const double* G = rows->G + (size_t)r * (size_t)rows->stride;
    double sum = 0.0;
    for (int k = 0; k < rows->entries[r]; k++) {
      sum += fabs(G[k]);
    }
    w->linked.scale[r] = sum * size > 0.0 ? sum * size : DBL_MIN;
  }
}

saltus_status saltusi_moreau_linked_project(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_moreau_kkt* j = &w->linked;
  const saltus_system* sys = &s->eval->sys;
  const int nv = sys->dims.nv, nj = sys->dims.nj;
  double* g = j->f + nv;
  double last = INFINITY;
  const saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  assert(j->n > 0 && s->closed != NULL);
  measure_terms(w, s);
  for (int k = 0; k < SWEEPS_MAX; k++) {
    sys->ops->joints(sys->self, &at, g);
    double worst = 0.0;
    for (int r = 0; r < nj; r++) {
      worst = saltusi_larger(worst, fabs(g[r]) / j->scale[r]);
      g[r] = -g[r] / s->h;
    }
    *s->closed = worst <= SALTUSI_JOINTS_CLOSED;
    if (*s->closed) {
      break;
    }
    if (!(worst <= 0.5 * last)) {
      return k == 1 ? SALTUS_RETRY_SMALLER : SALTUS_OK;
    }
    last = worst;
    memset(j->f, 0, (size_t)nv * sizeof(double));
    saltusi_newton_kkt_solve(&j->factors, &sys->dims, j->f);
    saltusi_add_scaled(nv, 1.0, j->f, w->v_theta);
    saltusi_advance(sys, s->q0, w->v_theta, s->h, s->q1);
    s->report->projection += s->h * saltusi_long_max_abs(nv, j->f);
  }
  return SALTUS_OK;
}

void saltusi_moreau_kkt_guess(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_moreau_kkt* j = &w->linked;
  const saltus_dims* d = &s->eval->sys.dims;
  assert(j->n > 0);
  const saltusi_history_at at = {.nv = d->nv, .nj = d->nj, .h = s->h, .v0 = s->v0};
  (void)saltusi_history_guess(w->past_before, &at, SALTUSI_GUESS_LAST, j->z);
  memcpy(w->op.P, j->z + d->nv, (size_t)d->nj * sizeof(double));
}

void saltusi_moreau_kkt_keep(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_moreau_kkt* j = &w->linked;
  const saltus_dims* d = &s->eval->sys.dims;
  assert(j->n > 0 && w->past_after != NULL);
  memcpy(j->z, s->v1, (size_t)d->nv * sizeof(double));
  memcpy(j->z + d->nv, w->op.P, (size_t)d->nj * sizeof(double));
  const saltusi_history_at at = {.nv = d->nv, .nj = d->nj, .h = s->h, .v0 = s->v0};
  saltusi_history_keep(w->past_before, &at, w->linked.solved, j->z, w->past_after);
}
