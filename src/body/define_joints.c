/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * define_joints.c - joints of a definition as rows: tables by type, drives, limits.
 *
 * a_k and b_k are the axes of the two markers, d the vector from the first origin to the second, and phi a small
 * rotation of the second against the first in the axes of the first. Rows are chosen so that at closed joints the
 * multipliers of d . a_k are forces along a_k, and those of the others torques about a_k:
 *
 *   fixed, prismatic         a_z . b_y = phi_x     a_x . b_z = phi_y     a_y . b_x = phi_z
 *   z axes parallel         -a_y . b_z = phi_x     a_x . b_z = phi_y     at any angle about z
 *   universal               -a_x . b_y = phi_z
 */
#include "base/reserved.h"
#include "body/constraints.h"
#include "body/define.h"

#include <assert.h>
#include <string.h>

static const double turn = 6.283185307179586476925;

/* ---- types ---- */

enum { X, Y, Z };
enum { ROWS_MOST = 6 };

#define ALONG(axis)                                                                                \
  { .kind = SALTUSI_TERM_ALONG, .i = (axis), .weight = 1.0 }
#define DOT(a, b, sign)                                                                            \
  { .kind = SALTUSI_TERM_DOT, .i = (a), .j = (b), .weight = (sign) }
#define SAME_ANGLE                                                                                 \
  { .kind = SALTUSI_TERM_PLANE, .weight = 1.0 }
#define DISTANCE                                                                                   \
  { .kind = SALTUSI_TERM_DISTANCE, .weight = 1.0 }
#define SAME_Z DOT(Y, Z, -1.0), DOT(X, Z, 1.0)
#define SAME_AXES DOT(Z, Y, 1.0), DOT(X, Z, 1.0), DOT(Y, X, 1.0)

typedef struct shape {
  int rows;
  saltusi_term row[ROWS_MOST];
} shape;

typedef struct type {
  const char* name;
  shape plane, space; /* without rows: not available */
  bool angle, position;
  bool couples; /* two joints */
} type;

static const type types[] = {
    [SALTUS_JOINT_FIXED] = {"fixed",
                            {3, {ALONG(X), ALONG(Y), SAME_ANGLE}},
                            {6, {ALONG(X), ALONG(Y), ALONG(Z), SAME_AXES}},
                            false,
                            false,
                            false},
    [SALTUS_JOINT_REVOLUTE] = {"revolute",
                               {2, {ALONG(X), ALONG(Y)}},
                               {5, {ALONG(X), ALONG(Y), ALONG(Z), SAME_Z}},
                               true,
                               false,
                               false},
    [SALTUS_JOINT_PRISMATIC] = {"prismatic",
                                {2, {ALONG(Y), SAME_ANGLE}},
                                {5, {ALONG(X), ALONG(Y), SAME_AXES}},
                                false,
                                true,
                                false},
    [SALTUS_JOINT_CYLINDRICAL] =
        {"cylindrical", {0}, {4, {ALONG(X), ALONG(Y), SAME_Z}}, true, true, false},
    [SALTUS_JOINT_SPHERICAL] =
        {"spherical", {0}, {3, {ALONG(X), ALONG(Y), ALONG(Z)}}, false, false, false},
    [SALTUS_JOINT_UNIVERSAL] = {"universal",
                                {0},
                                {4, {ALONG(X), ALONG(Y), ALONG(Z), DOT(X, Y, -1.0)}},
                                false,
                                false,
                                false},
    [SALTUS_JOINT_PLANAR] = {"planar", {0}, {3, {ALONG(Z), SAME_Z}}, false, false, false},
    [SALTUS_JOINT_POINT_ON_LINE] =
        {"point-on-line", {1, {ALONG(Y)}}, {2, {ALONG(X), ALONG(Y)}}, false, false, false},
    [SALTUS_JOINT_POINT_IN_PLANE] = {"point-in-plane", {0}, {1, {ALONG(Z)}}, false, false, false},
    [SALTUS_JOINT_DISTANCE] = {"distance", {1, {DISTANCE}}, {1, {DISTANCE}}, false, false, false},
    [SALTUS_JOINT_SCREW] =
        {"screw", {0}, {5, {ALONG(X), ALONG(Y), SAME_Z, ALONG(Z)}}, true, true, false},
    [SALTUS_JOINT_GEAR] = {"gear", {1, {{0}}}, {1, {{0}}}, false, false, true},
    [SALTUS_JOINT_RACK_AND_PINION] =
        {"rack-and-pinion", {1, {{0}}}, {1, {{0}}}, false, false, true},
};
enum { TYPES = sizeof types / sizeof types[0] };

