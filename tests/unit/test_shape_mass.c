/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What shapes weigh: closed forms, quadrature, and the same body described in two ways.
 */
#include "saltus_test.h"

#include "base/pool.h"
#include "math/rotation.h"
#include "shape/mass/mass.h"

#include <stdio.h>

static const double PI = 3.14159265358979323846;

static saltus_shape_mass weigh(const saltus_shape_def* def, int dimension) {
  saltus_kept_message message = {.text = ""};
  saltus_shape_mass mass = {.volume = NAN};
  if (saltus_shape_mass_properties(def, dimension, saltus_log_keep(&message), &mass) != SALTUS_OK) {
    fail_msg("%s", message.text);
  }
  return mass;
}

static void polygons(void** state) {
  (void)state;
  double L[6][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {0, 2}};
  saltus_shape_def def = {
      .name = "L", .kind = SALTUS_SHAPE_POLYGON, .points = L[0], .point_count = 6};
  saltus_shape_mass mass = weigh(&def, 2);
  assert_near(mass.volume, 4.0, 0.0);
  assert_near(mass.centre[0], 1.25, 1e-15);
  assert_near(mass.centre[1], 0.75, 1e-15);
  assert_near(mass.inertia[0], 25.0 / 6.0, 1e-15);
  for (int k = 0; k < 6; k++) { /* far away: the same bits of J, since these points are exact */
    L[k][0] += 1048576.0;
    L[k][1] += 1048576.0;
  }
  const saltus_shape_mass far = weigh(&def, 2);
  assert_true(far.inertia[0] == mass.inertia[0]);
  double pentagon[5][2];
  for (int k = 0; k < 5; k++) {
    pentagon[k][0] = cos(2.0 * PI * k / 5.0);
    pentagon[k][1] = sin(2.0 * PI * k / 5.0);
  }
  def = (saltus_shape_def){
      .name = "pentagon", .kind = SALTUS_SHAPE_POLYGON, .points = pentagon[0], .point_count = 5};
  mass = weigh(&def, 2);
  assert_near(mass.inertia[0] / mass.volume, 0.384836165729158, 2e-15);
  const double s = sin(PI / 5.0);
  assert_near(mass.inertia[0] / mass.volume, 0.5 * (1.0 - 2.0 / 3.0 * s * s), 2e-15);
}

