/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_error.c - errors of a step beside those of the embedded method.
 */
#include "scheme/event/event_capturing.h"

#include <assert.h>

void saltusi_capture_halved_error(saltusi_capture* w, const saltusi_step* s, double x,
                                  const double* q, const double* v) {
  assert(w != NULL && s != NULL && x > 0.0 && q != NULL && v != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  double *q_half = w->sampled, *q_two = q_half + d->nq;
  double *v_half = w->halved, *v_two = v_half + d->nv;
  saltusi_rk_start start = {
      .t = w->t, .q = w->q, .v = w->v, .held = saltusi_capture_active(w, w->keys, w->count)};
  saltus_status status = saltusi_rk_step(w->flow, s->eval, &start, 0.5 * x, q_half, v_half);
  if (status == SALTUS_OK) {
    start = (saltusi_rk_start){.t = w->t + 0.5 * x, .q = q_half, .v = v_half, .held = start.held};
    status = saltusi_rk_step(w->flow, s->eval, &start, 0.5 * x, q_two, v_two);
  }
  for (int i = 0; i < d->nq; i++) {
    s->q_error[i] += status == SALTUS_OK ? q[i] - q_two[i] : INFINITY;
  }
  for (int i = 0; status == SALTUS_OK && i < d->nv; i++) {
    s->v_error[i] += v[i] - v_two[i];
  }
}

void saltusi_capture_bracket_error(saltusi_capture* w, const saltusi_step* s, double d) {
  assert(w != NULL && s != NULL && d >= 0.0);
  const saltus_dims* dims = &s->eval->sys.dims;
  if (w->rk.method->embedded_order == 0) {
    return;
  }
  for (int i = 0; i < dims->nv; i++) {
    w->a[i] = w->v_try[i] - w->v[i];
  }
  saltusi_rate(&s->eval->sys, w->q_try, w->a, w->sampled);
  for (int i = 0; i < dims->nq; i++) {
    s->q_error[i] += copysign(0.5 * d * w->sampled[i], s->q_error[i]);
  }
}
