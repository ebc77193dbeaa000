/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mixed_lcp.c - elimination of the bilateral rows (Potra et al. 2006, section 6;
 * docs/theory/trapezoidal.md, 2.4):
 *
 *   z_b = -B^-1 (b_b + A_bu z_u)
 *   w_u = (A_uu - A_ub B^-1 A_bu) z_u + b_u - A_ub B^-1 b_b
 *
 * For A = G^T M^-1 G, a left null vector of linearly dependent bilateral rows also annihilates A_bu and b_b.
 * B^-1 then denotes the minimum-norm solution; w_u is the same for all solutions.
 */
#include "solve/lcp/mixed_lcp.h"

#include "math/matrix.h"

#include <assert.h>

void saltusi_mixed_layout(saltusi_mixed_work* work, int bilateral_max, int unilateral_max,
                          int dense_max, saltus_arena* arena) {
  assert(work != NULL && arena != NULL);
  saltusi_lcp_step_layout(&work->lcp, unilateral_max, dense_max, arena);
  work->block.LU = SALTUS_PUSH2(arena, double, bilateral_max, bilateral_max);
  work->block.pivot = SALTUS_PUSH2(arena, int, bilateral_max, 2);
  work->block.scale = SALTUS_PUSH(arena, double, bilateral_max);
  work->right = SALTUS_PUSH2(arena, double, bilateral_max, dense_max + 1);
  int most = bilateral_max > dense_max ? bilateral_max : dense_max;
  work->schur = SALTUS_PUSH2(arena, double, most, most);
  work->block.gram =
      work->schur; /* shared: `schur` is written after the last solution with the block */
  work->rest = SALTUS_PUSH(arena, double, dense_max);
}

/* right <- B^-1 [A_bu  b_b], column by column */
static void eliminate(saltusi_mixed_work* work, int nb, int nu, const double* A, const double* b) {
  int n = nb + nu;
  for (int j = 0; j <= nu; j++) {
    double* column = work->right + (size_t)j * (size_t)nb;
    for (int i = 0; i < nb; i++) {
      column[i] = j < nu ? A[i * n + nb + j] : b[i];
    }
    saltusi_rank_revealing_solve(&work->block, column);
  }
}

static void reduce(saltusi_mixed_work* work, int nb, int nu, const double* A, const double* b) {
  int n = nb + nu;
  for (int i = 0; i < nu; i++) {
    const double* row = A + (size_t)(nb + i) * (size_t)n;
    for (int j = 0; j < nu; j++) {
      work->schur[i * nu + j] =
          row[nb + j] - saltusi_dot(nb, row, work->right + (size_t)j * (size_t)nb);
    }
    work->rest[i] = b[nb + i] - saltusi_dot(nb, row, work->right + (size_t)nu * (size_t)nb);
  }
}

bool saltusi_mixed_reduce(saltusi_mixed_work* work, int bilateral, int unilateral, const double* A,
                          const double* b) {
  assert(work != NULL);
  if (!saltusi_rank_revealing_factor(&work->block, bilateral, A, bilateral + unilateral)) {
    return false;
  }
  eliminate(work, bilateral, unilateral, A, b);
  reduce(work, bilateral, unilateral, A, b);
  return true;
}

void saltusi_mixed_expand(const saltusi_mixed_work* work, int bilateral, int unilateral,
                          double* z) {
  assert(work != NULL);
  int nb = bilateral;
  int nu = unilateral;
  for (int i = 0; i < nb; i++) {
    double sum = work->right[(size_t)nu * (size_t)nb + (size_t)i];
    for (int j = 0; j < nu; j++) {
      sum += work->right[(size_t)j * (size_t)nb + (size_t)i] * z[nb + j];
    }
    z[i] = -sum;
  }
}

saltusi_mixed_outcome saltusi_mixed_solve(saltusi_mixed_work* work, int bilateral, int unilateral,
                                          const double* A, const double* b, double* z) {
  assert(work != NULL);
  int nb = bilateral;
  int nu = unilateral;
  work->lcp.iterations = 0;
  if (nb == 0) {
    bool solved = saltusi_lcp_step_dense(&work->lcp, nu, A, b, z);
    return solved ? SALTUSI_MIXED_SOLVED : SALTUSI_MIXED_UNSOLVED;
  }
  if (!saltusi_mixed_reduce(work, nb, nu, A, b)) {
    return SALTUSI_MIXED_NO_NUMBER;
  }
  if (nu > 0 && !saltusi_lcp_step_dense(&work->lcp, nu, work->schur, work->rest, z + nb)) {
    return SALTUSI_MIXED_UNSOLVED;
  }
  saltusi_mixed_expand(work, nb, nu, z);
  return SALTUSI_MIXED_SOLVED;
}
