/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_actuators.c - <tendon>, <actuator>, <equality>, <contact> and <keyframe>. An actuator has the force
 *
 *   F = gear clamp(gain u + bias_0 + bias_1 l + bias_2 l'),   l = gear length
 *
 * (MuJoCo, Computation, actuation model, dyntype none). Actuators with other dynamics are listed.
 */
#include "urdf/mjcf.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_hinge_or_slide(const saltusi_robot_joint* joint) {
  return joint->kind == SALTUSI_ROBOT_REVOLUTE || joint->kind == SALTUSI_ROBOT_PRISMATIC;
}

static int find(saltusi_mjcf* m, const saltusi_xml_node* node, const saltusi_index* index,
                const char* attribute) {
  const char* name = saltusi_element_name(m->robot, node, attribute);
  const int found = saltusi_index_find(index, name);
  if (found < 0) {
    saltusi_robot_refuse(m->robot, node->line, "<%.60s>: there is no %s " SALTUSI_ROBOT_QUOTE,
                         node->name, attribute, name);
  }
  return found;
}

/* Joint of a name. Indices of names are those of joints in the order of the file. */
static int find_joint(saltusi_mjcf* m, const saltusi_xml_node* node, const char* attribute) {
  const int named = find(m, node, &m->joints, attribute);
  for (int i = 0, k = 0; i < m->robot->joint_count && named >= 0; i++) {
    const saltusi_robot_joint* joint = &m->robot->joints[i];
    if (joint->kind != SALTUSI_ROBOT_FIXED && !joint->loop && k++ == named) {
      if (is_hinge_or_slide(joint)) {
        return i;
      }
      saltusi_robot_refuse(m->robot, node->line,
                           "<%.60s>: joint " SALTUSI_ROBOT_QUOTE
                           " is neither a hinge nor a slide: it has no single coordinate",
                           node->name, joint->name);
    }
  }
  return -1;
}

static int count_all(const saltusi_mjcf* m, const char* section) {
  int count = 0;
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, section) == 0;
         c = c->next) {
      count++;
    }
  }
  return count;
}

/* ---- tendons ---- */

static void read_terms(saltusi_mjcf* m, const saltusi_xml_node* node, saltusi_mjcf_tendon* tendon) {
  int count = 0;
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    count++;
  }
  tendon->terms = SALTUSI_TAKE(m->robot->pool, saltusi_mjcf_term, count);
  if (tendon->terms == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (const saltusi_xml_node* n = node->first; n != NULL && m->robot->status == SALTUS_OK;
       n = n->next) {
    const saltusi_mjcf_element e = {n, "", -1};
    const int joint = find_joint(m, n, "joint");
    const double factor = saltusi_mjcf_number(m, &e, "coef", 0.0);
    tendon->terms[tendon->count++] = (saltusi_mjcf_term){joint, factor};
  }
}

static void read_tendon(saltusi_mjcf* m, const saltusi_xml_node* node) {
  const char* name = saltusi_element_text(node, "name");
  if (strcmp(node->name, "fixed") != 0) {
    saltusi_robot_note(m->robot, node->line, "<%.60s> tendon: not used", node->name);
    return;
  }
  const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, "tendon", -1);
  saltusi_mjcf_tendon* tendon = &m->tendons[m->tendon_count];
  *tendon = (saltusi_mjcf_tendon){.name = name != NULL ? name : "tendon", .line = node->line};
  read_terms(m, node, tendon);
  tendon->limited = saltusi_mjcf_limits(m, &e, "limited", "range", tendon->range);
  tendon->stiffness = saltusi_mjcf_number(m, &e, "stiffness", 0.0);
  tendon->damping = saltusi_mjcf_number(m, &e, "damping", 0.0);
  tendon->friction = saltusi_mjcf_number(m, &e, "frictionloss", 0.0);
  double length[2] = {-1.0, -1.0};
  const int given = saltusi_mjcf_numbers(m, &e, "springlength", 1, 2, length);
  const bool at_start = given == 0 || (length[0] == -1.0 && (given == 1 || length[1] == -1.0));
  tendon->rest = at_start ? NAN : length[0]; /* NAN: its length in the reference configuration */
  if (given == 2 && length[0] != length[1]) {
    saltusi_robot_refuse(m->robot, node->line,
                         "<fixed>: springlength %g to %g: a range without force is not read",
                         length[0], length[1]);
  }
  if (saltusi_mjcf_number(m, &e, "armature", 0.0) != 0.0) {
    saltusi_robot_note(m->robot, node->line, "<fixed>: armature of a tendon: not used");
  }
  saltusi_mjcf_list(m, node,
                    "name class limited range stiffness damping frictionloss springlength armature "
                    "group");
  if (!(fmin(fmin(tendon->stiffness, tendon->damping), tendon->friction) >= 0.0)) {
    saltusi_robot_refuse(m->robot, node->line,
                         "<fixed>: stiffness, damping and frictionloss must be at least 0");
  }
  if (name != NULL && saltusi_index_add(&m->tendon_names, name) < 0) {
    saltusi_robot_refuse(m->robot, node->line, "a second tendon " SALTUSI_ROBOT_QUOTE, name);
  } else if (name == NULL) {
    saltusi_index_add(&m->tendon_names,
                      ""); /* a placeholder, so that indices of names stay valid */
  }
  m->tendon_count++;
}

