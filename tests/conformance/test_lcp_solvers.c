/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What every complementarity solver must satisfy. Residuals are recomputed here from z; a solver's
 * own word is never taken.
 */
#include "saltus_test.h"

#include "../../bench/packing.h"
#include "saltus/contact.h"
#include "saltus/problem_file.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 60, LONG = 100000 };

static double M[MOST * MOST], q[MOST], z[MOST], w[MOST];

static const char* published(const char* name) {
  static char path[2048];
  const char* where = getenv("SALTUS_PROBLEMS");
  snprintf(path, sizeof path, "%s/%s", where != NULL ? where : SALTUS_PUBLISHED, name);
  return path;
}

static double entry(const saltus_lcp* p, int i, const double* x) {
  double sum = p->q[i];
  if (p->sparse.start == NULL) {
    for (int j = 0; j < p->n; j++) {
      sum += p->M[(size_t)i * (size_t)p->n + (size_t)j] * x[j];
    }
  } else {
    for (int k = p->sparse.start[i]; k < p->sparse.start[i + 1]; k++) {
      sum += p->sparse.values[k] * x[p->sparse.column[k]];
    }
  }
  return sum;
}

/* |(w_b, min(z, w))| / |q| */
static double miss(const saltus_lcp* p, const double* x) {
  double sum = 0.0;
  double size = 0.0;
  for (int i = 0; i < p->n; i++) {
    double rest = entry(p, i, x);
    double one = i < p->bilateral || rest < x[i] ? rest : x[i];
    sum += one * one;
    size += p->q[i] * p->q[i];
  }
  return sqrt(sum) / (size > 0.0 ? sqrt(size) : 1.0);
}

static saltus_lcp_solver* make(const char* name, const saltus_allocator* allocator) {
  saltus_lcp_solver* solver;
  const saltus_solver_def def = {.solver = name, .allocator = allocator};
  assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
  return solver;
}

static saltus_solve_result solve(const char* name, const saltus_lcp* p, double tol, double* x) {
  saltus_lcp_solver* solver = make(name, NULL);
  saltus_solve_result result;
  double* rest = calloc((size_t)p->n + 1, sizeof(double));
  assert_non_null(rest);
  assert_int_equal(saltus_lcp_solve(solver, p, tol, x, rest, &result), SALTUS_OK);
  free(rest);
  saltus_lcp_solver_destroy(solver);
  return result;
}

/* M = B B^T with B n x rank, plus twist times a skew matrix. */
static void gram(uint64_t* seed, int n, int rank, double twist) {
  static double B[MOST * 2 * MOST];
  for (int k = 0; k < n * rank; k++) {
    B[k] = 2.0 * saltus_test_random(seed) - 1.0;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      M[i * n + j] = 0.0;
      for (int k = 0; k < rank; k++) {
        M[i * n + j] += B[i * rank + k] * B[j * rank + k];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double skew = twist * (2.0 * saltus_test_random(seed) - 1.0);
      M[i * n + j] += skew;
      M[j * n + i] -= skew;
    }
  }
}

static void random_q(uint64_t* seed, int n) {
  for (int i = 0; i < n; i++) {
    q[i] = 2.0 * saltus_test_random(seed) - 1.0;
  }
}

