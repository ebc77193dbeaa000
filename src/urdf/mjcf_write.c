/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_write.c - parts of a scene that only MJCF has. Actuators without limits of their force are a spring, a damper and
 * a force by the input; the others are formulas.
 */
#include "urdf/mjcf.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- coordinates ---- */

static void put_signed(saltusi_robot_text* t, double value) {
  saltusi_robot_put(t, value < 0.0 ? "(" : "%s", "");
  saltusi_robot_put_number(t, value);
  saltusi_robot_put(t, value < 0.0 ? ")" : "%s", "");
}

/* Coordinate of the file less that of the scene. */
static double shift_of(const saltusi_robot_joint* joint) {
  return joint->reference + joint->start - saltusi_robot_scene_start(joint);
}

static void put_rate(saltusi_robot_text* t, const saltusi_robot_joint* joint, const char* rate) {
  saltusi_robot_put(t, "%s.%s%s", joint->label,
                    joint->kind == SALTUSI_ROBOT_REVOLUTE ? "angle" : "position", rate);
}

/* Formula by * sum factor q, or of the rates; `from`: length that is subtracted. */
static void put_length(saltusi_robot_text* t, const saltusi_mjcf_tendon* along, double by,
                       const char* rate) {
  double constant = 0.0;
  saltusi_robot_put(t, "(");
  for (int i = 0; i < along->count; i++) {
    const saltusi_robot_joint* joint = &t->robot->joints[along->terms[i].joint];
    const double factor = by * along->terms[i].factor;
    if (joint->label == NULL) {
      saltusi_robot_refuse(t->robot, along->line,
                           "joint " SALTUSI_ROBOT_QUOTE " has one value only and cannot be driven",
                           joint->name);
      return;
    }
    saltusi_robot_put(t, i > 0 ? " + " : "%s", "");
    if (factor != 1.0) {
      put_signed(t, factor);
      saltusi_robot_put(t, "*");
    }
    put_rate(t, joint, rate);
    constant += factor * shift_of(joint);
  }
  if (constant != 0.0 && rate[0] == '\0') {
    saltusi_robot_put(t, " + ");
    put_signed(t, constant);
  }
  saltusi_robot_put(t, ")");
}

static void open_clamp(saltusi_robot_text* t, bool limited, const double range[2]) {
  if (limited) {
    saltusi_robot_put(t, "max(");
    saltusi_robot_put_number(t, range[0]);
    saltusi_robot_put(t, ", min(");
    saltusi_robot_put_number(t, range[1]);
    saltusi_robot_put(t, ", ");
  }
}

static void close_clamp(saltusi_robot_text* t, bool limited) {
  saltusi_robot_put(t, limited ? "))" : "%s", "");
}

/* ---- drives of joints ---- */

static int term_of(const saltusi_mjcf_actuator* a, int joint) {
  for (int i = 0; i < a->along.count; i++) {
    if (a->along.terms[i].joint == joint) {
      return i;
    }
  }
  return -1;
}

/* Bias and gain as spring, damper and input. */
static bool is_direct(const saltusi_mjcf_actuator* a, const saltusi_robot_joint* joint) {
  return !a->limited[1] && !joint->effort_limited && a->along.count == 1 && a->bias[1] <= 0.0 &&
         a->bias[2] <= 0.0;
}

static void put_force(saltusi_robot_text* t, const saltusi_mjcf_actuator* a, double factor,
                      bool direct) {
  put_signed(t, factor * a->gear);
  saltusi_robot_put(t, "*");
  open_clamp(t, a->limited[1], a->range[1]);
  saltusi_robot_put(t, "(");
  put_signed(t, a->gain);
  saltusi_robot_put(t, "*");
  open_clamp(t, a->limited[0], a->range[0]);
  saltusi_robot_put(t, "%s", a->label);
  close_clamp(t, a->limited[0]);
  if (a->bias[0] != 0.0) {
    saltusi_robot_put(t, " + ");
    put_signed(t, a->bias[0]);
  }
  for (int k = 1; k < 3 && !direct; k++) {
    if (a->bias[k] != 0.0) {
      saltusi_robot_put(t, " + ");
      put_signed(t, a->bias[k] * a->gear);
      saltusi_robot_put(t, "*");
      put_length(t, &a->along, 1.0, k == 1 ? "" : "'");
    }
  }
  saltusi_robot_put(t, ")");
  close_clamp(t, a->limited[1]);
}

