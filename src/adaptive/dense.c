/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense.c - the motion inside a step as plain doubles: the polynomials of the method, over a jump also the
 * analytic bounces (section 5b), and the state after whatever ended the step.
 */
#include "math/dense.h"
#include "adaptive/adaptive.h"

#include <string.h>

typedef struct head {
  double method;
  double t, h;   /* s, start, and length that the polynomials are made for */
  double length; /* s, of the step */
  double jump_u, jump_tau, jump_e;
} head;

enum { HEAD = sizeof(head) / sizeof(double), PARTS = 8 };

size_t saltusi_adaptive_dense_count(const saltus_system* sys) {
  size_t n = (size_t)sys->dims.nq + (size_t)sys->dims.nv;
  return HEAD + (1 + PARTS + 1) * n + (size_t)sys->dims.nv + (size_t)sys->dims.nq;
}

void saltusi_adaptive_dense_write(const saltusi_adaptive* w, double* data) {
  size_t n = (size_t)w->nq + (size_t)w->nv;
  *(head*)(void*)data = (head){.method = w->memory->method_used,
                               .t = w->t,
                               .h = w->step_h,
                               .length = w->step_length,
                               .jump_u = w->jump_u,
                               .jump_tau = w->jump_tau,
                               .jump_e = w->jump_e};
  data += HEAD;
  memcpy(data, w->y0, n * sizeof(double));
  data += n;
  for (size_t p = 0; p < PARTS; p++) {
    memcpy(data + p * n, w->Q + p * (size_t)w->ny, n * sizeof(double));
  }
  data += PARTS * n;
  memcpy(data, w->y_end, n * sizeof(double));
  memcpy(data + n, w->x_start, (size_t)w->nv * sizeof(double));
}

/* Height and speed of the analytic bounces `left` before their accumulation. */
static void bounce_at(const head* d, double left, double* height, double* speed) {
  *height = 0.0;
  *speed = 0.0;
  double e = d->jump_e;
  double tau = d->jump_tau;
  if (!(left > 0.0)) {
    return;
  }
  double k = left < tau ? fmax(0.0, floor(log(left / tau) / log(e))) : 0.0;
  if (left > tau * pow(e, k)) {
    k -= 1.0;
  } else if (left <= tau * pow(e, k + 1.0)) {
    k += 1.0;
  }
  double begin = tau * pow(e, k); /* what is left when bounce k starts */
  double past = begin - left;
  double flight = begin * (1.0 - e);
  double u = d->jump_u * pow(e, k);
  *height = u * past * (1.0 - past / flight);
  *speed = u * (1.0 - 2.0 * past / flight);
}

static void take(int n, const double* from, double* to) {
  if (to != NULL) {
    memcpy(to, from, (size_t)n * sizeof(double));
  }
}

void saltusi_adaptive_dense_read(const saltus_system* sys, double* data, double t, bool right,
                                 double* q, double* v) {
  const head* d = (const head*)(const void*)data;
  int nq = sys->dims.nq;
  int nv = sys->dims.nv;
  size_t n = (size_t)nq + (size_t)nv;
  const double* y0 = data + HEAD;
  const double* Q = y0 + n;
  const double* end = Q + PARTS * n;
  const double* x = end + n;
  double* rate = data + HEAD + (1 + PARTS + 1) * n + (size_t)nv;
  double past = fmin(fmax(t - d->t, 0.0), d->length);
  if (right && past >= d->length) {
    take(nq, end, q);
    take(nv, end + nq, v);
    return;
  }
  const saltusi_adaptive_ops* ops = saltusi_adaptive_ops_of(d->method);
  const saltusi_motion motion = {.y0 = y0, .Q = Q, .n = (int)n, .h = d->h};
  double theta = d->h > 0.0 ? past / d->h : 0.0;
  double height = 0.0;
  double speed = 0.0;
  if (d->jump_tau > 0.0) {
    bounce_at(d, d->jump_tau - past, &height, &speed);
  }
  if (q != NULL) {
    ops->dense(&motion, theta, 0, nq, q);
    if (height != 0.0 && sys->ops->rate != NULL) {
      sys->ops->rate(sys->self, q, x, rate);
      saltusi_add_scaled(nq, height, rate, q);
    } else if (height != 0.0) {
      saltusi_add_scaled(nq, height, x, q);
    }
  }
  if (v != NULL) {
    ops->dense(&motion, theta, nq, nv, v);
    saltusi_add_scaled(nv, speed, x, v);
  }
}
