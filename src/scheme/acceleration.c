/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acceleration.c - see acceleration.h (Acary 2009, equations (71)-(73) with the missing term).
 */
#include "scheme/acceleration.h"

void saltusi_acceleration_layout(saltusi_acceleration* work, const saltus_system* sys,
                                 saltus_arena* arena) {
  saltusi_linear_layout(&work->mass, sys, arena);
  saltusi_law_layout(&work->law, &sys->dims, true, arena);
}

saltus_status saltusi_acceleration_find(saltusi_acceleration* work, saltusi_eval* eval,
                                        const saltus_point* at, const int* keys, int count,
                                        double* a) {
  const saltus_system* sys = &eval->sys;
  int nj = sys->dims.nj;
  saltusi_law* law = &work->law;
  saltus_status status = saltusi_linear_assemble(eval, &work->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(eval, at, a);
  saltusi_linear_solve(eval, &work->mass, a);
  if (nj + count == 0) {
    return SALTUS_OK;
  }
  for (int r = 0; r < nj + count; r++) {
    if (r < nj) {
      saltusi_rows_joint(sys, at, r, &law->rows, r);
    } else {
      saltusi_rows_contact(sys, at, keys[r - nj], 1, &law->rows, r);
    }
    law->rhs[r] = saltusi_row_dot(&law->rows, r, a) + law->rows.c[r];
  }
  saltusi_law_operator(law, eval, &work->mass, nj + count);
  status = saltusi_law_solve(law, eval, nj, count);
  if (status == SALTUS_OK) {
    saltusi_law_apply(law, sys->dims.nv, nj + count, a);
  }
  return status;
}
