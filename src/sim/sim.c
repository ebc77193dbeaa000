/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sim.c - the step loop: try, check, commit, tell those who watch.
 */
#include "sim/sim_state.h"

#include "base/log.h"
#include "scheme/scheme_ops.h"

#include <math.h>
#include <string.h>

static saltus_status refuse(saltus_log log, const char* member, double value, const char* allowed) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "simulation: %s is %g, must be %s", member, value, allowed);
  return SALTUS_ERR_RANGE;
}

static saltus_status check_vector(saltus_log log, const char* name, int n, const double* x) {
  if (x == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "simulation: %s is missing", name);
    return SALTUS_ERR_RANGE;
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "simulation: %s[%d] is %g, must be finite", name, i,
                  x[i]);
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
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
  if (def->control == NULL && !(def->h > 0.0 && def->h <= 1e300)) {
    return refuse(def->log, "step h", def->h, "positive and finite");
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
  status = check_vector(def->log, "q0", def->system->dims.nq, def->q0);
  return status != SALTUS_OK ? status : check_vector(def->log, "v0", def->system->dims.nv, def->v0);
}

static void layout(saltus_sim* sim, saltus_arena* arena) {
  const saltus_dims* d = &sim->sys.dims;
  sim->now.q = SALTUS_PUSH(arena, double, d->nq);
  sim->now.v = SALTUS_PUSH(arena, double, d->nv);
  sim->next.q = SALTUS_PUSH(arena, double, d->nq);
  sim->next.v = SALTUS_PUSH(arena, double, d->nv);
  sim->recorders = SALTUS_PUSH(arena, saltus_recorder, sim->def.recorder_count);
  sim->sums = SALTUS_PUSH(arena, double, SALTUSI_SUM_COUNT);
  sim->contact_sums = SALTUS_PUSH(arena, saltusi_contact_sum, d->nc);
  sim->joint_sums = SALTUS_PUSH(arena, double, d->nj);
  sim->seen = SALTUS_PUSH(arena, long long, d->nc);
  saltusi_contact_list_layout(&sim->list, d, arena);
  saltusi_rows_layout(&sim->row, d, 1, false, arena);
  sim->contact_frames = SALTUS_PUSH(arena, saltus_contact_frame, d->nc);
  sim->joint_forces = SALTUS_PUSH(arena, double, d->nj);
  bool needs_matrix = sim->sys.ops->kinetic == NULL && sim->sys.ops->linear == NULL;
  sim->matrix = needs_matrix ? SALTUS_PUSH2(arena, double, d->nv, d->nv) : NULL;
  sim->vector = SALTUS_PUSH(arena, double, d->nv);
  sim->scratch = saltus_arena_push(arena, d->scratch, 1, SALTUS_ALIGNMENT);
}

/* The controller's arrays; the scheme's memory has to be known, so they come in a second block. */
static saltus_status build_control(saltus_sim* sim, const saltus_control_options* options) {
  size_t memory = saltus_scheme_memory_bytes(sim->scheme);
  int events = saltusi_scheme_info(sim->scheme)->locates_events ? SALTUSI_EVENTS_MAX : 0;
  saltusi_control counted = {.h = 0.0};
  saltus_arena arena = saltus_arena_counting();
  SALTUS_PUSH(&arena, saltusi_control, 1);
  saltusi_control_layout(&counted, &sim->sys.dims, memory, events, &arena);
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
  sim->control->atol = sim->def.control_atol;
  saltusi_control_layout(sim->control, &sim->sys.dims, memory, events, &arena);
  return SALTUS_OK;
}

/* The controller's options, checked, and whether the scheme can be controlled at all. */
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
  if ((scheme->treats & SALTUS_TREATS_VARIABLE_STEPS) == 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "scheme %s needs a constant step; it has no control",
                scheme->name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (options->order == SALTUS_ORDER_EMBEDDED && scheme->embedded_order == 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "scheme %s has no embedded method; control \"%s\" needs one", scheme->name,
                def->control);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (!(options->atol > 0.0 || options->rtol > 0.0 || def->control_atol != NULL)) {
    return refuse(def->log, "atol", options->atol, "positive when rtol is 0");
  }
  return SALTUS_OK;
}

