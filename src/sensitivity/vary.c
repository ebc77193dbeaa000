/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vary.c - see vary.h.
 */
#include "sensitivity/vary.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 9, EXTRA = 4 };

/* Difference step relative to the scale: truncation is its fourth power, rounding its inverse
 * times 1e-16. */
static const double part = 1e-3;
/* Steps of a law are reduced by 8 up to this often, until differences agree to `agree`; to `coarsely` at the last. */
enum { REFINED = 4 };
static const double agree = 1e-8, coarsely = 1e-5;
/* Differences of a parameter with two steps that differ by more than this part of them are those over a kink. */
static const double bent = 1e-2;
/* Largest change of a slip velocity, and of an approach, by a step of differences, relative to it. */
static const double slip_kept = 2e-3, approach_kept = 0.1;
static const double noise = 1e-13;    /* rounding of laws, relative to the speed */
static const double accuracy = 1e-12; /* of the extrapolation, relative to each column */
static const double slow_slip =
    1e-2; /* parts of the speed below which the direction of slip limits it */

bool saltusi_vary_make(saltusi_vary* vary, const saltus_system* system,
                       const saltus_direction* directions, int count, saltusi_pool* pool) {
  assert(vary != NULL && system != NULL && pool != NULL);
  const saltus_dims* d = &system->dims;
  *vary = (saltusi_vary){.system = system,
                         .directions = directions,
                         .count = count,
                         .nq = d->nq,
                         .nv = d->nv,
                         .n = d->nq + d->nv,
                         .size = (d->nq + d->nv + vary->integrands) * (1 + count),
                         .shrink = 1.0,
                         .contacts = vary->contacts,
                         .integrand = vary->integrand,
                         .integrand_user = vary->integrand_user,
                         .integrands = vary->integrands};
  const int most = vary->most = vary->n + EXTRA + vary->integrands + 3 * vary->contacts.count;
  vary->mode.held = SALTUSI_TAKE(pool, saltusi_phase_contact, vary->contacts.count + 1);
  vary->shifted = SALTUSI_TAKE(pool, double, vary->n);
  vary->rates = SALTUSI_TAKE(pool, double, vary->n);
  vary->plus = SALTUSI_TAKE(pool, double, most);
  vary->minus = SALTUSI_TAKE(pool, double, most);
  vary->finer = SALTUSI_TAKE(pool, double, 2 * most);
  vary->table = SALTUSI_TAKE(pool, double, (size_t)COLUMNS*(size_t)vary->size);
  vary->y0 = SALTUSI_TAKE(pool, double, vary->size);
  vary->y1 = SALTUSI_TAKE(pool, double, vary->size);
  vary->y2 = SALTUSI_TAKE(pool, double, vary->size);
  vary->dy = SALTUSI_TAKE(pool, double, vary->size);
  vary->before = SALTUSI_TAKE(pool, double, vary->size);
  return !pool->failed && saltusi_phase_workspace_make(&vary->room, system, &vary->contacts, pool);
}

void saltusi_vary_free(saltusi_vary* vary) {
  assert(vary != NULL);
  saltusi_phase_workspace_free(&vary->room);
}

