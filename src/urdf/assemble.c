/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * assemble.c - links in the order of the tree, joints at their start values, frames in the world. A joint
 * starts at the value nearest to 0 that its limits allow; one that mimics another follows it.
 */
#include "urdf/mjcf.h"

#include <assert.h>
#include <math.h>

/* m or rad, of links and joints at the start: rounding errors stay below 1e-6. */
static const double farthest = 1e9;

/* The joint above each link. */
static void find_parents(saltusi_robot* robot) {
  for (int i = 0; i < robot->joint_count; i++) {
    const saltusi_robot_joint* joint = &robot->joints[i];
    saltusi_robot_link* child = &robot->links[joint->child];
    if (joint->loop) {
      continue;
    }
    if (child->joint >= 0) {
      saltusi_robot_refuse(robot, joint->line,
                           "link " SALTUSI_ROBOT_QUOTE " is the child of joint " SALTUSI_ROBOT_QUOTE
                           " (line %d) and of joint " SALTUSI_ROBOT_QUOTE
                           "; a loop is closed by a <constraint>",
                           child->name, robot->joints[child->joint].name,
                           robot->joints[child->joint].line, joint->name);
      return;
    }
    child->joint = i;
  }
}

static int find_root(saltusi_robot* robot) {
  int root = -1;
  for (int i = 0; i < robot->link_count; i++) {
    if (robot->links[i].joint >= 0) {
      continue;
    }
    if (root >= 0) {
      saltusi_robot_refuse(robot, robot->links[i].line,
                           "links " SALTUSI_ROBOT_QUOTE " (line %d) and " SALTUSI_ROBOT_QUOTE
                           " are the children of no joint; a robot has one root",
                           robot->links[root].name, robot->links[root].line, robot->links[i].name);
      return -1;
    }
    root = i;
  }
  if (root < 0) {
    saltusi_robot_refuse(robot, robot->links[0].line,
                         "every link is the child of a joint; a robot has one root");
  }
  return root;
}

