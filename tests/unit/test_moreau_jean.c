/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau-jean: its own claims, beyond what every scheme has to satisfy.
 */
#include "saltus_test.h"

#include "systems.h"

static saltus_scheme* make(const saltus_system* sys, const saltus_moreau_jean_options* options) {
  saltus_scheme* scheme;
  const saltus_scheme_def def = {.scheme = "moreau-jean", .options = options, .system = sys};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

/* 1 cm above the floor, falling at 1 m/s: closed at half of a 40 ms step, open at its start. */
static void gamma_looks_ahead(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  for (int ahead = 0; ahead <= 1; ahead++) {
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    options.gamma = 0.5 * ahead;
    saltus_scheme* scheme = make(&sys, &options);
    double q = 0.01;
    double v = -1.0;
    saltus_state x = {0.0, &q, &v};
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 0.04, &x, &report), SALTUS_OK);
    assert_int_equal(report.active, ahead);
    assert_near(v, ahead ? 0.5 : -1.0 - 0.04 * 9.81, 1e-15);
    if (ahead) {
      assert_true(report.contacts[0].impact);
      assert_near(report.contacts[0].impulse[0], 1.5 + 0.04 * 9.81, 1e-15);
    }
    saltus_scheme_destroy(scheme);
  }
}

/* A speculative contact closes its gap exactly, then rests; with restitution it rebounds as the forecast says. */
static void speculative_contacts_close_their_gap(void** state) {
  (void)state;
  ball b = ball_usual();
  for (int rebounds = 0; rebounds <= 1; rebounds++) {
    b.law.e_N = 0.5 * rebounds;
    saltus_system sys = ball_system(&b);
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    options.theta = 1.0;
    options.speculative = 1;
    saltus_scheme* scheme = make(&sys, &options);
    double q = 0.01;
    double v = -1.0;
    saltus_state x = {0.0, &q, &v};
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 0.04, &x, &report), SALTUS_OK);
    assert_int_equal(report.active, 1);
    assert_near(v, rebounds ? 0.5 : -0.25, 1e-15);
    assert_near(q, rebounds ? 0.03 : 0.0, 1e-16);
    if (!rebounds) {
      assert_int_equal(saltus_scheme_step(scheme, 0.04, &x, &report), SALTUS_OK);
      assert_near(v, 0.0, 1e-15);
    }
    /* a gap of a tenth of what a step falls stays one at most: without it the ball would arrive at the full speed */
    q = 1e-3;
    v = 0.0;
    assert_int_equal(saltus_scheme_step(scheme, 0.04, &x, &report), SALTUS_OK);
    assert_near(q, 0.0, 1e-17);
    assert_near(v, -1e-3 / 0.04, 1e-15);
    saltus_scheme_destroy(scheme);
  }
}

/* theta = 1/2 integrates a parabola exactly; theta = 1 is off by h f t / 2 (docs/theory/moreau-jean.md, 2.3). */
static void theta_one_half_flies_a_parabola(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  for (int k = 1; k <= 2; k++) {
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    options.theta = 0.5 * k;
    saltus_scheme* scheme = make(&sys, &options);
    double q = 100.0;
    double v = 0.0;
    saltus_state x = {0.0, &q, &v};
    for (int i = 0; i < 1000; i++) {
      assert_int_equal(saltus_scheme_step(scheme, 1e-3, &x, NULL), SALTUS_OK);
    }
    double late = k == 2 ? 0.5 * 9.81 * 1e-3 : 0.0;
    assert_near(q, 100.0 - 0.5 * 9.81 - late, 1e-11);
    saltus_scheme_destroy(scheme);
  }
}

/* A flat bar falls on three supports at once. The impulses are not unique, the velocities are: both
 * ends want to rebound with e times the approach, so the whole bar does. */
static void three_contacts_closing_at_once_satisfy_the_law(void** state) {
  (void)state;
  const saltus_contact_law laws[3] = {{.e_N = 0.5}, {.e_N = 0.5}, {.e_N = 0.5}};
  saltus_system sys = bar_system(laws);
  saltus_scheme* scheme = make(&sys, NULL);
  double q[2] = {1e-3, 0.0};
  double v[2] = {-1.0, 0.0};
  saltus_state x = {0.0, q, v};
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 2e-3, &x, &report), SALTUS_OK);
  assert_int_equal(report.active, 3);
  assert_near(v[0], 0.5, 1e-14);
  assert_near(v[1], 0.0, 1e-14);
  double sum = 0.0;
  double moment = 0.0;
  const double support[3] = {-1.0, 0.25, 1.0};
  for (int i = 0; i < 3; i++) {
    double u = v[0] + support[i] * v[1];
    double P = report.contacts[i].impulse[0];
    assert_near(fmin(P, u + 0.5 * -1.0), 0.0, 1e-14);
    sum += P;
    moment += support[i] * P;
  }
  assert_near(sum, 2.0 * 1.5 + 2.0 * 9.81 * 2e-3, 1e-13);
  assert_near(moment, 0.0, 1e-13);
  saltus_scheme_destroy(scheme);
}

