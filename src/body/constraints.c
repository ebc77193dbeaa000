/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * constraints.c - rows of joints and limits.
 *
 *   g = sum of weight x term - offset - s(t)
 *   b = G . (velocities of driven bodies) - s'
 *   c = G' . (velocities of all bodies) + G . (accelerations of driven bodies) - s''
 */
#include "body/constraints.h"

#include <assert.h>
#include <string.h>

static const double turn = 6.283185307179586476925;

void saltusi_link_ends(const saltus_mechanism* m, const saltusi_link* link, double t,
                       const double* q, const saltusi_pose* poses, saltusi_end end[4]) {
  assert(m != NULL && link != NULL && end != NULL);
  for (int k = 0; k < 2 * link->links; k++) {
    const int marker = link->marker[k / 2][k % 2];
    if (poses != NULL) {
      saltusi_end_of(m, marker, &poses[m->markers[marker].body], &end[k]);
    } else {
      saltusi_end_at(m, marker, t, q, &end[k]);
    }
  }
}

double saltusi_row_value(const saltus_mechanism* m, const saltusi_joint_row* row,
                         const saltusi_end end[4], double t, const double* q) {
  assert(m != NULL && row != NULL);
  double value = -row->offset;
  for (int i = 0; i < row->terms; i++) {
    const saltusi_term* term = &row->term[i];
    value += term->weight * saltusi_term_value(term, end + 2 * term->link, q);
  }
  if (row->has_target) {
    double target[3];
    saltusi_target_at(m, row, t, target);
    value -= target[0];
    /* an angle without a coordinate of its own is taken on the branch of its target */
    if (row->term[0].kind == SALTUSI_TERM_ANGLE && row->term[0].q < 0) {
      value -= turn * nearbyint(value / turn);
    }
  }
  /* a screw is such a joint: its row holds at every revolution */
  const saltusi_term* last = &row->term[row->terms - 1];
  if (row->terms == 2 && last->kind == SALTUSI_TERM_ANGLE && last->q < 0 &&
      last->link == row->term[0].link) {
    const double pitch = turn * last->weight;
    value -= pitch * nearbyint(value / pitch);
  }
  return value;
}

/* ---- G, b and c ---- */

/* Motions of the ends of a link, as requested. */
typedef struct motions {
  const saltusi_end* at;
  bool driven[4]; /* the body has a prescribed motion */
  saltusi_end_motion end[4];
} motions;

static void motions_at(const saltus_mechanism* m, const saltusi_link* link, const saltus_point* at,
                       const saltusi_end end[4], bool bends, motions* by) {
  by->at = end;
  for (int k = 0; k < 2 * link->links; k++) {
    const int body = end[k].marker->body;
    by->driven[k] = m->bodies[body].kind == SALTUS_BODY_DRIVEN;
    if (bends || by->driven[k]) {
      saltusi_motion_at(m, body, at->t, at->v, &by->end[k].body);
    }
    if (bends) {
      saltusi_end_move(&end[k], &by->end[k]);
    }
  }
}

static double six(const double G[6], const double v[3], const double w[3]) {
  return saltusi_dot3(G, v) + saltusi_dot3(G + 3, w);
}

/* One term of row r. */
static void add_term(const saltus_mechanism* m, const saltusi_link* link, const saltusi_term* term,
                     double weight, const motions* by, int r, saltus_rows* rows) {
  const int first = 2 * term->link;
  const saltusi_end* end = by->at;
  double G[12], dG[12];
  saltusi_term_gradient(term, end + first, G);
  if (rows->c != NULL) {
    saltusi_term_gradient_rate(term, end + first, by->end + first, dG);
  }
  for (int k = 0; k < 2; k++) {
    const int place = link->place[term->link][k];
    const saltusi_body_motion* motion = &by->end[first + k].body;
    if (place >= 0) {
      double* row = rows->G + (size_t)r * (size_t)rows->stride;
      saltusi_put_six(m, G + 6 * k, weight,
                      row + (rows->column != NULL ? place : link->column[place]));
    }
    if (by->driven[first + k]) {
      rows->b[r] += weight * six(G + 6 * k, motion->v, motion->w);
    }
    if (rows->c != NULL) {
      rows->c[r] += weight * six(dG + 6 * k, motion->v, motion->w);
      rows->c[r] += by->driven[first + k] ? weight * six(G + 6 * k, motion->a, motion->dw) : 0.0;
    }
  }
}