static void read_tendons(saltusi_mjcf* m) {
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, "tendon") == 0;
         c = c->next) {
      if (m->robot->status == SALTUS_OK) {
        read_tendon(m, c);
      }
    }
  }
}

/* Length of the joint or tendon that the element names; false: none, or an unsupported one. */
static bool read_along(saltusi_mjcf* m, const saltusi_xml_node* node, const char* by_joint,
                       const char* by_tendon, saltusi_mjcf_tendon* out) {
  if (by_joint != NULL && saltusi_element_text(node, by_joint) != NULL) {
    saltusi_mjcf_term* term = SALTUSI_TAKE(m->robot->pool, saltusi_mjcf_term, 1);
    const int joint = find_joint(m, node, by_joint);
    if (term == NULL) {
      m->robot->status = SALTUS_ERR_MEMORY;
      return false;
    }
    *term = (saltusi_mjcf_term){joint, 1.0};
    *out = (saltusi_mjcf_tendon){.terms = term, .count = 1, .line = node->line};
    return joint >= 0;
  }
  const char* name = by_tendon != NULL ? saltusi_element_text(node, by_tendon) : NULL;
  const int found = name != NULL ? saltusi_index_find(&m->tendon_names, name) : -1;
  if (found < 0) {
    return false;
  }
  *out = m->tendons[found];
  return true;
}

/* ---- actuators ---- */

enum { MOTOR, POSITION, VELOCITY, GENERAL };
static const char* const kinds[] = {"motor", "position", "velocity", "general"};

/* Attributes common to all actuators, in order of precedence: those of the classes, then of the actuator. */
typedef struct law {
  double gain[10], bias[10], gear[6], range[2][2];
  bool affine, plain, ranged[2];
  int limited[2]; /* false, true, auto */
  double share;   /* inheritrange */
  double ratio;   /* dampratio */
} law;

static void set_general(saltusi_mjcf* m, const saltusi_mjcf_element* e, law* l) {
  static const char* const types[] = {"none", "affine", "muscle", "user", "dcmotor", NULL};
  const char* dynamics = saltusi_element_text(e->node, "dyntype");
  const char* gain = saltusi_element_text(e->node, "gaintype");
  saltusi_mjcf_numbers(m, e, "gainprm", 1, 10, l->gain);
  saltusi_mjcf_numbers(m, e, "biasprm", 1, 10, l->bias);
  const int bias = saltusi_mjcf_word(m, e, "biastype", types, l->affine);
  l->affine = bias == 1;
  l->plain = l->plain && bias <= 1 && (dynamics == NULL || strcmp(dynamics, "none") == 0) &&
             (gain == NULL || strcmp(gain, "fixed") == 0);
}

static void set_position(saltusi_mjcf* m, const saltusi_mjcf_element* e, law* l) {
  l->affine = true;
  l->gain[0] = saltusi_mjcf_number(m, e, "kp", l->gain[0]);
  l->bias[1] = -l->gain[0];
  l->bias[2] = -saltusi_mjcf_number(m, e, "kv", -l->bias[2]);
  l->plain = l->plain && saltusi_mjcf_number(m, e, "timeconst", 0.0) == 0.0;
  l->share = saltusi_mjcf_number(m, e, "inheritrange", l->share);
  l->ratio = saltusi_mjcf_number(m, e, "dampratio",
                                 saltusi_element_text(e->node, "kv") != NULL ? 0.0 : l->ratio);
}

