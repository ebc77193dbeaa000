/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pose.c - signals, poses and motions of bodies.
 *
 * A driven body in space rotates by R(t) = Rz(yaw) Ry(pitch) Rx(roll), angular velocity in world axes
 *
 *   w = yaw' z + Rz (pitch' y + Ry (roll' x)),      w' = R_body^T dw_world, since w x w = 0
 *
 * or about a fixed axis.
 */
#include "body/mechanism.h"

#include <assert.h>
#include <string.h>

void saltusi_signal_at(const saltus_mechanism* m, const saltusi_signal* signal, double t,
                       double out[3]) {
  assert(m != NULL && signal != NULL && out != NULL && signal->input < m->input_count);
  if (signal->given.evaluate != NULL) {
    signal->given.evaluate(signal->given.self, t, out);
    return;
  }
  out[0] = signal->input >= 0 ? m->inputs[signal->input] : signal->given.value;
  out[1] = 0.0;
  out[2] = 0.0;
}

/* ---- driven bodies ---- */

/* sin and cos of an angle, and the rotations Rz, Ry, Rx of a vector. */
static void turn_about(int axis, double angle, double x[3]) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  const double c = cos(angle), s = sin(angle);
  const double xi = c * x[i] - s * x[j], xj = s * x[i] + c * x[j];
  x[i] = xi;
  x[j] = xj;
}

/* R(t) of a driven body, without the constant factor of its orientation. */
static void driven_matrix(const saltusi_body* body, double roll, double pitch, double yaw,
                          double R[9]) {
  if (saltusi_dot3(body->axis, body->axis) > 0.0) {
    const double d[3] = {roll * body->axis[0], roll * body->axis[1], roll * body->axis[2]};
    double p[4];
    saltusi_quaternion_exp(d, p);
    saltusi_quaternion_matrix(p, R);
    return;
  }
  for (int k = 0; k < 3; k++) {
    double column[3] = {k == 0, k == 1, k == 2};
    turn_about(0, roll, column);
    turn_about(1, pitch, column);
    turn_about(2, yaw, column);
    for (int i = 0; i < 3; i++) {
      R[3 * i + k] = column[i];
    }
  }
}

/* Angular velocity and acceleration of R(t) in world axes. */
static void driven_rates(const saltusi_body* body, double s[3][3], double w[3], double dw[3]) {
  if (saltusi_dot3(body->axis, body->axis) > 0.0) {
    for (int k = 0; k < 3; k++) {
      w[k] = s[0][1] * body->axis[k];
      dw[k] = s[0][2] * body->axis[k];
    }
    return;
  }
  /* innermost first: x rotated by pitch and yaw, y by yaw; each rate rotates the inner ones */
  double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
  const double z[3] = {0.0, 0.0, 1.0};
  turn_about(1, s[1][0], x);
  turn_about(2, s[2][0], x);
  turn_about(2, s[2][0], y);
  double outer[3], dx[3], dy[3];
  for (int k = 0; k < 3; k++) {
    outer[k] = s[1][1] * y[k] + s[2][1] * z[k];
  }
  saltusi_cross(outer, x, dx);
  const double yaw[3] = {0.0, 0.0, s[2][1]};
  saltusi_cross(yaw, y, dy);
  for (int k = 0; k < 3; k++) {
    w[k] = s[0][1] * x[k] + outer[k];
    dw[k] = s[0][2] * x[k] + s[0][1] * dx[k] + s[1][2] * y[k] + s[1][1] * dy[k] + s[2][2] * z[k];
  }
}

static void driven_pose(const saltus_mechanism* m, const saltusi_body* body, double t,
                        saltusi_pose* pose) {
  double s[3][3];
  for (int k = 0; k < 3; k++) {
    double x[3];
    saltusi_signal_at(m, &body->position[k], t, x);
    saltusi_signal_at(m, &body->rotation[k], t, s[k]);
    pose->x[k] = x[0];
  }
  double R[9];
  driven_matrix(body, s[0][0], s[1][0], s[2][0], R);
  saltusi_matrix3_product(R, body->pose.R, pose->R);
  pose->angle = s[0][0] + body->pose.angle;
}

static void driven_motion(const saltus_mechanism* m, const saltusi_body* body, double t,
                          saltusi_body_motion* motion) {
  double s[3][3], w[3], dw[3];
  saltusi_pose pose;
  driven_pose(m, body, t, &pose);
  for (int k = 0; k < 3; k++) {
    double x[3];
    saltusi_signal_at(m, &body->position[k], t, x);
    saltusi_signal_at(m, &body->rotation[k], t, s[k]);
    motion->v[k] = x[1];
    motion->a[k] = x[2];
  }
  driven_rates(body, s, w, dw);
  saltusi_turn_back(pose.R, w, motion->w);
  saltusi_turn_back(pose.R, dw, motion->dw);
}

/* ---- any body ---- */

void saltusi_pose_at(const saltus_mechanism* m, int body, double t, const double* q,
                     saltusi_pose* pose) {
  assert(m != NULL && body >= 0 && body <= m->body_count && pose != NULL);
  assert(q != NULL || m->bodies[body].kind != SALTUS_BODY_FREE);
  const saltusi_body* b = &m->bodies[body];
  if (b->kind == SALTUS_BODY_FIXED) {
    *pose = b->pose;
    return;
  }
  if (b->kind == SALTUS_BODY_DRIVEN) {
    driven_pose(m, b, t, pose);
    return;
  }
  const double* x = q + b->q;
  if (!m->plane) {
    memcpy(pose->x, x, 3 * sizeof(double));
    saltusi_quaternion_matrix(x + 3, pose->R);
    pose->angle = 0.0;
    return;
  }
  const double c = cos(x[2]), s = sin(x[2]);
  *pose = (saltusi_pose){{x[0], x[1], 0.0}, {c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0}, x[2]};
}

void saltusi_motion_at(const saltus_mechanism* m, int body, double t, const double* v,
                       saltusi_body_motion* motion) {
  assert(m != NULL && body >= 0 && body <= m->body_count && motion != NULL);
  assert(v != NULL || m->bodies[body].kind != SALTUS_BODY_FREE);
  const saltusi_body* b = &m->bodies[body];
  *motion = (saltusi_body_motion){0};
  if (b->kind == SALTUS_BODY_DRIVEN) {
    driven_motion(m, b, t, motion);
  } else if (b->kind == SALTUS_BODY_FREE && m->plane) {
    motion->v[0] = v[b->v];
    motion->v[1] = v[b->v + 1];
    motion->w[2] = v[b->v + 2];
  } else if (b->kind == SALTUS_BODY_FREE) {
    memcpy(motion->v, v + b->v, 3 * sizeof(double));
    memcpy(motion->w, v + b->v + 3, 3 * sizeof(double));
  }
}