const char* saltus_joint_type_name(saltus_joint_type which) {
  return (int)which >= 0 && (int)which < TYPES ? types[which].name : "";
}

static const shape* shape_of(const saltus_mechanism* m, saltus_joint_type which) {
  return m->plane ? &types[which].plane : &types[which].space;
}

/* ---- links ---- */

/* The velocities of all bodies at the ends, ascending, each body once. */
static void set_link_columns(const saltus_mechanism* m, saltusi_link* link) {
  const int size = m->plane ? 3 : 6;
  link->width = 0;
  for (int least = -1;;) {
    int next = -1;
    for (int k = 0; k < 2 * link->links; k++) {
      const int v = m->bodies[m->markers[link->marker[k / 2][k % 2]].body].v;
      next = v > least && (next < 0 || v < next) ? v : next;
    }
    if (next < 0) {
      break;
    }
    for (int k = 0; k < size; k++) {
      link->column[link->width++] = next + k;
    }
    least = next;
  }
  for (int k = 0; k < 4; k++) {
    link->place[k / 2][k % 2] = -1;
  }
  for (int k = 0; k < 2 * link->links; k++) {
    const int v = m->bodies[m->markers[link->marker[k / 2][k % 2]].body].v;
    for (int i = 0; v >= 0 && i < link->width; i += size) {
      if (link->column[i] == v) {
        link->place[k / 2][k % 2] = i;
      }
    }
  }
}

