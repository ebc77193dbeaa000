/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_close.c - which contacts stay closed after an event, and how they are kept closed
 * (docs/theory/event-capturing.md, 2.3).
 *
 *   closing      gamma < 0 and U <= |gamma| max(d_h, d) / 2:   v <- v - M^-1 G (G^T M^-1 G)^-1 U
 *   pressing     0 <= G^T a + c  perp  lambda >= 0 on those; A = {lambda > 0}
 *   projection   q <- q - M^-1 G (G^T M^-1 G)^-1 g to rounding, then v as above
 */
#include "math/matrix.h"
#include "scheme/event/event_capturing.h"
#include "scheme/impact_step.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Limit of iterations: two suffice in most cases, methods of order 1 need more. */
enum { POSITION_ITERATIONS = 6 };

saltus_contact_step* saltusi_capture_reported(saltusi_capture* w, int key) {
  assert(w != NULL && key >= 0);
  if (!w->reported[key]) {
    w->reported[key] = true;
    w->whole[key] = (saltus_contact_step){.key = key, .law = w->laws[key]};
  }
  return &w->whole[key];
}

/* Rows of joints, normals, and all tangents of sticking contacts. */
static void take_rows(saltusi_capture* w, const saltus_system* sys, const saltus_point* at,
                      const int* keys, int count) {
  saltusi_operator_begin(&w->op, sys->dims.nj);
  saltusi_rows_joints(sys, at, &w->op.rows);
  for (int i = 0; i < count; i++) {
    const saltusi_friction_mode* grip = &w->grips.of[keys[i]];
    int rows = grip->slips ? 1 : 1 + grip->tangents;
    saltusi_operator_look(&w->op, sys, at, keys[i], rows);
    saltusi_operator_take(&w->op, rows, 0.0);
  }
}

/* Rows of joints and of contacts at (t, q, v) and their operator. */
static saltus_status write_rows(saltusi_capture* w, const saltusi_step* s, const int* keys,
                                int count) {
  const saltus_system* sys = &s->eval->sys;
  saltus_point at = saltusi_at(s->eval, w->t, w->q, w->v);
  saltus_status status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  if (w->grips.of != NULL) {
    take_rows(w, sys, &at, keys, count);
  } else {
    saltusi_operator_hold(&w->op, sys, &at, keys, count);
  }
  saltusi_operator_form_active(&w->op, s->eval, &w->mass);
  return SALTUS_OK;
}

/* Velocities below this part of the largest are excluded from the check of the contact law: rounding of positions. */
static const double no_velocity = 1e-9;

/* U = 0 on the joints and on contacts, whose rows have been written. The last argument is true for contacts that stay
 * closed, whose impulses correct the forces of the step. */
static saltus_status stop(saltusi_capture* w, const saltusi_step* s, const int* keys, int count,
                          bool lasting) {
  const saltus_dims* d = &s->eval->sys.dims;
  bool moves = false;
  const double speed = saltusi_max_abs(d->nv, w->v);
  for (int r = 0; r < w->op.count; r++) {
    w->op.rhs[r] = saltusi_row_dot(&w->op.rows, r, w->v) + w->op.rows.b[r];
    moves = moves || w->op.rhs[r] != 0.0;
  }
  if (!moves) {
    return SALTUS_OK;
  }
  lasting = lasting && saltusi_max_abs(w->op.count, w->op.rhs) > no_velocity * speed;
  saltus_status status = saltusi_operator_solve(&w->op, s->eval);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(&w->op, s->eval, w->v);
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] += w->op.P[j];
    s->report->joint_work += w->op.P[j] * w->op.rows.b[j];
    s->joint_impacts[j] += w->op.P[j];
  }
  for (int i = 0; i < count; i++) {
    saltus_contact_step* contact = saltusi_capture_reported(w, keys[i]);
    double P[3] = {0.0};
    for (int r = w->op.first[i]; r < w->op.first[i + 1]; r++) {
      P[r - w->op.first[i]] = w->op.P[r];
      contact->impulse[r - w->op.first[i]] += w->op.P[r];
      contact->surface_work += w->op.P[r] * w->op.rows.b[r];
      double* work = r == w->op.first[i] ? &contact->normal_work : &contact->slip_work;
      *work += 0.5 * w->op.P[r] * w->op.rhs[r]; /* from U to zero */
    }
    if (lasting) {
      saltusi_lasting_add(&w->lasting[keys[i]], P);
    }
  }
  return SALTUS_OK;
}

