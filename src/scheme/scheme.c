/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scheme.c - driver of a step: capacity, checks of the new state, counters, commit.
 */
#include "scheme/scheme_internal.h"

#include "base/hash.h"
#include "base/log.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_finite(const saltus_dims* dims, const saltus_state* state) {
  return saltusi_zero_times(dims->nq, state->q) + saltusi_zero_times(dims->nv, state->v) == 0.0;
}

/* Linearly dependent joints have to be consistent: otherwise the impulses of least norm enforce a
 * compromise, which is no motion of the system. */
static saltus_status check_joints(saltus_scheme* scheme, double t, const saltus_state* at) {
  saltus_point point = saltusi_at(&scheme->eval, t, at->q, at->v);
  saltus_status status = saltusi_joints_contradict(scheme->joints, &scheme->eval, &point, false,
                                                   &scheme->disagreement);
  bool agree = status != SALTUS_OK || scheme->disagreement.kind == SALTUSI_AGREE;
  return agree ? status : SALTUS_ERR_CONTRADICTION;
}

/* An empty report, member by member: zeroing the whole is slow in every step. */
static void clear_report(saltus_step_report* report, double h) {
  report->active = 0;
  report->contacts = NULL;
  report->joint_impulses = NULL;
  report->residual_velocity = 0.0;
  report->residual_impulse = 0.0;
  report->projection = 0.0;
  report->newton_iterations = 0;
  report->indefinite_mass = false;
  report->events = NULL;
  report->event_count = 0;
  report->h = h;
  report->error = 0.0;
  report->error_order = 0;
  report->rejections = 0;
  report->method = NULL;
  report->limit = SALTUS_LIMIT_NONE;
  report->limit_index = 0;
  report->dry_work = report->of_law = report->joint_work = 0.0;
  report->dry_events = 0;
  report->captured = (saltus_captured_step){0.0, 0.0};
  report->joint_impacts = NULL;
}

/* Step data of the scheme at the current capacity (bind_step in create.c). */
static const saltusi_step* open_step(saltus_scheme* scheme, saltus_step_report* report) {
  const tried_from* tried = &scheme->tried_from;
  clear_report(report, tried->h);
  report->contacts = scheme->contacts;
  report->joint_impulses = scheme->joint_impulses;
  if (scheme->ops->info.locates_events) {
    memset(scheme->joint_impacts, 0, (size_t)scheme->eval.sys.dims.nj * sizeof(double));
    report->joint_impacts = scheme->joint_impacts;
  }
  saltusi_step* step = &scheme->step;
  step->t = tried->t;
  step->h = tried->h;
  step->q0 = tried->from->q;
  step->v0 = tried->from->v;
  step->q1 = tried->to->q;
  step->v1 = tried->to->v;
  step->memory0 = scheme->memory0;
  step->memory1 = scheme->memory1;
  step->dense = scheme->dense[0].data;
  step->report = report;
  step->log = scheme->log;
  scheme->closed = false;
  return step;
}

/* Grows the capacity that a step lacked, for any status of the step; true: the step is repeated. */
static bool make_room(saltus_scheme* scheme, saltus_status* status) {
  const saltusi_event_list* list = &scheme->events;
  if (scheme->eval.room.lacks) {
    *status = saltusi_scheme_grow(scheme);
    return *status == SALTUS_OK;
  }
  if (*status == SALTUS_OK && list->count > list->room) {
    *status = saltusi_scheme_grow_events(scheme, list->count);
    return *status == SALTUS_OK;
  }
  return false;
}

/* The law of a contact in a report. In a fixed set with shared laws only the report holds it. */
static int law_in(const saltus_scheme* scheme, const saltus_step_report* report, int key) {
  if (scheme->eval.keys == NULL && !saltusi_laws_by_key(&scheme->eval.sys)) {
    for (int i = 0; i < report->active; i++) {
      if (scheme->contacts[i].key == key) {
        return scheme->contacts[i].law;
      }
    }
  }
  return saltusi_scheme_law(scheme, key);
}

