/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * path_spatial.c - the impact of one contact in space along its normal impulse (docs/theory/laws.md, 2.4).
 *
 *   dU/dp = W (1, -mu U_T / |U_T|)
 *
 * with polar slip U_T = r d, d = (cos f, sin f), and the variable s, dp = r ds, in which a stop is exponential decay
 * of r instead of a singularity:
 *
 *   (ln r)' = d . x,   f' = d_perp . x,   U_N' = r (a - mu W_NT . d),   p' = r,   x = W_TN - mu W_TT d
 *
 * From rest it sticks where |W_TT^-1 W_TN| <= mu, else it slips along d with (mu W_TT + beta) d = W_TN, |d| = 1, for
 * the one root beta > 0. Both are linear in p.
 */
#include "law/law.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Slip below this fraction of the initial velocities counts as stopped; the error is of that size. */
static const double stopped = 1e-13;
enum { LOG_R, ANGLE, NORMAL, IMPULSE, FRICTION, WORK = FRICTION + 2, COUNT };

typedef struct spatial {
  const double* W;
  double mu, e;
  saltus_impact_law law;
  double before; /* U_N- */
  double size;   /* m/s, largest initial velocity */
  double U[3], P[3];
  double work, turned, turned_P;
  bool compressed;
} spatial;

/* Distance to the end of the present stage, in m/s, N s or J. */
static double left(const spatial* p, double U_N, double P_N, double work) {
  if (!p->compressed) {
    return -U_N;
  }
  switch (p->law) {
  case SALTUS_IMPACT_PATH_NEWTON:
    return -p->e * p->before - U_N;
  case SALTUS_IMPACT_PATH_POISSON:
    return (1.0 + p->e) * p->turned_P - P_N;
  default:
    return p->turned * (1.0 - p->e * p->e) - work;
  }
}

static void rate(void* self, const double* y, double* f) {
  const spatial* p = self;
  const double* W = p->W;
  double r = exp(y[LOG_R]);
  double d[2] = {cos(y[ANGLE]), sin(y[ANGLE])};
  double x[2] = {W[3] - p->mu * (W[4] * d[0] + W[5] * d[1]),
                 W[6] - p->mu * (W[7] * d[0] + W[8] * d[1])};
  f[LOG_R] = d[0] * x[0] + d[1] * x[1];
  f[ANGLE] = d[0] * x[1] - d[1] * x[0];
  f[NORMAL] = r * (W[0] - p->mu * (W[1] * d[0] + W[2] * d[1]));
  f[IMPULSE] = r;
  f[FRICTION] = -p->mu * r * d[0];
  f[FRICTION + 1] = -p->mu * r * d[1];
  f[WORK] = r * y[NORMAL];
}

static void guard(void* self, const double* y, double* g) {
  const spatial* p = self;
  g[0] = left(p, y[NORMAL], y[IMPULSE], y[WORK]);
  g[1] = y[LOG_R] - log(stopped * p->size);
}

/* Normal impulse to the end of the stage with constant rate U' = g. */
static double to_the_end(const spatial* p, double slope) {
  double rest = left(p, p->U[0], p->P[0], p->work);
  if (!p->compressed || p->law == SALTUS_IMPACT_PATH_NEWTON) {
    return rest / slope;
  }
  if (p->law == SALTUS_IMPACT_PATH_POISSON) {
    return rest;
  }
  double root = p->U[0] * p->U[0] + 2.0 * slope * rest;
  return rest > 0.0 ? 2.0 * rest / (p->U[0] + sqrt(fmax(root, 0.0))) : 0.0;
}

/* Eigenvalues and first eigenvector of the tangent block. */
static void split(const double* W, double value[2], double axis[2]) {
  double mean = 0.5 * (W[4] + W[8]);
  double half = 0.5 * (W[4] - W[8]);
  double off = 0.5 * (W[5] + W[7]);
  double radius = hypot(half, off);
  double angle = 0.5 * atan2(off, half);
  value[0] = mean + radius;
  value[1] = mean - radius;
  axis[0] = cos(angle);
  axis[1] = sin(angle);
}