/* Uneven restitution: enumerate the 8 active sets of the law and compare the velocities. */
static void uneven_supports_give_the_lcp_solution(void** state) {
  (void)state;
  const saltus_contact_law laws[3] = {{.e_N = 0.9}, {.e_N = 0.2}, {.e_N = 0.0}};
  const double support[3] = {-1.0, 0.25, 1.0};
  saltus_system sys = bar_system(laws);
  saltus_scheme* scheme = make(&sys, NULL);
  double q[2] = {1e-4, 0.0};
  double v[2] = {-1.0, 0.3};
  saltus_state x = {0.0, q, v};
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 1e-3, &x, &report), SALTUS_OK);
  double impulse[2] = {0.0, 0.0};
  for (int i = 0; i < report.active; i++) {
    int key = report.contacts[i].key;
    double u0 = -1.0 + support[key] * 0.3;
    double u1 = v[0] + support[key] * v[1];
    double P = report.contacts[i].impulse[0];
    assert_near(fmin(P, u1 + laws[key].e_N * u0), 0.0, 1e-14);
    impulse[0] += P;
    impulse[1] += P * support[key];
  }
  assert_near(v[0], -1.0 - 9.81e-3 + impulse[0] / 2.0, 1e-14);
  assert_near(v[1], 0.3 + impulse[1], 1e-14);
  saltus_scheme_destroy(scheme);
}

/* A pendulum of length 1 from horizontal, in Cartesian coordinates. */
static double pendulum_angle(int joints, int steps, double* length) {
  saltus_system sys = rod_system();
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.joints = joints;
  saltus_scheme* scheme = make(&sys, &options);
  double q[2] = {1.0, 0.0};
  double v[2] = {0.0, 0.0};
  saltus_state x = {0.0, q, v};
  for (int i = 0; i < steps; i++) {
    x.t = 1.0 * i / steps;
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 1.0 / steps, &x, &report), SALTUS_OK);
    assert_near(report.residual_velocity, 0.0, 1e-12);
  }
  saltus_scheme_destroy(scheme);
  *length = hypot(q[0], q[1]);
  return atan2(q[1], q[0]);
}

/* On the mean velocity the rod keeps its length to rounding and the order is 2; on the end velocity
 * it grows and the order is 1. */
static void joints_hold_and_converge(void** state) {
  (void)state;
  const double exact = -2.975823638320; /* theta'' = -9.81 cos(theta), RK4 with 200 000 steps */
  double length;
  double coarse = fabs(pendulum_angle(SALTUS_JOINTS_MEAN, 200, &length) - exact);
  assert_near(length, 1.0, 200 * 2.2e-16);
  double fine = fabs(pendulum_angle(SALTUS_JOINTS_MEAN, 1600, &length) - exact);
  assert_near(log2(coarse / fine) / 3.0, 2.0, 0.05);
  coarse = fabs(pendulum_angle(SALTUS_JOINTS_END, 400, &length) - exact);
  fine = fabs(pendulum_angle(SALTUS_JOINTS_END, 3200, &length) - exact);
  assert_near(log2(coarse / fine) / 3.0, 1.0, 0.1);
}

/* A floor that moves under a resting ball takes it along. The trapezoidal position is O(h^2) off,
 * and where that opens the gap the ball falls freely for a step: within (g + a w^2) h^2. */
static void a_moving_floor_carries_the_ball(void** state) {
  (void)state;
  double worst[2];
  for (int k = 0; k < 2; k++) {
    ball b = ball_usual();
    b.law.e_N = 0.0;
    b.a = 0.1;
    b.w = 3.0; /* a w^2 = 0.9 m/s^2 < g: no lift-off */
    saltus_system sys = ball_system(&b);
    saltus_scheme* scheme = make(&sys, NULL);
    double h = k == 0 ? 2e-3 : 1e-3;
    double q = 0.0;
    double v = b.a * b.w;
    saltus_state x = {0.0, &q, &v};
    worst[k] = 0.0;
    for (int i = 0; i < (int)(4.0 / h); i++) {
      x.t = i * h;
      assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
      worst[k] = fmax(worst[k], fabs(q - b.a * sin(b.w * (i + 1) * h)));
    }
    saltus_scheme_destroy(scheme);
  }
  assert_near(worst[1], 0.0, (9.81 + 0.9) * 1e-3 * 1e-3);
  assert_near(log2(worst[0] / worst[1]), 2.0, 0.3);
}

/* Both readings of U_k exist and differ on a curved contact, and only there. */
static void the_two_readings_differ_on_a_curved_contact(void** state) {
  (void)state;
  pendulum_fault none = FAULT_NONE;
  saltus_system sys = pendulum_system(&none);
  double after[2];
  for (int jump = 0; jump <= 1; jump++) {
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    options.jump = jump;
    saltus_scheme* scheme = make(&sys, &options);
    double q[2] = {0.3, asin(0.3 - sin(0.3))};
    double v[2] = {-1.0, 0.2};
    saltus_state x = {0.0, q, v};
    assert_int_equal(saltus_scheme_step(scheme, 1e-2, &x, NULL), SALTUS_OK);
    after[jump] = v[0];
    saltus_scheme_destroy(scheme);
  }
  assert_true(fabs(after[0] - after[1]) > 1e-6);
  assert_true(fabs(after[0] - after[1]) < 1e-1);
}

static void options_out_of_range_are_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.theta = 1.5;
  saltus_kept_message kept;
  saltus_scheme* scheme;
  const saltus_scheme_def def = {
      .scheme = "moreau-jean", .options = &options, .system = &sys, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_ERR_RANGE);
  assert_null(scheme);
  assert_says(kept, "moreau-jean: option \"theta\" is 1.5, allowed: 0 .. 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gamma_looks_ahead),
      cmocka_unit_test(speculative_contacts_close_their_gap),
      cmocka_unit_test(theta_one_half_flies_a_parabola),
      cmocka_unit_test(three_contacts_closing_at_once_satisfy_the_law),
      cmocka_unit_test(uneven_supports_give_the_lcp_solution),
      cmocka_unit_test(joints_hold_and_converge),
      cmocka_unit_test(a_moving_floor_carries_the_ball),
      cmocka_unit_test(the_two_readings_differ_on_a_curved_contact),
      cmocka_unit_test(options_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
