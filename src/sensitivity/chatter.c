/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * chatter.c - slow impacts of several contacts that come to rest in turns (docs/theory/sensitivity.md, 5). From t1 on all approach
 * velocities are of order eps, and the chatter takes a time T of the same order. With the free acceleration a and all
 * impulses along the directions D of the mode that follows,
 *
 *   v_inf = v + a T + M^-1 D P,   G^T v_inf + b = 0,
 *
 * so v_inf = Pi v + Pi a T with the projection Pi onto the constraints of this mode, and Pi a is the acceleration after the
 * chatter: at a fixed time neither T nor the order of the impacts matter, up to terms of order eps.
 */
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Largest approach velocity, relative to the fastest; smallest slip relative to it; longest time in units of the smooth
 * motion; largest derivative of a gap. */
static const double slow = 1e-7, steady = 1e7, brief = 1e-3, open = 1e-5;

static bool takes_part(const saltus_sensitivity* s, int contact) {
  for (int i = 0; i < s->chatter_count; i++) {
    if (s->chatter_set[i] == contact) {
      return true;
    }
  }
  return false;
}

static void add(saltus_sensitivity* s, int contact) {
  if (!takes_part(s, contact)) {
    s->chatter_set[s->chatter_count++] = contact;
  }
}

/* Impulses are those of the mode that follows: the same friction, nothing tangential is restituted. */
static bool is_plain(const saltus_sensitivity* s, int contact) {
  const saltus_contact_law* law = saltusi_phase_law(&s->vary.room, s->def.system, contact);
  return law->e_T == 0.0 && law->friction == NULL && law->impact != SALTUS_IMPACT_OWN &&
         saltus_contact_impact_mu(law) == law->mu;
}

bool saltusi_sensitivity_chatter_follow(saltus_sensitivity* s, double t) {
  assert(s != NULL && s->chatter);
  bool good = t - s->chatter_from <= brief * s->vary.span;
  for (int i = 0; i < s->group_count; i++) {
    const saltus_event* e = &s->group[i];
    if (saltus_event_is_remark(e->kind)) {
      continue;
    }
    good = good && !saltus_event_is_user_defined(e->kind);
    if (good && e->kind == SALTUS_EVENT_IMPACT) {
      s->chatter_speed = fmax(s->chatter_speed, fabs(e->u_before));
      s->chatter_fast = 8.0 * fabs(e->u_before) >= s->chatter_speed ? t : s->chatter_fast;
      add(s, e->contact);
      good = is_plain(s, e->contact);
    }
  }
  return good && s->chatter_speed <= slow * s->vary.speed;
}

bool saltusi_sensitivity_chatter_begin(saltus_sensitivity* s, double t) {
  assert(s != NULL && !s->chatter);
  saltusi_vary* v = &s->vary;
  const int n = v->n;
  const saltusi_last_impact* l = s->series >= 0 ? &s->last[s->series] : NULL;
  if (!saltusi_sensitivity_may_begin(s, l != NULL ? l->t : t)) {
    return false;
  }
  s->chatter = true;
  s->chatter_from = l != NULL ? l->t : t;
  s->chatter_fast = s->chatter_from;
  s->chatter_speed = 0.0;
  s->chatter_count = 0;
  bool good = l == NULL || is_plain(s, s->series);
  if (l != NULL) {
    add(s, s->series);
  }
  for (int i = 0; i < v->mode.count && good; i++) {
    add(s, v->mode.held[i].contact);
    good = is_plain(s, v->mode.held[i].contact);
  }
  good = good && saltusi_sensitivity_chatter_follow(s, t);
  if (good && l != NULL) { /* its derivatives at the fixed time t1 */
    const saltusi_phase_point at = {.t = l->t, .q = l->z, .v = l->z + v->nq};
    good = saltusi_vary_rates(v, s->def.system, at, NULL, s->rates);
  }
  for (int i = 0; i < v->count * n && good; i++) {
    s->chatter_columns[i] = l != NULL ? l->total[i] - s->rates[i % n] * l->dt[i / n] : s->y[n + i];
  }
  s->chatter = good;
  s->series = good ? -1 : s->series;
  return good;
}

bool saltusi_sensitivity_chatter_rests(const saltus_sensitivity* s) {
  assert(s != NULL && s->chatter);
  int held = 0;
  bool sticks = s->slip_end < 0;
  for (int i = 0; i < s->vary.mode.count; i++) {
    const saltusi_phase_contact* m = &s->vary.mode.held[i];
    held += takes_part(s, m->contact);
    sticks = sticks || (m->contact == s->slip_end && m->sticks);
  }
  return held == s->chatter_count && sticks;
}

