/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * switches.c - switching events: inputs are set between two steps. Joints and contacts that are switched on have to
 * be satisfied there. See include/saltus/observe.h.
 */
#include "base/log.h"
#include "saltus/start.h"
#include "scheme/scheme_ops.h"
#include "sim/def_check.h"
#include "sim/observe.h"
#include "sim/sim_state.h"
#include "sim/stepping.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 64 };

/* Values and rates of joints up to this count as consistent, as in start_projection.c. */
static const double consistent = 1e-12;

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
  if (s != NULL && saltus_event_is_user_defined(event->kind) && s->fires[event->contact]) {
    sim->observe.pending[event->contact] = event->kind == SALTUS_EVENT_RISE ? 1 : -1;
  }
}

/* Records that the scheme has been restarted with the present system. */
static void know_changes(saltus_sim* sim) {
  sim->changes = sim->def.changes != NULL ? *sim->def.changes : sim->changes;
}

static bool is_pending(const saltus_sim* sim) {
  bool any = false;
  for (int i = 0; i < sim->def.observables->event_count; i++) {
    any = any || sim->observe.pending[i] != 0;
  }
  return any;
}

/* True if a switch was pending. */
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

/* ---- joints and contacts that are switched on ---- */

static double tolerance_of(const saltus_sim* sim) {
  const saltus_observables* o = sim->def.observables;
  const double given = o != NULL ? o->switch_tolerance : 0.0;
  return given > 0.0 ? given : saltusi_switch_tolerance;
}

static void joint_values(saltus_sim* sim, double* values) {
  const saltus_point at = saltusi_sim_at(sim, sim->now.t, sim->now.q, sim->now.v);
  if (sim->sys.dims.nj > 0) {
    sim->sys.ops->joints(sim->sys.self, &at, values);
  }
}

/* Values of the joints, then their rates, [2 nj]. */
static void look_joints(saltus_sim* sim, double* values) {
  const saltus_point at = saltusi_sim_at(sim, sim->now.t, sim->now.q, sim->now.v);
  const int nj = sim->sys.dims.nj;
  saltusi_row_block* rows = &sim->ledger_room.joints;
  if (nj == 0) {
    return;
  }
  joint_values(sim, values);
  saltusi_rows_joints(&sim->sys, &at, rows);
  for (int j = 0; j < nj; j++) {
    values[nj + j] = saltusi_row_dot(rows, j, sim->now.v) + rows->b[j];
  }
}

/* Gaps by key into sim->gaps[].at[which]. */
static saltus_status look_gaps(saltus_sim* sim, int which) {
  const saltus_point at = saltusi_sim_at(sim, sim->now.t, sim->now.q, sim->now.v);
  saltus_status status = sim->sys.dims.nc > 0 ? saltusi_sim_list(sim, &at) : SALTUS_OK;
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    sim->gaps[key].at[which] = INFINITY;
  }
  for (int i = 0; status == SALTUS_OK && sim->sys.dims.nc > 0 && i < sim->list.count; i++) {
    sim->gaps[sim->list.key[i]].at[which] = sim->list.gap[i];
  }
  return status;
}

/* Joints and contacts before the inputs change. */
static saltus_status look_before(saltus_sim* sim) {
  look_joints(sim, sim->observe.joints);
  return look_gaps(sim, 0);
}

static saltus_status refuse(saltus_sim* sim, const char* kind, const char* name, double value) {
  saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
              "simulation: %s %s does not hold where it is switched on at t = %.10g s: its %s is "
              "%.6g, allowed is %g (start_tolerance)",
              kind, name, sim->now.t, strcmp(kind, "joint") == 0 ? "constraint" : "gap", value,
              tolerance_of(sim));
  return SALTUS_ERR_CONTRADICTION;
}

static bool is_refused(saltus_sim* sim, int j, double before, double after) {
  if (after == before || fabs(after) <= tolerance_of(sim)) {
    return false;
  }
  const char* const* names = sim->sys.joint_names;
  refuse(sim, "joint", names != NULL ? names[j] : "", after);
  return true;
}

/* Error if a contact that the switch changed is violated. */
static saltus_status check_gaps(saltus_sim* sim) {
  saltus_status status = look_gaps(sim, 1);
  for (int key = 0; key < sim->sys.dims.nc && status == SALTUS_OK; key++) {
    const double* gap = sim->gaps[key].at;
    if (gap[1] < -tolerance_of(sim) && gap[1] < gap[0]) {
      const bool by_key = saltusi_laws_by_key(&sim->sys);
      const char* name =
          sim->sys.laws[by_key || !sim->changing ? key : sim->keys.table.law[key]].name;
      return refuse(sim, "contact", name != NULL ? name : "", gap[1]);
    }
  }
  return status;
}

