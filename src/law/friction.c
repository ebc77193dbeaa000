/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction.c - curves of friction coefficients and the circular patch (Contensou 1963, Zhuravlev 1998; closed forms:
 * docs/theory/laws.md, 3.4).
 */
#include "saltus/friction_law.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

static const double pi = 3.14159265358979323846;

static double stribeck(const saltus_friction_law* law, double mu, double s, double* slope) {
  const double n = law->exponent > 0.0 ? law->exponent : 1.0, fall = mu - law->kinetic;
  const double x = s / law->speed, power = pow(x, n), part = fall * exp(-power);
  *slope = x > 0.0 ? -part * n * power / s : 0.0;
  return law->kinetic + part;
}

double saltus_friction_ratio(const saltus_friction_law* law, double mu, double s, double* slope) {
  assert(mu >= 0.0 && s >= 0.0);
  double at = mu, change = 0.0;
  if (law != NULL && mu > 0.0) {
    switch (law->curve) {
    case SALTUS_CURVE_KINETIC:
      at = law->kinetic;
      break;
    case SALTUS_CURVE_STRIBECK:
      at = stribeck(law, mu, s, &change);
      break;
    case SALTUS_CURVE_OWN:
      at = law->own->coefficient(law->own->self, s, &change);
      break;
    default:
      break;
    }
  }
  const double unit = mu > 0.0 ? mu : 1.0;
  if (slope != NULL) {
    *slope = change / unit;
  }
  return mu > 0.0 ? at / unit : 1.0;
}

static const saltus_friction_info table[] = {
    {"coulomb", "|P_T| <= mu P_N against the slip", "Coulomb 1785"},
    {"elliptic", "two coefficients along orthogonal tangents, associated or not",
     "Michalowski and Mroz 1978"},
    {"kinetic", "sticks up to one coefficient, slides with a smaller one", "Coulomb 1785"},
    {"stribeck", "the coefficient falls with the speed of slip, or follows a formula of it",
     "Stribeck 1902"},
    {"viscous", "a force in proportion to the slip beside the dry one", ""},
    {"rolling", "moment up to an arm times the normal force against rolling",
     "Leine and Glocker 2003"},
    {"drilling", "the same against spin about the normal", "Leine and Glocker 2003"},
    {"patch", "slip and spin share the friction of a circular patch", "Contensou 1963"},
    {"adhesion", "a bond that pulls up to a force", "Fremond 1987"},
    {"dry", "friction of any velocity up to a given limit, or by the reaction of a joint", ""},
};

const saltus_friction_info* saltus_friction_law_at(int i) {
  return i >= 0 && i < (int)(sizeof table / sizeof *table) ? &table[i] : NULL;
}

/* -P N^2 U / |M^-1 N^2 U| of an elliptic cone. */
static void slide_elliptic(const saltus_friction_law* law, double mu, double P, const double U[2],
                           double F[2]) {
  const double M[2] = {mu, law->across > 0.0 ? law->across : mu};
  const bool own = law->sliding[0] > 0.0;
  const double nu[2] = {own ? law->sliding[0] : M[0], own ? law->sliding[1] : M[1]};
  const double d[2] = {nu[0] * nu[0] * U[0], nu[1] * nu[1] * U[1]};
  const double size = hypot(d[0] / M[0], d[1] / M[1]);
  for (int k = 0; k < 2 && size > 0.0; k++) {
    F[k] = -P * d[k] / size;
  }
}

void saltus_friction_slide(const saltus_friction_law* law, double mu, const saltus_sliding* at,
                           double F[2], double* M) {
  assert(mu >= 0.0 && at != NULL && at->normal >= 0.0 && F != NULL && M != NULL);
  static const saltus_friction_law none = {0};
  const double N = at->normal, w = at->spin;
  const double own[2] = {at->slip[0], at->tangents > 1 ? at->slip[1] : 0.0};
  const double s = hypot(own[0], own[1]);
  law = law != NULL ? law : &none;
  F[0] = F[1] = *M = 0.0;
  const double P = N * (s > 0.0 ? saltus_friction_ratio(law, mu, s, NULL) : 1.0);
  if (law->patch != SALTUS_PATCH_NONE) {
    const double turn = law->radius * fabs(w);
    double f = 0.0, m = 0.0;
    if (s + turn > 0.0) {
      saltus_patch_load(law->patch, turn > 0.0 ? s / turn : INFINITY, &f, &m);
    }
    F[0] = s > 0.0 ? -mu * P * f * own[0] / s : 0.0;
    F[1] = s > 0.0 ? -mu * P * f * own[1] / s : 0.0;
    *M = w != 0.0 ? -copysign(mu * P * law->radius * m, w) : 0.0;
  } else if (s > 0.0 && mu > 0.0) {
    slide_elliptic(law, mu, P, own, F);
  }
  if (law->drilling > 0.0 && w != 0.0) {
    *M = -copysign(law->drilling * N, w);
  }
  for (int k = 0; k < 2; k++) {
    F[k] -= law->viscous * own[k];
  }
}

