/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The structure of a system: what is refused, what the checker finds, joints of several rows, and that A
 * by blocks is A.
 */
#include "saltus_test.h"

#include "bodies.h"
#include "system/evaluate.h"

#include <stdlib.h>

enum { FEW = 5 };

/* Springs between 0-1, 1-2, 0-3; pins 2-4 and 3-4; three contacts. */
static bodies few(void) {
  return (bodies){.count = FEW,
                  .springs = 3,
                  .spring = {0, 1, 1, 2, 0, 3},
                  .pins = 2,
                  .pin = {2, 4, 3, 4},
                  .contacts = 3,
                  .k = 30.0,
                  .k3 = 5.0,
                  .c = 0.7,
                  .g = 9.81};
}

static void place(int count, double* q, double* v) {
  for (int i = 0; i < 3 * count; i++) {
    q[i] = 0.5 + 0.3 * sin(2.1 * i);
    v[i] = cos(1.7 * i);
  }
}

static saltus_status check(const saltus_system* sys, saltus_system_check_result* result) {
  double q[3 * FEW], v[3 * FEW];
  place(FEW, q, v);
  return saltus_system_check(sys, 0.2, q, v, (saltus_log){0}, result);
}

static saltus_system few_system(bodies* b, unsigned form) {
  double q[3 * FEW], v[3 * FEW];
  place(FEW, q, v);
  return bodies_system(b, form, q);
}

/* 1e-11: the cube of a spring under sixth-order differences, and blocks to rounding. */
static void every_form_of_a_system_passes_the_checker(void** state) {
  (void)state;
  static bodies b;
  for (unsigned form = 0; form < 16; form++) {
    b = few();
    saltus_system sys = few_system(&b, form);
    saltus_system_check_result result;
    assert_int_equal(check(&sys, &result), SALTUS_OK);
    assert_near(result.worst, 0.0, 1e-11);
    assert_true(result.traits_hold);
    assert_true((form & 3U) == 0 ? isnan(result.blocks) : result.blocks <= 1e-14);
  }
}

static void wrong_blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                         double* values) {
  const bodies* b = self;
  memset(values, 0, (size_t)(9 * b->count + 18 * b->springs) * sizeof(double));
  (void)at;
  (void)fv;
  (void)fq;
  for (int i = 0; i < b->count; i++) {
    values[9 * i] = m;
  }
}

static void wrong_second_row(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const bodies* b = self;
  const int x = 3 * b->pin[2 * i];
  rows->G[x] = 1.0;
  rows->G[rows->stride + x + 1] = 0.9; /* is 1 */
  (void)at;
}

static void the_checker_finds_wrong_blocks_and_rows(void** state) {
  (void)state;
  static bodies b;
  saltus_system_check_result result;
  b = few();
  saltus_system sys = few_system(&b, BODIES_BLOCKS);
  b.ops.blocks = wrong_blocks;
  assert_int_equal(check(&sys, &result), SALTUS_OK);
  assert_true(result.blocks > 0.1);
  assert_string_equal(result.where, "blocks");

  /* a spring that the structure does not know */
  b = few();
  sys = few_system(&b, BODIES_STRUCTURE);
  b.structure.pairs = 2;
  assert_int_equal(check(&sys, &result), SALTUS_OK);
  assert_true(result.blocks > 0.1);

  /* the second row of a joint alone */
  b = few();
  sys = few_system(&b, 0);
  b.ops.joint = wrong_second_row;
  assert_int_equal(check(&sys, &result), SALTUS_OK);
  assert_true(result.normal_G > 0.01);
}

