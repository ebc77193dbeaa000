/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * read.c - from the tree of XML to links and joints. The elements are those of URDF 1.0 as ROS documents
 * them, and <constraint> for loops as proposed for urdfdom:
 *
 *   <constraint name type> <parent link/> <parent_origin xyz rpy/> <parent_axis xyz/>
 *                          <child link/>  <child_origin xyz rpy/>  <child_axis xyz/>
 */
#include "urdf/elements.h"
#include "urdf/robot.h"

#include "base/index.h"
#include "base/suggest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char bounded[] = "not used: a bound on the commands of a controller";
static const char real_robot[] = "not used: it is about the controller of a real robot";

static const saltusi_element_word none[] = {{"", NULL}};
static const saltusi_element_word name_only[] = {{"name", NULL}, {"", NULL}};
static const saltusi_element_word place_words[] = {{"xyz", NULL}, {"rpy", NULL}, {"", NULL}};
static const saltusi_element_word xyz_words[] = {{"xyz", NULL}, {"", NULL}};
static const saltusi_element_word link_word[] = {{"link", NULL}, {"", NULL}};
static const saltusi_element_word value_word[] = {{"value", NULL}, {"", NULL}};
static const saltusi_element_word inertia_words[] = {{"ixx", NULL}, {"ixy", NULL}, {"ixz", NULL},
                                                     {"iyy", NULL}, {"iyz", NULL}, {"izz", NULL},
                                                     {"", NULL}};
static const saltusi_element_word robot_words[] = {
    {"name", NULL}, {"version", NULL}, {"xmlns:xacro", NULL}, {"", NULL}};
static const saltusi_element_word robot_children[] = {
    {"link", NULL},
    {"joint", NULL},
    {"constraint", NULL},
    {"material", NULL},
    {"transmission", NULL},
    {"gazebo", "not used: it is about another program"},
    {"sensor", "not used: outputs of the scene are formulas"},
    {"", NULL}};
static const saltusi_element_word link_children[] = {
    {"inertial", NULL}, {"visual", NULL}, {"collision", NULL}, {"", NULL}};
static const saltusi_element_word inertial_children[] = {
    {"origin", NULL}, {"mass", NULL}, {"inertia", NULL}, {"", NULL}};
static const saltusi_element_word joint_words[] = {{"name", NULL}, {"type", NULL}, {"", NULL}};
static const saltusi_element_word joint_children[] = {{"parent", NULL},
                                                      {"child", NULL},
                                                      {"origin", NULL},
                                                      {"axis", NULL},
                                                      {"limit", NULL},
                                                      {"dynamics", NULL},
                                                      {"mimic", NULL},
                                                      {"calibration", real_robot},
                                                      {"safety_controller", real_robot},
                                                      {"", NULL}};
static const saltusi_element_word constraint_children[] = {
    {"parent", NULL}, {"parent_origin", NULL}, {"parent_axis", NULL},
    {"child", NULL},  {"child_origin", NULL},  {"child_axis", NULL},
    {"", NULL}};
static const saltusi_element_word limit_words[] = {
    {"lower", NULL}, {"upper", NULL}, {"effort", NULL}, {"velocity", bounded}, {"", NULL}};
static const saltusi_element_word dynamics_words[] = {
    {"damping", NULL}, {"friction", NULL}, {"", NULL}};
static const saltusi_element_word transmission_children[] = {
    {"joint", NULL}, {"actuator", NULL}, {"type", NULL}, {"", NULL}};
static const saltusi_element_word mimic_words[] = {
    {"joint", NULL}, {"multiplier", NULL}, {"offset", NULL}, {"", NULL}};

/* Location for messages. */
typedef struct whose {
  char text[96];
} whose;

static whose of(const char* kind, const char* name) {
  whose w;
  snprintf(w.text, sizeof w.text, "%s " SALTUSI_ROBOT_QUOTE, kind, name);
  return w;
}

/* An element without children. */
static void list_leaf(saltusi_robot* robot, const saltusi_xml_node* node,
                      const saltusi_element_word* attributes, const char* owner) {
  if (node != NULL) {
    saltusi_element_list(robot, node, &(saltusi_element){attributes, none}, owner);
  }
}

