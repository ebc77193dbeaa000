/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * nonnegative.h - nonnegative least squares: approximation of a vector by others with nonnegative factors.
 */
#ifndef SALTUSI_NONNEGATIVE_H
#define SALTUSI_NONNEGATIVE_H

#include <stdbool.h>

/* Entries of a vector, at most: a row between two bodies in space. */
enum { SALTUSI_NONNEGATIVE_WIDTH = 12 };

typedef struct saltusi_nonnegative {
  int count; /* columns with a nonzero factor: linearly independent, so at most `width` */
  int column[SALTUSI_NONNEGATIVE_WIDTH];
  double a[SALTUSI_NONNEGATIVE_WIDTH];
  double left; /* norm of the residual */
} saltusi_nonnegative;

/* least |target - sum a_j column_j| over a >= 0, without the columns with unused[j]. Parts of a column and of the target
 * below 1e-12 of their size count as rounding. */
void saltusi_nonnegative_sum(int width, int count,
                             const double (*column)[SALTUSI_NONNEGATIVE_WIDTH], const bool* unused,
                             const double* target, saltusi_nonnegative* sum);

#endif
