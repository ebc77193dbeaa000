/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * terms.c - see terms.h. A marker at r with axes s_k in the axes of its body:
 *
 *   p = x + R r          p' = v + R (w x r)         n . p' = n . v + w . (r x R^T n)
 *   e_k = R s_k          e_k' = R (w x s_k)         n . e_k' = w . (s_k x R^T n)
 *   (R^T n)' = R^T n' - w x R^T n
 *
 * The angle of b_x about a_z, c = a_x . b_x and s = a_y . b_x:
 *
 *   angle' = (c s' - s c') / (c^2 + s^2) = n . b_x' + (m_a)' . b_x,      n = (c a_y - s a_x) / (c^2 + s^2)
 */
#include "body/terms.h"

#include <assert.h>
#include <string.h>

/* Origin and axes from the given pose. */
static void place(const saltusi_marker* marker, saltusi_end* end) {
  end->marker = marker;
  saltusi_turn(end->pose.R, marker->r, end->p);
  for (int k = 0; k < 3; k++) {
    end->p[k] += end->pose.x[k];
    saltusi_turn(end->pose.R, marker->axis[k], end->axis[k]);
  }
  end->angle = end->pose.angle + marker->angle;
}

void saltusi_end_of(const saltus_mechanism* m, int marker, const saltusi_pose* pose,
                    saltusi_end* end) {
  assert(m != NULL && pose != NULL && end != NULL);
  end->pose = *pose;
  place(&m->markers[marker], end);
}

void saltusi_end_at(const saltus_mechanism* m, int marker, double t, const double* q,
                    saltusi_end* end) {
  assert(m != NULL && q != NULL && end != NULL);
  saltusi_pose_at(m, m->markers[marker].body, t, q, &end->pose);
  place(&m->markers[marker], end);
}

void saltusi_end_move(const saltusi_end* end, saltusi_end_motion* motion) {
  assert(end != NULL && end->marker != NULL && motion != NULL);
  double inside[3];
  const double* w = motion->body.w;
  saltusi_cross(w, end->marker->r, inside);
  saltusi_turn(end->pose.R, inside, motion->p);
  for (int k = 0; k < 3; k++) {
    motion->p[k] += motion->body.v[k];
    saltusi_cross(w, end->marker->axis[k], inside);
    saltusi_turn(end->pose.R, inside, motion->axis[k]);
  }
}

/* Cosine and sine of the angle, up to a common factor. */
static void direction(const saltusi_end* a, const saltusi_end* b, double* c, double* s) {
  *c = saltusi_dot3(a->axis[0], b->axis[0]);
  *s = saltusi_dot3(a->axis[1], b->axis[0]);
}

double saltusi_angle_between(const saltusi_end* a, const saltusi_end* b) {
  assert(a != NULL && b != NULL);
  double c, s;
  direction(a, b, &c, &s);
  return atan2(s, c);
}

double saltusi_term_value(const saltusi_term* term, const saltusi_end end[2], const double* q) {
  assert(term != NULL && end != NULL && (q != NULL || term->q < 0));
  const saltusi_end *a = &end[0], *b = &end[1];
  double d[3];
  saltusi_minus3(b->p, a->p, d);
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    return saltusi_dot3(d, a->axis[term->i]);
  case SALTUSI_TERM_WORLD:
    return d[term->i];
  case SALTUSI_TERM_DOT:
    return saltusi_dot3(a->axis[term->i], b->axis[term->j]);
  case SALTUSI_TERM_DISTANCE:
    return sqrt(saltusi_dot3(d, d));
  case SALTUSI_TERM_ANGLE:
    return term->q >= 0 ? q[term->q] : saltusi_angle_between(a, b);
  case SALTUSI_TERM_PLANE:
    return b->angle - a->angle;
  }
  return NAN;
}

/* Force n on the origin of an end: G += sign (n; r x R^T n). */
static void push(const saltusi_end* end, const double n[3], double sign, double G[6]) {
  double inside[3], moment[3];
  saltusi_turn_back(end->pose.R, n, inside);
  saltusi_cross(end->marker->r, inside, moment);
  for (int k = 0; k < 3; k++) {
    G[k] = sign * n[k];
    G[3 + k] = sign * moment[k];
  }
}

