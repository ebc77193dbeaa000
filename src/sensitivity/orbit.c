/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orbit.c - Newton's method on the return map:
 *
 *   P(z) - z = 0,   z <- z - (DP - 1)^-1 (P(z) - z)
 *
 * over all coordinates but those that drift. At a section DP is that of states at their own crossing times, s + f dt;
 * the direction of the flow is in its null space.
 */
#include "saltus/orbit.h"

#include "base/log.h"
#include "base/pool.h"
#include "base/reserved.h"
#include "math/eigenvalues.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct saltus_orbit {
  saltusi_pool pool;
  saltus_orbit_def def;
  saltus_orbit_view view;
  int nq, nv, n, size;
  int* place;                   /* [size] indices of the states without drift, among n */
  double* z;                    /* [n] now */
  double* tried;                /* [n] */
  double* back;                 /* [n] P(z) */
  double* map;                  /* [size x size] */
  double* A;                    /* [size x (size + 1)] */
  double* step;                 /* [size] */
  double* unit;                 /* [size x n] start of each direction */
  double* drift;                /* [nq] */
  double *re, *im;              /* [size] */
  saltus_direction* directions; /* [size] */
  double residual, length, speed;
};

saltus_orbit_def saltus_orbit_def_default(void) {
  return (saltus_orbit_def){.section_kind = SALTUS_EVENT_IMPACT,
                            .section_contact = -1,
                            .section_count = 1,
                            .longest = 100.0,
                            .tol = 1e-11,
                            .accuracy = 1e-9,
                            .iterations = 30};
}

const saltus_orbit_view* saltus_orbit_get_view(const saltus_orbit* orbit) {
  assert(orbit != NULL);
  return &orbit->view;
}

void saltus_orbit_destroy(saltus_orbit* orbit) {
  if (orbit != NULL) {
    saltusi_pool pool = orbit->pool;
    saltusi_pool_free(&pool);
  }
}

static bool drifts(const saltus_orbit* o, int i) {
  return i < o->nq && o->def.drifts != NULL && o->def.drifts[i];
}

static bool take_room(saltus_orbit* o) {
  const saltus_dims* d = &o->def.system->dims;
  o->nq = d->nq;
  o->nv = d->nv;
  o->n = d->nq + d->nv;
  o->place = SALTUSI_TAKE(&o->pool, int, o->n);
  for (int i = 0; i < o->n && o->place != NULL; i++) {
    if (!drifts(o, i)) {
      o->place[o->size++] = i;
    }
  }
  const size_t size = (size_t)o->size;
  o->z = SALTUSI_TAKE(&o->pool, double, o->n);
  o->tried = SALTUSI_TAKE(&o->pool, double, o->n);
  o->back = SALTUSI_TAKE(&o->pool, double, o->n);
  o->map = SALTUSI_TAKE(&o->pool, double, size* size);
  o->A = SALTUSI_TAKE(&o->pool, double, size*(size + 1));
  o->step = SALTUSI_TAKE(&o->pool, double, size);
  o->unit = SALTUSI_TAKE(&o->pool, double, size*(size_t)o->n);
  o->drift = SALTUSI_TAKE(&o->pool, double, o->nq);
  o->re = SALTUSI_TAKE(&o->pool, double, size);
  o->im = SALTUSI_TAKE(&o->pool, double, size);
  o->directions = SALTUSI_TAKE(&o->pool, saltus_direction, size);
  if (o->pool.failed) {
    return false;
  }
  for (int k = 0; k < o->size; k++) {
    double* unit = o->unit + (ptrdiff_t)k * o->n;
    unit[o->place[k]] = 1.0;
    o->directions[k] = (saltus_direction){.dq0 = unit, .dv0 = unit + o->nq};
  }
  return true;
}

static double scale_of(const saltus_orbit* o, int i) {
  return i < o->nq ? o->length : o->speed;
}

