/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Robots in URDF become the text of scenes: numbers that follow from the file by hand, lists of what is not used,
 * and refusals with line and reason. How such scenes move: tests/reference/test_urdf_motion.c.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static saltus_kept_message message;

static saltus_status convert(const char* text, saltus_urdf_base base, bool merge,
                             saltus_urdf** out) {
  const saltus_urdf_def def = {.path = "r.urdf",
                               .text = text,
                               .base = base,
                               .merge = merge,
                               .log = saltus_log_keep(&message)};
  return saltus_urdf_create(&def, out);
}

static saltus_urdf* converted(const char* text, saltus_urdf_base base, bool merge) {
  saltus_urdf* urdf;
  saltus_status status = convert(text, base, merge, &urdf);
  if (status != SALTUS_OK) {
    print_error("%s\n", message.text);
  }
  assert_int_equal(status, SALTUS_OK);
  return urdf;
}

static saltus_urdf* of_file(const char* name) {
  char path[512];
  snprintf(path, sizeof path, SALTUS_URDF "/%s.urdf", name);
  const saltus_urdf_def def = {.path = path, .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_OK);
  return urdf;
}

static void expect_text(const saltus_urdf* urdf, const char* part) {
  const char* scene = saltus_urdf_get_view(urdf)->scene;
  if (strstr(scene, part) == NULL) {
    print_error("not in the scene: %s\n%s\n", part, scene);
    fail();
  }
}

static void expect_note(const saltus_urdf* urdf, int line, const char* part) {
  const saltus_urdf_view* view = saltus_urdf_get_view(urdf);
  for (int i = 0; i < view->note_count; i++) {
    if (view->notes[i].line == line && strstr(view->notes[i].text, part) != NULL) {
      return;
    }
  }
  print_error("no note of line %d: %s\n%s\n", line, part, view->scene);
  fail();
}

/* The numbers behind "KEY: [" in the line that begins with "  NAME: ". */
static void numbers_of(const saltus_urdf* urdf, const char* name, const char* key, int count,
                       double* out) {
  char start[80];
  snprintf(start, sizeof start, "\n  %s: {", name);
  const char* line = strstr(saltus_urdf_get_view(urdf)->scene, start);
  assert_non_null(line);
  snprintf(start, sizeof start, "%s: [", key);
  const char* at = strstr(line + 1, start);
  assert_non_null(at);
  at += strlen(start);
  for (int i = 0; i < count; i++) {
    char* end;
    out[i] = strtod(at, &end);
    assert_true(end != at);
    at = end + 1;
  }
}

#define INERTIAL(m, i)                                                                             \
  "<inertial><mass value='" m "'/><inertia ixx='" i "' iyy='" i "' izz='" i "'/></inertial>"
#define ROOT "<link name='world'/>\n"
#define ARM "<link name='arm'>" INERTIAL("1", "0.1") "</link>\n"
#define JOINT(name, type, parent, child, more)                                                     \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child          \
  "'/>" more "</joint>\n"

/* ---- what comes out ---------------------------------------------------------------------- */