void saltusi_mjcf_write_drive(saltusi_robot_text* t, int index) {
  assert(t != NULL);
  const saltusi_mjcf* m = t->robot->mjcf;
  const saltusi_robot_joint* joint = &t->robot->joints[index];
  const double shift = shift_of(joint);
  double k = joint->stiffness, damping = joint->damping;
  double moment = k * (joint->rest + joint->reference - shift);
  int acting = 0;
  for (int i = 0; i < m->actuator_count; i++) {
    const saltusi_mjcf_actuator* a = &m->actuators[i];
    const int term = term_of(a, index);
    if (term >= 0 && is_direct(a, joint)) {
      const double r = a->gear * a->along.terms[term].factor;
      k -= a->bias[1] * r * r;
      moment += a->bias[1] * r * r * shift;
      damping -= a->bias[2] * r * r;
    }
    acting += term >= 0;
  }
  if (k > 0.0) {
    saltusi_robot_put(t, ", spring: {stiffness: ");
    saltusi_robot_put_number(t, k);
    saltusi_robot_put(t, moment != 0.0 ? ", rest: " : "%s", "");
    if (moment != 0.0) {
      saltusi_robot_put_number(t, moment / k);
    }
    saltusi_robot_put(t, "}");
  }
  const double values[3] = {damping, joint->armature, joint->friction};
  static const char* const keys[3] = {", damping: ", ", armature: ", ", dry_friction: {force: "};
  for (int i = 0; i < 3; i++) {
    if (values[i] > 0.0) {
      saltusi_robot_put(t, "%s", keys[i]);
      saltusi_robot_put_number(t, values[i]);
      saltusi_robot_put(t, i == 2 ? "}" : "%s", "");
    }
  }
  if (acting == 0) {
    return;
  }
  saltusi_robot_put(t, ",\n     actuator: \"");
  open_clamp(t, joint->effort_limited, joint->effort);
  for (int i = 0, count = 0; i < m->actuator_count; i++) {
    const int term = term_of(&m->actuators[i], index);
    if (term >= 0) {
      saltusi_robot_put(t, count++ > 0 ? " + " : "%s", "");
      put_force(t, &m->actuators[i], m->actuators[i].along.terms[term].factor,
                is_direct(&m->actuators[i], joint));
    }
  }
  close_clamp(t, joint->effort_limited);
  saltusi_robot_put(t, "\"");
}

void saltusi_mjcf_write_inputs(saltusi_robot_text* t) {
  assert(t != NULL);
  const saltusi_mjcf* m = t->robot->mjcf;
  for (int i = 0; i < m->actuator_count; i++) {
    saltusi_robot_put(t, i == 0 ? "inputs: {%s: " : ", %s: ", m->actuators[i].label);
    saltusi_robot_put_number(t, m->actuators[i].start);
  }
  saltusi_robot_put(t, m->actuator_count > 0 ? "}\n" : "%s", "");
}

/* ---- relations, tendons, weights ---- */

/* a1 - polynomial(a2), both relative to the reference configuration. */
static void put_relation(saltusi_robot_text* t, const saltusi_mjcf_relation* r) {
  double zero[2] = {0.0, 0.0};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < r->along[k].count; i++) {
      zero[k] +=
          r->along[k].terms[i].factor * t->robot->joints[r->along[k].terms[i].joint].reference;
    }
  }
  saltusi_robot_put(t, "  - {name: %s, constraint: \"", r->label);
  put_length(t, &r->along[0], 1.0, "");
  saltusi_robot_put(t, " - ");
  put_signed(t, zero[0] + r->coefficient[0]);
  for (int k = 1; k < 5 && !r->alone; k++) {
    if (r->coefficient[k] != 0.0) {
      saltusi_robot_put(t, " - ");
      put_signed(t, r->coefficient[k]);
      saltusi_robot_put(t, "*(");
      put_length(t, &r->along[1], 1.0, "");
      saltusi_robot_put(t, " - ");
      put_signed(t, zero[1]);
      saltusi_robot_put(t, ")^%d", k);
    }
  }
  saltusi_robot_put(t, "\"}\n");
}

