/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_drives.c - drives of joints: prescribed motion, motors with a torque-speed curve, position drives, torques by table
 * and formula, in the plane and in space, and what is refused.
 */
#include "scene_runs.h"

#include <stdio.h>

/* Two bodies on one axle and nothing else: a torque between them turns them against each other with the inertia
 * I1 I2/(I1 + I2), here 0.8, and moves neither their sum of momenta nor the axle. */
static const char* const pairs[] = {
    "saltus: 1\nworld: {dimension: 2, gravity: [0, 0]}\nbodies:\n"
    "  stator: {mass: 3, inertia: 4, position: [0.2, -0.1]}\n"
    "  rotor: {mass: 2, inertia: 1, position: [0.2, -0.1]}\n"
    "markers: {a: {body: stator}, b: {body: rotor}}\n"
    "joints: [{name: hinge, type: revolute, between: [a, b], actuator: \"%s\"}]\n"
    "simulate: {until: 3}\n",
    "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0]}\nbodies:\n"
    "  stator: {mass: 3, inertia: [3, 3, 4], position: [0.2, -0.1, 0.5]}\n"
    "  rotor: {mass: 2, inertia: [1, 1, 1], position: [0.2, -0.1, 0.7]}\n"
    "markers: {a: {body: stator, point: [0, 0, 0.2]}, b: {body: rotor}}\n"
    "joints: [{name: hinge, type: revolute, between: [a, b], actuator: \"%s\"}]\n"
    "simulate: {until: 3}\n",
};

/* Rates of stator and rotor. */
static void rates_of(int space, const scene_outcome* out, double w[2]) {
  w[0] = out->v[space ? 5 : 2];
  w[1] = out->v[space ? 11 : 5];
}

/* 2 N m up to 1 rad/s, falling to 0 at 3: w = 2 t/0.8, then 3 - 2 exp(-(t - 0.4)/0.8). */
static void a_motor_follows_its_torque_speed_curve(void** unused) {
  (void)unused;
  for (int space = 0; space < 2; space++) {
    char text[1200];
    snprintf(text, sizeof text, pairs[space], "lookup(hinge.angle', 0, 2, 1, 2, 3, 0)");
    const scene_outcome out = scene_run_text(text, "adaptive", 1e-11, 3.0);
    double w[2];
    rates_of(space, &out, w);
    assert_near(w[1] - w[0], 3.0 - 2.0 * exp(-2.6 / 0.8), 1e-9);
    assert_near(4.0 * w[0] + w[1], 0.0, 1e-12);
    assert_near(out.ledger.remainder, 0.0, 1e-9);
    assert_near(out.ledger.external, 2.0 * w[0] * w[0] + 0.5 * w[1] * w[1], 1e-9);
  }
}

/* A linear position drive on a target of constant rate a t: x' = a - exp(-d t)(...) in closed form for k = 8, d = 4.8,
 * I = 0.8: x'' + 6 x' + 10 x = 10 a t, from rest: x = a (t - 0.6) + a exp(-3 t)(0.6 cos t + 0.8 sin t). */
static void a_position_drive_follows_its_target(void** unused) {
  (void)unused;
  const double t = 1.5, a = 2.0;
  const double c = cos(t), s = sin(t), f = exp(-3.0 * t);
  const double rate = a + a * f * (-3.0 * (0.6 * c + 0.8 * s) - 0.6 * s + 0.8 * c);
  for (int space = 0; space < 2; space++) {
    char text[1200];
    snprintf(text, sizeof text, pairs[space], "8*(2*t - hinge.angle) - 4.8*hinge.angle'");
    const scene_outcome out = scene_run_text(text, "adaptive", 1e-11, t);
    double w[2];
    rates_of(space, &out, w);
    assert_near(w[1] - w[0], rate, 1e-9);
    assert_near(out.ledger.remainder, 0.0, 1e-9);
    const scene_outcome steps = scene_run_text(text, "radau-iia-5", 0.01, t);
    rates_of(space, &steps, w);
    assert_near(w[1] - w[0], rate, 1e-8);
  }
}

/* With a limit it is the same as one coordinate by formula, and as that with an event that cuts it off. */
static void a_position_drive_has_its_limit_and_can_be_cut_off(void** unused) {
  (void)unused;
  const char* torque = "power*min(max(200*(0.5*sin(3*t) - %s) - 30*%s', -5), 5)";
  char one[600], formula[300], text[1600];
  snprintf(formula, sizeof formula, torque, "x", "x");
  snprintf(one, sizeof one,
           "saltus: 1\ninputs: {power: 1}\ncoordinates: {x: 0}\nkinetic: 0.8*x'^2/2\n"
           "forces: {x: \"%s\"}\nevents: {off: {formula: t - 2, direction: rising, set: {power: "
           "0}}}\nsimulate: {until: 3}\n",
           formula);
  const scene_outcome alone = scene_run_text(one, "adaptive", 1e-11, 2.5);
  snprintf(formula, sizeof formula, torque, "hinge.angle", "hinge.angle");
  for (int space = 0; space < 2; space++) {
    const int n = snprintf(text, sizeof text, pairs[space], formula);
    snprintf(text + n, sizeof text - (size_t)n,
             "inputs: {power: 1}\nevents: {off: {formula: t - 2, direction: rising, set: {power: "
             "0}}}\n");
    const scene_outcome out = scene_run_text(text, "adaptive", 1e-11, 2.5);
    double w[2];
    rates_of(space, &out, w);
    assert_near(w[1] - w[0], alone.v[0], 1e-8);
    assert_near(out.ledger.remainder, 0.0, 1e-8);
    assert_int_equal(out.heard.count, 1);
  }
}

