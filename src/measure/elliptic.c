/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elliptic.c - K and Jacobi's functions by the arithmetic-geometric mean:
 *
 *   a_0 = 1   b_0 = sqrt(mc)   a' = (a + b)/2   b' = sqrt(a b)   c' = (a - b)/2        K = pi/(2 a_N)
 *   p_N = 2^N a_N u    p = (p' + asin(c' sin p' / a'))/2    am = p_0
 *
 * (Abramowitz and Stegun 16.4, 17.6), the third kind by Carlson's symmetric integrals
 *
 *   Pi(n; a) = s R_F(c^2, d^2, 1) + n/3 s^3 R_J(c^2, d^2, 1, 1 - n s^2),  s = sin a, c = cos a, d^2 = 1 - m s^2
 *
 * and these by duplication (Carlson, Numerical computation of real or complex elliptic integrals, 1995).
 */
#include "measure/elliptic.h"

#include <assert.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

enum { LEVELS = 16 }; /* quadratic convergence: 8 suffice down to mc = 1e-300 */

double saltusi_elliptic_k(double mc) {
  assert(mc > 0.0);
  double a = 1.0, b = sqrt(mc);
  for (int n = 0; n < LEVELS && fabs(a - b) > 1e-16 * a; n++) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return pi / (a + b);
}

saltusi_jacobi saltusi_jacobi_of(double u, double mc) {
  assert(mc > 0.0);
  double a[LEVELS + 1] = {1.0}, c[LEVELS + 1] = {0.0};
  double b = sqrt(mc);
  int n = 0;
  while (n < LEVELS && fabs(a[n] - b) > 1e-16 * a[n]) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = sqrt(a[n] * b);
    n++;
  }
  double p = ldexp(a[n] * u, n);
  for (; n > 0; n--) {
    p = 0.5 * (p + asin(c[n] * sin(p) / a[n]));
  }
  saltusi_jacobi j = {.am = p, .sn = sin(p), .cn = cos(p)};
  j.dn = sqrt(mc + (1.0 - mc) * j.cn * j.cn);
  return j;
}

/* Largest deviation of the arguments from their mean, relative to it; the remainder of the series below is of its
 * sixth power. */
static const double near_mean = 1e-3;

static double carlson_f(double x, double y, double z) {
  for (;;) {
    double mean = (x + y + z) / 3.0;
    double X = 1.0 - x / mean, Y = 1.0 - y / mean, Z = -X - Y;
    if (fmax(fmax(fabs(X), fabs(Y)), fabs(Z)) < near_mean) {
      double e2 = X * Y - Z * Z, e3 = X * Y * Z;
      return (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0) / sqrt(mean);
    }
    double lambda = sqrt(x) * sqrt(y) + sqrt(x) * sqrt(z) + sqrt(y) * sqrt(z);
    x = 0.25 * (x + lambda);
    y = 0.25 * (y + lambda);
    z = 0.25 * (z + lambda);
  }
}

/* R_C(1, 1 + e) for e > -1: atan(sqrt e)/sqrt e */
static double carlson_c(double e) {
  if (fabs(e) < 1e-3) { /* five terms leave e^6/13 */
    return 1.0 - e * (1.0 / 3.0 - e * (0.2 - e * (1.0 / 7.0 - e * (1.0 / 9.0 - e / 11.0))));
  }
  return e > 0.0 ? atan(sqrt(e)) / sqrt(e) : atanh(sqrt(-e)) / sqrt(-e);
}

static double carlson_j(double x, double y, double z, double p) {
  double sum = 0.0, factor = 1.0;
  double delta = (p - x) * (p - y) * (p - z);
  for (;;) {
    double mean = (x + y + z + 2.0 * p) / 5.0;
    double X = 1.0 - x / mean, Y = 1.0 - y / mean, Z = 1.0 - z / mean, P = 0.5 * (-X - Y - Z);
    if (fmax(fmax(fabs(X), fabs(Y)), fmax(fabs(Z), fabs(P))) < near_mean) {
      double e2 = X * Y + X * Z + Y * Z - 3.0 * P * P;
      double e3 = X * Y * Z + 2.0 * e2 * P + 4.0 * P * P * P;
      double e4 = (2.0 * X * Y * Z + e2 * P + 3.0 * P * P * P) * P;
      double e5 = X * Y * Z * P * P;
      double series = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 -
                      9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0;
      return 6.0 * sum + factor * series / (mean * sqrt(mean));
    }
    double rx = sqrt(x), ry = sqrt(y), rz = sqrt(z), rp = sqrt(p);
    double lambda = rx * ry + rx * rz + ry * rz;
    double d = (rp + rx) * (rp + ry) * (rp + rz);
    sum += factor * carlson_c(delta / (d * d)) / d;
    x = 0.25 * (x + lambda);
    y = 0.25 * (y + lambda);
    z = 0.25 * (z + lambda);
    p = 0.25 * (p + lambda);
    factor *= 0.25;
    delta /= 64.0;
  }
}

/* |amplitude| <= pi/2 */
static double third_kind(double n, double amplitude, double mc) {
  double s = sin(amplitude), c = cos(amplitude);
  double d2 = mc + (1.0 - mc) * c * c;
  return s * carlson_f(c * c, d2, 1.0) +
         n / 3.0 * s * s * s * carlson_j(c * c, d2, 1.0, 1.0 - n + n * c * c);
}

double saltusi_elliptic_pi(double n, double amplitude, double mc) {
  assert(mc > 0.0 && n < 1.0);
  double halves = floor(amplitude / pi + 0.5);
  double rest = amplitude - halves * pi;
  double whole = halves != 0.0 ? 2.0 * halves * third_kind(n, 0.5 * pi, mc) : 0.0;
  return whole + third_kind(n, rest, mc);
}
