/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_machines_make.c - see random_machines.h: the ten families. Clusters of bodies are linked by joints and move like
 * one rigid body at the start, or rest where a joint links them to the world. Bodies of families with a closed form are
 * supported by more contacts than they need.
 */
#include "random_machines.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct maker {
  case_random random, other; /* other: of the shake */
  double shake;
  machine* m;
} maker;

static double number(maker* k, double lo, double hi) {
  return case_uniform(&k->random, lo, hi);
}

/* A number that can change without violating a joint or closing a gap. */
static double shaken(maker* k, double x) {
  return x * (1.0 + k->shake * case_uniform(&k->other, -1.0, 1.0));
}

static bool chance(maker* k, double p) {
  return number(k, 0.0, 1.0) < p;
}

static int choice(maker* k, int count) {
  return case_choice(&k->random, count);
}

/* ---- parts --------------------------------------------------------------------------------------------------- */

static machine_shape plain_shape(machine_kind kind, double a, double b, double c) {
  return (machine_shape){.kind = kind, .size = {a, b, c}, .q = {1.0, 0.0, 0.0, 0.0}};
}

/* Corners of a box in the plane. */
static machine_shape rectangle(double a, double b) {
  machine_shape s = plain_shape(MACHINE_BOX, a, b, 0.0);
  const double corner[4][2] = {{-a, -b}, {a, -b}, {a, b}, {-a, b}};
  for (int i = 0; i < 4; i++) {
    s.point[i][0] = corner[i][0];
    s.point[i][1] = corner[i][1];
  }
  s.points = 4;
  return s;
}

static machine_shape block(const maker* k, double a, double b, double c) {
  return k->m->dimension == 2 ? rectangle(a, b) : plain_shape(MACHINE_BOX, a, c, b);
}

/* Within a ball of radius r. */
static machine_shape random_shape(maker* k, double r) {
  const bool space = k->m->dimension == 3;
  const machine_kind kind = (machine_kind)choice(k, space ? 8 : 5);
  const double u = number(k, 0.3, 0.6);
  machine_shape s = plain_shape(kind, u * r, (1.9 - 2.0 * u) * r, 0.4 * r);
  switch (kind) {
  case MACHINE_ROUND:
    s.size[0] = r;
    break;
  case MACHINE_BOX:
    s = block(k, 0.8 * r * u + 0.1 * r, 0.5 * r, 0.4 * r);
    break;
  case MACHINE_POINTED:
    s.points = space ? 6 : 3 + choice(k, 4);
    for (int i = 0; i < s.points; i++) {
      const double a = 2.0 * pi * (i + number(k, 0.0, 0.6)) / (space ? 4 : s.points);
      s.point[i][0] = 0.9 * r * cos(a);
      s.point[i][1] = 0.9 * r * sin(a);
      s.point[i][2] = space ? (i < 4 ? number(k, -0.2, 0.2) : (i == 4 ? 0.8 : -0.8)) * r : 0.0;
      if (space && i >= 4) {
        s.point[i][0] *= 0.2;
        s.point[i][1] *= 0.2;
      }
    }
    break;
  case MACHINE_BAR:
    s.points = 2;
    s.size[0] = space ? u * r : 0.2 * r;
    s.point[0][0] = -0.7 * r;
    s.point[1][0] = 0.7 * r;
    break;
  case MACHINE_TORUS:
    s.size[0] = 0.7 * r;
    s.size[1] = 0.25 * r;
    break;
  case MACHINE_ELLIPSOID:
    s.size[0] = r;
    s.size[1] = u * r;
    break;
  case MACHINE_CAPSULE:
  case MACHINE_CONE:
    break;
  }
  s.material = choice(k, MACHINE_MATERIALS);
  return s;
}

static machine_body* add_body(maker* k, double x, double y, double z) {
  machine_body* b = &k->m->body[k->m->bodies++];
  *b = (machine_body){.mass = shaken(k, number(k, 0.4, 3.0)), .q = {1.0, 0.0, 0.0, 0.0}};
  b->x[0] = x;
  b->x[1] = y;
  b->x[2] = z;
  for (int i = 0; i < 3; i++) {
    b->inertia[i] = shaken(k, b->mass * number(k, 0.009, 0.012));
  }
  return b;
}