static void start(saltus_sim* sim) {
  const saltus_sim_def* def = &sim->def;
  memcpy(sim->now.q, def->q0, (size_t)sim->sys.dims.nq * sizeof(double));
  memcpy(sim->now.v, def->v0, (size_t)sim->sys.dims.nv * sizeof(double));
  if (def->recorder_count > 0) {
    memcpy(sim->recorders, def->recorders, (size_t)def->recorder_count * sizeof *def->recorders);
  }
  sim->sums[SALTUSI_SUM_TIME] = def->t0;
  sim->now.t = def->t0;
}

saltus_status saltus_sim_create(const saltus_sim_def* def, saltus_sim** out) {
  *out = NULL;
  saltus_control_options control = {0};
  saltus_status status = check(def);
  if (status == SALTUS_OK && def->control != NULL) {
    status = check_control(def, &control);
  }
  if (status != SALTUS_OK) {
    return status;
  }
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
  start(sim);

  saltus_scheme_def scheme = {.scheme = def->scheme,
                              .options = def->options,
                              .system = def->system,
                              .log = def->log,
                              .allocator = def->allocator};
  status = saltus_scheme_create(&scheme, &sim->scheme);
  if (status == SALTUS_OK && def->control != NULL) {
    status = build_control(sim, &control);
  }
  if (status != SALTUS_OK) {
    saltus_sim_destroy(sim);
    return status;
  }
  *out = sim;
  return SALTUS_OK;
}

void saltus_sim_destroy(saltus_sim* sim) {
  if (sim != NULL) {
    saltus_scheme_destroy(sim->scheme);
    saltus_allocator memory = sim->memory;
    if (sim->control != NULL) {
      memory.free(sim->control, sim->control_bytes, memory.user);
    }
    memory.free(sim, sim->bytes, memory.user);
  }
}

static saltus_status tell_event(saltus_sim* sim, const saltus_event* event) {
  saltus_status first = SALTUS_OK;
  for (int i = 0; i < sim->def.recorder_count; i++) {
    const saltus_recorder* recorder = &sim->recorders[i];
    if (recorder->event != NULL) {
      saltus_status status = recorder->event(recorder->user, event);
      first = first == SALTUS_OK ? status : first;
    }
  }
  return first;
}

/* Adds one contact's step to its sums and tells what began or ended with it. */
static saltus_status follow_contact(saltus_sim* sim, const saltus_contact_step* contact) {
  saltusi_contact_sum* sum = &sim->contact_sums[contact->key];
  double* into = contact->impact ? sum->impulse : sum->lasting;
  for (int k = 0; k < 3; k++) {
    into[k] += contact->impulse[k];
  }
  if (saltusi_scheme_info(sim->scheme)->locates_events) {
    return SALTUS_OK; /* the scheme tells them itself, with better times */
  }
  bool pressed = contact->impulse[0] > 0.0;
  saltus_event event = {.t = sim->now.t,
                        .t_accuracy = sim->last_h,
                        .contact = contact->key,
                        .u_before = contact->u_before,
                        .u_after = contact->u_after};
  if (contact->impact) {
    event.kind = SALTUS_EVENT_IMPACT;
    event.impulse = contact->impulse[0];
    return tell_event(sim, &event);
  }
  if (pressed == (sum->closed != 0.0)) {
    return SALTUS_OK;
  }
  sum->closed = pressed ? 1.0 : 0.0;
  event.kind = pressed ? SALTUS_EVENT_CLOSE : SALTUS_EVENT_OPEN;
  return tell_event(sim, &event);
}

/* A contact that is no longer active at all carries nothing: its lasting force has ended. */
static saltus_status follow_released(saltus_sim* sim) {
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    if (sim->contact_sums[key].closed != 0.0 && sim->seen[key] != sim->reports) {
      saltus_contact_step gone = {.key = key};
      saltus_status status = follow_contact(sim, &gone);
      if (status != SALTUS_OK) {
        return status;
      }
    }
  }
  return SALTUS_OK;
}

