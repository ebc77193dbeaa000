/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Robots in URDF move as their formulas do: each file of tests/urdf/ is converted, read back as a scene and run, and so
 * is a scene in its joint coordinates that was written by hand. Both at 1e-9; they may differ by 10 tolerances.
 */
#include "saltus_test.h"

#include "saltus/mechanism.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANTS = 20, MOST = 4 };

static const double tol = 1e-9;

typedef struct motion {
  int width, heard;
  int behind; /* outputs that scenes with bodies in space have behind their own: momentum and angular
               * momentum, three each, and two of joints */
  int joints; /* and coordinates of joints and their rates */
  double at[INSTANTS + 1][MOST];
} motion;

static saltus_status listen(void* user, const saltus_frame* frame) {
  motion* m = user;
  assert_int_equal(frame->output_count, m->width + m->behind + m->joints);
  assert_true(m->heard <= INSTANTS);
  memcpy(m->at[m->heard++], frame->outputs, (size_t)m->width * sizeof(double));
  return SALTUS_OK;
}

/* Angles that are no coordinates, positions, and the rates of both. */
static int count_joint_outputs(const saltus_scene_view* view) {
  int count = 0;
  for (int j = 0; view->mechanism != NULL && j < saltus_mechanism_sizes(view->mechanism).joints;
       j++) {
    const saltus_joint_place place = saltus_mechanism_joint(view->mechanism, j);
    const bool turns =
        place.type == SALTUS_JOINT_REVOLUTE || place.type == SALTUS_JOINT_CYLINDRICAL;
    const bool moves =
        place.type == SALTUS_JOINT_PRISMATIC || place.type == SALTUS_JOINT_CYLINDRICAL;
    count += turns ? 1 + (place.angle < 0) : 0;
    count += moves ? 2 : 0;
  }
  return count;
}

static void run_text(const char* text, double until, motion* m) {
  saltus_kept_message message;
  const saltus_scene_def scene_def = {.text = text, .log = saltus_log_keep(&message)};
  saltus_scene* scene;
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    print_error("%s\n%s\n", message.text, text);
    fail();
  }
  const saltus_recorder recorder = {.frame = listen, .user = m};
  saltus_run_def def = saltus_run_def_default();
  double times[INSTANTS];
  for (int k = 0; k < INSTANTS; k++) {
    times[k] = until * (k + 1) / INSTANTS;
  }
  def.scene = saltus_scene_get_view(scene);
  m->joints = count_joint_outputs(def.scene);
  def.tol = tol;
  def.until = until;
  def.record_times = times;
  def.record_time_count = INSTANTS;
  def.recorders = &recorder;
  def.recorder_count = 1;
  def.log = saltus_log_keep(&message);
  m->heard = 0;
  saltus_run* run;
  saltus_status status = saltus_run_create(&def, &run);
  status = status == SALTUS_OK ? saltus_run_execute(run) : status;
  if (status != SALTUS_OK) {
    print_error("%s\n", message.text);
  }
  assert_int_equal(status, SALTUS_OK);
  assert_int_equal(m->heard, INSTANTS + 1);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* The scene of a robot with these outputs, and other gravity when given. */
static void run_robot(const char* name, bool merge, const char* gravity, const char* outputs,
                      double until, motion* m) {
  m->behind = 8;
  char path[512];
  snprintf(path, sizeof path, SALTUS_URDF "/%s.urdf", name);
  saltus_kept_message message;
  const saltus_urdf_def def = {.path = path, .merge = merge, .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_OK);
  const char* scene = saltus_urdf_get_view(urdf)->scene;
  static const char usual[] = "gravity: [0, 0, -9.81]";
  const char* at = strstr(scene, usual);
  assert_non_null(at);
  size_t room = strlen(scene) + 1000;
  char* text = malloc(room);
  assert_non_null(text);
  snprintf(text, room, "%.*sgravity: %s%s\noutputs: %s\n", (int)(at - scene), scene,
           gravity != NULL ? gravity : "[0, 0, -9.81]", at + strlen(usual), outputs);
  run_text(text, until, m);
  free(text);
  saltus_urdf_destroy(urdf);
}

static void compare(const motion* robot, const char* formulas, double until) {
  motion exact = {.width = robot->width};
  run_text(formulas, until, &exact);
  double worst = 0.0;
  for (int k = 0; k <= INSTANTS; k++) {
    for (int i = 0; i < robot->width; i++) {
      worst = fmax(worst, fabs(robot->at[k][i] - exact.at[k][i]));
    }
  }
  assert_near(worst, 0.0, 10.0 * tol);
}