/* Gaps of the joints and of the contacts of A as right-hand sides; the largest one. */
static saltus_status gaps_of_closed(saltusi_capture* w, const saltusi_step* s, double* largest) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_point at = saltusi_at(s->eval, w->t, w->q, w->v);
  if (nj > 0) {
    sys->ops->joints(sys->self, &at, w->joint_gap);
  }
  saltus_status status = w->count > 0 ? saltusi_contacts(sys, &at, &w->list) : SALTUS_OK;
  for (int j = 0; j < nj; j++) {
    w->op.rhs[j] = w->joint_gap[j];
  }
  for (int i = 0; i < w->count && status == SALTUS_OK; i++) {
    int row = w->op.first[i];
    for (int r = row; r < w->op.first[i + 1]; r++) { /* tangents have no position */
      w->op.rhs[r] = 0.0;
    }
    for (int k = 0; k < w->list.count; k++) {
      if (w->list.key[k] == w->keys[i]) {
        w->op.rhs[row] = w->list.gap[k];
      }
    }
  }
  *largest = saltusi_max_abs(w->op.count, w->op.rhs);
  return status;
}

saltus_status saltusi_capture_project(saltusi_capture* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  int rows = d->nj + w->count;
  saltus_status status = SALTUS_OK;
  if (rows == 0) {
    return status;
  }
  double rounding = DBL_EPSILON * fmax(1.0, saltusi_max_abs(d->nq, w->q));
  memcpy(w->q_before, w->q, (size_t)d->nq * sizeof(double));
  for (int k = 0; status == SALTUS_OK; k++) {
    double largest = 0.0;
    status = write_rows(w, s, w->keys, w->count);
    if (status == SALTUS_OK) {
      status = gaps_of_closed(w, s, &largest);
    }
    if (status != SALTUS_OK || largest <= rounding || k == POSITION_ITERATIONS) {
      break;
    }
    status = saltusi_operator_solve(&w->op, s->eval);
    if (status == SALTUS_OK) {
      memset(w->a, 0, (size_t)d->nv * sizeof(double));
      saltusi_operator_apply(&w->op, s->eval, w->a);
      saltusi_advance(&s->eval->sys, w->q, w->a, 1.0, w->q_try);
      memcpy(w->q, w->q_try, (size_t)d->nq * sizeof(double));
    }
  }
  saltusi_difference(&s->eval->sys, w->q_before, w->q, w->a);
  s->report->projection = fmax(s->report->projection, saltusi_max_abs(d->nv, w->a));
  return status == SALTUS_OK ? stop(w, s, w->keys, w->count, true) : status;
}

/* Closed contacts that took part, without one, into `others`. */
static int hold_others(saltusi_capture* w, int nc, int without) {
  int count = 0;
  for (int key = 0; key < nc; key++) {
    if (key != without && w->closed[key] && w->took_part[key]) {
      w->others[count++] = key;
    }
  }
  return count;
}

/* With explicit Euler the speed after a flight exceeds that before it by gamma h. With restitution e, rebounds would
 * tend to the fixed point u = e (u - gamma h); up to that velocity the contact rests. */
static double fed_rebound(const saltusi_capture* w, const saltusi_step* s, int key, double gamma) {
  const saltusi_tableau* m = w->rk.method;
  double e = (s->jump != NULL ? s->jump->own : s->eval->sys.laws)[w->laws[key]].e_N;
  bool feeds = m->order == 1 && !m->implicit && !w->stops && e < 1.0;
  return feeds ? 1.05 * e / (1.0 - e) * -gamma * s->h : 0.0;
}

