/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * positions.c - q' = N(q) v in joint coordinates.
 *
 * q has the poses of all bodies. A step takes the coordinates of joints out of them, advances these, and places the bodies
 * from the root on:
 *
 *   angle, position     x + h v
 *   planar              d in the axes of the first marker, and the quaternion about z
 *   ball                p exp(h w / 2), p of the body in its parent, w in the axes of the marker of the body
 *   universal           R = R_x(first angle) R_y(second angle)
 *
 * Quaternions keep their sign, also where an angle without a branch passes pi: positions are continuous.
 */
#include "tree/kinematic_tree.h"

#include <assert.h>
#include <math.h>

static const double revolution = 6.283185307179586476925;

/* Pose of a body: x, quaternion, and in the plane its angle. */
typedef struct placed {
  double x[3], p[4], angle;
} placed;

/* Relative pose of the markers of a joint: d in the axes of the first. */
typedef struct relative {
  double d[3], p[4], angle;
} relative;

/* ---- poses ---- */

static void pose_of(const saltus_tree* tree, const double* q, placed* out) {
  memset(out, 0, sizeof *out);
  if (tree->plane) {
    memcpy(out->x, q, 2 * sizeof *q);
    out->angle = q[2];
    return;
  }
  memcpy(out->x, q, 3 * sizeof *q);
  memcpy(out->p, q + 3, 4 * sizeof *q);
}

static void parent_pose(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                        placed* out) {
  if (l->parent >= 0) {
    pose_of(tree, q + tree->link[l->parent].q, out);
    return;
  }
  memcpy(out->x, l->still, sizeof out->x);
  memcpy(out->p, l->still + 3, sizeof out->p);
  out->angle = l->still_angle;
}

static void turn_by(const saltus_tree* tree, const placed* a, const double x[3], double out[3]) {
  if (x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0) {
    memset(out, 0, 3 * sizeof *out);
    return;
  }
  if (tree->plane) {
    const double c = cos(a->angle), s = sin(a->angle);
    out[0] = c * x[0] - s * x[1];
    out[1] = s * x[0] + c * x[1];
    out[2] = 0.0;
    return;
  }
  double R[9];
  saltusi_quaternion_matrix(a->p, R);
  saltusi_turn(R, x, out);
}

static void turn_back_by(const saltus_tree* tree, const placed* a, const double x[3],
                         double out[3]) {
  placed back = *a;
  back.angle = -a->angle;
  for (int k = 1; k < 4; k++) {
    back.p[k] = -a->p[k];
  }
  turn_by(tree, &back, x, out);
}

/* Pose of marker `which` of the joint on a body. */
static void marker_on(const saltus_tree* tree, const saltusi_tree_link* l, int which,
                      const placed* body, placed* out) {
  const saltusi_marker* m = &tree->mechanism->markers[l->marker[which]];
  double arm[3];
  turn_by(tree, body, m->r, arm);
  saltusi_along(1.0, body->x, arm, out->x);
  saltusi_quaternion_product(body->p, l->quaternion[which], out->p);
  out->angle = body->angle + m->angle;
}

/* Pose of the body of marker `which`. */
static void body_under(const saltus_tree* tree, const saltusi_tree_link* l, int which,
                       const placed* marker, placed* out) {
  const saltusi_marker* m = &tree->mechanism->markers[l->marker[which]];
  const double* p = l->quaternion[which];
  const double back[4] = {p[0], -p[1], -p[2], -p[3]};
  double arm[3];
  saltusi_quaternion_product(marker->p, back, out->p);
  saltusi_quaternion_normalise(out->p);
  out->angle = marker->angle - m->angle;
  turn_by(tree, out, m->r, arm);
  saltusi_minus3(marker->x, arm, out->x);
}

/* ---- relative poses ---- */