/* Attributes of one element, of MuJoCo's OneActuator. */
static void set_law(saltusi_mjcf* m, const saltusi_xml_node* node, law* l) {
  static const char* const ranges[2][2] = {{"ctrlrange", "ctrllimited"},
                                           {"forcerange", "forcelimited"}};
  static const char* const flags[] = {"false", "true", "auto", NULL};
  const saltusi_mjcf_element e = {node, "", -1};
  int kind = 0;
  while (kind <= GENERAL && strcmp(node->name, kinds[kind]) != 0) {
    kind++;
  }
  if (kind > GENERAL) {
    return;
  }
  saltusi_mjcf_numbers(m, &e, "gear", 1, 6, l->gear);
  for (int k = 0; k < 2; k++) {
    l->ranged[k] =
        saltusi_mjcf_numbers(m, &e, ranges[k][0], 2, 2, l->range[k]) == 2 || l->ranged[k];
    l->limited[k] = saltusi_mjcf_word(m, &e, ranges[k][1], flags, l->limited[k]);
  }
  if (kind == GENERAL) {
    set_general(m, &e, l);
  } else if (kind == POSITION) {
    set_position(m, &e, l);
  } else if (kind == VELOCITY) {
    l->affine = true;
    l->gain[0] = saltusi_mjcf_number(m, &e, "kv", l->gain[0]);
    l->bias[0] = l->bias[1] = 0.0;
    l->bias[2] = -l->gain[0];
  } else {
    l->affine = false;
    l->gain[0] = 1.0;
  }
}

static void set_class(saltusi_mjcf* m, int class, bool again, law* l) {
  if (class < 0) {
    return;
  }
  set_class(m, again ? -1 : m->classes[class].parent, false, l);
  set_class(m, m->classes[class].again, true, l);
  for (const saltusi_xml_node* n = m->classes[class].node->first; n != NULL; n = n->next) {
    set_law(m, n, l);
  }
}

/* Limits of the control as a fraction of those of the joint. */
static void inherit_range(const saltusi_mjcf* m, double share, saltusi_mjcf_actuator* a) {
  const saltusi_robot_joint* joint = &m->robot->joints[a->along.terms[0].joint];
  if (share > 0.0 && a->along.count == 1 && joint->limited && !a->limited[0]) {
    const double middle = 0.5 * (joint->lower + joint->upper) + joint->reference;
    const double half = 0.5 * share * (joint->upper - joint->lower);
    a->limited[0] = true;
    a->range[0][0] = middle - half;
    a->range[0][1] = middle + half;
  }
}

static bool is_known(const char* kind) {
  for (int k = 0; k <= GENERAL; k++) {
    if (strcmp(kind, kinds[k]) == 0) {
      return true;
    }
  }
  return false;
}

static void read_actuator(saltusi_mjcf* m, const saltusi_xml_node* node, int number) {
  saltusi_mjcf_actuator* a = &m->actuators[m->actuator_count];
  const char* name = saltusi_element_text(node, "name");
  *a = (saltusi_mjcf_actuator){
      .name = name != NULL ? name : "actuator", .line = node->line, .key = number};
  const char* joint =
      saltusi_element_text(node, "jointinparent") != NULL ? "jointinparent" : "joint";
  if (!is_known(node->name) || !read_along(m, node, joint, "tendon", &a->along) ||
      a->along.count == 0) {
    saltusi_robot_note(
        m->robot, node->line,
        "<%.60s>: an actuator of this kind, or not at a joint or fixed tendon: not used",
        node->name);
    return;
  }
  const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, node, node->name, -1);
  law l = {.gain = {1.0}, .gear = {1.0}, .plain = true, .limited = {2, 2}};
  set_class(m, e.class, false, &l);
  set_law(m, node, &l);
  a->gear = l.gear[0];
  a->gain = l.gain[0];
  memcpy(a->bias, l.bias, l.affine ? sizeof a->bias : 0);
  for (int k = 0; k < 2; k++) {
    a->limited[k] = l.limited[k] == 1 || (l.limited[k] == 2 && l.ranged[k] && m->autolimits);
    memcpy(a->range[k], l.range[k], sizeof l.range[k]);
    if (a->limited[k] && !(l.range[k][0] < l.range[k][1])) {
      saltusi_robot_refuse(m->robot, node->line, "<%.60s>: its %s is %g to %g, must ascend",
                           node->name, k == 0 ? "ctrlrange" : "forcerange", l.range[k][0],
                           l.range[k][1]);
    }
  }
  inherit_range(m, l.share, a);
  a->ratio = l.affine ? l.ratio : 0.0;
  if (a->ratio < 0.0 || (a->ratio > 0.0 && (a->along.count != 1 || a->gear == 0.0))) {
    saltusi_robot_refuse(m->robot, node->line,
                         "<%.60s>: dampratio %g needs one joint and must be at least 0", node->name,
                         a->ratio);
  }
  if (!l.plain) {
    saltusi_robot_note(m->robot, node->line,
                       "<%.60s>: dynamics, or gain or bias that is not affine: not used",
                       node->name);
    return;
  }
  saltusi_mjcf_list(m, node,
                    "name class joint jointinparent tendon gear ctrlrange ctrllimited forcerange "
                    "forcelimited kp kv dampratio timeconst inheritrange gainprm biasprm gaintype "
                    "biastype dyntype dynprm group");
  m->actuator_count++;
}

