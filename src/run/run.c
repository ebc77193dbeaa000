/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.c - creation, execution and destruction of a run. The simulation has one recorder, which collects the result and
 * passes frames and events on, so that recorders can be added after the simulation was created.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"
#include "run/run_state.h"
#include "sim/observe.h"
#include "sim/stepping.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

saltus_run_def saltus_run_def_default(void) {
  return (saltus_run_def){.step = NAN,
                          .tol = NAN,
                          .rtol = NAN,
                          .atol = NAN,
                          .until = NAN,
                          .start = NAN,
                          .record_dt = NAN};
}

saltus_scene_view saltus_run_system(const saltus_system* system, const double* q0,
                                    const double* v0) {
  assert(system != NULL && q0 != NULL && v0 != NULL);
  return (saltus_scene_view){.name = "",
                             .description = "",
                             .text = "",
                             .system = system,
                             .q0 = q0,
                             .v0 = v0,
                             .until = NAN,
                             .step = NAN,
                             .tol = NAN,
                             .record_every = 1};
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  saltus_run* run = user;
  saltusi_run_statistics_frame(&run->gather, frame);
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < run->recorder_count && status == SALTUS_OK; i++) {
    const saltus_recorder* recorder = &run->recorders[i];
    status = recorder->frame != NULL ? recorder->frame(recorder->user, frame) : SALTUS_OK;
  }
  return status;
}

static saltus_status on_step(void* user, double t, const double* q, const double* v) {
  const saltus_run* run = user;
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < run->recorder_count && status == SALTUS_OK; i++) {
    const saltus_recorder* recorder = &run->recorders[i];
    status = recorder->step != NULL ? recorder->step(recorder->user, t, q, v) : SALTUS_OK;
  }
  return status;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  saltus_run* run = user;
  saltusi_run_statistics_event(&run->gather, event);
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < run->recorder_count && status == SALTUS_OK; i++) {
    const saltus_recorder* recorder = &run->recorders[i];
    status = recorder->event != NULL ? recorder->event(recorder->user, event) : SALTUS_OK;
  }
  return status;
}

static void on_effort(void* user, uint64_t identity, long long iterations) {
  const saltus_run* run = user;
  for (size_t i = 0; i < run->recorder_count; i++) {
    const saltus_recorder* recorder = &run->recorders[i];
    if (recorder->effort != NULL) {
      recorder->effort(recorder->user, identity, iterations);
    }
  }
}

void saltusi_run_read_state(saltus_run* run, saltus_status status) {
  assert(run->sim != NULL);
  saltus_run_result* r = &run->result;
  r->status = status;
  r->t = saltus_sim_time(run->sim);
  r->q = saltus_sim_q(run->sim);
  r->v = saltus_sim_v(run->sim);
  r->steps = saltus_sim_steps_done(run->sim);
  r->work = saltus_sim_work(run->sim);
  r->tally = saltus_sim_tally(run->sim);
  r->residuals = saltus_sim_residuals(run->sim);
  double first;
  r->creations = saltus_sim_energy_creations(run->sim, &first);
  r->first_creation = r->creations > 0 ? first : NAN;
  if (status == SALTUS_OK) {
    snprintf(run->reason, sizeof run->reason, "complete");
  } else {
    saltusi_print(run->reason, sizeof run->reason, "%s at t = %.17g s", saltus_status_text(status),
                  r->t);
  }
  r->reason = run->reason;
}