static void the_residual_has_its_hand_values(void** state) {
  (void)state;
  /* w = (2 - 3, 4 + 1) + (0.5 z_1, 0): with z = (2, -1): */
  const double A[4] = {2.0, 1.0, 0.0, 4.0};
  const double b[2] = {-3.0, 4.0};
  const double x[2] = {2.0, -1.0};
  saltus_lcp p = {.n = 2, .M = A, .q = b};
  saltus_residual r = saltus_lcp_residual(&p, x, w);
  /* w = (4 - 1 - 3, -4 + 4) = (0, 0); min(z, w) = (0, -1); z_2 / rho_2 = -4 */
  assert_true(w[0] == 0.0 && w[1] == 0.0);
  assert_near(r.normalised, 1.0 / 5.0, 1e-16);
  assert_near(r.velocity, 4.0, 0.0);
  assert_near(r.impulse, 1.0, 0.0);
  p.bilateral = 2; /* w = 0 is all that is asked */
  r = saltus_lcp_residual(&p, x, w);
  assert_true(r.normalised == 0.0 && r.velocity == 0.0 && r.impulse == 0.0);
  const double bad[2] = {NAN, 0.0};
  r = saltus_lcp_residual(&p, bad, w);
  assert_true(isnan(r.normalised) && isnan(r.velocity) && isnan(r.impulse));
  /* also where later rows are fine, and where no row asks for that z */
  const double diagonal[4] = {0.0, 0.0, 0.0, 1.0};
  const double fine[2] = {1.0, 1.0};
  for (int i = 0; i < 2; i++) {
    const int starts[] = {0, 0, 1};
    const int columns[] = {1};
    const saltus_lcp d = {.n = 2, .sparse = {2, 2, starts, columns, diagonal + 3}, .q = fine};
    const double one_bad[2] = {i == 0 ? NAN : 0.0, i == 1 ? NAN : 0.0};
    r = saltus_lcp_residual(&d, one_bad, w);
    assert_true(isnan(r.normalised) && isnan(r.velocity) && isnan(r.impulse));
  }
  /* compressed rows say the same */
  const int start[] = {0, 2, 3};
  const int column[] = {0, 1, 1};
  const double values[] = {2.0, 1.0, 4.0};
  const saltus_lcp s = {.n = 2, .sparse = {2, 2, start, column, values}, .q = b};
  r = saltus_lcp_residual(&s, x, w);
  assert_true(r.normalised == 0.2 && r.velocity == 4.0 && r.impulse == 1.0);
}

static void every_solver_solves_definite_problems(void** state) {
  (void)state;
  for (int k = 0; k < saltus_lcp_solver_count(); k++) {
    const char* name = saltus_lcp_solver_at(k)->name;
    int most = strcmp(name, "enumeration") == 0 ? 8 : 40;
    uint64_t seed = 1;
    for (int n = 1; n <= most; n++) {
      gram(&seed, n, n + 3, n % 2 == 0 ? 0.0 : 1.0);
      random_q(&seed, n);
      const saltus_lcp p = {.n = n, .M = M, .q = q};
      memset(z, 0, sizeof z);
      saltus_solve_result r = solve(name, &p, 1e-11, z);
      assert_int_equal(r.outcome, SALTUS_SOLVED);
      assert_true(miss(&p, z) <= 1.1e-11);
      assert_near(r.residual.normalised, miss(&p, z), 1e-15);
    }
  }
}

/* Small whole numbers: ties, singular blocks and zero rows everywhere. A solution is built in. */
static void solvable_small_problems_are_solved(void** state) {
  (void)state;
  uint64_t seed = 2;
  for (int round = 0; round < 1000; round++) {
    int n = 1 + round % 6;
    bool definite = round % 2 == 0;
    for (int k = 0; k < n * n; k++) {
      M[k] = floor(5.0 * saltus_test_random(&seed)) - 2.0;
    }
    for (int i = 0; definite && i < n; i++) {
      M[i * n + i] = 2.0 * n + 1.0;
    }
    double x[6];
    double rest[6];
    for (int i = 0; i < n; i++) {
      double a = floor(4.0 * saltus_test_random(&seed));
      bool z_side = saltus_test_random(&seed) < 0.5;
      x[i] = z_side ? a : 0.0;
      rest[i] = z_side ? 0.0 : a;
    }
    for (int i = 0; i < n; i++) {
      q[i] = rest[i];
      for (int j = 0; j < n; j++) {
        q[i] -= M[i * n + j] * x[j];
      }
    }
    const saltus_lcp p = {.n = n, .M = M, .q = q};
    memset(z, 0, sizeof z);
    saltus_solve_result r = solve("auto", &p, 1e-12, z);
    if (r.outcome != SALTUS_SOLVED) {
      fail_msg("round %d, %d rows: outcome %d after %s", round, n, (int)r.outcome, r.stages);
    }
    assert_true(miss(&p, z) <= 1.1e-12);
  }
}

