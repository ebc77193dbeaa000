/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Every scheme on systems with several contacts, a full mass matrix and a curved contact.
 */
#include "saltus_test.h"

#include "measure/experiment.h"

static double error_of(const char* scheme, const saltus_known_motion* problem, long long steps) {
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
                                      .scheme = scheme,
                                      .t_end = saltus_known_motion_get_info(problem)->t_end,
                                      .steps = steps};
  saltusi_experiment run;
  assert_int_equal(saltusi_experiment_run(&def, &run), SALTUS_OK);
  saltusi_errors errors;
  saltusi_reference reference = saltusi_reference_problem(problem);
  reference.graph = NULL; /* distances of graphs are not asked here, and cost most */
  assert_int_equal(saltusi_errors_against(&reference, &run.motion, saltus_graph_tolerance_default(),
                                          NULL, &errors),
                   SALTUS_OK);
  saltusi_experiment_free(&run);
  return errors.q.l1;
}

/* Mean over neighbouring grids of first, first + by, ... steps. */
static double mean_error(const char* scheme, const saltus_known_motion* problem, int first,
                         int by) {
  enum { GRIDS = 4 };
  double sum = 0.0;
  for (int k = 0; k < GRIDS; k++) {
    sum += error_of(scheme, problem, (long long)first + (long long)k * by) / GRIDS;
  }
  return sum;
}

static double order_of(const char* scheme, const saltus_known_motion* problem, int first, int by,
                       int finer) {
  double coarse = mean_error(scheme, problem, first, by);
  double fine = mean_error(scheme, problem, first * finer, by * finer);
  return log2(coarse / fine) / log2(finer);
}

/* Methods of high order are measured on coarse grids, where their errors stay above rounding; the
 * others on finer ones, where the instants of impacts fall into all parts of a step, but for its ends:
 * a scheme that meets impacts at the end of their step is better there than it is. Steps are
 * multiples of 60 where the pendulum has its samples. */
typedef struct grids {
  int first, by;
} grids;

static void check_order(const char* problem_name, grids coarse, grids fine, int extra) {
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create(problem_name, (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* scheme = saltus_scheme_at(i);
    if (scheme->stops || scheme->chooses_step || !saltus_test_takes(i)) {
      continue; /* their tolerances have tests of their own */
    }
    if (extra > 0 && error_of(scheme->name, problem, 211) < 1e-14) {
      continue; /* follows parabolas to their roots: nothing left but rounding */
    }
    if (scheme->order > 1) {
      double order = order_of(scheme->name, problem, coarse.first, coarse.by, 2);
      assert_near(order, scheme->order + extra, 0.25);
    } else {
      assert_near(order_of(scheme->name, problem, fine.first, fine.by, 8), 1.0, 0.2);
    }
  }
  saltus_known_motion_destroy(problem);
}

/* E3: M(q) full, curved contact, accumulation, sliding, detachment. */
static void the_double_pendulum_converges_with_every_scheme(void** state) {
  (void)state;
  check_order("pendulum-wall", (grids){120, 60}, (grids){480, 60}, 0);
}

/* A ball falls on five that lie on each other: exact motion known. Methods of order 2 follow its
 * parabolas exactly; the brackets C h^(p+1) of the impacts are left, one order more than stated. */
static void a_stack_converges_with_every_scheme(void** state) {
  (void)state;
  check_order("stack:5", (grids){24, 4}, (grids){481, 61}, 1);
}

/* Three balls fall on each other and lie still at the end, each on the one below. */
static void a_column_comes_to_rest_with_every_scheme(void** state) {
  (void)state;
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("column:3", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* scheme = saltus_scheme_at(i);
    if (scheme->penetrates || scheme->stops || scheme->chooses_step || !saltus_test_takes(i)) {
      continue;
    }
    const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                        .q0 = saltus_known_motion_q0(problem),
                                        .v0 = saltus_known_motion_v0(problem),
                                        .scheme = scheme->name,
                                        .t_end = 8.0,
                                        .steps = 8009};
    saltusi_experiment run;
    assert_int_equal(saltusi_experiment_run(&def, &run), SALTUS_OK);
    const double* q = run.motion.q + 3 * (size_t)(run.motion.count - 1);
    const double* v = run.motion.v + 3 * (size_t)(run.motion.count - 1);
    for (int k = 0; k < 3; k++) {
      assert_near(q[k], 0.0, 1e-2); /* O(h) a bounce, some tens of bounces, h = 1e-3 */
      assert_near(v[k], 0.0, 1e-10);
    }
    saltusi_experiment_free(&run);
  }
  saltus_known_motion_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_double_pendulum_converges_with_every_scheme),
      cmocka_unit_test(a_stack_converges_with_every_scheme),
      cmocka_unit_test(a_column_comes_to_rest_with_every_scheme),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
