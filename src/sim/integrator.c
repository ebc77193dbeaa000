/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * integrator.c - see saltus/integrator.h. The scheme is at the front, the end of its last step; the caller is at a
 * time not after it. Events of the last step are queued until the caller reaches them.
 */
#include "saltus/start.h"
#include "sim/integrator_state.h"

#include "base/log.h"
#include "base/pool.h"
#include "base/reserved.h"
#include "scheme/scheme_ops.h"
#include "sim/def_check.h"
#include "system/diagnose.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { DENSE_STEPS = 16, EVENT_ROOM = 4096, ROOM_MOST = 100000000 };
static const double usual_tolerance = 1e-6;

static saltus_status refuse(saltus_log log, const char* member, double value, const char* allowed) {
  return saltusi_def_refuse(log, "integrator", member, value, allowed);
}

static saltus_status check(const saltus_integrator_def* def, const char* name) {
  if (def->system == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "integrator: no system given");
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = saltus_system_validate(def->system, def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scheme_info* info = saltus_scheme_find(name);
  if (info != NULL && !(info->chooses_step && info->dense)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "integrator: scheme %s has no tolerance; take adaptive or one of its family", name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (!isfinite(def->t0)) {
    return refuse(def->log, "t0", def->t0, "finite");
  }
  if (!(def->duration >= 0.0)) {
    return refuse(def->log, "duration", def->duration, "positive, or 0 for no limit");
  }
  if (def->dense_steps < 0 || def->dense_steps > ROOM_MOST) {
    return refuse(def->log, "dense_steps", def->dense_steps, "at least 0");
  }
  if (def->event_room < 0 || def->event_room > ROOM_MOST) {
    return refuse(def->log, "event_room", def->event_room, "at least 0");
  }
  status = saltusi_def_check_vector(def->log, "integrator", "q0", def->system->dims.nq, def->q0);
  if (status == SALTUS_OK) {
    status = saltusi_def_check_vector(def->log, "integrator", "v0", def->system->dims.nv, def->v0);
  }
  const saltus_point at = {.t = def->t0, .q = def->q0, .v = def->v0};
  return status == SALTUS_OK
             ? saltusi_check_start(def->system, &at, def->allocator, "integrator", def->log)
             : status;
}

static void layout(saltus_integrator* it, saltus_arena* arena) {
  saltus_state* const states[] = {&it->start, &it->now, &it->front, &it->next};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    states[i]->q = SALTUS_PUSH(arena, double, it->dims.nq);
    states[i]->v = SALTUS_PUSH(arena, double, it->dims.nv);
  }
  it->kept = SALTUS_PUSH(arena, saltusi_kept_step, it->dense_steps);
  it->spare = SALTUS_PUSH(arena, double, it->dims.nq + it->dims.nv);
}

static void put(const saltus_integrator* it, saltus_state* to, double t, const double* q,
                const double* v) {
  to->t = t;
  memmove(to->q, q, (size_t)it->dims.nq * sizeof(double));
  memmove(to->v, v, (size_t)it->dims.nv * sizeof(double));
}

/* Resets the integrator to the state before the first step. */
static void begin(saltus_integrator* it, double t, const double* q, const double* v) {
  put(it, &it->start, t, q, v);
  put(it, &it->now, t, q, v);
  put(it, &it->front, t, q, v);
  it->steps = 0;
  it->report = (saltus_step_report){.event_count = 0};
  it->reported = 0;
  it->event_count = 0;
}

/* Ensures the capacity for one more event. */
static saltus_status make_event_room(saltus_integrator* it) {
  long long wanted = it->event_count < it->event_room ? it->event_count + 1 : it->event_room;
  void* events = it->events;
  if (!saltusi_grow(&it->memory, &events, &it->event_capacity, (size_t)wanted,
                    sizeof *it->events)) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR, "integrator: no memory for %lld events", wanted);
    return SALTUS_ERR_MEMORY;
  }
  it->events = events;
  return SALTUS_OK;
}

