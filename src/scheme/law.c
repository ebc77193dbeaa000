/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law.c - see law.h.
 */
#include "scheme/law.h"

#include "math/dense.h"

#include <math.h>
#include <string.h>

void saltusi_law_layout(saltusi_law* law, const saltus_dims* dims, bool convective,
                        saltus_arena* arena) {
  int rows = dims->nj + dims->nc;
  saltusi_rows_layout(&law->rows, dims, rows + 2, convective, arena);
  saltusi_mixed_layout(&law->solver, rows, dims->nc, arena);
  law->AinvG = SALTUS_PUSH2(arena, double, rows, dims->nv);
  law->W = SALTUS_PUSH2(arena, double, rows, rows);
  law->rhs = SALTUS_PUSH(arena, double, rows);
  law->P = SALTUS_PUSH(arena, double, rows);
}

void saltusi_law_operator(saltusi_law* law, const saltusi_eval* eval, const saltusi_linear* linear,
                          int rows) {
  int nv = eval->sys.dims.nv;
  for (int r = 0; r < rows; r++) {
    double* column = law->AinvG + (size_t)r * (size_t)nv;
    memset(column, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&law->rows, r, 1.0, column);
    saltusi_linear_solve(eval, linear, column);
    for (int i = 0; i <= r; i++) {
      law->W[i * rows + r] = saltusi_row_dot(&law->rows, i, column);
    }
    for (int i = 0; i < r; i++) {
      law->W[r * rows + i] = saltusi_row_dot(&law->rows, r, law->AinvG + (size_t)i * (size_t)nv);
    }
  }
}

saltus_status saltusi_law_solve(saltusi_law* law, saltusi_eval* eval, int joints, int contacts) {
  eval->work.contact_solves++;
  if (joints == 0 && contacts == 1 && law->W[0] > 0.0) {
    law->P[0] = law->rhs[0] < 0.0 ? -law->rhs[0] / law->W[0] : 0.0;
    return SALTUS_OK;
  }
  switch (saltusi_mixed_solve(&law->solver, joints, contacts, law->W, law->rhs, law->P)) {
  case SALTUSI_MIXED_SOLVED:
    return SALTUS_OK;
  case SALTUSI_MIXED_DEPENDENT:
    return SALTUS_ERR_SINGULAR;
  case SALTUSI_MIXED_UNSOLVED:
    break;
  }
  bool numbers = isfinite(saltusi_max_abs(joints + contacts, law->rhs));
  return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
}

/* Rows that depend on each other (more supports than degrees of freedom) make W singular; a shift of
 * the diagonal picks the smallest P, and what it costs in accuracy is repeated away. */
static const double shift = 1e-10;
enum { REFINEMENTS = 3 };

saltus_status saltusi_law_solve_equalities(saltusi_law* law, saltusi_eval* eval, int rows) {
  eval->work.contact_solves++;
  if (saltusi_mixed_solve(&law->solver, rows, 0, law->W, law->rhs, law->P) ==
      SALTUSI_MIXED_SOLVED) {
    return SALTUS_OK;
  }
  double* block = law->solver.block;
  double* miss = law->solver.right;
  memcpy(block, law->W, (size_t)rows * (size_t)rows * sizeof(double));
  for (int r = 0; r < rows; r++) {
    block[r * rows + r] += shift * law->W[r * rows + r];
    law->P[r] = 0.0;
  }
  if (!saltusi_lu_factor(rows, block, law->solver.pivot, 1e-300)) {
    return SALTUS_ERR_SINGULAR;
  }
  for (int k = 0; k <= REFINEMENTS; k++) {
    for (int r = 0; r < rows; r++) {
      miss[r] = -law->rhs[r] - saltusi_dot(rows, law->W + (size_t)r * (size_t)rows, law->P);
    }
    saltusi_lu_solve(rows, block, law->solver.pivot, miss);
    saltusi_add_scaled(rows, 1.0, miss, law->P);
  }
  return SALTUS_OK;
}

void saltusi_law_apply(const saltusi_law* law, int nv, int rows, double* x) {
  for (int r = 0; r < rows; r++) {
    if (law->P[r] != 0.0) {
      saltusi_add_scaled(nv, law->P[r], law->AinvG + (size_t)r * (size_t)nv, x);
    }
  }
}
