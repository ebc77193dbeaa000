/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kkt_factor.c - factorisation and solution in the elimination order of kkt_factor_plan.c. For each position k that is
 * not a loop-closing joint
 *
 *   D_k <- D_k^-1,   L_ik <- L_ik D_k,   (i, j) -= L_ik U_kj      for all later i, j coupled to k
 *
 * The Schur complement of the loop-closing joints is dense. The blocks of an eliminated k are stored by columns, so that
 * substitutions have no dependent sums.
 */
#include "math/kkt_factor.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* A joint whose pivot is smaller than this fraction of its W is treated as closing a loop. A straight chain of n
 * hinged links has 4 n^3 times the inertia of one link: chains of up to 1300 links are above the limit. */
static const double weak = 1e-10;

/* Calls the kernel with constant m and n for the sizes of bodies, hinges, balls and rods, so that inlined loops are
 * unrolled; else the general kernel. */
#define BY_SIZES(rows, columns, call, other)                                                       \
  switch (16 * (rows) + (columns)) {                                                               \
    SIZES(6, 5, call)                                                                              \
    SIZES(5, 6, call)                                                                              \
    SIZES(6, 6, call)                                                                              \
    SIZES(5, 5, call)                                                                              \
    SIZES(3, 2, call)                                                                              \
    SIZES(2, 3, call)                                                                              \
    SIZES(3, 3, call)                                                                              \
    SIZES(2, 2, call)                                                                              \
    SIZES(6, 3, call)                                                                              \
    SIZES(3, 6, call)                                                                              \
    SIZES(1, 1, call)                                                                              \
    SIZES(1, 2, call)                                                                              \
    SIZES(2, 1, call)                                                                              \
    SIZES(1, 3, call)                                                                              \
    SIZES(3, 1, call)                                                                              \
  default:                                                                                         \
    other;                                                                                         \
  }
#define SIZES(rows, columns, call)                                                                 \
  case 16 * (rows) + (columns): {                                                                  \
    enum { m = rows, n = columns };                                                                \
    call;                                                                                          \
    break;                                                                                         \
  }

/* Number of columns whose sums are kept in registers. */
enum { TOGETHER = 6 };

/* C -= A B, A [m x k] column by column, B [k x n], rows of C `stride` apart; n is TOGETHER at most. */
static inline void subtract(const int m, const int k, const int n, const double* restrict A,
                            const double* restrict B, double* restrict C, const int stride) {
  for (int a = 0; a < m; a++) {
    double* restrict row = C + (size_t)a * (size_t)stride;
    double sum[TOGETHER];
    for (int c = 0; c < n; c++) {
      sum[c] = row[c];
    }
    for (int l = 0; l < k; l++) {
      const double left = A[l * m + a];
      for (int c = 0; c < n; c++) {
        sum[c] -= left * B[l * n + c];
      }
    }
    for (int c = 0; c < n; c++) {
      row[c] = sum[c];
    }
  }
}

static void subtract_any(int m, int k, int n, const double* restrict A, const double* restrict B,
                         double* restrict C, int stride) {
  for (int a = 0; a < m; a++) {
    double* restrict row = C + (size_t)a * (size_t)stride;
    for (int l = 0; l < k; l++) {
      for (int c = 0; c < n; c++) {
        row[c] -= A[l * m + a] * B[l * n + c];
      }
    }
  }
}

static void subtract_product(int rows, int k, int columns, const double* A, const double* B,
                             double* C, int stride) {
  if (rows != columns || stride != columns) {
    subtract_any(rows, k, columns, A, B, C, stride);
    return;
  }
  BY_SIZES(rows, k, subtract(m, n, m, A, B, C, m), subtract_any(rows, k, rows, A, B, C, rows))
}

/* A [m x n] column by column from rows. */
static inline void turn_over(const int m, const int n, const double* restrict from,
                             double* restrict A) {
  for (int c = 0; c < n; c++) {
    for (int a = 0; a < m; a++) {
      A[c * m + a] = from[a * n + c];
    }
  }
}

/* A <- A B, A [m x n] row by row before and column by column after, B [n x n]; room [m n]; n is TOGETHER at most. */
static inline void multiply(const int m, const int n, double* restrict A, const double* restrict B,
                            double* restrict room) {
  for (int a = 0; a < m; a++) {
    double sum[TOGETHER];
    for (int c = 0; c < n; c++) {
      sum[c] = A[a * n] * B[c];
    }
    for (int l = 1; l < n; l++) {
      const double left = A[a * n + l];
      for (int c = 0; c < n; c++) {
        sum[c] += left * B[l * n + c];
      }
    }
    for (int c = 0; c < n; c++) {
      room[a * n + c] = sum[c];
    }
  }
  turn_over(m, n, room, A);
}