/* Error if a joint or contact that the switch changed is violated; *off: one has to be corrected. */
static saltus_status check_after(saltus_sim* sim, bool* off) {
  const int nj = sim->sys.dims.nj;
  const double* before = sim->observe.joints;
  double* after = sim->observe.joints + 2 * (size_t)nj;
  look_joints(sim, after);
  *off = false;
  for (int j = 0; j < nj; j++) {
    const bool changed = after[j] != before[j] || after[nj + j] != before[nj + j];
    if (is_refused(sim, j, before[j], after[j])) {
      return SALTUS_ERR_CONTRADICTION;
    }
    *off = *off || (changed && (fabs(after[j]) > consistent || fabs(after[nj + j]) > consistent));
  }
  return check_gaps(sim);
}

saltus_status saltusi_switch_keep(saltus_sim* sim) {
  assert(sim != NULL);
  joint_values(sim, sim->observe.joints);
  sim->observe.gaps_known = true;
  return look_gaps(sim, 0);
}

saltus_status saltusi_switch_outside(saltus_sim* sim) {
  assert(sim != NULL);
  const int nj = sim->sys.dims.nj;
  double* after = sim->observe.joints + nj;
  joint_values(sim, after);
  for (int j = 0; j < nj; j++) {
    if (is_refused(sim, j, sim->observe.joints[j], after[j])) {
      return SALTUS_ERR_CONTRADICTION;
    }
  }
  return sim->observe.gaps_known ? check_gaps(sim) : SALTUS_OK;
}

/* Joints that are switched on act as an inelastic impact: smallest change of velocities in the metric of the mass
 * matrix. */
static saltus_status close_joints(saltus_sim* sim) {
  saltus_system joints = sim->sys;
  joints.dims.nc = 0;
  joints.traits &= ~(unsigned)SALTUS_CHANGING_CONTACTS;
  memcpy(sim->next.q, sim->now.q, (size_t)sim->sys.dims.nq * sizeof(double));
  memcpy(sim->next.v, sim->now.v, (size_t)sim->sys.dims.nv * sizeof(double));
  sim->next.t = sim->now.t;
  const int nj = sim->sys.dims.nj;
  double* impulses = sim->observe.joints; /* values before the switch are compared already */
  memset(impulses, 0, (size_t)nj * sizeof *impulses);
  const saltus_start_def def = {.system = &joints,
                                .t = sim->now.t,
                                .q = sim->next.q,
                                .v = sim->next.v,
                                .tolerance = INFINITY,
                                .allocator = &sim->memory,
                                .impulses = impulses};
  saltus_start_move move;
  saltus_status status = saltus_start_project(&def, &move);
  if (status != SALTUS_OK) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "simulation: joints that are switched on at t = %.10g s cannot hold: they are off "
                "by %.3g and change at %.3g per second",
                sim->now.t, move.joint, move.rate);
    return status;
  }
  if (move.q_moved > 1e3 * consistent) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_WARNING,
                "simulation: joints that are switched on at t = %.10g s are off by %.3g; "
                "positions are moved by up to %.3g",
                sim->now.t, move.joint, move.q_moved);
  }
  for (int j = 0; j < nj; j++) {
    sim->joint_sums[nj + j] += impulses[j];
  }
  saltusi_ledger_capture(sim->ledger, &sim->ledger_room, &sim->now, &sim->next);
  memcpy(sim->now.q, sim->next.q, (size_t)sim->sys.dims.nq * sizeof(double));
  memcpy(sim->now.v, sim->next.v, (size_t)sim->sys.dims.nv * sizeof(double));
  return SALTUS_OK;
}

saltus_status saltusi_switch_all(saltus_sim* sim) {
  assert(sim != NULL);
  if (switching_of(sim) == NULL || saltusi_stepping_is_ahead(sim)) {
    return SALTUS_OK; /* ahead of the caller: inputs change when the caller arrives */
  }
  /* recorders evaluate the step with its inputs, before the scheme is restarted */
  saltus_status status = sim->def.recorder_count > 0 ? saltusi_observer_stepped(sim) : SALTUS_OK;
  if (status != SALTUS_OK || !is_pending(sim)) {
    return status;
  }
  status = look_before(sim);
  fire_pending(sim);
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
                "simulation: events that set inputs trigger each other endlessly at t = %.17g s",
                sim->now.t);
    return SALTUS_ERR_RANGE;
  }
  saltusi_ledger_switch(sim->ledger, &sim->ledger_room, &sim->now);
  bool off = false;
  status = status == SALTUS_OK ? check_after(sim, &off) : status;
  status = status == SALTUS_OK && off ? close_joints(sim) : status;
  saltusi_scheme_restart(sim->scheme); /* now, so that a snapshot contains no data from before */
  know_changes(sim);
  return status;
}

void saltusi_switch_past(saltus_sim* sim) {
  assert(sim != NULL && switching_of(sim) != NULL);
  const saltus_switching* s = switching_of(sim);
  s->reset(s->self);
  for (int k = 0; k < sim->def.past_count; k++) {
    const saltus_event* e = &sim->def.past[k];
    if (saltus_event_is_user_defined(e->kind) && e->contact < sim->def.observables->event_count &&
        s->fires[e->contact]) {
      sim->crossings[e->contact].rank = k + 1.0;
      s->fire(s->self, e->contact, e->kind == SALTUS_EVENT_RISE);
    }
  }
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
  for (int left = count; left > 0; left--) { /* in the order of their last switching */
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
