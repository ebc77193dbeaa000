/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Small dense solvers. The residual is recomputed here; no outcome flag is trusted alone.
 */
#include "saltus_test.h"

#include "math/matrix.h"
#include "solve/lcp/banded.h"
#include "solve/lcp/lcp_dense.h"
#include "solve/lcp/lcp_sparse.h"
#include "solve/lcp/mixed_lcp.h"

#include <stdlib.h>

enum { MOST = 80 };

static saltusi_mixed_work mixed;
static saltusi_lcp_work lemke;
static void* block;

static int prepare(void** state) {
  (void)state;
  saltus_arena arena = saltus_arena_counting();
  saltusi_mixed_layout(&mixed, MOST, MOST, MOST, &arena);
  saltusi_lcp_layout(&lemke, MOST, &arena);
  size_t bytes = arena.used;
  block = malloc(bytes);
  arena = saltus_arena_over(block, bytes);
  saltusi_mixed_layout(&mixed, MOST, MOST, MOST, &arena);
  saltusi_lcp_layout(&lemke, MOST, &arena);
  return block == NULL;
}

static int clean(void** state) {
  (void)state;
  free(block);
  return 0;
}

/* max |min(z, M z + q)| */
static double miss(int n, const double* M, const double* q, const double* z) {
  double worst = 0.0;
  for (int i = 0; i < n; i++) {
    double w = q[i];
    for (int j = 0; j < n; j++) {
      w += M[i * n + j] * z[j];
    }
    worst = fmax(worst, fabs(fmin(z[i], w)));
  }
  return worst;
}

/* M = B B^T with B n x rank: positive semidefinite, redundant when rank < n. */
static void gram(uint64_t* seed, int n, int rank, double* M) {
  static double B[MOST * MOST];
  for (int k = 0; k < n * rank; k++) {
    B[k] = 2.0 * saltus_test_random(seed) - 1.0;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      M[i * n + j] = saltusi_dot(rank, B + i * rank, B + j * rank);
    }
  }
}

static double M[MOST * MOST], q[MOST], z[MOST];

static void random_definite_problems_are_solved(void** state) {
  (void)state;
  uint64_t seed = 1;
  for (int n = 1; n <= 40; n++) {
    for (int repeat = 0; repeat < 5; repeat++) {
      gram(&seed, n, n + 3 < MOST ? n + 3 : n, M);
      for (int i = 0; i < n; i++) {
        q[i] = 2.0 * saltus_test_random(&seed) - 1.0;
      }
      assert_int_equal(saltusi_lcp_lemke(&lemke, n, M, q, z).outcome, SALTUSI_LCP_SOLVED);
      assert_near(miss(n, M, q, z), 0.0, 1e-11); /* condition up to 1e3 times rounding */
    }
  }
}

/* More supports than degrees of freedom, the same support twice, several closing at once: impulses
 * are not unique, but the law has to hold. q in the range of B makes the problem solvable. */
static void redundant_supports_are_solved(void** state) {
  (void)state;
  uint64_t seed = 2;
  for (int n = 3; n <= 60; n += 3) {
    gram(&seed, n, n / 3, M);
    for (int i = 0; i < n; i++) {
      q[i] = 0.0;
      for (int j = 0; j < n; j++) {
        q[i] -= M[i * n + j]; /* W P = -q has the solution P = 1 */
      }
    }
    assert_int_equal(saltusi_lcp_lemke(&lemke, n, M, q, z).outcome, SALTUSI_LCP_SOLVED);
    assert_near(miss(n, M, q, z), 0.0, 1e-10 * saltusi_max_abs(n, q));
  }
}

/* The same problem in grams and micrometres has the same solution in those units. */
static void scaling_does_not_matter(void** state) {
  (void)state;
  uint64_t seed = 3;
  int n = 12;
  gram(&seed, n, n + 2, M);
  for (int i = 0; i < n; i++) {
    q[i] = 2.0 * saltus_test_random(&seed) - 1.0;
  }
  assert_int_equal(saltusi_lcp_lemke(&lemke, n, M, q, z).outcome, SALTUSI_LCP_SOLVED);
  double small[MOST];
  for (int k = 0; k < n * n; k++) {
    M[k] *= 1e9;
  }
  for (int i = 0; i < n; i++) {
    q[i] *= 1e-6;
  }
  assert_int_equal(saltusi_lcp_lemke(&lemke, n, M, q, small).outcome, SALTUSI_LCP_SOLVED);
  for (int i = 0; i < n; i++) {
    assert_near(small[i] * 1e15, z[i], 1e-9);
  }
}

