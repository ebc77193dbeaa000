/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_event_friction.c - forces of closed contacts in the schemes that locate events and in splitting-rkf45-contact.
 */
#include "saltus_test.h"
#include "scene_runs.h"

#include <math.h>
#include <string.h>

static const char* const schemes[] = {"rk4", "dopri5"};

/* A torque of 10 Hz turns the wheel by 4 of its 12 teeth in each period; at the end of each it rests against two teeth, on both of which
 * friction is redundant. From there the wheel has to slip when the torque turns. The curvature of
 * a tooth jumps where the pawl flies off; forces beyond it have no part in the motion before. */
static void the_ratchet_advances_by_four_teeth_a_period(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("machine-ratchet", NULL, 0);
  for (int k = 0; k < 2; k++) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const double first = scene_run(view, schemes[k], 2e-4, 0.1).q[2];
    const scene_outcome end = scene_run(view, schemes[k], 2e-4, 0.2);
    assert_near(end.ledger.remainder, 0.0, 1e-8);
    assert_near(end.q[2] - first, 4.0 * 2.0 * 3.14159265358979 / 12.0, 1e-7);
  }
  saltus_scene_destroy(scene);
}

/* Steps of 2 and 5 ms carry the nose (radius 1 mm) into a tooth and behind the flank beside it, where both wedge it: the run ended at 2.0
 * and 0.65 rad. 10.29831083 rad is the end by adaptive, rk4, dopri5 and hem-4; errors are O(h). */
static void splitting_refuses_penetrations_that_wedge(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("machine-ratchet", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  static const double coarse[] = {5e-3, 2e-3};
  for (int k = 0; k < 2; k++) {
    const scene_outcome end = scene_try(view, "splitting-rkf45-contact", coarse[k], 0.5);
    assert_int_not_equal(end.status, SALTUS_OK);
    assert_non_null(strstr(end.text, "\"tooth."));
    assert_non_null(strstr(end.text, "no displacement resolves this"));
  }
  static const double fine[] = {1e-3, 2e-4};
  for (int k = 0; k < 2; k++) {
    const double end = scene_run(view, "splitting-rkf45-contact", fine[k], 0.5).q[2];
    assert_near(end, 10.29831083, 30.0 * fine[k]);
  }
  saltus_scene_destroy(scene);
}

/* End of a run with error control. */
static scene_outcome controlled(const saltus_scene_view* view, const char* scheme, double tol) {
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.scheme = scheme;
  def.tol = tol;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  scene_outcome out = {.ledger = saltus_run_outcome(run)->ledger};
  memcpy(out.q, saltus_run_outcome(run)->q, (size_t)view->system->dims.nq * sizeof(double));
  memcpy(out.v, saltus_run_outcome(run)->v, (size_t)view->system->dims.nv * sizeof(double));
  saltus_run_destroy(run);
  return out;
}

/* A block under a cos t sticks for 2.6 s at a time, which error control passes in steps of a second: sticking ends and begins again inside of
 * them. It slips from t1, where a cos t1 = -mu g, to t2, where its velocity is zero again, one way and then the other; until 10 s three
 * times. x(2) = 3.00434856972686523 (Potra et al. 2006). */
static void sticking_ends_inside_of_long_steps(void** state) {
  (void)state;
  const double a = 8.0, bound = 0.8 * 9.81, t1 = acos(-bound / a);
  double low = t1 + 0.3, high = t1 + 1.0; /* of t2 */
  for (int k = 0; k < 60; k++) {
    const double t = 0.5 * (low + high);
    *(a * (sin(t) - sin(t1)) + bound * (t - t1) < 0.0 ? &low : &high) = t;
  }
  const double d = low - t1;
  const double moved = a * (cos(t1) - cos(low) - sin(t1) * d) + 0.5 * bound * d * d;
  saltus_scene* scene = saltus_test_scene("block-stick-slip", NULL, 0);
  for (int k = 0; k < 2; k++) {
    const double x =
        controlled(saltus_scene_get_view(scene), k == 0 ? "dopri5" : "rkf45", 1e-8).q[0];
    assert_near(x, 3.00434856972686523 + moved, 1e-7);
  }
  saltus_scene_destroy(scene);
}

/* A ball of 1 kg on a floor at a sin(w t), by parabolas from impact to impact, e = 1/2: flights below 10 us end on the floor, which it leaves
 * where the acceleration of the floor is -g. Returns the velocity after 5 s, on the floor or above it. */
static double thrown(double* y) {
  const double g = 9.81, w = 20.0, a = 1.6 * g / (w * w), until = 5.0, dt = 1e-5;
  double t = 0.0, y0 = 0.1, v0 = 0.0;
  for (;;) {
    double low = 0.0, high = dt; /* of the next impact, after t */
    while (y0 + v0 * high - 0.5 * g * high * high > a * sin(w * (t + high)) && t + high < until) {
      low = high;
      high += dt;
    }
    if (t + high >= until) {
      *y = y0 + v0 * (until - t) - 0.5 * g * (until - t) * (until - t);
      return v0 - g * (until - t);
    }
    for (int k = 0; k < 60; k++) {
      const double x = 0.5 * (low + high);
      *(y0 + v0 * x - 0.5 * g * x * x > a * sin(w * (t + x)) ? &low : &high) = x;
    }
    t += high;
    const double floor = a * w * cos(w * t), rebound = 0.5 * (floor - (v0 - g * high));
    v0 = floor + rebound;
    if (rebound < 0.5 * g * dt) { /* it rests until sin(w t) = 1/1.6 on the way up */
      const double turn = 2.0 * 3.14159265358979323846, phase = asin(1.0 / 1.6);
      const double next = (phase + turn * ceil((w * t - phase) / turn)) / w;
      t = sin(w * t) < 1.0 / 1.6 ? next : t;
      v0 = a * w * cos(w * t);
    }
    y0 = a * sin(w * t);
  }
}

/* The motion of the flights is exact in any step: brackets of impacts, and how often the floor comes up, have to limit steps. */
static void error_control_resolves_impacts_and_the_floor(void** state) {
  (void)state;
  double y = 0.0;
  const double v = thrown(&y);
  saltus_scene* scene = saltus_test_scene("moving-floor", NULL, 0);
  for (int k = 0; k < 2; k++) {
    const scene_outcome end =
        controlled(saltus_scene_get_view(scene), k == 0 ? "dopri5" : "rkf45", 1e-8);
    assert_near(end.q[0], y, 2e-5);
    assert_near(end.v[0], v, 2e-3);
    assert_near(end.ledger.remainder, 0.0, 1e-5);
  }
  saltus_scene_destroy(scene);
}

/* A mass under a force that turns starts and stops in space: where slip is slow another method takes the step, which needs an error as well.
 * The reference is a time-stepping with friction as a projection, of first order: below 2e-5 m at 2e-6 s. */
static void error_control_resolves_slow_slip_in_space(void** state) {
  (void)state;
  const double h = 2e-6, bound = 0.4 * 9.81 * h;
  double x[2] = {0.0, 0.0}, v[2] = {0.0, 0.0};
  for (int n = 0; n < 3000000; n++) {
    const double t = (n + 0.5) * h, push = h * 6.0 * sin(1.3 * t);
    v[0] += push * cos(t);
    v[1] += push * sin(t);
    const double part = fmax(0.0, 1.0 - bound / fmax(hypot(v[0], v[1]), bound));
    for (int i = 0; i < 2; i++) {
      v[i] *= part;
      x[i] += h * v[i];
    }
  }
  saltus_scene* scene = saltus_test_scene("turning-force", NULL, 0);
  const scene_outcome end = controlled(saltus_scene_get_view(scene), "dopri5", 1e-6);
  assert_near(end.q[0], x[0], 2e-5);
  assert_near(end.q[1], x[1], 2e-5);
  assert_near(end.ledger.remainder, 0.0, 1e-4);
  saltus_scene_destroy(scene);
}

static const char belt[] =
    "saltus: 1\ncoordinates: {x: {start: 0}, y: {start: 0}}\nkinetic: (x'^2 + y'^2)/2\npotential: "
    "9.81*y\ncontacts:\n"
    "  - {name: belt, gap: y, slip: \"x - max(0, t - 0.4995)\", friction: 0.2}\n";

/* A belt that starts at once carries a block along with friction mu m g. Schemes that hold sticking contacts by projection would give the
 * block the velocity of the belt in one step, with friction 1000 N: such a step fails. */
static void friction_outside_of_its_cone_is_refused(void** state) {
  (void)state;
  static const char* const all[] = {"rk4", "dopri5", "radau-iia-5", "hem-4"};
  saltus_scene* scene = scene_open_text(belt);
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    const scene_outcome end = scene_try(saltus_scene_get_view(scene), all[k], 1e-3, 1.0);
    assert_int_not_equal(end.status, SALTUS_OK);
    assert_non_null(
        strstr(end.text, "up to t = 0.5 s contact 0 \"belt\" has a mean friction force"));
    assert_non_null(strstr(end.text, "Coulomb's law allows 1.962 N"));
  }
  saltus_scene_destroy(scene);
}

