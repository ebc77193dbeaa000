/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * taylor.c - see taylor.h. Formulas of pose.c in interval Taylor arithmetic.
 *
 * Poses of driven bodies come from `along` of their signals. The rate of a signal is taken from its Taylor
 * coefficients in t, one order higher, which requires t to be affine along the segment, as it is in a step.
 */
#include "body/taylor.h"

#include <assert.h>

/* ---- signals ---- */

void saltusi_segment_signal(const saltusi_motion_segment* p, const saltusi_signal* s,
                            saltusi_taylor* to) {
  assert(p != NULL && s != NULL && to != NULL && s->input < p->m->input_count);
  if (s->given.evaluate == NULL) {
    saltusi_taylor_set(p, to, s->input >= 0 ? p->m->inputs[s->input] : s->given.value);
    return;
  }
  saltus_interval c[ORDERS];
  s->given.along(s->given.self, p->order, p->course->t, c);
  saltusi_taylor_set_given(p, to, c);
}

/* ds/dt: (k + 1) s_(k+1) (dt)^k, with t = t_0 + dt x over the segment. */
static void signal_rate(const saltusi_motion_segment* p, const saltusi_signal* s,
                        saltusi_taylor* to) {
  saltusi_taylor_set(p, to, 0.0);
  if (s->given.evaluate == NULL) {
    return;
  }
  saltus_interval t[ORDERS] = {{0.0, 0.0}}, c[ORDERS], rate[ORDERS];
  const saltusi_jet time = saltusi_jet_given(p->course->t, p->order);
  const int order = p->order < SALTUS_JET_ORDER ? p->order + 1 : p->order;
  t[0] = p->course->t[0];
  t[1] = saltusi_exactly(1.0);
  s->given.along(s->given.self, order, t, c);
  saltus_interval power = saltusi_exactly(1.0);
  for (int k = 0; k <= p->order; k++) {
    const bool known = k + 1 <= order && time.extent.degree <= 1;
    rate[k] = known ? saltusi_matrix_free(saltusi_scaled((double)(k + 1), c[k + 1]), power)
                    : saltusi_everything;
    power = p->order > 0 ? saltusi_matrix_free(power, p->course->t[1]) : power;
  }
  saltusi_taylor_set_given(p, to, rate);
}

/* ---- poses ---- */

void saltusi_segment_coordinate(const saltusi_motion_segment* p, int i, saltusi_taylor* to) {
  assert(p != NULL && to != NULL && i >= 0 && i < p->m->system.dims.nq);
  saltusi_taylor_set_given(p, to, p->course->q + (size_t)i * (size_t)p->stride);
}

void saltusi_segment_velocity(const saltusi_motion_segment* p, int i, saltusi_taylor* to) {
  assert(p != NULL && to != NULL && i >= 0 && i < p->m->system.dims.nv);
  saltusi_taylor_set_given(p, to, p->course->v + (size_t)i * (size_t)p->stride);
}

static void plane_matrix(const saltusi_motion_segment* p, const saltusi_taylor* angle,
                         saltusi_taylor9* R) {
  for (int k = 0; k < 9; k++) {
    saltusi_taylor_set(p, &R->k[k], k == 8 ? 1.0 : 0.0);
  }
  saltusi_taylor_apply(p, &R->k[0], SALTUSI_COS, angle);
  saltusi_taylor_apply(p, &R->k[3], SALTUSI_SIN, angle);
  R->k[4] = R->k[0];
  R->k[1] = R->k[3];
  saltusi_taylor_scale(p, &R->k[1], -1.0);
}