static void add_shape(machine_body* b, machine_shape s, double x, double y, double z) {
  s.x[0] = x;
  s.x[1] = y;
  s.x[2] = z;
  b->shape[b->shapes++] = s;
}

/* The direction up: y in the plane, z in space. */
static void place(const maker* k, double along, double aside, double up, double* x) {
  x[0] = along;
  x[1] = k->m->dimension == 2 ? up : aside;
  x[2] = k->m->dimension == 2 ? 0.0 : up;
}

/* Its direction is shaken too, which breaks the symmetry of simultaneous events. */
static void set_gravity(maker* k, double slope) {
  slope += k->shake * case_uniform(&k->other, -1.0, 1.0);
  place(k, shaken(k, 9.81 * sin(slope)), 0.0, shaken(k, -9.81 * cos(slope)), k->m->gravity);
}

static void add_wall(maker* k, double along, double up, double normal_along, double normal_up) {
  place(k, along, 0.0, up, k->m->wall[k->m->walls][0]);
  place(k, normal_along, 0.0, normal_up, k->m->wall[k->m->walls++][1]);
}

static machine_joint* add_joint(maker* k, const char* type, int a, int b, const double* at) {
  machine_joint* j = &k->m->joint[k->m->joints++];
  *j = (machine_joint){.type = type, .body = {a, b}, .q = {1.0, 0.0, 0.0, 0.0}};
  memcpy(j->at[0], at, sizeof j->at[0]);
  memcpy(j->at[1], at, sizeof j->at[1]);
  return j;
}

/* Axes of a hinge across the direction of motion. */
static void lay_across(const maker* k, double* q) {
  if (k->m->dimension == 3) {
    machine_about((double[3]){1.0, 0.0, 0.0}, pi / 2.0, q); /* z to -y */
  }
}

/* ---- families with a closed form ------------------------------------------------------------------------------- */

/* Wheels that roll: two to seven, each with a torque. */
static void make_cart(maker* k) {
  machine* m = k->m;
  const double r = number(k, 0.1, 0.2);
  const int pairs = 1 + choice(k, 2);
  const int wheels = m->dimension == 3 ? 2 + 2 * pairs : 2 + choice(k, 4);
  const double slope = number(k, -0.1, 0.1);
  machine_body* c = add_body(k, 0.0, 0.0, 0.0);
  double total = c->mass += 3.0;
  double drive = 0.0;
  place(k, 0.0, 0.0, r + 0.05, c->x);
  m->mu[0] = 0.9;
  set_gravity(k, slope);
  add_wall(k, 0.0, 0.0, 0.0, 1.0);
  for (int i = 0; i < wheels; i++) {
    const int column = m->dimension == 3 ? i / 2 : i;
    const int columns = m->dimension == 3 ? wheels / 2 : wheels;
    const double along = 0.5 * (column - 0.5 * (columns - 1));
    const double aside = m->dimension == 3 ? (i % 2 == 0 ? 0.3 : -0.3) : 0.0;
    machine_body* b = add_body(k, 0.0, 0.0, 0.0);
    place(k, along, aside, r, b->x);
    const int axis = m->dimension == 3 ? 1 : 2;
    b->mass = 0.5;
    b->inertia[0] = b->inertia[1] = b->inertia[2] = 0.002;
    b->inertia[axis] = 0.003;
    machine_shape s = plain_shape(MACHINE_ROUND, r, 0.0, 0.0);
    if (m->dimension == 3 && pairs == 2) {
      s = plain_shape(MACHINE_BAR, r, 0.1, 0.0);
      machine_about((double[3]){1.0, 0.0, 0.0}, pi / 2.0, s.q);
    }
    add_shape(b, s, 0.0, 0.0, 0.0);
    machine_joint* j = add_joint(k, "revolute", 0, 1 + i, b->x);
    lay_across(k, j->q);
    j->push[0] = shaken(k, number(k, 0.0, 0.15)); /* about -y, about z */
    j->push[2] = pi / 2.0;
    total += b->mass + b->inertia[axis] / (r * r);
    drive -= j->push[0] / r;
  }
  /* a torque about -y in space, about z in the plane, drives backwards */
  double weight = 0.0;
  for (int i = 0; i < m->bodies; i++) {
    weight += m->body[i].mass;
  }
  m->exact = (machine_exact){.known = true, .along = {1.0, 0.0, 0.0}};
  m->exact.a = (drive + weight * m->gravity[0]) / total;
}

