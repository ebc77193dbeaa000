/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * experiment.c - runs a simulation and stores every state.
 */
#include "measure/experiment.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* Growing arrays: the number of steps of a controlled run is not given in advance. */
typedef struct keeper {
  saltus_allocator memory;
  double* t;
  double* q;
  double* v;
  size_t t_room, q_room, v_room; /* doubles */
  size_t count;
  size_t nq, nv;
  long long rejections;
} keeper;

/* States at the ends of steps, and on both sides of jumps. */
typedef struct keepers {
  keeper steps, jumps;
} keepers;

static saltus_status keep(keeper* k, double t, const double* q, const double* v) {
  const size_t wanted = k->count + 1;
  if (!saltusi_grow(&k->memory, (void**)&k->t, &k->t_room, wanted, sizeof(double)) ||
      !saltusi_grow(&k->memory, (void**)&k->q, &k->q_room, wanted * k->nq, sizeof(double)) ||
      !saltusi_grow(&k->memory, (void**)&k->v, &k->v_room, wanted * k->nv, sizeof(double))) {
    return SALTUS_ERR_MEMORY;
  }
  k->t[k->count] = t;
  memcpy(k->q + k->count * k->nq, q, k->nq * sizeof(double));
  memcpy(k->v + k->count * k->nv, v, k->nv * sizeof(double));
  k->count++;
  return SALTUS_OK;
}

static saltus_status keep_step(void* user, double t, const double* q, const double* v) {
  return keep(&((keepers*)user)->steps, t, q, v);
}

static saltus_status keep_frame(void* user, const saltus_frame* frame) {
  keeper* k = &((keepers*)user)->steps;
  k->rejections += frame->rejections;
  return keep(k, frame->t, frame->q, frame->v);
}

/* Two frames at one time are the sides of a jump. The last frame is stored until one with another time follows. */
static saltus_status keep_jump(void* user, const saltus_frame* frame) {
  keeper* k = &((keepers*)user)->jumps;
  const bool alone = k->count % 2 == 1;
  if (alone && k->t[k->count - 1] != frame->t) {
    k->count--;
  }
  return keep(k, frame->t, frame->q, frame->v);
}

static void release(keeper* k) {
  saltusi_release(&k->memory, k->t, k->t_room, sizeof(double));
  saltusi_release(&k->memory, k->q, k->q_room, sizeof(double));
  saltusi_release(&k->memory, k->v, k->v_room, sizeof(double));
}

static saltus_status simulate(const saltusi_experiment_def* def, keepers* k, bool jumps,
                              saltusi_experiment* out) {
  const saltus_recorder recorder = {.frame = jumps ? keep_jump : keep_frame,
                                    .step = jumps ? keep_step : NULL,
                                    .user = k,
                                    .contacts_unseen = 1};
  const saltus_sim_def sim_def = {
      .system = def->system,
      .scheme = def->scheme,
      .options = def->options,
      .t0 = def->t0,
      .h = out->h,
      .q0 = def->q0,
      .v0 = def->v0,
      .control = def->control,
      .control_options = def->control_options,
      .recorders = &recorder,
      .recorder_count = 1,
      .record_every = jumps ? LLONG_MAX : 1,
      .record_jumps = jumps,
      .log = def->log,
      .allocator = def->allocator,
  };
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&sim_def, &sim);
  if (status == SALTUS_OK) {
    double start = saltusi_clock_cpu();
    status = def->control != NULL ? saltus_sim_run_until(sim, def->t_end)
                                  : saltus_sim_run(sim, def->steps);
    out->cpu = saltusi_clock_cpu() - start;
    out->work = saltus_sim_work(sim);
  }
  saltus_sim_destroy(sim);
  return status;
}

static saltus_status check(const saltusi_experiment_def* def) {
  bool counted = def->control != NULL || (def->steps >= 1 && def->steps <= 100000000);
  if (counted && def->t_end > def->t0) {
    return SALTUS_OK;
  }
  saltusi_log(def->log, SALTUS_LEVEL_ERROR,
              "experiment: %lld steps from %g s to %g s; need 1 to 1e8 steps forward in time",
              def->steps, def->t0, def->t_end);
  return SALTUS_ERR_RANGE;
}

saltus_status saltusi_experiment_run(const saltusi_experiment_def* def, saltusi_experiment* out) {
  assert(def->system != NULL && def->q0 != NULL && def->v0 != NULL);
  *out = (saltusi_experiment){.h = 0.0};
  saltus_status status = check(def);
  if (status != SALTUS_OK) {
    return status;
  }
  if (def->control == NULL) {
    out->h = (def->t_end - def->t0) / (double)def->steps;
  }
  out->memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  keepers* k = out->memory.alloc(sizeof *k, out->memory.user);
  if (k == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const keeper empty = {.memory = out->memory,
                        .nq = (size_t)def->system->dims.nq,
                        .nv = (size_t)def->system->dims.nv};
  *k = (keepers){empty, empty};
  out->room = k;
  const saltus_scheme_info* scheme = saltus_scheme_find(def->scheme);
  const bool jumps = def->jumps && def->control == NULL && scheme != NULL && scheme->dense &&
                     scheme->locates_events;
  status = simulate(def, k, jumps, out);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "experiment: no memory for %zu states",
                k->steps.count);
  }
  if (status != SALTUS_OK) {
    saltusi_experiment_free(out);
    return status;
  }
  const int count = (int)k->jumps.count / 2;
  for (int i = 0; i < count; i++) { /* q is the same on both sides */
    k->jumps.t[i] = k->jumps.t[2 * (size_t)i];
    memmove(k->jumps.q + (size_t)i * empty.nq, k->jumps.q + 2 * (size_t)i * empty.nq,
            empty.nq * sizeof(double));
  }
  out->motion = (saltusi_trajectory){.count = (int)k->steps.count,
                                     .t = k->steps.t,
                                     .q = k->steps.q,
                                     .v = k->steps.v,
                                     .jumps_known = jumps,
                                     .jump_count = count,
                                     .jump_t = k->jumps.t,
                                     .jump_q = k->jumps.q,
                                     .jump_v = k->jumps.v};
  out->h = (def->t_end - def->t0) / (double)(k->steps.count - 1);
  out->rejections = k->steps.rejections;
  return SALTUS_OK;
}

void saltusi_experiment_free(saltusi_experiment* experiment) {
  assert(experiment != NULL);
  if (experiment->room != NULL) {
    keepers* k = experiment->room;
    release(&k->steps);
    release(&k->jumps);
    experiment->memory.free(k, sizeof *k, experiment->memory.user);
  }
  *experiment = (saltusi_experiment){.h = 0.0};
}