saltus_status saltusi_run_make_sim(saltus_run* run) {
  assert(run->sim == NULL);
  const saltus_run_def* def = &run->def;
  const saltus_scene_view* scene = def->scene;
  const saltus_run_settings* s = &run->settings;
  const saltus_recorder framed = {.frame = on_frame,
                                  .event = on_event,
                                  .user = run,
                                  .step = on_step,
                                  .contacts_unseen = 1,
                                  .effort = on_effort};
  const saltus_recorder unframed = {.contacts_unseen = 1, .ledger_unseen = 1};
  const saltus_recorder recorder = def->stepping ? unframed : framed;
  const saltus_sim_def sim = {
      .system = scene->system,
      .scheme = s->scheme->name,
      .options = s->options,
      .atol_q = scene->atol_q,
      .atol_v = scene->atol_v,
      .t0 = s->start,
      .h = s->h,
      .q0 = def->q0 != NULL ? def->q0 : scene->q0,
      .v0 = def->v0 != NULL ? def->v0 : scene->v0,
      .control = s->control,
      .control_options = &s->control_options,
      .recorders = &recorder,
      .recorder_count = 1,
      .record_every = s->record_every,
      .record_dt = s->record_dt,
      .record_times = def->record_times,
      .record_time_count = def->record_time_count,
      .record_jumps = s->record_jumps,
      .record_middles = s->record_middles,
      .past = def->past,
      .past_count = def->past_count,
      .observables = scene->observables,
      .changes = scene->input_count > 0 ? scene->input_changes : NULL,
      .progress = def->progress,
      .threads = def->threads,
      .cancel = def->cancel,
      .log = def->log,
      .allocator = def->allocator,
  };
  saltus_status status = saltus_sim_create(&sim, &run->sim);
  if (status == SALTUS_OK) {
    status = isfinite(s->until) ? saltus_sim_check_end(run->sim, s->until) : SALTUS_OK;
  }
  if (status == SALTUS_OK && def->resume != NULL) {
    status = saltus_sim_snapshot_load(run->sim, def->resume->state, def->resume->state_bytes);
  }
  if (status == SALTUS_OK && def->resume != NULL && saltus_sim_time(run->sim) != def->resume->t) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "snapshot: its head is at t = %.17g s, its state at %.17g s", def->resume->t,
                saltus_sim_time(run->sim));
    status = SALTUS_ERR_INPUT;
  }
  return status;
}

/* The simulation computes contacts of frames only if a recorder uses them. */
static void show_contacts(const saltus_run* run) {
  bool seen = false;
  for (size_t i = 0; i < run->recorder_count; i++) {
    seen = seen || (run->recorders[i].frame != NULL && run->recorders[i].contacts_unseen == 0);
  }
  if (seen && run->sim != NULL) {
    saltusi_sim_show_contacts(run->sim);
  }
}

saltus_status saltus_run_record(saltus_run* run, saltus_recorder recorder) {
  assert(run->result.frames == 0); /* it would miss the beginning */
  if (!saltusi_grow(&run->pool.allocator, (void**)&run->recorders, &run->recorder_room,
                    run->recorder_count + 1, sizeof recorder)) {
    saltusi_log(run->def.log, SALTUS_LEVEL_ERROR, "run: no memory for %zu recorders",
                run->recorder_count + 1);
    return SALTUS_ERR_MEMORY;
  }
  run->recorders[run->recorder_count++] = recorder;
  show_contacts(run);
  return SALTUS_OK;
}

