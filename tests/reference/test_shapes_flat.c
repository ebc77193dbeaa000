/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Cylinders that come to lie flat. One that moves in a plane moves as the block of its section does, whose corners are
 * the ends of the circle: the same mass and moment of inertia in a planar scene, a mechanism of other equations (polygon,
 * corners on a line, linear complementarity problems), which is held against motions of 13 digits elsewhere (T1).
 */
#include "saltus_test.h"

#include <stdio.h>

typedef struct cylinder {
  double radius, length; /* m */
  double tilt, yaw;      /* rad: of the axis, and of the fixed points of its circle about it */
  double height;         /* m, of the centre */
  double mu, e;
} cylinder;

static void run(const char* text, double t_end, double tol, int nq, double* q, double* v) {
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def scene_def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  const saltus_scheme_def def = {.scheme = "adaptive",
                                 .options = &options,
                                 .system = view->system,
                                 .log = saltus_log_keep(&kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  memcpy(q, view->q0, (size_t)nq * sizeof(double));
  memcpy(v, view->v0, (size_t)view->system->dims.nv * sizeof(double));
  saltus_state x = {0.0, q, v};
  while (x.t < t_end) {
    saltus_step_report report;
    if (saltus_scheme_step(scheme, t_end - x.t, &x, &report) != SALTUS_OK) {
      fail_msg("tol %g, t = %.17g: %s", tol, x.t, kept.text);
    }
  }
  saltus_scheme_destroy(scheme);
  saltus_scene_destroy(scene);
}

/* x, y and angle of the section. */
static void run_section(const cylinder* c, double t_end, double q[3]) {
  const double pi = acos(-1.0), r = c->radius, l = 0.5 * c->length;
  const double m = 500.0 * pi * r * r * c->length;
  char text[1024];
  double v[3];
  snprintf(text, sizeof text,
           "saltus: 1\nworld: {dimension: 2, shapes: [{half-plane: {}}]}\n"
           "materials: {default: {friction: %.17g, restitution: %.17g}}\nbodies:\n"
           "  b: {mass: %.17g, inertia: %.17g, position: [0, %.17g], angle: %.17g, shapes: "
           "[{polygon: {points: "
           "[[%.17g, %.17g], [%.17g, %.17g], [%.17g, %.17g], [%.17g, %.17g]]}}]}\n"
           "simulate: {until: 1, scheme: adaptive, tol: 1e-9}\n",
           c->mu, c->e, m, m * (3.0 * r * r + 4.0 * l * l) / 12.0, c->height, c->tilt, -r, -l, r,
           -l, r, l, -r, l);
  run(text, t_end, 1e-11, 3, q, v);
}

/* Turned about x by the tilt, after it was turned about its own axis. */
static void run_cylinder(const cylinder* c, double t_end, double tol, double q[7], double v[6]) {
  const double w = cos(0.5 * c->tilt) * cos(0.5 * c->yaw),
               x = sin(0.5 * c->tilt) * cos(0.5 * c->yaw);
  const double y = -sin(0.5 * c->tilt) * sin(0.5 * c->yaw),
               z = cos(0.5 * c->tilt) * sin(0.5 * c->yaw);
  char text[1024];
  snprintf(text, sizeof text,
           "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
           "materials: {default: {friction: %.17g, restitution: %.17g}}\nbodies:\n"
           "  b: {density: 500, position: [0, 0, %.17g], orientation: {axis: [%.17g, %.17g, "
           "%.17g], angle: %.17g}, "
           "shapes: [{cylinder: {radius: %.17g, length: %.17g}}]}\n"
           "simulate: {until: 1, scheme: adaptive, tol: 1e-9}\n",
           c->mu, c->e, c->height, x, y, z, 2.0 * atan2(sqrt(x * x + y * y + z * z), w), c->radius,
           c->length);
  run(text, t_end, tol, 7, q, v);
}

/* Sliding and turning with friction, up to t_end. Ten tolerances, and ten times what counts as flat: 1e-8 of the
 * radius, which an impact of the flat circle is off by and the motion after it multiplies. */
static void check(const cylinder* c, double t_end) {
  double section[3];
  run_section(c, t_end, section);
  for (double tol = 1e-5; tol > 0.9e-9; tol *= 0.1) {
    double q[7], v[6];
    run_cylinder(c, t_end, tol, q, v);
    const double within = 10.0 * tol + 1e-7 * c->radius;
    assert_near(q[0], 0.0, within);
    assert_near(q[1], section[0], within);
    assert_near(q[2], section[1], within);
    /* the tilt of the axis, in the plane and out of it */
    const double R12 = 2.0 * (q[5] * q[6] - q[3] * q[4]), R02 = 2.0 * (q[4] * q[6] + q[3] * q[5]);
    assert_near(R12, -sin(section[2]), within);
    assert_near(R02, 0.0, within);
  }
}

/* Drops with a tilt: it slides, bounces on its edge, comes down flat, tilts back again and again, and rests. */
static void a_cylinder_comes_down_flat_as_its_section_does(void** unused) {
  (void)unused;
  const double degree = acos(-1.0) / 180.0;
  for (int i = 0; i < 3; i++) {
    for (int rough = 0; rough < 2; rough++) {
      const cylinder c = {.radius = 0.2,
                          .length = 0.3,
                          .tilt = 0.1,
                          .yaw = (i == 0   ? 0.0
                                  : i == 1 ? 10.0
                                           : 22.5) *
                                 degree,
                          .height = 0.25,
                          .mu = 0.3,
                          .e = rough == 0 ? 0.0 : 0.3};
      check(&c, 0.24);
      check(&c, 0.6);
    }
  }
}

/* A slender one goes on through the flat attitude to the other side, and back. */
static void a_slender_cylinder_rocks_as_its_section_does(void** unused) {
  (void)unused;
  for (int i = 0; i < 2; i++) {
    for (int bounces = 0; bounces < 2; bounces++) {
      const cylinder c = {.radius = 0.1,
                          .length = 0.5,
                          .tilt = 0.15,
                          .yaw = i == 0 ? 0.0 : 0.17453292519943295,
                          .height = 0.25 * cos(0.15) + 0.1 * sin(0.15),
                          .mu = 0.8,
                          .e = bounces == 0 ? 0.0 : 0.2};
      check(&c, 0.4);
      check(&c, 0.8);
    }
  }
}

/* On a board that tilts to and fro it bounces on both ends of its circle by less and less, and stands; e = 0.1. */
static void a_cylinder_stands_on_a_tilting_board_as_its_section_does(void** unused) {
  (void)unused;
  const double pi = acos(-1.0), m = 500.0 * pi * 0.01 * 0.2;
  char text[1024];
  double section[3], turned[3];
  snprintf(
      text, sizeof text,
      "saltus: 1\nworld: {dimension: 2}\nmaterials: {default: {friction: 0.5, restitution: 0.1}}\n"
      "bodies:\n  board: {driven: {angle: 0.3*sin(3*t)}, shapes: [{half-plane: {}}]}\n"
      "  b: {mass: %.17g, inertia: %.17g, position: [0, 0.12], shapes: [{polygon: {points: "
      "[[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]}}]}\n"
      "simulate: {until: 1, scheme: adaptive, tol: 1e-9}\n",
      m, m * (3.0 * 0.01 + 4.0 * 0.01) / 12.0);
  run(text, 1.0, 1e-10, 3, section, turned);
  for (double tol = 1e-5; tol > 0.9e-8; tol *= 0.1) {
    double q[7], v[6];
    run("saltus: 1\nworld: {dimension: 3}\nmaterials: {default: {friction: 0.5, restitution: "
        "0.1}}\n"
        "bodies:\n  board: {driven: {angle: 0.3*sin(3*t), axis: [1, 0, 0]}, shapes: [{half-space: "
        "{}}]}\n"
        "  b: {density: 500, position: [0, 0, 0.12], shapes: [{cylinder: {radius: 0.1, length: "
        "0.2}}]}\n"
        "simulate: {until: 1, scheme: adaptive, tol: 1e-9}\n",
        1.0, tol, 7, q, v);
    assert_near(q[0], 0.0, 10.0 * tol);
    assert_near(q[1], section[0], 10.0 * tol + 1e-8);
    assert_near(q[2], section[1], 10.0 * tol + 1e-8);
    assert_near(2.0 * atan2(q[4], q[3]), section[2], 10.0 * tol + 1e-8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cylinder_comes_down_flat_as_its_section_does),
      cmocka_unit_test(a_slender_cylinder_rocks_as_its_section_does),
      cmocka_unit_test(a_cylinder_stands_on_a_tilting_board_as_its_section_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
