/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_linkage.c - the theta step of large mechanisms while no contact is active, by Newton's method on
 * velocities and impulses together (operator/linkage.h).
 *
 *   R = M (v_{k+1} - v_k) - h F - G P,     S = (G^T v_weight + b) / weight       at q_theta
 *
 *   [ J - theta^2 h K                   -G ] [ dv ]     [ -R ]        K   = d(G P)/dq
 *   [ G^T + (theta^2 h / weight) U_q     0 ] [ dP ]  =  [ -S ]        U_q = d(G^T v_weight + b)/dq
 *
 * K is what tension does: without it a chain of n links takes the longer the longer it is. The iteration starts
 * from v_k and the impulses of the last step; the matrix stays as long as corrections shrink fast.
 */
#include "scheme/moreau/moreau_linkage.h"

#include "math/matrix.h"
#include "scheme/projection.h"
#include "system/structure.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Iterations for each of newton_max, which would factor. */
enum { ITERATIONS_EACH = 5 };

/* Sweeps that close joints with the matrix of the step. */
enum { SWEEPS_MAX = 8 };

/* A new matrix costs as much as this many iterations. */
static const double dear = 3.0;

void saltusi_moreau_linkage_layout(saltusi_moreau_linkage* j, const saltusi_eval* eval,
                                   saltus_arena* arena) {
  assert(j != NULL && eval != NULL && arena != NULL);
  const saltus_dims* d = &eval->sys.dims;
  *j = (saltusi_moreau_linkage){0};
  if ((eval->sys.traits & SALTUS_CONSTANT_MASS) == 0) {
    return;
  }
  saltusi_linkage_layout(&j->factors, eval, arena);
  if (j->factors.serves) {
    j->n = d->nv + d->nj;
    j->z = SALTUS_PUSH(arena, double, j->n);
    j->f = SALTUS_PUSH(arena, double, j->n);
    j->scale = SALTUS_PUSH(arena, double, d->nj);
    j->mass = SALTUS_PUSH(arena, double, saltusi_structure_values(eval->sys.structure));
  }
}

size_t saltusi_moreau_joints_count(const saltus_system* sys) {
  assert(sys != NULL);
  const bool constant = (sys->traits & SALTUS_CONSTANT_MASS) != 0;
  return constant && saltusi_linkage_serves(sys) ? 1 + (size_t)sys->dims.nj : 0;
}

bool saltusi_moreau_linkage_serves(const saltusi_moreau* w) {
  assert(w != NULL);
  return w->linked.n > 0 && !w->linked.factors.refused;
}

/* Velocities of a joint that are gathered for all of its rows. */
enum { GATHERED = 24 };

/* f += G P, and g = -(G^T v + b) / weight, joint by joint: all rows of one share their columns. */
static void apply_rows(const saltus_system* sys, const saltusi_row_block* rows, const double* P,
                       double weight, const double* v, double* f, double* g) {
  const int joints = saltusi_joint_count(sys);
  for (int i = 0; i < joints; i++) {
    const int first = saltusi_joint_first(sys, i);
    const int end = first + saltusi_joint_rows(sys, i);
    const int width = first < end ? rows->entries[first] : 0;
    const int* column = rows->column + (size_t)first * (size_t)rows->stride;
    if (width > GATHERED) {
      for (int r = first; r < end; r++) {
        saltusi_row_add(rows, r, P[r], f);
        g[r] = -(saltusi_row_dot(rows, r, v) + rows->b[r]) / weight;
      }
      continue;
    }
    double sum[GATHERED], x[GATHERED];
    for (int k = 0; k < width; k++) {
      sum[k] = f[column[k]];
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
      g[r] = -(dot + rows->b[r]) / weight;
    }
    for (int k = 0; k < width; k++) {
      f[column[k]] = sum[k];
    }
  }
}

/* Points at the latest q_theta: of forces, and of joints with the velocity that they hold in w->v_free. */
typedef struct points {
  saltus_point forces, joints;
} points;

/* -R and -S into f. */
static points evaluate(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                       const saltusi_step* s, double weight) {
  saltusi_moreau_linkage* j = &w->linked;
  const saltus_system* sys = &s->eval->sys;
  const int nv = sys->dims.nv;
  const double theta_h = o->theta * s->h;
  const double* v1 = j->z;
  for (int i = 0; i < nv; i++) {
    w->v_theta[i] = (1.0 - o->theta) * s->v0[i] + o->theta * v1[i];
    w->v_free[i] = v1[i] - s->v0[i];
  }
  saltusi_advance(sys, s->q0, w->v_theta, theta_h, w->q_theta);
  points at = {.forces = saltusi_at(s->eval, s->t + theta_h, w->q_theta, w->v_theta)};
  if (!j->mass_kept) {
    sys->ops->blocks(sys->self, &at.forces, 1.0, 0.0, 0.0, j->mass);
    j->mass_kept = true;
  }
  saltusi_force(s->eval, &at.forces, w->force);
  saltusi_structure_times(sys->structure, j->mass, w->v_free, j->f);
  for (int i = 0; i < nv; i++) {
    j->f[i] = s->h * w->force[i] - j->f[i];
    w->v_free[i] = (1.0 - weight) * s->v0[i] + weight * v1[i];
  }
  at.joints = saltusi_at(s->eval, s->t + weight * s->h, w->q_theta, w->v_free);
  saltusi_rows_joints(sys, &at.joints, &w->op.rows);
  apply_rows(sys, &w->op.rows, j->z + nv, weight, w->v_free, j->f, j->f + nv);
  return at;
}

