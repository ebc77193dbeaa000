/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rotation.h - vectors of three, rotations, unit quaternions (w, x, y, z; body to world). Matrices are row
 * major.
 */
#ifndef SALTUSI_ROTATION_H
#define SALTUSI_ROTATION_H

#include "saltus/orientation.h"

#include <math.h>
#include <stdbool.h>

static inline double saltusi_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void saltusi_cross(const double a[3], const double b[3], double out[3]) {
  const double x = a[1] * b[2] - a[2] * b[1];
  const double y = a[2] * b[0] - a[0] * b[2];
  const double z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/* out = s a + b */
static inline void saltusi_along(double s, const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = s * a[k] + b[k];
  }
}

static inline void saltusi_minus3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] - b[k];
  }
}

/* R x, from body to world; out is not x */
static inline void saltusi_turn(const double R[9], const double x[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = R[3 * k] * x[0] + R[3 * k + 1] * x[1] + R[3 * k + 2] * x[2];
  }
}

/* R^T x, from world to body; out is not x */
static inline void saltusi_turn_back(const double R[9], const double x[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
  }
}

/* A B; out is neither */
static inline void saltusi_matrix3_product(const double A[9], const double B[9], double out[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
  }
}

/* The rotation of a quaternion of any length: at stages of a step it is not exactly 1, and R' = R [w]x has to hold
 * there as well. */
static inline void saltusi_quaternion_matrix(const double p[4], double R[9]) {
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  const double twice = 2.0 / (w * w + x * x + y * y + z * z);
  const double wx = twice * w * x, wy = twice * w * y, wz = twice * w * z;
  const double xx = twice * x * x, xy = twice * x * y, xz = twice * x * z;
  const double yy = twice * y * y, yz = twice * y * z, zz = twice * z * z;
  R[0] = 1.0 - (yy + zz);
  R[1] = xy - wz;
  R[2] = xz + wy;
  R[3] = xy + wz;
  R[4] = 1.0 - (xx + zz);
  R[5] = yz - wx;
  R[6] = xz - wy;
  R[7] = yz + wx;
  R[8] = 1.0 - (xx + yy);
}

/* p r; out may be either */
static inline void saltusi_quaternion_product(const double p[4], const double r[4], double out[4]) {
  const double w = p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3];
  const double x = p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2];
  const double y = p[0] * r[2] - p[1] * r[3] + p[2] * r[0] + p[3] * r[1];
  const double z = p[0] * r[3] + p[1] * r[2] - p[2] * r[1] + p[3] * r[0];
  out[0] = w;
  out[1] = x;
  out[2] = y;
  out[3] = z;
}

static inline double saltusi_quaternion_length(const double p[4]) {
  return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
}

/* Normalises; unchanged if the length is zero or not finite. */
static inline void saltusi_quaternion_normalise(double p[4]) {
  const double off = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] - 1.0;
  double scale =
      1.0 - 0.5 * off;       /* 1 / sqrt(1 + off); the next term, 3/8 off^2, is below rounding */
  if (!(fabs(off) < 1e-8)) { /* 3/8 of its square is 4e-17 */
    const double length = saltusi_quaternion_length(p);
    scale = length > 0.0 && length < INFINITY ? 1.0 / length : 1.0;
  }
  for (int k = 0; k < 4; k++) {
    p[k] *= scale;
  }
}

/* The rotation by the vector d, rad. */
static inline void saltusi_quaternion_exp(const double d[3], double out[4]) {
  const double square = 0.25 * saltusi_dot3(d, d); /* of the half angle */
  double part;                                     /* sin(half) / angle */
  if (square < 0.01) { /* small rotations: Taylor series, the next terms are below 1e-17 */
    part = 0.5 * (1.0 - square * (1.0 / 6.0) *
                            (1.0 - square * (1.0 / 20.0) *
                                       (1.0 - square * (1.0 / 42.0) *
                                                  (1.0 - square * (1.0 / 72.0) *
                                                             (1.0 - square * (1.0 / 110.0))))));
    out[0] =
        1.0 -
        square * (1.0 / 2.0) *
            (1.0 - square * (1.0 / 12.0) *
                       (1.0 - square * (1.0 / 30.0) *
                                  (1.0 - square * (1.0 / 56.0) * (1.0 - square * (1.0 / 90.0)))));
  } else {
    const double half = sqrt(square);
    part = 0.5 * sin(half) / half;
    out[0] = cos(half);
  }
  for (int k = 0; k < 3; k++) {
    out[k + 1] = part * d[k];
  }
}

/* The rotation vector, of length at most pi. */
static inline void saltusi_quaternion_log(const double p[4], double d[3]) {
  const double sine = sqrt(p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
  const double sign = p[0] < 0.0 ? -1.0 : 1.0;
  const double part = sine > 0.0 ? 2.0 * atan2(sine, fabs(p[0])) / sine : 2.0;
  for (int k = 0; k < 3; k++) {
    d[k] = sign * part * p[k + 1];
  }
}

/* The quaternion of a rotation, by its largest component (Shepperd 1978). */
void saltusi_matrix_quaternion(const double R[9], double p[4]);

/* R of an orientation of a definition; false: numbers that are not finite, an axis or a quaternion of length zero. */
bool saltusi_orientation_matrix(const saltus_orientation* given, double R[9]);

#endif