static void multiply_any(int m, int n, double* restrict A, const double* restrict B,
                         double* restrict room) {
  for (int a = 0; a < m; a++) {
    for (int c = 0; c < n; c++) {
      room[a * n + c] = A[a * n] * B[c];
    }
    for (int l = 1; l < n; l++) {
      for (int c = 0; c < n; c++) {
        room[a * n + c] += A[a * n + l] * B[l * n + c];
      }
    }
  }
  turn_over(m, n, room, A);
}

static void times_inverse(int rows, int columns, double* A, const double* B, double* room) {
  BY_SIZES(rows, columns, multiply(m, n, A, B, room), multiply_any(rows, columns, A, B, room))
}

/* A [m x n] row by row becomes column by column; room [m n]. */
static void turn_block(int rows, int columns, double* A, double* room) {
  memcpy(room, A, (size_t)rows * (size_t)columns * sizeof(double));
  BY_SIZES(rows, columns, turn_over(m, n, room, A), turn_over(rows, columns, room, A))
}

/* Gauss-Jordan in place with row exchanges; room [n]. False when a pivot is zero or not finite. */
static inline bool invert(const int n, double* restrict A, int* restrict pivot,
                          double* restrict room) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++) {
      p = fabs(A[i * n + k]) > fabs(A[p * n + k]) ? i : p;
    }
    pivot[k] = p;
    const double own = A[p * n + k];
    if (!(fabs(own) > 0.0) || !isfinite(own)) {
      return false;
    }
    const double over = 1.0 / own;
    for (int c = 0; c < n; c++) {
      room[c] = A[p * n + c] * over;
    }
    for (int c = 0; c < n && p != k; c++) {
      A[p * n + c] = A[k * n + c];
    }
    room[k] = over;
    for (int i = 0; i < n; i++) {
      const double times = A[i * n + k];
      A[i * n + k] = 0.0;
      for (int c = 0; c < n; c++) {
        A[i * n + c] -= times * room[c];
      }
    }
    for (int c = 0; c < n; c++) {
      A[k * n + c] = room[c];
    }
  }
  for (int k = n - 1; k >= 0; k--) { /* row exchanges are column exchanges of the inverse */
    for (int i = 0; i < n && pivot[k] != k; i++) {
      double kept = A[i * n + k];
      A[i * n + k] = A[i * n + pivot[k]];
      A[i * n + pivot[k]] = kept;
    }
  }
  return true;
}

static bool invert_block(int size, double* A, int* pivot, double* room) {
  BY_SIZES(size, size, return invert(m, A, pivot, room), return invert(size, A, pivot, room))
}

void saltusi_kkt_factor_open(saltusi_kkt_factor* s, bool open) {
  assert(s != NULL && s->planned);
  memset(s->open, open, (size_t)s->nodes * sizeof(bool));
}

double saltusi_kkt_factor_open_later(saltusi_kkt_factor* s) {
  assert(s != NULL && s->planned);
  int open = 0;
  for (int c = 0; c < s->components; c++) {
    const int begin = s->component_at[c], end = s->component_at[c + 1];
    if (saltusi_kkt_factor_loop_rows(s, c) > 0 &&
        memchr(s->open + begin, true, (size_t)(end - begin)) != NULL) {
      memset(s->open + begin, true, (size_t)(end - begin) * sizeof(bool));
    }
    for (int k = begin; k < end; k++) {
      if (s->open[k]) {
        open += s->size[k];
        for (int e = s->later_start[k]; e < s->later_start[k + 1]; e++) {
          s->open[s->later[e]] = true;
        }
      }
    }
  }
  return (double)open / s->scalars;
}

void saltusi_kkt_factor_clear(saltusi_kkt_factor* s) {
  assert(s != NULL && s->planned);
  for (int c = 0; c < s->components; c++) {
    const int end = s->component_at[c + 1];
    for (int k = s->component_at[c], last; k < end; k = last) {
      for (last = k + 1; last < end && s->open[last] == s->open[k]; last++) {
      }
      if (s->open[k]) {
        const size_t from = (size_t)s->diagonal[k];
        const size_t to = last < s->nodes ? (size_t)s->diagonal[last] : s->entries;
        memset(s->values + from, 0, (to - from) * sizeof(double));
      }
    }
  }
}

