/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rank_revealing.c - see rank_revealing.h. With S = [S11 S12; S21 S22] after pivoting and S11 = L11 U11 of full
 * rank the null spaces are
 *
 *   right   [Z; 1],    Z = -U11^-1 U12        left   [Y^T; 1],    Y = -L21 L11^-1
 *
 * which overwrite U12 and L21; the part of y in the right one is [Z; 1] (1 + Z^T Z)^-1 (Z^T y1
 * + y2). The Cholesky factors of 1 + Z^T Z and 1 + Y Y^T are stored in the trailing block and in gram.
 */
#include "math/rank_revealing.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

static void swap(double* a, double* b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

/* Lower Cholesky factor in place; the matrix is 1 + something semidefinite. */
static void cholesky(int n, double* A, int stride) {
  for (int k = 0; k < n; k++) {
    for (int i = k; i < n; i++) {
      double sum = A[i * stride + k] - saltusi_dot(k, A + i * stride, A + k * stride);
      A[i * stride + k] = i == k ? sqrt(sum) : sum / A[k * stride + k];
    }
  }
}

static void cholesky_solve(int n, const double* A, int stride, double* x) {
  for (int i = 0; i < n; i++) {
    x[i] = (x[i] - saltusi_dot(i, A + i * stride, x)) / A[i * stride + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) {
      x[i] -= A[k * stride + i] * x[k];
    }
    x[i] /= A[i * stride + i];
  }
}

static void make_right(saltusi_rank_revealing* d) {
  int n = d->n;
  int r = d->rank;
  double* LU = d->LU;
  for (int c = r; c < n; c++) {
    for (int i = r - 1; i >= 0; i--) {
      double sum = -LU[i * n + c];
      for (int k = i + 1; k < r; k++) {
        sum -= LU[i * n + k] * LU[k * n + c];
      }
      LU[i * n + c] = sum / LU[i * n + i];
    }
  }
  for (int a = r; a < n; a++) {
    for (int b = r; b < n; b++) {
      double sum = a == b ? 1.0 : 0.0;
      for (int i = 0; i < r; i++) {
        sum += LU[i * n + a] * LU[i * n + b];
      }
      LU[a * n + b] = sum;
    }
  }
  cholesky(n - r, LU + r * n + r, n);
}

static void make_left(saltusi_rank_revealing* d) {
  int n = d->n;
  int r = d->rank;
  int beyond = n - r;
  for (int c = r; c < n; c++) {
    double* row = d->LU + c * n;
    for (int i = r - 1; i >= 0; i--) {
      double sum = -row[i];
      for (int k = i + 1; k < r; k++) {
        sum -= row[k] * d->LU[k * n + i];
      }
      row[i] = sum;
    }
  }
  for (int a = 0; a < beyond; a++) {
    for (int b = 0; b < beyond; b++) {
      d->gram[a * beyond + b] =
          (a == b ? 1.0 : 0.0) + saltusi_dot(r, d->LU + (r + a) * n, d->LU + (r + b) * n);
    }
  }
  cholesky(beyond, d->gram, beyond);
}

bool saltusi_rank_revealing_factor(saltusi_rank_revealing* d, int n, const double* A, int stride) {
  assert(d != NULL && n >= 0);
  d->n = n;
  for (int i = 0; i < n; i++) {
    memcpy(d->LU + i * n, A + (size_t)i * (size_t)stride, (size_t)n * sizeof(double));
  }
  d->rank = n;
  d->regular = saltusi_lu_factor(n, d->LU, d->pivot, SALTUSI_DEPENDENT);
  if (d->regular) {
    return true;
  }
  for (int i = 0; i < n; i++) {
    double size = fabs(A[(size_t)i * (size_t)(stride + 1)]);
    d->scale[i] = size > 0.0 ? 1.0 / sqrt(size) : 1.0;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      d->LU[i * n + j] = A[(size_t)i * (size_t)stride + (size_t)j] * d->scale[i] * d->scale[j];
    }
  }
  d->rank = saltusi_lu_factor_rank(n, d->LU, d->pivot, d->pivot + n, SALTUSI_DEPENDENT);
  if (d->rank < 0) {
    return false;
  }
  make_right(d);
  make_left(d);
  return true;
}

