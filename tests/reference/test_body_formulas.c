/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body_formulas.c - the same mechanism as bodies with joints and in generalized coordinates: pendulum,
 * double pendulum and slider-crank. The equations have nothing in common but the mechanics.
 */
#include "saltus_test.h"

#include <stdio.h>

#define G "9.81"

typedef struct pair {
  const char* name;
  const char* formulas;
  const char* bodies;
  int angle[2]; /* coordinates of the bodies that are the coordinates by formula; -1: no more */
} pair;

static const pair pairs[] = {
    {"pendulum",
     "saltus: 1\n"
     "coordinates: {a: 0.3}\n"
     "kinetic: a'^2/6*2\n"
     "potential: 2*" G "/2*sin(a)\n"
     "simulate: {until: 1}\n",
     "saltus: 1\n"
     "bodies: {rod: {mass: 2, inertia: 1/6, position: [cos(0.3)/2, sin(0.3)/2], angle: 0.3}}\n"
     "markers: {top: {body: rod, point: [-0.5, 0]}, pin: {point: [0, 0]}}\n"
     "joints: [{name: hinge, type: revolute, between: [pin, top]}]\n"
     "simulate: {until: 1}\n",
     {2, -1}},
    {"double pendulum",
     "saltus: 1\n"
     "coordinates: {a: -0.5, b: 0.4}\n"
     "kinetic: a'^2/6 + 2/2*(a'^2 + 0.64/4*b'^2 + 0.8*a'*b'*cos(a - b)) + 2*0.64/24*b'^2\n"
     "potential: " G "*(sin(a)/2 + 2*(sin(a) + 0.4*sin(b)))\n"
     "simulate: {until: 1}\n",
     "saltus: 1\n"
     "parameters: {a: -0.5, b: 0.4}\n"
     "bodies:\n"
     "  one: {mass: 1, inertia: 1/12, position: [cos(a)/2, sin(a)/2], angle: a}\n"
     "  two: {mass: 2, inertia: 2*0.64/12, angle: b,\n"
     "        position: [cos(a) + 0.4*cos(b), sin(a) + 0.4*sin(b)]}\n"
     "markers:\n"
     "  pin: {point: [0, 0]}\n"
     "  one_start: {body: one, point: [-0.5, 0]}\n"
     "  one_end: {marker: one_start, point: [1, 0]}\n"
     "  two_start: {body: two, point: [-0.4, 0]}\n"
     "joints:\n"
     "  - {name: upper, type: revolute, between: [pin, one_start]}\n"
     "  - {name: lower, type: revolute, between: [one_end, two_start]}\n"
     "simulate: {until: 1}\n",
     {2, 5}},
    /* the lean of the rod, asin(r sin(a)/l), has the rate d a' with d = r cos(a)/sqrt(l^2 - r^2 sin(a)^2) */
    {"slider-crank",
     "saltus: 1\n"
     "parameters: {r: 1, l: 2}\n"
     "coordinates: {a: 0.8}\n"
     "kinetic: >-\n"
     "  a'^2/2*(r^2/3 + 2*((r*sin(a)*(1 + r*cos(a)/sqrt(l^2 - r^2*sin(a)^2)/2))^2 + "
     "(r*cos(a)/2)^2)\n"
     "  + 2*l^2/12*(r*cos(a))^2/(l^2 - r^2*sin(a)^2)\n"
     "  + (r*sin(a)*(1 + r*cos(a)/sqrt(l^2 - r^2*sin(a)^2)))^2)\n"
     "potential: " G "*(r/2*sin(a) + 2*r*sin(a)/2)\n"
     "simulate: {until: 1}\n",
     "saltus: 1\n"
     "parameters: {r: 1, l: 2, start: 0.8, lean: asin(r*sin(start)/l)}\n"
     "bodies:\n"
     "  crank: {mass: 1, inertia: r^2/12, position: [r/2*cos(start), r/2*sin(start)], angle: "
     "start}\n"
     "  rod: {mass: 2, inertia: 2*l^2/12, angle: -lean,\n"
     "        position: [r*cos(start) + l/2*cos(lean), l/2*sin(lean)]}\n"
     "  slider: {mass: 1, inertia: 0.1, position: [r*cos(start) + l*cos(lean), 0]}\n"
     "markers:\n"
     "  ground: {point: [0, 0]}\n"
     "  crank_start: {body: crank, point: [-r/2, 0]}\n"
     "  crank_end: {body: crank, point: [r/2, 0]}\n"
     "  rod_start: {body: rod, point: [-l/2, 0]}\n"
     "  rod_end: {body: rod, point: [l/2, 0]}\n"
     "  pivot: {body: slider}\n"
     "joints:\n"
     "  - {name: main, type: revolute, between: [ground, crank_start]}\n"
     "  - {name: pin, type: revolute, between: [crank_end, rod_start]}\n"
     "  - {name: wrist, type: revolute, between: [rod_end, pivot]}\n"
     "  - {name: guide, type: prismatic, between: [ground, pivot]}\n"
     "simulate: {until: 1}\n",
     {2, -1}},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static saltus_scene* open_text(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return scene;
}

/* Angles and their rates at 1 s, into x; false: the scheme does not take it. One of step and tol is NaN. */
static bool end_of(const saltus_scene* scene, const pair* p, const saltus_scheme_info* scheme,
                   const double step_tol[2], double x[4]) {
  saltus_run_def def = saltus_run_def_default();
  saltus_kept_message kept;
  saltus_run* run;
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  def.scene = view;
  def.scheme = scheme->name;
  def.step = step_tol[0];
  def.tol = step_tol[1];
  def.log = saltus_log_keep(&kept);
  if (saltus_run_create(&def, &run) != SALTUS_OK) {
    return false;
  }
  if (saltus_run_execute(run) != SALTUS_OK) {
    fail_msg("%s by %s: %s", p->name, scheme->name, kept.text);
  }
  const saltus_run_result* result = saltus_run_outcome(run);
  const bool bodies = view->mechanism != NULL;
  for (int k = 0; k < 2; k++) {
    const int i = bodies ? p->angle[k] : k < view->system->dims.nq ? k : -1;
    x[2 * k] = i < 0 ? 0.0 : result->q[i];
    x[2 * k + 1] = i < 0 ? 0.0 : result->v[i];
  }
  saltus_run_destroy(run);
  return true;
}

static double apart(const double a[4], const double b[4]) {
  double most = 0.0;
  for (int k = 0; k < 4; k++) {
    most = fmax(most, fabs(a[k] - b[k]));
  }
  return most;
}

static void to_a_tolerance_both_are_one_motion(void** state) {
  (void)state;
  const double tolerances[] = {1e-6, 1e-9};
  for (int i = 0; i < PAIRS; i++) {
    saltus_scene* formulas = open_text(pairs[i].formulas);
    saltus_scene* bodies = open_text(pairs[i].bodies);
    for (int s = 0; s < saltus_scheme_count(); s++) {
      const saltus_scheme_info* scheme = saltus_scheme_at(s);
      for (int k = 0; scheme->chooses_step && k < 2; k++) {
        double x[4], y[4];
        const double how[2] = {NAN, tolerances[k]};
        if (!end_of(formulas, &pairs[i], scheme, how, x) ||
            !end_of(bodies, &pairs[i], scheme, how, y)) {
          continue;
        }
        if (!(apart(x, y) <= 10.0 * tolerances[k])) {
          fail_msg("%s by %s at %g: apart by %.2e", pairs[i].name, scheme->name, tolerances[k],
                   apart(x, y));
        }
      }
    }
    saltus_scene_destroy(formulas);
    saltus_scene_destroy(bodies);
  }
}

/* Schemes with fixed steps: what bodies and formulas give both goes to the motion of adaptive at 1e-11, so that a
 * wrong term in one of them would show as an error that stays. Steps of 1/200 and 1/400 s. */
static void with_fixed_steps_both_go_to_one_motion(void** state) {
  (void)state;
  int taken = 0;
  for (int i = 0; i < PAIRS; i++) {
    saltus_scene* scene[2] = {open_text(pairs[i].formulas), open_text(pairs[i].bodies)};
    double exact[4];
    const double fine[2] = {NAN, 1e-11};
    assert_true(end_of(scene[0], &pairs[i], saltus_scheme_find("adaptive"), fine, exact));
    for (int s = 0; s < saltus_scheme_count(); s++) {
      const saltus_scheme_info* scheme = saltus_scheme_at(s);
      double error[2][2];
      bool both = !scheme->chooses_step;
      for (int b = 0; b < 2 && both; b++) {
        for (int k = 0; k < 2 && both; k++) {
          double x[4];
          const double how[2] = {0.005 / (k + 1.0), NAN};
          both = end_of(scene[b], &pairs[i], scheme, how, x);
          error[b][k] = both ? apart(x, exact) : NAN;
        }
      }
      for (int b = 0; b < 2 && both; b++) {
        /* order 1 halves it; 0.7 leaves room for steps that are not small yet */
        if (!(error[b][0] < 1.0 && (error[b][1] < 0.7 * error[b][0] || error[b][1] < 1e-8))) {
          fail_msg("%s by %s as %s: errors %.2e, %.2e", pairs[i].name, scheme->name,
                   b == 0 ? "formulas" : "bodies", error[b][0], error[b][1]);
        }
      }
      taken += both ? 1 : 0;
    }
    saltus_scene_destroy(scene[0]);
    saltus_scene_destroy(scene[1]);
  }
  assert_true(taken >= 3 * 15); /* most schemes take both */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(to_a_tolerance_both_are_one_motion),
      cmocka_unit_test(with_fixed_steps_both_go_to_one_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
