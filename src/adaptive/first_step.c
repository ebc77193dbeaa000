/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * first_step.c - tolerances (section 2) and the start of a run (section 4): laws, touching contacts, the first
 * step.
 */
#include "adaptive/mode/friction_mode.h"
#include "adaptive/positions.h"
#include "adaptive/thresholds.h"
#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void saltusi_adaptive_scale(saltusi_adaptive* w, const double* y0, const double* y1) {
  assert(w != NULL);
  double rtol = w->o.settings.rtol;
  for (int i = 0; i < w->o.nv; i++) {
    double size = fmax(saltusi_position_size(w, y0, i), saltusi_position_size(w, y1, i));
    w->step.scale[i] = saltusi_displacement_tolerance(&w->step.ways, size, i, w->o.atol_q[i], rtol);
    w->step.scale[i] = fmin(w->step.scale[i], w->step.tilt_limit[i]);
  }
  for (int i = w->o.nv; i < w->o.nq; i++) { /* errors of positions have nv entries */
    w->step.scale[i] = INFINITY;
  }
  for (int i = 0; i < w->o.nv; i++) {
    int k = w->o.nq + i;
    w->step.scale[k] = w->o.atol_v[i] + rtol * fmax(fabs(y0[k]), fabs(y1[k]));
    w->step.scale[k] = w->step.slip_part * fmin(w->step.scale[k], w->step.slip_limit[i]);
  }
  memcpy(w->step.scale + w->o.nq + w->o.nv, w->step.scale_l, (size_t)w->o.nl * sizeof(double));
  for (int j = 0; j < w->o.nj + w->o.works; j++) { /* joint forces do not limit the step */
    w->step.scale[w->o.nq + w->o.nv + w->o.nl + j] = INFINITY;
  }
}

/* Errors of redundant impulses, by the velocities M^-1 G l that they cause together. */
static double together_in_tolerances(saltusi_adaptive* w, const double* l, int* worst) {
  saltusi_mode_dynamics* m = &w->mode;
  double largest = 0.0;
  *worst = 0;
  memset(m->x, 0, (size_t)w->o.nv * sizeof(double));
  for (int r = 0; r < w->o.nl; r++) {
    if (l[r] != 0.0) { /* rows of contacts without a force are not evaluated */
      saltusi_row_add(&m->row, w->o.nj + r, l[r], m->x);
      *worst = fabs(l[r]) > fabs(l[*worst]) ? r : *worst;
    }
  }
  saltusi_linear_solve(m->eval, &m->mass, m->x);
  for (int i = 0; i < w->o.nv; i++) {
    largest = saltusi_larger(largest, fabs(m->x[i]) / w->step.scale[w->o.nq + i]);
  }
  return largest;
}

double saltusi_in_tolerances(saltusi_adaptive* w, const double* x, double least) {
  assert(w != NULL && x != NULL);
  const int impulses = w->o.nq + w->o.nv;
  double largest = 0.0;
  for (int i = 0; i < w->o.ny; i++) {
    const double size = fabs(x[i]) / w->step.scale[i];
    w->step.worst = size > largest && size > least ? i : w->step.worst;
    largest = saltusi_larger(largest, size);
  }
  if (w->step.redundant) {
    int worst;
    const double size = together_in_tolerances(w, x + impulses, &worst);
    w->step.worst = size > largest && size > least ? impulses + worst : w->step.worst;
    largest = saltusi_larger(largest, size);
  }
  return largest;
}

void saltusi_adaptive_measure(const saltusi_adaptive* w, const double* y, const double* x,
                              double height, double speed, double* in_q, double* in_v) {
  assert(w != NULL);
  double rtol = w->o.settings.rtol;
  *in_q = 0.0;
  *in_v = 0.0;
  for (int i = 0; i < w->o.nv; i++) {
    double size = saltusi_position_size(w, y, i);
    double scale = saltusi_displacement_tolerance(&w->step.ways, size, i, w->o.atol_q[i], rtol);
    *in_q = fmax(*in_q, fabs(x[i]) * height / scale);
  }
  for (int i = 0; i < w->o.nv; i++) {
    *in_v = fmax(*in_v, fabs(x[i]) * speed / (w->o.atol_v[i] + rtol * fabs(y[w->o.nq + i])));
  }
}

saltus_status saltusi_read_laws(saltusi_adaptive* w, double t, const double* q) {
  assert(w != NULL);
  saltus_status status = w->o.nc > 0 ? saltusi_mode_gaps(&w->mode, t, q) : SALTUS_OK;
  if (w->eval->keys != NULL) {
    saltusi_collect_laws(w);
  } else {
    saltusi_layout_fixed(&w->o, w->sys, w->mode.list.law);
  }
  return status;
}

