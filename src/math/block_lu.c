/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * block_lu.c - row by row: with A_i the row of blocks of position i,
 *
 *   for each k in row i of L, ascending:  L_ik = A_ik D_k^-1,   A_ij -= L_ik U_kj  for j in row k of U
 *   D_i = A_ii,   U_ij = A_ij for j > i
 *
 * Duff, Erisman & Reid, Direct Methods for Sparse Matrices, chapter 10, with blocks in place of numbers. Blocks of
 * two, three or six rows have kernels of constant size; others use general ones.
 */
#include "math/block_lu.h"

#include "base/lanes.h"
#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Determinants below this limit, 1e28 times the least normal number, have lost digits, or 1 / det overflows. The limit
 * concerns the range of numbers, not the rank, and is absolute: blocks of size 1e-93 are rejected. A singular matrix
 * is detected by the residual of the solve. */
static const double determinant_least = 1e-280;

static inline bool invert3(const double* a, double* b) {
  double c0 = a[4] * a[8] - a[5] * a[7];
  double c1 = a[5] * a[6] - a[3] * a[8];
  double c2 = a[3] * a[7] - a[4] * a[6];
  double det = a[0] * c0 + a[1] * c1 + a[2] * c2;
  if (!(fabs(det) > determinant_least)) {
    return false;
  }
  double s = 1.0 / det;
  b[0] = c0 * s;
  b[3] = c1 * s;
  b[6] = c2 * s;
  b[1] = (a[2] * a[7] - a[1] * a[8]) * s;
  b[4] = (a[0] * a[8] - a[2] * a[6]) * s;
  b[7] = (a[1] * a[6] - a[0] * a[7]) * s;
  b[2] = (a[1] * a[5] - a[2] * a[4]) * s;
  b[5] = (a[2] * a[3] - a[0] * a[5]) * s;
  b[8] = (a[0] * a[4] - a[1] * a[3]) * s;
  return true;
}

static inline bool invert2(const double* a, double* b) {
  double det = a[0] * a[3] - a[1] * a[2];
  if (!(fabs(det) > determinant_least)) {
    return false;
  }
  double s = 1.0 / det;
  b[0] = a[3] * s;
  b[1] = -a[1] * s;
  b[2] = -a[2] * s;
  b[3] = a[0] * s;
  return true;
}

static bool invert_general(saltusi_block_lu* lu, int d, const double* a, double* b) {
  double* copy = lu->scratch;
  double* column = lu->scratch + (size_t)d * (size_t)d;
  memcpy(copy, a, (size_t)d * (size_t)d * sizeof(double));
  if (!saltusi_lu_factor(d, copy, lu->pivot, 0.0)) {
    return false;
  }
  for (int c = 0; c < d; c++) {
    memset(column, 0, (size_t)d * sizeof(double));
    column[c] = 1.0;
    saltusi_lu_solve(d, copy, lu->pivot, column);
    for (int k = 0; k < d; k++) {
      b[k * d + c] = column[k];
    }
  }
  return true;
}

/* Rows of the largest blocks with specialised loops: bodies. */
enum { WIDE = 6 };

