/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction.c - independent formulas of the friction laws (docs/theory/certificate.md, 6): friction
 * of a sliding contact over its normal force p = P_N + bond, by rows.
 *
 *   Coulomb, curves   mu(|U|) U / |U|
 *   elliptic          mu(|U|) / mu  N^2 U / |M^-1 N^2 U|,   M = diag(mu, across), N = diag(sliding)
 *   rolling, drilling arm times the direction of the rate
 *   patch             mu f(d) U / |U| and mu a m(d) sign w,  d = |U| / (a |w|)
 *
 * f and m are means over the disc of the direction of slip. About the centre of rotation, at distance d from the middle, that
 * direction depends on the angle alone, and integrals along rays are elementary. With R^2 = 1 - d^2 cos^2, d < 1:
 *
 *   uniform  f = d/pi int sin^2 R        m = 1/(3 pi) int R^3              over 2 pi
 *   Hertz    f = 3 pi d/8 (1 - d^2/4)    m = 3 pi/16 (1 - d^2 + 3 d^4/8)
 *
 * and with x = sin psi, k = sqrt(1 - x^2/d^2), d > 1, over -pi/2 .. pi/2:
 *
 *   uniform  f = 2/pi int k cos^2        m = 2/(3 pi d) int cos^4 / k
 *   Hertz    f = 3/4 int k cos^3         m = 3/(16 d) int cos^5 / k
 */
#include "checker.h"

#include <assert.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

double saltusi_coefficient(const saltus_contact_law* law, double speed) {
  assert(law != NULL);
  const saltus_friction_law* f = law->friction;
  if (f == NULL || f->curve == SALTUS_CURVE_CONSTANT) {
    return law->mu;
  }
  if (f->curve == SALTUS_CURVE_KINETIC) {
    return f->kinetic;
  }
  double slope = 0.0;
  double exponent = f->exponent > 0.0 ? f->exponent : 1.0;
  return f->curve == SALTUS_CURVE_OWN
             ? f->own->coefficient(f->own->self, speed, &slope)
             : f->kinetic + (law->mu - f->kinetic) * exp(-pow(speed / f->speed, exponent));
}

double saltusi_gauge(const saltus_contact_law* law, const double T[2]) {
  assert(law != NULL && T != NULL);
  const saltus_friction_law* f = law->friction;
  double ratio = f != NULL && f->across > 0.0 ? law->mu / f->across : 1.0;
  return hypot(T[0], ratio * T[1]);
}

double saltusi_bond_shear(const saltus_contact_law* law, double bond) {
  assert(law != NULL);
  const saltus_friction_law* f = law->friction;
  return f == NULL || !(bond > 0.0) ? 0.0
         : f->shear > 0.0           ? f->shear
         : f->shear < 0.0           ? 0.0
                                    : law->mu * bond;
}

/* Friction of slip without spin, by direction and speed. */
static void slip_part(const saltus_contact_law* law, const double d[2], double speed, double s[2]) {
  const saltus_friction_law* f = law->friction;
  double mu = saltusi_coefficient(law, speed);
  if (f == NULL || law->tangents < 2 || (!(f->across > 0.0) && !(f->sliding[0] > 0.0))) {
    s[0] = mu * d[0];
    s[1] = mu * d[1];
    return;
  }
  double M[2] = {law->mu, f->across > 0.0 ? f->across : law->mu};
  double N[2] = {f->sliding[0] > 0.0 ? f->sliding[0] : M[0],
                 f->sliding[1] > 0.0 ? f->sliding[1] : M[1]};
  double w[2] = {N[0] * N[0] * d[0], N[1] * N[1] * d[1]};
  double size = hypot(w[0] / M[0], w[1] / M[1]);
  double ratio = law->mu > 0.0 ? mu / law->mu : 1.0;
  s[0] = size > 0.0 ? ratio * w[0] / size : 0.0;
  s[1] = size > 0.0 ? ratio * w[1] / size : 0.0;
}

/* --- circular patches ------------------------------------------------------------------------------- */

static double cube(double x) {
  return x * x * x;
}

/* By the trapezoidal rule over a period, which converges geometrically except near d = 1. */
static void uniform_load(double d, double* f, double* m) {
  int n = fabs(d - 1.0) < 0.1 ? 4096 : 128;
  double sums[2] = {0.0, 0.0};
  for (int i = 0; i < n; i++) {
    double angle = (d <= 1.0 ? 2.0 : 1.0) * pi * (i + 0.5) / n;
    double cosine = cos(angle);
    double sine = sin(angle);
    if (d <= 1.0) {
      double R = sqrt(fmax(0.0, 1.0 - d * d * cosine * cosine));
      sums[0] += sine * sine * R;
      sums[1] += cube(R);
    } else {
      double k = sqrt(1.0 - sine * sine / (d * d));
      sums[0] += k * cosine * cosine;
      sums[1] += cosine * cosine * cosine * cosine / k;
    }
  }
  *f = d <= 1.0 ? 2.0 * d / n * sums[0] : 2.0 / n * sums[0];
  *m = d <= 1.0 ? 2.0 / (3.0 * n) * sums[1] : 2.0 / (3.0 * d * n) * sums[1];
}