/* P and DP at z; returns the residual. */
static saltus_status evaluate(saltus_orbit* o, const double* z, saltus_log log) {
  const saltus_orbit_def* def = &o->def;
  const bool timed = def->period > 0.0;
  saltus_sensitivity_def s = saltus_sensitivity_def_default();
  s.system = def->system;
  s.t0 = def->t0;
  s.q0 = z;
  s.v0 = z + o->nq;
  s.until = def->t0 + (timed ? def->period : def->longest > 0.0 ? def->longest : 100.0);
  s.tol = def->tol;
  s.directions = o->directions;
  s.direction_count = o->size;
  s.section_kind = timed ? -1 : def->section_kind;
  s.section_contact = def->section_contact;
  s.section_count = def->section_count;
  s.cancel = def->cancel;
  s.log = log;
  s.allocator = def->allocator;
  s.observables = timed ? NULL : def->observables;
  saltus_sensitivity* run;
  const saltus_status status = saltus_sensitivity_create(&s, &run);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_sensitivity_view* v = saltus_sensitivity_get_view(run);
  if (!timed && !v->at_section) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "orbit: the motion does not return to its section within %g s", s.until - s.t0);
    saltus_sensitivity_destroy(run);
    return SALTUS_ERR_BOUND;
  }
  memcpy(o->back, v->q, (size_t)o->nq * sizeof(double));
  memcpy(o->back + o->nq, v->v, (size_t)o->nv * sizeof(double));
  for (int j = 0; j < o->size; j++) {
    const double dt = v->at_section ? v->section_dt[j] : 0.0;
    for (int k = 0; k < o->size; k++) {
      const int i = o->place[k];
      o->map[k * o->size + j] = i < o->nq ? v->dq[j * o->nq + i] + v->q_rate[i] * dt
                                          : v->dv[j * o->nv + i - o->nq] + v->a[i - o->nq] * dt;
    }
  }
  o->length = o->speed = 1e-12;
  for (int i = 0; i < o->n; i++) {
    double* scale = i < o->nq ? &o->length : &o->speed;
    *scale = drifts(o, i) ? *scale : fmax(*scale, v->largest[i]);
  }
  o->residual = 0.0;
  for (int k = 0; k < o->size; k++) {
    const int i = o->place[k];
    o->residual = fmax(o->residual, fabs(o->back[i] - z[i]) / scale_of(o, i));
  }
  o->view.period = v->t - def->t0;
  o->view.closest = v->closest;
  o->view.derivative = v->derivative;
  o->view.impacts = 0;
  for (long long i = 0; i < v->event_count; i++) {
    o->view.impacts += v->events[i].event.kind == SALTUS_EVENT_IMPACT;
  }
  saltus_sensitivity_destroy(run);
  return SALTUS_OK;
}

/* (DP - 1) step = P(z) - z by elimination with pivots; false: singular. */
static bool newton_step(saltus_orbit* o, const double* z) {
  const int n = o->size, wide = n + 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      o->A[i * wide + j] = o->map[i * n + j] - (i == j ? 1.0 : 0.0);
    }
    o->A[i * wide + n] = o->back[o->place[i]] - z[o->place[i]];
  }
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      pivot = fabs(o->A[i * wide + k]) > fabs(o->A[pivot * wide + k]) ? i : pivot;
    }
    if (!(fabs(o->A[pivot * wide + k]) > 0.0)) {
      return false;
    }
    for (int j = 0; j <= n; j++) {
      const double kept = o->A[k * wide + j];
      o->A[k * wide + j] = o->A[pivot * wide + j];
      o->A[pivot * wide + j] = kept;
    }
    for (int i = k + 1; i < n; i++) {
      const double f = o->A[i * wide + k] / o->A[k * wide + k];
      for (int j = k; j <= n; j++) {
        o->A[i * wide + j] -= f * o->A[k * wide + j];
      }
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    double rest = o->A[i * wide + n];
    for (int j = i + 1; j < n; j++) {
      rest -= o->A[i * wide + j] * o->step[j];
    }
    o->step[i] = rest / o->A[i * wide + i];
  }
  return true;
}

/* A damped Newton step: halved until the residual of the return map decreases. Returns its
 * status. */
static saltus_status improve(saltus_orbit* o) {
  const saltus_log silent = {0};
  const double before = o->residual;
  if (!newton_step(o, o->z)) {
    return SALTUS_ERR_BOUND;
  }
  saltus_status status = SALTUS_ERR_BOUND;
  for (double part = 1.0; part > 1e-3; part *= 0.5) {
    memcpy(o->tried, o->z, (size_t)o->n * sizeof(double));
    for (int k = 0; k < o->size; k++) {
      o->tried[o->place[k]] -= part * o->step[k];
    }
    const saltus_status made = evaluate(o, o->tried, silent);
    if (made == SALTUS_ERR_STOPPED || made == SALTUS_ERR_MEMORY) {
      return made;
    }
    if (made == SALTUS_OK && (o->residual < before || o->residual <= o->def.accuracy)) {
      memcpy(o->z, o->tried, (size_t)o->n * sizeof(double));
      return SALTUS_OK;
    }
    status = SALTUS_ERR_BOUND;
  }
  return status;
}

/* The return map to a section does not depend on time. Under time-dependent forces, another
 * start time returns to another state. */
static saltus_status check_time(saltus_orbit* o) {
  const saltus_orbit_view found = o->view;
  const double residual = o->residual, t0 = o->def.t0;
  o->def.t0 = t0 + 0.38196601125010515 * found.period;
  memcpy(o->tried, o->back, (size_t)o->n * sizeof(double));
  memcpy(o->A, o->map, (size_t)o->size * (size_t)o->size * sizeof(double));
  const saltus_log silent = {0};
  const saltus_status status = evaluate(o, o->z, silent);
  const bool same = status == SALTUS_OK && o->residual <= 1e-6 + 10.0 * residual &&
                    fabs(o->view.period - found.period) <= 1e-6 * found.period;
  memcpy(o->back, o->tried, (size_t)o->n * sizeof(double));
  memcpy(o->map, o->A, (size_t)o->size * (size_t)o->size * sizeof(double));
  o->view = found;
  o->residual = residual;
  o->def.t0 = t0;
  if (!same && status != SALTUS_ERR_STOPPED && status != SALTUS_ERR_MEMORY) {
    saltusi_log(o->def.log, SALTUS_LEVEL_ERROR,
                "orbit: the motion depends on the time at which it starts, which a section does "
                "not determine; give the period of the excitation");
    return SALTUS_ERR_UNSUPPORTED;
  }
  return same ? SALTUS_OK : status;
}

