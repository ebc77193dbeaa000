/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reference.c - references of a run: a reference problem or a stored motion.
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
      .samples = saltus_known_motion_get_info(problem)->known == SALTUS_KNOWN_SAMPLES,
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

static bool motion_at(const void* self, double t, double* q, double* v) {
  const saltusi_stored_motion* stored = self;
  const saltusi_trajectory* motion = &stored->motion;
  const double close = 1e-9 * (motion->t[motion->count - 1] - motion->t[0]);
  size_t k = (size_t)find_before(motion, t);
  k += fabs(motion->t[k + 1] - t) < fabs(motion->t[k] - t);
  if (!(fabs(motion->t[k] - t) <= close)) {
    return false;
  }
  const size_t nq = (size_t)stored->nq, nv = (size_t)stored->nv;
  memcpy(q, motion->q + k * nq, nq * sizeof *q);
  memcpy(v, motion->v + k * nv, nv * sizeof *v);
  return true;
}

/* Steps: (t_0, v_0), (t_0, v_1), (t_1, v_1), (t_1, v_2), ... */
static int step_graph(const saltusi_stored_motion* stored, int velocity, int last, double* points,
                      int capacity) {
  const saltusi_trajectory* motion = &stored->motion;
  for (int k = 0; k < 2 * last + 1 && k < capacity; k++) {
    points[2 * (size_t)k] = motion->t[k / 2];
    points[2 * (size_t)k + 1] =
        motion->v[(size_t)((k + 1) / 2) * (size_t)stored->nv + (size_t)velocity];
  }
  return 2 * last + 1;
}

/* Positions as a polyline. Velocities as a polyline with filled jumps if these are known, otherwise as filled
 * steps. */
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
  if (which == 1 && !motion->jumps_known) {
    return step_graph(stored, coordinate, last, points, capacity);
  }
  return saltusi_trajectory_graph(motion, which == 0 ? stored->nq : stored->nv, coordinate, which,
                                  last + 1, points, capacity);
}

int saltusi_trajectory_graph(const saltusi_trajectory* motion, int n, int component, int which,
                             int count, double* points, int capacity) {
  assert(motion != NULL && count <= motion->count && component >= 0 && component < n);
  const double* x = which == 0 ? motion->q : motion->v;
  const double* jumps = which == 0 ? motion->jump_q : motion->jump_v;
  int used = 0;
  for (int k = 0, j = 0; k < count; k++) {
    for (; motion->jumps_known && j < motion->jump_count && motion->jump_t[j] <= motion->t[k];
         j++) {
      for (int side = 0; side < 2; side++, used++) {
        if (used < capacity) {
          const size_t row = which == 0 ? (size_t)j : 2 * (size_t)j + (size_t)side;
          points[2 * (size_t)used] = motion->jump_t[j];
          points[2 * (size_t)used + 1] = jumps[row * (size_t)n + (size_t)component];
        }
      }
    }
    if (used < capacity) {
      points[2 * (size_t)used] = motion->t[k];
      points[2 * (size_t)used + 1] = x[(size_t)k * (size_t)n + (size_t)component];
    }
    used++;
  }
  return used;
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