static void relative_of(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                        relative* out) {
  placed own, parent, end[2];
  double d[3];
  pose_of(tree, q + l->q, &own);
  parent_pose(tree, l, q, &parent);
  marker_on(tree, l, l->child, &own, &end[l->child]);
  marker_on(tree, l, 1 - l->child, &parent, &end[1 - l->child]);
  const double back[4] = {end[0].p[0], -end[0].p[1], -end[0].p[2], -end[0].p[3]};
  saltusi_quaternion_product(back, end[1].p, out->p);
  saltusi_minus3(end[1].x, end[0].x, d);
  turn_back_by(tree, &end[0], d, out->d);
  out->angle = end[1].angle - end[0].angle;
}

static void half_turn(double angle, int axis, double p[4]) {
  memset(p, 0, 4 * sizeof *p);
  p[0] = cos(0.5 * angle);
  p[1 + axis] = sin(0.5 * angle);
}

/* R = R_x(angle[0]) R_y(angle[1]) */
static void universal_angles(const double p[4], double angle[2]) {
  double R[9];
  saltusi_quaternion_matrix(p, R);
  angle[0] = atan2(R[7], R[4]);
  angle[1] = atan2(R[2], R[0]);
}

static void universal_quaternion(const double angle[2], double p[4]) {
  double second[4];
  half_turn(angle[0], 0, p);
  half_turn(angle[1], 1, second);
  saltusi_quaternion_product(p, second, p);
}

/* -1 where the quaternion of the angles is opposite. */
static double universal_sign(const double angle[2], const double p[4]) {
  double by[4];
  universal_quaternion(angle, by);
  return by[0] * p[0] + by[1] * p[1] + by[2] * p[2] + by[3] * p[3] < 0.0 ? -1.0 : 1.0;
}

static double angle_about_z(const double p[4]) {
  const double angle = 2.0 * atan2(p[3], p[0]);
  return angle - revolution * nearbyint(angle / revolution);
}

/* Quaternion of the body in its parent, in the axes of both markers. */
static void child_quaternion(const saltusi_tree_link* l, const double p[4], double out[4]) {
  const double sign = l->child == 1 ? 1.0 : -1.0;
  out[0] = p[0];
  for (int k = 1; k < 4; k++) {
    out[k] = sign * p[k];
  }
}

/* ---- coordinates of a joint: up to 4, unwrapped angles in their slots ---- */

/* The angle of a joint about z. */
static double angle_of(const saltus_tree* tree, const saltusi_tree_link* l, const relative* r,
                       const double* q) {
  return tree->plane ? r->angle : l->slot >= 0 ? q[l->slot] : angle_about_z(r->p);
}

static void coordinates_of(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                           double c[4]) {
  relative r;
  if (l->slot >= 0 && l->type != SALTUS_JOINT_CYLINDRICAL) { /* of a hinge or a screw */
    c[0] = q[l->slot];
    return;
  }
  if (l->type == SALTUS_JOINT_FIXED) {
    return;
  }
  relative_of(tree, l, q, &r);
  switch (l->type) {
  case SALTUS_JOINT_REVOLUTE:
  case SALTUS_JOINT_SCREW:
    c[0] = angle_of(tree, l, &r, q);
    break;
  case SALTUS_JOINT_PRISMATIC:
    c[0] = r.d[tree->plane ? 0 : 2];
    break;
  case SALTUS_JOINT_CYLINDRICAL:
    c[0] = angle_of(tree, l, &r, q);
    c[1] = r.d[2];
    break;
  case SALTUS_JOINT_SPHERICAL:
    child_quaternion(l, r.p, c);
    break;
  case SALTUS_JOINT_UNIVERSAL:
    universal_angles(r.p, c);
    c[2] = universal_sign(c, r.p);
    break;
  case SALTUS_JOINT_PLANAR:
    memcpy(c, r.d, 2 * sizeof *c);
    c[2] = r.p[0];
    c[3] = r.p[3];
    break;
  default:
    break;
  }
}