/* In phases without events the errors of all steps add up. Estimates of order 8 shrink nearly with h^9, errors of
 * the motion with h^8: for errors proportional to the tolerance steps must scale with tol^(10/9). With the factor
 * the error of free rotation, which decays slowest among the motions with analytic solutions, is below ten
 * tolerances; the number of steps grows by 1.1 (1e-4) to 1.3 (1e-10). */
static double smooth_part(double tol) {
  const double from = 1e-4, least = 1e-13;
  return 0.45 * pow(fmin(fmax(tol, least), from) / from, 1.0 / 9.0);
}

void saltusi_read_tolerances(saltusi_adaptive* w) {
  assert(w != NULL);
  const saltusi_adaptive_settings* s = &w->o.settings;
  w->o.atol_q_min = INFINITY;
  w->o.atol_v_min = INFINITY;
  saltusi_displacement_find_own(&w->step.ways, w->sys, w->step.y0);
  for (int i = 0; i < w->o.nv; i++) {
    w->o.atol_q[i] =
        s->atol_q_each != NULL && s->atol_q_each[i] > 0.0 ? s->atol_q_each[i] : s->atol;
    w->o.atol_q_min = fmin(w->o.atol_q_min, w->o.atol_q[i]);
  }
  for (int i = 0; i < w->o.nv; i++) {
    w->o.atol_v[i] =
        s->atol_v_each != NULL && s->atol_v_each[i] > 0.0 ? s->atol_v_each[i] : s->atol_v;
    w->o.atol_v_min = fmin(w->o.atol_v_min, w->o.atol_v[i]);
  }
  w->o.smooth = w->o.nc == 0 && w->eval->keys == NULL && w->sys->dry_count == 0;
  w->o.step_part = w->o.smooth ? smooth_part(saltusi_smallest_tolerance(w)) : 1.0;
  /* the direction of spatial slip below a twentieth of the tolerance is undefined: twenty times less than a
   * permitted error */
  w->o.slip_floor = 0.05 * w->o.atol_v_min;
  /* if all positions are zero, in tolerances: rounding of gaps is then 1e-8 of one, below everything else */
  const double least = 1e6;
  w->o.size =
      fmax(fmax(w->memory->q_max, saltusi_max_abs(w->o.nq, w->step.y0)), least * w->o.atol_q_min);
}

/* Whether a contact slides with friction that decreases with speed, which accelerates slip: errors of velocities
 * grow with it, by the remaining decrease of friction, and shift its ends in time (25 times the error, s for m/s,
 * in the block on a belt of docs/laws.md); a tenth of the tolerance keeps the error of the motion within ten. */
static bool slides_on_curve(const saltusi_adaptive* w) {
  for (int key = 0; key < w->o.nc; key++) {
    const saltus_friction_law* law = w->o.law[key]->friction;
    bool curved =
        law != NULL && (law->curve == SALTUS_CURVE_STRIBECK || law->curve == SALTUS_CURVE_OWN);
    if (curved && w->o.mu[key] > 0.0 && w->contact[key].mode == SALTUSI_SLIP) {
      return true;
    }
  }
  return false;
}

/* Slip of spatial contacts at the start of a step: its direction, and the tolerance that it requires of
 * velocities. The direction rotates the faster the slower the slip, and an error of the size of the slip would
 * lead to another branch of the motion (section 9). */
void saltusi_note_slips(saltusi_adaptive* w) {
  assert(w != NULL);
  w->step.slip_least = INFINITY;
  w->step.slip_part = slides_on_curve(w) ? 0.1 : 1.0;
  for (int i = 0; i < w->o.nv; i++) {
    w->step.slip_limit[i] = INFINITY;
  }
  for (int key = 0; w->o.spatial && key < w->o.nc; key++) {
    int tangents = w->o.tangents[key];
    if (tangents < 2 || w->contact[key].mode != SALTUSI_SLIP || w->o.mu[key] == 0.0) {
      continue;
    }
    double* along = w->step.slip_start + SALTUSI_SLIPS * (size_t)key;
    for (int k = 0; k < tangents; k++) {
      along[k] = saltusi_mode_velocity(&w->mode, w->step.t, w->step.y0, key, 1 + k);
    }
    double size = fmax(saltusi_length(tangents, along), DBL_MIN);
    for (int k = 0; k < tangents; k++) {
      along[k] /= size;
    }
    w->step.slip_least = fmin(w->step.slip_least, size);
    /* a twentieth of the slip, a rotation by 3 degrees, down to a slip of a twenty-fifth of the floor */
    double limit = fmax(0.05 * size, 2e-3 * w->o.slip_floor);
    for (int i = 0; i < w->o.nv; i++) {
      double part = 0.0;
      for (int k = 1; k <= tangents; k++) {
        part = fmax(part, fabs(saltusi_row_entry(&w->mode.look, k, i)));
      }
      w->step.slip_limit[i] =
          part > 0.0 ? fmin(w->step.slip_limit[i], limit / part) : w->step.slip_limit[i];
    }
  }
}