static void every_element_of_the_arm_is_in_the_scene_or_listed(void** state) {
  (void)state;
  saltus_urdf* urdf = of_file("serial-arm");
  const saltus_urdf_view* view = saltus_urdf_get_view(urdf);
  assert_int_equal(view->links, 5);
  assert_int_equal(view->joints, 4);
  assert_int_equal(view->bodies, 3);
  expect_text(urdf, "upper_arm: {mass: 2, inertia: [0.004, 0.05, 0.052], position: [0.25, 0, 0.5]");
  expect_text(urdf, "tool0_frame: {body: forearm, point: [0.2, 0, 0], ");
  expect_text(urdf,
              "{name: base, type: revolute, between: [base_parent, base_child], damping: 0.05, "
              "actuator: \"base_effort\"}");
  expect_text(urdf, "limits: [-3.5, 3.5], damping: 0.1, dry_friction: {force: 0.2}, "
                    "actuator: \"min(max(shoulder_effort, -100), 100)\"}");
  expect_text(urdf, "inputs: {base_effort: 0, shoulder_effort: 0, elbow_effort: 0}");
  expect_note(urdf, 4, "root link \"world\" is the ground");
  expect_text(urdf, "{name: column_visual, cylinder: {radius: 0.1, length: 0.4}, visual: true, "
                    "position: [0, 0, -0.2]}");
  expect_note(urdf, 19, "<collision> parts have no friction");
  expect_text(urdf,
              "{name: upper_arm_shape, box: {size: [0.5, 0.1, 0.1]}, position: [-0.25, 0, 0]}");
  expect_note(urdf, 13, "link \"upper-arm\" is called upper_arm");
  expect_note(urdf, 43, "velocity=\"2\"");
  expect_note(urdf, 59, "transmission \"t2\": not used: it has no <joint>");
  assert_int_equal(view->note_count, 6); /* and the other joint's velocity */
  saltus_urdf_destroy(urdf);
}

static void collision_parts_become_shapes_or_are_listed(void** state) {
  (void)state;
  saltus_urdf* urdf = of_file("collisions");
  expect_text(urdf, "{name: world_shape, box: {size: [0.2, 0.2, 0.1]}, position: [0, 0, -0.05]}");
  expect_text(urdf, "{name: world_shape_2, sphere: {radius: 0.1}, position: [0.5, 0, 0.1]");
  expect_text(urdf, "{name: block_shape, box: {size: [0.8, 0.1, 0.1]}, position: [0, 0, 0]}");
  expect_text(urdf, "{name: ball_shape, sphere: {radius: 0.05}, position: [0, 0, 0]}");
  /* a neighbour of the ground; the ball is nobody's */
  expect_text(urdf, "{between: [block, world_shape], collide: false}");
  expect_text(urdf, "{between: [block, world_shape_2], collide: false}");
  assert_null(strstr(saltus_urdf_get_view(urdf)->scene, "between: [ball"));
  expect_note(urdf, 11, "\"../part.dae\" is not in the folder of the robot or below it: not used");
  expect_text(urdf,
              "{name: block_visual, mesh: {file: \"part.stl\", scale: [1, 1, 2]}, visual: true");
  expect_note(urdf, 13, "<torus>: not known, not used");
  saltus_urdf_destroy(urdf);
}

/* What is not used leaves its link without shapes, and no pair may name it. */
static void links_whose_parts_are_not_used_are_in_no_pair(void** state) {
  (void)state;
  saltus_urdf* urdf = converted(
      "<robot name='r'><link name='world'><collision><geometry><sphere radius='1'/></geometry>"
      "</collision></link><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
      "izz='1' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><torus/></geometry>"
      "</collision></link><joint name='j' type='continuous'><parent link='world'/>"
      "<child link='b'/><axis xyz='0 0 1'/></joint></robot>",
      SALTUS_URDF_BASE_DEFAULT, false);
  expect_text(urdf, "name: world_shape");
  assert_null(strstr(saltus_urdf_get_view(urdf)->scene, "contact_pairs"));
  saltus_urdf_destroy(urdf);
}

/* R I R^T by quaternions instead of matrices, which is how nothing in the converter does it. */
static void turn(const double* rpy, const double* x, double* out) {
  double y[3] = {x[0], x[1], x[2]};
  for (int axis = 0; axis < 3; axis++) {
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double c = cos(rpy[axis]), s = sin(rpy[axis]);
    double a = c * y[i] - s * y[j], b = s * y[i] + c * y[j];
    y[i] = a;
    y[j] = b;
  }
  memcpy(out, y, sizeof y);
}

