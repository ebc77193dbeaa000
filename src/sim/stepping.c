/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * stepping.c - see stepping.h. The simulation is at the front, the end of its last step; the caller is at a time not
 * after it. Events of the last step are queued until the caller reaches them. Switching events at the front are
 * executed when the caller arrives there, because outputs inside of the step depend on the inputs before.
 */
#include "sim/stepping_state.h"

#include "base/log.h"
#include "base/pool.h"
#include "scheme/scheme_ops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void copy_state(const saltus_sim* sim, saltus_state* to, const saltus_state* from) {
  to->t = from->t;
  memcpy(to->q, from->q, (size_t)sim->sys.dims.nq * sizeof(double));
  memcpy(to->v, from->v, (size_t)sim->sys.dims.nv * sizeof(double));
}

static void layout(saltusi_stepping* s, const saltus_sim* sim, saltus_arena* arena) {
  saltus_state* const states[] = {&s->now, &s->left};
  for (int i = 0; i < 2; i++) {
    states[i]->q = SALTUS_PUSH(arena, double, sim->sys.dims.nq);
    states[i]->v = SALTUS_PUSH(arena, double, sim->sys.dims.nv);
  }
  const int events = sim->def.observables != NULL ? sim->def.observables->event_count : 0;
  s->crossings = SALTUS_PUSH(arena, saltusi_crossing, events);
}

saltus_status saltusi_stepping_start(saltus_sim* sim, double t_last) {
  assert(sim != NULL && sim->stepping == NULL);
  saltusi_stepping counted = {.bytes = 0};
  saltus_arena arena = saltus_arena_counting();
  SALTUS_PUSH(&arena, saltusi_stepping, 1);
  layout(&counted, sim, &arena);
  const size_t bytes = arena.used;
  void* block = sim->memory.alloc(bytes, sim->memory.user);
  if (block == NULL) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: no memory for %zu bytes", bytes);
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  arena = saltus_arena_over(block, bytes);
  saltusi_stepping* s = SALTUS_PUSH(&arena, saltusi_stepping, 1);
  const saltus_scheme_info* info = saltusi_scheme_info(sim->scheme);
  *s = (saltusi_stepping){
      .bytes = bytes, .t_last = t_last, .dense = info->chooses_step && info->dense};
  layout(s, sim, &arena);
  copy_state(sim, &s->now, &sim->now);
  copy_state(sim, &s->left, &sim->now);
  sim->stepping = s;
  return SALTUS_OK;
}

void saltusi_stepping_release(saltus_sim* sim) {
  assert(sim != NULL);
  if (sim->stepping != NULL) {
    saltusi_stepping* s = sim->stepping;
    saltusi_release(&sim->memory, s->events, s->capacity, sizeof *s->events);
    sim->memory.free(s, s->bytes, sim->memory.user);
    sim->stepping = NULL;
  }
}

bool saltusi_stepping_is_ahead(const saltus_sim* sim) {
  assert(sim != NULL);
  return sim->stepping != NULL && sim->stepping->dense && !sim->stepping->arriving;
}

void saltusi_stepping_present(const saltus_sim* sim, saltus_state* now, saltus_state* left) {
  assert(sim != NULL && sim->stepping != NULL);
  *now = sim->stepping->now;
  *left = sim->stepping->left;
}

saltus_status saltusi_stepping_note(saltus_sim* sim, const saltus_event* event) {
  assert(sim != NULL && event != NULL);
  saltusi_stepping* s = sim->stepping;
  if (s == NULL) {
    return SALTUS_OK;
  }
  void* events = s->events;
  if (!saltusi_grow(&sim->memory, &events, &s->capacity, (size_t)s->count + 1, sizeof *event)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: no memory for %d events",
                s->count + 1);
    return SALTUS_ERR_MEMORY;
  }
  s->events = events;
  int place = s->count++;
  for (; place > s->passed && s->events[place - 1].t > event->t; place--) {
    s->events[place] = s->events[place - 1];
  }
  s->events[place] = *event;
  return SALTUS_OK;
}

