/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * write.c - the scene. Axes of a body are those of its top link, its point is the centre of mass; the frame of
 * every link is a marker on its body, and joints have two markers in them, with z along the axis:
 *
 *   parent: origin Q    child: Q        where Q takes z to the axis
 *
 * so that the coordinate of the joint is 0 where that of URDF is 0.
 */
#include "urdf/mjcf.h"
#include "urdf/scene_text.h"

#include "base/number.h"
#include "base/visible.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void saltusi_robot_put(saltusi_robot_text* t, const char* format, ...) {
  char line[1024];
  va_list values;
  va_start(values, format);
  int length = saltusi_print_list(line, sizeof line, format, values);
  va_end(values);
  assert(length >= 0 && (size_t)length < sizeof line);
  void* bytes = t->bytes;
  if (!saltusi_grow(&t->robot->pool->allocator, &bytes, &t->room, t->used + (size_t)length + 1,
                    1)) {
    t->robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  t->bytes = bytes;
  memcpy(t->bytes + t->used, line, (size_t)length + 1);
  t->used += (size_t)length;
}

void saltusi_robot_put_material(saltusi_robot_text* t, int i) {
  const char* prefix = t->robot->prefix;
  assert(t != NULL && i >= 0);
  saltusi_robot_put(t, "%s%sgeom_%d", prefix != NULL ? prefix : "", prefix != NULL ? "_" : "",
                    i + 1);
}

void saltusi_robot_put_number(saltusi_robot_text* t, double value) {
  assert(t != NULL);
  char digits[32];
  for (int count = 6; count <= 17; count++) {
    saltusi_print(digits, sizeof digits, "%.*g", count, value + 0.0);
    if (saltusi_number_read(digits, NULL) == value) {
      break;
    }
  }
  saltusi_robot_put(t, "%s", digits);
}

void saltusi_robot_put_list(saltusi_robot_text* t, const double* values, int count, double scale) {
  assert(t != NULL && values != NULL);
  for (int i = 0; i < count; i++) {
    saltusi_robot_put(t, i == 0 ? "[" : ", ");
    saltusi_robot_put_number(t, fabs(values[i]) <= 4e-16 * scale ? 0.0 : values[i]);
  }
  saltusi_robot_put(t, "]");
}

static void put_orientation(saltusi_robot_text* t, const double* R) {
  double q[4];
  saltusi_matrix3_quaternion(R, q);
  if (fabs(q[1]) + fabs(q[2]) + fabs(q[3]) > 4e-16) {
    saltusi_robot_put(t, ", orientation: {quaternion: ");
    saltusi_robot_put_list(t, q, 4, 1.0);
    saltusi_robot_put(t, "}");
  }
}

static bool is_zero(const double* x) {
  return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0;
}

/* An external text as a comment: one line, without control characters. */
static void put_comment(saltusi_robot_text* t, const char* from) {
  char shown[700];
  saltusi_robot_put(t, "%s\n", saltusi_visible_text(from, shown, sizeof shown));
}