/* Relative pose from the coordinates. */
static void relative_from(const saltus_tree* tree, const saltusi_tree_link* l, const double c[4],
                          relative* r) {
  *r = (relative){.p = {1.0, 0.0, 0.0, 0.0}, .angle = l->turns};
  switch (l->type) {
  case SALTUS_JOINT_REVOLUTE:
    r->angle = c[0];
    half_turn(c[0], 2, r->p);
    break;
  case SALTUS_JOINT_SCREW:
    half_turn(c[0], 2, r->p);
    r->d[2] = tree->axis[l->axis].pitch * c[0];
    break;
  case SALTUS_JOINT_PRISMATIC:
    r->d[tree->plane ? 0 : 2] = c[0];
    break;
  case SALTUS_JOINT_CYLINDRICAL:
    half_turn(c[0], 2, r->p);
    r->d[2] = c[1];
    break;
  case SALTUS_JOINT_SPHERICAL:
    child_quaternion(l, c, r->p);
    break;
  case SALTUS_JOINT_UNIVERSAL:
    universal_quaternion(c, r->p);
    for (int k = 0; k < 4; k++) {
      r->p[k] *= c[2];
    }
    break;
  case SALTUS_JOINT_PLANAR:
    memcpy(r->d, c, 2 * sizeof *c);
    r->p[0] = c[2];
    r->p[3] = c[3];
    saltusi_quaternion_normalise(r->p);
    break;
  default:
    break;
  }
}

/* Places a body in q from the pose of its parent there. */
static void place(const saltus_tree* tree, const saltusi_tree_link* l, const double c[4],
                  double* q) {
  relative r;
  placed parent, end[2], own;
  double arm[3];
  relative_from(tree, l, c, &r);
  parent_pose(tree, l, q, &parent);
  const int child = l->child;
  marker_on(tree, l, 1 - child, &parent, &end[1 - child]);
  if (child == 1) {
    turn_by(tree, &end[0], r.d, arm);
    saltusi_along(1.0, end[0].x, arm, end[1].x);
    saltusi_quaternion_product(end[0].p, r.p, end[1].p);
    end[1].angle = end[0].angle + r.angle;
  } else {
    const double back[4] = {r.p[0], -r.p[1], -r.p[2], -r.p[3]};
    saltusi_quaternion_product(end[1].p, back, end[0].p);
    end[0].angle = end[1].angle - r.angle;
    turn_by(tree, &end[0], r.d, arm);
    saltusi_minus3(end[1].x, arm, end[0].x);
  }
  body_under(tree, l, child, &end[child], &own);
  double* x = q + l->q;
  memcpy(x, own.x, (tree->plane ? 2 : 3) * sizeof *x);
  if (tree->plane) {
    x[2] = own.angle;
  } else {
    memcpy(x + 3, own.p, sizeof own.p);
  }
  if (l->slot >= 0) {
    q[l->slot] = c[0];
  }
}

double saltusi_tree_coordinate(const saltus_tree* tree, const saltusi_tree_link* link, bool angle,
                               const double* q) {
  assert(tree != NULL && link != NULL && link->joint >= 0);
  if (angle && link->slot >= 0) {
    return q[link->slot];
  }
  relative r;
  relative_of(tree, link, q, &r);
  return angle ? angle_of(tree, link, &r, q) : r.d[tree->plane ? 0 : 2];
}

/* ---- advance and difference ---- */

/* Rates of the coordinates of a joint in the order of coordinates_of. */
static void rates_of(const saltus_tree* tree, const saltusi_tree_link* l, const double* v,
                     double rate[4]) {
  for (int k = 0; k < l->axes; k++) {
    const bool back = l->child == 0 && l->type != SALTUS_JOINT_SPHERICAL;
    rate[back ? l->axes - 1 - k : k] = v[l->axis + k];
  }
  (void)tree;
}