/* The pivot of a position inverted; false when it is singular. */
static bool invert_pivot(saltusi_kkt_factor* s, int k) {
  int n = s->size[k];
  double* D = s->values + s->diagonal[k];
  if (!invert_block(n, D, s->pivot, s->part)) {
    return false;
  }
  if (s->node[k] < s->bodies) {
    return true;
  }
  for (int i = 0; i < n; i++) {
    double weight = s->weight[s->first[k] + i];
    if (!(fabs(D[i * (n + 1)]) * weight * weak < 1.0)) {
      return false;
    }
  }
  return true;
}

/* All updates by position k. */
static void eliminate(saltusi_kkt_factor* s, int k, int loops, int stride) {
  int n = s->size[k];
  const double* D = s->values + s->diagonal[k];
  const int* target = s->target + s->target_at[k];
  int begin = s->later_start[k];
  int end = s->later_start[k + 1];
  for (int e = begin; e < end; e++) {
    int i = s->later[e];
    double* L = s->values + s->lower[e];
    times_inverse(s->size[i], n, L, D, s->part);
    for (int g = begin; g < end; g++) {
      int j = s->later[g];
      bool dense = i >= loops && j >= loops;
      subtract_product(s->size[i], n, s->size[j], L, s->values + s->upper[g], s->values + *target,
                       dense ? stride : s->size[j]);
      target++;
    }
  }
  for (int e = begin; e < end; e++) { /* in the order of the substitutions */
    turn_block(n, s->size[s->later[e]], s->values + s->upper[e], s->part);
  }
  turn_block(n, n, s->values + s->diagonal[k], s->part);
}

/* Repeats the updates of open positions by a closed one. */
static void repeat(saltusi_kkt_factor* s, int k) {
  const int begin = s->later_start[k], end = s->later_start[k + 1];
  const int* target = s->target + s->target_at[k];
  for (int e = begin; e < end; e++) {
    const int i = s->later[e];
    for (int g = begin; g < end; g++, target++) {
      const int j = s->later[g], columns = s->size[j];
      if (s->open[i < j ? i : j]) {
        turn_over(columns, s->size[k], s->values + s->upper[g], s->part);
        subtract_product(s->size[i], s->size[k], columns, s->values + s->lower[e], s->part,
                         s->values + *target, columns);
      }
    }
  }
}

/* y -= A x, A [m x n] column by column; m is TOGETHER at most. */
static inline void subtract_columns(const int m, const int n, const double* restrict A,
                                    const double* restrict x, double* restrict y) {
  double sum[TOGETHER];
  for (int a = 0; a < m; a++) {
    sum[a] = y[a];
  }
  for (int l = 0; l < n; l++) {
    const double right = x[l];
    for (int a = 0; a < m; a++) {
      sum[a] -= A[l * m + a] * right;
    }
  }
  for (int a = 0; a < m; a++) {
    y[a] = sum[a];
  }
}

static void subtract_any_columns(int m, int n, const double* restrict A, const double* restrict x,
                                 double* restrict y) {
  for (int l = 0; l < n; l++) {
    for (int a = 0; a < m; a++) {
      y[a] -= A[l * m + a] * x[l];
    }
  }
}

static void subtract_times(int rows, int columns, const double* A, const double* x, double* y) {
  BY_SIZES(rows, columns, subtract_columns(m, n, A, x, y),
           subtract_any_columns(rows, columns, A, x, y))
}

/* x <- A x, A [n x n] column by column; room [n]. */
static inline void multiply_columns(const int n, const double* restrict A, double* restrict x) {
  double sum[TOGETHER];
  for (int a = 0; a < n; a++) {
    sum[a] = A[a] * x[0];
  }
  for (int l = 1; l < n; l++) {
    const double right = x[l];
    for (int a = 0; a < n; a++) {
      sum[a] += A[l * n + a] * right;
    }
  }
  for (int a = 0; a < n; a++) {
    x[a] = sum[a];
  }
}

static void multiply_any_columns(int n, const double* restrict A, double* restrict x,
                                 double* restrict room) {
  for (int a = 0; a < n; a++) {
    room[a] = A[a] * x[0];
  }
  for (int l = 1; l < n; l++) {
    for (int a = 0; a < n; a++) {
      room[a] += A[l * n + a] * x[l];
    }
  }
  memcpy(x, room, (size_t)n * sizeof(double));
}

static void times_block(int size, const double* A, double* x, double* room) {
  BY_SIZES(size, size, multiply_columns(m, A, x), multiply_any_columns(size, A, x, room))
}

