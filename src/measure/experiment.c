/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * experiment.c - runs a simulation and keeps every state.
 */
#include "measure/experiment.h"

#include "base/log.h"

#include <string.h>
#include <time.h>

typedef struct keeper {
  double* t;
  double* q;
  double* v;
  int nq, nv;
} keeper;

static saltus_status keep(void* user, const saltus_frame* frame) {
  keeper* k = user;
  k->t[frame->step] = frame->t;
  memcpy(k->q + frame->step * k->nq, frame->q, (size_t)k->nq * sizeof(double));
  memcpy(k->v + frame->step * k->nv, frame->v, (size_t)k->nv * sizeof(double));
  return SALTUS_OK;
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void layout(keeper* k, size_t count, saltus_arena* arena) {
  k->t = SALTUS_PUSH(arena, double, count);
  k->q = SALTUS_PUSH(arena, double, count*(size_t)k->nq);
  k->v = SALTUS_PUSH(arena, double, count*(size_t)k->nv);
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
      .recorders = &recorder,
      .recorder_count = 1,
      .log = def->log,
      .allocator = def->allocator,
  };
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&sim_def, &sim);
  if (status == SALTUS_OK) {
    double start = cpu_seconds();
    status = saltus_sim_run(sim, def->steps);
    out->cpu = cpu_seconds() - start;
    out->work = saltus_sim_work(sim);
  }
  saltus_sim_destroy(sim);
  return status;
}

saltus_status saltusi_experiment_run(const saltusi_experiment_def* def, saltusi_experiment* out) {
  *out = (saltusi_experiment){.h = (def->t_end - def->t0) / (double)def->steps};
  if (def->steps < 1 || def->steps > 100000000 || !(out->h > 0.0)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "experiment: %lld steps from %g s to %g s; need 1 to 1e8 steps forward in time",
                def->steps, def->t0, def->t_end);
    return SALTUS_ERR_RANGE;
  }
  out->memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  keeper k = {.nq = def->system->dims.nq, .nv = def->system->dims.nv};
  size_t count = (size_t)def->steps + 1;
  saltus_arena arena = saltus_arena_counting();
  layout(&k, count, &arena);
  out->bytes = arena.used;
  out->block = out->memory.alloc(out->bytes, out->memory.user);
  if (out->block == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "experiment: no memory for %zu bytes", out->bytes);
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(out->block, out->bytes);
  layout(&k, count, &arena);
  out->motion = (saltusi_trajectory){.count = (int)count, .t = k.t, .q = k.q, .v = k.v};
  saltus_status status = simulate(def, &k, out);
  if (status != SALTUS_OK) {
    saltusi_experiment_free(out);
  }
  return status;
}

void saltusi_experiment_free(saltusi_experiment* experiment) {
  if (experiment->block != NULL) {
    experiment->memory.free(experiment->block, experiment->bytes, experiment->memory.user);
  }
  *experiment = (saltusi_experiment){0};
}