static void inertia_is_about_the_centre_of_mass_in_axes_of_the_link(void** state) {
  (void)state;
  saltus_urdf* urdf = of_file("inertia-offset");
  const double rpy[3] = {0.3, -0.7, 1.1};
  const double I[3][3] = {{0.05, 0.004, -0.003}, {0.004, 0.04, 0.002}, {-0.003, 0.002, 0.03}};
  /* columns of R; element ab of R I R^T is sum R_ai I_ij R_bj */
  double axes[3][3];
  for (int i = 0; i < 3; i++) {
    const double unit[3] = {i == 0, i == 1, i == 2};
    turn(rpy, unit, axes[i]);
  }
  static const int places[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  double given[6];
  numbers_of(urdf, "bob", "inertia", 6, given);
  for (int k = 0; k < 6; k++) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        sum += axes[i][places[k][0]] * I[i][j] * axes[j][places[k][1]];
      }
    }
    assert_true(fabs(given[k] - sum) < 1e-16); /* rounding of numbers up to 0.05 */
  }
  expect_text(urdf, "bob_frame: {body: bob, point: [-0.3, -0.1, 0.4]}");
  saltus_urdf_destroy(urdf);
}

/* Two cubes of 1 kg and 3 kg, 2 m apart along x, the second turned by a right angle about z: centre at 1.5 m,
 * the axes of the second exchange, and Steiner adds 1 1.5^2 + 3 0.5^2 = 3 kg m^2 to yy and zz. */
static void merged_links_have_the_mass_properties_of_both(void** state) {
  (void)state;
  static const char text[] =
      "<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.2' izz='0.25'/>"
      "</inertial></link>\n"
      "<link name='b'><inertial><mass value='3'/><inertia ixx='0.3' iyy='0.4' izz='0.5' "
      "ixy='0.02'/>"
      "</inertial></link>\n" JOINT("weld", "fixed", "a", "b",
                                   "<origin xyz='2 0 0' rpy='0 0 1.5707963267948966'/>") "</robot>";
  saltus_urdf* urdf = converted(text, SALTUS_URDF_BASE_DEFAULT, true);
  assert_int_equal(saltus_urdf_get_view(urdf)->bodies, 1);
  double I[6], centre[3];
  numbers_of(urdf, "a", "inertia", 6, I);
  numbers_of(urdf, "a", "position", 3, centre);
  static const double wanted[6] = {0.5, 3.5, 3.75, -0.02, 0.0, 0.0};
  for (int i = 0; i < 6; i++) {
    assert_true(fabs(I[i] - wanted[i]) < 4e-15);
  }
  assert_true(fabs(centre[0] - 1.5) < 4e-16);
  expect_text(urdf, "b_frame: {body: a, point: [0.5, 0, 0], orientation");
  saltus_urdf_destroy(urdf);
  urdf = converted(text, SALTUS_URDF_BASE_DEFAULT, false);
  assert_int_equal(saltus_urdf_get_view(urdf)->bodies, 2);
  expect_text(urdf, "{name: weld, type: fixed, between: [weld_parent, weld_child]}");
  saltus_urdf_destroy(urdf);
}

static void a_link_without_mass_belongs_to_what_it_is_fixed_to(void** state) {
  (void)state;
  /* above, below and between */
  saltus_urdf* urdf = converted("<robot><link name='footprint'/>" ARM
                                "<link name='sensor'/><link name='cover'/>" JOINT(
                                    "j", "fixed", "footprint", "arm", "<origin xyz='0 0 1'/>")
                                    JOINT("k", "fixed", "arm", "sensor", "<origin xyz='1 0 0'/>")
                                        JOINT("l", "fixed", "sensor", "cover", "") "</robot>",
                                SALTUS_URDF_BASE_FREE, false);
  assert_int_equal(saltus_urdf_get_view(urdf)->bodies, 1);
  expect_text(urdf, "footprint: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 1]}");
  expect_text(urdf, "footprint_frame: {body: footprint, point: [0, 0, -1]}");
  expect_text(urdf, "cover_frame: {body: footprint, point: [1, 0, 0]}");
  saltus_urdf_destroy(urdf);
}