/* Positions of the columns of a link in the rows. */
static void set_columns(const saltusi_link* link, saltus_rows* rows) {
  if (rows->column != NULL) {
    rows->width = link->width;
    memcpy(rows->column, link->column, (size_t)link->width * sizeof(int));
  }
}

/* Fast path: rows of one term along or between axes in space, without c and without driven bodies. Common data of the
 * rows are computed once. */
typedef struct constraints_view {
  const saltusi_marker *a, *b;
  double C[9], y[3]; /* the second origin in the body of the first */
  double n[3][3];    /* axes of the first marker in the world, */
  double nb[3][3];   /* and in the body of the second */
  int first, second; /* positions of the bodies in the row; -1: none */
} constraints_view;

static void plain_row(const saltusi_term* term, const constraints_view* s, double* row) {
  const double *si = s->a->axis[term->i], *sj = s->b->axis[term->j];
  if (term->kind == SALTUSI_TERM_ALONG) {
    const double* n = s->n[term->i];
    for (int k = 0; k < 3 && s->first >= 0; k++) {
      row[s->first + k] = -n[k];
    }
    for (int k = 0; k < 3 && s->second >= 0; k++) {
      row[s->second + k] = n[k];
    }
    if (s->first >= 0) {
      saltusi_cross(si, s->y, row + s->first + 3);
    }
    if (s->second >= 0) {
      saltusi_cross(s->b->r, s->nb[term->i], row + s->second + 3);
    }
    return;
  }
  double side[3], inside[3];
  for (int k = 0; k < 3; k++) {
    side[k] = term->weight * sj[k];
  }
  if (s->first >= 0) {
    saltusi_turn_back(s->C, side, inside);
    saltusi_cross(si, inside, row + s->first + 3);
  }
  if (s->second >= 0) {
    saltusi_cross(side, s->nb[term->i], row + s->second + 3);
  }
}

static bool is_plain(const saltusi_joint_row* row) {
  return row->terms == 1 && !row->has_target &&
         (row->term[0].kind == SALTUSI_TERM_ALONG || row->term[0].kind == SALTUSI_TERM_DOT);
}

/* Returns how many of the first rows were computed. */
static int plain_rows(const saltus_mechanism* m, const saltusi_joint* j, const saltus_point* at,
                      saltus_rows* rows) {
  const saltusi_link* link = &j->link;
  constraints_view s = {.a = &m->markers[link->marker[0][0]], .b = &m->markers[link->marker[0][1]]};
  const bool driven = m->bodies[s.a->body].kind == SALTUS_BODY_DRIVEN ||
                      m->bodies[s.b->body].kind == SALTUS_BODY_DRIVEN;
  if (driven || rows->c != NULL || rows->column == NULL || link->links != 1) {
    return 0;
  }
  saltusi_pose a, b;
  saltusi_pose_at(m, s.a->body, at->t, at->q, &a);
  saltusi_pose_at(m, s.b->body, at->t, at->q, &b);
  saltusi_seen_from(&a, &b, s.b->r, s.C, s.y);
  s.first = link->place[0][0];
  s.second = link->place[0][1];
  for (int k = 0; k < 3; k++) {
    saltusi_turn(a.R, s.a->axis[k], s.n[k]);
    saltusi_turn(s.C, s.a->axis[k], s.nb[k]);
  }
  int r = 0;
  for (; r < rows->count && is_plain(&m->rows[j->row + r]); r++) {
    plain_row(&m->rows[j->row + r].term[0], &s, rows->G + (size_t)r * (size_t)rows->stride);
  }
  return r;
}

/* Fast path of the plane, with c: the operations of the terms without products by zero, bitwise identical. */
typedef struct plane_end {
  const saltusi_marker* marker;
  saltusi_pose pose;
  double p[2], dp[2], v[2], w; /* origin and its velocity; velocities of the body */
} plane_end;