void saltusi_mjcf_write_relations(saltusi_robot_text* t) {
  assert(t != NULL);
  const saltusi_mjcf* m = t->robot->mjcf;
  for (int i = 0; i < m->relation_count; i++) {
    put_relation(t, &m->relations[i]);
  }
}

static double rest_of(const saltusi_robot_text* t, const saltusi_mjcf_tendon* tendon) {
  double rest = 0.0;
  for (int i = 0; i < tendon->count; i++) {
    const saltusi_robot_joint* joint = &t->robot->joints[tendon->terms[i].joint];
    rest += tendon->terms[i].factor * (joint->rest + joint->reference);
  }
  return isnan(tendon->rest) ? rest : tendon->rest;
}

static void write_tendon_springs(saltusi_robot_text* t, const saltusi_mjcf* m) {
  for (int i = 0, count = 0; i < m->tendon_count; i++) {
    const saltusi_mjcf_tendon* tendon = &m->tendons[i];
    if (tendon->stiffness > 0.0 || tendon->damping > 0.0) {
      saltusi_robot_put(t, "%s  - {name: %s, elongation: \"", count++ == 0 ? "springs:\n" : "",
                        tendon->label);
      put_length(t, tendon, 1.0, "");
      saltusi_robot_put(t, " - ");
      put_signed(t, rest_of(t, tendon));
      saltusi_robot_put(t, "\", stiffness: ");
      saltusi_robot_put_number(t, tendon->stiffness);
      saltusi_robot_put(t, ", damping: ");
      saltusi_robot_put_number(t, tendon->damping);
      saltusi_robot_put(t, "}\n");
    }
  }
}

static void write_tendon_limits(saltusi_robot_text* t, const saltusi_mjcf* m) {
  static const char* const ends[] = {"lower", "upper"};
  for (int i = 0, count = 0; i < m->tendon_count; i++) {
    const saltusi_mjcf_tendon* tendon = &m->tendons[i];
    for (int k = 0; k < 2 && tendon->limited; k++) {
      saltusi_robot_put(t, "%s  - {name: %s_%s, gap: \"", count++ == 0 ? "contacts:\n" : "",
                        tendon->label, ends[k]);
      put_length(t, tendon, k == 0 ? 1.0 : -1.0, "");
      saltusi_robot_put(t, k == 0 ? " - " : " + ");
      put_signed(t, tendon->range[k]);
      saltusi_robot_put(t, "\"}\n");
    }
  }
}

static void write_tendon_friction(saltusi_robot_text* t, const saltusi_mjcf* m) {
  for (int i = 0, count = 0; i < m->tendon_count; i++) {
    if (m->tendons[i].friction > 0.0) {
      saltusi_robot_put(t, "%s  - {rate: \"", count++ == 0 ? "dry_friction:\n" : "");
      put_length(t, &m->tendons[i], 1.0, "'");
      saltusi_robot_put(t, "\", force: ");
      saltusi_robot_put_number(t, m->tendons[i].friction);
      saltusi_robot_put(t, "}\n");
    }
  }
}

void saltusi_mjcf_write_forces(saltusi_robot_text* t) {
  assert(t != NULL);
  const saltusi_mjcf* m = t->robot->mjcf;
  write_tendon_springs(t, m);
  write_tendon_limits(t, m);
  write_tendon_friction(t, m);
  for (int i = 0, count = 0; i < t->robot->link_count; i++) {
    const saltusi_robot_link* link = &t->robot->links[i];
    if (link->lift != 0.0 && link->body >= 0 && link->mass.mass > 0.0) {
      const double by = -link->lift * link->mass.mass;
      const double force[3] = {by * m->gravity[0], by * m->gravity[1], by * m->gravity[2]};
      saltusi_robot_put(t, "%s  - {at: %s, force: ", count++ == 0 ? "forces:\n" : "", link->lifted);
      saltusi_robot_put_list(t, force, 3, 0.0);
      saltusi_robot_put(t, "}\n");
    }
  }
}

/* ---- contacts ---- */

typedef struct contacts {
  saltusi_robot_text* t;
  const saltusi_mjcf* m;
  int count;
  int* link;  /* [count] */
  int* first; /* [links] number of the first shape of a link */
  const saltusi_robot_shape** shape;
  bool* touch; /* [count x count] as in MuJoCo */
  bool* plain; /* as in the scene without entries */
  int lines;
} contacts;

