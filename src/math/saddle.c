/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * saddle.c - factors and solutions in the order of saddle_plan.c. For each position k but loops
 *
 *   D_k <- D_k^-1,   L_ik <- L_ik D_k,   (i, j) -= L_ik U_kj      for all later i, j that k meets
 *
 * and what is left of the loops is dense. Once k is eliminated its blocks stand column by column, which solutions
 * go through without waiting for sums.
 */
#include "math/saddle.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* A pivot of a joint that is smaller than this part of its W is not used: the joint closes a loop then.
 * The far part of a straight chain of n links that hinges hold against bending has 4 n^3 times the inertia of one:
 * 1300 links are below. */
static const double weak = 1e-10;

/* The call, with `size` for n: a constant for the sizes that blocks of bodies and joints often have, which makes
 * the loops of inlined functions short. */
#define BY_SIZE(n, call)                                                                           \
  switch (n) {                                                                                     \
    SIZE(1, call)                                                                                  \
    SIZE(2, call)                                                                                  \
    SIZE(3, call)                                                                                  \
    SIZE(5, call)                                                                                  \
    SIZE(6, call)                                                                                  \
  default: {                                                                                       \
    const int size = (n);                                                                          \
    call;                                                                                          \
  }                                                                                                \
  }
#define SIZE(n, call)                                                                              \
  case n: {                                                                                        \
    const int size = (n);                                                                          \
    call;                                                                                          \
    break;                                                                                         \
  }

/* C -= A B, A [m x k] column by column, B [k x n], rows of C `stride` apart; n is constant where inlined. */
static inline void subtract(int m, int k, const int n, const double* restrict A,
                            const double* restrict B, double* restrict C, int stride) {
  for (int a = 0; a < m; a++) {
    double* restrict to = C + (size_t)a * (size_t)stride;
    for (int l = 0; l < k; l++) {
      const double* restrict right = B + l * n;
      for (int c = 0; c < n; c++) {
        to[c] -= A[l * m + a] * right[c];
      }
    }
  }
}

static void subtract_product(int m, int k, int n, const double* A, const double* B, double* C,
                             int stride) {
  BY_SIZE(n, subtract(m, k, size, A, B, C, stride))
}

/* A <- A B, A [m x n] row by row before and column by column after, B [n x n]; room [m n]. n is constant where
 * inlined. */
static inline void multiply(int m, const int n, double* restrict A, const double* restrict B,
                            double* restrict room) {
  for (int a = 0; a < m; a++) {
    const double* from = A + a * n;
    double* row = room + a * n;
    for (int c = 0; c < n; c++) {
      row[c] = from[0] * B[c];
    }
    for (int l = 1; l < n; l++) {
      for (int c = 0; c < n; c++) {
        row[c] += from[l] * B[l * n + c];
      }
    }
  }
  for (int c = 0; c < n; c++) {
    for (int a = 0; a < m; a++) {
      A[c * m + a] = room[a * n + c];
    }
  }
}

static void times_inverse(int m, int n, double* A, const double* B, double* room) {
  BY_SIZE(n, multiply(m, size, A, B, room))
}

/* A [m x n] row by row becomes column by column; room [m n]. n is constant where inlined. */
static inline void turn_over(int m, const int n, double* restrict A, double* restrict room) {
  memcpy(room, A, (size_t)m * (size_t)n * sizeof(double));
  for (int c = 0; c < n; c++) {
    for (int a = 0; a < m; a++) {
      A[c * m + a] = room[a * n + c];
    }
  }
}

static void turn_block(int m, int n, double* A, double* room) {
  BY_SIZE(n, turn_over(m, size, A, room))
}

/* Gauss-Jordan in place with row exchanges; n is constant where inlined. False when a pivot is zero or
 * not finite. */
static inline bool invert(const int n, double* A, int* pivot) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++) {
      p = fabs(A[i * n + k]) > fabs(A[p * n + k]) ? i : p;
    }
    pivot[k] = p;
    double own = A[p * n + k];
    if (!(fabs(own) > 0.0) || !isfinite(own)) {
      return false;
    }
    for (int c = 0; c < n && p != k; c++) {
      double kept = A[p * n + c];
      A[p * n + c] = A[k * n + c];
      A[k * n + c] = kept;
    }
    double over = 1.0 / own;
    A[k * n + k] = 1.0;
    for (int c = 0; c < n; c++) {
      A[k * n + c] *= over;
    }
    for (int i = 0; i < n; i++) {
      double times = A[i * n + k];
      if (i == k || times == 0.0) {
        continue;
      }
      A[i * n + k] = 0.0;
      for (int c = 0; c < n; c++) {
        A[i * n + c] -= times * A[k * n + c];
      }
    }
  }
  for (int k = n - 1; k >= 0; k--) { /* exchanged rows are exchanged columns of the inverse */
    for (int i = 0; i < n && pivot[k] != k; i++) {
      double kept = A[i * n + k];
      A[i * n + k] = A[i * n + pivot[k]];
      A[i * n + pivot[k]] = kept;
    }
  }
  return true;
}

static bool invert_block(int n, double* A, int* pivot) {
  BY_SIZE(n, return invert(size, A, pivot))
}

