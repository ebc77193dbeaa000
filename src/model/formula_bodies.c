/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_bodies.c - see formula_bodies.h.
 *
 *   plane   R = (cos a, -sin a; sin a, cos a)
 *   space   R of the unit quaternion (w, x, y, z), quaternion' = quaternion (0, omega) / 2
 *   marker  p = x + R r,  axes R A
 *   angle   of a joint in space: a coordinate with the rate of atan2(b_x . a_y, b_x . a_x);
 *           against a driven body n + atan2(s cos n - c sin n, c cos n + s sin n), s = b_x . a_y, c = b_x . a_x,
 *           where n is the rotation of both bodies about the axis: it selects the branch of the angle
 */
#include "model/formula_bodies.h"

#include "body/mechanism.h"
#include "formula/derive.h"
#include "formula/functions.h"
#include "model/formula_model.h"
#include "model/formula_signal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef enum thing_kind { BODY, MARKER, JOINT } thing_kind;

static thing_kind kind_of(const saltusi_formula_builder* b, int* thing) {
  const saltusi_formula_bodies* s = &b->bodies;
  if (*thing < s->body_count) {
    return BODY;
  }
  *thing -= s->body_count;
  if (*thing < s->marker_count) {
    return MARKER;
  }
  *thing -= s->marker_count;
  return JOINT;
}

static saltusi_expr number(saltusi_graph* g, double value) {
  return saltusi_constant(g, value);
}

static saltusi_expr product_sum(saltusi_graph* g, const saltusi_expr* a, int a_step,
                                const saltusi_expr* b, int b_step) {
  saltusi_expr sum = saltusi_mul(g, a[0], b[0]);
  for (int k = 1; k < 3; k++) {
    const saltusi_expr next = saltusi_mul(g, a[a_step * k], b[b_step * k]);
    sum = saltusi_add(g, sum, next);
  }
  return sum;
}

/* A B, row major */
static void product(saltusi_graph* g, const saltusi_expr A[9], const saltusi_expr B[9],
                    saltusi_expr out[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = product_sum(g, A + 3 * i, 1, B + j, 3);
    }
  }
}

static void numbers(saltusi_graph* g, const double* values, int count, saltusi_expr* out) {
  for (int k = 0; k < count; k++) {
    out[k] = number(g, values[k]);
  }
}

/* About z. */
static void plane_axes(saltusi_graph* g, saltusi_expr angle, saltusi_expr R[9]) {
  const double unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  numbers(g, unit, 9, R);
  const saltusi_expr c = saltusi_apply(g, SALTUSI_COS, angle, 0, 0);
  const saltusi_expr s = saltusi_apply(g, SALTUSI_SIN, angle, 0, 0);
  R[0] = c;
  R[1] = saltusi_neg(g, s);
  R[3] = s;
  R[4] = c;
}

/* 2 (a b + sign c d) */
static saltusi_expr twice(saltusi_graph* g, saltusi_expr a, saltusi_expr b, double sign,
                          const saltusi_expr cd[2]) {
  const saltusi_expr first = saltusi_mul(g, a, b);
  const saltusi_expr second = saltusi_mul(g, number(g, sign), saltusi_mul(g, cd[0], cd[1]));
  return saltusi_mul(g, number(g, 2.0), saltusi_add(g, first, second));
}

static void quaternion_axes(saltusi_graph* g, const saltusi_expr q[4], saltusi_expr R[9]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const saltusi_expr turned[2] = {q[0], q[1 + k]}, square[2] = {q[1 + k], q[1 + k]};
    const saltusi_expr sides = twice(g, q[1 + j], q[1 + j], 1.0, square);
    R[4 * i] = saltusi_sub(g, g->one, sides);
    R[3 * i + j] = twice(g, q[1 + i], q[1 + j], -1.0, turned);
    R[3 * j + i] = twice(g, q[1 + i], q[1 + j], 1.0, turned);
  }
}

