/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body_laws.c - joints with everything that acts along their coordinates, against closed forms: limits,
 * drives, gears, racks, screws, springs, inputs; loads of joints; assembly.
 */
#include "saltus_test.h"

static const double pi = 3.14159265358979323846;

typedef struct rig {
  saltus_body_def bodies[4];
  saltus_marker_def markers[8];
  saltus_joint_def joints[4];
  saltus_spring_def springs[2];
  saltus_input_def inputs[1];
  saltus_mechanism_def def;
} rig;

/* Tilted so that no axis is one of the world. */
static const saltus_orientation tilt = {SALTUS_ORIENTATION_RPY, {0.3, -0.4, 0.5}};

/* Axes of the tilt: column k. */
static void tilted(const saltus_mechanism* m, int marker, int k, double axis[3]) {
  double p[3], axes[9];
  saltus_mechanism_frame(m, marker, 0.0, saltus_mechanism_q0(m), p, axes);
  for (int i = 0; i < 3; i++) {
    axis[i] = axes[3 * i + k];
  }
}

/* Bodies whose centres are on tilted markers of the world, joined there by the types given. */
static void start_rig(rig* r, int count, const saltus_joint_type* type) {
  static const char* const body[2] = {"a", "b"};
  static const char* const world[2] = {"world a", "world b"};
  static const char* const at[2] = {"at a", "at b"};
  static const char* const joint[2] = {"ja", "jb"};
  memset(r, 0, sizeof *r);
  for (int i = 0; i < count; i++) {
    r->bodies[i] = (saltus_body_def){.name = body[i],
                                     .mass = 2.0 + i,
                                     .inertia = {0.3, 0.4, 0.5},
                                     .position = {3.0 * i, 0.0, 0.0},
                                     .orientation = tilt};
    r->markers[2 * i] =
        (saltus_marker_def){.name = world[i], .position = {3.0 * i, 0.0, 0.0}, .orientation = tilt};
    r->markers[2 * i + 1] = (saltus_marker_def){.name = at[i], .body = body[i]};
    r->joints[i] =
        (saltus_joint_def){.name = joint[i], .type = type[i], .between = {world[i], at[i]}};
  }
  r->def = (saltus_mechanism_def){.dimension = 3,
                                  .bodies = r->bodies,
                                  .body_count = count,
                                  .markers = r->markers,
                                  .marker_count = 2 * count,
                                  .joints = r->joints,
                                  .joint_count = count,
                                  .springs = r->springs,
                                  .inputs = r->inputs};
}

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

static const double tol = 1e-9;