/* Bodies on feet that slide in a row, linked by joints where there are several. */
static void make_sled(maker* k) {
  machine* m = k->m;
  const int count = 2 + choice(k, 3);
  const double slope = number(k, -0.3, 0.3);
  const double mu = number(k, 0.1, 0.5);
  static const char* const types[] = {"fixed", "revolute"};
  m->mu[0] = m->mu[1] = m->mu[2] = shaken(k, mu);
  set_gravity(k, slope);
  add_wall(k, 0.0, 0.0, 0.0, 1.0);
  const double v = chance(k, 0.3) ? 0.0 : shaken(k, number(k, -2.0, 2.0));
  for (int i = 0; i < count; i++) {
    machine_body* b = add_body(k, 0.0, 0.0, 0.0);
    place(k, 0.7 * i, 0.0, 0.06, b->x);
    b->v[0] = v;
    if (chance(k, 0.5)) {
      const machine_shape s = block(k, 0.25, 0.06, 0.2);
      add_shape(b, s, 0.0, 0.0, 0.0);
    } else {
      const int feet = m->dimension == 3 ? 4 : 2 + choice(k, 3);
      for (int f = 0; f < feet; f++) {
        double x[3];
        const double along =
            m->dimension == 3 ? (f < 2 ? 0.25 : -0.25) : 0.5 * f / (feet - 1) - 0.25;
        place(k, along, f % 2 == 0 ? 0.2 : -0.2, -0.03, x);
        add_shape(b, plain_shape(MACHINE_ROUND, 0.03, 0.0, 0.0), x[0], x[1], x[2]);
      }
    }
    if (i > 0) {
      double at[3];
      place(k, 0.7 * i - 0.35, 0.0, 0.06, at);
      machine_joint* j = add_joint(k, types[choice(k, 2)], i - 1, i, at);
      lay_across(k, j->q);
    }
  }
  const double pull = m->gravity[0];
  const double hold = -m->mu[0] * (m->dimension == 2 ? m->gravity[1] : m->gravity[2]);
  const double way = v != 0.0 ? copysign(1.0, v) : copysign(1.0, pull);
  const double slides = fabs(pull) > hold ? pull - copysign(hold, pull) : 0.0;
  m->exact = (machine_exact){.known = true, .along = {1.0, 0.0, 0.0}, .v = v, .after = slides};
  m->exact.a = v != 0.0 ? pull - way * hold : slides;
}

/* Blocks on blocks, or on legs: nothing moves. */
static void make_pile(maker* k) {
  machine* m = k->m;
  const int count = 2 + choice(k, MACHINE_BODIES - 1);
  double up = 0.0;
  double wide = 0.5;
  m->mu[0] = m->mu[1] = m->mu[2] = number(k, 0.4, 0.8);
  set_gravity(k, number(k, -0.05, 0.05));
  add_wall(k, 0.0, 0.0, 0.0, 1.0);
  const bool legs = chance(k, 0.4);
  for (int i = 0; i < count; i++) {
    machine_body* b = add_body(k, 0.0, 0.0, 0.0);
    const double high = number(k, 0.03, 0.07);
    wide *= number(k, 0.75, 1.0);
    if (legs && i < count - 1) { /* blocks side by side, and one on all of them */
      place(k, 0.5 * i, 0.0, 0.06, b->x);
      add_shape(b, block(k, 0.15, 0.06, 0.15), 0.0, 0.0, 0.0);
    } else if (legs) {
      place(k, 0.25 * (count - 2), 0.0, 0.12 + high, b->x);
      add_shape(b, block(k, 0.25 * (count - 2) + 0.1, high, 0.1), 0.0, 0.0, 0.0);
    } else {
      place(k, 0.1 * wide * number(k, -1.0, 1.0), 0.0, up + high, b->x);
      add_shape(b, block(k, wide, high, wide), 0.0, 0.0, 0.0);
      up += 2.0 * high;
    }
  }
  m->exact = (machine_exact){.known = true, .along = {1.0, 0.0, 0.0}};
}

