/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energetic.c - an impact as a sequence of impacts of single planar contacts, the fastest approach first,
 * each along Routh's path in its normal impulse p (Routh 1905, Stronge 1990; impact-and-friction laws,
 * 2.3 and 2.5):
 *
 *   rates   dP_T = tau dp,  dU_N = (a + b tau) dp,  dU_T = (b + c tau) dp
 *           slip s: tau = -mu s;   stick (|b| <= mu c): tau = -b / c
 *   end     work of the normal force = (1 - e^2) times that of compression
 *
 * No such impact gives energy, so no sequence does.
 */
#include "adaptive/decide.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Impacts of a sequence; flat bodies converge geometrically, in tens of them. */
enum { SEQUENCE_MAX = 2000, PHASES_MAX = 6 };

typedef struct path {
  double a, b, c; /* of W = G^T P G */
  double mu, e;
  double U_N, U_T;
  double P_N, P_T;
  double work;        /* of the normal force */
  double compression; /* its part, once compression is over */
  bool compressed;
} path;

static double rate_of_friction(const path* p) {
  if (p->c <= 0.0 || p->mu == 0.0) {
    return 0.0;
  }
  if (p->U_T != 0.0) {
    return p->U_T > 0.0 ? -p->mu : p->mu;
  }
  return fabs(p->b) <= p->mu * p->c ? -p->b / p->c : p->b > 0.0 ? -p->mu : p->mu;
}

/* One phase: to the end of slip, of compression, or of the impact. False at the end. */
static bool phase(path* p) {
  double tau = rate_of_friction(p);
  double normal = p->a + p->b * tau;
  double slip = p->U_T != 0.0 || fabs(p->b) > p->mu * p->c ? p->b + p->c * tau : 0.0;
  double stop = p->U_T * slip < 0.0 ? -p->U_T / slip : INFINITY;
  double turn = !p->compressed && normal > 0.0 ? -p->U_N / normal : INFINITY;
  double end = INFINITY;
  if (p->compressed) {
    double left = (1.0 - p->e * p->e) * p->compression - p->work;
    double root = p->U_N * p->U_N + 2.0 * normal * left;
    end = left > 0.0 ? 2.0 * left / (p->U_N + sqrt(fmax(root, 0.0))) : 0.0;
  }
  double dp = fmin(stop, fmin(turn, end));
  if (!isfinite(dp)) {
    return false;
  }
  p->work += dp * (p->U_N + 0.5 * normal * dp);
  p->P_N += dp;
  p->P_T += tau * dp;
  p->U_N = dp == turn ? 0.0 : p->U_N + normal * dp;
  p->U_T = dp == stop ? 0.0 : p->U_T + slip * dp;
  if (dp == turn) {
    p->compressed = true;
    p->compression = p->work;
    return p->e > 0.0;
  }
  return dp != end;
}

static double speed(const saltusi_decision* d, int row, const double* v) {
  return saltusi_row_dot(&d->mode->row, row, v) + d->mode->row.b[row];
}

/* The impact of one contact; v and its impulses follow. */
static void strike(saltusi_decision* d, double* v, int key) {
  int row = d->o->nj + d->o->base[key];
  bool has_friction = d->o->mu[key] > 0.0;
  int island;
  saltusi_island in = saltusi_reduced_island_of(d->mode, key, &island);
  saltusi_reduced_response(d->mode, island, row, d->x);
  path p = {.a = saltusi_island_dot(&in, &d->mode->row, row, d->x),
            .mu = d->o->mu[key],
            .e = d->o->law[key]->e_N,
            .U_N = speed(d, row, v)};
  if (has_friction) {
    saltusi_reduced_response(d->mode, island, row + 1, d->v_spare);
    p.b = saltusi_island_dot(&in, &d->mode->row, row, d->v_spare);
    p.c = saltusi_island_dot(&in, &d->mode->row, row + 1, d->v_spare);
    p.U_T = speed(d, row + 1, v);
  }
  for (int k = 0; k < PHASES_MAX && phase(&p); k++) {
  }
  saltusi_island_scatter(&in, p.P_N, d->x, v);
  d->impulse[d->o->base[key]] += p.P_N;
  if (has_friction) {
    saltusi_island_scatter(&in, p.P_T, d->v_spare, v);
    d->impulse[d->o->base[key] + 1] += p.P_T;
  }
}

saltus_status saltusi_energetic_impact(saltusi_decision* d, double* v, int count) {
  assert(d != NULL && count >= 0);
  double slow = 64.0 * DBL_EPSILON * fmax(d->memory->v_max, saltusi_max_abs(d->o->nv, v));
  memset(d->impulse, 0, (size_t)d->o->nl * sizeof(double));
  for (int k = 0; k < SEQUENCE_MAX; k++) {
    int fastest = -1;
    double least = -slow;
    for (int i = 0; i < count; i++) {
      double u = speed(d, d->o->nj + d->o->base[d->set[i]], v);
      if (u < least) {
        least = u;
        fastest = d->set[i];
      }
    }
    if (fastest < 0) {
      return SALTUS_OK;
    }
    if (d->o->tangents[fastest] == 2 && d->o->mu[fastest] > 0.0) {
      return SALTUS_ERR_UNSUPPORTED;
    }
    strike(d, v, fastest);
  }
  return SALTUS_RETRY_SMALLER;
}
