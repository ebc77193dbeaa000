/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.c - from links to bodies. A massless link at a fixed joint belongs to the body on
 * the other side; links fixed to the ground are ground. Links with mass stay bodies, unless merging is requested. Mass properties about the common centre of mass:
 *
 *   m = sum m_i    c = sum m_i c_i / m    I = sum R_i I_i R_i^T + m_i (|d|^2 1 - d d^T),  d = c_i - c
 */
#include "urdf/robot.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void saltusi_robot_join_masses(saltusi_robot_mass* a, const saltusi_robot_mass* b,
                               const saltusi_urdf_frame* frame) {
  assert(a != NULL && b != NULL && frame != NULL);
  if (b->mass == 0.0) {
    return;
  }
  saltusi_robot_mass parts[2] = {*a, {.mass = b->mass}};
  double turned[9];
  saltusi_matrix3_times(frame->R, b->inertia, turned);
  saltusi_matrix3_times_transposed(turned, frame->R, parts[1].inertia);
  saltusi_frame_point(frame, b->centre, parts[1].centre);
  double mass = a->mass + b->mass;
  saltusi_robot_mass sum = {.mass = mass};
  for (int i = 0; i < 3; i++) {
    sum.centre[i] =
        (parts[0].mass * parts[0].centre[i] + parts[1].mass * parts[1].centre[i]) / mass;
  }
  for (int k = 0; k < 2; k++) {
    double d[3], square = 0.0;
    for (int i = 0; i < 3; i++) {
      d[i] = parts[k].centre[i] - sum.centre[i];
      square += d[i] * d[i];
    }
    for (int i = 0; i < 9; i++) {
      double moved = (i % 4 == 0 ? square : 0.0) - d[i / 3] * d[i % 3];
      sum.inertia[i] += parts[k].inertia[i] + parts[k].mass * moved;
    }
  }
  *a = sum;
}

static double determinant(const double* I) {
  return I[0] * (I[4] * I[8] - I[5] * I[7]) - I[1] * (I[3] * I[8] - I[5] * I[6]) +
         I[2] * (I[3] * I[7] - I[4] * I[6]);
}

static double middle_invariant(const double* I) {
  return I[0] * I[4] - I[1] * I[3] + I[0] * I[8] - I[2] * I[6] + I[4] * I[8] - I[5] * I[7];
}

/* Positive definite, and no principal moment larger than the sum of the others: then 1 tr(I)/2 - I, the
 * second moments of the mass, is positive semidefinite. Invariants of both decide it without eigenvalues.
 * With nine digits in a file a flat body can violate this slightly; a moment at the rounding of the others counts as
 * zero. */
static bool inertia_possible(const double* I) {
  double trace = I[0] + I[4] + I[8];
  double scale = fabs(I[0]) + fabs(I[4]) + fabs(I[8]);
  double J[9];
  for (int i = 0; i < 9; i++) {
    J[i] = (i % 4 == 0 ? 0.5 * trace : 0.0) - I[i];
  }
  double slack = 1e-9 * scale;
  double middle = middle_invariant(I);
  return trace > 0.0 && middle > 0.0 && determinant(I) > 1e-13 * trace * middle &&
         middle_invariant(J) >= -slack * scale && determinant(J) >= -slack * scale * scale;
}

static void check_body(saltusi_robot* robot, const saltusi_robot_body* body) {
  const saltusi_robot_link* top = &robot->links[body->top];
  const double* I = body->mass.inertia;
  if (!(body->mass.mass > 0.0)) {
    if (top->joint < 0) {
      saltusi_robot_refuse(robot, top->line,
                           "link " SALTUSI_ROBOT_QUOTE
                           " is free and has no mass, nor has anything fixed to it",
                           top->name);
    } else {
      saltusi_robot_refuse(
          robot, top->line,
          "link " SALTUSI_ROBOT_QUOTE
          " has no mass, nor has anything fixed to it, and joint " SALTUSI_ROBOT_QUOTE
          " (line %d) moves it: give it an <inertial> or fix it",
          top->name, robot->joints[top->joint].name, robot->joints[top->joint].line);
    }
    return;
  }
  double sum = body->mass.mass;
  for (int i = 0; i < 9; i++) {
    sum += fabs(I[i]) + (i < 3 ? fabs(body->mass.centre[i]) : 0.0);
  }
  if (!isfinite(sum) || !inertia_possible(I)) {
    saltusi_robot_refuse(
        robot, top->line,
        "link " SALTUSI_ROBOT_QUOTE
        ": no body has this inertia about its centre of mass: xx %g, yy %g, zz %g, "
        "xy %g, xz %g, yz %g kg m^2; it must be positive and no principal moment "
        "larger than the other two together",
        top->name, I[0], I[4], I[8], I[1], I[2], I[5]);
  }
}

/* Assigns link i to `body`. */
static void join_body(saltusi_robot* robot, saltusi_robot_link* link, int body) {
  link->body = body;
  if (body >= 0) {
    saltusi_robot_body* b = &robot->bodies[body];
    const saltusi_robot_link* top = &robot->links[b->top];
    saltusi_urdf_frame in_top =
        link == top ? saltusi_frame_none() : saltusi_frame_from(&top->place, &link->place);
    saltusi_robot_join_masses(&b->mass, &link->mass, &in_top);
  }
}