/* The inverse of a block of bodies, after Gauss and Jordan with pivots by columns. False when it is singular. */
static bool invert_wide(const double* a, double* b) {
  double left[WIDE][WIDE], right[WIDE][WIDE] = {{0.0}};
  memcpy(left, a, sizeof left);
  for (int k = 0; k < WIDE; k++) {
    right[k][k] = 1.0;
  }
  for (int k = 0; k < WIDE; k++) {
    int pivot = k;
    for (int i = k + 1; i < WIDE; i++) {
      pivot = fabs(left[i][k]) > fabs(left[pivot][k]) ? i : pivot;
    }
    if (!(fabs(left[pivot][k]) > 0.0) || !isfinite(left[pivot][k])) {
      return false;
    }
    if (pivot != k) {
      double kept[WIDE];
      memcpy(kept, left[k], sizeof kept);
      memcpy(left[k], left[pivot], sizeof kept);
      memcpy(left[pivot], kept, sizeof kept);
      memcpy(kept, right[k], sizeof kept);
      memcpy(right[k], right[pivot], sizeof kept);
      memcpy(right[pivot], kept, sizeof kept);
    }
    const double scale = 1.0 / left[k][k];
    for (int c = 0; c < WIDE; c++) {
      left[k][c] *= scale;
      right[k][c] *= scale;
    }
    for (int i = 0; i < WIDE; i++) {
      const double part = i == k ? 0.0 : left[i][k];
      for (int c = 0; c < WIDE; c++) {
        left[i][c] -= part * left[k][c];
        right[i][c] -= part * right[k][c];
      }
    }
  }
  memcpy(b, right, sizeof right);
  return true;
}

/* C -= A B with A [m x k], B [k x n]; sizes are constants where inlined. */
static inline void subtract_product(const int m, const int k, const int n, const double* restrict A,
                                    const double* restrict B, double* restrict C) {
  for (int a = 0; a < m; a++) {
    for (int c = 0; c < n; c++) {
      double sum = C[a * n + c];
      for (int l = 0; l < k; l++) {
        sum -= A[a * k + l] * B[l * n + c];
      }
      C[a * n + c] = sum;
    }
  }
}

/* C = A B */
static inline void product(const int m, const int k, const int n, const double* restrict A,
                           const double* restrict B, double* restrict C) {
  for (int a = 0; a < m; a++) {
    for (int c = 0; c < n; c++) {
      double sum = A[a * k] * B[c];
      for (int l = 1; l < k; l++) {
        sum += A[a * k + l] * B[l * n + c];
      }
      C[a * n + c] = sum;
    }
  }
}

/* Blocks of bodies: C_g -= A B_g for the blocks g of row k in the upper factor. The sums are those of subtract_product. Lanes are
 * the first four of six columns, row by row, and the last two of rows by twos. */
SALTUSI_FOR_MACHINES static void subtract_wide(const saltusi_block_lu* lu, int k, const double* A) {
  enum { SQUARE = WIDE * WIDE, TWOS = WIDE / 2 };
  const double* B = lu->upper + (size_t)lu->upper_start[k] * SQUARE;
  saltusi_lanes one[SQUARE], two[TWOS * WIDE];
  for (int e = 0; e < SQUARE; e++) {
    one[e] = (saltusi_lanes){A[e], A[e], A[e], A[e]};
  }
  for (int e = 0; e < TWOS * WIDE; e++) {
    const double *up = A + e / WIDE * 2 * WIDE + e % WIDE, *low = up + WIDE;
    two[e] = (saltusi_lanes){*up, *up, *low, *low};
  }
  for (int g = lu->upper_start[k]; g < lu->upper_start[k + 1]; g++, B += SQUARE) {
    double* C = lu->row + (size_t)lu->upper_unit[g] * SQUARE;
    for (int t = 0; t < TWOS; t++) {
      double *up = C + (size_t)t * 2 * WIDE, *low = up + WIDE;
      saltusi_lanes first = *(saltusi_lanes*)up, second = *(saltusi_lanes*)low;
      saltusi_lanes last = {up[4], up[5], low[4], low[5]};
      for (int l = 0; l < WIDE; l++) {
        const double* b = B + (size_t)l * WIDE;
        const saltusi_lanes four = *(const saltusi_lanes*)b;
        first -= one[2 * t * WIDE + l] * four;
        second -= one[(2 * t + 1) * WIDE + l] * four;
        last -= two[t * WIDE + l] * (saltusi_lanes){b[4], b[5], b[4], b[5]};
      }
      *(saltusi_lanes*)up = first;
      *(saltusi_lanes*)low = second;
      up[4] = last[0];
      up[5] = last[1];
      low[4] = last[2];
      low[5] = last[3];
    }
  }
}