void saltusi_saddle_clear(saltusi_saddle* s) {
  assert(s != NULL && s->planned);
  memset(s->values, 0, s->entries * sizeof(double));
}

/* The pivot of a position inverted; false when it is singular. */
static bool invert_pivot(saltusi_saddle* s, int k) {
  int n = s->size[k];
  double* D = s->values + s->diagonal[k];
  if (!invert_block(n, D, s->pivot)) {
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

/* Everything that position k changes. */
static void eliminate(saltusi_saddle* s, int k, int loops, int stride) {
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
  for (int e = begin; e < end; e++) { /* as solutions want them */
    turn_block(n, s->size[s->later[e]], s->values + s->upper[e], s->part);
  }
  turn_block(n, n, s->values + s->diagonal[k], s->part);
}

/* y -= A x, A [m x k] column by column; m is constant where inlined. */
static inline void subtract_columns(const int m, int k, const double* restrict A,
                                    const double* restrict x, double* restrict y) {
  for (int l = 0; l < k; l++) {
    for (int a = 0; a < m; a++) {
      y[a] -= A[l * m + a] * x[l];
    }
  }
}

static void subtract_times(int m, int k, const double* A, const double* x, double* y) {
  BY_SIZE(m, subtract_columns(size, k, A, x, y))
}

/* x <- A x, A [n x n] column by column; n is constant where inlined. */
static inline void multiply_columns(const int n, const double* restrict A, double* restrict x,
                                    double* restrict y) {
  for (int a = 0; a < n; a++) {
    y[a] = A[a] * x[0];
  }
  for (int l = 1; l < n; l++) {
    for (int a = 0; a < n; a++) {
      y[a] += A[l * n + a] * x[l];
    }
  }
  for (int a = 0; a < n; a++) {
    x[a] = y[a];
  }
}

static void times_block(int n, const double* A, double* x, double* room) {
  BY_SIZE(n, multiply_columns(size, A, x, room))
}

/* Position order forwards, from y as it is. */
static void forward(const saltusi_saddle* s, int c) {
  for (int k = s->component_at[c]; k < s->loop_at[c]; k++) {
    const double* yk = s->y + s->first[k];
    for (int e = s->later_start[k]; e < s->later_start[k + 1]; e++) {
      int i = s->later[e];
      subtract_times(s->size[i], s->size[k], s->values + s->lower[e], yk, s->y + s->first[i]);
    }
  }
}

static void backward(const saltusi_saddle* s, int c) {
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

/* Removes from x the part along the vectors that were kept, in the metric of the weights. */
static void remove_null(const saltusi_saddle* s, int c, int count, double* x) {
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

/* Vectors of rows that depend on each other, orthonormal in the metric of the weights. */
static bool find_null(saltusi_saddle* s, int c) {
  const saltusi_dependent* loops = &s->loops[c];
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
    saltusi_dependent_null(loops, k, s->y + s->first[s->loop_at[c]]);
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

static saltusi_saddle_outcome factor_component(saltusi_saddle* s, int c) {
  int loops = s->loop_at[c];
  int stride = saltusi_saddle_loop_rows(s, c);
  for (int k = s->component_at[c]; k < loops; k++) {
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
  if (!saltusi_dependent_factor_beside(&s->loops[c], stride, s->values + s->dense[c],
                                       s->weight + s->first[loops])) {
    return SALTUSI_SADDLE_BROKEN;
  }
  if (s->loops[c].rank < stride && !find_null(s, c)) {
    return SALTUSI_SADDLE_LACKS;
  }
  return SALTUSI_SADDLE_FACTORED;
}

saltusi_saddle_outcome saltusi_saddle_factor(saltusi_saddle* s) {
  assert(s != NULL && s->planned);
  s->null_used = 0;
  s->wanted = 0;
  for (int c = 0; c < s->components; c++) {
    saltusi_saddle_outcome outcome = factor_component(s, c);
    if (outcome != SALTUSI_SADDLE_FACTORED) {
      return outcome;
    }
  }
  return SALTUSI_SADDLE_FACTORED;
}

/* x <- the part of x, a right-hand side of rows, along what no velocity can meet. */
static void keep_null(const saltusi_saddle* s, int c, double* x) {
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

void saltusi_saddle_solve(saltusi_saddle* s, int component, const double* f, const double* g,
                          double* x, double* y) {
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
    saltusi_dependent_solve(&s->loops[c], s->y + s->first[s->loop_at[c]]);
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

void saltusi_saddle_solve_all(saltusi_saddle* s, int rows, double* z) {
  assert(s != NULL && s->planned && rows >= 0 && z != NULL);
  bool plain = true;
  for (int c = 0; c < s->components; c++) {
    plain = plain && s->null_count[c] == 0;
  }
  for (int c = 0; !plain && c < s->components; c++) {
    saltusi_saddle_solve(s, c, z, z + rows, z, z + rows);
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
      saltusi_dependent_solve(&s->loops[c], s->y + s->first[s->loop_at[c]]);
    }
    backward(s, c);
  }
  for (int i = 0; i < s->scalars; i++) {
    z[index[i] >= 0 ? index[i] : rows - 1 - index[i]] = s->y[i];
  }
}

void saltusi_saddle_miss(saltusi_saddle* s, int component, double* b) {
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