/* Bodies that a joint connects have no contact in the scene; in MuJoCo only a body and its parent, not the world. */
static void fill_filter(contacts* c) {
  const saltusi_robot* robot = c->t->robot;
  for (int i = 0; i < c->count; i++) {
    for (int j = 0; j < i; j++) {
      const unsigned *a = c->shape[i]->touches, *b = c->shape[j]->touches;
      c->touch[i * c->count + j] = ((a[0] & b[1]) | (b[0] & a[1])) != 0;
      c->plain[i * c->count + j] = true;
    }
  }
  for (int k = 0; k < robot->joint_count; k++) {
    const saltusi_robot_joint* joint = &robot->joints[k];
    int parent = joint->parent;
    while (robot->links[parent].carries > 0) {
      parent = robot->joints[robot->links[parent].joint].parent;
    }
    const int a = robot->links[parent].body, b = robot->links[joint->child].body;
    if (a < 0 || b < 0 || a == b) {
      continue;
    }
    for (int i = 0; i < c->count; i++) {
      const int own = robot->links[c->link[i]].body;
      for (int j = 0; j < i && (own == a || own == b); j++) {
        if (robot->links[c->link[j]].body == (own == a ? b : a)) {
          c->plain[i * c->count + j] =
              c->plain[i * c->count + j] && parent != joint->parent; /* no joint in the scene */
          c->touch[i * c->count + j] = c->touch[i * c->count + j] && joint->loop;
        }
      }
    }
  }
}

/* <exclude>, <pair>: of the shapes of two bodies, or two shapes. */
static void apply_pairs(contacts* c, bool collide) {
  for (int k = 0; k < c->m->pair_count; k++) {
    const saltusi_mjcf_pair* pair = &c->m->pairs[k];
    int from[2], to[2];
    for (int s = 0; s < 2; s++) {
      const int first = c->first[pair->link[s]];
      from[s] = pair->shape[s] < 0 ? first : first + pair->shape[s];
      to[s] =
          pair->shape[s] < 0 ? first + c->t->robot->links[pair->link[s]].shapes.count : from[s] + 1;
    }
    for (int a = from[0]; pair->collide == collide && a < to[0]; a++) {
      for (int b = from[1]; b < to[1]; b++) {
        c->touch[(a > b ? a : b) * c->count + (a > b ? b : a)] = collide;
      }
    }
  }
}

static const char* body_name(const contacts* c, int i) {
  const int body = c->t->robot->links[c->link[i]].body;
  return body < 0 ? "world" : c->t->robot->bodies[body].label;
}

/* Whether all shapes of the bodies of i and j have the same entry; the first pair of them writes it. */
static int same_of_bodies(const contacts* c, int i, int j, bool* first) {
  const saltusi_robot* robot = c->t->robot;
  const int a = robot->links[c->link[i]].body, b = robot->links[c->link[j]].body;
  const bool touch = c->touch[i * c->count + j];
  *first = true;
  for (int k = 0; k < c->count; k++) {
    const int own = robot->links[c->link[k]].body;
    for (int l = 0; l < k && (own == a || own == b); l++) {
      if (robot->links[c->link[l]].body != (own == a ? b : a)) {
        continue;
      }
      if (c->touch[k * c->count + l] != touch) {
        return false;
      }
      *first = *first && (k > i || (k == i && l >= j));
    }
  }
  return true;
}

static void write_filter(contacts* c) {
  const saltusi_robot* robot = c->t->robot;
  for (int i = 0; i < c->count; i++) {
    for (int j = 0; j < i; j++) {
      const bool touch = c->touch[i * c->count + j];
      if (robot->links[c->link[i]].body == robot->links[c->link[j]].body ||
          touch == c->plain[i * c->count + j]) {
        continue;
      }
      bool first;
      const bool same = same_of_bodies(c, i, j, &first);
      if (!same || first) {
        saltusi_robot_put(c->t, "%s  - {between: [%s, %s], collide: %s}\n",
                          c->lines++ == 0 ? "contact_pairs:\n" : "",
                          same ? body_name(c, j) : c->shape[j]->label,
                          same ? body_name(c, i) : c->shape[i]->label, touch ? "true" : "false");
      }
    }
  }
}

