/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The same mechanisms written as bodies and as formulas: in Cartesian coordinates both are the same equations, so every
 * scheme that takes both has to give the same states, to its tolerance. Schemes that hold joints by velocities leave
 * positions a little off them, and rows that are the same on the joints differ there: by the defect, or what a
 * projection moves back in a step, a few times.
 */
#include "saltus_test.h"

#include <string.h>

static const char* const pairs[][3] = {
    {"pendulum",
     "saltus: 1\n"
     "bodies:\n"
     "  bob: {mass: 2, inertia: 0.3, position: [0.8, 0], angle: 0}\n"
     "markers:\n"
     "  pin: {point: [0, 0]}\n"
     "  eye: {body: bob, point: [-0.8, 0]}\n"
     "joints:\n"
     "  - {name: hinge, type: revolute, between: [pin, eye]}\n",
     "saltus: 1\n"
     "coordinates: {x: {start: 0.8}, y: {start: 0}, a: {start: 0}}\n"
     "kinetic: x'^2 + y'^2 + 0.15*a'^2\n"
     "potential: 2*9.81*y\n"
     "joints:\n"
     "  - {name: hx, constraint: x - 0.8*cos(a)}\n"
     "  - {name: hy, constraint: y - 0.8*sin(a)}\n"},
    {"slider-crank",
     "saltus: 1\n"
     "parameters: {b: -asin(0.6/2)}\n"
     "bodies:\n"
     "  crank: {mass: 1, inertia: 0.03, position: [0, 0.3], angle: pi/2, velocity: [-0.9, 0], "
     "angular_velocity: 3}\n"
     "  rod: {mass: 2, inertia: 0.7, position: [cos(b), 0.3], angle: b, velocity: [-1.8, 0]}\n"
     "  slider: {mass: 3, inertia: 0.1, position: [2*cos(b), 0], velocity: [-1.8, 0]}\n"
     "markers:\n"
     "  pin: {point: [0, 0]}\n"
     "  hub: {body: crank, point: [-0.3, 0]}\n"
     "  tip: {body: crank, point: [0.3, 0]}\n"
     "  foot: {body: rod, point: [-1, 0]}\n"
     "  eye: {body: rod, point: [1, 0]}\n"
     "  block: {body: slider}\n"
     "joints:\n"
     "  - {name: bearing, type: revolute, between: [pin, hub]}\n"
     "  - {name: big, type: revolute, between: [tip, foot]}\n"
     "  - {name: small, type: revolute, between: [eye, block]}\n"
     "  - {name: guide, type: prismatic, between: [pin, block]}\n",
     "saltus: 1\n"
     "parameters: {s: -asin(0.6/2)}\n"
     "coordinates:\n"
     "  x1: {start: 0, velocity: -0.9}\n"
     "  y1: {start: 0.3}\n"
     "  a1: {start: pi/2, velocity: 3}\n"
     "  x2: {start: cos(s), velocity: -1.8}\n"
     "  y2: {start: 0.3}\n"
     "  a2: {start: s}\n"
     "  x3: {start: 2*cos(s), velocity: -1.8}\n"
     "  y3: {start: 0}\n"
     "  a3: {start: 0}\n"
     "kinetic: (x1'^2 + y1'^2)/2 + 0.015*a1'^2 + x2'^2 + y2'^2 + 0.35*a2'^2 + 1.5*(x3'^2 + y3'^2) "
     "+ 0.05*a3'^2\n"
     "potential: 9.81*(y1 + 2*y2 + 3*y3)\n"
     "joints:\n"
     "  - {name: bx, constraint: x1 - 0.3*cos(a1)}\n"
     "  - {name: by, constraint: y1 - 0.3*sin(a1)}\n"
     "  - {name: tx, constraint: x2 - cos(a2) - x1 - 0.3*cos(a1)}\n"
     "  - {name: ty, constraint: y2 - sin(a2) - y1 - 0.3*sin(a1)}\n"
     "  - {name: ex, constraint: x3 - x2 - cos(a2)}\n"
     "  - {name: ey, constraint: y3 - y2 - sin(a2)}\n"
     "  - {name: gy, constraint: y3}\n"
     "  - {name: ga, constraint: a3}\n"},
    {"double pendulum",
     "saltus: 1\n"
     "bodies:\n"
     "  upper: {mass: 1, inertia: 0.1, position: [0.5, 0], angle: 0}\n"
     "  lower: {mass: 1, inertia: 0.05, position: [1, 0.4], angle: pi/2}\n"
     "markers:\n"
     "  pin: {point: [0, 0]}\n"
     "  hub: {body: upper, point: [-0.5, 0]}\n"
     "  elbow: {body: upper, point: [0.5, 0]}\n"
     "  eye: {body: lower, point: [-0.4, 0]}\n"
     "joints:\n"
     "  - {name: first, type: revolute, between: [pin, hub]}\n"
     "  - {name: second, type: revolute, between: [elbow, eye]}\n",
     "saltus: 1\n"
     "coordinates:\n"
     "  x1: {start: 0.5}\n"
     "  y1: {start: 0}\n"
     "  a1: {start: 0}\n"
     "  x2: {start: 1}\n"
     "  y2: {start: 0.4}\n"
     "  a2: {start: pi/2}\n"
     "kinetic: (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2 + 0.05*a1'^2 + 0.025*a2'^2\n"
     "potential: 9.81*(y1 + y2)\n"
     "joints:\n"
     "  - {name: fx, constraint: x1 - 0.5*cos(a1)}\n"
     "  - {name: fy, constraint: y1 - 0.5*sin(a1)}\n"
     "  - {name: sx, constraint: x2 - 0.4*cos(a2) - x1 - 0.5*cos(a1)}\n"
     "  - {name: sy, constraint: y2 - 0.4*sin(a2) - y1 - 0.5*sin(a1)}\n"},
};