saltus_status saltusi_integrator_fit(saltus_integrator* it) {
  assert(it != NULL);
  size_t count = saltusi_scheme_dense_count(it->scheme);
  int contacts = saltusi_scheme_workspace(it->scheme);
  if (it->data != NULL && contacts == it->contacts) {
    return SALTUS_OK;
  }
  size_t doubles = (size_t)it->dense_steps * count * sizeof(double);
  size_t bytes = doubles + (size_t)it->dense_steps * (size_t)contacts * sizeof(saltusi_owner) + 1;
  double* data = it->memory.alloc(bytes, it->memory.user);
  if (data == NULL) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR, "integrator: no memory for %zu bytes", bytes);
    return SALTUS_ERR_MEMORY;
  }
  memset(data, 0, bytes); /* snapshots copy it whole */
  for (int i = 0; i < it->dense_steps; i++) {
    double* to = data + (size_t)i * count;
    saltusi_owner* owners = (saltusi_owner*)((char*)data + doubles) + (size_t)i * (size_t)contacts;
    if (it->data != NULL && i < it->steps) {
      saltusi_scheme_dense_transfer(it->scheme, it->contacts, it->kept[i].data, to);
      for (int key = 0; key < contacts; key++) {
        owners[key] = key < it->contacts ? it->kept[i].owners[key] : (saltusi_owner){.law = -1};
      }
    }
    it->kept[i].data = to;
    it->kept[i].owners = owners;
  }
  if (it->data != NULL) {
    it->memory.free(it->data, it->data_bytes, it->memory.user);
  }
  it->data = data;
  it->data_bytes = bytes;
  it->contacts = contacts;
  return SALTUS_OK;
}

static saltus_status build(const saltus_integrator_def* def, saltus_integrator head,
                           saltus_integrator** out) {
  saltus_arena arena = saltus_arena_counting();
  SALTUS_PUSH(&arena, saltus_integrator, 1);
  saltus_integrator counted = head;
  layout(&counted, &arena);
  head.bytes = arena.used;
  void* block = head.memory.alloc(head.bytes, head.memory.user);
  if (block == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "integrator: no memory for %zu bytes", head.bytes);
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, head.bytes);
  arena = saltus_arena_over(block, head.bytes);
  saltus_integrator* it = SALTUS_PUSH(&arena, saltus_integrator, 1);
  *it = head;
  layout(it, &arena);
  saltus_status status = make_event_room(it);
  if (status == SALTUS_OK) {
    status = saltusi_integrator_fit(it);
  }
  if (status != SALTUS_OK) {
    saltusi_release(&it->memory, it->events, it->event_capacity, sizeof *it->events);
    head.memory.free(block, head.bytes, head.memory.user);
    return status;
  }
  begin(it, def->t0, def->q0, def->v0);
  *out = it;
  return SALTUS_OK;
}

saltus_status saltus_integrator_create(const saltus_integrator_def* def, saltus_integrator** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  const char* name = def->scheme != NULL ? def->scheme : "adaptive";
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_integrator_def", def->log);
  status = status == SALTUS_OK ? check(def, name) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_system* system = saltusi_system_of(def->system, name);
  saltus_integrator head = {
      .memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default(),
      .log = def->log,
      .system = *system,
      .dims = def->system->dims,
      .changing = (def->system->traits & SALTUS_CHANGING_CONTACTS) != 0,
      .options = saltus_adaptive_options_default(),
      .t_last = def->duration > 0.0 ? def->t0 + def->duration : INFINITY,
      .dense_steps = def->dense_steps > 0 ? def->dense_steps : DENSE_STEPS,
      .event_room = def->event_room > 0 ? def->event_room : EVENT_ROOM,
  };
  head.options.rtol = def->rtol != 0.0 ? def->rtol : usual_tolerance;
  head.options.atol = def->atol != 0.0 ? def->atol : usual_tolerance;
  head.options.atol_velocity = def->atol_velocity;
  head.options.h_max = def->h_max;
  head.options.h_first = def->h_first;
  head.changes = def->changes;
  head.known = def->changes != NULL ? *def->changes : 0;
  const saltus_scheme_def scheme = {.scheme = name,
                                    .options = &head.options,
                                    .atol_q = def->atol_q,
                                    .atol_v = def->atol_v,
                                    .system = system,
                                    .threads = def->threads,
                                    .cancel = def->cancel,
                                    .log = def->log,
                                    .allocator = def->allocator};
  status = saltus_scheme_create(&scheme, &head.scheme);
  if (status == SALTUS_OK) {
    status = build(def, head, out);
  }
  if (status != SALTUS_OK) {
    saltus_scheme_destroy(head.scheme);
  }
  return status;
}

