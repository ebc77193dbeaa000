/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_nonholonomic.c - constraints on velocities, g(t, q, v) = 0 (Acary 2008, equation (1c)), in every scheme against
 * closed forms: Chaplygin's sleigh, a knife edge on an incline, a driven upright disc that rolls, a moving surface.
 */
#include "scene_runs.h"

#include <math.h>

/* Chaplygin's sleigh: u' = a w^2, (I + m a^2) w' = -m a u w of the blade velocity u and the turning rate w. With
 * A^2 = u^2 + J/m w^2: u = A tanh(k t + c), w = A sqrt(m/J) / cosh(k t + c), k = m a A / J. */
static const char sleigh[] =
    "saltus: 1\nparameters: {m: 2, I: 0.3, a: 0.4}\n"
    "coordinates: {theta: {velocity: 2.5}, x: {velocity: 1.2}, y: {}}\n"
    "kinetic: m/2*((x' - a*theta'*sin(theta))^2 + (y' + a*theta'*cos(theta))^2) + I/2*theta'^2\n"
    "joints: [{name: blade, velocity: \"x'*sin(theta) - y'*cos(theta)\"}]\n";

static int sleigh_at(double t, double* q) {
  const double m = 2.0, a = 0.4, J = 0.3 + m * a * a, u0 = 1.2, w0 = 2.5;
  const double A = sqrt(u0 * u0 + J / m * w0 * w0), k = m * a * A / J, c = atanh(u0 / A);
  q[0] = A * sqrt(m / J) / k * 2.0 * (atan(tanh(0.5 * (k * t + c))) - atan(tanh(0.5 * c)));
  return 1;
}

/* A knife edge on an incline turns at a constant rate w, its velocity is g/w sin(w t): a cycloid. */
static const char skate[] = "saltus: 1\nparameters: {g: 4, w: 1.7}\n"
                            "coordinates: {x: {}, y: {}, theta: {velocity: w}}\n"
                            "kinetic: 1.5*(x'^2 + y'^2) + 0.2*theta'^2\npotential: -3*g*x\n"
                            "joints: [{velocity: \"x'*sin(theta) - y'*cos(theta)\"}]\n";

static int skate_at(double t, double* q) {
  const double g = 4.0, w = 1.7;
  q[0] = g / (2.0 * w * w) * sin(w * t) * sin(w * t);
  q[1] = g / (2.0 * w * w) * (w * t - 0.5 * sin(2.0 * w * t));
  q[2] = w * t;
  return 3;
}

/* An upright disc of radius R with a torque about its axle: roll' = p + s t, s = torque/(J + m R^2), heading' = w. */
static const char disc[] = "saltus: 1\nparameters: {R: 0.5, m: 2, J: 0.25}\n"
                           "coordinates: {x: {velocity: 0.5}, y: {}, heading: {velocity: 1.3}, "
                           "roll: {velocity: 1}}\n"
                           "kinetic: m/2*(x'^2 + y'^2) + 0.1*heading'^2 + J/2*roll'^2\n"
                           "forces: {roll: 0.6}\n"
                           "joints:\n"
                           "  - {name: along x, velocity: \"x' - R*roll'*cos(heading)\"}\n"
                           "  - {name: along y, velocity: \"y' - R*roll'*sin(heading)\"}\n";

static int disc_at(double t, double* q) {
  const double R = 0.5, s = 0.6 / (0.25 + 2.0 * R * R), p = 1.0, w = 1.3, a = w * t;
  q[0] = R * ((p + s * t) * sin(a) / w + s * (cos(a) - 1.0) / (w * w));
  q[1] = R * ((p - (p + s * t) * cos(a)) / w + s * sin(a) / (w * w));
  q[2] = a;
  q[3] = p * t + 0.5 * s * t * t;
  return 4;
}

/* Velocity of a surface that depends on time: x' = sin(3 t), while y oscillates freely. */
static const char belt[] = "saltus: 1\ncoordinates: {x: {}, y: {start: 1}}\n"
                           "kinetic: x'^2 + y'^2/2\npotential: 2*y^2\n"
                           "joints: [{name: belt, velocity: \"x' - sin(3*t)\"}]\n";

static int belt_at(double t, double* q) {
  q[0] = (1.0 - cos(3.0 * t)) / 3.0;
  q[1] = cos(2.0 * t);
  return 2;
}

static const struct {
  const char* name;
  const char* text;
  int (*at)(double t, double* q);
} cases[] = {{"sleigh", sleigh, sleigh_at},
             {"knife edge", skate, skate_at},
             {"disc", disc, disc_at},
             {"belt", belt, belt_at}};

/* Largest error at three times: at a single one leading terms may cancel. */
static double error_of(size_t i, const char* scheme, double amount) {
  static const double ends[3] = {0.6, 1.2, 1.8};
  double exact[4], worst = 0.0;
  for (int e = 0; e < 3; e++) {
    const scene_outcome out = scene_run_text(cases[i].text, scheme, amount, ends[e]);
    const int count = cases[i].at(ends[e], exact);
    for (int k = 0; k < count; k++) {
      worst = fmax(worst, fabs(out.q[k] - exact[k]));
    }
  }
  return worst;
}

/* The order without impacts of each scheme, unless rounding limits it. */
static void every_scheme_keeps_its_order(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int k = 0; k < saltus_scheme_count(); k++) {
      const saltus_scheme_info* info = saltus_scheme_at(k);
      if (info->chooses_step && !info->stops) {
        continue;
      }
      const double coarse = error_of(i, info->name, 0.02);
      const double fine = error_of(i, info->name, 0.01);
      const double order = log2(coarse / fine);
      if (!(fine < 1e-9 || order > info->smooth_order - 0.3)) {
        print_error("%s, %s: %g and %g, order %.2f of %d\n", cases[i].name, info->name, coarse,
                    fine, order, info->smooth_order);
      }
      assert_true(fine < 1e-9 || order > info->smooth_order - 0.3);
    }
  }
}

static void adaptive_schemes_hold_their_tolerance(void** state) {
  (void)state;
  static const char* const schemes[] = {"adaptive", "adaptive-dopri5", "adaptive-dop853",
                                        "adaptive-radau5"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
      for (double tol = 1e-6; tol > 1e-11; tol *= 1e-2) {
        assert_near(error_of(i, schemes[k], tol), 0.0, 10.0 * tol);
      }
    }
  }
}

static void velocities_that_are_not_linear_are_refused(void** state) {
  (void)state;
  scene_assert_refused("saltus: 1\ncoordinates: {x: {}}\nkinetic: x'^2\n"
                       "joints: [{name: a, velocity: \"x'^2\"}]\n",
                       "linear");
  scene_assert_refused("saltus: 1\ncoordinates: {x: {}}\nkinetic: x'^2\n"
                       "joints: [{name: a, velocity: \"x'\", constraint: x}]\n",
                       "nothing else but a name");
  scene_assert_refused("saltus: 1\ncoordinates: {x: {velocity: 1}}\nkinetic: x'^2\n"
                       "joints: [{name: a, velocity: \"x'\"}]\n",
                       "start velocities break joint");
}

int main(void) {
  if (!saltus_has("yaml")) {
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scheme_keeps_its_order),
      cmocka_unit_test(adaptive_schemes_hold_their_tolerance),
      cmocka_unit_test(velocities_that_are_not_linear_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