/* Adds identities to the contacts of a report. */
static void name_contacts(const saltus_scheme* scheme, saltus_step_report* report) {
  const saltusi_event_list* list = &scheme->events;
  report->events = list->items;
  report->event_count = list->count < list->room ? list->count : list->room;
  if (scheme->eval.keys == NULL &&
      report->event_count == 0) { /* in a fixed set the identities are the keys */
    for (int i = 0; i < report->active; i++) {
      scheme->contacts[i].identity = (uint64_t)scheme->contacts[i].key;
    }
    return;
  }
  for (int i = 0; i < report->event_count; i++) {
    list->items[i].identity = saltusi_scheme_identity(scheme, list->items[i].contact);
    list->items[i].law = law_in(scheme, report, list->items[i].contact);
  }
  for (int i = 0; i < report->active; i++) {
    scheme->contacts[i].identity = saltusi_scheme_identity(scheme, scheme->contacts[i].key);
    if (scheme->eval.keys != NULL) {
      scheme->contacts[i].law = saltusi_scheme_law(scheme, scheme->contacts[i].key);
    }
  }
}

/* Impulses and slip along second tangents whose rows were scaled, frictions.h. */
static void scale_back(const saltus_scheme* scheme, saltus_step_report* report) {
  const saltus_contact_law* laws = scheme->eval.sys.laws;
  for (int i = 0; i < report->event_count; i++) {
    saltus_event* event = &scheme->events.items[i];
    if (event->law >= 0 && event->law < scheme->eval.sys.law_count) {
      const double scale = saltusi_friction_scale(&laws[event->law]);
      event->impulse[2] *= scale;
      event->slip_before[1] /= scale;
      event->slip_after[1] /= scale;
    }
  }
  for (int i = 0; i < report->active; i++) {
    saltus_contact_step* contact = &scheme->contacts[i];
    const double scale = saltusi_friction_scale(&laws[contact->law]);
    contact->impulse[2] *= scale;
    contact->lasting[2] *= scale;
    contact->slip_before[1] /= scale;
    contact->slip_after[1] /= scale;
    contact->whole_impact.impulse[2] *= scale;
    contact->whole_impact.before[2] /= scale;
    contact->whole_impact.after[2] /= scale;
  }
}

/* Impacts by their law at the start of the step, then the step with the velocities after them. */
static saltus_status jump_and_step(saltus_scheme* scheme) {
  saltusi_step* step = &scheme->step;
  scheme->jump->replaced = -1;
  if (scheme->ops->info.locates_events) {
    scheme->jump->log = step->log;
    const saltus_status status = scheme->ops->step(scheme->work, scheme->options, step);
    saltusi_impact_step_remark(scheme->jump, step);
    return status;
  }
  saltus_status status = saltusi_impact_step_start(scheme->jump, step);
  if (status == SALTUS_OK && scheme->jump->count > 0) {
    step->v0 = scheme->jump->v;
    step->memory0 = scheme->jump->fresh;
  }
  if (status == SALTUS_OK) {
    status = scheme->ops->step(scheme->work, scheme->options, step);
  }
  if (status == SALTUS_OK) {
    saltusi_impact_step_report(scheme->jump, step);
    saltusi_impact_step_remark(scheme->jump, step);
  }
  return status;
}

static saltus_status own_step(saltus_scheme* scheme) {
  return scheme->jump != NULL ? jump_and_step(scheme)
                              : scheme->ops->step(scheme->work, scheme->options, &scheme->step);
}

/* Takes a step of the scheme, or of its substitute. */
static saltus_status own_or_substitute(saltus_scheme* scheme, saltus_step_report* report) {
  bool needed = false;
  saltusi_substitute_laws(scheme, false);
  saltus_status status = saltusi_substitute_starts(scheme, &needed);
  if (status == SALTUS_OK && !needed) {
    status = own_step(scheme);
    if (!saltusi_substitute_replaces(scheme, status)) {
      return status;
    }
    scheme->events.count = 0;
    scheme->eval.bound.what = NULL;
    open_step(scheme, report);
    status = SALTUS_OK;
  }
  return status == SALTUS_OK ? saltusi_substitute_step(scheme) : status;
}

