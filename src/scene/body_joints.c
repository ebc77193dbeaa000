/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_joints.c - joints by type and springs between markers.
 */
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the order of saltus_joint_type. */
static const char* const types[] = {"fixed",           "revolute",  "prismatic", "cylindrical",
                                    "spherical",       "universal", "planar",    "point-on-line",
                                    "point-in-plane",  "distance",  "screw",     "gear",
                                    "rack-and-pinion", NULL};

/* Coordinates of a joint. */
typedef struct freedom {
  bool angle, position;
} freedom;

static freedom freedom_of(saltus_joint_type type) {
  switch (type) {
  case SALTUS_JOINT_REVOLUTE:
    return (freedom){true, false};
  case SALTUS_JOINT_PRISMATIC:
    return (freedom){false, true};
  case SALTUS_JOINT_CYLINDRICAL:
  case SALTUS_JOINT_SCREW:
    return (freedom){true, true};
  default:
    return (freedom){false, false};
  }
}

void saltusi_scene_pair(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* what,
                        const char* into[2]) {
  assert(b != NULL);
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, what)) {
    return;
  }
  if (node->count != 2) {
    saltusi_reader_fail(&b->reader, node, "%s has %d names, must have 2", what, node->count);
    return;
  }
  for (int k = 0; k < 2; k++) {
    into[k] = saltusi_reader_text(&b->reader, &node->children[k], what);
  }
}

/* drive: {angle: ..} | {position: ..} | {speed: ..} */
static void read_drive(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                       const char* coordinate, const char* name, saltus_coordinate_def* c) {
  if (node == NULL || !saltusi_reader_keys(&b->reader, node, "joints[].drive", "drive")) {
    return;
  }
  const saltusi_yaml_node* value = saltusi_yaml_find(node, coordinate);
  const saltusi_yaml_node* speed = saltusi_yaml_find(node, "speed");
  if (node->count != 1 || (value == NULL && speed == NULL)) {
    saltusi_reader_fail(&b->reader, node,
                        "drive of joint " SALTUSI_QUOTE
                        " has to be one of {%s: formula} and {speed: formula}",
                        name, coordinate);
    return;
  }
  c->drive = speed != NULL ? SALTUS_DRIVE_SPEED : SALTUS_DRIVE_POSITION;
  c->driven = saltusi_scene_signal(b, speed != NULL ? speed : value,
                                   saltusi_scene_describe(b, "drive", "joint", name));
}

/* limits: [lower, upper]; .inf and -.inf are written as "none" */
static void read_limits(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                        saltus_coordinate_def* c) {
  if (node == NULL || !saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, "limits")) {
    return;
  }
  if (node->count != 2) {
    saltusi_reader_fail(&b->reader, node,
                        "limits has %d entries, must have 2: the lower and the upper one, a "
                        "number or \"none\"",
                        node->count);
    return;
  }
  double* into[2] = {&c->lower, &c->upper};
  for (int k = 0; k < 2; k++) {
    const saltusi_yaml_node* one = &node->children[k];
    const bool none = one->kind == SALTUSI_YAML_SCALAR && strcmp(one->text, "none") == 0;
    *into[k] = none ? (k == 0 ? -INFINITY : INFINITY) : saltusi_scene_number(b, one, "limits", 0.0);
  }
  c->limited = true;
  if (b->reader.status == SALTUS_OK && !(c->lower < c->upper)) {
    saltusi_reader_fail(&b->reader, node, "the lower limit is %g, must be below the upper one, %g",
                        c->lower, c->upper);
  }
}

/* An actuator with a state-dependent formula is a formula force along the coordinate of the
 * joint. */
static void read_actuator(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                          const char* coordinate, const char* name, saltus_coordinate_def* c) {
  saltus_formula_text motion;
  if (saltusi_scene_actuator(b, node, saltusi_scene_describe(b, "actuator", "joint", name),
                             &c->force, &motion) ||
      b->reader.status != SALTUS_OK) {
    return;
  }
  const char* dot = saltusi_pool_join(b->reader.pool, name, ".");
  const char* part = dot != NULL ? saltusi_pool_join(b->reader.pool, dot, coordinate) : NULL;
  saltus_formula_text* force = saltusi_reader_take(&b->reader, 1, sizeof *force);
  if (force == NULL || part == NULL) {
    b->reader.status = SALTUS_ERR_MEMORY;
    return;
  }
  if (strchr(name, ' ') != NULL) {
    saltusi_reader_fail(&b->reader, node,
                        "actuator of joint " SALTUSI_QUOTE
                        " depends on the motion; give the joint a name that formulas can use",
                        name);
    return;
  }
  *force = motion;
  saltus_formula_spring* motor = &b->springs[b->model.spring_count++];
  motor->name = name;
  motor->elongation = motion;
  motor->elongation.text = part;
  motor->force = force;
}