/* Yaw a, pitch b, elbow c; the forearm has the pitch d = b + 1/2 + c. A link of pitch p turns with (-a' sin p, p',
 * a' cos p) in its axes. Gravity is askew, so that the column turns too. */
static void the_serial_arm_moves_as_lagrange_says(void** state) {
  (void)state;
  motion robot = {.width = 3};
  run_robot("serial-arm", false, "[3, -4, -8]",
            "{o1: base.angle, o2: shoulder.angle, o3: elbow.angle}", 1.5, &robot);
  static const char formulas[] =
      "saltus: 1\n"
      "coordinates: {a: {start: 0}, b: {start: 0}, c: {start: 0}}\n"
      "kinetic: 0.01*a'^2 + (0.25*sin(b)*b')^2 + (0.25*cos(b)*b')^2 + (0.25*cos(b)*a')^2"
      " + 0.025*b'^2 + (0.002*sin(b)^2 + 0.026*cos(b)^2)*a'^2"
      " + ((0.5*sin(b)*b' + 0.2*sin(b + 0.5 + c)*(b' + c'))^2"
      " + (0.5*cos(b)*b' + 0.2*cos(b + 0.5 + c)*(b' + c'))^2"
      " + ((0.5*cos(b) + 0.2*cos(b + 0.5 + c))*a')^2)/2"
      " + 0.007*(b' + c')^2"
      " + (0.0005*sin(b + 0.5 + c)^2 + 0.00725*cos(b + 0.5 + c)^2)*a'^2\n"
      "potential: -(3*cos(a) - 4*sin(a))*(2*0.25*cos(b) + 0.5*cos(b) + 0.2*cos(b + 0.5 + c))"
      " - 8*(2*0.25*sin(b) + 0.5*sin(b) + 0.2*sin(b + 0.5 + c))\n"
      "forces: {a: -0.05*a', b: -0.1*b'}\n"
      "dry_friction: [{rate: \"b'\", force: 0.2}]\n"
      "outputs: {o1: a, o2: b, o3: c}\n";
  compare(&robot, formulas, 1.5);
}

/* 2 kg on a slide with friction 3 N behind a gear 5 : 1, at most 10 N: 0.5 N of the motor hold, 4 N give (10 - 3)/2. */
static void motors_act_within_their_effort_against_friction(void** state) {
  (void)state;
  static const char robot[] =
      "<robot name='r'><link name='world'/><link name='cart'><inertial><mass value='2'/><inertia "
      "ixx='1' iyy='1' izz='1'/></inertial></link><joint name='slide' type='prismatic'><parent "
      "link='world'/><child link='cart'/><limit lower='-9' upper='9' effort='10' velocity='1'/>"
      "<dynamics friction='3'/></joint><transmission name='gear'><joint name='slide'/><actuator "
      "name='motor'><mechanicalReduction> 5 </mechanicalReduction></actuator></transmission>"
      "</robot>";
  saltus_kept_message message;
  for (int joints = 0; joints < 2; joints++) {
    const saltus_urdf_def def = {
        .text = robot, .by_joints = joints == 1, .log = saltus_log_keep(&message)};
    saltus_urdf* urdf;
    assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_OK);
    for (int moves = 0; moves < 2; moves++) {
      char text[4000];
      const char *scene = saltus_urdf_get_view(urdf)->scene, *at = strstr(scene, "_effort: 0");
      assert_non_null(at);
      snprintf(text, sizeof text, "%.*s%s%soutputs: {x: slide.position}\n", (int)(at - scene),
               scene, moves == 1 ? "_effort: 4" : "_effort: 0.5", at + 10);
      motion m = {.width = 1, .behind = 8};
      run_text(text, 1.0, &m);
      assert_near(m.at[INSTANTS][0], moves == 1 ? 1.75 : 0.0, 10.0 * tol);
    }
    saltus_urdf_destroy(urdf);
  }
}