/* Whether redundant contacts can be omitted without effect. Not for schemes that choose their
 * steps, which distribute loads among them, nor with user-defined laws, orders of impacts or
 * compliance, which apply to each contact. */
static bool leaves_out(const saltus_scheme* scheme) {
  const saltusi_scheme_ops* ops = scheme->ops;
  return !ops->info.chooses_step && scheme->jump == NULL &&
         (ops->counts_each == NULL || !ops->counts_each(scheme->options));
}

/* One step of the scheme. If it exceeds the capacity, the capacity grows and the step is repeated.
 * The repetition does not count as work, which does not depend on memory. */
static saltus_status do_step(saltus_scheme* scheme, saltus_step_report* report) {
  enum { GROWTHS_MAX = 64 }; /* increments by half: from 1 to the range of integers */
  const saltus_work work = scheme->eval.work;
  saltus_status status = SALTUS_OK;
  bool again = true;
  for (int k = 0; again && k < GROWTHS_MAX; k++) {
    if (k > 0) {
      scheme->eval.work = work;
    }
    scheme->events.count = 0;
    if (scheme->eval.keys != NULL) {
      saltusi_table_begin(&scheme->keys.table);
      scheme->keys.horizon = scheme->ops->info.chooses_step ? 0.0 : scheme->tried_from.h;
      scheme->keys.concise = leaves_out(scheme);
    }
    scheme->eval.failure->status = SALTUS_OK;
    scheme->eval.bound.what = NULL;
    const saltusi_step* step = open_step(scheme, report);
    status = scheme->clocks != NULL    ? saltusi_async_islands_step(scheme->clocks, step)
             : scheme->sub.ops != NULL ? own_or_substitute(scheme, report)
                                       : own_step(scheme);
    const bool projects = scheme->projects || (scheme->sub.active && scheme->eval.sys.dims.nj > 0);
    if (status == SALTUS_OK && projects && !scheme->closed) {
      status = saltusi_project_joints(scheme->projection, step);
    }
    again = make_room(scheme, &status);
  }
  if (saltusi_failed(&scheme->eval)) { /* independent of the result computed from these values */
    const bool undefined = scheme->eval.failure->status == SALTUS_RETRY_NAN;
    status = undefined ? SALTUS_RETRY_NAN : SALTUS_ERR_SYSTEM;
  }
  if (again || status == SALTUS_RETRY_CAPACITY) {
    status =
        SALTUS_ERR_SYSTEM; /* a fixed set that exceeds its capacity, or one that grows without bound */
  }
  name_contacts(scheme, report);
  if ((scheme->eval.sys.traits & SALTUSI_SCALED_ROWS) != 0 && scheme->clocks == NULL) {
    scale_back(scheme, report);
  }
  if (scheme->sub.active) {
    saltusi_substitute_laws(scheme, false);
  }
  return status;
}

