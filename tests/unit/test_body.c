/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body.c - free bodies: exact derivatives, conserved quantities, unit quaternions.
 */
#include "saltus/mechanism.h"
#include "saltus/sim.h"
#include "saltus_test.h"

#include <math.h>
#include <string.h>

static const saltus_body_def tumbling = {.name = "box",
                                         .mass = 2.0,
                                         .inertia = {1.0, 2.0, 2.5, 0.1, -0.2, 0.05},
                                         .position = {1.0, 2.0, 3.0},
                                         .orientation = {SALTUS_ORIENTATION_RPY, {0.3, -0.4, 0.5}},
                                         .velocity = {0.1, -0.2, 0.3},
                                         .angular_velocity = {1.0, -2.0, 0.7}};

static saltus_mechanism* make(const saltus_mechanism_def* def) {
  saltus_mechanism* m;
  saltus_kept_message kept;
  saltus_mechanism_def heard = *def;
  heard.log = saltus_log_keep(&kept);
  saltus_status status = saltus_mechanism_create(&heard, &m);
  if (status != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return m;
}

static void derivatives_of_a_free_body_are_exact(void** state) {
  (void)state;
  const saltus_mechanism_def def = {
      .dimension = 3, .gravity = {0.0, 0.0, -9.81}, .bodies = &tumbling, .body_count = 1};
  saltus_mechanism* m = make(&def);
  saltus_system_check_result result;
  assert_int_equal(saltus_system_check(saltus_mechanism_system(m), 0.0, saltus_mechanism_q0(m),
                                       saltus_mechanism_v0(m), (saltus_log){0}, &result),
                   SALTUS_OK);
  if (!(result.worst < 1e-9)) {
    fail_msg("%s %g", result.where, result.worst);
  }
  assert_true(result.traits_hold);
  saltus_mechanism_destroy(m);
}

static void quaternions_keep_length_one(void** state) {
  (void)state;
  const saltus_mechanism_def def = {.dimension = 3, .bodies = &tumbling, .body_count = 1};
  saltus_mechanism* m = make(&def);
  const saltus_system* sys = saltus_mechanism_system(m);
  double q[7], next[7];
  memcpy(q, saltus_mechanism_q0(m), sizeof q);
  for (int i = 0; i < 1000000; i++) {
    sys->ops->advance(sys->self, q, saltus_mechanism_v0(m), 1e-2, next);
    memcpy(q, next, sizeof q);
  }
  double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  assert_true(fabs(length - 1.0) < 4e-16); /* one rounding of each component */
  /* exact along constant velocity, as one step of 10^4 s is; 10^6 roundings of positions up to 3000 m are 2e-7
   * at worst, of unit quaternions 2e-10 */
  double at_once[7], d[6];
  sys->ops->advance(sys->self, saltus_mechanism_q0(m), saltus_mechanism_v0(m), 1e4, at_once);
  sys->ops->difference(sys->self, q, at_once, d);
  for (int k = 0; k < 6; k++) {
    assert_true(fabs(d[k]) < (k < 3 ? 2e-7 : 2e-10));
  }
  saltus_mechanism_destroy(m);
}

/* ---- conserved quantities ---- */

static void free_bodies_keep_momentum_and_energy(void** state) {
  (void)state;
  const saltus_mechanism_def def = {.dimension = 3, .bodies = &tumbling, .body_count = 1};
  saltus_mechanism* m = make(&def);
  const saltus_integrator_def run = {.system = saltus_mechanism_system(m),
                                     .q0 = saltus_mechanism_q0(m),
                                     .v0 = saltus_mechanism_v0(m),
                                     .rtol = 1e-10,
                                     .atol = 1e-10};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&run, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 20.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  saltus_mechanism_state before, after;
  saltus_mechanism_measure(m, 0.0, run.q0, run.v0, &before);
  const double* q = saltus_integrator_q(it);
  saltus_mechanism_measure(m, 20.0, q, saltus_integrator_v(it), &after);
  /* errors of 1e-10 a step, 10^3 steps, momenta of 5 */
  assert_near(after.kinetic, before.kinetic, 1e-7);
  for (int k = 0; k < 3; k++) {
    assert_near(after.momentum[k], before.momentum[k], 1e-12);
    assert_near(after.angular_momentum[k], before.angular_momentum[k], 1e-7);
    assert_near(after.centre[k], before.centre[k] + 20.0 * before.momentum[k] / 2.0, 1e-9);
  }
  assert_near(before.mass, 2.0, 0.0);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

/* ---- refusals ---- */

static void refused(const saltus_mechanism_def* def, const char* words) {
  saltus_kept_message kept;
  saltus_mechanism_def heard = *def;
  saltus_mechanism* m;
  heard.log = saltus_log_keep(&kept);
  saltus_status status = saltus_mechanism_create(&heard, &m);
  if (status == SALTUS_OK) {
    saltus_mechanism_destroy(m);
    fail_msg("was accepted: %s", words);
  }
  assert_null(m);
  assert_says(kept, words);
}

static void bad_bodies_are_refused_with_their_values(void** state) {
  (void)state;
  saltus_body_def body = tumbling;
  saltus_mechanism_def def = {.dimension = 3, .bodies = &body, .body_count = 1};
  body.mass = 0.0;
  refused(&def, "body \"box\": its mass is 0 kg, must be above 0");
  body.mass = -2.5;
  refused(&def, "its mass is -2.5 kg");
  body = tumbling;
  body.inertia[2] = 3.5;
  refused(&def, "the largest must be at most the sum of the others");
  body = tumbling;
  body.inertia[0] = -1.0;
  refused(&def, "must all be above 0");
  body = tumbling;
  body.inertia[3] = 1.5; /* xy beyond the diagonal: not positive definite */
  refused(&def, "must all be above 0");
  body = tumbling;
  body.orientation = (saltus_orientation){SALTUS_ORIENTATION_QUATERNION, {0.0}};
  refused(&def, "the quaternion of its orientation is (0, 0, 0, 0), must not be zero");
  body.orientation = (saltus_orientation){SALTUS_ORIENTATION_AXIS, {0.0, 0.0, 0.0, 1.0}};
  refused(&def, "the axis of its orientation is (0, 0, 0)");
  body = tumbling;
  body.position[1] = NAN;
  refused(&def, "its position has the value nan");
  def.dimension = 4;
  refused(&def, "dimension 4, must be 2 or 3");
  body = tumbling;
  def.dimension = 2;
  refused(&def, "an orientation in the plane is an angle");
}

static void bad_markers_and_joints_are_refused_by_name(void** state) {
  (void)state;
  const saltus_body_def bodies[] = {tumbling, {.name = "wall", .kind = SALTUS_BODY_FIXED}};
  saltus_marker_def markers[] = {
      {.name = "p", .body = "box"}, {.name = "q", .marker = "r"}, {.name = "r", .marker = "p"}};
  saltus_joint_def joint = {
      .name = "pin", .type = SALTUS_JOINT_SPHERICAL, .between = {"origin", "p"}};
  saltus_mechanism_def def = {.dimension = 3,
                              .bodies = bodies,
                              .body_count = 2,
                              .markers = markers,
                              .marker_count = 3,
                              .joints = &joint,
                              .joint_count = 1};
  refused(&def, "joint \"pin\": there is no marker \"origin\"");
  joint.between[0] = "q";
  refused(&def, "both markers are on the same body, \"box\"");
  markers[2].body = "bpx";
  markers[2].marker = NULL;
  refused(&def, "marker \"r\": there is no body \"bpx\"; did you mean \"box\"?");
  markers[2].body = NULL;
  markers[2].marker = "q";
  refused(&def, "markers go round in a circle");
  markers[2] = (saltus_marker_def){.name = "p"};
  refused(&def, "marker \"p\": the name is there twice");
  markers[2] = (saltus_marker_def){.name = "r"};
  joint.type = SALTUS_JOINT_DISTANCE;
  refused(&def, "its length is 0 m, must be above 0");
  joint.type = SALTUS_JOINT_SPHERICAL;
  joint.angle.damping = 1.0;
  refused(&def, "this type has no angle to drive, limit or load");
  joint.type = SALTUS_JOINT_REVOLUTE;
  markers[2].orientation = (saltus_orientation){SALTUS_ORIENTATION_AXIS, {1.0, 0.0, 0.0, 3.0}};
  refused(&def, "the z axes of its markers are");
  markers[2].orientation = (saltus_orientation){SALTUS_ORIENTATION_NONE, {0.0}};
  joint.angle.damping = -1.0;
  refused(&def, "stiffness is 0, damping -1 and armature 0, must be at least 0");
  joint.angle = (saltus_coordinate_def){.limited = true, .lower = 2.0, .upper = 1.0};
  refused(&def, "limits are 2 and 1, the first must be below the second");
  joint.angle = (saltus_coordinate_def){.force = {.input = "motor"}};
  refused(&def, "there is no input \"motor\"");
  joint.angle = (saltus_coordinate_def){0};
  joint.type = SALTUS_JOINT_SCREW;
  refused(&def, "its pitch is 0 m per turn");
  def.dimension = 2;
  const saltus_body_def flat = {.name = "box", .mass = 1.0, .inertia = {1.0}};
  def.bodies = &flat;
  def.body_count = 1;
  refused(&def, "the type \"screw\" is one of space only");
}

static void memory_that_runs_out_is_reported_and_given_back(void** state) {
  (void)state;
  saltus_mechanism_def def = {.dimension = 3, .bodies = &tumbling, .body_count = 1};
  for (int fail_at = 1;; fail_at++) {
    counter count = {.fail_at = fail_at};
    const saltus_allocator allocator = counting_allocator(&count);
    saltus_mechanism* m;
    def.allocator = &allocator;
    saltus_status status = saltus_mechanism_create(&def, &m);
    saltus_mechanism_destroy(m);
    assert_int_equal(count.live, 0);
    if (status == SALTUS_OK) {
      assert_true(fail_at > 1);
      break;
    }
    assert_int_equal(status, SALTUS_ERR_MEMORY);
  }
}

/* ---- assembly ---- */

/* A four-bar of rods between (0,0) and (2,0); rods 1, 2 and the last as given, placed roughly. */
/* Lengths in units of `unit`. */
static saltus_mechanism* four_bar_of(double unit, double last) {
  saltus_body_def bodies[] = {
      {.name = "crank", .mass = 1.0, .inertia = {0.1}, .position = {0.0, 0.51}},
      {.name = "coupler", .mass = 1.0, .inertia = {0.1}, .position = {1.0, 0.98}},
      {.name = "rocker", .mass = 1.0, .inertia = {0.1}, .position = {2.01, 0.5}}};
  saltus_marker_def markers[] = {
      {.name = "A"},
      {.name = "crank foot", .body = "crank", .position = {0.0, -0.5}},
      {.name = "crank tip", .body = "crank", .position = {0.0, 0.5}},
      {.name = "coupler left", .body = "coupler", .position = {-1.0, 0.0}},
      {.name = "coupler right", .body = "coupler", .position = {1.0, 0.0}},
      {.name = "rocker tip", .body = "rocker", .position = {0.0, 0.5}},
      {.name = "rocker foot", .body = "rocker", .position = {0.0, -0.5}},
      {.name = "D", .position = {last, 0.0}}};
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 2; k++) {
      markers[i].position[k] *= unit;
      bodies[i % 3].position[k] *= i < 3 ? unit : 1.0;
    }
  }
  const saltus_joint_def joints[] = {
      {.name = "a", .type = SALTUS_JOINT_REVOLUTE, .between = {"A", "crank foot"}},
      {.name = "b", .type = SALTUS_JOINT_REVOLUTE, .between = {"crank tip", "coupler left"}},
      {.name = "c", .type = SALTUS_JOINT_REVOLUTE, .between = {"coupler right", "rocker tip"}},
      {.name = "d", .type = SALTUS_JOINT_REVOLUTE, .between = {"D", "rocker foot"}}};
  const saltus_mechanism_def def = {.dimension = 2,
                                    .gravity = {0.0, -9.81},
                                    .bodies = bodies,
                                    .body_count = 3,
                                    .markers = markers,
                                    .marker_count = 8,
                                    .joints = joints,
                                    .joint_count = 4};
  return make(&def);
}