/* As saltusi_quaternion_matrix. */
static void space_matrix(const saltusi_motion_segment* p, int q, saltusi_taylor9* R) {
  saltusi_taylor u[4], square, twice, uu[4][4];
  saltusi_taylor_set(p, &square, 0.0);
  for (int i = 0; i < 4; i++) {
    saltusi_segment_coordinate(p, q + i, &u[i]);
    saltusi_taylor_add_product(p, &square, &u[i], &u[i], 1);
  }
  saltusi_taylor_set(p, &twice, 2.0);
  saltusi_taylor_divide(p, &twice, &square);
  for (int i = 0; i < 4; i++) {
    for (int j = i; j < 4; j++) {
      uu[i][j] = twice;
      saltusi_taylor_multiply(p, &uu[i][j], &u[i]);
      saltusi_taylor_multiply(p, &uu[i][j], &u[j]);
    }
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const int low = j < k ? j : k, high = j < k ? k : j;
    saltusi_taylor_set(p, &R->k[4 * i], 1.0);
    saltusi_taylor_subtract(p, &R->k[4 * i], &uu[j + 1][j + 1]);
    saltusi_taylor_subtract(p, &R->k[4 * i], &uu[k + 1][k + 1]);
    /* R[k][j] = u_j u_k + w u_i, R[j][k] = u_j u_k - w u_i for i, j, k in cyclic order */
    R->k[3 * k + j] = R->k[3 * j + k] = uu[low + 1][high + 1];
    saltusi_taylor_add(p, &R->k[3 * k + j], &uu[0][i + 1]);
    saltusi_taylor_subtract(p, &R->k[3 * j + k], &uu[0][i + 1]);
  }
}

static void fixed_pose(const saltusi_motion_segment* p, const saltusi_body* body,
                       saltusi_body_segment* at) {
  saltusi_taylor3_set(p, &at->x, body->pose.x);
  for (int k = 0; k < 9; k++) {
    saltusi_taylor_set(p, &at->R.k[k], body->pose.R[k]);
  }
  saltusi_taylor_set(p, &at->angle, body->pose.angle);
  saltusi_taylor3_set(p, &at->v, (double[3]){0.0, 0.0, 0.0});
  saltusi_taylor3_set(p, &at->w, (double[3]){0.0, 0.0, 0.0});
}

/* R (about an axis of the world) R */
static void turn_about(const saltusi_motion_segment* p, int axis, const saltusi_taylor* angle,
                       saltusi_taylor9* R) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  saltusi_taylor c, s;
  saltusi_taylor_apply(p, &c, SALTUSI_COS, angle);
  saltusi_taylor_apply(p, &s, SALTUSI_SIN, angle);
  for (int k = 0; k < 3; k++) {
    const saltusi_taylor x = R->k[3 * i + k], y = R->k[3 * j + k];
    saltusi_taylor_set(p, &R->k[3 * i + k], 0.0);
    saltusi_taylor_add_product(p, &R->k[3 * i + k], &c, &x, 1);
    saltusi_taylor_add_product(p, &R->k[3 * i + k], &s, &y, -1);
    saltusi_taylor_set(p, &R->k[3 * j + k], 0.0);
    saltusi_taylor_add_product(p, &R->k[3 * j + k], &s, &x, 1);
    saltusi_taylor_add_product(p, &R->k[3 * j + k], &c, &y, 1);
  }
}

/* Rodrigues: R = c I + s [n]x + (1 - c) n n^T, times the present matrix. */
static void turn_about_axis(const saltusi_motion_segment* p, const double n[3],
                            const saltusi_taylor* angle, saltusi_taylor9* R) {
  saltusi_taylor c, s, rest;
  saltusi_taylor9 by;
  const saltusi_taylor9 old = *R;
  saltusi_taylor_apply(p, &c, SALTUSI_COS, angle);
  saltusi_taylor_apply(p, &s, SALTUSI_SIN, angle);
  saltusi_taylor_set(p, &rest, 1.0);
  saltusi_taylor_subtract(p, &rest, &c);
  const double skew[9] = {0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0};
  for (int k = 0; k < 9; k++) {
    saltusi_taylor_set(p, &by.k[k], 0.0);
    saltusi_taylor_add_scaled(p, &by.k[k], &c, k % 4 == 0 ? 1.0 : 0.0);
    saltusi_taylor_add_scaled(p, &by.k[k], &s, skew[k]);
    saltusi_taylor_add_scaled(p, &by.k[k], &rest, n[k / 3] * n[k % 3]);
  }
  for (int k = 0; k < 9; k++) {
    saltusi_taylor_set(p, &R->k[k], 0.0);
    for (int i = 0; i < 3; i++) {
      saltusi_taylor_add_product(p, &R->k[k], &by.k[3 * (k / 3) + i], &old.k[3 * i + k % 3], 1);
    }
  }
}