static void plane_turn(const double R[9], const double x[2], double out[2]) {
  out[0] = R[0] * x[0] + R[1] * x[1];
  out[1] = R[3] * x[0] + R[4] * x[1];
}

static void plane_turn_back(const double R[9], const double x[2], double out[2]) {
  out[0] = R[0] * x[0] + R[3] * x[1];
  out[1] = R[1] * x[0] + R[4] * x[1];
}

static void plane_end_at(const saltus_mechanism* m, int marker, const saltus_point* at, bool bends,
                         plane_end* e) {
  e->marker = &m->markers[marker];
  const saltusi_body* body = &m->bodies[e->marker->body];
  const double* r = e->marker->r;
  saltusi_pose_at(m, e->marker->body, at->t, at->q, &e->pose);
  plane_turn(e->pose.R, r, e->p);
  e->p[0] += e->pose.x[0];
  e->p[1] += e->pose.x[1];
  const bool moves = bends && body->kind == SALTUS_BODY_FREE;
  e->v[0] = moves ? at->v[body->v] : 0.0;
  e->v[1] = moves ? at->v[body->v + 1] : 0.0;
  e->w = moves ? at->v[body->v + 2] : 0.0;
  const double inside[2] = {-(e->w * r[1]), e->w * r[0]};
  plane_turn(e->pose.R, inside, e->dp);
  e->dp[0] += e->v[0];
  e->dp[1] += e->v[1];
}

/* Force n on the origin of an end, and its rate for n' = dn. */
static void plane_push(const plane_end* e, const double n[2], const double dn[2], double G[3],
                       double dG[3]) {
  const double* r = e->marker->r;
  double inside[2], change[2];
  plane_turn_back(e->pose.R, n, inside);
  plane_turn_back(e->pose.R, dn, change);
  change[0] -= -(e->w * inside[1]);
  change[1] -= e->w * inside[0];
  memcpy(G, n, 2 * sizeof(double));
  memcpy(dG, dn, 2 * sizeof(double));
  G[2] = r[0] * inside[1] - r[1] * inside[0];
  dG[2] = r[0] * change[1] - r[1] * change[0];
}

/* G and its rate of both ends for a term along an axis of the first one. */
static void plane_along(const saltusi_term* term, const plane_end e[2], double G[2][3],
                        double dG[2][3]) {
  const plane_end* a = &e[0];
  const double* s = a->marker->axis[term->i];
  const double turned[2] = {-(a->w * s[1]), a->w * s[0]};
  const double d[2] = {e[1].p[0] - a->pose.x[0], e[1].p[1] - a->pose.x[1]};
  const double dd[2] = {e[1].dp[0] - a->v[0], e[1].dp[1] - a->v[1]};
  double n[2], dn[2], y[2], dy[2];
  plane_turn(a->pose.R, s, n);
  plane_turn(a->pose.R, turned, dn);
  plane_turn_back(a->pose.R, d, y);
  plane_turn_back(a->pose.R, dd, dy);
  dy[0] -= -(a->w * y[1]);
  dy[1] -= a->w * y[0];
  for (int k = 0; k < 2; k++) {
    G[0][k] = -n[k];
    dG[0][k] = -dn[k];
  }
  G[0][2] = s[0] * y[1] - s[1] * y[0];
  dG[0][2] = s[0] * dy[1] - s[1] * dy[0];
  plane_push(&e[1], n, dn, G[1], dG[1]);
}

static bool is_plane(const saltusi_joint_row* row) {
  const saltusi_term* t = &row->term[0];
  return row->terms == 1 && !row->has_target &&
         (t->kind == SALTUSI_TERM_PLANE || (t->kind == SALTUSI_TERM_ALONG && t->i < 2));
}