static inline bool factor_uniform(saltusi_block_lu* lu, const int d) {
  const int square = d * d;
  const size_t bytes = (size_t)square * sizeof(double);
  double* row = lu->row;
  for (int i = 0; i < lu->units; i++) {
    int unit = lu->order[i];
    for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
      memset(row + (size_t)lu->lower_unit[e] * (size_t)square, 0, bytes);
    }
    for (int e = lu->upper_start[i]; e < lu->upper_start[i + 1]; e++) {
      memset(row + (size_t)lu->upper_unit[e] * (size_t)square, 0, bytes);
    }
    for (int e = lu->start[unit]; e < lu->start[unit + 1]; e++) {
      memcpy(row + (size_t)lu->rank[lu->unit[e]] * (size_t)square,
             lu->values + (size_t)e * (size_t)square, bytes);
    }
    for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
      int k = lu->lower_unit[e];
      double* factor = lu->lower + (size_t)e * (size_t)square;
      product(d, d, d, row + (size_t)k * (size_t)square, lu->inverse + (size_t)k * (size_t)square,
              factor);
      double kept[WIDE * WIDE];
      memcpy(kept, factor, bytes);
      if (d == WIDE) {
        subtract_wide(lu, k, kept);
        continue;
      }
      const double* upper = lu->upper + (size_t)lu->upper_start[k] * (size_t)square;
      for (int g = lu->upper_start[k]; g < lu->upper_start[k + 1]; g++, upper += square) {
        subtract_product(d, d, d, kept, upper, row + (size_t)lu->upper_unit[g] * (size_t)square);
      }
    }
    double* inverse = lu->inverse + (size_t)i * (size_t)square;
    const double* own = row + (size_t)i * (size_t)square;
    if (!(d == WIDE ? invert_wide(own, inverse)
          : d == 3  ? invert3(own, inverse)
                    : invert2(own, inverse))) {
      return false;
    }
    for (int e = lu->upper_start[i]; e < lu->upper_start[i + 1]; e++) {
      memcpy(lu->upper + (size_t)e * (size_t)square,
             row + (size_t)lu->upper_unit[e] * (size_t)square, bytes);
    }
  }
  return true;
}

static int rows_at(const saltusi_block_lu* lu, int position) {
  return lu->row_at[position + 1] - lu->row_at[position];
}

/* Row i of the matrix into the workspace, fill zeroed. */
static void load_row(saltusi_block_lu* lu, int i, size_t square) {
  int unit = lu->order[i];
  for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
    memset(lu->row + (size_t)lu->lower_unit[e] * square, 0, square * sizeof(double));
  }
  for (int e = lu->upper_start[i]; e < lu->upper_start[i + 1]; e++) {
    memset(lu->row + (size_t)lu->upper_unit[e] * square, 0, square * sizeof(double));
  }
  for (int e = lu->start[unit]; e < lu->start[unit + 1]; e++) {
    memcpy(lu->row + (size_t)lu->rank[lu->unit[e]] * square, lu->values + lu->place[e],
           (lu->place[e + 1] - lu->place[e]) * sizeof(double));
  }
}

static bool factor_general(saltusi_block_lu* lu) {
  size_t square = (size_t)lu->unit_max * (size_t)lu->unit_max;
  for (int i = 0; i < lu->units; i++) {
    int d = rows_at(lu, i);
    load_row(lu, i, square);
    for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
      int k = lu->lower_unit[e];
      int dk = rows_at(lu, k);
      double* factor = lu->lower + lu->lower_place[e];
      product(d, dk, dk, lu->row + (size_t)k * square, lu->inverse + (size_t)k * square, factor);
      for (int g = lu->upper_start[k]; g < lu->upper_start[k + 1]; g++) {
        int j = lu->upper_unit[g];
        subtract_product(d, dk, rows_at(lu, j), factor, lu->upper + lu->upper_place[g],
                         lu->row + (size_t)j * square);
      }
    }
    if (!invert_general(lu, d, lu->row + (size_t)i * square, lu->inverse + (size_t)i * square)) {
      return false;
    }
    for (int e = lu->upper_start[i]; e < lu->upper_start[i + 1]; e++) {
      memcpy(lu->upper + lu->upper_place[e], lu->row + (size_t)lu->upper_unit[e] * square,
             (lu->upper_place[e + 1] - lu->upper_place[e]) * sizeof(double));
    }
  }
  return true;
}

