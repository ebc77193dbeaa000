/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trajectory_samples.c - see trajectory_samples.h.
 */
#include "run/trajectory_samples.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- frames ---------------------------------------------------------------------------------- */

bool saltusi_asked_start(saltusi_asked* asked, const double* q0, saltusi_pool* pool) {
  assert(asked->sys != NULL && q0 != NULL);
  saltus_arena arena = saltus_arena_counting();
  saltusi_displacement_layout(&asked->ways, asked->sys, &arena);
  size_t bytes = arena.used;
  void* block = saltusi_pool_take(pool, bytes + 1, 1);
  if (block == NULL) {
    return false;
  }
  arena = saltus_arena_over(block, bytes);
  saltusi_displacement_layout(&asked->ways, asked->sys, &arena);
  saltusi_displacement_find_own(&asked->ways, asked->sys, q0);
  return true;
}

static size_t width(const saltusi_trajectory_samples* track) {
  return (size_t)track->sys->dims.nq + (size_t)track->sys->dims.nv;
}

bool saltusi_trajectory_samples_start(saltusi_trajectory_samples* track, const saltus_system* sys,
                                      const double* times, int count, saltusi_pool* pool) {
  assert(sys != NULL && times != NULL && count > 0);
  *track = (saltusi_trajectory_samples){.sys = sys,
                                        .allocator = pool->allocator,
                                        .times = times,
                                        .count = count,
                                        .last_t = -INFINITY};
  size_t numbers = (size_t)count * width(track);
  track->states = SALTUSI_TAKE(pool, double, numbers);
  track->last_v = SALTUSI_TAKE(pool, double, sys->dims.nv);
  if (track->states == NULL || track->last_v == NULL) {
    return false;
  }
  for (size_t i = 0; i < numbers; i++) {
    track->states[i] = NAN;
  }
  return true;
}

void saltusi_trajectory_samples_end(saltusi_trajectory_samples* track) {
  assert(track != NULL);
  saltusi_release(&track->allocator, track->jumps, track->jump_room, sizeof *track->jumps);
  track->jumps = NULL;
  track->jump_count = track->jump_room = 0;
}

static saltus_status keep_jump(saltusi_trajectory_samples* track, const saltus_frame* frame) {
  size_t nv = (size_t)track->sys->dims.nv;
  size_t used = track->jump_count * (nv + 1);
  if (!saltusi_grow(&track->allocator, (void**)&track->jumps, &track->jump_room, used + nv + 1,
                    sizeof *track->jumps)) {
    return SALTUS_ERR_MEMORY;
  }
  double* jump = track->jumps + used;
  jump[0] = frame->t;
  for (size_t i = 0; i < nv; i++) {
    jump[1 + i] = frame->v[i] - track->last_v[i];
  }
  track->jump_count++;
  return SALTUS_OK;
}

static bool same_time(double a, double b) {
  return fabs(a - b) <= 64.0 * DBL_EPSILON * fmax(1.0, fabs(b)); /* ends of steps are rounded */
}

static saltus_status take_frame(void* user, const saltus_frame* frame) {
  saltusi_trajectory_samples* track = user;
  size_t nq = (size_t)track->sys->dims.nq;
  size_t nv = (size_t)track->sys->dims.nv;
  saltus_status status = frame->t == track->last_t ? keep_jump(track, frame) : SALTUS_OK;
  track->last_t = frame->t;
  memcpy(track->last_v, frame->v, nv * sizeof(double));
  bool again = track->next > 0 && same_time(frame->t, track->times[track->next - 1]);
  bool next = track->next < track->count && same_time(frame->t, track->times[track->next]);
  if (again || next) { /* the right side of a jump replaces its left */
    track->next += !again;
    double* state = track->states + (size_t)(track->next - 1) * width(track);
    memcpy(state, frame->q, nq * sizeof(double));
    memcpy(state + nq, frame->v, nv * sizeof(double));
  }
  return status;
}