static void the_base_is_the_ground_or_free_as_asked(void** state) {
  (void)state;
  static const char two[] = "<robot><link name='base'>" INERTIAL("2", "0.2") "</link>" ARM JOINT(
      "j", "continuous", "base", "arm", "") "</robot>";
  saltus_urdf* urdf = converted(two, SALTUS_URDF_BASE_DEFAULT, false);
  assert_int_equal(saltus_urdf_get_view(urdf)->bodies, 2);
  expect_note(urdf, 1, "is free, because it has an <inertial>");
  saltus_urdf_destroy(urdf);
  urdf = converted(two, SALTUS_URDF_BASE_FIXED, false);
  assert_int_equal(saltus_urdf_get_view(urdf)->bodies, 1);
  expect_note(urdf, 1, "its mass of 2 kg is that of the ground");
  saltus_urdf_destroy(urdf);
}

static void mimics_are_gears_and_racks(void** state) {
  (void)state;
  saltus_urdf* urdf = of_file("mobile-base");
  expect_text(urdf, "type: rack-and-pinion, joints: [axle, rail], radius: 0.1}");
  expect_text(urdf, "type: gear, joints: [axle, spindle], ratio: -2.5, offset: 0.4}");
  expect_note(urdf, 41, "starts at 0.4, because of its <mimic>");
  saltus_urdf_destroy(urdf);
}

static void a_joint_starts_inside_its_limits(void** state) {
  (void)state;
  saltus_urdf* urdf = of_file("limits");
  double at[3];
  numbers_of(urdf, "hammer", "position", 3, at);
  assert_true(at[0] == 2.0 && at[2] == -0.25);
  expect_note(urdf, 25, "starts at -0.25, because of its limits");
  saltus_urdf_destroy(urdf);
}

/* 0.3 rad and nothing else: what hangs on it is rotated there, and no joint is left. */
static void a_joint_with_one_value_is_fixed_there(void** state) {
  (void)state;
  saltus_urdf* urdf =
      converted("<robot>" ROOT ARM "<link name='tip'/>" JOINT("j", "continuous", "world", "arm", "")
                    JOINT("k", "revolute", "arm", "tip",
                          "<axis xyz='0 0 1'/><limit lower='0.3' upper='0.3'/>") "</robot>",
                SALTUS_URDF_BASE_DEFAULT, false);
  double q[4];
  numbers_of(urdf, "tip_frame", "quaternion", 4, q);
  assert_true(fabs(q[0] - cos(0.15)) < 2e-16 && fabs(q[3] - sin(0.15)) < 2e-16);
  saltus_urdf_destroy(urdf);
}

