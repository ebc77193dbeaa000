/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_dg_degrees.c - degrees of elements, a posteriori errors and the impulses di+ of the time-discontinuous Galerkin
 * families (Schindler and Acary 2011, sections 2.2, 3.1 and 5) against closed forms.
 */
#include "scene_runs.h"

#include <math.h>
#include <stdio.h>

static const double turn = 6.283185307179586;

/* z'' = -(2 pi)^2 z from z = 1, at a stop with e = 1/2: impacts at 1/4, 3/4, ... halve the amplitude. */
static double stop_at(double t) {
  const double passed = floor(2.0 * t + 0.5);
  return pow(0.5, passed) * fabs(cos(turn * t));
}

typedef struct dg_result {
  double error;
  long long steps, forces;
} dg_result;

/* rest: of `simulate`. */
static dg_result run_stop(const char* scheme, const char* stop, const char* rest, double until) {
  char text[900];
  snprintf(text, sizeof text,
           "saltus: 1\nparameters: {k: 39.47841760435743}\ncoordinates: {z: {start: 1}}\n"
           "kinetic: z'^2/2\npotential: k*z^2/2\n%s"
           "simulate: {until: %g, scheme: %s, %s}\n",
           stop, until, scheme, rest);
  saltus_scene* scene = scene_open_text(text);
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* r = saltus_run_outcome(run);
  const double exact = stop[0] == '\0' ? cos(turn * until) : stop_at(until);
  const dg_result result = {
      .error = fabs(r->q[0] - exact), .steps = r->work.steps, .forces = r->work.force_evaluations};
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return result;
}

static const char wall[] = "contacts: [{name: stop, gap: z, restitution: 0.5}]\n";
static const char* const families[] = {"dg-minus", "dg-plus"};

/* The estimate has order M + 1 in a step: a tolerance 2^(4 (M + 1)) times smaller needs 16 times the steps. */
static void the_estimate_of_degree_m_has_order_m_plus_one(void** state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    for (int degree = 1; degree <= 4; degree++) {
      long long steps[2];
      for (int i = 0; i < 2; i++) {
        char rest[200];
        const double tol = 1e-4 * (i == 0 ? 1.0 : pow(2.0, -4.0 * (degree + 1)));
        snprintf(rest, sizeof rest,
                 "control: embedded, options: {degree: %d}, control_options: {atol: %g, rtol: 0}",
                 degree, tol);
        const dg_result r = run_stop(families[f], "", rest, 3.1);
        assert_true(r.error < 100.0 * tol);
        steps[i] = r.steps;
      }
      assert_near(log2((double)steps[1] / (double)steps[0]), 4.0, 0.5);
    }
  }
}

/* Also through impacts, whose position in the step the estimate bounds. */
static void errors_follow_the_tolerance_through_impacts(void** state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    long long steps[2] = {0};
    for (int degree = 1; degree <= 6; degree += 5) {
      for (int i = 0; i < 3; i++) {
        char rest[200];
        const double tol = pow(10.0, -3.0 - 1.5 * i);
        snprintf(rest, sizeof rest,
                 "control: embedded, options: {degree: %d}, control_options: {atol: %g, rtol: 0}",
                 degree, tol);
        const dg_result r = run_stop(families[f], wall, rest, 1.1);
        assert_true(r.error < 10.0 * tol);
        steps[degree / 6] = r.steps;
      }
    }
    assert_true(steps[1] < steps[0] / 10); /* 150 and 3000 steps at 1e-6 */
  }
}

/* Each element has the least degree of which the highest mode is below the tolerance. */
static void degrees_follow_a_tolerance(void** state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    const dg_result full = run_stop(families[f], "", "step: 0.05, options: {degree: 10}", 3.1);
    assert_true(full.error < 1e-11);
    for (int digits = 4; digits <= 10; digits += 3) {
      char rest[200];
      snprintf(rest, sizeof rest, "step: 0.05, options: {degree: 10, degree_tol: 1e-%d}", digits);
      const dg_result r = run_stop(families[f], "", rest, 3.1);
      assert_true(r.error < 10.0 * pow(10.0, -digits));
      assert_true(r.forces < full.forces);
    }
  }
}

