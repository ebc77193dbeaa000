/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orbit_visit.c - see orbit.h.
 */
#include "orbit.h"

#include "output.h"
#include "saltus/adaptive.h"
#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest time without a section; beyond it the motion counts as never returning. */
static const double patience = 1000.0; /* s */

/* A motion between sections. */
typedef struct visit {
  const orbit_visits* of;
  saltus_sim* sim;
  double* times; /* of sections in the current step */
  size_t count, room;
  double reached; /* s, the last section */
  bool enough, lost;
} visit;

static bool wanted(const orbit_section* section, const saltus_event* e) {
  const bool own = section->kind == SALTUS_EVENT_RISE;
  const bool same = own ? saltus_event_is_user_defined(e->kind) : (int)e->kind == section->kind;
  return same && (section->contact < 0 || e->contact == section->contact);
}

/* Events are reported before their step. */
static saltus_status see_event(void* user, const saltus_event* e) {
  visit* w = user;
  if (w->of->section->period > 0.0 || e->t < w->of->from || !wanted(w->of->section, e)) {
    return SALTUS_OK;
  }
  if (w->count == w->room) {
    const size_t room = w->room > 0 ? 2 * w->room : 64;
    double* times = realloc(w->times, room * sizeof(double));
    if (times == NULL) {
      w->lost = true;
      return SALTUS_ERR_MEMORY;
    }
    w->times = times;
    w->room = room;
  }
  w->times[w->count++] = e->t;
  return SALTUS_OK;
}

static saltus_status take(visit* w, double t) {
  w->enough = !w->of->take(w->of->user, t, w->of->q, w->of->v);
  w->reached = t;
  return w->enough ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* The state right after each section of this step. */
static saltus_status see_step(void* user, double t, const double* q, const double* v) {
  visit* w = user;
  saltus_status status = SALTUS_OK;
  (void)q;
  (void)v;
  for (size_t i = 0; i < w->count && status == SALTUS_OK; i++) {
    const saltusi_dense_query query = {
        .t = fmin(w->times[i], t), .side = SALTUS_RIGHT, .q = w->of->q, .v = w->of->v};
    status = saltusi_scheme_dense(w->sim->scheme, 2, &query);
    status = status == SALTUS_OK ? take(w, query.t) : status;
  }
  w->count = 0;
  return status;
}

static saltus_status run_periods(visit* w, const saltus_dims* d) {
  saltus_status status = SALTUS_OK;
  const double period = w->of->section->period;
  const double before = fmax(0.0, ceil((w->of->from - w->of->t0) / period) - 1.0);
  for (double k = before + 1.0; status == SALTUS_OK; k += 1.0) {
    status = saltus_sim_run_until(w->sim, w->of->t0 + k * period);
    if (status == SALTUS_OK) {
      memcpy(w->of->q, saltus_sim_q(w->sim), (size_t)d->nq * sizeof(double));
      memcpy(w->of->v, saltus_sim_v(w->sim), (size_t)d->nv * sizeof(double));
      status = take(w, saltus_sim_time(w->sim));
    }
  }
  return status;
}

static saltus_status run_sections(visit* w) {
  double from = fmax(w->of->t0, w->of->from);
  for (;;) {
    const saltus_status status = saltus_sim_run_until(w->sim, from + patience);
    if (status != SALTUS_OK) {
      return status;
    }
    if (!(w->reached >= from)) {
      cli_error("%s: the motion does not reach its section after t = %.9g s", w->of->who,
                isfinite(w->reached) ? w->reached : from);
      return SALTUS_ERR_BOUND;
    }
    from = saltus_sim_time(w->sim);
  }
}

int orbit_visit(const orbit_visits* visits, const saltus_scene_view* view, double* reached) {
  assert(visits != NULL && view != NULL && reached != NULL);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = visits->tol;
  visit w = {.of = visits, .reached = -INFINITY};
  const saltus_recorder recorder = {
      .event = see_event, .step = see_step, .user = &w, .contacts_unseen = 1, .ledger_unseen = 1};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "adaptive",
                              .options = &options,
                              .t0 = visits->t0,
                              .q0 = visits->q,
                              .v0 = visits->v,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .observables = view->observables,
                              .changes = view->input_count > 0 ? view->input_changes : NULL,
                              .cancel = visits->cancel,
                              .log = cli_log()};
  saltus_status status = saltus_sim_create(&def, &w.sim);
  if (status == SALTUS_OK) {
    status =
        visits->section->period > 0.0 ? run_periods(&w, &view->system->dims) : run_sections(&w);
    saltus_sim_destroy(w.sim);
  }
  free(w.times);
  if (isfinite(w.reached)) {
    *reached = w.reached;
  }
  return status == SALTUS_ERR_STOPPED && w.enough ? CLI_DONE : cli_exit_code(status);
}