static saltus_integrator* start(const saltus_mechanism* m) {
  static saltus_kept_message kept;
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

static saltus_joint_motion at(const saltus_mechanism* m, saltus_integrator* it, const char* joint,
                              double t) {
  assert_int_equal(saltus_integrator_advance(it, t, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  return saltus_mechanism_joint_motion(m, saltus_mechanism_find_joint(m, joint), t,
                                       saltus_integrator_q(it), saltus_integrator_v(it));
}

/* ---- limits ---- */

static void turning_body_bounces_between_limits_beyond_a_turn(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE});
  r.bodies[0].angular_velocity[2] = 4.0;
  r.joints[0].angle =
      (saltus_coordinate_def){.limited = true, .lower = -1.0, .upper = 10.0, .restitution = 0.5};
  saltus_mechanism* m = make(&r.def);
  saltus_integrator* it = start(m);
  /* up at 10/4 s, down again after 11/2 s, with half the speed each time */
  const double impact[3] = {2.5, 2.5 + 5.5, 2.5 + 5.5 + 11.0};
  for (int i = 0; i < 3; i++) {
    const saltus_event* event;
    assert_int_equal(saltus_integrator_advance(it, 30.0, SALTUS_STOP(SALTUS_EVENT_IMPACT), &event),
                     SALTUS_OK);
    assert_non_null(event);
    assert_near(event->t, impact[i], 10.0 * tol * impact[i]);
    assert_int_equal(event->contact, (i + 1) % 2); /* upper first */
  }
  const saltus_joint_motion last = at(m, it, "ja", 20.0);
  assert_near(last.angle, 10.0 - 0.5 * 1.0, 100.0 * tol);
  assert_near(last.angle_rate, -0.5, 10.0 * tol);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

static void sliding_body_falls_onto_its_stop(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_PRISMATIC});
  r.joints[0].position = (saltus_coordinate_def){
      .limited = true, .lower = -1.0, .upper = INFINITY, .restitution = 0.5};
  saltus_mechanism* m = make(&r.def);
  double axis[3];
  tilted(m, 0, 2, axis);
  saltus_mechanism_destroy(m);
  for (int k = 0; k < 3; k++) {
    r.def.gravity[k] = -2.0 * axis[k] + (k == 0 ? 0.7 : 0.0);
  }
  const double g = 2.0 - 0.7 * axis[0]; /* along the slide */
  m = make(&r.def);
  saltus_integrator* it = start(m);
  const double first = sqrt(2.0 / g);
  const double impact[4] = {first, 2.0 * first, 2.5 * first, 2.75 * first};
  for (int i = 0; i < 4; i++) {
    const saltus_event* event;
    assert_int_equal(saltus_integrator_advance(it, 5.0, SALTUS_STOP(SALTUS_EVENT_IMPACT), &event),
                     SALTUS_OK);
    assert_non_null(event);
    assert_near(event->t, impact[i], 10.0 * tol);
    assert_int_equal(event->contact, 0);
  }
  const saltus_joint_motion rest = at(m, it, "ja", 5.0); /* beyond the accumulation at 3 first */
  assert_near(rest.position, -1.0, 10.0 * tol);
  assert_near(rest.position_rate, 0.0, 10.0 * tol);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

static void limits_have_names_and_one_side_is_enough(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_CYLINDRICAL});
  r.joints[0].angle = (saltus_coordinate_def){.limited = true, .lower = -INFINITY, .upper = 1.0};
  r.joints[0].position = (saltus_coordinate_def){.limited = true, .lower = -1.0, .upper = 1.0};
  saltus_mechanism* m = make(&r.def);
  const saltus_system* sys = saltus_mechanism_system(m);
  assert_int_equal(sys->dims.nc, 3);
  assert_string_equal(sys->laws[0].name, "ja.angle.upper");
  assert_string_equal(sys->laws[1].name, "ja.position.lower");
  const saltus_joint_place place = saltus_mechanism_joint(m, 0);
  assert_int_equal(place.limits[0], -1);
  assert_int_equal(place.limits[3], 2);
  saltus_mechanism_destroy(m);
}

/* ---- drives ---- */

static void speed(const void* self, double t, double out[3]) {
  (void)self;
  out[0] = 5.0 + 3.0 * cos(2.0 * t);
  out[1] = -6.0 * sin(2.0 * t);
  out[2] = -12.0 * cos(2.0 * t);
}

static double speed_integral(const void* self, double t0, double t1) {
  (void)self;
  return 5.0 * (t1 - t0) + 1.5 * (sin(2.0 * t1) - sin(2.0 * t0));
}

static void driven_speeds_are_followed_over_many_turns(void** state) {
  (void)state;
  for (int known = 0; known < 2; known++) {
    rig r;
    start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE});
    r.bodies[0].angular_velocity[2] = 8.0;
    r.joints[0].angle = (saltus_coordinate_def){
        .drive = SALTUS_DRIVE_SPEED,
        .driven = {.evaluate = speed, .integral = known == 1 ? speed_integral : NULL}};
    saltus_mechanism* m = make(&r.def);
    saltus_integrator* it = start(m);
    const saltus_joint_motion end = at(m, it, "ja", 4.0);
    assert_near(end.angle, speed_integral(NULL, 0.0, 4.0), 100.0 * tol); /* 20 rad */
    assert_near(end.angle_rate, 5.0 + 3.0 * cos(8.0), 100.0 * tol);
    saltus_integrator_destroy(it);
    saltus_mechanism_destroy(m);
  }
}