/* Angular velocity in world axes, as in pose.c. */
static void driven_spin(const saltusi_motion_segment* p, const saltusi_body* body,
                        const saltusi_taylor angle[3], saltusi_taylor3* w) {
  saltusi_taylor rate[3];
  for (int k = 0; k < 3; k++) {
    signal_rate(p, &body->rotation[k], &rate[k]);
    saltusi_taylor_set(p, &w->k[k], 0.0);
  }
  if (saltusi_dot3(body->axis, body->axis) > 0.0) {
    for (int k = 0; k < 3; k++) {
      saltusi_taylor_add_scaled(p, &w->k[k], &rate[0], body->axis[k]);
    }
    return;
  }
  saltusi_taylor9 R;
  for (int k = 0; k < 9; k++) {
    saltusi_taylor_set(p, &R.k[k], k % 4 == 0 ? 1.0 : 0.0);
  }
  turn_about(p, 2, &angle[2], &R);
  for (int k = 0; k < 3; k++) { /* y turned by yaw */
    saltusi_taylor_add_product(p, &w->k[k], &rate[1], &R.k[3 * k + 1], 1);
  }
  saltusi_taylor_add(p, &w->k[2], &rate[2]);
  for (int k = 0; k < 9; k++) {
    saltusi_taylor_set(p, &R.k[k], k % 4 == 0 ? 1.0 : 0.0);
  }
  turn_about(p, 1, &angle[1], &R);
  turn_about(p, 2, &angle[2], &R);
  for (int k = 0; k < 3; k++) { /* x rotated by pitch and yaw */
    saltusi_taylor_add_product(p, &w->k[k], &rate[0], &R.k[3 * k], 1);
  }
}

static void driven_pose(const saltusi_motion_segment* p, const saltusi_body* body, bool moves,
                        saltusi_body_segment* at) {
  saltusi_taylor angle[3];
  fixed_pose(p, body, at);
  for (int k = 0; k < 3; k++) {
    saltusi_segment_signal(p, &body->position[k], &at->x.k[k]);
    saltusi_segment_signal(p, &body->rotation[k], &angle[k]);
  }
  saltusi_taylor_add(p, &at->angle, &angle[0]);
  if (saltusi_dot3(body->axis, body->axis) > 0.0) {
    turn_about_axis(p, body->axis, &angle[0], &at->R);
  } else {
    for (int k = 0; k < 3; k++) {
      turn_about(p, k, &angle[k], &at->R);
    }
  }
  if (moves) {
    saltusi_taylor3 w;
    for (int k = 0; k < 3; k++) {
      signal_rate(p, &body->position[k], &at->v.k[k]);
    }
    driven_spin(p, body, angle, &w);
    saltusi_taylor3_turn_back(p, &at->R, &w, &at->w);
  }
}

/* Without `axes` R is not needed. */
static void pose_along(const saltusi_motion_segment* p, int body, bool axes, bool moves,
                       saltusi_body_segment* at) {
  const saltusi_body* b = &p->m->bodies[body];
  if (b->kind == SALTUS_BODY_DRIVEN) {
    driven_pose(p, b, moves, at);
    return;
  }
  fixed_pose(p, b, at);
  if (b->kind == SALTUS_BODY_FIXED) {
    return;
  }
  for (int k = 0; k < (p->m->plane ? 2 : 3); k++) {
    saltusi_segment_coordinate(p, b->q + k, &at->x.k[k]);
    if (moves) {
      saltusi_segment_velocity(p, b->v + k, &at->v.k[k]);
    }
  }
  if (p->m->plane) {
    saltusi_segment_coordinate(p, b->q + 2, &at->angle);
  }
  if (axes && p->m->plane) {
    plane_matrix(p, &at->angle, &at->R);
  } else if (axes) {
    space_matrix(p, b->q + 3, &at->R);
  }
  for (int k = p->m->plane ? 2 : 0; moves && k < 3; k++) {
    saltusi_segment_velocity(p, b->v + (p->m->plane ? 2 : 3 + k), &at->w.k[k]);
  }
}

