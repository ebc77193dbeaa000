/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * follow.c - recomputation of a smooth trajectory segment: Gragg's midpoint rule with the smoothing
 * step, extrapolated in h^2 (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I,
 * II.9), with subdivision until convergence. No integrator of the library uses this method.
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 8, MOST_PARTS = 256 };

static int size_of(int nq, int nv, int nj, int contacts) {
  return nq + nv + 4 * contacts + nj + 2;
}

size_t saltusi_follow_workspace(int nq, int nv, int nj, int contacts) {
  assert(nq >= 0 && nv >= 0 && nj >= 0 && contacts >= 0);
  return (size_t)(COLUMNS + 5) * (size_t)size_of(nq, nv, nj, contacts);
}

/* dy = (q', v', lambda, powers). */
static bool rates(saltusi_checker* c, double t, int count, const double* y, double* dy) {
  const double* q = y;
  const double* v = y + c->nq;
  saltus_point at = saltusi_point_at(c, t, q, v);
  if (c->system->ops->rate != NULL) {
    c->system->ops->rate(c->system->self, q, v, dy);
  } else {
    memcpy(dy, v, (size_t)c->nq * sizeof *dy);
  }
  double* lambda = dy + c->nq + c->nv;
  if (!saltusi_acceleration(c, &at, count, dy + c->nq, lambda)) {
    return false;
  }
  saltusi_powers_at(c, &at, count, lambda, lambda + (ptrdiff_t)3 * count);
  return true;
}

typedef struct span {
  double t, h;
  int count, size;
} span;

/* y over a span by n midpoint steps into out; work [3 x size]. */
static bool midpoint(saltusi_checker* c, const span* s, int n, const double* y, double* out,
                     double* work) {
  int size = s->size;
  double h = s->h / n;
  double *last = work, *now = work + size, *dy = work + (ptrdiff_t)2 * size;
  memcpy(last, y, (size_t)size * sizeof *y);
  if (!rates(c, s->t, s->count, y, dy)) {
    return false;
  }
  for (int i = 0; i < size; i++) {
    now[i] = y[i] + h * dy[i];
  }
  for (int k = 1; k < n; k++) {
    if (!rates(c, s->t + k * h, s->count, now, dy)) {
      return false;
    }
    for (int i = 0; i < size; i++) {
      double next = last[i] + 2.0 * h * dy[i];
      last[i] = now[i];
      now[i] = next;
    }
  }
  if (!rates(c, s->t + s->h, s->count, now, dy)) {
    return false;
  }
  for (int i = 0; i < size; i++) {
    out[i] = 0.5 * (last[i] + now[i] + h * dy[i]);
  }
  return true;
}

/* Whether two values of y agree to 1/50 of the tolerances, so that the error of the
 * recomputation is negligible. */
static bool agree(const saltusi_checker* c, const span* s, const double* x, const double* y) {
  double least = INFINITY;
  for (int i = 0; i < c->nv; i++) {
    least = fmin(least, c->weight_q[i]);
  }
  for (int i = 0; i < s->size; i++) {
    int k = i - c->nq;
    double w = k < 0 ? least : k < c->nv ? c->weight_v[k] : INFINITY;
    /* differences at the rounding of some hundred evaluations are ignored */
    if (!(fabs(x[i] - y[i]) <= 0.02 * w + 1e-13 * fabs(x[i]))) {
      return false;
    }
  }
  return true;
}

/* Integrates one span; y is replaced by its end value. */
static bool extrapolate(saltusi_checker* c, const span* s, double* y) {
  int size = s->size;
  double* table =
      c->table + (ptrdiff_t)2 * size; /* [COLUMNS x size], the last row of the tableau */
  double* work = table + (ptrdiff_t)COLUMNS * size;
  double* before = c->table + size;
  for (int k = 0; k < COLUMNS; k++) {
    double* row = table + (ptrdiff_t)k * size;
    if (!midpoint(c, s, 2 * (k + 1), y, row, work)) {
      return false;
    }
    memcpy(before, table, (size_t)size * sizeof *before);
    for (int j = k - 1; j >= 0; j--) { /* Aitken and Neville: table[j] becomes T_{k, k-j} */
      double ratio = (double)(k + 1) / (double)(j + 1);
      double part = 1.0 / (ratio * ratio - 1.0);
      double* low = table + (ptrdiff_t)j * size;
      const double* high = low + size;
      for (int i = 0; i < size; i++) {
        low[i] = high[i] + part * (high[i] - low[i]);
      }
    }
    if (k >= 2 && agree(c, s, table, before)) {
      const int joints = c->nq + c->nv + 3 * s->count;
      for (int j = 0; j < c->nj; j++) {
        c->follow_error[j] += fabs(table[joints + j] - before[joints + j]);
      }
      memcpy(y, table, (size_t)size * sizeof *y);
      return true;
    }
  }
  return false;
}

bool saltusi_follow(saltusi_checker* c, const saltusi_checked_frame* a, double t, int count,
                    double* y) {
  assert(c != NULL && a != NULL && y != NULL);
  int size = size_of(c->nq, c->nv, c->nj, count);
  for (int parts = 1; parts <= MOST_PARTS; parts *= 4) {
    memcpy(y, a->q, (size_t)c->nq * sizeof *y);
    memcpy(y + c->nq, a->v, (size_t)c->nv * sizeof *y);
    memset(y + c->nq + c->nv, 0, (size_t)(size - c->nq - c->nv) * sizeof *y);
    memset(c->follow_error, 0, (size_t)c->nj * sizeof *c->follow_error);
    bool good = true;
    for (int k = 0; k < parts && good; k++) {
      double from = a->t + (t - a->t) * k / parts;
      span s = {.t = from, .h = (t - a->t) / parts, .count = count, .size = size};
      good = extrapolate(c, &s, y);
    }
    if (good) {
      return true;
    }
  }
  return false;
}