static bool factor_blocks(saltusi_block_lu* lu) {
  if (lu->uniform == 3) {
    return factor_uniform(lu, 3);
  }
  if (lu->uniform == WIDE) {
    return factor_uniform(lu, WIDE);
  }
  return lu->uniform == 2 ? factor_uniform(lu, 2) : factor_general(lu);
}

/* y -= B v with B [m x n] */
static inline void subtract_times(const int m, const int n, const double* B, const double* v,
                                  double* y) {
  for (int a = 0; a < m; a++) {
    double sum = y[a];
    for (int c = 0; c < n; c++) {
      sum -= B[a * n + c] * v[c];
    }
    y[a] = sum;
  }
}

static inline void substitute_uniform(const saltusi_block_lu* lu, const int d, const double* b,
                                      double* x) {
  const int square = d * d;
  double* y = lu->solved;
  for (int i = 0; i < lu->units; i++) {
    double* yi = y + i * d;
    memcpy(yi, b + lu->order[i] * d, (size_t)d * sizeof(double));
    for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
      subtract_times(d, d, lu->lower + (size_t)e * (size_t)square, y + lu->lower_unit[e] * d, yi);
    }
  }
  for (int i = lu->units - 1; i >= 0; i--) {
    double sum[WIDE];
    memcpy(sum, y + i * d, (size_t)d * sizeof(double));
    for (int e = lu->upper_start[i]; e < lu->upper_start[i + 1]; e++) {
      subtract_times(d, d, lu->upper + (size_t)e * (size_t)square, y + lu->upper_unit[e] * d, sum);
    }
    product(d, d, 1, lu->inverse + (size_t)i * (size_t)square, sum, y + i * d);
  }
  for (int i = 0; i < lu->units; i++) {
    memcpy(x + lu->order[i] * d, y + i * d, (size_t)d * sizeof(double));
  }
}

/* Substitution for the positions `at`, ascending, which are decoupled from the others; NULL: all. */
static void substitute_general(const saltusi_block_lu* lu, int count, const int* at,
                               const double* b, double* x) {
  size_t square = (size_t)lu->unit_max * (size_t)lu->unit_max;
  double* y = lu->solved;
  for (int p = 0; p < count; p++) {
    int i = at != NULL ? at[p] : p;
    int d = rows_at(lu, i);
    double* yi = y + lu->row_at[i];
    memcpy(yi, b + lu->offset[lu->order[i]], (size_t)d * sizeof(double));
    for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
      int k = lu->lower_unit[e];
      subtract_times(d, rows_at(lu, k), lu->lower + lu->lower_place[e], y + lu->row_at[k], yi);
    }
  }
  double* sum = lu->scratch;
  for (int p = count - 1; p >= 0; p--) {
    int i = at != NULL ? at[p] : p;
    int d = rows_at(lu, i);
    memcpy(sum, y + lu->row_at[i], (size_t)d * sizeof(double));
    for (int e = lu->upper_start[i]; e < lu->upper_start[i + 1]; e++) {
      int j = lu->upper_unit[e];
      subtract_times(d, rows_at(lu, j), lu->upper + lu->upper_place[e], y + lu->row_at[j], sum);
    }
    product(d, d, 1, lu->inverse + (size_t)i * square, sum, y + lu->row_at[i]);
  }
  for (int p = 0; p < count; p++) {
    int i = at != NULL ? at[p] : p;
    memcpy(x + lu->offset[lu->order[i]], y + lu->row_at[i],
           (size_t)rows_at(lu, i) * sizeof(double));
  }
}

