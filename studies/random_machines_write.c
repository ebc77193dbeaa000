/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_machines_write.c - see random_machines.h: machines as scenes, in any axes, order and units.
 */
#include "random_machines.h"

#include <math.h>
#include <string.h>

void machine_rotate(const double* q, const double* x, double* y) {
  const double* u = q + 1;
  const double a[3] = {u[1] * x[2] - u[2] * x[1] + q[0] * x[0],
                       u[2] * x[0] - u[0] * x[2] + q[0] * x[1],
                       u[0] * x[1] - u[1] * x[0] + q[0] * x[2]};
  const double b[3] = {u[1] * a[2] - u[2] * a[1], u[2] * a[0] - u[0] * a[2],
                       u[0] * a[1] - u[1] * a[0]};
  const double old[3] = {x[0], x[1], x[2]};
  for (int i = 0; i < 3; i++) {
    y[i] = old[i] + 2.0 * b[i];
  }
}

void machine_product(const double* p, const double* q, double* r) {
  const double s[4] = {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                       p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                       p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                       p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  memcpy(r, s, sizeof s);
}

void machine_inverse(const double* q, double* r) {
  r[0] = q[0];
  for (int i = 1; i < 4; i++) {
    r[i] = -q[i];
  }
}

void machine_about(const double* axis, double angle, double* q) {
  q[0] = cos(angle / 2.0);
  for (int i = 0; i < 3; i++) {
    q[1 + i] = sin(angle / 2.0) * axis[i];
  }
}

machine_view machine_plain(void) {
  return (machine_view){.q = {1.0, 0.0, 0.0, 0.0}, .length = 1.0, .mass = 1.0, .time = 1.0};
}

machine_view machine_turned(int number, const machine* m) {
  case_random r = case_random_of("machine-view", number);
  machine_view view = machine_plain();
  view.mirrored = view.reversed = true;
  view.length = case_uniform(&r, 0.6, 1.8);
  view.mass = case_uniform(&r, 0.3, 3.0);
  view.time = case_uniform(&r, 0.6, 1.8);
  double axis[3] = {0.0, 0.0, 1.0};
  if (m->dimension == 3) {
    const double z = case_uniform(&r, -1.0, 1.0);
    const double a = case_uniform(&r, 0.0, 6.283185307179586);
    axis[0] = sqrt(1.0 - z * z) * cos(a);
    axis[1] = sqrt(1.0 - z * z) * sin(a);
    axis[2] = z;
  }
  machine_about(axis, case_uniform(&r, -3.0, 3.0), view.q);
  return view;
}

/* ---- axes and units ------------------------------------------------------------------------------------------ */

/* A vector in body axes, and one in world axes; axial: an angular velocity. */
static void local(const machine_view* w, const double* x, double unit, bool axial, double* y) {
  const double sign = w->mirrored ? -1.0 : 1.0;
  y[0] = unit * (axial ? sign : 1.0) * x[0];
  y[1] = unit * (axial ? 1.0 : sign) * x[1];
  y[2] = unit * (axial ? sign : 1.0) * x[2];
}

static void global(const machine_view* w, const double* x, double unit, bool axial, double* y) {
  double z[3];
  local(w, x, unit, axial, z);
  machine_rotate(w->q, z, y);
}

static void mirror(const machine_view* w, const double* q, double* r) {
  const double sign = w->mirrored ? -1.0 : 1.0;
  r[0] = q[0];
  r[1] = sign * q[1];
  r[2] = q[2];
  r[3] = sign * q[3];
}

static double angle_of(const double* q) {
  return 2.0 * atan2(q[3], q[0]);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void write_vector(adversarial_case* c, int dimension, const double* x) {
  case_say(c, "[%.17g, %.17g", x[0], x[1]);
  case_say(c, dimension == 3 ? ", %.17g]" : "]", x[2]);
}

static void write_axes(adversarial_case* c, int dimension, const double* q) {
  if (dimension == 2) {
    case_say(c, ", angle: %.17g", angle_of(q));
  } else {
    case_say(c, ", orientation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}", q[0], q[1], q[2],
             q[3]);
  }
}

static void write_points(adversarial_case* c, const machine* m, const machine_view* w,
                         const machine_shape* s) {
  case_say(c, "points: [");
  for (int k = 0; k < s->points; k++) {
    double x[3];
    const bool back = w->mirrored && m->dimension == 2;
    local(w, s->point[back ? s->points - 1 - k : k], w->length, false, x);
    case_say(c, k > 0 ? ", " : "");
    write_vector(c, m->dimension, x);
  }
  case_say(c, "]");
}

static void write_shape(adversarial_case* c, const machine* m, const machine_view* w,
                        const machine_shape* s) {
  const double a = w->length * s->size[0];
  const double b = w->length * s->size[1];
  const double d = w->length * s->size[2];
  const bool space = m->dimension == 3;
  switch (s->kind) {
  case MACHINE_ROUND:
    case_say(c, "{%s: {radius: %.17g}", space ? "sphere" : "circle", a);
    break;
  case MACHINE_CAPSULE:
    case_say(c, "{capsule: {radius: %.17g, length: %.17g}", a, b);
    break;
  case MACHINE_BAR:
    if (space) {
      case_say(c, "{cylinder: {radius: %.17g, length: %.17g}", a, b);
    } else {
      case_say(c, "{segment: {radius: %.17g, ", a);
      write_points(c, m, w, s);
      case_say(c, "}");
    }
    break;
  case MACHINE_BOX:
    if (space) {
      case_say(c, "{box: {size: [%.17g, %.17g, %.17g]}", 2.0 * a, 2.0 * b, 2.0 * d);
      break;
    } /* fallthrough */
  case MACHINE_POINTED:
    case_say(c, space ? "{hull: {" : "{polygon: {");
    write_points(c, m, w, s);
    case_say(c, "}");
    break;
  case MACHINE_CONE:
    case_say(c, "{cone: {radius: %.17g, length: %.17g}", a, b);
    break;
  case MACHINE_ELLIPSOID:
    case_say(c, "{ellipsoid: {size: [%.17g, %.17g, %.17g]}", a, b, d);
    break;
  case MACHINE_TORUS:
    case_say(c, "{torus: {size: %.17g, radius: %.17g}", a, b);
    break;
  }
  double x[3];
  double q[4];
  local(w, s->x, w->length, false, x);
  mirror(w, s->q, q);
  case_say(c, ", position: ");
  write_vector(c, m->dimension, x);
  write_axes(c, m->dimension, q);
  case_say(c, ", material: m%d}", s->material);
}

static void write_body(adversarial_case* c, const machine* m, const machine_view* w, int i) {
  const machine_body* b = &m->body[i];
  const double J = w->mass * w->length * w->length;
  double x[3];
  double v[3];
  double q[4];
  double body[3];
  double W[3];
  case_say(c, "  b%d: {mass: %.17g, inertia: ", i, w->mass * b->mass);
  if (m->dimension == 2) {
    case_say(c, "%.17g", J * b->inertia[2]);
  } else {
    case_say(c, "[%.17g, %.17g, %.17g]", J * b->inertia[0], J * b->inertia[1], J * b->inertia[2]);
  }
  global(w, b->x, w->length, false, x);
  global(w, b->v, w->length / w->time, false, v);
  mirror(w, b->q, q);
  machine_product(w->q, q, q);
  double back[4];
  machine_inverse(b->q, back);
  machine_rotate(back, b->w, body); /* in body axes */
  local(w, body, 1.0 / w->time, true, W);
  case_say(c, ", position: ");
  write_vector(c, m->dimension, x);
  write_axes(c, m->dimension, q);
  case_say(c, ", velocity: ");
  write_vector(c, m->dimension, v);
  if (m->dimension == 2) {
    case_say(c, ", angular_velocity: %.17g, shapes: [", W[2]);
  } else {
    case_say(c, ", angular_velocity: [%.17g, %.17g, %.17g], shapes: [", W[0], W[1], W[2]);
  }
  for (int k = 0; k < b->shapes; k++) {
    case_say(c, k > 0 ? ", " : "");
    write_shape(c, m, w, &b->shape[k]);
  }
  case_say(c, "]}\n");
}

static void write_marker(adversarial_case* c, const machine* m, const machine_view* w, int j,
                         int side) {
  const machine_joint* joint = &m->joint[j];
  const int i = joint->body[side];
  double x[3];
  double q[4];
  if (i < 0) {
    global(w, joint->at[side], w->length, false, x);
    mirror(w, joint->q, q);
    machine_product(w->q, q, q);
    case_say(c, "  j%d_%d: {point: ", j, side);
  } else {
    double back[4];
    double from[3];
    machine_inverse(m->body[i].q, back);
    for (int k = 0; k < 3; k++) {
      from[k] = joint->at[side][k] - m->body[i].x[k];
    }
    machine_rotate(back, from, from);
    local(w, from, w->length, false, x);
    machine_product(back, joint->q, q);
    mirror(w, q, q);
    case_say(c, "  j%d_%d: {body: b%d, point: ", j, side, i);
  }
  write_vector(c, m->dimension, x);
  write_axes(c, m->dimension, q);
  case_say(c, "}\n");
}

static void write_joint(adversarial_case* c, const machine* m, const machine_view* w, int j) {
  const machine_joint* a = &m->joint[j];
  const bool slides = strcmp(a->type, "prismatic") == 0;
  const double sign = w->mirrored && !slides ? -1.0 : 1.0;
  const double x = slides ? w->length : 1.0; /* unit of the coordinate */
  const double f = w->mass * w->length * w->length / (w->time * w->time * x);
  case_say(c, "  - {name: J%d, type: %s, between: [j%d_0, j%d_1]", j, a->type, j, j);
  if (strcmp(a->type, "distance") == 0) {
    double far = 0.0;
    for (int k = 0; k < 3; k++) {
      far += (a->at[1][k] - a->at[0][k]) * (a->at[1][k] - a->at[0][k]);
    }
    case_say(c, ", length: %.17g", w->length * sqrt(far));
  }
  if (a->drive) {
    case_say(c, ", drive: {angle: \"%.17g*(1 - cos(%.17g*t))\"}", sign * a->push[0],
             a->push[1] / w->time);
  } else if (a->push[0] != 0.0) {
    case_say(c, ", actuator: \"%.17g*sin(%.17g*t + %.17g)\"", sign * f * a->push[0],
             a->push[1] / w->time, a->push[2]);
  }
  if (a->stiffness > 0.0) {
    case_say(c, ", spring: {stiffness: %.17g, rest: 0}", f / x * a->stiffness);
  }
  if (a->damping > 0.0) {
    case_say(c, ", damping: %.17g", f * w->time / x * a->damping);
  }
  if (a->dry > 0.0) {
    case_say(c, ", dry_friction: {force: %.17g}", f * a->dry);
  }
  if (a->limit > 0.0) {
    case_say(c, ", limits: [%.17g, %.17g], restitution: 0.3", -x * a->limit, x * a->limit);
  }
  case_say(c, "}\n");
}

static void write_world(adversarial_case* c, const machine* m, const machine_view* w) {
  double g[3];
  global(w, m->gravity, w->length / (w->time * w->time), false, g);
  case_say(c, "saltus: 1\nworld:\n  dimension: %d\n  gravity: ", m->dimension);
  write_vector(c, m->dimension, g);
  case_say(c, "\n  shapes:\n");
  for (int k = 0; k < m->walls; k++) {
    double x[3];
    double n[3];
    global(w, m->wall[k][0], w->length, false, x);
    global(w, m->wall[k][1], 1.0, false, n);
    case_say(c, "    - {%s: {}, position: ", m->dimension == 3 ? "half-space" : "half-plane");
    write_vector(c, m->dimension, x);
    double q[4] = {0.0, 0.0, 0.0, 1.0}; /* about the axis between n and the axis of the shape */
    if (m->dimension == 2) {
      machine_about((double[3]){0.0, 0.0, 1.0}, atan2(n[1], n[0]) - 1.5707963267948966, q);
    } else {
      const double half[3] = {n[0], n[1], n[2] + (n[2] < 0.0 ? -1.0 : 1.0)};
      const double size = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
      /* half a turn about the bisector takes z to n; for a normal downwards first half a turn about x */
      const double bisector[4] = {0.0, half[0] / size, half[1] / size, half[2] / size};
      memcpy(q, bisector, sizeof bisector);
      if (n[2] < 0.0) {
        machine_product(bisector, (double[4]){0.0, 1.0, 0.0, 0.0}, q);
      }
    }
    write_axes(c, m->dimension, q);
    case_say(c, ", material: m0}\n");
  }
  case_say(c, "materials:\n");
  for (int k = 0; k < MACHINE_MATERIALS; k++) {
    case_say(c, "  m%d: {friction: %.17g, restitution: %.17g}\n", k, m->mu[k], m->e[k]);
  }
}

void machine_write(const machine* m, const machine_view* view, adversarial_case* text) {
  write_world(text, m, view);
  case_say(text, "bodies:\n");
  for (int k = 0; k < m->bodies; k++) {
    write_body(text, m, view, view->reversed ? m->bodies - 1 - k : k);
  }
  if (m->joints == 0) {
    return;
  }
  case_say(text, "markers:\n");
  for (int j = 0; j < m->joints; j++) {
    write_marker(text, m, view, j, 0);
    write_marker(text, m, view, j, 1);
  }
  case_say(text, "joints:\n");
  for (int k = 0; k < m->joints; k++) {
    write_joint(text, m, view, view->reversed ? m->joints - 1 - k : k);
  }
}

void machine_read(const machine* m, const machine_view* view, const double* q, int i, double* x,
                  double* R) {
  const int k = view->reversed ? m->bodies - 1 - i : i;
  const double* b = q + (m->dimension == 2 ? 3 : 7) * k;
  double p[3] = {b[0], b[1], m->dimension == 2 ? 0.0 : b[2]};
  double turn[4];
  double back[4];
  if (m->dimension == 2) {
    machine_about((double[3]){0.0, 0.0, 1.0}, b[2], turn);
  } else {
    memcpy(turn, b + 3, sizeof turn);
  }
  machine_inverse(view->q, back);
  machine_rotate(back, p, p);
  local(view, p, 1.0 / view->length, false, x);
  machine_product(back, turn, turn);
  mirror(view, turn, turn);
  for (int a = 0; a < 3; a++) {
    double e[3] = {0.0, 0.0, 0.0};
    e[a] = 1.0;
    machine_rotate(turn, e, R + 3 * a);
  }
}