/* Its rate, n' = dn: R^T n changes by R^T dn - w x R^T n. */
static void push_rate(const saltusi_end* end, const saltusi_end_motion* motion, const double n[3],
                      const double dn[3], double sign, double dG[6]) {
  double inside[3], turned[3], change[3], moment[3];
  saltusi_turn_back(end->pose.R, n, inside);
  saltusi_cross(motion->body.w, inside, turned);
  saltusi_turn_back(end->pose.R, dn, change);
  saltusi_minus3(change, turned, change);
  saltusi_cross(end->marker->r, change, moment);
  for (int k = 0; k < 3; k++) {
    dG[k] = sign * dn[k];
    dG[3 + k] = sign * moment[k];
  }
}

/* n . (a vector s fixed in the body)': G = s x R^T n. */
static void twist(const saltusi_end* end, const double s[3], const double n[3], double G[3]) {
  double inside[3];
  saltusi_turn_back(end->pose.R, n, inside);
  saltusi_cross(s, inside, G);
}

static void twist_rate(const saltusi_end* end, const saltusi_end_motion* motion, const double s[3],
                       const double n[3], const double dn[3], double dG[3]) {
  double inside[3], turned[3], change[3];
  saltusi_turn_back(end->pose.R, n, inside);
  saltusi_cross(motion->body.w, inside, turned);
  saltusi_turn_back(end->pose.R, dn, change);
  saltusi_minus3(change, turned, change);
  saltusi_cross(s, change, dG);
}

/* ---- along an axis of the first end: y is the second origin in axes of its body ---- */

static void along_gradient(const saltusi_term* term, const saltusi_end end[2], double G[12]) {
  const saltusi_end* a = &end[0];
  const double* n = a->axis[term->i];
  double d[3], y[3];
  saltusi_minus3(end[1].p, a->pose.x, d);
  saltusi_turn_back(a->pose.R, d, y);
  saltusi_cross(a->marker->axis[term->i], y, G + 3);
  for (int k = 0; k < 3; k++) {
    G[k] = -n[k];
  }
  push(&end[1], n, 1.0, G + 6);
}

static void along_rate(const saltusi_term* term, const saltusi_end end[2],
                       const saltusi_end_motion motion[2], double dG[12]) {
  const saltusi_end* a = &end[0];
  const double* n = a->axis[term->i];
  const double* dn = motion[0].axis[term->i];
  double d[3], y[3], dy[3], turned[3];
  saltusi_minus3(end[1].p, a->pose.x, d);
  saltusi_turn_back(a->pose.R, d, y);
  saltusi_cross(motion[0].body.w, y, turned);
  saltusi_minus3(motion[1].p, motion[0].body.v, d);
  saltusi_turn_back(a->pose.R, d, dy);
  saltusi_minus3(dy, turned, dy);
  saltusi_cross(a->marker->axis[term->i], dy, dG + 3);
  for (int k = 0; k < 3; k++) {
    dG[k] = -dn[k];
  }
  push_rate(&end[1], &motion[1], n, dn, 1.0, dG + 6);
}

/* ---- the angle about z ---- */

/* n in the world, m the same in the body of the first end: (c y - s x) / (c^2 + s^2). */
typedef struct swing {
  double c, s, part;
  double n[3], m[3];
} swing;

static swing swing_at(const saltusi_end end[2]) {
  swing w;
  const saltusi_end* a = &end[0];
  direction(a, &end[1], &w.c, &w.s);
  w.part = 1.0 / (w.c * w.c + w.s * w.s);
  for (int k = 0; k < 3; k++) {
    w.n[k] = w.part * (w.c * a->axis[1][k] - w.s * a->axis[0][k]);
    w.m[k] = w.part * (w.c * a->marker->axis[1][k] - w.s * a->marker->axis[0][k]);
  }
  return w;
}

static void angle_gradient(const saltusi_end end[2], double G[12]) {
  const swing w = swing_at(end);
  memset(G, 0, 12 * sizeof(double));
  twist(&end[0], w.m, end[1].axis[0], G + 3);
  twist(&end[1], end[1].marker->axis[0], w.n, G + 9);
}

