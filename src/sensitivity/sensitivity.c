/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity.c - derivatives along a run: from event to event in one mode, across an event by saltation
 * (docs/theory/sensitivity.md, 5):
 *
 *   dt* = -(h_z s + h_p) / (h_t + h_z f-),   s+ = R_z (s + f- dt*) + R_t dt* + R_p - f+ dt*
 */
#include "base/log.h"
#include "base/number.h"
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Variational equations end this part of the time scale of the smooth motion before a slip in space ends, where they are
 * singular. */
static const double slip_rest = 1e-7;

enum { LOOKS = 8 }; /* samples of the motion between two events */

saltus_status saltusi_sensitivity_fail(const saltus_sensitivity* s, saltus_status status, double t,
                                       const char* why) {
  assert(s != NULL && why != NULL);
  saltusi_log(s->def.log, SALTUS_LEVEL_ERROR, "sensitivity at t = %.12g s: %s", t, why);
  return status;
}

saltus_status saltusi_sensitivity_retry(saltus_sensitivity* s, double from, double to, double t,
                                        const char* why) {
  assert(s != NULL && why != NULL);
  saltusi_sensitivity_attempt* a = s->attempt;
  if (a->count < SALTUSI_SENSITIVITY_TRIES && saltusi_sensitivity_may_begin(s, from)) {
    a->from[a->count] = from;
    a->to[a->count++] = to;
    a->again = true;
    return SALTUS_ERR_UNSUPPORTED;
  }
  return saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, t, why);
}

bool saltusi_sensitivity_may_begin(const saltus_sensitivity* s, double t) {
  assert(s != NULL);
  bool may = true;
  for (int i = 0; i < s->attempt->count; i++) {
    may = may && !(t >= s->attempt->from[i] && t <= s->attempt->to[i]);
  }
  return may;
}

static const char* contact_name(const saltus_sensitivity* s, int contact) {
  const char* name = saltusi_phase_law(&s->vary.room, s->def.system, contact)->name;
  return name != NULL ? name : "without a name";
}

/* ---- modes ---- */

/* Updates the largest sizes of coordinates and velocities. */
void saltusi_sensitivity_grow(saltus_sensitivity* s, const double* z) {
  assert(s != NULL && z != NULL);
  saltusi_vary* v = &s->vary;
  for (int i = 0; i < v->n; i++) {
    s->largest[i] = fmax(s->largest[i], fabs(z[i]));
  }
  for (int i = 0; i < v->nq; i++) {
    v->length = fmax(v->length, fabs(z[i]));
  }
  for (int i = 0; i < v->nv; i++) {
    v->speed = fmax(v->speed, fabs(z[v->nq + i]));
  }
}

/* The mode between two events, from the run at their middle. */
static saltus_status read_mode(saltus_sensitivity* s, double from, double to) {
  saltusi_vary* v = &s->vary;
  const saltus_system* sys = s->def.system;
  /* one mode over the whole interval: the part within the dense output suffices */
  const double known = fmin(fmax(from, saltus_integrator_dense_from(s->run)), to);
  const double middle = 0.5 * (known + to);
  double* z = v->rates;
  for (int k = 1; k < LOOKS; k++) { /* extent of the motion between events */
    if (saltus_integrator_dense(s->run, known + (to - known) * k / LOOKS, SALTUS_RIGHT, z,
                                z + v->nq) == SALTUS_OK) {
      saltusi_sensitivity_grow(s, z);
    }
  }
  int count = 0;
  saltus_status status =
      saltus_integrator_contact_forces(s->run, middle, s->forces, v->contacts.count, &count);
  if (status == SALTUS_OK) {
    status = saltus_integrator_dense(s->run, middle, SALTUS_RIGHT, z, z + v->nq);
  }
  v->mode.count = 0;
  const saltusi_phase_point at = {.t = middle, .q = z, .v = z + v->nq};
  for (int k = 0; k < count && status == SALTUS_OK; k++) {
    const int i =
        k < v->contacts.count ? saltusi_sensitivity_contact(s, s->forces[k].identity) : -1;
    if (i < 0) {
      return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, middle,
                                      "a contact that the first run of this motion did not have");
    }
    const saltus_contact_law* law = saltusi_phase_law(&v->room, sys, i);
    const double* force = s->forces[k].force;
    if (!(force[0] > 0.0)) {
      continue;
    }
    double U[3] = {0.0, 0.0, 0.0};
    saltusi_phase_velocity(&v->room, sys, at, i, NULL, U, NULL);
    const double friction = hypot(force[1], force[2]),
                 slip = hypot(U[1], law->tangents > 1 ? U[2] : 0.0);
    const bool sticks = law->tangents > 0 && slip <= 1e-9 * v->speed &&
                        friction < law->mu * force[0] * (1.0 - 1e-9);
    v->mode.held[v->mode.count++] = (saltusi_phase_contact){
        .contact = i, .sticks = sticks, .sign = law->tangents == 1 && U[1] < 0.0 ? -1.0 : 1.0};
  }
  return status;
}

