/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_error.c - degrees of steps and a posteriori errors of the time-discontinuous Galerkin families (Schindler and Acary
 * 2011, sections 3.1 and 5; docs/theory/time-dg.md, 2.5).
 *
 *   modes       a(tau) = sum_m A_m T_m(2 tau - 1), m = 0 .. M: the nodes are the extrema of T_M, so
 *                 A_m = 2 / (M c_m) sum_k a_k cos(pi m (M - k) / M) / c_k,    c_0 = c_M = 2, others 1
 *   velocity    e_v = h A_M / (M + 1),   position  e_q = h e_v:   of order h^(M+1), h^(M+2)
 *   impacts     the impulse may have acted anywhere in the step:  e_q = h |M^-1 G p|
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void saltusi_dg_set_degree(saltusi_dg* w, int degree) {
  assert(w != NULL && degree >= 1 && degree < w->nodes_most);
  w->table = *saltusi_dg_table_of(w, degree);
  w->nodes = degree + 1;
  saltusi_dg_pairs(w);
}

const saltusi_dg_tableau* saltusi_dg_table_of(const saltusi_dg* w, int degree) {
  assert(w != NULL && degree >= 1 && degree < w->nodes_most);
  return w->tables + (degree - w->tables[0].degree);
}

/* A_m of one acceleration. */
static double mode_of(const saltusi_dg* w, int nv, int i, int m) {
  const int M = w->nodes - 1;
  double sum = 0.0;
  for (int k = 0; k <= M; k++) {
    const double half = k == 0 || k == M ? 0.5 : 1.0;
    sum += half * w->a[(size_t)k * (size_t)nv + (size_t)i] * cos(pi * m * (M - k) / M);
  }
  return sum * (m == 0 || m == M ? 1.0 : 2.0) / M;
}

double saltusi_dg_mode(const saltusi_dg* w, const saltusi_step* s, int degree) {
  assert(w != NULL && s != NULL && degree >= 1 && degree < w->nodes);
  const int nv = s->eval->sys.dims.nv;
  double largest = 0.0;
  for (int i = 0; i < nv; i++) {
    largest = fmax(largest, s->h * fabs(mode_of(w, nv, i, degree)) / (degree + 1));
  }
  return largest;
}

int saltusi_dg_enough(const saltusi_dg* w, const saltusi_step* s, int most, double tol) {
  assert(w != NULL && s != NULL && most >= 1);
  int degree = most;
  while (degree > 1 && saltusi_dg_mode(w, s, degree) <= tol &&
         saltusi_dg_mode(w, s, degree - 1) <= tol) {
    degree--;
  }
  return degree;
}

/* Adds the displacement over h by a velocity change x to the error of positions. */
static void add_displacement(saltusi_dg* w, const saltusi_step* s, const double* x) {
  const saltus_system* sys = &s->eval->sys;
  if (saltusi_has_maps(sys)) {
    saltusi_rate(sys, s->q1, x, w->rate_next);
    saltusi_add_scaled(sys->dims.nq, s->h, w->rate_next, s->q_error);
  } else {
    saltusi_add_scaled(sys->dims.nq, s->h, x, s->q_error);
  }
}

void saltusi_dg_estimate(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  if (s->q_error == NULL || s->v_error == NULL) {
    return;
  }
  memset(s->q_error, 0, (size_t)d->nq * sizeof(double));
  if (w->nodes_most == 1) { /* the error of a constant velocity is its change */
    saltusi_mean(d->nv, -1.0, s->v0, 1.0, s->v1, s->v_error);
    for (int i = 0; i < d->nq; i++) {
      s->q_error[i] = s->h * saltusi_max_abs(d->nv, s->v_error);
    }
    memset(s->v_error, 0, (size_t)d->nv * sizeof(double));
    return;
  }
  for (int i = 0; i < d->nv; i++) {
    s->v_error[i] = s->h * mode_of(w, d->nv, i, w->nodes - 1) / w->nodes;
  }
  s->report->error_order = w->nodes - 1;
  add_displacement(w, s, s->v_error);
  if (w->impulsive) {
    add_displacement(w, s, w->jump);
    memset(s->v_error, 0, (size_t)d->nv * sizeof(double));
    s->report->error_order = SALTUSI_ERROR_ORDER_ZERO;
  }
}
