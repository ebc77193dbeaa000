/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rim_contact.c - a circle settles flat on a plane (docs/theory/contact-geometry.md, 4). Its lowest point is not
 * determined there, and the gap of the lowest point has a kink: an impact, or rest.
 *
 * The velocity of a disc along the normal is affine over it. While it settles in a plane, as it does unless it rolls
 * past the flat attitude, that is between the point that was lowest and the point opposite, so the impact law of the
 * whole disc is that of these two. Afterwards
 *
 *   the opposite point rises faster    it tilts back, and the lowest point remains the same
 *   the lowest point rises faster      it passes the flat attitude, and the opposite point becomes the lowest
 *   neither, or so slowly that the tilt stays within the flat tolerance: the rest of its bounces is one impact without
 *   restitution, and the fixed points of the circle bear the load
 */
#include "adaptive/adaptive.h"
#include "adaptive/positions.h"
#include "adaptive/thresholds.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Sine at which a tilt leaves the flat tolerance: a tenth of it (shape/curved/curved.h). */
static const double leaves_flat = 1e-9;
static const double counts_as_flat = 1e-8;
/* Fraction of the size within which the points of such a circle are. */
static const double flat_reach = 1e-7;
/* Sine by which a tilt that reverses has decreased: rounding of tilts is a thousandth of it. */
static const double turns_back = 1e-13;
/* Velocities below this fraction of the impact velocity of the opposite end are zero: above rounding over the
 * sine. */
static const double stays_part = 1e-6;
/* Times at which a tilt is sampled, from the resolution of time to a second: each a quarter longer, so that a
 * reversal is detected. */
enum { LOOKS = 156 };
static const double later = 1.25;

/* Error of positions as a fraction of the tilt of a circle: the direction of its lowest point has the same error. */
static const double tilt_part = 0.05;
/* Sine above which neither tolerances nor differences of Jacobians are as large. */
static const double tilted = 1e-3;
/* Tilt, in tolerances of positions, below which a wobbling circle counts as flat. */
static const double wobble_part = 10.0;

/* ---- nearly flat circles --------------------------------------------------------------------- */

/* Sine of the tilt after a displacement along velocity i; zero where the lowest point is not determined. */
static double sine_after(saltusi_adaptive* w, double t, const double* q, int key, int i, double s) {
  memset(w->step.apart, 0, (size_t)w->o.nv * sizeof(double));
  w->step.apart[i] = 1.0;
  saltusi_advance(w->sys, q, w->step.apart, s, w->step.beside);
  const double beyond = saltusi_tilt_of(&w->mode, t, w->step.beside, key);
  return beyond < INFINITY ? beyond + counts_as_flat : 0.0;
}

/* Tolerances of the positions that rotate the circle, by its tilt. */
static void limit_positions(saltusi_adaptive* w, int key) {
  const double sine = sine_after(w, w->step.t, w->step.y0, key, 0, 0.0);
  for (int i = 0; i < w->o.nv; i++) {
    const double ahead = sine_after(w, w->step.t, w->step.y0, key, i, sine);
    const double back = sine_after(w, w->step.t, w->step.y0, key, i, -sine);
    const double turned = fmax(fabs(ahead - sine), fabs(back - sine));
    if (turned > 0.1 * sine) { /* 0.4 of it where the rotation is perpendicular to the tilt */
      w->step.tilt_limit[i] = fmin(w->step.tilt_limit[i], tilt_part * fmax(sine, counts_as_flat));
    }
  }
}

void saltusi_note_tilts(saltusi_adaptive* w) {
  assert(w != NULL);
  const double none = wobble_part * w->o.atol_q_min;
  for (int i = 0; i < w->o.nv; i++) {
    w->step.tilt_limit[i] = INFINITY;
  }
  for (int key = 0; w->o.featured && key < w->o.contacts; key++) {
    saltusi_contact* c = &w->contact[key];
    const double beyond =
        saltusi_is_pressed(c) ? saltusi_tilt_of(&w->mode, w->step.t, w->step.y0, key) : INFINITY;
    const double sine = fmax(beyond, 0.0) + counts_as_flat, last = fabs(c->tilt);
    c->wobbles = c->tilt > 0.0 && sine < last && sine <= none;
    c->tilt = sine > none ? 0.0 : last == 0.0 || sine < last ? -sine : sine > last ? sine : c->tilt;
    if (sine < tilted) {
      limit_positions(w, key);
    }
  }
}

static double velocity_of(const saltusi_mode_dynamics* m, const double* y, int key) {
  int row = m->o->nj + m->o->base[key];
  return saltusi_row_dot(&m->row, row, saltusi_v_of(m->o, y)) + m->row.b[row];
}