/* Entry of the mass matrix of a joint in the reference configuration, from the present frames of the links. */
static double mass_along(const saltusi_robot* robot, const saltusi_robot_joint* joint,
                         bool* behind) {
  const saltusi_urdf_frame at =
      saltusi_frame_in(&robot->links[joint->parent].place, &joint->origin);
  double a[3], sum = joint->armature;
  for (int i = 0; i < 3; i++) {
    a[i] = at.R[3 * i] * joint->axis[0] + at.R[3 * i + 1] * joint->axis[1] +
           at.R[3 * i + 2] * joint->axis[2];
  }
  memset(behind, 0, (size_t)robot->link_count * sizeof *behind);
  behind[joint->child] = true;
  for (int k = 0; k < robot->link_count; k++) {
    const saltusi_robot_link* link = &robot->links[robot->order[k]];
    const int own = robot->order[k];
    behind[own] = behind[own] || (link->joint >= 0 && behind[robot->joints[link->joint].parent]);
    if (!behind[own] || joint->kind == SALTUSI_ROBOT_PRISMATIC) {
      sum += behind[own] ? link->mass.mass : 0.0;
      continue;
    }
    double c[3], local[3], square = 0.0, along = 0.0;
    saltusi_frame_point(&link->place, link->mass.centre, c);
    for (int i = 0; i < 3; i++) {
      c[i] -= at.p[i];
      local[i] =
          link->place.R[i] * a[0] + link->place.R[3 + i] * a[1] + link->place.R[6 + i] * a[2];
    }
    for (int i = 0; i < 3; i++) {
      square += c[i] * c[i];
      along += c[i] * a[i];
      for (int j = 0; j < 3; j++) {
        sum += local[i] * link->mass.inertia[3 * i + j] * local[j];
      }
    }
    sum += link->mass.mass * (square - along * along);
  }
  return sum;
}

void saltusi_mjcf_damp(saltusi_mjcf* m) {
  assert(m != NULL);
  bool* behind = SALTUSI_TAKE(m->robot->pool, bool, m->robot->link_count);
  if (behind == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (int i = 0; i < m->actuator_count; i++) {
    saltusi_mjcf_actuator* a = &m->actuators[i];
    if (a->ratio > 0.0) { /* kv = 2 ratio sqrt(kp m), m reflected through the gear */
      const saltusi_robot_joint* joint = &m->robot->joints[a->along.terms[0].joint];
      const double mass = mass_along(m->robot, joint, behind) / (a->gear * a->gear);
      a->bias[2] = -2.0 * a->ratio * sqrt(fmax(0.0, a->gain) * mass);
    }
  }
}

saltus_status saltusi_mjcf_read_actuators(saltusi_mjcf* m) {
  assert(m != NULL);
  saltusi_robot* robot = m->robot;
  const int tendons = count_all(m, "tendon"), actuators = count_all(m, "actuator");
  m->tendons = SALTUSI_TAKE(robot->pool, saltusi_mjcf_tendon, tendons);
  m->actuators = SALTUSI_TAKE(robot->pool, saltusi_mjcf_actuator, actuators + 1);
  if (m->tendons == NULL || m->actuators == NULL ||
      !saltusi_index_start(&m->tendon_names, tendons, robot->pool)) {
    robot->status = SALTUS_ERR_MEMORY;
    return robot->status;
  }
  read_tendons(m);
  int number = 0;
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, "actuator") == 0;
         c = c->next) {
      if (robot->status == SALTUS_OK) {
        read_actuator(m, c, number++);
      }
    }
  }
  return robot->status;
}

/* ---- equalities ---- */

