/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * proximal.c - proximal point iteration (Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898; for
 * friction: Acary, Bremond & Huber, INRIA RR-9118 (2018)): r+ solves the friction problem of
 *
 *   W + a D,   q - a D r,   D = diag(1 / rho)
 *
 * which is better conditioned by 1 / a. Inner solver: thirty Gauss-Seidel iterations, then Newton, then interior point.
 * a is multiplied by 0.4 after a solved step and by 5 after a failed one.
 */
#include "solve/friction/proximal.h"

#include <assert.h>
#include <string.h>

/* Weights a are parts of the diagonal. Below the first the shift is lost in an interior point that ends at 1e-7; above
 * the second steps are gradient steps. */
static const double weight_least = 1e-9;
static const double weight_most = 100.0;
/* Factors after a solved step, after a partial improvement, and after a rejected step. REFUSED consecutive rejections,
 * 5^6 = 2e4, end the iteration. Chosen. */
static const double after_solved = 0.4;
static const double after_better = 2.0;
static const double after_refused = 5.0;
enum { REFUSED = 6 };
/* Accuracy of the inner problem: a constant part of the present residual, which preserves the outer rate (Rockafellar's
 * criterion requires summable parts), and below the tolerance at the end. Chosen. */
static const double inner_part = 0.05;
static const double inner_last = 0.3;
/* The inner methods: Gauss-Seidel iterations at the first step and later, Newton steps, and of the interior point its
 * iterations, final residual (its matrices have half of their digits there) and initial point; chosen. */
enum { SWEEPS_FIRST = 200, SWEEPS = 30, NEWTON_STEPS = 40, INTERIOR_STEPS = 80 };
static const double interior_least = 1e-7;
static const double interior_start = 100.0;

void saltusi_proximal_layout(saltusi_proximal_work* work, const saltusi_friction_sizes* sizes,
                             saltus_arena* arena) {
  assert(work != NULL && sizes != NULL && arena != NULL);
  int units = sizes->units;
  int rows = sizes->rows;
  work->values = SALTUS_PUSH(arena, double, sizes->values);
  work->q = SALTUS_PUSH(arena, double, rows);
  work->next = SALTUS_PUSH(arena, double, rows);
  work->other = SALTUS_PUSH(arena, double, rows);
  work->best = SALTUS_PUSH(arena, double, rows);
  work->u = SALTUS_PUSH(arena, double, rows);
  work->inner.rho = SALTUS_PUSH(arena, double, units);
  work->inner.local = SALTUS_PUSH(arena, double, sizes->local);
  work->inner.slip = SALTUS_PUSH(arena, double, units);
  work->inner.scratch = SALTUS_PUSH2(arena, double, sizes->unit_max, sizes->unit_max + 2);
  work->inner.pivot = SALTUS_PUSH(arena, int, sizes->unit_max);
}

/* The problem of W + a D around r. A unit without diagonal block is unchanged. */
static void shift(saltusi_proximal_work* work, const saltusi_friction_case* in, double a,
                  const double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  memcpy(work->values, in->values, (size_t)pattern->place[pattern->blocks] * sizeof(double));
  memcpy(work->q, in->q, (size_t)pattern->rows * sizeof(double));
  for (int i = 0; i < pattern->units; i++) {
    if (pattern->diagonal[i] < 0) {
      continue;
    }
    int d = saltusi_unit_rows(pattern, i);
    double soft = a / in->rho[i];
    double* own = work->values + pattern->place[pattern->diagonal[i]];
    for (int k = 0; k < d; k++) {
      own[k * (d + 1)] += soft;
      work->q[pattern->offset[i] + k] -= soft * r[pattern->offset[i] + k];
    }
  }
  work->inner.pattern = pattern;
  work->inner.domains = in->domains;
  work->inner.bodies = NULL;
  work->inner.team = in->team;
  work->inner.values = work->values;
  work->inner.q = work->q;
  work->inner.mu = in->mu;
  saltusi_friction_case_prepare(&work->inner);
}

static double newton_cost(const saltusi_block_lu* lu, int steps) {
  return steps * (lu->cost + 4.0 * lu->solve_cost);
}

/* Solves the inner problem from work->next; returns its residual. */
static double solve_inner(saltusi_proximal_work* work, const saltusi_proximal_tools* tools,
                          int sweeps, double tol, double* cost) {
  saltusi_friction_case* inner = &work->inner;
  size_t bytes = (size_t)inner->pattern->rows * sizeof(double);
  saltusi_gauss_seidel_settings sweep = {.sweeps = sweeps, .tol = tol};
  saltusi_stage stage = saltusi_gauss_seidel(tools->sweep, inner, &sweep, work->next);
  *cost += stage.iterations * inner->pattern->sweep_cost;
  if (stage.residual <= tol || tools->lu == NULL) {
    return stage.residual;
  }
  saltusi_newton_settings newton = {.iterations = NEWTON_STEPS, .tol = tol};
  stage = saltusi_semismooth_newton(tools->newton, tools->lu, inner, &newton, work->next);
  *cost += newton_cost(tools->lu, stage.iterations);
  if (stage.residual <= tol) {
    return stage.residual;
  }
  saltusi_interior_settings interior = {.iterations = INTERIOR_STEPS,
                                        .tol = fmax(tol, interior_least),
                                        .start_z = interior_start,
                                        .start_y = interior_start};
  saltusi_stage inside =
      saltusi_interior_point(tools->interior, tools->lu, inner, &interior, work->other);
  *cost += newton_cost(tools->lu, inside.iterations);
  if (inside.residual > tol) {
    inside = saltusi_semismooth_newton(tools->newton, tools->lu, inner, &newton, work->other);
    *cost += newton_cost(tools->lu, inside.iterations);
  }
  if (inside.residual < stage.residual) {
    memcpy(work->next, work->other, bytes);
    return inside.residual;
  }
  return stage.residual;
}

saltusi_stage saltusi_proximal(saltusi_proximal_work* work, const saltusi_proximal_tools* tools,
                               const saltusi_friction_case* in,
                               const saltusi_proximal_settings* settings, double* r, double* cost) {
  assert(work != NULL && tools != NULL && in != NULL && settings != NULL);
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  double now = saltusi_friction_case_residual(in, r, work->u).normalised;
  double best = now;
  double a = settings->start;
  double spent = 0.0;
  int refused = 0;
  int k = 0;
  memcpy(work->best, r, bytes);
  for (; k < settings->iterations && best > settings->tol && spent <= settings->cost_limit; k++) {
    shift(work, in, a, r);
    memcpy(work->next, r, bytes);
    /* the residual of the inner problem is relative to its own q */
    double unit = in->velocity_unit / work->inner.velocity_unit;
    double tol = fmax(inner_part * now, inner_last * settings->tol) * unit;
    double inner = solve_inner(work, tools, k == 0 ? SWEEPS_FIRST : SWEEPS, tol, &spent);
    double residual = saltusi_friction_case_residual(in, work->next, work->u).normalised;
    bool solved = inner <= tol;
    if (solved || residual < now) {
      memcpy(r, work->next, bytes);
      now = residual;
      refused = 0;
      a *= solved ? after_solved : after_better;
    } else {
      a *= after_refused;
      refused++;
    }
    if (now < best) {
      best = now;
      memcpy(work->best, r, bytes);
    }
    a = fmin(fmax(a, weight_least), weight_most);
    if (refused > REFUSED) {
      break;
    }
  }
  memcpy(r, work->best, bytes);
  *cost += spent;
  return (saltusi_stage){k, best};
}