static void angle_rate(const saltusi_end end[2], const saltusi_end_motion motion[2],
                       double dG[12]) {
  const swing w = swing_at(end);
  const saltusi_end *a = &end[0], *b = &end[1];
  const double(*da)[3] = motion[0].axis;
  const double* db = motion[1].axis[0];
  const double dc = saltusi_dot3(da[0], b->axis[0]) + saltusi_dot3(a->axis[0], db);
  const double ds = saltusi_dot3(da[1], b->axis[0]) + saltusi_dot3(a->axis[1], db);
  const double shrink = -2.0 * w.part * (w.c * dc + w.s * ds);
  double dn[3], dm[3], first[3], second[3];
  for (int k = 0; k < 3; k++) {
    dn[k] = w.part * (dc * a->axis[1][k] + w.c * da[1][k] - ds * a->axis[0][k] - w.s * da[0][k]) +
            shrink * w.n[k];
    dm[k] = w.part * (dc * a->marker->axis[1][k] - ds * a->marker->axis[0][k]) + shrink * w.m[k];
  }
  memset(dG, 0, 12 * sizeof(double));
  twist(a, dm, b->axis[0], first);
  twist_rate(a, &motion[0], w.m, b->axis[0], db, second);
  for (int k = 0; k < 3; k++) {
    dG[3 + k] = first[k] + second[k];
  }
  twist_rate(b, &motion[1], b->marker->axis[0], w.n, dn, dG + 9);
}

/* ---- all ---- */

static const double unit[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
static const double nothing[3] = {0.0, 0.0, 0.0};

/* The direction from the first origin to the second, and their distance. */
static double towards(const saltusi_end end[2], double u[3]) {
  saltusi_minus3(end[1].p, end[0].p, u);
  const double length = sqrt(saltusi_dot3(u, u));
  for (int k = 0; k < 3; k++) {
    u[k] /= length;
  }
  return length;
}

void saltusi_term_gradient(const saltusi_term* term, const saltusi_end end[2], double G[12]) {
  assert(term != NULL && end != NULL && G != NULL);
  double u[3];
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    along_gradient(term, end, G);
    return;
  case SALTUSI_TERM_WORLD:
    push(&end[0], unit[term->i], -1.0, G);
    push(&end[1], unit[term->i], 1.0, G + 6);
    return;
  case SALTUSI_TERM_DOT:
    memset(G, 0, 12 * sizeof(double));
    twist(&end[0], end[0].marker->axis[term->i], end[1].axis[term->j], G + 3);
    twist(&end[1], end[1].marker->axis[term->j], end[0].axis[term->i], G + 9);
    return;
  case SALTUSI_TERM_DISTANCE:
    (void)towards(end, u);
    push(&end[0], u, -1.0, G);
    push(&end[1], u, 1.0, G + 6);
    return;
  case SALTUSI_TERM_ANGLE:
    angle_gradient(end, G);
    return;
  case SALTUSI_TERM_PLANE:
    memset(G, 0, 12 * sizeof(double));
    G[5] = -1.0;
    G[11] = 1.0;
    return;
  }
}

void saltusi_term_gradient_rate(const saltusi_term* term, const saltusi_end end[2],
                                const saltusi_end_motion motion[2], double dG[12]) {
  assert(term != NULL && end != NULL && motion != NULL && dG != NULL);
  const saltusi_end *a = &end[0], *b = &end[1];
  double u[3], du[3];
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    along_rate(term, end, motion, dG);
    return;
  case SALTUSI_TERM_WORLD:
    push_rate(a, &motion[0], unit[term->i], nothing, -1.0, dG);
    push_rate(b, &motion[1], unit[term->i], nothing, 1.0, dG + 6);
    return;
  case SALTUSI_TERM_DOT:
    memset(dG, 0, 12 * sizeof(double));
    twist_rate(a, &motion[0], a->marker->axis[term->i], b->axis[term->j], motion[1].axis[term->j],
               dG + 3);
    twist_rate(b, &motion[1], b->marker->axis[term->j], a->axis[term->i], motion[0].axis[term->i],
               dG + 9);
    return;
  case SALTUSI_TERM_DISTANCE: {
    const double length = towards(end, u);
    saltusi_minus3(motion[1].p, motion[0].p, du);
    const double stretch = saltusi_dot3(u, du);
    for (int k = 0; k < 3; k++) {
      du[k] = (du[k] - stretch * u[k]) / length;
    }
    push_rate(a, &motion[0], u, du, -1.0, dG);
    push_rate(b, &motion[1], u, du, 1.0, dG + 6);
    return;
  }
  case SALTUSI_TERM_ANGLE:
    angle_rate(end, motion, dG);
    return;
  case SALTUSI_TERM_PLANE:
    memset(dG, 0, 12 * sizeof(double));
    return;
  }
}
