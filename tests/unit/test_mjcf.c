/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Robots in MJCF: what becomes of elements, and refused input with file, line and reason. Numbers are compared with MuJoCo
 * in tests/reference/test_mjcf_mujoco.c.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static saltus_kept_message message;

#define BODY(name, inside) "<body name='" name "'>" MASS inside "</body>"
#define MASS "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
#define MODEL(inside) "<mujoco>\n" inside "</mujoco>"
#define WORLD(inside) "<worldbody>\n" inside "</worldbody>"

static saltus_status convert(const char* text, saltus_urdf** out) {
  const saltus_urdf_def def = {
      .path = SALTUS_MJCF "/r.xml", .text = text, .log = saltus_log_keep(&message)};
  return saltus_urdf_create(&def, out);
}

static void refused(const char* text, const char* words) {
  saltus_urdf* urdf = (saltus_urdf*)&message;
  assert_int_equal(convert(text, &urdf), SALTUS_ERR_INPUT);
  assert_null(urdf);
  assert_says(message, words);
}

/* The scene has all of these texts, or, behind "!", not. */
static void converts(const char* text, const char* const* words) {
  saltus_urdf* urdf;
  if (convert(text, &urdf) != SALTUS_OK) {
    fail_msg("%s", message.text);
  }
  const char* scene = saltus_urdf_get_view(urdf)->scene;
  for (; *words != NULL; words++) {
    const bool without = (*words)[0] == '!';
    if ((strstr(scene, *words + without) == NULL) != without) {
      fail_msg("\"%s\" in\n%s", *words, scene);
    }
  }
  const saltus_scene_def def = {.text = scene, .log = saltus_log_keep(&message)};
  saltus_scene* made;
  if (saltus_scene_create(&def, &made) != SALTUS_OK) {
    fail_msg("%s\n%s", message.text, scene);
  }
  saltus_scene_destroy(made);
  saltus_urdf_destroy(urdf);
}
#define CONVERTS(text, ...) converts(text, (const char* const[]){__VA_ARGS__, NULL})

static void drives_are_springs_dampers_and_inputs(void** state) {
  (void)state;
#define DRIVEN(actuators)                                                                          \
  MODEL(WORLD(BODY(                                                                                \
      "b",                                                                                         \
      "<joint name='j' damping='2' armature='0.3' frictionloss='0.1'/>")) "<actuator>" actuators   \
                                                                          "</actuator>")
  CONVERTS(DRIVEN("<position name='m' joint='j' kp='10' kv='3' gear='2'/>"),
           "spring: {stiffness: 40}, damping: 14, armature: 0.3, dry_friction: {force: 0.1}",
           "actuator: \"2*(10*m_ctrl)\"", "inputs: {m_ctrl: 0}");
  CONVERTS(DRIVEN("<position name='m' joint='j' kp='10' forcerange='-1 2'/>"), "damping: 2, ",
           "\"1*max(-1, min(2, (10*m_ctrl + (-10)*(j.angle))))\"", "!spring:");
  CONVERTS(DRIVEN("<motor name='m' joint='j' ctrlrange='-1 1' gear='3'/>"),
           "\"3*(1*max(-1, min(1, m_ctrl)))\"");
  CONVERTS(DRIVEN("<general name='m' joint='j' gainprm='5' dyntype='filter'/>"), "!m_ctrl",
           "<general>: dynamics, or gain or bias that is not affine: not used");
  CONVERTS(
      MODEL(WORLD(BODY(
          "b", "<joint name='j' actuatorfrcrange='-4 4'/>")) "<actuator><motor name='m' "
                                                             "joint='j'/><motor name='n' joint='j' "
                                                             "gear='-1'/></actuator>"),
      "\"max(-4, min(4, 1*(1*m_ctrl) + (-1)*(1*n_ctrl)))\"");
  /* kv = 2 zeta sqrt(kp m) with the inertia 1 + armature 0.3 about the axis */
  CONVERTS(MODEL(WORLD(BODY(
               "b", "<joint name='j' armature='0.44'/>")) "<actuator><position name='m' joint='j' "
                                                          "kp='9' dampratio='0.5'/></actuator>"),
           "damping: 3.6,");
}