saltus_status saltusi_define_link(const saltusi_definition* d, const char* part, const char* name,
                                  const char* const between[2], saltusi_link* link) {
  assert(d != NULL && between != NULL && link != NULL);
  saltus_mechanism* m = d->m;
  link->links = 1;
  for (int k = 0; k < 2; k++) {
    saltus_status status = saltusi_define_find(d, part, name, &m->marker_names, "marker",
                                               between[k], &link->marker[0][k]);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  const int a = m->markers[link->marker[0][0]].body, b = m->markers[link->marker[0][1]].body;
  if (a == b) {
    return saltusi_define_refuse(d, part, name, "both markers are on the same body, \"%s\"",
                                 m->bodies[a].name);
  }
  set_link_columns(m, link);
  if (link->width == 0) {
    return saltusi_define_refuse(d, part, name, "neither \"%s\" nor \"%s\" is free to move",
                                 m->bodies[a].name, m->bodies[b].name);
  }
  return SALTUS_OK;
}

static bool on_driven(const saltus_mechanism* m, const saltusi_link* link) {
  return m->bodies[m->markers[link->marker[0][0]].body].kind == SALTUS_BODY_DRIVEN ||
         m->bodies[m->markers[link->marker[0][1]].body].kind == SALTUS_BODY_DRIVEN;
}

/* ---- coordinates ---- */

static int add_angle(const saltusi_definition* d, const char* name, const saltusi_link* link) {
  saltus_mechanism* m = d->m;
  const int q = 7 * m->free_count + m->angle_count;
  m->angles[m->angle_count++] =
      (saltusi_unwrapped){.name = name, .marker = {link->marker[0][0], link->marker[0][1]}, .q = q};
  saltusi_end end[4];
  saltusi_link_ends(m, link, d->def->t0, m->q0, NULL, end);
  m->q0[q] = saltusi_angle_between(&end[0], &end[1]);
  return q;
}

int saltusi_define_angle(const saltusi_definition* d, const char* name, const saltusi_link* link) {
  assert(d != NULL && link != NULL);
  return d->m->plane || on_driven(d->m, link) ? -1 : add_angle(d, name, link);
}

static double start_value(const saltusi_definition* d, const saltusi_link* link,
                          const saltusi_joint_row* row) {
  saltusi_end end[4];
  saltusi_link_ends(d->m, link, d->def->t0, d->m->q0, NULL, end);
  return saltusi_row_value(d->m, row, end, d->def->t0, d->m->q0);
}

static void near(double* angle, double value) {
  *angle += turn * nearbyint((value - *angle) / turn);
}

static void set_coordinates(const saltusi_definition* d, const saltus_joint_def* def,
                            saltusi_joint* joint) {
  const saltus_mechanism* m = d->m;
  joint->has_angle = types[def->type].angle;
  joint->has_position = types[def->type].position;
  joint->angle_q = -1;
  if (joint->has_angle) {
    joint->angle_q = saltusi_define_angle(d, joint->name, &joint->link);
    const bool turned = !m->plane && joint->angle_q < 0;
    const int q = turned ? add_angle(d, joint->name, &joint->link) : joint->angle_q;
    if (q >= 0) {
      m->angles[m->angle_count - 1].parallel = true;
      m->angles[m->angle_count - 1].driven = turned;
    }
    joint->angle =
        (saltusi_joint_row){.terms = 1,
                            .term = {{.kind = m->plane ? SALTUSI_TERM_PLANE : SALTUSI_TERM_ANGLE,
                                      .q = joint->angle_q,
                                      .turned = turned ? q : 0,
                                      .weight = 1.0}}};
  }
  if (joint->has_position || def->type == SALTUS_JOINT_DISTANCE) {
    joint->position = (saltusi_joint_row){
        .terms = 1,
        .term = {{.kind = def->type == SALTUS_JOINT_DISTANCE ? SALTUSI_TERM_DISTANCE
                                                             : SALTUSI_TERM_ALONG,
                  .i = m->plane ? X : Z,
                  .weight = 1.0}}};
  }
}

static bool acts(const saltus_signal* s) {
  return s->value != 0.0 || s->input != NULL || s->evaluate != NULL;
}

static bool is_used(const saltus_coordinate_def* c) {
  return c->drive != SALTUS_DRIVE_NONE || c->limited || c->stiffness != 0.0 || c->damping != 0.0 ||
         c->dry != 0.0 || c->dry_arm != 0.0 || c->armature != 0.0 || acts(&c->force);
}

static saltus_status check_coordinate(const saltusi_definition* d, const char* name,
                                      const saltus_coordinate_def* c, bool there,
                                      const char* which) {
  if (SALTUSI_RESERVED_CHECK(c, "saltus_coordinate_def", d->def->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  if (!there && is_used(c)) {
    return saltusi_define_refuse(d, "joint", name, "this type has no %s to drive, limit or load",
                                 which);
  }
  const double numbers[] = {c->stiffness, c->damping, c->rest, c->dry, c->dry_arm, c->armature};
  saltus_status status =
      saltusi_define_finite(d, "joint", name, "spring, damper, friction or armature", 6, numbers);
  if (status != SALTUS_OK) {
    return status;
  }
  if (c->dry < 0.0 || c->dry_arm < 0.0) {
    return saltusi_define_refuse(d, "joint", name,
                                 "limit of dry friction is %g and its arm %g, must be at least 0",
                                 c->dry, c->dry_arm);
  }
  if ((c->dry > 0.0 || c->dry_arm > 0.0) && c->drive != SALTUS_DRIVE_NONE) {
    return saltusi_define_refuse(d, "joint", name,
                                 "dry friction along a driven coordinate does nothing");
  }
  if (c->stiffness < 0.0 || c->damping < 0.0 || c->armature < 0.0) {
    return saltusi_define_refuse(d, "joint", name,
                                 "stiffness is %g, damping %g and armature %g, must be at least 0",
                                 c->stiffness, c->damping, c->armature);
  }
  if (c->limited && !(c->lower < c->upper)) {
    return saltusi_define_refuse(d, "joint", name,
                                 "limits are %g and %g, the first must be below the second",
                                 c->lower, c->upper);
  }
  if (c->limited && !(c->restitution >= 0.0 && c->restitution <= 1.0)) {
    return saltusi_define_refuse(d, "joint", name, "restitution is %g, must be 0 to 1",
                                 c->restitution);
  }
  return SALTUS_OK;
}

/* An angle against a driven body has no coordinate in q that counts its revolutions. */
static saltus_status check_turns(const saltusi_definition* d, const saltus_joint_def* def,
                                 const saltusi_joint* joint) {
  const saltus_coordinate_def* c = &def->angle;
  const double pi = 0.5 * turn;
  if (d->m->plane || !joint->has_angle || joint->angle_q >= 0) {
    return SALTUS_OK;
  }
  const bool within = c->limited && c->lower > -pi && c->upper < pi;
  if ((c->stiffness != 0.0 && !within) || (c->limited && !within)) {
    return saltusi_define_refuse(
        d, "joint", def->name,
        "its angle against a driven body is known from -pi to pi only: springs and limits need "
        "limits inside");
  }
  return SALTUS_OK;
}

/* ---- drives, limits, forces ---- */

static saltus_status add_drive(const saltusi_definition* d, saltusi_joint* joint, int which,
                               const saltus_coordinate_def* c, int* next) {
  saltus_mechanism* m = d->m;
  joint->driven[which] = -1;
  if (c->drive == SALTUS_DRIVE_NONE) {
    return SALTUS_OK;
  }
  if (c->driven.input != NULL) {
    return saltusi_define_refuse(d, "joint", joint->name,
                                 "is driven by the input \"%s\": a value that is set between steps "
                                 "would tear it; use a force or a spring",
                                 c->driven.input);
  }
  saltusi_joint_row* row = &m->rows[joint->row + *next];
  *row = which == 0 ? joint->angle : joint->position;
  joint->driven[which] = joint->row + (*next)++;
  saltus_status status = saltusi_define_signal(d, "joint", joint->name, &c->driven, &row->target);
  if (status != SALTUS_OK) {
    return status;
  }
  if (c->drive == SALTUS_DRIVE_SPEED) {
    row->offset = start_value(d, &joint->link, row);
  }
  row->by_speed = c->drive == SALTUS_DRIVE_SPEED;
  row->has_target = true;
  if (which == 0 && joint->angle_q >= 0 && !row->by_speed) {
    double target[3];
    saltusi_target_at(m, row, d->def->t0, target);
    near(&m->q0[joint->angle_q], target[0]);
  } else if (which == 0 && row->term[0].turned > 0 && !row->by_speed && !c->limited) {
    double target[3];
    saltusi_target_at(m, row, d->def->t0, target);
    near(&m->q0[row->term[0].turned], target[0]);
  } else if (which == 0 && m->plane && !row->by_speed) {
    /* the angle is the difference of two coordinates and keeps its initial branch */
    row->offset = turn * nearbyint(start_value(d, &joint->link, row) / turn);
  }
  return SALTUS_OK;
}

static void add_limits(const saltusi_definition* d, saltusi_joint* joint, int which,
                       const saltus_coordinate_def* c, bool both) {
  static const char* const ends[2] = {".lower", ".upper"};
  static const char* const coordinates[2] = {".angle", ".position"};
  saltus_mechanism* m = d->m;
  const double at[2] = {c->lower, c->upper};
  for (int k = 0; k < 2; k++) {
    joint->limits[2 * which + k] = -1;
    if (!c->limited || !isfinite(at[k])) {
      continue;
    }
    const char* name =
        both ? saltusi_pool_join(&m->pool, joint->name, coordinates[which]) : joint->name;
    m->laws[m->limit_count] = (saltus_contact_law){
        .name = saltusi_pool_join(&m->pool, name, ends[k]), .e_N = c->restitution};
    m->limits[m->limit_count] =
        (saltusi_limit){.joint = (int)(joint - m->joints),
                        .row = which == 0 ? &joint->angle : &joint->position,
                        .sign = k == 0 ? 1.0 : -1.0,
                        .at = at[k]};
    joint->limits[2 * which + k] = m->limit_count++;
  }
  if (which != 0 || joint->angle_q < 0 || !c->limited || c->drive != SALTUS_DRIVE_NONE) {
    return;
  }
  double* angle = &m->q0[joint->angle_q]; /* the first branch within the limits, if there is one */
  const double up = ceil((c->lower - *angle) / turn), down = floor((c->upper - *angle) / turn);
  if (*angle < c->lower && *angle + up * turn <= c->upper) {
    *angle += up * turn;
  } else if (*angle > c->upper && *angle + down * turn >= c->lower) {
    *angle += down * turn;
  }
}

/* Number of rows whose multipliers are forces; rows of the origins come first. */
static int force_rows(const saltusi_definition* d, const saltus_joint_def* def) {
  const bool plane = d->m->plane;
  switch (def->type) {
  case SALTUS_JOINT_REVOLUTE:
    return plane ? 2 : 3;
  case SALTUS_JOINT_PRISMATIC:
    return plane ? 1 : 2;
  default:
    return 2;
  }
}

static void add_dry(const saltusi_definition* d, const saltus_joint_def* def,
                    const saltusi_joint* joint, int which, const saltus_coordinate_def* c) {
  saltus_mechanism* m = d->m;
  if (c->dry == 0.0 && c->dry_arm == 0.0) {
    return;
  }
  const int i = m->dry_count++;
  m->dries[i] = (saltusi_joint_friction){.joint = (int)(joint - m->joints),
                                         .row = which == 0 ? &joint->angle : &joint->position};
  m->dry[i] = (saltus_dry_friction){.name = joint->name,
                                    .force = c->dry,
                                    .arm = c->dry_arm,
                                    .joint = (int)(joint - m->joints),
                                    .reaction_rows = force_rows(d, def)};
}

static saltus_status add_force(const saltusi_definition* d, saltusi_joint* joint, int which,
                               const saltus_coordinate_def* c) {
  saltus_mechanism* m = d->m;
  if (c->stiffness == 0.0 && c->damping == 0.0 && c->armature == 0.0 && !acts(&c->force)) {
    return SALTUS_OK;
  }
  saltusi_force_along* f = &m->forces[m->force_count++];
  *f = (saltusi_force_along){.link = &joint->link,
                             .row = which == 0 ? &joint->angle : &joint->position,
                             .stiffness = c->stiffness,
                             .rest = c->rest,
                             .damping = c->damping,
                             .armature = c->armature,
                             .actuated = acts(&c->force)};
  return saltusi_define_signal(d, "joint", joint->name, &c->force, &f->actuator);
}

static saltus_status add_coordinate(const saltusi_definition* d, const saltus_joint_def* def,
                                    saltusi_joint* joint, int which, int* next) {
  const saltus_coordinate_def* c = which == 0 ? &def->angle : &def->position;
  const bool there = which == 0 ? joint->has_angle : joint->has_position;
  saltus_status status =
      check_coordinate(d, def->name, c, there, which == 0 ? "angle" : "position");
  if (status == SALTUS_OK) {
    add_limits(d, joint, which, c, def->angle.limited && def->position.limited);
    add_dry(d, def, joint, which, c);
    status = add_drive(d, joint, which, c, next);
  }
  return status == SALTUS_OK ? add_force(d, joint, which, c) : status;
}

/* ---- joints ---- */

/* Antiparallel initial axes satisfy the rows of parallel axes as well. */
static saltus_status check_axes(const saltusi_definition* d, const saltus_joint_def* def,
                                const saltusi_joint* joint) {
  const bool z = types[def->type].angle || def->type == SALTUS_JOINT_PLANAR;
  const bool all = def->type == SALTUS_JOINT_FIXED || def->type == SALTUS_JOINT_PRISMATIC;
  saltusi_end end[4];
  saltusi_link_ends(d->m, &joint->link, d->def->t0, d->m->q0, NULL, end);
  for (int k = 0; !d->m->plane && (z || all) && k < 3; k++) {
    if ((all || k == Z) && saltusi_dot3(end[0].axis[k], end[1].axis[k]) < 0.0) {
      return saltusi_define_refuse(
          d, "joint", def->name,
          "the %c axes of its markers are %.4g rad apart at the start, must be parallel", "xyz"[k],
          acos(fmax(-1.0, saltusi_dot3(end[0].axis[k], end[1].axis[k]))));
    }
  }
  return SALTUS_OK;
}

static saltus_status set_own_rows(const saltusi_definition* d, const saltus_joint_def* def,
                                  saltusi_joint* joint) {
  saltus_mechanism* m = d->m;
  const shape* rows = shape_of(m, def->type);
  for (int r = 0; r < rows->rows; r++) {
    saltusi_joint_row* row = &m->rows[joint->row + r];
    *row = (saltusi_joint_row){.terms = 1, .term = {rows->row[r]}};
    if (row->term[0].kind == SALTUSI_TERM_PLANE) { /* full revolutions keep axes parallel */
      row->offset = turn * nearbyint(start_value(d, &joint->link, row) / turn);
    }
  }
  if (def->type == SALTUS_JOINT_SCREW) {
    if (!isfinite(def->ratio) || def->ratio == 0.0) {
      return saltusi_define_refuse(d, "joint", def->name,
                                   "its pitch is %g m per turn, must be finite and not 0",
                                   def->ratio);
    }
    saltusi_joint_row* last = &m->rows[joint->row + rows->rows - 1];
    last->term[last->terms] = joint->angle.term[0];
    last->term[last->terms++].weight = -def->ratio / turn;
  }
  if (def->type == SALTUS_JOINT_DISTANCE) {
    saltusi_joint_row* row = &m->rows[joint->row];
    double length[3];
    saltus_status status = saltusi_define_signal(d, "joint", def->name, &def->length, &row->target);
    if (status != SALTUS_OK) {
      return status;
    }
    row->has_target = true;
    saltusi_target_at(m, row, d->def->t0, length);
    if (!(length[0] > 0.0) || def->length.input != NULL) {
      return saltusi_define_refuse(
          d, "joint", def->name,
          def->length.input != NULL ? "its length is an input: a value that is set between steps "
                                      "would tear it (%g m)"
                                    : "its length is %g m, must be above 0",
          length[0]);
    }
  }
  return SALTUS_OK;
}

static saltus_status define_joint(const saltusi_definition* d, int i) {
  const saltus_joint_def* def = &d->def->joints[i];
  saltusi_joint* joint = &d->m->joints[i];
  saltus_status status = saltusi_define_link(d, "joint", def->name, def->between, &joint->link);
  if (status != SALTUS_OK) {
    return status;
  }
  memcpy(joint->between, joint->link.marker[0], sizeof joint->between);
  set_coordinates(d, def, joint);
  status = check_axes(d, def, joint);
  int next = shape_of(d->m, def->type)->rows;
  if (status == SALTUS_OK) {
    status = set_own_rows(d, def, joint);
  }
  if (status == SALTUS_OK) {
    status = check_turns(d, def, joint);
  }
  for (int which = 0; status == SALTUS_OK && which < 2; which++) {
    status = add_coordinate(d, def, joint, which, &next);
  }
  return status;
}

/* Two joints whose coordinates are coupled. */
static saltus_status define_coupling(const saltusi_definition* d, int i) {
  const saltus_joint_def* def = &d->def->joints[i];
  saltus_mechanism* m = d->m;
  saltusi_joint* joint = &m->joints[i];
  saltusi_joint_row* row = &m->rows[joint->row];
  *row = (saltusi_joint_row){.terms = 2, .offset = def->offset};
  joint->angle_q = -1;
  joint->link.links = 2;
  joint->driven[0] = joint->driven[1] = -1;
  memset(joint->limits, -1, sizeof joint->limits);
  if (!isfinite(def->ratio) || def->ratio == 0.0 || !isfinite(def->offset)) {
    return saltusi_define_refuse(
        d, "joint", def->name, "its ratio is %g and its offset %g, must be finite, the ratio not 0",
        def->ratio, def->offset);
  }
  const saltusi_joint* pair[2];
  for (int k = 0; k < 2; k++) {
    saltus_status status = saltusi_define_find(d, "joint", def->name, &m->joint_names, "joint",
                                               def->between[k], &joint->between[k]);
    if (status != SALTUS_OK) {
      return status;
    }
    const saltusi_joint* other = pair[k] = &m->joints[joint->between[k]];
    const bool rack = def->type == SALTUS_JOINT_RACK_AND_PINION;
    const bool angle = rack ? k == 0 : other->has_angle;
    if (angle ? !other->has_angle : !other->has_position) {
      return saltusi_define_refuse(d, "joint", def->name, "joint \"%s\" has no %s to couple",
                                   other->name,
                                   angle  ? "angle"
                                   : rack ? "position"
                                          : "coordinate");
    }
    if (angle && !m->plane && other->angle_q < 0) {
      return saltusi_define_refuse(
          d, "joint", def->name,
          "the angle of joint \"%s\" is against a driven body, whose turns are not counted",
          other->name);
    }
    row->term[k] = angle ? other->angle.term[0] : other->position.term[0];
    row->term[k].link = k;
    row->term[k].weight = k == 0 ? -def->ratio : 1.0;
    memcpy(joint->link.marker[k], other->link.marker[0], sizeof joint->link.marker[k]);
  }
  if (pair[0] == pair[1]) {
    return saltusi_define_refuse(d, "joint", def->name, "couples joint \"%s\" with itself",
                                 pair[0]->name);
  }
  set_link_columns(m, &joint->link);
  const bool open = pair[1]->driven[0] < 0 && pair[1]->limits[0] < 0 && pair[1]->limits[1] < 0;
  if (row->term[1].kind == SALTUSI_TERM_ANGLE &&
      open) { /* the branch on which the gear ratio holds */
    const double g = start_value(d, &joint->link, row);
    double* angle = &m->q0[pair[1]->angle_q];
    near(angle, *angle - g);
  }
  return SALTUS_OK;
}

/* Names, and the index of every row. */
static saltus_status count_rows(const saltusi_definition* d, int* rows) {
  const saltus_mechanism_def* def = d->def;
  saltus_mechanism* m = d->m;
  *rows = 0;
  for (int i = 0; i < def->joint_count; i++) {
    const saltus_joint_def* j = &def->joints[i];
    saltus_status status = SALTUSI_RESERVED_CHECK(j, "saltus_joint_def", def->log);
    if (status == SALTUS_OK) {
      status = saltusi_define_name(d, "joint", j->name, &m->joint_names, &m->joints[i].name);
    }
    if (status != SALTUS_OK) {
      return status;
    }
    if ((int)j->type < 0 || (int)j->type >= TYPES) {
      return saltusi_define_refuse(d, "joint", j->name, "its type is %d, must be 0 to %d",
                                   (int)j->type, TYPES - 1);
    }
    if (shape_of(m, j->type)->rows == 0) {
      return saltusi_define_refuse(d, "joint", j->name, "the type \"%s\" is one of space only",
                                   types[j->type].name);
    }
    m->joints[i].type = j->type;
    m->joints[i].row = *rows;
    m->joints[i].rows = shape_of(m, j->type)->rows + (j->angle.drive != SALTUS_DRIVE_NONE) +
                        (j->position.drive != SALTUS_DRIVE_NONE);
    *rows += m->joints[i].rows;
  }
  return SALTUS_OK;
}

saltus_status saltusi_define_joints(const saltusi_definition* d) {
  assert(d != NULL);
  const saltus_mechanism_def* def = d->def;
  saltus_mechanism* m = d->m;
  const int n = def->joint_count;
  int rows = 0;
  m->joint_count = n;
  m->joints = SALTUSI_TAKE(&m->pool, saltusi_joint, n);
  m->limits = SALTUSI_TAKE(&m->pool, saltusi_limit, 4 * n);
  m->dries = SALTUSI_TAKE(&m->pool, saltusi_joint_friction, 2 * n);
  m->dry = SALTUSI_TAKE(&m->pool, saltus_dry_friction, 2 * n);
  m->laws = SALTUSI_TAKE(&m->pool, saltus_contact_law, 4 * n);
  m->angles = SALTUSI_TAKE(&m->pool, saltusi_unwrapped, n + def->spring_count);
  m->forces = SALTUSI_TAKE(&m->pool, saltusi_force_along, 2 * n + 6 * def->spring_count);
  if (!saltusi_index_start(&m->joint_names, n, &m->pool) || m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = count_rows(d, &rows);
  if (status != SALTUS_OK) {
    return status;
  }
  m->rows = SALTUSI_TAKE(&m->pool, saltusi_joint_row, rows);
  m->joint_of = SALTUSI_TAKE(&m->pool, int, rows);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < n; i++) {
    for (int r = 0; r < m->joints[i].rows; r++) {
      m->joint_of[m->joints[i].row + r] = i;
    }
  }
  for (int couplings = 0; couplings < 2; couplings++) { /* these require the others */
    for (int i = 0; status == SALTUS_OK && i < n; i++) {
      if (types[def->joints[i].type].couples == (couplings == 1)) {
        status = couplings == 1 ? define_coupling(d, i) : define_joint(d, i);
      }
    }
  }
  return status;
}
