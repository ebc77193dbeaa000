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
  const saltus_scene_view* view = saltus_scene_get_view(scene);
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

/* Over-constrained mechanisms whose velocities are left to a drive: a Cardan joint between two fixed shafts at an angle
 * beta, a slider-crank of revolute joints in space, a parallelogram of three cranks. w is the speed of the drive, s a
 * length. */
static const char* const driven[] = {
    "saltus: 1\nparameters: {beta: %.17g, w: %.17g, s: %.17g}\n"
    "world: {dimension: 3, gravity: [0, 0, 0]}\nbodies:\n"
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [-s, 0, 0]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [s*cos(beta), s*sin(beta), 0],\n"
    "    orientation: {axis: [0, 0, 1], angle: beta}}\n"
    "markers:\n"
    "  o: {point: [-s, 0, 0], orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "  a0: {body: a, orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "  au: {body: a, point: [s, 0, 0], orientation: {rpy: [0, 0, pi/2]}}\n"
    "  bu: {body: b, point: [-s, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
    "  o2: {point: [s*cos(beta), s*sin(beta), 0], orientation: {quaternion: [\n"
    "    cos(beta/2)*cos(pi/4), -sin(beta/2)*sin(pi/4),\n"
    "    cos(beta/2)*sin(pi/4), sin(beta/2)*cos(pi/4)]}}\n"
    "  b0: {body: b, orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "joints:\n"
    "  - {name: in, type: revolute, between: [o, a0], drive: {speed: w}}\n"
    "  - {name: u, type: universal, between: [au, bu]}\n"
    "  - {name: out, type: revolute, between: [o2, b0]}\n"
    "simulate: {until: 1/w}\n",
    "saltus: 1\nparameters: {beta: %.17g, w: %.17g, s: %.17g, d: asin(0.4*sin(beta))}\n"
    "world: {dimension: 3, gravity: [0, -9.81, 0]}\nbodies:\n"
    "  crank: {mass: 1, inertia: [0.01, 0.01, 0.02], position: [s*cos(beta), s*sin(beta), 0],\n"
    "    orientation: {axis: [0, 0, 1], angle: beta}}\n"
    "  rod: {mass: 1, inertia: [0.01, 0.05, 0.05],\n"
    "    position: [2*s*cos(beta) + 2.5*s*cos(d), 2.5*s*sin(d), 0],\n"
    "    orientation: {axis: [0, 0, 1], angle: -d}}\n"
    "  slider: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [2*s*cos(beta) + 5*s*cos(d), 0, 0]}\n"
    "markers:\n"
    "  g: {}\n  gx: {orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "  c0: {body: crank, point: [-s, 0, 0]}\n  c1: {body: crank, point: [s, 0, 0]}\n"
    "  r0: {body: rod, point: [-2.5*s, 0, 0]}\n  r1: {body: rod, point: [2.5*s, 0, 0]}\n"
    "  s0: {body: slider}\n  sx: {body: slider, orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "joints:\n"
    "  - {name: a, type: revolute, between: [g, c0], drive: {speed: w}}\n"
    "  - {name: b, type: revolute, between: [c1, r0]}\n"
    "  - {name: c, type: revolute, between: [r1, s0]}\n"
    "  - {name: guide, type: prismatic, between: [gx, sx]}\n"
    "simulate: {until: 1/w}\n",
    "saltus: 1\nparameters: {beta: %.17g, w: %.17g, s: %.17g}\nworld: {dimension: 2}\nbodies:\n"
    "  c1: {mass: 1, inertia: 0.1, position: [s*cos(beta), s*sin(beta)], angle: beta}\n"
    "  c2: {mass: 1, inertia: 0.1, position: [4*s + s*cos(beta), s*sin(beta)], angle: beta}\n"
    "  c3: {mass: 1, inertia: 0.1, position: [2*s + s*cos(beta), s*sin(beta)], angle: beta}\n"
    "  k: {mass: 2, inertia: 0.3, position: [2*s + 2*s*cos(beta), 2*s*sin(beta)]}\n"
    "markers: {g1: {}, g2: {point: [4*s, 0]}, g3: {point: [2*s, 0]}, a1: {body: c1, point: [-s, "
    "0]},\n"
    "  b1: {body: c1, point: [s, 0]}, a2: {body: c2, point: [-s, 0]}, b2: {body: c2, point: [s, "
    "0]},\n"
    "  a3: {body: c3, point: [-s, 0]}, b3: {body: c3, point: [s, 0]}, k1: {body: k, point: [-2*s, "
    "0]},\n"
    "  k2: {body: k, point: [2*s, 0]}, k3: {body: k}}\n"
    "joints:\n"
    "  - {name: j1, type: revolute, between: [g1, a1], drive: {speed: w}}\n"
    "  - {name: j2, type: revolute, between: [g2, a2]}\n"
    "  - {name: j3, type: revolute, between: [g3, a3]}\n"
    "  - {name: j4, type: revolute, between: [b1, k1]}\n"
    "  - {name: j5, type: revolute, between: [b2, k2]}\n"
    "  - {name: j6, type: revolute, between: [b3, k3]}\n"
    "simulate: {until: 1/w}\n",
};

/* After the drive has turned by 1 rad: the output shaft turns at w cos beta/(1 - sin^2 beta cos^2 1); the slider is at
 * 2 s cos a + 5 s cos d, sin d = 0.4 sin a; the coupler goes on a circle of radius 2 s. */
static void over_constrained_mechanisms_start_with_their_drive(void** unused) {
  (void)unused;
  static const double speed[] = {5.0, 1e-3, 1e4};
  static const double size[] = {0.5, 1e-3, 30.0};
  for (int k = 0; k < 9; k++) {
    const int which = k / 3;
    const double w = speed[k % 3], s = size[k % 3];
    const double beta = 0.5 + 0.11 * k;
    char text[2600];
    snprintf(text, sizeof text, driven[which], beta, w, s);
    const scene_outcome out = scene_run_text(text, "adaptive", 1e-9, 1.0 / w);
    const double a = beta + 1.0;
    const double d = asin(0.4 * sin(a));
    if (which == 0) {
      const double c = cos(1.0) * sin(beta);
      assert_near(out.v[9] / w, cos(beta) / (1.0 - c * c), 1e-8);
    } else if (which == 1) {
      assert_near(out.q[14] / s, 2.0 * cos(a) + 5.0 * cos(d), 1e-8);
      assert_near(out.v[12] / (s * w), -2.0 * sin(a) - 2.0 * cos(a) * tan(d), 1e-7);
    } else {
      assert_near(out.q[9] / s, 2.0 + 2.0 * cos(a), 1e-8);
      assert_near(out.v[10] / (s * w), 2.0 * cos(a), 1e-7);
    }
  }
}

/* Two drives of one shaft that differ by a part of 1e-4 or more are refused at any speed; equal ones are not. Both bodies
 * are at the origin, with markers that differ by rounding. */
static void two_drives_of_one_shaft_agree_or_are_refused(void** unused) {
  (void)unused;
  static const double speed[] = {1.0, 1e-4, 1e4};
  static const double part[] = {1.5, 1.0001, 1.0};
  for (int k = 0; k < 9; k++) {
    char text[1200];
    snprintf(
        text, sizeof text,
        "saltus: 1\nworld: {dimension: 2, gravity: [0, 0]}\nbodies: {a: {mass: 1, inertia: 1}}\n"
        "markers: {g: {point: [0.1, 0.3]}, h: {point: [0.3, 0.1]},\n"
        "  ma: {body: a, point: [0.1, 0.1 + 0.2]}, mb: {body: a, point: [0.1 + 0.2, 0.1]}}\n"
        "joints:\n"
        "  - {name: one, type: revolute, between: [g, ma], drive: {speed: %.17g}}\n"
        "  - {name: other, type: revolute, between: [g, ma], drive: {speed: %.17g}}\n"
        "simulate: {until: 1}\n",
        speed[k % 3], part[k / 3] * speed[k % 3]);
    if (k / 3 < 2) {
      scene_assert_refused(text, "\"one\" and \"other\" contradict each other: the rates");
    } else {
      const scene_outcome out = scene_run_text(text, "adaptive", 1e-9, 1e-4);
      assert_near(out.v[2] / speed[k % 3], 1.0, 1e-12);
    }
  }
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
       "a formula of time is required"},
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
      cmocka_unit_test(over_constrained_mechanisms_start_with_their_drive),
      cmocka_unit_test(two_drives_of_one_shaft_agree_or_are_refused),
      cmocka_unit_test(what_cannot_be_driven_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
