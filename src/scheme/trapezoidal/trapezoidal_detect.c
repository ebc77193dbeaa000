/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_detect.c - transitions to sticking, slip and take-off inside a substep (Potra et al. 2006, section 7.5;
 * docs/theory/trapezoidal.md, 2.7). Contacts stay in the modes in which they entered the substep, and the lengths x are
 * sought at which a variable of these modes changes its sign:
 *
 *   take-off       P_N / x of a closed contact                        a force: half rule
 *   slip           (mu P_N - gauge(P_T)) / x of a sticking contact    a force: half rule
 *   stick          slip speed lam of a sliding contact at the end     a velocity
 *   change of      d_k^T U_T + lam of a direction that does not       a velocity
 *   direction      carry; beta_k / x of one of two that do            a force: half rule
 *
 * Half rule: the impulse of a step of length 2 x, divided by 2 x, is the force in its middle, at x, to O(x^2).
 * Velocities are those at the end of the trial step, also in the mean scheme: sticking then starts with velocity zero,
 * without an alternating remainder.
 */
#include "scheme/trapezoidal/trapezoidal.h"

#include "math/matrix.h"

#include <assert.h>

/* A value counts as negative below this part of the present forces or velocities. */
static const double negative = 1e-9;
/* Signs are checked at this part of the substep. */
static const double first_part = 1e-6;

typedef enum detector_quantity {
  TAKE_OFF,
  SLIP,
  STICK,
  OTHER_DIRECTION,
  THIS_DIRECTION
} detector_quantity;

static bool is_force(int what) {
  return what == TAKE_OFF || what == SLIP || what == THIS_DIRECTION;
}

static bool hold(saltusi_trapezoid* w, double x) {
  return saltusi_trapezoid_prepare(w, x, w->mean) == SALTUS_OK &&
         saltusi_polyhedral_rows_solve_in(&w->law, w->eval, w->held) == SALTUS_OK;
}

/* Tangential velocity of a contact at the end of a trial step of length x. The rows of the end
 * scheme are evaluated already; those of the mean scheme belong to the middle, and a surface may
 * move. */
static void end_slip(saltusi_trapezoid* w, const saltusi_polyhedral_contact* contact, double x,
                     double slip[2]) {
  const saltusi_row_block* rows = saltusi_polyhedral_rows_measured(&w->law);
  int first = contact->row;
  if (w->mean) {
    saltus_point at = saltusi_at(w->eval, w->t + x, w->trial.q, w->trial.v);
    saltusi_rows_contact(&w->eval->sys, &at, contact->key, 1 + contact->tangents, &w->row, 0);
    rows = &w->row;
    first = 0;
  }
  for (int r = 1; r <= contact->tangents; r++) {
    slip[r - 1] = saltusi_row_dot(rows, first + r, w->trial.v) + rows->b[first + r];
  }
}

/* Slip speed against the directions of the friction force. */
static double slip_speed(const saltusi_polyhedral_contact* contact, const saltusi_mode* mode,
                         const double* slip) {
  double speed = -saltusi_polyhedral_along(contact, mode->direction[0], slip);
  if (mode->direction[1] >= 0) {
    speed = fmin(speed, -saltusi_polyhedral_along(contact, mode->direction[1], slip));
  }
  return speed;
}

/* From the solution of a trial step of length x; of forces the mean over it. */
static double read_value(saltusi_trapezoid* w, const saltusi_substep_observation* item, double x) {
  const saltusi_polyhedral_contact* contact = &w->law.contacts[item->place];
  const double* p = w->law.P + contact->row;
  double slip[2] = {0.0, 0.0};
  switch ((detector_quantity)item->what) {
  case TAKE_OFF:
    return p[0] / x;
  case SLIP:
    return (contact->mu * p[0] - saltusi_polyhedral_gauge(contact, p + 1)) / x;
  case THIS_DIRECTION:
    return w->law.z[contact->first + 1 + item->k] / x;
  case STICK:
    end_slip(w, contact, x, slip);
    return slip_speed(contact, &w->held[item->place], slip);
  case OTHER_DIRECTION:
    end_slip(w, contact, x, slip);
    return saltusi_polyhedral_along(contact, item->k, slip) +
           slip_speed(contact, &w->held[item->place], slip);
  }
  return (double)INFINITY;
}

/* The value at length x; NaN when the modes have no solution there. */
static double value_at(saltusi_trapezoid* w, const saltusi_substep_observation* item, double x) {
  double length = is_force(item->what) ? 2.0 * x : x;
  if (!hold(w, length)) {
    return (double)NAN;
  }
  saltusi_trapezoid_finish(w, length, &w->trial);
  return read_value(w, item, length);
}

