/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Bilateral rows in large sparse complementarity problems: masses held together by rods above a floor
 * (bench/rods.h). Residuals are recomputed here.
 */
#include "saltus_test.h"

#include "../../bench/rods.h"

#include <stdlib.h>

static rods make_chain(const rods_def* def) {
  rods c;
  assert_true(rods_create(def, &c));
  return c;
}

/* |(w_b, min(z, w))| / |q| */
static double miss(const rods* c) {
  double sum = 0.0;
  double size = 0.0;
  for (int i = 0; i < c->lcp.n; i++) {
    double w = c->q[i];
    for (int k = c->start[i]; k < c->start[i + 1]; k++) {
      w += c->values[k] * c->z[c->column[k]];
    }
    double one = i < c->lcp.bilateral || w < c->z[i] ? w : c->z[i];
    sum += one * one;
    size += c->q[i] * c->q[i];
  }
  return sqrt(sum) / sqrt(size);
}

static saltus_solve_result solve(const char* name, rods* c, double tol) {
  saltus_lcp_solver* solver;
  const saltus_solver_def def = {.solver = name};
  saltus_solve_result result;
  assert_int_equal(saltus_lcp_solver_create(&def, &solver), SALTUS_OK);
  assert_int_equal(saltus_lcp_solve(solver, &c->lcp, tol, c->z, c->w, &result), SALTUS_OK);
  saltus_lcp_solver_destroy(solver);
  if (result.outcome == SALTUS_SOLVED) {
    assert_true(miss(c) <= 1.01 * tol);
  }
  return result;
}

static int closed_contacts(const rods* c) {
  int closed = 0;
  for (int i = c->lcp.bilateral; i < c->lcp.n; i++) {
    closed += c->z[i] > 0.0 ? 1 : 0;
  }
  return closed;
}

static const char* const keepers[] = {"auto", "principal-pivoting", "active-set", "interior-point"};
enum { KEEPERS = sizeof keepers / sizeof keepers[0] };

/* The same problem with a dense matrix, whose bilateral rows are eliminated: W is definite, so z is
 * unique. Condition some 1e5: 1e-11 of |q| in w leaves 1e-6 in z. */
static void the_sparse_way_agrees_with_elimination(void** state) {
  (void)state;
  const rods_def def = {.masses = 300, .copies = 1};
  rods c = make_chain(&def);
  int n = c.lcp.n;
  double* M = calloc((size_t)n * (size_t)n, sizeof(double));
  double* z = calloc((size_t)n * 2, sizeof(double));
  assert_true(M != NULL && z != NULL && n > 500);
  for (int i = 0; i < n; i++) {
    for (int k = c.start[i]; k < c.start[i + 1]; k++) {
      M[(size_t)i * (size_t)n + (size_t)c.column[k]] = c.values[k];
    }
  }
  const saltus_lcp dense = {.n = n, .bilateral = c.lcp.bilateral, .M = M, .q = c.q};
  const saltus_solver_def any = {0};
  saltus_lcp_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_lcp_solver_create(&any, &solver), SALTUS_OK);
  assert_int_equal(saltus_lcp_solve(solver, &dense, 1e-11, z, z + n, &result), SALTUS_OK);
  assert_int_equal(result.outcome, SALTUS_SOLVED);
  saltus_lcp_solver_destroy(solver);
  for (int k = 0; k < KEEPERS; k++) {
    memset(c.z, 0, (size_t)n * sizeof(double));
    assert_int_equal(solve(keepers[k], &c, 1e-11).outcome, SALTUS_SOLVED);
    for (int i = 0; i < n; i++) {
      assert_near(c.z[i], z[i], 1e-6);
    }
    assert_true(closed_contacts(&c) > 50 && closed_contacts(&c) < 250);
  }
  free(M);
  free(z);
  rods_free(&c);
}

/* Ten thousand masses: 19 999 rows, cold and with the last answer as guess. */
static void long_chains_are_solved(void** state) {
  (void)state;
  const rods_def def = {.masses = 10000, .copies = 1};
  rods c = make_chain(&def);
  assert_int_equal(c.lcp.n, 19999);
  for (int k = 0; k < KEEPERS; k++) {
    memset(c.z, 0, (size_t)c.lcp.n * sizeof(double));
    saltus_solve_result cold = solve(keepers[k], &c, 1e-10);
    print_message("%s: %s\n", keepers[k], cold.stages);
    assert_int_equal(cold.outcome, SALTUS_SOLVED);
  }
  for (int i = 0; i < c.lcp.n; i++) {
    c.q[i] *= 1.5;
  }
  saltus_solve_result warm = solve("auto", &c, 1e-10);
  assert_int_equal(warm.outcome, SALTUS_SOLVED);
  assert_int_equal(warm.iterations, 1); /* its active set is the right one */
  rods_free(&c);
}