static void structures_that_are_none_are_refused(void** state) {
  (void)state;
  static bodies b;
  b = few();
  saltus_kept_message kept;
  saltus_system sys = few_system(&b, BODIES_BLOCKS);
  const saltus_structure good = b.structure;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_OK);

  const struct {
    saltus_structure structure;
    const char* says;
  } bad[] = {
      {{0, good.start, 0, NULL}, "structure.blocks is 0, must be 1 to dims.nv = 15"},
      {{2, (const int[]){0, 9, 14}, 0, NULL},
       "structure.start goes from 0 to 14, must go from 0 to dims.nv = 15"},
      {{2, (const int[]){1, 9, 15}, 0, NULL}, "structure.start goes from 1 to 15"},
      {{3, (const int[]){0, 9, 9, 15}, 0, NULL},
       "structure.start[1] is 9 and start[2] is 9, must ascend"},
      {{5, good.start, -1, NULL}, "structure.pairs is -1 and must be at least 0"},
      {{5, good.start, 1, NULL}, "structure.pairs is 1 but structure.pair is missing"},
      {{5, good.start, 2, (const int[]){0, 1, 3, 3}},
       "pair 1 of the structure is (3, 3), must be i < j in 0 to 4"},
      {{5, good.start, 2, (const int[]){0, 1, 3, 5}}, "pair 1 of the structure is (3, 5)"},
      {{5, good.start, 3, (const int[]){1, 4, 0, 1, 1, 4}},
       "the pair (1, 4) of the structure is there twice"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    b.structure = bad[i].structure;
    assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
    assert_says(kept, bad[i].says);
  }
  sys.structure = NULL;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "callback \"structure\" is missing: the callback \"blocks\" writes on it");
}

static void joints_that_leave_rows_out_are_refused(void** state) {
  (void)state;
  static bodies b;
  b = few();
  saltus_kept_message kept;
  saltus_system sys = few_system(&b, 0);
  assert_int_equal(sys.dims.nj, 4);
  sys.joint_count = 1;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "joint_first goes from 0 to 2, must go from 0 to dims.nj = 4");
  sys.joint_count = 2;
  sys.joint_first = (const int[]){0, 0, 4};
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "joint_first[0] is 0 and joint_first[1] is 0, must ascend");
  sys.joint_count = -1;
  assert_int_equal(saltus_system_validate(&sys, saltus_log_keep(&kept)), SALTUS_ERR_RANGE);
  assert_says(kept, "joint_count is -1, must be at least 0");
}

static void rows_of_joints_are_found(void** state) {
  (void)state;
  static const int first[] = {0, 3, 4, 9};
  const saltus_system sys = {.dims = {.nj = 9}, .joint_count = 3, .joint_first = first};
  static const int joint[9] = {0, 0, 0, 1, 2, 2, 2, 2, 2};
  for (int row = 0; row < 9; row++) {
    assert_int_equal(saltusi_joint_of(&sys, row), joint[row]);
  }
  assert_int_equal(saltusi_joint_rows_most(&sys), 5);
  const saltus_system single = {.dims = {.nj = 9}};
  assert_int_equal(saltusi_joint_of(&single, 7), 7);
  assert_int_equal(saltusi_joint_rows_most(&single), 1);
}

/* The first failure of an evaluation is kept; nobody need ask. */
static void the_first_failure_is_kept(void** state) {
  (void)state;
  saltus_failure failure = {.status = SALTUS_OK};
  saltus_point at = {.failure = &failure};
  saltus_fail(&at, "valve %d is closed", 3);
  saltus_fail(&at, "and more");
  assert_int_equal(failure.status, SALTUS_ERR_SYSTEM);
  assert_string_equal(failure.text, "valve 3 is closed");
  at.failure = NULL;
  saltus_fail(&at, "nobody listens");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_of_a_system_passes_the_checker),
      cmocka_unit_test(the_checker_finds_wrong_blocks_and_rows),
      cmocka_unit_test(structures_that_are_none_are_refused),
      cmocka_unit_test(joints_that_leave_rows_out_are_refused),
      cmocka_unit_test(rows_of_joints_are_found),
      cmocka_unit_test(the_first_failure_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