static void jumping(const void* self, double t, double out[3]) {
  (void)self;
  out[0] = t < 1.0 ? 1.0 : 2.0;
  out[1] = out[2] = 0.0;
}

static void shaking(const void* self, double t, double out[3]) {
  (void)self;
  out[0] = cos(1000.0 * t);
  out[1] = -1000.0 * sin(1000.0 * t);
  out[2] = -1e6 * cos(1000.0 * t);
}

/* At the start the hinge is open by what its drive asks for. */
static void speeds_that_jump_or_oscillate_have_an_integral(void** state) {
  (void)state;
  static const double times[] = {1.0, 1.0 + 1e-15, 1.0 + 1e-9, 1.003, 1.3, 1.999, 2.0, 100.0};
  for (int k = 0; k < 2; k++) {
    rig r;
    start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE});
    r.joints[0].angle = (saltus_coordinate_def){.drive = SALTUS_DRIVE_SPEED,
                                                .driven = {.evaluate = k == 0 ? jumping : shaking}};
    saltus_mechanism* m = make(&r.def);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
      const double t = times[i];
      const double expected = k == 0 ? t + fmax(0.0, t - 1.0) : fabs(sin(1000.0 * t)) / 1000.0;
      double metres, radians;
      saltus_mechanism_joint_defect(m, 0, t, saltus_mechanism_q0(m), &metres, &radians);
      /* the jump is cut out to 2^-40 of the range */
      assert_near(radians, expected, k == 0 ? t * 1e-12 : 1e-13);
    }
    saltus_mechanism_destroy(m);
  }
}

static void faster(const void* self, double t, double out[3]) {
  (void)self;
  out[0] = 8.0 + 3.0 * t;
  out[1] = 3.0;
  out[2] = 0.0;
}

static void joints_report_what_the_first_body_exerts_on_the_second(void** state) {
  (void)state;
  /* a body 0.5 m out on x turns about z at 8 rad/s under gravity, and faster by 3 rad/s^2: its drive turns it */
  rig r;
  start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE});
  r.bodies[0] = (saltus_body_def){.name = "a",
                                  .mass = 2.0,
                                  .inertia = {0.3, 0.4, 0.5},
                                  .position = {0.5, 0.0, 0.0},
                                  .velocity = {0.0, 4.0, 0.0},
                                  .angular_velocity = {0.0, 0.0, 8.0}};
  r.markers[0] = (saltus_marker_def){.name = "world a"};
  r.markers[1].position[0] = -0.5;
  r.def.gravity[2] = -9.81;
  r.joints[0].angle =
      (saltus_coordinate_def){.drive = SALTUS_DRIVE_SPEED, .driven = {.evaluate = faster}};
  saltus_mechanism* m = make(&r.def);
  double lambda[6], force[3], torque[3];
  assert_int_equal(saltus_mechanism_joint_forces(m, 0.0, saltus_mechanism_q0(m),
                                                 saltus_mechanism_v0(m), NULL, lambda),
                   SALTUS_OK);
  saltus_mechanism_joint_load(m, 0, 0.0, saltus_mechanism_q0(m), lambda, force, torque);
  assert_near(force[0], -64.0, 1e-12);
  assert_near(force[1], 3.0, 1e-12);
  assert_near(force[2], 19.62, 1e-12);
  /* about the pin: the weight at 0.5 m, and (I + m 0.25) 3 */
  assert_near(torque[0], 0.0, 1e-12);
  assert_near(torque[1], -9.81, 1e-12);
  assert_near(torque[2], 3.0, 1e-12);
  saltus_mechanism_destroy(m);
}

/* ---- gears, racks, screws: torque on one, effective inertia of both ---- */

