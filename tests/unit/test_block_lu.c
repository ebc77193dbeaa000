/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The sparse block factorisation on trees, chains, grids, arrows and loose parts, against elimination
 * with complete pivoting in long double on the dense matrix.
 */
#include "saltus_test.h"

#include "math/block_lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 49, SIZE_MAX_BLOCK = 6, ROWS = UNITS * SIZE_MAX_BLOCK };

typedef enum shape { CHAIN, TREE, GRID, ARROW, LOOSE, SHAPES } shape;

typedef struct example {
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS * UNITS];
  saltusi_block_pattern pattern;
  saltusi_block_lu lu;
  void* block;
  double trial[2 * ROWS];
} example;

static double draw(uint64_t* seed) {
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static bool coupled(shape kind, int i, int j) {
  const int low = i < j ? i : j, high = i < j ? j : i;
  switch (kind) {
  case CHAIN:
    return high - low == 1;
  case TREE:
    return low == (high - 1) / 3;
  case GRID:
    return high - low == 7 || (high - low == 1 && high % 7 != 0);
  case ARROW:
    return low == 0;
  default: /* chains of four that interleave: i, i + 12, i + 24, i + 36 */
    return high - low == 12;
  }
}

/* size 0: one to six rows in turn. Memory is laid out as a simulation does, counting first. */
static void make(example* e, shape kind, int size) {
  int used = 0;
  e->offset[0] = 0;
  for (int i = 0; i < UNITS; i++) {
    e->offset[i + 1] = e->offset[i] + (size > 0 ? size : 1 + (i * 5) % SIZE_MAX_BLOCK);
    e->start[i] = used;
    for (int j = 0; j < UNITS; j++) {
      if (i == j || coupled(kind, i, j)) {
        e->unit[used++] = j;
      }
    }
  }
  e->start[UNITS] = used;
  e->pattern = (saltusi_block_pattern){.units = UNITS,
                                       .rows = e->offset[UNITS],
                                       .blocks = used,
                                       .uniform = size == 2 || size == 3 ? size : 0,
                                       .unit_max = size > 0 ? size : SIZE_MAX_BLOCK,
                                       .offset = e->offset,
                                       .start = e->start,
                                       .unit = e->unit};
  saltus_arena arena = saltus_arena_counting();
  assert_int_equal(saltusi_block_lu_plan(&e->lu, &e->pattern, &arena), SALTUS_OK);
  const size_t bytes = arena.used;
  e->block = aligned_alloc(SALTUS_ALIGNMENT, (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  memset(e->block, 0x5a, bytes);
  arena = saltus_arena_over(e->block, bytes);
  assert_int_equal(saltusi_block_lu_plan(&e->lu, &e->pattern, &arena), SALTUS_OK);
  assert_int_equal(arena.used, bytes);
}

static double* entry(example* e, int block, int a, int c) {
  const int columns = e->offset[e->lu.unit[block] + 1] - e->offset[e->lu.unit[block]];
  return &e->lu.values[e->lu.place[block] + (size_t)(a * columns + c)];
}

/* Random values; symmetric and positive definite, or anything with a dominant diagonal. */
static void fill(example* e, uint64_t* seed, bool symmetric, double dominant) {
  for (int i = 0; i < UNITS; i++) {
    for (int b = e->lu.start[i]; b < e->lu.start[i + 1]; b++) {
      const int j = e->lu.unit[b];
      for (int a = 0; a < e->offset[i + 1] - e->offset[i]; a++) {
        for (int c = 0; c < e->offset[j + 1] - e->offset[j]; c++) {
          const int row = e->offset[i] + a, column = e->offset[j] + c;
          uint64_t own = (uint64_t)(row < column ? row * ROWS + column : column * ROWS + row);
          own = own * 2654435761ULL + *seed;
          draw(&own);
          *entry(e, b, a, c) =
              (symmetric ? draw(&own) : draw(seed)) + (row == column ? dominant : 0.0);
        }
      }
    }
  }
}

static void spread(example* e, long double* A) {
  const int n = e->offset[UNITS];
  memset(A, 0, (size_t)(n * n) * sizeof *A);
  for (int i = 0; i < UNITS; i++) {
    for (int b = e->lu.start[i]; b < e->lu.start[i + 1]; b++) {
      const int j = e->lu.unit[b];
      for (int a = 0; a < e->offset[i + 1] - e->offset[i]; a++) {
        for (int c = 0; c < e->offset[j + 1] - e->offset[j]; c++) {
          A[(e->offset[i] + a) * n + e->offset[j] + c] = *entry(e, b, a, c);
        }
      }
    }
  }
}

/* x with A x = b by elimination with complete pivoting. */
static void reference(int n, long double* A, const double* b, double* x) {
  static long double y[ROWS];
  static int column[ROWS];
  for (int i = 0; i < n; i++) {
    y[i] = b[i];
    column[i] = i;
  }
  for (int k = 0; k < n; k++) {
    int row = k, best = k;
    for (int i = k; i < n; i++) {
      for (int j = k; j < n; j++) {
        if (fabsl(A[i * n + j]) > fabsl(A[row * n + best])) {
          row = i, best = j;
        }
      }
    }
    for (int j = 0; j < n; j++) {
      const long double held = A[k * n + j];
      A[k * n + j] = A[row * n + j];
      A[row * n + j] = held;
    }
    for (int i = 0; i < n; i++) {
      const long double held = A[i * n + k];
      A[i * n + k] = A[i * n + best];
      A[i * n + best] = held;
    }
    const long double held = y[k];
    y[k] = y[row], y[row] = held;
    const int at = column[k];
    column[k] = column[best], column[best] = at;
    for (int i = k + 1; i < n; i++) {
      const long double factor = A[i * n + k] / A[k * n + k];
      for (int j = k + 1; factor != 0 && j < n; j++) {
        A[i * n + j] -= factor * A[k * n + j];
      }
      y[i] -= factor * y[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      y[k] -= A[k * n + j] * y[j];
    }
    y[k] /= A[k * n + k];
  }
  for (int k = 0; k < n; k++) {
    x[column[k]] = (double)y[k];
  }
}

/* Solves with the factors and by the reference; returns the largest difference over the largest entry, and
 * the residual |b - A x| / (|A| |x|) in long double. */
static double error_of(example* e, uint64_t* seed, double* residual) {
  static long double A[ROWS * ROWS], copy[ROWS * ROWS];
  static double b[ROWS], x[ROWS], y[ROWS];
  const int n = e->offset[UNITS];
  for (int i = 0; i < n; i++) {
    b[i] = draw(seed);
  }
  spread(e, A);
  memcpy(copy, A, sizeof A);
  memcpy(x, b, sizeof x);
  saltusi_block_lu_apply(&e->lu, x);
  reference(n, copy, b, y);
  double difference = 0.0, size = 0.0, rest = 0.0, matrix = 0.0;
  for (int i = 0; i < n; i++) {
    long double sum = b[i], row = 0.0L;
    for (int j = 0; j < n; j++) {
      sum -= A[i * n + j] * x[j];
      row += fabsl(A[i * n + j]);
    }
    difference = fmax(difference, fabs(x[i] - y[i]));
    size = fmax(size, fabs(y[i]));
    rest = fmax(rest, (double)fabsl(sum));
    matrix = fmax(matrix, (double)row);
  }
  *residual = rest / (matrix * size);
  return difference / size;
}

/* 1e-13: condition numbers below 100 and a few hundred roundings. */
static void every_shape_is_solved_as_the_dense_matrix_is(void** state) {
  (void)state;
  static example e;
  uint64_t seed = 3;
  for (int kind = 0; kind < SHAPES; kind++) {
    for (int size = 0; size <= 4; size++) {
      make(&e, (shape)kind, size);
      for (int symmetric = 0; symmetric < 2; symmetric++) {
        /* an arrow has rows with as many entries as there are */
        fill(&e, &seed, symmetric == 1, kind == ARROW ? 40.0 : 20.0);
        assert_true(saltusi_block_lu_prepare(&e.lu, 1e-14, e.trial));
        assert_true(saltusi_block_lu_separable(&e.lu));
        double residual;
        assert_true(error_of(&e, &seed, &residual) <= 1e-13);
        assert_true(residual <= 1e-15);
      }
      free(e.block);
    }
  }
}

/* Zero diagonal blocks: without pivoting nothing would come out. */
static void pivots_are_found_where_diagonal_blocks_vanish(void** state) {
  (void)state;
  static example e;
  uint64_t seed = 4;
  for (int size = 0; size <= 3; size++) {
    make(&e, GRID, size);
    fill(&e, &seed, false, 0.0);
    for (int i = 1; i < UNITS; i += 4) {
      const size_t at = e.lu.place[e.lu.diagonal[i]];
      const int d = e.offset[i + 1] - e.offset[i];
      memset(e.lu.values + at, 0, (size_t)(d * d) * sizeof(double));
    }
    assert_true(saltusi_block_lu_prepare(&e.lu, 1e-14, e.trial));
    double residual;
    assert_true(error_of(&e, &seed, &residual) <= 1e-9); /* condition up to 1e5 */
    assert_true(residual <= 1e-13);
    assert_false(saltusi_block_lu_separable(&e.lu));
    free(e.block);
  }
}

/* The Laplacian of a graph has constants as kernel; entries of 1/3 leave rounding in the last pivot. */
static void a_singular_matrix_is_refused(void** state) {
  (void)state;
  static example e;
  for (int kind = 0; kind < SHAPES; kind++) {
    for (int size = 1; size <= 3; size++) {
      for (int held = 0; held < 2; held++) {
        make(&e, (shape)kind, size);
        memset(e.lu.values, 0, e.lu.place[e.lu.start[UNITS]] * sizeof(double));
        for (int i = 0; i < UNITS; i++) {
          for (int b = e.lu.start[i]; b < e.lu.start[i + 1]; b++) {
            for (int a = 0; a < size && b != e.lu.diagonal[i]; a++) {
              *entry(&e, b, a, a) = -1.0 / 3.0;
              *entry(&e, e.lu.diagonal[i], a, a) += 1.0 / 3.0;
            }
            *entry(&e, e.lu.diagonal[i], 0, 0) += held == 1 ? 1e-6 : 0.0;
            for (int a = 1; a < size; a++) {
              *entry(&e, e.lu.diagonal[i], a, a) += 0.1;
            }
          }
        }
        assert_int_equal(saltusi_block_lu_prepare(&e.lu, 1e-14, e.trial), held == 1);
        free(e.block);
      }
    }
  }
}

/* Positions of one loose chain: the same numbers as a solve of all, and nothing else is touched. */
static void a_component_is_solved_alone(void** state) {
  (void)state;
  static example e;
  static double x[ROWS], all[ROWS];
  uint64_t seed = 5;
  for (int size = 0; size <= 3; size++) {
    make(&e, LOOSE, size);
    fill(&e, &seed, true, 20.0);
    assert_true(saltusi_block_lu_prepare(&e.lu, 1e-14, e.trial));
    int position[UNITS], count = 0;
    for (int k = 0; k < UNITS; k++) {
      if (e.lu.order[k] % 12 == 5) {
        position[count++] = k;
      }
    }
    for (int a = 0; a < e.offset[UNITS]; a++) {
      x[a] = all[a] = 7.0;
    }
    for (int i = 0; i < UNITS; i++) {
      for (int a = e.offset[i]; a < e.offset[i + 1]; a++) {
        x[a] = i % 12 == 5 ? draw(&seed) : 7.0;
        all[a] = i % 12 == 5 ? x[a] : 0.0;
      }
    }
    saltusi_block_lu_apply(&e.lu, all);
    saltusi_block_lu_apply_some(&e.lu, count, position, x);
    for (int i = 0; i < UNITS; i++) {
      for (int a = e.offset[i]; a < e.offset[i + 1]; a++) {
        assert_near(x[a], i % 12 == 5 ? all[a] : 7.0, 1e-15);
        assert_true(i % 12 == 5 || all[a] == 0.0);
      }
    }
    free(e.block);
  }
}

/* A chain is eliminated from its ends without fill: work and memory in proportion to its length. */
static void chains_cost_in_proportion_to_their_length(void** state) {
  (void)state;
  enum { LONG = 4096 };
  static int offset[LONG + 1], start[LONG + 1], unit[3 * LONG];
  double cost[2], bytes[2];
  for (int round = 0; round < 2; round++) {
    const int n = round == 0 ? LONG / 4 : LONG;
    int used = 0;
    for (int i = 0; i < n; i++) {
      offset[i] = 6 * i;
      start[i] = used;
      for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
        unit[used++] = j;
      }
    }
    offset[n] = 6 * n;
    start[n] = used;
    const saltusi_block_pattern pattern = {.units = n,
                                           .rows = 6 * n,
                                           .blocks = used,
                                           .unit_max = 6,
                                           .offset = offset,
                                           .start = start,
                                           .unit = unit};
    saltusi_block_lu lu;
    saltus_arena arena = saltus_arena_counting();
    assert_int_equal(saltusi_block_lu_plan(&lu, &pattern, &arena), SALTUS_OK);
    cost[round] = lu.cost;
    bytes[round] = (double)arena.used;
  }
  assert_near(cost[1] / cost[0], 4.0, 0.01); /* the ends */
  assert_near(bytes[1] / bytes[0], 4.0, 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_is_solved_as_the_dense_matrix_is),
      cmocka_unit_test(pivots_are_found_where_diagonal_blocks_vanish),
      cmocka_unit_test(a_singular_matrix_is_refused),
      cmocka_unit_test(a_component_is_solved_alone),
      cmocka_unit_test(chains_cost_in_proportion_to_their_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