static void names_are_words_that_differ(void** state) {
  (void)state;
  saltus_urdf* urdf = converted(
      "<robot name='&quot;\\ &#10;x'><link name='world'/><link "
      "name='sin'>" INERTIAL("1", "1") "</link><link name='a b'>" INERTIAL(
          "1", "1") "</link><link name='a/b'>" INERTIAL("1", "1") "</link>" JOINT("a b",
                                                                                  "continuou"
                                                                                  "s",
                                                                                  "world", "a b",
                                                                                  "")
          JOINT("2", "floating", "world", "a/b", "")
              JOINT("pi", "planar", "world", "sin", "") "</robot>",
      SALTUS_URDF_BASE_DEFAULT, false);
  expect_text(urdf, "name: \"\\\"\\\\ \\\\x0ax\"\n");
  expect_text(urdf, "\n  a_b: {mass");
  expect_text(urdf, "\n  a_b_3: {mass");
  expect_text(urdf, "\n  sin_2: {mass");
  expect_text(urdf, "type: planar");
  expect_note(urdf, 1, "link \"sin\" is called sin_2");
  saltus_urdf_destroy(urdf);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void refused(const char* text, const char* words) {
  saltus_urdf* urdf = (saltus_urdf*)&message;
  assert_int_equal(convert(text, SALTUS_URDF_BASE_DEFAULT, false, &urdf), SALTUS_ERR_INPUT);
  assert_null(urdf);
  assert_says(message, words);
}

static void broken_trees_are_refused(void** state) {
  (void)state;
  refused("<robot/>", "r.urdf:1: the robot has no links");
  refused("<sdf/>", "r.urdf:1: the file is a <sdf>");
  refused("<robot>\n" ROOT ARM ARM "</robot>", ":4: a second link \"arm\"; the first is in line 3");
  refused("<robot>\n" ROOT ARM "</robot>", ":3: links \"world\" (line 2) and \"arm\"");
  refused("<robot>\n" ROOT ARM JOINT("j", "fixed", "wrld", "arm", "") "</robot>",
          ":4: joint \"j\": there is no link \"wrld\"; did you mean world?");
  refused("<robot>\n" ROOT ARM JOINT("j", "revolut", "world", "arm", "") "</robot>",
          ":4: joint \"j\": no type \"revolut\"; did you mean revolute?");
  refused("<robot>\n" ROOT ARM JOINT("j", "ball", "world", "arm", "") "</robot>",
          "no type \"ball\"");
  refused("<robot>\n" ROOT ARM JOINT("j", "fixed", "arm", "arm", "") "</robot>",
          ":4: joint \"j\" joins a link with itself");
  refused(
      "<robot>\n" ROOT ARM JOINT("j", "fixed", "world", "arm", "")
          JOINT("k", "fixed", "world", "arm", "") "</robot>",
      ":5: link \"arm\" is the child of joint \"j\" (line 4) and of joint \"k\"; a loop is closed "
      "by a <constraint>");
  refused("<robot>\n" ROOT ARM "<link name='b'/>\n" JOINT("j", "fixed", "b", "arm", "")
              JOINT("k", "fixed", "arm", "b", "") "</robot>",
          "hangs in a circle");
  refused("<robot>\n" ROOT ARM JOINT("j", "fixed", "world", "arm", "")
              JOINT("j", "fixed", "world", "arm", "") "</robot>",
          ":5: a second joint \"j\"; the first is in line 4");
  refused("<robot>\n" ARM JOINT("j", "fixed", "arm", "nobody", "") "</robot>",
          "no link \"nobody\"");
  refused("<robot>\n" ROOT ARM
          "<joint name='j' type='fixed'><parent link='world'/></joint></robot>",
          ":4: joint \"j\": has no <child link");
}

static void collision_parts_that_cannot_be_are_refused(void** state) {
  (void)state;
  static const char* const bad[][2] = {
      {"<box size='1 1'/>", "size"},
      {"<box size='1 0 1'/>", "needs size=\"...\" above 0"},
      {"<box size='1 1e-320 1'/>", "at least 1e-12 m"},
      {"<sphere/>", "needs radius"},
      {"<sphere radius='-1'/>", "above 0"},
      {"<cylinder radius='1'/>", "needs length"},
      {"<sphere radius='inf'/>", "radius"},
      {"<mesh scale='1 1 1'/>", "filename"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<robot name='r'>\n" ROOT "<link name='arm'>" INERTIAL(
                 "1", "0.1") "\n<collision>"
                             "<geometry>%s</geometry></collision></link>\n" JOINT(
                                 "j", "floating", "world", "arm", "") "</robot>",
             bad[i][0]);
    refused(text, "r.urdf:4: ");
    assert_non_null(strstr(message.text, bad[i][1]));
  }
}

static void impossible_masses_are_refused(void** state) {
  (void)state;
  refused("<robot>\n<link name='a'>\n<inertial><mass value='-1'/></inertial></link></robot>",
          ":3: link \"a\": its mass is -1 kg");
  refused("<robot>\n<link name='a'>" INERTIAL("1", "0") "</link></robot>",
          ":2: link \"a\": no body");
  refused("<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3'/>"
          "</inertial></link></robot>",
          "larger than the other two together");
  refused("<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' "
          "ixy='2'/></inertial></link></robot>",
          "no body has this inertia");
  refused("<robot>\n" ROOT
          "<link name='a'/>\n" JOINT("j", "continuous", "world", "a", "") "</robot>",
          ":3: link \"a\" has no mass, nor has anything fixed to it, and joint \"j\" (line 4)");
  refused("<robot>\n" ROOT "</robot>", "nothing of this robot moves");
  refused("<robot><link name='a'><inertial><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
          "</robot>",
          "needs <mass value");
}

