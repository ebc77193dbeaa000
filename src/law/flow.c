/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flow.c - see flow.h. Step-size control by the error estimates of order 5 and 3 of Hairer, Norsett and Wanner,
 * II.10.
 */
#include "law/flow.h"

#include "math/dormand_prince.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Tolerance of a step relative to the scale of its group. The rounding of a few hundred steps is of that size. */
static const double tol = 1e-14;
enum { STEPS_MAX = 20000 };
/* Trials that locate the end of a path: of these the first SECANTS are by regula falsi, then every second one bisects:
 * 116 halvings, from the length of a step to 1e-20 of it and on to rounding. */
enum { SECANTS = 8, TRIALS_MAX = 240 };

void saltusi_flow_layout(saltusi_flow* flow, int n, int guards, saltus_arena* arena) {
  assert(flow != NULL && arena != NULL && n >= 0 && guards >= 0);
  flow->n_max = n;
  flow->guards_max = guards;
  flow->K = SALTUS_PUSH2(arena, double, SALTUSI_FLOW_STAGES, n);
  flow->y = SALTUS_PUSH(arena, double, n);
  flow->y_try = SALTUS_PUSH(arena, double, n > guards ? n : guards);
  flow->y_end = SALTUS_PUSH(arena, double, n);
  flow->g_start = SALTUS_PUSH(arena, double, guards);
  flow->g_end = SALTUS_PUSH(arena, double, guards);
  flow->g_try = SALTUS_PUSH(arena, double, guards);
}

static double* stage(saltusi_flow* flow, int i) {
  return flow->K + (size_t)i * (size_t)flow->n;
}

/* y_try = y + h sum weights K */
static void combine(saltusi_flow* flow, double h, const double* weights, int stages) {
  memcpy(flow->y_try, flow->y, (size_t)flow->n * sizeof(double));
  for (int j = 0; j < stages; j++) {
    if (weights[j] != 0.0) {
      saltusi_add_scaled(flow->n, h * weights[j], stage(flow, j), flow->y_try);
    }
  }
}

/* One step from y into y_end; the first stage holds the rate at y. */
static void take(saltusi_flow* flow, double h) {
  for (int i = 1; i < 12; i++) {
    combine(flow, h, saltusi_dop853_a[i], i);
    flow->rate(flow->self, flow->y_try, stage(flow, i));
  }
  combine(flow, h, saltusi_dop853_a[12], 12);
  memcpy(flow->y_end, flow->y_try, (size_t)flow->n * sizeof(double));
}

/* Error of the step relative to the tolerance. */
static double error_of(saltusi_flow* flow, double h) {
  double scale[SALTUSI_FLOW_GROUPS];
  double third[12];
  memcpy(scale, flow->floor, sizeof scale);
  for (int i = 0; i < flow->n; i++) {
    scale[flow->group[i]] = fmax(scale[flow->group[i]], fabs(flow->y_end[i]));
  }
  memcpy(third, saltusi_dop853_a[12], sizeof third);
  third[0] -= saltusi_dop853_third[0];
  third[8] -= saltusi_dop853_third[1];
  third[11] -= saltusi_dop853_third[2];
  double five = 0.0;
  double three = 0.0;
  for (int i = 0; i < flow->n; i++) {
    double e5 = 0.0;
    double e3 = 0.0;
    for (int j = 0; j < 12; j++) {
      double k = stage(flow, j)[i];
      e5 += saltusi_dop853_fifth[j] * k;
      e3 += third[j] * k;
    }
    double size = fmax(scale[flow->group[i]], DBL_MIN);
    five = fmax(five, fabs(h * e5) / size);
    three = fmax(three, fabs(h * e3) / size);
  }
  return five == 0.0 ? 0.0 : five * five / hypot(five, 0.1 * three) / tol;
}

static bool fires(const saltusi_flow* flow, const double* g, int i) {
  return flow->g_start[i] >= 0.0 && g[i] < 0.0;
}

