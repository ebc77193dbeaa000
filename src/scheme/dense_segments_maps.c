/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense_segments_maps.c - a smooth segment of a motion with maps q' = N(q) v.
 *
 * The polynomial of degree 5 of dense_segments.h interpolates the displacement d(s) from q0; the position is q0
 * advanced along d for 1 s. At its start d' = v0 and d'' = a0. At its end, d' and d'' are the derivatives at x = 0 of
 * the displacement from q0 to q1 advanced along v1 + x a1 / 2 for x, by differences of fourth order. The velocity is
 * computed by differences of fourth order of positions around s.
 */
#include "math/matrix.h"
#include "scheme/dense_segments.h"

#include <assert.h>
#include <string.h>

size_t saltusi_dense_segments_workspace(const saltus_system* sys) {
  assert(sys != NULL);
  return saltusi_has_maps(sys) ? 7 * (size_t)sys->dims.nv + 2 * (size_t)sys->dims.nq : 0;
}

typedef struct dense_segments_maps_curve {
  const saltus_system* sys;
  const saltusi_dense_segment* piece;
  double x; /* s, of the differences */
  double *A, *B, *C;
  double *d, *first, *second, *rate; /* [nv] */
  double *q, *q_other;               /* [nq] */
} dense_segments_maps_curve;

/* f += weight times the displacement from q0 to q1 advanced for x. */
static void add_way(dense_segments_maps_curve* c, double x, double weight, double* f) {
  int nv = c->sys->dims.nv;
  for (int k = 0; k < nv; k++) {
    c->rate[k] = c->piece->v1[k] + 0.5 * x * c->piece->a1[k];
  }
  saltusi_advance(c->sys, c->piece->q1, c->rate, x, c->q);
  saltusi_difference(c->sys, c->piece->q0, c->q, c->d);
  saltusi_add_scaled(nv, weight, c->d, f);
}

/* A, B, C of the polynomial. */
static void make(dense_segments_maps_curve* c) {
  const saltusi_dense_segment* p = c->piece;
  int nv = c->sys->dims.nv;
  double h = p->h;
  double x = c->x;
  memset(c->first, 0, (size_t)nv * sizeof(double));
  memset(c->second, 0, (size_t)nv * sizeof(double));
  static const double once[5] = {1, -8, 0, 8, -1};
  static const double twice[5] = {-1, 16, -30, 16, -1};
  for (int i = 0; i < 5; i++) {
    add_way(c, (i - 2) * x, once[i] / (12.0 * x), c->first);
    add_way(c, (i - 2) * x, twice[i] / (12.0 * x * x), c->second);
  }
  saltusi_difference(c->sys, p->q0, p->q1, c->d);
  for (int k = 0; k < nv; k++) {
    c->A[k] = c->d[k] - h * (p->v0[k] + 0.5 * h * p->a0[k]);
    c->B[k] = h * (c->first[k] - p->v0[k] - h * p->a0[k]);
    c->C[k] = h * h * (c->second[k] - p->a0[k]);
  }
}

static void position(dense_segments_maps_curve* c, double s, double* q) {
  const saltusi_dense_segment* p = c->piece;
  double s2 = s * s;
  double s3 = s2 * s;
  for (int k = 0; k < c->sys->dims.nv; k++) {
    c->d[k] = p->h * s * (p->v0[k] + 0.5 * p->h * s * p->a0[k]) +
              s3 * (10.0 - 15.0 * s + 6.0 * s2) * c->A[k] +
              s3 * (-4.0 + 7.0 * s - 3.0 * s2) * c->B[k] +
              0.5 * s3 * (1.0 - 2.0 * s + s2) * c->C[k];
  }
  saltusi_advance(c->sys, p->q0, c->d, 1.0, q);
}

/* v += weight times the mean velocity between s - x / h and s + x / h. */
static void add_velocity(dense_segments_maps_curve* c, double s, double x, double weight,
                         double* v) {
  position(c, s - x / c->piece->h, c->q);
  position(c, s + x / c->piece->h, c->q_other);
  saltusi_difference(c->sys, c->q, c->q_other, c->rate);
  saltusi_add_scaled(c->sys->dims.nv, weight / (2.0 * x), c->rate, v);
}

void saltusi_dense_segment_turned(const saltus_system* sys, const saltusi_dense_segment* piece,
                                  double s, double* room, double* q, double* v) {
  assert(sys != NULL && piece != NULL && piece->h > 0.0 && room != NULL);
  assert(q != NULL && v != NULL);
  const double part =
      3e-3; /* rad in a step of the differences: relative truncation error 1e-10, rounding 1e-11 */
  size_t nv = (size_t)sys->dims.nv;
  double speed = fmax(saltusi_max_abs((int)nv, piece->v0), saltusi_max_abs((int)nv, piece->v1));
  double x = speed > 0.0 ? fmin(0.125 * piece->h, part / speed) : 0.125 * piece->h;
  dense_segments_maps_curve c = {.sys = sys,
                                 .piece = piece,
                                 .x = x,
                                 .A = room,
                                 .B = room + nv,
                                 .C = room + 2 * nv,
                                 .d = room + 3 * nv,
                                 .first = room + 4 * nv,
                                 .second = room + 5 * nv,
                                 .rate = room + 6 * nv,
                                 .q = room + 7 * nv,
                                 .q_other = room + 7 * nv + sys->dims.nq};
  make(&c);
  memset(v, 0, nv * sizeof(double));
  add_velocity(&c, s, x, 4.0 / 3.0, v);
  add_velocity(&c, s, 2.0 * x, -1.0 / 3.0, v);
  position(&c, s, q);
}
