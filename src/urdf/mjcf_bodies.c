/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_bodies.c - <worldbody>: bodies, frames, joints, mass properties and sites. A body without a joint is fixed; between
 * the joints of a body lie links of negligible mass (bodies.c). The frame of a joint lies at its `pos` in the body. Coordinates of the scene are 0 in the reference
 * configuration, those of the file are `ref` there.
 */
#include "urdf/mjcf.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_children(saltusi_mjcf* m, const saltusi_xml_node* node, int link,
                          const saltusi_urdf_frame* at, int childclass);

static const char* name_of(saltusi_mjcf* m, const saltusi_xml_node* node, const char* kind,
                           int number) {
  const char* name = saltusi_element_text(node, "name");
  if (name != NULL) {
    return name;
  }
  char made[40];
  snprintf(made, sizeof made, "%s_%d", kind, number);
  name = saltusi_pool_text(m->robot->pool, made);
  if (name == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return "";
  }
  return name;
}

static void add_name(saltusi_mjcf* m, saltusi_index* index, const saltusi_xml_node* node,
                     const char* name) {
  if (m->robot->status == SALTUS_OK && saltusi_index_add(index, name) < 0) {
    saltusi_robot_refuse(m->robot, node->line, "a second <%.60s> " SALTUSI_ROBOT_QUOTE, node->name,
                         name);
  }
}

static saltusi_urdf_frame read_pose(saltusi_mjcf* m, const saltusi_mjcf_element* e,
                                    const saltusi_urdf_frame* at) {
  saltusi_urdf_frame own = saltusi_frame_none();
  saltusi_mjcf_numbers(m, e, "pos", 3, 3, own.p);
  saltusi_mjcf_rotation(m, e, own.R);
  return saltusi_frame_in(at, &own);
}

/* ---- mass ---- */

static void read_inertial(saltusi_mjcf* m, const saltusi_xml_node* node, saltusi_robot_link* link) {
  const saltusi_mjcf_element e = {node, "inertial", -1};
  const saltusi_urdf_frame none = saltusi_frame_none();
  const saltusi_urdf_frame frame = read_pose(m, &e, &none);
  double six[6] = {0.0}, turned[9];
  const int diagonal = saltusi_mjcf_numbers(m, &e, "diaginertia", 3, 3, six);
  const int full = saltusi_mjcf_numbers(m, &e, "fullinertia", 6, 6, six);
  const bool whole = saltusi_mjcf_numbers(m, &e, "mass", 1, 1, &link->mass.mass) == 1 &&
                     saltusi_element_text(node, "pos") != NULL && (diagonal > 0) != (full > 0);
  if (!whole || link->mass.mass < 0.0) {
    saltusi_robot_refuse(m->robot, node->line,
                         "body " SALTUSI_ROBOT_QUOTE
                         ": <inertial> needs pos, a mass of at least 0, and either diaginertia or "
                         "fullinertia",
                         link->name);
    return;
  }
  const double I[9] = {six[0], six[3], six[4], six[3], six[1], six[5], six[4], six[5], six[2]};
  link->mass.mass = fmax(link->mass.mass, m->least_mass);
  memcpy(link->mass.centre, frame.p, sizeof frame.p);
  saltusi_matrix3_times(frame.R, I, turned);
  saltusi_matrix3_times_transposed(turned, frame.R, link->mass.inertia);
  saltusi_mjcf_list(m, node, "pos quat axisangle euler xyaxes zaxis mass diaginertia fullinertia");
  link->inertial = true;
}

/* ---- joints ---- */

static const char joint_attributes[] =
    "name class type pos axis range limited ref springref stiffness damping armature frictionloss "
    "actuatorfrcrange actuatorfrclimited";

