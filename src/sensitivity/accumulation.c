/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * accumulation.c - accumulations of impacts as one map (docs/theory/sensitivity.md, 5). One bounce of a contact with separation
 * velocity U takes the time 2 U / -U' and leaves with rho U; times and velocity changes of later bounces are a
 * geometric series with this ratio:
 *
 *   tau = 2 U / (-U' (1 - rho)),   v_inf = v + (v_1 - v) / (1 - rho),   q_inf = q advanced by tau (v + a 2 U / (-2 U'))
 *
 * Its derivative is smooth in U, whereas saltation at each impact divides by U. Impacts below a threshold are therefore not followed.
 */
#include "sensitivity/sensitivity_state.h"

#include "base/log.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The map begins at separation velocities below this fraction of the fastest velocity, times 1 - rho: its error is of
 * second order, and amplified rounding of earlier impacts is of order 1e-11. */
static const double slow = 1e-7;
/* The same beside other closed contacts, which may collide in turns: chatter.c neglects the size of these impacts. */
static const double slow_beside = 3e-9;
/* Largest duration of a geometric series, relative to the time scale of the smooth motion. */
static const double brief = 1e-3;

/* A number of bounces, or all. */
typedef struct rest {
  const saltus_sensitivity* s;
  int contact;
  int bounces; /* -1: all */
} rest;

static void advance(const saltus_system* sys, int nq, const saltusi_phase_point* at,
                    const double* v, double h, double* q) {
  if (sys->ops->advance != NULL) {
    sys->ops->advance(sys->self, at->q, v, h, q);
    return;
  }
  for (int i = 0; i < nq; i++) {
    q[i] = at->q[i] + h * v[i];
  }
}

/* Changes of q and v [n] by the bounces after an impact, and their duration; `at` is the state right after the impact.
 * */
static bool rest_of(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                    const void* user, double* out) {
  const rest* r = user;
  const int nq = v->nq, nv = v->nv;
  double *a = r->s->bounce, *before = a + nv, *after = before + nv, *q = after + nv;
  double U[3], normal = 0.0;
  if (!saltusi_phase_accelerate(&v->room, sys, at, &v->mode, a, NULL)) {
    return false;
  }
  saltusi_phase_velocity(&v->room, sys, at, r->contact, a, U, &normal);
  const double up = U[0], flight = -2.0 * up / normal;
  if (!(up > 0.0 && normal < 0.0)) {
    return false;
  }
  for (int i = 0; i < nv; i++) {
    after[i] = at.v[i] + 0.5 * flight * a[i];
    before[i] = at.v[i] + flight * a[i];
  }
  double* mean = out; /* free until the end */
  memcpy(mean, after, (size_t)nv * sizeof *mean);
  advance(sys, nq, &at, mean, flight, q);
  const saltusi_phase_impulse impulse = {.set = r->s->set,
                                         .count = r->s->series_count,
                                         .first = r->contact,
                                         .closed = &v->mode,
                                         .redundant = r->s->redundant};
  const saltusi_phase_point landing = {.t = at.t + flight, .q = q, .v = before};
  if (!saltusi_phase_impact(&v->room, sys, landing, &impulse, after, NULL)) {
    return false;
  }
  const saltusi_phase_point leaving = {.t = landing.t, .q = q, .v = after};
  saltusi_phase_velocity(&v->room, sys, leaving, r->contact, NULL, U, NULL);
  const double ratio = U[0] / up;
  if (!(ratio >= 0.0 && ratio < 1.0)) {
    return false;
  }
  const double sum = (r->bounces < 0 ? 1.0 : 1.0 - pow(ratio, r->bounces)) / (1.0 - ratio);
  advance(sys, nq, &at, mean, flight * sum, q);
  for (int i = 0; i < nq; i++) {
    out[i] = q[i] - at.q[i];
  }
  for (int i = 0; i < nv; i++) {
    out[nq + i] = (after[i] - at.v[i]) * sum;
  }
  out[nq + nv] = flight * sum;
  return true;
}

static saltusi_phase_point last_of(const saltus_sensitivity* s, int contact) {
  const saltusi_last_impact* l = &s->last[contact];
  return (saltusi_phase_point){.t = l->t, .q = l->z, .v = l->z + s->vary.nq};
}

/* Derivatives of the remaining series along direction j, into s->hdot [n + 1]. */
static bool vary_rest(saltus_sensitivity* s, const rest* r, int j) {
  const saltusi_last_impact* l = &s->last[r->contact];
  saltusi_along along = {.at = last_of(s, r->contact),
                         .s = l->total + (ptrdiff_t)j * s->vary.n,
                         .tau = l->dt[j],
                         .direction = j};
  if (saltusi_vary_slope(&s->vary, rest_of, r, &along, s->vary.n + 1, s->hdot)) {
    return true;
  }
  along.limit = saltusi_vary_approach_limit(&s->vary, &along, r->contact); /* bounces end */
  return saltusi_vary_slope(&s->vary, rest_of, r, &along, s->vary.n + 1, s->hdot);
}

/* Contacts of the impacts: the bouncing contact and the closed ones. */
static void gather_set(saltus_sensitivity* s, int contact) {
  const saltusi_phase* mode = &s->vary.mode;
  s->series_count = 0;
  for (int i = 0; i < s->vary.contacts.count; i++) {
    if (i == contact || s->beside[i] || saltusi_phase_holds(mode, i)) {
      s->set[s->series_count++] = i;
    }
  }
}