/* quaternion (0, omega) / 2 */
static void move_quaternion(saltusi_graph* g, int position, const saltusi_expr w[3]) {
  saltusi_expr q[4];
  for (int k = 0; k < 4; k++) {
    q[k] = saltusi_position(position + k);
  }
  const saltusi_expr half = number(g, 0.5);
  const saltusi_expr spin = product_sum(g, q + 1, 1, w, 1);
  saltusi_graph_move(g, position, saltusi_mul(g, number(g, -0.5), spin));
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const saltusi_expr a = saltusi_mul(g, q[0], w[i]);
    const saltusi_expr c = saltusi_mul(g, q[1 + j], w[k]);
    const saltusi_expr d = saltusi_mul(g, q[1 + k], w[j]);
    const saltusi_expr sum = saltusi_sub(g, saltusi_add(g, a, c), d);
    saltusi_graph_move(g, position + 1 + i, saltusi_mul(g, half, sum));
  }
}

static int first_q(const saltusi_formula_builder* b, const saltusi_body* body) {
  return b->def->coordinate_count + body->q;
}

static int first_v(const saltusi_formula_builder* b, const saltusi_body* body) {
  return b->def->coordinate_count + body->v;
}

static void open_free(saltusi_formula_builder* b, const saltusi_body* body,
                      saltusi_formula_frame* f) {
  saltusi_graph* g = &b->graph;
  const bool plane = b->bodies.mechanism->plane;
  const int q = first_q(b, body), v = first_v(b, body), n = plane ? 2 : 3;
  f->p[2] = g->zero;
  for (int k = 0; k < n; k++) {
    f->p[k] = saltusi_position(q + k);
    saltusi_graph_move(g, q + k, saltusi_velocity(g, v + k));
  }
  if (plane) {
    f->angle = saltusi_position(q + 2);
    saltusi_graph_move(g, q + 2, saltusi_velocity(g, v + 2));
    plane_axes(g, f->angle, f->R);
    return;
  }
  saltusi_expr quaternion[4], w[3];
  for (int k = 0; k < 4; k++) {
    quaternion[k] = saltusi_position(q + 3 + k);
  }
  for (int k = 0; k < 3; k++) {
    w[k] = saltusi_velocity(g, v + 3 + k);
  }
  move_quaternion(g, q + 3, w);
  quaternion_axes(g, quaternion, f->R);
}

/* A signal as an expression of t. */
static saltusi_expr signal_of(saltusi_formula_builder* b, const saltusi_signal* signal) {
  saltusi_graph* g = &b->graph;
  saltusi_expr e = number(g, signal->given.value);
  if (signal->given.evaluate == saltusi_formula_signal_evaluate) {
    const saltus_formula_text text = saltusi_formula_signal_text(signal->given.self);
    if (saltusi_parse(&b->scope, &text, SALTUSI_ON_TIME, &e) != SALTUS_OK &&
        g->status == SALTUS_OK) {
      g->status =
          SALTUS_ERR_INPUT; /* the text was valid before, so only memory can be the reason */
    }
  }
  return e;
}

/* About an axis of length 1 (Rodrigues): R = cos I + sin [a] + (1 - cos) a a^T. */
static void axis_turn(saltusi_graph* g, const double a[3], saltusi_expr angle, saltusi_expr R[9]) {
  const saltusi_expr c = saltusi_apply(g, SALTUSI_COS, angle, 0, 0);
  const saltusi_expr s = saltusi_apply(g, SALTUSI_SIN, angle, 0, 0);
  const saltusi_expr rest = saltusi_sub(g, g->one, c);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const saltusi_expr square = saltusi_mul(g, number(g, a[i] * a[i]), rest);
    const saltusi_expr mixed = saltusi_mul(g, number(g, a[i] * a[j]), rest);
    const saltusi_expr side = saltusi_mul(g, number(g, a[k]), s);
    R[4 * i] = saltusi_add(g, c, square);
    R[3 * i + j] = saltusi_sub(g, mixed, side);
    R[3 * j + i] = saltusi_add(g, mixed, side);
  }
}

static void open_driven(saltusi_formula_builder* b, const saltusi_body* body,
                        saltusi_formula_frame* f) {
  saltusi_graph* g = &b->graph;
  for (int k = 0; k < 3; k++) {
    f->p[k] = signal_of(b, &body->position[k]);
  }
  if (b->bodies.mechanism->plane) {
    f->p[2] = g->zero;
    f->angle = saltusi_add(g, signal_of(b, &body->rotation[0]), number(g, body->pose.angle));
    plane_axes(g, f->angle, f->R);
    return;
  }
  saltusi_expr turn[9], start[9];
  numbers(g, body->pose.R, 9, start);
  if (saltusi_dot3(body->axis, body->axis) > 0.0) {
    axis_turn(g, body->axis, signal_of(b, &body->rotation[0]), turn);
  } else {
    saltusi_expr one[3][9], yaw_pitch[9];
    for (int k = 0; k < 3; k++) {
      const double axis[3] = {k == 0, k == 1, k == 2};
      axis_turn(g, axis, signal_of(b, &body->rotation[k]), one[k]);
    }
    product(g, one[2], one[1], yaw_pitch);
    product(g, yaw_pitch, one[0], turn);
  }
  product(g, turn, start, f->R);
}

