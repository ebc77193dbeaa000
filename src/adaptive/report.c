/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * report.c - events for observers: impacts, laws that were replaced, and changes of statuses.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/mode/impact.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_report(saltusi_adaptive* w, saltus_event reported) {
  assert(w != NULL);
  if (w->report != NULL) {
    w->report(w->who, &reported);
  }
}

/* Work of the rows of a contact other than slip: from row `first` on, or of rolling or drilling friction. */
static void add_work(saltusi_adaptive* w, int key, int first) {
  for (int k = first; k <= w->o.tangents[key]; k++) {
    int r = w->o.base[key] + k;
    double P = w->decision.impulse[r];
    w->outcome.work[0] += 0.5 * P * (w->decision.u_before[r] + w->decision.u_after[r]);
    w->outcome.work[1] -= P * w->mode.row.b[w->o.nj + r];
  }
}

void saltusi_report_impact(saltusi_adaptive* w, double t, int count, saltus_event_kind kind) {
  assert(w != NULL && count >= 0);
  for (int i = 0; i < count; i++) {
    int key = w->transition.members[i];
    int r = w->o.base[key];
    int rows = 1 + w->o.tangents[key];
    if (!(w->decision.impulse[r] > 0.0)) {
      continue;
    }
    saltus_event reported = {.kind = kind,
                             .contact = key,
                             .t = t,
                             .u_before = w->decision.u_before[r],
                             .u_after = w->decision.u_after[r]};
    for (int k = 0; k < rows; k++) {
      double P = w->decision.impulse[r + k];
      if (k <= w->o.law[key]->tangents) {
        reported.impulse[k] = P;
      }
      reported.energy_change +=
          0.5 * P * (w->decision.u_before[r + k] + w->decision.u_after[r + k]);
      w->outcome.impacts[r + k] += P;
    }
    for (int k = 1; k <= w->o.law[key]->tangents; k++) {
      reported.slip_before[k - 1] = w->decision.u_before[r + k];
      reported.slip_after[k - 1] = w->decision.u_after[r + k];
    }
    add_work(w, key, 1 + w->o.law[key]->tangents);
    for (int k = 0; k < SALTUSI_GRIPS; k++) {
      int grip = saltusi_friction_mode_of(&w->o, key, k);
      if (grip >= 0) {
        add_work(w, grip, 1);
      }
    }
    if (!w->outcome.hit[key]) {
      w->outcome.hit[key] = true;
      w->outcome.u_impact[2 * key] = w->decision.u_before[r];
    }
    w->outcome.u_impact[2 * key + 1] = w->decision.u_after[r];
    saltusi_report(w, reported);
  }
}

void saltusi_report_verdict(saltusi_adaptive* w, double t, const saltusi_verdict* verdict) {
  assert(w != NULL && verdict != NULL);
  saltus_event reported = {.contact = verdict->contact, .t = t};
  if (verdict->replaced) {
    reported.kind = SALTUS_EVENT_LAW_REPLACED;
    reported.energy_change = verdict->of_law;
    saltusi_report(w, reported);
  }
  if (verdict->gain > 0.0) {
    reported.kind = SALTUS_EVENT_ENERGY_GAIN;
    reported.energy_change = verdict->gain;
    reported.slip_work[0] = verdict->sums[1];
    reported.slip_work[1] = verdict->sums[2];
    saltusi_report(w, reported);
  }
}

void saltusi_add_impulses(saltusi_adaptive* w) {
  assert(w != NULL);
  const double* L = w->step.y_end + w->o.nq + w->o.nv;
  saltusi_add_scaled(w->o.nl, 1.0, L, w->outcome.lasting);
  saltusi_add_scaled(w->o.nj, 1.0, L + w->o.nl, w->outcome.joint_lasting);
  if (w->jump.tau > 0.0) { /* it bounces: joints respond to impulses, not to the force */
    const double mass = w->jump.bounce[w->o.base[w->jump.key]];
    const double pressed = L[w->o.base[w->jump.key]] / mass;
    const double* answer = w->jump.bounce + w->o.nl;
    saltusi_add_scaled(w->o.nj, -pressed, answer, w->outcome.joint_lasting);
    saltusi_add_scaled(w->o.nj, pressed - w->jump.u, answer, w->outcome.joint_impacts);
  }
}