static void read_coordinate(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                            const char* coordinate, const char* name, saltus_coordinate_def* c) {
  const saltusi_yaml_node* spring = saltusi_yaml_find(item, "spring");
  read_drive(b, saltusi_yaml_find(item, "drive"), coordinate, name, c);
  read_limits(b, saltusi_yaml_find(item, "limits"), c);
  c->restitution = saltusi_scene_constant(b, item, "restitution", 0.0);
  if (spring != NULL && saltusi_reader_keys(&b->reader, spring, "joints[].spring", "spring")) {
    c->stiffness = saltusi_scene_constant(b, spring, "stiffness", 0.0);
    c->rest = saltusi_scene_constant(b, spring, "rest", 0.0);
  }
  c->damping = saltusi_scene_constant(b, item, "damping", 0.0);
  c->armature = saltusi_scene_constant(b, item, "armature", 0.0);
  const saltusi_yaml_node* dry = saltusi_yaml_find(item, "dry_friction");
  if (dry != NULL &&
      saltusi_reader_keys(&b->reader, dry, "joints[].dry_friction", "dry friction")) {
    c->dry = saltusi_scene_constant(b, dry, "force", 0.0);
    c->dry_arm = saltusi_scene_constant(b, dry, "arm", 0.0);
  }
  read_actuator(b, saltusi_yaml_find(item, "actuator"), coordinate, name, c);
}

static const char* const coordinate_keys[] = {"drive",   "limits",       "restitution", "spring",
                                              "damping", "dry_friction", "actuator",    "armature"};

/* Joints with one coordinate hold its keys directly, joints with two in a mapping for each. */
static void read_coordinates(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                             saltus_joint_def* joint) {
  const freedom has = freedom_of(joint->type);
  const saltusi_yaml_node* own = NULL;
  for (size_t k = 0; k < sizeof coordinate_keys / sizeof coordinate_keys[0] && own == NULL; k++) {
    own = saltusi_yaml_find(item, coordinate_keys[k]);
  }
  const saltusi_yaml_node* angle = saltusi_yaml_find(item, "angle");
  const saltusi_yaml_node* position = saltusi_yaml_find(item, "position");
  if (own != NULL && !has.angle && !has.position) {
    saltusi_reader_fail(&b->reader, own,
                        "joint " SALTUSI_QUOTE " is %s and has no angle or position to act on",
                        joint->name, types[joint->type]);
  } else if (own != NULL && has.angle && has.position) {
    saltusi_reader_fail(&b->reader, own,
                        "joint " SALTUSI_QUOTE
                        " has an angle and a position; give this under \"angle\" and \"position\"",
                        joint->name);
  } else if ((angle != NULL && !has.angle) || (position != NULL && !has.position)) {
    saltusi_reader_fail(&b->reader, angle != NULL && !has.angle ? angle : position,
                        "joint " SALTUSI_QUOTE " is %s and has no %s", joint->name,
                        types[joint->type], angle != NULL && !has.angle ? "angle" : "position");
  }
  if (own != NULL && has.angle) {
    read_coordinate(b, item, "angle", joint->name, &joint->angle);
  } else if (own != NULL) {
    read_coordinate(b, item, "position", joint->name, &joint->position);
  }
  if (angle != NULL && saltusi_reader_keys(&b->reader, angle, "joints[].angle", "angle")) {
    read_coordinate(b, angle, "angle", joint->name, &joint->angle);
  }
  if (position != NULL &&
      saltusi_reader_keys(&b->reader, position, "joints[].position", "position")) {
    read_coordinate(b, position, "position", joint->name, &joint->position);
  }
}

/* A number that some types require and others do not have. */
static double read_measure(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* key,
                           const saltus_joint_def* joint, bool needed) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, key);
  if ((node != NULL) != needed) {
    saltusi_reader_fail(&b->reader, node != NULL ? node : item,
                        "joint " SALTUSI_QUOTE " is %s and %s %s", joint->name, types[joint->type],
                        needed ? "needs" : "has no", key);
  }
  return saltusi_scene_number(b, node, key, 0.0);
}

