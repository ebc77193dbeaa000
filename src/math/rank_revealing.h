/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rank_revealing.h - A x = b for a small square matrix W = G^T M^-1 G whose rows may be linearly dependent:
 * redundant joints, statically indeterminate supports.
 *
 *   S = D A D,  D = diag(|A_ii|^-1/2)          equilibrated rows and columns reveal the rank
 *   S = L U with complete pivoting             exact zeros, or less than `tiny`, beyond the rank
 *   b is projected off the left null space     the removed part is inconsistent
 *   x has no part in the right null space      minimum of sum A_ii x_i^2
 *
 * In this metric a multiplier is weighted by the velocity that it induces in its own row: the force of a
 * constraint does not change with its scaling, and equal rows have equal forces.
 */
#ifndef SALTUSI_RANK_REVEALING_H
#define SALTUSI_RANK_REVEALING_H

#include <stdbool.h>

typedef struct saltusi_rank_revealing {
  int n;         /* rows of the last matrix */
  int rank;      /* n: the rows are linearly independent */
  bool regular;  /* well conditioned: partial pivoting, without scaling */
  double* LU;    /* [n x n] */
  int* pivot;    /* [2 n] rows, then columns */
  double* scale; /* [n] D */
  double* gram;  /* [n x n] used only between a factorization and the solutions with it */
} saltusi_rank_revealing;

/* Joints whose W loses more digits than this count as linearly dependent: a drift of positions by 1e-5
 * perturbs identical rows by as much, and W by the square of it. */
#define SALTUSI_DEPENDENT 1e-9

/* Factors the first n rows and columns of A, whose rows are `stride` long. False when an entry is not
 * finite. */
bool saltusi_rank_revealing_factor(saltusi_rank_revealing* d, int n, const double* A, int stride);

/* The same for the Schur complement of a matrix with the diagonal `size`, which scales the rank test. A
 * is overwritten. */
bool saltusi_rank_revealing_factor_beside(saltusi_rank_revealing* d, int n, const double* A,
                                          const double* size);

/* The k-th vector of the right null space, 0 <= k < n - rank, after a factorisation that is not regular. */
void saltusi_rank_revealing_null(const saltusi_rank_revealing* d, int k, double* x);

/* b <- x. */
void saltusi_rank_revealing_solve(const saltusi_rank_revealing* d, double* b);

/* b <- its component in the left null space, nonzero for inconsistent rows. */
void saltusi_rank_revealing_miss(const saltusi_rank_revealing* d, double* b);

/* x <- x without its part in the right null space. */
void saltusi_rank_revealing_spread(const saltusi_rank_revealing* d, double* x);

/* x <- x + N c with Y^T diag(weight) (x + N c) = 0, N and Y the right and left null spaces: the solution of weights as
 * compliances that vanish together. Weights may be 0. After a factorisation that is not regular, which is then only
 * valid for null vectors. work [3 n], pivot [2 n]. */
void saltusi_rank_revealing_weight(saltusi_rank_revealing* d, const double* weight, double* x,
                                   double* work, int* pivot);

/* The k-th redundant row and column, rank <= k < n. */
int saltusi_rank_revealing_row(const saltusi_rank_revealing* d, int k);
int saltusi_rank_revealing_column(const saltusi_rank_revealing* d, int k);

#endif