/* A located event. When a contact closes after impacts whose flights shrink like a geometric series,
 * they accumulate: with the ratio r of the last two flights d the rest lasts d r / (1 - r). No speed
 * decides, and the ratio is what the impacts show, not the restitution. */
static saltus_status follow_event(saltus_sim* sim, const saltus_event* event) {
  enum { ENOUGH = 5 }; /* impacts that make a series */
  saltusi_contact_sum* sum = &sim->contact_sums[event->contact];
  saltus_status status = tell_event(sim, event);
  if (event->kind == SALTUS_EVENT_IMPACT) {
    sum->flight[1] = sum->flight[0];
    sum->flight[0] = event->t - sum->last;
    sum->last = event->t;
    sum->impacts += 1.0;
    return status;
  }
  double ratio = sum->flight[0] / sum->flight[1];
  bool series = sum->impacts >= ENOUGH && ratio > 0.0 && ratio < 1.0;
  sum->impacts = 0.0;
  if (status != SALTUS_OK || event->kind != SALTUS_EVENT_CLOSE || !series) {
    return status;
  }
  double rest = sum->flight[0] * ratio / (1.0 - ratio);
  const saltus_event end = {.kind = SALTUS_EVENT_ACCUMULATION,
                            .t = sum->last + rest,
                            .t_accuracy = rest + event->t_accuracy,
                            .contact = event->contact};
  return tell_event(sim, &end);
}

static void deepen(saltus_sim* sim, double gap) {
  double* deepest = &sim->sums[SALTUSI_SUM_PENETRATION];
  *deepest = fmax(*deepest, -gap);
}

static saltus_status follow(saltus_sim* sim, const saltus_step_report* report) {
  saltus_status first = SALTUS_OK;
  sim->reports++;
  for (int i = 0; i < report->active; i++) {
    sim->seen[report->contacts[i].key] = sim->reports;
    saltus_status status = follow_contact(sim, &report->contacts[i]);
    deepen(sim, report->contacts[i].gap);
    first = first == SALTUS_OK ? status : first;
  }
  for (int j = 0; j < sim->sys.dims.nj; j++) {
    sim->joint_sums[j] += report->joint_impulses[j];
  }
  double* sums = sim->sums;
  sums[SALTUSI_SUM_VELOCITY] = fmax(sums[SALTUSI_SUM_VELOCITY], report->residual_velocity);
  sums[SALTUSI_SUM_IMPULSE] = fmax(sums[SALTUSI_SUM_IMPULSE], report->residual_impulse);
  for (int i = 0; i < report->event_count && first == SALTUS_OK; i++) {
    first = follow_event(sim, &report->events[i]);
  }
  saltus_status status = follow_released(sim);
  return first == SALTUS_OK ? status : first;
}

/* Gaps, velocities and mean forces of all contacts now. */
static saltus_status frame_contacts(saltus_sim* sim, double elapsed) {
  saltus_point at = {.t = sim->now.t, .q = sim->now.q, .v = sim->now.v, .scratch = sim->scratch};
  saltus_status status = saltusi_contacts(&sim->sys, &at, &sim->list);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    saltus_contact_frame* frame = &sim->contact_frames[key];
    frame->gap = NAN;
    frame->velocity = NAN;
    for (int k = 0; k < 3; k++) {
      double lasting = sim->contact_sums[key].lasting[k];
      frame->force[k] = elapsed > 0.0 ? lasting / elapsed : 0.0;
      frame->impulse[k] = sim->contact_sums[key].impulse[k];
    }
  }
  for (int i = 0; i < sim->list.count; i++) {
    int key = sim->list.key[i];
    saltusi_rows_contact(&sim->sys, &at, key, 1, &sim->row, 0);
    sim->contact_frames[key].gap = sim->list.gap[i];
    deepen(sim, sim->list.gap[i]);
    sim->contact_frames[key].velocity = saltusi_row_dot(&sim->row, 0, sim->now.v) + sim->row.b[0];
  }
  return SALTUS_OK;
}