static void advance_coordinates(const saltus_tree* tree, const saltusi_tree_link* l,
                                const double* v, double h, double c[4]) {
  double rate[4] = {0.0};
  rates_of(tree, l, v, rate);
  const bool planar = l->type == SALTUS_JOINT_PLANAR;
  if (l->type != SALTUS_JOINT_SPHERICAL) {
    for (int k = 0; k < (planar ? 2 : l->axes); k++) {
      c[k] += h * rate[k];
    }
    if (planar) {
      const double w = c[2], z = c[3], cosine = cos(0.5 * h * rate[2]);
      const double sine = sin(0.5 * h * rate[2]);
      c[2] = w * cosine - z * sine;
      c[3] = z * cosine + w * sine;
    }
    return;
  }
  const double d[3] = {h * rate[0], h * rate[1], h * rate[2]};
  double by[4];
  saltusi_quaternion_exp(d, by);
  saltusi_quaternion_product(c, by, c);
  saltusi_quaternion_normalise(c);
}

static void advance_free(const saltus_tree* tree, const double* x, const double* v, double h,
                         double* y) {
  for (int k = 0; k < 3; k++) {
    y[k] = x[k] + h * v[k];
  }
  if (tree->plane) {
    return;
  }
  const double d[3] = {h * v[3], h * v[4], h * v[5]};
  double by[4];
  saltusi_quaternion_exp(d, by);
  saltusi_quaternion_product(x + 3, by, y + 3);
  saltusi_quaternion_normalise(y + 3);
}

/* Replaces the poses of bodies in q by the coordinates of their joints, from the leaves to the root. */
static void take_coordinates(const saltus_tree* tree, double* q) {
  for (int i = tree->links - 1; i >= 0; i--) {
    const saltusi_tree_link* l = &tree->link[i];
    if (l->joint >= 0) {
      double c[4] = {0.0};
      coordinates_of(tree, l, q, c);
      memcpy(q + l->q, c, (tree->plane ? 3 : 4) * sizeof *q);
    }
  }
}

/* Angles beside those of the joints in the trees: from the poses, nearest to the rate. */
static void unwrap_others(const saltus_tree* tree, double* q) {
  if (tree->unwraps) {
    tree->inner->ops->normalise(tree->inner->self, q);
  }
}

void saltusi_tree_advance(const void* self, const double* q, const double* v, double h,
                          double* q1) {
  const saltus_tree* tree = self;
  assert(tree != NULL && q != NULL && v != NULL && q1 != NULL && q1 != v);
  const int nq = tree->system.dims.nq;
  if (tree->unwraps) { /* predicted angles; the poses are replaced below */
    saltusi_tree_rate(self, q, v, q1);
    for (int k = 0; k < nq; k++) {
      q1[k] = q[k] + h * q1[k];
    }
  } else {
    memcpy(q1, q, (size_t)nq * sizeof *q);
  }
  for (int i = 0; i < tree->links && tree->unwraps; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    memcpy(q1 + l->q, q + l->q, (tree->plane ? 3 : 7) * sizeof *q);
    if (l->slot >= 0) {
      q1[l->slot] = q[l->slot];
    }
  }
  take_coordinates(tree, q1);
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    if (l->joint < 0) {
      advance_free(tree, q + l->q, v + l->axis, h, q1 + l->q);
      continue;
    }
    double c[4] = {0.0};
    memcpy(c, q1 + l->q, (tree->plane ? 3 : 4) * sizeof *c);
    advance_coordinates(tree, l, v, h, c);
    place(tree, l, c, q1);
  }
  unwrap_others(tree, q1);
}

void saltusi_tree_normalise(const void* self, double* q) {
  const saltus_tree* tree = self;
  assert(tree != NULL && q != NULL);
  take_coordinates(tree, q);
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    if (l->joint < 0) {
      if (!tree->plane) {
        saltusi_quaternion_normalise(q + l->q + 3);
      }
      continue;
    }
    double c[4] = {0.0};
    memcpy(c, q + l->q, (tree->plane ? 3 : 4) * sizeof *c);
    if (l->type == SALTUS_JOINT_SPHERICAL) {
      saltusi_quaternion_normalise(c);
    }
    place(tree, l, c, q);
  }
  unwrap_others(tree, q);
}