/* J about x of the link: x' I x of each part, and m (y^2 + z^2). With and without the fixed joint. */
static void the_offset_pendulum_has_the_inertia_of_its_parts(void** state) {
  (void)state;
  static const char formulas[] =
      "saltus: 1\n"
      "parameters:\n"
      "  x1: cos(1.1)*cos(-0.7)\n"
      "  x2: cos(1.1)*sin(-0.7)*sin(0.3) - sin(1.1)*cos(0.3)\n"
      "  x3: cos(1.1)*sin(-0.7)*cos(0.3) + sin(1.1)*sin(0.3)\n"
      "  bob: 0.05*x1^2 + 0.04*x2^2 + 0.03*x3^2 + 2*(0.004*x1*x2 - 0.003*x1*x3 + 0.002*x2*x3)\n"
      "  weight: 0.01*(cos(0.2)*cos(0.4))^2 + 0.02*(cos(0.2)*sin(0.4))^2 + 0.015*sin(0.2)^2\n"
      "  y: -0.3 + (0.5 - 0.1*cos(0.2))*sin(0.8)\n"
      "  z: (0.1*cos(0.2) - 0.5)*cos(0.8)\n"
      "  J: bob + 2.5*(0.1^2 + 0.4^2) + weight + 1.5*(y^2 + z^2)\n"
      "coordinates: {q: {start: 0}}\n"
      "kinetic: J/2*q'^2\n"
      "potential: 9.81*(2.5*(0.1*sin(q) - 0.4*cos(q)) + 1.5*(y*sin(q) + z*cos(q)))\n"
      "outputs: {o1: q}\n";
  for (int merge = 0; merge < 2; merge++) {
    motion robot = {.width = 1};
    run_robot("inertia-offset", merge == 1, NULL, "{o1: hinge.angle}", 3.0, &robot);
    compare(&robot, formulas, 3.0);
  }
}

/* One degree of freedom with the mass 11.5 + 0.005 10^2 + 0.002 25^2 = 13.25 kg, force F and damper c:
 * x = F/c (t - m/c (1 - exp(-c t/m))). */
static void the_cart_rolls_with_all_its_wheels(void** state) {
  (void)state;
  motion robot = {.width = 3};
  run_robot("mobile-base", false, NULL, "{x: rail.position, w: axle.angle, f: spindle.angle}", 3.0,
            &robot);
  double m = 13.25, c = 1.5, F = 11.5 * 9.81 * sin(0.3);
  for (int k = 0; k <= INSTANTS; k++) {
    double t = 3.0 * k / INSTANTS;
    double x = F / c * (t - m / c * (1.0 - exp(-c * t / m)));
    double allowed = 10.0 * tol * fmax(1.0, 25.0 * x); /* relative: 250 rad */
    assert_near(robot.at[k][0], x, allowed);
    assert_near(robot.at[k][1], 10.0 * x, allowed);
    assert_near(robot.at[k][2], 0.4 - 25.0 * x, allowed);
  }
}

static void the_loop_swings_as_a_pendulum(void** state) {
  (void)state;
  motion robot = {.width = 2};
  run_robot("closed-loop", false, NULL, "{q: 0.6 + left_top.angle, p: 0.6 + right_top.angle}", 3.0,
            &robot);
  static const char formulas[] = "saltus: 1\n"
                                 "parameters: {J: 0.021 + 0.25^2 + 0.031 + 1.5*0.2^2 + 2*0.5^2}\n"
                                 "coordinates: {q: {start: 0.6}}\n"
                                 "kinetic: J/2*q'^2\n"
                                 "potential: -9.81*(0.25 + 1.5*0.2 + 2*0.5)*cos(q)\n"
                                 "outputs: {o1: q, o2: q}\n";
  compare(&robot, formulas, 3.0);
}

/* Both come to rest at their limits. */
static void limits_stop_what_falls_onto_them(void** state) {
  (void)state;
  motion robot = {.width = 2};
  run_robot("limits", false, NULL, "{q: hinge.angle, s: slide.position}", 1.0, &robot);
  static const char formulas[] = "saltus: 1\n"
                                 "coordinates: {q: {start: 0}, s: {start: -0.25}}\n"
                                 "kinetic: (0.08 + 0.25)/2*q'^2 + 3/2*s'^2\n"
                                 "potential: -9.81*0.5*sin(q) + 3*9.81*s\n"
                                 "contacts:\n"
                                 "  - {name: upper, gap: 1.2 - q, restitution: 0}\n"
                                 "  - {name: lower, gap: s + 1.5, restitution: 0}\n"
                                 "outputs: {o1: q, o2: s}\n";
  compare(&robot, formulas, 1.0);
  assert_near(robot.at[INSTANTS][0], 1.2, 10.0 * tol);
  assert_near(robot.at[INSTANTS][1], -1.5, 10.0 * tol);
}

int main(void) {
  if (!saltus_has("expat") || !saltus_has("yaml")) {
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_serial_arm_moves_as_lagrange_says),
      cmocka_unit_test(motors_act_within_their_effort_against_friction),
      cmocka_unit_test(the_offset_pendulum_has_the_inertia_of_its_parts),
      cmocka_unit_test(the_cart_rolls_with_all_its_wheels),
      cmocka_unit_test(the_loop_swings_as_a_pendulum),
      cmocka_unit_test(limits_stop_what_falls_onto_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