/* Forward substitution in the order of positions, in place. */
static void forward(const saltusi_kkt_factor* s, int c) {
  for (int k = s->component_at[c]; k < s->loop_at[c]; k++) {
    const double* yk = s->y + s->first[k];
    for (int e = s->later_start[k]; e < s->later_start[k + 1]; e++) {
      int i = s->later[e];
      subtract_times(s->size[i], s->size[k], s->values + s->lower[e], yk, s->y + s->first[i]);
    }
  }
}

static void backward(const saltusi_kkt_factor* s, int c) {
  for (int k = s->loop_at[c] - 1; k >= s->component_at[c]; k--) {
    double* yk = s->y + s->first[k];
    int n = s->size[k];
    for (int e = s->later_start[k]; e < s->later_start[k + 1]; e++) {
      int i = s->later[e];
      subtract_times(n, s->size[i], s->values + s->upper[e], s->y + s->first[i], yk);
    }
    times_block(n, s->values + s->diagonal[k], yk, s->part);
  }
}

/* Removes from x its component along the stored vectors, in the metric of the weights. */
static void remove_null(const saltusi_kkt_factor* s, int c, int count, double* x) {
  int begin = s->first[s->component_at[c]];
  int scalars = s->first[s->component_at[c + 1]] - begin;
  for (int k = 0; k < count; k++) {
    const double* n = s->null[c] + (size_t)k * (size_t)scalars;
    double sum = 0.0;
    for (int i = 0; i < scalars; i++) {
      sum += s->weight[begin + i] * n[i] * x[i];
    }
    saltusi_add_scaled(scalars, -sum, n, x);
  }
}

/* Null-space vectors of linearly dependent rows, orthonormal in the metric of the weights. */
static bool find_null(saltusi_kkt_factor* s, int c) {
  const saltusi_rank_revealing* loops = &s->loops[c];
  int begin = s->first[s->component_at[c]];
  int scalars = s->first[s->component_at[c + 1]] - begin;
  int count = loops->n - loops->rank;
  size_t bytes = (size_t)count * (size_t)scalars * sizeof(double);
  s->null_count[c] = count;
  if (s->used + s->null_used + bytes > s->memory.bytes) {
    s->wanted = s->used + 2 * (s->null_used + bytes);
    return false;
  }
  s->null[c] = (double*)(void*)((char*)s->memory.block + s->used + s->null_used);
  s->null_used += bytes;
  for (int k = 0; k < count; k++) {
    double* n = s->null[c] + (size_t)k * (size_t)scalars;
    memset(s->y + begin, 0, (size_t)scalars * sizeof(double));
    saltusi_rank_revealing_null(loops, k, s->y + s->first[s->loop_at[c]]);
    backward(s, c);
    for (int i = 0; i < scalars; i++) {
      n[i] = s->index[begin + i] < 0 ? s->y[begin + i] : 0.0;
    }
    remove_null(s, c, k, n);
    remove_null(s, c, k, n);
    double square = 0.0;
    for (int i = 0; i < scalars; i++) {
      square += s->weight[begin + i] * n[i] * n[i];
    }
    double scale = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    for (int i = 0; i < scalars; i++) {
      n[i] *= scale;
    }
  }
  return true;
}

static saltusi_kkt_factor_outcome factor_component(saltusi_kkt_factor* s, int c) {
  int loops = s->loop_at[c];
  int stride = saltusi_kkt_factor_loop_rows(s, c);
  if (!s->open[s->component_at[c + 1] - 1]) { /* all paths end there, so no position is open */
    return SALTUSI_SADDLE_FACTORED;
  }
  for (int k = s->component_at[c]; k < loops; k++) {
    if (!s->open[k]) {
      repeat(s, k);
      continue;
    }
    if (!invert_pivot(s, k)) {
      if (s->node[k] < s->bodies) {
        return SALTUSI_SADDLE_BROKEN;
      }
      s->demoted[s->node[k] - s->bodies] = true;
      s->repeat = true;
      return SALTUSI_SADDLE_AGAIN;
    }
    eliminate(s, k, loops, stride);
  }
  s->null_count[c] = 0;
  if (stride == 0) {
    return SALTUSI_SADDLE_FACTORED;
  }
  if (!saltusi_rank_revealing_factor_beside(&s->loops[c], stride, s->values + s->dense[c],
                                            s->weight + s->first[loops])) {
    return SALTUSI_SADDLE_BROKEN;
  }
  if (s->loops[c].rank < stride && !find_null(s, c)) {
    return SALTUSI_SADDLE_LACKS;
  }
  return SALTUSI_SADDLE_FACTORED;
}