/* ---- machines ------------------------------------------------------------------------------------------------------ */

static void random_turn(maker* k, double* q) {
  double axis[3] = {0.0, 0.0, 1.0};
  if (k->m->dimension == 3) {
    axis[2] = number(k, -1.0, 1.0);
    const double a = number(k, 0.0, 2.0 * pi);
    axis[0] = sqrt(1.0 - axis[2] * axis[2]) * cos(a);
    axis[1] = sqrt(1.0 - axis[2] * axis[2]) * sin(a);
  }
  machine_about(axis, number(k, -3.0, 3.0), q);
}

/* Springs, motors, limits and friction of a joint with a coordinate. Friction of joints that closed contacts hold has no
 * defined share of the load: `rests` leaves it out. */
static void equip(maker* k, machine_joint* j, bool rests) {
  const bool turns = strcmp(j->type, "revolute") == 0;
  if (!turns && strcmp(j->type, "prismatic") != 0) {
    return;
  }
  if (chance(k, 0.5)) {
    j->push[0] = shaken(k, number(k, 0.2, turns ? 2.0 : 8.0));
    j->push[1] = number(k, 1.0, 12.0);
    j->push[2] = number(k, 0.0, 6.0);
  }
  j->stiffness = chance(k, 0.3) ? shaken(k, number(k, 0.5, turns ? 5.0 : 60.0)) : 0.0;
  j->damping = chance(k, 0.3) ? shaken(k, number(k, 0.01, 0.2)) : 0.0;
  j->dry = chance(k, 0.3) && !rests ? shaken(k, number(k, 0.05, 0.6)) : 0.0;
  j->limit = chance(k, 0.3) ? number(k, 0.1, 0.6) * (turns ? 1.0 : 0.2) : 0.0;
}

static const char* random_type(maker* k) {
  static const char* const plane[] = {"revolute", "revolute", "prismatic", "fixed", "distance"};
  static const char* const space[] = {"revolute",  "revolute", "spherical", "prismatic",
                                      "universal", "fixed",    "distance"};
  return k->m->dimension == 2 ? plane[choice(k, 5)] : space[choice(k, 7)];
}

/* Joints between bodies first .. last of a cluster; loops where there are three or more. */
static void link_cluster(maker* k, int first, int last, bool rests) {
  machine* m = k->m;
  for (int i = first + 1; i <= last + 1 && m->joints < MACHINE_JOINTS - 1; i++) {
    const bool closing = i == last + 1;
    if (closing && (last - first < 2 || !chance(k, 0.5))) {
      return;
    }
    const int a = closing ? first : i - 1;
    const int b = closing ? last : i;
    double at[3];
    for (int c = 0; c < 3; c++) {
      at[c] = 0.5 * (m->body[a].x[c] + m->body[b].x[c]);
    }
    machine_joint* j =
        add_joint(k, closing && chance(k, 0.5) ? "distance" : random_type(k), a, b, at);
    random_turn(k, j->q);
    if (strcmp(j->type, "distance") == 0) {
      memcpy(j->at[0], m->body[a].x, sizeof j->at[0]);
      memcpy(j->at[1], m->body[b].x, sizeof j->at[1]);
    }
    equip(k, j, rests);
  }
}