/* Makes the frame of this instant and starts the sums anew. */
static saltus_status make_frame(saltus_sim* sim, saltus_frame* frame) {
  const saltus_dims* d = &sim->sys.dims;
  double elapsed = sim->now.t - sim->sums[SALTUSI_SUM_TIME];
  saltus_status status = frame_contacts(sim, elapsed);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int j = 0; j < d->nj; j++) {
    sim->joint_forces[j] = elapsed > 0.0 ? sim->joint_sums[j] / elapsed : 0.0;
    sim->joint_sums[j] = 0.0;
  }
  saltus_point at = {.t = sim->now.t, .q = sim->now.q, .v = sim->now.v, .scratch = sim->scratch};
  *frame = (saltus_frame){
      .step = sim->step,
      .t = sim->now.t,
      .q = sim->now.q,
      .v = sim->now.v,
      .kinetic = saltusi_kinetic(&sim->sys, &at, sim->matrix, sim->vector),
      .potential = saltusi_potential(&sim->sys, &at),
      .contacts = sim->contact_frames,
      .contact_count = d->nc,
      .joint_forces = sim->joint_forces,
      .residual_velocity = sim->sums[SALTUSI_SUM_VELOCITY],
      .residual_impulse = sim->sums[SALTUSI_SUM_IMPULSE],
      .penetration = sim->sums[SALTUSI_SUM_PENETRATION],
      .h = sim->last_h,
      .error = sim->sums[SALTUSI_SUM_ERROR],
      .error_order = sim->report.error_order,
      .rejections = (long long)sim->sums[SALTUSI_SUM_REJECTIONS],
  };
  for (int key = 0; key < d->nc; key++) {
    memset(sim->contact_sums[key].lasting, 0, sizeof sim->contact_sums[key].lasting);
    memset(sim->contact_sums[key].impulse, 0, sizeof sim->contact_sums[key].impulse);
  }
  sim->sums[SALTUSI_SUM_TIME] = sim->now.t;
  sim->sums[SALTUSI_SUM_VELOCITY] = 0.0;
  sim->sums[SALTUSI_SUM_IMPULSE] = 0.0;
  sim->sums[SALTUSI_SUM_PENETRATION] = 0.0;
  sim->sums[SALTUSI_SUM_ERROR] = 0.0;
  sim->sums[SALTUSI_SUM_REJECTIONS] = 0.0;
  return SALTUS_OK;
}

/* Frames are due on the beat, at the start and at the end. */
static saltus_status tell_frame(saltus_sim* sim, bool due) {
  long long every = sim->def.record_every > 0 ? sim->def.record_every : 1;
  if (sim->def.recorder_count == 0 || !(due || sim->step % every == 0)) {
    return SALTUS_OK;
  }
  saltus_frame frame;
  saltus_status first = make_frame(sim, &frame);
  for (int i = 0; first == SALTUS_OK && i < sim->def.recorder_count; i++) {
    if (sim->recorders[i].frame != NULL) {
      first = sim->recorders[i].frame(sim->recorders[i].user, &frame);
    }
  }
  return first;
}

/* The new state takes the place of the old. */
static void exchange(saltus_sim* sim, double t) {
  saltus_state old = sim->now;
  sim->now = sim->next;
  sim->next = old;
  sim->step++;
  sim->last_h = t - old.t;
  sim->now.t = t;
}

/* Try, then commit: one step of length h, time from the step number. */
static saltus_status advance_fixed(saltus_sim* sim) {
  saltus_status status =
      saltusi_scheme_try(sim->scheme, sim->now.t, sim->def.h, &sim->now, &sim->next, &sim->report);
  if (status != SALTUS_OK) {
    return saltusi_scheme_explain(sim->scheme, status, sim->now.t, sim->def.h);
  }
  saltusi_scheme_commit(sim->scheme);
  exchange(sim, sim->def.t0 + (double)(sim->step + 1) * sim->def.h);
  sim->last_h = sim->def.h;
  return sim->def.recorder_count > 0 ? follow(sim, &sim->report) : SALTUS_OK;
}

