/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * passage.c - warning of steps without event location that pass through the surface of a contact of a fixed set.
 *
 * With the displacement d of a step from q_0 to q_1, the tangents of the gap at both ends give at the other end
 *
 *   a = g_0 + dg_0 d          b = g_1 - dg_1 d
 *
 * If a, b < 0 < g_0, g_1 and the contact has no impulse, the surface curves away, or the step has passed through it: then
 * g < 0 between the ends, on the line q_0 + s d. Shapes have a bound by their thickness (saltus_mechanism_passage).
 */
#include "base/log.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <math.h>

/* Part of |dg| |d| by which both tangents have to pass the surface: errors of second order in d are below. */
static const double part = 0.1;

/* Change of the gap by its tangent at x along the displacement in ledger_room.u; *size: the part above. */
static double along(saltus_sim* sim, const saltus_state* x, int key, double h, double* size) {
  const saltus_point at = saltusi_sim_at(sim, x->t, x->q, x->v);
  saltusi_rows_contact(&sim->sys, &at, key, 1, &sim->row, 0);
  *size = part * (saltusi_row_size(&sim->row, 0, sim->ledger_room.u) + fabs(h * sim->row.b[0]));
  return saltusi_row_dot(&sim->row, 0, sim->ledger_room.u) + h * sim->row.b[0];
}

/* Gap at the part s of the displacement. */
static double gap_at(saltus_sim* sim, int key, double h, double s) {
  const saltus_state* x = &sim->ends[0];
  double* q = sim->ledger_room.q;
  saltusi_advance(&sim->sys, x->q, sim->ledger_room.u, s, q);
  const saltus_point at = saltusi_sim_at(sim, x->t + s * h, q, x->v);
  double gap = INFINITY;
  if (saltusi_sim_list(sim, &at) == SALTUS_OK) {
    for (int i = 0; i < sim->list.count; i++) {
      gap = sim->list.key[i] == key ? sim->list.gap[i] : gap;
    }
  }
  return gap;
}

/* True if the gap is negative between the ends; its minimum is found by golden section. */
static bool is_crossed(saltus_sim* sim, int key, double h) {
  enum { SECTIONS = 40 };
  const double golden = 0.6180339887498949;
  double low = 0.0, high = 1.0;
  double s[2] = {1.0 - golden, golden};
  double gap[2] = {gap_at(sim, key, h, s[0]), gap_at(sim, key, h, s[1])};
  for (int k = 0; k < SECTIONS && fmin(gap[0], gap[1]) >= 0.0; k++) {
    const int kept = gap[0] < gap[1] ? 0 : 1;
    *(kept == 0 ? &high : &low) = s[1 - kept];
    s[1 - kept] = s[kept];
    gap[1 - kept] = gap[kept];
    s[kept] = kept == 0 ? high - golden * (high - low) : low + golden * (high - low);
    gap[kept] = gap_at(sim, key, h, s[kept]);
  }
  return fmin(gap[0], gap[1]) < 0.0;
}

static bool has_impulse(const saltus_step_report* report, int key) {
  bool found = false;
  for (int i = 0; !found && i < report->active; i++) {
    found = report->contacts[i].key == key && report->contacts[i].impulse[0] > 0.0;
  }
  return found;
}

/* g: gap at the last three ends of steps. */
static bool is_passed(saltus_sim* sim, const saltus_step_report* report, int key,
                      const double g[3]) {
  const double h = sim->ends[1].t - sim->ends[0].t;
  const bool closes = 2.0 * g[1] - g[0] < 0.0; /* at its last mean rate; saves rows of the others */
  if (!(g[1] > 0.0 && g[2] > 0.0 && closes) || has_impulse(report, key)) {
    return false;
  }
  double size[2];
  const double a = g[1] + along(sim, &sim->ends[0], key, h, &size[0]);
  const double b = g[2] - along(sim, &sim->ends[1], key, h, &size[1]);
  return a < -size[0] && b < -size[1] && is_crossed(sim, key, h);
}

static void note_gaps(saltus_sim* sim, const saltus_state* x) {
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    double* at = sim->step_gaps[key].at;
    at[0] = at[1];
    at[1] = at[2];
    at[2] = INFINITY;
  }
  const saltus_point at = saltusi_sim_at(sim, x->t, x->q, x->v);
  const saltus_status status = saltusi_sim_list(sim, &at);
  for (int i = 0; status == SALTUS_OK && i < sim->list.count; i++) {
    sim->step_gaps[sim->list.key[i]].at[2] = sim->list.gap[i];
  }
}

void saltusi_passage_check(saltus_sim* sim, const saltus_step_report* report) {
  assert(sim != NULL && report != NULL);
  const int nc = sim->changing || sim->passed ? 0 : sim->sys.dims.nc;
  if (nc == 0) {
    return;
  }
  if (sim->step_end != sim->ends[0].t) { /* the first step: the rate before it is not known */
    note_gaps(sim, &sim->ends[0]);
    for (int key = 0; key < nc; key++) {
      sim->step_gaps[key].at[1] = INFINITY;
    }
  }
  note_gaps(sim, &sim->ends[1]);
  sim->step_end = sim->ends[1].t;
  saltusi_difference(&sim->sys, sim->ends[0].q, sim->ends[1].q, sim->ledger_room.u);
  for (int key = 0; !sim->passed && key < nc; key++) {
    const double* gaps = sim->step_gaps[key].at;
    sim->passed = is_passed(sim, report, key, gaps);
    if (sim->passed) {
      const char* name = key < sim->sys.law_count ? sim->sys.laws[key].name : NULL;
      saltusi_log(
          sim->def.log, SALTUS_LEVEL_WARNING,
          "simulation: the step from t = %.10g s to %.10g s passes through contact %d%s%s%s "
          "without an impulse; take a shorter step, or the scheme adaptive",
          sim->ends[0].t, sim->ends[1].t, key, name != NULL ? " \"" : "", name != NULL ? name : "",
          name != NULL ? "\"" : "");
    }
  }
}
