/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * nonnegative.c - see nonnegative.h: nonnegative least squares by Lawson and Hanson's method (Solving least squares
 * problems, 1974, chapter 23), with a basis by Gram-Schmidt, applied twice.
 */
#include "math/nonnegative.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { WIDTH = SALTUSI_NONNEGATIVE_WIDTH };

/* Fraction of a vector that counts as rounding. */
static const double rounding = 1e-12;

/* The columns in use. */
typedef struct nonnegative_basis {
  int width, count;
  const double (*given)[WIDTH];
  int column[WIDTH];
  double Q[WIDTH][WIDTH], R[WIDTH][WIDTH]; /* column k of each in [k] */
} nonnegative_basis;

static bool extend(nonnegative_basis* b, int column) {
  double* q = b->Q[b->count];
  double* r = b->R[b->count];
  memcpy(q, b->given[column], sizeof b->given[column]);
  memset(r, 0, sizeof b->R[0]);
  const double size = sqrt(saltusi_dot(b->width, q, q));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < b->count; k++) {
      const double part = saltusi_dot(b->width, b->Q[k], q);
      r[k] += part;
      saltusi_add_scaled(b->width, -part, b->Q[k], q);
    }
  }
  const double left = sqrt(saltusi_dot(b->width, q, q));
  if (!(left > 1e-9 * size)) {
    return false;
  }
  for (int i = 0; i < b->width; i++) {
    q[i] /= left;
  }
  r[b->count] = left;
  b->column[b->count++] = column;
  return true;
}

/* Factors of the columns in use for a target. */
static void solve(const nonnegative_basis* b, const double* target, double* a) {
  for (int k = b->count - 1; k >= 0; k--) {
    double sum = saltusi_dot(b->width, b->Q[k], target);
    for (int j = k + 1; j < b->count; j++) {
      sum -= b->R[j][k] * a[j];
    }
    a[k] = sum / b->R[k][k];
  }
}

/* Moves from `a` towards the solution up to the first zero factor, and removes that column from the basis; repeats
 * until no factor is negative. */
static void retreat(nonnegative_basis* b, const double* target, double* a) {
  for (int tries = 0; tries < WIDTH; tries++) {
    double to[WIDTH], way = 1.0;
    solve(b, target, to);
    for (int k = 0; k < b->count; k++) {
      if (to[k] <= 0.0) {
        const double most = a[k] / (a[k] - to[k]);
        way = most < way ? most : way;
      }
    }
    double kept_a[WIDTH] = {0.0};
    int kept[WIDTH], count = 0;
    for (int k = 0; k < b->count; k++) {
      const double value = a[k] + way * (to[k] - a[k]);
      if (way == 1.0 || value > rounding) {
        kept[count] = b->column[k];
        kept_a[count++] = value;
      }
    }
    memcpy(a, kept_a, sizeof kept_a);
    if (way == 1.0) {
      return;
    }
    b->count = 0;
    for (int k = 0; k < count; k++) {
      (void)extend(b, kept[k]);
    }
  }
}

void saltusi_nonnegative_sum(int width, int count, const double (*column)[WIDTH],
                             const bool* unused, const double* target, saltusi_nonnegative* sum) {
  assert(width > 0 && width <= WIDTH && column != NULL && unused != NULL && target != NULL);
  assert(sum != NULL);
  const double size = sqrt(saltusi_dot(width, target, target));
  nonnegative_basis b = {.width = width, .given = column};
  double a[WIDTH] = {0.0}, left[WIDTH];
  memcpy(left, target, (size_t)width * sizeof(double));
  for (int round = 0; round < 2 * count; round++) {
    int best = -1;
    double most = rounding * size * size;
    for (int j = 0; j < count; j++) {
      const double slope = unused[j] ? 0.0 : saltusi_dot(width, column[j], left);
      if (slope > most) {
        most = slope;
        best = j;
      }
    }
    if (best < 0 || b.count == width || !extend(&b, best)) {
      break;
    }
    a[b.count - 1] = 0.0;
    retreat(&b, target, a);
    memcpy(left, target, (size_t)width * sizeof(double));
    for (int k = 0; k < b.count; k++) {
      saltusi_add_scaled(width, -a[k], column[b.column[k]], left);
    }
  }
  sum->count = b.count;
  memcpy(sum->column, b.column, sizeof b.column);
  memcpy(sum->a, a, sizeof a);
  sum->left = sqrt(saltusi_dot(width, left, left));
}
