/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * implicit_large.c - stages of implicit Runge-Kutta methods of systems that are too large for a dense Newton
 * matrix. Every stage is corrected by the system's own sparse matrices at the start of the step,
 *
 *   (M - h g F_v - h^2 g^2 F_q) dK_i + G mu = M R_i,     G^T dK_i = G^T R_i
 *
 * with one number g in place of the eigenvalues of the tableau, whose moduli are similar. Anderson acceleration
 * (math/anderson.h) corrects for that and for the rotation of rows. In the stiff limit the remaining iteration matrix
 * has as many distinct eigenvalues as there are stages.
 */
#include "math/matrix.h"
#include "scheme/event/runge_kutta.h"

#include <assert.h>
#include <string.h>

/* As in runge_kutta.c, relative to |K|: the tolerance, and the largest error accepted when the iteration stagnates. */
static const double tolerance = 1e-15;
static const double stagnant = 1e-9;
enum { CORRECTIONS_MAX = 200, STALL_LIMIT = SALTUSI_MIXED / 2 };

void saltusi_rk_large_layout(saltusi_rk_large* l, const saltusi_tableau* method,
                             const saltusi_eval* eval, saltus_arena* arena) {
  assert(l != NULL && method != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  int n = method->stages * sys->dims.nv;
  l->on = true;
  saltusi_linear_layout(&l->linear, sys, arena);
  bool rough = saltusi_has_friction(sys);
  const saltusi_demand demand = {.held = true, .friction = rough, .two_sided = rough};
  saltusi_operator_layout(&l->op, eval, &demand, arena);
  saltusi_anderson_layout(&l->mixing, n, SALTUSI_MIXED, n, arena);
  l->x = SALTUS_PUSH(arena, double, sys->dims.nv);
}

/* Magnitude of the eigenvalues of the tableau: |det A|^(1/stages), or trace A / stages where that is zero. */
static double size_of(const saltusi_tableau* m) {
  double A[SALTUSI_STAGES_MAX * SALTUSI_STAGES_MAX];
  int pivot[SALTUSI_STAGES_MAX];
  double trace = 0.0;
  for (int i = 0; i < m->stages; i++) {
    trace += m->a[i][i] / m->stages;
    for (int j = 0; j < m->stages; j++) {
      A[i * m->stages + j] = m->a[i][j];
    }
  }
  if (!saltusi_lu_factor(m->stages, A, pivot, 1e-12)) {
    return trace;
  }
  double logarithm = 0.0;
  for (int i = 0; i < m->stages; i++) {
    logarithm += log(fabs(A[i * (m->stages + 1)]));
  }
  return exp(logarithm / m->stages);
}

/* The matrices at the start. */
static saltus_status factor(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                            double h) {
  saltusi_rk_large* l = &rk->large;
  const saltus_system* sys = &eval->sys;
  double g = h * size_of(rk->method);
  saltus_point at = saltusi_at(eval, start->t, start->q, start->v);
  l->plain = (sys->traits & SALTUS_FREE_FORCE) != 0;
  if (l->plain) { /* the corrections are R itself */
    return SALTUS_OK;
  }
  saltus_status status = saltusi_linear_assemble(eval, &l->linear, &at, 1.0, -g, -g * g);
  if (status == SALTUS_OK && sys->dims.nj + start->held.count > 0) {
    saltusi_hold(&l->op, sys, &at, &start->held);
    saltusi_operator_form_active(&l->op, eval, &l->linear);
    status = l->op.status;
  }
  return status == SALTUS_ERR_SINGULAR ? SALTUS_RETRY_SMALLER : status;
}

/* R_i <- dK_i */
static saltus_status correct(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                             double* R) {
  saltusi_rk_large* l = &rk->large;
  const saltus_system* sys = &eval->sys;
  if (l->plain) {
    return SALTUS_OK;
  }
  saltus_point at = saltusi_at(eval, start->t, start->q, start->v);
  saltusi_linear_mass_times(eval, &l->linear, &at, R, l->x);
  saltusi_linear_solve(eval, &l->linear, l->x);
  saltus_status status = SALTUS_OK;
  if (sys->dims.nj + start->held.count > 0) {
    const saltusi_row_block* measured = saltusi_operator_measured(&l->op);
    for (int r = 0; r < l->op.count; r++) {
      l->op.rhs[r] = saltusi_row_dot(measured, r, l->x) - saltusi_row_dot(measured, r, R);
    }
    status = saltusi_operator_solve(&l->op, eval);
    if (status == SALTUS_OK) {
      saltusi_operator_apply(&l->op, eval, l->x);
    }
  }
  memcpy(R, l->x, (size_t)sys->dims.nv * sizeof(double));
  return status;
}

saltus_status saltusi_rk_large_stages(saltusi_rk* rk, saltusi_eval* eval,
                                      const saltusi_rk_start* start, double h,
                                      saltusi_rk_residual_fn* residual) {
  assert(rk != NULL && eval != NULL && start != NULL && h > 0.0 && residual != NULL);
  int nv = eval->sys.dims.nv;
  int stages = rk->method->stages;
  int n = stages * nv;
  saltus_status status = factor(rk, eval, start, h);
  double best = INFINITY;
  int since = 0; /* number of corrections without improvement */
  for (int k = 0; k < CORRECTIONS_MAX && status == SALTUS_OK; k++) {
    status = residual(rk, eval, start, h);
    if (status != SALTUS_OK) {
      return status;
    }
    double miss = saltusi_max_abs(n, rk->R);
    double size = saltusi_max_abs(n, rk->K);
    if (!isfinite(miss)) {
      return SALTUS_RETRY_NAN;
    }
    since = miss < best ? 0 : since + 1;
    best = fmin(best, miss);
    if (miss <= tolerance * size || (since >= STALL_LIMIT && miss <= stagnant * fmax(1.0, size))) {
      return SALTUS_OK;
    }
    eval->work.newton_iterations++;
    for (int i = 0; i < stages && status == SALTUS_OK; i++) {
      status = correct(rk, eval, start, rk->R + (size_t)i * (size_t)nv);
    }
    saltusi_mix(&rk->large.mixing, k, rk->R, rk->K);
  }
  return status == SALTUS_OK ? SALTUS_RETRY_SMALLER : status;
}