/* Breadth first, from lists of children by link. Links that are not reached belong to a cycle. */
static void order_links(saltusi_robot* robot, int root) {
  int n = robot->link_count;
  int* first = SALTUSI_TAKE(robot->pool, int, n);
  int* next = SALTUSI_TAKE(robot->pool, int, n);
  robot->order = SALTUSI_TAKE(robot->pool, int, n);
  if (first == NULL || next == NULL || robot->order == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (int i = 0; i < n; i++) {
    first[i] = -1;
  }
  for (int i = n - 1; i >= 0; i--) { /* children in the order of the file */
    if (robot->links[i].joint >= 0) {
      int parent = robot->joints[robot->links[i].joint].parent;
      next[i] = first[parent];
      first[parent] = i;
    }
  }
  int count = 0;
  robot->order[count++] = root;
  for (int k = 0; k < count; k++) {
    for (int child = first[robot->order[k]]; child >= 0; child = next[child]) {
      robot->order[count++] = child;
    }
  }
  if (count == n) {
    return;
  }
  bool* reached = SALTUSI_TAKE(robot->pool, bool, n);
  if (reached == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (int k = 0; k < count; k++) {
    reached[robot->order[k]] = true;
  }
  for (int i = 0; i < n; i++) {
    if (!reached[i]) {
      const saltusi_robot_joint* joint = &robot->joints[robot->links[i].joint];
      saltusi_robot_refuse(robot, joint->line,
                           "link " SALTUSI_ROBOT_QUOTE
                           " hangs in a circle of joints that the root is not part of",
                           robot->links[i].name);
      return;
    }
  }
}

static bool has_value(const saltusi_robot_joint* joint) {
  return joint->kind == SALTUSI_ROBOT_REVOLUTE || joint->kind == SALTUSI_ROBOT_PRISMATIC;
}

/* The end of the chain of mimics, and the value of this joint as a function of that one. */
static const saltusi_robot_joint* leader(saltusi_robot* robot, int i, double* factor,
                                         double* shift) {
  const saltusi_robot_joint* joint = &robot->joints[i];
  *factor = 1.0;
  *shift = 0.0;
  for (int steps = 0; joint->mimic >= 0; steps++) {
    const saltusi_robot_joint* followed = &robot->joints[joint->mimic];
    if (steps == robot->joint_count) {
      saltusi_robot_refuse(
          robot, joint->mimic_line,
          "joint " SALTUSI_ROBOT_QUOTE " mimics itself, directly or through others", joint->name);
      return joint;
    }
    if (!has_value(joint) || !has_value(followed) || followed->loop) {
      const saltusi_robot_joint* bad = has_value(joint) ? followed : joint;
      saltusi_robot_refuse(robot, joint->mimic_line,
                           "joint " SALTUSI_ROBOT_QUOTE " mimics " SALTUSI_ROBOT_QUOTE
                           ", and " SALTUSI_ROBOT_QUOTE " has no value to follow",
                           joint->name, followed->name, bad->name);
      return joint;
    }
    *shift += *factor * joint->offset;
    *factor *= joint->multiplier;
    joint = followed;
  }
  return joint;
}

static void start_values(saltusi_robot* robot) {
  for (int i = 0; i < robot->joint_count && robot->status == SALTUS_OK; i++) {
    saltusi_robot_joint* joint = &robot->joints[i];
    double factor, shift;
    const saltusi_robot_joint* first = leader(robot, i, &factor, &shift);
    double value = first->initial;
    value = first->limited ? fmin(fmax(value, first->lower), first->upper) : value;
    joint->start = factor * value + shift;
    if (!(fabs(joint->start) <= farthest)) {
      saltusi_robot_refuse(robot, joint->line,
                           "joint " SALTUSI_ROBOT_QUOTE " starts at %g, must be within %g",
                           joint->name, joint->start, farthest);
    }
  }
  for (int i = 0; i < robot->joint_count && robot->status == SALTUS_OK; i++) {
    const saltusi_robot_joint* joint = &robot->joints[i];
    if (joint->limited && (joint->start < joint->lower || joint->start > joint->upper)) {
      saltusi_robot_refuse(robot, joint->line,
                           "joint " SALTUSI_ROBOT_QUOTE
                           " starts at %g, where the joint that it mimics has it, outside its "
                           "limits %g to %g",
                           joint->name, joint->start, joint->lower, joint->upper);
    } else if (joint->start != joint->initial) {
      saltusi_robot_note(robot, joint->line,
                         "joint " SALTUSI_ROBOT_QUOTE " starts at %g, because of its %s",
                         joint->name, joint->start, joint->mimic >= 0 ? "<mimic>" : "limits");
    }
  }
}

/* Transform of the child frame by the value of a joint. */
static saltusi_urdf_frame motion(const saltusi_robot_joint* joint) {
  saltusi_urdf_frame moved = saltusi_frame_none();
  if (joint->kind == SALTUSI_ROBOT_REVOLUTE && joint->start != 0.0) {
    saltusi_matrix3_turn(joint->axis, joint->start, moved.R);
  } else if (joint->kind == SALTUSI_ROBOT_PRISMATIC) {
    for (int i = 0; i < 3; i++) {
      moved.p[i] = joint->axis[i] * joint->start;
    }
  } else if (joint->kind == SALTUSI_ROBOT_SPHERICAL && joint->has_pose) {
    moved = joint->posed;
  }
  return moved;
}

/* A joint with a single allowed value becomes a fixed joint. */
static void settle_rigid(saltusi_robot* robot) {
  bool* rigid = SALTUSI_TAKE(robot->pool, bool, robot->joint_count);
  if (rigid == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (int i = 0; i < robot->joint_count && robot->status == SALTUS_OK; i++) {
    double factor, shift;
    const saltusi_robot_joint* first = leader(robot, i, &factor, &shift);
    rigid[i] = factor == 0.0 || (first->limited && first->lower == first->upper);
  }
  for (int i = 0; i < robot->joint_count && robot->status == SALTUS_OK; i++) {
    saltusi_robot_joint* joint = &robot->joints[i];
    if (rigid[i]) {
      saltusi_robot_note(robot, joint->line,
                         "joint " SALTUSI_ROBOT_QUOTE " has the one value %g: taken as fixed there",
                         joint->name, joint->start);
      saltusi_urdf_frame moved = motion(joint);
      joint->origin = saltusi_frame_in(&joint->origin, &moved);
      joint->kind = SALTUSI_ROBOT_FIXED;
      joint->limited = false;
      joint->mimic = -1;
      joint->damping = 0.0;
      joint->start = 0.0;
    }
  }
}

/* In the reference configuration all coordinates are 0. */
static void place_link(saltusi_robot* robot, saltusi_robot_link* link, bool reference) {
  link->place = saltusi_frame_none();
  if (link->joint < 0) {
    memcpy(link->place.p, robot->position, sizeof link->place.p);
    return;
  }
  const saltusi_robot_joint* joint = &robot->joints[link->joint];
  const bool free = joint->kind == SALTUSI_ROBOT_FLOATING && joint->has_pose && !reference;
  const saltusi_urdf_frame none = saltusi_frame_none();
  const saltusi_urdf_frame at =
      saltusi_frame_in(&robot->links[joint->parent].place, free ? &joint->posed : &joint->origin);
  const saltusi_urdf_frame moved = reference ? none : motion(joint);
  const saltusi_urdf_frame on = saltusi_frame_in(&at, &moved);
  const saltusi_urdf_frame back = saltusi_frame_from(&joint->child_origin, &none);
  link->place = saltusi_frame_in(&on, &back);
  for (int i = 0; i < 3; i++) {
    if (!(fabs(link->place.p[i]) <= farthest)) {
      saltusi_robot_refuse(robot, joint->line,
                           "link " SALTUSI_ROBOT_QUOTE " lies at %g m, must be within %g m",
                           link->name, link->place.p[i], farthest);
    }
  }
}

/* Frames on the child of loops that are closed in the reference configuration. */
static void anchor_loops(saltusi_robot* robot) {
  for (int i = 0; i < robot->joint_count; i++) {
    saltusi_robot_joint* joint = &robot->joints[i];
    if (joint->anchored) {
      const saltusi_urdf_frame at =
          saltusi_frame_in(&robot->links[joint->parent].place, &joint->origin);
      joint->child_origin = saltusi_frame_from(&robot->links[joint->child].place, &at);
    }
  }
}

/* Distance of the frames of a loop at the start; the scene closes the loop, or is rejected. */
static void look_at_loops(saltusi_robot* robot) {
  for (int i = 0; i < robot->joint_count; i++) {
    const saltusi_robot_joint* joint = &robot->joints[i];
    if (!joint->loop) {
      continue;
    }
    double a[3], b[3];
    saltusi_frame_point(&robot->links[joint->parent].place, joint->origin.p, a);
    saltusi_frame_point(&robot->links[joint->child].place, joint->child_origin.p, b);
    double gap = sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                      (a[2] - b[2]) * (a[2] - b[2]));
    if (gap > 1e-9) { /* rounding of nine digits in a file */
      saltusi_robot_note(robot, joint->line,
                         "constraint " SALTUSI_ROBOT_QUOTE
                         ": its points are %g m apart with all joints at their start",
                         joint->name, gap);
    }
  }
}

saltus_status saltusi_robot_assemble(saltusi_robot* robot) {
  assert(robot != NULL);
  find_parents(robot);
  int root = robot->status == SALTUS_OK ? find_root(robot) : -1;
  if (robot->status == SALTUS_OK) {
    order_links(robot, root);
  }
  if (robot->status == SALTUS_OK) {
    start_values(robot);
  }
  if (robot->status == SALTUS_OK) {
    settle_rigid(robot);
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < robot->link_count && robot->status == SALTUS_OK; i++) {
      place_link(robot, &robot->links[robot->order[i]], pass == 0);
    }
    if (pass == 0 && robot->status == SALTUS_OK) {
      anchor_loops(robot);
      if (robot->mjcf != NULL) {
        saltusi_mjcf_damp(robot->mjcf);
      }
    }
  }
  if (robot->status == SALTUS_OK) {
    look_at_loops(robot);
  }
  return robot->status;
}