static void bad_numbers_are_refused(void** state) {
  (void)state;
  static const char* const bad[] = {"nan", "inf", "1e999", "-1e31", "0x10", "1,5", "", "1 2", "1e"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[400], words[100];
    snprintf(text, sizeof text, "<robot>\n<link name='a'><inertial>\n<mass value='%s'/></inertial>",
             bad[i]);
    strcat(text, "</link></robot>");
    snprintf(words, sizeof words, ":3: <mass>: value is \"%s\", must be 1 ", bad[i]);
    refused(text, words);
  }
  refused("<robot>" ROOT ARM JOINT("j", "planar", "world", "arm", "<axis xyz='0 0 0'/>") "</robot>",
          "its axis has the length 0");
  refused("<robot>" ROOT ARM JOINT("j", "planar", "world", "arm", "<origin xyz='0 0'/>") "</robot>",
          "<origin>: xyz is \"0 0\", must be 3");
  refused("<robot>" ROOT ARM JOINT("j", "revolute", "world", "arm",
                                   "<limit lower='1' upper='0'/>") "</robot>",
          "its limits are 1 to 0");
  refused("<robot>" ROOT ARM JOINT("j", "revolute", "world", "arm",
                                   "<dynamics damping='-1'/>") "</robot>",
          "damping is -1");
}

static void mimics_without_end_are_refused(void** state) {
  (void)state;
  refused(
      "<robot>" ROOT ARM JOINT("j", "revolute", "world", "arm", "<mimic joint='j'/>") "</robot>",
      "mimics itself");
  refused("<robot>" ROOT ARM JOINT("hinge1", "revolute", "world", "arm",
                                   "<mimic joint='hinge_1'/>") "</robot>",
          "mimics \"hinge_1\", and there is no such joint; did you mean hinge1?");
  refused("<robot>" ROOT ARM
          "<link name='b'>" INERTIAL("1", "1") "</link>" JOINT("j", "planar", "world", "arm", "")
              JOINT("k", "revolute", "arm", "b", "<mimic joint='j'/>") "</robot>",
          "\"j\" has no value to follow");
}

static void hostile_xml_is_refused(void** state) {
  (void)state;
  refused("<?xml version='1.0'?>\n<!DOCTYPE lolz [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]>\n"
          "<robot name='&b;'/>",
          ":2: a document type");
  refused("<robot>\n<link", ":2: not valid XML: unclosed token");
  refused("<robot>\n<link name='a'></robot>", ":2: not valid XML: mismatched tag");
  refused("<robot name='&b;'/>", "undefined entity");
  refused("<robot><xacro:macro/></robot>", "run xacro");
  refused("", "not valid XML: no element found");
  refused("\x7f"
          "ELF\x02\x01\x01",
          ":1: not valid XML");
  refused("<robot><link name='\xff'/></robot>", "not valid XML");
  static char deep[1000];
  strcpy(deep, "<robot>\n");
  for (int i = 0; i < 80; i++) {
    strcat(deep, "<a>");
  }
  refused(deep, ":2: more than 64 nested elements");
}

static void a_loop_inside_one_body_is_refused(void** state) {
  (void)state;
  refused(
      "<robot>\n" ROOT ARM "<link name='tip'/>" JOINT("j", "continuous", "world", "arm", "")
          JOINT("k", "fixed", "arm", "tip",
                "") "<constraint name='c' type='spherical'><parent link='arm'/><child link='tip'/>"
                    "</constraint></robot>",
      "its links are parts of one body");
}

