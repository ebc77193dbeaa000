/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_beams.c - beams of scenes: masses and inertias of the whole against closed forms, energies of imposed shapes, the plane
 * against space, convergence of a cantilever with 1/n^2, shapes, and what is refused.
 */
#include "saltus_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static saltus_scene* open_text(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return scene;
}

static saltus_run_result* run_text(const char* text, double tol, saltus_run** run,
                                   saltus_scene** scene) {
  *scene = open_text(text);
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(*scene);
  def.tol = tol > 0.0 ? tol : def.tol;
  assert_int_equal(saltus_run_create(&def, run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(*run), SALTUS_OK);
  return (saltus_run_result*)(uintptr_t)saltus_run_outcome(*run);
}

/* The kinetic energy of a rigid rotation and translation is that of a solid bar: exact for any number of links. */
static void a_rigid_motion_has_the_energy_of_a_solid_bar(void** state) {
  (void)state;
  static const char* const kinds[] = {"links", "nodes"};
  const double L = 2.0, r = 0.1, rho = 800.0, pi = 3.14159265358979323846;
  const double m = rho * pi * r * r * L, I = rho * pi * r * r * r * r / 4 * L;
  for (int k = 0; k < 2; k++) {
    char text[600];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3}\nbeams:\n  bar: {points: [[0, 0, 0], [2, 0, 0]], "
             "section: {circle: 0.1}, material: {E: 1e9, density: 800}, elements: 7, kind: %s, "
             "velocity: [0, 1, 0], angular_velocity: [3, 0, 2]}\nsimulate: {until: 1}\n",
             kinds[k]);
    saltus_scene* scene = open_text(text);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_point at = {.q = view->q0, .v = view->v0};
    const double T = view->system->ops->kinetic(view->system->self, &at);
    const double v = 1.0 + 2.0 * L / 2; /* of the centre */
    const double exact = m * v * v / 2 + 4.0 / 2 * (m * L * L / 12 + I) + 9.0 / 2 * 2 * I;
    assert_near(T, exact, 1e-12 * exact);
    saltus_scene_destroy(scene);
  }
}

/* A ring bent from a straight beam: n EI/l (2 pi/n)^2/2; one of its own shape has none. The joint that closes it is one of them. */
static void shapes_have_their_strain_energy(void** state) {
  (void)state;
  static const char ring[] = "saltus: 1\nworld: {gravity: [0, 0]}\nbeams:\n  ring: {curve: "
                             "[cos(2*pi*s), sin(2*pi*s)], closed: true, "
                             "straight: %s, section: {A: 1e-4, I: 1e-8}, material: {E: 1e9, "
                             "density: 1e3}, elements: 24, contact: {at: "
                             "none}}\nsimulate: {until: 1}\n";
  for (int straight = 0; straight < 2; straight++) {
    char text[500];
    snprintf(text, sizeof text, ring, straight ? "true" : "false");
    saltus_scene* scene = open_text(text);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_point at = {.q = view->q0, .v = view->v0};
    const double V = view->system->ops->potential(view->system->self, &at);
    const double pi = 3.14159265358979323846, l = 2 * sin(pi / 24), angle = 2 * pi / 24;
    assert_near(V, straight ? 24 * 10.0 / l / 2 * angle * angle : 0.0, 1e-9);
    saltus_scene_destroy(scene);
  }
}

/* Tip of a cantilever that starts in its first mode, in the plane and in space (bending in the xz plane):
 * phi = cosh(bs) - cos(bs) - c (sinh(bs) - sin(bs)), phi(1) = 2. */
static double tip_after(int dimension, int n, const char* kind, double until) {
  char text[1200];
  snprintf(
      text, sizeof text,
      "saltus: 1\nparameters: {b: 1.875104068711961, c: 0.7340955137589128}\nworld: {dimension: "
      "%d, gravity: [0, 0%s]}\nmarkers: {wall: {}}\nbeams:\n  b: "
      "{between: [wall, wall], "
      "ends: [clamped, free], points: [[0, 0%s], [1, 0%s]], start: [s, %s0.0025*(cosh(b*s) - "
      "cos(b*s) - c*(sinh(b*s) - sin(b*s)))], %s"
      "section: {rectangle: [0.02, 0.03]}, material: {E: 2.1e11, density: 7850}, elements: %d, "
      "kind: %s, "
      "contact: {at: none}}\noutputs: {tip: b_end.%s}\nsimulate: {until: %g}\n",
      dimension, dimension == 3 ? ", 0" : "", dimension == 3 ? ", 0" : "",
      dimension == 3 ? ", 0" : "", dimension == 3 ? "0, " : "",
      dimension == 3 ? "normal: [0, 1, 0], " : "", n, kind, dimension == 3 ? "z" : "y", until);
  saltus_run* run;
  saltus_scene* scene;
  const saltus_run_result* out = run_text(text, 1e-9, &run, &scene);
  const double tip = out->outputs[0];
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return tip;
}

static void space_agrees_with_the_plane(void** state) {
  (void)state;
  const double plane = tip_after(2, 6, "links", 0.006), space = tip_after(3, 6, "links", 0.006);
  /* k sin(angle) in place of k angle: angles of joints are 4e-3 here, so forces differ by 3e-6 */
  assert_near(space, plane, 1e-5 * 0.005);
}