/* Reports the coordinate whose position, velocity or acceleration overflows, in tolerances. */
static saltus_status refuse_rates(const saltusi_adaptive* w) {
  static const char* const what[] = {"velocity", "acceleration"};
  for (int k = 0; k < 2; k++) {
    const double* rate = k == 0 ? saltusi_v_of(&w->o, w->step.y0) : w->step.rate0 + w->o.nq;
    for (int i = 0; i < w->o.nv; i++) {
      const double scale = k == 0 ? w->step.scale[i] : w->step.scale[w->o.nq + i];
      if (!isfinite(rate[i] / scale)) {
        const bool named = w->sys->v_labels != NULL;
        const saltus_point at = {.failure = w->eval->failure};
        saltus_fail(&at,
                    "at t = %.17g s the %s along v%d%s%s is %g: in tolerances it is beyond the "
                    "range of numbers",
                    w->step.t, what[k], i + 1, named ? ", " : "",
                    named ? w->sys->v_labels[i].name : "", rate[i]);
        return SALTUS_ERR_SYSTEM;
      }
    }
  }
  return SALTUS_RETRY_NAN;
}

/* First step (Hairer, Norsett and Wanner 1993, II.4), with the constants of the book. 1e-6 there is in seconds: it
 * is tried only when all velocities or all positions are zero, and a shorter run limits it; a factor of five
 * between it and the right length costs one trial step, and no accuracy. */
static saltus_status first_step(saltusi_adaptive* w, double limit, double* h) {
  double d0 = 0.0;
  double d1 = 0.0;
  double d2 = 0.0;
  saltusi_adaptive_scale(w, w->step.y0, w->step.y0);
  for (int i = 0; i < w->o.nv; i++) { /* the rate of a position along v_i is v_i */
    d0 = fmax(d0, saltusi_position_size(w, w->step.y0, i) / w->step.scale[i]);
    d1 = fmax(d1, fabs(w->step.y0[w->o.nq + i]) / w->step.scale[i]);
  }
  for (int i = w->o.nq; i < w->o.ny; i++) {
    d0 = fmax(d0, fabs(w->step.y0[i]) / w->step.scale[i]);
    d1 = fmax(d1, fabs(w->step.rate0[i]) / w->step.scale[i]);
  }
  if (!isfinite(d0) || !isfinite(d1)) {
    return refuse_rates(w);
  }
  double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  h0 = fmin(h0, limit);
  for (int i = 0; i < w->o.ny; i++) {
    w->step.y_try[i] = w->step.y0[i] + h0 * w->step.rate0[i];
  }
  saltusi_normalise(w->sys, w->step.y_try);
  saltus_status status = saltusi_mode_rate(&w->mode, w->step.t + h0, w->step.y_try, w->step.rate1);
  for (int i = 0; i < w->o.nv; i++) {
    double change = fabs(w->step.y_try[w->o.nq + i] - w->step.y0[w->o.nq + i]);
    d2 = fmax(d2, change / w->step.scale[i] / h0);
  }
  for (int i = w->o.nq; i < w->o.ny; i++) {
    d2 = fmax(d2, fabs(w->step.rate1[i] - w->step.rate0[i]) / w->step.scale[i] / h0);
  }
  double d = fmax(d1, d2);
  double h1 = d <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / d, 1.0 / w->step.ops->order);
  *h = fmin(100.0 * h0, fmin(h1, limit));
  return status;
}

/* Largest displacement of a coordinate from the given start. */
static double displacement(const saltusi_adaptive* w) {
  double moved = 0.0;
  for (int i = 0; i < w->o.nq; i++) {
    moved = fmax(moved, fabs(w->step.y0[i] - w->step.y_keep[i]));
  }
  return moved;
}

/* Displacement of the start by joints alone and by joints and contacts. Below a few tolerances it is not reported;
 * penetrations that saltus_start_project leaves are a note. */
static void report_start(const saltusi_adaptive* w, double by_joints, double depth) {
  const double shallow = 1e-6; /* m, as in start_projection.c */
  const double least = 10.0 * w->o.atol_q_min;
  const double moved = displacement(w);
  if (moved > least) {
    const bool expected = by_joints <= least && depth <= shallow;
    saltusi_log(w->log, expected ? SALTUS_LEVEL_NOTE : SALTUS_LEVEL_WARNING,
                "start: joints and contacts were violated (contacts by up to %.3g m); positions "
                "moved by up to %.3g",
                depth, moved);
  }
}