/* Returns how many of the first rows were computed. */
static int plane_rows(const saltus_mechanism* m, const saltusi_joint* j, const saltus_point* at,
                      saltus_rows* rows) {
  const saltusi_link* link = &j->link;
  plane_end e[2];
  bool free = m->plane && link->links == 1 && is_plane(&m->rows[j->row]);
  for (int k = 0; k < 2 && free; k++) {
    free = m->bodies[m->markers[link->marker[0][k]].body].kind != SALTUS_BODY_DRIVEN;
  }
  for (int k = 0; k < 2 && free; k++) {
    plane_end_at(m, link->marker[0][k], at, rows->c != NULL, &e[k]);
  }
  int r = 0;
  for (; free && r < rows->count && is_plane(&m->rows[j->row + r]); r++) {
    const saltusi_term* term = &m->rows[j->row + r].term[0];
    double G[2][3] = {{0.0, 0.0, -1.0}, {0.0, 0.0, 1.0}}, dG[2][3] = {{0.0}};
    if (term->kind == SALTUSI_TERM_ALONG) {
      plane_along(term, e, G, dG);
    }
    for (int k = 0; k < 2; k++) {
      const int place = link->place[0][k];
      double* row = rows->G + (size_t)r * (size_t)rows->stride +
                    (rows->column != NULL || place < 0 ? place : link->column[place]);
      for (int i = 0; i < 3 && place >= 0; i++) {
        row[i] += term->weight * G[k][i];
      }
      if (rows->c != NULL) {
        rows->c[r] +=
            term->weight * (dG[k][0] * e[k].v[0] + dG[k][1] * e[k].v[1] + dG[k][2] * e[k].w);
      }
    }
  }
  return r;
}

void saltusi_mechanism_joint(const void* self, const saltus_point* at, int joint,
                             saltus_rows* rows) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && rows != NULL && joint >= 0 && joint < m->joint_count);
  const saltusi_joint* j = &m->joints[joint];
  saltusi_end end[4];
  motions by;
  set_columns(&j->link, rows);
  const int done = m->plane ? plane_rows(m, j, at, rows) : plain_rows(m, j, at, rows);
  if (done == rows->count) {
    return;
  }
  saltusi_link_ends(m, &j->link, at->t, at->q, NULL, end);
  motions_at(m, &j->link, at, end, rows->c != NULL, &by);
  for (int r = done; r < rows->count; r++) {
    const saltusi_joint_row* row = &m->rows[j->row + r];
    for (int i = 0; i < row->terms; i++) {
      add_term(m, &j->link, &row->term[i], row->term[i].weight, &by, r, rows);
    }
    if (row->has_target) {
      double target[3];
      saltusi_target_at(m, row, at->t, target);
      rows->b[r] -= target[1];
      if (rows->c != NULL) {
        rows->c[r] -= target[2];
      }
    }
  }
}

/* Returns how many of the first rows were computed. */
static int plain_values(const saltus_mechanism* m, const saltusi_joint* j,
                        const saltusi_pose* poses, double* g) {
  if (m->plane || j->link.links != 1) {
    return 0;
  }
  const saltusi_marker *a = &m->markers[j->link.marker[0][0]],
                       *b = &m->markers[j->link.marker[0][1]];
  const saltusi_pose *at_a = &poses[a->body], *at_b = &poses[b->body];
  double C[9], y[3], d[3], sj_a[3];
  saltusi_seen_from(at_a, at_b, b->r, C, y);
  saltusi_minus3(y, a->r, d);
  int r = 0, last = -1;
  for (; r < j->rows && is_plain(&m->rows[j->row + r]); r++) {
    const saltusi_joint_row* row = &m->rows[j->row + r];
    const saltusi_term* term = &row->term[0];
    if (term->kind == SALTUSI_TERM_DOT && last != term->j) {
      saltusi_turn_back(C, b->axis[term->j], sj_a);
      last = term->j;
    }
    const double* by = term->kind == SALTUSI_TERM_ALONG ? d : sj_a;
    g[r] = term->weight * saltusi_dot3(a->axis[term->i], by) - row->offset;
  }
  return r;
}

void saltusi_mechanism_joints(const void* self, const saltus_point* at, double* g) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && g != NULL);
  saltusi_pose* poses = at->scratch;
  for (int i = 0; poses != NULL && i <= m->body_count; i++) {
    saltusi_pose_at(m, i, at->t, at->q, &poses[i]);
  }
  for (int i = 0; i < m->joint_count; i++) {
    const saltusi_joint* j = &m->joints[i];
    const int done = poses != NULL ? plain_values(m, j, poses, g + j->row) : 0;
    saltusi_end end[4];
    if (done < j->rows) {
      saltusi_link_ends(m, &j->link, at->t, at->q, poses, end);
    }
    for (int r = done; r < j->rows; r++) {
      g[j->row + r] = saltusi_row_value(m, &m->rows[j->row + r], end, at->t, at->q);
    }
  }
}