static void classes_and_units_apply(void** state) {
  (void)state;
  CONVERTS(MODEL("<default><joint range='-90 90'/><default class='x'><joint damping='3'/>"
                 "<default class='y'><joint damping='4' "
                 "limited='false'/></default></default></default>" WORLD(
                     "<body name='b' childclass='x'>" MASS
                     "<joint name='j'/>" BODY("c", "<joint name='k' class='y'/>") "</body>")),
           "name: j, type: revolute, between: [j_parent, j_child], limits: [-1.57079632679489",
           "damping: 3}", "name: k, type: revolute, between: [k_parent, k_child], damping: 4}");
  CONVERTS(MODEL("<compiler angle='radian'/>" WORLD(
               BODY("b", "<joint name='j' range='1 2' ref='1.5' type='slide'/>"))),
           "limits: [-0.5, 0.5]");
}

static void contacts_are_those_of_mujoco(void** state) {
  (void)state;
#define BALL(name, more) "<geom name='" name "' type='sphere' size='0.1' " more "/>"
#define FREE(name, at, inside)                                                                     \
  "<body name='" name "' pos='" at "'>" MASS "<freejoint/>" inside "</body>"
  /* bit masks: a and b touch the floor, not each other */
  CONVERTS(MODEL(WORLD("<geom type='plane' size='1 1 1' friction='0.5'/>" FREE(
               "a", "0 0 1", BALL("ga", "conaffinity='0' friction='0.9'"))
                           FREE("b", "1 0 1", BALL("gb", "conaffinity='0'")))),
           "half-space", "{between: [a, b], collide: false}", "!between: [world",
           "{between: [geom_2, geom_1], friction: 0.9}");
  /* a child that rests in the world, a pair in spite of the masks, an exclusion */
  CONVERTS(MODEL(WORLD(
               FREE("a", "0 0 1", BALL("ga", "contype='0' conaffinity='0'"))
                   FREE("b", "1 0 1", BALL("gb", ""))
                       FREE("c", "2 0 1", BALL("gc", ""))) "<contact><pair geom1='ga' geom2='gb' "
                                                           "friction='0.2'/><exclude body1='b' "
                                                           "body2='c'/></contact>"),
           "{between: [a_shape, b_shape], friction: 0.2}", "{between: [b, c], collide: false}",
           "{between: [a, c], collide: false}", "!{between: [a, b], collide");
  CONVERTS(MODEL(WORLD(FREE("a", "0 0 1", BALL("ga", "condim='1'")) FREE(
               "b", "1 0 1", BALL("gb", "condim='1' priority='1' friction='0.3'")))),
           "geom_1: {friction: 0}", "{between: [geom_2, geom_1], friction: 0}");
}

static void equalities_and_tendons_are_formulas(void** state) {
  (void)state;
  CONVERTS(MODEL(WORLD(BODY("a", "<joint name='j' ref='10'/>") BODY(
               "b", "<joint name='k'/>")) "<equality><joint name='e' joint1='j' joint2='k' "
                                          "polycoef='0 2 0 0.5'/></equality>"
                                          "<tendon><fixed name='t' range='-1 2' stiffness='3' "
                                          "frictionloss='0.2'>"
                                          "<joint joint='j' coef='2'/><joint joint='k' "
                                          "coef='-1'/></fixed></tendon>"),
           "name: e_equality, constraint: \"(j.angle + 0.174532", "^3",
           "elongation: \"(2*j.angle + (-1)*k.angle",
           "t_tendon_lower, gap:", "rate: \"(2*j.angle' + (-1)*k.angle')\", force: 0.2");
}

static void unused_parts_are_listed_once(void** state) {
  (void)state;
  CONVERTS(MODEL(WORLD("<light/><light/><light/>" BODY(
               "b", "<joint name='j' solreflimit='1 1'/><geom contype='0' conaffinity='0' size='1' "
                    "type='sphere' group='3'/><site name='s'/>")) "<visual/>"),
           "#   line 3: <light>: not used (3 times)", "<joint>: solreflimit: not used",
           "<geom>: neither contacts nor in a group that is shown: not used",
           "#   line 3: <visual>: not used");
}