/* 5 mm cos(w t), w = b^2 sqrt(EI/(rho A))/L^2; rotary inertia lowers w by 2e-4, 2e-6 m; terms in 1/n^4 are of that order too. */
static void a_cantilever_converges_with_the_square(void** state) {
  (void)state;
  static const char* const kinds[] = {"links", "nodes"};
  const double b = 1.875104068711961, t = 0.012, w = b * b * sqrt(2.1e11 * 0.03 * 0.03 / 12 / 7850);
  for (int k = 0; k < 2; k++) {
    double x[3];
    for (int i = 0; i < 3; i++) {
      x[i] = tip_after(2, 4 << i, kinds[k], t);
    }
    const double order = log2((x[0] - x[1]) / (x[1] - x[2]));
    assert_true(order > 1.7 && order < 2.4);
    assert_near(x[2] + (x[2] - x[1]) / 3, 0.005 * cos(w * t), 1e-5);
  }
}

static void what_is_wrong_is_refused(void** state) {
  (void)state;
  static const struct {
    const char *beam, *says;
  } cases[] = {
      {"{points: [[0, 0], [1, 0]], material: {E: 1, density: 1}, elements: 2}", "has no section"},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1}, elements: 2}", "has no material"},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1}, material: {E: 1, density: 1}}",
       "has no elements"},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1}, material: {E: 1, density: 1}, elements: "
       "2.5}",
       "must be a whole number from 1 to"},
      {"{points: [[0, 0], [0, 0]], section: {circle: 1}, material: {E: 1, density: 1}, elements: "
       "2}",
       "has length 0"},
      {"{section: {circle: 1}, material: {E: 1, density: 1}, elements: 2}", "has no shape"},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1, A: 2}, material: {E: 1, density: 1}, "
       "elements: 2}",
       "has to be one of"},
      {"{points: [[0, 0], [1, 0]], section: {tube: [1, 2]}, material: {E: 1, density: 1}, "
       "elements: 2}",
       "sizes of the section"},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1}, material: {E: -1, density: 1}, elements: "
       "2}",
       "E is -1, must be positive"},
      {"{points: [[0, 0], [1, 0]], ends: [clamped, free], section: {circle: 1}, material: {E: 1, "
       "density: "
       "1}, elements: 2}",
       "give the markers"},
      {"{between: [a, nowhere], section: {circle: 1}, material: {E: 1, density: 1}, elements: 2}",
       "no marker \"nowhere\""},
      {"{curve: [t, 0], section: {circle: 1}, material: {E: 1, density: 1}, elements: 2}",
       "formula of s"},
      {"{curve: [s, 0], closed: true, kind: nodes, section: {circle: 1}, material: {E: 1, density: "
       "1}, "
       "elements: 2}",
       "is closed"},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1}, material: {E: 1, density: 1}, elements: "
       "2, kind: "
       "modes}",
       "kind is \"modes\""},
      {"{points: [[0, 0], [1, 0]], section: {circle: 1}, material: {E: 1, density: 1}, elements: "
       "2, damping: "
       "-1}",
       "damping is -1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[800];
    snprintf(text, sizeof text,
             "saltus: 1\nmarkers: {a: {}}\nbeams:\n  b: %s\nsimulate: {until: 1}\n", cases[i].beam);
    saltus_kept_message kept;
    saltus_scene* scene;
    const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_ERR_INPUT);
    if (strstr(kept.text, cases[i].says) == NULL) {
      fail_msg("case %zu: \"%s\" does not say \"%s\"", i, kept.text, cases[i].says);
    }
    assert_int_equal(strncmp(kept.text, "s:", 2), 0);
  }
}

/* 500 m from the origin the rounding of EA/l times positions exceeds the tolerance of Newton's method: corrections of the
 * size of rounding end the iteration (33 iterations a step before they did). */
static void corrections_of_the_size_of_rounding_end_the_iteration(void** state) {
  (void)state;
  saltus_scene* scene;
  saltus_run* run;
  const saltus_run_result* out = run_text(
      "saltus: 1\nworld: {gravity: [0, 0]}\nbeams:\n  bar: {points: [[0, 500], [0, 510]], section: "
      "{A: 1, I: 100}, material: {E: 900, density: 1}, elements: 100, kind: nodes, stretch: true, "
      "velocity: [0, -10]}\nsimulate: {until: 0.1, scheme: moreau-jean, step: 1e-3}\n",
      0.0, &run, &scene);
  assert_in_range(out->work.newton_iterations, 100, 400);
  assert_near(out->ledger.remainder, 0.0, 1e-6); /* of 5000 J */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_motion_has_the_energy_of_a_solid_bar),
      cmocka_unit_test(shapes_have_their_strain_energy),
      cmocka_unit_test(space_agrees_with_the_plane),
      cmocka_unit_test(a_cantilever_converges_with_the_square),
      cmocka_unit_test(what_is_wrong_is_refused),
      cmocka_unit_test(corrections_of_the_size_of_rounding_end_the_iteration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
