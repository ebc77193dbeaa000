/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acceleration.c - see acceleration.h (Acary 2009, equations (71)-(73) with the missing term).
 */
#include "scheme/event/acceleration.h"

void saltusi_acceleration_layout(saltusi_acceleration* work, const saltus_system* sys,
                                 saltus_arena* arena) {
  saltusi_linear_layout(&work->mass, sys, arena);
  saltusi_law_layout(&work->law, &sys->dims, true, arena);
}

saltus_status saltusi_accelerate(saltusi_eval* eval, saltusi_linear* mass, saltusi_law* law,
                                 const saltus_point* at, const saltusi_held* held, double* a) {
  const saltus_system* sys = &eval->sys;
  int nj = sys->dims.nj;
  int rows = nj + held->count;
  saltus_status status = saltusi_linear_assemble(eval, mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(eval, at, a);
  saltusi_linear_solve(eval, mass, a);
  if (rows == 0) {
    return SALTUS_OK;
  }
  for (int r = 0; r < rows; r++) {
    if (r < nj) {
      saltusi_rows_joint(sys, at, r, &law->rows, r);
    } else {
      saltusi_rows_contact(sys, at, held->keys[r - nj], 1, &law->rows, r);
    }
    law->rhs[r] = saltusi_row_dot(&law->rows, r, a) + law->rows.c[r];
  }
  saltusi_law_operator(law, eval, mass, rows);
  status = held->both_ways ? saltusi_law_solve_equalities(law, eval, rows)
                           : saltusi_law_solve(law, eval, nj, held->count);
  if (status == SALTUS_OK) {
    saltusi_law_apply(law, sys->dims.nv, rows, a);
  }
  return status;
}

saltus_status saltusi_acceleration_find(saltusi_acceleration* work, saltusi_eval* eval,
                                        const saltus_point* at, const int* keys, int count,
                                        double* a) {
  const saltusi_held held = {.keys = keys, .count = count};
  return saltusi_accelerate(eval, &work->mass, &work->law, at, &held, a);
}