/* Closed forms near d = 1, with x = d sin t; sums over x elsewhere, where the closed forms cancel. */
static void hertz_load(double d, double* f, double* m) {
  if (d <= 1.0) {
    *f = 3.0 * pi * d / 8.0 * (1.0 - 0.25 * d * d);
    *m = 3.0 * pi / 16.0 * (1.0 - d * d + 0.375 * d * d * d * d);
    return;
  }
  if (d < 1.5) {
    double t = asin(1.0 / d);
    double one = 2.0 * t;
    double two = t - 0.5 * sin(2.0 * t);                               /* sin^2 */
    double four = 0.75 * t - 0.5 * sin(2.0 * t) + sin(4.0 * t) / 16.0; /* sin^4 */
    double mixed = two - four;                                         /* sin^2 cos^2 */
    *f = 0.75 * d * ((one - two) - d * d * mixed);
    *m = 3.0 / 16.0 * (one - 2.0 * d * d * two + d * d * d * d * four);
    return;
  }
  enum { N = 400 };
  double sums[2] = {0.0, 0.0};
  for (int i = 0; i < N; i++) { /* psi = pi/4 (3 z - z^3): cos^3 then ends like the seventh power */
    double z = -1.0 + 2.0 * (i + 0.5) / N;
    double psi = 0.25 * pi * (3.0 * z - cube(z));
    double weight = 0.25 * pi * 3.0 * (1.0 - z * z) * 2.0 / N;
    double x = sin(psi);
    double c = cos(psi);
    double k = sqrt(1.0 - x * x / (d * d));
    sums[0] += weight * k * cube(c);
    sums[1] += weight * cube(c) * c * c / k;
  }
  *f = 0.75 * sums[0];
  *m = 3.0 / (16.0 * d) * sums[1];
}

void saltusi_patch(saltus_patch patch, double d, double* f, double* m) {
  assert(f != NULL && m != NULL);
  if (!(d < 1e12)) {
    *f = 1.0;
    *m = 0.0;
  } else if (patch == SALTUS_PATCH_HERTZ) {
    hertz_load(d, f, m);
  } else {
    uniform_load(d, f, m);
  }
}

static void patch_part(const saltus_contact_law* law, const double d[2], double speed, double spin,
                       double s[3]) {
  const saltus_friction_law* p = law->friction;
  double mu = saltusi_coefficient(law, speed);
  double f = 1.0;
  double m = 0.0;
  double rest = p->patch == SALTUS_PATCH_HERTZ ? 3.0 * pi / 16.0 : 2.0 / 3.0;
  double turning = p->radius * fabs(spin);
  if (p->ellipsoid) {
    double size = hypot(speed, rest * turning);
    f = size > 0.0 ? speed / size : 0.0;
    m = size > 0.0 ? rest * rest * turning / size : 0.0;
  } else {
    saltusi_patch(p->patch, turning > 0.0 ? speed / turning : INFINITY, &f, &m);
  }
  s[0] = mu * f * d[0];
  s[1] = mu * f * d[1];
  s[2] = mu * p->radius * m * (spin > 0.0 ? 1.0 : spin < 0.0 ? -1.0 : 0.0);
}

/* Direction of a spatial slip U; the given direction in the plane, below 1e-9 and for an opposite
 * U. */
static double direct(const double* U, int n, const double given[2], double d[2]) {
  double u[2] = {U[0], n > 1 ? U[1] : 0.0};
  double speed = hypot(u[0], u[1]);
  bool along = u[0] * given[0] + u[1] * given[1] > 0.0;
  d[0] = n > 1 && speed > 1e-9 && along ? u[0] / speed : given[0];
  d[1] = n > 1 && speed > 1e-9 && along ? u[1] / speed : given[1];
  return speed;
}

void saltusi_slide(const saltusi_checked_constraints* held, const double* U, double* s) {
  assert(held != NULL && s != NULL);
  const saltus_contact_law* law = held->rule;
  const saltus_friction_law* f = law->friction;
  int t = held->tangents;
  double d[2];
  double all[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < held->rows; k++) {
    s[k] = 0.0;
  }
  if (t == 0) {
    return;
  }
  bool patched = f != NULL && f->patch != SALTUS_PATCH_NONE;
  if (!held->sticks) {
    double speed = direct(U + 1, t, held->direction, d);
    if (patched) {
      patch_part(law, d, speed, U[held->rows - 1], all);
    } else {
      slip_part(law, d, speed, all);
    }
    s[1] = all[0];
    s[t] = t > 1 ? all[1] : s[t];
    s[held->rows - 1] = patched ? all[2] : s[held->rows - 1];
  }
  if (f != NULL && f->rolling > 0.0 && !held->rolls) {
    direct(U + 1 + t, t, held->roll, d);
    s[1 + t] = f->rolling * d[0];
    s[2 * t] = t > 1 ? f->rolling * d[1] : s[2 * t];
  }
  if (f != NULL && f->drilling > 0.0 && !patched && !held->pivots) {
    s[held->rows - 1] = f->drilling * held->spin;
  }
}
