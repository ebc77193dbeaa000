/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Scenes on which a run to a tolerance once ended with an error (tests/scenes/failing): final states at tolerances 1e-4
 * to 1e-10 against those of a scheme with fixed steps, whose event location and integration are others.
 */
#include "scene_runs.h"

#include <stdio.h>

static void read_scene(const char* name, char text[8192]) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_FAILING, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  const size_t size = fread(text, 1, 8191, file);
  assert_true(size > 0 && size < 8191);
  text[size] = '\0';
  fclose(file);
}

typedef struct scene_case {
  const char* name;
  double until;
  const char* scheme; /* of the reference */
  double step;
  double bound; /* error of the reference, or of 10 tolerances and the amplification of impacts */
  double amplification;
} scene_case;

/* All tolerances; prints every error before it fails. */
static void compare(const scene_case* c) {
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  char text[8192];
  read_scene(c->name, text);
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_look(scene);
  const int nq = view->system->dims.nq;
  const scene_outcome reference = scene_run(view, c->scheme, c->step, c->until);
  int wrong = 0;
  for (int k = 0; k < 4; k++) {
    const scene_outcome out = scene_try(view, "adaptive", tolerances[k], c->until);
    const double apart = scene_apart(&out, &reference, nq);
    const double bound = fmax(c->bound, 10.0 * c->amplification * tolerances[k]);
    if (out.status != SALTUS_OK || !(apart <= bound)) {
      print_error("%s, tol %g: %s, error %g of %g\n", c->name, tolerances[k], out.text, apart,
                  bound);
      wrong++;
    }
  }
  saltus_scene_destroy(scene);
  assert_int_equal(wrong, 0);
}

/* Polygons a millimetre apart, points of one behind edges of the other. */
static void thin_polygons_in_free_flight(void** unused) {
  (void)unused;
  static const scene_case all[] = {{"two-polygons", 2.0, "rk4", 1e-3, 1e-7, 100.0},
                                   {"two-convex-polygons", 2.0, "rk4", 1e-3, 1e-7, 10.0},
                                   {"three-polygons", 0.97, "rk4", 1e-3, 1e-7, 100.0}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    compare(&all[k]);
  }
}

/* More pairs of features than a list holds can come to touch within a long step. */
static void rounded_box_and_hull(void** unused) {
  (void)unused;
  compare(&(scene_case){"rounded-box-and-hull", 2.2, "rk4", 1e-3, 1e-7, 100.0});
}

/* A ball that slides without friction over the border of a heightfield leaves it at cos a = (v^2/(g r) + 2)/3 with the
 * velocity sqrt(g r cos a), and falls freely beside it. */
static void ball_off_a_heightfield(void** unused) {
  (void)unused;
  const double g = 9.81, r = 0.2, v = 1.0;
  const double c = (v * v / (g * r) + 2.0) / 3.0, s = sqrt(1.0 - c * c);
  const double u = sqrt(g * r * c);
  char text[8192];
  read_scene("ball-off-heightfield", text);
  for (int k = 4; k <= 10; k += 2) {
    const double tol = pow(10.0, -k);
    const scene_outcome out = scene_run_text(text, "adaptive", tol, 1.0);
    assert_near(out.v[0], u * c, 1000.0 * tol);
    /* energy, and horizontal motion since the border was left */
    assert_near(0.5 * (out.v[0] * out.v[0] + out.v[2] * out.v[2]) + g * out.q[2],
                0.5 * v * v + g * r, 1000.0 * tol);
    const double fall = (-u * s - out.v[2]) / g;
    assert_near(out.q[2], r * c - u * s * fall - 0.5 * g * fall * fall, 1000.0 * tol);
    assert_near(out.q[0], 2.0 + r * s + u * c * fall, 1000.0 * tol);
  }
  compare(&(scene_case){"ball-off-heightfield", 1.0, "rk4", 1e-3, 1e-7, 10.0});
}

/* Its edges touch the border after its corner has touched the face. */
static void rounded_box_off_an_open_mesh(void** unused) {
  (void)unused;
  compare(&(scene_case){"rounded-box-off-mesh", 0.9, "rk4", 1e-3, 1e-6, 10.0});
}

/* The end of a capsule hands over to its side while it slides. */
static void capsules_on_curved_bodies(void** unused) {
  (void)unused;
  compare(&(scene_case){"capsule-on-ellipsoid", 0.5, "rk4", 5e-4, 1e-6, 10.0});
  compare(&(scene_case){"capsule-on-capsule", 0.7, "rk4", 2e-4, 1e-5, 100.0});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_polygons_in_free_flight),
      cmocka_unit_test(rounded_box_and_hull),
      cmocka_unit_test(ball_off_a_heightfield),
      cmocka_unit_test(rounded_box_off_an_open_mesh),
      cmocka_unit_test(capsules_on_curved_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