static void open_fixed(saltusi_formula_builder* b, const saltusi_body* body,
                       saltusi_formula_frame* f) {
  numbers(&b->graph, body->pose.x, 3, f->p);
  numbers(&b->graph, body->pose.R, 9, f->R);
  f->angle = number(&b->graph, body->pose.angle);
}

static const saltusi_formula_frame* body_frame(saltusi_formula_builder* b, int i) {
  const saltusi_body* body = &b->bodies.mechanism->bodies[i];
  saltusi_formula_frame* f = &b->bodies.bodies[i];
  if (!f->known) {
    f->known = true;
    if (body->kind == SALTUS_BODY_FREE) {
      open_free(b, body, f);
    } else if (body->kind == SALTUS_BODY_DRIVEN) {
      open_driven(b, body, f);
    } else {
      open_fixed(b, body, f);
    }
  }
  return f;
}

static const saltusi_formula_frame* marker_frame(saltusi_formula_builder* b, int i) {
  saltusi_graph* g = &b->graph;
  const saltusi_marker* marker = &b->bodies.mechanism->markers[i];
  saltusi_formula_frame* f = &b->bodies.markers[i];
  if (!f->known) {
    const saltusi_formula_frame* on = body_frame(b, marker->body);
    saltusi_expr r[3], A[9];
    numbers(g, marker->r, 3, r);
    for (int k = 0; k < 9; k++) {
      A[k] = number(g, marker->axis[k % 3][k / 3]);
    }
    for (int k = 0; k < 3; k++) {
      const saltusi_expr arm = product_sum(g, on->R + 3 * k, 1, r, 1);
      f->p[k] = saltusi_add(g, on->p[k], arm);
    }
    product(g, on->R, A, f->R);
    if (b->bodies.mechanism->plane) {
      f->angle = saltusi_add(g, on->angle, number(g, marker->angle));
    }
    f->known = true;
  }
  return f;
}

static void between(saltusi_graph* g, const saltusi_formula_frame* a,
                    const saltusi_formula_frame* b, saltusi_expr d[3]) {
  for (int k = 0; k < 3; k++) {
    d[k] = saltusi_sub(g, b->p[k], a->p[k]);
  }
}

static saltusi_expr distance(saltusi_graph* g, const saltusi_formula_frame* a,
                             const saltusi_formula_frame* b) {
  saltusi_expr d[3];
  between(g, a, b, d);
  return saltusi_apply(g, SALTUSI_SQRT, product_sum(g, d, 1, d, 1), 0, 0);
}

/* Its motion is a callback: no formula. */
static bool opaque(const saltusi_body* body) {
  bool any = false;
  for (int k = 0; k < 6 && body->kind == SALTUS_BODY_DRIVEN; k++) {
    const saltus_signal* s = k < 3 ? &body->position[k].given : &body->rotation[k - 3].given;
    any = any || s->input != NULL ||
          (s->evaluate != NULL && s->evaluate != saltusi_formula_signal_evaluate);
  }
  return any;
}

/* The rotation of a driven body about one axis is a function of time; about several axes it is an integral, which is
 * not a formula. */
static bool counts_turns(const saltus_mechanism* m, const int marker[2]) {
  bool any = true;
  for (int k = 0; k < 2; k++) {
    const int body = m->markers[marker[k]].body;
    double axis[3];
    any = any && (m->bodies[body].kind != SALTUS_BODY_DRIVEN ||
                  (!opaque(&m->bodies[body]) && saltusi_driven_axis(m, body, axis) >= 0));
  }
  return any;
}

/* Rotation of the bodies of a joint about its axis, one of them driven: the coordinate `turned` and a function
 * of time. */