/* A row that cannot become positive: no solution, whatever the rest is. */
static void impossible_small_problems_are_recognised(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int round = 0; round < 1000; round++) {
    int n = 1 + round % 6;
    int row = (int)(n * saltus_test_random(&seed));
    for (int k = 0; k < n * n; k++) {
      M[k] = floor(5.0 * saltus_test_random(&seed)) - 2.0;
    }
    for (int j = 0; j < n; j++) {
      M[row * n + j] = -fabs(M[row * n + j]);
    }
    random_q(&seed, n);
    q[row] = -0.5 - saltus_test_random(&seed);
    const saltus_lcp p = {.n = n, .M = M, .q = q};
    memset(z, 0, sizeof z);
    saltus_solve_result r = solve("auto", &p, 1e-10, z);
    assert_int_not_equal(r.outcome, SALTUS_SOLVED);
    if (r.outcome != SALTUS_NO_SOLUTION) {
      fail_msg("round %d, %d rows: not shown to have none after %s", round, n, r.stages);
    }
  }
}

/* Larger than what can be enumerated: Lemke's ray carries the proof. */
static void redundant_supports_without_solution_are_recognised(void** state) {
  (void)state;
  uint64_t seed = 4;
  for (int n = 15; n <= 45; n += 10) {
    gram(&seed, n, n / 3, 0.0);
    for (int i = 0; i < n; i++) {
      q[i] = -1.0; /* not in the range of M: some combination of rows cannot be lifted */
      M[i * n + n - 1] = 0.0;
      M[(n - 1) * n + i] = 0.0;
    }
    const saltus_lcp p = {.n = n, .M = M, .q = q};
    memset(z, 0, sizeof z);
    assert_int_equal(solve("auto", &p, 1e-10, z).outcome, SALTUS_NO_SOLUTION);
  }
}

static void semidefinite_problems_are_solved(void** state) {
  (void)state;
  uint64_t seed = 5;
  for (int n = 6; n <= MOST; n += 6) {
    gram(&seed, n, n / 3, 0.0);
    for (int i = 0; i < n; i++) {
      q[i] = 0.0;
      for (int j = 0; j < n; j++) {
        q[i] -= M[i * n + j] * (j % 2);
      }
    }
    const saltus_lcp p = {.n = n, .M = M, .q = q};
    memset(z, 0, sizeof z);
    assert_int_equal(solve("auto", &p, 1e-11, z).outcome, SALTUS_SOLVED);
    assert_true(miss(&p, z) <= 1.1e-11);
    memset(z, 0, sizeof z);
    assert_int_equal(solve("principal-pivoting", &p, 1e-9, z).outcome, SALTUS_SOLVED);
    assert_true(miss(&p, z) <= 1.1e-9);
  }
}

static void bilateral_rows_may_depend_on_each_other(void** state) {
  (void)state;
  uint64_t seed = 6;
  for (int round = 0; round < 40; round++) {
    int nb = 1 + round % 5;
    int n = nb + round % 7;
    gram(&seed, n, n + 4, 0.3);
    random_q(&seed, n);
    if (nb > 1) { /* the second joint repeats the first */
      for (int k = 0; k < n; k++) {
        M[n + k] = M[k];
      }
      for (int k = 0; k < n; k++) {
        M[k * n + 1] = M[k * n];
      }
      q[1] = q[0];
    }
    saltus_lcp p = {.n = n, .bilateral = nb, .M = M, .q = q};
    memset(z, 0, sizeof z);
    assert_int_equal(solve("auto", &p, 1e-11, z).outcome, SALTUS_SOLVED);
    assert_true(miss(&p, z) <= 1.1e-11);
    if (nb > 1) {
      q[1] = q[0] + 1.0;
      assert_int_equal(solve("auto", &p, 1e-11, z).outcome, SALTUS_NO_SOLUTION);
    }
  }
  /* multipliers without a block of their own: M_bb = 0, pivots with complementary rows */
  const double saddle[9] = {0.0, 1.0, 2.0, 1.0, 3.0, 0.0, 2.0, 0.0, 3.0};
  const double b[3] = {-4.0, 1.0, -2.0};
  const saltus_lcp p = {.n = 3, .bilateral = 1, .M = saddle, .q = b};
  memset(z, 0, sizeof z);
  assert_int_equal(solve("auto", &p, 1e-13, z).outcome, SALTUS_SOLVED);
  assert_true(miss(&p, z) <= 1e-13);
}

