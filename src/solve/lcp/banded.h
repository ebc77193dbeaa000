/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * banded.h - LU of banded matrices without pivoting, so that the band cannot grow. For
 * positive definite matrices, symmetric or not, that is stable enough; callers check the residual.
 */
#ifndef SALTUSI_BANDED_H
#define SALTUSI_BANDED_H

#include <stdbool.h>

/* Row i holds columns i - lower .. i + upper; entries outside the matrix are unused. */
typedef struct saltusi_band {
  int n, lower, upper;
  double* values; /* [n x (lower + upper + 1)] */
} saltusi_band;

/* In place; false when a pivot is zero or not finite. */
bool saltusi_band_factor(const saltusi_band* band);
void saltusi_band_solve(const saltusi_band* band, double* x);

#endif
