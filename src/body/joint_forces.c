/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joint_forces.c - joint forces at a state:
 *
 *   M v' = F + f + G lambda,   G^T v' + c = 0      so      W lambda = -(G^T M^-1 (F + f) + c)
 *
 * Linearly dependent rows have the minimum-norm load distribution, math/rank_revealing.h.
 */
#include "base/log.h"
#include "body/mechanism.h"
#include "math/matrix.h"
#include "operator/operator.h"

#include <assert.h>
#include <string.h>

typedef struct joint_forces_work {
  saltusi_eval eval;
  saltusi_linear mass;
  saltusi_operator op;
  double* free; /* [nv] acceleration without joints */
} joint_forces_work;

static void layout(joint_forces_work* w, saltus_arena* arena) {
  const saltus_dims* dims = &w->eval.sys.dims;
  saltusi_eval_layout(&w->eval, arena);
  saltusi_linear_layout(&w->mass, &w->eval.sys, arena);
  saltusi_operator_layout(&w->op, &w->eval, &(saltusi_demand){.held = true, .convective = true},
                          arena);
  w->free = SALTUS_PUSH(arena, double, dims->nv);
}

static saltus_status solve(joint_forces_work* w, const saltus_point* at, const double* applied,
                           double* lambda) {
  const saltus_dims* dims = &w->eval.sys.dims;
  saltus_status status = saltusi_linear_assemble(&w->eval, &w->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(&w->eval, at, w->free);
  if (applied != NULL) {
    saltusi_add_scaled(dims->nv, 1.0, applied, w->free);
  }
  saltusi_linear_solve(&w->eval, &w->mass, w->free);
  saltusi_operator_hold(&w->op, &w->eval.sys, at, NULL, 0);
  saltusi_operator_form_active(&w->op, &w->eval, &w->mass);
  for (int j = 0; j < dims->nj; j++) {
    w->op.rhs[j] = saltusi_row_dot(&w->op.rows, j, w->free) + w->op.rows.c[j];
  }
  status = saltusi_operator_solve(&w->op, &w->eval);
  if (status == SALTUS_OK) {
    memcpy(lambda, w->op.P, (size_t)dims->nj * sizeof(double));
  }
  return status;
}

/* Tries a workspace of this size, which can be too small. */
static saltus_status attempt(const saltus_mechanism* m, saltusi_step_capacity* room,
                             const saltus_point* given, const double* applied, double* lambda) {
  const saltus_allocator* memory = &m->pool.allocator;
  joint_forces_work w = {.eval = {.sys = m->system, .room = *room}};
  w.eval.sys.dims.nc = 0;
  saltus_arena arena = saltus_arena_counting();
  layout(&w, &arena);
  const size_t bytes = arena.used;
  void* block = memory->alloc(bytes, memory->user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  arena = saltus_arena_over(block, bytes);
  layout(&w, &arena);
  const saltus_point at = saltusi_at(&w.eval, given->t, given->q, given->v);
  saltus_status status = solve(&w, &at, applied, lambda);
  if (status == SALTUS_OK && saltusi_failed(&w.eval)) {
    status = SALTUS_ERR_SYSTEM;
  }
  memory->free(block, bytes, memory->user);
  *room = w.eval.room;
  return status;
}

saltus_status saltus_mechanism_joint_forces(const saltus_mechanism* mechanism, double t,
                                            const double* q, const double* v, const double* applied,
                                            double* lambda) {
  assert(mechanism != NULL && q != NULL && v != NULL && lambda != NULL);
  const saltus_point at = {.t = t, .q = q, .v = v};
  saltusi_step_capacity room = {0};
  saltus_status status = SALTUS_OK;
  if (mechanism->system.dims.nj > 0) {
    status = attempt(mechanism, &room, &at, applied, lambda);
  }
  while (status == SALTUS_RETRY_CAPACITY) {
    saltusi_capacity_grow(&room);
    status = attempt(mechanism, &room, &at, applied, lambda);
  }
  return status;
}
