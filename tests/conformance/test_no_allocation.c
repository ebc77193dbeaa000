/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Nothing is allocated in a step or in a solve after setup, not even by the libraries below: malloc itself
 * is counted. Sanitizers and other C libraries have a malloc of their own; there the test is skipped.
 */
#include "saltus_test.h"

#include "../../bench/packing.h"
#include "../../bench/pile.h"
#include "saltus/problem_file.h"

#include <stdlib.h>

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !HAS(address_sanitizer)
#define COUNTED 1
static volatile long calls;

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  calls++;
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  calls++;
  return __libc_calloc(count, bytes);
}

void* realloc(void* block, size_t bytes) {
  calls++;
  return __libc_realloc(block, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  calls++;
  return __libc_memalign(alignment, bytes);
}
#else
#define COUNTED 0
static volatile long calls;
#endif

static void skip_uncounted(void) {
  if (!COUNTED) {
    skip();
  }
}

static void malloc_is_counted(void** state) {
  (void)state;
  skip_uncounted();
  long before = calls;
  void* volatile block = malloc(10);
  free(block);
  assert_int_equal(calls, before + 1);
}

/* A pile that falls and settles: sweeps, Newton's method and the interior point, orderings included. */
static void steps_of_a_pile(void** state) {
  (void)state;
  skip_uncounted();
  const double h = 0.005; /* s */
  pile_def def = pile_def_default(3, 3, 2);
  pile p;
  assert_true(pile_create(&def, &p));
  saltus_scheme* scheme;
  const saltus_scheme_def scheme_def = {.scheme = "moreau-jean", .system = &p.system};
  assert_int_equal(saltus_scheme_create(&scheme_def, &scheme), SALTUS_OK);
  saltus_state x = {0.0, p.q, p.v};
  long before = calls;
  for (int k = 0; k < 250; k++) {
    assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
  }
  assert_int_equal(calls, before);
  saltus_scheme_destroy(scheme);
  pile_free(&p);
}

/* Every friction solver on a packing, set up first; twice, the second time from the answer. */
static void friction_solves_after_setup(void** state) {
  (void)state;
  skip_uncounted();
  packing_def def = packing_def_default();
  def.velocity = 0.05;
  saltus_problem_file* local = packing_local(&def);
  assert_non_null(local);
  size_t rows = 3 * (size_t)local->friction.W.units;
  double* r = malloc(2 * rows * sizeof(double));
  assert_non_null(r);
  for (int k = 0; k < saltus_friction_solver_count(); k++) {
    const saltus_solver_def solver_def = {.solver = saltus_friction_solver_at(k)->name};
    saltus_friction_solver* solver;
    assert_int_equal(saltus_friction_solver_create(&solver_def, &solver), SALTUS_OK);
    assert_int_equal(saltus_friction_solver_setup(solver, &local->friction), SALTUS_OK);
    memset(r, 0, 2 * rows * sizeof(double));
    long before = calls;
    for (int again = 0; again < 2; again++) {
      saltus_solve_result result;
      assert_int_equal(saltus_friction_solve(solver, &local->friction, 1e-9, r, r + rows, &result),
                       SALTUS_OK);
    }
    assert_int_equal(calls, before);
    saltus_friction_solver_destroy(solver);
  }
  free(r);
  saltus_problem_file_destroy(local);
}

/* A column through impacts, and its complementarity problems. */
static void steps_of_a_column(void** state) {
  (void)state;
  skip_uncounted();
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("column:50", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  const saltus_sim_def def = {.system = saltus_known_motion_system(problem),
                              .scheme = "moreau-jean",
                              .h = 1e-3,
                              .q0 = saltus_known_motion_q0(problem),
                              .v0 = saltus_known_motion_v0(problem)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  long before = calls;
  assert_int_equal(saltus_sim_run(sim, 10000), SALTUS_OK);
  assert_int_equal(calls, before);
  saltus_sim_destroy(sim);
  saltus_known_motion_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(malloc_is_counted),
      cmocka_unit_test(steps_of_a_pile),
      cmocka_unit_test(steps_of_a_column),
      cmocka_unit_test(friction_solves_after_setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
