/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * matrix.c - LU with partial pivoting (Golub & Van Loan, Matrix Computations, algorithm 3.4.1), for matrices so small
 * that the call overhead of LAPACK dominates.
 */
#include "math/matrix.h"

#include "base/lanes.h"

#include <assert.h>

static int pivot_row(int n, const double* A, int k) {
  int best = k;
  for (int i = k + 1; i < n; i++) {
    if (fabs(A[i * n + k]) > fabs(A[best * n + k])) {
      best = i;
    }
  }
  return best;
}

static void swap_rows(int n, double* A, int a, int b) {
  for (int j = 0; j < n && a != b; j++) {
    double kept = A[a * n + j];
    A[a * n + j] = A[b * n + j];
    A[b * n + j] = kept;
  }
}

/* Largest entry of column k of the partly factored matrix: rows above hold U, so it estimates the size of the column
 * of A without a copy. */
static double column_size(int n, const double* A, int k) {
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    const double size = fabs(A[i * n + k]);
    largest = size > largest ? size : largest;
  }
  return largest;
}

bool saltusi_is_definite(int n, double* S) {
  assert(n >= 0 && (S != NULL || n == 0));
  for (int j = 0; j < n; j++) {
    double* row = S + (size_t)j * (size_t)n;
    double pivot = row[j] - saltusi_dot(j, row, row);
    if (!(pivot > 0.0)) {
      return false;
    }
    row[j] = sqrt(pivot);
    for (int i = j + 1; i < n; i++) {
      double* other = S + (size_t)i * (size_t)n;
      other[j] = (other[j] - saltusi_dot(j, other, row)) / row[j];
    }
  }
  return true;
}

/* Sizes are compile-time constants where inlined; so below. */
static inline bool lu_factor(const int n, double* A, int* pivot, double tiny) {
  for (int k = 0; k < n; k++) {
    double size = column_size(n, A, k);
    int best = pivot_row(n, A, k);
    pivot[k] = best;
    swap_rows(n, A, k, best);
    double diagonal = A[k * n + k];
    if (!(fabs(diagonal) > tiny * size) || !isfinite(diagonal)) {
      return false;
    }
    for (int i = k + 1; i < n; i++) {
      double factor = A[i * n + k] / diagonal;
      A[i * n + k] = factor;
      if (factor != 0.0) {
        saltusi_add_scaled(n - k - 1, -factor, A + k * n + k + 1, A + i * n + k + 1);
      }
    }
  }
  return true;
}

/* The most common sizes: two coordinates, velocities of a body in the plane and in space. */
enum { PAIR = 2, FLAT = 3, BODY = 6 };

SALTUSI_FOR_MACHINES static bool lu_factor_any(int n, double* A, int* pivot, double tiny) {
  switch (n) {
  case PAIR:
    return lu_factor(PAIR, A, pivot, tiny);
  case FLAT:
    return lu_factor(FLAT, A, pivot, tiny);
  case BODY:
    return lu_factor(BODY, A, pivot, tiny);
  default:
    return lu_factor(n, A, pivot, tiny);
  }
}

bool saltusi_lu_factor(int n, double* A, int* pivot, double tiny) {
  assert(n >= 0);
  return lu_factor_any(n, A, pivot, tiny);
}

static inline void lu_solve(const int n, const double* LU, const int* pivot, double* x) {
  for (int k = 0; k < n; k++) {
    double kept = x[pivot[k]];
    x[pivot[k]] = x[k];
    x[k] = kept;
  }
  for (int i = 1; i < n; i++) {
    x[i] -= saltusi_dot(i, LU + i * n, x);
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = x[i] - saltusi_dot(n - i - 1, LU + i * n + i + 1, x + i + 1);
    x[i] = sum / LU[i * n + i];
  }
}

void saltusi_lu_solve(int n, const double* LU, const int* pivot, double* x) {
  assert(n >= 0);
  switch (n) {
  case PAIR:
    lu_solve(PAIR, LU, pivot, x);
    break;
  case FLAT:
    lu_solve(FLAT, LU, pivot, x);
    break;
  case BODY:
    lu_solve(BODY, LU, pivot, x);
    break;
  default:
    lu_solve(n, LU, pivot, x);
  }
}

static void swap(double* a, double* b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

/* Indices of the largest entry of the trailing block; false if one is not finite. */
static bool largest_entry(int n, const double* A, int k, int* row, int* column, double* size) {
  *row = k;
  *column = k;
  *size = 0.0;
  for (int i = k; i < n; i++) {
    for (int j = k; j < n; j++) {
      double entry = fabs(A[i * n + j]);
      if (!isfinite(entry)) {
        return false;
      }
      if (entry > *size) {
        *size = entry;
        *row = i;
        *column = j;
      }
    }
  }
  return true;
}

int saltusi_lu_factor_rank(int n, double* A, int* row_pivot, int* column_pivot, double tiny) {
  assert(n >= 0);
  double first = 0.0;
  for (int k = 0; k < n; k++) {
    int row;
    int column;
    double size;
    if (!largest_entry(n, A, k, &row, &column, &size)) {
      return -1;
    }
    first = k == 0 ? size : first;
    if (size <= tiny * first || size == 0.0) {
      return k;
    }
    row_pivot[k] = row;
    column_pivot[k] = column;
    for (int j = 0; j < n; j++) {
      swap(&A[k * n + j], &A[row * n + j]);
    }
    for (int i = 0; i < n; i++) {
      swap(&A[i * n + k], &A[i * n + column]);
    }
    for (int i = k + 1; i < n; i++) {
      double factor = A[i * n + k] /= A[k * n + k];
      for (int j = k + 1; j < n; j++) {
        A[i * n + j] -= factor * A[k * n + j];
      }
    }
  }
  return n;
}

void saltusi_lu_solve_rank(int n, int rank, const double* LU, const int* row_pivot,
                           const int* column_pivot, double* x) {
  assert(n >= 0);
  for (int k = 0; k < rank; k++) {
    swap(&x[k], &x[row_pivot[k]]);
  }
  for (int k = 0; k < rank; k++) {
    for (int i = k + 1; i < rank; i++) {
      x[i] -= LU[i * n + k] * x[k];
    }
  }
  for (int k = rank; k < n; k++) {
    x[k] = 0.0;
  }
  for (int k = rank - 1; k >= 0; k--) {
    for (int j = k + 1; j < rank; j++) {
      x[k] -= LU[k * n + j] * x[j];
    }
    x[k] /= LU[k * n + k];
  }
  for (int k = rank - 1; k >= 0; k--) {
    swap(&x[k], &x[column_pivot[k]]);
  }
}