static void write_pair_friction(contacts* c) {
  for (int k = 0; k < c->m->pair_count; k++) {
    const saltusi_mjcf_pair* pair = &c->m->pairs[k];
    if (pair->collide && pair->friction >= 0.0) {
      const saltusi_robot_link* links = c->t->robot->links;
      saltusi_robot_put(
          c->t, "%s  - {between: [%s, %s], friction: ", c->lines++ == 0 ? "contact_pairs:\n" : "",
          links[pair->link[0]].shapes.list[pair->shape[0]].label,
          links[pair->link[1]].shapes.list[pair->shape[1]].label);
      saltusi_robot_put_number(c->t, pair->friction);
      saltusi_robot_put(c->t, "}\n");
    }
  }
}

/* MuJoCo, Computation, contact parameters: of the geom with the higher priority, else the larger; condim 1 is without
 * friction. Material -1 is the floor. */
static double friction_of(const saltusi_mjcf_material* a, const saltusi_mjcf_material* b) {
  const saltusi_mjcf_material* first = a->priority >= b->priority ? a : b;
  const saltusi_mjcf_material* other = first == a ? b : a;
  const bool alone = a->priority != b->priority;
  const int condim = alone || first->condim > other->condim ? first->condim : other->condim;
  return condim < 3 ? 0.0 : alone ? first->friction : fmax(a->friction, b->friction);
}

static void write_materials(contacts* c, double floor) {
  const saltusi_mjcf* m = c->m;
  const saltusi_mjcf_material ground = {floor, 3, 0};
  saltusi_robot_put(c->t, "materials:\n  default: {friction: ");
  saltusi_robot_put_number(c->t, floor);
  saltusi_robot_put(c->t, "}\n");
  for (int k = 0; k < m->material_count; k++) {
    saltusi_robot_put(c->t, "  ");
    saltusi_robot_put_material(c->t, k);
    saltusi_robot_put(c->t, ": {friction: ");
    saltusi_robot_put_number(c->t, friction_of(&m->materials[k], &m->materials[k]));
    saltusi_robot_put(c->t, "}\n");
  }
  for (int k = 0; k < m->material_count; k++) {
    const saltusi_mjcf_material* own = &m->materials[k];
    for (int l = -1; l < k; l++) {
      const saltusi_mjcf_material* other = l < 0 ? &ground : &m->materials[l];
      saltusi_robot_put(c->t, "%s  - {between: [", c->lines++ == 0 ? "contact_pairs:\n" : "");
      saltusi_robot_put_material(c->t, k);
      saltusi_robot_put(c->t, ", ");
      if (l < 0) {
        saltusi_robot_put(c->t, "default");
      } else {
        saltusi_robot_put_material(c->t, l);
      }
      saltusi_robot_put(c->t, "], friction: ");
      saltusi_robot_put_number(c->t, friction_of(own, other));
      saltusi_robot_put(c->t, "}\n");
    }
  }
}

void saltusi_mjcf_write_contacts(saltusi_robot_text* t, double floor) {
  assert(t != NULL);
  saltusi_robot* robot = t->robot;
  contacts c = {.t = t, .m = robot->mjcf};
  for (int i = 0; i < robot->link_count; i++) {
    c.count += robot->links[i].shapes.count;
  }
  c.link = SALTUSI_TAKE(robot->pool, int, c.count + 1);
  c.first = SALTUSI_TAKE(robot->pool, int, robot->link_count);
  c.shape = SALTUSI_TAKE(robot->pool, const saltusi_robot_shape*, c.count + 1);
  c.touch = SALTUSI_TAKE(robot->pool, bool, c.count* c.count + 1);
  c.plain = SALTUSI_TAKE(robot->pool, bool, c.count* c.count + 1);
  if (robot->pool->failed) {
    robot->status = SALTUS_ERR_MEMORY;
    return;
  }
  for (int i = 0, n = 0; i < robot->link_count; i++) {
    c.first[i] = n;
    for (int k = 0; k < robot->links[i].shapes.count; k++, n++) {
      c.link[n] = i;
      c.shape[n] = &robot->links[i].shapes.list[k];
    }
  }
  write_materials(&c, floor);
  fill_filter(&c);
  apply_pairs(&c, false);
  apply_pairs(&c, true);
  write_filter(&c);
  write_pair_friction(&c);
}
