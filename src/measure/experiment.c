/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * experiment.c - runs a simulation and keeps every state.
 */
#include "measure/experiment.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"

#include <assert.h>
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

static bool make_room(keeper* k) {
  size_t wanted = k->count + 1;
  return saltusi_grow(&k->memory, (void**)&k->t, &k->t_room, wanted, sizeof(double)) &&
         saltusi_grow(&k->memory, (void**)&k->q, &k->q_room, wanted * k->nq, sizeof(double)) &&
         saltusi_grow(&k->memory, (void**)&k->v, &k->v_room, wanted * k->nv, sizeof(double));
}

static saltus_status keep(void* user, const saltus_frame* frame) {
  keeper* k = user;
  if (!make_room(k)) {
    return SALTUS_ERR_MEMORY;
  }
  k->t[k->count] = frame->t;
  memcpy(k->q + k->count * k->nq, frame->q, k->nq * sizeof(double));
  memcpy(k->v + k->count * k->nv, frame->v, k->nv * sizeof(double));
  k->count++;
  k->rejections += frame->rejections;
  return SALTUS_OK;
}

static void release(keeper* k) {
  saltusi_release(&k->memory, k->t, k->t_room, sizeof(double));
  saltusi_release(&k->memory, k->q, k->q_room, sizeof(double));
  saltusi_release(&k->memory, k->v, k->v_room, sizeof(double));
}

static saltus_status simulate(const saltusi_experiment_def* def, keeper* k,
                              saltusi_experiment* out) {
  const saltus_recorder recorder = {.frame = keep, .user = k};
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
  keeper* k = out->memory.alloc(sizeof *k, out->memory.user);
  if (k == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  *k = (keeper){.memory = out->memory,
                .nq = (size_t)def->system->dims.nq,
                .nv = (size_t)def->system->dims.nv};
  out->room = k;
  status = simulate(def, k, out);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "experiment: no memory for %zu states", k->count);
  }
  if (status != SALTUS_OK) {
    saltusi_experiment_free(out);
    return status;
  }
  out->motion = (saltusi_trajectory){.count = (int)k->count, .t = k->t, .q = k->q, .v = k->v};
  out->h = (def->t_end - def->t0) / (double)(k->count - 1);
  out->rejections = k->rejections;
  return SALTUS_OK;
}

void saltusi_experiment_free(saltusi_experiment* experiment) {
  assert(experiment != NULL);
  if (experiment->room != NULL) {
    keeper* k = experiment->room;
    release(k);
    experiment->memory.free(k, sizeof *k, experiment->memory.user);
  }
  *experiment = (saltusi_experiment){.h = 0.0};
}