static bool same_bodies(const saltusi_mode_dynamics* m, double t, const double* q, int a, int b) {
  const saltus_point at = saltusi_at(m->eval, t, q, NULL);
  const uint64_t* identity = m->eval->keys->table.identity;
  saltus_contact_place x, y;
  return m->sys->ops->place(m->sys->self, &at, identity[a], &x) == SALTUS_OK &&
         m->sys->ops->place(m->sys->self, &at, identity[b], &y) == SALTUS_OK &&
         x.bodies[0] == y.bodies[0] && x.bodies[1] == y.bodies[1];
}

/* The other end of the circle; -1: none. */
static int opposite_of(saltusi_adaptive* w, double t, const double* q, int low) {
  for (int key = 0; key < w->o.contacts; key++) {
    if (key != low && w->o.listed[key] && !saltusi_touches(&w->contact[key]) &&
        saltusi_rim_has_settled(&w->mode, t, q, key) && same_bodies(&w->mode, t, q, low, key)) {
      return key;
    }
  }
  return -1;
}

/* Positions after s of a motion that starts with v and accelerates by a. */
static const double* after(saltusi_adaptive* w, const double* y, const double* a, double s) {
  for (int i = 0; i < w->o.nv; i++) {
    w->step.apart[i] = y[w->o.nq + i] + 0.5 * s * a[i];
  }
  saltusi_advance(w->sys, y, w->step.apart, s, w->step.beside);
  return w->step.beside;
}

/* Time at which the tilt leaves the flat tolerance, s; 0: never. rises: from the flat attitude; a tilt that
 * reverses before does not leave it. */
static double time_to_leave(saltusi_adaptive* w, double t, const double* y, const double* a,
                            int key, bool rises) {
  double last = 0.0;
  double tilt = -INFINITY;
  double next = 4.0 * DBL_EPSILON * saltusi_time_size(t);
  bool left = false;
  for (int k = 0; k < LOOKS && !left; k++) {
    double now = saltusi_least_guard(&w->mode, t, after(w, y, a, next), key);
    left = now > leaves_flat;
    if (!left && rises && now < tilt - turns_back) {
      return 0.0;
    }
    tilt = now;
    last = left ? last : next;
    next = left ? next : later * next;
  }
  while (left && next - last > 1e-3 * next) {
    double middle = 0.5 * (last + next);
    bool beyond = saltusi_least_guard(&w->mode, t, after(w, y, a, middle), key) > leaves_flat;
    *(beyond ? &next : &last) = middle;
  }
  return left ? next : 0.0;
}

/* Time of the smallest tilt, s: by golden sections, up to where it leaves the flat tolerance on the other side. */
static double time_to_flat(saltusi_adaptive* w, double t, const double* y, const double* a,
                           int key) {
  enum { SECTIONS = 60 };
  const double golden = 0.618033988749894848;
  double from = 0.0;
  double to = time_to_leave(w, t, y, a, key, false);
  double x[2] = {to - golden * (to - from), from + golden * (to - from)};
  double f[2];
  for (int i = 0; i < 2; i++) {
    f[i] = saltusi_least_guard(&w->mode, t, after(w, y, a, x[i]), key);
  }
  for (int k = 0; k < SECTIONS && to > from; k++) {
    int kept = f[0] < f[1] ? 0 : 1;
    *(kept == 0 ? &to : &from) = x[1 - kept];
    x[1 - kept] = x[kept];
    f[1 - kept] = f[kept];
    x[kept] = kept == 0 ? to - golden * (to - from) : from + golden * (to - from);
    f[kept] = saltusi_least_guard(&w->mode, t, after(w, y, a, x[kept]), key);
  }
  return from;
}

/* Closed contacts of the event except these two. */
static int others(saltusi_adaptive* w, int low, int high) {
  int count = 0;
  for (int key = 0; key < w->o.nc; key++) {
    if (saltusi_is_closed(&w->contact[key]) && key != low && key != high &&
        !saltusi_is_friction_mode(&w->o, key)) {
      w->decision.set[count++] = key;
    }
  }
  return count;
}

static void leave(saltusi_adaptive* w, int key) {
  saltusi_forget_contact(&w->o, w->contact, key);
}

void saltusi_leave_rims(saltusi_adaptive* w, double t, const double* y) {
  assert(w != NULL && y != NULL);
  for (int key = 0; key < w->o.contacts; key++) {
    if (w->o.listed[key] && !saltusi_touches(&w->contact[key]) &&
        saltusi_rim_has_settled(&w->mode, t, y, key)) {
      w->o.listed[key] = false;
    }
  }
}