static void start_body(saltusi_robot* robot, int i) {
  robot->bodies[robot->body_count].top = i;
  join_body(robot, &robot->links[i], robot->body_count++);
}

static void place_on_body(saltusi_robot* robot, int i, bool merge) {
  saltusi_robot_link* link = &robot->links[i];
  if (link->joint < 0) {
    if (robot->grounded) {
      join_body(robot, link, -1);
    } else {
      start_body(robot, i);
    }
    return;
  }
  saltusi_robot_joint* joint = &robot->joints[link->joint];
  int above = robot->links[joint->parent].body;
  bool fixed = joint->kind == SALTUSI_ROBOT_FIXED;
  bool light = above >= 0 && robot->bodies[above].mass.mass == 0.0;
  if (fixed && (merge || above < 0 || light || link->mass.mass == 0.0)) {
    joint->merged = true;
    join_body(robot, link, above);
  } else {
    start_body(robot, i);
  }
  if (link->body < 0 && link->mass.mass > 0.0) {
    saltusi_robot_note(robot, link->line,
                       "link " SALTUSI_ROBOT_QUOTE ": its mass of %g kg is fixed to the ground",
                       link->name, link->mass.mass);
  }
}

/* Links between the joints of one body have a part of its mass that is below the accuracy of any result. */
static void give_carriers_mass(saltusi_robot* robot) {
  static const double part = 1e-12;
  for (int i = 0; i < robot->link_count; i++) {
    const saltusi_robot_link* link = &robot->links[i];
    if (link->carries > 0 && link->body >= 0) {
      const saltusi_robot_mass* whole = &robot->bodies[robot->links[link->carries].body].mass;
      const double I = part * (whole->inertia[0] + whole->inertia[4] + whole->inertia[8]);
      robot->bodies[link->body].mass = (saltusi_robot_mass){
          .mass = part * whole->mass, .inertia = {I, 0.0, 0.0, 0.0, I, 0.0, 0.0, 0.0, I}};
    }
  }
}

static void decide_base(saltusi_robot* robot, saltus_urdf_base base) {
  if (robot->mjcf != NULL) {
    robot->grounded = true;
    return;
  }
  const saltusi_robot_link* root = &robot->links[robot->order[0]];
  bool world = strcmp(root->name, "world") == 0;
  robot->grounded = base == SALTUS_URDF_BASE_FIXED ||
                    (base == SALTUS_URDF_BASE_DEFAULT && (world || !root->inertial));
  saltusi_robot_note(robot, root->line, "the root link " SALTUSI_ROBOT_QUOTE " is %s%s", root->name,
                     robot->grounded ? "the ground" : "free",
                     base != SALTUS_URDF_BASE_DEFAULT ? ""
                     : world                          ? ", as its name says"
                     : robot->grounded                ? ", because it has no <inertial>"
                                                      : ", because it has an <inertial>");
  if (robot->grounded && root->mass.mass > 0.0) {
    saltusi_robot_note(robot, root->line,
                       "link " SALTUSI_ROBOT_QUOTE ": its mass of %g kg is that of the ground",
                       root->name, root->mass.mass);
  }
}

/* A loop inside of one body is redundant or inconsistent. */
static void check_loops(saltusi_robot* robot) {
  for (int i = 0; i < robot->joint_count; i++) {
    const saltusi_robot_joint* joint = &robot->joints[i];
    if (joint->loop && robot->links[joint->parent].body == robot->links[joint->child].body) {
      saltusi_robot_refuse(robot, joint->line,
                           "constraint " SALTUSI_ROBOT_QUOTE
                           ": its links are parts of one body, which nothing moves",
                           joint->name);
    }
  }
}

saltus_status saltusi_robot_make_bodies(saltusi_robot* robot, const saltus_urdf_def* def) {
  assert(robot != NULL && robot->order != NULL && def != NULL);
  robot->bodies = SALTUSI_TAKE(robot->pool, saltusi_robot_body, robot->link_count);
  if (robot->bodies == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return robot->status;
  }
  decide_base(robot, def->base);
  for (int i = 0; i < robot->link_count; i++) {
    place_on_body(robot, robot->order[i], def->merge || robot->mjcf != NULL);
  }
  give_carriers_mass(robot);
  for (int i = 0; i < robot->link_count; i++) {
    const saltusi_robot_link* link = &robot->links[i];
    if (link->body >= 0 && link->unknown_mass > 0) {
      saltusi_robot_refuse(robot, link->unknown_mass,
                           "body " SALTUSI_ROBOT_QUOTE
                           ": the mass of this geom is not computed; give the body an <inertial>",
                           link->name);
    }
  }
  if (robot->body_count == 0) {
    saltusi_robot_refuse(robot, robot->links[robot->order[0]].line,
                         "nothing of this robot moves: all of it is fixed to the ground%s",
                         def->base == SALTUS_URDF_BASE_FREE ? "" : "; its base can be free");
  }
  for (int i = 0; i < robot->body_count && robot->status == SALTUS_OK; i++) {
    check_body(robot, &robot->bodies[i]);
  }
  if (robot->status == SALTUS_OK) {
    check_loops(robot);
  }
  return robot->status;
}
