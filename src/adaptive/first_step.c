/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * first_step.c - tolerances (section 2) and the start of a run (section 4): laws, contacts that touch, the first
 * step.
 */
#include "adaptive/adaptive.h"
#include "base/log.h"
#include "math/matrix.h"

#include <float.h>
#include <string.h>

void saltusi_adaptive_scale(saltusi_adaptive* w, const double* y0, const double* y1) {
  double rtol = w->settings.rtol;
  for (int i = 0; i < w->nq; i++) {
    w->scale[i] = w->atol_q[i] + rtol * fmax(fabs(y0[i]), fabs(y1[i]));
  }
  for (int i = 0; i < w->nv; i++) {
    int k = w->nq + i;
    w->scale[k] = w->atol_v[i] + rtol * fmax(fabs(y0[k]), fabs(y1[k]));
    w->scale[k] = fmin(w->scale[k], w->slip_limit[i]);
  }
  memcpy(w->scale + w->nq + w->nv, w->scale_l, (size_t)w->nl * sizeof(double));
  for (int j = 0; j < w->nj; j++) { /* joint forces do not limit the step */
    w->scale[w->nq + w->nv + w->nl + j] = INFINITY;
  }
}

void saltusi_adaptive_measure(const saltusi_adaptive* w, const double* y, const double* x,
                              double height, double speed, double* in_q, double* in_v) {
  double rtol = w->settings.rtol;
  *in_q = 0.0;
  *in_v = 0.0;
  bool map = w->sys->ops->rate != NULL;
  if (map) { /* the displacement of positions along x */
    w->sys->ops->rate(w->sys->self, y, x, w->q_spare);
  }
  for (int i = 0; i < w->nq; i++) {
    double part = map ? w->q_spare[i] : x[i];
    *in_q = fmax(*in_q, fabs(part) * height / (w->atol_q[i] + rtol * fabs(y[i])));
  }
  for (int i = 0; i < w->nv; i++) {
    *in_v = fmax(*in_v, fabs(x[i]) * speed / (w->atol_v[i] + rtol * fabs(y[w->nq + i])));
  }
}

saltus_status saltusi_read_laws(saltusi_adaptive* w, double t, const double* q) {
  saltus_status status = w->nc > 0 ? saltusi_mode_gaps(w, t, q) : SALTUS_OK;
  bool fixed = w->sys->law_count == w->nc;
  int stride = w->nc > 0 ? w->nl / w->nc : 1;
  int next = 0;
  w->spatial = false;
  for (int key = 0; key < w->nc; key++) {
    int law = fixed ? key : 0;
    for (int i = 0; !fixed && i < w->list.count; i++) {
      law = w->list.key[i] == key ? w->list.law[i] : law;
    }
    w->law[key] = &w->sys->laws[law];
    w->tangents[key] = w->law[key]->tangents;
    w->mu[key] = w->tangents[key] > 0 ? w->law[key]->mu : 0.0;
    w->base[key] = next;
    next += fixed ? 1 + w->tangents[key] : stride;
    w->spatial = w->spatial || (w->tangents[key] == 2 && w->mu[key] > 0.0);
  }
  return status;
}

void saltusi_read_tolerances(saltusi_adaptive* w) {
  const saltusi_adaptive_settings* s = &w->settings;
  w->atol_q_min = INFINITY;
  w->atol_v_min = INFINITY;
  for (int i = 0; i < w->nq; i++) {
    w->atol_q[i] = s->atol_q_each != NULL && s->atol_q_each[i] > 0.0 ? s->atol_q_each[i] : s->atol;
    w->atol_q_min = fmin(w->atol_q_min, w->atol_q[i]);
  }
  for (int i = 0; i < w->nv; i++) {
    w->atol_v[i] =
        s->atol_v_each != NULL && s->atol_v_each[i] > 0.0 ? s->atol_v_each[i] : s->atol_v;
    w->atol_v_min = fmin(w->atol_v_min, w->atol_v[i]);
  }
  w->slip_floor = 0.05 * w->atol_v_min;
}

/* Slip of spatial contacts at the start of a step: its direction, and what it asks of velocities. The
 * direction turns the faster the slower the slip, and an error of the size of the slip would take it into
 * another branch of the motion (section 9). */
