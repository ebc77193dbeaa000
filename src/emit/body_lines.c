/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_lines.c - see body_lines.h. The operations are those of pose.c, constraints.c (rows of the plane) and forces.c.
 */
#include "emit/body_lines.h"

#include "model/formula_signal.h"

#include <assert.h>

/* ---- what is written ---- */

static bool is_free(const saltus_mechanism* m, int marker) {
  return m->bodies[m->markers[marker].body].kind == SALTUS_BODY_FREE;
}

/* A row of one term along an axis of the first marker or of the angle, without prescribed motion. */
static bool is_row(const saltusi_joint_row* row) {
  const saltusi_term* t = &row->term[0];
  return row->terms == 1 && !row->has_target &&
         (t->kind == SALTUSI_TERM_PLANE || (t->kind == SALTUSI_TERM_ALONG && t->i < 2));
}

static bool is_force(const saltus_mechanism* m, const saltusi_force_along* f) {
  const bool angle = f->row->terms == 1 && f->row->term[0].kind == SALTUSI_TERM_PLANE;
  const int* marker = f->link->marker[0];
  const bool both = is_free(m, marker[0]) && is_free(m, marker[1]);
  const saltus_signal* s = &f->actuator.given;
  const bool known = s->evaluate == NULL || s->evaluate == saltusi_formula_signal_evaluate;
  return angle && !f->taken && f->link->links == 1 && known &&
         (!both || (f->stiffness == 0.0 && f->damping == 0.0));
}

const char* saltusi_body_lines_reason(const saltus_mechanism* m) {
  assert(m != NULL && m->body_count >= 0);
  if (!m->plane || m->world != NULL) {
    return "C has bodies in the plane without shapes";
  }
  if (m->limit_count > 0 || m->load_count > 0) {
    return "limits of joints, and forces that depend on time alone, are exported as FMUs, not as C";
  }
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].kind == SALTUS_BODY_DRIVEN) {
      return "bodies with prescribed motion are exported as FMUs, not as C";
    }
  }
  for (int j = 0; j < m->joint_count; j++) {
    const saltusi_joint* joint = &m->joints[j];
    for (int r = 0; r < joint->rows; r++) {
      if (joint->link.links != 1 || !is_row(&m->rows[joint->row + r])) {
        return "C has revolute, prismatic and rigid joints without drives";
      }
    }
  }
  for (int i = 0; i < m->force_count; i++) {
    if (!is_force(m, &m->forces[i])) {
      return "C has actuators of revolute joints, and their springs and dampers at fixed bodies";
    }
  }
  return NULL;
}

/* ---- poses ---- */

typedef struct pose_lines {
  int x[2], R[4], angle; /* R by rows */
} pose_lines;

static pose_lines pose_at(saltusi_line_graph* l, const saltusi_body* body,
                          const saltusi_line_state* at) {
  static const int place[4] = {0, 1, 3, 4};
  pose_lines p;
  if (body->kind != SALTUS_BODY_FREE) {
    for (int i = 0; i < 4; i++) {
      p.R[i] = saltusi_line_number(l, body->pose.R[place[i]]);
      p.x[i / 2] = saltusi_line_number(l, body->pose.x[i / 2]);
    }
    p.angle = saltusi_line_number(l, body->pose.angle);
    return p;
  }
  p.x[0] = at->q[body->q];
  p.x[1] = at->q[body->q + 1];
  p.angle = at->q[body->q + 2];
  p.R[0] = p.R[3] = saltusi_line_op(l, SALTUSI_COS, p.angle, -1, -1);
  p.R[2] = saltusi_line_op(l, SALTUSI_SIN, p.angle, -1, -1);
  p.R[1] = saltusi_line_op(l, SALTUSI_NEG, p.R[2], -1, -1);
  return p;
}

/* a x + b y */
static int pair(saltusi_line_graph* l, int a, int x, int b, int y) {
  return saltusi_line_add(l, saltusi_line_mul(l, a, x), saltusi_line_mul(l, b, y));
}