static void memory_that_ends_leaves_nothing(void** state) {
  (void)state;
  for (int fail_at = 0;; fail_at++) {
    counter count = {.fail_at = fail_at};
    saltus_allocator allocator = counting_allocator(&count);
    const saltus_urdf_def def = {.path = SALTUS_URDF "/closed-loop.urdf",
                                 .log = saltus_log_keep(&message),
                                 .allocator = &allocator};
    saltus_urdf* urdf = (saltus_urdf*)&message;
    saltus_status status = saltus_urdf_create(&def, &urdf);
    if (status == SALTUS_OK) {
      saltus_urdf_destroy(urdf);
    } else {
      assert_int_equal(status, SALTUS_ERR_MEMORY);
      assert_null(urdf);
    }
    assert_int_equal(count.live, 0);
    if (fail_at > 0 && status == SALTUS_OK) { /* beyond the last call */
      assert_true(fail_at > 5);
      return;
    }
  }
}

static void floor_friction_and_coordinates_are_options(void** state) {
  (void)state;
  static const char robot[] =
      "<robot name='r'><link name='base'><inertial><mass value='2'/><inertia ixx='1' iyy='1' "
      "izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><link name='leg'><inertial><mass "
      "value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial><collision>"
      "<geometry><sphere radius='0.1'/></geometry></collision></link><joint name='hip' "
      "type='continuous'><parent link='base'/><child link='leg'/><axis xyz='0 1 "
      "0'/></joint></robot>";
  saltus_urdf_def def = {.text = robot,
                         .floor = true,
                         .height = -0.5,
                         .friction = 0.75,
                         .by_joints = true,
                         .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_OK);
  expect_text(urdf, "coordinates: joints");
  expect_text(urdf, "{name: floor, half-space: {}, position: [0, 0, -0.5]}");
  expect_text(urdf, "materials: {default: {friction: 0.75, restitution: 0}}");
  const saltus_scene_def read = {.text = saltus_urdf_get_view(urdf)->scene,
                                 .log = saltus_log_keep(&message)};
  saltus_scene* scene;
  if (saltus_has("yaml")) {
    assert_int_equal(saltus_scene_create(&read, &scene), SALTUS_OK);
    assert_int_equal(saltus_scene_get_view(scene)->system->dims.nv, 7); /* free base and hip */
    saltus_scene_destroy(scene);
  }
  saltus_urdf_destroy(urdf);
  def.friction = -1.0;
  assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_ERR_RANGE);
  assert_says(message, "friction -1");
}

/* ---- robots in scenes ---- */

static saltus_status include(const char* entries, const char* more, saltus_scene** scene) {
  char text[1000];
  snprintf(text, sizeof text, "saltus: 1\ninclude:\n%s%s", entries, more);
  const saltus_scene_def def = {
      .path = SALTUS_URDF "/scene.yaml", .text = text, .log = saltus_log_keep(&message)};
  return saltus_scene_create(&def, scene);
}