void saltus_integrator_destroy(saltus_integrator* it) {
  if (it != NULL) {
    saltus_allocator memory = it->memory;
    saltus_scheme_destroy(it->scheme);
    saltusi_release(&memory, it->events, it->event_capacity, sizeof *it->events);
    saltusi_release(&memory, it->waiting, it->waiting_capacity, sizeof *it->waiting);
    if (it->data != NULL) {
      memory.free(it->data, it->data_bytes, memory.user);
    }
    memory.free(it, it->bytes, memory.user);
  }
}

static saltus_status retune(saltus_integrator* it, saltus_adaptive_options options,
                            const double* atol_q, const double* atol_v) {
  saltus_status status = saltusi_scheme_retune(it->scheme, &options, atol_q, atol_v);
  if (status == SALTUS_OK) {
    it->options = options;
  }
  return status;
}

saltus_status saltus_integrator_set_tolerances(saltus_integrator* it, double rtol, double atol,
                                               double atol_velocity) {
  assert(it != NULL);
  saltus_adaptive_options options = it->options;
  options.rtol = rtol;
  options.atol = atol;
  options.atol_velocity = atol_velocity;
  return retune(it, options, NULL, NULL);
}

static saltus_status check_positive(saltus_log log, const char* name, int n, const double* x) {
  for (int i = 0; i < n; i++) {
    if (!(x[i] > 0.0)) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "integrator: %s[%d] is %g, must be positive", name, i,
                  x[i]);
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}

saltus_status saltus_integrator_set_tolerances_each(saltus_integrator* it, double rtol,
                                                    const double* atol_q, const double* atol_v) {
  assert(it != NULL && atol_q != NULL && atol_v != NULL);
  saltus_status status = check_positive(it->log, "atol_q", it->dims.nv, atol_q);
  if (status == SALTUS_OK) {
    status = check_positive(it->log, "atol_v", it->dims.nv, atol_v);
  }
  saltus_adaptive_options options = it->options;
  options.rtol = rtol;
  return status == SALTUS_OK ? retune(it, options, atol_q, atol_v) : status;
}

saltus_status saltus_integrator_restart(saltus_integrator* it, double t0, const double* q0,
                                        const double* v0) {
  assert(it != NULL);
  saltus_status status = saltusi_def_check_vector(it->log, "integrator", "q0", it->dims.nq, q0);
  if (status == SALTUS_OK) {
    status = saltusi_def_check_vector(it->log, "integrator", "v0", it->dims.nv, v0);
  }
  if (status == SALTUS_OK && !(isfinite(t0) && t0 < it->t_last)) {
    status = refuse(it->log, "t0", t0, "finite and within the duration");
  }
  if (status == SALTUS_OK) {
    saltusi_scheme_restart(it->scheme);
    begin(it, t0, q0, v0);
  }
  return status;
}

/* ---- dense output -------------------------------------------------------------------------- */

/* Number of stored steps. */
static long long kept_count(const saltus_integrator* it) {
  return it->steps < it->dense_steps ? it->steps : it->dense_steps;
}

/* Times that differ by less than this count as equal. */
static double rounding(double t) {
  return 8.0 * DBL_EPSILON * fmax(1.0, fabs(t));
}