/* Permutes x into the order of the pivots, or back. */
static void permute(const saltusi_rank_revealing* d, const int* pivot, bool back, double* x) {
  for (int i = 0; i < d->rank; i++) {
    int k = back ? d->rank - 1 - i : i;
    swap(&x[k], &x[pivot[k]]);
  }
}

bool saltusi_rank_revealing_factor_beside(saltusi_rank_revealing* d, int n, const double* A,
                                          const double* size) {
  /* pivots large enough that column exchanges are not needed: five digits above SALTUSI_DEPENDENT */
  const double clear = 1e-4;
  assert(d != NULL && n >= 0);
  d->n = n;
  d->rank = n;
  memcpy(d->LU, A, (size_t)n * (size_t)n * sizeof(double));
  d->regular = saltusi_lu_factor(n, d->LU, d->pivot, 0.0);
  for (int i = 0; i < n && d->regular; i++) {
    d->regular = fabs(d->LU[i * (n + 1)]) > clear * size[i];
  }
  if (d->regular) {
    return true;
  }
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    d->scale[i] = size[i] > 0.0 ? 1.0 / sqrt(size[i]) : 1.0;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      d->LU[i * n + j] = A[i * n + j] * d->scale[i] * d->scale[j];
      most = saltusi_larger(most, fabs(d->LU[i * n + j]));
    }
  }
  if (!isfinite(most)) {
    return false;
  }
  if (most <= SALTUSI_DEPENDENT) {
    memset(d->LU, 0, (size_t)n * (size_t)n * sizeof(double));
    d->rank = 0;
  } else {
    d->rank = saltusi_lu_factor_rank(n, d->LU, d->pivot, d->pivot + n, SALTUSI_DEPENDENT / most);
  }
  make_right(d);
  make_left(d);
  return true;
}

void saltusi_rank_revealing_null(const saltusi_rank_revealing* d, int k, double* x) {
  int n = d->n;
  int r = d->rank;
  assert(!d->regular && k >= 0 && k < n - r);
  memset(x, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < r; i++) {
    x[i] = d->LU[i * n + r + k];
  }
  x[r + k] = 1.0;
  permute(d, d->pivot + n, true, x);
  for (int i = 0; i < n; i++) {
    x[i] *= d->scale[i];
  }
}

/* Coefficients of the component of b in the left null space, into its last entries; b is permuted. */
static void left_part(const saltusi_rank_revealing* d, double* b) {
  int r = d->rank;
  for (int c = r; c < d->n; c++) {
    b[c] += saltusi_dot(r, d->LU + c * d->n, b);
  }
  cholesky_solve(d->n - r, d->gram, d->n - r, b + r);
}

/* Removes from x its component in the right null space; its last entries are zero or count as zero. */
static void leave_right(const saltusi_rank_revealing* d, double* x) {
  int n = d->n;
  int r = d->rank;
  memset(x + r, 0, (size_t)(n - r) * sizeof(double));
  for (int i = 0; i < r; i++) {
    saltusi_add_scaled(n - r, x[i], d->LU + i * n + r, x + r);
  }
  cholesky_solve(n - r, d->LU + r * n + r, n, x + r);
  for (int i = 0; i < r; i++) {
    x[i] -= saltusi_dot(n - r, d->LU + i * n + r, x + r);
  }
  for (int k = r; k < n; k++) {
    x[k] = -x[k];
  }
}

void saltusi_rank_revealing_solve(const saltusi_rank_revealing* d, double* b) {
  assert(d != NULL && 0 <= d->rank && d->rank <= d->n);
  if (d->regular) {
    saltusi_lu_solve(d->n, d->LU, d->pivot, b);
    return;
  }
  int n = d->n;
  int r = d->rank;
  for (int i = 0; i < n; i++) {
    b[i] *= d->scale[i];
  }
  permute(d, d->pivot, false, b);
  left_part(d, b);
  for (int c = r; c < n; c++) {
    saltusi_add_scaled(r, -b[c], d->LU + c * n, b);
  }
  for (int i = 0; i < r; i++) {
    b[i] -= saltusi_dot(i, d->LU + i * n, b);
  }
  for (int i = r - 1; i >= 0; i--) {
    b[i] = (b[i] - saltusi_dot(r - i - 1, d->LU + i * n + i + 1, b + i + 1)) / d->LU[i * n + i];
  }
  leave_right(d, b);
  permute(d, d->pivot + n, true, b);
  for (int i = 0; i < n; i++) {
    b[i] *= d->scale[i];
  }
}