/* Limits, spring and friction along the coordinate of a hinge or slide. */
static void read_coordinate(saltusi_mjcf* m, const saltusi_mjcf_element* e,
                            saltusi_robot_joint* joint) {
  const bool turns = joint->kind == SALTUSI_ROBOT_REVOLUTE;
  const double unit = turns && m->degrees ? acos(-1.0) / 180.0 : 1.0;
  double range[2] = {0.0, 0.0};
  joint->reference = unit * saltusi_mjcf_number(m, e, "ref", 0.0);
  joint->limited = saltusi_mjcf_limits(m, e, "limited", "range", range);
  joint->lower = unit * range[0] - joint->reference;
  joint->upper = unit * range[1] - joint->reference;
  joint->stiffness = saltusi_mjcf_number(m, e, "stiffness", 0.0);
  joint->rest = unit * saltusi_mjcf_number(m, e, "springref", 0.0) - joint->reference;
  joint->damping = saltusi_mjcf_number(m, e, "damping", 0.0);
  joint->friction = saltusi_mjcf_number(m, e, "frictionloss", 0.0);
  joint->armature = saltusi_mjcf_number(m, e, "armature", 0.0);
  joint->effort_limited =
      saltusi_mjcf_limits(m, e, "actuatorfrclimited", "actuatorfrcrange", joint->effort);
  if (!(fmin(fmin(joint->stiffness, joint->damping), fmin(joint->friction, joint->armature)) >=
        0.0)) {
    saltusi_robot_refuse(m->robot, e->node->line,
                         "joint " SALTUSI_ROBOT_QUOTE
                         ": stiffness, damping, frictionloss and armature must be at least 0",
                         joint->name);
  }
}

static void read_axis(saltusi_mjcf* m, const saltusi_mjcf_element* e, saltusi_robot_joint* joint) {
  double* a = joint->axis;
  saltusi_mjcf_numbers(m, e, "axis", 3, 3, a);
  const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  if (!(length > 1e-12)) {
    saltusi_robot_refuse(m->robot, e->node->line,
                         "joint " SALTUSI_ROBOT_QUOTE ": its axis has the length %g", joint->name,
                         length);
    return;
  }
  for (int i = 0; i < 3; i++) {
    a[i] /= length;
  }
}

static void read_joint(saltusi_mjcf* m, const saltusi_xml_node* node, int childclass,
                       saltusi_robot_joint* joint) {
  static const char* const types[] = {"free", "ball", "slide", "hinge", NULL};
  const bool named_free = strcmp(node->name, "freejoint") == 0;
  saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, "joint", childclass);
  e.class = named_free ? -1 : e.class;
  const int type = named_free ? 0 : saltusi_mjcf_word(m, &e, "type", types, 3);
  joint->name = name_of(m, node, "joint", joint->child);
  joint->line = node->line;
  add_name(m, &m->joints, node, joint->name);
  saltusi_mjcf_list(m, node, joint_attributes);
  if (type == 0) {
    joint->kind = SALTUSI_ROBOT_FLOATING;
  } else {
    saltusi_mjcf_numbers(m, &e, "pos", 3, 3, joint->child_origin.p);
    saltusi_frame_point(&joint->origin, joint->child_origin.p, joint->origin.p);
  }
  if (type == 1) {
    double range[2];
    joint->kind = SALTUSI_ROBOT_SPHERICAL;
    if (saltusi_mjcf_limits(m, &e, "limited", "range", range) ||
        saltusi_mjcf_number(m, &e, "stiffness", 0.0) != 0.0) {
      saltusi_robot_note(m->robot, node->line, "<joint>: range and stiffness of a ball: not used");
    }
  }
  if (type >= 2) {
    joint->kind = type == 2 ? SALTUSI_ROBOT_PRISMATIC : SALTUSI_ROBOT_REVOLUTE;
    read_axis(m, &e, joint);
    read_coordinate(m, &e, joint);
  } else if (saltusi_mjcf_number(m, &e, "damping", 0.0) != 0.0 ||
             saltusi_mjcf_number(m, &e, "frictionloss", 0.0) != 0.0 ||
             saltusi_mjcf_number(m, &e, "armature", 0.0) != 0.0) {
    saltusi_robot_note(m->robot, node->line,
                       "<%.60s>: damping, frictionloss and armature of free joints and balls: not "
                       "used",
                       node->name);
  }
}