static void substitute(const saltusi_block_lu* lu, const double* b, double* x) {
  if (lu->use_pivoted) {
    saltusi_pivoted_lu_substitute(lu, b, x);
  } else if (lu->uniform == 3) {
    substitute_uniform(lu, 3, b, x);
  } else if (lu->uniform == 2) {
    substitute_uniform(lu, 2, b, x);
  } else if (lu->uniform == WIDE) {
    substitute_uniform(lu, WIDE, b, x);
  } else {
    substitute_general(lu, lu->units, NULL, b, x);
  }
}

static inline void times_uniform(const saltusi_block_lu* lu, const int d, const double* values,
                                 const double* x, double* y) {
  for (int i = 0; i < lu->units; i++) {
    double sum[WIDE] = {0.0};
    const double* block = values + (size_t)lu->start[i] * (size_t)(d * d);
    for (int e = lu->start[i]; e < lu->start[i + 1]; e++, block += d * d) {
      const double* v = x + lu->unit[e] * d;
      for (int a = 0; a < d; a++) {
        for (int c = 0; c < d; c++) {
          sum[a] += block[a * d + c] * v[c];
        }
      }
    }
    memcpy(y + i * d, sum, (size_t)d * sizeof(double));
  }
}

void saltusi_block_lu_times(const saltusi_block_lu* lu, const double* values, const double* x,
                            double* y) {
  assert(lu != NULL);
  if (lu->uniform == 3) {
    times_uniform(lu, 3, values, x, y);
    return;
  }
  if (lu->uniform == 2) {
    times_uniform(lu, 2, values, x, y);
    return;
  }
  if (lu->uniform == WIDE) {
    times_uniform(lu, WIDE, values, x, y);
    return;
  }
  for (int i = 0; i < lu->units; i++) {
    int d = lu->offset[i + 1] - lu->offset[i];
    double* yi = y + lu->offset[i];
    memset(yi, 0, (size_t)d * sizeof(double));
    for (int e = lu->start[i]; e < lu->start[i + 1]; e++) {
      int j = lu->unit[e];
      int columns = lu->offset[j + 1] - lu->offset[j];
      for (int a = 0; a < d; a++) {
        yi[a] +=
            saltusi_dot(columns, values + lu->place[e] + (size_t)(a * columns), x + lu->offset[j]);
      }
    }
  }
}

/* Relative residual that ends refinement (45 eps), and the one that requires pivoting (seven digits lost). Refinement
 * also ends if a step reduces the residual by a factor above `hardly`. The last two are empirical. */
static const double fine = 1e-14;
static const double coarse = 1e-9;
static const double hardly = 0.9;
/* After this many failures, factorisation without pivoting is no longer tried first. */
enum { STALL_LIMIT = 2, REFINEMENTS = 3 };

bool saltusi_block_lu_factor(saltusi_block_lu* lu) {
  assert(lu != NULL);
  lu->use_pivoted = lu->failures >= STALL_LIMIT && !lu->no_pivoting;
  if (!lu->use_pivoted) {
    if (factor_blocks(lu)) {
      return true;
    }
    lu->failures++;
    lu->use_pivoted = !lu->no_pivoting;
  }
  return lu->use_pivoted && saltusi_pivoted_lu_factor(lu);
}

/* rest = b - A x; returns its length. */
static double find_rest(const saltusi_block_lu* lu, const double* b, const double* x) {
  saltusi_block_lu_times(lu, lu->values, x, lu->rest);
  for (int a = 0; a < lu->rows; a++) {
    lu->rest[a] = b[a] - lu->rest[a];
  }
  return sqrt(saltusi_long_dot(lu->rows, lu->rest, lu->rest));
}

