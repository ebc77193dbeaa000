/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * advance.c - steps of variable length: chosen by the scheme, or by step-size control.
 */
#include "sim/control.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* Repeats a trial step that contains a switching event, shortened to the event. *there: the step ends at the
 * event. */
static saltus_status end_at_switch(saltus_sim* sim, double t_end, double* t, bool* there) {
  const double at = saltusi_switch_ahead(sim, sim->now.t, *t);
  if (!(at < *t)) {
    return SALTUS_OK;
  }
  /* an event at the present time ends a step of the smallest length */
  const double least = sim->now.t + 4.0 * DBL_EPSILON * fmax(fabs(sim->now.t), fabs(t_end));
  const double h = fmax(at, least) - sim->now.t;
  const saltus_status status =
      saltusi_scheme_try(sim->scheme, sim->now.t, h, &sim->now, &sim->next, &sim->report);
  *there = sim->report.h >= h; /* false: the scheme chose a still shorter step */
  *t = *there ? fmax(at, least) : sim->now.t + sim->report.h;
  return status;
}

/* The shortened step may end just before the zeros that the longer one located; they are the same events. */
static saltus_status meet_switch(saltus_sim* sim) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < sim->def.observables->event_count && status == SALTUS_OK; i++) {
    const int ahead = sim->observe.ahead[i];
    if (ahead != 0 && sim->observe.pending[i] == 0) {
      saltusi_switch_meet(sim, i, ahead);
      const saltus_event event = {
          .kind = ahead > 0 ? SALTUS_EVENT_RISE : SALTUS_EVENT_FALL, .t = sim->now.t, .contact = i};
      status = saltusi_observer_event(sim, &event);
    }
  }
  return status;
}

saltus_status saltusi_sim_chosen(saltus_sim* sim, double t_end) {
  assert(sim != NULL);
  double left = fmin(t_end - sim->now.t, 1e300);
  double most = sim->def.h > 0.0 ? fmin(left, sim->def.h) : left;
  saltus_status status =
      saltusi_scheme_try(sim->scheme, sim->now.t, most, &sim->now, &sim->next, &sim->report);
  double h = sim->report.h;
  if (status == SALTUS_OK && !(h > 0.0 && sim->now.t + h > sim->now.t)) {
    status = SALTUS_RETRY_SMALLER; /* a step that does not advance time would never end */
  }
  bool there = false;
  double t = h >= left ? t_end : sim->now.t + h;
  if (status == SALTUS_OK && sim->switches) {
    status = end_at_switch(sim, t_end, &t, &there);
  }
  if (status != SALTUS_OK) {
    return saltusi_scheme_explain(sim->scheme, status, sim->now.t, most);
  }
  saltusi_scheme_commit(sim->scheme);
  saltusi_sim_exchange(sim, t);
  status = saltusi_observer_step(sim, &sim->report, sim->next.t, sim->now.t);
  if (status == SALTUS_OK && there) {
    status = meet_switch(sim);
  }
  return status == SALTUS_OK && sim->switches ? saltusi_switch_all(sim) : status;
}

saltus_status saltusi_sim_controlled(saltus_sim* sim, double t_end) {
  assert(sim != NULL && sim->control != NULL);
  saltus_status status = saltusi_control_step(sim, t_end - sim->now.t);
  if (status != SALTUS_OK) {
    return status;
  }
  double h = sim->report.h;
  bool last = h >= t_end - sim->now.t;
  saltusi_sim_exchange(sim, last ? t_end : sim->now.t + h);
  double from = sim->next.t;
  if (sim->control->halves) {
    status = saltusi_observer_step(sim, &sim->control->half, from, from + 0.5 * h);
    from += 0.5 * h;
  }
  status =
      status == SALTUS_OK ? saltusi_observer_step(sim, &sim->report, from, sim->now.t) : status;
  return status == SALTUS_OK && sim->switches ? saltusi_switch_all(sim) : status;
}
