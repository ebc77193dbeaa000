/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * assemble.c - projection of the initial positions onto the joints.
 *
 * saltus_start_project computes the least displacement in the mass metric. If no displacement closes all joints, a
 * least-squares solution identifies the joint that stays open, by damped steps of Levenberg and Marquardt
 *
 *   (G G^T + mu D) d = -G g,      D = the diagonal of G G^T
 */
#include "base/log.h"
#include "body/constraints.h"
#include "math/matrix.h"
#include "operator/joints.h"
#include "saltus/start.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Largest number of velocities for which the joint that stays open is identified. */
enum { SEARCHED_MOST = 600, ITERATIONS = 200 };

/* Marquardt's damping (J. SIAM 11 (1963) 431-441): factors of ten from 1e-3 on; the largest damping, at which steps
 * are 1e-12 of undamped ones; and the diagonal entry of coordinates without a row, relative to the largest entry.
 * These coordinates do not move, so any positive value serves. */
static const double damping_first = 1e-3;
static const double damping_most = 1e12;
static const double damping_rise = 10.0;
static const double damping_fall = 0.1;
static const double idle_part = 1e-12;
/* The iteration ends when the sum of squares decreases by less than this fraction (5000 eps). */
static const double settled_part = 1e-12;
/* A joint whose defect stays above this fraction of the initial defects is reported: least squares
 * close consistent joints to rounding, some eps over that fraction. */
static const double open_part = 1e-9;

/* The joint with the largest defect, and the defect: in rad if `radians`, else in m. */
static int worst_joint(const saltus_mechanism* m, const double* q, double* gap, bool* radians) {
  int worst = -1;
  *gap = 0.0;
  *radians = false;
  for (int i = 0; i < m->joint_count; i++) {
    double size[2];
    saltus_mechanism_joint_defect(m, i, m->t0, q, &size[0], &size[1]);
    for (int k = 0; k < 2; k++) {
      if (size[k] > *gap || size[k] != size[k]) {
        *gap = size[k];
        *radians = k == 1;
        worst = i;
      }
    }
  }
  return worst;
}

/* ---- least squares ---- */

typedef struct assemble_search {
  const saltus_mechanism* m;
  double *q, *trial;         /* [nq] */
  double *g, *d, *slope;     /* [nj], [nv], [nv] */
  double *A, *factors, *row; /* [nv x nv] twice, [nj x 24] */
  int* pivot;                /* [nv] */
} assemble_search;

static double squares(const assemble_search* s, const double* q, double* g) {
  const saltus_point at = {.t = s->m->t0, .q = q};
  saltusi_mechanism_joints(s->m, &at, g);
  return saltusi_dot(s->m->system.dims.nj, g, g);
}

/* A = G G^T, slope = G g */
static void normal_equations(const assemble_search* s) {
  const saltus_mechanism* m = s->m;
  const size_t n = (size_t)m->system.dims.nv;
  const saltus_point at = {.t = m->t0, .q = s->q};
  memset(s->A, 0, n * n * sizeof(double));
  memset(s->slope, 0, n * sizeof(double));
  for (int i = 0; i < m->joint_count; i++) {
    double G[8 * 24] = {0.0}, b[8] = {0.0};
    int column[24];
    saltus_rows rows = {
        .count = m->joints[i].rows, .width = 24, .stride = 24, .column = column, .G = G, .b = b};
    saltusi_mechanism_joint(m, &at, i, &rows);
    for (int r = 0; r < rows.count; r++) {
      for (int k = 0; k < rows.width; k++) {
        const double x = G[24 * r + k];
        s->slope[column[k]] += x * s->g[m->joints[i].row + r];
        for (int j = 0; j < rows.width; j++) {
          s->A[(size_t)column[k] * n + (size_t)column[j]] += x * G[24 * r + j];
        }
      }
    }
  }
}

/* One damped step; false when it cannot be computed. */
static bool damped_step(const assemble_search* s, double mu) {
  const size_t n = (size_t)s->m->system.dims.nv;
  double largest = 0.0;
  for (size_t k = 0; k < n; k++) {
    largest = fmax(largest, s->A[k * (n + 1)]);
  }
  memcpy(s->factors, s->A, n * n * sizeof(double));
  for (size_t k = 0; k < n; k++) {
    s->factors[k * (n + 1)] += mu * (s->A[k * (n + 1)] + idle_part * largest);
    s->d[k] = -s->slope[k];
  }
  if (!saltusi_lu_factor((int)n, s->factors, s->pivot, 0.0)) {
    return false;
  }
  saltusi_lu_solve((int)n, s->factors, s->pivot, s->d);
  return true;
}

static void advance(const saltus_mechanism* m, const double* q, const double* d, double* q1) {
  saltusi_mechanism_advance(m, q, d, 1.0, q1);
}

static void least_squares(assemble_search* s) {
  double mu = damping_first;
  double now = squares(s, s->q, s->g);
  normal_equations(s);
  for (int k = 0; k < ITERATIONS && mu < damping_most; k++) {
    double after = INFINITY;
    if (damped_step(s, mu)) {
      advance(s->m, s->q, s->d, s->trial);
      after = squares(s, s->trial, s->g);
    }
    if (!(after < now)) {
      mu *= damping_rise;
      continue;
    }
    const bool settled = after > (1.0 - settled_part) * now;
    memcpy(s->q, s->trial, (size_t)s->m->system.dims.nq * sizeof(double));
    now = after;
    mu *= damping_fall;
    if (settled) {
      break;
    }
    normal_equations(s);
  }
}