void saltusi_sensitivity_series_begin(saltus_sensitivity* s, int contact, double approach) {
  assert(s != NULL && contact >= 0);
  saltusi_vary* v = &s->vary;
  const rest all = {.s = s, .contact = contact, .bounces = -1};
  const saltusi_phase_point at = last_of(s, contact);
  double U[3];
  saltusi_phase_velocity(&v->room, s->def.system, at, contact, NULL, U, NULL);
  const double ratio = U[0] / fabs(approach);
  const double part = v->mode.count > 0 && !s->redundant ? slow_beside : slow;
  if (!saltusi_sensitivity_may_begin(s, at.t) ||
      !(U[0] > 0.0 && ratio < 1.0 && U[0] <= part * (1.0 - ratio) * v->speed)) {
    return;
  }
  gather_set(s, contact);
  if (rest_of(v, s->def.system, at, &all, v->plus) && v->plus[v->n] <= brief * v->span) {
    s->series = contact;
    s->series_impacts = 0;
    s->series_limit = s->last[contact].t + v->plus[v->n];
    s->series_end = s->series_limit + 3.0 * v->plus[v->n];
  }
}

/* Events of other contacts that are open end a series or interrupt it; closed ones take part in its impacts. */
bool saltusi_sensitivity_series_foreign(const saltus_sensitivity* s, const saltus_event* e) {
  assert(s != NULL && s->series >= 0 && e != NULL);
  bool takes_part = e->contact == s->series;
  for (int i = 0; i < s->series_count && e->kind == SALTUS_EVENT_IMPACT; i++) {
    takes_part = takes_part || s->set[i] == e->contact;
  }
  return saltus_event_is_user_defined(e->kind) || !takes_part;
}

saltus_status saltusi_sensitivity_series_follow(saltus_sensitivity* s, double t, double* dt) {
  assert(s != NULL && s->series >= 0 && dt != NULL);
  bool foreign = t > s->series_end;
  bool impact = false;
  for (int i = 0; i < s->group_count; i++) {
    const saltus_event* e = &s->group[i];
    foreign = foreign || saltusi_sensitivity_series_foreign(s, e);
    impact = impact || (e->kind == SALTUS_EVENT_IMPACT && e->contact == s->series);
  }
  if (foreign && t <= s->series_end && saltusi_sensitivity_chatter_begin(s, t)) {
    return SALTUS_OK;
  }
  if (foreign) {
    return saltusi_sensitivity_retry(
        s, s->last[s->series].t, t, t,
        "an event inside an accumulation of impacts; its derivative is not computed");
  }
  s->series_impacts += impact;
  const rest some = {.s = s, .contact = s->series, .bounces = s->series_impacts};
  for (int j = 0; j < s->vary.count; j++) {
    if (!vary_rest(s, &some, j)) {
      return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                      "the impacts of an accumulation have no derivative");
    }
    dt[j] = s->last[s->series].dt[j] + s->hdot[s->vary.n];
  }
  return SALTUS_OK;
}

/* Whether the series ends at the end of the run. */
static bool fits(const saltus_sensitivity* s, const saltusi_phase_point* at, const double* change) {
  const saltusi_vary* v = &s->vary;
  double most = 0.0;
  for (int i = 0; i < v->nv; i++) {
    most = fmax(most, fabs(change[v->nq + i]));
  }
  const double near = 1e-2 * most + (1e4 * s->def.tol + 1e-9) * v->speed;
  for (int i = 0; i < v->nv; i++) {
    if (!(fabs(at->v[i] + change[v->nq + i] - s->after[v->nq + i]) <= near)) {
      return false;
    }
  }
  return true;
}

saltus_status saltusi_sensitivity_accumulation(saltus_sensitivity* s, double t, int contact) {
  assert(s != NULL && contact >= 0);
  saltusi_vary* v = &s->vary;
  const int n = v->n;
  const saltusi_last_impact* l = &s->last[contact];
  if (!l->known) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                    "an accumulation whose impacts were not seen");
  }
  for (int i = 0; i < v->mode.count; i++) { /* the contact may already be reported as closed */
    if (v->mode.held[i].contact == contact || s->beside[v->mode.held[i].contact]) {
      v->mode.held[i--] = v->mode.held[--v->mode.count];
    }
  }
  gather_set(s, contact);
  const rest all = {.s = s, .contact = contact, .bounces = -1};
  const saltusi_phase_point at = last_of(s, contact);
  if (!rest_of(v, s->def.system, at, &all, v->plus) || !fits(s, &at, v->plus)) {
    return saltusi_sensitivity_fail(
        s, SALTUS_ERR_ACCURACY, t,
        "an accumulation of impacts that is no geometric series; its derivative is not computed");
  }
  for (int j = 0; j < v->count; j++) {
    double* to = s->total + (ptrdiff_t)j * n;
    if (!vary_rest(s, &all, j)) {
      return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                      "the end of an accumulation has no derivative");
    }
    for (int i = 0; i < n; i++) {
      to[i] = l->total[(ptrdiff_t)j * n + i] + s->hdot[i];
    }
    s->dt[j] = l->dt[j] + s->hdot[n];
  }
  return SALTUS_OK;
}
