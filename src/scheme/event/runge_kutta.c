/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * runge_kutta.c - see runge_kutta.h.
 */
#include "scheme/event/runge_kutta.h"

#include "math/matrix.h"
#include "scheme/event/acceleration.h"

#include <assert.h>
#include <string.h>

/* Newton's iteration: the tolerance is relative to |K|, since steps may be as short as a bracket
 * of an event (docs/theory/event-capturing.md, 2.6). An iteration that stagnates below `stagnant` has
 * converged. */
static const double newton_tolerance = 1e-15;
static const double stagnant = 1e-9;
/* In equilibrium K tends to zero; the residual is then compared with the initial one. */
static const double vanished = 1e-20;
/* Large forces in equilibrium: the acceleration has a rounding error of this fraction of the acceleration by one of them
 * alone. 45 000 eps, since active rows may be nearly dependent (1.2e-12 in scenes/machine-breaker.yaml). */
static const double balanced = 1e-11;
/* An iteration has diverged when |K| exceeds this multiple of that of the initial guess (at least 1 m/s^2 or
 * rad/s^2). */
static const double diverged = 1e12;
enum { NEWTON_MAX = 50, SWEEPS_MAX = 50 };

/* Unknowns up to which a dense Newton matrix, with a difference of the acceleration for each of them, costs
 * less than the iterations of implicit_large.c. */
enum { DENSE_MAX = 120 };

/* Step of the differences for a_q and a_v: the square root of the rounding error. They affect the rate of convergence
 * only. */
static const double difference = 1e-7;

