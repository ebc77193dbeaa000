/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mixed_lcp.h - bilateral rows first, unilateral rows after them:
 *
 *   0 = w_i for i < bilateral,   0 <= w_i perp z_i >= 0 for the others,   w = A z + b
 *
 * The bilateral unknowns are eliminated; the reduced linear complementarity problem is solved by the portfolio.
 */
#ifndef SALTUSI_MIXED_LCP_H
#define SALTUSI_MIXED_LCP_H

#include "math/rank_revealing.h"
#include "solve/lcp/lcp_step.h"

typedef struct saltusi_mixed_work {
  saltusi_lcp_step lcp;
  saltusi_rank_revealing
      block;     /* bilateral block, factored; block.rank < nb: rows are linearly dependent */
  double* right; /* [nb x (nu + 1)] block^-1 [A_bu  b_b], one column after the other */
  double* schur; /* [nu x nu] */
  double* rest;  /* [nu] */
} saltusi_mixed_work;

/* dense_max: largest number of unilateral rows in saltusi_mixed_solve; the capacity of work->lcp is unilateral_max for
 * a narrow band. */
void saltusi_mixed_layout(saltusi_mixed_work* work, int bilateral_max, int unilateral_max,
                          int dense_max, saltus_arena* arena);

typedef enum saltusi_mixed_outcome {
  SALTUSI_MIXED_SOLVED,
  SALTUSI_MIXED_NO_NUMBER, /* the bilateral block is not finite */
  SALTUSI_MIXED_UNSOLVED   /* no solver found a solution */
} saltusi_mixed_outcome;

/* A is n x n row major with n = bilateral + unilateral; z [n] is written when solved. */
saltusi_mixed_outcome saltusi_mixed_solve(saltusi_mixed_work* work, int bilateral, int unilateral,
                                          const double* A, const double* b, double* z);

/* The two halves of it, for laws other than complementarity: elimination of the bilateral rows, which leaves A and b in
 * work->schur [nu x nu] and work->rest [nu], false when they are not finite; and the bilateral unknowns z_b from
 * z_u. */
bool saltusi_mixed_reduce(saltusi_mixed_work* work, int bilateral, int unilateral, const double* A,
                          const double* b);
void saltusi_mixed_expand(const saltusi_mixed_work* work, int bilateral, int unilateral, double* z);

#endif