static void gears_have_the_inertia_of_both(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 2, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE, SALTUS_JOINT_REVOLUTE});
  r.joints[0].angle.force.value = 1.7;
  r.joints[2] = (saltus_joint_def){
      .name = "gear", .type = SALTUS_JOINT_GEAR, .between = {"ja", "jb"}, .ratio = -2.0};
  r.def.joint_count = 3;
  saltus_mechanism* m = make(&r.def);
  saltus_integrator* it = start(m);
  const double rate = 1.7 / (0.5 + 4.0 * 0.5);
  assert_near(at(m, it, "ja", 6.0).angle, 18.0 * rate, 1e-7); /* 12 rad to 10 tol */
  assert_near(at(m, it, "jb", 6.0).angle, -36.0 * rate, 1e-7);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

static void racks_move_by_the_radius(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 2, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE, SALTUS_JOINT_PRISMATIC});
  r.joints[0].angle.force.value = 1.7;
  r.joints[2] = (saltus_joint_def){
      .name = "rack", .type = SALTUS_JOINT_RACK_AND_PINION, .between = {"ja", "jb"}, .ratio = 0.2};
  r.def.joint_count = 3;
  saltus_mechanism* m = make(&r.def);
  saltus_integrator* it = start(m);
  const double rate = 1.7 / (0.5 + 3.0 * 0.2 * 0.2); /* I + m r^2 */
  assert_near(at(m, it, "ja", 4.0).angle, 8.0 * rate, 1e-7);
  assert_near(at(m, it, "jb", 4.0).position, 0.2 * 8.0 * rate, 1e-7);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

static void screws_have_the_inertia_of_their_pitch(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_SCREW});
  r.joints[0].ratio = 0.8;
  r.joints[0].angle.force.value = 1.7;
  saltus_mechanism* m = make(&r.def);
  saltus_integrator* it = start(m);
  const double lead = 0.8 / (2.0 * pi);
  const double rate = 1.7 / (0.5 + 2.0 * lead * lead); /* I + m p^2 / (2 pi)^2 */
  const saltus_joint_motion end = at(m, it, "ja", 5.0);
  assert_near(end.angle, 12.5 * rate, 1e-6); /* 40 rad */
  assert_near(end.position, lead * 12.5 * rate, 1e-6);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

/* ---- springs, dampers, inputs ---- */

static void springs_along_joints_swing_and_die_out(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 2, (saltus_joint_type[]){SALTUS_JOINT_REVOLUTE, SALTUS_JOINT_PRISMATIC});
  r.joints[0].angle = (saltus_coordinate_def){.stiffness = 8.0, .rest = 0.3, .damping = 0.4};
  r.joints[1].position = (saltus_coordinate_def){.stiffness = 12.0, .rest = -0.2};
  saltus_mechanism* m = make(&r.def);
  saltus_integrator* it = start(m);
  const double decay = 0.4 / (2.0 * 0.5), w = sqrt(8.0 / 0.5 - decay * decay);
  const double turned = 0.3 - 0.3 * exp(-3.0 * decay) * (cos(3.0 * w) + decay / w * sin(3.0 * w));
  assert_near(at(m, it, "ja", 3.0).angle, turned, 10.0 * tol);
  assert_near(at(m, it, "jb", 3.0).position, -0.2 + 0.2 * cos(2.0 * 3.0), 10.0 * tol);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