/* Murty's problem makes Lemke's method with d = 1 walk; n is small here. */
static void murtys_problem_has_its_known_answer(void** state) {
  (void)state;
  int n = 8;
  for (int i = 0; i < n; i++) {
    q[i] = -1.0;
    for (int j = 0; j < n; j++) {
      M[i * n + j] = i == j ? 1.0 : (j > i ? 2.0 : 0.0);
    }
  }
  assert_int_equal(saltusi_lcp_lemke(&lemke, n, M, q, z).outcome, SALTUSI_LCP_SOLVED);
  for (int i = 0; i < n; i++) {
    assert_near(z[i], i == n - 1 ? 1.0 : 0.0, 1e-14);
  }
}

static void a_problem_without_solution_is_said_to_have_none(void** state) {
  (void)state;
  const double none[4] = {0.0, 0.0, 0.0, 1.0};
  const double down[2] = {-1.0, 1.0};
  assert_int_equal(saltusi_lcp_lemke(&lemke, 2, none, down, z).outcome, SALTUSI_LCP_RAY);
  const double bad[2] = {NAN, 1.0};
  assert_int_not_equal(saltusi_lcp_lemke(&lemke, 2, none, bad, z).outcome, SALTUSI_LCP_SOLVED);
}

static void bilateral_rows_hold_and_the_rest_is_complementary(void** state) {
  (void)state;
  uint64_t seed = 4;
  for (int nb = 1; nb <= 10; nb += 3) {
    for (int nu = 0; nu <= 12; nu += 4) {
      int n = nb + nu;
      gram(&seed, n, n + 4, M);
      for (int i = 0; i < n; i++) {
        q[i] = 2.0 * saltus_test_random(&seed) - 1.0;
      }
      assert_int_equal(saltusi_mixed_solve(&mixed, nb, nu, M, q, z), SALTUSI_MIXED_SOLVED);
      for (int i = 0; i < n; i++) {
        double w = q[i] + saltusi_dot(n, M + i * n, z);
        assert_near(i < nb ? w : fmin(w, z[i]), 0.0, 1e-10);
      }
    }
  }
}

/* The same row twice, once multiplied by 3: both carry the same force, multipliers -1/2 and -1/6; and
 * of rows that contradict each other the mean is met. */
static void dependent_joints_share_their_force(void** state) {
  (void)state;
  const double twice[4] = {1.0, 3.0, 3.0, 9.0};
  const double rhs[2] = {1.0, 3.0};
  assert_int_equal(saltusi_mixed_solve(&mixed, 2, 0, twice, rhs, z), SALTUSI_MIXED_SOLVED);
  assert_int_equal(mixed.block.rank, 1);
  assert_near(z[0], -1.0 / 2.0, 1e-15);
  assert_near(z[1], -1.0 / 6.0, 1e-15);
  double miss[2] = {1.0, 3.0};
  saltusi_rank_revealing_miss(&mixed.block, miss);
  assert_near(miss[0], 0.0, 1e-15);
  assert_near(miss[1], 0.0, 1e-15);
  const double equal[4] = {1.0, 1.0, 1.0, 1.0};
  const double against[2] = {1.0, 2.0};
  assert_int_equal(saltusi_mixed_solve(&mixed, 2, 0, equal, against, z), SALTUSI_MIXED_SOLVED);
  assert_near(z[0] + z[1], -1.5, 1e-15);
  double left[2] = {1.0, 2.0};
  saltusi_rank_revealing_miss(&mixed.block, left);
  assert_near(left[0], -0.5, 1e-15);
  assert_near(left[1], 0.5, 1e-15);
}

/* Random W = G^T G of n rows in fewer than n velocities: the answer solves it, has no part in the null
 * space of G D^-1, and a right-hand side outside of the range keeps exactly that part. */