/* ---- functions with requested derivatives ---- */

static bool guard_value(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                        const void* user, double* out) {
  const saltusi_guard* g = user;
  double U[3] = {0.0}, force[3 * SALTUSI_PHASE_CONTACTS];
  switch (g->kind) {
  case SALTUSI_GUARD_GAP:
    out[0] = saltusi_phase_gap(&v->room, sys, at, g->contact);
    return isfinite(out[0]);
  case SALTUSI_GUARD_OWN:
    return saltusi_sensitivity_own_value(g->s, sys, at, g->contact, out);
  case SALTUSI_GUARD_SLIP:
    saltusi_phase_velocity(&v->room, sys, at, g->contact, NULL, U, NULL);
    out[0] = g->along[0] * U[1] + g->along[1] * U[2];
    return true;
  default:
    break;
  }
  double* a = v->minus;
  if (!saltusi_phase_accelerate(&v->room, sys, at, &v->mode, a, force)) {
    return false;
  }
  const double* f = force + (ptrdiff_t)3 * g->contact;
  const double mu = saltusi_phase_law(&v->room, sys, g->contact)->mu;
  out[0] = g->kind == SALTUSI_GUARD_FORCE ? f[0] : mu * f[0] - hypot(f[1], f[2]);
  return true;
}

/* ---- events ---- */

static void note(saltus_sensitivity* s, saltus_derivative what, double t) {
  if (isnan(s->view.derivative_t) && what != SALTUS_DERIVATIVE_EXISTS) {
    s->view.derivative_t = t;
  }
  const bool worse = s->view.derivative == SALTUS_DERIVATIVE_EXISTS ||
                     s->view.derivative == SALTUS_DERIVATIVE_LIMIT ||
                     what == SALTUS_DERIVATIVE_GRAZING;
  if (what != SALTUS_DERIVATIVE_EXISTS && worse) {
    s->view.derivative = what;
  }
}

/* G_N^T x of a contact, or b without x. */
static double row_of(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at, int contact,
                     const double* x) {
  double with[3], without[3];
  memset(v->minus, 0, (size_t)v->nv * sizeof *v->minus);
  const saltusi_phase_point still = {.t = at.t, .q = at.q, .v = v->minus};
  saltusi_phase_velocity(&v->room, sys, still, contact, NULL, without, NULL);
  if (x == NULL) {
    return without[0];
  }
  const saltusi_phase_point moving = {.t = at.t, .q = at.q, .v = x};
  saltusi_phase_velocity(&v->room, sys, moving, contact, NULL, with, NULL);
  return with[0] - without[0];
}