static bool is_joint(const saltusi_xml_node* node) {
  return strcmp(node->name, "joint") == 0 || strcmp(node->name, "freejoint") == 0;
}

/* A link between two joints of the body of `link`. */
static int add_carrier(saltusi_mjcf* m, int line, int link) {
  saltusi_robot* robot = m->robot;
  const int index = robot->link_count++;
  char name[80];
  snprintf(name, sizeof name, "%.60s_carrier_%d", robot->links[link].name, index);
  const char* kept = saltusi_pool_text(robot->pool, name);
  if (kept == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return link;
  }
  robot->links[index] = (saltusi_robot_link){
      .name = kept, .line = line, .inertial = true, .joint = -1, .body = -1, .carries = link};
  return index;
}

static saltusi_robot_joint* add_joint(saltusi_mjcf* m, int line, int parent, int child,
                                      const saltusi_urdf_frame* place) {
  saltusi_robot_joint* joint = &m->robot->joints[m->robot->joint_count++];
  *joint = (saltusi_robot_joint){.name = m->robot->links[child].name,
                                 .line = line,
                                 .kind = SALTUSI_ROBOT_FIXED,
                                 .parent = parent,
                                 .child = child,
                                 .axis = {0.0, 0.0, 1.0},
                                 .origin = *place,
                                 .child_origin = saltusi_frame_none(),
                                 .posed = saltusi_frame_none(),
                                 .mimic = -1};
  return joint;
}

/* The joints of a body to its parent, in their order; the frame of a link between them is that of the body. */
static void connect_body(saltusi_mjcf* m, const saltusi_xml_node* node, int childclass, int parent,
                         int link, const saltusi_urdf_frame* place) {
  const saltusi_urdf_frame none = saltusi_frame_none();
  int left = 0;
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    left += is_joint(n);
  }
  const bool many = left > 1;
  if (left == 0) {
    add_joint(m, node->line, parent, link, place);
  }
  for (const saltusi_xml_node* n = node->first; n != NULL && m->robot->status == SALTUS_OK;
       n = n->next) {
    if (!is_joint(n)) {
      continue;
    }
    left--;
    const int child = left == 0 ? link : add_carrier(m, n->line, link);
    saltusi_robot_joint* joint = add_joint(m, node->line, parent, child, place);
    read_joint(m, n, childclass, joint);
    if (joint->kind == SALTUSI_ROBOT_FLOATING && (many || parent != 0)) {
      saltusi_robot_refuse(m->robot, n->line,
                           "a free joint belongs to a body of <worldbody>, as its only joint");
    }
    parent = child;
    place = &none;
  }
}

/* ---- bodies ---- */

static void read_body(saltusi_mjcf* m, const saltusi_xml_node* node, int parent,
                      const saltusi_urdf_frame* at, int childclass) {
  saltusi_robot* robot = m->robot;
  const int index = robot->link_count++;
  saltusi_robot_link* link = &robot->links[index];
  *link = (saltusi_robot_link){
      .name = name_of(m, node, "body", index), .line = node->line, .joint = -1, .body = -1};
  add_name(m, &m->links, node, link->name);
  const char* named = saltusi_element_text(node, "childclass");
  childclass = named != NULL ? saltusi_mjcf_find_class(m, node, named) : childclass;
  const saltusi_mjcf_element e = {node, "body", -1};
  const saltusi_urdf_frame place = read_pose(m, &e, at), none = saltusi_frame_none();
  saltusi_mjcf_numbers(m, &e, "gravcomp", 1, 1, &link->lift);
  saltusi_mjcf_list(m, node, "name childclass pos quat axisangle euler xyaxes zaxis gravcomp");
  connect_body(m, node, childclass, parent, index, &place);
  const saltusi_xml_node* inertial = saltusi_element_child(robot, node, "inertial");
  if (inertial != NULL && !m->from_geoms) {
    read_inertial(m, inertial, link);
  }
  read_children(m, node, index, &none, childclass);
  if (!link->inertial) {
    link->mass.mass = fmax(link->mass.mass, link->mass.mass > 0.0 ? m->least_mass : 0.0);
    link->inertial = link->mass.mass > 0.0;
  }
}