/* A cluster of bodies about (x, up), at rest on the ground if it lies there. */
static void add_cluster(maker* k, int count, double x, double up, bool rests, bool hangs) {
  machine* m = k->m;
  const int first = m->bodies;
  double v[3];
  double w[3] = {0.0, 0.0, 0.0};
  place(k, shaken(k, number(k, -2.0, 2.0)), 0.0, rests ? 0.0 : shaken(k, number(k, -2.0, 1.0)), v);
  for (int i = m->dimension == 2 ? 2 : 0; i < 3 && !rests; i++) {
    w[i] = shaken(k, number(k, -4.0, 4.0));
  }
  for (int i = 0; i < count; i++) {
    machine_body* b = add_body(k, 0.0, 0.0, 0.0);
    const double r = number(k, 0.08, 0.16);
    if (rests) {
      const bool round = chance(k, 0.4);
      const double high = number(k, 0.05, 0.12);
      const int material = choice(k, MACHINE_MATERIALS);
      machine_shape s =
          round ? plain_shape(MACHINE_ROUND, high, 0.0, 0.0) : block(k, r, high, 0.12);
      s.material = material;
      place(k, x + 0.4 * i, 0.0, high, b->x);
      add_shape(b, s, 0.0, 0.0, 0.0);
    } else {
      const int row = i / 2;
      place(k, x + 0.4 * (i % 2) + number(k, 0.0, 0.03), number(k, -0.05, 0.05), up + 0.4 * row,
            b->x);
      random_turn(k, b->q);
      add_shape(b, random_shape(k, r), 0.0, 0.0, 0.0);
    }
  }
  if (hangs && m->joints < MACHINE_JOINTS) {
    double at[3];
    for (int c = 0; c < 3; c++) {
      at[c] = m->body[first].x[c] - (c == 0 ? 0.2 : 0.0);
    }
    machine_joint* j =
        add_joint(k, m->dimension == 2 || chance(k, 0.5) ? "revolute" : "spherical", -1, first, at);
    random_turn(k, j->q);
    equip(k, j, rests);
  }
  for (int i = first; i < m->bodies && !hangs; i++) {
    const double* o = m->body[first].x;
    const double d[3] = {m->body[i].x[0] - o[0], m->body[i].x[1] - o[1], m->body[i].x[2] - o[2]};
    m->body[i].v[0] = v[0] + w[1] * d[2] - w[2] * d[1];
    m->body[i].v[1] = v[1] + w[2] * d[0] - w[0] * d[2];
    m->body[i].v[2] = v[2] + w[0] * d[1] - w[1] * d[0];
    memcpy(m->body[i].w, w, sizeof w);
  }
  if (count > 1 && !(rests && chance(k, 0.5))) {
    link_cluster(k, first, m->bodies - 1, rests);
  }
}

static void make_laws(maker* k) {
  for (int i = 0; i < MACHINE_MATERIALS; i++) {
    k->m->mu[i] = chance(k, 0.15) ? 0.0 : shaken(k, number(k, 0.05, 0.9));
    k->m->e[i] = chance(k, 0.4) ? 0.0 : number(k, 0.1, 0.8);
  }
}

/* Clusters over the ground, beside walls, some at rest, some hanging. */
static void make_clusters(maker* k, bool rests, bool hangs) {
  machine* m = k->m;
  make_laws(k);
  set_gravity(k, number(k, -0.2, 0.2));
  add_wall(k, 0.0, 0.0, 0.0, 1.0);
  if (chance(k, 0.4)) {
    add_wall(k, -0.5, 0.0, 1.0, 0.0);
  }
  const int count = 2 + choice(k, MACHINE_BODIES - 1);
  double x = 0.0;
  while (m->bodies < count) {
    const int left = count - m->bodies;
    const int size = 1 + choice(k, left < 4 ? left : 4);
    const bool lies = rests && (m->bodies == 0 || chance(k, 0.5));
    const bool fixed = hangs && (m->bodies == 0 || chance(k, 0.3));
    add_cluster(k, size, x, number(k, 0.25, 0.5), lies && !fixed, fixed);
    x += lies ? 0.4 * size : 0.85;
  }
}