static saltus_status check(const saltus_run_def* def) {
  bool lists = def->option_count >= 0 && (def->option_count == 0 || def->options != NULL) &&
               def->control_option_count >= 0 &&
               (def->control_option_count == 0 || def->control_options != NULL) &&
               def->recorder_count >= 0 && (def->recorder_count == 0 || def->recorders != NULL);
  const saltus_scene_view* scene = def->scene;
  const char* what = scene == NULL || scene->system == NULL ? "no scene given"
                     : def->stepping && (def->recorder_count > 0 || def->resume != NULL)
                         ? "one that is advanced by the caller has no recorders and no snapshot"
                     : !lists ? "a count is not the length of its list"
                     : (def->q0 == NULL) != (def->v0 == NULL) ? "another start needs q0 and v0"
                                                              : NULL;
  if (what != NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "run: %s", what);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

saltus_status saltus_run_create(const saltus_run_def* def, saltus_run** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_run_def", def->log);
  status = status == SALTUS_OK ? check(def) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_run* run = SALTUSI_TAKE(&pool, saltus_run, 1);
  if (run == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "run: no memory");
    return SALTUS_ERR_MEMORY;
  }
  run->pool = pool;
  run->def = *def;
  status = saltusi_run_resolve(def, false, &run->pool, &run->settings);
  if (status == SALTUS_OK &&
      !saltusi_run_statistics_start(&run->gather, def, &run->pool, &run->result)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "run: no memory");
    status = SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < def->recorder_count && status == SALTUS_OK; i++) {
    status = saltus_run_record(run, def->recorders[i]);
  }
  if (status == SALTUS_OK) {
    status = saltusi_run_make_sim(run);
  }
  if (status == SALTUS_OK) {
    show_contacts(run);
  }
  if (status == SALTUS_OK && def->stepping) {
    status =
        saltusi_stepping_start(run->sim, run->settings.steps > 0 ? HUGE_VAL : run->settings.until);
  }
  if (status != SALTUS_OK) {
    saltus_run_destroy(run);
    return status;
  }
  run->tightened = !run->settings.global;
  saltusi_run_read_state(run, SALTUS_OK);
  *out = run;
  return SALTUS_OK;
}

void saltus_run_destroy(saltus_run* run) {
  if (run != NULL) {
    saltus_sim_destroy(run->sim);
    saltusi_release(&run->pool.allocator, run->recorders, run->recorder_room,
                    sizeof *run->recorders);
    saltusi_pool pool = run->pool;
    saltusi_pool_free(&pool);
  }
}

const saltus_run_settings* saltus_run_get_settings(const saltus_run* run) {
  assert(run != NULL);
  return &run->settings;
}

saltus_status saltus_run_advance(saltus_run* run, double t, unsigned stop,
                                 const saltus_event** event) {
  assert(run != NULL && run->def.stepping);
  const saltus_event* unasked;
  return saltusi_stepping_advance(run->sim, t, stop, run->def.step_ends,
                                  event != NULL ? event : &unasked);
}

saltus_run_instant saltus_run_present(const saltus_run* run) {
  assert(run != NULL && run->def.stepping);
  saltus_state now, left;
  saltusi_stepping_present(run->sim, &now, &left);
  return (saltus_run_instant){now.t, now.q, now.v, left.q, left.v};
}

saltus_status saltus_run_outputs(saltus_run* run, saltus_side side, double* outputs) {
  assert(run != NULL && run->def.stepping && outputs != NULL);
  return saltusi_stepping_outputs(run->sim, side == SALTUS_LEFT, outputs);
}

size_t saltus_run_state_bytes(const saltus_run* run) {
  assert(run != NULL && run->def.stepping);
  return saltusi_stepping_bytes(run->sim);
}

void saltus_run_state_save(const saltus_run* run, void* bytes) {
  assert(run != NULL && run->def.stepping && bytes != NULL);
  saltusi_stepping_save(run->sim, bytes);
}

saltus_status saltus_run_state_load(saltus_run* run, const void* bytes, size_t size) {
  assert(run != NULL && run->def.stepping && bytes != NULL);
  return saltusi_stepping_load(run->sim, bytes, size);
}

saltus_status saltus_run_execute(saltus_run* run) {
  assert(run->sim != NULL && !run->def.stepping);
  const saltus_run_settings* s = &run->settings;
  saltus_status status = saltus_run_tighten(run);
  if (status != SALTUS_OK) {
    return status;
  }
  double start = saltusi_clock_cpu();
  status =
      s->steps > 0 ? saltus_sim_run(run->sim, s->steps) : saltus_sim_run_until(run->sim, s->until);
  run->result.cpu += saltusi_clock_cpu() - start;
  if (status == SALTUS_OK) {
    saltusi_remainder_warn(run->sim);
  }
  saltusi_run_read_state(run, status);
  if (status == SALTUS_OK) {
    saltusi_run_flexible_warn(run, run->result.v);
  }
  return status;
}

const saltus_run_result* saltus_run_outcome(const saltus_run* run) {
  assert(run != NULL);
  return &run->result;
}
