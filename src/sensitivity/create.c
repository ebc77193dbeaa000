/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * create.c - a sensitivity from its definition: checks, and initial values of the run and its
 * derivatives.
 */
#include "saltus/sensitivity.h"

#include "base/log.h"
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

saltus_sensitivity_def saltus_sensitivity_def_default(void) {
  return (saltus_sensitivity_def){.tol = 1e-11, .section_kind = -1, .section_contact = -1};
}

const saltus_sensitivity_view* saltus_sensitivity_get_view(const saltus_sensitivity* sensitivity) {
  assert(sensitivity != NULL);
  return &sensitivity->view;
}

void saltus_sensitivity_destroy(saltus_sensitivity* sensitivity) {
  if (sensitivity != NULL) {
    saltus_integrator_destroy(sensitivity->run);
    saltusi_vary_free(&sensitivity->vary);
    saltusi_release(&sensitivity->pool.allocator, sensitivity->events, sensitivity->event_room,
                    sizeof *sensitivity->events);
    saltusi_release(&sensitivity->pool.allocator, sensitivity->own, sensitivity->own_room,
                    sizeof *sensitivity->own);
    saltusi_pool pool = sensitivity->pool;
    saltusi_pool_free(&pool);
  }
}

saltus_status saltus_sensitivity_check(const saltus_system* sys, saltus_log log) {
  assert(sys != NULL);
  const char* why = NULL;
  const bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (changing && sys->ops->gaps == NULL) {
    why = "contacts of a time-varying set without `gaps` are not differentiated";
  } else if (sys->dry_count > 0) {
    why = "dry friction of joints is not differentiated";
  } else if (!changing && sys->dims.nc > SALTUSI_PHASE_CONTACTS) {
    why = "at most 256 contacts";
  }
  for (int i = 0; i < sys->law_count && why == NULL; i++) {
    why = sys->laws[i].friction != NULL ? "friction laws beyond Coulomb's are not differentiated"
                                        : NULL;
  }
  if (why != NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "sensitivity: %s", why);
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

static saltus_status check(const saltus_sensitivity_def* def) {
  for (long long i = 1; i < def->time_count; i++) {
    if (!(def->times[i] >= def->times[i - 1])) {
      saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                  "sensitivity: time %lld is %g s, must not be before %g s", i, def->times[i],
                  def->times[i - 1]);
      return SALTUS_ERR_RANGE;
    }
  }
  if (def->system == NULL || def->q0 == NULL || def->v0 == NULL || !(def->until > def->t0) ||
      def->direction_count < 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "sensitivity: a system, its start and an end after it are needed");
    return SALTUS_ERR_RANGE;
  }
  return saltus_sensitivity_check(def->system, def->log);
}

/* Initial state of a run: projected onto joints and closed contacts if necessary. */
static saltus_status start_of(const saltus_sensitivity* s, const saltus_system* system,
                              const double* q, const double* v, double* z) {
  saltus_system formula = *system; /* dry friction is not differentiated, sign(x') is */
  formula.set_valued = NULL;
  const saltus_integrator_def run = {.system = &formula,
                                     .t0 = s->def.t0,
                                     .q0 = q,
                                     .v0 = v,
                                     .rtol = s->def.tol,
                                     .atol = s->def.tol,
                                     .allocator = s->def.allocator};
  saltus_integrator* it;
  saltus_status status = saltus_integrator_create(&run, &it);
  if (status != SALTUS_OK) {
    return status;
  }
  const double soon =
      s->def.t0 + 1e-9 * (s->def.until - s->def.t0); /* the length of the first step is free */
  status = saltus_integrator_advance(it, soon, SALTUS_STOP_NEVER, NULL);
  if (status == SALTUS_OK) {
    status = saltus_integrator_dense(it, s->def.t0, SALTUS_RIGHT, z, z + s->vary.nq);
  }
  saltus_integrator_destroy(it);
  return status;
}