/* Friction per normal impulse from zero slip, into t; true: it sticks. */
static bool from_rest(const spatial* p, double t[2]) {
  const double* W = p->W;
  double value[2];
  double e[2];
  split(W, value, e);
  double w[2] = {e[0] * W[3] + e[1] * W[6], e[0] * W[6] - e[1] * W[3]};
  double tiny = 1e-13 * fmax(value[0], DBL_MIN);
  double own[2];
  for (int k = 0; k < 2; k++) { /* no friction along an axis without mobility */
    own[k] = value[k] > tiny ? -w[k] / value[k] : 0.0;
  }
  bool sticks = hypot(own[0], own[1]) <= p->mu;
  if (!sticks) {
    double lo = 0.0;
    double hi = hypot(w[0], w[1]);
    for (int k = 0; k < 200 && lo < 0.5 * (lo + hi) && 0.5 * (lo + hi) < hi; k++) {
      double beta = 0.5 * (lo + hi);
      double size = hypot(w[0] / (p->mu * value[0] + beta), w[1] / (p->mu * value[1] + beta));
      *(size > 1.0 ? &lo : &hi) = beta;
    }
    for (int k = 0; k < 2; k++) {
      own[k] = -p->mu * w[k] / (p->mu * value[k] + 0.5 * (lo + hi));
    }
  }
  t[0] = e[0] * own[0] - e[1] * own[1];
  t[1] = e[1] * own[0] + e[0] * own[1];
  return sticks;
}

/* A stage from zero slip to its end. */
static saltus_impact_motion go_linear(spatial* p) {
  const double* W = p->W;
  double t[2];
  bool sticks = from_rest(p, t);
  double slope[3];
  for (int k = 0; k < 3; k++) {
    slope[k] = W[3 * k] + W[3 * k + 1] * t[0] + W[3 * k + 2] * t[1];
  }
  double dp = to_the_end(p, slope[0]);
  p->work += dp * (p->U[0] + 0.5 * slope[0] * dp);
  p->P[0] += dp;
  for (int k = 0; k < 2; k++) {
    p->P[1 + k] += dp * t[k];
    p->U[1 + k] = sticks ? 0.0 : p->U[1 + k] + dp * slope[1 + k];
  }
  p->U[0] += dp * slope[0];
  return sticks ? SALTUS_MOTION_STICK : SALTUS_MOTION_REVERSE;
}

/* Slips to the end of the stage or of the slip; false when neither is found. *ends: the stage ends. */
static bool slip(spatial* p, saltusi_flow* flow, bool* ends) {
  static const int group[COUNT] = {0, 0, 1, 2, 2, 2, 3};
  double r = hypot(p->U[1], p->U[2]);
  const double y[COUNT] = {log(r), atan2(p->U[2], p->U[1]), p->U[0], p->P[0], p->P[1], p->P[2],
                           p->work};
  flow->n = COUNT;
  flow->guards = 2;
  flow->rate = rate;
  flow->guard = guard;
  flow->self = p;
  flow->group = group;
  const double floors[SALTUSI_FLOW_GROUPS] = {1.0, fabs(p->before), 0.0, 0.0};
  memcpy(flow->floor, floors, sizeof floors);
  memcpy(flow->y, y, sizeof y);
  flow->h = 1e-3 / (p->W[0] + (1.0 + p->mu) * (p->W[4] + p->W[8]));
  int ended = saltusi_flow_run(flow);
  if (ended < 0) {
    return false;
  }
  *ends = ended == 0;
  r = exp(flow->y[LOG_R]);
  p->U[0] = flow->y[NORMAL];
  p->U[1] = ended == 0 ? r * cos(flow->y[ANGLE]) : 0.0;
  p->U[2] = ended == 0 ? r * sin(flow->y[ANGLE]) : 0.0;
  memcpy(p->P, flow->y + IMPULSE, sizeof p->P);
  p->work = flow->y[WORK];
  return true;
}

saltus_status saltusi_path_spatial(saltusi_flow* flow, saltusi_single_impact* s,
                                   saltus_impact_result* result) {
  assert(flow != NULL && s != NULL && result != NULL && s->contact->tangents == 2);
  spatial p = {.W = s->W,
               .mu = s->contact->mu,
               .e = s->contact->e_N,
               .law = s->contact->impact,
               .before = s->u[0]};
  memcpy(p.U, s->u, sizeof p.U);
  p.size = fmax(hypot(p.U[1], p.U[2]), fabs(p.U[0]));
  for (bool done = !(s->u[0] < 0.0); !done;) {
    double before = p.P[0];
    bool compression = !p.compressed;
    bool ends = true;
    saltus_impact_motion motion = SALTUS_MOTION_SLIP;
    if (hypot(p.U[1], p.U[2]) > stopped * p.size) {
      if (!slip(&p, flow, &ends)) {
        return SALTUS_RETRY_SMALLER;
      }
    } else {
      p.U[1] = p.U[2] = 0.0;
      motion = go_linear(&p);
    }
    saltusi_path_note(result, (saltus_path_phase){.contact = s->index,
                                                  .motion = motion,
                                                  .compression = compression,
                                                  .impulse = p.P[0] - before});
    if (ends && compression) {
      p.compressed = true;
      p.turned = p.work;
      p.turned_P = p.P[0];
      p.U[0] = 0.0;
    }
    done = ends && (!compression || p.e == 0.0);
  }
  memcpy(s->u, p.U, sizeof p.U);
  memcpy(s->P, p.P, sizeof p.P);
  return SALTUS_OK;
}
