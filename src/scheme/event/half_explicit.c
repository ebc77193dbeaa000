/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * half_explicit.c - Runge-Kutta stages that hold joints and contacts on velocity level, the index-2
 * form (Brasey and Hairer 1993; methods: event capturing, 2.5 and 3.5).
 *
 *   V_i = v + h sum_{j<i} a_ij K_j,    Q_i = q + h sum_{j<i} a_ij V_j,    K_i = M^-1 (F + G lambda_i)
 *   G(Q_{i+1})^T V_{i+1} + b = 0                     determines lambda_i;
 *
 * the end of the step is the stage after the last one, with the weights b. Ordinary tableaux lose
 * order in this form (Heun 3 and RKF45: 2, RK4: 3); those with `half_explicit` are made for it.
 */
#include "math/matrix.h"
#include "scheme/event/runge_kutta.h"

#include <string.h>

void saltusi_half_explicit_layout(saltusi_rk* rk, const saltus_system* sys, saltus_arena* arena) {
  int rows = sys->dims.nj + sys->dims.nc;
  int dense = rk->held.dense_max;
  saltusi_rows_layout(&rk->next, &sys->dims, rows, false, arena);
  rk->next_W = SALTUS_PUSH2(arena, double, dense, dense);
  rk->next_factor.LU = SALTUS_PUSH2(arena, double, dense, dense);
  rk->next_factor.gram = SALTUS_PUSH2(arena, double, dense, dense);
  rk->next_factor.pivot = SALTUS_PUSH2(arena, int, dense, 2);
  rk->next_factor.scale = SALTUS_PUSH(arena, double, dense);
  rk->half_velocity = SALTUS_PUSH(arena, double, sys->dims.nv);
}

static void write_rows(const saltus_system* sys, const saltus_point* at,
                       const saltusi_rk_start* start, saltusi_row_block* block) {
  int nj = sys->dims.nj;
  saltusi_rows_joints(sys, at, block);
  for (int i = 0; i < start->count; i++) {
    saltusi_rows_contact(sys, at, start->keys[i], 1, block, nj + i);
  }
}

/* lambda_i into held.P, from K_i without it and the velocity V of the next stage without it. */
static saltus_status find_forces(saltusi_rk* rk, saltusi_eval* eval, int rows, double weight,
                                 const double* V) {
  int nv = eval->sys.dims.nv;
  for (int r = 0; r < rows; r++) {
    double* column = rk->held.AinvG + (size_t)r * (size_t)nv;
    memset(column, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&rk->held.rows, r, 1.0, column);
    saltusi_linear_solve(eval, &rk->mass, column);
    for (int i = 0; i < rows; i++) {
      rk->next_W[i * rows + r] = weight * saltusi_row_dot(&rk->next, i, column);
    }
    rk->held.P[r] = -(saltusi_row_dot(&rk->next, r, V) + rk->next.b[r]);
  }
  eval->work.contact_solves++;
  if (!saltusi_dependent_factor(&rk->next_factor, rows, rk->next_W, rows)) {
    return SALTUS_RETRY_NAN;
  }
  eval->dependent |= rk->next_factor.rank < rows;
  saltusi_dependent_solve(&rk->next_factor, rk->held.P);
  return SALTUS_OK;
}

saltus_status saltusi_half_explicit_stages(saltusi_rk* rk, saltusi_eval* eval,
                                           const saltusi_rk_start* start, double h) {
  const saltus_system* sys = &eval->sys;
  const saltusi_tableau* m = rk->method;
  int nv = sys->dims.nv;
  int rows = sys->dims.nj + start->count;
  double* V_next = rk->half_velocity;
  if (rows > rk->held.dense_max) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  memcpy(rk->V, start->v, (size_t)nv * sizeof(double));
  memcpy(rk->Q, start->q, (size_t)nv * sizeof(double));
  for (int i = 0; i < m->stages; i++) {
    double* K = rk->K + (size_t)i * (size_t)nv;
    double* V = rk->V + (size_t)i * (size_t)nv;
    bool last = i + 1 == m->stages;
    const double* weights = last ? m->b : m->a[i + 1];
    double t_next = start->t + (last ? 1.0 : m->c[i + 1]) * h;

    /* this stage without its forces */
    saltus_point at = saltusi_at(eval, start->t + m->c[i] * h, rk->Q, V);
    saltus_status status = saltusi_linear_assemble(eval, &rk->mass, &at, 1.0, 0.0, 0.0);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_force(eval, &at, K);
    saltusi_linear_solve(eval, &rk->mass, K);
    write_rows(sys, &at, start, &rk->held.rows);

    /* where it leads, and the forces that hold there */
    saltusi_rk_combine(nv, i + 1, start->q, h, weights, rk->V, rk->Q);
    saltusi_rk_combine(nv, i + 1, start->v, h, weights, rk->K, V_next);
    saltus_point next = saltusi_at(eval, t_next, rk->Q, V_next);
    write_rows(sys, &next, start, &rk->next);
    status = find_forces(rk, eval, rows, h * weights[i], V_next);
    if (status != SALTUS_OK) {
      return status;
    }
    for (int r = 0; r < rows; r++) {
      saltusi_add_scaled(nv, rk->held.P[r], rk->held.AinvG + (size_t)r * (size_t)nv, K);
    }
    memcpy(rk->forces + (size_t)i * (size_t)(sys->dims.nj + sys->dims.nc), rk->held.P,
           (size_t)rows * sizeof(double));
    if (!last) {
      saltusi_rk_combine(nv, i + 1, start->v, h, weights, rk->K, V + nv);
    }
  }
  return SALTUS_OK;
}