static saltus_mechanism* four_bar(double last) {
  return four_bar_of(1.0, last);
}

static void four_bar_is_assembled_by_a_small_movement(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_mechanism* m = four_bar(2.0);
  saltus_assembly assembly;
  saltus_mechanism_state s;
  saltus_mobility mobility;
  assert_int_equal(saltus_mechanism_assemble(m, 0.1, saltus_log_keep(&kept), &assembly), SALTUS_OK);
  saltus_mechanism_measure(m, 0.0, saltus_mechanism_q0(m), saltus_mechanism_v0(m), &s);
  assert_true(s.defect_metres < 1e-14);
  assert_true(assembly.moved > 5e-3 && assembly.moved < 0.05);
  assert_near(assembly.defect_before, hypot(0.01, 0.02), 0.02);
  assert_int_equal(saltus_mechanism_mobility(m, 0.0, saltus_mechanism_q0(m), &mobility), SALTUS_OK);
  assert_int_equal(mobility.mobility, 1);
  assert_int_equal(mobility.redundant, 0);
  saltus_mechanism_destroy(m);
}

static void joints_that_cannot_close_are_named_with_their_gap(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_assembly assembly;
  saltus_mechanism* m = four_bar(2.0);
  assert_int_equal(saltus_mechanism_assemble(m, 1e-3, saltus_log_keep(&kept), &assembly),
                   SALTUS_ERR_INPUT);
  assert_says(kept, "is open by");
  assert_says(kept, "allowed is 0.001");
  saltus_mechanism_destroy(m);
  m = four_bar(6.0); /* rods of 1, 2 and 1 m reach 4 m: 2 m are missing, shared by four joints */
  assert_true(saltus_mechanism_assemble(m, 10.0, saltus_log_keep(&kept), &assembly) != SALTUS_OK);
  assert_says(kept, "cannot be closed: at best it stays open by 0.5 m");
  assert_near(assembly.gap, 0.5, 1e-5); /* least squares end where their sum falls no more */
  saltus_mechanism_destroy(m);
  m = four_bar_of(1e-9, 6.0);
  assert_true(saltus_mechanism_assemble(m, 10.0, saltus_log_keep(&kept), &assembly) != SALTUS_OK);
  assert_says(kept, "cannot be closed: at best it stays open by 5e-10 m");
  saltus_mechanism_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_a_free_body_are_exact),
      cmocka_unit_test(quaternions_keep_length_one),
      cmocka_unit_test(free_bodies_keep_momentum_and_energy),
      cmocka_unit_test(bad_bodies_are_refused_with_their_values),
      cmocka_unit_test(bad_markers_and_joints_are_refused_by_name),
      cmocka_unit_test(memory_that_runs_out_is_reported_and_given_back),
      cmocka_unit_test(four_bar_is_assembled_by_a_small_movement),
      cmocka_unit_test(joints_that_cannot_close_are_named_with_their_gap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
