/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What the ingredients of tolerance-driven integration are for: with one of them left out, the
 * failure that it is there to prevent (docs/theory/adaptive.md, 10).
 */
#include "saltus_test.h"

#include "tolerance_run.h"

typedef struct outcome {
  saltus_status status;
  long long events;
  double error; /* of q over time, in tolerances */
} outcome;

/* A case at a tolerance with switches, against the full method of order 8. */
static outcome measure(const char* name, double tol, saltusi_adaptive_settings switches) {
  const tolerance_case* what = tolerance_case_find(name);
  tolerance_model model;
  assert_non_null(what);
  assert_int_equal(tolerance_open(what, (saltus_log){0}, &model), SALTUS_OK);
  tolerance_run reference = tolerance_of(what, &model, 1e-13, SALTUSI_DOP853);
  assert_int_equal(tolerance_go(&reference), SALTUS_OK);
  tolerance_run run = tolerance_of(what, &model, tol, SALTUSI_DOPRI5);
  run.settings.without_impulses = switches.without_impulses;
  run.settings.without_defect = switches.without_defect;
  run.settings.without_curvature = switches.without_curvature;
  run.settings.without_checks = switches.without_checks;
  run.steps_max = 20000;
  outcome o = {.status = tolerance_go(&run), .events = run.counts.events};
  if (o.status == SALTUS_OK) {
    double v_graph;
    tolerance_compare(&run, &reference, &o.error, &v_graph);
    o.error /= tol;
  }
  tolerance_free(&run);
  tolerance_free(&reference);
  tolerance_close(&model);
  return o;
}

/* A block that sticks does not move, so without its impulse the step grows over the next slip. */
static void without_impulses_slips_are_missed(void** state) {
  (void)state;
  static const int found[2] = {3, 1}; /* of 7 at 1e-6 and 1e-9 */
  for (int i = 0; i < 2; i++) {
    double tol = i == 0 ? 1e-6 : 1e-9;
    outcome full = measure("block 8", tol, (saltusi_adaptive_settings){0});
    outcome less =
        measure("block 8", tol,
                (saltusi_adaptive_settings){.without_impulses = true, .without_checks = true});
    assert_int_equal(full.events, 7);
    assert_true(full.error < 1.0);
    assert_int_equal(less.status, SALTUS_OK);
    assert_int_equal(less.events, found[i]);
    assert_true(less.error > 1e3);
  }
}

/* The embedded estimate of order 4 has a blind spot on the double pendulum. */
static void without_the_defect_a_coarse_tolerance_is_missed(void** state) {
  (void)state;
  outcome full = measure("E3", 1e-3, (saltusi_adaptive_settings){0});
  outcome less = measure("E3", 1e-3, (saltusi_adaptive_settings){.without_defect = true});
  assert_near(full.error, 1.57, 0.01);
  assert_int_equal(less.status, SALTUS_OK);
  assert_near(less.error, 69.6, 1.0);
}

/* Contact accelerations without their convective part are those of another wall: the contact is held
 * with the wrong force and found open at once, for ever. */
static void without_curvature_a_contact_cannot_be_held(void** state) {
  (void)state;
  for (int k = 3; k <= 8; k++) {
    double tol = pow(10.0, -k);
    outcome full = measure("E3", tol, (saltusi_adaptive_settings){0});
    outcome less = measure(
        "E3", tol, (saltusi_adaptive_settings){.without_curvature = true, .without_checks = true});
    assert_int_equal(full.status, SALTUS_OK);
    assert_int_equal(less.status, SALTUS_ERR_STALLED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_impulses_slips_are_missed),
      cmocka_unit_test(without_the_defect_a_coarse_tolerance_is_missed),
      cmocka_unit_test(without_curvature_a_contact_cannot_be_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
