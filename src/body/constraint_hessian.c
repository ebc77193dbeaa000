/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * constraint_hessian.c - second derivatives of joints: K = d(G P)/dq and U_q = d(G^T v + b)/dq, along velocities.
 *
 * L_k is the derivative along the k-th velocity of a body. Those about body axes do not commute,
 *
 *   d(G_l v_l)/dq_k = v_l L_k L_l g = (d/dt G)_k + (w x G_w)_k        w, G_w: about the axes of the body of k
 *
 * which gives U_q by the rates of terms.c, and K by those along each velocity. Both are written out for
 * joints that fix a point, the most common ones. With C = R_b^T R_a, y the point in the body a, u its velocity
 * against the centre of a in those axes:
 *
 *   (p_b - p_a) . a_i    U_q:  -R_a (w_a x s_i)  |  s_i x u + (w_a x s_i) x y
 *                               R_a (w_a x s_i)  |  r_b x C (w_a x s_i) + (w_b x r_b) x C s_i
 *   a_i . b_j            U_q:   0  |  s_i x C^T (w_b x s_j) + (w_a x s_i) x C^T s_j
 *                               0  |  s_j x C (w_a x s_i) + (w_b x s_j) x C s_i
 *
 * Their K couples no bodies on the null space of the rows: the force f is constant in world axes for any rotation of the
 * marker axes, and p_b - p_a = 0. With f and the torque t in body axes, both as they act on b,
 *
 *   K_bb = f r_b^T - (r_b . f) 1 + T_b,      K_aa = -(f r_a^T - (r_a . f) 1) - T_a
 *   T w = -w x t where rows fix all three angles,   -(e . w) e x t where the one about e is free
 */
#include "body/constraint_hessian.h"

#include <assert.h>
#include <string.h>

enum { WIDTH_MOST = 24 };

/* Rows of a point joint that follow those of the point. */
typedef enum holding { NO_POINT, POINT, HINGE, LOCKED } holding;

static holding holding_of(const saltus_mechanism* m, const saltusi_joint* j) {
  const int point = m->plane ? 2 : 3;
  if (j->type == SALTUS_JOINT_FIXED) {
    return LOCKED;
  }
  if (j->type == SALTUS_JOINT_SPHERICAL) {
    return POINT;
  }
  if (j->type != SALTUS_JOINT_REVOLUTE) {
    return NO_POINT;
  }
  return j->rows == point + (m->plane ? 0 : 2) ? HINGE : LOCKED; /* driven */
}

/* ---- general rows, by their rates ---- */

static void any_velocity(const saltus_mechanism* m, const saltusi_link* link,
                         const saltusi_term* term, const saltusi_end end[4],
                         const saltusi_end_motion motion[4], double* U_q) {
  const int first = 2 * term->link;
  double G[12], dG[12];
  saltusi_term_gradient(term, end + first, G);
  saltusi_term_gradient_rate(term, end + first, motion + first, dG);
  for (int k = 0; k < 2; k++) {
    const int place = link->place[term->link][k];
    double across[3];
    saltusi_cross(motion[first + k].body.w, G + 6 * k + 3, across);
    for (int i = 0; i < 3; i++) {
      dG[6 * k + 3 + i] += across[i];
    }
    if (place >= 0) {
      saltusi_put_six(m, dG + 6 * k, term->weight, U_q + place);
    }
  }
}

/* Column of K along entry c (0..5) of the body at position `place`. */
static void any_column(const saltus_mechanism* m, const saltusi_joint* j, const saltusi_end end[4],
                       int place, int c, const double* P, double column[WIDTH_MOST]) {
  saltusi_end_motion along[4];
  memset(along, 0, sizeof along);
  memset(column, 0, WIDTH_MOST * sizeof(double));
  for (int k = 0; k < 2 * j->link.links; k++) {
    if (j->link.place[k / 2][k % 2] == place) {
      saltusi_body_motion* body = &along[k].body;
      *(c < 3 ? &body->v[c] : &body->w[c - 3]) = 1.0;
      saltusi_end_move(&end[k], &along[k]);
    }
  }
  for (int r = 0; r < j->rows; r++) {
    const saltusi_joint_row* row = &m->rows[j->row + r];
    for (int i = 0; i < row->terms; i++) {
      const saltusi_term* term = &row->term[i];
      const int first = 2 * term->link;
      double dG[12];
      saltusi_term_gradient_rate(term, end + first, along + first, dG);
      for (int k = 0; k < 2; k++) {
        const int to = j->link.place[term->link][k];
        if (to >= 0) {
          saltusi_put_six(m, dG + 6 * k, P[r] * term->weight, column + to);
        }
      }
    }
  }
}