static void dependent_rows_have_the_answer_of_least_size(void** state) {
  (void)state;
  enum { ROWS = 9 };
  uint64_t seed = 11;
  for (int velocities = 1; velocities < ROWS; velocities++) {
    double G[ROWS][ROWS] = {{0}};
    double W[ROWS * ROWS], b[ROWS], x[ROWS], null[ROWS], LU[ROWS * ROWS], gram_room[ROWS * ROWS];
    double scale[ROWS];
    int pivot[2 * ROWS];
    saltusi_rank_revealing d = {.LU = LU, .gram = gram_room, .pivot = pivot, .scale = scale};
    for (int i = 0; i < ROWS; i++) {
      double size = pow(10.0, 4.0 * saltus_test_random(&seed) - 2.0);
      for (int k = 0; k < velocities; k++) {
        G[i][k] = size * (2.0 * saltus_test_random(&seed) - 1.0);
      }
    }
    for (int i = 0; i < ROWS; i++) {
      b[i] = 0.0;
      for (int j = 0; j < ROWS; j++) {
        W[i * ROWS + j] = saltusi_dot(velocities, G[i], G[j]);
        b[i] += W[i * ROWS + j] * (j % 3 - 1.0) / saltusi_dot(velocities, G[j], G[j]);
      }
      x[i] = b[i];
    }
    assert_true(saltusi_rank_revealing_factor(&d, ROWS, W, ROWS));
    assert_int_equal(d.rank, velocities);
    saltusi_rank_revealing_solve(&d, x);
    for (int i = 0; i < ROWS; i++) {
      double root = sqrt(W[i * ROWS + i]);
      assert_near(saltusi_dot(ROWS, W + i * ROWS, x) / root, b[i] / root, 1e-9);
      null[i] = x[i] * W[i * ROWS + i]; /* D^-2 x is in the range of W when x is the least */
    }
    saltusi_rank_revealing_miss(&d, null);
    for (int i = 0; i < ROWS; i++) {
      assert_near(null[i] / sqrt(W[i * ROWS + i]), 0.0, 1e-9);
    }
  }
}

static void a_singular_matrix_is_not_factored(void** state) {
  (void)state;
  int pivot[3];
  double rank2[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  assert_false(saltusi_lu_factor(3, rank2, pivot, 1e-14));
  double nan[1] = {NAN};
  assert_false(saltusi_lu_factor(1, nan, pivot, 1e-14));
  double uneven[4] = {1e-9, 0.0, 0.0, 1e9}; /* badly scaled is not singular */
  assert_true(saltusi_lu_factor(2, uneven, pivot, 1e-14));
}

/* Panels of eight and tiles of 256 have edges: sizes on both sides of them. */
static void factors_in_panels_solve(void** state) {
  (void)state;
  static const int sizes[] = {1, 7, 8, 9, 16, 33, 300};
  uint64_t seed = 5;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int n = sizes[s];
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double* A = malloc(3 * bytes);
    double* U = A + n * n;
    double* LU = U + n * n;
    double* b = malloc(3 * (size_t)n * sizeof(double));
    int* pivot = malloc((size_t)n * sizeof(int));
    assert_true(A != NULL && b != NULL && pivot != NULL);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        A[i * n + j] = A[j * n + i] = saltus_test_random(&seed) - 0.5;
      }
      A[i * n + i] += n;
      b[i] = b[n + i] = b[2 * n + i] = saltus_test_random(&seed);
    }
    memcpy(U, A, bytes);
    memcpy(LU, A, bytes);
    assert_true(saltusi_cholesky(n, U, 1e-14));
    saltusi_cholesky_solve(n, U, b + n);
    const saltusi_dense_elimination all = {
        .A = LU, .stride = n, .rows = n, .columns = n, .pivots = n};
    assert_true(saltusi_eliminate(&all, 1e-14, pivot));
    saltusi_eliminate_solve(&all, pivot, b + 2 * n);
    for (int i = 0; i < n; i++) {
      assert_near(saltusi_dot(n, A + i * n, b + n), b[i], 1e-13);
      assert_near(b[n + i], b[2 * n + i], 1e-14);
    }
    A[0] = -1.0;
    assert_false(saltusi_cholesky(n, A, 1e-14));
    free(A);
    free(b);
    free(pivot);
  }
}