static double largest(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* A function to differentiate. */
typedef struct slope {
  saltusi_smooth* function;
  const void* user;
  const saltusi_along* along;
  int many;
  double* out;
} slope;

/* out += weight * function at a state shifted by e along (tau, s). */
static bool add(saltusi_vary* vary, const slope* of, const saltus_system* system, double e,
                double weight) {
  const int nq = vary->nq, nv = vary->nv;
  const saltusi_along* along = of->along;
  for (int i = 0; i < nq; i++) {
    vary->shifted[i] = along->at.q[i] + (along->s != NULL ? e * along->s[i] : 0.0);
  }
  for (int i = 0; i < nv; i++) {
    vary->shifted[nq + i] = along->at.v[i] + (along->s != NULL ? e * along->s[nq + i] : 0.0);
  }
  const saltusi_phase_point at = {
      .t = along->at.t + e * along->tau, .q = vary->shifted, .v = vary->shifted + nq};
  if (!of->function(vary, system, at, of->user, vary->plus)) {
    return false;
  }
  for (int i = 0; i < of->many; i++) {
    of->out[i] += weight * vary->plus[i];
  }
  return true;
}

/* Size of a direction relative to the scales of the motion. */
static double size_of(const saltusi_vary* vary, const saltusi_along* along) {
  return fmax(along->s != NULL ? fmax(largest(along->s, vary->nq) / vary->length,
                                      largest(along->s + vary->nq, vary->nv) / vary->speed)
                               : 0.0,
              20.0 * fabs(along->tau) / vary->span);
}

bool saltusi_vary_slope(saltusi_vary* vary, saltusi_smooth* function, const void* user,
                        const saltusi_along* along, int many, double* out) {
  assert(vary != NULL && function != NULL && along != NULL && many <= vary->most);
  static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
  static const double weight[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
  memset(out, 0, (size_t)many * sizeof *out);
  const double size = size_of(vary, along);
  const slope whole = {
      .function = function, .user = user, .along = along, .many = many, .out = out};
  bool good = true;
  if (size > 0.0) {
    const double most = part / size;
    const double e = vary->shrink * (along->limit > 0.0 ? fmin(along->limit, most) : most);
    for (int k = 0; k < 4 && good; k++) {
      good = add(vary, &whole, vary->system, at[k] * e, weight[k] / e);
    }
  }
  const saltus_direction* d = along->direction >= 0 ? &vary->directions[along->direction] : NULL;
  if (d != NULL && d->system[0] != NULL) {
    const saltusi_along here = {.at = along->at};
    const slope fixed = {
        .function = function, .user = user, .along = &here, .many = many, .out = out};
    for (int k = 0; k < 4 && good; k++) {
      good = add(vary, &fixed, d->system[k], 0.0, weight[k] / d->step);
    }
  }
  return good;
}

/* Largest difference of a and b. */
static double apart(const double* a, const double* b, int n) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

bool saltusi_vary_slope_of_law(saltusi_vary* vary, saltusi_smooth* function, const void* user,
                               const saltusi_along* along, int many, double* out) {
  assert(vary != NULL && along != NULL && many <= vary->most);
  double *coarse = vary->finer, *fine = vary->finer + many;
  saltusi_along state = *along;
  state.direction = -1;
  const double size = size_of(vary, along), whole = size > 0.0 ? part / size : 1.0;
  const double values = along->size > 0.0 ? along->size : vary->speed;
  const double rounding = noise * values / (along->limit > 0.0 ? fmin(along->limit, whole) : whole);
  double change = INFINITY;
  for (int k = 0; k <= REFINED && change > 1.0; k++) {
    vary->shrink = pow(0.125, k);
    const bool good = saltusi_vary_slope(vary, function, user, &state, many, fine);
    const double near = agree * largest(fine, many) + rounding / vary->shrink;
    vary->shrink = 1.0;
    if (!good) {
      return false;
    }
    const double off = k > 0 ? apart(coarse, fine, many) : INFINITY;
    const double now = off / fmax(near, DBL_MIN);
    if (k == 0 || now < change) { /* of two that agree the larger step has less rounding */
      memcpy(out, coarse, (size_t)many * sizeof *out);
      change = k == 0 ? change : now;
      vary->disagreement = off;
    }
    memcpy(coarse, fine, (size_t)many * sizeof *fine);
  }
  const saltus_direction* d = along->direction >= 0 ? &vary->directions[along->direction] : NULL;
  if (change > coarsely / agree || d == NULL || d->system[0] == NULL) {
    return change <= coarsely / agree;
  }
  const saltusi_along here = {.at = along->at};
  const slope inner = {
      .function = function, .user = user, .along = &here, .many = many, .out = coarse};
  const slope outer = {
      .function = function, .user = user, .along = &here, .many = many, .out = fine};
  memset(coarse, 0, (size_t)(2 * many) * sizeof *coarse);
  const bool good = add(vary, &outer, d->system[0], 0.0, -0.25 / d->step) &&
                    add(vary, &inner, d->system[1], 0.0, -0.5 / d->step) &&
                    add(vary, &inner, d->system[2], 0.0, 0.5 / d->step) &&
                    add(vary, &outer, d->system[3], 0.0, 0.25 / d->step);
  if (!good ||
      apart(fine, coarse, many) > bent * largest(coarse, many) + noise * values / d->step) {
    return false;
  }
  for (int i = 0; i < many; i++) {
    out[i] += (4.0 * coarse[i] - fine[i]) / 3.0;
  }
  return true;
}

bool saltusi_vary_rates(saltusi_vary* vary, const saltus_system* system, saltusi_phase_point at,
                        const void* user, double* out) {
  assert(vary != NULL && system != NULL && out != NULL);
  (void)user;
  if (system->ops->rate != NULL) {
    system->ops->rate(system->self, at.q, at.v, out);
  } else {
    memcpy(out, at.v, (size_t)vary->nq * sizeof *out);
  }
  return saltusi_phase_accelerate(&vary->room, system, at, &vary->mode, out + vary->nq, NULL);
}

/* Difference step along s that changes component `first` to `last` of the velocity of a contact by at most `kept` of it; the
 * least of this and *limit, where it is needed at all. */
static void limit_change(saltusi_vary* vary, const saltusi_along* along, int contact, int first,
                         int last, double kept, double* limit) {
  const int nq = vary->nq;
  const double size = size_of(vary, along), e = size > 0.0 ? part / size : 0.0;
  double here[3] = {0.0}, there[3] = {0.0}, was = 0.0, change = 0.0;
  for (int k = 0; k < vary->n; k++) {
    vary->shifted[k] = (k < nq ? along->at.q[k] : along->at.v[k - nq]) + e * along->s[k];
  }
  const saltusi_phase_point moved = {
      .t = along->at.t + e * along->tau, .q = vary->shifted, .v = vary->shifted + nq};
  saltusi_phase_velocity(&vary->room, vary->system, along->at, contact, NULL, here, NULL);
  saltusi_phase_velocity(&vary->room, vary->system, moved, contact, NULL, there, NULL);
  for (int k = first; k <= last; k++) {
    was = hypot(was, here[k]);
    change = hypot(change, there[k] - here[k]);
  }
  if (change > kept * was && was > 0.0) {
    const double most = e * kept * was / change;
    *limit = *limit > 0.0 ? fmin(*limit, most) : most;
  }
}

double saltusi_vary_approach_limit(saltusi_vary* vary, const saltusi_along* along, int contact) {
  assert(vary != NULL && along != NULL && along->s != NULL);
  double limit = 0.0;
  limit_change(vary, along, contact, 0, 0, approach_kept, &limit);
  return limit;
}

double saltusi_vary_slip_limit(saltusi_vary* vary, const saltusi_along* along) {
  assert(vary != NULL && along != NULL && along->s != NULL);
  double limit = 0.0;
  for (int i = 0; i < vary->mode.count; i++) {
    const saltusi_phase_contact* m = &vary->mode.held[i];
    if (!m->sticks && saltusi_phase_law(&vary->room, vary->system, m->contact)->tangents == 2) {
      limit_change(vary, along, m->contact, 1, 2, slip_kept, &limit);
    }
  }
  return limit;
}

/* Rates of state and derivatives. */
static bool evaluate(saltusi_vary* vary, double t, const double* y, double* dy) {
  const int n = vary->n;
  const saltusi_phase_point at = {.t = t, .q = y, .v = y + vary->nq};
  bool good = saltusi_vary_rates(vary, vary->system, at, NULL, dy);
  for (int j = 0; j < vary->count && good; j++) {
    saltusi_along along = {.at = at, .s = y + (ptrdiff_t)(j + 1) * n, .direction = j};
    along.limit = saltusi_vary_slip_limit(vary, &along);
    good =
        saltusi_vary_slope(vary, saltusi_vary_rates, NULL, &along, n, dy + (ptrdiff_t)(j + 1) * n);
  }
  const int m = vary->integrands;
  double* rates = dy + (ptrdiff_t)n * (1 + vary->count);
  good = good && (m == 0 || vary->integrand(vary, vary->system, at, vary->integrand_user, rates));
  for (int j = 0; j < vary->count && m > 0 && good; j++) {
    saltusi_along along = {.at = at, .s = y + (ptrdiff_t)(j + 1) * n, .direction = j};
    along.limit = saltusi_vary_slip_limit(vary, &along);
    good = saltusi_vary_slope(vary, vary->integrand, vary->integrand_user, &along, m,
                              rates + (ptrdiff_t)(j + 1) * m);
  }
  return good;
}

/* The modified midpoint rule with `steps` steps over H from y0, whose rates are in `before`: into y. */
static bool midpoint(saltusi_vary* vary, double t, double H, int steps, double* y) {
  const double h = H / steps;
  double *a = vary->y1, *b = vary->y2;
  for (int i = 0; i < vary->size; i++) {
    a[i] = vary->y0[i];
    b[i] = vary->y0[i] + h * vary->before[i];
  }
  for (int k = 1; k < steps; k++) {
    if (!evaluate(vary, t + k * h, b, vary->dy)) {
      return false;
    }
    for (int i = 0; i < vary->size; i++) {
      const double next = a[i] + 2.0 * h * vary->dy[i];
      a[i] = b[i];
      b[i] = next;
    }
  }
  if (!evaluate(vary, t + H, b, vary->dy)) {
    return false;
  }
  for (int i = 0; i < vary->size; i++) {
    y[i] = 0.5 * (a[i] + b[i] + h * vary->dy[i]); /* Gragg's smoothing */
  }
  return true;
}

/* Floor for the size of a derivative, relative to the scale of the state over that of its
 * parameter: smaller derivatives are rounding errors. */
static double small(const saltusi_vary* vary, int direction) {
  const saltus_direction* d = &vary->directions[direction];
  return 1e-2 * (d->system[0] != NULL ? part / d->step : 1.0 / fmax(vary->length, vary->speed));
}

/* Error of each column relative to its own size, since derivatives have any size. */
static double error_of(const saltusi_vary* vary, const double* a, const double* b) {
  double worst = 0.0;
  for (int j = 0; j <= vary->count; j++) {
    for (int half = 0; half < 2; half++) {
      const ptrdiff_t first = (ptrdiff_t)j * vary->n + (half == 0 ? 0 : vary->nq);
      const int many = half == 0 ? vary->nq : vary->nv;
      const double floor = half == 0 ? vary->length : vary->speed;
      const double scale =
          fmax(largest(a + first, many), floor * (j == 0 ? 1.0 : small(vary, j - 1)));
      for (int i = 0; i < many; i++) {
        worst = fmax(worst, fabs(a[first + i] - b[first + i]) / scale);
      }
    }
  }
  return worst;
}

/* Factor of the accuracy at a slow slip in space, whose direction has the rounding of velocities over it. */
static double slack_of(saltusi_vary* vary, double t, const double* y) {
  const saltusi_phase_point at = {.t = t, .q = y, .v = y + vary->nq};
  double slack = 1.0;
  for (int i = 0; i < vary->mode.count; i++) {
    const saltusi_phase_contact* m = &vary->mode.held[i];
    if (!m->sticks && saltusi_phase_law(&vary->room, vary->system, m->contact)->tangents == 2) {
      double U[3] = {0.0};
      saltusi_phase_velocity(&vary->room, vary->system, at, m->contact, NULL, U, NULL);
      slack = fmax(slack, slow_slip * vary->speed / fmax(hypot(U[1], U[2]), DBL_MIN));
    }
  }
  return fmin(slack, 1e6);
}

/* One step of the extrapolation; *columns: number of columns, 0: no convergence. */
static bool extrapolate(saltusi_vary* vary, double t, double H, double* y, int* columns) {
  const int size = vary->size;
  *columns = 0;
  memcpy(vary->y0, y, (size_t)size * sizeof *y);
  if (!evaluate(vary, t, y, vary->before)) {
    return false;
  }
  const double slack = slack_of(vary, t, y);
  double best = INFINITY;
  for (int k = 0; k < COLUMNS; k++) {
    double* row = vary->table + (ptrdiff_t)k * size; /* T_k0, then T_k1 to T_kk */
    if (!midpoint(vary, t, H, 2 * (k + 1), row)) {
      return false;
    }
    /* table[j] holds T_{k-1,k-1-j}, newest first */
    for (int j = k - 1; j >= 0; j--) {
      const double ratio = (double)(k + 1) / (double)(j + 1);
      const double f = 1.0 / (ratio * ratio - 1.0);
      double *low = vary->table + (ptrdiff_t)j * size,
             *high = vary->table + (ptrdiff_t)(j + 1) * size;
      for (int i = 0; i < size; i++) {
        low[i] = high[i] + (high[i] - low[i]) * f;
      }
    }
    if (k > 2) {
      const double error = error_of(vary, vary->table, vary->table + size) / slack;
      if (error <= accuracy || (k >= 5 && error < 1e-10 && error > 0.5 * best)) {
        memcpy(y, vary->table, (size_t)size * sizeof *y);
        *columns = k + 1;
        return true;
      }
      best = fmin(best, error);
    }
  }
  return true;
}

bool saltusi_vary_follow(saltusi_vary* vary, double t0, double t1, double* y) {
  assert(vary != NULL && y != NULL && t1 >= t0);
  double t = t0, H = fmin(t1 - t0, vary->span);
  for (int tries = 0; t < t1 && tries < 100000; tries++) {
    const bool last = t + H >= t1;
    const double h = last ? t1 - t : H;
    int columns;
    const bool good = extrapolate(vary, t, h, y, &columns);
    if (!good || columns == 0) {
      H = 0.4 * h;
      if (H < 1e-13 * fmax(fabs(t1), t1 - t0)) {
        return false;
      }
      continue;
    }
    t = last ? t1 : t + h;
    vary->span = fmax(vary->span, h);
    H = columns <= 6 ? 1.6 * h : h;
  }
  return t >= t1;
}