static saltusi_expr turned_by_both(saltusi_formula_builder* b, const int marker[2], int turned) {
  saltusi_graph* g = &b->graph;
  const saltus_mechanism* m = b->bodies.mechanism;
  const int position = b->def->coordinate_count + turned;
  saltusi_expr by[2];
  for (int k = 0; k < 2; k++) {
    const saltusi_marker* at = &m->markers[marker[k]];
    const saltusi_body* body = &m->bodies[at->body];
    const double sign = k == 0 ? -1.0 : 1.0;
    if (body->kind == SALTUS_BODY_FREE) {
      saltusi_expr z[3], w[3];
      for (int i = 0; i < 3; i++) {
        z[i] = number(g, sign * at->axis[2][i]);
        w[i] = saltusi_velocity(g, first_v(b, body) + 3 + i);
      }
      saltusi_graph_move(g, position, product_sum(g, z, 1, w, 1));
      by[k] = saltusi_position(position);
      continue;
    }
    double axis[3], z[3], start[3];
    saltusi_pose pose;
    const saltusi_signal* angle = &body->rotation[saltusi_driven_axis(m, at->body, axis)];
    saltusi_pose_at(m, at->body, m->t0, NULL, &pose);
    saltusi_turn(pose.R, at->axis[2], z);
    saltusi_signal_at(m, angle, m->t0, start);
    const saltusi_expr way = saltusi_sub(g, signal_of(b, angle), number(g, start[0]));
    by[k] = saltusi_mul(g, number(g, sign * saltusi_dot3(axis, z)), way);
  }
  return saltusi_add(g, by[0], by[1]);
}

/* The angle between two markers in space. Unwrapped, it is a position with the rate of the angle of the poses.
 * Relative to a driven body it has no coordinate (q < 0); if it is the angle of a joint, a coordinate counts
 * revolutions. */
static saltusi_expr angle_of(saltusi_formula_builder* b, const int marker[2], int q, int turned) {
  saltusi_graph* g = &b->graph;
  const int position = b->def->coordinate_count + q;
  const saltusi_formula_frame* first = marker_frame(b, marker[0]);
  const saltusi_formula_frame* second = marker_frame(b, marker[1]);
  const saltusi_expr across = product_sum(g, second->R, 3, first->R + 1, 3);
  const saltusi_expr along = product_sum(g, second->R, 3, first->R, 3);
  if (turned > 0 && counts_turns(b->bodies.mechanism, marker)) {
    const saltusi_expr near = turned_by_both(b, marker, turned);
    const saltusi_expr c = saltusi_apply(g, SALTUSI_COS, near, 0, 0);
    const saltusi_expr s = saltusi_apply(g, SALTUSI_SIN, near, 0, 0);
    const saltusi_expr y = saltusi_sub(g, saltusi_mul(g, across, c), saltusi_mul(g, along, s));
    const saltusi_expr x = saltusi_add(g, saltusi_mul(g, along, c), saltusi_mul(g, across, s));
    return saltusi_add(g, near, saltusi_apply(g, SALTUSI_ATAN2, y, x, 0));
  }
  const saltusi_expr wrapped = saltusi_apply(g, SALTUSI_ATAN2, across, along, 0);
  if (q < 0) {
    return wrapped;
  }
  saltusi_graph_move(g, position, saltusi_rate(g, wrapped));
  return saltusi_position(position);
}

static saltusi_expr term_of(saltusi_formula_builder* b, const saltusi_link* link,
                            const saltusi_term* term) {
  saltusi_graph* g = &b->graph;
  const int* marker = link->marker[term->link];
  const saltusi_formula_frame* first = marker_frame(b, marker[0]);
  const saltusi_formula_frame* second = marker_frame(b, marker[1]);
  saltusi_expr d[3];
  between(g, first, second, d);
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    return product_sum(g, first->R + term->i, 3, d, 1);
  case SALTUSI_TERM_WORLD:
    return d[term->i];
  case SALTUSI_TERM_DOT:
    return product_sum(g, first->R + term->i, 3, second->R + term->j, 3);
  case SALTUSI_TERM_DISTANCE:
    return distance(g, first, second);
  case SALTUSI_TERM_ANGLE:
    return angle_of(b, marker, term->q, term->turned);
  case SALTUSI_TERM_PLANE:
    break;
  }
  return saltusi_sub(g, second->angle, first->angle);
}