saltus_status saltusi_scheme_try(saltus_scheme* scheme, double t, double h,
                                 const saltus_state* from, saltus_state* to,
                                 saltus_step_report* report) {
  assert(scheme != NULL && from != NULL && to != NULL && report != NULL && h > 0.0);
  scheme->tried_from = (tried_from){.t = t, .h = h, .from = from, .to = to};
  const saltus_dims* dims = &scheme->eval.sys.dims;
  if (saltusi_cancelled(&scheme->eval)) {
    clear_report(report, h);
    scheme->eval.failure->status = SALTUS_OK;
    return SALTUS_ERR_STOPPED;
  }
  const saltus_work work = scheme->eval.work;
  scheme->eval.overflow = false;
  saltus_status status = do_step(scheme, report);
  scheme->eval.work.steps += scheme->clocks == NULL; /* steps of islands are counted separately */
  if (status != SALTUS_OK && !saltusi_failed(&scheme->eval) && saltusi_cancelled(&scheme->eval)) {
    status = SALTUS_ERR_STOPPED; /* takes precedence over failures after the request to stop */
  }
  /* schemes that choose their step reject trial steps of such forces themselves */
  const bool overflow = scheme->eval.overflow && !scheme->ops->info.chooses_step;
  if (status == SALTUS_OK && (overflow || !(is_finite(dims, to) && report->h < INFINITY))) {
    status = SALTUS_RETRY_NAN;
  }
  int next = 0;
  if (status == SALTUS_OK && scheme->stops_at_gain &&
      saltusi_energy_gain_next(report, saltusi_report_located(&scheme->ops->info, report),
                               t + report->h, report->h, &next, &scheme->gain)) {
    status = SALTUS_ERR_LAW;
  }
  /* joints that a projection has closed are consistent */
  if (status == SALTUS_OK && scheme->eval.dependent && dims->nj > 1 && !scheme->projects) {
    status = check_joints(scheme, t + report->h, to);
    if (status == SALTUS_RETRY_CAPACITY &&
        make_room(scheme, &status)) { /* repeated with more memory */
      scheme->eval.work = work;
      return saltusi_scheme_try(scheme, t, h, from, to, report);
    }
    status = saltusi_failed(&scheme->eval) ? SALTUS_ERR_SYSTEM : status;
  }
  if (scheme->dense_count > 0) {
    scheme->dense[0].t = t;
    scheme->dense[0].h = report->h;
  }
  scheme->tried = (tried_step){.h = report->h,
                               .method = report->method,
                               .rejections = report->rejections,
                               .limit_index = report->limit_index,
                               .proven = report->proven,
                               .sampled = report->sampled,
                               .dry_events = report->dry_events,
                               .t = t,
                               .captured = report->captured,
                               .limit = report->limit};
  return status;
}

void saltusi_tally_method(saltus_tally* tally, const char* method) {
  assert(tally != NULL);
  for (int i = 0; method != NULL && i < SALTUS_METHODS_MAX; i++) {
    tally->methods[i] = tally->methods[i] == NULL ? method : tally->methods[i];
    if (strcmp(tally->methods[i], method) == 0) {
      tally->method_steps[i]++;
      break;
    }
  }
}

void saltusi_tally_captured(saltus_tally* tally, double t, const saltus_captured_step* step) {
  assert(tally != NULL && step != NULL);
  saltus_captured* c = &tally->captured;
  if (step->h > 0.0) {
    c->first = c->steps == 0 ? t : fmin(c->first, t);
    c->last = fmax(c->last, t + step->h);
    c->steps++;
    c->time += step->h;
    c->error += step->error;
  }
}

/* Counts a committed step. */
static void count_step(saltus_scheme* scheme) {
  const tried_step* report = &scheme->tried;
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltus_tally* tally = &scheme->tally;
  bool first_step = tally->steps == 0;
  tally->h_least = first_step || report->h < tally->h_least ? report->h : tally->h_least;
  tally->h_most = report->h > tally->h_most ? report->h : tally->h_most;
  tally->steps++;
  tally->rejections += report->rejections;
  tally->proven += report->proven;
  tally->sampled += report->sampled;
  tally->dry_events += report->dry_events;
  saltusi_tally_captured(tally, report->t, &report->captured);
  tally->limits[report->limit]++;
  if (report->limit >= SALTUS_LIMIT_POSITION && report->limit <= SALTUS_LIMIT_IMPULSE) {
    const int first[] = {[SALTUS_LIMIT_POSITION] = 0,
                         [SALTUS_LIMIT_VELOCITY] = d->nq,
                         [SALTUS_LIMIT_IMPULSE] = d->nq + d->nv};
    scheme->limited[first[report->limit] + report->limit_index]++;
  }
  saltusi_tally_method(tally, report->method);
}

void saltusi_scheme_commit(saltus_scheme* scheme) {
  assert(scheme != NULL);
  if (scheme->clocks != NULL) {
    saltusi_async_islands_count(scheme->clocks, scheme->memory1, &scheme->tally, scheme->limited);
  } else {
    count_step(scheme);
  }
  double* kept = scheme->memory0;
  scheme->memory0 = scheme->memory1;
  scheme->memory1 = kept;
  saltusi_scheme_settle(scheme);
  if (scheme->dense_count == 0) {
    return;
  }
  dense_step oldest = scheme->dense[DENSE_STEPS - 1];
  for (int i = DENSE_STEPS - 1; i > 0; i--) {
    scheme->dense[i] = scheme->dense[i - 1];
  }
  scheme->dense[0] = oldest;
}

