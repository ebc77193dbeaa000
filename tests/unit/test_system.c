/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The system interface: what is refused, what falls back, and that the checker finds faults.
 */
#include "saltus_test.h"

#include "system/evaluate.h"
#include "system/linear.h"
#include "systems.h"

#include <stdlib.h>

static const double q_some[2] = {0.4, -0.9};
static const double v_some[2] = {1.3, -2.1};

static saltus_system_check_result check(pendulum_fault fault) {
  saltus_system sys = pendulum_system(&fault);
  saltus_system_check_result result;
  saltus_log quiet = {0};
  assert_int_equal(saltus_system_check(&sys, 0.3, q_some, v_some, quiet, &result), SALTUS_OK);
  return result;
}

/* 1e-12: sixth-order differences of functions of size 20 leave about 1e-13. */
static void the_double_pendulum_passes_the_checker(void** state) {
  (void)state;
  saltus_system_check_result result = check(FAULT_NONE);
  assert_near(result.worst, 0.0, 1e-12);
  assert_true(result.traits_hold);
  assert_true(result.force_q <= 1e-12 && result.mass_q <= 1e-12 && result.convective_c <= 1e-12);
}

static void the_checker_finds_each_planted_fault(void** state) {
  (void)state;
  static const struct {
    pendulum_fault fault;
    const char* where;
  } faults[] = {{FAULT_FORCE_Q, "force_q"},
                {FAULT_FORCE_V, "force_v"},
                {FAULT_NORMAL, "rows G"},
                {FAULT_CONVECTIVE, "rows c"},
                {FAULT_MASS_Q, "mass_q"}};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    saltus_system_check_result result = check(faults[i].fault);
    assert_true(result.worst > 1e-9);
    assert_string_equal(result.where, faults[i].where);
  }
}

static void the_checker_covers_joints_and_driven_contacts(void** state) {
  (void)state;
  saltus_log quiet = {0};
  saltus_system_check_result result;
  saltus_system rod = rod_system();
  assert_int_equal(saltus_system_check(&rod, 0.0, q_some, v_some, quiet, &result), SALTUS_OK);
  assert_near(result.worst, 0.0, 1e-12);
  assert_true(result.convective_c <= 1e-12);

  ball moving = ball_usual();
  moving.a = 0.3;
  moving.w = 7.0;
  saltus_system sys = ball_system(&moving);
  assert_int_equal(saltus_system_check(&sys, 0.4, q_some, v_some, quiet, &result), SALTUS_OK);
  assert_near(result.normal_b, 0.0, 1e-10); /* (7 s)^7 / 7! of a difference step of 1e-2 */
  assert_near(result.convective_c, 0.0, 1e-10);
}

static void a_false_trait_is_found(void** state) {
  (void)state;
  pendulum_fault none = FAULT_NONE;
  saltus_system sys = pendulum_system(&none);
  sys.traits = SALTUS_CONSTANT_MASS;
  saltus_system_check_result result;
  saltus_log quiet = {0};
  assert_int_equal(saltus_system_check(&sys, 0.0, q_some, v_some, quiet, &result), SALTUS_OK);
  assert_false(result.traits_hold);
}

/* Without callbacks for F_q and F_v differences take over: 1e-9 is what central ones give. */
static void missing_derivatives_fall_back_to_differences(void** state) {
  (void)state;
  pendulum_fault none = FAULT_NONE;
  saltus_system sys = pendulum_system(&none);
  saltus_system_ops bare = *sys.ops;
  bare.force_q = NULL;
  bare.force_v = NULL;
  saltusi_eval eval = {.sys = sys};
  eval.sys.ops = &bare;
  saltus_arena arena = saltus_arena_counting();
  saltusi_eval_layout(&eval, &arena);
  size_t bytes = arena.used;
  void* block = malloc(bytes);
  arena = saltus_arena_over(block, bytes);
  saltusi_eval_layout(&eval, &arena);

  saltus_point at = saltusi_at(&eval, 0.0, q_some, v_some);
  double exact[4];
  double rough[4];
  sys.ops->force_q(sys.self, &at, exact);
  saltusi_force_q(&eval, &at, rough);
  for (int k = 0; k < 4; k++) {
    assert_near(rough[k], exact[k], 1e-8);
  }
  sys.ops->force_v(sys.self, &at, exact);
  saltusi_force_v(&eval, &at, rough);
  for (int k = 0; k < 4; k++) {
    assert_near(rough[k], exact[k], 1e-8);
  }
  assert_int_equal(eval.work.force_evaluations, 8);
  free(block);
}

/* Each fault of a system is named with its value. */
static void incomplete_systems_are_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_kept_message kept;
  saltus_system good = ball_system(&b);
  assert_int_equal(saltus_system_validate(&good, saltus_log_keep(&kept)), SALTUS_OK);

  saltus_system bad = good;
  bad.dims.nq = 0;
  assert_int_equal(saltus_system_validate(&bad, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "dims.nq is 0, must be at least 1");

  bad = good;
  bad.dims.nq = 2;
  assert_int_equal(saltus_system_validate(&bad, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"advance\" is missing: dims.nq is not dims.nv");

  bad = good;
  bad.dims.nj = 1;
  assert_int_equal(saltus_system_validate(&bad, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"joints\" is missing");

  bad = good;
  saltus_system_ops forceless = *good.ops;
  forceless.force = NULL;
  bad.ops = &forceless;
  assert_int_equal(saltus_system_validate(&bad, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"force\" is missing");

  b.law.e_N = 1.5;
  assert_int_equal(saltus_system_validate(&good, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "contact 0 \"floor\": e_N is 1.5, must be between 0 and 1");
  b.law.e_N = 0.5;
  b.law.mu = -0.1;
  assert_int_equal(saltus_system_validate(&good, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "mu is -0.1, must be at least 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_double_pendulum_passes_the_checker),
      cmocka_unit_test(the_checker_finds_each_planted_fault),
      cmocka_unit_test(the_checker_covers_joints_and_driven_contacts),
      cmocka_unit_test(a_false_trait_is_found),
      cmocka_unit_test(missing_derivatives_fall_back_to_differences),
      cmocka_unit_test(incomplete_systems_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
