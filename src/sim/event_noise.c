/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_noise.c - bounds of the noise of event functions: the largest |g| at which g counts as zero. It encloses the
 * rounding of the formula and errors of the state, by the observables (event_errors). The errors of the state are the
 * tolerances of the scheme or controller and the corrections by projections.
 */
#include "scheme/scheme_ops.h"
#include "sim/observe.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Noise without enclosures, relative to the largest value so far. */
static const double nothing = 1e-12;
/* Tolerance of joints at the start, and rounding of positions of size 1 (start_projection.c). */
static const double at_start = 1e-12;

/* Value of an option of the scheme by its name; 0: none. */
static double option_of(const saltus_sim* sim, const char* name) {
  const saltus_scheme_info* info = saltusi_scheme_info(sim->scheme);
  const saltus_field* field = saltus_options_find(&info->options, name);
  double value = field != NULL ? field->fallback : 0.0;
  if (field != NULL && sim->def.options != NULL) {
    memcpy(&value, (const unsigned char*)sim->def.options + field->offset, sizeof value);
  }
  return value;
}

/* Relative and absolute tolerances; 0 for schemes with fixed steps. */
typedef struct tolerances {
  double rtol, atol_q, atol_v;
  double rest; /* m, errors normal to constraints */
} tolerances;

static tolerances find_tolerances(const saltus_sim* sim) {
  tolerances tol = {.rest = at_start};
  if (sim->control != NULL) {
    tol.rtol = sim->control->options.rtol;
    tol.atol_q = tol.atol_v = sim->control->options.atol;
  } else if (sim->scheme != NULL && sim->chosen) {
    const double atol_v = option_of(sim, "atol_velocity");
    tol.rtol = option_of(sim, "rtol");
    tol.atol_q = option_of(sim, "atol");
    tol.atol_v = atol_v > 0.0 ? atol_v : tol.atol_q;
  }
  if (sim->scheme != NULL) {
    tol.rest += 2.0 * fmax(sim->report.projection, sim->sums[SALTUSI_SUM_DRIFT]);
  }
  return tol;
}

void saltusi_event_noise(saltus_sim* sim, const saltus_state* x) {
  assert(sim != NULL && x != NULL);
  const saltus_observables* o = sim->def.observables;
  const saltus_dims* d = &sim->sys.dims;
  saltusi_observe_workspace* room = &sim->observe;
  double* noise = room->noise;
  if (o->event_errors == NULL) {
    for (int i = 0; i < o->event_count; i++) {
      noise[i] = nothing * sim->crossings[i].largest;
    }
    return;
  }
  const tolerances tol = find_tolerances(sim);
  const double h = sim->last_h > 0.0 ? fmin(sim->last_h, 1.0) : 1.0;
  for (int i = 0; i < d->nq; i++) {
    const bool given = d->nq == d->nv && sim->def.atol_q != NULL && sim->def.atol_q[i] > 0.0;
    const double atol = given && tol.rtol > 0.0 ? sim->def.atol_q[i] : tol.atol_q;
    room->dq[i] = atol + tol.rtol * fabs(x->q[i]) + tol.rest * fmax(1.0, fabs(x->q[i]));
  }
  for (int i = 0; i < d->nv; i++) {
    const bool given = sim->def.atol_v != NULL && sim->def.atol_v[i] > 0.0;
    const double atol = given && tol.rtol > 0.0 ? sim->def.atol_v[i] : tol.atol_v;
    room->dv[i] = atol + tol.rtol * fabs(x->v[i]) + at_start * fmax(1.0, fabs(x->v[i])) +
                  (tol.rest - at_start) / h;
  }
  const saltus_point at = {
      .t = x->t, .q = x->q, .v = x->v, .scratch = room->scratch, .failure = &sim->failure};
  o->event_errors(o->self, &at, room->dq, room->dv, noise);
  for (int i = 0; i < o->event_count; i++) {
    /* no bound: as without enclosures */
    noise[i] = isfinite(noise[i]) ? noise[i] : nothing * sim->crossings[i].largest;
  }
}