/* Candidates for A into `keys`; returns their number. */
static saltus_status find_candidates(saltusi_capture* w, const saltusi_step* s, double length,
                                     bool touch) {
  int nc = s->eval->sys.dims.nc;
  w->count = 0;
  for (int key = 0; key < nc; key++) {
    if (!w->took_part[key]) {
      continue;
    }
    double gamma = 0.0;
    saltus_status status = saltusi_capture_gamma(w, s->eval, key, hold_others(w, nc, key), &gamma);
    if (status != SALTUS_OK) {
      return status;
    }
    double u = w->here.u[key];
    /* the 1e-9 decides flights of exactly the width independently of rounding */
    double slowest = 0.5 * -gamma * fmax(w->width, length) * (1.0 + 1e-9);
    slowest = fmax(slowest, fed_rebound(w, s, key, gamma));
    const double slow = touch ? saltusi_capture_slow(w) : w->velocity_rounding;
    bool still = touch && u <= slow;
    bool short_flight = gamma < 0.0 && u <= slowest + w->velocity_rounding;
    if (w->stops && gamma < 0.0 && u > slow && (touch || short_flight)) {
      return saltusi_capture_stop(w, s, key); /* a flight too short to be resolved */
    }
    /* the Moreau step does not include bonds: its forces do not open one */
    double pulled = fmax(gamma, 0.0) * length * (1.0 + 1e-9) + w->velocity_rounding;
    bool held = w->closed[key] && w->grips.of != NULL && w->grips.of[key].bonded && u <= pulled;
    if (still || short_flight || held || (touch && gamma < 0.0)) {
      w->keys[w->count++] = key;
    }
  }
  return SALTUS_OK;
}

/* An impact may open a closed contact. */
static void report_thrown(const saltusi_capture* w, int nc) {
  for (int key = 0; key < nc; key++) {
    if (w->was_closed[key] && !w->closed[key]) {
      saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_OPEN,
                                                        .key = key,
                                                        .u_after = w->here.u[key]});
    }
  }
}

/* Sticking or slip that ended; slip that reverses. */
static void report_grip(const saltusi_capture* w, int key) {
  if (w->grips.of == NULL) {
    return;
  }
  const saltusi_friction_mode* grip = &w->grips.of[key];
  bool turned =
      grip->tangents == 1 && grip->direction[0] * w->marks[SALTUSI_GRIP_MARKS * key + 3] < 0.0;
  if (grip->slips == w->was_slipping[key] && !(grip->slips && turned)) {
    return;
  }
  saltusi_capture_note note = {.kind = grip->slips == w->was_slipping[key] ? SALTUSI_NOTE_REVERSAL
                                       : grip->slips                       ? SALTUSI_NOTE_SLIP
                                                                           : SALTUSI_NOTE_STICK,
                               .key = key};
  memcpy(note.slip_before, w->here.slip + 2 * key, sizeof note.slip_before);
  saltusi_capture_report(w, &note);
}

/* Friction modes from the velocities. */
static void assume_grips(saltusi_capture* w, const saltusi_eval* eval) {
  for (int key = 0; w->grips.of != NULL && key < eval->sys.dims.nc; key++) {
    if (!w->took_part[key]) {
      continue;
    }
    saltusi_friction_mode* grip = &w->grips.of[key];
    const double* slip = w->here.slip + 2 * key;
    w->was_slipping[key] = w->closed[key] && grip->slips;
    const bool bonded =
        w->closed[key] ? grip->bonded : w->fresh && w->start.gap[key] <= w->gap_rounding;
    saltusi_friction_mode_begin(grip, eval, w->laws[key]);
    grip->bonded = grip->adhesion > 0.0 && (bonded || grip->rebinds);
    if (hypot(slip[0], slip[1]) > w->grips.slow) {
      saltusi_friction_mode_slip(grip, slip, saltusi_friction_mode_true_speed(grip, slip));
    } else {
      saltusi_friction_mode_stick(grip);
    }
  }
}

/* Whether candidate i has neither force nor acceleration because other contacts bear the load: it stays closed with
 * them. The rounding threshold follows from their forces. */
static bool is_carried(const saltusi_capture* w, int i) {
  const saltusi_operator* op = &w->pressing.op;
  const int row = op->first[i];
  const double size = saltusi_max_abs(op->count - op->joints, op->rhs + op->joints);
  const double gamma = saltusi_row_dot(&op->rows, row, w->a) + op->rows.c[row];
  return fabs(gamma) <= 256.0 * DBL_EPSILON * size;
}

