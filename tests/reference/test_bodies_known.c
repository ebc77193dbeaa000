/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Mechanisms as scenes against motions that are known, at two tolerances; the studies bodies-... have all of it.
 */
#include "bodies_run.h"
#include "saltus_test.h"

static double error_of(const bodies_case* of, double tol) {
  saltus_kept_message message;
  bodies_run run = {.of = of, .tol = tol, .log = saltus_log_keep(&message)};
  saltus_status status = bodies_go(&run);
  if (status != SALTUS_OK) {
    print_error("%s\n", message.text);
  }
  assert_int_equal(status, SALTUS_OK);
  assert_near(run.defect, 0.0, 1e-10);
  return run.error;
}

/* Whatever the motion amplifies: the pendulum by 18, free rotation, which starts unstable, by 20. */
static void mechanisms_move_as_they_should_to_ten_tolerances(void** state) {
  (void)state;
  static const char* const known[] = {"bodies-pendulum",     "bodies-andrews",
                                      "bodies-bricard",      "bodies-slider-crank",
                                      "bodies-heavy-top",    "bodies-redundant-four-bar",
                                      "bodies-free-rotation"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const bodies_case* of = bodies_case_find(known[i]);
    assert_non_null(of);
    for (int k = 4; k <= 10; k++) {
      if (!saltus_test_takes((int)i + k)) {
        continue;
      }
      const double tol = pow(10.0, -k);
      assert_near(error_of(of, tol), 0.0, 10.0 * tol);
    }
  }
}

/* What the tolerance of a step leaves some times of it is kept below it by a tolerance of the motion. */
static void tolerances_of_the_motion_are_kept_whatever_it_amplifies(void** state) {
  (void)state;
  static const char* const scenes[] = {"bodies-pendulum", "bodies-free-rotation",
                                       "bodies-heavy-top"};
  for (int i = 0; i < 3; i++) {
    for (int k = 4; k <= 10; k += 3) {
      saltus_kept_message message;
      bodies_run run = {.of = bodies_case_find(scenes[i]),
                        .tol = pow(10.0, -k),
                        .global = true,
                        .log = saltus_log_keep(&message)};
      assert_int_equal(bodies_go(&run), SALTUS_OK);
      assert_near(run.error, 0.0, run.tol);
      assert_true(run.accuracy.known && run.error <= 2.0 * run.accuracy.error * run.tol);
    }
  }
}

/* Impulses along rows that depend on each other are arbitrary: they must not be taken for tension. Of order 2, halved
 * steps leave a quarter of the error. */
static void redundant_joints_do_not_cost_an_order(void** state) {
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    saltus_kept_message message;
    bodies_run run = {.of = bodies_case_find("bodies-bricard"),
                      .scheme = "moreau-jean",
                      .steps = 1000 << k,
                      .log = saltus_log_keep(&message)};
    assert_int_equal(bodies_go(&run), SALTUS_OK);
    error[k] = run.error;
  }
  assert_near(error[0] / error[1], 4.0, 0.2);
}

static void a_motion_that_is_unknown_is_found_nowhere(void** state) {
  (void)state;
  assert_null(bodies_case_find("bodies-perpetuum-mobile"));
}

/* Its second turn over amplifies rounding to 1e-6: whatever is answered has to be true. */
static void where_rounding_decides_no_tolerance_of_the_motion_is_promised(void** state) {
  (void)state;
  for (int k = 6; k <= 8; k++) {
    saltus_kept_message message;
    bodies_case problem = *bodies_case_find("bodies-free-rotation");
    problem.until = 25.0;
    problem.instants = 100;
    bodies_run run = {
        .of = &problem, .tol = pow(10.0, -k), .global = true, .log = saltus_log_keep(&message)};
    const saltus_status status = bodies_go(&run);
    assert_true(status == SALTUS_ERR_ACCURACY || (status == SALTUS_OK && run.error <= run.tol));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mechanisms_move_as_they_should_to_ten_tolerances),
      cmocka_unit_test(tolerances_of_the_motion_are_kept_whatever_it_amplifies),
      cmocka_unit_test(where_rounding_decides_no_tolerance_of_the_motion_is_promised),
      cmocka_unit_test(redundant_joints_do_not_cost_an_order),
      cmocka_unit_test(a_motion_that_is_unknown_is_found_nowhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