/* An arm twice, one of them moved, beside a ball of the scene; and the same from the text of the scene. */
static void robots_are_parts_of_scenes(void** state) {
  (void)state;
  saltus_scene *scene, *again;
  const char* more = "world: {dimension: 3, gravity: [0, 0, -1], coordinates: joints}\n"
                     "bodies: {ball: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 9]}}\n";
  assert_int_equal(include("  - {robot: serial-arm.urdf, as: left}\n"
                           "  - {robot: serial-arm.urdf, as: right, position: [0, 5, 0.25]}\n",
                           more, &scene),
                   SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_mechanism* m = view->mechanism;
  assert_int_equal(saltus_mechanism_sizes(m).bodies, 7);
  assert_int_equal(view->system->dims.nv, 3 + 3 + 6);
  assert_int_equal(view->input_count, 6);
  double x[2][3], R[2][9];
  static const char* const names[2] = {"left_forearm", "right_forearm"};
  for (int k = 0; k < 2; k++) {
    const int body = saltus_mechanism_find_body(m, names[k]);
    assert_true(body >= 0);
    saltus_mechanism_pose(m, body, 0.0, view->q0, x[k], R[k]);
  }
  assert_near(x[1][0] - x[0][0], 0.0, 1e-15);
  assert_near(x[1][1] - x[0][1], 5.0, 1e-15);
  assert_near(x[1][2] - x[0][2], 0.25, 1e-15);
  assert_memory_equal(R[0], R[1], sizeof R[0]);
  const saltus_scene_def def = {.text = view->text, .log = saltus_log_keep(&message)};
  assert_int_equal(saltus_scene_create(&def, &again), SALTUS_OK);
  const saltus_scene_view* copy = saltus_scene_get_view(again);
  assert_int_equal(copy->system->dims.nq, view->system->dims.nq);
  assert_memory_equal(copy->q0, view->q0, (size_t)view->system->dims.nq * sizeof(double));
  assert_string_equal(copy->text, view->text);
  saltus_scene_destroy(again);
  saltus_scene_destroy(scene);
}

static void includes_that_cannot_be_are_refused(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"  - {robot: serial-arm.urdf}\n  - {robot: serial-arm.urdf}\n",
       "give the robot another name"},
      {"  - {robot: serial-arm.urdf, as: 2b}\n", "as is \"2b\""},
      {"  - {robot: absent.urdf}\n", "absent.urdf"},
      {"  - {as: a}\n", "include needs {robot: FILE}"},
      {"  - {robot: serial-arm.urdf, position: [0, x, 0]}\n", "position has to be three numbers"},
      {"  - {robot: serial-arm.urdf, base: loose}\n", "base is \"loose\""},
      {"  - {robot: serial-arm.urdf, bas: free}\n", "bas"},
      {"  - serial-arm.urdf\n", "include"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_scene* scene;
    assert_int_not_equal(include(cases[i][0], "", &scene), SALTUS_OK);
    assert_null(scene);
    assert_says(message, cases[i][1]);
  }
  saltus_scene* scene;
  assert_int_not_equal(include("  - {robot: serial-arm.urdf}\n", "joints: {a: 1}\n", &scene),
                       SALTUS_OK);
  assert_says(message, "joints is a mapping");
}

int main(void) {
  if (!saltus_has("expat")) {
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(robots_are_parts_of_scenes),
      cmocka_unit_test(includes_that_cannot_be_are_refused),
      cmocka_unit_test(floor_friction_and_coordinates_are_options),
      cmocka_unit_test(every_element_of_the_arm_is_in_the_scene_or_listed),
      cmocka_unit_test(collision_parts_become_shapes_or_are_listed),
      cmocka_unit_test(collision_parts_that_cannot_be_are_refused),
      cmocka_unit_test(inertia_is_about_the_centre_of_mass_in_axes_of_the_link),
      cmocka_unit_test(merged_links_have_the_mass_properties_of_both),
      cmocka_unit_test(a_link_without_mass_belongs_to_what_it_is_fixed_to),
      cmocka_unit_test(the_base_is_the_ground_or_free_as_asked),
      cmocka_unit_test(mimics_are_gears_and_racks),
      cmocka_unit_test(a_joint_starts_inside_its_limits),
      cmocka_unit_test(a_joint_with_one_value_is_fixed_there),
      cmocka_unit_test(names_are_words_that_differ),
      cmocka_unit_test(broken_trees_are_refused),
      cmocka_unit_test(impossible_masses_are_refused),
      cmocka_unit_test(bad_numbers_are_refused),
      cmocka_unit_test(mimics_without_end_are_refused),
      cmocka_unit_test(links_whose_parts_are_not_used_are_in_no_pair),
      cmocka_unit_test(hostile_xml_is_refused),
      cmocka_unit_test(a_loop_inside_one_body_is_refused),
      cmocka_unit_test(memory_that_ends_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