bool saltusi_sensitivity_times(saltus_sensitivity* s, double t, const saltusi_guard* g,
                               double* dt) {
  assert(s != NULL && g != NULL && dt != NULL);
  saltusi_vary* v = &s->vary;
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  double passing, moved;
  if (!saltusi_vary_rates(v, s->def.system, at, NULL, s->rates)) {
    return false;
  }
  /* rows of a gap are its derivatives: differences would have rounding that slow impacts divide by their approach */
  const bool rows = g->kind == SALTUSI_GUARD_GAP;
  const saltusi_along flow = {.at = at, .s = s->rates, .tau = 1.0, .direction = -1};
  if (rows) {
    passing = row_of(v, s->def.system, at, g->contact, at.v) +
              row_of(v, s->def.system, at, g->contact, NULL);
  } else if (!saltusi_vary_slope(v, guard_value, g, &flow, 1, &passing)) {
    return false;
  }
  for (int j = 0; j < v->count && passing != 0.0; j++) {
    const double* z = s->y + (ptrdiff_t)(j + 1) * v->n;
    const saltusi_along along = {.at = at, .s = rows ? NULL : z, .direction = j};
    if (!saltusi_vary_slope(v, guard_value, g, &along, 1, &moved)) {
      return false;
    }
    if (rows && !saltusi_phase_tangent(&v->room, s->def.system, at.q, z, v->plus)) {
      return false;
    }
    moved += rows ? row_of(v, s->def.system, at, g->contact, v->plus) : 0.0;
    dt[j] = -moved / passing;
  }
  return passing != 0.0;
}

static saltus_status slip_ends(const saltus_sensitivity* s, double t, int contact) {
  char why[160];
  saltusi_print(
      why, sizeof why,
      "slip of contact %.60s ends in space without sticking; its direction after that has no "
      "derivative",
      contact_name(s, contact));
  return saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, t, why);
}

/* Whether an event ends a slip in space: equations before it are singular. */
static bool ends_slip(const saltus_sensitivity* s, const saltus_event* e) {
  const bool ends = e->kind == SALTUS_EVENT_STICK || e->kind == SALTUS_EVENT_REVERSAL;
  return ends && saltusi_phase_holds(&s->vary.mode, e->contact) &&
         saltusi_phase_law(&s->vary.room, s->def.system, e->contact)->tangents == 2;
}

/* Shortly before the end of a slip in space, at t: the derivative of the time to its end, along the present slip, and the rest
 * as chatter, whose impulses are those of the mode that follows. */
static saltus_status approach_stick(saltus_sensitivity* s, double t, int contact) {
  saltusi_vary* v = &s->vary;
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  double U[3];
  saltusi_phase_velocity(&v->room, s->def.system, at, contact, NULL, U, NULL);
  const double slip = hypot(U[1], U[2]);
  const saltusi_guard g = {
      .contact = contact, .kind = SALTUSI_GUARD_SLIP, .along = {U[1] / slip, U[2] / slip}};
  if (!(slip > 0.0) || !saltusi_sensitivity_times(s, t, &g, s->dt)) {
    return slip_ends(s, t, contact);
  }
  s->chatter = true;
  s->slip_end = contact;
  s->chatter_from = t;
  s->chatter_speed = 0.0;
  s->chatter_count = 0;
  memcpy(s->chatter_columns, s->y + v->n, (size_t)v->n * (size_t)v->count * sizeof *s->y);
  return SALTUS_OK;
}

/* An event at which v does not jump. */
static saltus_status change(saltus_sensitivity* s, double t, const saltus_event* e, bool* known) {
  saltusi_vary* v = &s->vary;
  const int n = v->n;
  const bool own = saltus_event_is_user_defined(e->kind);
  const bool spatial =
      !own && saltusi_phase_law(&v->room, s->def.system, e->contact)->tangents == 2;
  saltusi_guard g = {.contact = e->contact, .s = s, .along = {1.0, 0.0}};
  switch (e->kind) {
  case SALTUS_EVENT_STICK:
  case SALTUS_EVENT_REVERSAL:
    if (spatial) {
      return slip_ends(s, t, e->contact);
    }
    g.kind = SALTUSI_GUARD_SLIP;
    break;
  case SALTUS_EVENT_SLIP:
    g.kind = SALTUSI_GUARD_CONE;
    break;
  case SALTUS_EVENT_OPEN:
    g.kind = SALTUSI_GUARD_FORCE;
    break;
  case SALTUS_EVENT_RISE:
  case SALTUS_EVENT_FALL:
    g.kind = SALTUSI_GUARD_OWN;
    break;
  default:
    g.kind = SALTUSI_GUARD_GAP;
    break;
  }
  if (!own && !saltusi_phase_holds(&v->mode, e->contact) && g.kind != SALTUSI_GUARD_GAP) {
    memset(s->dt, 0,
           (size_t)v->count *
               sizeof *s->dt); /* a status after a jump, not an event of the motion */
  } else if (!saltusi_sensitivity_times(s, t, &g, s->dt)) {
    if (!own || saltusi_sensitivity_switches(s, e) || saltusi_sensitivity_is_section(s, e)) {
      return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                      "an event whose time has no derivative");
    }
    memset(s->dt, 0, (size_t)v->count * sizeof *s->dt); /* without effect on the motion */
    *known = false;
  }
  for (int j = 0; j < v->count; j++) {
    for (int i = 0; i < n; i++) {
      s->total[(ptrdiff_t)j * n + i] = s->y[(ptrdiff_t)(j + 1) * n + i] + s->rates[i] * s->dt[j];
    }
  }
  return SALTUS_OK;
}

