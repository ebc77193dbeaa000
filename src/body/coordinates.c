/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * coordinates.c - kinematic map from velocities to positions.
 *
 *   quaternion   p' = p (0, w) / 2          p(h) = p exp(h w / 2), w constant in body axes
 *   angle        of the second marker about z of the first, on its present branch
 *
 * Angles in space are functions of the poses up to full revolutions, so they are not integrated: each new value is
 * computed from the poses on the nearest branch. Relative to a driven body, the coordinate is the integral of the
 * angular velocity of the free body about the joint axis. Together with the rotation of the driven body it selects the
 * branch of the angle.
 */
#include "body/mechanism.h"
#include "body/terms.h"

#include <assert.h>
#include <string.h>

static const double turn = 6.283185307179586476925;

/* The angle on the branch that is nearest to `near`. */
static double unwrap(double angle, double near) {
  return angle + turn * nearbyint((near - angle) / turn);
}

static double rate_of_angle(const saltus_mechanism* m, const saltusi_unwrapped* angle,
                            const double* q, const double* v) {
  saltusi_end end[2];
  for (int k = 0; k < 2; k++) {
    saltusi_end_at(m, angle->marker[k], 0.0, q, &end[k]);
  }
  double G[12];
  const saltusi_term term = {.kind = SALTUSI_TERM_ANGLE, .weight = 1.0};
  saltusi_term_gradient(&term, end, G);
  double rate = 0.0;
  for (int k = 0; k < 2; k++) {
    saltusi_body_motion motion;
    saltusi_motion_at(m, end[k].marker->body, 0.0, v, &motion);
    rate += saltusi_dot3(G + 6 * k + 3, motion.w);
  }
  return rate;
}

/* x rotated by a quaternion, inversely with sign -1, times the square of its norm: no division is needed,
 * and angles do not depend on the factor. */
static void turn_scaled(const double p[4], double sign, const double x[3], double out[3]) {
  const double* u = p + 1;
  const double w = sign * p[0];
  const double own = p[0] * p[0] - saltusi_dot3(u, u), along = 2.0 * saltusi_dot3(u, x);
  double across[3];
  saltusi_cross(u, x, across);
  for (int k = 0; k < 3; k++) {
    out[k] = own * x[k] + along * u[k] + 2.0 * w * across[k];
  }
}

static double angle_of(const saltus_mechanism* m, const saltusi_unwrapped* angle, const double* q) {
  const saltusi_marker *a = &m->markers[angle->marker[0]], *b = &m->markers[angle->marker[1]];
  const saltusi_body *first = &m->bodies[a->body], *second = &m->bodies[b->body];
  double x[3], inside[3]; /* x axis of the second marker in body axes of the first */
  if (second->kind == SALTUS_BODY_FREE) {
    turn_scaled(q + second->q + 3, 1.0, b->axis[0], x);
  } else {
    saltusi_pose pose;
    saltusi_pose_at(m, b->body, 0.0, q, &pose);
    saltusi_turn(pose.R, b->axis[0], x);
  }
  if (first->kind == SALTUS_BODY_FREE) {
    turn_scaled(q + first->q + 3, -1.0, x, inside);
  } else {
    saltusi_pose pose;
    saltusi_pose_at(m, a->body, 0.0, q, &pose);
    saltusi_turn_back(pose.R, x, inside);
  }
  return atan2(saltusi_dot3(a->axis[1], inside), saltusi_dot3(a->axis[0], inside));
}

/* Rate of an angle, to select its branch. If a joint keeps the z axes parallel, it is the difference of the angular
 * velocities about them, in body axes. */
static double turning(const saltus_mechanism* m, const saltusi_unwrapped* angle, const double* q,
                      const double* v) {
  if (!angle->parallel) {
    return rate_of_angle(m, angle, q, v);
  }
  double rate = 0.0;
  for (int k = 0; k < 2; k++) {
    const saltusi_marker* marker = &m->markers[angle->marker[k]];
    const int first = m->bodies[marker->body].v;
    const double part = first >= 0 ? saltusi_dot3(marker->axis[2], v + first + 3) : 0.0;
    rate += k == 0 ? -part : part;
  }
  return rate;
}