/* A row without its target, such as a coordinate of a joint. */
static saltusi_expr row_of(saltusi_formula_builder* b, const saltusi_link* link,
                           const saltusi_joint_row* row) {
  saltusi_graph* g = &b->graph;
  saltusi_expr sum = number(g, -row->offset);
  for (int k = 0; k < row->terms; k++) {
    const saltusi_expr term = term_of(b, link, &row->term[k]);
    sum = saltusi_add(g, sum, saltusi_mul(g, number(g, row->term[k].weight), term));
  }
  return sum;
}

/* ---- parts ---- */

static const char* const plane_parts[] = {"x", "y", "angle"};
static const char* const space_parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz", "wx", "wy", "wz"};
static const char* const load_parts[] = {"force.x",  "force.y",  "force.z",
                                         "torque.x", "torque.y", "torque.z"};

/* Formulas can name the angle of a joint. */
static bool has_named_angle(const saltus_mechanism* m, const saltusi_joint* joint) {
  return joint->has_angle &&
         (joint->angle.term[0].turned == 0 || counts_turns(m, joint->link.marker[0]));
}

static const char* part_at(const void* self, int thing, int i) {
  const saltusi_formula_builder* b = self;
  const saltus_mechanism* m = b->bodies.mechanism;
  const thing_kind kind = kind_of(b, &thing);
  if (kind == JOINT) {
    const saltusi_joint* joint = &m->joints[thing];
    const char* own[2];
    int count = 0;
    if (has_named_angle(m, joint)) {
      own[count++] = "angle";
    }
    if (joint->has_position) {
      own[count++] = "position";
    }
    return i < count ? own[i] : i - count < 6 ? load_parts[i - count] : NULL;
  }
  const int body = kind == BODY ? thing : m->markers[thing].body;
  if (opaque(&m->bodies[body])) {
    return NULL;
  }
  const bool whole = kind == BODY && m->bodies[body].kind == SALTUS_BODY_FREE;
  return m->plane ? (i < 3 ? plane_parts[i] : NULL)
                  : (i < (whole ? 10 : 3) ? space_parts[i] : NULL);
}

static const char* lacks(const void* self, int thing, const char* part) {
  const saltusi_formula_builder* b = self;
  if (kind_of(b, &thing) != JOINT || strcmp(part, "angle") != 0 ||
      !b->bodies.mechanism->joints[thing].has_angle) {
    return NULL;
  }
  return "its driven body turns by more than one of roll, pitch and yaw, or by a callback, and how "
         "far is no formula; "
         "drive it about one axis, or read the output of that name";
}

static saltusi_part_kind body_part(saltusi_formula_builder* b, thing_kind kind, int thing, int i,
                                   saltusi_expr* out) {
  const saltus_mechanism* m = b->bodies.mechanism;
  const saltusi_formula_frame* f = kind == BODY ? body_frame(b, thing) : marker_frame(b, thing);
  if (m->plane || i < 3) {
    *out = m->plane && i == 2 ? f->angle : f->p[i];
    return SALTUSI_PART_POSITION;
  }
  *out = i < 7 ? saltusi_position(first_q(b, &m->bodies[thing]) + i)
               : saltusi_velocity(&b->graph, first_v(b, &m->bodies[thing]) + i - 4);
  return i < 7 ? SALTUSI_PART_POSITION : SALTUSI_PART_VELOCITY;
}

static saltusi_part_kind part(const void* self, saltusi_graph* g, int thing, const char* name,
                              saltusi_expr* out) {
  saltusi_formula_builder* b = (saltusi_formula_builder*)self;
  int i = 0, index = thing;
  const char* found = part_at(self, thing, 0);
  while (found != NULL && strcmp(found, name) != 0) {
    found = part_at(self, thing, ++i);
  }
  if (found == NULL) {
    return SALTUSI_PART_NONE;
  }
  const thing_kind kind = kind_of(b, &index);
  if (kind != JOINT) {
    return body_part(b, kind, index, i, out);
  }
  const saltusi_joint* joint = &b->bodies.mechanism->joints[index];
  const int own =
      (has_named_angle(b->bodies.mechanism, joint) ? 1 : 0) + (joint->has_position ? 1 : 0);
  if (i >= own) {
    *out = b->scope.results ? saltusi_input(g, b->def->input_count + 6 * index + i - own) : g->zero;
    b->bodies.named_results = b->scope.results;
    return SALTUSI_PART_RESULT;
  }
  *out = row_of(b, &joint->link, strcmp(name, "angle") == 0 ? &joint->angle : &joint->position);
  return SALTUSI_PART_POSITION;
}