static bool settle(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                   const void* user, double* out) {
  (void)user;
  memcpy(out, at.q, (size_t)v->nq * sizeof *out);
  return saltusi_phase_settle(&v->room, sys, at, &v->mode, out + v->nq);
}

/* Whether contacts that slide after the chatter did not stick in it. */
static bool slides_steadily(saltus_sensitivity* s, saltusi_phase_point at) {
  saltusi_vary* v = &s->vary;
  bool good = true;
  for (int i = 0; i < v->mode.count && good; i++) {
    const saltusi_phase_contact* m = &v->mode.held[i];
    const saltus_contact_law* law = saltusi_phase_law(&v->room, s->def.system, m->contact);
    double U[3] = {0.0};
    saltusi_phase_velocity(&v->room, s->def.system, at, m->contact, NULL, U, NULL);
    const double slip = law->tangents == 0 ? INFINITY : hypot(U[1], law->tangents > 1 ? U[2] : 0.0);
    good = m->sticks || law->mu == 0.0 || slip >= steady * s->chatter_speed;
  }
  return good;
}

static bool gap_of(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                   const void* user, double* out) {
  const int* contact = user;
  *out = saltusi_phase_gap(&v->room, sys, at, *contact);
  return isfinite(*out);
}

/* Adds to the positions of a column what closes the gaps: impacts that are later by dt move them by dt times the jumps of
 * velocities, which are along the directions D too. Gaps that are not of order eps are refused. */
static bool close_gaps(saltus_sensitivity* s, const saltusi_along* along, double* column) {
  saltusi_vary* v = &s->vary;
  double *gap = v->finer, *shift = s->moved, *rate = s->moved + v->nv, most = 1.0;
  for (int i = 0; i < v->nq; i++) {
    most = fmax(most, fabs(column[i]));
  }
  bool good = v->mode.count <= 2 * v->n;
  for (int i = 0; i < v->mode.count && good; i++) {
    good = saltusi_vary_slope(v, gap_of, &v->mode.held[i].contact, along, 1, &gap[i]) &&
           fabs(gap[i]) <= open * v->length * most;
  }
  if (!good || !saltusi_phase_close(&v->room, s->def.system, along->at, &v->mode, gap, shift)) {
    return false;
  }
  if (s->def.system->ops->rate != NULL) {
    s->def.system->ops->rate(s->def.system->self, along->at.q, shift, rate);
  } else {
    memcpy(rate, shift, (size_t)v->nq * sizeof *rate);
  }
  for (int i = 0; i < v->nq; i++) {
    column[i] += rate[i];
  }
  return true;
}

saltus_status saltusi_sensitivity_chatter_end(saltus_sensitivity* s, double t) {
  assert(s != NULL && s->chatter);
  saltusi_vary* v = &s->vary;
  const saltusi_phase_point at = {.t = t, .q = s->after, .v = s->after + v->nq};
  bool good = slides_steadily(s, at);
  for (int j = 0; j < v->count && good; j++) {
    double* column = s->chatter_columns + (ptrdiff_t)j * v->n;
    saltusi_along along = {.at = at, .s = column, .direction = j};
    good = close_gaps(s, &along, column);
    along.limit = saltusi_vary_slip_limit(v, &along);
    good = good && saltusi_vary_slope(v, settle, NULL, &along, v->n, s->hdot);
    double* total = s->total + (ptrdiff_t)j * v->n;
    memcpy(total, s->hdot, (size_t)v->n * sizeof *total);
    along.s = total;
    good = good && saltusi_vary_slope(v, saltusi_vary_rates, NULL, &along, v->n, s->hdot);
    for (int i = 0; i < v->n && good; i++) {
      total[i] += (t - s->chatter_from) * s->hdot[i];
    }
    s->dt[j] = 0.0;
  }
  s->chatter = false;
  s->slip_end = -1;
  for (int i = 0; i < v->contacts.count; i++) {
    s->last[i].known = s->last[i].known && !takes_part(s, i);
  }
  return good
             ? SALTUS_OK
             : saltusi_sensitivity_retry(s, s->chatter_from, s->chatter_fast, t,
                                         "an accumulation of impacts of several contacts that ends "
                                         "between slip and stick; its derivative is not computed");
}