/* Derivative of the initial state along a direction; `corrected`: the initial states were projected. */
static saltus_status vary_start(saltus_sensitivity* s, int j, bool corrected, double* column) {
  const saltus_direction* d = &s->def.directions[j];
  static const double weight[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
  const int nq = s->vary.nq, nv = s->vary.nv;
  for (int k = 0; k < 4 && d->system[0] != NULL && corrected && d->q0[k] != NULL; k++) {
    const saltus_status status = start_of(s, d->system[k], d->q0[k], d->v0[k], s->after);
    if (status != SALTUS_OK) {
      return saltusi_sensitivity_fail(s, status, s->def.t0,
                                      "the start with another parameter is refused");
    }
    for (int i = 0; i < nq + nv; i++) {
      column[i] += weight[k] / d->step * s->after[i];
    }
  }
  for (int k = 0; k < 4 && d->system[0] != NULL && !corrected; k++) {
    for (int i = 0; i < nq && d->q0[k] != NULL; i++) {
      column[i] += weight[k] / d->step * d->q0[k][i];
    }
    for (int i = 0; i < nv && d->v0[k] != NULL; i++) {
      column[nq + i] += weight[k] / d->step * d->v0[k][i];
    }
  }
  for (int i = 0; i < nq && d->dq0 != NULL; i++) {
    column[i] += d->dq0[i];
  }
  for (int i = 0; i < nv && d->dv0 != NULL; i++) {
    column[nq + i] += d->dv0[i];
  }
  return SALTUS_OK;
}

static bool take_room(saltus_sensitivity* s) {
  saltusi_vary* v = &s->vary;
  const saltus_sensitivity_def* def = &s->def;
  if (def->observables != NULL && def->section_kind < 0) {
    v->integrand = saltusi_sensitivity_output_values;
    v->integrand_user = s;
    v->integrands = def->observables->output_count;
  }
  if (!saltusi_vary_make(v, def->system, def->directions, def->direction_count, &s->pool)) {
    return false;
  }
  const int nc = v->contacts.count;
  s->y = SALTUSI_TAKE(&s->pool, double, v->size);
  s->after = SALTUSI_TAKE(&s->pool, double, v->n);
  s->total = SALTUSI_TAKE(&s->pool, double, v->size);
  s->moved = SALTUSI_TAKE(&s->pool, double, v->size + v->n);
  s->dt = SALTUSI_TAKE(&s->pool, double, v->count + 1);
  s->rates = SALTUSI_TAKE(&s->pool, double, v->n + 4);
  s->hdot = SALTUSI_TAKE(&s->pool, double, v->n + v->count + 4);
  s->forces = SALTUSI_TAKE(&s->pool, saltus_contact_force, nc + 1);
  s->largest = SALTUSI_TAKE(&s->pool, double, v->n);
  s->set = SALTUSI_TAKE(&s->pool, int, nc + 1);
  s->law_u = SALTUSI_TAKE(&s->pool, double, 6 * nc + 1);
  s->law_du = SALTUSI_TAKE(&s->pool, double, 3 * nc + 1);
  s->series = s->slip_end = -1;
  s->beside = SALTUSI_TAKE(&s->pool, bool, nc + 1);
  s->records = SALTUSI_TAKE(&s->pool, double,
                            (size_t)v->n*(size_t)(1 + v->count) * (size_t)def->time_count + 1);
  s->chatter_columns = SALTUSI_TAKE(&s->pool, double, v->size);
  s->chatter_set = SALTUSI_TAKE(&s->pool, int, nc + 1);
  s->bounce = SALTUSI_TAKE(&s->pool, double, 3 * v->nv + v->nq);
  s->last = SALTUSI_TAKE(&s->pool, saltusi_last_impact, nc + 1);
  for (int i = 0; i < nc && s->last != NULL; i++) {
    s->last[i].z = SALTUSI_TAKE(&s->pool, double, v->n);
    s->last[i].total = SALTUSI_TAKE(&s->pool, double, v->size);
    s->last[i].dt = SALTUSI_TAKE(&s->pool, double, v->count + 1);
  }
  return saltusi_sensitivity_scratch(s) && saltusi_sensitivity_extremes_make(s) && !s->pool.failed;
}

static saltus_status begin(saltus_sensitivity* s) {
  const saltus_sensitivity_def* def = &s->def;
  saltusi_sensitivity_reset(s);
  saltus_status status = saltusi_sensitivity_start_contacts(s);
  status = status == SALTUS_OK ? saltusi_sensitivity_find_own(s) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (!take_room(s)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "sensitivity: no memory");
    return SALTUS_ERR_MEMORY;
  }
  saltusi_vary* v = &s->vary;
  saltus_system formula = *def->system;
  formula.set_valued = NULL;
  const saltus_integrator_def run = {.system = &formula,
                                     .t0 = def->t0,
                                     .q0 = def->q0,
                                     .v0 = def->v0,
                                     .rtol = def->tol,
                                     .atol = def->tol,
                                     .dense_steps = 64,
                                     .cancel = def->cancel,
                                     .log = def->log,
                                     .allocator = def->allocator,
                                     .changes = def->changes};
  status = saltus_integrator_create(&run, &s->run);
  if (status != SALTUS_OK) {
    return status;
  }
  status = start_of(s, def->system, def->q0, def->v0, s->y);
  const bool corrected = memcmp(s->y, def->q0, (size_t)v->nq * sizeof(double)) != 0 ||
                         memcmp(s->y + v->nq, def->v0, (size_t)v->nv * sizeof(double)) != 0;
  for (int j = 0; j < v->count && status == SALTUS_OK; j++) {
    status = vary_start(s, j, corrected, s->y + (ptrdiff_t)(j + 1) * v->n);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_sensitivity_grow(s, s->y);
  double* z = v->rates;
  /* scales of the motion are not available yet: initial ones follow from accelerations at the start */
  const saltusi_phase_point at = {.t = def->t0, .q = s->y, .v = s->y + v->nq};
  if (saltusi_vary_rates(v, def->system, at, NULL, z)) {
    double a = 0.0;
    for (int i = 0; i < v->nv; i++) {
      a = fmax(a, fabs(z[v->nq + i]));
    }
    const double span = def->until - def->t0;
    v->speed = fmax(v->speed, fmin(a * span, sqrt(a * fmax(v->length, 1e-3))));
  }
  v->length = fmax(v->length, 1e-6);
  v->speed = fmax(v->speed, 1e-6);
  v->span = fmin(1e-2, def->until - def->t0);
  return SALTUS_OK;
}

/* One run. */
static saltus_status create(const saltus_sensitivity_def* def, saltusi_sensitivity_attempt* attempt,
                            saltus_sensitivity** out) {
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_sensitivity* s = SALTUSI_TAKE(&pool, saltus_sensitivity, 1);
  if (s == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "sensitivity: no memory");
    return SALTUS_ERR_MEMORY;
  }
  s->pool = pool;
  s->def = *def;
  s->def.tol = def->tol > 0.0 ? def->tol : 1e-11;
  s->view.derivative_t = (double)NAN;
  s->view.closest = INFINITY;
  s->last_impact = -INFINITY;
  s->attempt = attempt;
  attempt->again = false;
  saltus_status status = begin(s);
  status = status == SALTUS_OK ? saltusi_sensitivity_run(s) : status;
  saltusi_sensitivity_reset(s);
  if (status > SALTUS_OK) { /* of a step that cannot be repeated here */
    status = saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, def->t0, "the run failed");
  }
  if (status != SALTUS_OK) {
    saltus_sensitivity_destroy(s);
    return status;
  }
  *out = s;
  return SALTUS_OK;
}

saltus_status saltus_sensitivity_create(const saltus_sensitivity_def* def,
                                        saltus_sensitivity** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = check(def);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_sensitivity_attempt attempt = {.count = 0};
  do {
    status = create(def, &attempt, out);
  } while (attempt.again);
  return status;
}