/* What the elimination leaves is the Schur complement: 4 - 3 * 4 / 2 and 5 - 3 * 6 / 2. */
static void elimination_leaves_the_schur_complement(void** state) {
  (void)state;
  double A[6] = {2.0, 4.0, 6.0, 3.0, 4.0, 5.0};
  int pivot[1];
  const saltusi_dense_elimination one = {.A = A, .stride = 3, .rows = 2, .columns = 3, .pivots = 1};
  assert_true(saltusi_eliminate(&one, 1e-14, pivot));
  assert_near(A[4], 4.0 - 3.0 * 4.0 / 2.0, 0.0);
  assert_near(A[5], 5.0 - 3.0 * 6.0 / 2.0, 0.0);
}

static void banded_and_sparse_factors_agree_with_dense_ones(void** state) {
  (void)state;
  enum { N = 40, WIDTH = 4 };
  uint64_t seed = 6;
  static double A[N * N], band[N * WIDTH], left[N * N];
  static int start[N + 1], column[N * WIDTH], place[N];
  static double values[N * WIDTH];
  int k = 0;
  for (int i = 0; i < N; i++) {
    for (int d = -1; d <= 2; d++) {
      int j = i + d;
      if (j >= 0 && j < N) {
        double entry = d == 0 ? 4.0 : saltus_test_random(&seed) - 0.5;
        A[i * N + j] = entry;
        band[i * WIDTH + d + 1] = entry;
        column[k] = j;
        values[k++] = entry;
      }
    }
    start[i + 1] = k;
  }
  double x[3][N];
  int kept = 0;
  for (int i = 0; i < N; i++) {
    x[0][i] = x[1][i] = saltus_test_random(&seed);
    place[i] = i % 3 == 1 ? -1 : kept++;
  }
  const saltusi_band b = {N, 1, 2, band};
  assert_true(saltusi_band_factor(&b));
  saltusi_band_solve(&b, x[1]);
  for (int i = 0; i < N; i++) {
    assert_near(saltusi_dot(N, A + i * N, x[1]), x[0][i], 1e-14);
  }
  /* every third row left out, something added to the diagonal */
  double added[N];
  for (int i = 0; i < N; i++) {
    added[i] = 0.1 * i;
    for (int j = 0; j < N && place[i] >= 0; j++) {
      if (place[j] >= 0) {
        left[place[i] * kept + place[j]] = A[i * N + j] + (i == j ? added[i] : 0.0);
      }
    }
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_sparse_lu lu;
  const saltus_csr M_ = {N, N, start, column, values};
  assert_int_equal(saltusi_sparse_lu_analyse(&lu, &M_, &pool), SALTUS_OK);
  assert_true(saltusi_sparse_lu_matches(&lu, &M_));
  for (int repeat = 0; repeat < 2; repeat++) {
    assert_true(saltusi_sparse_lu_factor(&lu, &M_, place, added));
    memcpy(x[2], x[0], sizeof x[0]);
    saltusi_sparse_lu_solve(&lu, place, x[2]);
    for (int i = 0; i < kept; i++) {
      assert_near(saltusi_dot(kept, left + i * kept, x[2]), x[0][i], 1e-14);
    }
  }
  saltusi_pool_free(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_definite_problems_are_solved),
      cmocka_unit_test(redundant_supports_are_solved),
      cmocka_unit_test(scaling_does_not_matter),
      cmocka_unit_test(murtys_problem_has_its_known_answer),
      cmocka_unit_test(a_problem_without_solution_is_said_to_have_none),
      cmocka_unit_test(bilateral_rows_hold_and_the_rest_is_complementary),
      cmocka_unit_test(dependent_joints_share_their_force),
      cmocka_unit_test(dependent_rows_have_the_answer_of_least_size),
      cmocka_unit_test(a_singular_matrix_is_not_factored),
      cmocka_unit_test(factors_in_panels_solve),
      cmocka_unit_test(elimination_leaves_the_schur_complement),
      cmocka_unit_test(banded_and_sparse_factors_agree_with_dense_ones),
  };
  return cmocka_run_group_tests(tests, prepare, clean);
}