static void turn(saltusi_line_graph* l, const pose_lines* p, const int x[2], int out[2]) {
  out[0] = pair(l, p->R[0], x[0], p->R[1], x[1]);
  out[1] = pair(l, p->R[2], x[0], p->R[3], x[1]);
}

static void turn_back(saltusi_line_graph* l, const pose_lines* p, const int x[2], int out[2]) {
  out[0] = pair(l, p->R[0], x[0], p->R[2], x[1]);
  out[1] = pair(l, p->R[1], x[0], p->R[3], x[1]);
}

/* a_0 b_1 - a_1 b_0 */
static int cross(saltusi_line_graph* l, const int a[2], const int b[2]) {
  return saltusi_line_sub(l, saltusi_line_mul(l, a[0], b[1]), saltusi_line_mul(l, a[1], b[0]));
}

static void numbers(saltusi_line_graph* l, const double* x, int out[2]) {
  out[0] = saltusi_line_number(l, x[0]);
  out[1] = saltusi_line_number(l, x[1]);
}

/* ---- joints ---- */

/* Gradient of both ends along an axis of the first marker, as plane_along in constraints.c. */
static void along(saltusi_line_graph* l, const saltusi_marker* const marker[2],
                  const pose_lines p[2], int axis, int G[2][3]) {
  int r[2], s[2], n[2], d[2], y[2], inside[2];
  numbers(l, marker[1]->r, r);
  numbers(l, marker[0]->axis[axis], s);
  turn(l, &p[0], s, n);
  turn(l, &p[1], r, d);
  for (int k = 0; k < 2; k++) {
    d[k] = saltusi_line_sub(l, saltusi_line_add(l, d[k], p[1].x[k]), p[0].x[k]);
    G[0][k] = saltusi_line_op(l, SALTUSI_NEG, n[k], -1, -1);
    G[1][k] = n[k];
  }
  turn_back(l, &p[0], d, y);
  G[0][2] = cross(l, s, y);
  turn_back(l, &p[1], n, inside);
  G[1][2] = cross(l, r, inside);
}

void saltusi_body_lines_joint(saltusi_line_graph* l, const saltus_mechanism* m,
                              const saltusi_line_state* at, int joint, int* rows) {
  assert(l != NULL && m->plane && joint >= 0 && joint < m->joint_count && rows != NULL);
  const saltusi_joint* j = &m->joints[joint];
  const int nv = m->system.dims.nv, zero = saltusi_line_number(l, 0.0);
  const saltusi_marker* marker[2];
  pose_lines p[2];
  for (int k = 0; k < 2; k++) {
    marker[k] = &m->markers[j->link.marker[0][k]];
    p[k] = pose_at(l, &m->bodies[marker[k]->body], at);
  }
  for (int i = 0; i < j->rows * (nv + 1); i++) {
    rows[i] = zero;
  }
  for (int r = 0; r < j->rows && !l->failed; r++) {
    const saltusi_term* term = &m->rows[j->row + r].term[0];
    const int minus = saltusi_line_number(l, -1.0), plus = saltusi_line_number(l, 1.0);
    int G[2][3] = {{zero, zero, minus}, {zero, zero, plus}};
    if (term->kind == SALTUSI_TERM_ALONG) {
      along(l, marker, p, term->i, G);
    }
    for (int k = 0; k < 6; k++) {
      const int v = m->bodies[marker[k / 3]->body].v;
      if (v >= 0) {
        const int part = saltusi_line_mul(l, saltusi_line_number(l, term->weight), G[k / 3][k % 3]);
        rows[r * (nv + 1) + v + k % 3] = saltusi_line_add(l, zero, part);
      }
    }
  }
}

/* ---- forces ---- */

/* Value of the actuator of a force. */
static int actuator(saltusi_line_graph* l, const saltusi_force_along* f,
                    const saltusi_line_state* at) {
  const saltus_signal* s = &f->actuator.given;
  int out[3];
  if (!f->actuated || s->evaluate == NULL) {
    return saltusi_line_number(l, f->actuated ? s->value : 0.0);
  }
  saltusi_line_program(l, saltusi_formula_signal_values(s->self), at, out);
  return out[0];
}