static double shortest(double angle) {
  return angle - revolution * nearbyint(angle / revolution);
}

static void joint_difference(const saltus_tree* tree, const saltusi_tree_link* l, const double* q0,
                             const double* q1, double* d) {
  double a[4] = {0.0}, b[4] = {0.0}, by[4];
  coordinates_of(tree, l, q0, a);
  coordinates_of(tree, l, q1, b);
  if (l->type == SALTUS_JOINT_SPHERICAL) {
    const double back[4] = {a[0], -a[1], -a[2], -a[3]};
    saltusi_quaternion_product(back, b, by);
    saltusi_quaternion_log(by, d + l->axis);
    return;
  }
  if (l->type == SALTUS_JOINT_PLANAR) { /* angles from their quaternions */
    a[2] = 2.0 * atan2(a[3], a[2]);
    b[2] = 2.0 * atan2(b[3], b[2]);
  }
  for (int k = 0; k < l->axes; k++) {
    const bool wraps =
        l->type == SALTUS_JOINT_UNIVERSAL || (l->type == SALTUS_JOINT_PLANAR && k == 2);
    const double way = wraps ? shortest(b[k] - a[k]) : b[k] - a[k];
    d[l->axis + (l->child == 1 ? k : l->axes - 1 - k)] = way;
  }
}

void saltusi_tree_difference(const void* self, const double* q0, const double* q1, double* d) {
  const saltus_tree* tree = self;
  assert(tree != NULL && q0 != NULL && q1 != NULL && d != NULL);
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    if (l->joint >= 0) {
      joint_difference(tree, l, q0, q1, d);
      continue;
    }
    saltusi_minus3(q1 + l->q, q0 + l->q, d + l->axis);
    if (!tree->plane) {
      const double *x = q0 + l->q + 3, back[4] = {x[0], -x[1], -x[2], -x[3]};
      double by[4];
      saltusi_quaternion_product(back, q1 + l->q + 3, by);
      saltusi_quaternion_log(by, d + l->axis + 3);
    }
  }
}

/* ---- rates ---- */

/* Velocity (w, v of the centre, world axes) of a body from that of its parent. */
static void velocity_of(const saltus_tree* tree, int link, const double* q, const double* v,
                        const double parent[6], double out[6]) {
  const saltusi_tree_link* l = &tree->link[link];
  saltusi_tree_pose own, before;
  double S[6][6], arm[3], moved[3];
  saltusi_tree_pose_of(tree, l, q, &own);
  saltusi_tree_parent_pose(tree, l, q, &before);
  saltusi_tree_screws(tree, l, &own, &before, own.x, S);
  saltusi_minus3(own.x, before.x, arm);
  saltusi_cross(parent, arm, moved);
  for (int k = 0; k < 3; k++) {
    out[k] = l->parent >= 0 ? parent[k] : 0.0;
    out[3 + k] = l->parent >= 0 ? parent[3 + k] + moved[k] : 0.0;
  }
  for (int j = 0; j < l->axes; j++) {
    for (int k = 0; k < 6; k++) {
      out[k] += S[j][k] * v[l->axis + j];
    }
  }
}

void saltusi_tree_expand(const saltus_tree* tree, const double* q, const double* v,
                         double* bodies) {
  assert(tree != NULL && q != NULL && v != NULL && bodies != NULL);
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link *l = &tree->link[i], *p = &tree->link[l->parent >= 0 ? l->parent : i];
    double V[6], before[6] = {0.0};
    saltusi_tree_pose pose;
    double* out = bodies + l->v;
    if (l->parent >= 0 && tree->plane) {
      before[2] = bodies[p->v + 2];
      memcpy(before + 3, bodies + p->v, 2 * sizeof *before);
    } else if (l->parent >= 0) {
      saltusi_tree_pose_of(tree, p, q, &pose);
      saltusi_turn(pose.R, bodies + p->v + 3, before);
      memcpy(before + 3, bodies + p->v, 3 * sizeof *before);
    }
    velocity_of(tree, i, q, v, before, V);
    saltusi_tree_pose_of(tree, l, q, &pose);
    memcpy(out, V + 3, (tree->plane ? 2 : 3) * sizeof *out);
    if (tree->plane) {
      out[2] = V[2];
    } else {
      saltusi_turn_back(pose.R, V, out + 3);
    }
  }
}