/* A controlled step, at most up to t_end; its two halves are told apart to those who watch. */
static saltus_status advance_controlled(saltus_sim* sim, double t_end) {
  saltus_status status = saltusi_control_step(sim, t_end - sim->now.t);
  if (status != SALTUS_OK) {
    return status;
  }
  double h = sim->report.h;
  bool last = h >= t_end - sim->now.t;
  exchange(sim, last ? t_end : sim->now.t + h);
  if (sim->def.recorder_count == 0) {
    return SALTUS_OK;
  }
  sim->sums[SALTUSI_SUM_ERROR] = fmax(sim->sums[SALTUSI_SUM_ERROR], sim->report.error);
  sim->sums[SALTUSI_SUM_REJECTIONS] += sim->report.rejections;
  if (sim->control->halves) {
    status = follow(sim, &sim->control->half);
  }
  return status == SALTUS_OK ? follow(sim, &sim->report) : status;
}

saltus_status saltus_sim_step(saltus_sim* sim) {
  saltus_status status = sim->step == 0 ? tell_frame(sim, true) : SALTUS_OK;
  if (status == SALTUS_OK) {
    status = sim->control != NULL ? advance_controlled(sim, INFINITY) : advance_fixed(sim);
  }
  return status == SALTUS_OK ? tell_frame(sim, false) : status;
}

/* Asks whether to go on, now and then. */
static saltus_status ask(saltus_sim* sim, double t_end) {
  const saltus_progress* progress = &sim->def.progress;
  long long every = progress->every > 0 ? progress->every : 1024;
  if (progress->report == NULL || sim->step % every != 0 ||
      progress->report(progress->user, sim->now.t, t_end, sim->step) == SALTUS_OK) {
    return SALTUS_OK;
  }
  saltusi_log(sim->def.log, SALTUS_LEVEL_WARNING, "simulation: stopped at t = %.17g", sim->now.t);
  return SALTUS_ERR_STOPPED;
}

saltus_status saltus_sim_run(saltus_sim* sim, long long steps) {
  if (sim->control != NULL) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: under step control give the end, not the number of steps");
    return SALTUS_ERR_UNSUPPORTED;
  }
  double t_end = sim->def.t0 + (double)steps * sim->def.h;
  saltus_status status = sim->step == 0 ? tell_frame(sim, true) : SALTUS_OK;
  while (status == SALTUS_OK && sim->step < steps) {
    status = advance_fixed(sim);
    if (status == SALTUS_OK) {
      status = tell_frame(sim, sim->step == steps);
    }
    if (status == SALTUS_OK) {
      status = ask(sim, t_end);
    }
  }
  return status;
}

saltus_status saltus_sim_run_until(saltus_sim* sim, double t_end) {
  if (sim->control == NULL) {
    return saltus_sim_run(sim, saltus_sim_step_count(sim->def.t0, t_end, sim->def.h, NULL));
  }
  saltus_status status = sim->step == 0 ? tell_frame(sim, true) : SALTUS_OK;
  while (status == SALTUS_OK && sim->now.t < t_end) {
    status = advance_controlled(sim, t_end);
    if (status == SALTUS_OK) {
      status = tell_frame(sim, sim->now.t >= t_end);
    }
    if (status == SALTUS_OK) {
      status = ask(sim, t_end);
    }
  }
  return status;
}

long long saltus_sim_step_count(double t0, double t_end, double h, double* h_out) {
  double ratio = (t_end - t0) / h;
  /* a ratio within rounding of a whole number is that number */
  double count = fmax(1.0, ceil(ratio - 1e-9 * fmax(1.0, ratio)));
  if (h_out != NULL) {
    *h_out = (t_end - t0) / count;
  }
  return (long long)count;
}

long long saltus_sim_steps_done(const saltus_sim* sim) {
  return sim->step;
}

double saltus_sim_time(const saltus_sim* sim) {
  return sim->now.t;
}

const double* saltus_sim_q(const saltus_sim* sim) {
  return sim->now.q;
}

const double* saltus_sim_v(const saltus_sim* sim) {
  return sim->now.v;
}

saltus_work saltus_sim_work(const saltus_sim* sim) {
  return saltus_scheme_work(sim->scheme);
}

const saltus_step_report* saltus_sim_report(const saltus_sim* sim) {
  return &sim->report;
}