void saltusi_scene_body_joint(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                              const char* name, saltus_joint_def* joint) {
  assert(b != NULL);
  const saltusi_yaml_node* type = saltusi_yaml_find(item, "type");
  joint->name = name;
  if (type == NULL) {
    saltusi_reader_fail(&b->reader, item,
                        "joint " SALTUSI_QUOTE " has neither a type nor a constraint", name);
    return;
  }
  const int place = saltusi_scene_word(b, type, "type", types);
  if (place < 0) {
    return;
  }
  joint->type = (saltus_joint_type)place;
  const bool couples =
      joint->type == SALTUS_JOINT_GEAR || joint->type == SALTUS_JOINT_RACK_AND_PINION;
  const char* key = couples ? "joints" : "between";
  const saltusi_yaml_node* wrong = saltusi_yaml_find(item, couples ? "between" : "joints");
  const saltusi_yaml_node* between = saltusi_yaml_find(item, key);
  if (between == NULL || wrong != NULL) {
    saltusi_reader_fail(&b->reader, wrong != NULL ? wrong : item,
                        "joint " SALTUSI_QUOTE " is %s: give \"%s\", the names of two %s", name,
                        types[place], key, couples ? "joints" : "markers");
    return;
  }
  saltusi_scene_pair(b, between, key, joint->between);
  const double ratio = read_measure(b, item, "ratio", joint, joint->type == SALTUS_JOINT_GEAR);
  const double radius =
      read_measure(b, item, "radius", joint, joint->type == SALTUS_JOINT_RACK_AND_PINION);
  const double pitch = read_measure(b, item, "pitch", joint, joint->type == SALTUS_JOINT_SCREW);
  joint->ratio = ratio + radius + pitch; /* two of them are zero */
  const saltusi_yaml_node* offset = saltusi_yaml_find(item, "offset");
  if (offset != NULL && !couples) {
    saltusi_reader_fail(&b->reader, offset, "joint " SALTUSI_QUOTE " is %s and has no offset", name,
                        types[place]);
  }
  joint->offset = saltusi_scene_number(b, offset, "offset", 0.0);
  const saltusi_yaml_node* length = saltusi_yaml_find(item, "length");
  if ((length != NULL) != (joint->type == SALTUS_JOINT_DISTANCE)) {
    saltusi_reader_fail(&b->reader, length != NULL ? length : item,
                        "joint " SALTUSI_QUOTE " is %s and %s length", name, types[place],
                        length != NULL ? "has no" : "needs a");
  }
  joint->length =
      saltusi_scene_signal(b, length, saltusi_scene_describe(b, "length", "joint", name));
  read_coordinates(b, item, joint);
}

/* A number; for a bushing a list of six, in the plane of three: along x, along y, about z. */
static void read_stiffness(saltusi_scene_builder* b, const saltusi_yaml_node* item, const char* key,
                           bool bushing, double out[6]) {
  const saltusi_yaml_node* node = saltusi_yaml_find(item, key);
  const bool plane = b->mechanism.dimension == 2;
  if (!bushing) {
    out[0] = saltusi_scene_number(b, node, key, 0.0);
    return;
  }
  double list[6] = {0.0};
  const int count = plane ? 3 : 6;
  saltusi_scene_numbers(b, node, key, (const int[2]){count, count}, list);
  for (int k = 0; k < count; k++) {
    out[plane && k == 2 ? 5 : k] = list[k];
  }
}

void saltusi_scene_body_spring(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                               const char* name, saltus_spring_def* spring) {
  assert(b != NULL);
  static const char* const kinds[] = {"linear", "torsional", "bushing", NULL};
  const saltusi_yaml_node* between = saltusi_yaml_find(item, "between");
  const saltusi_yaml_node* type = saltusi_yaml_find(item, "type");
  spring->name = name;
  if (between == NULL) {
    saltusi_reader_fail(&b->reader, item,
                        "spring " SALTUSI_QUOTE " has neither an elongation nor markers to be "
                        "between",
                        name);
    return;
  }
  const saltusi_yaml_node* force = saltusi_yaml_find(item, "force");
  if (force != NULL) {
    saltusi_reader_fail(&b->reader, force,
                        "spring " SALTUSI_QUOTE
                        " has a force: give an elongation, such as dist(%.40s, %.40s)",
                        name, between->count == 2 ? between->children[0].text : "a",
                        between->count == 2 ? between->children[1].text : "b");
  }
  saltusi_scene_pair(b, between, "between", spring->between);
  const int place = type != NULL ? saltusi_scene_word(b, type, "type", kinds) : 0;
  if (place < 0) {
    return;
  }
  spring->type = (unsigned)place;
  const bool bushing = spring->type == SALTUS_SPRING_BUSHING;
  read_stiffness(b, item, "stiffness", bushing, spring->stiffness);
  read_stiffness(b, item, "damping", bushing, spring->damping);
  const char* rest = spring->type == SALTUS_SPRING_LINEAR      ? "length"
                     : spring->type == SALTUS_SPRING_TORSIONAL ? "angle"
                                                               : NULL;
  static const char* const rests[] = {"length", "angle"};
  for (int k = 0; k < 2; k++) {
    const saltusi_yaml_node* wrong = saltusi_yaml_find(item, rests[k]);
    if (wrong != NULL && (rest == NULL || strcmp(rest, rests[k]) != 0)) {
      saltusi_reader_fail(&b->reader, wrong, "spring " SALTUSI_QUOTE " is %s and has no %s", name,
                          kinds[place], rests[k]);
    }
  }
  spring->rest = rest != NULL ? saltusi_scene_constant(b, item, rest, 0.0) : 0.0;
}