void saltusi_note_slips(saltusi_adaptive* w) {
  w->slip_least = INFINITY;
  for (int i = 0; i < w->nv; i++) {
    w->slip_limit[i] = INFINITY;
  }
  for (int key = 0; w->spatial && key < w->nc; key++) {
    if (w->tangents[key] != 2 || saltusi_mode_of(w, key) != SALTUSI_SLIP || w->mu[key] == 0.0) {
      continue;
    }
    double u1 = saltusi_mode_velocity(w, w->t, w->y0, key, 1);
    double u2 = saltusi_mode_velocity(w, w->t, w->y0, key, 2);
    double size = fmax(hypot(u1, u2), DBL_MIN);
    int row = w->nj + w->base[key] + 1;
    w->slip_start[2 * key] = u1 / size;
    w->slip_start[2 * key + 1] = u2 / size;
    w->slip_least = fmin(w->slip_least, size);
    double limit = fmax(0.05 * size, 2e-3 * w->slip_floor);
    for (int i = 0; i < w->nv; i++) {
      double part = fmax(fabs(saltusi_row_entry(&w->row, row, i)),
                         fabs(saltusi_row_entry(&w->row, row + 1, i)));
      w->slip_limit[i] = part > 0.0 ? fmin(w->slip_limit[i], limit / part) : w->slip_limit[i];
    }
  }
}

/* First step (Hairer, Norsett and Wanner 1993, II.4). */
static saltus_status first_step(saltusi_adaptive* w, double limit, double* h) {
  double d0 = 0.0;
  double d1 = 0.0;
  double d2 = 0.0;
  saltusi_adaptive_scale(w, w->y0, w->y0);
  for (int i = 0; i < w->ny; i++) {
    d0 = fmax(d0, fabs(w->y0[i]) / w->scale[i]);
    d1 = fmax(d1, fabs(w->rate0[i]) / w->scale[i]);
  }
  double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  h0 = fmin(h0, limit);
  for (int i = 0; i < w->ny; i++) {
    w->y_try[i] = w->y0[i] + h0 * w->rate0[i];
  }
  saltus_status status = saltusi_mode_rate(w, w->t + h0, w->y_try, w->rate1);
  for (int i = 0; i < w->ny; i++) {
    d2 = fmax(d2, fabs(w->rate1[i] - w->rate0[i]) / w->scale[i] / h0);
  }
  double d = fmax(d1, d2);
  double h1 = d <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / d, 1.0 / w->ops->order);
  *h = fmin(100.0 * h0, fmin(h1, limit));
  return status;
}

static void report_start(const saltusi_adaptive* w, double moved) {
  if (moved > 10.0 * w->atol_q_min) {
    saltusi_log(w->log, SALTUS_LEVEL_WARNING,
                "start: joints and closed contacts did not fit; positions moved by up to %g",
                moved);
  }
}

/* Joints closed, contacts that touch settled. */
saltus_status saltusi_adaptive_start(saltusi_adaptive* w, double limit) {
  saltusi_adaptive_memory* m = w->memory;
  memset(w->contact, 0, (size_t)w->nc * sizeof *w->contact);
  *m = (saltusi_adaptive_memory){.zeno = -1.0,
                                 .cap = INFINITY,
                                 .jacobian_age = -1.0,
                                 .stall_since = -INFINITY,
                                 .switch_clear = w->t,
                                 .switch_before = INFINITY,
                                 .switch_after = INFINITY};
  m->method = w->settings.method == SALTUSI_ADAPTIVE_CHOOSES ? saltusi_explicit_method(w)
                                                             : w->settings.method;
  w->ops = saltusi_adaptive_ops_of(m->method);
  memcpy(w->y_keep, w->y0, (size_t)w->ny * sizeof(double));
  saltus_status status = saltusi_mode_project(w, w->t, w->y0);
  saltusi_leave_kinks(w, w->y0);
  if (status == SALTUS_OK && w->nc > 0) {
    status = saltusi_mode_gaps(w, w->t, w->y0);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  double size = fmax(1.0, saltusi_max_abs(w->nq, w->y0));
  double near = fmax(64.0 * DBL_EPSILON * size, 1e-3 * w->atol_q_min);
  int count = 0;
  for (int key = 0; key < w->nc; key++) {
    if (w->gap[key] <= near) {
      w->set[count++] = key;
    }
  }
  status = saltusi_mode_project_positions(w, w->t, w->y0, count);
  m->v_max = saltusi_max_abs(w->nv, saltusi_v_of(w, w->y0));
  if (status == SALTUS_OK && count > 0) {
    status = saltusi_adaptive_settle(w, w->t, w->y0, count, true);
  }
  if (status == SALTUS_OK) {
    status = saltusi_mode_rate(w, w->t, w->y0, w->rate0);
  }
  if (status == SALTUS_OK) {
    status = saltusi_mode_impulse_scale(w, w->t, w->y0);
  }
  double moved = 0.0;
  for (int i = 0; i < w->nq; i++) {
    moved = fmax(moved, fabs(w->y0[i] - w->y_keep[i]));
  }
  report_start(w, moved);
  m->rate_valid = 1.0;
  m->started = 1.0;
  saltusi_note_slips(w);
  if (status == SALTUS_OK && !(w->settings.h_first > 0.0)) {
    return first_step(w, limit, &m->h);
  }
  m->h = w->settings.h_first;
  return status;
}
