/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rotation.c - longer functions of rotation.h.
 */
#include "math/rotation.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void saltusi_matrix_quaternion(const double R[9], double p[4]) {
  assert(R != NULL && p != NULL);
  const double trace = R[0] + R[4] + R[8];
  const double four[4] = {1.0 + trace, 1.0 + 2.0 * R[0] - trace, 1.0 + 2.0 * R[4] - trace,
                          1.0 + 2.0 * R[8] - trace}; /* 4 w^2, 4 x^2, 4 y^2, 4 z^2 */
  int most = 0;
  for (int k = 1; k < 4; k++) {
    most = four[k] > four[most] ? k : most;
  }
  /* 4 times the products of w, x, y, z */
  const double wx = R[7] - R[5], wy = R[2] - R[6], wz = R[3] - R[1];
  const double xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const double products[4][4] = {
      {four[0], wx, wy, wz}, {wx, four[1], xy, xz}, {wy, xy, four[2], yz}, {wz, xz, yz, four[3]}};
  memcpy(p, products[most], 4 * sizeof(double));
  saltusi_quaternion_normalise(p);
  if (p[0] < 0.0) {
    for (int k = 0; k < 4; k++) {
      p[k] = -p[k];
    }
  }
}

static void matrix_of_rpy(const double rpy[3], double R[9]) {
  double p[4] = {1.0, 0.0, 0.0, 0.0};
  for (int k = 2; k >= 0; k--) {
    double d[3] = {0.0}, by[4];
    d[k] = rpy[k];
    saltusi_quaternion_exp(d, by);
    saltusi_quaternion_product(p, by, p);
  }
  saltusi_quaternion_matrix(p, R);
}

bool saltusi_orientation_matrix(const saltus_orientation* given, double R[9]) {
  assert(given != NULL && R != NULL);
  const double* x = given->value;
  if (!isfinite(x[0] + x[1] + x[2] + x[3])) {
    return false;
  }
  double p[4] = {1.0, 0.0, 0.0, 0.0}, length = 1.0;
  switch (given->kind) {
  case SALTUS_ORIENTATION_NONE:
    break;
  case SALTUS_ORIENTATION_ANGLE:
    saltusi_quaternion_exp((double[3]){0.0, 0.0, x[0]}, p);
    break;
  case SALTUS_ORIENTATION_QUATERNION:
    memcpy(p, x, sizeof p);
    length = saltusi_quaternion_length(x);
    break;
  case SALTUS_ORIENTATION_AXIS:
    length = sqrt(saltusi_dot3(x, x));
    saltusi_quaternion_exp(
        (double[3]){x[3] * x[0] / length, x[3] * x[1] / length, x[3] * x[2] / length}, p);
    break;
  case SALTUS_ORIENTATION_RPY:
    matrix_of_rpy(x, R);
    return true;
  }
  saltusi_quaternion_normalise(p);
  saltusi_quaternion_matrix(p, R);
  return length > 0.0;
}