/* A four-bar with a third parallel crank in half of them, its crank driven or pushed; its coupler meets loose bodies. */
static void make_loop(maker* k) {
  machine* m = k->m;
  const bool redundant = chance(k, 0.5);
  const int cranks = redundant ? 3 : 2;
  const double l = number(k, 0.25, 0.4);
  make_laws(k);
  set_gravity(k, 0.0);
  add_wall(k, 0.0, 0.0, 0.0, 1.0);
  machine_body* coupler = add_body(k, 0.0, 0.0, 0.0);
  const double top = 0.12 + l;
  place(k, 0.3 * (cranks - 1), 0.0, top, coupler->x);
  add_shape(coupler, block(k, 0.3 * (cranks - 1), 0.03, 0.04), 0.0, 0.0, 0.0);
  for (int i = 0; i < cranks; i++) {
    machine_body* b = add_body(k, 0.0, 0.0, 0.0);
    double foot[3];
    double head[3];
    place(k, 0.6 * i, 0.0, 0.12 + 0.5 * l, b->x);
    place(k, 0.6 * i, 0.0, 0.12, foot);
    place(k, 0.6 * i, 0.0, top, head);
    machine_joint* j = add_joint(k, "revolute", -1, m->bodies - 1, foot);
    lay_across(k, j->q);
    if (i == 0) {
      j->push[0] = number(k, 0.1, 0.6) * (chance(k, 0.5) ? 1.0 : -1.0);
      j->push[1] = number(k, 3.0, 9.0);
      j->drive = chance(k, 0.5);
    }
    j = add_joint(k, "revolute", 0, m->bodies - 1, head);
    lay_across(k, j->q);
    j->dry = chance(k, 0.3) ? shaken(k, number(k, 0.05, 0.3)) : 0.0;
  }
  const int loose = 1 + choice(k, MACHINE_BODIES - m->bodies);
  for (int i = 0; i < loose; i++) {
    machine_body* b = add_body(k, 0.0, 0.0, 0.0);
    const double high = number(k, 0.04, 0.08);
    const bool round = chance(k, 0.3);
    const double gap = chance(k, 0.6) ? 0.0 : number(k, 0.02, 0.3);
    place(k, 0.1 + 0.3 * i, 0.0, top + 0.03 + high + gap, b->x);
    add_shape(b, round ? plain_shape(MACHINE_ROUND, high, 0.0, 0.0) : block(k, 0.08, high, 0.08),
              0.0, 0.0, 0.0);
    b->shape[0].material = choice(k, MACHINE_MATERIALS);
  }
}

static const char* const families[MACHINE_FAMILIES] = {
    "cart",       "sled",       "pile",       "plane-thrown", "space-thrown",
    "plane-loop", "space-loop", "plane-hung", "plane-closed", "space-closed"};

const char* machine_family(int number) {
  return families[number % MACHINE_FAMILIES];
}

double machine_displacement(const machine_exact* e, double t) {
  const double stop = e->v != 0.0 && e->a * e->v < 0.0 ? -e->v / e->a : INFINITY;
  const double first = t < stop ? t : stop;
  const double rest = t - first;
  return e->v * first + 0.5 * e->a * first * first +
         (rest > 0.0 ? 0.5 * e->after * rest * rest : 0.0);
}

/* Bodies without a joint turn a little, so that faces do not land flat. */
static void shake_rotations(maker* k) {
  machine* m = k->m;
  for (int i = 0; i < m->bodies; i++) {
    bool free = true;
    for (int j = 0; j < m->joints && free; j++) {
      free = m->joint[j].body[0] != i && m->joint[j].body[1] != i;
    }
    for (int c = m->dimension == 2 ? 2 : 0; c < 3 && free; c++) {
      m->body[i].w[c] += k->shake * case_uniform(&k->other, -1.0, 1.0);
    }
  }
}

void machine_make(int which, double shake, machine* m) {
  maker k = {.random = case_random_of("machine", which),
             .other = case_random_of("shake", which + (shake < 0.0 ? 1000000 : 0)),
             .shake = fabs(shake),
             .m = m};
  const int family = which % MACHINE_FAMILIES;
  *m = (machine){.t_end = 0.5};
  switch (family) {
  case 0:
  case 1:
  case 2:
    m->dimension = chance(&k, 0.5) ? 2 : 3;
    if (family == 0) {
      make_cart(&k);
    } else if (family == 1) {
      make_sled(&k);
    } else {
      make_pile(&k);
    }
    break;
  case 5:
  case 6:
    m->dimension = family == 5 ? 2 : 3;
    make_loop(&k);
    break;
  default:
    m->dimension = family == 4 || family == 9 ? 3 : 2;
    make_clusters(&k, family >= 8, family == 7);
  }
  shake_rotations(&k);
}
