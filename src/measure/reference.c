/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reference.c - what a run can be compared with: a reference problem or a stored motion.
 */
#include "measure/convergence.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool problem_at(const void* self, double t, double* q, double* v) {
  return saltus_known_motion_exact(self, t, q, v);
}

static int problem_graph(const void* self, int coordinate, int which, double t_end, double dt,
                         double* points, int capacity) {
  return saltus_known_motion_graph(self, coordinate, which, t_end, dt, points, capacity);
}

saltusi_reference saltusi_reference_problem(const saltus_known_motion* problem) {
  assert(problem != NULL);
  const saltus_dims* dims = &saltus_known_motion_system(problem)->dims;
  return (saltusi_reference){
      .nq = dims->nq,
      .nv = dims->nv,
      .samples = saltus_known_motion_about(problem)->known == SALTUS_KNOWN_SAMPLES,
      .at = problem_at,
      .graph = problem_graph,
      .self = problem,
  };
}

/* The last instant not after t. */
static int find_before(const saltusi_trajectory* motion, double t) {
  int lo = 0;
  int hi = motion->count - 1;
  while (hi - lo > 1) {
    int middle = lo + (hi - lo) / 2;
    if (motion->t[middle] <= t) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static void mix(int n, const double* a, const double* b, double weight, double* x) {
  for (int i = 0; i < n; i++) {
    x[i] = (1.0 - weight) * a[i] + weight * b[i];
  }
}

static bool motion_at(const void* self, double t, double* q, double* v) {
  const saltusi_stored_motion* stored = self;
  const saltusi_trajectory* motion = &stored->motion;
  double length = motion->t[motion->count - 1] - motion->t[0];
  double close = 1e-9 * length;
  if (t < motion->t[0] - close || t > motion->t[motion->count - 1] + close) {
    return false;
  }
  int k = find_before(motion, t);
  double step = motion->t[k + 1] - motion->t[k];
  double weight = fmin(1.0, fmax(0.0, (t - motion->t[k]) / step));
  bool on_left = weight * step <= close;
  bool on_right = (1.0 - weight) * step <= close;
  if (on_left || on_right) {
    weight = on_right ? 1.0 : 0.0;
  } else if (!stored->dense) {
    return false;
  }
  size_t nq = (size_t)stored->nq;
  size_t nv = (size_t)stored->nv;
  size_t at = (size_t)k;
  mix(stored->nq, motion->q + at * nq, motion->q + (at + 1) * nq, weight, q);
  mix(stored->nv, motion->v + at * nv, motion->v + (at + 1) * nv, weight, v);
  return true;
}

/* Positions as a polyline, velocities as filled steps; at the stored spacing. */
static int motion_graph(const void* self, int coordinate, int which, double t_end, double dt,
                        double* points, int capacity) {
  (void)dt;
  const saltusi_stored_motion* stored = self;
  const saltusi_trajectory* motion = &stored->motion;
  if (!stored->dense) {
    return 0;
  }
  int last = find_before(motion, t_end * (1.0 + 1e-12)) + 1;
  last = last < motion->count ? last : motion->count - 1;
  int count = which == 0 ? last + 1 : 2 * last + 1;
  const double* x = which == 0 ? motion->q : motion->v;
  size_t n = (size_t)(which == 0 ? stored->nq : stored->nv);
  for (int k = 0; k < count && k < capacity; k++) {
    size_t time = (size_t)(which == 0 ? k : k / 2);
    size_t value = (size_t)(which == 0 ? k : (k + 1) / 2);
    points[2 * (size_t)k] = motion->t[time];
    points[2 * (size_t)k + 1] = x[value * n + (size_t)coordinate];
  }
  return count;
}

saltusi_reference saltusi_reference_motion(const saltusi_stored_motion* stored) {
  assert(stored != NULL);
  return (saltusi_reference){.nq = stored->nq,
                             .nv = stored->nv,
                             .samples = !stored->dense,
                             .at = motion_at,
                             .graph = motion_graph,
                             .self = stored};
}