/* Normal contacts of a packing of spheres: large, sparse, with more contacts than the motion needs.
 * The sparse and the dense way have to agree in w, which is unique. */
static void packings_without_friction_are_solved(void** state) {
  (void)state;
  if (!saltus_has("cxsparse")) {
    skip();
  }
  packing_def def = packing_def_default();
  def.nx = def.ny = def.nz = 4;
  for (int round = 0; round < 2; round++) {
    def.velocity = 0.1 * round;
    packing p;
    saltus_problem_file* local;
    assert_true(packing_create(&def, &p));
    assert_int_equal(saltus_global_friction_reduce(&p.problem, (saltus_log){0}, NULL, &local),
                     SALTUS_OK);
    const saltus_block_matrix* W = &local->friction.W;
    size_t n = (size_t)W->units;
    double* values = calloc((size_t)W->start[n], sizeof(double));
    double* A = calloc(n * n, sizeof(double));
    double* x = calloc(6 * n, sizeof(double));
    assert_true(values != NULL && A != NULL && x != NULL);
    for (int i = 0; i < W->units; i++) {
      for (int k = W->start[i]; k < W->start[i + 1]; k++) {
        values[k] = W->values[W->place[k]];
        A[(size_t)i * n + (size_t)W->unit[k]] = values[k];
      }
      x[i] = local->friction.q[3 * i];
    }
    const saltus_lcp sparse = {
        .n = W->units, .sparse = {W->units, W->units, W->start, W->unit, values}, .q = x};
    const saltus_lcp dense = {.n = W->units, .M = A, .q = x};
    assert_true(n > 200);
    saltus_solve_result a = solve("auto", &sparse, 1e-11, x + n);
    saltus_solve_result b = solve("interior-point", &dense, 1e-11, x + 2 * n);
    assert_int_equal(a.outcome, SALTUS_SOLVED);
    assert_int_equal(b.outcome, SALTUS_SOLVED);
    assert_true(miss(&sparse, x + n) <= 1.1e-11 && miss(&dense, x + 2 * n) <= 1.1e-11);
    for (int i = 0; i < W->units; i++) {
      assert_near(entry(&sparse, i, x + n), entry(&dense, i, x + 2 * n), 1e-9);
    }
    free(values);
    free(A);
    free(x);
    saltus_problem_file_destroy(local);
    packing_free(&p);
  }
}

typedef struct column {
  int n;
  int start[LONG + 1];
  int index[3 * LONG];
  double values[3 * LONG];
  double q[LONG], z[LONG], w[LONG];
} column;

static column* beads(int n) {
  column* c = calloc(1, sizeof *c);
  assert_non_null(c);
  c->n = n;
  int k = 0;
  for (int i = 0; i < n; i++) {
    for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
      c->index[k] = j;
      c->values[k++] = j != i ? -1.0 : i == 0 ? 1.0 : 2.0;
    }
    c->start[i + 1] = k;
  }
  return c;
}

static saltus_lcp view(const column* c) {
  return (saltus_lcp){.n = c->n, .sparse = {c->n, c->n, c->start, c->index, c->values}, .q = c->q};
}

/* Impulses grow to n q in a column at rest and cancel between neighbours: rounding of z alone leaves
 * 4 eps n sqrt(n) of |q|. */