/* ---- position of the caller -------------------------------------------------------------------- */

/* Executes the switches at the front, where the caller is. */
static saltus_status arrive(saltus_sim* sim) {
  saltusi_stepping* s = sim->stepping;
  if (!sim->switches || !s->dense) {
    return SALTUS_OK;
  }
  s->arriving = true;
  saltus_status status = saltusi_switch_all(sim);
  s->arriving = false;
  const bool can_change = sim->def.changes != NULL && sim->sys.dims.nj + sim->sys.dims.nc > 0;
  return status == SALTUS_OK && can_change ? saltusi_switch_keep(sim) : status;
}

static saltus_status ask(saltus_sim* sim, double t, saltus_side side, saltus_state* to) {
  const saltusi_dense_query query = {.t = t, .side = side, .q = to->q, .v = to->v};
  to->t = t;
  return saltusi_scheme_dense(sim->scheme, 2, &query);
}

/* Moves the caller to t, after the events there. */
static saltus_status stand(saltus_sim* sim, double t) {
  saltusi_stepping* s = sim->stepping;
  if (t < sim->now.t) {
    return ask(sim, t, SALTUS_RIGHT, &s->now);
  }
  const saltus_status status = arrive(sim);
  copy_state(sim, &s->now, &sim->now);
  return status;
}

/* The left limit at the time of an event, before switches there discard dense output. */
static void look_left(saltus_sim* sim, double t) {
  saltusi_stepping* s = sim->stepping;
  if (!(t > s->left.t) || ask(sim, t, SALTUS_LEFT, &s->left) != SALTUS_OK) {
    copy_state(sim, &s->left, t >= sim->now.t ? &sim->now : &s->now);
  }
}

/* Own events that the caller has passed decide on which side of zero their functions are. */
static void restore_crossings(saltus_sim* sim) {
  const saltusi_stepping* s = sim->stepping;
  const int count = sim->def.observables != NULL ? sim->def.observables->event_count : 0;
  if (count == 0) {
    return;
  }
  memcpy(sim->crossings, s->crossings, (size_t)count * sizeof *sim->crossings);
  memset(sim->observe.pending, 0, (size_t)count * sizeof *sim->observe.pending);
  for (int i = 0; i < s->passed; i++) {
    if (saltus_event_is_user_defined(s->events[i].kind)) {
      sim->crossings[s->events[i].contact].sign =
          s->events[i].kind == SALTUS_EVENT_RISE ? 1.0 : -1.0;
    }
  }
}

/* The system was changed by the caller: the motion after the present time is discarded. */
static void notice_changes(saltus_sim* sim) {
  saltusi_stepping* s = sim->stepping;
  if (sim->def.changes == NULL || *sim->def.changes == sim->changes || !(s->now.t < sim->now.t)) {
    return;
  }
  restore_crossings(sim);
  copy_state(sim, &sim->now, &s->now);
  s->count = s->passed;
}

/* ---- advance ------------------------------------------------------------------------------------- */

static saltus_status refuse_time(const saltus_sim* sim, double t) {
  const saltusi_stepping* s = sim->stepping;
  saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
              "run: cannot advance to t = %.17g s from %.17g s; %s", t, s->now.t,
              t > s->t_last ? "the run ends before" : "give a later time");
  return SALTUS_ERR_RANGE;
}

/* Steps of fixed length: the caller asks for ends of steps. */
static saltus_status advance_fixed(saltus_sim* sim, double t) {
  const double number = (t - sim->def.t0) / sim->def.h, last = round(number);
  if (!(fabs(number - last) <= 1e-6) || !(last < 0x1p62)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "run: t = %.17g s is %.17g steps of %.17g s from the start at %.17g s; scheme %s "
                "has states at whole steps",
                t, number, sim->def.h, sim->def.t0, saltusi_scheme_info(sim->scheme)->name);
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = SALTUS_OK;
  while (status == SALTUS_OK && sim->step < (long long)last) {
    status = saltusi_sim_advance(sim, t);
  }
  return status;
}

