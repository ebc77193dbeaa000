/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_dense_output.c - the motion inside a step: the quadratic of each substep, which the search for collisions
 * uses as well,
 *
 *   v(s) = v0 + s (v1 - v0),     q(s) = q advanced by s x along (v0 + v(s))/2,     0 <= s <= 1.
 *
 * Data: the number of segments, then for each t, x, q, v0, v1. Beyond the capacity the last segment covers the rest of
 * the step.
 */
#include "scheme/trapezoidal/trapezoidal.h"

#include <assert.h>
#include <string.h>

enum { PIECES_MAX = 64, HEAD = 2 };

static size_t piece_size(const saltus_dims* d) {
  return HEAD + (size_t)d->nq + 2 * (size_t)d->nv;
}

size_t saltusi_trapezoid_dense_count(const saltus_dims* d) {
  assert(d != NULL);
  return 1 + (PIECES_MAX + 1) * piece_size(d);
}

void saltusi_trapezoid_dense_clear(double* data) {
  assert(data != NULL);
  data[0] = 0.0;
}

void saltusi_trapezoid_dense_add(const saltusi_trapezoid* w, double x, const double* v1) {
  assert(w != NULL);
  const saltus_dims* d = &w->eval->sys.dims;
  double* data = w->s->dense;
  size_t count = (size_t)data[0];
  bool last = x == 0.0; /* the end of the step has a separate slot */
  if (count >= PIECES_MAX && !last) {
    double* piece = data + 1 + (count - 1) * piece_size(d);
    piece[1] += x;
    memcpy(piece + HEAD + d->nq + d->nv, v1, (size_t)d->nv * sizeof(double));
    return;
  }
  double* piece = data + 1 + count * piece_size(d);
  piece[0] = w->t;
  piece[1] = x;
  memcpy(piece + HEAD, w->q, (size_t)d->nq * sizeof(double));
  memcpy(piece + HEAD + d->nq, w->v, (size_t)d->nv * sizeof(double));
  memcpy(piece + HEAD + d->nq + d->nv, v1, (size_t)d->nv * sizeof(double));
  data[0] += 1.0;
}

saltus_status saltusi_trapezoid_dense(const saltusi_dense_query* query, double* velocity) {
  assert(query != NULL);
  const saltus_system* sys = &query->eval->sys;
  const saltus_dims* d = &sys->dims;
  const double* piece = query->data + 1;
  for (size_t i = 1; i < (size_t)query->data[0]; i++) {
    const double* next = query->data + 1 + i * piece_size(d);
    if (query->side == SALTUS_RIGHT ? query->t >= next[0] : query->t > next[0]) {
      piece = next;
    }
  }
  double x = piece[1];
  double s = x > 0.0 ? fmin(fmax((query->t - piece[0]) / x, 0.0), 1.0) : 0.0;
  const double* v0 = piece + HEAD + d->nq;
  const double* v1 = v0 + d->nv;
  for (int i = 0; i < d->nv; i++) {
    velocity[i] = v0[i] + 0.5 * s * (v1[i] - v0[i]);
  }
  saltusi_advance(sys, piece + HEAD, velocity, s * x, query->q);
  for (int i = 0; i < d->nv; i++) {
    query->v[i] = v0[i] + s * (v1[i] - v0[i]);
  }
  return SALTUS_OK;
}