static void geoms_without_contacts_are_visuals_in_their_colour(void** state) {
  (void)state;
  CONVERTS(MODEL("<asset><material name='red' rgba='1 0 0.5 1'/>"
                 "<mesh name='m' file='a.stl' scale='1 -1 2'/></asset>" WORLD(BODY(
                     "b", "<joint name='j'/><geom type='mesh' mesh='m' material='red' contype='0' "
                          "conaffinity='0' group='2'/><geom size='1' rgba='0 1 0 1'/>"))),
           "{name: b_shape, sphere: {radius: 1}, material: geom_1, ",
           "{name: b_visual, mesh: {file: \"a.stl\", scale: [1, -1, 2]}, visual: true, "
           "colour: [1, 0, 0.5], ");
}

static void keyframes_are_starts(void** state) {
  (void)state;
  const saltus_urdf_def def = {
      .path = SALTUS_MJCF "/quadruped.xml", .keyframe = "stand", .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_OK);
  assert_non_null(strstr(saltus_urdf_get_view(urdf)->scene, "trunk: {mass: "));
  const saltus_scene_def scene = {.text = saltus_urdf_get_view(urdf)->scene,
                                  .log = saltus_log_keep(&message)};
  saltus_scene* made;
  assert_int_equal(saltus_scene_create(&scene, &made), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(made);
  double value = 0.0;
  for (int i = 0; i < view->system->dims.nq; i++) {
    if (strcmp(view->system->q_labels[i].name, "right_knee.angle") == 0) {
      value = view->q0[i];
    }
  }
  assert_near(value, -0.8, 1e-12);
  saltus_scene_destroy(made);
  saltus_urdf_destroy(urdf);
  saltus_urdf_def none = def;
  none.keyframe = "lie";
  assert_int_equal(saltus_urdf_create(&none, &urdf), SALTUS_ERR_INPUT);
  assert_says(message, "there is no keyframe \"lie\"");
}

static void broken_models_are_refused(void** state) {
  (void)state;
  refused(MODEL(""), "r.xml:1: the model has no bodies");
  refused(MODEL(WORLD(BODY("b", "<joint/>\n<freejoint/>"))),
          ":4: a free joint belongs to a body of <worldbody>, as its only joint");
  refused(MODEL(WORLD(BODY("b", "<joint type='hinges'/>"))), "did you mean hinge?");
  refused(MODEL(WORLD(BODY("b", "<joint class='x'/>"))), "there is no class \"x\"");
  refused(MODEL(WORLD(BODY("b", "<joint/>") "\n" BODY("b", "<joint/>"))),
          ":4: a second <body> \"b\"");
  refused(MODEL(WORLD("<body><joint/></body>")), "has no mass");
  refused(MODEL(WORLD("<body name='b'><joint/><geom type='mesh' mesh='m'/></body>")),
          "there is no mesh \"m\"");
  refused(MODEL("<asset><mesh name='m' file='m.stl'/></asset>" WORLD(
              "<body name='b'><joint/><geom type='mesh' mesh='m'/></body>")),
          "body \"b\": the mass of this geom is not computed");
  refused(MODEL(WORLD(BODY("b", "<joint axis='0 0 0'/>"))), "its axis has the length 0");
  refused(MODEL(WORLD(BODY("b", "<joint range='2 1'/>"))), "must be two ascending numbers");
  refused(MODEL(WORLD(BODY("b", "<joint armature='-1'/>"))), "must be at least 0");
  refused(MODEL(WORLD(BODY("b", "<joint/><replicate count='3'/>"))), "<replicate>: bodies by this");
  refused(MODEL(WORLD("<body name='b' quat='1 0 0 0' euler='0 0 0'>" MASS "</body>")),
          "more than one orientation");
  refused(MODEL(WORLD(BODY("b", "<joint name='j'/>")) "<actuator><motor joint='k'/></actuator>"),
          "there is no joint \"k\"");
  refused(MODEL("<compiler inertiagrouprange='0 1'/>" WORLD(BODY("b", "<joint/>"))),
          "inertiagrouprange is not read");
  refused(MODEL("<deformable/>"), "soft bodies are not read");
}

static void hostile_models_are_refused(void** state) {
  (void)state;
  refused("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><mujoco/>", ":1: a document type");
  refused(MODEL("<include file='../urdf/limits.urdf'/>"),
          ":2: <include>: \"../urdf/limits.urdf\" is not a file in the folder");
  refused(MODEL("<include file='/etc/passwd'/>"), "is not a file in the folder");
  refused(MODEL("<include file='a/../../x.xml'/>"), "is not a file in the folder");
  refused(MODEL("<include file='quadruped-legs.xml'/>\n<include file='quadruped-legs.xml'/>"),
          ":3: <include>: \"quadruped-legs.xml\" is included twice");
  refused(MODEL(WORLD("<body name='b' pos='1e10 0 0'>" MASS "<joint/></body>")), "up to 1e+09");
  refused(MODEL(WORLD(
              "<body name='b'><inertial pos='0 0 0' mass='1e400' diaginertia='1 1 1'/></body>")),
          "must be 1 finite number up to 1e+30");
  refused(MODEL(WORLD(BODY("b", "<joint damping='0x10'/>"))), "must be 1 finite number");
  refused(MODEL(WORLD(BODY("b", "<joint damping='nan'/>"))), "must be 1 finite number");
  refused(MODEL(WORLD(BODY("b", "<joint/><geom size='1' contype='-1'/>"))), "contype -1");
  CONVERTS(MODEL("<compiler meshdir='..'/><asset><mesh name='m' file='m.stl'/></asset>" WORLD(
               BODY("b", "<joint/><geom type='mesh' mesh='m'/>"))),
           "is not in the folder of the robot or below it: not used", "!m.stl, scale");
}

static void lines_of_included_files_are_named(void** state) {
  (void)state;
  char path[] = "/tmp/saltus-mjcf-XXXXXX";
  const int made = mkstemp(path);
  assert_true(made >= 0);
  FILE* file = fdopen(made, "w");
  assert_non_null(file);
  (void)fputs("<mujocoinclude>\n<worldbody>\n<body name='b'>" MASS "<joint axis='x'/></body>\n"
              "</worldbody></mujocoinclude>\n",
              file);
  (void)fclose(file);
  char text[200];
  snprintf(text, sizeof text, "<mujoco>\n\n<include file='%s'/></mujoco>", strrchr(path, '/') + 1);
  const saltus_urdf_def def = {
      .path = "/tmp/r.xml", .text = text, .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  assert_int_equal(saltus_urdf_create(&def, &urdf), SALTUS_ERR_INPUT);
  assert_says(message, strrchr(path, '/') + 1);
  assert_says(message, ":3: <joint>: axis is \"x\"");
  (void)remove(path);
}

static void memory_that_ends_leaves_nothing(void** state) {
  (void)state;
  for (int fail_at = 0;; fail_at++) {
    counter count = {.fail_at = fail_at};
    saltus_allocator allocator = counting_allocator(&count);
    const saltus_urdf_def def = {.path = SALTUS_MJCF "/gripper.xml",
                                 .log = saltus_log_keep(&message),
                                 .allocator = &allocator};
    saltus_urdf* urdf = (saltus_urdf*)&message;
    const saltus_status status = saltus_urdf_create(&def, &urdf);
    if (status == SALTUS_OK) {
      saltus_urdf_destroy(urdf);
    } else {
      assert_int_equal(status, SALTUS_ERR_MEMORY);
      assert_null(urdf);
    }
    assert_int_equal(count.live, 0);
    if (fail_at > 0 && status == SALTUS_OK) { /* beyond the last call */
      return;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drives_are_springs_dampers_and_inputs),
      cmocka_unit_test(classes_and_units_apply),
      cmocka_unit_test(contacts_are_those_of_mujoco),
      cmocka_unit_test(equalities_and_tendons_are_formulas),
      cmocka_unit_test(unused_parts_are_listed_once),
      cmocka_unit_test(geoms_without_contacts_are_visuals_in_their_colour),
      cmocka_unit_test(keyframes_are_starts),
      cmocka_unit_test(broken_models_are_refused),
      cmocka_unit_test(hostile_models_are_refused),
      cmocka_unit_test(lines_of_included_files_are_named),
      cmocka_unit_test(memory_that_ends_leaves_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
