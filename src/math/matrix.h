/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * matrix.h - small dense kernels: row major, sums in index order, so that results are bitwise reproducible.
 */
#ifndef SALTUSI_MATRIX_H
#define SALTUSI_MATRIX_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static inline double saltusi_dot(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* The same for long vectors: four partial sums, which removes the dependency between consecutive products. The order
 * is fixed, so results are bitwise reproducible. */
static inline double saltusi_long_dot(int n, const double* a, const double* b) {
  double sum[4] = {0.0};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) {
      sum[k] += a[i + k] * b[i + k];
    }
  }
  for (; i < n; i++) {
    sum[0] += a[i] * b[i];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* y += s x */
static inline void saltusi_add_scaled(int n, double s, const double* x, double* y) {
  for (int i = 0; i < n; i++) {
    y[i] += s * x[i];
  }
}

/* z = a x + b y; z differs from both, so short vectors need no aliasing checks. */
static inline void saltusi_mean(int n, double a, const double* x, double b, const double* y,
                                double* restrict z) {
  for (int i = 0; i < n; i++) {
    z[i] = a * x[i] + b * y[i];
  }
}

/* The larger of two; NaN if one is NaN. */
static inline double saltusi_larger(double a, double b) {
  return b > a || b != b ? b : a;
}

/* NaN if one is NaN. */
static inline double saltusi_max_abs(int n, const double* x) {
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    largest = saltusi_larger(largest, fabs(x[i]));
  }
  return largest;
}

/* The same for long vectors, four partial results. */
static inline double saltusi_long_max_abs(int n, const double* x) {
  double most[4] = {0.0}, zero[4] = {0.0}; /* 0 x is NaN if x is not finite */
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) {
      const double size = fabs(x[i + k]);
      most[k] = size > most[k] ? size : most[k];
      zero[k] += 0.0 * x[i + k];
    }
  }
  const double sum = (zero[0] + zero[1]) + (zero[2] + zero[3]);
  if (sum != 0.0) {
    return saltusi_max_abs(n, x);
  }
  for (; i < n; i++) {
    most[0] = saltusi_larger(most[0], fabs(x[i]));
  }
  return saltusi_larger(saltusi_larger(most[0], most[1]), saltusi_larger(most[2], most[3]));
}

/* y = A x for an n x n matrix */
static inline void saltusi_matrix_times(int n, const double* A, const double* x, double* y) {
  for (int i = 0; i < n; i++) {
    y[i] = saltusi_dot(n, A + (size_t)i * (size_t)n, x);
  }
}

/* Whether a symmetric matrix is positive definite, by Cholesky's factorisation in place; only its lower triangle is
 * read. */
bool saltusi_is_definite(int n, double* S);

/* A = P L U in place with partial pivoting, L with unit diagonal. False when a pivot is not above
 * `tiny` times the size of its column, or not finite. */
bool saltusi_lu_factor(int n, double* A, int* pivot, double tiny);

/* x <- A^-1 x with the factors of saltusi_lu_factor. */
void saltusi_lu_solve(int n, const double* LU, const int* pivot, double* x);

/* The same with complete pivoting, for matrices that may be singular: returns the rank, with pivots
 * below `tiny` times the first counted as zero; -1 when an entry is not finite. */
int saltusi_lu_factor_rank(int n, double* A, int* row_pivot, int* column_pivot, double tiny);

/* x <- a solution of A x = b with zeros in the unknowns beyond the rank; b must be consistent. */
void saltusi_lu_solve_rank(int n, int rank, const double* LU, const int* row_pivot,
                           const int* column_pivot, double* x);

#endif