static int first_fired(const saltusi_flow* flow, const double* g) {
  int i = 0;
  while (i < flow->guards && !fires(flow, g, i)) {
    i++;
  }
  return i < flow->guards ? i : -1;
}

/* Length of the shortest step at whose end a guard is negative. All guards hold at lo, some fail at hi (values in
 * g_end). Regula falsi (Illinois) on the guard whose secant root is the earliest, and bisection: of the logarithm while
 * the ends differ in magnitude. -1: not found to rounding. */
static int close_in(saltusi_flow* flow, double h) {
  double lo = 0.0;
  double hi = h;
  double* g_lo = flow->g_start; /* kept: only its signs are used after the first trial */
  double weight[2] = {1.0,
                      1.0}; /* of the values at lo and hi: halved where the other end moves twice */
  int side = -1;
  memcpy(flow->g_try, g_lo, (size_t)flow->guards * sizeof(double));
  for (int k = 0; k < TRIALS_MAX && hi - lo > 2.0 * DBL_EPSILON * hi; k++) {
    double at = hi;
    for (int i = 0; i < flow->guards; i++) {
      if (fires(flow, flow->g_end, i)) {
        double from = fmax(flow->g_try[i], 0.0) * weight[0];
        at = fmin(at, lo + (hi - lo) * from / (from - flow->g_end[i] * weight[1]));
      }
    }
    bool inside = at > lo && at < hi && (k < SECANTS || k % 2 == 0);
    at = inside ? at : hi > 4.0 * lo && lo > 0.0 ? sqrt(lo * hi) : 0.5 * (lo + hi);
    take(flow, at);
    flow->guard(flow->self, flow->y_end,
                flow->y_try); /* y_try is workspace for guards, see layout */
    bool ended = first_fired(flow, flow->y_try) >= 0;
    memcpy(ended ? flow->g_end : flow->g_try, flow->y_try, (size_t)flow->guards * sizeof(double));
    const int moved = ended ? 1 : 0;
    weight[1 - moved] = moved == side ? 0.5 * weight[1 - moved] : 1.0;
    weight[moved] = 1.0;
    side = moved;
    *(ended ? &hi : &lo) = at;
  }
  if (hi - lo > 2.0 * DBL_EPSILON * hi) {
    return -1;
  }
  take(flow, hi);
  flow->guard(flow->self, flow->y_end, flow->g_end);
  return first_fired(flow, flow->g_end);
}

int saltusi_flow_run(saltusi_flow* flow) {
  assert(flow != NULL && flow->n <= flow->n_max && flow->guards <= flow->guards_max);
  size_t bytes = (size_t)flow->n * sizeof(double);
  double h = flow->h;
  flow->guard(flow->self, flow->y, flow->g_start);
  flow->rate(flow->self, flow->y, stage(flow, 0));
  for (int k = 0; k < STEPS_MAX; k++) {
    take(flow, h);
    double error = error_of(flow, h);
    if (!isfinite(error)) {
      return -1;
    }
    double factor = error > 0.0 ? 0.9 * pow(error, -1.0 / 8.0) : 6.0;
    if (error > 1.0) {
      h *= fmax(factor, 0.2);
      continue;
    }
    flow->guard(flow->self, flow->y_end, flow->g_end);
    int ended = first_fired(flow, flow->g_end);
    if (ended >= 0) {
      ended = close_in(flow, h);
      memcpy(flow->y, flow->y_end, bytes);
      flow->h = h;
      return ended;
    }
    memcpy(flow->y, flow->y_end, bytes);
    for (int i = 0; i < flow->guards; i++) {
      flow->g_start[i] = flow->g_end[i];
    }
    flow->rate(flow->self, flow->y, stage(flow, 0));
    h *= fmin(fmax(factor, 0.2), 6.0);
  }
  return -1;
}
