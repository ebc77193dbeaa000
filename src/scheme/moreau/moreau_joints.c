/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_joints.c - the theta step of large mechanisms while no contact is active. The matrices of the first
 * iteration stay, and velocities and impulses are corrected together,
 *
 *   J dv - G dP = h F - M (v_{k+1} - v_k) + G P         F, G and b at the latest q_theta
 *         G^T dv = -(G^T v_theta + b) / weight          J, G on the left: of the last factors
 *
 * The matrix lacks the derivative of G by rotations: tension makes a chain stiff. Anderson mixing of the last
 * corrections (math/anderson.h) of z = (v, P) compensates for it by minimising dv.
 */
#include "scheme/moreau/moreau_joints.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Smallest number of joint rows for which matrices are kept. */
enum { KEPT_FROM = 24 };

/* Corrections per iteration of newton_max: a correction without a factorisation costs a fifth of
 * it. */
enum { CORRECTIONS_EACH = 5 };

void saltusi_moreau_joints_layout(saltusi_moreau_joints* j, const saltus_system* sys,
                                  saltus_arena* arena) {
  assert(j != NULL && sys != NULL && arena != NULL);
  const saltus_dims* d = &sys->dims;
  *j = (saltusi_moreau_joints){0};
  if (d->nj <= KEPT_FROM || d->row_width == 0 || (sys->traits & SALTUS_CONSTANT_MASS) == 0) {
    return;
  }
  j->n = d->nv + d->nj;
  j->f = SALTUS_PUSH(arena, double, j->n);
  j->z = SALTUS_PUSH(arena, double, j->n);
  saltusi_anderson_layout(&j->mixing, j->n, SALTUSI_MIXED, d->nv, arena);
  j->g = SALTUS_PUSH(arena, double, d->nj);
}

/* Most velocities of a joint that are gathered for all of its rows. */
enum { GATHERED = 24 };

/* f += G P, and g = -(G^T v + b) / weight, joint by joint: all rows of one share their columns. */
static void apply_rows(const saltus_system* sys, const saltusi_row_block* rows, const double* P,
                       double weight, const double* v, saltusi_moreau_joints* j) {
  const int joints = saltusi_joint_count(sys);
  for (int i = 0; i < joints; i++) {
    const int first = saltusi_joint_first(sys, i);
    const int end = first + saltusi_joint_rows(sys, i);
    const int width = first < end ? rows->entries[first] : 0;
    const int* column = rows->column + (size_t)first * (size_t)rows->stride;
    if (width > GATHERED) {
      for (int r = first; r < end; r++) {
        saltusi_row_add(rows, r, P[r], j->f);
        j->g[r] = -(saltusi_row_dot(rows, r, v) + rows->b[r]) / weight;
      }
      continue;
    }
    double sum[GATHERED], x[GATHERED];
    for (int k = 0; k < width; k++) {
      sum[k] = j->f[column[k]];
      x[k] = v[column[k]];
    }
    for (int r = first; r < end; r++) {
      const double* G = rows->G + (size_t)r * (size_t)rows->stride;
      double dot = 0.0;
      for (int k = 0; k < width; k++) {
        sum[k] += P[r] * G[k];
      }
      for (int k = 0; k < width; k++) {
        dot += G[k] * x[k];
      }
      j->g[r] = -(dot + rows->b[r]) / weight;
    }
    for (int k = 0; k < width; k++) {
      j->f[column[k]] = sum[k];
    }
  }
}

/* Evaluates all terms at the latest q_theta, and f. */
static void correct(saltusi_moreau* w, const saltus_moreau_jean_options* o, const saltusi_step* s,
                    double weight) {
  saltusi_moreau_joints* j = &w->kept;
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  double theta_h = o->theta * s->h;
  const double* v1 = j->z;
  for (int i = 0; i < nv; i++) {
    w->v_theta[i] = (1.0 - o->theta) * s->v0[i] + o->theta * v1[i];
    w->v_free[i] = v1[i] - s->v0[i];
  }
  saltusi_advance(sys, s->q0, w->v_theta, theta_h, w->q_theta);
  saltus_point at = saltusi_at(s->eval, s->t + theta_h, w->q_theta, w->v_theta);
  saltusi_force(s->eval, &at, w->force);
  saltusi_linear_mass_times(s->eval, &w->linear, &at, w->v_free, j->f);
  for (int i = 0; i < nv; i++) {
    j->f[i] = s->h * w->force[i] - j->f[i];
  }
  at = saltusi_at(s->eval, s->t + weight * s->h, w->q_theta, s->v0);
  saltusi_rows_joints(sys, &at, &w->op.rows);
  for (int i = 0; i < nv; i++) {
    w->v_free[i] = (1.0 - weight) * s->v0[i] + weight * v1[i];
  }
  apply_rows(sys, &w->op.rows, j->z + nv, weight, w->v_free, j);
  saltusi_operator_correct(&w->op, s->eval, j->f, j->g, j->f + nv);
}

/* Stores the converged velocities and impulses. */
static void accept(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_moreau_joints* j = &w->kept;
  size_t nv = (size_t)s->eval->sys.dims.nv;
  saltusi_add_scaled(j->n, 1.0, j->f, j->z);
  memcpy(s->v1, j->z, nv * sizeof(double));
  memcpy(w->op.P, j->z + nv, (size_t)s->eval->sys.dims.nj * sizeof(double));
}

saltus_status saltusi_moreau_hold(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                  const saltusi_step* s, double weight) {
  saltusi_moreau_joints* j = &w->kept;
  int nv = s->eval->sys.dims.nv;
  assert(j->n > 0 && s->report->active == 0);
  memcpy(j->z, s->v1, (size_t)nv * sizeof(double));
  memcpy(j->z + nv, w->op.P, (size_t)s->eval->sys.dims.nj * sizeof(double));
  double best = INFINITY;
  const double start = saltusi_max_abs(nv, s->v0);
  int since = 0; /* iterations without improvement over the best */
  for (int k = 0; k < CORRECTIONS_EACH * o->newton_max; k++) {
    correct(w, o, s, weight);
    s->report->newton_iterations++;
    double change = saltusi_max_abs(nv, j->f);
    double size = fmax(start, saltusi_max_abs(nv, j->z));
    if (!isfinite(change)) {
      return SALTUS_RETRY_NAN;
    }
    since = change < best ? 0 : since + 1;
    best = fmin(best, change);
    /* the last digits may fluctuate: corrections that no longer shrink have converged as well */
    bool wanders = since >= SALTUSI_MIXED / 2 && change <= 1e4 * o->newton_tol * size;
    if (change <= o->newton_tol * size || wanders) {
      accept(w, s);
      return SALTUS_OK;
    }
    saltusi_mix(&j->mixing, k, j->f, j->z);
  }
  return SALTUS_RETRY_SMALLER;
}