/* The stored step that contains t; at the boundary of two steps the one on that side. NULL: none. */
static saltusi_kept_step* find_step(const saltus_integrator* it, double t, saltus_side side) {
  saltusi_kept_step* found = NULL;
  for (long long i = it->steps - 1; i >= it->steps - kept_count(it); i--) {
    saltusi_kept_step* step = saltusi_kept_at(it, i);
    if (t < step->t - rounding(t)) {
      continue;
    }
    if (t > step->end + rounding(t)) {
      break;
    }
    found = step;
    if (side == SALTUS_RIGHT) {
      break;
    }
  }
  return found;
}

static saltus_status ask(saltus_integrator* it, double t, saltus_side side,
                         const saltusi_dense_query* for_) {
  saltusi_kept_step* step = find_step(it, t, side);
  if (step == NULL) {
    return SALTUS_ERR_RANGE;
  }
  saltus_status fits = saltusi_integrator_fit(it);
  if (fits != SALTUS_OK) {
    return fits;
  }
  saltusi_dense_query query = *for_;
  query.t = fmin(fmax(t, step->t), step->end);
  query.side = side;
  return saltusi_scheme_dense_ask(it->scheme, step->data, &query);
}

double saltus_integrator_dense_from(const saltus_integrator* it) {
  assert(it != NULL && it->dense_steps > 0);
  return it->steps > it->dense_steps ? saltusi_kept_at(it, it->steps - it->dense_steps)->t
                                     : it->start.t;
}

static saltus_status check_time(const saltus_integrator* it, double t) {
  double from = saltus_integrator_dense_from(it);
  if (t >= from && t <= it->now.t) {
    return SALTUS_OK;
  }
  saltusi_log(it->log, SALTUS_LEVEL_ERROR,
              "integrator: t = %.17g s is not between %.17g s and the present %.17g s", t, from,
              it->now.t);
  return SALTUS_ERR_RANGE;
}

saltus_status saltus_integrator_dense(saltus_integrator* it, double t, saltus_side side, double* q,
                                      double* v) {
  assert(it != NULL && it->now.t <= it->front.t);
  saltus_status status = check_time(it, t);
  if (status != SALTUS_OK) {
    return status;
  }
  double* at_q = q != NULL ? q : it->spare;
  double* at_v = v != NULL ? v : it->spare + it->dims.nq;
  if (t <= it->start.t && (side == SALTUS_LEFT || it->steps == 0)) {
    saltus_state state = {.q = at_q, .v = at_v};
    put(it, &state, t, it->start.q, it->start.v);
    return SALTUS_OK;
  }
  const saltusi_dense_query query = {.q = at_q, .v = at_v};
  return ask(it, t, side, &query);
}

/* The stored step with forces at t. */
static saltus_status find_forces(saltus_integrator* it, double t, const saltusi_kept_step** found) {
  saltus_status status = check_time(it, t);
  if (status == SALTUS_OK && it->steps == 0) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR,
                "integrator: forces are available after the first advance");
    return SALTUS_ERR_RANGE;
  }
  if (status == SALTUS_OK) {
    status = saltusi_integrator_fit(it);
    *found = find_step(it, t, SALTUS_RIGHT);
  }
  return status;
}

static void ask_force(saltus_integrator* it, const saltusi_kept_step* step, double t, int key,
                      double* force) {
  const saltusi_dense_query query = {.t = t, .side = SALTUS_RIGHT};
  saltus_contact_inside contact;
  saltusi_scheme_dense_contact_ask(it->scheme, step->data, &query, key, &contact);
  memcpy(force, contact.force, sizeof contact.force);
}

saltus_status saltus_integrator_forces(saltus_integrator* it, double t, double* force) {
  assert(it != NULL && force != NULL);
  if (it->changing) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR,
                "integrator: contacts of a set that changes have no numbers; "
                "saltus_integrator_contact_forces gives their forces by identity");
    return SALTUS_ERR_UNSUPPORTED;
  }
  const saltusi_kept_step* found;
  saltus_status status = find_forces(it, t, &found);
  for (int key = 0; status == SALTUS_OK && key < it->dims.nc; key++) {
    ask_force(it, found, t, key, force + 3 * (size_t)key);
  }
  return status;
}