static bool keep_event(saltus_sensitivity* s, const saltus_event* e, saltus_derivative what,
                       const double* dt) {
  double* kept = SALTUSI_TAKE(&s->pool, double, s->vary.count + 1);
  if (kept == NULL || !saltusi_grow(&s->pool.allocator, (void**)&s->events, &s->event_room,
                                    s->event_count + 1, sizeof *s->events)) {
    return false;
  }
  memcpy(kept, dt, (size_t)s->vary.count * sizeof *kept);
  s->events[s->event_count++] =
      (saltus_sensitive_event){.event = *e, .dt = kept, .derivative = what};
  return true;
}

/* Outputs right before an event, along its moving time. */
static void see_before(saltus_sensitivity* s, double t) {
  saltusi_vary* v = &s->vary;
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  if (v->integrands == 0 || !saltusi_vary_rates(v, s->def.system, at, NULL, s->rates)) {
    return;
  }
  for (int i = 0; i < v->count * v->n; i++) {
    s->moved[i] = s->y[v->n + i] + s->rates[i % v->n] * s->dt[i / v->n];
  }
  saltusi_sensitivity_extremes_see(s, t, s->y, s->moved, s->dt);
}

/* Whether a switching event and the rest of its group have different time derivatives; dt is that of the group. An
 * event that is caused by a jump has the time of the jump. */
static bool apart(saltus_sensitivity* s, double t, const double* dt) {
  bool differ = false;
  for (int i = 0; i < s->group_count && !differ; i++) {
    const saltusi_guard g = {.contact = s->group[i].contact, .kind = SALTUSI_GUARD_OWN, .s = s};
    if (!saltusi_sensitivity_switches(s, &s->group[i]) || s->group_jumps[i] ||
        !saltusi_sensitivity_times(s, t, &g, s->hdot)) {
      continue;
    }
    for (int j = 0; j < s->vary.count; j++) {
      differ = differ || !(fabs(s->hdot[j] - dt[j]) <= 1e-7 * fmax(fabs(dt[j]), fabs(s->hdot[j])));
    }
  }
  return differ;
}

static saltus_status end_series(saltus_sensitivity* s, double t, int contact) {
  const saltus_status status = saltusi_sensitivity_accumulation(s, t, contact);
  s->last[contact].known = false;
  s->series = -1;
  return status;
}

/* The events of a group that determine its kind; NULL where there is none of the kind. */
typedef struct deciding {
  const saltus_event *impact, *end, *change;
} deciding;

static deciding sort_group(const saltus_sensitivity* s) {
  deciding d = {0};
  for (int i = 0; i < s->group_count; i++) {
    const saltus_event* e = &s->group[i];
    const bool closes = e->kind == SALTUS_EVENT_CLOSE && e->contact == s->series;
    const bool first =
        d.change == NULL || (e->kind == SALTUS_EVENT_STICK && d.change->kind != e->kind);
    d.impact = d.impact == NULL && e->kind == SALTUS_EVENT_IMPACT ? e : d.impact;
    d.end = d.end == NULL && (closes || e->kind == SALTUS_EVENT_ACCUMULATION) ? e : d.end;
    d.change = first && !saltus_event_is_remark(e->kind) && e->kind != SALTUS_EVENT_PAINLEVE
                   ? e
                   : d.change;
  }
  return d;
}