/* Angular velocity in body axes from p' = p (0, w) / 2. */
static void spin_of(const double p[4], const double dp[4], double w[3]) {
  const double back[4] = {p[0], -p[1], -p[2], -p[3]};
  double half[4];
  saltusi_quaternion_product(back, dp, half);
  const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
  for (int k = 0; k < 3; k++) {
    w[k] = 2.0 * half[k + 1] / square;
  }
}

/* The rate of the pose of the parent is in dq already. */
static void rate_of(const saltus_tree* tree, int link, const double* q, const double* v,
                    double* dq) {
  const saltusi_tree_link *l = &tree->link[link],
                          *p = &tree->link[l->parent >= 0 ? l->parent : link];
  double V[6], before[6] = {0.0}, w[3];
  saltusi_tree_pose pose;
  if (l->parent >= 0) {
    memcpy(before + 3, dq + p->q, (tree->plane ? 2 : 3) * sizeof *dq);
    before[2] = dq[p->q + 2];
    before[5] = tree->plane ? 0.0 : before[5];
    if (!tree->plane) {
      saltusi_tree_pose_of(tree, p, q, &pose);
      spin_of(q + p->q + 3, dq + p->q + 3, w);
      saltusi_turn(pose.R, w, before);
    }
  }
  velocity_of(tree, link, q, v, before, V);
  memcpy(dq + l->q, V + 3, (tree->plane ? 2 : 3) * sizeof *dq);
  if (tree->plane) {
    dq[l->q + 2] = V[2];
    return;
  }
  saltusi_tree_pose_of(tree, l, q, &pose);
  saltusi_turn_back(pose.R, V, w);
  const double half[4] = {0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]};
  saltusi_quaternion_product(q + l->q + 3, half, dq + l->q + 3);
}

void saltusi_tree_rate(const void* self, const double* q, const double* v, double* dq) {
  const saltus_tree* tree = self;
  assert(tree != NULL && q != NULL && v != NULL && dq != NULL && dq != v);
  if (tree->unwraps) {
    double bodies[SALTUSI_TREE_STACK];
    saltusi_tree_expand(tree, q, v, bodies);
    tree->inner->ops->rate(tree->inner->self, q, bodies, dq);
  }
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    rate_of(tree, i, q, v, dq);
    if (l->slot >= 0) {
      for (int j = l->axis; j < l->axis + l->axes; j++) {
        dq[l->slot] = tree->axis[j].kind != SALTUSI_AXIS_SLIDE ? v[j] : dq[l->slot];
      }
    }
  }
}

/* (1 - (a/2) cot(a/2)) / a^2 as a function of a^2; by its series for small angles. */
static double shortening(double square) {
  if (square < 1e-3) { /* the next term, square^4 / 4.8e7, is 2e-19 of the first there */
    return 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0));
  }
  const double half = 0.5 * sqrt(square);
  return (1.0 - half / tan(half)) / square;
}

void saltusi_tree_turn_momentum(const void* self, const double* d, const double* p, double* y) {
  const saltus_tree* tree = self;
  assert(tree != NULL && d != NULL && p != NULL && y != NULL && y != p);
  memcpy(y, p, (size_t)tree->axes * sizeof *y);
  for (int j = 0; j + 2 < tree->axes; j++) {
    if (tree->plane || tree->axis[j].first != j || tree->axis[j + 2].first != j) {
      continue;
    }
    double across[3];
    saltusi_cross(d + j, p + j, across);
    saltusi_cross(d + j, across, across);
    saltusi_along(shortening(saltusi_dot3(d + j, d + j)), across, p + j, y + j);
  }
}
