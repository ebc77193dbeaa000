/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_dense.c - right-looking LU and Cholesky with panels of eight pivots (Golub & Van Loan, Matrix Computations,
 * sections 3.2 and 4.2). Most operations are in one kernel: a row minus a combination of eight rows, in tiles that fit
 * into the level-1 cache.
 */
#include "solve/lcp/lcp_dense.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

enum { PANEL = 8, TILE = 256 };

static double* row_of(double* A, int stride, int i) {
  return A + (size_t)i * (size_t)stride;
}

double saltusi_dot4(int n, const double* a, const double* b) {
  assert(n >= 0 && (n == 0 || (a != NULL && b != NULL)));
  double s0 = 0.0;
  double s1 = 0.0;
  double s2 = 0.0;
  double s3 = 0.0;
  int i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; i++) {
    s0 += a[i] * b[i];
  }
  return (s0 + s1) + (s2 + s3);
}

/* y -= c_0 x_0 + ... + c_7 x_7, the rows x lying `stride` apart */
static void subtract_eight(int n, const double* c, const double* restrict x, int stride,
                           double* restrict y) {
  size_t s = (size_t)stride;
  const double* restrict x1 = x + s;
  const double* restrict x2 = x + 2 * s;
  const double* restrict x3 = x + 3 * s;
  const double* restrict x4 = x + 4 * s;
  const double* restrict x5 = x + 5 * s;
  const double* restrict x6 = x + 6 * s;
  const double* restrict x7 = x + 7 * s;
  double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
  double c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7];
  for (int j = 0; j < n; j++) {
    double a = (c0 * x[j] + c1 * x1[j]) + (c2 * x2[j] + c3 * x3[j]);
    double b = (c4 * x4[j] + c5 * x5[j]) + (c6 * x6[j] + c7 * x7[j]);
    y[j] -= a + b;
  }
}

static void subtract(int n, int count, const double* c, const double* x, int stride, double* y) {
  if (count == PANEL) {
    subtract_eight(n, c, x, stride, y);
    return;
  }
  for (int k = 0; k < count; k++) {
    const double* restrict from = x + (size_t)k * (size_t)stride;
    double factor = c[k];
    for (int j = 0; factor != 0.0 && j < n; j++) {
      y[j] -= factor * from[j];
    }
  }
}

static void exchange_rows(const saltusi_dense_elimination* e, int a, int b) {
  double* x = row_of(e->A, e->stride, a);
  double* y = row_of(e->A, e->stride, b);
  for (int j = 0; a != b && j < e->columns; j++) {
    double kept = x[j];
    x[j] = y[j];
    y[j] = kept;
  }
}

/* Factors columns first .. last - 1 with all rows below. */
static bool factor_panel(const saltusi_dense_elimination* e, int first, int last, double tiny,
                         int* pivot) {
  for (int k = first; k < last; k++) {
    int best = k;
    double size = 0.0;
    double largest = -1.0;
    for (int i = 0; i < e->pivots; i++) {
      double entry = fabs(e->A[(size_t)i * (size_t)e->stride + (size_t)k]);
      size = entry > size ? entry : size;
      if (i >= k && entry > largest) {
        largest = entry;
        best = i;
      }
    }
    pivot[k] = best;
    if (!(largest > tiny * size) || !isfinite(largest)) {
      return false;
    }
    exchange_rows(e, k, best);
    const double* from = row_of(e->A, e->stride, k);
    double reciprocal = 1.0 / from[k];
    for (int i = k + 1; i < e->rows; i++) {
      double* to = row_of(e->A, e->stride, i);
      double factor = to[k] * reciprocal;
      to[k] = factor;
      for (int j = k + 1; factor != 0.0 && j < last; j++) {
        to[j] -= factor * from[j];
      }
    }
  }
  return true;
}

static void update_right(const saltusi_dense_elimination* e, int first, int last) {
  for (int tile = last; tile < e->columns; tile += TILE) {
    int width = e->columns - tile < TILE ? e->columns - tile : TILE;
    const double* top = row_of(e->A, e->stride, first) + tile;
    for (int k = first + 1; k < last; k++) {
      double* to = row_of(e->A, e->stride, k);
      subtract(width, k - first, to + first, top, e->stride, to + tile);
    }
    for (int i = last; i < e->rows; i++) {
      double* to = row_of(e->A, e->stride, i);
      subtract(width, last - first, to + first, top, e->stride, to + tile);
    }
  }
}

bool saltusi_eliminate(const saltusi_dense_elimination* what, double tiny, int* pivot) {
  assert(what != NULL);
  for (int first = 0; first < what->pivots; first += PANEL) {
    int last = first + PANEL < what->pivots ? first + PANEL : what->pivots;
    if (!factor_panel(what, first, last, tiny, pivot)) {
      return false;
    }
    update_right(what, first, last);
  }
  return true;
}

void saltusi_eliminate_solve(const saltusi_dense_elimination* what, const int* pivot, double* x) {
  assert(what != NULL);
  int n = what->pivots;
  for (int k = 0; k < n; k++) {
    double kept = x[pivot[k]];
    x[pivot[k]] = x[k];
    x[k] = kept;
  }
  for (int i = 1; i < n; i++) {
    x[i] -= saltusi_dot4(i, row_of(what->A, what->stride, i), x);
  }
  for (int i = n - 1; i >= 0; i--) {
    const double* row = row_of(what->A, what->stride, i);
    x[i] = (x[i] - saltusi_dot4(n - i - 1, row + i + 1, x + i + 1)) / row[i];
  }
}

/* Rows first .. last - 1 of U. */
static bool cholesky_panel(int n, double* A, int first, int last, double tiny) {
  for (int k = first; k < last; k++) {
    double* row = row_of(A, n, k);
    double before = row[k];
    for (int p = first; p < k; p++) {
      const double* above = row_of(A, n, p);
      double factor = above[k];
      for (int j = k; j < n; j++) {
        row[j] -= factor * above[j];
      }
    }
    if (!(row[k] > tiny * before) || !isfinite(row[k])) {
      return false;
    }
    double reciprocal = 1.0 / sqrt(row[k]);
    for (int j = k; j < n; j++) {
      row[j] *= reciprocal;
    }
  }
  return true;
}

bool saltusi_cholesky(int n, double* A, double tiny) {
  assert(n >= 0 && (n == 0 || A != NULL));
  for (int first = 0; first < n; first += PANEL) {
    int last = first + PANEL < n ? first + PANEL : n;
    if (!cholesky_panel(n, A, first, last, tiny)) {
      return false;
    }
    for (int tile = last; tile < n; tile += TILE) {
      int end = tile + TILE < n ? tile + TILE : n;
      for (int i = last; i < end; i++) {
        double factors[PANEL];
        for (int k = first; k < last; k++) {
          factors[k - first] = A[(size_t)k * (size_t)n + (size_t)i];
        }
        int from = i > tile ? i : tile;
        subtract(end - from, last - first, factors, row_of(A, n, first) + from, n,
                 row_of(A, n, i) + from);
      }
    }
  }
  return true;
}

void saltusi_cholesky_solve(int n, const double* U, double* x) {
  assert(n >= 0 && (n == 0 || (U != NULL && x != NULL)));
  for (int k = 0; k < n; k++) {
    const double* row = U + (size_t)k * (size_t)n;
    x[k] /= row[k];
    double factor = x[k];
    for (int j = k + 1; j < n; j++) {
      x[j] -= factor * row[j];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    const double* row = U + (size_t)k * (size_t)n;
    x[k] = (x[k] - saltusi_dot4(n - k - 1, row + k + 1, x + k + 1)) / row[k];
  }
}
