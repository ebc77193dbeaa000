/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * remainder.c - the energy balance as an invariant of runs to a tolerance (docs/ledger.md). The remainder of a step
 * is compared with the energy that an error of one tolerance is worth at its ends,
 *
 *   e = T(v + s) - T(v) + sum_i |F_i| s_i,   s = atol + rtol |x| of velocities and of positions,
 *
 * and with rtol of the works in the step; the remainder of the run is compared with the largest e and rtol of the
 * energy exchanged. Both sides of the balance are evaluated on the computed motion, so errors of earlier steps do not
 * enter, however amplified.
 */
#include "base/log.h"
#include "scheme/scheme_ops.h"
#include "sim/observe.h"
#include "sim/sim_state.h"
#include "system/evaluate.h"
#include "system/names.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Allowed errors of a step in tolerances: projections of velocities are accepted up to this (adaptive.c). A
 * controller of positions bounds velocities after impacts less tightly. */
static const double allowed_velocities = 10.0;
static const double allowed_positions = 100.0;
/* Rounding of energies and of sums of works, relative to their size; larger if powers are differences of energies. */
static const double rounding = 1e-12;
static const double rounding_of_differences = 1e-7;
/* Number of steps after which the sum of their errors may be twice that of one. */
static const double many = 100.0;
/* Relative loss or gain of energy at which a run without a tolerance ends with a warning. */
static const double much = 0.01;

/* Part of the kinetic energy after a step that its impacts have created, above which a run has a warning: Newton's law
 * with friction creates any energy where normal and slip are nearly dependent. Bodies that come to rest have no kinetic
 * energy to compare with; less than a thousandth of the energies of the run is no reason. */
static const double most_created = 0.9;
static const double little_created = 1e-3;

/* Errors of captured intervals that a run may have, in tolerances of a step. */
static const double allowed_captured = 10.0;

/* A real option of the scheme; 0: none. */
static double option(const saltus_sim* sim, const char* name) {
  const saltus_scheme_info* info = saltusi_scheme_info(sim->scheme);
  const saltus_field* field = saltus_options_find(&info->options, name);
  double value = field != NULL ? field->fallback : 0.0;
  if (field != NULL && sim->def.options != NULL) {
    memcpy(&value, (const unsigned char*)sim->def.options + field->offset, sizeof value);
  }
  return value;
}