/* The contacts in `keys`, with velocities set to zero, that bear load: the new A. */
static saltus_status choose_pressing(saltusi_capture* w, const saltusi_step* s, int pushed) {
  const saltus_dims* d = &s->eval->sys.dims;
  saltus_point at = saltusi_at(s->eval, w->t, w->q, w->v);
  w->decision.pushed = pushed;
  saltus_status status =
      w->grips.of != NULL
          ? saltusi_friction_mode_decide(&w->decision, &w->grips, s->eval, &at, w->keys, w->count,
                                         w->a)
          : saltusi_acceleration_find(&w->pressing, s->eval, &at, w->keys, w->count, w->a);
  int candidates = w->count;
  w->count = 0;
  for (int i = 0; status == SALTUS_OK && i < candidates; i++) {
    bool presses = w->grips.of != NULL ? w->decision.presses[i]
                                       : w->pressing.op.P[d->nj + i] > 0.0 || is_carried(w, i);
    if (presses) {
      int key = w->keys[i];
      w->closed[key] = true;
      w->keys[w->count++] = key;
      w->series[key].impacts = 0.0;
    }
  }
  return status;
}

saltus_status saltusi_capture_close(saltusi_capture* w, const saltusi_step* s, double length,
                                    bool touch) {
  assert(w != NULL && s != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  saltus_status status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->here);
  assume_grips(w, s->eval);
  if (status == SALTUS_OK) {
    status = find_candidates(w, s, length, touch);
  }
  memcpy(w->was_closed, w->closed, (size_t)d->nc * sizeof(bool));
  memset(w->closed, 0, (size_t)d->nc * sizeof(bool));
  if (status == SALTUS_OK && w->count == 0) {
    report_thrown(w, d->nc);
  }
  if (status != SALTUS_OK || w->count == 0) {
    return status;
  }
  status = write_rows(w, s, w->keys, w->count);
  if (status == SALTUS_OK) {
    status = stop(w, s, w->keys, w->count, false);
  }
  if (status == SALTUS_OK) {
    status = choose_pressing(w, s, -1);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < w->count; i++) {
    int key = w->keys[i];
    if (!w->was_closed[key]) {
      saltusi_capture_report(w, &(saltusi_capture_note){.kind = SALTUSI_NOTE_CLOSE,
                                                        .key = key,
                                                        .u_before = w->here.u[key]});
    } else {
      report_grip(w, key);
    }
  }
  report_thrown(w, d->nc);
  return SALTUS_OK;
}

saltus_status saltusi_capture_decide_friction(saltusi_capture* w, const saltusi_step* s,
                                              const saltusi_event* event) {
  assert(w != NULL && s != NULL && event != NULL && w->grips.of != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  saltus_status status = saltusi_capture_look(w, s->eval, w->t, w->q, w->v, &w->here);
  if (status != SALTUS_OK) {
    return status;
  }
  /* contacts whose slip has changed its sign stick, as do supports of the same body */
  for (int i = 0; i < w->count; i++) {
    int key = w->keys[i];
    saltusi_friction_mode* grip = &w->grips.of[key];
    w->was_slipping[key] = grip->slips;
    bool ends = event->kind == SALTUSI_EVENT_STOP && (event->key == key || w->ends[key]);
    bool turned = grip->tangents == 1 && grip->direction[0] * w->here.slip[2 * key] <= 0.0;
    if (!grip->slips || ends || turned) {
      saltusi_friction_mode_stick(grip);
    }
  }
  memcpy(w->was_closed, w->closed, (size_t)d->nc * sizeof(bool));
  memset(w->closed, 0, (size_t)d->nc * sizeof(bool));
  status = write_rows(w, s, w->keys, w->count);
  if (status == SALTUS_OK) {
    status = stop(w, s, w->keys, w->count, true);
  }
  if (status == SALTUS_OK) {
    status = choose_pressing(w, s, event->kind == SALTUSI_EVENT_SLIDE ? event->key : -1);
  }
  for (int i = 0; status == SALTUS_OK && i < w->count; i++) {
    report_grip(w, w->keys[i]);
  }
  if (status == SALTUS_OK) {
    report_thrown(w, d->nc);
  }
  return status;
}