static const double tol = 1e-8;

/* q at the end and how far joints were left; false when the scheme does not take the scene. */
static bool run_one(const char* text, const saltus_scheme_info* scheme, double* out, int* count,
                    double* drift) {
  saltus_kept_message message;
  const saltus_scene_def scene_def = {.text = text, .log = saltus_log_keep(&message)};
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&scene_def, &scene);
  if (status != SALTUS_OK) {
    print_error("%s\n", message.text);
  }
  assert_int_equal(status, SALTUS_OK);
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.scheme = scheme->name;
  def.until = 0.5;
  def.log = saltus_log_keep(&message);
  if (scheme->chooses_step) {
    def.tol = tol;
  } else {
    def.step = 0.002;
  }
  saltus_run* run;
  status = saltus_run_create(&def, &run);
  bool taken = status != SALTUS_ERR_UNSUPPORTED;
  if (taken) {
    assert_int_equal(status, SALTUS_OK);
    status = saltus_run_execute(run);
    if (status != SALTUS_OK) {
      print_error("%s: %s\n", scheme->name, message.text);
    }
    assert_int_equal(status, SALTUS_OK);
    const saltus_run_result* result = saltus_run_outcome(run);
    *drift = fmax(*drift, fmax(result->joint_drift, result->projection));
    *count = def.scene->system->dims.nq;
    memcpy(out, saltus_run_outcome(run)->q, (size_t)*count * sizeof *out);
  }
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return taken;
}

static void bodies_and_formulas_agree_in_every_scheme(void** state) {
  (void)state;
  int compared = 0;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    for (int k = 0; k < saltus_scheme_count(); k++) {
      const saltus_scheme_info* scheme = saltus_scheme_at(k);
      double a[16], b[16], worst = 0.0, drift = 0.0;
      int na = 0, nb = 0;
      if (!run_one(pairs[i][1], scheme, a, &na, &drift) ||
          !run_one(pairs[i][2], scheme, b, &nb, &drift)) {
        continue;
      }
      assert_int_equal(na, nb);
      for (int j = 0; j < na; j++) {
        worst = fmax(worst, fabs(a[j] - b[j]));
      }
      double allowed = 10.0 * (tol + drift);
      if (worst > allowed) {
        print_error("%s, %s: %g\n", pairs[i][0], scheme->name, worst);
      }
      assert_near(worst, 0.0, allowed);
      compared++;
    }
  }
  assert_true(compared >= 3 * 20); /* schemes that take joints */
}

int main(void) {
  if (!saltus_has("yaml")) {
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_and_formulas_agree_in_every_scheme),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