/* Least-squares positions of the joints, written to q. False without memory and for large mechanisms. */
static bool best(const saltus_mechanism* m, double* q) {
  const saltus_dims* dims = &m->system.dims;
  const size_t n = (size_t)dims->nv;
  if (dims->nv > SEARCHED_MOST) {
    return false;
  }
  saltusi_pool pool = saltusi_pool_over(&m->pool.allocator);
  assemble_search s = {.m = m, .q = q};
  s.trial = SALTUSI_TAKE(&pool, double, dims->nq);
  s.g = SALTUSI_TAKE(&pool, double, dims->nj);
  s.d = SALTUSI_TAKE(&pool, double, n);
  s.slope = SALTUSI_TAKE(&pool, double, n);
  s.A = SALTUSI_TAKE(&pool, double, n* n);
  s.factors = SALTUSI_TAKE(&pool, double, n* n);
  s.pivot = SALTUSI_TAKE(&pool, int, n);
  const bool there = !pool.failed;
  if (there) {
    least_squares(&s);
  }
  saltusi_pool_free(&pool);
  return there;
}

/* ---- the whole ---- */

static void measure_move(const saltus_mechanism* m, const double* q, const double* q1, double* d,
                         saltus_assembly* assembly) {
  const int size = m->plane ? 3 : 6;
  saltusi_mechanism_difference(m, q, q1, d);
  for (int i = 0; i < m->system.dims.nv; i++) {
    if (fabs(d[i]) > assembly->moved) {
      assembly->moved = fabs(d[i]);
      assembly->moved_body = m->free_bodies[i / size];
    }
  }
}

static saltus_status explain(saltus_mechanism* m, double* q, saltus_status status,
                             const char* reason, saltus_log log, saltus_assembly* assembly) {
  bool radians;
  if (status == SALTUS_ERR_MEMORY) {
    return status;
  }
  double first;
  worst_joint(m, q, &first, &radians);
  if (best(m, q)) {
    assembly->joint = worst_joint(m, q, &assembly->gap, &radians);
    if (assembly->joint >= 0 && assembly->gap > fmax(open_part * first, SALTUSI_CONSISTENT)) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "joint \"%s\" cannot be closed: at best it stays open by %.6g %s%s%s",
                  m->joints[assembly->joint].name, assembly->gap, radians ? "rad" : "m",
                  reason[0] != '\0' ? "; " : "", reason);
      return status;
    }
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "the joints cannot be assembled: %s", reason);
  return status;
}

static saltus_status project(saltus_mechanism* m, double* q, double* v, saltus_log log,
                             saltus_assembly* assembly) {
  saltus_kept_message kept;
  const saltus_start_def def = {.system = &m->system,
                                .t = m->t0,
                                .q = q,
                                .v = v,
                                .tolerance = INFINITY,
                                .log = saltus_log_keep(&kept),
                                .allocator = &m->pool.allocator};
  saltus_start_move move;
  saltus_status status = saltus_start_project(&def, &move);
  if (status != SALTUS_OK) {
    memcpy(q, m->q0, (size_t)m->system.dims.nq * sizeof(double));
    return explain(m, q, status, kept.text, log, assembly);
  }
  return SALTUS_OK;
}

saltus_status saltus_mechanism_assemble(saltus_mechanism* mechanism, double tolerance,
                                        saltus_log log, saltus_assembly* assembly) {
  assert(mechanism != NULL && assembly != NULL);
  saltus_mechanism* m = mechanism;
  const saltus_dims* dims = &m->system.dims;
  bool radians;
  *assembly = (saltus_assembly){.moved_body = -1, .joint = -1};
  if (dims->nv == 0) {
    return SALTUS_OK; /* no free body, so no joint to close */
  }
  int worst = worst_joint(m, m->q0, &assembly->defect_before, &radians);
  if (assembly->defect_before > tolerance) {
    assembly->joint = worst;
    assembly->gap = assembly->defect_before;
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "joint \"%s\" is open by %.6g %s at the start, allowed is %.6g",
                m->joints[worst].name, assembly->gap, radians ? "rad" : "m", tolerance);
    return SALTUS_ERR_INPUT;
  }
  saltusi_pool pool = saltusi_pool_over(&m->pool.allocator);
  double* q = SALTUSI_TAKE(&pool, double, dims->nq);
  double* v = SALTUSI_TAKE(&pool, double, dims->nv);
  double* d = SALTUSI_TAKE(&pool, double, dims->nv);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (!pool.failed) {
    memcpy(q, m->q0, (size_t)dims->nq * sizeof(double));
    memcpy(v, m->v0, (size_t)dims->nv * sizeof(double));
    status = project(m, q, v, log, assembly);
  }
  if (status == SALTUS_OK) {
    measure_move(m, m->q0, q, d, assembly);
    memcpy(m->q0, q, (size_t)dims->nq * sizeof(double));
    memcpy(m->v0, v, (size_t)dims->nv * sizeof(double));
  }
  saltusi_pool_free(&pool);
  return status;
}
