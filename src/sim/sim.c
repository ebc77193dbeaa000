/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sim.c - the step loop: trial step, check, commit, report to observers.
 */
#include "sim/def_check.h"
#include "sim/sim_state.h"
#include "sim/stepping.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/reserved.h"
#include "scheme/scheme_ops.h"
#include "system/diagnose.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static saltus_status refuse(saltus_log log, const char* member, double value, const char* allowed) {
  return saltusi_def_refuse(log, "simulation", member, value, allowed);
}

/* Times of frames have to increase, and the scheme needs dense output. */
static saltus_status check_record_times(const saltus_sim_def* def,
                                        const saltus_scheme_info* scheme) {
  bool list = def->record_times != NULL;
  if (!(def->record_dt >= 0.0 && def->record_dt <= 1e300)) {
    return refuse(def->log, "record_dt", def->record_dt, "at least 0 and finite");
  }
  if (list && (def->record_time_count < 1 || def->record_dt > 0.0)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "simulation: give record_times with their number, or record_dt, not both");
    return SALTUS_ERR_RANGE;
  }
  for (int i = 0; list && i < def->record_time_count; i++) {
    if (!isfinite(def->record_times[i]) ||
        (i > 0 && !(def->record_times[i] > def->record_times[i - 1]))) {
      saltusi_log(
          def->log, SALTUS_LEVEL_ERROR,
          "simulation: record_times[%d] is %g, must be finite and later than the one before", i,
          def->record_times[i]);
      return SALTUS_ERR_RANGE;
    }
  }
  bool inside = list || def->record_dt > 0.0 || def->record_jumps || def->record_middles;
  bool knows = scheme == NULL || (scheme->dense && (scheme->locates_events || !def->record_jumps));
  if (inside && !knows) {
    saltusi_log(
        def->log, SALTUS_LEVEL_ERROR,
        "scheme %s has no dense output: it can be recorded every n-th step, not at given times",
        scheme->name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

/* Checks reserved members. */
static saltus_status check_reserved(const saltus_sim_def* def) {
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_sim_def", def->log);
  if (status == SALTUS_OK) {
    status = SALTUSI_RESERVED_CHECK(&def->progress, "saltus_progress", def->log);
  }
  if (status == SALTUS_OK && def->observables != NULL) {
    status = SALTUSI_RESERVED_CHECK(def->observables, "saltus_observables", def->log);
  }
  for (int i = 0; i < def->recorder_count && def->recorders != NULL && status == SALTUS_OK; i++) {
    status = SALTUSI_RESERVED_CHECK(&def->recorders[i], "saltus_recorder", def->log);
  }
  return status;
}

static saltus_status check(const saltus_sim_def* def) {
  if (def->system == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "simulation: no system given");
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = saltus_system_validate(def->system, def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scheme_info* scheme = def->scheme != NULL ? saltus_scheme_find(def->scheme) : NULL;
  bool chosen = scheme != NULL && scheme->chooses_step;
  if (chosen ? !(def->h >= 0.0) : def->control == NULL && !(def->h > 0.0 && def->h <= 1e300)) {
    return refuse(def->log, "step h", def->h,
                  chosen ? "the largest step, or 0" : "positive and finite");
  }
  if (!isfinite(def->t0)) {
    return refuse(def->log, "start t0", def->t0, "finite");
  }
  if (def->recorder_count < 0 || (def->recorder_count > 0 && def->recorders == NULL)) {
    return refuse(def->log, "recorder_count", def->recorder_count, "the length of recorders");
  }
  if (def->record_every < 0) {
    return refuse(def->log, "record_every", (double)def->record_every, "at least 0");
  }
  status = check_record_times(def, scheme);
  if (status != SALTUS_OK) {
    return status;
  }
  status = saltusi_def_check_vector(def->log, "simulation", "q0", def->system->dims.nq, def->q0);
  if (status == SALTUS_OK) {
    status = saltusi_def_check_vector(def->log, "simulation", "v0", def->system->dims.nv, def->v0);
  }
  const saltus_point at = {.t = def->t0, .q = def->q0, .v = def->v0};
  return status == SALTUS_OK
             ? saltusi_check_start(def->system, &at, def->allocator, "simulation", def->log)
             : status;
}

static void layout(saltus_sim* sim, saltus_arena* arena) {
  const saltus_dims* d = &sim->sys.dims;
  sim->now.q = SALTUS_PUSH(arena, double, d->nq);
  sim->now.v = SALTUS_PUSH(arena, double, d->nv);
  sim->next.q = SALTUS_PUSH(arena, double, d->nq);
  sim->next.v = SALTUS_PUSH(arena, double, d->nv);
  saltusi_observer_layout(sim, arena);
  saltusi_observe_layout(sim, arena);
}

/* Arrays of the controller. They depend on the memory of the scheme and so come in a second block. */
static saltus_status build_control(saltus_sim* sim, const saltus_control_options* options) {
  saltusi_control counted = {.h = 0.0};
  saltus_arena arena = saltus_arena_counting();
  SALTUS_PUSH(&arena, saltusi_control, 1);
  saltusi_control_layout(&counted, &sim->sys, &arena);
  size_t bytes = arena.used;
  void* block = sim->memory.alloc(bytes, sim->memory.user);
  if (block == NULL) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: no memory for %zu bytes", bytes);
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  arena = saltus_arena_over(block, bytes);
  sim->control = SALTUS_PUSH(&arena, saltusi_control, 1);
  sim->control_bytes = bytes;
  sim->control->options = *options;
  saltusi_control_layout(sim->control, &sim->sys, &arena);
  int events = saltusi_scheme_info(sim->scheme)->locates_events ? 1 : 0;
  if (!saltusi_control_grow(sim->control, &sim->memory, sim->sys.dims.nc, events)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: no memory for step control");
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < sim->sys.dims.nv; i++) {
    bool given = sim->def.atol_q != NULL && sim->def.atol_q[i] > 0.0;
    sim->control->atol[i] = given ? sim->def.atol_q[i] : options->atol;
  }
  return SALTUS_OK;
}

/* Checks the options of the controller, and that the scheme supports control. */
static saltus_status check_control(const saltus_sim_def* def, saltus_control_options* options) {
  const saltus_control_info* info = saltus_control_find(def->control);
  const saltus_scheme_info* scheme = saltus_scheme_find(def->scheme);
  if (info == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "simulation: no step control \"%s\"", def->control);
    return SALTUS_ERR_NAME;
  }
  saltus_options_defaults(&info->options, options);
  if (def->control != NULL && def->control_options != NULL) {
    memcpy(options, def->control_options, sizeof *options);
  }
  saltus_status status = saltus_options_check(&info->options, options, info->name, def->log);
  if (status != SALTUS_OK || scheme == NULL) {
    return status;
  }
  if (scheme->chooses_step) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "scheme %s chooses its steps itself; it has no control", scheme->name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if ((scheme->treats & SALTUS_TREATS_VARIABLE_STEPS) == 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "scheme %s needs a constant step; it has no control",
                scheme->name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  for (int i = 0; i < def->system->law_count && !scheme->locates_events; i++) {
    if (def->system->laws[i].impact_mu != 0.0) {
      saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                  "scheme %s has impacts at the start of its steps; step control does not estimate "
                  "that error and is refused with impact_friction",
                  scheme->name);
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  if (options->order == SALTUS_ORDER_EMBEDDED && scheme->embedded_order == 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "scheme %s has no embedded method; control \"%s\" needs one", scheme->name,
                def->control);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (!(options->atol > 0.0 || options->rtol > 0.0 || def->atol_q != NULL)) {
    return refuse(def->log, "atol", options->atol, "positive when rtol is 0");
  }
  return SALTUS_OK;
}

/* Normalises the quaternions of the initial state, which may be written with few digits. */
static saltus_status normalise_start(saltus_sim* sim) {
  const double much = 1e-6; /* as written with six digits */
  double moved = 0.0;
  saltusi_normalise(&sim->sys, sim->now.q);
  for (int i = 0; i < sim->sys.dims.nq; i++) {
    double by = fabs(sim->now.q[i] - sim->def.q0[i]);
    moved = by <= moved ? moved : by; /* NaN is kept */
  }
  if (!isfinite(moved)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: q0 cannot be normalised; a quaternion must not be zero");
    return SALTUS_ERR_RANGE;
  }
  if (moved > much) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_WARNING,
                "simulation: q0 is normalised, which moves an entry by %g", moved);
  }
  return SALTUS_OK;
}

static void start(saltus_sim* sim) {
  const saltus_sim_def* def = &sim->def;
  memcpy(sim->now.v, def->v0, (size_t)sim->sys.dims.nv * sizeof(double));
  sim->now.t = def->t0;
  saltusi_observer_start(sim);
  saltusi_observe_start(sim);
}

static void tell_effort(void* who, uint64_t identity, long long iterations) {
  const saltus_sim* sim = who;
  for (int i = 0; i < sim->def.recorder_count; i++) {
    const saltus_recorder* recorder = &sim->recorders[i];
    if (recorder->effort != NULL) {
      recorder->effort(recorder->user, identity, iterations);
    }
  }
}

/* Connects recorders that request the effort of contact problems. */
static void listen(saltus_sim* sim) {
  bool wanted = false;
  for (int i = 0; i < sim->def.recorder_count; i++) {
    wanted = wanted || sim->recorders[i].effort != NULL;
  }
  if (wanted) {
    saltusi_scheme_effort(sim->scheme, (saltusi_effort){.tell = tell_effort, .who = sim});
  }
}

saltus_status saltus_sim_create(const saltus_sim_def* def, saltus_sim** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_control_options control = {0};
  saltus_status status = check_reserved(def);
  status = status == SALTUS_OK ? check(def) : status;
  if (status == SALTUS_OK && def->control != NULL) {
    status = check_control(def, &control);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  /* switching events are found while the motion is observed: this needs a recorder */
  static const saltus_recorder no_recorder = {.contacts_unseen = 1};
  saltus_sim_def observed = *def;
  observed.system = saltusi_system_of(def->system, def->scheme);
  if (def->recorder_count == 0 && def->observables != NULL && def->observables->switching != NULL) {
    observed.recorders = &no_recorder;
    observed.recorder_count = 1;
  }
  def = &observed;
  saltus_allocator memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  saltus_sim counted = {.def = *def, .sys = *def->system};
  saltus_arena arena = saltus_arena_counting();
  SALTUS_PUSH(&arena, saltus_sim, 1);
  layout(&counted, &arena);
  size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (block == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "simulation: no memory for %zu bytes", bytes);
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  arena = saltus_arena_over(block, bytes);
  saltus_sim* sim = SALTUS_PUSH(&arena, saltus_sim, 1);
  *sim = (saltus_sim){.def = *def, .memory = memory, .bytes = bytes, .sys = *def->system};
  layout(sim, &arena);
  memcpy(sim->now.q, def->q0, (size_t)sim->sys.dims.nq * sizeof(double));
  status = normalise_start(sim);
  status = status == SALTUS_OK ? saltusi_contact_workspace_create(sim) : status;
  if (status != SALTUS_OK) {
    saltus_sim_destroy(sim);
    return status;
  }
  start(sim);
  sim->changes = def->changes != NULL ? *def->changes : 0;

  saltus_scheme_def scheme = {.scheme = def->scheme,
                              .options = def->options,
                              .atol_q = def->atol_q,
                              .atol_v = def->atol_v,
                              .system = def->system,
                              .threads = def->threads,
                              .cancel = def->cancel,
                              .log = def->log,
                              .allocator = def->allocator};
  /* switching affects all bodies: no asynchronous islands */
  sim->switches = saltusi_sim_switches(sim);
  status = sim->switches ? saltusi_scheme_create_plain(&scheme, &sim->scheme)
                         : saltus_scheme_create(&scheme, &sim->scheme);
  sim->chosen = status == SALTUS_OK && saltusi_scheme_info(sim->scheme)->chooses_step;
  if (status == SALTUS_OK && def->recorder_count > 0) {
    status = saltusi_ledger_islands_create(&sim->islands, sim->scheme, &sim->memory);
  }
  if (status == SALTUS_OK) {
    listen(sim);
  }
  if (status == SALTUS_OK && def->progress.report != NULL) {
    saltusi_scheme_poll(sim->scheme, saltusi_poll, sim);
  }
  if (status == SALTUS_OK && def->control != NULL) {
    status = build_control(sim, &control);
  }
  if (status != SALTUS_OK) {
    saltus_sim_destroy(sim);
    return status;
  }
  saltusi_remainder_start(sim);
  *out = sim;
  return SALTUS_OK;
}

void saltus_sim_destroy(saltus_sim* sim) {
  if (sim != NULL) {
    saltus_scheme_destroy(sim->scheme);
    saltus_allocator memory = sim->memory;
    if (sim->control != NULL) {
      saltusi_control_release(sim->control, &memory);
      memory.free(sim->control, sim->control_bytes, memory.user);
    }
    saltusi_contact_workspace_release(sim);
    saltusi_ledger_islands_release(&sim->islands, &memory);
    saltusi_stepping_release(sim);
    memory.free(sim, sim->bytes, memory.user);
  }
}

/* Trial step of length h, then commit; time is computed from the step number. */
static inline saltus_status advance_fixed(saltus_sim* sim) {
  saltus_status status =
      saltusi_scheme_try(sim->scheme, sim->now.t, sim->def.h, &sim->now, &sim->next, &sim->report);
  if (status != SALTUS_OK) {
    return saltusi_scheme_explain(sim->scheme, status, sim->now.t, sim->def.h);
  }
  saltusi_scheme_commit(sim->scheme);
  saltusi_sim_exchange(sim, sim->def.t0 + (double)(sim->step + 1) * sim->def.h);
  sim->last_h = sim->def.h;
  status = saltusi_observer_step(sim, &sim->report, sim->next.t, sim->now.t);
  return status == SALTUS_OK && sim->switches ? saltusi_switch_all(sim) : status;
}

/* One step of any kind, not beyond t_end if its length is variable. */
static inline saltus_status advance(saltus_sim* sim, double t_end) {
  const bool can_change = sim->def.changes != NULL && sim->sys.dims.nj + sim->sys.dims.nc > 0;
  if (sim->def.changes != NULL && *sim->def.changes != sim->changes) {
    const saltus_status status = can_change ? saltusi_switch_outside(sim) : SALTUS_OK;
    if (status != SALTUS_OK) {
      return status;
    }
    sim->changes = *sim->def.changes;
    saltusi_scheme_resume(sim->scheme, sim->now.t);
  }
  const saltus_status status = sim->control != NULL ? saltusi_sim_controlled(sim, t_end)
                               : sim->chosen        ? saltusi_sim_chosen(sim, t_end)
                                                    : advance_fixed(sim);
  return can_change && status == SALTUS_OK ? saltusi_switch_keep(sim) : status;
}

saltus_status saltusi_sim_advance(saltus_sim* sim, double t_end) {
  assert(sim != NULL && sim->scheme != NULL);
  return advance(sim, t_end);
}

/* Reports the initial frame, once. */
static saltus_status first_frame(saltus_sim* sim) {
  bool due = sim->step == 0 && !sim->begun;
  sim->begun = true;
  return due ? saltusi_observer_frame(sim, true) : SALTUS_OK;
}

saltus_status saltus_sim_step(saltus_sim* sim) {
  assert(sim != NULL && sim->scheme != NULL);
  saltus_status status = first_frame(sim);
  if (status == SALTUS_OK) {
    status = advance(sim, INFINITY);
  }
  return status == SALTUS_OK ? saltusi_observer_frame(sim, false) : status;
}

static double read_clock(const saltus_progress* progress) {
  return progress->clock != NULL ? progress->clock(progress->user) : saltusi_clock_monotonic();
}

/* Time between two calls of the progress callback, s. */
static double interval_of(const saltus_progress* progress) {
  return progress->interval > 0.0 ? progress->interval : 0.1;
}

bool saltusi_poll(void* who) {
  assert(who != NULL);
  saltus_sim* sim = who;
  const saltus_progress* progress = &sim->def.progress;
  saltusi_progress_state* p = &sim->progress;
  if (sim->def.cancel != NULL && *sim->def.cancel != 0) {
    return true;
  }
  /* a callback may set inputs, which change only between steps */
  if (!p->asks || p->stopped || (sim->def.changes != NULL && !p->between)) {
    return p->stopped;
  }
  if (p->skip > 0) {
    p->skip--;
    return false;
  }
  /* reading the clock takes 20 ns, a step of a ball 200: if readings are close together, only every eighth is done */
  enum { SKIPPED = 7, CLOSE = 100 };
  double now = read_clock(progress);
  p->skip = now - p->read < interval_of(progress) / CLOSE ? SKIPPED : 0;
  p->read = now;
  if (now - p->asked >= interval_of(progress)) {
    p->asked = now;
    p->stopped = progress->report(progress->user, sim->now.t, p->t_end, sim->step) != SALTUS_OK;
  }
  return p->stopped;
}

/* Begins a run to t_end, or continues it after a stop. */
static void begin_run(saltus_sim* sim, double t_end) {
  const saltus_progress* progress = &sim->def.progress;
  sim->progress = (saltusi_progress_state){.asks = progress->report != NULL, .t_end = t_end};
  if (sim->progress.asks) {
    sim->progress.asked = sim->progress.read = read_clock(progress);
  }
}

/* SALTUS_ERR_STOPPED if the run is to be stopped after this step. */
static saltus_status ask(saltus_sim* sim) {
  sim->progress.between = true;
  const bool stop = saltusi_poll(sim);
  sim->progress.between = false;
  return stop ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* Ends a run. A caller that stops it receives the present state; frames that were due before are dropped. */
static saltus_status end_run(saltus_sim* sim, saltus_status status) {
  bool stopped = sim->progress.stopped || (sim->def.cancel != NULL && *sim->def.cancel != 0);
  sim->progress = (saltusi_progress_state){.asks = false};
  if (status != SALTUS_ERR_STOPPED || !stopped) {
    return status;
  }
  status = saltusi_observer_leave(sim);
  saltusi_observer_resume(sim);
  saltusi_log(sim->def.log, SALTUS_LEVEL_WARNING, "simulation: stopped at t = %.17g", sim->now.t);
  return status != SALTUS_OK ? status : SALTUS_ERR_STOPPED;
}

bool saltusi_sim_has_fixed_steps(const saltus_sim* sim) {
  assert(sim != NULL && sim->scheme != NULL);
  return sim->control == NULL && !saltusi_scheme_info(sim->scheme)->chooses_step;
}

/* Shortest run of a scheme that chooses its steps, s: these resolve time to a few 1e-15 s. */
static const double shortest_run = 1e-12;

saltus_status saltus_sim_check_end(const saltus_sim* sim, double t_end) {
  assert(sim != NULL && sim->scheme != NULL);
  saltus_log log = sim->def.log;
  double t0 = sim->def.t0;
  if (!(t_end >= t0)) {
    return refuse(log, "the end", t_end, "a time after the start");
  }
  double t = fmax(fabs(t0), fabs(t_end));
  bool far = t > 1e300;
  double resolution = far ? t : nextafter(t, INFINITY) - t;
  bool step = saltusi_sim_has_fixed_steps(sim) && sim->def.h < resolution;
  if (step || (!far && sim->def.record_dt > 0.0 && sim->def.record_dt < resolution)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "simulation: the %s %g s is below the resolution of time at t = %.17g s, %g s",
                step ? "step" : "time between frames", step ? sim->def.h : sim->def.record_dt, t,
                resolution);
    return SALTUS_ERR_RANGE;
  }
  const saltus_scheme_info* scheme = saltusi_scheme_info(sim->scheme);
  double span = t_end - t0;
  if (scheme->chooses_step && span > 0.0 && span < shortest_run) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "simulation: the run lasts %g s; with scheme %s it must last at least %g s: give a "
                "fixed step, or another unit of time",
                span, scheme->name, shortest_run);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

saltus_status saltus_sim_run(saltus_sim* sim, long long steps) {
  assert(sim != NULL && sim->scheme != NULL);
  if (!saltusi_sim_has_fixed_steps(sim)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: with steps of variable length give the end, not the number of steps");
    return SALTUS_ERR_UNSUPPORTED;
  }
  double t_end = sim->def.t0 + (double)steps * sim->def.h;
  saltus_status status = saltus_sim_check_end(sim, t_end);
  begin_run(sim, t_end);
  if (status == SALTUS_OK) {
    status = first_frame(sim);
  }
  while (status == SALTUS_OK && sim->step < steps) {
    status = advance(sim, t_end);
    if (status == SALTUS_OK) {
      status = saltusi_observer_frame(sim, sim->step == steps);
    }
    if (status == SALTUS_OK && sim->step < steps) {
      status = ask(sim);
    }
  }
  return end_run(sim, status);
}

saltus_status saltus_sim_run_until(saltus_sim* sim, double t_end) {
  assert(sim != NULL && sim->scheme != NULL);
  saltus_status status = saltus_sim_check_end(sim, t_end);
  if (status == SALTUS_OK && saltusi_sim_has_fixed_steps(sim)) {
    return saltus_sim_run(sim, saltus_sim_step_count(sim->def.t0, t_end, sim->def.h, NULL));
  }
  begin_run(sim, t_end);
  if (status == SALTUS_OK) {
    status = first_frame(sim);
  }
  while (status == SALTUS_OK && sim->now.t < t_end) {
    status = advance(sim, t_end);
    if (status == SALTUS_OK) {
      status = saltusi_observer_frame(sim, sim->now.t >= t_end);
    }
    if (status == SALTUS_OK && sim->now.t < t_end) {
      status = ask(sim);
    }
  }
  status = status == SALTUS_OK ? saltusi_captured_check(sim) : status;
  return end_run(sim, status);
}

long long saltus_sim_step_count(double t0, double t_end, double h, double* h_out) {
  assert(t_end >= t0 && h > 0.0);
  double ratio = (t_end - t0) / h;
  /* a ratio within rounding of an integer is that integer */
  double count = fmax(1.0, ceil(ratio - 1e-9 * fmax(1.0, ratio)));
  if (h_out != NULL) {
    *h_out = (t_end - t0) / count;
  }
  return count < 0x1p63 ? (long long)count : LLONG_MAX;
}

long long saltus_sim_steps_done(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->step;
}

double saltus_sim_time(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->now.t;
}

const double* saltus_sim_q(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->now.q;
}

const double* saltus_sim_v(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->now.v;
}

saltus_work saltus_sim_work(const saltus_sim* sim) {
  assert(sim != NULL);
  return saltus_scheme_work(sim->scheme);
}

const saltus_worst* saltus_sim_residuals(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->residuals.worst;
}

saltus_energy saltus_sim_energy_step(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->ledger->step;
}

saltus_energy saltus_sim_energy_total(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->ledger->total;
}

long long saltus_sim_energy_creations(const saltus_sim* sim, double* t) {
  assert(sim != NULL);
  if (t != NULL) {
    *t = sim->ledger->created_at;
  }
  return (long long)sim->ledger->creations;
}

const saltus_tally* saltus_sim_tally(const saltus_sim* sim) {
  assert(sim != NULL);
  return saltus_scheme_tally(sim->scheme);
}

const saltus_step_report* saltus_sim_report(const saltus_sim* sim) {
  assert(sim != NULL);
  return &sim->report;
}
