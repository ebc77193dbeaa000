/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * own_events.c - user-defined events along a run, and the inputs they switch. A simulation with the
 * event functions locates them first; the differentiated run then stops at these times
 * (docs/theory/sensitivity.md, 5).
 */
#include "saltus/sim.h"
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Time difference up to which events of two runs of one motion are the same instant. */
static double instant(const saltus_sensitivity* s, double t) {
  return (1e3 * s->def.tol + 1e-11) * fmax(fabs(t), s->def.until - s->def.t0);
}

const saltus_observables* saltusi_sensitivity_observables(const saltus_sensitivity* s,
                                                          const saltus_system* sys) {
  assert(s != NULL);
  for (int j = 0; j < s->def.direction_count; j++) {
    for (int k = 0; k < 4; k++) {
      if (s->def.directions[j].system[k] == sys) {
        return s->def.directions[j].observables[k];
      }
    }
  }
  return s->def.observables;
}

bool saltusi_sensitivity_scratch(saltus_sensitivity* s) {
  assert(s != NULL);
  const saltus_observables* o = s->def.observables;
  if (o == NULL) {
    return true;
  }
  size_t scratch = o->scratch;
  for (int j = 0; j < s->def.direction_count; j++) {
    for (int k = 0; k < 4; k++) {
      const saltus_observables* other = s->def.directions[j].observables[k];
      scratch = other != NULL && other->scratch > scratch ? other->scratch : scratch;
    }
  }
  s->output_values = SALTUSI_TAKE(&s->pool, double, o->output_count + 1);
  s->output_jump = SALTUSI_TAKE(&s->pool, double, o->output_count + 1);
  s->own_values = SALTUSI_TAKE(&s->pool, double, o->event_count + 1);
  s->output_scratch = saltusi_pool_take(&s->pool, scratch + 1, 1);
  return !s->pool.failed;
}

bool saltusi_sensitivity_own_value(const saltus_sensitivity* s, const saltus_system* sys,
                                   saltusi_phase_point at, int event, double* out) {
  assert(s != NULL && out != NULL);
  const saltus_observables* o = saltusi_sensitivity_observables(s, sys);
  if (o == NULL || event >= o->event_count) {
    return false;
  }
  const saltus_point p = {.t = at.t, .q = at.q, .v = at.v, .scratch = s->output_scratch};
  o->events(o->self, &p, s->own_values);
  *out = s->own_values[event];
  return isfinite(*out);
}

static const saltus_switching* switching_of(const saltus_observables* o) {
  return o != NULL ? o->switching : NULL;
}

bool saltusi_sensitivity_switches(const saltus_sensitivity* s, const saltus_event* e) {
  assert(s != NULL && e != NULL);
  const saltus_switching* w = switching_of(s->def.observables);
  return saltus_event_is_user_defined(e->kind) && w != NULL && w->fires[e->contact];
}

/* The same for the system and for all those with other parameters; event -1: back to the start. */
static void fire_all(const saltus_sensitivity* s, int event, bool rising) {
  for (int j = -1; j < s->def.direction_count; j++) {
    for (int k = 0; k < (j < 0 ? 1 : 4); k++) {
      const saltus_switching* w =
          switching_of(j < 0 ? s->def.observables : s->def.directions[j].observables[k]);
      if (w != NULL && event < 0) {
        w->reset(w->self);
      } else if (w != NULL) {
        w->fire(w->self, event, rising);
      }
    }
  }
}

void saltusi_sensitivity_reset(const saltus_sensitivity* s) {
  assert(s != NULL);
  fire_all(s, -1, false);
}

bool saltusi_sensitivity_fire(const saltus_sensitivity* s) {
  assert(s != NULL);
  bool any = false;
  for (int i = 0; i < s->group_count; i++) {
    if (saltusi_sensitivity_switches(s, &s->group[i])) {
      fire_all(s, s->group[i].contact, s->group[i].kind == SALTUS_EVENT_RISE);
      any = true;
    }
  }
  return any;
}

bool saltusi_sensitivity_is_section(const saltus_sensitivity* s, const saltus_event* e) {
  assert(s != NULL && e != NULL);
  const int kind = s->def.section_kind;
  const bool own = kind >= 0 && saltus_event_is_user_defined((saltus_event_kind)kind);
  const bool same = own ? saltus_event_is_user_defined(e->kind) : (int)e->kind == kind;
  return same && (s->def.section_contact < 0 || s->def.section_contact == e->contact);
}

/* ---- when they happen ---- */

typedef struct own_events_search {
  saltus_sensitivity* s;
  long long sections;
  double impact; /* s, the last one */
  bool lost, crowded;
} own_events_search;

/* Number of sections to locate: one more than requested; the start may be one of them. */
static long long sections_most(const saltus_sensitivity* s) {
  return (s->def.section_count > 0 ? s->def.section_count : 1) + 1;
}

/* Drops the crossing at the start: a start on the section is off it by a rounding error and crosses
 * it at once. */