/* Every rod three times: the block of the bilateral rows is singular and the rods share their load. */
static void redundant_rods_are_solved_or_contradict(void** state) {
  (void)state;
  for (int large = 0; large < 2; large++) {
    const rods_def same = {.masses = large ? 2000 : 100, .copies = 3};
    rods c = make_chain(&same);
    assert_true((c.lcp.n > 4000) == (large == 1));
    saltus_solve_result r = solve("auto", &c, 1e-9);
    print_message("redundant: %s, %g\n", r.stages, r.residual.normalised);
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    rods_free(&c);
    const rods_def other = {.masses = same.masses, .copies = 3, .disagree = 1.0};
    c = make_chain(&other);
    r = solve("auto", &c, 1e-9);
    print_message("contradiction: %s, %g\n", r.stages, r.residual.normalised);
    assert_int_equal(r.outcome, SALTUS_NO_SOLUTION);
    rods_free(&c);
  }
}

/* Velocities as bilateral unknowns: rods and contacts have nothing on the diagonal. The impulses are
 * those of the other form. */
static void velocities_may_be_unknowns_too(void** state) {
  (void)state;
  for (int large = 0; large < 2; large++) {
    rods_def def = {.masses = large ? 3000 : 200, .copies = 1};
    rods c = make_chain(&def);
    def.saddle = true;
    rods s = make_chain(&def);
    assert_int_equal(s.lcp.n, 4 * def.masses - 1);
    assert_int_equal(solve("auto", &c, 1e-11).outcome, SALTUS_SOLVED);
    saltus_solve_result r = solve("auto", &s, 1e-11);
    print_message("saddle: %s, %g\n", r.stages, r.residual.normalised);
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    for (int i = 0; i < c.lcp.n; i++) {
      assert_near(s.z[2 * def.masses + i], c.z[i], 1e-5);
    }
    rods_free(&c);
    rods_free(&s);
  }
}

/* A column of beads of which the lower half is glued together: a band of three diagonals. At rest
 * each joint and contact carries what is above it. */
static void glued_columns_are_solved(void** state) {
  (void)state;
  enum { N = 6000 };
  rods c;
  assert_true(rods_room(N, 3 * (size_t)N, &c));
  c.lcp.bilateral = N / 2;
  int used = 0;
  for (int i = 0; i < N; i++) {
    for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
      c.column[used] = j;
      c.values[used++] = j != i ? -1.0 : i == 0 ? 1.0 : 2.0;
    }
    c.start[i + 1] = used;
  }
  c.q[0] = -1.0;
  for (int k = 0; k < KEEPERS; k++) {
    memset(c.z, 0, N * sizeof(double));
    saltus_solve_result r = solve(keepers[k], &c, 1e-9); /* 4 eps n sqrt(n) of |q| is 4e-10 */
    assert_int_equal(r.outcome, SALTUS_SOLVED);
    for (int i = 0; i < N; i++) {
      assert_near(c.z[i], N - i, 1e-6 * N);
    }
  }
  rods_free(&c);
}

/* What cannot be had is said, with what could be done. */
static void too_many_rows_to_eliminate_are_refused(void** state) {
  (void)state;
  const rods_def def = {.masses = 2500, .copies = 1};
  rods c = make_chain(&def);
  static const char* const others[] = {"lemke", "enumeration"};
  for (int k = 0; k < 2; k++) {
    saltus_kept_message logged = {0};
    const saltus_solver_def with = {.solver = others[k], .log = saltus_log_keep(&logged)};
    saltus_lcp_solver* solver;
    saltus_solve_result result;
    assert_int_equal(saltus_lcp_solver_create(&with, &solver), SALTUS_OK);
    assert_int_equal(saltus_lcp_solve(solver, &c.lcp, 1e-8, c.z, c.w, &result), SALTUS_ERR_INPUT);
    assert_says(logged, "4000 rows");
    saltus_lcp_solver_destroy(solver);
  }
  rods_free(&c);
}

static void nothing_is_allocated_after_setup(void** state) {
  (void)state;
  const rods_def def = {.masses = 400, .copies = 1};
  rods c = make_chain(&def);
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  const saltus_solver_def with = {.allocator = &allocator};
  saltus_lcp_solver* solver;
  saltus_solve_result result;
  assert_int_equal(saltus_lcp_solver_create(&with, &solver), SALTUS_OK);
  assert_int_equal(saltus_lcp_solver_setup(solver, &c.lcp), SALTUS_OK);
  int calls = count.calls;
  for (int k = 0; k < 3; k++) {
    c.q[5] += 0.1;
    assert_int_equal(saltus_lcp_solve(solver, &c.lcp, 1e-10, c.z, c.w, &result), SALTUS_OK);
    assert_int_equal(result.outcome, SALTUS_SOLVED);
    assert_true(miss(&c) <= 1.01e-10);
  }
  assert_int_equal(count.calls, calls);
  saltus_lcp_solver_destroy(solver);
  assert_int_equal(count.live, 0);
  rods_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sparse_way_agrees_with_elimination),
      cmocka_unit_test(long_chains_are_solved),
      cmocka_unit_test(redundant_rods_are_solved_or_contradict),
      cmocka_unit_test(velocities_may_be_unknowns_too),
      cmocka_unit_test(glued_columns_are_solved),
      cmocka_unit_test(too_many_rows_to_eliminate_are_refused),
      cmocka_unit_test(nothing_is_allocated_after_setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
