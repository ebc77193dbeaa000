/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_moreau_extrapolated.c - orders of the extrapolated scheme of Moreau between events, with its columns (Studer 2009,
 * chapter 6), against a closed form, and its step control.
 */
#include "scene_runs.h"

#include <math.h>
#include <stdio.h>

/* A particle slides inside of a ring with friction: v' = -mu v^2 / R, so the angle is R log(1 + mu v0 t / R) / mu. Rows
 * turn with the motion, the contact stays closed, and restitution has nothing to act on. */
static double ring_error(int columns, double h) {
  char text[600];
  snprintf(
      text, sizeof text,
      "saltus: 1\nparameters: {mu: 0.3}\ncoordinates: {x: {start: 1}, y: {velocity: 2}}\n"
      "kinetic: (x'^2 + y'^2)/2\n"
      "contacts: [{name: ring, gap: 1 - sqrt(x^2 + y^2), slip: \"atan2(y, x)\", friction: mu, "
      "restitution: 0.5}]\n"
      "simulate: {until: 2, scheme: moreau-extrapolated, step: 0.02, options: {columns: %d}}\n",
      columns);
  const scene_outcome out = scene_run_text(text, "moreau-extrapolated", h, 2.0);
  const double angle = log(1.0 + 0.3 * 2.0 * 2.0) / 0.3;
  return hypot(out.q[0] - cos(angle), out.q[1] - sin(angle));
}

static void the_order_in_persistent_contact_is_the_number_of_columns(void** state) {
  (void)state;
  for (int columns = 2; columns <= 5; columns++) {
    const double coarse = ring_error(columns, 0.04), fine = ring_error(columns, 0.02);
    assert_near(log2(coarse / fine), columns, 0.25);
  }
}

/* Two pendulums of unit masses on rods, x and y of both masses, against adaptive at 1e-12. */
static const char rods[] =
    "saltus: 1\nparameters: {g: 9.81}\n"
    "coordinates: {x: {start: 1}, y: {}, u: {start: 1}, w: {start: -1}}\n"
    "kinetic: (x'^2 + y'^2 + u'^2 + w'^2)/2\npotential: g*(y + w)\n"
    "joints: [{constraint: (x^2 + y^2 - 1)/2}, {constraint: ((u - x)^2 + (w - y)^2 - 1)/2}]\n";

static void joints_keep_the_order(void** state) {
  (void)state;
  const scene_outcome exact = scene_run_text(rods, "adaptive", 1e-12, 0.6);
  const scene_outcome coarse = scene_run_text(rods, "moreau-extrapolated", 0.01, 0.6);
  const scene_outcome fine = scene_run_text(rods, "moreau-extrapolated", 0.005, 0.6);
  assert_near(log2(scene_apart(&coarse, &exact, 4) / scene_apart(&fine, &exact, 4)), 3.0, 0.25);
}

/* Through impacts the scheme is that of Moreau, step by step: a flight on a parabola is exact in both. */
static void steps_with_events_are_those_of_moreau_jean(void** state) {
  (void)state;
  static const char ball[] =
      "saltus: 1\ncoordinates: {z: {start: 1}}\nkinetic: z'^2/2\npotential: 2*z\n"
      "contacts: [{name: floor, gap: z, restitution: 0.5}]\n";
  const scene_outcome a = scene_run_text(ball, "moreau-extrapolated", 7e-3, 2.1);
  const scene_outcome b = scene_run_text(ball, "moreau-jean", 7e-3, 2.1);
  assert_near(a.q[0], b.q[0], 1e-13);
  assert_near(a.v[0], b.v[0], 1e-13);
  assert_int_equal(a.impacts, b.impacts);
}

/* The embedded estimate shortens the steps at impacts and lengthens them between: the error follows the tolerance. */
static void the_estimate_controls_the_step(void** state) {
  (void)state;
  static const char oscillator[] =
      "saltus: 1\nparameters: {k: 39.47841760435743}\ncoordinates: {z: {start: 1}}\n"
      "kinetic: z'^2/2\npotential: k*z^2/2\ncontacts: [{name: stop, gap: z, restitution: 0.5}]\n"
      "simulate: {until: 1.1, scheme: moreau-extrapolated, step: 0.01, control: embedded, "
      "control_options: {atol: %g, rtol: 0}}\n";
  double error[2];
  for (int i = 0; i < 2; i++) {
    char text[600];
    snprintf(text, sizeof text, oscillator, i == 0 ? 1e-4 : 1e-6);
    saltus_scene* scene = scene_open_text(text);
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    saltus_run* run;
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    /* impacts at 1/4, 3/4: two half periods later the amplitude is 1/4, with the phase of the start */
    const double exact = 0.25 * fabs(cos(2.0 * 3.14159265358979323846 * 1.1));
    error[i] = fabs(saltus_run_outcome(run)->q[0] - exact);
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
  assert_true(error[0] < 1e-2 && error[1] < 1e-4 && error[1] < 0.05 * error[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_order_in_persistent_contact_is_the_number_of_columns),
      cmocka_unit_test(joints_keep_the_order),
      cmocka_unit_test(steps_with_events_are_those_of_moreau_jean),
      cmocka_unit_test(the_estimate_controls_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