/* body: its own, or that of the marker */
static const saltusi_formula_frame* frame_of(saltusi_formula_builder* b, int thing, int* body) {
  const thing_kind kind = kind_of(b, &thing);
  const saltus_mechanism* m = b->bodies.mechanism;
  *body = kind == MARKER ? m->markers[thing].body : thing;
  if (kind == JOINT || opaque(&m->bodies[*body])) {
    return NULL;
  }
  return kind == BODY ? body_frame(b, thing) : marker_frame(b, thing);
}

static saltusi_expr call(const void* self, saltusi_graph* g, int function, const int things[2]) {
  saltusi_formula_builder* b = (saltusi_formula_builder*)self;
  int bodies[2];
  const saltusi_formula_frame* first = frame_of(b, things[0], &bodies[0]);
  const saltusi_formula_frame* second = frame_of(b, things[1], &bodies[1]);
  if (first == NULL || second == NULL) {
    return -1;
  }
  if (function == SALTUSI_THING_DIST) {
    return distance(g, first, second);
  }
  if (function >= SALTUSI_THING_XX) {
    const int k = function - SALTUSI_THING_XX;
    return product_sum(g, first->R + k % 3, 3, second->R + k / 3, 3);
  }
  if (function >= SALTUSI_THING_WX) {
    return saltusi_formula_turning(b, bodies, first, function - SALTUSI_THING_WX);
  }
  if (function >= SALTUSI_THING_X) {
    saltusi_expr d[3];
    between(g, first, second, d);
    return product_sum(g, first->R + (function - SALTUSI_THING_X), 3, d, 1);
  }
  if (b->bodies.mechanism->plane) {
    return saltusi_sub(g, second->angle, first->angle);
  }
  /* between the z axes: |a x b| and a . b */
  const saltusi_expr *a = first->R + 2, *c = second->R + 2;
  saltusi_expr side[3];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const saltusi_expr left = saltusi_mul(g, a[3 * j], c[3 * k]);
    side[i] = saltusi_sub(g, left, saltusi_mul(g, a[3 * k], c[3 * j]));
  }
  const saltusi_expr size = saltusi_apply(g, SALTUSI_SQRT, product_sum(g, side, 1, side, 1), 0, 0);
  return saltusi_apply(g, SALTUSI_ATAN2, size, product_sum(g, a, 3, c, 3), 0);
}

/* ---- the mechanism ---- */

const char* saltusi_formula_bodies_name(const saltusi_formula_builder* b, int thing) {
  assert(b != NULL && thing >= 0);
  const saltus_mechanism* m = b->bodies.mechanism;
  if (m == NULL || thing >= b->bodies.body_count + b->bodies.marker_count + b->bodies.joint_count) {
    return NULL;
  }
  const thing_kind kind = kind_of(b, &thing);
  return kind == BODY     ? m->bodies[thing].name
         : kind == MARKER ? m->markers[thing].name
                          : m->joints[thing].name;
}

const char* saltusi_formula_bodies_kind(const saltusi_formula_builder* b, int thing) {
  assert(b != NULL && thing >= 0);
  const thing_kind kind = kind_of(b, &thing);
  return kind == BODY ? "body" : kind == MARKER ? "marker" : "joint";
}

static const char* thing_kind_name(const void* self, int thing) {
  return saltusi_formula_bodies_kind(self, thing);
}

saltusi_formula_bodies_size saltusi_formula_bodies_measure(const saltus_mechanism* m) {
  if (m == NULL) {
    return (saltusi_formula_bodies_size){0, 0, 0};
  }
  return (saltusi_formula_bodies_size){.nq = m->system.dims.nq,
                                       .nv = m->system.dims.nv,
                                       .names = m->body_count + m->marker_count + m->joint_count};
}

int saltusi_formula_bodies_results(const saltus_mechanism* m) {
  return m != NULL ? 6 * m->joint_count : 0;
}