static void columns_of_beads_are_solved_cold_and_warm(void** state) {
  (void)state;
  static const int sizes[] = {1000, LONG};
  static const double velocities[] = {0.0, 1e-3, 0.1};
  for (int s = 0; s < 2; s++) {
    int n = sizes[s];
    column* c = beads(n);
    for (int v = 0; v < 3; v++) {
      uint64_t seed = 7;
      for (int i = 0; i < n; i++) {
        c->q[i] = velocities[v] * (2.0 * saltus_test_random(&seed) - 1.0) - (i == 0 ? 0.01 : 0.0);
      }
      saltus_lcp p = view(c);
      double tol = 4.0 * 2.2e-16 * n * sqrt(n);
      memset(c->z, 0, sizeof c->z);
      saltus_solve_result cold = solve("auto", &p, tol, c->z);
      assert_int_equal(cold.outcome, SALTUS_SOLVED);
      assert_true(miss(&p, c->z) <= 1.1 * tol);
      assert_true(cold.iterations <= 40);
      for (int i = 0; i < n; i++) {
        c->q[i] *= 1.5;
      }
      saltus_solve_result warm = solve("auto", &p, tol, c->z);
      assert_int_equal(warm.outcome, SALTUS_SOLVED);
      assert_int_equal(warm.iterations, 1); /* its active set is the right one */
    }
    if (velocities[0] == 0.0 && n == 1000) { /* at rest: the floor carries everything */
      memset(c->q, 0, sizeof c->q);
      c->q[0] = -1.0;
      saltus_lcp p = view(c);
      memset(c->z, 0, sizeof c->z);
      assert_int_equal(solve("active-set", &p, 1e-12, c->z).outcome, SALTUS_SOLVED);
      for (int i = 0; i < n; i++) {
        assert_near(c->z[i], n - i, 1e-9 * n);
      }
    }
    free(c);
  }
}

/* The matrix of the closed contacts `id`: neighbours in the column act on each other. */
static void link_closed(column* c, const int* id, int n) {
  int k = 0;
  c->n = n;
  for (int a = 0; a < n; a++) {
    for (int b = a > 0 ? a - 1 : 0; b <= a + 1 && b < n; b++) {
      if (b == a || abs(id[b] - id[a]) == 1) {
        c->index[k] = b;
        c->values[k++] = b != a ? -1.0 : id[a] == 0 ? 1.0 : 2.0;
      }
    }
    c->start[a + 1] = k;
  }
}

/* A column that falls on the floor with restitution: degenerate data in every step, on which the
 * primal-dual active set alone cycles. Contacts that are open take no part. */
static void a_bouncing_column_never_fails(void** state) {
  (void)state;
  enum { N = 200, STEPS = 400 };
  const double h = 1e-3;
  const double e = 0.9;
  static double x[N], v[N], old[N], kept[N];
  column* c = beads(N);
  saltus_lcp_solver* solver = make("auto", NULL);
  for (int i = 0; i < N; i++) {
    x[i] = i * 1.0 + 1e-4 * (i + 1);
    v[i] = -1.0;
    kept[i] = 0.0;
  }
  int solves = 0;
  for (int step = 0; step < STEPS; step++) {
    int id[N];
    int n = 0;
    for (int i = 0; i < N; i++) {
      double below = i > 0 ? x[i - 1] + 0.5 * h * v[i - 1] : -1.0;
      if (x[i] + 0.5 * h * v[i] - below - 1.0 <= 0.0) {
        id[n++] = i;
      }
    }
    for (int a = 0; a < n; a++) {
      double u = v[id[a]] - (id[a] > 0 ? v[id[a] - 1] : 0.0);
      c->q[a] = u + e * u - (id[a] == 0 ? h * 9.81 : 0.0);
      c->z[a] = kept[id[a]];
    }
    link_closed(c, id, n);
    saltus_lcp p = view(c);
    saltus_solve_result r;
    assert_int_equal(saltus_lcp_solve(solver, &p, 1e-11, c->z, c->w, &r), SALTUS_OK);
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    assert_true(miss(&p, c->z) <= 1.1e-11);
    solves += n > 0;
    memcpy(old, v, sizeof v);
    for (int i = 0; i < N; i++) {
      v[i] -= h * 9.81;
      kept[i] = 0.0;
    }
    for (int a = 0; a < n; a++) {
      v[id[a]] += c->z[a];
      kept[id[a]] = c->z[a];
      if (id[a] > 0) {
        v[id[a] - 1] -= c->z[a];
      }
    }
    for (int i = 0; i < N; i++) {
      x[i] += 0.5 * h * (v[i] + old[i]);
    }
  }
  assert_true(solves > STEPS / 2);
  saltus_lcp_solver_destroy(solver);
  free(c);
}