static void drop_start(saltus_sensitivity* s) {
  double first = -INFINITY;
  size_t place = 0;
  for (size_t i = 0; i < s->own_count; i++) {
    if (!saltusi_sensitivity_is_section(s, &s->own[i].event)) {
      continue;
    }
    if (isfinite(first)) {
      if (first - s->def.t0 < 1e-6 * (s->own[i].event.t - first) &&
          !saltusi_sensitivity_switches(s, &s->own[place].event)) {
        memmove(s->own + place, s->own + place + 1, (s->own_count - place - 1) * sizeof *s->own);
        s->own_count--;
      }
      return;
    }
    first = s->own[i].event.t;
    place = i;
  }
}

static saltus_status see(void* user, const saltus_event* e) {
  own_events_search* f = user;
  saltus_sensitivity* s = f->s;
  f->impact = e->kind == SALTUS_EVENT_IMPACT ? e->t : f->impact;
  if (!saltus_event_is_user_defined(e->kind) &&
      !saltusi_sensitivity_add_contact(s, e->identity, e->law)) {
    f->crowded = true;
    return SALTUS_ERR_STOPPED;
  }
  if (saltus_event_is_user_defined(e->kind)) {
    if (!saltusi_grow(&s->pool.allocator, (void**)&s->own, &s->own_room, s->own_count + 1,
                      sizeof *s->own)) {
      f->lost = true;
      return SALTUS_ERR_MEMORY;
    }
    const double slack = 64.0 * DBL_EPSILON * fmax(fabs(e->t), 1.0);
    s->own[s->own_count++] =
        (saltusi_own_event){.event = *e, .jumps = fabs(e->t - f->impact) <= slack};
  }
  f->sections += saltusi_sensitivity_is_section(s, e);
  return s->def.section_kind >= 0 && f->sections > sections_most(s) ? SALTUS_ERR_STOPPED
                                                                    : SALTUS_OK;
}

saltus_status saltusi_sensitivity_find_own(saltus_sensitivity* s) {
  assert(s != NULL);
  const saltus_sensitivity_def* def = &s->def;
  const saltus_observables* o = def->observables;
  const bool changing = (def->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (!changing && (o == NULL || o->event_count == 0)) {
    return SALTUS_OK;
  }
  own_events_search f = {.s = s, .impact = -INFINITY};
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = def->tol;
  const saltus_recorder recorder = {
      .event = see, .user = &f, .contacts_unseen = 1, .ledger_unseen = 1};
  saltus_system formula = *def->system;
  formula.set_valued = NULL;
  const saltus_sim_def sim_def = {.system = &formula,
                                  .scheme = "adaptive",
                                  .options = &options,
                                  .t0 = def->t0,
                                  .q0 = def->q0,
                                  .v0 = def->v0,
                                  .recorders = &recorder,
                                  .recorder_count = 1,
                                  .observables = o,
                                  .cancel = def->cancel,
                                  .log = def->log,
                                  .allocator = def->allocator,
                                  .changes = def->changes};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&sim_def, &sim);
  if (status == SALTUS_OK) {
    status = saltus_sim_run_until(sim, def->until);
    saltus_sim_destroy(sim);
  }
  const bool enough =
      status == SALTUS_ERR_STOPPED && def->section_kind >= 0 && f.sections > sections_most(s);
  if (f.crowded) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, def->t0, "more than 256 contacts");
  }
  drop_start(s);
  saltusi_sensitivity_reset(s);
  return f.lost ? SALTUS_ERR_MEMORY : enough ? SALTUS_OK : status;
}

saltus_status saltusi_sensitivity_next(saltus_sensitivity* s, double until,
                                       const saltus_event** next) {
  assert(s != NULL && next != NULL);
  *next = NULL;
  s->own_jumps = false;
  saltusi_own_event* own = s->own_next < s->own_count ? &s->own[s->own_next] : NULL;
  if (own != NULL && own->jumps &&
      fabs(s->last_impact - own->event.t) <= instant(s, own->event.t)) {
    own->event.t = s->last_impact; /* a jump of v took the function across zero */
    s->own_next++;
    s->own_jumps = true;
    *next = &own->event;
    return SALTUS_OK;
  }
  const bool stops = own != NULL && !own->jumps && own->event.t <= until;
  const double end = stops ? fmax(own->event.t, saltus_integrator_time(s->run)) : until;
  const saltus_status status = saltus_integrator_advance(s->run, end, SALTUS_STOP_ALWAYS, next);
  if (status != SALTUS_OK) {
    return status;
  }
  if (*next != NULL) {
    s->current = **next;
    s->current.contact = saltusi_sensitivity_contact(s, s->current.identity);
    *next = &s->current;
    if (s->current.contact < 0) {
      return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, s->current.t,
                                      "a contact that the first run of this motion did not have");
    }
    s->last_impact = (*next)->kind == SALTUS_EVENT_IMPACT ? (*next)->t : s->last_impact;
  } else if (stops) {
    own->event.t = end;
    s->own_next++;
    *next = &own->event;
  }
  return SALTUS_OK;
}
