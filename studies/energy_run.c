/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energy_run.c - see energy_run.h.
 */
#include "energy_run.h"

#include "potra_run.h"

#include <stdlib.h>

static saltus_status no_frame(void* user, const saltus_frame* frame) {
  (void)user;
  (void)frame;
  return SALTUS_OK;
}

static saltus_status simulate(energy_run* run, const saltus_scheme_info* info,
                              const void* options) {
  const saltus_recorder recorder = {.frame = no_frame};
  double h = run->h;
  long long steps = 1;
  if (!info->chooses_step) {
    steps = saltus_sim_step_count(0.0, run->until, run->h, &h);
  }
  const saltus_sim_def def = {.system = run->view->system,
                              .scheme = info->name,
                              .options = options,
                              .h = h,
                              .q0 = run->view->q0,
                              .v0 = run->view->v0,
                              .recorders = run->ledger ? &recorder : NULL,
                              .recorder_count = run->ledger ? 1 : 0,
                              .record_every = steps + 1,
                              .log = cli_log()};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  run->h = h;
  for (long long k = 0; k < steps && status == SALTUS_OK; k++) {
    status = info->chooses_step ? saltus_sim_run_until(sim, run->until) : saltus_sim_step(sim);
    if (status == SALTUS_OK && run->observe != NULL) {
      run->observe(run, sim);
    }
  }
  if (status == SALTUS_OK) {
    run->steps = saltus_sim_steps_done(sim);
    run->work = saltus_sim_work(sim);
  }
  saltus_sim_destroy(sim);
  return status;
}

int energy_go(energy_run* run) {
  const saltus_scheme_info* info = saltus_scheme_find(run->scheme);
  const saltus_scene_def def = {.path = run->scene != NULL ? run->scene : "study",
                                .text =
                                    run->text != NULL ? run->text : potra_scene_text(run->scene),
                                .overrides = run->overrides,
                                .override_count = run->override_count,
                                .log = cli_log()};
  if (info == NULL || def.text == NULL) {
    cli_error("study: no scheme %s or scene %s", run->scheme, def.path);
    return CLI_FAILED;
  }
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status != SALTUS_OK) {
    return CLI_FAILED;
  }
  run->view = saltus_scene_get_view(scene);
  run->scratch = malloc(run->view->system->dims.scratch + 1);
  void* options = calloc(1, info->options.size + 1);
  status = run->scratch != NULL && options != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK) {
    saltus_options_defaults(&info->options, options);
    status = saltus_options_set_line(&info->options, options, info->name, run->options, cli_log());
  }
  if (status == SALTUS_OK) {
    status = simulate(run, info, options);
  }
  free(options);
  free(run->scratch);
  saltus_scene_destroy(scene);
  return status == SALTUS_OK ? CLI_DONE : CLI_FAILED;
}

double energy_of(const energy_run* run, const double* q, const double* v) {
  const saltus_system* sys = run->view->system;
  const saltus_point at = {.t = run->view->start, .q = q, .v = v, .scratch = run->scratch};
  return sys->ops->kinetic(sys->self, &at) + sys->ops->potential(sys->self, &at);
}