saltus_status saltus_integrator_contact_forces(saltus_integrator* it, double t,
                                               saltus_contact_force* forces, int room, int* count) {
  assert(it != NULL && count != NULL && room >= 0 && (room == 0 || forces != NULL));
  const saltusi_kept_step* found;
  saltus_status status = find_forces(it, t, &found);
  if (status != SALTUS_OK) {
    return status;
  }
  *count = 0;
  for (int key = 0; key < it->contacts; key++) {
    const saltusi_owner* who = &found->owners[key];
    saltus_contact_force one = {.identity = who->identity, .law = (int)who->law};
    if (who->law < 0) {
      continue;
    }
    ask_force(it, found, t, key, one.force);
    if (one.force[0] == 0.0 && one.force[1] == 0.0 && one.force[2] == 0.0) {
      continue; /* open */
    }
    if (*count < room) {
      forces[*count] = one;
    }
    ++*count;
  }
  return SALTUS_OK;
}

/* ---- going on ------------------------------------------------------------------------------ */

/* One step of the scheme, stored for dense output. */
static saltus_status step(saltus_integrator* it) {
  double most = fmin(it->t_last - it->front.t, 1e300);
  saltus_status status =
      saltusi_scheme_try(it->scheme, it->front.t, most, &it->front, &it->next, &it->report);
  double end = it->report.h >= most ? it->t_last : it->front.t + it->report.h;
  if (status == SALTUS_OK && !(end > it->front.t)) {
    status = SALTUS_RETRY_SMALLER; /* a step that does not advance time would never end */
  }
  it->reported = 0;
  if (status == SALTUS_OK) {
    status = saltusi_integrator_fit(it);
  }
  if (status != SALTUS_OK) {
    it->report.event_count = 0;
    return saltusi_scheme_explain(it->scheme, status, it->front.t, most);
  }
  saltusi_kept_step* kept = saltusi_kept_at(it, it->steps++);
  for (int key = 0; key < it->contacts; key++) { /* the commit releases keys */
    kept->owners[key] = (saltusi_owner){saltusi_scheme_identity(it->scheme, key),
                                        saltusi_scheme_law(it->scheme, key)};
  }
  saltusi_scheme_commit(it->scheme);
  kept->t = it->front.t;
  kept->end = end;
  saltusi_scheme_dense_copy(it->scheme, kept->data);
  saltus_state old = it->front;
  it->front = it->next;
  it->next = old;
  it->front.t = end;
  return SALTUS_OK;
}

/* Moves the caller to t, after the events there. */
static saltus_status stand(saltus_integrator* it, double t) {
  if (t >= it->front.t) {
    put(it, &it->now, t, it->front.q, it->front.v);
    return SALTUS_OK;
  }
  it->now.t = t;
  const saltusi_dense_query query = {.q = it->now.q, .v = it->now.v};
  return ask(it, t, SALTUS_RIGHT, &query);
}

static bool has_event(const saltus_integrator* it, double t) {
  return it->reported < it->report.event_count && !(it->report.events[it->reported].t > t);
}

/* Marks the next event as passed and returns it. */
static const saltus_event* pass_event(saltus_integrator* it) {
  saltus_event* kept = &it->events[it->event_count++ % it->event_room];
  *kept = it->report.events[it->reported++];
  it->kinds[kept->kind]++;
  return kept;
}

