/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_event_friction.c - friction modes of the schemes that locate events, where sticking contacts are redundant.
 */
#include "saltus_test.h"
#include "scene_runs.h"

static const char* const schemes[] = {"rk4", "dopri5"};

/* A torque of 10 Hz turns the wheel by 4 of its 12 teeth in each period; at the end of each it rests against two teeth, on both of which
 * friction is redundant. From there the wheel has to slip when the torque turns. The curvature of
 * a tooth jumps where the pawl flies off; forces beyond it have no part in the motion before. */
static void the_ratchet_advances_by_four_teeth_a_period(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("machine-ratchet", NULL, 0);
  for (int k = 0; k < 2; k++) {
    const saltus_scene_view* view = saltus_scene_look(scene);
    const double first = scene_run(view, schemes[k], 2e-4, 0.1).q[2];
    const scene_outcome end = scene_run(view, schemes[k], 2e-4, 0.2);
    assert_near(end.ledger.remainder, 0.0, 1e-8);
    assert_near(end.q[2] - first, 4.0 * 2.0 * 3.14159265358979 / 12.0, 1e-7);
  }
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ratchet_advances_by_four_teeth_a_period),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