static void any_stiffness(const saltus_mechanism* m, const saltusi_joint* j,
                          const saltusi_end end[4], const double* P, double* K) {
  static const int plane[3] = {0, 1, 5};
  const int size = m->plane ? 3 : 6, width = j->link.width;
  for (int place = 0; place < width; place += size) {
    for (int c = 0; c < size; c++) {
      double column[WIDTH_MOST];
      any_column(m, j, end, place, m->plane ? plane[c] : c, P, column);
      for (int i = 0; i < width; i++) {
        K[i * width + place + c] = column[i];
      }
    }
  }
}

/* ---- point joints ---- */

/* Common data of the rows: a and b are the bodies, s_i the axes of the marker on a, s_j those of the one on b. */
typedef struct held {
  const saltusi_marker *a, *b;
  saltusi_pose at_a, at_b;
  saltusi_body_motion by_a, by_b;
  double C[9];
  double y[3], u[3], rb[3];            /* u: m/s; rb: w_b x r_b */
  double turned[3][3], turned_b[3][3]; /* w_a x s_i in a and in b */
  double si_b[3][3];                   /* s_i in b */
  int j;                               /* the members below belong to this s_j; -1: none */
  double swung[3], swung_a[3];         /* w_b x s_j in b and in a */
  double sj_a[3];                      /* s_j in a */
} held;

static void hold(const saltus_mechanism* m, const saltusi_joint* joint, const saltus_point* at,
                 held* h) {
  h->a = &m->markers[joint->link.marker[0][0]];
  h->b = &m->markers[joint->link.marker[0][1]];
  h->j = -1;
  saltusi_pose_at(m, h->a->body, at->t, at->q, &h->at_a);
  saltusi_pose_at(m, h->b->body, at->t, at->q, &h->at_b);
  saltusi_motion_at(m, h->a->body, at->t, at->v, &h->by_a);
  saltusi_motion_at(m, h->b->body, at->t, at->v, &h->by_b);
  double d[3], moved[3];
  saltusi_seen_from(&h->at_a, &h->at_b, h->b->r, h->C, h->y);
  saltusi_cross(h->by_b.w, h->b->r, h->rb);
  saltusi_turn_back(h->C, h->rb, moved);
  saltusi_minus3(h->by_b.v, h->by_a.v, d);
  saltusi_turn_back(h->at_a.R, d, h->u);
  for (int k = 0; k < 3; k++) {
    h->u[k] += moved[k];
    saltusi_cross(h->by_a.w, h->a->axis[k], h->turned[k]);
    saltusi_turn(h->C, h->turned[k], h->turned_b[k]);
    saltusi_turn(h->C, h->a->axis[k], h->si_b[k]);
  }
}

/* x1 x y1 + x2 x y2 */
static inline void two_crosses(const double x1[3], const double y1[3], const double x2[3],
                               const double y2[3], double out[3]) {
  double first[3], second[3];
  saltusi_cross(x1, y1, first);
  saltusi_cross(x2, y2, second);
  for (int k = 0; k < 3; k++) {
    out[k] = first[k] + second[k];
  }
}

static void held_velocity(held* h, const saltusi_term* term, double U_q[12]) {
  const int i = term->i;
  const double *si = h->a->axis[i], *sj = h->b->axis[term->j];
  if (term->kind == SALTUSI_TERM_ALONG) {
    double dn[3];
    saltusi_turn(h->at_a.R, h->turned[i], dn);
    for (int k = 0; k < 3; k++) {
      U_q[k] = -dn[k];
      U_q[6 + k] = dn[k];
    }
    two_crosses(si, h->u, h->turned[i], h->y, U_q + 3);
    two_crosses(h->b->r, h->turned_b[i], h->rb, h->si_b[i], U_q + 9);
    return;
  }
  if (h->j != term->j) {
    saltusi_cross(h->by_b.w, sj, h->swung);
    saltusi_turn_back(h->C, h->swung, h->swung_a);
    saltusi_turn_back(h->C, sj, h->sj_a);
    h->j = term->j;
  }
  memset(U_q, 0, 12 * sizeof(double));
  two_crosses(si, h->swung_a, h->turned[i], h->sj_a, U_q + 3);
  two_crosses(sj, h->turned_b[i], h->swung, h->si_b[i], U_q + 9);
}

/* Force and torque on a body, in its axes, times the sign. */
typedef struct wrench {
  double f[3], t[3];
  double sign;
} wrench;