/* ---- limits ---- */

double saltusi_limit_gap(const saltus_mechanism* m, const saltus_point* at, int i) {
  assert(m != NULL && at != NULL && i >= 0 && i < m->limit_count);
  const saltusi_limit* limit = &m->limits[i];
  saltusi_end end[4];
  saltusi_link_ends(m, &m->joints[limit->joint].link, at->t, at->q, NULL, end);
  const double value = saltusi_row_value(m, limit->row, end, at->t, at->q);
  return limit->sign * (value - limit->at);
}

saltus_status saltusi_mechanism_contacts(const void* self, const saltus_point* at,
                                         saltus_contact_list* list) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && list != NULL);
  for (int i = 0; i < m->limit_count; i++) {
    list->gap[i] = saltusi_limit_gap(m, at, i);
  }
  return SALTUS_OK;
}

void saltusi_mechanism_contact(const void* self, const saltus_point* at, uint64_t identity,
                               saltus_rows* rows) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && rows != NULL && identity < (uint64_t)m->limit_count);
  const saltusi_limit* limit = &m->limits[identity];
  const saltusi_link* link = &m->joints[limit->joint].link;
  saltusi_end end[4];
  motions by;
  saltusi_link_ends(m, link, at->t, at->q, NULL, end);
  motions_at(m, link, at, end, rows->c != NULL, &by);
  set_columns(link, rows);
  for (int i = 0; i < limit->row->terms; i++) {
    const saltusi_term* term = &limit->row->term[i];
    add_term(m, link, term, limit->sign * term->weight, &by, 0, rows);
  }
}

void saltusi_mechanism_dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && rows != NULL && i >= 0 && i < m->dry_count);
  const saltusi_joint_friction* dry = &m->dries[i];
  const saltusi_link* link = &m->joints[dry->joint].link;
  saltusi_end end[4];
  motions by;
  saltusi_link_ends(m, link, at->t, at->q, NULL, end);
  motions_at(m, link, at, end, rows->c != NULL, &by);
  set_columns(link, rows);
  for (int k = 0; k < dry->row->terms; k++) {
    const saltusi_term* term = &dry->row->term[k];
    add_term(m, link, term, term->weight, &by, 0, rows);
  }
}

/* Angle relative to a driven body, on the branch of the rotations of both bodies. */
static double on_its_turn(const saltus_mechanism* m, const saltusi_link* link, int turned,
                          const saltus_point* at, double angle) {
  const int a = link->marker[0][0], b = link->marker[0][1];
  const bool first = m->bodies[m->markers[a].body].kind == SALTUS_BODY_DRIVEN;
  const double by_driven = saltusi_driven_turn(m, first ? a : b, at->t);
  const double near = at->q[turned] + (first ? -by_driven : by_driven);
  return angle + turn * nearbyint((near - angle) / turn);
}

void saltusi_row_motion(const saltus_mechanism* m, const saltusi_link* link,
                        const saltusi_joint_row* row, const saltus_point* at, double* value,
                        double* rate) {
  assert(m != NULL && link != NULL && row != NULL && at != NULL && value != NULL && rate != NULL);
  saltusi_end end[4];
  saltusi_link_ends(m, link, at->t, at->q, NULL, end);
  *value = saltusi_row_value(m, row, end, at->t, at->q);
  if (row->term[0].turned > 0) {
    *value = on_its_turn(m, link, row->term[0].turned, at, *value);
  }
  *rate = 0.0;
  for (int i = 0; i < row->terms; i++) {
    const saltusi_term* term = &row->term[i];
    double G[12];
    saltusi_term_gradient(term, end + 2 * term->link, G);
    for (int k = 0; k < 2; k++) {
      saltusi_body_motion motion;
      saltusi_motion_at(m, end[2 * term->link + k].marker->body, at->t, at->v, &motion);
      *rate += term->weight * six(G + 6 * k, motion.v, motion.w);
    }
  }
}