/* A guess that solves the problem is not made worse, also where its basis is singular and finding
 * another answer takes many iterations. */
static void a_good_guess_is_kept(void** state) {
  (void)state;
  uint64_t seed = 10;
  int n = 30;
  gram(&seed, n, n / 3, 0.0);
  for (int i = 0; i < n; i++) {
    q[i] = 0.0;
    z[i] = 1.0;
    for (int j = 0; j < n; j++) {
      q[i] -= M[i * n + j];
    }
  }
  const saltus_lcp p = {.n = n, .M = M, .q = q};
  double before = miss(&p, z);
  assert_true(before < 1e-14);
  saltus_solve_result r = solve("auto", &p, 1e-12, z);
  assert_int_equal(r.outcome, SALTUS_SOLVED);
  assert_true(miss(&p, z) <= 1.1 * before + 1e-16 && r.iterations <= 1);
}

static void repeated_solves_have_the_same_bits(void** state) {
  (void)state;
  uint64_t seed = 8;
  for (int k = 0; k < saltus_lcp_solver_count(); k++) {
    const char* name = saltus_lcp_solver_at(k)->name;
    int n = strcmp(name, "enumeration") == 0 ? 8 : 30;
    /* a larger problem first: what is left of it in the room must not matter */
    saltus_lcp_solver* used = make(name, NULL);
    gram(&seed, n + 2, n + 5, 0.5);
    random_q(&seed, n + 2);
    saltus_lcp p = {.n = n + 2, .M = M, .q = q};
    saltus_solve_result r;
    memset(z, 0, sizeof z);
    assert_int_equal(saltus_lcp_solve(used, &p, 1e-11, z, w, &r), SALTUS_OK);
    gram(&seed, n, n + 3, 0.5);
    random_q(&seed, n);
    p.n = n;
    double first[MOST] = {0.0};
    double second[MOST] = {0.0};
    assert_int_equal(saltus_lcp_solve(used, &p, 1e-11, first, w, &r), SALTUS_OK);
    solve(name, &p, 1e-11, second);
    assert_memory_equal(first, second, sizeof first);
    saltus_lcp_solver_destroy(used);
  }
}

static void nothing_is_allocated_after_setup(void** state) {
  (void)state;
  uint64_t seed = 9;
  for (int k = 0; k < saltus_lcp_solver_count(); k++) {
    counter count = {0};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_lcp_solver* solver = make(saltus_lcp_solver_at(k)->name, &allocator);
    int n = 10;
    gram(&seed, n, n / 2, 0.0); /* singular, so that every stage has its turn */
    random_q(&seed, n);
    for (int bilateral = 4; bilateral >= 0; bilateral -= 4) {
      saltus_lcp p = {.n = n, .bilateral = bilateral, .M = M, .q = q};
      assert_int_equal(saltus_lcp_solver_setup(solver, &p), SALTUS_OK);
      int before = count.calls;
      saltus_solve_result r;
      memset(z, 0, sizeof z);
      assert_int_equal(saltus_lcp_solve(solver, &p, 1e-11, z, w, &r), SALTUS_OK);
      p.n = n - 2; /* smaller ones fit */
      p.bilateral = bilateral / 2;
      assert_int_equal(saltus_lcp_solve(solver, &p, 1e-11, z, w, &r), SALTUS_OK);
      assert_int_equal(count.calls, before);
    }
    /* a chain, and with one far entry a matrix for the sparse factors */
    column* c = beads(300);
    for (int i = 0; i < 300; i++) {
      c->q[i] = 2.0 * saltus_test_random(&seed) - 1.0;
    }
    for (int far = 0; far < 2; far++) {
      if (far == 1) {
        c->index[c->start[1] - 1] = 250;
      }
      saltus_lcp p = view(c);
      saltus_solve_result r;
      assert_int_equal(saltus_lcp_solver_setup(solver, &p), SALTUS_OK);
      int before = count.calls;
      memset(c->z, 0, sizeof c->z);
      assert_int_equal(saltus_lcp_solve(solver, &p, 1e-11, c->z, c->w, &r), SALTUS_OK);
      assert_int_equal(saltus_lcp_solve(solver, &p, 1e-11, c->z, c->w, &r), SALTUS_OK);
      assert_int_equal(count.calls, before);
    }
    free(c);
    saltus_lcp_solver_destroy(solver);
    assert_int_equal(count.live, 0);
  }
}

