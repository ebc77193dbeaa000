/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acceleration.c - see acceleration.h (Acary 2009, equations (71)-(73) with the missing term).
 */
#include "scheme/event/acceleration.h"

#include <assert.h>

void saltusi_acceleration_layout(saltusi_acceleration* work, const saltusi_eval* eval,
                                 saltus_arena* arena) {
  assert(work != NULL && eval != NULL && arena != NULL);
  saltusi_linear_layout(&work->mass, &eval->sys, arena);
  saltusi_operator_layout(&work->op, eval,
                          &(saltusi_demand){.held = true, .convective = true, .distributes = true},
                          arena);
}

void saltusi_hold(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                  const saltusi_active_rows* held) {
  assert(op != NULL && sys != NULL && at != NULL && held != NULL);
  if (held->grips != NULL) {
    saltusi_friction_modes_hold(held->grips, op, sys, at, held->keys, held->count);
  } else {
    saltusi_operator_hold(op, sys, at, held->keys, held->count);
  }
}

saltus_status saltusi_accelerate(saltusi_eval* eval, saltusi_linear* mass, saltusi_operator* op,
                                 const saltus_point* at, const saltusi_active_rows* held,
                                 double* a) {
  assert(eval != NULL && mass != NULL && op != NULL && at != NULL && held != NULL);
  const saltus_system* sys = &eval->sys;
  saltus_status status = saltusi_linear_assemble(eval, mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(eval, at, a);
  if (held->grips != NULL) {
    saltusi_friction_modes_drag(held->grips, op, sys, at, held->keys, held->count, a);
  }
  saltusi_linear_solve(eval, mass, a);
  if (sys->dims.nj + held->count == 0) {
    return SALTUS_OK;
  }
  saltusi_hold(op, sys, at, held);
  if (held->both_ways || held->grips != NULL) {
    saltusi_operator_form_active(op, eval, mass);
  } else {
    saltusi_operator_form(op, eval, mass);
  }
  bool given = held->grips != NULL && op->status == SALTUS_OK &&
               saltusi_friction_modes_reference(held->grips, op, held->keys, held->count);
  if (given) {
    saltusi_operator_apply(op, eval, a);
  }
  const saltusi_row_block* measured = saltusi_operator_measured(op);
  for (int r = 0; r < op->count; r++) {
    op->rhs[r] = saltusi_row_dot(measured, r, a) + op->rows.c[r];
  }
  status = saltusi_operator_solve(op, eval);
  if (status == SALTUS_OK) {
    saltusi_operator_apply(op, eval, a);
  }
  if (given) { /* the unknown is the change of the forces */
    saltusi_friction_modes_add_reference(held->grips, op, held->keys, held->count);
  }
  return status;
}

saltus_status saltusi_acceleration_find(saltusi_acceleration* work, saltusi_eval* eval,
                                        const saltus_point* at, const int* keys, int count,
                                        double* a) {
  assert(work != NULL && eval != NULL && at != NULL && count >= 0);
  const saltusi_active_rows held = {.keys = keys, .count = count};
  return saltusi_accelerate(eval, &work->mass, &work->op, at, &held, a);
}