void saltusi_segment_pose(const saltusi_motion_segment* p, int body, saltusi_body_segment* at) {
  assert(p != NULL && at != NULL);
  pose_along(p, body, true, false, at);
}

/* ---- ends ---- */

/* R x and R (w x x) of a vector in body axes; zero components are skipped. */
static void carry(const saltusi_motion_segment* p, const saltusi_body_segment* body,
                  const double x[3], bool moves, saltusi_taylor3* to, saltusi_taylor3* rate) {
  for (int i = 0; i < 3; i++) {
    saltusi_taylor_set(p, &to->k[i], 0.0);
    for (int j = 0; j < 3; j++) {
      saltusi_taylor_add_scaled(p, &to->k[i], &body->R.k[3 * i + j], x[j]);
    }
  }
  if (moves) {
    saltusi_taylor3 turned;
    for (int k = 0; k < 3; k++) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      saltusi_taylor_set(p, &turned.k[k], 0.0);
      saltusi_taylor_add_scaled(p, &turned.k[k], &body->w.k[i], x[j]);
      saltusi_taylor_add_scaled(p, &turned.k[k], &body->w.k[j], -x[i]);
    }
    saltusi_taylor3_turn(p, &body->R, &turned, rate);
  }
}

/* Data used by rows: bits of axes, and of the origin. */
enum { ORIGIN = 8 };

static unsigned needs_of(const saltusi_joint_row* row, int end) {
  unsigned needs = 0;
  for (int i = 0; i < row->terms; i++) {
    const saltusi_term* term = &row->term[i];
    if (term->link != end / 2) {
      continue;
    }
    const bool first = end % 2 == 0;
    switch (term->kind) {
    case SALTUSI_TERM_ALONG:
      needs |= ORIGIN | (first ? 1U << (unsigned)term->i : 0U);
      break;
    case SALTUSI_TERM_WORLD:
    case SALTUSI_TERM_DISTANCE:
      needs |= ORIGIN;
      break;
    case SALTUSI_TERM_DOT:
      needs |= 1U << (unsigned)(first ? term->i : term->j);
      break;
    case SALTUSI_TERM_ANGLE:
      needs |= first ? 3U : 1U;
      break;
    case SALTUSI_TERM_PLANE:
      break;
    }
  }
  return needs;
}

static void end_along(const saltusi_motion_segment* p, int marker, unsigned needs, bool moves,
                      saltusi_end_segment* end) {
  end->marker = &p->m->markers[marker];
  pose_along(p, end->marker->body, needs != 0, moves, &end->body);
  if ((needs & ORIGIN) != 0) {
    carry(p, &end->body, end->marker->r, moves, &end->p, &end->dp);
    saltusi_taylor3_add(p, &end->p, &end->body.x);
    if (moves) {
      saltusi_taylor3_add(p, &end->dp, &end->body.v);
    }
  }
  for (unsigned k = 0; k < 3; k++) {
    if ((needs & 1U << k) != 0) {
      carry(p, &end->body, end->marker->axis[k], moves, &end->axis[k], &end->daxis[k]);
    }
  }
}

void saltusi_segment_ends(const saltusi_motion_segment* p, const saltusi_link* link,
                          const saltusi_joint_row* row, bool moves, saltusi_end_segment end[4]) {
  assert(p != NULL && link != NULL && row != NULL && end != NULL);
  for (int k = 0; k < 2 * link->links; k++) {
    end_along(p, link->marker[k / 2][k % 2], needs_of(row, k), moves, &end[k]);
  }
}
