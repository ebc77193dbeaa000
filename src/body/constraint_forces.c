/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * constraint_forces.c - products G lambda and G^T v of all joints, without forming their rows.
 *
 * A joint that fixes a point: with C = R_b^T R_a, y the point of b in axes of the body a, u its velocity against the
 * centre of a in those axes, s the axes of markers and w angular velocities in body axes,
 *
 *   force      f = sum of P_i s_i in a;   -R_a f and f x y on a,   R_a f and r_b x C f on b
 *   torque     t = sum of P s_j x C s_i in b;   -C^T t on a,   t on b
 *   U          s_i . (u - w_a x y),   (s_j x C s_i) . (w_b - C w_a)
 *
 * All others by their rows.
 */
#include "body/constraint_hessian.h"

#include <assert.h>
#include <string.h>

enum { ROWS_MOST = 8, WIDTH_MOST = 24 };

/* Multipliers of a joint and the velocities of its rows. */
typedef struct action {
  const double* P;
  double* U;
} action;

static void act_by_rows(const saltus_mechanism* m, int joint, const saltus_point* at,
                        const action* by, double* F) {
  double G[ROWS_MOST * WIDTH_MOST] = {0.0}, b[ROWS_MOST] = {0.0};
  int column[WIDTH_MOST];
  saltus_rows rows = {.count = m->joints[joint].rows,
                      .width = WIDTH_MOST,
                      .stride = WIDTH_MOST,
                      .column = column,
                      .G = G,
                      .b = b};
  assert(rows.count <= ROWS_MOST);
  saltusi_mechanism_joint(m, at, joint, &rows);
  for (int r = 0; r < rows.count; r++) {
    const double* row = G + (size_t)r * WIDTH_MOST;
    double sum = 0.0;
    for (int k = 0; k < rows.width; k++) {
      F[column[k]] += by->P[r] * row[k];
      sum += row[k] * at->v[column[k]];
    }
    by->U[r] = sum + b[r];
  }
}

static const double rest[6] = {0.0};

/* x += sign y */
static void add3(double sign, const double y[3], double x[3]) {
  for (int k = 0; k < 3; k++) {
    x[k] += sign * y[k];
  }
}

/* The ends of a joint: poses, velocities and where forces go; NULL: not free. */
typedef struct held_end {
  const saltusi_pose* pose;
  const double* v; /* [6], or [3] in the plane */
  double* F;
} held_end;

static held_end end_of(const saltusi_hold* h, int k, const saltus_point* at,
                       const saltusi_pose* poses, double* F) {
  const int v = h->v[k];
  return (held_end){&poses[h->body[k]], v >= 0 ? at->v + v : rest, v >= 0 ? F + v : NULL};
}

static void act_in_plane(const saltusi_hold* h, const held_end* a, const held_end* b,
                         const action* by) {
  const double *Ra = a->pose->R, *Rb = b->pose->R, *r = h->r;
  const double rb[2] = {Rb[0] * r[0] + Rb[1] * r[1], Rb[3] * r[0] + Rb[4] * r[1]};
  const double d[2] = {b->pose->x[0] + rb[0] - a->pose->x[0],
                       b->pose->x[1] + rb[1] - a->pose->x[1]};
  /* position of the point of b relative to the coincident point of a */
  const double u[2] = {b->v[0] - b->v[2] * rb[1] - a->v[0] + a->v[2] * d[1],
                       b->v[1] + b->v[2] * rb[0] - a->v[1] - a->v[2] * d[0]};
  double f[2] = {0.0, 0.0};
  for (int i = 0; i < 2; i++) {
    const double* axis = h->axis[i];
    const double n[2] = {Ra[0] * axis[0] + Ra[1] * axis[1], Ra[3] * axis[0] + Ra[4] * axis[1]};
    by->U[i] = n[0] * u[0] + n[1] * u[1];
    f[0] += by->P[i] * n[0];
    f[1] += by->P[i] * n[1];
  }
  const bool locked = h->rows == 3;
  const double torque = locked ? h->weight[0] * by->P[2] : 0.0;
  if (locked) {
    by->U[2] = h->weight[0] * (b->v[2] - a->v[2]);
  }
  if (a->F != NULL) {
    a->F[0] -= f[0];
    a->F[1] -= f[1];
    a->F[2] += f[0] * d[1] - f[1] * d[0] - torque;
  }
  if (b->F != NULL) {
    b->F[0] += f[0];
    b->F[1] += f[1];
    b->F[2] += rb[0] * f[1] - rb[1] * f[0] + torque;
  }
}