/* Impacts at the end of a step leave sticking contacts to their cones: the block slips on the belt, x = mu g (t - 0.4995 s)^2 / 2. The belt
 * starts inside of a step of 1 ms, in which the velocity of the block changes by less than mu g h. */
static void splitting_slips_where_friction_reaches_its_bound(void** state) {
  (void)state;
  const scene_outcome end = scene_run_text(belt, "splitting-rkf45-contact", 1e-3, 1.0);
  assert_near(end.q[0], 0.5 * 0.2 * 9.81 * 0.5005 * 0.5005, 0.2 * 9.81 * 1e-3 * 0.5005);
}

/* A cart of 1 m/s runs into another one of the same mass that a force of 0.4 N presses on a stop: without a rebound both leave it with
 * 0.5 m/s. Splitting kept the contact at the stop active, and stopped both. */
static void an_impact_throws_active_contacts_apart(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\ncoordinates: {a: {start: -1, velocity: 1}, b: {start: 0}}\nkinetic: (a'^2 + "
      "b'^2)/2\n"
      "forces: {b: -0.4}\ncontacts: [{name: stop, gap: b}, {name: touch, gap: b - a}]\n";
  static const char* const all[] = {"splitting-rkf45-contact", "rk4"};
  for (int k = 0; k < 2; k++) {
    const scene_outcome end = scene_run_text(text, all[k], 1e-3, 1.5);
    assert_near(end.q[1], 0.5 * 0.5 - 0.5 * 0.2 * 0.5 * 0.5,
                2e-3); /* the impact is late by up to a step */
    assert_near(end.v[1], 0.5 - 0.2 * 0.5, 1e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sticking_ends_inside_of_long_steps),
      cmocka_unit_test(error_control_resolves_impacts_and_the_floor),
      cmocka_unit_test(error_control_resolves_slow_slip_in_space),
      cmocka_unit_test(friction_outside_of_its_cone_is_refused),
      cmocka_unit_test(splitting_slips_where_friction_reaches_its_bound),
      cmocka_unit_test(an_impact_throws_active_contacts_apart),
      cmocka_unit_test(the_ratchet_advances_by_four_teeth_a_period),
      cmocka_unit_test(splitting_refuses_penetrations_that_wedge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