void saltusi_rk_layout(saltusi_rk* rk, const saltusi_tableau* method, const saltusi_eval* eval,
                       saltus_arena* arena) {
  assert(rk != NULL && method != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  int s = method->stages;
  rk->method = method;
  saltusi_linear_layout(&rk->mass, sys, arena);
  bool rough = saltusi_has_friction(sys);
  const saltusi_demand demand = {.held = true,
                                 .friction = rough,
                                 .convective = true,
                                 .two_sided = method->half_explicit || rough};
  saltusi_operator_layout(&rk->held, eval, &demand, arena);
  rk->K = SALTUS_PUSH2(arena, double, s, d->nv);
  rk->V = SALTUS_PUSH2(arena, double, s, d->nv);
  rk->Q = SALTUS_PUSH(arena, double, d->nq);
  rk->rates = saltusi_has_maps(sys) ? SALTUS_PUSH2(arena, double, s, d->nq) : rk->V;
  rk->each = rough ? 3 : 1;
  rk->forces = SALTUS_PUSH2(arena, double, s, d->nj + rk->each * d->nc);
  rk->powers = SALTUS_PUSH2(arena, double, s, 2 * d->nc + 1);
  if (method->implicit) {
    rk->a0 = SALTUS_PUSH(arena, double, d->nv);
    rk->R = SALTUS_PUSH2(arena, double, s, d->nv);
    rk->shift = SALTUS_PUSH(arena, double, d->nq);
  }
  if (method->implicit && s * d->nv > DENSE_MAX) {
    saltusi_rk_large_layout(&rk->large, method, eval, arena);
  } else if (method->implicit) {
    rk->a_q = SALTUS_PUSH2(arena, double, d->nv, d->nv);
    rk->a_v = SALTUS_PUSH2(arena, double, d->nv, d->nv);
    rk->a1 = SALTUS_PUSH(arena, double, d->nv);
    rk->unit = SALTUS_PUSH(arena, double, saltusi_has_maps(sys) ? d->nv : 0);
    rk->newton = SALTUS_PUSH2(arena, double, s * d->nv, s * d->nv);
    rk->pivot = SALTUS_PUSH(arena, int, s * d->nv);
  }
  if (method->implicit && saltusi_slips_in_space(sys)) {
    saltusi_rk_follow_layout(&rk->follow, method, eval, arena);
  }
  if (method->half_explicit) {
    rk->half_velocity = SALTUS_PUSH(arena, double, d->nv);
  }
}

saltus_status saltusi_rk_acceleration(saltusi_rk* rk, saltusi_eval* eval, const saltus_point* at,
                                      const saltusi_active_rows* held, double* a) {
  assert(rk != NULL && eval != NULL && at != NULL && held != NULL);
  saltusi_active_rows equal = *held;
  equal.both_ways = true;
  return saltusi_accelerate(eval, &rk->mass, &rk->held, at, &equal, a);
}

void saltusi_rk_force(const saltusi_rk* rk, const saltusi_active_rows* held, int i,
                      double force[3]) {
  assert(rk != NULL && held != NULL && i >= 0 && i < held->count);
  if (held->grips != NULL) {
    saltusi_friction_mode_force(&held->grips->of[held->keys[i]], &rk->held, i, force);
    return;
  }
  force[0] = rk->held.P[rk->held.first[i]];
  force[1] = force[2] = 0.0;
}

/* Powers of a stage: friction and moving surface of each held contact, then driven joints. */
static double* powers_of(const saltusi_rk* rk, const saltus_dims* d, int stage) {
  return rk->powers + (size_t)stage * (size_t)(2 * d->nc + 1);
}

void saltusi_rk_keep(saltusi_rk* rk, const saltus_dims* d, const saltusi_active_rows* held,
                     int stage) {
  assert(rk != NULL && d != NULL && held != NULL && stage >= 0);
  double* forces = rk->forces + (size_t)stage * (size_t)(d->nj + rk->each * d->nc);
  double* powers = powers_of(rk, d, stage);
  int rows = held->grips != NULL ? d->nj : d->nj + held->count;
  if (rows > 0) {
    memcpy(forces, rk->held.P, (size_t)rows * sizeof(double));
  }
  double* driven = powers + 2 * (size_t)d->nc;
  *driven = 0.0;
  for (int j = 0; j < d->nj; j++) {
    *driven += forces[j] * rk->held.rows.b[j];
  }
  for (int i = 0; held->grips == NULL && i < held->count; i++) {
    powers[2 * i] = 0.0;
    powers[2 * i + 1] = forces[d->nj + i] * rk->held.rows.b[d->nj + i];
  }
  for (int i = 0; held->grips != NULL && i < held->count; i++) {
    saltusi_rk_force(rk, held, i, forces + d->nj + 3 * i);
    const saltusi_friction_mode* grip = &held->grips->of[held->keys[i]];
    double* force = forces + d->nj + 3 * i;
    for (int k = 0; k < grip->measured; k++) {
      force[1 + k] -= saltusi_friction_mode_drag(grip, k) * grip->slip[k];
    }
    force[0] -= saltusi_friction_mode_pull(grip);
    double* power = powers + 2 * i;
    power[0] = force[1] * grip->slip[0] + force[2] * grip->slip[1];
    power[1] = force[0] * grip->b[0] + force[1] * grip->b[1] + force[2] * grip->b[2];
    if (rk->follow.on) {
      memcpy(rk->follow.slip + 2 * (size_t)(stage * d->nc + i), grip->slip, sizeof grip->slip);
    }
  }
}

void saltusi_rk_restart(saltusi_rk* rk) {
  assert(rk != NULL);
  rk->prepared = false;
}

void saltusi_rk_combine(int n, int stages, const double* x0, double h, const double* weights,
                        const double* k, double* x) {
  assert(n >= 0 && (n == 0 || (x0 != NULL && weights != NULL && k != NULL && x != NULL)) &&
         stages >= 0 && h > 0.0);
  memcpy(x, x0, (size_t)n * sizeof(double));
  for (int j = 0; j < stages; j++) {
    if (weights[j] != 0.0) {
      saltusi_add_scaled(n, h * weights[j], k + (size_t)j * (size_t)n, x);
    }
  }
}

/* Q_i from the rates of the stages, and with maps the rate there. */
static void turn_stage(saltusi_rk* rk, const saltus_system* sys, const saltusi_rk_start* start,
                       double h, int i) {
  const saltus_dims* d = &sys->dims;
  const saltusi_tableau* m = rk->method;
  saltusi_rk_combine(d->nq, m->implicit ? m->stages : i, start->q, h, m->a[i], rk->rates, rk->Q);
  if (saltusi_has_maps(sys)) {
    saltusi_rate(sys, rk->Q, rk->V + (size_t)i * (size_t)d->nv,
                 rk->rates + (size_t)i * (size_t)d->nq);
  }
}

/* The rates of all stages of an implicit method with maps, for its velocities: fixed-point iterations to
 * rounding. They contract with about h |w| / 6; where they do not, Newton's iteration does not either. */
static void turn_stages(saltusi_rk* rk, const saltus_system* sys, const saltusi_rk_start* start,
                        double h) {
  int nq = sys->dims.nq;
  double last = INFINITY;
  for (int k = 0; saltusi_has_maps(sys) && k < SWEEPS_MAX; k++) {
    double change = 0.0;
    double size = 0.0;
    for (int i = 0; i < rk->method->stages; i++) {
      double* rate = rk->rates + (size_t)i * (size_t)nq;
      memcpy(rk->shift, rate, (size_t)nq * sizeof(double));
      turn_stage(rk, sys, start, h, i);
      for (int n = 0; n < nq; n++) {
        change = saltusi_larger(change, fabs(rate[n] - rk->shift[n]));
        size = fmax(size, fabs(rate[n]));
      }
    }
    if (change <= newton_tolerance * size || !(change < last)) {
      return;
    }
    last = change;
  }
}

/* The acceleration of stage i for the velocities V and the stages of q that they make. */
saltus_status saltusi_rk_stage(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                               double h, int i, double* a) {
  assert(rk != NULL && eval != NULL && start != NULL && h > 0.0 && i >= 0 && a != NULL);
  const saltus_dims* d = &eval->sys.dims;
  const saltusi_tableau* m = rk->method;
  turn_stage(rk, &eval->sys, start, h, i);
  saltus_point at =
      saltusi_at(eval, start->t + m->c[i] * h, rk->Q, rk->V + (size_t)i * (size_t)d->nv);
  if (rk->follow.on) {
    start->held.grips->given = rk->follow.direction + 2 * (size_t)i * (size_t)d->nc;
  }
  saltus_status status = saltusi_rk_acceleration(rk, eval, &at, &start->held, a);
  if (status == SALTUS_OK) {
    saltusi_rk_keep(rk, d, &start->held, i);
  }
  return status;
}

static saltus_status explicit_stages(saltusi_rk* rk, saltusi_eval* eval,
                                     const saltusi_rk_start* start, double h) {
  const saltus_dims* d = &eval->sys.dims;
  for (int i = 0; i < rk->method->stages; i++) {
    double* V = rk->V + (size_t)i * (size_t)d->nv;
    saltusi_rk_combine(d->nv, i, start->v, h, rk->method->a[i], rk->K, V);
    saltus_status status =
        saltusi_rk_stage(rk, eval, start, h, i, rk->K + (size_t)i * (size_t)d->nv);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  return SALTUS_OK;
}

/* One column of a_q or a_v by a forward difference of the reduced acceleration. */
static saltus_status difference_column(saltusi_rk* rk, saltusi_eval* eval,
                                       const saltusi_rk_start* start, int j, bool position) {
  int nv = eval->sys.dims.nv;
  const double* base = position ? start->q : start->v;
  double step = difference * fmax(1.0, fabs(base[j]));
  if (position && saltusi_has_maps(&eval->sys)) {
    memset(rk->unit, 0, (size_t)nv * sizeof(double));
    rk->unit[j] = 1.0;
    step = difference;
    saltusi_advance(&eval->sys, start->q, rk->unit, step, rk->shift);
  } else {
    memcpy(rk->shift, base, (size_t)nv * sizeof(double));
    rk->shift[j] += step;
  }
  saltus_point at =
      saltusi_at(eval, start->t, position ? rk->shift : start->q, position ? start->v : rk->shift);
  saltus_status status = saltusi_rk_acceleration(rk, eval, &at, &start->held, rk->a1);
  double* J = position ? rk->a_q : rk->a_v;
  for (int i = 0; i < nv; i++) {
    J[i * nv + j] = (rk->a1[i] - rk->a0[i]) / step;
  }
  return status;
}

static void solve_columns(const saltusi_rk* rk, const saltusi_eval* eval, double* J) {
  int nv = eval->sys.dims.nv;
  for (int j = 0; j < nv; j++) {
    for (int i = 0; i < nv; i++) {
      rk->shift[i] = J[i * nv + j];
    }
    saltusi_linear_solve(eval, &rk->mass, rk->shift);
    for (int i = 0; i < nv; i++) {
      J[i * nv + j] = rk->shift[i];
    }
  }
}

/* Without active rows: a_q = M^-1 (F_q - d(M a)/dq), a_v = M^-1 F_v. */
static void exact_jacobians(saltusi_rk* rk, saltusi_eval* eval, const saltus_point* at) {
  const saltus_system* sys = &eval->sys;
  int nv = sys->dims.nv;
  size_t bytes = (size_t)nv * (size_t)nv * sizeof(double);
  if ((sys->traits & SALTUS_FREE_FORCE) != 0) {
    memset(rk->a_q, 0, bytes);
    memset(rk->a_v, 0, bytes);
  } else {
    saltusi_force_q(eval, at, rk->a_q);
    saltusi_force_v(eval, at, rk->a_v);
  }
  if ((sys->traits & SALTUS_CONSTANT_MASS) == 0) {
    saltus_point along = *at;
    along.v = rk->a0;
    sys->ops->mass_q(sys->self, &along,
                     rk->newton); /* workspace, free at this point and large enough */
    saltusi_add_scaled(nv * nv, -1.0, rk->newton, rk->a_q);
  }
  solve_columns(rk, eval, rk->a_q);
  solve_columns(rk, eval, rk->a_v);
}

static saltus_status prepare(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start) {
  const saltus_system* sys = &eval->sys;
  saltus_point at = saltusi_at(eval, start->t, start->q, start->v);
  saltus_status status = saltusi_rk_acceleration(rk, eval, &at, &start->held, rk->a0);
  if (status != SALTUS_OK || rk->large.on) {
    rk->prepared = status == SALTUS_OK;
    return status;
  }
  bool mass_known = (sys->traits & SALTUS_CONSTANT_MASS) != 0 || sys->ops->mass_q != NULL;
  if (sys->dims.nj + start->held.count == 0 && mass_known) {
    exact_jacobians(rk, eval, &at);
  } else {
    for (int j = 0; j < 2 * sys->dims.nv && status == SALTUS_OK; j++) {
      status = difference_column(rk, eval, start, j / 2, j % 2 == 0);
    }
  }
  rk->prepared = status == SALTUS_OK;
  return status;
}

/* Rows of stage i of I - h A x a_v - h^2 A^2 x a_q. */
static void fill_newton(saltusi_rk* rk, int nv, double h, int i) {
  const saltusi_tableau* m = rk->method;
  int n = m->stages * nv;
  for (int j = 0; j < m->stages; j++) {
    double square = 0.0;
    for (int k = 0; k < m->stages; k++) {
      square += m->a[i][k] * m->a[k][j];
    }
    for (int r = 0; r < nv; r++) {
      double* row = rk->newton + (size_t)(i * nv + r) * (size_t)n + (size_t)j * (size_t)nv;
      for (int c = 0; c < nv; c++) {
        row[c] = (i == j && r == c ? 1.0 : 0.0) - h * m->a[i][j] * rk->a_v[r * nv + c] -
                 h * h * square * rk->a_q[r * nv + c];
      }
    }
  }
}

/* I - h A x a_v - h^2 A^2 x a_q, factored; false when it is singular. */
static bool factor_newton(saltusi_rk* rk, const saltus_dims* d, double h) {
  const saltusi_tableau* m = rk->method;
  int nv = d->nv;
  int n = m->stages * nv;
  for (int i = 0; i < m->stages; i++) {
    fill_newton(rk, nv, h, i);
  }
  return saltusi_lu_factor(n, rk->newton, rk->pivot, 1e-15);
}

/* V from K, then R = a - K. */
static saltus_status residual(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                              double h) {
  int nv = eval->sys.dims.nv;
  int s = rk->method->stages;
  for (int i = 0; i < s; i++) {
    saltusi_rk_combine(nv, s, start->v, h, rk->method->a[i], rk->K, rk->V + (size_t)i * (size_t)nv);
  }
  turn_stages(rk, &eval->sys, start, h);
  for (int i = 0; i < s; i++) {
    double* R = rk->R + (size_t)i * (size_t)nv;
    saltus_status status = saltusi_rk_stage(rk, eval, start, h, i, R);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_add_scaled(nv, -1.0, rk->K + (size_t)i * (size_t)nv, R);
  }
  return SALTUS_OK;
}

/* The largest acceleration by the applied forces without constraints. */
static double load_of(const saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start) {
  saltus_point at = saltusi_at(eval, start->t, start->q, start->v);
  saltusi_force(eval, &at, rk->shift);
  saltusi_linear_solve(eval, &rk->mass, rk->shift);
  return saltusi_max_abs(eval->sys.dims.nv, rk->shift);
}

/* Whether a stagnating iteration has converged to rounding. *load caches the size of the right-hand side; 0: not yet
 * computed. */
static bool stagnates(const saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                      double miss, double* load) {
  double size = saltusi_max_abs(rk->method->stages * eval->sys.dims.nv, rk->K);
  if (miss <= stagnant * fmax(1.0, size)) {
    return true;
  }
  *load = *load > 0.0 ? *load : load_of(rk, eval, start);
  return miss <= balanced * *load;
}

/* The stages from K on; the Newton matrix is factored. */
static saltus_status newton_stages(saltusi_rk* rk, saltusi_eval* eval,
                                   const saltusi_rk_start* start, double h) {
  int n = rk->method->stages * eval->sys.dims.nv;
  if (rk->large.on) {
    return saltusi_rk_large_stages(rk, eval, start, h, residual);
  }
  double before = INFINITY;
  double first = 1.0;
  double largest = 0.0;
  double load = 0.0;
  for (int k = 0; k < NEWTON_MAX; k++) {
    saltus_status status = residual(rk, eval, start, h);
    if (status != SALTUS_OK) {
      return status;
    }
    double miss = saltusi_max_abs(n, rk->R);
    double size = saltusi_max_abs(n, rk->K);
    if (!isfinite(miss)) {
      return SALTUS_RETRY_NAN;
    }
    first = k == 0 ? fmax(1.0, size) : first;
    if (size >
        diverged *
            first) { /* if |K| has grown beyond this, a small relative residual is no solution */
      return SALTUS_RETRY_SMALLER;
    }
    largest = fmax(largest, size);
    if (miss <= newton_tolerance * size || miss <= vanished * largest ||
        (k > 1 && miss >= 0.5 * before && stagnates(rk, eval, start, miss, &load))) {
      return SALTUS_OK;
    }
    before = miss;
    eval->work.newton_iterations++;
    saltusi_lu_solve(n, rk->newton, rk->pivot, rk->R);
    saltusi_add_scaled(n, 1.0, rk->R, rk->K);
  }
  return SALTUS_RETRY_SMALLER;
}

static saltus_status implicit_stages(saltusi_rk* rk, saltusi_eval* eval,
                                     const saltusi_rk_start* start, double h) {
  const saltus_dims* d = &eval->sys.dims;
  bool follows = saltusi_rk_follows(rk, d, start);
  saltus_status status = rk->prepared ? SALTUS_OK : prepare(rk, eval, start);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < rk->method->stages; i++) {
    memcpy(rk->K + (size_t)i * (size_t)d->nv, rk->a0, (size_t)d->nv * sizeof(double));
    saltusi_rate(&eval->sys, start->q, start->v, rk->rates + (size_t)i * (size_t)d->nq);
  }
  if (!rk->large.on) {
    if (!factor_newton(rk, d, h)) {
      return isfinite(saltusi_max_abs(d->nv, rk->a0)) ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
    }
    eval->work.factorizations++;
  }
  return follows ? saltusi_rk_follow(rk, eval, start, h, newton_stages)
                 : newton_stages(rk, eval, start, h);
}

/* q1 and v1 from the stages. */
static void add_stages(saltusi_rk* rk, const saltus_system* sys, const saltusi_rk_start* start,
                       double h, double* q1, double* v1) {
  const saltusi_tableau* m = rk->method;
  saltusi_rk_combine(sys->dims.nq, m->stages, start->q, h, m->b, rk->rates, q1);
  saltusi_normalise(sys, q1);
  saltusi_rk_combine(sys->dims.nv, m->stages, start->v, h, m->b, rk->K, v1);
}

saltus_status saltusi_rk_step(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                              double h, double* q1, double* v1) {
  assert(rk != NULL && eval != NULL && start != NULL && h > 0.0);
  const saltusi_tableau* m = rk->method;
  bool holds = eval->sys.dims.nj + start->held.count > 0;
  saltus_status status = m->implicit ? implicit_stages(rk, eval, start, h)
                         : m->half_explicit && holds
                             ? saltusi_half_explicit_stages(rk, eval, start, h)
                             : explicit_stages(rk, eval, start, h);
  if (status == SALTUS_OK) {
    add_stages(rk, &eval->sys, start, h, q1, v1);
  }
  return status;
}

saltus_status saltusi_rk_coast(saltusi_rk* rk, saltusi_eval* eval, const saltusi_rk_start* start,
                               double h, double* q1, double* v1) {
  assert(rk != NULL && rk->method->implicit && eval != NULL && start != NULL && h > 0.0);
  const saltus_dims* d = &eval->sys.dims;
  saltus_point at = saltusi_at(eval, start->t, start->q, start->v);
  saltus_status status = saltusi_rk_acceleration(rk, eval, &at, &start->held, rk->a0);
  for (int i = 0; status == SALTUS_OK && i < rk->method->stages; i++) {
    saltusi_rk_keep(rk, d, &start->held, i);
    memcpy(rk->K + (size_t)i * (size_t)d->nv, rk->a0, (size_t)d->nv * sizeof(double));
    memcpy(rk->V + (size_t)i * (size_t)d->nv, start->v, (size_t)d->nv * sizeof(double));
    saltusi_rate(&eval->sys, start->q, start->v, rk->rates + (size_t)i * (size_t)d->nq);
  }
  if (status == SALTUS_OK) {
    add_stages(rk, &eval->sys, start, h, q1, v1);
  }
  return status;
}

double saltusi_rk_impulse(const saltusi_rk* rk, const saltus_dims* dims, int row, double h) {
  assert(rk != NULL && dims != NULL && row >= 0 && h > 0.0);
  double sum = 0.0;
  for (int i = 0; i < rk->method->stages; i++) {
    size_t stage = (size_t)i * (size_t)(dims->nj + rk->each * dims->nc);
    sum += rk->method->b[i] * rk->forces[stage + (size_t)row];
  }
  return h * sum;
}

void saltusi_rk_contact_work(const saltusi_rk* rk, const saltus_dims* dims, int i, double h,
                             double work[2]) {
  assert(rk != NULL && dims != NULL && i >= 0 && h > 0.0);
  work[0] = work[1] = 0.0;
  for (int stage = 0; stage < rk->method->stages; stage++) {
    const double* power = powers_of(rk, dims, stage) + 2 * i;
    work[0] += h * rk->method->b[stage] * power[0];
    work[1] += h * rk->method->b[stage] * power[1];
  }
}

double saltusi_rk_joint_work(const saltusi_rk* rk, const saltus_dims* dims, double h) {
  assert(rk != NULL && dims != NULL && h > 0.0);
  double work = 0.0;
  for (int stage = 0; stage < rk->method->stages; stage++) {
    work += h * rk->method->b[stage] * powers_of(rk, dims, stage)[2 * dims->nc];
  }
  return work;
}

void saltusi_rk_add_error(const saltusi_rk* rk, const saltus_dims* dims, double h, double* q_error,
                          double* v_error) {
  assert(rk != NULL && dims != NULL && h > 0.0);
  const saltusi_tableau* m = rk->method;
  for (int i = 0; i < m->stages; i++) {
    double weight = h * (m->b[i] - m->embedded[i]);
    saltusi_add_scaled(dims->nq, weight, rk->rates + (size_t)i * (size_t)dims->nq, q_error);
    saltusi_add_scaled(dims->nv, weight, rk->K + (size_t)i * (size_t)dims->nv, v_error);
  }
}