static saltus_status find(saltus_orbit* o) {
  const saltus_orbit_def* def = &o->def;
  memcpy(o->z, def->q0, (size_t)o->nq * sizeof(double));
  memcpy(o->z + o->nq, def->v0, (size_t)o->nv * sizeof(double));
  saltus_status status = evaluate(o, o->z, def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  int done = 0;
  while (o->residual > def->accuracy && done < def->iterations) {
    const double before = o->residual;
    status = improve(o);
    done++;
    if (status != SALTUS_OK) {
      saltusi_log(
          def->log, SALTUS_LEVEL_ERROR,
          "orbit: no orbit was found near the start; the return error after %d iteration%s is %.3g",
          done, done == 1 ? "" : "s", before);
      return status;
    }
  }
  if (o->residual > def->accuracy) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "orbit: after %d iterations the return error is %.3g, %.3g is required", done,
                o->residual, def->accuracy);
    return SALTUS_ERR_BOUND;
  }
  o->view.iterations = done;
  return def->period > 0.0 ? SALTUS_OK : check_time(o);
}

static saltus_status finish(saltus_orbit* o) {
  memcpy(o->A, o->map, (size_t)o->size * (size_t)o->size * sizeof(double));
  if (!saltusi_eigenvalues(o->A, o->size, o->re, o->im)) {
    saltusi_log(o->def.log, SALTUS_LEVEL_ERROR, "orbit: its multipliers were not found");
    return SALTUS_ERR_BOUND;
  }
  saltus_orbit_view* v = &o->view;
  for (int i = 0; i < o->nq; i++) {
    o->drift[i] = drifts(o, i) ? o->back[i] - o->z[i] : 0.0;
  }
  v->q = o->z;
  v->v = o->z + o->nq;
  v->drift = o->drift;
  v->map = o->map;
  v->re = o->re;
  v->im = o->im;
  v->size = o->size;
  v->residual = o->residual;
  v->stable = o->size == 0 || hypot(o->re[0], o->im[0]) < 1.0;
  return SALTUS_OK;
}

/* Whether a contact can lose its bond permanently. */
static bool has_bonds(const saltus_system* sys) {
  bool any = false;
  for (int i = 0; i < sys->law_count; i++) {
    const saltus_friction_law* law = sys->laws[i].friction;
    any = any || (law != NULL && law->adhesion > 0.0 && !law->rebinds);
  }
  return any;
}

static saltus_status check(const saltus_orbit_def* def) {
  const saltus_system* sys = def->system;
  const char* why = NULL;
  if (sys == NULL || def->q0 == NULL || def->v0 == NULL || !(def->period >= 0.0)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "orbit: a system and a guess are needed, and a period from 0 on");
    return SALTUS_ERR_RANGE;
  }
  if (sys->dims.nj > 0) {
    why = "systems with joints have more coordinates than motions; give independent coordinates";
  } else if (sys->ops->advance != NULL || sys->dims.nq != sys->dims.nv) {
    why = "coordinates that are no integrals of velocities, as orientations in space, are not "
          "treated";
  } else if (def->observables != NULL && def->observables->switching != NULL) {
    why = "events that switch inputs are not treated: a return has to find them as they were";
  } else if (has_bonds(sys)) {
    why = "bonds (adhesion) are not treated: a return has to find them as they were";
  } else if (sys->dims.nq + sys->dims.nv > 256) {
    why = "at most 128 coordinates";
  }
  if (why != NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "orbit: %s", why);
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

saltus_status saltus_orbit_create(const saltus_orbit_def* def, saltus_orbit** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_orbit_def", def->log);
  status = status == SALTUS_OK ? check(def) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_orbit* o = SALTUSI_TAKE(&pool, saltus_orbit, 1);
  if (o == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "orbit: no memory");
    return SALTUS_ERR_MEMORY;
  }
  o->pool = pool;
  o->def = *def;
  o->def.tol = def->tol > 0.0 ? def->tol : 1e-11;
  o->def.accuracy = def->accuracy > 0.0 ? def->accuracy : 1e-9;
  o->def.iterations = def->iterations > 0 ? def->iterations : 30;
  if (!take_room(o)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "orbit: no memory");
    status = SALTUS_ERR_MEMORY;
  }
  status = status == SALTUS_OK ? find(o) : status;
  status = status == SALTUS_OK ? finish(o) : status;
  if (status != SALTUS_OK) {
    saltus_orbit_destroy(o);
    return status;
  }
  *out = o;
  return SALTUS_OK;
}
