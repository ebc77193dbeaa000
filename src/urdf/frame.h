/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frame.h - positions and rotations of frames, from fixed-axis roll, pitch, yaw as in URDF.
 */
#ifndef SALTUSI_FRAME_H
#define SALTUSI_FRAME_H

#include <math.h>
#include <string.h>

/* p: the origin [m]; R: columns are its axes, row major; both in the reference frame. */
typedef struct saltusi_urdf_frame {
  double p[3];
  double R[9];
} saltusi_urdf_frame;

static inline saltusi_urdf_frame saltusi_frame_none(void) {
  return (saltusi_urdf_frame){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* out = A B, or A B^T */
static inline void saltusi_matrix3_times(const double* A, const double* B, double* out) {
  double C[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
  }
  memcpy(out, C, sizeof C);
}

static inline void saltusi_matrix3_times_transposed(const double* A, const double* B, double* out) {
  double C[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      C[3 * i + j] =
          A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
    }
  }
  memcpy(out, C, sizeof C);
}

/* out = p + R x */
static inline void saltusi_frame_point(const saltusi_urdf_frame* f, const double* x, double* out) {
  double y[3];
  for (int i = 0; i < 3; i++) {
    y[i] = f->p[i] + f->R[3 * i] * x[0] + f->R[3 * i + 1] * x[1] + f->R[3 * i + 2] * x[2];
  }
  memcpy(out, y, sizeof y);
}

/* b, which is given in a, in the parent frame of a */
static inline saltusi_urdf_frame saltusi_frame_in(const saltusi_urdf_frame* a,
                                                  const saltusi_urdf_frame* b) {
  saltusi_urdf_frame f;
  saltusi_frame_point(a, b->p, f.p);
  saltusi_matrix3_times(a->R, b->R, f.R);
  return f;
}

/* b relative to a, both given in the same frame */
static inline saltusi_urdf_frame saltusi_frame_from(const saltusi_urdf_frame* a,
                                                    const saltusi_urdf_frame* b) {
  saltusi_urdf_frame f;
  for (int i = 0; i < 3; i++) {
    f.p[i] = 0.0;
    for (int k = 0; k < 3; k++) {
      f.p[i] += a->R[3 * k + i] * (b->p[k] - a->p[k]);
    }
    for (int j = 0; j < 3; j++) {
      f.R[3 * i + j] = a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
    }
  }
  return f;
}

/* R = Rz(yaw) Ry(pitch) Rx(roll) */
static inline saltusi_urdf_frame saltusi_frame_rpy(const double* xyz, const double* rpy) {
  double cr = cos(rpy[0]), sr = sin(rpy[0]);
  double cp = cos(rpy[1]), sp = sin(rpy[1]);
  double cy = cos(rpy[2]), sy = sin(rpy[2]);
  return (saltusi_urdf_frame){.p = {xyz[0], xyz[1], xyz[2]},
                              .R = {cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
                                    sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, -sp,
                                    cp * sr, cp * cr}};
}

/* Rotation by an angle about a unit axis (Rodrigues): R = c 1 + s [a] + (1 - c) a a^T */
static inline void saltusi_matrix3_turn(const double* a, double angle, double* R) {
  double c = cos(angle), s = sin(angle);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = (i == j ? c : 0.0) + (1.0 - c) * a[i] * a[j];
    }
  }
  R[1] -= s * a[2], R[2] += s * a[1], R[3] += s * a[2];
  R[5] -= s * a[0], R[6] -= s * a[1], R[7] += s * a[0];
}

/* The shortest rotation that takes z to a unit axis; for -z half a turn about x. */
static inline void saltusi_matrix3_z_to(const double* a, double* R) {
  if (a[2] < -1.0 + 1e-14) { /* the axis below is rounding there */
    memcpy(R, (const double[]){1, 0, 0, 0, -1, 0, 0, 0, -1}, 9 * sizeof R[0]);
    return;
  }
  double f = 1.0 / (1.0 + a[2]);
  double turned[9] = {1.0 - a[0] * a[0] * f,
                      -a[0] * a[1] * f,
                      a[0],
                      -a[0] * a[1] * f,
                      1.0 - a[1] * a[1] * f,
                      a[1],
                      -a[0],
                      -a[1],
                      a[2]};
  memcpy(R, turned, sizeof turned);
}

/* The same for x (axis 0), y (1) or z (2), by cyclic permutation of the axes. */
static inline void saltusi_matrix3_axis_to(int axis, const double* a, double* R) {
  double z_to[9];
  saltusi_matrix3_z_to(a, z_to);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[3 * i + (j + axis + 1) % 3] = z_to[3 * i + j];
    }
  }
}

/* Unit quaternion w, x, y, z with w >= 0: the largest component from the diagonal (Shepperd). */
static inline void saltusi_matrix3_quaternion(const double* R, double* q) {
  double trace = R[0] + R[4] + R[8];
  double four[4] = {trace, R[0], R[4], R[8]};
  int k = 0;
  for (int i = 1; i < 4; i++) {
    k = four[i] > four[k] ? i : k;
  }
  double largest = 0.5 * sqrt(fmax(0.0, 1.0 + (k == 0 ? trace : 2.0 * four[k] - trace)));
  double f = 0.25 / largest;
  double mixed[4][4] = {
      {0.0, R[7] - R[5], R[2] - R[6], R[3] - R[1]},
      {R[7] - R[5], 0.0, R[1] + R[3], R[2] + R[6]},
      {R[2] - R[6], R[1] + R[3], 0.0, R[5] + R[7]},
      {R[3] - R[1], R[2] + R[6], R[5] + R[7], 0.0},
  };
  double length = 0.0;
  for (int i = 0; i < 4; i++) {
    q[i] = i == k ? largest : f * mixed[k][i];
    length += q[i] * q[i];
  }
  double scale = q[0] < 0.0 ? -sqrt(length) : sqrt(length);
  for (int i = 0; i < 4; i++) {
    q[i] /= scale;
  }
}

#endif