/* Root between a and b with f(a) > 0 > f(b): regula falsi that shrinks the bracket from both sides. */
static double root(saltusi_trapezoid* w, const saltusi_substep_observation* item, double a,
                   double b, double fa, double fb) {
  double tiny = 1e-15 * w->s->h;
  int side = 0;
  for (int k = 0; k < 100 && b - a > tiny; k++) {
    double x = k % 8 == 7 ? 0.5 * (a + b) : (fa * b - fb * a) / (fa - fb);
    if (!(x > a && x < b)) {
      x = 0.5 * (a + b);
      if (!(x > a && x < b)) {
        break;
      }
    }
    double fx = value_at(w, item, x);
    if (!(fx > 0.0 || fx < 0.0)) { /* a root, or NaN */
      return x;
    }
    if (fx > 0.0) {
      a = x;
      fa = fx;
      fb *= side > 0 ? 0.5 : 1.0;
      side = 1;
    } else {
      b = x;
      fb = fx;
      fa *= side < 0 ? 0.5 : 1.0;
      side = -1;
    }
  }
  return fabs(fa) < fabs(fb) ? a : b;
}

/* The next variable to observe after `item`; false past the last. */
static bool next_observed(const saltusi_trapezoid* w, saltusi_substep_observation* item) {
  for (; item->place < w->law.count; item->place++, item->what = TAKE_OFF, item->k = -1) {
    const saltusi_polyhedral_contact* contact = &w->law.contacts[item->place];
    const saltusi_mode* mode = &w->held[item->place];
    if (mode->kind == SALTUSI_MODE_OPEN) {
      continue;
    }
    if (item->what == TAKE_OFF && item->k < 0) {
      item->k = 0;
      return true;
    }
    if (contact->directions == 0) {
      continue;
    }
    if (item->what == TAKE_OFF) {
      item->what = mode->kind == SALTUSI_MODE_STICK ? SLIP : STICK;
      return true;
    }
    if (item->what == SLIP || contact->tangents == 1) {
      continue;
    }
    item->k = item->what == STICK ? 0 : item->k + 1;
    if (item->k >= contact->directions) {
      continue;
    }
    bool carries = item->k == mode->direction[0] || item->k == mode->direction[1];
    item->what = carries ? THIS_DIRECTION : OTHER_DIRECTION;
    return true;
  }
  return false;
}

/* Modes of the contacts at the start of the substep: those of the end of the last one, or, if
 * unknown, by a tiny step; by a longer one where its forces are rounding beside the velocities. */
static saltus_status entry_modes(saltusi_trapezoid* w) {
  bool known = true;
  for (int i = 0; i < w->law.count; i++) {
    w->held[i] = w->mode[w->law.contacts[i].key];
    known = known && w->held[i].kind != SALTUSI_MODE_UNKNOWN;
  }
  if (known) {
    return SALTUS_OK;
  }
  saltus_status status = SALTUS_RETRY_SMALLER;
  for (double part = 1e-5; part < 0.1 && status == SALTUS_RETRY_SMALLER; part *= 10.0) {
    status = saltusi_trapezoid_prepare(w, part * w->s->h, w->mean);
    if (status == SALTUS_OK) {
      status = saltusi_polyhedral_rows_solve(&w->law, w->eval);
    }
  }
  for (int i = 0; i < w->law.count && status == SALTUS_OK; i++) {
    w->held[i] = w->law.mode[i];
  }
  return status;
}

/* Velocities, or forces, that are negative at the end of the substep: appended to w->observed. */
static int find_negative(saltusi_trapezoid* w, bool forces, double size, int count) {
  double length = forces ? 2.0 * w->left : w->left;
  if (!hold(w, length)) {
    return count;
  }
  saltusi_trapezoid_finish(w, length, &w->trial);
  saltusi_substep_observation item = {.what = TAKE_OFF, .place = 0, .k = -1};
  while (next_observed(w, &item)) {
    if (is_force(item.what) == forces) {
      item.value = read_value(w, &item, length);
      if (item.value < -negative * size) {
        w->observed[count++] = item;
      }
    }
  }
  return count;
}

saltus_status saltusi_trapezoid_transition(saltusi_trapezoid* w, double* length) {
  assert(w != NULL);
  *length = 0.0;
  saltus_status status = entry_modes(w);
  if (status != SALTUS_OK) {
    return status;
  }
  int nv = w->eval->sys.dims.nv;
  double forces = saltusi_max_abs(nv, w->F0);
  double speeds = fmax(saltusi_max_abs(nv, w->v), saltusi_max_abs(nv, w->whole.v));
  int count = find_negative(w, false, speeds, 0);
  count = find_negative(w, true, forces, count);
  double x = w->left;
  double first = INFINITY;
  for (int i = 0; i < count; i++) {
    const saltusi_substep_observation* item = &w->observed[i];
    double start = value_at(w, item, first_part * x);
    if (start > 0.0) {
      first = fmin(first, root(w, item, first_part * x, x, start, item->value));
    }
  }
  if (first < x && hold(w, first)) {
    saltusi_trapezoid_finish(w, first, &w->trial);
    *length = first;
  }
  return SALTUS_OK;
}