void saltusi_rank_revealing_miss(const saltusi_rank_revealing* d, double* b) {
  assert(d != NULL && 0 <= d->rank && d->rank <= d->n);
  int n = d->n;
  int r = d->rank;
  if (d->regular || r == n) {
    memset(b, 0, (size_t)n * sizeof(double));
    return;
  }
  for (int i = 0; i < n; i++) {
    b[i] *= d->scale[i];
  }
  permute(d, d->pivot, false, b);
  left_part(d, b);
  memset(b, 0, (size_t)r * sizeof(double));
  for (int c = r; c < n; c++) {
    saltusi_add_scaled(r, b[c], d->LU + c * n, b);
  }
  permute(d, d->pivot, true, b);
  for (int i = 0; i < n; i++) {
    b[i] /= d->scale[i];
  }
}

void saltusi_rank_revealing_spread(const saltusi_rank_revealing* d, double* x) {
  assert(d != NULL && 0 <= d->rank && d->rank <= d->n);
  int n = d->n;
  if (d->regular || d->rank == n) {
    return;
  }
  for (int i = 0; i < n; i++) {
    x[i] /= d->scale[i];
  }
  permute(d, d->pivot + n, false, x);
  for (int i = 0; i < d->rank; i++) { /* differs from x by a null-space vector */
    x[i] -= saltusi_dot(n - d->rank, d->LU + i * n + d->rank, x + d->rank);
  }
  leave_right(d, x);
  permute(d, d->pivot + n, true, x);
  for (int i = 0; i < n; i++) {
    x[i] *= d->scale[i];
  }
}

/* The k-th vector of the left null space. */
static void left_null(const saltusi_rank_revealing* d, int k, double* y) {
  const int n = d->n, r = d->rank;
  memset(y, 0, (size_t)n * sizeof(double));
  memcpy(y, d->LU + (r + k) * n, (size_t)r * sizeof(double));
  y[r + k] = 1.0;
  permute(d, d->pivot, true, y);
  for (int i = 0; i < n; i++) {
    y[i] *= d->scale[i];
  }
}

void saltusi_rank_revealing_weight(saltusi_rank_revealing* d, const double* weight, double* x,
                                   double* work, int* pivot) {
  assert(d != NULL && !d->regular && weight != NULL && x != NULL && work != NULL && pivot != NULL);
  const int n = d->n, k = n - d->rank;
  double *by = work, *y = work + n, *part = work + 2 * n, *B = d->gram;
  for (int a = 0; a < k; a++) {
    left_null(d, a, y);
    for (int i = 0; i < n; i++) {
      y[i] *= weight[i];
    }
    by[a] = -saltusi_dot(n, y, x);
    for (int b = 0; b < k; b++) {
      saltusi_rank_revealing_null(d, b, part);
      B[a * k + b] = saltusi_dot(n, y, part);
    }
  }
  const int rank = saltusi_lu_factor_rank(k, B, pivot, pivot + k, SALTUSI_DEPENDENT);
  if (rank <= 0) {
    return; /* only rows without weight are redundant */
  }
  saltusi_lu_solve_rank(k, rank, B, pivot, pivot + k, by);
  for (int b = 0; b < k; b++) {
    saltusi_rank_revealing_null(d, b, part);
    saltusi_add_scaled(n, by[b], part, x);
  }
}

/* Original index of entry k of the pivoted order. */
static int origin(const saltusi_rank_revealing* d, const int* pivot, int k) {
  for (int i = d->rank - 1; i >= 0; i--) {
    k = k == i ? pivot[i] : k == pivot[i] ? i : k;
  }
  return k;
}

int saltusi_rank_revealing_row(const saltusi_rank_revealing* d, int k) {
  assert(d != NULL && 0 <= d->rank && d->rank <= d->n);
  return origin(d, d->pivot, k);
}

int saltusi_rank_revealing_column(const saltusi_rank_revealing* d, int k) {
  assert(d != NULL && 0 <= d->rank && d->rank <= d->n);
  return origin(d, d->pivot + d->n, k);
}