static void act_in_space(const saltusi_hold* h, const held_end* a, const held_end* b,
                         const action* by) {
  const double *Ra = a->pose->R, *wa = a->v + 3, *wb = b->v + 3;
  double C[9], d[3], y[3], u[3], turned[3], back[3], w[3];
  saltusi_seen_from(a->pose, b->pose, h->r, C, y);
  saltusi_minus3(b->v, a->v, d);
  saltusi_turn_back(Ra, d, u);
  saltusi_cross(wb, h->r, turned);
  saltusi_turn_back(C, turned, back);
  add3(1.0, back, u);
  saltusi_cross(wa, y, turned);
  add3(-1.0, turned, u);
  double fa[3] = {0.0}, t[3] = {0.0}, fb[3], f[3], moment[3];
  for (int i = 0; i < 3; i++) {
    by->U[i] = saltusi_dot3(h->axis[i], u);
    add3(by->P[i], h->axis[i], fa);
  }
  saltusi_turn(C, wa, turned);
  saltusi_minus3(wb, turned, w);
  for (int r = 3; r < h->rows; r++) {
    saltusi_turn(C, h->axis[h->i[r - 3]], turned);
    saltusi_cross(h->other[r - 3], turned, moment);
    by->U[r] = h->weight[r - 3] * saltusi_dot3(moment, w);
    add3(h->weight[r - 3] * by->P[r], moment, t);
  }
  saltusi_turn(Ra, fa, f);
  if (a->F != NULL) {
    saltusi_cross(fa, y, moment);
    saltusi_turn_back(C, t, back);
    add3(-1.0, f, a->F);
    add3(1.0, moment, a->F + 3);
    add3(-1.0, back, a->F + 3);
  }
  if (b->F != NULL) {
    saltusi_turn(C, fa, fb);
    saltusi_cross(h->r, fb, moment);
    add3(1.0, f, b->F);
    add3(1.0, moment, b->F + 3);
    add3(1.0, t, b->F + 3);
  }
}

/* b is nonzero for driven bodies and drives. */
static bool is_plain(const saltus_mechanism* m, const saltusi_joint* j) {
  for (int k = 0; k < 2; k++) {
    if (m->bodies[m->markers[j->link.marker[0][k]].body].kind == SALTUS_BODY_DRIVEN) {
      return false;
    }
  }
  return j->driven[0] < 0 && j->driven[1] < 0 &&
         (j->type == SALTUS_JOINT_REVOLUTE || j->type == SALTUS_JOINT_FIXED ||
          j->type == SALTUS_JOINT_SPHERICAL);
}

void saltusi_hold_fill(const saltus_mechanism* m, int joint, saltusi_hold* hold) {
  assert(m != NULL && hold != NULL && joint >= 0 && joint < m->joint_count);
  const saltusi_joint* j = &m->joints[joint];
  *hold = (saltusi_hold){.row = j->row, .rows = j->rows, .plain = is_plain(m, j)};
  if (!hold->plain) {
    return;
  }
  const saltusi_marker* ends[2];
  for (int k = 0; k < 2; k++) {
    ends[k] = &m->markers[j->link.marker[0][k]];
    hold->body[k] = ends[k]->body;
    hold->v[k] = m->bodies[ends[k]->body].v;
  }
  memcpy(hold->r, ends[1]->r, sizeof hold->r);
  memcpy(hold->axis, ends[0]->axis, sizeof hold->axis);
  const int point = m->plane ? 2 : 3;
  for (int r = point; r < j->rows; r++) {
    const saltusi_term* term = &m->rows[j->row + r].term[0];
    hold->i[r - point] = term->i;
    hold->weight[r - point] = term->weight;
    memcpy(hold->other[r - point], ends[1]->axis[term->j], sizeof hold->other[0]);
  }
}

void saltusi_mechanism_joints_act(const void* self, const saltus_point* at, const double* P,
                                  double* F, double* U) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && P != NULL && F != NULL && U != NULL);
  saltusi_pose* poses = at->scratch;
  int known = 0; /* number of poses computed so far; those of a joint are computed just before it */
  for (int i = 0; i < m->joint_count; i++) {
    const saltusi_hold* h = &m->holds[i];
    const action by = {P + h->row, U + h->row};
    if (poses == NULL || !h->plain) {
      act_by_rows(m, i, at, &by, F);
      continue;
    }
    const int last = h->body[0] > h->body[1] ? h->body[0] : h->body[1];
    for (; known <= last; known++) {
      saltusi_pose_at(m, known, at->t, at->q, &poses[known]);
    }
    const held_end a = end_of(h, 0, at, poses, F);
    const held_end b = end_of(h, 1, at, poses, F);
    if (m->plane) {
      act_in_plane(h, &a, &b, &by);
    } else {
      act_in_space(h, &a, &b, &by);
    }
  }
}
