/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frame_check.c - rejects frames with numbers that are not finite, and runs whose energy has diverged.
 */
#include "base/log.h"
#include "sim/sim_state.h"
#include "system/diagnose.h"
#include "system/evaluate.h"

#include <assert.h>
#include <math.h>

static bool all_finite(int n, const double* x) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

/* Name of a quantity of a frame that is not finite; NULL: all are finite. */
static const char* find_wild(const saltus_sim* sim, const saltus_frame* f) {
  const saltus_energy* e = &f->energy;
  if (!isfinite(f->kinetic)) {
    return "the kinetic energy";
  }
  if (sim->sys.ops->potential != NULL) {
    const double terms[] = {e->change, e->external,  e->friction,
                            e->impact, e->remainder, e->created};
    if (!isfinite(f->potential)) {
      return "the potential";
    }
    if (!all_finite((int)(sizeof terms / sizeof terms[0]), terms)) {
      return "the energy ledger";
    }
  }
  const double residuals[] = {f->residual_velocity, f->residual_impulse, f->penetration};
  if (!all_finite(3, residuals)) {
    return "a residual of the contact law";
  }
  for (int key = 0; key < f->contact_count; key++) {
    const saltus_contact_frame* c = &f->contacts[key];
    if (!all_finite(3, c->force) || !all_finite(3, c->impulse)) {
      return "the force of a contact";
    }
  }
  for (int i = 0; i < sim->list.count; i++) { /* contacts that exist now */
    if (isnan(sim->list.gap[i])) {
      return "a gap";
    }
  }
  const bool joints = all_finite(sim->sys.dims.nj, f->joint_forces) &&
                      all_finite(sim->sys.dims.nj, f->joint_impulses);
  return joints ? NULL : "the force of a joint";
}

saltus_status saltusi_observer_failed(saltus_sim* sim, double t) {
  assert(sim != NULL);
  saltus_failure* const records[] = {&sim->failure, sim->ledger_room.eval.failure,
                                     saltusi_ledger_islands_failure(&sim->islands),
                                     saltusi_scheme_failure(sim->scheme)};
  for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
    if (records[i] != NULL && records[i]->status != SALTUS_OK) {
      saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                  "simulation: at t = %.17g s the system failed when it was recorded: %s", t,
                  records[i]->text);
      records[i]->status = SALTUS_OK; /* it has been reported */
      return SALTUS_ERR_SYSTEM;
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_frame_check(saltus_sim* sim, const saltus_frame* f) {
  assert(sim != NULL && f != NULL);
  const saltus_status failed = saltusi_observer_failed(sim, f->t);
  if (failed != SALTUS_OK) {
    return failed;
  }
  const char* what = find_wild(sim, f);
  if (what == NULL) {
    return SALTUS_OK;
  }
  char text[640];
  const saltus_point at = {.t = f->t, .q = f->q, .v = f->v};
  bool named =
      saltusi_diagnose(&sim->sys, &at, true, &sim->memory, text, sizeof text) != SALTUS_OK &&
      text[0] != '\0';
  if (named) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: %s", text);
  } else {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR, "simulation: %s is not finite at t = %.17g s",
                what, f->t);
  }
  return SALTUS_ERR_UNDEFINED;
}

/* A run has diverged when its energy exceeds the initial energy and all works by the first factor, when at least the
 * second fraction of the excess is kinetic and the excess is at least the third fraction of the kinetic energy, and
 * after this number of steps. Not counted as divergence: rounding of a large potential, an excess that is mostly energy
 * of stiff springs, and the first steps, which may be arbitrarily long. */
static const double diverged_part = 1e9;
static const double diverged_motion = 1e-3;
static const double diverged_share = 0.1;
enum { DIVERGED_STEPS = 3 };

saltus_status saltusi_motion_check(saltus_sim* sim, double t) {
  assert(sim != NULL && sim->ledger != NULL);
  const saltus_energy* e = &sim->ledger->total;
  const double given = fabs(sim->ledger->first) + fmax(e->external, 0.0) + fmax(e->drive, 0.0) +
                       fmax(e->friction, 0.0) + fmax(e->impact, 0.0);
  if (!(given > 0.0 && e->change > diverged_part * given) || sim->ledger->steps < DIVERGED_STEPS) {
    return SALTUS_OK;
  }
  const saltus_point at = saltusi_sim_at(sim, sim->now.t, sim->now.q, sim->now.v);
  const double kinetic = saltusi_kinetic(&sim->sys, &at, sim->matrix, sim->vector);
  if (!(kinetic > diverged_motion * e->change && e->change > diverged_share * kinetic)) {
    return SALTUS_OK;
  }
  saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
              "simulation: the motion diverges: by t = %.17g s its energy has grown by %.3g J, of "
              "which %.3g J can be accounted "
              "for; take a smaller step or another scheme",
              t, e->change, given);
  return SALTUS_ERR_ACCURACY;
}