void saltusi_report_begin(saltusi_adaptive* w) {
  assert(w != NULL);
  memset(w->outcome.lasting, 0, (size_t)w->o.nl * sizeof(double));
  memset(w->outcome.impacts, 0, (size_t)w->o.nl * sizeof(double));
  memset(w->outcome.impacts_start, 0, (size_t)w->o.nl * sizeof(double));
  memset(w->outcome.joint_lasting, 0, (size_t)w->o.nj * sizeof(double));
  memset(w->outcome.joint_impacts, 0, (size_t)w->o.nj * sizeof(double));
  memset(w->outcome.hit, 0, (size_t)w->o.nc * sizeof(bool));
  memset(w->outcome.u_impact, 0, 2 * (size_t)w->o.nc * sizeof(double));
  w->outcome.work[0] = w->outcome.work[1] = 0.0;
  w->decision.residual = 0.0;
  w->jump.tau = 0.0;
  w->outcome.moved = 0.0;
  w->outcome.passed = 0.0;
  w->outcome.captured = (saltus_captured_step){0.0, 0.0};
  w->step.error = 0.0;
}

static bool is_stuck(saltusi_contact_mode mode) {
  return mode == SALTUSI_STICK || mode == SALTUSI_STICK_IDLE || mode == SALTUSI_STICK_BOUND;
}

void saltusi_report_changes(saltusi_adaptive* w, double t, const double* y) {
  assert(w != NULL && y != NULL);
  saltusi_mode_rows(&w->mode, t, y, true);
  for (int key = 0; key < w->o.nc; key++) {
    const saltusi_contact* c = &w->contact[key];
    const saltusi_contact* old = &w->transition.old[key];
    bool grips = saltusi_is_friction_mode(&w->o, key);
    if (saltusi_is_dry(&w->o, key)) { /* no contact: counted without an event */
      w->counts.dry_events += is_stuck(old->mode) != is_stuck(c->mode) ||
                              (c->mode == SALTUSI_SLIP && old->sense != c->sense);
      continue;
    }
    if (grips && (old->mode == SALTUSI_OPEN || c->mode == SALTUSI_OPEN)) {
      continue;
    }
    saltus_event reported = {.contact = saltusi_owner(&w->o, key),
                             .t = t,
                             .u_after = saltusi_contact_velocity(&w->mode, y, key, 0)};
    for (int k = 0; k < w->o.law[key]->tangents; k++) {
      reported.slip_after[k] = saltusi_contact_velocity(&w->mode, y, key, 1 + k);
    }
    bool was_open = old->mode == SALTUSI_OPEN;
    bool is_open = c->mode == SALTUSI_OPEN;
    bool has_friction = !was_open && !is_open && w->o.mu[key] > 0.0;
    bool reported_one = true;
    if (was_open && !is_open) {
      reported.kind = SALTUS_EVENT_CLOSE;
    } else if (!was_open && is_open) {
      reported.kind = SALTUS_EVENT_OPEN;
    } else if (has_friction && is_stuck(old->mode) && c->mode == SALTUSI_SLIP) {
      reported.kind = SALTUS_EVENT_SLIP;
    } else if (has_friction && old->mode == SALTUSI_SLIP && is_stuck(c->mode)) {
      reported.kind = SALTUS_EVENT_STICK;
    } else if (has_friction && old->mode == SALTUSI_SLIP && c->mode == SALTUSI_SLIP &&
               old->sense != c->sense && !(key >= w->o.contacts && w->o.tangents[key] > 1)) {
      reported.kind = SALTUS_EVENT_REVERSAL;
    } else {
      reported_one = false;
    }
    if (reported_one) {
      saltusi_report(w, reported);
    }
  }
}