static void read_frame(saltusi_mjcf* m, const saltusi_xml_node* node, int link,
                       const saltusi_urdf_frame* at, int childclass) {
  const saltusi_mjcf_element e = {node, "frame", -1};
  const char* named = saltusi_element_text(node, "childclass");
  childclass = named != NULL ? saltusi_mjcf_find_class(m, node, named) : childclass;
  const saltusi_urdf_frame own = read_pose(m, &e, at);
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    if (is_joint(n) || strcmp(n->name, "inertial") == 0) {
      saltusi_robot_refuse(m->robot, n->line, "<%.60s> in a <frame>: put it in the body", n->name);
    }
  }
  read_children(m, node, link, &own, childclass);
}

static void read_site(saltusi_mjcf* m, const saltusi_xml_node* node, int childclass,
                      const saltusi_urdf_frame* at, int link) {
  const char* name = saltusi_element_text(node, "name");
  const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, "site", childclass);
  if (name != NULL && saltusi_mjcf_text(m, &e, "fromto") == NULL) {
    saltusi_mjcf_site* site = &m->site_places[m->sites.count];
    double p[3] = {0.0};
    saltusi_mjcf_numbers(m, &e, "pos", 3, 3, p);
    site->link = link;
    saltusi_frame_point(at, p, site->p);
    add_name(m, &m->sites, node, name);
  }
}

static void read_children(saltusi_mjcf* m, const saltusi_xml_node* node, int link,
                          const saltusi_urdf_frame* at, int childclass) {
  static const char* const needed[] = {"composite", "flexcomp", "replicate", "attach", NULL};
  for (const saltusi_xml_node* n = node->first; n != NULL && m->robot->status == SALTUS_OK;
       n = n->next) {
    if (strcmp(n->name, "body") == 0) {
      read_body(m, n, link, at, childclass);
    } else if (strcmp(n->name, "frame") == 0) {
      read_frame(m, n, link, at, childclass);
    } else if (strcmp(n->name, "geom") == 0) {
      saltusi_mjcf_read_geom(m, n, childclass, at, link,
                             m->robot->links[link].inertial ? NULL : &m->robot->links[link].mass);
    } else if (strcmp(n->name, "site") == 0) {
      read_site(m, n, childclass, at, link);
    } else if (!is_joint(n) && strcmp(n->name, "inertial") != 0) {
      for (int k = 0; needed[k] != NULL; k++) {
        if (strcmp(n->name, needed[k]) == 0) {
          saltusi_robot_refuse(m->robot, n->line,
                               "<%.60s>: bodies by this element are not read; save the compiled "
                               "model as MJCF",
                               n->name);
        }
      }
      saltusi_robot_note(m->robot, n->line, "<%.60s>: not used", n->name);
    }
  }
}

saltus_status saltusi_mjcf_read_bodies(saltusi_mjcf* m) {
  assert(m != NULL);
  saltusi_robot* robot = m->robot;
  robot->links[robot->link_count++] =
      (saltusi_robot_link){.name = "world", .line = m->root->line, .joint = -1, .body = -1};
  saltusi_index_add(&m->links, "world");
  const saltusi_urdf_frame none = saltusi_frame_none();
  for (const saltusi_xml_node* n = m->root->first; n != NULL && robot->status == SALTUS_OK;
       n = n->next) {
    if (strcmp(n->name, "worldbody") == 0) {
      read_children(m, n, 0, &none, -1);
    }
  }
  robot->links[0].mass = (saltusi_robot_mass){0};
  robot->links[0].inertial = false;
  if (robot->link_count == 1) {
    saltusi_robot_refuse(robot, m->root->line, "the model has no bodies");
  }
  return robot->status;
}