/* actuator - k (value - rest) - d rate of a force along an angle. */
static int force_along(saltusi_line_graph* l, const saltus_mechanism* m,
                       const saltusi_force_along* f, const saltusi_line_state* at) {
  const saltusi_term* term = &f->row->term[0];
  int force = actuator(l, f, at), angle[2], rate = saltusi_line_number(l, 0.0);
  for (int k = 0; k < 2; k++) {
    const saltusi_marker* marker = &m->markers[f->link->marker[0][k]];
    const saltusi_body* body = &m->bodies[marker->body];
    const pose_lines p = pose_at(l, body, at);
    angle[k] = saltusi_line_add(l, p.angle, saltusi_line_number(l, marker->angle));
    if (body->v >= 0) {
      const int G = saltusi_line_number(l, k == 0 ? -term->weight : term->weight);
      rate = saltusi_line_add(l, rate, saltusi_line_mul(l, G, at->v[body->v + 2]));
    }
  }
  if (f->stiffness != 0.0) {
    const int turned = saltusi_line_mul(l, saltusi_line_number(l, term->weight),
                                        saltusi_line_sub(l, angle[1], angle[0]));
    const int value = saltusi_line_add(l, saltusi_line_number(l, -f->row->offset), turned);
    const int stretch = saltusi_line_sub(l, value, saltusi_line_number(l, f->rest));
    force = saltusi_line_sub(l, force,
                             saltusi_line_mul(l, saltusi_line_number(l, f->stiffness), stretch));
  }
  if (f->damping != 0.0) {
    force =
        saltusi_line_sub(l, force, saltusi_line_mul(l, saltusi_line_number(l, f->damping), rate));
  }
  return force;
}

void saltusi_body_lines_force(saltusi_line_graph* l, const saltus_mechanism* m,
                              const saltusi_line_state* at, int* F) {
  assert(l != NULL && m->plane && at != NULL && F != NULL);
  for (int i = 0; i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    for (int k = 0; k < 3; k++) {
      F[body->v + k] = saltusi_line_number(l, k < 2 ? body->mass * m->gravity[k] : 0.0);
    }
  }
  for (int i = 0; i < m->force_count && !l->failed; i++) {
    const saltusi_force_along* f = &m->forces[i];
    const int force = force_along(l, m, f, at);
    for (int k = 0; k < 2; k++) {
      const int v = m->bodies[m->markers[f->link->marker[0][k]].body].v;
      const double G = k == 0 ? -f->row->term[0].weight : f->row->term[0].weight;
      if (v >= 0) {
        F[v + 2] =
            saltusi_line_add(l, F[v + 2], saltusi_line_mul(l, force, saltusi_line_number(l, G)));
      }
    }
  }
}

void saltusi_body_lines_matrix(saltusi_line_graph* l, const saltus_mechanism* m, double fv,
                               double fq, int* A) {
  assert(l != NULL && m->plane && A != NULL);
  const int nv = m->system.dims.nv;
  for (int i = 0; i < nv * nv; i++) {
    A[i] = saltusi_line_number(l, 0.0);
  }
  for (int i = 0; i < m->free_count; i++) {
    const saltusi_body* body = &m->bodies[m->free_bodies[i]];
    for (int k = 0; k < 3; k++) {
      A[(body->v + k) * (nv + 1)] = saltusi_line_number(l, k < 2 ? body->mass : body->I[8]);
    }
  }
  for (int i = 0; i < m->force_count; i++) { /* straight: without curvature */
    const saltusi_force_along* f = &m->forces[i];
    const double stiff = fv * f->damping + fq * f->stiffness, weight = f->row->term[0].weight;
    for (int k = 0; k < 2 && stiff != 0.0; k++) {
      const int v = m->bodies[m->markers[f->link->marker[0][k]].body].v;
      if (v >= 0) {
        int* own = &A[(v + 2) * (nv + 1)];
        *own = saltusi_line_add(l, *own, saltusi_line_number(l, -stiff * weight * weight));
      }
    }
  }
}