/* Solves for x with iterative refinement while the residual decreases; returns its norm. */
static double solve_refined(const saltusi_block_lu* lu, double size, const double* b, double* x) {
  substitute(lu, b, x);
  double left = find_rest(lu, b, x);
  for (int k = 0; k < REFINEMENTS && left > fine * size; k++) {
    substitute(lu, lu->rest, lu->correction);
    saltusi_add_scaled(lu->rows, 1.0, lu->correction, x);
    double before = left;
    left = find_rest(lu, b, x);
    if (!(left <= hardly * before)) {
      break;
    }
  }
  return left;
}

double saltusi_block_lu_solve(saltusi_block_lu* lu, const double* b, double* x) {
  assert(lu != NULL);
  double size = sqrt(saltusi_long_dot(lu->rows, b, b));
  if (!(size > 0.0)) {
    memset(x, 0, (size_t)lu->rows * sizeof(double));
    return size;
  }
  double left = solve_refined(lu, size, b, x);
  if (!(left <= coarse * size) && !lu->use_pivoted && !lu->no_pivoting) {
    lu->failures++;
    lu->use_pivoted = saltusi_pivoted_lu_factor(lu);
    if (lu->use_pivoted) {
      left = solve_refined(lu, size, b, x);
    }
  }
  return left / size;
}

/* For a symmetric positive definite matrix, a diagonal entry times that of the inverted pivot is at least 1 in any
 * units; it tends to infinity as the matrix becomes singular. */
static bool pivots_above(const saltusi_block_lu* lu, double tiny) {
  for (int i = 0; i < lu->units; i++) {
    int unit = lu->order[i];
    int d = rows_at(lu, i);
    const double* own = lu->values + lu->place[lu->diagonal[unit]];
    const double* inverse = lu->inverse + (size_t)i * (size_t)lu->unit_max * (size_t)lu->unit_max;
    for (int k = 0; k < d; k++) {
      if (!(fabs(own[k * (d + 1)] * inverse[k * (d + 1)]) * tiny < 1.0)) {
        return false;
      }
    }
  }
  return true;
}

bool saltusi_block_lu_prepare(saltusi_block_lu* lu, double tiny, double* trial) {
  assert(lu != NULL);
  double* x = trial;
  double* b = trial + lu->rows;
  lu->failures = 0; /* independent of earlier matrices: bitwise reproducible */
  lu->refined = false;
  if (!saltusi_block_lu_factor(lu)) {
    return false;
  }
  if (!lu->use_pivoted && !pivots_above(lu, tiny)) {
    lu->use_pivoted = saltusi_pivoted_lu_factor(lu);
    if (!lu->use_pivoted) {
      return false;
    }
  }
  if (lu->use_pivoted && saltusi_pivoted_lu_singular(lu, tiny)) {
    return false;
  }
  for (int a = 0; a < lu->rows; a++) {
    x[a] = a % 3 == 0 ? 1.0 : a % 3 == 1 ? -0.5 : 0.25;
  }
  saltusi_block_lu_times(lu, lu->values, x, b);
  double size = sqrt(saltusi_long_dot(lu->rows, b, b));
  substitute(lu, b, x);
  lu->refined = !(find_rest(lu, b, x) <= 10.0 * fine * size);
  return !lu->refined || (saltusi_block_lu_solve(lu, b, x) <= coarse &&
                          !(lu->use_pivoted && saltusi_pivoted_lu_singular(lu, tiny)));
}

void saltusi_block_lu_apply(const saltusi_block_lu* lu, double* x) {
  assert(lu != NULL);
  if (!lu->refined) {
    substitute(lu, x, x);
    return;
  }
  double size = sqrt(saltusi_long_dot(lu->rows, x, x));
  memcpy(lu->right, x, (size_t)lu->rows * sizeof(double));
  solve_refined(lu, size, lu->right, x);
}

void saltusi_block_lu_apply_some(const saltusi_block_lu* lu, int count, const int* position,
                                 double* x) {
  assert(lu != NULL && count >= 0);
  substitute_general(lu, count, position, x, x);
}