/* Two links by body1, body2, or by the links of site1, site2. */
static bool find_bodies(saltusi_mjcf* m, const saltusi_xml_node* node, int link[2], double at[2][3],
                        bool* by_sites) {
  static const char* const bodies[] = {"body1", "body2"};
  static const char* const sites[] = {"site1", "site2"};
  *by_sites = saltusi_element_text(node, sites[0]) != NULL;
  for (int k = 0; k < 2; k++) {
    if (*by_sites) {
      const int site = find(m, node, &m->sites, sites[k]);
      if (site < 0) {
        return false;
      }
      link[k] = m->site_places[site].link;
      memcpy(at[k], m->site_places[site].p, 3 * sizeof(double));
    } else if (k == 1 && saltusi_element_text(node, bodies[1]) == NULL) {
      link[1] = 0;
    } else {
      link[k] = find(m, node, &m->links, bodies[k]);
      if (link[k] < 0) {
        return false;
      }
    }
  }
  if (link[0] == link[1]) {
    saltusi_robot_refuse(m->robot, node->line, "<%.60s>: connects a body with itself", node->name);
  }
  return m->robot->status == SALTUS_OK;
}

static void read_connection(saltusi_mjcf* m, const saltusi_xml_node* node,
                            const saltusi_mjcf_element* e) {
  const bool welds = strcmp(node->name, "weld") == 0;
  int link[2];
  double at[2][3] = {{0.0}};
  bool by_sites = false;
  if (!find_bodies(m, node, link, at, &by_sites)) {
    return;
  }
  saltusi_robot_joint* joint = &m->robot->joints[m->robot->joint_count++];
  const char* name = saltusi_element_text(node, "name");
  *joint = (saltusi_robot_joint){.name = name != NULL ? name : node->name,
                                 .line = node->line,
                                 .loop = true,
                                 .kind = welds ? SALTUSI_ROBOT_FIXED : SALTUSI_ROBOT_SPHERICAL,
                                 .parent = link[0],
                                 .child = link[1],
                                 .axis = {0, 0, 1},
                                 .child_axis = {0, 0, 1},
                                 .origin = saltusi_frame_none(),
                                 .child_origin = saltusi_frame_none(),
                                 .posed = saltusi_frame_none(),
                                 .anchored = !by_sites,
                                 .mimic = -1};
  if (by_sites) {
    memcpy(joint->origin.p, at[0], sizeof at[0]);
    memcpy(joint->child_origin.p, at[1], sizeof at[1]);
    if (welds) {
      saltusi_robot_refuse(m->robot, node->line,
                           "<weld>: of two sites is not read; give two bodies");
    }
  } else if (!welds && saltusi_mjcf_numbers(m, e, "anchor", 3, 3, joint->origin.p) != 3) {
    saltusi_robot_refuse(m->robot, node->line, "<connect>: has no anchor");
  }
  double pose[7] = {0.0};
  if (welds && saltusi_mjcf_numbers(m, e, "relpose", 7, 7, pose) == 7 &&
      pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6] > 1e-20) {
    joint->anchored = false;
    memcpy(joint->origin.p, pose, 3 * sizeof pose[0]);
    saltusi_mjcf_quaternion(pose + 3, joint->origin.R);
  }
}

static void read_relation(saltusi_mjcf* m, const saltusi_xml_node* node,
                          const saltusi_mjcf_element* e) {
  const bool tendons = strcmp(node->name, "tendon") == 0;
  saltusi_mjcf_relation* r = &m->relations[m->relation_count];
  const char* name = saltusi_element_text(node, "name");
  *r = (saltusi_mjcf_relation){
      .name = name != NULL ? name : "relation", .line = node->line, .coefficient = {0.0, 1.0}};
  const char* const words[2] = {tendons ? "tendon1" : "joint1", tendons ? "tendon2" : "joint2"};
  r->alone = saltusi_element_text(node, words[1]) == NULL;
  saltusi_mjcf_numbers(m, e, "polycoef", 1, 5, r->coefficient);
  for (int k = 0; k < (r->alone ? 1 : 2); k++) {
    if (!read_along(m, node, tendons ? NULL : words[k], tendons ? words[k] : NULL, &r->along[k])) {
      saltusi_robot_note(m->robot, node->line,
                         "<%.60s> equality: not of joints or fixed tendons: not used", node->name);
      return;
    }
  }
  m->relation_count++;
}