/* sign (f r^T - (r . f) 1 + T) into the rows and columns of the angles of a body. */
static void held_stiffness(const saltus_mechanism* m, const saltusi_marker* marker,
                           const wrench* by, holding kind, double* K, int width) {
  const double *r = marker->r, *f = by->f, *t = by->t;
  const double sign = by->sign;
  const double along = saltusi_dot3(r, f);
  if (m->plane) { /* third row and column of the block; T has no part in them */
    K[2 * width + 2] -= sign * along;
    return;
  }
  const double* e = marker->axis[2];
  double across[3];
  saltusi_cross(e, t, across);
  for (int i = 0; i < 3; i++) {
    double* row = K + (3 + i) * width + 3;
    for (int k = 0; k < 3; k++) {
      row[k] += sign * (f[i] * r[k] - (i == k ? along : 0.0));
      row[k] -= kind == HINGE ? sign * across[i] * e[k] : 0.0;
    }
    if (kind == LOCKED) { /* -w x t = [t]x w */
      row[(i + 1) % 3] -= sign * t[(i + 2) % 3];
      row[(i + 2) % 3] += sign * t[(i + 1) % 3];
    }
  }
}

static void hold_stiff(const saltus_mechanism* m, const saltusi_joint* j, const held* h,
                       holding kind, const double* P, double* K) {
  const int point = m->plane ? 2 : 3, width = j->link.width;
  wrench on_a = {.sign = -1.0}, on_b = {.sign = 1.0};
  for (int r = 0; r < point; r++) {
    saltusi_along(P[r], h->a->axis[r], on_a.f, on_a.f);
  }
  saltusi_turn(h->C, on_a.f, on_b.f);
  for (int r = point; !m->plane && r < j->rows; r++) {
    const saltusi_term* term = &m->rows[j->row + r].term[0];
    const double* sj = h->b->axis[term->j];
    double own[3];
    if (term->kind == SALTUSI_TERM_DOT) {
      saltusi_cross(sj, h->si_b[term->i], own);
    } else { /* the angle of a drive */
      memcpy(own, h->b->axis[2], sizeof own);
    }
    saltusi_along(P[r] * term->weight, own, on_b.t, on_b.t);
  }
  saltusi_turn_back(h->C, on_b.t, on_a.t);
  const int a = j->link.place[0][0], b = j->link.place[0][1];
  if (a >= 0) {
    held_stiffness(m, h->a, &on_a, kind, K + a * width + a, width);
  }
  if (b >= 0) {
    held_stiffness(m, h->b, &on_b, kind, K + b * width + b, width);
  }
}

/* ---- all ---- */

/* Rows from `first` on by their rates. */
static void rows_by_rates(const saltus_mechanism* m, const saltusi_joint* j, const saltus_point* at,
                          const saltusi_end end[4], int first, double* U_q) {
  saltusi_end_motion motion[4];
  for (int k = 0; k < 2 * j->link.links; k++) {
    saltusi_motion_at(m, end[k].marker->body, at->t, at->v, &motion[k].body);
    saltusi_end_move(&end[k], &motion[k]);
  }
  for (int r = first; r < j->rows; r++) {
    const saltusi_joint_row* row = &m->rows[j->row + r];
    for (int i = 0; i < row->terms; i++) {
      any_velocity(m, &j->link, &row->term[i], end, motion,
                   U_q + (size_t)r * (size_t)j->link.width);
    }
  }
}

/* Number of rows of points and directions, which come first. */
static int held_rows(const saltus_mechanism* m, const saltusi_joint* j, held* h, double* U_q) {
  int r = 0;
  for (; r < j->rows; r++) {
    const saltusi_term* term = &m->rows[j->row + r].term[0];
    if (term->kind != SALTUSI_TERM_ALONG && term->kind != SALTUSI_TERM_DOT) {
      break;
    }
    double part[12];
    held_velocity(h, term, part);
    for (int k = 0; k < 2; k++) {
      if (j->link.place[0][k] >= 0) {
        saltusi_put_six(m, part + 6 * k, term->weight,
                        U_q + (size_t)r * (size_t)j->link.width + j->link.place[0][k]);
      }
    }
  }
  return r;
}

bool saltusi_mechanism_joint_hessian(const void* self, const saltus_point* at, int joint,
                                     const double* P, double* K, double* U_q) {
  const saltus_mechanism* m = self;
  assert(m != NULL && joint >= 0 && joint < m->joint_count);
  const saltusi_joint* j = &m->joints[joint];
  const holding kind = holding_of(m, j);
  if (K == NULL && U_q == NULL) {
    return kind == NO_POINT;
  }
  int done = 0;
  if (kind != NO_POINT) {
    held h;
    hold(m, j, at, &h);
    hold_stiff(m, j, &h, kind, P, K);
    done = held_rows(m, j, &h, U_q);
  }
  if (done < j->rows) {
    saltusi_end end[4];
    saltusi_link_ends(m, &j->link, at->t, at->q, NULL, end);
    if (kind == NO_POINT) {
      any_stiffness(m, j, end, P, K);
    }
    rows_by_rates(m, j, at, end, done, U_q);
  }
  return kind == NO_POINT;
}