/* Jump of state and derivatives at the events of one instant; the part after the event needs the
 * mode there. */
static saltus_status cross(saltus_sensitivity* s, double t) {
  const deciding by = sort_group(s);
  if (by.change == NULL) { /* only remarks: the motion does not change */
    memset(s->dt, 0, (size_t)s->vary.count * sizeof *s->dt);
    memcpy(s->total, s->y + s->vary.n,
           (size_t)s->vary.n * (size_t)s->vary.count * sizeof *s->total);
    return SALTUS_OK;
  }
  saltus_derivative what = SALTUS_DERIVATIVE_EXISTS;
  const double* dt = s->dt;
  bool known = true;
  saltus_status status;
  const bool inside =
      s->series >= 0 || s->chatter; /* outputs before the series are those of its first impact */
  if (!inside) {
    saltusi_sensitivity_integral_jump(s, t, s->y, 1.0);
  }
  const bool sticking = s->slip_end >= 0;
  if (s->chatter) {
    status = saltusi_sensitivity_chatter_follow(s, t)
                 ? SALTUS_OK
                 : saltusi_sensitivity_retry(s, s->chatter_from, t, t,
                                             "an event inside an accumulation of impacts of "
                                             "several contacts; its derivative is not computed");
  } else if (by.end != NULL) {
    what = SALTUS_DERIVATIVE_LIMIT;
    status = end_series(s, t, by.end->contact);
  } else if (inside) {
    status = saltusi_sensitivity_series_follow(s, t, s->dt);
  } else {
    status = by.impact != NULL ? saltusi_sensitivity_impact(s, t, &what)
                               : change(s, t, by.change, &known);
  }
  if (status == SALTUS_OK && s->group_count > 1 && by.end == NULL && !inside && apart(s, t, dt)) {
    what = SALTUS_DERIVATIVE_SIMULTANEOUS;
  }
  what = s->chatter && !sticking ? SALTUS_DERIVATIVE_LIMIT : what;
  known = known && (!s->chatter || sticking);
  for (int j = 0; j < s->vary.count && !known; j++) {
    s->hdot[j] = (double)NAN;
  }
  dt = known ? dt : s->hdot;
  note(s, what, t);
  if (status == SALTUS_OK && !inside) {
    see_before(s, t);
  }
  for (int i = 0; i < s->group_count && status == SALTUS_OK; i++) {
    if (!keep_event(s, &s->group[i], what, dt)) {
      status = SALTUS_ERR_MEMORY;
    }
    /* a section at the start is the initial one */
    const bool section = saltusi_sensitivity_is_section(s, &s->group[i]) &&
                         t > s->def.t0 + 1e-12 * fmax(1.0, fabs(s->def.t0));
    s->sections += section;
    s->met =
        s->met || (section && s->sections == (s->def.section_count > 0 ? s->def.section_count : 1));
  }
  return status;
}

/* ---- the run ---- */

/* Derivatives at a fixed time right after an event, once the mode there is determined. */
static saltus_status leave(saltus_sensitivity* s, double t) {
  saltusi_vary* v = &s->vary;
  const int n = v->n;
  const saltusi_phase_point at = {.t = t, .q = s->after, .v = s->after + v->nq};
  if (!saltusi_vary_rates(v, s->def.system, at, NULL, s->rates)) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                    "the motion after an event has no equations");
  }
  memcpy(s->y, s->after, (size_t)n * sizeof *s->y);
  for (int j = 0; j < v->count; j++) {
    for (int i = 0; i < n; i++) {
      s->y[(ptrdiff_t)(j + 1) * n + i] = s->total[(ptrdiff_t)j * n + i] - s->rates[i] * s->dt[j];
    }
  }
  saltusi_sensitivity_integral_jump(s, t, s->after, -1.0);
  saltusi_sensitivity_extremes_see(s, t, s->after, s->total, s->dt);
  return SALTUS_OK;
}