int saltusi_closed_rim(saltusi_adaptive* w, double t, const double* y) {
  assert(w != NULL && y != NULL);
  for (int key = 0; key < w->o.contacts; key++) {
    if (saltusi_is_closed(&w->contact[key]) && saltusi_rim_has_settled(&w->mode, t, y, key)) {
      return key;
    }
  }
  return -1;
}

/* It is flat: its fixed points, within `reach`, bear the load. */
static saltus_status rest(saltusi_adaptive* w, double t, double* y, int low, int high,
                          double reach) {
  saltus_status status = saltusi_feature_list_within(&w->search, t, y, reach);
  saltusi_leave_rims(w, t, y);
  int count = others(w, low, high);
  for (int key = 0; key < w->o.contacts && status == SALTUS_OK; key++) {
    if (w->o.listed[key] && key != low && key != high && !saltusi_touches(&w->contact[key]) &&
        same_bodies(&w->mode, t, y, low, key)) {
      w->decision.set[count++] = key;
    }
  }
  leave(w, low);
  leave(w, high);
  if (status == SALTUS_OK) {
    status = saltusi_mode_project_positions(&w->mode, t, y, w->decision.set, count);
  }
  return status == SALTUS_OK ? saltusi_settle(w, t, y, count, true) : status;
}

/* The two ends of the circle and the other closed contacts. */
static int ends(saltusi_adaptive* w, int low, int high) {
  int count = others(w, low, high);
  w->decision.set[count++] = low;
  w->decision.set[count++] = high;
  return count;
}

/* y' after the impact, while one end is the lowest and does not leave: rows are those just before the flat
 * attitude. */
static saltus_status rate_after(saltusi_adaptive* w, double t, const double* y, int low, int high) {
  double u[2] = {velocity_of(&w->mode, y, low), velocity_of(&w->mode, y, high)};
  bool back = u[0] <= u[1];
  double came = fabs(w->decision.u_before[w->o.base[high]]);
  bool stays = (back ? u[0] : u[1]) <= stays_part * came;
  const saltusi_contact kept[2] = {w->contact[low], w->contact[high]};
  saltusi_contact closed = kept[0];
  closed.mode = saltusi_is_closed(&closed) ? closed.mode : SALTUSI_SLIP;
  w->contact[low] = back && stays ? closed : (saltusi_contact){.mode = SALTUSI_OPEN};
  w->contact[high] = !back && stays ? closed : (saltusi_contact){.mode = SALTUSI_OPEN};
  saltus_status status = saltusi_mode_rate(&w->mode, t, y, w->transition.rate);
  w->contact[low] = kept[0];
  w->contact[high] = kept[1];
  return status;
}

/* Whether the tilt leaves the flat attitude after the impact, and when; restores the state. */
static saltus_status try_to_leave(saltusi_adaptive* w, double t, const double* before,
                                  const double* flat, int low, int high, double* passed) {
  double* y = w->step.y_keep;
  bool turns = false;
  saltusi_verdict verdict;
  memcpy(y, before, (size_t)w->o.ny * sizeof(double));
  saltusi_mode_rows(&w->mode, t, y, true);
  saltus_status status = saltusi_decide_impact(&w->decision, t, y, ends(w, low, high), &verdict);
  if (status == SALTUS_OK) {
    saltusi_mode_rows(&w->mode, t, y, true);
    double turn = fabs(velocity_of(&w->mode, y, high) - velocity_of(&w->mode, y, low));
    turns = turn > stays_part * fabs(w->decision.u_before[w->o.base[high]]);
    status = turns ? rate_after(w, t, y, low, high) : SALTUS_OK;
  }
  if (status == SALTUS_OK && turns) {
    memcpy(y, flat, (size_t)w->o.nq * sizeof(double));
    *passed = time_to_leave(w, t, y, w->transition.rate + w->o.nq, low, true);
  }
  return status;
}

/* Continues from the flat attitude for `passed`: `low` is the lowest point there, the previous one or the opposite
 * one. */
static saltus_status leave_flat(saltusi_adaptive* w, double t, double* y, const double* flat,
                                int low, int high, double passed) {
  saltusi_mode_rows(&w->mode, t, y, true);
  bool back = velocity_of(&w->mode, y, low) <= velocity_of(&w->mode, y, high);
  saltus_status status = rate_after(w, t, y, low, high);
  memcpy(y, flat, (size_t)w->o.nq * sizeof(double));
  saltusi_shift_along(w, y, w->transition.rate, passed);
  leave(w, high);
  if (!back) {
    leave(w, low);
  }
  int count = others(w, low, low);
  w->decision.set[count++] = low;
  return status == SALTUS_OK ? saltusi_settle(w, t, y, count, false) : status;
}