saltus_status saltusi_formula_bodies_start(saltusi_formula_builder* b) {
  assert(b != NULL);
  saltusi_formula_bodies* s = &b->bodies;
  const saltus_mechanism* m = b->def->mechanism;
  *s = (saltusi_formula_bodies){.mechanism = m};
  if (m == NULL) {
    return SALTUS_OK;
  }
  s->body_count = m->body_count;
  s->marker_count = m->marker_count;
  s->joint_count = m->joint_count;
  s->bodies = SALTUSI_TAKE(&b->work, saltusi_formula_frame, m->body_count + 1);
  s->markers = SALTUSI_TAKE(&b->work, saltusi_formula_frame, m->marker_count);
  s->things = (saltusi_scene_objects){.kind = thing_kind_name,
                                      .part_at = part_at,
                                      .lacks = lacks,
                                      .part = part,
                                      .call = call,
                                      .self = b};
  b->scope.things = &s->things;
  return b->work.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

bool saltusi_formula_spot_find(saltusi_formula_builder* b, const char* name,
                               saltusi_formula_spot* spot) {
  assert(b != NULL && name != NULL && spot != NULL);
  const saltus_mechanism* m = b->bodies.mechanism;
  const saltusi_name* found = m != NULL ? saltusi_names_find(&b->names, name) : NULL;
  if (found == NULL || found->kind != SALTUSI_THING) {
    return false;
  }
  int thing = found->index;
  const thing_kind kind = kind_of(b, &thing);
  if (kind == JOINT) {
    return false;
  }
  const int body = kind == BODY ? thing : m->markers[thing].body;
  *spot =
      (saltusi_formula_spot){.frame = kind == BODY ? body_frame(b, thing) : marker_frame(b, thing),
                             .body = body < m->body_count ? body : -1};
  spot->v = m->bodies[body].kind == SALTUS_BODY_FREE && spot->body >= 0
                ? first_v(b, &m->bodies[body])
                : -1;
  return true;
}

bool saltusi_formula_bodies_plane(const saltusi_formula_builder* b) {
  assert(b != NULL && b->bodies.mechanism != NULL);
  return b->bodies.mechanism->plane;
}

const saltusi_formula_frame* saltusi_formula_body_frame(saltusi_formula_builder* b, int body) {
  assert(b != NULL && body >= 0);
  return body_frame(b, body);
}

/* ---- formulas of time ---- */

static bool by_formula(const saltusi_signal* signal) {
  return signal->given.evaluate == saltusi_formula_signal_evaluate;
}

/* The next signal of the mechanism; NULL past the end. */
static const saltusi_signal* signal_at(const saltus_mechanism* m, int i) {
  if (i < 6 * m->body_count) {
    const saltusi_body* body = &m->bodies[i / 6];
    return i % 6 < 3 ? &body->position[i % 6] : &body->rotation[i % 6 - 3];
  }
  i -= 6 * m->body_count;
  if (i < m->system.dims.nj) {
    return &m->rows[i].target;
  }
  i -= m->system.dims.nj;
  return i < m->force_count ? &m->forces[i].actuator : NULL;
}

void saltusi_formula_bodies_roots(saltusi_formula_builder* b) {
  assert(b != NULL);
  const saltus_mechanism* m = b->bodies.mechanism;
  for (int i = 0; m != NULL && signal_at(m, i) != NULL; i++) {
    if (by_formula(signal_at(m, i))) {
      saltusi_formula_root(b, signal_of(b, signal_at(m, i)));
    }
  }
}

bool saltusi_formula_moved_row(saltusi_formula_builder* b, int row, saltusi_expr* g) {
  assert(b != NULL && row >= 0 && g != NULL);
  const saltus_mechanism* m = b->bodies.mechanism;
  const saltusi_joint_row* r = &m->rows[row];
  const bool branch = r->term[0].kind == SALTUSI_TERM_ANGLE && r->term[0].q < 0;
  if (!by_formula(&r->target) || r->by_speed || branch) {
    return false;
  }
  int joint = 0;
  while (joint < m->joint_count - 1 && m->joints[joint + 1].row <= row) {
    joint++;
  }
  const saltusi_expr value = row_of(b, &m->joints[joint].link, r);
  *g = saltusi_sub(&b->graph, value, signal_of(b, &r->target));
  return true;
}

/* The velocities of the bodies that a force along a row acts on, relative to those by formula. */
static bool touches(const saltus_mechanism* m, const saltusi_force_along* f, const bool* wanted) {
  bool any = false;
  for (int k = 0; k < 2; k++) {
    const saltusi_body* body = &m->bodies[m->markers[f->link->marker[0][k]].body];
    any = any || (body->v >= 0 && wanted[body->v / (m->plane ? 3 : 6)]);
  }
  return any;
}

/* Gravity and gyroscopic torque, I w x w. */
static void add_own_force(saltusi_formula_builder* b, const saltusi_body* body, saltusi_expr* F) {
  saltusi_graph* g = &b->graph;
  const saltus_mechanism* m = b->bodies.mechanism;
  const int v = first_v(b, body);
  for (int k = 0; k < (m->plane ? 2 : 3); k++) {
    F[v + k] = saltusi_add(g, F[v + k], number(g, body->mass * m->gravity[k]));
  }
  if (m->plane || body->round) {
    return;
  }
  saltusi_expr I[9], w[3], spin[3];
  numbers(g, body->I, 9, I);
  for (int k = 0; k < 3; k++) {
    w[k] = saltusi_velocity(g, v + 3 + k);
  }
  for (int k = 0; k < 3; k++) {
    spin[k] = product_sum(g, I + 3 * k, 1, w, 1);
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const saltusi_expr left = saltusi_mul(g, spin[j], w[k]);
    const saltusi_expr torque = saltusi_sub(g, left, saltusi_mul(g, spin[k], w[j]));
    F[v + 3 + i] = saltusi_add(g, F[v + 3 + i], torque);
  }
}

/* -k (row - rest) - d row' + actuator, along the row */
static void add_force_along(saltusi_formula_builder* b, const saltusi_force_along* f,
                            saltusi_expr* F) {
  saltusi_graph* g = &b->graph;
  const saltusi_expr x = row_of(b, f->link, f->row);
  const saltusi_expr stretched = saltusi_sub(g, x, number(g, f->rest));
  saltusi_expr push = saltusi_mul(g, number(g, -f->stiffness), stretched);
  push = saltusi_sub(g, push, saltusi_mul(g, number(g, f->damping), saltusi_rate(g, x)));
  if (f->actuated) {
    push = saltusi_add(g, push, signal_of(b, &f->actuator));
  }
  const saltusi_graph_span span = saltusi_slopes(g, x);
  for (int k = 0; k < span.count; k++) {
    const saltusi_entry e = g->entries[span.first + k];
    saltusi_expr* into = &F[e.variable - saltusi_velocity(g, 0)];
    *into = saltusi_add(g, *into, saltusi_mul(g, push, e.expr));
  }
}

saltus_status saltusi_formula_bodies_forces(saltusi_formula_builder* b, saltusi_expr* F,
                                            bool* bounded) {
  assert(b != NULL && F != NULL && bounded != NULL);
  const saltus_mechanism* m = b->bodies.mechanism;
  const int own = b->def->coordinate_count, width = m != NULL && !m->plane ? 6 : 3;
  for (int i = 0; i < own; i++) {
    bounded[i] = true;
  }
  if (m == NULL) {
    return SALTUS_OK;
  }
  bool* wanted = SALTUSI_TAKE(&b->work, bool, m->free_count);
  if (wanted == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < width * m->free_count; i++) {
    wanted[i / width] = wanted[i / width] || F[own + i] != b->graph.zero;
  }
  for (int i = 0; i < m->force_count; i++) {
    const saltusi_force_along* f = &m->forces[i];
    for (int k = 0; k < 2 && f->actuated && by_formula(&f->actuator); k++) {
      const int v = m->bodies[m->markers[f->link->marker[0][k]].body].v;
      if (v >= 0) {
        wanted[v / width] = true;
      }
    }
  }
  for (int i = 0; i < m->free_count; i++) {
    if (wanted[i]) {
      add_own_force(b, &m->bodies[m->free_bodies[i]], F);
    }
  }
  for (int i = 0; i < m->force_count; i++) {
    if (touches(m, &m->forces[i], wanted)) {
      add_force_along(b, &m->forces[i], F);
    }
  }
  for (int i = 0; i < width * m->free_count; i++) {
    bounded[own + i] = wanted[i / width];
  }
  return b->graph.status;
}

saltusi_expr saltusi_formula_limit(saltusi_formula_builder* b, int i) {
  assert(b != NULL && i >= 0);
  const saltus_mechanism* m = b->bodies.mechanism;
  const saltusi_limit* limit = &m->limits[i];
  const saltusi_expr x = row_of(b, &m->joints[limit->joint].link, limit->row);
  const saltusi_expr apart = saltusi_sub(&b->graph, x, number(&b->graph, limit->at));
  return saltusi_mul(&b->graph, number(&b->graph, limit->sign), apart);
}