void saltusi_mechanism_rate(const void* self, const double* q, const double* v, double* dq) {
  assert(self != NULL && q != NULL && v != NULL && dq != NULL && dq != v);
  const saltus_mechanism* m = self;
  if (m->plane) {
    memcpy(dq, v, (size_t)m->system.dims.nv * sizeof(double));
    return;
  }
  for (int i = 0; i < m->free_count; i++) {
    const double* x = q + 7 * i;
    const double* u = v + 6 * i;
    const double half[4] = {0.0, 0.5 * u[3], 0.5 * u[4], 0.5 * u[5]};
    memcpy(dq + 7 * i, u, 3 * sizeof(double));
    saltusi_quaternion_product(x + 3, half, dq + 7 * i + 3);
  }
  for (int i = 0; i < m->angle_count; i++) {
    const saltusi_unwrapped* angle = &m->angles[i];
    dq[angle->q] = angle->driven ? turning(m, angle, q, v) : rate_of_angle(m, angle, q, v);
  }
}

void saltusi_mechanism_advance_bodies(const void* self, const double* q, const double* v, double h,
                                      double* q1) {
  assert(self != NULL && q != NULL && v != NULL && q1 != NULL && q1 != v);
  const saltus_mechanism* m = self;
  for (int i = 0; i < m->free_count; i++) {
    const double* x = q + 7 * i;
    const double* u = v + 6 * i;
    double* y = q1 + 7 * i;
    const double d[3] = {h * u[3], h * u[4], h * u[5]};
    double by[4];
    saltusi_along(h, u, x, y);
    saltusi_quaternion_exp(d, by);
    saltusi_quaternion_product(x + 3, by, y + 3);
    saltusi_quaternion_normalise(y + 3);
  }
}

void saltusi_mechanism_advance(const void* self, const double* q, const double* v, double h,
                               double* q1) {
  assert(self != NULL && q != NULL && v != NULL && q1 != NULL && q1 != v);
  const saltus_mechanism* m = self;
  if (m->plane) {
    for (int i = 0; i < m->system.dims.nv; i++) {
      q1[i] = q[i] + h * v[i];
    }
    return;
  }
  saltusi_mechanism_advance_bodies(self, q, v, h, q1);
  for (int i = 0; i < m->angle_count; i++) {
    const saltusi_unwrapped* angle = &m->angles[i];
    const double near = q[angle->q] + h * turning(m, angle, q, v);
    q1[angle->q] = angle->driven ? near : unwrap(angle_of(m, angle, q1), near);
  }
}

void saltusi_mechanism_difference(const void* self, const double* q0, const double* q1, double* d) {
  assert(self != NULL && q0 != NULL && q1 != NULL && d != NULL);
  const saltus_mechanism* m = self;
  if (m->plane) {
    for (int i = 0; i < m->system.dims.nv; i++) {
      d[i] = q1[i] - q0[i];
    }
    return;
  }
  for (int i = 0; i < m->free_count; i++) {
    const double* x = q0 + 7 * i;
    const double* y = q1 + 7 * i;
    const double back[4] = {x[3], -x[4], -x[5], -x[6]};
    double by[4];
    saltusi_minus3(y, x, d + 6 * i);
    saltusi_quaternion_product(back, y + 3, by);
    saltusi_quaternion_log(by, d + 6 * i + 3);
  }
}

void saltusi_mechanism_normalise(const void* self, double* q) {
  assert(self != NULL && q != NULL);
  const saltus_mechanism* m = self;
  for (int i = 0; !m->plane && i < m->free_count; i++) {
    saltusi_quaternion_normalise(q + 7 * i + 3);
  }
  for (int i = 0; i < m->angle_count; i++) {
    const saltusi_unwrapped* angle = &m->angles[i];
    if (!angle->driven) {
      q[angle->q] = unwrap(angle_of(m, angle, q), q[angle->q]);
    }
  }
}

/* (1 - (a/2) cot(a/2)) / a^2 as a function of a^2; by its series for small angles. */
static double shortening(double square) {
  const double small = 1e-3; /* the next term, square^4 / 4.8e7, is 2e-19 of the first there */
  if (square < small) {
    return 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0));
  }
  const double half = 0.5 * sqrt(square);
  return (1.0 - half / tan(half)) / square;
}

void saltusi_mechanism_turn_momentum(const void* self, const double* d, const double* p,
                                     double* y) {
  assert(self != NULL && d != NULL && p != NULL && y != NULL && y != p);
  const saltus_mechanism* m = self;
  memcpy(y, p, (size_t)m->system.dims.nv * sizeof(double));
  for (int i = 0; !m->plane && i < m->free_count; i++) {
    const double* by = d + 6 * i + 3;
    double across[3];
    saltusi_cross(by, p + 6 * i + 3, across);
    saltusi_cross(by, across, across);
    saltusi_along(shortening(saltusi_dot3(by, by)), across, p + 6 * i + 3, y + 6 * i + 3);
  }
}