/* Closes joints and determines the status of touching contacts. */
saltus_status saltusi_adaptive_start(saltusi_adaptive* w, double limit) {
  assert(w != NULL);
  saltusi_adaptive_memory* m = w->memory;
  const double proposed = m->h; /* before a change of the inputs; 0: the first step of a run */
  memset(w->contact, 0, (size_t)w->o.nc * sizeof *w->contact);
  *m = (saltusi_adaptive_memory){.zeno = -1.0,
                                 .h = proposed,
                                 .changed = m->changed,
                                 .brief = m->brief,
                                 .cap = INFINITY,
                                 .jacobian_age = -1.0,
                                 .stall_since = -INFINITY,
                                 .switch_clear = w->step.t,
                                 .switch_before = INFINITY,
                                 .switch_after = INFINITY};
  m->method = w->o.settings.method == SALTUSI_ADAPTIVE_CHOOSES ? saltusi_explicit_method(w)
                                                               : w->o.settings.method;
  w->step.ops = saltusi_adaptive_ops_of(m->method);
  memcpy(w->step.y_keep, w->step.y0, (size_t)w->o.ny * sizeof(double));
  saltusi_normalise(w->sys, w->step.y0);
  saltus_status status = saltusi_mode_project(&w->mode, w->step.t, w->step.y0);
  const double by_joints = displacement(w);
  double depth = 0.0;
  saltusi_leave_kinks(&w->search, w->step.y0);
  if (status == SALTUS_OK && w->o.featured) {
    status = saltusi_feature_list(&w->search, w->step.t, w->step.y0);
  }
  if (status == SALTUS_OK && w->o.nc > 0) {
    status = saltusi_mode_gaps(&w->mode, w->step.t, w->step.y0);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  for (int key = 0; key < w->o.nc; key++) {
    w->contact[key].bonded = true; /* if it touches: others are reset below */
  }
  double size = w->o.size;
  double near = fmax(saltusi_gap_rounding * size, saltusi_near_part * w->o.atol_q_min);
  int count = 0;
  for (int key = 0; key < w->o.nc; key++) {
    depth = fmax(depth, -w->mode.gap[key]);
    if (w->mode.gap[key] <= near || saltusi_is_dry(&w->o, key)) {
      w->decision.set[count++] = key;
    }
  }
  status = saltusi_mode_project_positions(&w->mode, w->step.t, w->step.y0, w->decision.set, count);
  m->v_max = saltusi_max_abs(w->o.nv, saltusi_v_of(&w->o, w->step.y0));
  if (status == SALTUS_OK && count > 0) {
    status = saltusi_adaptive_settle(w, w->step.t, w->step.y0, count, true);
  }
  saltusi_loosen(w);
  if (status == SALTUS_OK) {
    status = saltusi_start_rate(w);
  }
  report_start(w, by_joints, depth);
  m->rate_valid = 1.0;
  m->started = 1.0;
  if (proposed > 0.0) {
    return status;
  }
  if (status == SALTUS_OK) {
    status = saltusi_mode_impulse_scale(&w->mode, w->step.t, w->step.y0, w->step.scale_l);
  }
  saltusi_note_slips(w);
  saltusi_note_tilts(w);
  if (status == SALTUS_OK && !(w->o.settings.h_first > 0.0)) {
    return first_step(w, limit, &m->h);
  }
  m->h = w->o.settings.h_first;
  return status;
}

saltus_status saltusi_load_start(saltusi_adaptive* w, double* memory, double limit, const double* q,
                                 const double* v, double* proposed) {
  assert(w != NULL && proposed != NULL);
  saltusi_adaptive_open(w, memory);
  memcpy(w->step.y0, q, (size_t)w->o.nq * sizeof(double));
  memcpy(w->step.y0 + w->o.nq, v, (size_t)w->o.nv * sizeof(double));
  memset(w->step.y0 + w->o.nq + w->o.nv, 0, (size_t)(w->o.ny - w->o.nq - w->o.nv) * sizeof(double));
  saltusi_report_begin(w);
  saltus_status status = saltusi_read_laws(w, w->step.t, w->step.y0);
  saltusi_read_tolerances(w);
  if (status == SALTUS_OK && w->memory->started == 0.0) {
    status = saltusi_adaptive_start(w, limit);
    *proposed = saltusi_begin_brief_step(w);
  }
  w->step.ops = saltusi_adaptive_ops_of(w->memory->method);
  w->memory->method_used = w->memory->method;
  return status;
}
