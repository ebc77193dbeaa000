/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * potra_run.c - see potra_run.h.
 */
#include "potra_run.h"

#include <math.h>
#include <stdlib.h>

static saltus_status keep_event(void* user, const saltus_event* event) {
  potra_run* run = user;
  if (run->event_count < POTRA_EVENTS) {
    run->events[run->event_count] = *event;
  }
  run->event_count++;
  return SALTUS_OK;
}

static saltus_status go_on(potra_run* run, const saltus_system* sys, saltus_sim* sim,
                           long long steps) {
  saltus_status status = SALTUS_OK;
  for (long long k = 0; k < steps && status == SALTUS_OK; k++) {
    status = saltus_sim_step(sim);
    if (run->observe != NULL && status == SALTUS_OK) {
      run->observe(run->user, saltus_sim_time(sim), saltus_sim_q(sim), saltus_sim_v(sim));
    }
  }
  for (int i = 0; i < POTRA_WIDTH && i < sys->dims.nv; i++) {
    run->q[i] = saltus_sim_q(sim)[i];
    run->v[i] = saltus_sim_v(sim)[i];
  }
  run->work = saltus_sim_work(sim);
  return status;
}

static saltus_status go_scene(potra_run* run, const saltus_scheme_info* info, const void* options,
                              const saltus_scene_view* view) {
  double h;
  long long steps = saltus_sim_step_count(0.0, run->t_end, run->h, &h);
  const saltus_recorder recorder = {.event = keep_event, .user = run};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = info->name,
                              .options = options,
                              .h = h,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = run->log};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status == SALTUS_OK) {
    status = go_on(run, view->system, sim, steps);
    saltus_sim_destroy(sim);
  }
  return status;
}

saltus_status potra_go(potra_run* run) {
  const saltus_scheme_info* info = saltus_scheme_find(run->scheme);
  const char* text = run->text != NULL ? run->text : potra_scene_text(run->scene);
  if (info == NULL || text == NULL) {
    return SALTUS_ERR_NAME;
  }
  run->event_count = 0;
  const saltus_scene_def def = {.path = run->scene,
                                .text = text,
                                .overrides = run->overrides,
                                .override_count = run->override_count,
                                .log = run->log};
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  void* options = calloc(1, info->options.size);
  status = options != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK) {
    saltus_options_defaults(&info->options, options);
    status = saltus_options_set_line(&info->options, options, info->name, run->options, run->log);
  }
  if (status == SALTUS_OK) {
    status = go_scene(run, info, options, saltus_scene_get_view(scene));
  }
  free(options);
  saltus_scene_destroy(scene);
  return status;
}

double potra_distance(int n, const double* q, const double* exact) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += (q[i] - exact[i]) * (q[i] - exact[i]);
  }
  return sqrt(sum);
}

int potra_count(const potra_run* run, saltus_event_kind kind) {
  int count = 0;
  while (!isnan(potra_time(run, kind, count))) {
    count++;
  }
  return count;
}

double potra_time(const potra_run* run, saltus_event_kind kind, int i) {
  for (int k = 0; k < run->event_count && k < POTRA_EVENTS; k++) {
    if (run->events[k].kind == kind && i-- == 0) {
      return run->events[k].t;
    }
  }
  return (double)NAN;
}