/* Complete elliptic integrals of parameter m = k^2 < 1 by the arithmetic-geometric mean. */
static void complete(double m, double* K, double* E) {
  double a = 1.0, b = sqrt(1.0 - m), sum = 0.5 * m, power = 0.5, c = 1.0;
  while (c > 1e-8 * a) { /* the next one is c^2 / (4 a) */
    const double mean = 0.5 * (a + b);
    c = 0.5 * (a - b);
    b = sqrt(a * b);
    a = mean;
    power *= 2.0;
    sum += power * c * c;
  }
  *K = pi / (2.0 * a);
  *E = *K * (1.0 - sum);
}

/* Series are used where the closed forms suffer from cancellation. */
static const double near_zero = 1e-2, far = 4.0, at_one = 1e-12;

static void uniform(double d, double* f, double* m) {
  const double d2 = d * d;
  double K = 0.0, E = 0.0;
  if (d < near_zero) {
    *f = d * (1.0 - d2 / 8.0 - d2 * d2 / 64.0);
    *m = 2.0 / 3.0 - d2 / 2.0 + 3.0 * d2 * d2 / 32.0 + 5.0 * d2 * d2 * d2 / 384.0;
  } else if (fabs(d - 1.0) < at_one) {
    *f = 8.0 / (3.0 * pi);
    *m = 8.0 / (9.0 * pi);
  } else if (d < 1.0) {
    complete(d2, &K, &E);
    *f = 4.0 / (3.0 * pi * d) * ((1.0 + d2) * E - (1.0 - d2) * K);
    *m = 4.0 / (9.0 * pi) * ((4.0 - 2.0 * d2) * E - (1.0 - d2) * K);
  } else {
    complete(1.0 / d2, &K, &E);
    *f = 4.0 / (3.0 * pi) * ((1.0 + d2) * E - (d2 - 1.0) * K);
    *m = 4.0 * d / (9.0 * pi) * ((4.0 - 2.0 * d2) * E + (2.0 * d2 - 5.0 + 3.0 / d2) * K);
  }
}

static void hertz(double d, double* f, double* m) {
  const double d2 = d * d;
  if (d <= 1.0) {
    *f = 3.0 * pi / 32.0 * d * (4.0 - d2);
    *m = 3.0 * pi / 16.0 * (1.0 - d2 + 3.0 * d2 * d2 / 8.0);
    return;
  }
  const double t = asin(1.0 / d), s = sqrt(d2 - 1.0) / d2;
  const double I0 = 2.0 * t, I2 = t - s, I4 = 0.75 * t - s * (0.75 + 0.5 / d2);
  const double B = 0.75 * (d2 * I0 - d2 * (1.0 + d2) * I2 + d2 * d2 * I4 +
                           (I0 - 2.0 * d2 * I2 + d2 * d2 * I4) / 4.0);
  *f = 0.75 * d * (2.0 * I0 - (2.0 + 4.0 * d2) * I2 + 4.0 * d2 * I4 - I2 + d2 * I4);
  *m = B - d * *f;
}

/* Slip dominates: D = sum of binom(1/2, k)^2 <r^2k> x^2k with x = 1/d, the mean of |1 + x r e^(i phi)| over the
 * angle and <r^2k> over the pressure; m = D', f = D - x D'. */
static void series(saltus_patch patch, double x, double* f, double* m) {
  enum { TERMS = 16 };
  const double x2 = x * x;
  double binomial = 1.0, mean = 1.0, power = 1.0;
  *f = 1.0;
  *m = 0.0;
  for (int k = 1; k <= TERMS; k++) {
    binomial *= (1.5 - k) / k;
    mean *= patch == SALTUS_PATCH_UNIFORM ? k / (k + 1.0) : k / (k + 1.5);
    const double term =
        binomial * binomial * mean * power; /* coefficient of x^2k, divided by x^2 */
    *m += 2.0 * k * term * x;
    *f += (1.0 - 2.0 * k) * term * x2;
    power *= x2;
  }
}

void saltus_patch_load(saltus_patch patch, double d, double* f, double* m) {
  assert(patch != SALTUS_PATCH_NONE && d >= 0.0 && f != NULL && m != NULL);
  if (d > far) {
    series(patch, 1.0 / d, f, m);
  } else if (patch == SALTUS_PATCH_UNIFORM) {
    uniform(d, f, m);
  } else {
    hertz(d, f, m);
  }
}

double saltus_patch_spin(saltus_patch patch) {
  return patch == SALTUS_PATCH_UNIFORM ? 2.0 / 3.0 : 3.0 * pi / 16.0;
}

double saltus_patch_gauge(saltus_patch patch, double F, double M) {
  assert(patch != SALTUS_PATCH_NONE);
  F = fabs(F);
  M = fabs(M);
  if (F == 0.0) {
    return M / saltus_patch_spin(patch);
  }
  if (M == 0.0) {
    return F;
  }
  /* d with m(d) / f(d) = M / F, which decreases from infinity to 0: bisection in ln d, to about 2e-16 */
  double low = log(DBL_EPSILON), high = -low, f = 1.0, m = 0.0;
  if (M * 1e15 < F) {
    return F;
  }
  for (int k = 0; k < 64; k++) {
    const double middle = 0.5 * (low + high);
    saltus_patch_load(patch, exp(middle), &f, &m);
    *(m * F > f * M ? &low : &high) = middle;
  }
  saltus_patch_load(patch, exp(0.5 * (low + high)), &f, &m);
  return sqrt((F * F + M * M) / (f * f + m * m));
}