static void put_quoted(saltusi_robot_text* t, const char* from) {
  char shown[200];
  saltusi_visible_text(from, shown, sizeof shown);
  saltusi_robot_put(t, "\"");
  for (const char* c = shown; *c != '\0'; c++) {
    saltusi_robot_put(t, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  }
  saltusi_robot_put(t, "\"");
}

/* A path may not be truncated or changed. */
static void put_path(saltusi_robot_text* t, const char* path) {
  saltusi_robot_put(t, "\"");
  for (const char* c = path; *c != '\0'; c++) {
    saltusi_robot_put(t, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  }
  saltusi_robot_put(t, "\"");
}

/* ---- bodies and markers ------------------------------------------------------------------ */

static void write_shape(saltusi_robot_text* t, const saltusi_robot_link* link,
                        const saltusi_robot_shape* shape, bool visual) {
  static const char* const kinds[] = {"box",  "sphere",    "cylinder",  "capsule",
                                      "mesh", "ellipsoid", "half-space"};
  const bool moves = link->body >= 0;
  saltusi_robot_put(t, "{name: %s, %s: {", shape->label,
                    shape->kind == SALTUSI_ROBOT_MESH && !visual &&
                            (moves || t->robot->mjcf != NULL)
                        ? "hull"
                        : kinds[shape->kind]);
  if (shape->kind == SALTUSI_ROBOT_BOX || shape->kind == SALTUSI_ROBOT_ELLIPSOID) {
    saltusi_robot_put(t, "size: ");
    saltusi_robot_put_list(t, shape->size, 3, 0.0);
  } else if (shape->kind == SALTUSI_ROBOT_MESH) {
    if (!visual && t->parts > 0 && moves) {
      saltusi_robot_put(t, "parts: %d, ", t->parts);
    }
    saltusi_robot_put(t, "file: ");
    put_path(t, shape->file);
    saltusi_robot_put(t, ", scale: ");
    const double* scale = shape->size;
    if (scale[0] == scale[1] && scale[0] == scale[2]) {
      saltusi_robot_put_number(t, scale[0]);
    } else {
      saltusi_robot_put_list(t, scale, 3, 0.0);
    }
  } else if (shape->kind != SALTUSI_ROBOT_HALF_SPACE) {
    saltusi_robot_put(t, "radius: ");
    saltusi_robot_put_number(t, shape->size[0]);
    if (shape->kind != SALTUSI_ROBOT_SPHERE) {
      saltusi_robot_put(t, ", length: ");
      saltusi_robot_put_number(t, shape->size[1]);
    }
  }
  saltusi_robot_put(t, "}");
  if (visual) {
    saltusi_robot_put(t, ", visual: true");
    if (shape->colour[0] >= 0.0) {
      saltusi_robot_put(t, ", colour: ");
      saltusi_robot_put_list(t, shape->colour, 3, 0.0);
    }
  } else if (t->robot->mjcf != NULL) {
    saltusi_robot_put(t, ", material: ");
    saltusi_robot_put_material(t, shape->material);
  }
  saltusi_urdf_frame frame = saltusi_frame_in(&link->place, &shape->place);
  if (moves) {
    const saltusi_robot_body* body = &t->robot->bodies[link->body];
    frame = saltusi_frame_from(&t->robot->links[body->top].place, &frame);
    for (int i = 0; i < 3; i++) {
      frame.p[i] -= body->mass.centre[i];
    }
  }
  saltusi_robot_put(t, ", position: ");
  saltusi_robot_put_list(t, frame.p, 3, t->reach);
  put_orientation(t, frame.R);
  saltusi_robot_put(t, "}");
}

/* Shapes of a body (-1: the ground), after `count` others. */
static void write_shapes(saltusi_robot_text* t, int body, const char* between, int count) {
  for (int i = 0; i < t->robot->link_count; i++) {
    const saltusi_robot_link* link = &t->robot->links[t->robot->order[i]];
    for (int k = 0; link->body == body && k < link->shapes.count + link->visuals.count; k++) {
      const int v = k - link->shapes.count;
      saltusi_robot_put(t, count++ == 0 ? ", shapes: [%s" : ",%s", between);
      write_shape(t, link, v < 0 ? &link->shapes.list[k] : &link->visuals.list[v], v >= 0);
    }
  }
  if (count > 0) {
    saltusi_robot_put(t, "]");
  }
}

static bool has_shapes(const saltusi_robot* robot, int body) {
  for (int l = 0; l < robot->link_count; l++) {
    if (robot->links[l].body == body && robot->links[l].shapes.count > 0) {
      return true;
    }
  }
  return false;
}

/* Contacts between a link and the ground to which a joint connects it are disabled; between bodies scenes do so by
 * default. */
static void write_contact_pairs(saltusi_robot_text* t) {
  const saltusi_robot* robot = t->robot;
  int count = 0;
  for (int i = 0; i < robot->joint_count; i++) {
    const int a = robot->links[robot->joints[i].parent].body;
    const int b = robot->links[robot->joints[i].child].body;
    if (robot->joints[i].kind == SALTUSI_ROBOT_FLOATING || (a < 0) == (b < 0) ||
        !has_shapes(robot, a < 0 ? b : a)) {
      continue;
    }
    for (int l = 0; l < robot->link_count; l++) {
      const saltusi_robot_link* link = &robot->links[l];
      for (int k = 0; link->body < 0 && k < link->shapes.count; k++) {
        saltusi_robot_put(t, count++ == 0 ? "contact_pairs:\n" : "%s", "");
        saltusi_robot_put(t, "  - {between: [%s, %s], collide: false}\n",
                          robot->bodies[a < 0 ? b : a].label, link->shapes.list[k].label);
      }
    }
  }
}

static void write_body(saltusi_robot_text* t, const saltusi_robot_body* body) {
  const saltusi_robot_link* top = &t->robot->links[body->top];
  const double* I = body->mass.inertia;
  const double six[6] = {
      I[0], I[4], I[8], 0.5 * (I[1] + I[3]), 0.5 * (I[2] + I[6]), 0.5 * (I[5] + I[7])};
  double scale = I[0] + I[4] + I[8];
  bool diagonal = fabs(six[3]) <= 4e-16 * scale && fabs(six[4]) <= 4e-16 * scale &&
                  fabs(six[5]) <= 4e-16 * scale;
  double at[3];
  saltusi_frame_point(&top->place, body->mass.centre, at);
  saltusi_robot_put(t, "  %s: {mass: ", body->label);
  saltusi_robot_put_number(t, body->mass.mass);
  saltusi_robot_put(t, ", inertia: ");
  saltusi_robot_put_list(t, six, diagonal ? 3 : 6, scale);
  saltusi_robot_put(t, ", position: ");
  saltusi_robot_put_list(t, at, 3, t->reach);
  put_orientation(t, top->place.R);
  write_shapes(t, (int)(body - t->robot->bodies), "\n    ", 0);
  saltusi_robot_put(t, "}\n");
}

static void write_link_marker(saltusi_robot_text* t, const saltusi_robot_link* link) {
  saltusi_urdf_frame frame = link->place;
  saltusi_robot_put(t, "  %s: {", link->marker);
  if (link->body >= 0) {
    const saltusi_robot_body* body = &t->robot->bodies[link->body];
    const saltusi_robot_link* top = &t->robot->links[body->top];
    frame = link == top ? saltusi_frame_none() : saltusi_frame_from(&top->place, &link->place);
    for (int i = 0; i < 3; i++) {
      frame.p[i] -= body->mass.centre[i];
    }
    saltusi_robot_put(t, "body: %s, ", body->label);
  }
  saltusi_robot_put(t, "point: ");
  saltusi_robot_put_list(t, frame.p, 3, t->reach);
  put_orientation(t, frame.R);
  saltusi_robot_put(t, "}\n");
}

/* One of the two frames of a joint, relative to that of its link. The axes of universal joints are x of
 * the first and y of the second marker. */
static void write_joint_marker(saltusi_robot_text* t, const saltusi_robot_joint* joint, int side) {
  const saltusi_robot_link* link = &t->robot->links[side == 0 ? joint->parent : joint->child];
  const double* axis = side == 0 || !joint->loop ? joint->axis : joint->child_axis;
  saltusi_urdf_frame frame = side == 0 ? joint->origin : joint->child_origin;
  bool directed = joint->kind != SALTUSI_ROBOT_FIXED && joint->kind != SALTUSI_ROBOT_SPHERICAL;
  if (directed) {
    double Q[9];
    saltusi_matrix3_axis_to(joint->kind == SALTUSI_ROBOT_UNIVERSAL ? side : 2, axis, Q);
    saltusi_matrix3_times(frame.R, Q, frame.R);
  }
  saltusi_robot_put(t, "  %s: {marker: %s", joint->mark[side], link->marker);
  if (!is_zero(frame.p)) {
    saltusi_robot_put(t, ", point: ");
    saltusi_robot_put_list(t, frame.p, 3, t->reach);
  }
  bool plain = side == 0 && !joint->loop && directed && axis[2] == 1.0;
  if (plain && !is_zero(joint->rpy)) { /* as in the file */
    saltusi_robot_put(t, ", orientation: {rpy: ");
    saltusi_robot_put_list(t, joint->rpy, 3, 0.0);
    saltusi_robot_put(t, "}");
  } else {
    put_orientation(t, frame.R);
  }
  saltusi_robot_put(t, "}\n");
}

/* ---- joints ------------------------------------------------------------------------------ */

/* Damper, dry friction, and the motor within its limit of effort. */
static void write_dynamics(saltusi_robot_text* t, const saltusi_robot_joint* joint) {
  if (joint->damping > 0.0) {
    saltusi_robot_put(t, ", damping: ");
    saltusi_robot_put_number(t, joint->damping);
  }
  if (joint->friction > 0.0) {
    saltusi_robot_put(t, ", dry_friction: {force: ");
    saltusi_robot_put_number(t, joint->friction);
    saltusi_robot_put(t, "}");
  }
  if (joint->motor == NULL) {
    return;
  }
  saltusi_robot_put(t, ", actuator: \"%s", joint->effort_limited ? "min(max(" : "");
  if (joint->reduction != 0.0 && joint->reduction != 1.0) {
    saltusi_robot_put_number(t, joint->reduction);
    saltusi_robot_put(t, "*");
  }
  saltusi_robot_put(t, "%s", joint->motor);
  for (int k = 0; k < 2 && joint->effort_limited; k++) {
    saltusi_robot_put(t, ", ");
    saltusi_robot_put_number(t, joint->effort[k]);
    saltusi_robot_put(t, ")");
  }
  saltusi_robot_put(t, "\"");
}

static void write_inputs(saltusi_robot_text* t) {
  int count = 0;
  for (int i = 0; i < t->robot->joint_count; i++) {
    if (t->robot->joints[i].motor != NULL) {
      saltusi_robot_put(t, count++ == 0 ? "inputs: {%s: 0" : ", %s: 0", t->robot->joints[i].motor);
    }
  }
  saltusi_robot_put(t, count > 0 ? "}\n" : "%s", "");
}

static void write_joint(saltusi_robot_text* t, const saltusi_robot_joint* joint) {
  static const char* const types[] = {"revolute", "prismatic",   "fixed",     "",
                                      "planar",   "cylindrical", "spherical", "universal"};
  saltusi_robot_put(t, "  - {name: %s, type: %s, between: [%s, %s]", joint->label,
                    types[joint->kind], joint->mark[0], joint->mark[1]);
  if (joint->limited) {
    const double limits[2] = {joint->lower, joint->upper};
    saltusi_robot_put(t, ", limits: ");
    saltusi_robot_put_list(t, limits, 2, 0.0);
  }
  if (t->robot->mjcf != NULL) {
    saltusi_mjcf_write_drive(t, (int)(joint - t->robot->joints));
  } else {
    write_dynamics(t, joint);
  }
  saltusi_robot_put(t, "}\n");
}

/* Value of a joint at the start of the scene. An angle starts within half a revolution, or in the nearest revolution
 * within its limits (add_limits in body/define_joints.c). */
double saltusi_robot_scene_start(const saltusi_robot_joint* joint) {
  assert(joint != NULL);
  if (joint->kind != SALTUSI_ROBOT_REVOLUTE) {
    return joint->start;
  }
  const double turn = 6.283185307179586476925, angle = remainder(joint->start, turn);
  const double up = angle + turn * ceil((joint->lower - angle) / turn);
  const double down = angle + turn * floor((joint->upper - angle) / turn);
  if (joint->limited && angle < joint->lower) {
    return up <= joint->upper ? up : angle;
  }
  return joint->limited && angle > joint->upper && down >= joint->lower ? down : angle;
}

/* value = multiplier x followed + offset; between an angle and a length it is a rack, whose first joint is revolute,
 * so a revolute joint that follows a prismatic one is written in inverse order. */
static void write_mimic(saltusi_robot_text* t, const saltusi_robot_joint* joint) {
  const saltusi_robot_joint* followed = &t->robot->joints[joint->mimic];
  const saltusi_robot_joint* pair[2] = {followed, joint};
  double ratio = joint->multiplier, offset = joint->offset;
  bool rack = joint->kind != followed->kind;
  if (rack && joint->kind == SALTUSI_ROBOT_REVOLUTE) {
    pair[0] = joint;
    pair[1] = followed;
    offset = -offset / ratio;
    ratio = 1.0 / ratio;
  }
  offset += saltusi_robot_scene_start(pair[1]) - pair[1]->start -
            ratio * (saltusi_robot_scene_start(pair[0]) - pair[0]->start);
  saltusi_robot_put(t, "  - {name: %s, type: %s, joints: [%s, %s], %s: ", joint->mimic_label,
                    rack ? "rack-and-pinion" : "gear", pair[0]->label, pair[1]->label,
                    rack ? "radius" : "ratio");
  saltusi_robot_put_number(t, ratio);
  if (offset != 0.0) {
    saltusi_robot_put(t, ", offset: ");
    saltusi_robot_put_number(t, offset);
  }
  saltusi_robot_put(t, "}\n");
}

/* ---- the scene --------------------------------------------------------------------------- */

static void measure_reach(saltusi_robot_text* t) {
  const saltusi_robot* robot = t->robot;
  for (int i = 0; i < robot->link_count; i++) {
    for (int k = 0; k < 3; k++) {
      t->reach = fmax(t->reach, fabs(robot->links[i].place.p[k]));
      t->reach = fmax(t->reach, fabs(robot->links[i].mass.centre[k]));
    }
  }
}

static bool in_scene(const saltusi_robot_joint* joint) {
  return joint->label != NULL;
}

static void write_markers(saltusi_robot_text* t) {
  const saltusi_robot* robot = t->robot;
  saltusi_robot_put(t, "markers:\n  # frames of links\n");
  for (int i = 0; i < robot->link_count; i++) {
    const saltusi_robot_link* link = &robot->links[robot->order[i]];
    write_link_marker(t, link);
    if (link->lifted != NULL) {
      saltusi_robot_put(t, "  %s: {marker: %s, point: ", link->lifted, link->marker);
      saltusi_robot_put_list(t, link->mass.centre, 3, 0.0);
      saltusi_robot_put(t, "}\n");
    }
  }
  saltusi_robot_put(t, "  # frames of joints\n");
  for (int i = 0; i < robot->joint_count; i++) {
    if (in_scene(&robot->joints[i])) {
      write_joint_marker(t, &robot->joints[i], 0);
      write_joint_marker(t, &robot->joints[i], 1);
    }
  }
}

static void write_joints(saltusi_robot_text* t) {
  const saltusi_robot* robot = t->robot;
  int count = 0;
  for (int i = 0; i < robot->joint_count; i++) {
    if (in_scene(&robot->joints[i])) {
      saltusi_robot_put(t, count++ == 0 ? "joints:\n" : "%s", "");
      write_joint(t, &robot->joints[i]);
    }
  }
  if (robot->mjcf != NULL && count > 0) {
    saltusi_mjcf_write_relations(t);
  }
  for (int i = 0; i < robot->joint_count; i++) {
    if (robot->joints[i].mimic >= 0) {
      write_mimic(t, &robot->joints[i]);
    }
  }
}

/* Sorts by line, then by text, so that the order is unique. */
static int compare_notes(const void* a, const void* b) {
  const saltus_urdf_note* x = a;
  const saltus_urdf_note* y = b;
  return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : strcmp(x->text, y->text);
}

/* File, and number of repetitions. */
static void complete_notes(saltusi_robot* robot) {
  for (int i = 0; i < robot->note_count; i++) {
    int local;
    char text[800], times[32] = "";
    saltus_urdf_note* note = &robot->notes[i];
    const char* file = saltusi_robot_place(robot, note->line, &local);
    if (robot->note_times[i] > 1) {
      saltusi_print(times, sizeof times, " (%d times)", robot->note_times[i]);
    } else if (file == robot->file) {
      continue;
    }
    const bool other = file != robot->file;
    saltusi_print(text, sizeof text, "%s%.200s%s%s%s", other ? "in " : "", other ? file : "",
                  other ? ": " : "", note->text, times);
    *note = (saltus_urdf_note){.line = local, .text = saltusi_pool_text(robot->pool, text)};
    if (note->text == NULL) {
      note->text = "";
      robot->status = SALTUS_ERR_MEMORY;
    }
  }
}

static void write_notes(saltusi_robot_text* t) {
  saltusi_robot* robot = t->robot;
  complete_notes(robot);
  if (robot->note_count > 1) {
    qsort(robot->notes, (size_t)robot->note_count, sizeof *robot->notes, compare_notes);
  }
  saltusi_robot_put(t, "\n# What was not translated, or chosen where the file gives no value:\n");
  for (int i = 0; i < robot->note_count; i++) {
    saltusi_robot_put(t, "#   line %d: ", robot->notes[i].line);
    put_comment(t, robot->notes[i].text);
  }
}

/* A name that no shape and no body has. */
static const char* floor_name(const saltusi_robot* robot) {
  for (int i = 0; i < robot->body_count; i++) {
    if (strcmp(robot->bodies[i].label, "floor") == 0) {
      return "converted_floor";
    }
  }
  for (int i = 0; i < robot->link_count; i++) {
    for (int k = 0; k < robot->links[i].shapes.count; k++) {
      if (strcmp(robot->links[i].shapes.list[k].label, "floor") == 0) {
        return "converted_floor";
      }
    }
  }
  return "floor";
}

static void write_world(saltusi_robot_text* t, const saltus_urdf_def* def) {
  const saltusi_mjcf* mjcf = t->robot->mjcf;
  saltusi_robot_put(t, "\nworld: {dimension: 3, gravity: ");
  saltusi_robot_put_list(t, mjcf != NULL ? mjcf->gravity : (const double[]){0.0, 0.0, -9.81}, 3,
                         0.0);
  saltusi_robot_put(t, "%s", def->by_joints || mjcf != NULL ? ", coordinates: joints" : "");
  if (def->floor) {
    saltusi_robot_put(t, ", shapes: [\n  {name: %s, half-space: {}, position: [0, 0, ",
                      floor_name(t->robot));
    saltusi_robot_put_number(t, def->height);
    saltusi_robot_put(t, "]}");
  }
  write_shapes(t, -1, "\n  ", def->floor ? 1 : 0);
  saltusi_robot_put(t, "}\n");
  if (mjcf != NULL && t->robot->shaped) {
    saltusi_mjcf_write_contacts(t, def->friction);
  } else if (t->robot->shaped) {
    saltusi_robot_put(t, "materials: {default: {friction: ");
    saltusi_robot_put_number(t, def->friction);
    saltusi_robot_put(t, ", restitution: 0}}\n");
    write_contact_pairs(t);
  }
}

saltus_status saltusi_robot_write(saltusi_robot* robot, const saltus_urdf_def* def,
                                  const char** out) {
  assert(robot != NULL && def != NULL && out != NULL);
  saltusi_robot_text t = {.robot = robot, .parts = def->parts};
  measure_reach(&t);
  saltusi_robot_put(&t, "# Made from ");
  put_comment(&t, robot->file);
  saltusi_robot_put(&t, "saltus: 1\nname: ");
  put_quoted(&t, robot->name[0] != '\0' ? robot->name : "robot");
  write_world(&t, def);
  if (robot->mjcf != NULL) {
    saltusi_mjcf_write_inputs(&t);
  } else {
    write_inputs(&t);
  }
  saltusi_robot_put(&t, robot->body_count > 0 ? "bodies:\n" : "bodies: {}\n");
  for (int i = 0; i < robot->body_count; i++) {
    write_body(&t, &robot->bodies[i]);
  }
  write_markers(&t);
  write_joints(&t);
  if (robot->mjcf != NULL) {
    saltusi_mjcf_write_forces(&t);
  }
  saltusi_robot_put(&t, "simulate: {until: 10}\n");
  write_notes(&t);
  if (robot->status == SALTUS_OK) {
    *out = saltusi_pool_text(robot->pool, t.bytes);
    robot->status = *out != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  }
  saltusi_release(&robot->pool->allocator, t.bytes, t.room, 1);
  return robot->status;
}