/* State and derivatives at the next of the recorded times. */
static void keep_record(saltus_sensitivity* s) {
  const size_t size = (size_t)s->vary.n * (size_t)(1 + s->vary.count);
  memcpy(s->records + (size_t)s->recorded++ * size, s->y, size * sizeof *s->y);
}

/* Recorded times before t are inside of an accumulation, without derivatives. */
static void skip_records(saltus_sensitivity* s, double t) {
  const size_t size = (size_t)s->vary.n * (size_t)(1 + s->vary.count);
  for (; s->recorded < s->def.time_count && s->def.times[s->recorded] < t; s->recorded++) {
    for (size_t i = 0; i < size; i++) {
      s->records[(size_t)s->recorded * size + i] = (double)NAN;
    }
  }
}

/* Advances to t in the mode of the run; the state at t is that of the run. */
static saltus_status follow(saltus_sensitivity* s, double from, double t) {
  saltusi_vary* v = &s->vary;
  double* z = v->rates;
  const int turns = saltusi_sensitivity_turns(s, from, t);
  double here = from;
  bool good = true;
  skip_records(s, from);
  for (int i = 0; good && (here < t || i < turns);) {
    const double turn = i < turns ? s->turns[i] : t;
    const double record = s->recorded < s->def.time_count ? s->def.times[s->recorded] : INFINITY;
    const double to = fmin(fmin(turn, record), t);
    good = saltusi_vary_follow(v, here, to, s->y);
    here = to;
    if (good && i < turns && to == turn) {
      saltusi_sensitivity_extremes_see(s, here, s->y, s->y + v->n, NULL);
      i++;
    }
    if (good && to == record) {
      keep_record(s);
    }
  }
  if (!good) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                    "the variational equations did not converge");
  }
  saltus_status status = saltus_integrator_dense(s->run, t, SALTUS_LEFT, z, z + v->nq);
  if (status != SALTUS_OK) {
    return status;
  }
  const double near = 1e4 * s->def.tol + 1e-9;
  for (int i = 0; i < v->n; i++) {
    const double scale = i < v->nq ? v->length : v->speed;
    if (!(fabs(s->y[i] - z[i]) <= near * scale)) {
      char why[160];
      saltusi_print(why, sizeof why,
                    "the motion since t = %.12g s is not the one of the run: %s %d differs by %.3g",
                    from, i < v->nq ? "coordinate" : "velocity", i < v->nq ? i : i - v->nq,
                    s->y[i] - z[i]);
      return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t, why);
    }
  }
  memcpy(s->y, z, (size_t)v->n * sizeof *z);
  saltusi_sensitivity_grow(s, z);
  return SALTUS_OK;
}

/* Events within this distance of t are simultaneous. */
static double instant(double t) {
  return 64.0 * DBL_EPSILON * fabs(t);
}

