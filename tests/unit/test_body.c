/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body.c - free bodies: exact derivatives, conserved quantities, unit quaternions.
 */
#include "saltus/mechanism.h"
#include "saltus/sim.h"
#include "saltus_test.h"

#include <math.h>
#include <string.h>

static const saltus_body_def tumbling = {.name = "box",
                                         .mass = 2.0,
                                         .inertia = {1.0, 2.0, 2.5, 0.1, -0.2, 0.05},
                                         .position = {1.0, 2.0, 3.0},
                                         .orientation = {SALTUS_ORIENTATION_RPY, {0.3, -0.4, 0.5}},
                                         .velocity = {0.1, -0.2, 0.3},
                                         .angular_velocity = {1.0, -2.0, 0.7}};

static saltus_mechanism* make(const saltus_mechanism_def* def) {
  saltus_mechanism* m;
  saltus_kept_message kept;
  saltus_mechanism_def heard = *def;
  heard.log = saltus_log_keep(&kept);
  saltus_status status = saltus_mechanism_create(&heard, &m);
  if (status != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return m;
}

static void derivatives_of_a_free_body_are_exact(void** state) {
  (void)state;
  const saltus_mechanism_def def = {
      .dimension = 3, .gravity = {0.0, 0.0, -9.81}, .bodies = &tumbling, .body_count = 1};
  saltus_mechanism* m = make(&def);
  saltus_system_check_result result;
  assert_int_equal(saltus_system_check(saltus_mechanism_system(m), 0.0, saltus_mechanism_q0(m),
                                       saltus_mechanism_v0(m), (saltus_log){0}, &result),
                   SALTUS_OK);
  if (!(result.worst < 1e-9)) {
    fail_msg("%s %g", result.where, result.worst);
  }
  assert_true(result.traits_hold);
  saltus_mechanism_destroy(m);
}

static void quaternions_keep_length_one(void** state) {
  (void)state;
  const saltus_mechanism_def def = {.dimension = 3, .bodies = &tumbling, .body_count = 1};
  saltus_mechanism* m = make(&def);
  const saltus_system* sys = saltus_mechanism_system(m);
  double q[7], next[7];
  memcpy(q, saltus_mechanism_q0(m), sizeof q);
  for (int i = 0; i < 1000000; i++) {
    sys->ops->advance(sys->self, q, saltus_mechanism_v0(m), 1e-2, next);
    memcpy(q, next, sizeof q);
  }
  double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  assert_true(fabs(length - 1.0) < 4e-16); /* one rounding of each component */
  /* exact along constant velocity, as one step of 10^4 s is; 10^6 roundings of positions up to 3000 m are 2e-7
   * at worst, of unit quaternions 2e-10 */
  double at_once[7], d[6];
  sys->ops->advance(sys->self, saltus_mechanism_q0(m), saltus_mechanism_v0(m), 1e4, at_once);
  sys->ops->difference(sys->self, q, at_once, d);
  for (int k = 0; k < 6; k++) {
    assert_true(fabs(d[k]) < (k < 3 ? 2e-7 : 2e-10));
  }
  saltus_mechanism_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_a_free_body_are_exact),
      cmocka_unit_test(quaternions_keep_length_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