saltus_status saltusi_mjcf_read_equalities(saltusi_mjcf* m) {
  assert(m != NULL);
  m->relations = SALTUSI_TAKE(m->robot->pool, saltusi_mjcf_relation, count_all(m, "equality"));
  if (m->relations == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return m->robot->status;
  }
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, "equality") == 0;
         c = c->next) {
      const saltusi_mjcf_element e = saltusi_mjcf_element_of(m, c, "equality", -1);
      const char* active = saltusi_mjcf_text(m, &e, "active");
      if (m->robot->status != SALTUS_OK) {
        break;
      }
      if (active != NULL && strcmp(active, "false") == 0) {
        saltusi_robot_note(m->robot, c->line, "<%.60s> equality that is not active: not used",
                           c->name);
      } else if (strcmp(c->name, "connect") == 0 || strcmp(c->name, "weld") == 0) {
        read_connection(m, c, &e);
      } else if (strcmp(c->name, "joint") == 0 || strcmp(c->name, "tendon") == 0) {
        read_relation(m, c, &e);
      } else {
        saltusi_robot_note(m->robot, c->line, "<%.60s> equality: not used", c->name);
      }
      saltusi_mjcf_list(m, c,
                        "name class active body1 body2 site1 site2 anchor relpose joint1 joint2 "
                        "tendon1 tendon2 polycoef");
    }
  }
  return m->robot->status;
}

/* ---- keyframes ---- */

static void set_joint(saltusi_robot_joint* joint, const double* q) {
  const bool free = joint->kind == SALTUSI_ROBOT_FLOATING;
  if (free || joint->kind == SALTUSI_ROBOT_SPHERICAL) {
    joint->has_pose = true;
    memcpy(joint->posed.p, q, (free ? 3 : 0) * sizeof *q);
    saltusi_mjcf_quaternion(q + (free ? 3 : 0), joint->posed.R);
  } else {
    joint->initial = q[0] - joint->reference;
  }
}

static int coordinates_of(const saltusi_robot_joint* joint) {
  return joint->loop || joint->kind == SALTUSI_ROBOT_FIXED ? 0
         : joint->kind == SALTUSI_ROBOT_FLOATING           ? 7
         : joint->kind == SALTUSI_ROBOT_SPHERICAL          ? 4
                                                           : 1;
}

static void read_positions(saltusi_mjcf* m, const saltusi_mjcf_element* e) {
  saltusi_robot* robot = m->robot;
  int count = 0;
  for (int i = 0; i < robot->joint_count; i++) {
    count += coordinates_of(&robot->joints[i]);
  }
  double* q = SALTUSI_TAKE(robot->pool, double, count + 1);
  if (q == NULL) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  if (saltusi_mjcf_numbers(m, e, "qpos", count, count, q) == 0) {
    return;
  }
  for (int i = 0, at = 0; i < robot->joint_count && robot->status == SALTUS_OK; i++) {
    const int own = coordinates_of(&robot->joints[i]);
    const double* turn = own >= 4 ? q + at + own - 4 : NULL;
    if (turn != NULL &&
        !(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3] > 1e-20)) {
      saltusi_robot_refuse(robot, e->node->line,
                           "<key>: the quaternion of joint " SALTUSI_ROBOT_QUOTE " is 0",
                           robot->joints[i].name);
    } else if (own > 0) {
      set_joint(&robot->joints[i], q + at);
    }
    at += own;
  }
}

static void read_controls(saltusi_mjcf* m, const saltusi_mjcf_element* e) {
  const int count = count_all(m, "actuator");
  double* u = SALTUSI_TAKE(m->robot->pool, double, count + 1);
  if (u == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  if (saltusi_mjcf_numbers(m, e, "ctrl", count, count, u) != 0) {
    for (int i = 0; i < m->actuator_count; i++) {
      m->actuators[i].start = u[m->actuators[i].key];
    }
  }
}

saltus_status saltusi_mjcf_read_key(saltusi_mjcf* m, const char* wanted) {
  assert(m != NULL);
  bool found = wanted == NULL;
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    for (const saltusi_xml_node* c = n->first; c != NULL && strcmp(n->name, "keyframe") == 0;
         c = c->next) {
      const char* name = saltusi_element_text(c, "name");
      if (wanted == NULL || name == NULL || strcmp(name, wanted) != 0) {
        saltusi_robot_note(m->robot, c->line, "<key>: not used");
        continue;
      }
      const saltusi_mjcf_element e = {c, "key", -1};
      found = true;
      read_positions(m, &e);
      read_controls(m, &e);
      saltusi_mjcf_list(m, c, "name qpos ctrl");
    }
  }
  if (!found) {
    saltusi_robot_refuse(m->robot, m->root->line, "there is no keyframe " SALTUSI_ROBOT_QUOTE,
                         wanted);
  }
  return m->robot->status;
}