static void inputs_are_set_between_steps(void** state) {
  (void)state;
  rig r;
  start_rig(&r, 1, (saltus_joint_type[]){SALTUS_JOINT_PRISMATIC});
  r.inputs[0] = (saltus_input_def){.name = "push", .value = 6.0};
  r.def.input_count = 1;
  r.joints[0].position.force.input = "push";
  saltus_mechanism* m = make(&r.def);
  const int push = saltus_mechanism_find_input(m, "push");
  const saltus_sim_def def = {.system = saltus_mechanism_system(m),
                              .scheme = "moreau-jean",
                              .h = 0.01,
                              .q0 = saltus_mechanism_q0(m),
                              .v0 = saltus_mechanism_v0(m)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run(sim, 100), SALTUS_OK);
  saltus_mechanism_set_input(m, push, -4.0);
  assert_near(saltus_mechanism_input(m, push), -4.0, 0.0);
  assert_int_equal(saltus_sim_run(sim, 200), SALTUS_OK);
  const saltus_joint_motion end =
      saltus_mechanism_joint_motion(m, 0, 2.0, saltus_sim_q(sim), saltus_sim_v(sim));
  /* 3 m/s^2 for a second, then -2: constant forces are exact in the middle of each step */
  assert_near(end.position, 1.5 + 3.0 - 1.0, 1e-10);
  assert_near(end.position_rate, 1.0, 1e-10);
  saltus_sim_destroy(sim);
  saltus_mechanism_destroy(m);
}

static void loads_push_where_their_marker_is(void** state) {
  (void)state;
  /* turned by 90 degrees about z: the marker at x = 0.5 of the body is at y = 0.5 */
  const saltus_body_def body = {.name = "a",
                                .mass = 2.0,
                                .inertia = {1.0, 1.0, 1.0},
                                .orientation = {SALTUS_ORIENTATION_ANGLE, {0.5 * pi}}};
  const saltus_marker_def marker = {.name = "at", .body = "a", .position = {0.5, 0.0, 0.0}};
  saltus_load_def load = {
      .name = "push", .marker = "at", .force = {{.value = 3.0}}, .torque = {{.value = 0.25}}};
  for (int dimension = 2; dimension <= 3; dimension++) {
    for (int turns = 0; turns < 2; turns++) {
      load.turns = turns == 1;
      const saltus_mechanism_def def = {.dimension = dimension,
                                        .bodies = &body,
                                        .body_count = 1,
                                        .markers = &marker,
                                        .marker_count = 1,
                                        .loads = &load,
                                        .load_count = 1};
      saltus_mechanism* m = make(&def);
      const saltus_system* sys = saltus_mechanism_system(m);
      const saltus_point here = {.q = saltus_mechanism_q0(m), .v = saltus_mechanism_v0(m)};
      double F[6];
      sys->ops->force(sys->self, &here, F);
      /* along x of the world it turns the body by -1.5 about z, along x of the body not at all */
      assert_near(F[0], turns == 1 ? 0.0 : 3.0, 1e-15);
      assert_near(F[1], turns == 1 ? 3.0 : 0.0, 1e-15);
      const double spin = turns == 1 ? 0.0 : -1.5;
      if (dimension == 2) {
        assert_near(F[2], spin + 0.25, 1e-15);
      } else { /* the torque is about x of the world, which is -y of the body, or about x of the body */
        assert_near(F[3], turns == 1 ? 0.25 : 0.0, 1e-15);
        assert_near(F[4], turns == 1 ? 0.0 : -0.25, 1e-15);
        assert_near(F[5], spin, 1e-15);
      }
      saltus_mechanism_destroy(m);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turning_body_bounces_between_limits_beyond_a_turn),
      cmocka_unit_test(sliding_body_falls_onto_its_stop),
      cmocka_unit_test(limits_have_names_and_one_side_is_enough),
      cmocka_unit_test(driven_speeds_are_followed_over_many_turns),
      cmocka_unit_test(speeds_that_jump_or_oscillate_have_an_integral),
      cmocka_unit_test(joints_report_what_the_first_body_exerts_on_the_second),
      cmocka_unit_test(gears_have_the_inertia_of_both),
      cmocka_unit_test(racks_move_by_the_radius),
      cmocka_unit_test(screws_have_the_inertia_of_their_pitch),
      cmocka_unit_test(springs_along_joints_swing_and_die_out),
      cmocka_unit_test(inputs_are_set_between_steps),
      cmocka_unit_test(loads_push_where_their_marker_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