saltusi_kkt_factor_outcome saltusi_kkt_factor_compute(saltusi_kkt_factor* s) {
  assert(s != NULL && s->planned);
  s->null_used = 0;
  s->wanted = 0;
  for (int c = 0; c < s->components; c++) {
    assert(s->open[s->component_at[c]] || s->null_count[c] == 0);
    saltusi_kkt_factor_outcome outcome = factor_component(s, c);
    if (outcome != SALTUSI_SADDLE_FACTORED) {
      return outcome;
    }
  }
  return SALTUSI_SADDLE_FACTORED;
}

/* x <- the inconsistent part of x, a right-hand side of rows. */
static void keep_null(const saltusi_kkt_factor* s, int c, double* x) {
  int begin = s->first[s->component_at[c]];
  int scalars = s->first[s->component_at[c + 1]] - begin;
  double* kept = s->spare;
  memset(kept, 0, (size_t)scalars * sizeof(double));
  for (int k = 0; k < s->null_count[c]; k++) {
    const double* n = s->null[c] + (size_t)k * (size_t)scalars;
    saltusi_add_scaled(scalars, saltusi_dot(scalars, n, x), n, kept);
  }
  for (int i = 0; i < scalars; i++) {
    x[i] = s->weight[begin + i] * kept[i];
  }
}

void saltusi_kkt_factor_solve(saltusi_kkt_factor* s, int component, const double* f,
                              const double* g, double* x, double* y) {
  assert(s != NULL && s->planned && component >= 0 && component < s->components);
  int c = component;
  int begin = s->first[s->component_at[c]];
  int end = s->first[s->component_at[c + 1]];
  for (int i = begin; i < end; i++) {
    int at = s->index[i];
    const double* from = at >= 0 ? f : g;
    s->y[i] = from != NULL ? from[at >= 0 ? at : -1 - at] : 0.0;
  }
  if (s->null_count[c] > 0 && g != NULL) {
    double* left = s->spare + s->scalars;
    for (int i = begin; i < end; i++) {
      left[i - begin] = s->index[i] < 0 ? s->y[i] : 0.0;
    }
    keep_null(s, c, left);
    saltusi_add_scaled(end - begin, -1.0, left, s->y + begin);
  }
  forward(s, c);
  if (s->loop_at[c] < s->component_at[c + 1]) {
    saltusi_rank_revealing_solve(&s->loops[c], s->y + s->first[s->loop_at[c]]);
  }
  backward(s, c);
  remove_null(s, c, s->null_count[c], s->y + begin);
  for (int i = begin; i < end; i++) {
    int at = s->index[i];
    double* to = at >= 0 ? x : y;
    if (to != NULL) {
      to[at >= 0 ? at : -1 - at] = s->y[i];
    }
  }
}

void saltusi_kkt_factor_solve_all(saltusi_kkt_factor* s, int rows, double* z) {
  assert(s != NULL && s->planned && rows >= 0 && z != NULL);
  bool plain = true;
  for (int c = 0; c < s->components; c++) {
    plain = plain && s->null_count[c] == 0;
  }
  for (int c = 0; !plain && c < s->components; c++) {
    saltusi_kkt_factor_solve(s, c, z, z + rows, z, z + rows);
  }
  if (!plain) {
    return;
  }
  const int* index = s->index;
  for (int i = 0; i < s->scalars; i++) {
    s->y[i] = z[index[i] >= 0 ? index[i] : rows - 1 - index[i]];
  }
  for (int c = 0; c < s->components; c++) {
    forward(s, c);
    if (s->loop_at[c] < s->component_at[c + 1]) {
      saltusi_rank_revealing_solve(&s->loops[c], s->y + s->first[s->loop_at[c]]);
    }
    backward(s, c);
  }
  for (int i = 0; i < s->scalars; i++) {
    z[index[i] >= 0 ? index[i] : rows - 1 - index[i]] = s->y[i];
  }
}

void saltusi_kkt_factor_miss(saltusi_kkt_factor* s, int component, double* b) {
  assert(s != NULL && component >= 0 && component < s->components && b != NULL);
  int c = component;
  int begin = s->first[s->component_at[c]];
  int end = s->first[s->component_at[c + 1]];
  for (int i = begin; i < end; i++) {
    s->y[i] = s->index[i] < 0 ? b[-1 - s->index[i]] : 0.0;
  }
  keep_null(s, c, s->y + begin);
  for (int i = begin; i < end; i++) {
    if (s->index[i] < 0) {
      b[-1 - s->index[i]] = s->y[i];
    }
  }
}
