/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_dense.h - dense factorisations in panels, for blocks of up to some thousand rows. Row major,
 * sums in a fixed order written out, so that the bits depend neither on the compiler's
 * vectorisation nor on threads.
 */
#ifndef SALTUSI_LCP_DENSE_H
#define SALTUSI_LCP_DENSE_H

#include <stdbool.h>

/* A rectangle of numbers in which the first `pivots` rows and columns are eliminated. */
typedef struct saltusi_dense_elimination {
  double* A;   /* [rows x stride] row major */
  int stride;  /* >= columns */
  int rows;    /* all of them are updated */
  int columns; /* >= pivots; more than rows if right-hand sides are appended */
  int pivots;  /* pivot rows are among the first `pivots` rows */
} saltusi_dense_elimination;

/* P A = L U on the first `pivots` columns with partial pivoting; the block to the right of and below them becomes the
 * Schur complement. pivot [pivots] holds the exchanges. False when a pivot is not above
 * `tiny` times the size of its column. */
bool saltusi_eliminate(const saltusi_dense_elimination* what, double tiny, int* pivot);

/* x <- A^-1 x with the factors of a square elimination. */
void saltusi_eliminate_solve(const saltusi_dense_elimination* what, const int* pivot, double* x);

/* A = U^T U in place, reading and writing the upper triangle only. False unless every pivot is
 * above tiny times the diagonal entry that it came from. */
bool saltusi_cholesky(int n, double* A, double tiny);
void saltusi_cholesky_solve(int n, const double* U, double* x);

/* Sum of a_i b_i in four interleaved parts. */
double saltusi_dot4(int n, const double* a, const double* b);

#endif
