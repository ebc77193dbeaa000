/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * half_explicit.c - Runge-Kutta stages with joints and contacts on velocity level, the index-2 form (Brasey and Hairer
 * 1993; docs/theory/event-capturing.md, 2.5).
 *
 *   V_i = v + h sum_{j<i} a_ij K_j,    Q_i = q + h sum_{j<i} a_ij V_j,    K_i = M^-1 (F + G lambda_i)
 *   G(Q_{i+1})^T V_{i+1} + b = 0                     determines lambda_i;
 *
 * the end of the step is the stage after the last one, with the weights b. Ordinary tableaux lose order in this form
 * (Heun 3 and RKF45: 2, RK4: 3); tableaux with `half_explicit` keep their order.
 */
#include "math/matrix.h"
#include "scheme/event/runge_kutta.h"

#include <assert.h>
#include <string.h>

/* Rows of joints and held contacts at the stage after the present one, which measure its velocities. */
static void measure(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                    const saltusi_rk_start* start) {
  const saltusi_active_rows* held = &start->held;
  saltusi_rows_joints(sys, at, &op->measured);
  for (int i = 0; i < held->count; i++) {
    if (held->grips != NULL) {
      saltusi_friction_mode_look(&held->grips->of[held->keys[i]], sys, at, held->keys[i],
                                 &op->measured, op->first[i]);
    } else {
      saltusi_rows_contact(sys, at, held->keys[i], 1, &op->measured, sys->dims.nj + i);
    }
  }
  op->apart = true;
}

/* lambda_i into held.P, from the velocity V of the next stage without it, which is overwritten: the smallest change of the
 * reference forces of redundant contacts. */
static saltus_status find_forces(saltusi_rk* rk, saltusi_eval* eval,
                                 const saltusi_active_rows* held, double weight, double* V) {
  saltusi_operator* op = &rk->held;
  saltusi_operator_form_active(op, eval, &rk->mass);
  if (weight == 0.0) { /* the next stage is independent of the forces of this one */
    memset(op->P, 0, (size_t)op->count * sizeof(double));
    return op->status;
  }
  const bool given = held->grips != NULL && op->status == SALTUS_OK &&
                     saltusi_friction_modes_reference(held->grips, op, held->keys, held->count);
  if (given) {
    for (int r = 0; r < op->count; r++) {
      op->P[r] *= weight;
    }
    saltusi_operator_apply(op, eval, V);
  }
  for (int r = 0; r < op->count; r++) {
    op->rhs[r] = (saltusi_row_dot(&op->measured, r, V) + op->measured.b[r]) / weight;
  }
  const saltus_status status = saltusi_operator_solve(op, eval);
  if (given) {
    saltusi_friction_modes_add_reference(held->grips, op, held->keys, held->count);
  }
  return status;
}

saltus_status saltusi_half_explicit_stages(saltusi_rk* rk, saltusi_eval* eval,
                                           const saltusi_rk_start* start, double h) {
  assert(rk != NULL && eval != NULL && start != NULL && h > 0.0);
  const saltus_system* sys = &eval->sys;
  const saltusi_tableau* m = rk->method;
  int nv = sys->dims.nv;
  double* V_next = rk->half_velocity;
  memcpy(rk->V, start->v, (size_t)nv * sizeof(double));
  memcpy(rk->Q, start->q, (size_t)sys->dims.nq * sizeof(double));
  for (int i = 0; i < m->stages; i++) {
    double* K = rk->K + (size_t)i * (size_t)nv;
    double* V = rk->V + (size_t)i * (size_t)nv;
    bool last = i + 1 == m->stages;
    const double* weights = last ? m->b : m->a[i + 1];
    double t_next = start->t + (last ? 1.0 : m->c[i + 1]) * h;

    /* the present stage without its constraint forces */
    saltus_point at = saltusi_at(eval, start->t + m->c[i] * h, rk->Q, V);
    saltus_status status = saltusi_linear_assemble(eval, &rk->mass, &at, 1.0, 0.0, 0.0);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_force(eval, &at, K);
    if (start->held.grips != NULL) {
      saltusi_friction_modes_drag(start->held.grips, &rk->held, sys, &at, start->held.keys,
                                  start->held.count, K);
    }
    saltusi_linear_solve(eval, &rk->mass, K);
    saltusi_hold(&rk->held, sys, &at, &start->held);
    if (saltusi_has_maps(sys)) {
      saltusi_rate(sys, rk->Q, V, rk->rates + (size_t)i * (size_t)sys->dims.nq);
    }

    /* the next stage, and its constraint forces */
    saltusi_rk_combine(sys->dims.nq, i + 1, start->q, h, weights, rk->rates, rk->Q);
    saltusi_rk_combine(nv, i + 1, start->v, h, weights, rk->K, V_next);
    saltus_point next = saltusi_at(eval, t_next, rk->Q, V_next);
    measure(&rk->held, sys, &next, start);
    status = find_forces(rk, eval, &start->held, h * weights[i], V_next);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_operator_apply(&rk->held, eval, K);
    saltusi_rk_keep(rk, &sys->dims, &start->held, i);
    if (!last) {
      saltusi_rk_combine(nv, i + 1, start->v, h, weights, rk->K, V + nv);
    }
  }
  return SALTUS_OK;
}