static double largest(int n, const double* x) {
  double most = 0.0;
  for (int i = 0; x != NULL && i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

void saltusi_remainder_start(saltus_sim* sim) {
  assert(sim != NULL && sim->scheme != NULL);
  saltusi_error_control* c = &sim->error_control;
  const int nv = sim->sys.dims.nv;
  *c = (saltusi_error_control){0};
  if (sim->control != NULL) {
    c->rtol = sim->control->options.rtol;
    c->atol = fmax(sim->control->options.atol, largest(nv, sim->def.atol_q));
  } else if (sim->chosen) {
    const double velocity = option(sim, "atol_velocity");
    c->rtol = option(sim, "rtol");
    c->atol = fmax(option(sim, "atol"), largest(nv, sim->def.atol_q));
    c->atol_v = fmax(velocity > 0.0 ? velocity : c->atol, largest(nv, sim->def.atol_v));
  }
}

/* The remainder just after the start of a run is the energy of the projection of the initial state. */
void saltusi_remainder_open(saltus_sim* sim, double t) {
  assert(sim != NULL && sim->ledger != NULL);
  const saltus_state x = {.t = t, .q = sim->shown.q, .v = sim->shown.v};
  const saltusi_dense_query query = {.t = t, .side = SALTUS_RIGHT, .q = x.q, .v = x.v};
  const saltus_scheme_info* info = saltusi_scheme_info(sim->scheme);
  /* without located events an impact at the start belongs to its step */
  if (sim->ledger->steps == 0.0 && info->dense && info->locates_events &&
      saltusi_scheme_dense(sim->scheme, 2, &query) == SALTUS_OK) {
    const saltus_energy e = saltusi_observer_ledger(sim, &x, SALTUS_RIGHT);
    saltusi_ledger_moved(sim->ledger, e.remainder);
  }
}

/* J, energy of an error of one tolerance; and the kinetic energy. If only positions are controlled, the error of
 * velocities is that of positions divided by the step. */
static double worth(saltus_sim* sim, const saltus_state* x, double h, double* kinetic) {
  saltusi_ledger_workspace* room = &sim->ledger_room;
  const saltusi_error_control* c = &sim->error_control;
  const saltus_system* sys = &room->eval.sys;
  const double place = c->atol + c->rtol * largest(sys->dims.nq, x->q);
  const double speed = c->atol_v > 0.0 ? c->atol_v : place / h;
  for (int i = 0; i < sys->dims.nv; i++) {
    room->u[i] = x->v[i] + copysign(speed + c->rtol * fabs(x->v[i]), x->v[i]);
  }
  const saltus_point at = saltusi_at(&room->eval, x->t, x->q, x->v);
  const saltus_point beside = saltusi_at(&room->eval, x->t, x->q, room->u);
  *kinetic = saltusi_kinetic(sys, &at, room->power.matrix, room->power.F);
  double sum = fabs(saltusi_kinetic(sys, &beside, room->power.matrix, room->power.F) - *kinetic);
  saltusi_force(&room->eval, &at, room->power.F);
  for (int i = 0; i < sys->dims.nv; i++) {
    sum += place * fabs(room->power.F[i]);
  }
  return sum;
}

static double works(const saltus_energy* e) {
  return fabs(e->external) + fabs(e->drive) + fabs(e->friction) + fabs(e->impact);
}

/* True if a contact belongs to an asynchronous island; island -1: all contacts. */
static bool is_of(const saltus_sim* sim, int island, int key) {
  bool found = island < 0;
  for (int k = 0; !found && k < sim->islands.island[island].room.eval.sys.dims.nc; k++) {
    found = sim->islands.island[island].contacts[k] == key;
  }
  return found;
}

/* Name of the contact of a step with the largest load. */
static void name_contact(const saltus_sim* sim, const saltus_step_report* report, int island,
                         char* text, size_t size) {
  const saltus_contact_step* most = NULL;
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* c = &report->contacts[i];
    if (is_of(sim, island, c->key) && (most == NULL || c->impulse[0] > most->impulse[0])) {
      most = c;
    }
  }
  text[0] = '\0';
  if (most != NULL && sim->changing && sim->sys.ops->contact_text != NULL) {
    sim->sys.ops->contact_text(sim->sys.self, most->identity, text, size);
  } else if (most != NULL && sim->sys.laws[most->law].name != NULL) {
    strncat(text, sim->sys.laws[most->law].name, size - 1);
  }
}

static saltus_status fail(saltus_sim* sim, const saltus_step_report* report, const double t[2],
                          double remainder, double bound) {
  char name[256], own[64], coordinate[64];
  const int island = saltusi_ledger_islands_worst(&sim->islands, sim->ends);
  name_contact(sim, report, island, name, sizeof name);
  own[0] = '\0';
  if (island >= 0) {
    snprintf(own, sizeof own, " in the island of %.40s",
             saltusi_q_name(&sim->islands.island[island].room.eval.sys, 0, coordinate,
                            sizeof coordinate));
  }
  saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
              "simulation: between t = %.17g s and %.17g s the energy changes by %.3g J that no "
              "force accounts for, above %.3g J at this tolerance; %s%s%s%s%s",
              t[0], t[1], remainder, bound,
              name[0] != '\0' ? "the contact under the largest load" : "no contact is closed", own,
              name[0] != '\0' ? " is \"" : "", name, name[0] != '\0' ? "\"" : "");
  return SALTUS_ERR_ACCURACY;
}

saltus_status saltusi_remainder_check(saltus_sim* sim, const saltus_step_report* report, double t0,
                                      double t1) {
  assert(sim != NULL && report != NULL);
  const saltusi_error_control* c = &sim->error_control;
  saltusi_ledger* ledger = sim->ledger;
  const saltus_energy* e = &ledger->step;
  if (!(c->atol > 0.0) || sim->sys.ops->potential == NULL) {
    return SALTUS_OK;
  }
  if (report->captured.h > 0.0) { /* of the accuracy that the summary reports */
    ledger->captured += e->remainder;
    return SALTUS_OK;
  }
  const double h = fmax(t1 - t0, DBL_MIN);
  double kinetic[2];
  const double once =
      worth(sim, &sim->ends[0], h, &kinetic[0]) + worth(sim, &sim->ends[1], h, &kinetic[1]);
  const double part = fmax(c->rtol, c->atol);
  const double step = once + part * works(e);
  ledger->checked += 1.0;
  ledger->exchanged += works(e) + fabs(kinetic[1] - kinetic[0]);
  ledger->worth = fmax(ledger->worth, once);
  const double size =
      fabs(ledger->first) + fabs(ledger->last[1]) + works(e) + works(&ledger->total);
  const double noise = size * (sim->sys.ops->power != NULL ? rounding : rounding_of_differences);
  const double allowed = c->atol_v > 0.0 ? allowed_velocities : allowed_positions;
  const double run = (ledger->worth + part * ledger->exchanged) * (1.0 + ledger->checked / many);
  if (fabs(e->remainder) > allowed * step + noise) {
    return fail(sim, report, (const double[2]){t0, t1}, e->remainder, allowed * step + noise);
  }
  if (fabs(ledger->total.remainder - ledger->captured) > allowed * run + noise) {
    return fail(sim, report, (const double[2]){sim->def.t0, t1}, ledger->total.remainder,
                allowed * run + noise);
  }
  return SALTUS_OK;
}