static void faults_of_the_caller_are_reported(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_lcp_solver* solver;
  saltus_solver_def def = {.solver = "lemkr", .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_ERR_NAME);
  assert_null(solver);
  assert_says(kept, "did you mean \"lemke\"");
  const saltus_lemke_options wrong = {.pivots_per_row = 0};
  def = (saltus_solver_def){.solver = "lemke", .options = &wrong, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_ERR_RANGE);
  assert_says(kept, "pivots_per_row");
  def = (saltus_solver_def){.log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
  const double A[1] = {1.0};
  const double b[1] = {NAN};
  saltus_lcp p = {.n = 1, .M = A, .q = b};
  saltus_solve_result r;
  assert_int_equal(saltus_lcp_solve(solver, &p, 1e-9, z, w, &r), SALTUS_ERR_INPUT);
  assert_says(kept, "not finite");
  p.bilateral = 2;
  assert_int_equal(saltus_lcp_solve(solver, &p, 1e-9, z, w, &r), SALTUS_ERR_INPUT);
  p = (saltus_lcp){.n = 0, .M = A, .q = b};
  assert_int_equal(saltus_lcp_solve(solver, &p, 1e-9, z, w, &r), SALTUS_OK);
  assert_int_equal(r.outcome, SALTUS_SOLVED);
  saltus_lcp_solver_destroy(solver);
  saltus_lcp_solver_destroy(NULL);
  assert_null(saltus_lcp_solver_find("none"));
  assert_null(saltus_lcp_solver_at(saltus_lcp_solver_count()));
  assert_ptr_equal(saltus_lcp_solver_find("auto"), saltus_lcp_solver_at(0));
}

static void check_file(const char* path, double tol, saltus_solve_outcome wanted) {
  saltus_kept_message kept;
  saltus_problem_file* file;
  if (saltus_problem_file_read(path, saltus_log_keep(&kept), NULL, &file) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  double* x = calloc((size_t)file->lcp.n + 1, sizeof(double));
  assert_non_null(x);
  saltus_solve_result r = solve("auto", &file->lcp, tol, x);
  if (r.outcome != wanted) {
    fail_msg("%s: outcome %d, residual %g, %s", path, (int)r.outcome, r.residual.normalised,
             r.stages);
  }
  assert_true(wanted != SALTUS_SOLVED || miss(&file->lcp, x) <= 1.1 * tol);
  free(x);
  saltus_problem_file_destroy(file);
}

static void our_collection_is_answered(void** state) {
  (void)state;
  static const struct {
    const char* name;
    saltus_solve_outcome outcome;
  } list[] = {
      {"lcp_beads_40_rest.dat", SALTUS_SOLVED},     {"lcp_beads_300_impact.dat", SALTUS_SOLVED},
      {"lcp_definite_30.dat", SALTUS_SOLVED},       {"lcp_twisted_24.dat", SALTUS_SOLVED},
      {"lcp_redundant_18.dat", SALTUS_SOLVED},      {"lcp_murty_10.dat", SALTUS_SOLVED},
      {"lcp_degenerate_12.dat", SALTUS_SOLVED},     {"joints_mlcp.dat", SALTUS_SOLVED},
      {"redundant_mlcp.dat", SALTUS_SOLVED},        {"none_mlcp.dat", SALTUS_NO_SOLUTION},
      {"lcp_none_opposed.dat", SALTUS_NO_SOLUTION}, {"lcp_none_feasible.dat", SALTUS_NO_SOLUTION},
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", SALTUS_COLLECTION, list[k].name);
    check_file(path, 1e-12, list[k].outcome);
  }
}

/* Pang's matrix (published with an isolated solution); a change of q leaves no solution, although
 * M z + q >= 0 can be met. */
static void a_feasible_problem_without_solution_is_recognised(void** state) {
  (void)state;
  const double pang[9] = {0.0, 1.0, -1.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0};
  const double b[3] = {-0.5, 0.1, 1.0};
  const saltus_lcp p = {.n = 3, .M = pang, .q = b};
  /* w_2 = z_1 + 0.1 > 0 gives z_2 = 0, and w_1 = -z_3 - 0.5 < 0; but z = (0, 1, 0) is feasible */
  memset(z, 0, sizeof z);
  assert_int_equal(solve("auto", &p, 1e-10, z).outcome, SALTUS_NO_SOLUTION);
  assert_int_equal(solve("enumeration", &p, 1e-10, z).outcome, SALTUS_NO_SOLUTION);
  z[0] = z[2] = 0.0;
  z[1] = 1.0;
  for (int i = 0; i < 3; i++) {
    assert_true(entry(&p, i, z) >= 0.0);
  }
}

static void published_problems_are_solved(void** state) {
  (void)state;
  static const char* const names[] = {
      "lcp/lcp_CPS_1.dat",
      "lcp/lcp_CPS_3.dat",
      "lcp/lcp_CPS_4.dat",
      "lcp/lcp_Pang_isolated_sol.dat",
      "lcp/lcp_deudeu.dat",
      "lcp/lcp_deudeu_block.dat",
      "lcp/lcp_enum_fails.dat",
      "lcp/lcp_exp_murty.dat",
      "lcp/lcp_inf_sol_perturbed.dat",
      "lcp/lcp_ortiz.dat",
      "lcp/lcp_tobenna.dat",
      "mlcp/BuckConverter_mlcp.dat",
      "mlcp/PD_mlcp.dat",
      "mlcp/RLCD_mlcp.dat",
      "mlcp/deltasigma_mlcp.dat",
      "mlcp/deudeu_mlcp.dat",
      "mlcp/diodeBridge20_mlcp.dat",
  };
  FILE* there = fopen(published(names[0]), "r");
  if (there == NULL) {
    print_message("no published problems in %s\n", published("."));
    skip();
  }
  fclose(there);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    check_file(published(names[k]), 1e-12, SALTUS_SOLVED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_residual_has_its_hand_values),
      cmocka_unit_test(every_solver_solves_definite_problems),
      cmocka_unit_test(solvable_small_problems_are_solved),
      cmocka_unit_test(impossible_small_problems_are_recognised),
      cmocka_unit_test(redundant_supports_without_solution_are_recognised),
      cmocka_unit_test(semidefinite_problems_are_solved),
      cmocka_unit_test(bilateral_rows_may_depend_on_each_other),
      cmocka_unit_test(packings_without_friction_are_solved),
      cmocka_unit_test(columns_of_beads_are_solved_cold_and_warm),
      cmocka_unit_test(a_bouncing_column_never_fails),
      cmocka_unit_test(a_good_guess_is_kept),
      cmocka_unit_test(repeated_solves_have_the_same_bits),
      cmocka_unit_test(nothing_is_allocated_after_setup),
      cmocka_unit_test(faults_of_the_caller_are_reported),
      cmocka_unit_test(our_collection_is_answered),
      cmocka_unit_test(a_feasible_problem_without_solution_is_recognised),
      cmocka_unit_test(published_problems_are_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