static saltus_status step(saltus_sim* sim) {
  saltusi_stepping* s = sim->stepping;
  const int events = sim->def.observables != NULL ? sim->def.observables->event_count : 0;
  if (events > 0) {
    memcpy(s->crossings, sim->crossings, (size_t)events * sizeof *s->crossings);
  }
  s->count = s->passed = 0;
  return saltusi_sim_advance(sim, s->t_last);
}

/* Steps that end where the caller asks: no event stops them. */
static saltus_status advance_exactly(saltus_sim* sim, double t) {
  saltus_status status = SALTUS_OK;
  if (saltusi_sim_has_fixed_steps(sim)) {
    status = advance_fixed(sim, t);
  }
  while (status == SALTUS_OK && !saltusi_sim_has_fixed_steps(sim) && sim->now.t < t) {
    status = saltusi_sim_advance(sim, t);
  }
  sim->stepping->count = 0;
  copy_state(sim, &sim->stepping->now, &sim->now);
  return status;
}

saltus_status saltusi_stepping_advance(saltus_sim* sim, double t, unsigned stop, bool step_ends,
                                       const saltus_event** event) {
  assert(sim != NULL && sim->stepping != NULL && event != NULL);
  saltusi_stepping* s = sim->stepping;
  *event = NULL;
  if (!(t >= s->now.t && t <= s->t_last && isfinite(t))) {
    return refuse_time(sim, t);
  }
  if (!s->dense) {
    return advance_exactly(sim, t);
  }
  notice_changes(sim);
  saltus_status status = SALTUS_OK;
  while (status == SALTUS_OK) {
    while (s->passed < s->count && !(s->events[s->passed].t > t)) {
      s->event = s->events[s->passed++];
      if ((stop & SALTUS_STOP(s->event.kind)) != 0U) {
        const double at = fmax(s->now.t, s->event.t);
        look_left(sim, at);
        *event = &s->event;
        return stand(sim, at);
      }
    }
    if (t < sim->now.t) {
      return stand(sim, t);
    }
    const int known = s->count;
    status = arrive(sim);
    if (status != SALTUS_OK || s->count > known) {
      continue; /* events that a switch caused */
    }
    if (!(sim->now.t < t)) {
      return stand(sim, t);
    }
    if (step_ends && s->now.t < sim->now.t) {
      return stand(sim, sim->now.t);
    }
    status = step(sim);
  }
  copy_state(sim, &s->now, &sim->now);
  return status;
}

saltus_status saltusi_stepping_outputs(saltus_sim* sim, bool left, double* outputs) {
  assert(sim != NULL && sim->stepping != NULL);
  const saltusi_stepping* s = sim->stepping;
  const saltus_observables* o = sim->def.observables;
  if (o == NULL || o->output_count == 0) {
    return SALTUS_OK;
  }
  const saltus_state* x = left ? &s->left : &s->now;
  const saltusi_dense_query query = {
      .t = x->t, .side = left ? SALTUS_LEFT : SALTUS_RIGHT, .q = sim->shown.q, .v = sim->shown.v};
  const bool inside = s->dense && x->t < sim->now.t;
  const double* forces = NULL;
  if (o->outputs_with != NULL && sim->sys.dims.nj > 0 &&
      saltusi_sim_joint_forces(sim, inside ? &query : NULL, sim->joint_forces)) {
    forces = sim->joint_forces;
  }
  const double* values = saltusi_observe_outputs(sim, x, forces);
  memcpy(outputs, values, (size_t)o->output_count * sizeof *outputs);
  return saltusi_observer_failed(sim, x->t);
}