static saltus_status finish(saltus_sensitivity* s, double t) {
  saltusi_vary* v = &s->vary;
  const int n = v->n;
  saltus_sensitivity_view* view = &s->view;
  saltusi_sensitivity_extremes_see(s, t, s->y, s->y + n, NULL);
  const bool extremes = v->integrands > 0 && !s->extremes_lost;
  view->highest = extremes ? s->extreme[0] : NULL;
  view->lowest = extremes ? s->extreme[1] : NULL;
  double* dq = s->total; /* free now: [count x nq], then [count x nv] */
  double* dv = s->total + (ptrdiff_t)v->count * v->nq;
  for (int j = 0; j < v->count; j++) {
    memcpy(dq + (ptrdiff_t)j * v->nq, s->y + (ptrdiff_t)(j + 1) * n, (size_t)v->nq * sizeof *dq);
    memcpy(dv + (ptrdiff_t)j * v->nv, s->y + (ptrdiff_t)(j + 1) * n + v->nq,
           (size_t)v->nv * sizeof *dv);
  }
  view->t = t;
  view->q = s->y;
  view->v = s->y + v->nq;
  view->dq = dq;
  view->dv = dv;
  view->q_rate = s->rates;
  view->a = s->rates + v->nq;
  view->events = s->events;
  view->event_count = (long long)s->event_count;
  view->largest = s->largest;
  skip_records(s, INFINITY);
  view->records = s->records;
  return saltusi_sensitivity_outputs(s, t) ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

/* The group of events of one instant, from the first one on, and the state after them. */
static saltus_status gather(saltus_sensitivity* s, const saltus_event* next) {
  const saltusi_vary* v = &s->vary;
  const double end = fmin(next->t + instant(next->t), s->def.until);
  saltus_status status = SALTUS_OK;
  s->group_count = 0;
  while (next != NULL && status == SALTUS_OK) {
    if (s->group_count < SALTUSI_GROUP_MOST) {
      s->group_jumps[s->group_count] = s->own_jumps;
      s->group[s->group_count++] = *next;
    }
    memcpy(s->after, saltus_integrator_q(s->run), (size_t)v->nq * sizeof(double));
    memcpy(s->after + v->nq, saltus_integrator_v(s->run), (size_t)v->nv * sizeof(double));
    status = saltusi_sensitivity_next(s, end, &next);
  }
  return status;
}

/* Crosses the events of one instant; again: at the instant of a switch. A run restarts after a switch and may report
 * closed contacts again, which are not events of the motion. */
static saltus_status meet(saltus_sensitivity* s, const saltus_event* next, bool again) {
  const saltusi_vary* v = &s->vary;
  const double t = next->t;
  memcpy(s->moved, s->after, (size_t)v->n * sizeof *s->moved);
  saltus_status status = gather(s, next);
  for (int i = 0; i < v->n && again && status == SALTUS_OK; i++) {
    const double scale = i < v->nq ? v->length : v->speed;
    if (!(fabs(s->after[i] - s->moved[i]) <= 1e-9 * scale)) {
      return saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, t,
                                      "a switch brings about an impact; such are not treated");
    }
  }
  if (status == SALTUS_OK && !again) {
    status = cross(s, t);
    s->switched = saltusi_sensitivity_fire(s);
  }
  return status;
}

/* The end of the run, without a section; pending: it ends with an event. */
static saltus_status end_run(saltus_sensitivity* s, double here, bool pending) {
  saltusi_vary* v = &s->vary;
  const double end = s->def.until;
  if (pending) {
    saltus_status status =
        saltus_integrator_dense(s->run, here, SALTUS_RIGHT, s->after, s->after + v->nq);
    v->mode.count = 0;
    status = status == SALTUS_OK ? leave(s, here) : status;
    if (status != SALTUS_OK) {
      return status;
    }
  }
  const saltusi_phase_point at = {.t = end, .q = s->y, .v = s->y + v->nq};
  if (!saltusi_vary_rates(v, s->def.system, at, NULL, s->rates)) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, end,
                                    "the motion has no equations at its end");
  }
  return finish(s, end);
}

/* Whether an event at the start is rounding of a start with closed contacts: a gap of 1e-15 m closes by an impact with
 * a velocity of order sqrt(1e-15). */
static bool is_settling(const saltus_sensitivity* s, const saltus_event* e) {
  const double since = e->t - s->def.t0, part = 3e-6;
  const bool slow = e->kind != SALTUS_EVENT_IMPACT || fabs(e->u_before) <= part * s->vary.speed;
  return slow && !saltus_event_is_user_defined(e->kind) &&
         since <= part * (s->def.until - s->def.t0);
}

/* Contacts that are closed at the start up to rounding count as closed from the start on. */
static saltus_status settle_start(saltus_sensitivity* s, double* here, const saltus_event** next) {
  const saltusi_vary* v = &s->vary;
  saltus_status status = saltusi_sensitivity_next(s, s->def.until, next);
  while (status == SALTUS_OK && *next != NULL && is_settling(s, *next)) {
    *here = (*next)->t;
    if (!keep_event(s, *next, SALTUS_DERIVATIVE_LIMIT, s->dt)) {
      return SALTUS_ERR_MEMORY;
    }
    memcpy(s->y, saltus_integrator_q(s->run), (size_t)v->nq * sizeof(double));
    memcpy(s->y + v->nq, saltus_integrator_v(s->run), (size_t)v->nv * sizeof(double));
    status = saltusi_sensitivity_next(s, s->def.until, next);
  }
  return status;
}

