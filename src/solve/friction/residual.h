/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * residual.h - friction cones, and the measure of error of all friction solvers.
 *
 *   uh_i = u_i + mu |u_T| n            De Saxce & Feng, Math. Comput. Modelling 28 (1998) 225-245
 *   F_i  = r_i - P_K(r_i - rho_i uh_i),  rho_i = d / trace W_ii;  bilateral rows: F_i = rho_i u_i
 *
 * F_i / rho_i is a velocity, independent of the unit of impulse, so that blocks of different mass can be summed.
 */
#ifndef SALTUSI_RESIDUAL_H
#define SALTUSI_RESIDUAL_H

#include "saltus/contact.h"

#include <math.h>

static inline double saltusi_tangent_norm(int d, const double* x) {
  return d == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : (d == 2 ? fabs(x[1]) : 0.0);
}

/* Nearest point of { |r_T| <= mu r_N } in place; d = 1: of r_N >= 0. */
static inline void saltusi_cone_project(int d, double mu, double* r) {
  double t = saltusi_tangent_norm(d, r);
  double slope = d > 1 ? mu : 0.0;
  if (r[0] >= 0.0 && t <= slope * r[0]) {
    return;
  }
  double along = slope * t + r[0];
  if (along <= 0.0) {
    for (int k = 0; k < d; k++) {
      r[k] = 0.0;
    }
    return;
  }
  double n = along / (slope * slope + 1.0);
  double shrink = t > 0.0 ? slope * n / t : 0.0;
  r[0] = n;
  for (int k = 1; k < d; k++) {
    r[k] *= shrink;
  }
}

/* |F_i / rho_i|^2 of a contact. */
static inline double saltusi_natural_map2(int d, double mu, double rho, const double* r,
                                          const double* u) {
  double x[3] = {0.0};
  for (int k = 0; k < d; k++) {
    x[k] = r[k] - rho * u[k];
  }
  if (d > 1) {
    x[0] -= rho * mu * saltusi_tangent_norm(d, u);
  }
  saltusi_cone_project(d, mu, x);
  double sum = 0.0;
  for (int k = 0; k < d; k++) {
    double miss = (r[k] - x[k]) / rho;
    sum += miss * miss;
  }
  return sum;
}

/* Accumulated residual: sums and largest entries; NaN propagates. */
typedef struct saltusi_residual_sum {
  double sum2, velocity, impulse;
} saltusi_residual_sum;

static inline void saltusi_residual_add(saltusi_residual_sum* sum, double miss2, double rho) {
  sum->sum2 += miss2;
  double miss = sqrt(miss2);
  if (!(miss <= sum->velocity)) {
    sum->velocity = miss;
  }
  if (!(miss * rho <= sum->impulse)) {
    sum->impulse = miss * rho;
  }
}

/* The unit of velocity: |q|, or 1 m/s when q vanishes. */
static inline double saltusi_velocity_unit(int rows, const double* q) {
  double sum = 0.0;
  for (int i = 0; i < rows; i++) {
    sum += q[i] * q[i];
  }
  return sum > 0.0 ? sqrt(sum) : (sum == 0.0 ? 1.0 : sum);
}

/* Mean diagonal of a d x d block; NULL: 0. */
static inline double saltusi_mean_diagonal(int d, const double* block) {
  double trace = 0.0;
  for (int k = 0; k < d && block != NULL; k++) {
    trace += block[k * (d + 1)];
  }
  return d > 0 ? trace / d : 0.0;
}

/* 1 / mean diagonal; if that is not positive, the largest of all units; 1 if no unit has a positive one. */
static inline double saltusi_unit_rho(double mean_diagonal, double largest) {
  if (mean_diagonal > 0.0) {
    return 1.0 / mean_diagonal;
  }
  return largest > 0.0 ? 1.0 / largest : 1.0;
}

#endif