/* An element with an impact has degree 1, the others keep theirs: the error is that of the impacts, O(h). */
static void elements_with_impacts_have_degree_one(void** state) {
  (void)state;
  const dg_result full = run_stop("dg-minus", wall, "step: 0.0102, options: {degree: 8}", 1.1);
  const dg_result free =
      run_stop("dg-minus", wall, "step: 0.0102, options: {degree: 8, degree_tol: 1e-9}", 1.1);
  assert_near(free.error, full.error, 1e-3);
  assert_true((double)free.forces < 0.8 * (double)full.forces);
}

/* With di+ the impulse of a contact that closes acts at the start of the next step: until then the velocity points into
 * the closed contact, which is why the authors leave this family out. */
static void impulses_at_the_start_leave_the_law_open_at_the_end(void** state) {
  (void)state;
  static const char ball[] =
      "saltus: 1\ncoordinates: {z: {start: 1}}\nkinetic: z'^2/2\npotential: 2*z\n"
      "contacts: [{name: floor, gap: z, restitution: 0.5}]\n"
      "simulate: {until: 1.01, scheme: %s, step: 0.1, options: {degree: %d, impulses: %s}}\n";
  for (int f = 0; f < 2; f++) {
    for (int degree = 1; degree <= 3; degree++) {
      scene_outcome out[2];
      for (int side = 0; side < 2; side++) {
        char text[600];
        snprintf(text, sizeof text, ball, families[f], degree, side == 0 ? "end" : "start");
        /* ten steps of 0.101 s: the ball arrives after 1 s */
        out[side] = scene_run_text(text, families[f], 0.101, 1.01);
        assert_true(out[side].q[0] < 0.0);
      }
      assert_near(out[0].v[0], f == 0 ? 1.01 : 0.909,
                  1e-12); /* half of the approach at the end, or at the start */
      assert_near(out[1].v[0], -2.02, 1e-12);
    }
  }
}

static void impulses_at_the_start_have_order_one(void** state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    for (int degree = 1; degree <= 3; degree++) {
      double error[2] = {0.0};
      for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 8;
             i++) { /* where impacts are in their steps decides about single grids */
          char rest[200];
          const double h = 1.1 / ((k == 0 ? 61 : 61 * 16) + i * (k == 0 ? 5 : 80));
          snprintf(rest, sizeof rest, "step: %.17g, options: {degree: %d, impulses: start}", h,
                   degree);
          error[k] += run_stop(families[f], wall, rest, 1.1).error;
        }
      }
      assert_near(log2(error[0] / error[1]) / 4.0, 1.0, 0.2);
    }
  }
}

static void degree_zero_has_neither(void** state) {
  (void)state;
  static const char* const options[] = {"impulses: start", "degree_tol: 1e-3"};
  for (int i = 0; i < 2; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "saltus: 1\ncoordinates: {z: {start: 1}}\nkinetic: z'^2/2\n"
             "simulate: {until: 1, scheme: dg-minus, step: 0.1, options: {degree: 0, %s}}\n",
             options[i]);
    saltus_scene* scene = scene_open_text(text);
    saltus_kept_message kept;
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    def.log = saltus_log_keep(&kept);
    saltus_run* run = NULL;
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_ERR_UNSUPPORTED);
    assert_says(kept, "degree 0 has one impulse");
    saltus_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_estimate_of_degree_m_has_order_m_plus_one),
      cmocka_unit_test(errors_follow_the_tolerance_through_impacts),
      cmocka_unit_test(degrees_follow_a_tolerance),
      cmocka_unit_test(elements_with_impacts_have_degree_one),
      cmocka_unit_test(impulses_at_the_start_leave_the_law_open_at_the_end),
      cmocka_unit_test(impulses_at_the_start_have_order_one),
      cmocka_unit_test(degree_zero_has_neither),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