/* An accumulation before the next event, at t, or the end of the run: it may have ended with its last impact, that of
 * *closed. A series that begins with the last impact of the run, of the section or before one of another contact does not
 * count. */
static saltus_status check_series(saltus_sensitivity* s, double here, double t,
                                  const saltus_event* next, int* closed) {
  const bool more = next != NULL;
  *closed = -1;
  if (s->series < 0) {
    return SALTUS_OK;
  }
  const bool foreign = more && saltusi_sensitivity_series_foreign(s, next);
  if (!s->met && t > (more && !foreign ? s->series_end : s->series_limit)) {
    *closed = s->series;
    return end_series(s, here, s->series);
  }
  if (foreign && s->series_impacts == 0) {
    s->series = -1;
    return SALTUS_OK;
  }
  if (more && !s->met) {
    return SALTUS_OK;
  }
  if (s->series_impacts > 0) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, here,
                                    "the end lies inside an accumulation of impacts");
  }
  s->series = -1;
  return SALTUS_OK;
}

/* Ends a chatter if all of its contacts are closed between here and t. */
static saltus_status check_chatter(saltus_sensitivity* s, double here, double t, bool more) {
  saltus_status status = read_mode(s, here, t);
  if (status == SALTUS_OK && saltusi_sensitivity_chatter_rests(s)) {
    return saltusi_sensitivity_chatter_end(s, here);
  }
  return status != SALTUS_OK || more
             ? status
             : saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, here,
                                        "the end lies inside an accumulation of impacts");
}

/* Advances to t, or to the section at the present time; pending: the events at the present time are crossed, but the
 * mode after them is not determined. */
static saltus_status pass(saltus_sensitivity* s, double here, double t, const saltus_event* next,
                          bool pending, int closed) {
  const saltusi_vary* v = &s->vary;
  saltus_status status = read_mode(s, here, t);
  if (status == SALTUS_OK && closed >= 0 && !saltusi_phase_holds(&v->mode, closed)) {
    status = saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, here,
                                      "an accumulation of impacts that does not close");
  }
  const bool ends = status == SALTUS_OK && next != NULL && ends_slip(s, next);
  status = status == SALTUS_OK && pending ? leave(s, here) : status;
  if (status != SALTUS_OK || s->met) {
    return status;
  }
  const double rest = fmin(1e-2 * (t - here), slip_rest * v->span);
  const double to = ends ? fmax(t - rest, saltus_integrator_dense_from(s->run)) : t;
  status = follow(s, here, to);
  return status == SALTUS_OK && ends ? approach_stick(s, to, next->contact) : status;
}

saltus_status saltusi_sensitivity_run(saltus_sensitivity* s) {
  assert(s != NULL && s->run != NULL);
  const saltus_sensitivity_def* def = &s->def;
  double here = def->t0;
  bool pending = false; /* the mode after the last event is not determined yet */
  const saltus_event* next = NULL;
  saltusi_sensitivity_extremes_see(s, here, s->y, s->y + s->vary.n, NULL);
  saltus_status status = settle_start(s, &here, &next);
  while (status == SALTUS_OK) {
    const double t = next != NULL ? next->t : def->until;
    const bool again = pending && s->switched && next != NULL && t - here <= 4.0 * instant(t);
    int closed;
    status = check_series(s, here, t, next, &closed);
    if (status == SALTUS_OK && s->chatter && t > here) {
      status = check_chatter(s, here, t, next != NULL);
    }
    if (status == SALTUS_OK && t > here && !again && s->series < 0 && !s->chatter) {
      status = pass(s, here, t, next, pending, closed);
      if (status == SALTUS_OK && s->met) {
        s->view.at_section = true;
        s->view.section_dt = s->dt;
        return finish(s, here);
      }
      pending = false;
    }
    if (next == NULL || status != SALTUS_OK) {
      break;
    }
    status = meet(s, next, again);
    pending = true;
    here = again ? here : t;
    if (status == SALTUS_OK) {
      status = saltusi_sensitivity_next(s, def->until, &next);
    }
  }
  return status == SALTUS_OK ? end_run(s, here, pending) : status;
}
