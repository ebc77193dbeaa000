/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_packings.c - the portfolio on packings of spheres: a short part of what saltus-bench does.
 */
#include "saltus_test.h"

#include "../../bench/packing.h"
#include "saltus/problem_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
  saltus_solve_result result;
  double check; /* residual, recomputed here */
  int contacts;
  double* r; /* [3 contacts], of solve_with */
} answer;

/* With r, to be freed. */
static answer solve_with(const packing_def* def, double tol,
                         const saltus_friction_auto_options* options) {
  saltus_problem_file* local = packing_local(def);
  assert_non_null(local);
  const saltus_solver_def solver_def = {.solver = "auto", .options = options};
  saltus_friction_solver* solver;
  assert_int_equal(saltus_friction_solver_create(&solver_def, &solver), SALTUS_OK);
  size_t rows = 3 * (size_t)local->friction.W.units;
  double* r = calloc(2 * rows, sizeof(double));
  assert_non_null(r);
  answer a = {.contacts = local->friction.W.units, .r = r};
  assert_int_equal(saltus_friction_solve(solver, &local->friction, tol, r, r + rows, &a.result),
                   SALTUS_OK);
  a.check = saltus_friction_residual(&local->friction, r, r + rows).normalised;
  saltus_friction_solver_destroy(solver);
  saltus_problem_file_destroy(local);
  return a;
}

static answer solve(const packing_def* def, double tol, double work) {
  const saltus_friction_auto_options options = {.work = work, .threads = 1};
  answer a = solve_with(def, tol, &options);
  free(a.r);
  a.r = NULL;
  return a;
}

static void packings_at_rest_are_solved(void** state) {
  (void)state;
  static const double friction[] = {0.2, 0.4, 0.9};
  for (int k = 0; k < 3; k++) {
    packing_def def = packing_def_default();
    def.nx = 3 + k;
    def.ny = 4;
    def.nz = 4;
    def.mu = friction[k];
    def.seed = (uint64_t)(40 + k);
    answer a = solve(&def, 1e-8, 0.0);
    assert_int_equal(a.result.outcome, SALTUS_SOLVED);
    assert_true(a.check <= 1e-8);
  }
}

/* More than 500 contacts, 1e-4: iterations with momentum. */
static void a_large_impact_is_solved_loosely(void** state) {
  (void)state;
  packing_def def = packing_def_default();
  def.nx = def.ny = def.nz = 6;
  def.velocity = 0.05;
  answer a = solve(&def, 1e-4, 0.0);
  assert_true(a.contacts > 500);
  assert_int_equal(a.result.outcome, SALTUS_SOLVED);
  assert_true(a.check <= 1e-4);
}

/* Every bit of the answer, its residual and the path to it, at rest and in an impact; more than the 1000
 * contacts from which on there are domains to share. */
static void threads_give_the_same_bits(void** state) {
  (void)state;
  static const int threads[] = {1, 2, 3, 8};
  for (int moving = 0; moving < 2; moving++) {
    packing_def def = packing_def_default();
    def.nx = def.ny = 9;
    def.nz = 8;
    def.velocity = moving ? 0.1 : 0.0;
    answer a[4];
    for (int k = 0; k < 4; k++) {
      const saltus_friction_auto_options options = {.threads = threads[k]};
      a[k] = solve_with(&def, 1e-4, &options);
      assert_true(a[k].contacts > 2000);
      assert_int_equal(a[k].result.outcome, SALTUS_SOLVED);
      assert_true(a[k].check <= 1e-4);
      assert_non_null(strstr(a[k].result.stages, "accelerated-gauss-seidel"));
      assert_memory_equal(a[0].r, a[k].r, 3 * (size_t)a[0].contacts * sizeof(double));
      assert_memory_equal(&a[0].result.residual, &a[k].result.residual, sizeof(saltus_residual));
      assert_string_equal(a[0].result.stages, a[k].result.stages);
    }
    for (int k = 0; k < 4; k++) {
      free(a[k].r);
    }
  }
}

/* Spheres wedged between four walls: the answer sticks under impulses that balance each other, which
 * neither sweeps nor interior points find without looking for them. */
static void a_wedged_impact_is_solved(void** state) {
  (void)state;
  packing_def def = packing_def_default();
  def.nx = 10;
  def.ny = 6;
  def.nz = 2;
  def.keep = 0.92409946602795912;
  def.mu = 0.39412866787860323;
  def.velocity = 0.19591163427209729;
  def.seed = UINT64_C(13064056694815897241);
  answer a = solve(&def, 1e-8, 0.0);
  assert_int_equal(a.contacts, 552);
  assert_int_equal(a.result.outcome, SALTUS_SOLVED);
  assert_true(a.check <= 1e-8);
}

/* An impact that no solver here finishes: said so, with the residual that the answer has, and within
 * the work that was granted. */
static void failures_are_reported_with_their_residual(void** state) {
  (void)state;
  packing_def def = packing_def_default();
  def.nx = def.ny = 7;
  def.nz = 2;
  def.keep = 0.76;
  def.velocity = 0.3;
  answer a = solve(&def, 1e-13, 0.02);
  assert_int_equal(a.result.outcome, SALTUS_UNSOLVED);
  assert_true(a.check > 1e-13);
  assert_true(fabs(a.check - a.result.residual.normalised) <= 1e-12 * a.check);
}

/* From whichever request on memory is refused: a status or an answer that says how good it is, and
 * nothing kept. The tolerance is one at which the factorisations are asked for last. */
static void memory_that_runs_out_is_survived(void** state) {
  (void)state;
  packing_def def = packing_def_default();
  def.nx = def.ny = 4;
  def.keep = 0.9;
  def.mu = 0.8;
  def.velocity = 0.1;
  def.seed = 7;
  saltus_problem_file* local = packing_local(&def);
  assert_non_null(local);
  size_t rows = 3 * (size_t)local->friction.W.units;
  double* r = calloc(2 * rows, sizeof(double));
  assert_non_null(r);
  counter memory = {.calls = 1};
  for (int k = 1; memory.calls >= k - 1; k++) { /* until none was refused */
    memory = (counter){.fail_at = k};
    const saltus_allocator allocator = counting_allocator(&memory);
    const saltus_friction_auto_options options = {.work = 1.0, .threads = 1};
    const saltus_solver_def solver_def = {
        .solver = "auto", .options = &options, .allocator = &allocator};
    saltus_friction_solver* solver;
    if (saltus_friction_solver_create(&solver_def, &solver) == SALTUS_OK) {
      saltus_solve_result result;
      memset(r, 0, rows * sizeof(double));
      if (saltus_friction_solve(solver, &local->friction, 5e-5, r, r + rows, &result) ==
          SALTUS_OK) {
        double check = saltus_friction_residual(&local->friction, r, r + rows).normalised;
        assert_true((result.outcome == SALTUS_SOLVED) == (check <= 5e-5));
      }
      saltus_friction_solver_destroy(solver);
    }
    assert_int_equal(memory.live, 0);
  }
  assert_true(memory.calls >= 5); /* solver, first stages, graph, factors, second stages */
  free(r);
  saltus_problem_file_destroy(local);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packings_at_rest_are_solved),
      cmocka_unit_test(a_large_impact_is_solved_loosely),
      cmocka_unit_test(threads_give_the_same_bits),
      cmocka_unit_test(a_wedged_impact_is_solved),
      cmocka_unit_test(memory_that_runs_out_is_survived),
      cmocka_unit_test(failures_are_reported_with_their_residual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