saltus_recorder saltusi_trajectory_samples_recorder(saltusi_trajectory_samples* track) {
  assert(track->states != NULL);
  return (saltus_recorder){.frame = take_frame, .user = track};
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Number of jumps considered before and after an instant. In an accumulation with more jumps, those that matter are
 * among them: smaller ones are closer to its end. */
enum { BESIDE = 16 };

/* A jump near an instant, and the distance above which errors of times may have moved it across the instant. */
typedef struct near_jump {
  const double* change; /* [nv] of v */
  double reach;
} near_jump;

/* Comparison of two motions at one instant. */
typedef struct instant {
  const saltusi_asked* asked;
  double t;
  const double *q, *v;   /* of the second */
  const double *dq, *dv; /* [nv] */
  near_jump near[2][2 * BESIDE];
  int near_count[2];
} instant;

static double position_weight(const saltusi_asked* a, const double* q, int i) {
  double own = a->atol_q != NULL ? a->atol_q[i] : 0.0;
  return saltusi_displacement_tolerance(&a->ways, saltusi_displacement_size(&a->ways, q, i), i,
                                        own > 0.0 ? own : a->atol, a->rtol);
}

static double velocity_weight(const saltusi_asked* a, const double* v, int i) {
  double own = a->atol_v != NULL ? a->atol_v[i] : 0.0;
  return (own > 0.0 ? own : a->atol_velocity) + a->rtol * fabs(v[i]);
}

/* The jumps of one motion near the instant. */
static int look_around(const instant* at, const saltusi_trajectory_samples* track,
                       near_jump* near) {
  int nv = track->sys->dims.nv;
  size_t stride = 1 + (size_t)nv;
  size_t from = 0, to = track->jump_count;
  while (from < to) { /* the first one after the instant */
    size_t middle = from + (to - from) / 2;
    bool before = track->jumps[middle * stride] <= at->t;
    from = before ? middle + 1 : from;
    to = before ? to : middle;
  }
  size_t first = from > BESIDE ? from - BESIDE : 0;
  size_t last = from + BESIDE < track->jump_count ? from + BESIDE : track->jump_count;
  int count = 0;
  for (size_t j = first; j < last; j++) {
    const double* jump = track->jumps + j * stride;
    double most = 0.0;
    for (int i = 0; i < nv; i++) {
      most = fmax(most, fabs(jump[1 + i]) / position_weight(at->asked, at->q, i));
    }
    near[count++] = (near_jump){jump + 1, fabs(jump[0] - at->t) * most};
  }
  return count;
}

/* Admissible difference of velocity i due to jumps of one motion, given a distance. */
static double jumps_within(const instant* at, int who, double distance, int i) {
  double sum = 0.0;
  for (int j = 0; j < at->near_count[who]; j++) {
    assert(at->near[who][j].change != NULL);
    sum += at->near[who][j].reach <= distance ? fabs(at->near[who][j].change[i]) : 0.0;
  }
  return sum;
}

static bool velocities_fit(const instant* at, double distance) {
  for (int i = 0; i < at->asked->sys->dims.nv; i++) {
    double over = fabs(at->dv[i]) - distance * velocity_weight(at->asked, at->v, i);
    if (over > 0.0 && !(over <= jumps_within(at, 0, distance, i)) &&
        !(over <= jumps_within(at, 1, distance, i))) {
      return false;
    }
  }
  return true;
}

/* The smallest admissible distance to a hundredth, by bisection of its logarithm between the distance of the positions
 * and the distance without moved jumps. */
static double distance_of(instant* at, const saltusi_trajectory_samples* a,
                          const saltusi_trajectory_samples* b) {
  int nv = at->asked->sys->dims.nv;
  double in_q = 0.0, in_v = 0.0;
  for (int i = 0; i < nv; i++) {
    double q = fabs(at->dq[i]) / position_weight(at->asked, at->q, i);
    double v = fabs(at->dv[i]) / velocity_weight(at->asked, at->v, i);
    in_q = q <= in_q ? in_q : q; /* NaN wins */
    in_v = v <= in_v ? in_v : v;
  }
  if (!isfinite(in_q) || !isfinite(in_v)) {
    return INFINITY;
  }
  bool jumps = a->jump_count > 0 || b->jump_count > 0;
  double low = fmax(in_q, 1e-6), high = in_v;
  if (!(high > low) || !jumps) {
    return fmax(in_q, in_v);
  }
  at->near_count[0] = look_around(at, a, at->near[0]);
  at->near_count[1] = look_around(at, b, at->near[1]);
  if (velocities_fit(at, low)) {
    return low;
  }
  while (high > 1.01 * low) {
    double middle = sqrt(low * high);
    bool fits = velocities_fit(at, middle);
    high = fits ? middle : high;
    low = fits ? low : middle;
  }
  return high;
}

void saltusi_trajectory_samples_compare(const saltusi_asked* asked,
                                        const saltusi_trajectory_samples* a,
                                        const saltusi_trajectory_samples* b, double* room,
                                        double* profile) {
  assert(a->count == b->count && a->sys == b->sys && room != NULL);
  int nq = a->sys->dims.nq;
  int nv = a->sys->dims.nv;
  double *dq = room, *dv = room + nv;
  for (int k = 0; k < a->count; k++) {
    const double* x = a->states + (size_t)k * width(a);
    const double* y = b->states + (size_t)k * width(b);
    saltusi_difference(a->sys, y, x, dq);
    for (int i = 0; i < nv; i++) {
      dv[i] = x[nq + i] - y[nq + i];
    }
    instant at = {.asked = asked, .t = a->times[k], .q = y, .v = y + nq, .dq = dq, .dv = dv};
    profile[k] = distance_of(&at, a, b);
  }
}