static void rounded_polygons_and_bars(void** state) {
  (void)state;
  double square[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  saltus_shape_def def = {.name = "rounded",
                          .kind = SALTUS_SHAPE_POLYGON,
                          .points = square[0],
                          .point_count = 4,
                          .radius = 0.25};
  saltus_shape_mass mass = weigh(&def, 2);
  assert_near(mass.volume, 2.19634954084936, 5e-15);
  assert_near(mass.inertia[0], 0.791810693576223, 5e-15);
  assert_near(mass.centre[0], 0.5, 1e-15);
  /* a capsule along x, a bar between two points, and a disc where the length is 0 */
  def = (saltus_shape_def){
      .name = "capsule", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.25, .length = 1.5};
  mass = weigh(&def, 2);
  double ends[4] = {-0.75, 0.0, 0.75, 0.0};
  def = (saltus_shape_def){.name = "bar",
                           .kind = SALTUS_SHAPE_SEGMENT,
                           .radius = 0.25,
                           .points = ends,
                           .point_count = 2};
  const saltus_shape_mass bar = weigh(&def, 2);
  assert_near(bar.volume, mass.volume, 1e-15);
  assert_near(bar.inertia[0], mass.inertia[0], 1e-15);
  /* the thin rectangle 1.5 x 1e-9 rounded by 0.25 is the capsule */
  double thin[4][2] = {{-0.75, 0}, {0.75, 0}, {0.75, 1e-9}, {-0.75, 1e-9}};
  def = (saltus_shape_def){.name = "thin",
                           .kind = SALTUS_SHAPE_POLYGON,
                           .points = thin[0],
                           .point_count = 4,
                           .radius = 0.25};
  const saltus_shape_mass limit = weigh(&def, 2);
  assert_near(limit.volume, mass.volume, 1e-8);
  assert_near(limit.inertia[0], mass.inertia[0], 1e-8);
}

/* Volume, inertia about z and x of a solid about z. */
static void assert_round(saltus_shape_def def, double centre, double V, double Iz, double Ix) {
  def.name = "round";
  saltus_shape_mass mass = weigh(&def, 3);
  assert_near(mass.volume, V, 1e-14 * V);
  assert_near(mass.centre[2], centre, 1e-15);
  assert_near(mass.inertia[0], Ix, 3e-14 * Ix);
  assert_near(mass.inertia[1], Ix, 3e-14 * Ix);
  assert_near(mass.inertia[2], Iz, 3e-14 * Iz);
  assert_near(mass.inertia[3], 0.0, 0.0);
  /* placed elsewhere: axis along x, centre moved */
  def.position[0] = 2.0;
  def.orientation =
      (saltus_orientation){.kind = SALTUS_ORIENTATION_AXIS, .value = {0.0, 1.0, 0.0, 0.5 * PI}};
  mass = weigh(&def, 3);
  assert_near(mass.centre[0], 2.0 + centre, 1e-14);
  assert_near(mass.inertia[0], Iz, 3e-14 * Iz);
  assert_near(mass.inertia[2], Ix, 3e-14 * Ix);
}

static void solids_of_revolution(void** state) {
  (void)state;
  assert_round((saltus_shape_def){.kind = SALTUS_SHAPE_SPHERE, .radius = 0.7}, 0.0,
               1.43675504024173, 0.281603987887379, 0.281603987887379);
  assert_round((saltus_shape_def){.kind = SALTUS_SHAPE_CYLINDER, .radius = 0.5, .length = 2.0}, 0.0,
               0.5 * PI, 0.196349540849362, 0.62177354602298);
  assert_round((saltus_shape_def){.kind = SALTUS_SHAPE_CONE, .radius = 0.5, .length = 2.0}, 0.5,
               0.523598775598299, 0.0392699081698724, 0.098174770424681);
  assert_round((saltus_shape_def){.kind = SALTUS_SHAPE_CAPSULE, .radius = 0.5, .length = 2.0}, 0.0,
               2.0943951023932, 0.248709418409192, 1.39408174003047);
  assert_round((saltus_shape_def){.kind = SALTUS_SHAPE_TORUS, .size = {1.0}, .radius = 0.3}, 0.0,
               1.77652879219608, 1.89644448566932, 0.988194140659072);
  const saltus_shape_def ball = {
      .name = "e", .kind = SALTUS_SHAPE_ELLIPSOID, .size = {0.3, 0.4, 0.5}};
  const saltus_shape_mass mass = weigh(&ball, 3);
  assert_near(mass.volume, 4.0 / 3.0 * PI * 0.06, 1e-15);
  assert_near(mass.inertia[0], mass.volume * 0.41 / 5.0, 1e-15);
}

static void boxes_and_hulls(void** state) {
  (void)state;
  saltus_shape_def def = {.name = "box",
                          .kind = SALTUS_SHAPE_BOX,
                          .size = {1.0, 0.8, 0.6},
                          .position = {0.5, 0.4, 0.3}};
  saltus_shape_mass mass = weigh(&def, 3);
  assert_near(mass.volume, 0.48, 1e-15);
  assert_near(mass.centre[0], 0.5, 1e-15);
  assert_near(mass.inertia[0], 0.48 * (0.64 + 0.36) / 12.0, 1e-16);
  assert_near(mass.inertia[3], 0.0, 1e-17);
  if (!saltus_has("qhull")) {
    return;
  }
  double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  def = (saltus_shape_def){
      .name = "tetrahedron", .kind = SALTUS_SHAPE_HULL, .points = corner[0], .point_count = 4};
  mass = weigh(&def, 3);
  assert_near(mass.volume, 1.0 / 6.0, 1e-16);
  assert_near(mass.centre[1], 0.25, 1e-16);
  assert_near(mass.inertia[0], 1.0 / 80.0, 1e-16);
  assert_near(mass.inertia[3], 1.0 / 480.0, 1e-16);
}

/* Steiner's formula V + S r + sum of L (pi - angle)/2 r^2 + 4/3 pi r^3, and octants, edges and slabs by hand. */
static void a_rounded_box_is_slabs_quarters_and_octants(void** state) {
  (void)state;
  const double a = 1.0, b = 0.8, c = 0.6, r = 0.2;
  const saltus_shape_def def = {
      .name = "box", .kind = SALTUS_SHAPE_BOX, .size = {a, b, c}, .radius = r};
  const saltus_shape_mass mass = weigh(&def, 3);
  const double V = a * b * c + 2.0 * (a * b + b * c + a * c) * r + PI * r * r * (a + b + c) +
                   4.0 / 3.0 * PI * r * r * r;
  assert_near(mass.volume, V, 1e-15);
  for (int k = 0; k < 3; k++) {
    assert_near(mass.centre[k], 0.0, 1e-15);
    assert_near(mass.inertia[3 + k], 0.0, 1e-15);
  }
  /* integral of z^2, by hand: pieces by which of |x|, |y|, |z| is beyond its half */
  const double h = 0.5 * c, q = PI * r * r;
  const double inside = c * c * c / 12.0;
  /* above and below by t: (h + t)^2 over areas of the cross-section at height t: a b, strips a and b, discs */
  const double s1 = r, s2 = 0.5 * r * r, s3 = r * r * r / 3.0; /* of 1, t, t^2 over 0..r */
  const double flat = 2.0 * a * b * (h * h * s1 + 2.0 * h * s2 + s3);
  /* strips of width rho(t) = sqrt(r^2 - t^2): integrals of rho, rho t, rho t^2 */
  const double strips = 2.0 * 2.0 * (a + b) *
                        (h * h * q / 4.0 + 2.0 * h * r * r * r / 3.0 + PI * r * r * r * r / 16.0);
  /* discs of area pi rho^2 */
  const double discs =
      2.0 * PI *
      (h * h * 2.0 / 3.0 * r * r * r + 2.0 * h * r * r * r * r / 4.0 + 2.0 / 15.0 * pow(r, 5.0));
  const double sides = inside * (2.0 * (a + b) * r + q);
  const double zz = inside * a * b + sides + flat + strips + discs;
  /* the trace of S from the three inertias: S_zz = (I_x + I_y - I_z)/2 */
  assert_near(0.5 * (mass.inertia[0] + mass.inertia[1] - mass.inertia[2]), zz, 1e-15);
}

/* Points of a random hull rounded by r, counted in a fine grid: a rough but independent answer; and Steiner's formula
 * for a tetrahedron. */
static void a_rounded_tetrahedron(void** state) {
  (void)state;
  if (!saltus_has("qhull")) {
    return;
  }
  double corner[4][3] = {{0.1, 0, 0}, {1, 0.2, 0}, {0, 1, 0.3}, {0.2, 0.1, 1}};
  const double r = 0.3;
  const saltus_shape_def def = {.name = "tetrahedron",
                                .kind = SALTUS_SHAPE_HULL,
                                .points = corner[0],
                                .point_count = 4,
                                .radius = r};
  const saltus_shape_mass mass = weigh(&def, 3);
  /* slices: distance from a point to the tetrahedron by its faces, edges and vertices, midpoint rule */
  enum { N = 90 };
  const double low = -0.35, step = 1.75 / N;
  double V = 0.0, first[3] = {0.0, 0.0, 0.0}, second[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  static const int face[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
  for (int i = 0; i < N * N * N; i++) {
    const double x[3] = {low + (i % N + 0.5) * step, low + (i / N % N + 0.5) * step,
                         low + (i / N / N + 0.5) * step};
    double distance = INFINITY;
    bool in = true;
    for (int f = 0; f < 4; f++) {
      const double* p = corner[face[f][0]];
      double u[3], w[3], n[3], d[3], q[3];
      saltusi_minus3(corner[face[f][1]], p, u);
      saltusi_minus3(corner[face[f][2]], p, w);
      saltusi_cross(u, w, n);
      saltusi_minus3(corner[6 - face[f][0] - face[f][1] - face[f][2]], p, q);
      const double side = saltusi_dot3(n, q) > 0.0 ? -1.0 : 1.0;
      saltusi_minus3(x, p, d);
      const double up = side * saltusi_dot3(n, d);
      in = in && up <= 0.0;
      /* barycentric */
      const double uu = saltusi_dot3(u, u), uw = saltusi_dot3(u, w), ww = saltusi_dot3(w, w);
      const double du = saltusi_dot3(d, u), dw = saltusi_dot3(d, w), det = uu * ww - uw * uw;
      const double s = (ww * du - uw * dw) / det, t = (uu * dw - uw * du) / det;
      if (s >= 0.0 && t >= 0.0 && s + t <= 1.0) {
        distance = fmin(distance, fabs(up) / sqrt(saltusi_dot3(n, n)));
      }
      for (int k = 0; k < 3; k++) {
        const double* e0 = corner[face[f][k]];
        double edge[3], from[3], rest[3];
        saltusi_minus3(corner[face[f][(k + 1) % 3]], e0, edge);
        saltusi_minus3(x, e0, from);
        const double at = fmin(1.0, fmax(0.0, saltusi_dot3(from, edge) / saltusi_dot3(edge, edge)));
        saltusi_along(-at, edge, from, rest);
        distance = fmin(distance, sqrt(saltusi_dot3(rest, rest)));
      }
    }
    if (in || distance <= r) {
      V += 1.0;
      for (int k = 0; k < 3; k++) {
        first[k] += x[k];
        second[k] += x[k] * x[k];
        second[3 + k] += x[k == 2 ? 1 : 0] * x[k == 0 ? 1 : 2];
      }
    }
  }
  const double cell = step * step * step;
  assert_near(mass.volume, V * cell, 2e-3);
  double c[3];
  for (int k = 0; k < 3; k++) {
    c[k] = first[k] / V;
    assert_near(mass.centre[k], c[k], 1e-3);
  }
  const double xx = cell * (second[0] - V * c[0] * c[0]), yy = cell * (second[1] - V * c[1] * c[1]);
  assert_near(mass.inertia[2], xx + yy, 1e-3);
  assert_near(mass.inertia[3], -cell * (second[3] - V * c[0] * c[1]), 1e-3);
  assert_near(mass.inertia[4], -cell * (second[4] - V * c[0] * c[2]), 1e-3);
  assert_near(mass.inertia[5], -cell * (second[5] - V * c[1] * c[2]), 1e-3);
}

static void parts_are_combined_by_parallel_axes(void** state) {
  (void)state;
  const saltus_shape_mass part[3] = {
      weigh(
          &(saltus_shape_def){
              .name = "rod", .kind = SALTUS_SHAPE_CYLINDER, .radius = 0.1, .length = 1.0},
          3),
      weigh(
          &(saltus_shape_def){
              .name = "ball", .kind = SALTUS_SHAPE_SPHERE, .radius = 0.25, .position = {0, 0, 0.5}},
          3),
      weigh(&(saltus_shape_def){.name = "ball",
                                .kind = SALTUS_SHAPE_SPHERE,
                                .radius = 0.25,
                                .position = {0, 0, -0.5}},
            3)};
  saltus_shape_mass whole;
  saltusi_mass_combine(part, (const double[3]){1.0, 1.0, 1.0}, 3, 3, &whole);
  assert_near(whole.volume, 0.162315620435473, 1e-15);
  assert_near(whole.inertia[0], 0.0386939495167143, 1e-16);
  assert_near(whole.centre[2], 0.0, 1e-16);
}

static void shapes_without_volume_are_refused(void** state) {
  (void)state;
  saltus_kept_message message = {.text = ""};
  saltus_shape_mass mass = {.volume = 7.0};
  const saltus_shape_def ground = {.name = "ground", .kind = SALTUS_SHAPE_HALF_SPACE};
  assert_int_equal(saltus_shape_mass_properties(&ground, 3, saltus_log_keep(&message), &mass),
                   SALTUS_ERR_INPUT);
  assert_says(message, "shape ground: a half-space has no volume: give mass");
  assert_near(mass.volume, 7.0, 0.0);
  const saltus_shape_def wrong = {.name = "w", .kind = SALTUS_SHAPE_BOX, .size = {1.0, 0.0, 1.0}};
  assert_int_equal(saltus_shape_mass_properties(&wrong, 3, saltus_log_keep(&message), &mass),
                   SALTUS_ERR_INPUT);
  const saltus_shape_def ring = {
      .name = "ring", .kind = SALTUS_SHAPE_CIRCLE, .radius = 1.0, .hollow = true};
  assert_int_equal(saltus_shape_mass_properties(&ring, 2, saltus_log_keep(&message), &mass),
                   SALTUS_ERR_INPUT);
  assert_says(message, "a hollow circle has no area");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polygons),
      cmocka_unit_test(rounded_polygons_and_bars),
      cmocka_unit_test(solids_of_revolution),
      cmocka_unit_test(boxes_and_hulls),
      cmocka_unit_test(a_rounded_box_is_slabs_quarters_and_octants),
      cmocka_unit_test(a_rounded_tetrahedron),
      cmocka_unit_test(parts_are_combined_by_parallel_axes),
      cmocka_unit_test(shapes_without_volume_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
