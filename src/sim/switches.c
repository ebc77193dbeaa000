/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * switches.c - events that switch: what they set is set between two steps. See include/saltus/observe.h.
 */
#include "base/log.h"
#include "scheme/scheme_ops.h"
#include "sim/observe.h"
#include "sim/sim_state.h"

#include <assert.h>

enum { ROUNDS = 64 };

static const saltus_switching* switching_of(const saltus_sim* sim) {
  return sim->def.observables != NULL ? sim->def.observables->switching : NULL;
}

bool saltusi_sim_switches(const saltus_sim* sim) {
  assert(sim != NULL);
  return switching_of(sim) != NULL;
}

void saltusi_switch_note(saltus_sim* sim, const saltus_event* event) {
  assert(sim != NULL && event != NULL);
  const saltus_switching* s = switching_of(sim);
  if (s != NULL && saltus_event_is_own(event->kind) && s->fires[event->contact]) {
    sim->observe.pending[event->contact] = event->kind == SALTUS_EVENT_RISE ? 1 : -1;
  }
}

/* The scheme knows the system as it is now. */
static void know_changes(saltus_sim* sim) {
  sim->changes = sim->def.changes != NULL ? *sim->def.changes : sim->changes;
}

/* Whether something was due. */
static bool fire_pending(saltus_sim* sim) {
  const saltus_switching* s = switching_of(sim);
  const int count = sim->def.observables->event_count;
  double rank = 0.0;
  bool any = false;
  for (int i = 0; i < count; i++) {
    rank = sim->crossings[i].rank > rank ? sim->crossings[i].rank : rank;
  }
  for (int i = 0; i < count; i++) {
    const int due = sim->observe.pending[i];
    sim->observe.pending[i] = 0;
    if (due != 0) {
      sim->crossings[i].rank = ++rank;
      s->fire(s->self, i, due > 0);
      any = true;
    }
  }
  return any;
}

saltus_status saltusi_switch_all(saltus_sim* sim) {
  assert(sim != NULL);
  if (switching_of(sim) == NULL) {
    return SALTUS_OK;
  }
  /* who looks into the step does so with the inputs that it had, and while its scheme remembers it */
  saltus_status status = sim->def.recorder_count > 0 ? saltusi_observer_stepped(sim) : SALTUS_OK;
  if (status != SALTUS_OK || !fire_pending(sim)) {
    return status;
  }
  int round = 0;
  for (bool more = true; more && status == SALTUS_OK && round < ROUNDS; round++) {
    saltus_event event;
    int next = 0;
    while (status == SALTUS_OK && saltusi_observe_jumps(sim, &next, &event)) {
      status = saltusi_observer_event(sim, &event);
    }
    more = fire_pending(sim);
  }
  if (round == ROUNDS) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: events that set inputs set each other off for ever at t = %.17g s",
                sim->now.t);
    return SALTUS_ERR_RANGE;
  }
  saltusi_ledger_switch(sim->ledger, &sim->ledger_room, &sim->now);
  saltusi_scheme_restart(sim->scheme); /* now, so that a snapshot has nothing of before */
  know_changes(sim);
  return status;
}

void saltusi_switch_restore(saltus_sim* sim) {
  assert(sim != NULL);
  const saltus_switching* s = switching_of(sim);
  if (s == NULL) {
    return;
  }
  const int count = sim->def.observables->event_count;
  double done = 0.0;
  s->reset(s->self);
  for (int left = count; left > 0; left--) { /* in the order in which they were last */
    int next = -1;
    for (int i = 0; i < count; i++) {
      if (sim->crossings[i].rank > done &&
          (next < 0 || sim->crossings[i].rank < sim->crossings[next].rank)) {
        next = i;
      }
    }
    if (next < 0) {
      break;
    }
    done = sim->crossings[next].rank;
    s->fire(s->self, next, sim->crossings[next].sign > 0.0);
  }
  know_changes(sim);
}