static void read_place(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                       double* xyz, double* rpy) {
  if (node != NULL) {
    saltusi_element_numbers(robot, node, "xyz", 3, xyz);
    saltusi_element_numbers(robot, node, "rpy", 3, rpy);
    list_leaf(robot, node, place_words, owner);
  }
}

/* ---- links ------------------------------------------------------------------------------- */

/* Six numbers of a symmetric matrix, moved from the inertial frame to that of the link. */
static void read_inertia(saltusi_robot* robot, const saltusi_xml_node* node,
                         const saltusi_urdf_frame* frame, double* out) {
  static const char* const words[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
  static const int places[6][2] = {{0, 0}, {1, 3}, {2, 6}, {4, 4}, {5, 7}, {8, 8}};
  double I[9] = {0.0};
  for (int i = 0; i < 6; i++) {
    double value = 0.0;
    bool given = saltusi_element_numbers(robot, node, words[i], 1, &value);
    if (!given && (i == 0 || i == 3 || i == 5)) {
      saltusi_robot_refuse(robot, node->line, "<inertia> has no %s", words[i]);
    }
    I[places[i][0]] = value;
    I[places[i][1]] = value;
  }
  double turned[9];
  saltusi_matrix3_times(frame->R, I, turned);
  saltusi_matrix3_times_transposed(turned, frame->R, out);
}

static void read_inertial(saltusi_robot* robot, const saltusi_xml_node* node,
                          saltusi_robot_link* link) {
  whose w = of("link", link->name);
  const saltusi_element about = {none, inertial_children};
  double xyz[3] = {0.0}, rpy[3] = {0.0};
  read_place(robot, saltusi_element_child(robot, node, "origin"), w.text, xyz, rpy);
  saltusi_urdf_frame frame = saltusi_frame_rpy(xyz, rpy);
  memcpy(link->mass.centre, xyz, sizeof xyz);
  const saltusi_xml_node* mass = saltusi_element_child(robot, node, "mass");
  if (mass == NULL || !saltusi_element_numbers(robot, mass, "value", 1, &link->mass.mass)) {
    saltusi_robot_refuse(robot, mass != NULL ? mass->line : node->line,
                         "%s: <inertial> needs <mass value=\"...\"/>", w.text);
    return;
  }
  if (link->mass.mass < 0.0) {
    saltusi_robot_refuse(robot, mass->line, "%s: its mass is %g kg, must be at least 0", w.text,
                         link->mass.mass);
    return;
  }
  list_leaf(robot, mass, value_word, w.text);
  const saltusi_xml_node* inertia = saltusi_element_child(robot, node, "inertia");
  if (inertia != NULL) {
    read_inertia(robot, inertia, &frame, link->mass.inertia);
    list_leaf(robot, inertia, inertia_words, w.text);
  } else {
    saltusi_robot_note(robot, node->line, "%s: <inertial> without <inertia>: taken as 0", w.text);
  }
  double sum = 0.0;
  for (int i = 0; i < 9; i++) {
    sum += fabs(link->mass.inertia[i]);
  }
  if (link->mass.mass == 0.0 && sum > 0.0) {
    saltusi_robot_note(robot, node->line, "%s: inertia without mass: not used", w.text);
    memset(link->mass.inertia, 0, sizeof link->mass.inertia);
  }
  saltusi_element_list(robot, node, &about, w.text);
  link->inertial = true;
}

static void read_link(saltusi_robot* robot, const saltusi_xml_node* node,
                      saltusi_robot_link* link) {
  *link = (saltusi_robot_link){.name = saltusi_element_name(robot, node, "name"),
                               .line = node->line,
                               .joint = -1,
                               .body = -1};
  const saltusi_xml_node* inertial = saltusi_element_child(robot, node, "inertial");
  if (inertial != NULL) {
    read_inertial(robot, inertial, link);
  }
  const saltusi_element about = {name_only, link_children};
  saltusi_robot_read_collisions(robot, node, of("link", link->name).text, link);
  saltusi_element_list(robot, node, &about, of("link", link->name).text);
}

/* ---- joints ------------------------------------------------------------------------------ */

static const struct {
  const char* name;
  saltusi_robot_kind kind;
  bool loop_only, unlimited;
} kinds[] = {
    {"revolute", SALTUSI_ROBOT_REVOLUTE, false, false},
    {"continuous", SALTUSI_ROBOT_REVOLUTE, false, true},
    {"prismatic", SALTUSI_ROBOT_PRISMATIC, false, false},
    {"fixed", SALTUSI_ROBOT_FIXED, false, true},
    {"floating", SALTUSI_ROBOT_FLOATING, false, true},
    {"planar", SALTUSI_ROBOT_PLANAR, false, true},
    {"cylindrical", SALTUSI_ROBOT_CYLINDRICAL, true, true},
    {"spherical", SALTUSI_ROBOT_SPHERICAL, true, true},
    {"ball", SALTUSI_ROBOT_SPHERICAL, true, true},
    {"universal", SALTUSI_ROBOT_UNIVERSAL, true, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int read_kind(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                     saltusi_robot_joint* joint) {
  const char* type = saltusi_element_name(robot, node, "type");
  const char* names[KINDS];
  for (int i = 0; i < KINDS; i++) {
    names[i] = kinds[i].loop_only && !joint->loop ? NULL : kinds[i].name;
    if (names[i] != NULL && strcmp(type, names[i]) == 0) {
      joint->kind = kinds[i].kind;
      return i;
    }
  }
  const char* near = saltusi_suggest(type, names, KINDS);
  saltusi_robot_refuse(robot, node->line, "%s: no type " SALTUSI_ROBOT_QUOTE "%s%s%s", owner, type,
                       near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                       near != NULL ? "?" : "");
  return 0;
}

static int find_link(saltusi_robot* robot, const saltusi_xml_node* joint, const char* element,
                     const char* owner, const saltusi_index* links) {
  const saltusi_xml_node* node = saltusi_element_child(robot, joint, element);
  if (node == NULL) {
    saltusi_robot_refuse(robot, joint->line, "%s: has no <%s link=\"...\"/>", owner, element);
    return 0;
  }
  const char* name = saltusi_element_name(robot, node, "link");
  list_leaf(robot, node, link_word, owner);
  int found = saltusi_index_find(links, name);
  if (found < 0) {
    const char* near = saltusi_suggest(name, links->texts, links->count);
    saltusi_robot_refuse(robot, node->line, "%s: there is no link " SALTUSI_ROBOT_QUOTE "%s%.60s%s",
                         owner, name, near != NULL ? "; did you mean " : "",
                         near != NULL ? near : "", near != NULL ? "?" : "");
    return 0;
  }
  return found;
}

static void read_axis(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                      double* axis) {
  if (node == NULL) {
    return;
  }
  double given[3] = {axis[0], axis[1], axis[2]};
  saltusi_element_numbers(robot, node, "xyz", 3, given);
  list_leaf(robot, node, xyz_words, owner);
  double length = sqrt(given[0] * given[0] + given[1] * given[1] + given[2] * given[2]);
  if (!(length > 1e-12)) { /* below the rounding of ten digits of unit components */
    saltusi_robot_refuse(robot, node->line, "%s: its axis has the length %g, must be a direction",
                         owner, length);
    return;
  }
  for (int i = 0; i < 3; i++) {
    axis[i] = given[i] / length;
  }
}

static void read_limit(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                       bool unlimited, saltusi_robot_joint* joint) {
  const saltusi_xml_node* limit = saltusi_element_child(robot, node, "limit");
  if (limit == NULL) {
    if (!unlimited) {
      saltusi_robot_note(robot, node->line, "%s: has no <limit>: it moves without limits", owner);
    }
    return;
  }
  bool lower = saltusi_element_numbers(robot, limit, "lower", 1, &joint->lower);
  bool upper = saltusi_element_numbers(robot, limit, "upper", 1, &joint->upper);
  double effort = 0.0;
  const bool one = joint->kind == SALTUSI_ROBOT_REVOLUTE || joint->kind == SALTUSI_ROBOT_PRISMATIC;
  saltusi_element_numbers(robot, limit, "effort", 1, &effort);
  if (effort < 0.0) {
    saltusi_robot_refuse(robot, limit->line, "%s: effort is %g, must be at least 0", owner, effort);
  }
  joint->effort_limited = one && effort > 0.0;
  joint->effort[0] = -effort;
  joint->effort[1] = effort;
  list_leaf(robot, limit, limit_words, owner);
  if (unlimited && (lower || upper)) {
    saltusi_robot_note(robot, limit->line, "%s: lower and upper: not used by this type", owner);
  } else if (!unlimited && !lower && !upper) {
    saltusi_robot_note(robot, limit->line, "%s: <limit> without lower and upper: no limits", owner);
  } else if (!unlimited && joint->lower > joint->upper) {
    saltusi_robot_refuse(robot, limit->line, "%s: its limits are %g to %g, lower above upper",
                         owner, joint->lower, joint->upper);
  } else if (!unlimited) { /* a missing one is 0 by the URDF specification */
    joint->limited = true;
  }
}

static void read_dynamics(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                          saltusi_robot_joint* joint) {
  const saltusi_xml_node* dynamics = saltusi_element_child(robot, node, "dynamics");
  if (dynamics == NULL) {
    return;
  }
  saltusi_element_numbers(robot, dynamics, "damping", 1, &joint->damping);
  saltusi_element_numbers(robot, dynamics, "friction", 1, &joint->friction);
  list_leaf(robot, dynamics, dynamics_words, owner);
  if (joint->damping < 0.0 || joint->friction < 0.0) {
    saltusi_robot_refuse(robot, dynamics->line,
                         "%s: damping is %g and friction %g, must be at least 0", owner,
                         joint->damping, joint->friction);
  }
  bool one = joint->kind == SALTUSI_ROBOT_REVOLUTE || joint->kind == SALTUSI_ROBOT_PRISMATIC;
  if (joint->damping > 0.0 && !one) {
    saltusi_robot_note(robot, dynamics->line, "%s: damping %g: not used by this type", owner,
                       joint->damping);
    joint->damping = 0.0;
  }
  if (joint->friction > 0.0 && !one) {
    saltusi_robot_note(robot, dynamics->line, "%s: friction %g: not used by this type", owner,
                       joint->friction);
    joint->friction = 0.0;
  }
}

static void read_mimic(saltusi_robot* robot, const saltusi_xml_node* node, const char* owner,
                       saltusi_robot_joint* joint) {
  const saltusi_xml_node* mimic = saltusi_element_child(robot, node, "mimic");
  joint->mimic = -1;
  if (mimic != NULL) {
    joint->mimic_name = saltusi_element_name(robot, mimic, "joint");
    joint->mimic_line = mimic->line;
    joint->multiplier = 1.0;
    saltusi_element_numbers(robot, mimic, "multiplier", 1, &joint->multiplier);
    saltusi_element_numbers(robot, mimic, "offset", 1, &joint->offset);
    list_leaf(robot, mimic, mimic_words, owner);
  }
}

static void read_joint(saltusi_robot* robot, const saltusi_xml_node* node,
                       const saltusi_index* links, saltusi_robot_joint* joint) {
  *joint = (saltusi_robot_joint){.name = saltusi_element_name(robot, node, "name"),
                                 .line = node->line,
                                 .axis = {1.0, 0.0, 0.0}};
  whose w = of("joint", joint->name);
  int kind = read_kind(robot, node, w.text, joint);
  joint->parent = find_link(robot, node, "parent", w.text, links);
  joint->child = find_link(robot, node, "child", w.text, links);
  read_place(robot, saltusi_element_child(robot, node, "origin"), w.text, joint->xyz, joint->rpy);
  joint->origin = saltusi_frame_rpy(joint->xyz, joint->rpy);
  joint->child_origin = saltusi_frame_none();
  const saltusi_xml_node* axis = saltusi_element_child(robot, node, "axis");
  bool turns = joint->kind != SALTUSI_ROBOT_FIXED && joint->kind != SALTUSI_ROBOT_FLOATING;
  if (turns) {
    read_axis(robot, axis, w.text, joint->axis);
  } else if (axis != NULL) {
    saltusi_robot_note(robot, axis->line, "%s: <axis>: not used by this type", w.text);
  }
  read_limit(robot, node, w.text, kinds[kind].unlimited, joint);
  read_dynamics(robot, node, w.text, joint);
  read_mimic(robot, node, w.text, joint);
  saltusi_element_list(robot, node, &(saltusi_element){joint_words, joint_children}, w.text);
}

static void read_constraint(saltusi_robot* robot, const saltusi_xml_node* node,
                            const saltusi_index* links, saltusi_robot_joint* joint) {
  *joint = (saltusi_robot_joint){.name = saltusi_element_name(robot, node, "name"),
                                 .line = node->line,
                                 .loop = true,
                                 .axis = {1.0, 0.0, 0.0},
                                 .child_axis = {1.0, 0.0, 0.0},
                                 .mimic = -1};
  whose w = of("constraint", joint->name);
  read_kind(robot, node, w.text, joint);
  if (joint->kind == SALTUSI_ROBOT_FLOATING) {
    saltusi_robot_refuse(robot, node->line, "%s: type floating holds nothing", w.text);
  }
  joint->parent = find_link(robot, node, "parent", w.text, links);
  joint->child = find_link(robot, node, "child", w.text, links);
  read_place(robot, saltusi_element_child(robot, node, "parent_origin"), w.text, joint->xyz,
             joint->rpy);
  joint->origin = saltusi_frame_rpy(joint->xyz, joint->rpy);
  double xyz[3] = {0.0}, rpy[3] = {0.0};
  read_place(robot, saltusi_element_child(robot, node, "child_origin"), w.text, xyz, rpy);
  joint->child_origin = saltusi_frame_rpy(xyz, rpy);
  read_axis(robot, saltusi_element_child(robot, node, "parent_axis"), w.text, joint->axis);
  read_axis(robot, saltusi_element_child(robot, node, "child_axis"), w.text, joint->child_axis);
  saltusi_element_list(robot, node, &(saltusi_element){joint_words, constraint_children}, w.text);
}

/* ---- the robot --------------------------------------------------------------------------- */

static int count_children(const saltusi_xml_node* root, const char* name) {
  int count = 0;
  for (const saltusi_xml_node* n = root->first; n != NULL; n = n->next) {
    count += strcmp(n->name, name) == 0;
  }
  return count;
}

/* A duplicate name is rejected with both lines. */
static void add_name(saltusi_robot* robot, saltusi_index* index, const char* kind, const char* name,
                     int line, const int* lines) {
  if (robot->status == SALTUS_OK && saltusi_index_add(index, name) < 0) {
    saltusi_robot_refuse(robot, line,
                         "a second %s " SALTUSI_ROBOT_QUOTE "; the first is in line %d", kind, name,
                         lines[saltusi_index_find(index, name)]);
  }
}

static void read_links(saltusi_robot* robot, const saltusi_xml_node* root, saltusi_index* names,
                       int* lines) {
  for (const saltusi_xml_node* n = root->first; n != NULL; n = n->next) {
    if (strcmp(n->name, "link") == 0 && robot->status == SALTUS_OK) {
      saltusi_robot_link* link = &robot->links[robot->link_count];
      read_link(robot, n, link);
      add_name(robot, names, "link", link->name, n->line, lines);
      lines[robot->link_count++] = n->line;
    }
  }
}

static void read_joints(saltusi_robot* robot, const saltusi_xml_node* root,
                        const saltusi_index* links, saltusi_index* names, int* lines) {
  for (const saltusi_xml_node* n = root->first; n != NULL; n = n->next) {
    bool loop = strcmp(n->name, "constraint") == 0;
    if ((loop || strcmp(n->name, "joint") == 0) && robot->status == SALTUS_OK) {
      saltusi_robot_joint* joint = &robot->joints[robot->joint_count];
      (loop ? read_constraint : read_joint)(robot, n, links, joint);
      add_name(robot, names, "joint", joint->name, n->line, lines);
      lines[robot->joint_count++] = n->line;
      if (joint->parent == joint->child) {
        saltusi_robot_refuse(robot, n->line, "%s joins a link with itself",
                             of(loop ? "constraint" : "joint", joint->name).text);
      }
    }
  }
}

static void find_mimics(saltusi_robot* robot, const saltusi_index* names) {
  for (int i = 0; i < robot->joint_count && robot->status == SALTUS_OK; i++) {
    saltusi_robot_joint* joint = &robot->joints[i];
    if (joint->mimic_name == NULL) {
      continue;
    }
    joint->mimic = saltusi_index_find(names, joint->mimic_name);
    const char* near = saltusi_suggest(joint->mimic_name, names->texts, names->count);
    if (joint->mimic < 0) {
      saltusi_robot_refuse(robot, joint->mimic_line,
                           "%s mimics " SALTUSI_ROBOT_QUOTE ", and there is no such joint%s%.60s%s",
                           of("joint", joint->name).text, joint->mimic_name,
                           near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                           near != NULL ? "?" : "");
    }
  }
}

/* The reduction of a <transmission>: force of the joint by that of its actuator. */
static void read_transmission(saltusi_robot* robot, const saltusi_xml_node* node,
                              const saltusi_index* names) {
  const char* name = saltusi_element_text(node, "name");
  whose w = of("transmission", name != NULL ? name : "");
  double reduction = 1.0;
  const saltusi_xml_node* actuator = saltusi_element_child(robot, node, "actuator");
  const saltusi_xml_node* by =
      actuator != NULL ? saltusi_element_child(robot, actuator, "mechanicalReduction") : NULL;
  char text[64] = "1";
  if (by != NULL) {
    snprintf(text, sizeof text, "%.*s", (int)(by->content_length < 60 ? by->content_length : 60),
             by->content);
    saltusi_element_read_numbers(robot, by, "text", text, 1, 1, &reduction);
  }
  const saltusi_xml_node* of_joint = saltusi_element_child(robot, node, "joint");
  const char* joint = of_joint != NULL ? saltusi_element_name(robot, of_joint, "name") : "";
  const int found = saltusi_index_find(names, joint);
  saltusi_element_list(robot, node, &(saltusi_element){name_only, transmission_children}, w.text);
  if (of_joint == NULL) {
    saltusi_robot_note(robot, node->line, "%s: not used: it has no <joint>", w.text);
  } else if (found < 0) {
    saltusi_robot_refuse(robot, node->line, "%s: there is no joint " SALTUSI_ROBOT_QUOTE, w.text,
                         joint);
  } else if (!(fabs(reduction) > 0.0)) {
    saltusi_robot_refuse(robot, node->line, "%s: a reduction of 0", w.text);
  } else {
    robot->joints[found].reduction = reduction;
  }
}

saltus_status saltusi_robot_read(saltusi_robot* robot, const saltusi_xml_node* root) {
  assert(robot != NULL && root != NULL);
  if (strcmp(root->name, "robot") != 0) {
    saltusi_robot_refuse(robot, root->line,
                         "the file is a <%.60s>, a URDF is a <robot> and an MJCF a <mujoco>",
                         root->name);
    return robot->status;
  }
  const char* name = saltusi_element_text(root, "name");
  robot->name = name != NULL ? name : "";
  int links = count_children(root, "link");
  int joints = count_children(root, "joint") + count_children(root, "constraint");
  int* lines = SALTUSI_TAKE(robot->pool, int, links + joints);
  saltusi_index link_names, joint_names;
  robot->links = SALTUSI_TAKE(robot->pool, saltusi_robot_link, links);
  robot->joints = SALTUSI_TAKE(robot->pool, saltusi_robot_joint, joints);
  if (robot->links == NULL || robot->joints == NULL || lines == NULL ||
      !saltusi_index_start(&link_names, links, robot->pool) ||
      !saltusi_index_start(&joint_names, joints, robot->pool)) {
    robot->status = SALTUS_ERR_MEMORY;
    return robot->status;
  }
  saltusi_element_list(robot, root, &(saltusi_element){robot_words, robot_children}, "robot");
  if (links == 0) {
    saltusi_robot_refuse(robot, root->line, "the robot has no links");
  }
  read_links(robot, root, &link_names, lines);
  read_joints(robot, root, &link_names, &joint_names, lines + links);
  find_mimics(robot, &joint_names);
  for (const saltusi_xml_node* n = root->first; n != NULL && robot->status == SALTUS_OK;
       n = n->next) {
    if (strcmp(n->name, "transmission") == 0) {
      read_transmission(robot, n, &joint_names);
    }
  }
  return robot->status;
}