saltus_status saltusi_lie_down(saltusi_adaptive* w, double t, double* y, int low, double room,
                               double* passed) {
  assert(w != NULL && y != NULL && low >= 0 && passed != NULL);
  double* flat = w->search.probe;
  *passed = 0.0;
  saltus_status status = saltusi_feature_list_within(&w->search, t, y, flat_reach * w->o.size);
  int high = status == SALTUS_OK ? opposite_of(w, t, y, low) : -1;
  if (status == SALTUS_OK && high >= 0) {
    status = saltusi_mode_rate(&w->mode, t, y, w->transition.rate);
  }
  if (status != SALTUS_OK || high < 0) {
    return status != SALTUS_OK ? status : rest(w, t, y, low, low, flat_reach * w->o.size);
  }
  double to_flat = time_to_flat(w, t, y, w->transition.rate + w->o.nq, low);
  double after_flat = 0.0;
  memcpy(flat, y, (size_t)w->o.ny * sizeof(double));
  saltusi_shift_along(w, flat, w->transition.rate, to_flat);
  memcpy(y + w->o.nq, flat + w->o.nq, (size_t)w->o.nv * sizeof(double));
  status = try_to_leave(w, t, y, flat, low, high, &after_flat);
  bool leaves = after_flat > 0.0 && to_flat + after_flat <= room;
  w->decision.e_part = leaves ? 1.0 : 0.0;
  status = status == SALTUS_OK ? saltusi_impact_all(w, t, y, ends(w, low, high)) : status;
  if (status == SALTUS_OK && leaves) {
    *passed = to_flat + after_flat;
    status = leave_flat(w, t, y, flat, low, high, after_flat);
  } else if (status == SALTUS_OK) {
    *passed = to_flat;
    memcpy(y, flat, (size_t)w->o.nq * sizeof(double));
    status = rest(w, t + to_flat, y, low, high, flat_reach * w->o.size);
  }
  w->decision.e_part = 1.0;
  return status;
}

saltus_status saltusi_hit_by_rim(saltusi_adaptive* w, double t, double* y, int key) {
  assert(w != NULL && y != NULL && key >= 0);
  return rest(w, t, y, key, key, flat_reach * w->o.size);
}

/* Rotates the positions until the circle is flat, along the gradient of its tilt. */
static void turn_flat(saltusi_adaptive* w, double t, double* y, int key) {
  enum { TURNS = 20 };
  double* down = w->transition.x;
  for (int k = 0; k < TURNS; k++) {
    const double sine = saltusi_tilt_of(&w->mode, t, y, key) + counts_as_flat;
    if (!(sine > 0.25 * counts_as_flat) || !(sine < INFINITY)) {
      return;
    }
    double steep = 0.0;
    for (int i = 0; i < w->o.nv; i++) { /* d sine^2 / 2 */
      const double ahead = sine_after(w, t, y, key, i, sine);
      const double back = sine_after(w, t, y, key, i, -sine);
      down[i] = -(ahead * ahead - back * back) / (4.0 * sine);
      steep += down[i] * down[i];
    }
    if (!(steep > 0.0)) {
      return;
    }
    const double far = sine / sqrt(steep); /* sine^2 is a parabola along it */
    saltusi_advance(w->sys, y, down, far, w->step.beside);
    const double beyond = saltusi_tilt_of(&w->mode, t, w->step.beside, key);
    const double there = beyond < INFINITY ? beyond + counts_as_flat : 0.0;
    const double bend = (there * there - sine * sine + 2.0 * steep * far) / (far * far);
    saltusi_advance(w->sys, y, down, bend > 0.0 ? steep / bend : far, w->step.beside);
    memcpy(y, w->step.beside, (size_t)w->o.nq * sizeof(double));
  }
}

saltus_status saltusi_end_wobble(saltusi_adaptive* w, double t, double* y, int key) {
  assert(w != NULL && y != NULL && key >= 0);
  const double reach = 2.0 * wobble_part * w->o.atol_q_min * fmax(w->o.size, 1.0);
  turn_flat(w, t, y, key);
  w->decision.e_part = 0.0;
  saltus_status status = rest(w, t, y, key, key, fmax(reach, flat_reach * w->o.size));
  w->decision.e_part = 1.0;
  return status;
}