/* By a table of time, a formula of time, and what they are together with something that moves. */
static void torques_by_tables_and_formulas(void** unused) {
  (void)unused;
  static const struct {
    const char* torque;
    double impulse; /* N m s over 3 s */
  } all[] = {{"lookup(t, 0, 0, 1, 3, 2, 1)", 1.5 + 2.0 + 1.0},
             {"2*sin(4*t)", 0.5 * (1.0 - 0.84385395873249214)}, /* 1 - cos 12 */
             {"2*sin(4*t) + 0*rotor.x", 0.5 * (1.0 - 0.84385395873249214)}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    for (int space = 0; space < 2; space++) {
      char text[1200];
      snprintf(text, sizeof text, pairs[space], all[k].torque);
      const scene_outcome out = scene_run_text(text, "adaptive", 1e-11, 3.0);
      double w[2];
      rates_of(space, &out, w);
      assert_near(w[1], all[k].impulse, 1e-9);
      assert_near(w[0], -0.25 * all[k].impulse, 1e-9);
    }
  }
}

/* A cylinder between a point of the ground and a point of an arm, whose force falls with its speed: derivatives of forces at
 * random states, and its work. */
static void a_cylinder_pushes_along_its_length(void** unused) {
  (void)unused;
  saltus_scene* scene = scene_open_text(
      "saltus: 1\nworld: {dimension: 2}\nbodies: {arm: {mass: 2, inertia: 0.3, position: [0.5, "
      "0]}}\n"
      "markers: {o: {}, foot: {point: [0.2, -0.6]}, pin: {body: arm, point: [-0.5, 0]}, eye: "
      "{body: "
      "arm, point: [0.1, 0.05]}}\n"
      "joints: [{name: hinge, type: revolute, between: [o, pin], limits: [-1, 0.4], restitution: "
      "0.3}]\n"
      "springs: [{elongation: \"dist(foot, eye)\", force: \"60 - 20*atan(3*dist'(foot, eye))\", "
      "damping: "
      "5}]\nsimulate: {until: 2}\n");
  const saltus_scene_view* view = saltus_scene_look(scene);
  uint64_t seed = 7;
  for (int draw = 0; draw < 30; draw++) {
    double q[3], v[3];
    for (int i = 0; i < 3; i++) {
      q[i] = view->q0[i] + 0.6 * saltus_test_random(&seed) - 0.3;
      v[i] = 4.0 * saltus_test_random(&seed) - 2.0;
    }
    saltus_system_check_result check;
    assert_int_equal(saltus_system_check(view->system, 0.0, q, v, (saltus_log){0}, &check),
                     SALTUS_OK);
    assert_true(check.force_q < 1e-6 && check.force_v < 1e-6 && check.power < 1e-9);
  }
  const scene_outcome fine = scene_run(view, "adaptive", 1e-10, 1.0);
  const scene_outcome steps = scene_run(view, "moreau-jean", 1e-4, 1.0);
  const scene_outcome small = scene_run(view, "moreau-jean", 1e-5, 1.0);
  assert_true(fine.impacts > 0);
  assert_near(fine.ledger.remainder, 0.0, 1e-8);
  assert_true(scene_apart(&small, &fine, 3) < 1e-5 + 0.5 * scene_apart(&steps, &fine, 3));
  assert_near(scene_apart(&small, &fine, 3), 0.0, 1e-4);
  saltus_scene_destroy(scene);
}

static void what_cannot_be_driven_is_refused(void** unused) {
  (void)unused;
  static const struct {
    const char *text, *says;
  } all[] = {
      {"joints: [{type: revolute, between: [a, b], actuator: \"-rotor.angle\"}]\n",
       "depends on the motion; give the joint a name"},
      {"joints: [{name: j, type: revolute, between: [a, b], actuator: \"-j.angel\"}]\n",
       "actuator of joint \"j\""},
      {"joints: [{name: j, type: revolute, between: [a, b], actuator: \"2*\"}]\n",
       "actuator of joint \"j\""},
      {"joints: [{name: j, type: revolute, between: [a, b], drive: {angle: \"rotor.x\"}}]\n",
       "a formula of time is wanted"},
      {"springs: [{between: [a, b], force: 3}]\n", "has a force: give an elongation"},
  };
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    char text[800];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 2}\nbodies: {rotor: {mass: 1, inertia: 1}}\n"
             "markers: {a: {}, b: {body: rotor}}\nsimulate: {until: 1}\n%s",
             all[k].text);
    scene_assert_refused(text, all[k].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_motor_follows_its_torque_speed_curve),
      cmocka_unit_test(a_position_drive_follows_its_target),
      cmocka_unit_test(a_position_drive_has_its_limit_and_can_be_cut_off),
      cmocka_unit_test(torques_by_tables_and_formulas),
      cmocka_unit_test(a_cylinder_pushes_along_its_length),
      cmocka_unit_test(what_cannot_be_driven_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
