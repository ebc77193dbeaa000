/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * banded.c - Golub & Van Loan, Matrix Computations, algorithm 4.3.1.
 */
#include "solve/lcp/banded.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

/* Pointer p with p[j] the entry in column j of row i. */
static double* row_of(const saltusi_band* band, int i) {
  size_t width = (size_t)band->lower + (size_t)band->upper + 1;
  return band->values + (size_t)i * width + band->lower - i;
}

bool saltusi_band_factor(const saltusi_band* band) {
  assert(band != NULL);
  for (int k = 0; k < band->n; k++) {
    const double* from = row_of(band, k);
    if (!(fabs(from[k]) > 0.0) || !isfinite(from[k])) {
      return false;
    }
    double reciprocal = 1.0 / from[k];
    int bottom = k + band->lower < band->n - 1 ? k + band->lower : band->n - 1;
    int right = k + band->upper < band->n - 1 ? k + band->upper : band->n - 1;
    for (int i = k + 1; i <= bottom; i++) {
      double* to = row_of(band, i);
      double factor = to[k] * reciprocal;
      to[k] = factor;
      for (int j = k + 1; factor != 0.0 && j <= right; j++) {
        to[j] -= factor * from[j];
      }
    }
  }
  return true;
}

void saltusi_band_solve(const saltusi_band* band, double* x) {
  assert(band != NULL);
  for (int i = 1; i < band->n; i++) {
    const double* row = row_of(band, i);
    for (int j = i > band->lower ? i - band->lower : 0; j < i; j++) {
      x[i] -= row[j] * x[j];
    }
  }
  for (int i = band->n - 1; i >= 0; i--) {
    const double* row = row_of(band, i);
    int right = i + band->upper < band->n - 1 ? i + band->upper : band->n - 1;
    for (int j = i + 1; j <= right; j++) {
      x[i] -= row[j] * x[j];
    }
    x[i] /= row[i];
  }
}
