/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_bodies.c - mechanisms with known motion, built from bodies and joints and integrated to a tolerance.
 *
 * IFToMM benchmarks A01 (pendulum) and A04 (Bricard), the spatial slider-crank; numbers from closed forms or from
 * two independent formulations each.
 */
#include "saltus_test.h"

static saltus_mechanism* make(const saltus_mechanism_def* def) {
  saltus_mechanism* m;
  saltus_kept_message kept;
  saltus_mechanism_def heard = *def;
  heard.log = saltus_log_keep(&kept);
  if (saltus_mechanism_create(&heard, &m) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  saltus_assembly assembly;
  if (saltus_mechanism_assemble(m, 1e-9, heard.log, &assembly) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return m;
}

static saltus_integrator* start(const saltus_mechanism* m, double tol) {
  saltus_kept_message kept;
  const saltus_integrator_def def = {.system = saltus_mechanism_system(m),
                                     .q0 = saltus_mechanism_q0(m),
                                     .v0 = saltus_mechanism_v0(m),
                                     .rtol = tol,
                                     .atol = tol,
                                     .log = saltus_log_keep(&kept)};
  saltus_integrator* it;
  if (saltus_integrator_create(&def, &it) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return it;
}

static void go(saltus_integrator* it, double t) {
  assert_int_equal(saltus_integrator_advance(it, t, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
}

static void pendulum_swings_as_its_elliptic_function(void** state) {
  (void)state;
  const saltus_body_def bob = {
      .name = "bob", .mass = 1.0, .inertia = {0.1}, .position = {-1.0, 0.0}};
  const saltus_marker_def markers[] = {{.name = "pin"}, {.name = "centre", .body = "bob"}};
  const saltus_joint_def rod = {.name = "rod",
                                .type = SALTUS_JOINT_DISTANCE,
                                .between = {"pin", "centre"},
                                .length = {.value = 1.0}};
  const saltus_mechanism_def def = {.dimension = 2,
                                    .gravity = {0.0, -9.81},
                                    .bodies = &bob,
                                    .body_count = 1,
                                    .markers = markers,
                                    .marker_count = 2,
                                    .joints = &rod,
                                    .joint_count = 1};
  static const double at[3][3] = {{1.0, 0.986291751131875, -0.165010853125541},
                                  {5.0, -0.942305435043757, -0.334754338414001},
                                  {10.0, -0.275087462576117, -0.961419205099125}};
  saltus_mechanism* m = make(&def);
  saltus_integrator* it = start(m, 1e-8);
  for (int i = 0; i < 3; i++) {
    go(it, at[i][0]);
    assert_near(saltus_integrator_q(it)[0], at[i][1], 1e-7); /* 10 tol */
    assert_near(saltus_integrator_q(it)[1], at[i][2], 1e-7);
  }
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

/* ---- Bricard's mechanism ---- */

static const double half_pi = 1.5707963267948966;

static saltus_mechanism* bricard(void) {
  static const double centre[5][3] = {
      {0.5, 0.0, 0.0}, {1.0, -0.5, 0.0}, {1.0, -1.0, 0.5}, {0.5, -1.0, 1.0}, {0.0, -0.5, 1.0}};
  static const int along[5] = {0, 1, 2, 0, 1};
  static const double at[6][3] = {{0.0, 0.0, 0.0},  {1.0, 0.0, 0.0},  {1.0, -1.0, 0.0},
                                  {1.0, -1.0, 1.0}, {0.0, -1.0, 1.0}, {0.0, 0.0, 1.0}};
  static const int axis[6] = {1, 2, 0, 1, 2, 0};
  static const char* const rod[5] = {"r1", "r2", "r3", "r4", "r5"};
  static const char* const joint[6] = {"J1", "J2", "J3", "J4", "J5", "J6"};
  static const char* const first[6] = {"a1", "a2", "a3", "a4", "a5", "a6"};
  static const char* const second[6] = {"b1", "b2", "b3", "b4", "b5", "b6"};
  saltus_body_def bodies[5];
  saltus_marker_def markers[12];
  saltus_joint_def joints[6];
  for (int i = 0; i < 5; i++) {
    bodies[i] = (saltus_body_def){.name = rod[i], .mass = 1.0};
    for (int k = 0; k < 3; k++) {
      bodies[i].position[k] = centre[i][k];
      bodies[i].inertia[k] = k == along[i] ? 0.02 / 12.0 : 1.01 / 12.0;
    }
  }
  for (int j = 0; j < 6; j++) {
    /* z onto the axis of the joint */
    saltus_orientation o = {SALTUS_ORIENTATION_NONE, {0.0}};
    if (axis[j] != 2) {
      o = (saltus_orientation){SALTUS_ORIENTATION_AXIS,
                               {axis[j] == 1 ? -1.0 : 0.0, axis[j] == 0 ? 1.0 : 0.0, 0.0, half_pi}};
    }
    for (int side = 0; side < 2; side++) {
      const int body = j - 1 + side;
      saltus_marker_def* marker = &markers[2 * j + side];
      const bool ground = body < 0 || body > 4;
      *marker = (saltus_marker_def){.name = side == 0 ? first[j] : second[j],
                                    .body = ground ? NULL : rod[body],
                                    .orientation = o};
      for (int k = 0; k < 3; k++) {
        marker->position[k] = at[j][k] - (ground ? 0.0 : centre[body][k]);
      }
    }
    joints[j] = (saltus_joint_def){
        .name = joint[j], .type = SALTUS_JOINT_REVOLUTE, .between = {first[j], second[j]}};
  }
  const saltus_mechanism_def def = {.dimension = 3,
                                    .gravity = {0.0, -9.81, 0.0},
                                    .bodies = bodies,
                                    .body_count = 5,
                                    .markers = markers,
                                    .marker_count = 12,
                                    .joints = joints,
                                    .joint_count = 6};
  return make(&def);
}

static void bricard_moves_although_a_row_is_redundant(void** state) {
  (void)state;
  static const double P3[][4] = {{1.0, 0.274481319264, -0.886707938735, -0.462330002687},
                                 {2.0, -0.778135373033, -0.980352683443, -0.197252670617},
                                 {5.0, 0.999932742302, -0.999999997738, -6.72554367e-5},
                                 {10.0, 0.999730987304, -0.999999963826, -2.68976512e-4}};
  saltus_mechanism* m = bricard();
  saltus_mobility mobility;
  assert_int_equal(saltus_mechanism_mobility(m, 0.0, saltus_mechanism_q0(m), &mobility), SALTUS_OK);
  assert_int_equal(mobility.rows, 30);
  assert_int_equal(mobility.rank, 29);
  assert_int_equal(mobility.mobility, 1);
  assert_int_equal(mobility.redundant, 1);
  saltus_integrator* it = start(m, 1e-8);
  for (int i = 0; i < 4; i++) {
    double p[3], axes[9];
    go(it, P3[i][0]);
    saltus_mechanism_frame(m, saltus_mechanism_find_marker(m, "a3"), P3[i][0],
                           saltus_integrator_q(it), p, axes);
    for (int k = 0; k < 3; k++) {
      assert_near(p[k], P3[i][1 + k], 1e-7); /* 10 tol */
    }
  }
  saltus_mechanism_state s;
  saltus_mechanism_measure(m, 10.0, saltus_integrator_q(it), saltus_integrator_v(it), &s);
  assert_near(s.kinetic + s.potential, -29.43, 1e-6); /* momenta of 10 N s, velocities to 10 tol */
  assert_near(s.defect_metres, 0.0, 1e-8); /* between steps: as exact as the dense output, tol */
  assert_near(s.defect_radians, 0.0, 1e-8);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

/* ---- spatial slider-crank ---- */

static saltus_mechanism* slider_crank(void) {
  const saltus_orientation z_to_x = {SALTUS_ORIENTATION_AXIS, {0.0, 1.0, 0.0, half_pi}};
  /* the axis of the rod, x of its inertia, points from the crank pin to the slider */
  const saltus_orientation rod = {SALTUS_ORIENTATION_AXIS, {0.0, 0.2, -0.1, acos(2.0 / 3.0)}};
  /* the pin between rod and slider, y of the marker, is perpendicular to the rod and to x */
  const saltus_orientation pin = {SALTUS_ORIENTATION_AXIS, {1.0, 0.0, 0.0, atan2(-1.0, 2.0)}};
  const saltus_body_def bodies[] = {{.name = "crank",
                                     .mass = 0.12,
                                     .inertia = {1e-4, 1e-5, 1e-4},
                                     .position = {0.0, 0.1, 0.12},
                                     .angular_velocity = {6.0, 0.0, 0.0}},
                                    {.name = "rod",
                                     .mass = 0.5,
                                     .inertia = {4e-4, 4e-3, 4e-3},
                                     .inertia_orientation = rod,
                                     .position = {0.1, 0.05, 0.1},
                                     .velocity = {0.12, -0.24, 0.0},
                                     .angular_velocity = {1.92, -0.96, 0.48}},
                                    {.name = "slider",
                                     .mass = 2.0,
                                     .inertia = {1e-4, 1e-4, 1e-4},
                                     .position = {0.2, 0.0, 0.0},
                                     .velocity = {0.24, 0.0, 0.0}}};
  const saltus_marker_def markers[] = {
      {.name = "A", .position = {0.0, 0.1, 0.12}, .orientation = z_to_x},
      {.name = "crank at A", .body = "crank", .orientation = z_to_x},
      {.name = "crank at B", .body = "crank", .position = {0.0, 0.0, 0.08}},
      {.name = "rod at B", .body = "rod", .position = {-0.1, 0.05, 0.1}},
      {.name = "rod at C", .body = "rod", .position = {0.1, -0.05, -0.1}, .orientation = pin},
      {.name = "slider at C", .body = "slider"},
      {.name = "line", .orientation = z_to_x},
      {.name = "slider on line", .body = "slider", .orientation = z_to_x}};
  const saltus_joint_def joints[] = {
      {.name = "hinge", .type = SALTUS_JOINT_REVOLUTE, .between = {"A", "crank at A"}},
      {.name = "ball", .type = SALTUS_JOINT_SPHERICAL, .between = {"crank at B", "rod at B"}},
      {.name = "cross", .type = SALTUS_JOINT_UNIVERSAL, .between = {"slider at C", "rod at C"}},
      {.name = "slide", .type = SALTUS_JOINT_PRISMATIC, .between = {"line", "slider on line"}}};
  const saltus_mechanism_def def = {.dimension = 3,
                                    .gravity = {0.0, 0.0, -9.81},
                                    .bodies = bodies,
                                    .body_count = 3,
                                    .markers = markers,
                                    .marker_count = 8,
                                    .joints = joints,
                                    .joint_count = 4};
  return make(&def);
}

static void slider_crank_turns_eight_times(void** state) {
  (void)state;
  static const double x[][2] = {
      {0.2, 0.260545932688}, {1.0, 0.23376475034}, {2.0, 0.2583044434}, {5.0, 0.2546500854}};
  saltus_mechanism* m = slider_crank();
  saltus_mobility mobility;
  assert_int_equal(saltus_mechanism_mobility(m, 0.0, saltus_mechanism_q0(m), &mobility), SALTUS_OK);
  assert_int_equal(mobility.mobility, 1);
  assert_int_equal(mobility.redundant, 0);
  saltus_integrator* it = start(m, 1e-8);
  const int hinge = saltus_mechanism_find_joint(m, "hinge");
  const int slide = saltus_mechanism_find_joint(m, "slide");
  for (int i = 0; i < 4; i++) {
    go(it, x[i][0]);
    const double *q = saltus_integrator_q(it), *v = saltus_integrator_v(it);
    const saltus_joint_motion s = saltus_mechanism_joint_motion(m, slide, x[i][0], q, v);
    assert_near(s.position, x[i][1], 1e-7); /* 10 tol */
  }
  const double *q = saltus_integrator_q(it), *v = saltus_integrator_v(it);
  const saltus_joint_motion h = saltus_mechanism_joint_motion(m, hinge, 5.0, q, v);
  assert_near(h.angle, 51.3694398874, 1e-6); /* 51 rad to rtol and atol, 1e-8 each */
  /* 5e-7 rad at 8 rad/s are 6e-8 s, in which the speed changes by 40 rad/s^2 */
  assert_near(h.angle_rate, 7.9036797111, 3e-6);
  assert_near(q[saltus_mechanism_joint(m, hinge).angle], h.angle, 0.0);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

/* ---- a pendulum on a pivot that is driven ---- */

static void sway(const void* self, double t, double out[3]) {
  (void)self;
  out[0] = 0.3 * sin(5.0 * t);
  out[1] = 1.5 * cos(5.0 * t);
  out[2] = -7.5 * sin(5.0 * t);
}

/* a'' (1 + I) = -9.81 sin a - x'' cos a, I = 0.1, by the classical Runge-Kutta method with 30 000 steps: to 1e-13 */
static double swayed(double t) {
  const int steps = 30000;
  const double h = t / steps;
  double y[2] = {0.5, 0.0};
  for (int i = 0; i < steps; i++) {
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double k[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
    for (int s = 0; s < 4; s++) {
      const double a = y[0] + part[s] * h * k[0], w = y[1] + part[s] * h * k[1];
      double x[3];
      sway(NULL, (i + part[s]) * h, x);
      k[0] = w;
      k[1] = (-9.81 * sin(a) - x[2] * cos(a)) / 1.1;
      sum[0] += weight[s] * k[0];
      sum[1] += weight[s] * k[1];
    }
    y[0] += h / 6.0 * sum[0];
    y[1] += h / 6.0 * sum[1];
  }
  return y[0];
}

static void pendulum_on_a_driven_pivot_swings_in_plane_and_space(void** state) {
  (void)state;
  saltus_driven_pose pose = {.position = {{.evaluate = sway}}};
  const saltus_body_def bodies[] = {{.name = "pivot", .kind = SALTUS_BODY_DRIVEN, .driven = &pose},
                                    {.name = "bob",
                                     .mass = 1.0,
                                     .inertia = {0.1, 0.1, 0.1},
                                     .position = {sin(0.5), -cos(0.5)},
                                     .orientation = {SALTUS_ORIENTATION_ANGLE, {0.5}},
                                     .velocity = {1.5}}};
  const saltus_marker_def markers[] = {{.name = "on pivot", .body = "pivot"},
                                       {.name = "on bob", .body = "bob", .position = {0.0, 1.0}}};
  const saltus_joint_def hinge = {
      .name = "hinge", .type = SALTUS_JOINT_REVOLUTE, .between = {"on pivot", "on bob"}};
  for (int dimension = 2; dimension <= 3; dimension++) {
    const saltus_mechanism_def def = {.dimension = dimension,
                                      .gravity = {0.0, -9.81},
                                      .bodies = bodies,
                                      .body_count = 2,
                                      .markers = markers,
                                      .marker_count = 2,
                                      .joints = &hinge,
                                      .joint_count = 1};
    saltus_mechanism* m = make(&def);
    saltus_integrator* it = start(m, 1e-9);
    go(it, 3.0);
    const double *q = saltus_integrator_q(it), *v = saltus_integrator_v(it);
    assert_near(saltus_mechanism_joint_motion(m, 0, 3.0, q, v).angle, swayed(3.0), 1e-8);
    saltus_integrator_destroy(it);
    saltus_mechanism_destroy(m);
  }
}

/* ---- angles of many turns ---- */

static void angles_count_turns_in_long_steps(void** state) {
  (void)state;
  /* 160 turns in 10 s, tilted: steps of an error control are up to half a turn long */
  const saltus_orientation tilt = {SALTUS_ORIENTATION_RPY, {0.3, 0.2, 0.1}};
  const saltus_body_def wheel = {.name = "wheel",
                                 .mass = 1.0,
                                 .inertia = {1.0, 1.2, 0.5},
                                 .orientation = tilt,
                                 .angular_velocity = {0.0, 0.0, 100.0}};
  const saltus_marker_def markers[] = {{.name = "axle", .orientation = tilt},
                                       {.name = "hub", .body = "wheel"}};
  const saltus_joint_def hinge = {
      .name = "hinge", .type = SALTUS_JOINT_REVOLUTE, .between = {"axle", "hub"}};
  const saltus_mechanism_def def = {.dimension = 3,
                                    .bodies = &wheel,
                                    .body_count = 1,
                                    .markers = markers,
                                    .marker_count = 2,
                                    .joints = &hinge,
                                    .joint_count = 1};
  saltus_mechanism* m = make(&def);
  saltus_integrator* it = start(m, 1e-8);
  go(it, 10.0);
  assert_near(saltus_integrator_q(it)[7], 1000.0, 1e-5); /* 1000 rad to rtol */
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

/* ---- mobility ---- */

/* A planar four-bar of rods along x, y and x, built in space of four hinges about z. */
static void four_bar_of_hinges_in_space_has_three_redundant_rows(void** state) {
  (void)state;
  static const char* const rod[3] = {"r1", "r2", "r3"};
  static const double centre[3][3] = {{0.0, 0.5, 0.0}, {0.5, 1.0, 0.0}, {1.0, 0.5, 0.0}};
  static const double at[4][3] = {
      {0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {1.0, 1.0, 0.0}, {1.0, 0.0, 0.0}};
  static const char* const first[4] = {"a1", "a2", "a3", "a4"};
  static const char* const second[4] = {"b1", "b2", "b3", "b4"};
  static const char* const name[4] = {"J1", "J2", "J3", "J4"};
  saltus_body_def bodies[4];
  saltus_marker_def markers[8];
  saltus_joint_def joints[4];
  for (int i = 0; i < 3; i++) {
    bodies[i] = (saltus_body_def){.name = rod[i], .mass = 1.0, .inertia = {0.1, 0.1, 0.1}};
    memcpy(bodies[i].position, centre[i], sizeof centre[i]);
  }
  bodies[3] = (saltus_body_def){
      .name = "loose", .mass = 1.0, .inertia = {0.1, 0.1, 0.1}, .position = {5.0, 0.0, 0.0}};
  for (int j = 0; j < 4; j++) {
    for (int side = 0; side < 2; side++) {
      const int body = j - 1 + side;
      const bool ground = body < 0 || body > 2;
      markers[2 * j + side] = (saltus_marker_def){.name = side == 0 ? first[j] : second[j],
                                                  .body = ground ? NULL : rod[body]};
      for (int k = 0; k < 3; k++) {
        markers[2 * j + side].position[k] = at[j][k] - (ground ? 0.0 : centre[body][k]);
      }
    }
    joints[j] = (saltus_joint_def){
        .name = name[j], .type = SALTUS_JOINT_REVOLUTE, .between = {first[j], second[j]}};
  }
  const saltus_mechanism_def def = {.dimension = 3,
                                    .bodies = bodies,
                                    .body_count = 4,
                                    .markers = markers,
                                    .marker_count = 8,
                                    .joints = joints,
                                    .joint_count = 4};
  saltus_mechanism* m = make(&def);
  saltus_mobility mobility;
  assert_int_equal(saltus_mechanism_mobility(m, 0.0, saltus_mechanism_q0(m), &mobility), SALTUS_OK);
  assert_int_equal(mobility.rows, 20);
  assert_int_equal(mobility.rank, 17);
  assert_int_equal(mobility.redundant, 3);
  assert_int_equal(mobility.mobility, 1 + 6); /* and the body that nothing holds */
  saltus_mechanism_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_swings_as_its_elliptic_function),
      cmocka_unit_test(bricard_moves_although_a_row_is_redundant),
      cmocka_unit_test(slider_crank_turns_eight_times),
      cmocka_unit_test(pendulum_on_a_driven_pivot_swings_in_plane_and_space),
      cmocka_unit_test(angles_count_turns_in_long_steps),
      cmocka_unit_test(four_bar_of_hinges_in_space_has_three_redundant_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