static saltus_status factor(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                            const saltusi_step* s, double weight, const points* at) {
  saltusi_moreau_linkage* j = &w->linked;
  const double theta_h = o->theta * s->h;
  const saltusi_linkage_at where = {.forces = &at->forces,
                                    .fv = -theta_h,
                                    .fq = -theta_h * theta_h,
                                    .joints = &at->joints,
                                    .P = j->z + s->eval->sys.dims.nv,
                                    .reach = o->theta * theta_h,
                                    .measured = o->theta * theta_h / weight};
  return saltusi_linkage_factor(&j->factors, s->eval, &where, &w->op.rows, w->op.diagonal);
}

/* The impulses of the last step, or zero: then false. */
static bool guess(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_moreau_linkage* j = &w->linked;
  const saltus_dims* d = &s->eval->sys.dims;
  const bool known = w->joints_before != NULL && w->joints_before[0] > 0.0;
  memcpy(j->z, s->v0, (size_t)d->nv * sizeof(double));
  for (int r = 0; r < d->nj; r++) {
    j->z[d->nv + r] = known ? w->joints_before[1 + r] * (s->h / w->joints_before[0]) : 0.0;
  }
  return known;
}

saltus_status saltusi_moreau_linked(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                    const saltusi_step* s, double weight) {
  saltusi_moreau_linkage* j = &w->linked;
  assert(j->n > 0 && s->report->active == 0);
  const int nv = s->eval->sys.dims.nv, nj = s->eval->sys.dims.nj;
  const double start = saltusi_max_abs(nv, s->v0);
  bool bent = guess(w, s), due = true;
  double last = INFINITY;
  int since = 0;
  for (int k = 0; k < ITERATIONS_EACH * o->newton_max; k++) {
    const points at = evaluate(w, o, s, weight);
    if (due) {
      saltus_status status = factor(w, o, s, weight, &at);
      if (status != SALTUS_OK) {
        return status;
      }
    }
    saltusi_linkage_solve(&j->factors, j->f, j->f + nv, nj);
    s->report->newton_iterations++;
    saltusi_add_scaled(j->n, 1.0, j->f, j->z);
    const double change = saltusi_max_abs(nv, j->f);
    const double size = fmax(start, saltusi_max_abs(nv, j->z));
    if (!isfinite(change)) {
      return SALTUS_RETRY_NAN;
    }
    const double rate = change / last, left = o->newton_tol * size;
    since = change < last ? 0 : since + 1;
    if (change <= left || (k > 0 && rate < 0.5 && change * rate <= 0.5 * left) ||
        (since >= 2 && change <= 1e4 * left)) {
      memcpy(s->v1, j->z, (size_t)nv * sizeof(double));
      memcpy(w->op.P, j->z + nv, (size_t)nj * sizeof(double));
      return SALTUS_OK;
    }
    /* the rate that a new matrix has shows one iteration later */
    due = !bent || (!due && (rate >= 0.9 || log(left / change) / log(rate) > dear));
    bent = true;
    last = change;
  }
  return SALTUS_RETRY_SMALLER;
}

/* How large the terms of each joint are, in roundings. */
static void measure_terms(const saltusi_moreau* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  const saltusi_row_block* rows = &w->op.rows;
  const double size = DBL_EPSILON * saltusi_max_abs(d->nq, s->q1);
  for (int r = 0; r < d->nj; r++) {
    const double* G = rows->G + (size_t)r * (size_t)rows->stride;
    double sum = 0.0;
    for (int k = 0; k < rows->entries[r]; k++) {
      sum += fabs(G[k]);
    }
    w->linked.scale[r] = sum * size > 0.0 ? sum * size : DBL_MIN;
  }
}

bool saltusi_moreau_linked_project(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                   const saltusi_step* s) {
  saltusi_moreau_linkage* j = &w->linked;
  const saltus_system* sys = &s->eval->sys;
  const int nv = sys->dims.nv, nj = sys->dims.nj;
  double* g = j->f + nv;
  double last = INFINITY;
  const saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  assert(j->n > 0 && w->v_theta != NULL);
  (void)o;
  measure_terms(w, s);
  for (int k = 0; k < SWEEPS_MAX; k++) {
    sys->ops->joints(sys->self, &at, g);
    double worst = 0.0;
    for (int r = 0; r < nj; r++) {
      worst = saltusi_larger(worst, fabs(g[r]) / j->scale[r]);
      g[r] = -g[r] / s->h;
    }
    if (worst <= SALTUSI_JOINTS_CLOSED) {
      return true;
    }
    if (!(worst <= 0.5 * last)) {
      return false; /* matrices of the present place */
    }
    last = worst;
    memset(j->f, 0, (size_t)nv * sizeof(double));
    saltusi_linkage_solve(&j->factors, j->f, g, nj);
    saltusi_add_scaled(nv, 1.0, j->f, w->v_theta);
    saltusi_advance(sys, s->q0, w->v_theta, s->h, s->q1);
    s->report->projection += s->h * saltusi_max_abs(nv, j->f);
  }
  return false;
}
