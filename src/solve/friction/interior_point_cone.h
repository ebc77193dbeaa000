/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * interior_point_cone.h - the algebra of one Lorentz cone { x_0 >= |x_1..| } in d = 1, 2, 3:
 * x o y = (x.y, x_0 y_1 + y_0 x_1), Nesterov-Todd scaling, step lengths. d = 1 is the half line.
 * Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), sections 4 and 5.
 */
#ifndef SALTUSI_INTERIOR_POINT_CONE_H
#define SALTUSI_INTERIOR_POINT_CONE_H

#include <math.h>

/* x_0^2 - |x_1|^2 without cancellation near the boundary. */
static inline double saltusi_lorentz_det(int d, const double* x) {
  double t = d == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : (d == 2 ? fabs(x[1]) : 0.0);
  return (x[0] - t) * (x[0] + t);
}

/* Largest step with x + step dx in the cone. */
static inline double saltusi_lorentz_step(int d, const double* x, const double* dx) {
  double A = dx[0] * dx[0];
  double B = x[0] * dx[0];
  double C = saltusi_lorentz_det(d, x);
  for (int k = 1; k < d; k++) {
    A -= dx[k] * dx[k];
    B -= x[k] * dx[k];
  }
  double step = INFINITY;
  double discriminant = B * B - A * C;
  if (d > 1 && discriminant >= 0.0) {
    double root = sqrt(discriminant);
    double s = -(B + (B >= 0.0 ? root : -root));
    double first = A != 0.0 ? s / A : INFINITY;
    double second = s != 0.0 ? C / s : INFINITY;
    if (first > 0.0 && first < step) {
      step = first;
    }
    if (second > 0.0 && second < step) {
      step = second;
    }
  }
  if (dx[0] < 0.0 && -x[0] / dx[0] < step) {
    step = -x[0] / dx[0];
  }
  return step;
}

/* x with l o x = s */
static inline void saltusi_lorentz_divide(int d, const double* l, const double* s, double* x) {
  double sum = 0.0;
  for (int k = 1; k < d; k++) {
    sum += l[k] * s[k];
  }
  x[0] = (l[0] * s[0] - sum) / saltusi_lorentz_det(d, l);
  for (int k = 1; k < d; k++) {
    x[k] = (s[k] - x[0] * l[k]) / l[0];
  }
}

/* Smaller eigenvalue of the scaled product: e1 + e2 = 2 z.y, e1 e2 = det z det y. */
static inline double saltusi_lorentz_centrality(int d, const double* z, const double* y) {
  double zy = 0.0;
  for (int k = 0; k < d; k++) {
    zy += z[k] * y[k];
  }
  if (d == 1) {
    return zy;
  }
  double both = saltusi_lorentz_det(d, z) * saltusi_lorentz_det(d, y);
  return both / (zy + sqrt(fmax(zy * zy - both, 0.0)));
}

/* T, its inverse and square with T z = T^-1 y = lambda. */
static inline void saltusi_lorentz_scaling(int d, const double* z, const double* y, double* T,
                                           double* T_inverse, double* T2) {
  double z_size = sqrt(saltusi_lorentz_det(d, z));
  double y_size = sqrt(saltusi_lorentz_det(d, y));
  double gamma = 1.0;
  for (int k = 0; k < d; k++) {
    gamma += z[k] / z_size * (y[k] / y_size);
  }
  gamma = sqrt(0.5 * gamma);
  double eta = sqrt(y_size / z_size);
  double w[3] = {0.0};
  for (int k = 0; k < d; k++) {
    double mirrored = k == 0 ? z[k] / z_size : -z[k] / z_size;
    w[k] = (y[k] / y_size + mirrored) / (2.0 * gamma);
  }
  for (int a = 0; a < d; a++) {
    for (int c = 0; c < d; c++) {
      double inner = (a == c ? 1.0 : 0.0) + w[a] * w[c] / (1.0 + w[0]);
      double v = a == 0 ? w[c] : (c == 0 ? w[a] : inner);
      double sign = (a == 0) != (c == 0) ? -1.0 : 1.0;
      T[a * d + c] = eta * v;
      T_inverse[a * d + c] = sign * v / eta;
      double mirror = a == c ? (a == 0 ? 1.0 : -1.0) : 0.0;
      T2[a * d + c] = eta * eta * (2.0 * w[a] * w[c] - mirror);
    }
  }
}

#endif