/* Error if joints or contacts are violated at the present state by more than a start may be: the restart would move bodies. */
static saltus_status check_changed(saltus_integrator* it) {
  put(it, &it->next, it->now.t, it->now.q, it->now.v);
  saltus_start_def def = {.system = &it->system,
                          .t = it->now.t,
                          .q = it->next.q,
                          .v = it->next.v,
                          .tolerance = INFINITY,
                          .allocator = &it->memory};
  saltus_start_move move; /* without messages: the scheme reports what exceeds its tolerance */
  saltus_status status = saltus_start_project(&def, &move);
  if (status != SALTUS_OK) {
    def.log = it->log;
    put(it, &it->next, it->now.t, it->now.q, it->now.v);
    status = saltus_start_project(&def, &move);
  }
  if (status == SALTUS_OK && fmax(move.joint, move.penetration) > saltusi_switch_tolerance) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR,
                "integrator: after a change of the system at t = %.10g s joints are off by %.6g "
                "and contacts overlap by "
                "%.6g m; allowed is %g",
                it->now.t, move.joint, move.penetration, saltusi_switch_tolerance);
    return SALTUS_ERR_CONTRADICTION;
  }
  return status;
}

/* The system was changed by the caller: the motion after the present time is discarded. */
static saltus_status notice_changes(saltus_integrator* it) {
  if (it->changes == NULL || *it->changes == it->known) {
    return SALTUS_OK;
  }
  const saltus_status status = check_changed(it);
  if (status != SALTUS_OK) {
    return status;
  }
  it->known = *it->changes;
  saltusi_scheme_resume(it->scheme, it->now.t);
  put(it, &it->start, it->now.t, it->now.q, it->now.v);
  put(it, &it->front, it->now.t, it->now.q, it->now.v);
  it->steps = 0;
  it->report = (saltus_step_report){.event_count = 0};
  it->reported = 0;
  return SALTUS_OK;
}

saltus_status saltus_integrator_advance(saltus_integrator* it, double t, unsigned stop,
                                        const saltus_event** event) {
  assert(it != NULL && it->now.t <= it->front.t);
  const saltus_event* unasked;
  event = event != NULL ? event : &unasked;
  *event = NULL;
  if (!(t >= it->now.t && t <= it->t_last && isfinite(t))) {
    saltusi_log(it->log, SALTUS_LEVEL_ERROR,
                "integrator: cannot go to t = %.17g s from %.17g s; %s", t, it->now.t,
                t > it->t_last ? "the duration is over before" : "give a later time");
    return SALTUS_ERR_RANGE;
  }
  const saltus_status changed = notice_changes(it);
  if (changed != SALTUS_OK) {
    return changed;
  }
  for (;;) {
    while (has_event(it, t)) {
      saltus_status room = make_event_room(it);
      if (room != SALTUS_OK) {
        return room;
      }
      const saltus_event* e = pass_event(it);
      if ((stop & SALTUS_STOP(e->kind)) != 0U) {
        *event = e;
        return stand(it, fmax(it->now.t, e->t));
      }
    }
    if (it->front.t >= t) {
      return stand(it, t);
    }
    saltus_status status = step(it);
    if (status != SALTUS_OK) {
      stand(it, it->front.t);
      return status;
    }
  }
}

double saltus_integrator_time(const saltus_integrator* it) {
  assert(it != NULL);
  return it->now.t;
}

const double* saltus_integrator_q(const saltus_integrator* it) {
  assert(it != NULL);
  return it->now.q;
}

const double* saltus_integrator_v(const saltus_integrator* it) {
  assert(it != NULL);
  return it->now.v;
}

long long saltus_integrator_event_count(const saltus_integrator* it) {
  assert(it != NULL);
  return it->event_count;
}

const saltus_event* saltus_integrator_event(const saltus_integrator* it, long long i) {
  assert(it != NULL && it->event_count >= 0);
  bool there = i >= 0 && i < it->event_count && i >= it->event_count - it->event_room;
  return there ? &it->events[i % it->event_room] : NULL;
}

saltus_integrator_cost saltus_integrator_costs(const saltus_integrator* it) {
  assert(it != NULL);
  saltus_integrator_cost cost = {.work = saltus_scheme_work(it->scheme),
                                 .tally = saltus_scheme_tally(it->scheme)};
  memcpy(cost.events, it->kinds, sizeof cost.events);
  return cost;
}