/* Names the first coordinate that is not finite. */
static saltus_status check_state(const saltus_scheme* scheme, const saltus_state* state) {
  const saltus_dims* dims = &scheme->eval.sys.dims;
  for (int i = 0; i < dims->nq + dims->nv; i++) {
    bool position = i < dims->nq;
    double value = position ? state->q[i] : state->v[i - dims->nq];
    if (!isfinite(value)) {
      saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "state: %s[%d] is %g, must be finite",
                  position ? "q" : "v", position ? i : i - dims->nq, value);
      return SALTUS_ERR_RANGE;
    }
  }
  if (!isfinite(state->t)) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "state: t is %g, must be finite", state->t);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

saltus_status saltus_scheme_step(saltus_scheme* scheme, double h, saltus_state* state,
                                 saltus_step_report* report) {
  assert(scheme != NULL && state != NULL);
  const saltus_dims* dims = &scheme->eval.sys.dims;
  if (!(h > 0.0 && h <= 1e300)) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "step: h is %g s, must be positive and finite", h);
    return SALTUS_ERR_RANGE;
  }
  if (!(is_finite(dims, state) && isfinite(state->t))) {
    return check_state(scheme, state);
  }
  saltus_step_report local;
  report = report != NULL ? report : &local;
  saltus_status status = saltusi_scheme_try(scheme, state->t, h, state, &scheme->next, report);
  if (status == SALTUS_OK) {
    memcpy(state->q, scheme->next.q, (size_t)dims->nq * sizeof(double));
    memcpy(state->v, scheme->next.v, (size_t)dims->nv * sizeof(double));
    state->t += report->h;
    saltusi_scheme_commit(scheme);
    return status;
  }
  return saltusi_scheme_explain(scheme, status, state->t, h);
}

saltus_failure* saltusi_scheme_failure(saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->eval.failure;
}

void saltusi_scheme_errors(const saltus_scheme* scheme, const double** q_error,
                           const double** v_error) {
  assert(scheme != NULL && q_error != NULL && v_error != NULL);
  *q_error = scheme->q_error;
  *v_error = scheme->v_error;
}

void saltusi_scheme_effort(saltus_scheme* scheme, saltusi_effort effort) {
  assert(scheme != NULL);
  scheme->eval.effort = effort;
  if (scheme->clocks != NULL) {
    saltusi_async_islands_effort(scheme->clocks, effort);
  }
}

void saltusi_scheme_poll(saltus_scheme* scheme, bool (*poll)(void* who), void* who) {
  assert(scheme != NULL && who != NULL);
  scheme->eval.poll = poll;
  scheme->eval.who = who;
  if (scheme->clocks != NULL) {
    saltusi_async_islands_poll(scheme->clocks, poll, who);
  }
}

const saltus_scheme_info* saltusi_scheme_info(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return &scheme->ops->info;
}

saltus_work saltus_scheme_work(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->eval.work;
}

const saltus_tally* saltus_scheme_tally(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return &scheme->tally;
}

uint64_t saltusi_scheme_fingerprint(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  const saltus_scheme_info* info = &scheme->ops->info;
  uint64_t hash = saltusi_hash(SALTUSI_HASH_START, info->name, strlen(info->name));
  char text[128];
  for (int i = 0; i < info->options.count; i++) { /* as text, since padding bytes are undefined */
    saltus_options_show(&info->options.fields[i], scheme->options, text, sizeof text);
    hash = saltusi_hash(hash, text, strlen(text));
  }
  const saltus_dims* d = &scheme->eval.sys.dims;
  if (scheme->has_atol_q) {
    hash = saltusi_hash(hash, scheme->atol_q, (size_t)d->nv * sizeof(double));
  }
  if (scheme->has_atol_v) {
    hash = saltusi_hash(hash, scheme->atol_v, (size_t)d->nv * sizeof(double));
  }
  return hash;
}