void saltusi_gain_warn(saltus_sim* sim) {
  assert(sim != NULL && sim->ledger != NULL);
  const saltusi_ledger* ledger = sim->ledger;
  const double created = ledger->step.created;
  const double size = fabs(ledger->first) + fabs(ledger->last[1]) + works(&ledger->total);
  if (sim->gained || !(created > little_created * size)) {
    return;
  }
  saltusi_ledger_workspace* room = &sim->ledger_room;
  const saltus_state* x = &sim->ends[1];
  const saltus_point at = saltusi_at(&room->eval, x->t, x->q, x->v);
  const double kinetic = saltusi_kinetic(&room->eval.sys, &at, room->power.matrix, room->power.F);
  if (created > most_created * kinetic) {
    sim->gained = true;
    saltusi_log(sim->def.log, SALTUS_LEVEL_WARNING,
                "simulation: the impact law creates %.3g J in the step to t = %.9g s, of %.3g J of "
                "kinetic energy at its end; on_energy_gain=stop ends such runs, and other impact "
                "laws create none",
                created, x->t, kinetic);
  }
}

static bool accepts_degraded(const saltus_sim* sim) {
  const saltus_field* field =
      saltus_options_find(&saltusi_scheme_info(sim->scheme)->options, "accept_degraded");
  int value = field != NULL ? (int)field->fallback : 0;
  if (field != NULL && sim->def.options != NULL) {
    memcpy(&value, (const unsigned char*)sim->def.options + field->offset, sizeof value);
  }
  return value != 0;
}

saltus_status saltusi_captured_check(const saltus_sim* sim) {
  assert(sim != NULL && sim->scheme != NULL);
  const saltus_captured* c = &saltus_scheme_tally(sim->scheme)->captured;
  if (c->steps == 0 || c->error <= allowed_captured || accepts_degraded(sim)) {
    return SALTUS_OK;
  }
  saltusi_log(
      sim->def.log, SALTUS_LEVEL_ERROR,
      "simulation: the tolerance is not met: %lld steps of event capturing over %.3g s, from "
      "t = %.9g s to %.9g s, have errors of %.3g tolerances; --accept-degraded accepts them",
      c->steps, c->time, c->first, c->last, c->error);
  return SALTUS_ERR_ACCURACY;
}

/* J, sum of |force| times positions: the size that bounds the rounding of energies that cancel. */
static double size_of_forces(saltus_sim* sim) {
  saltusi_ledger_workspace* room = &sim->ledger_room;
  const saltus_system* sys = &room->eval.sys;
  const saltus_point at = saltusi_at(&room->eval, sim->now.t, sim->now.q, sim->now.v);
  double sum = 0.0;
  saltusi_force(&room->eval, &at, room->power.F);
  for (int i = 0; i < sys->dims.nv; i++) {
    sum += fabs(room->power.F[i]);
  }
  return sum * largest(sys->dims.nq, sim->now.q);
}

void saltusi_remainder_warn(saltus_sim* sim) {
  assert(sim != NULL);
  const saltus_energy* e = &sim->ledger->total;
  const double size = fabs(sim->ledger->first) + fabs(e->change) + works(e);
  if (sim->error_control.atol > 0.0 || sim->unframed || sim->def.recorder_count == 0 ||
      sim->sys.ops->potential == NULL || !(fabs(e->remainder) > much * size) ||
      !(fabs(e->remainder) > rounding_of_differences * size_of_forces(sim))) {
    return;
  }
  saltusi_log(sim->def.log, SALTUS_LEVEL_WARNING,
              "simulation: by t = %.9g s the energy has changed by %.3g J that no force accounts "
              "for, of %.3g J in all: take a smaller step",
              sim->now.t, e->remainder, size);
}
