/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_trapezoidal_drift.c - contact stabilisation (Potra et al. 2006, section 10.4) and the active set (7.1) of the
 * trapezoidal schemes.
 */
#include "scene_runs.h"

#include <math.h>
#include <stdio.h>

/* Gap of a particle that circles inside of a ring without friction. */
static double ring_gap(const char* stabilisation, double h, double until) {
  char text[600];
  snprintf(text, sizeof text,
           "saltus: 1\ncoordinates: {x: {start: 1}, y: {velocity: 2}}\nkinetic: (x'^2 + y'^2)/2\n"
           "contacts: [{name: ring, gap: 1 - sqrt(x^2 + y^2)}]\n"
           "simulate: {until: 1, scheme: trapezoidal-implicit-end, step: 0.01, "
           "options: {stabilisation: %s}}\n",
           stabilisation);
  const scene_outcome out = scene_run_text(text, "trapezoidal-implicit-end", h, until);
  return 1.0 - hypot(out.q[0], out.q[1]);
}

/* On velocities alone the gap drifts without bound: 2e-6 m a second at h = 0.01. Stabilised it stays at 4e-8 over 10^5 steps,
 * and with half the step at a sixteenth, more than O(h^2). */
static void the_gap_of_a_stabilised_contact_does_not_drift(void** state) {
  (void)state;
  assert_true(fabs(ring_gap("on", 0.01, 1000.0)) > 1e-3);
  const double early = ring_gap("contacts", 0.01, 10.0);
  const double late = ring_gap("contacts", 0.01, 1000.0);
  assert_near(late, early, 1e-3 * fabs(early));
  assert_true(fabs(late) < 1e-7);
  assert_true(fabs(ring_gap("all", 0.005, 500.0)) < 0.25 * fabs(late));
}

/* A body at rest 1e-6 m above a floor: active, and so at rest, with eps_b h^3 = 1e-5 m; otherwise it falls. */
static void contacts_within_the_cube_of_the_step_are_active(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[500];
    snprintf(text, sizeof text,
             "saltus: 1\ncoordinates: {z: {start: 1e-6}}\nkinetic: z'^2/2\npotential: 2*z\n"
             "contacts: [{name: floor, gap: z}]\nsimulate: {until: 1, scheme: "
             "trapezoidal-implicit-end, step: 0.01, options: {contact_gap_h3: %d}}\n",
             10 * i);
    const scene_outcome out = scene_run_text(text, "trapezoidal-implicit-end", 0.01, 0.1);
    assert_near(out.q[0], i == 0 ? 0.0 : 1e-6, 1e-12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gap_of_a_stabilised_contact_does_not_drift),
      cmocka_unit_test(contacts_within_the_cube_of_the_step_are_active),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
