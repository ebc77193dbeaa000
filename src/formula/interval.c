/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * interval.c - rare cases of interval arithmetic, and ranges of functions.
 *
 * Monotone functions take their ends at the ends. Extrema of sin and cos and poles of tan are the integers in x 2/pi,
 * searched with a margin for the rounding of that product.
 */
#include "formula/interval.h"

#include <assert.h>

/* Relative error bound of functions of the C library: 2^-50. */
#define LIBRARY 0x1p-50
#define PI_ABOVE 0x1.921fb54442d19p+1
#define HALF_PI_ABOVE 0x1.921fb54442d19p+0

/* Rounds down for every x. */
static double below(double x, double part) {
  if (isnan(x)) {
    return -INFINITY;
  }
  if (x >= INFINITY) {
    return DBL_MAX;
  }
  if (fabs(x) < SALTUSI_TINY) {
    return x < 0.0 ? -SALTUSI_TINY : 0.0;
  }
  return x - fabs(x) * part;
}

static double above(double x, double part) {
  return -below(-x, part);
}

saltus_interval saltusi_outward_rare(double lo, double hi, double part) {
  return (saltus_interval){below(lo, part), above(hi, part)};
}

/* 0 times an infinite end is 0, since the end bounds finite numbers. 0 times the entire line is the entire line, since
 * the value may be undefined. A product that underflows to zero keeps its sign. */
saltus_interval saltusi_matrix_free_rare(saltus_interval x, saltus_interval y) {
  const saltus_interval all = saltusi_everything;
  if ((x.lo == all.lo && x.hi == all.hi) || (y.lo == all.lo && y.hi == all.hi)) {
    return all;
  }
  if (saltusi_is_zero(x) || saltusi_is_zero(y)) {
    return saltusi_exactly(0.0);
  }
  const double a[2] = {x.lo, x.hi}, b[2] = {y.lo, y.hi};
  double lo = INFINITY, hi = -INFINITY;
  for (int i = 0; i < 4; i++) {
    const double p = a[i / 2] * b[i % 2];
    lo = p < lo ? p : lo;
    hi = p > hi ? p : hi;
    if (isnan(p)) {
      lo = lo < 0.0 ? lo : 0.0;
      hi = hi > 0.0 ? hi : 0.0;
    }
  }
  const bool positive = (x.lo >= 0.0 && y.lo >= 0.0) || (x.hi <= 0.0 && y.hi <= 0.0);
  const bool negative = (x.lo >= 0.0 && y.hi <= 0.0) || (x.hi <= 0.0 && y.lo >= 0.0);
  lo = fabs(lo) >= SALTUSI_TINY ? below(lo, SALTUSI_UNIT) : positive ? 0.0 : -SALTUSI_TINY;
  hi = fabs(hi) >= SALTUSI_TINY ? above(hi, SALTUSI_UNIT) : negative ? 0.0 : SALTUSI_TINY;
  return (saltus_interval){lo, hi};
}

/* The sign of a quotient that underflows is determined, since y does not contain 0. */
saltus_interval saltusi_quotient(saltus_interval x, saltus_interval y) {
  if (!(y.lo > 0.0 || y.hi < 0.0)) {
    return saltusi_everything;
  }
  if (y.hi < 0.0) {
    x = saltusi_negative(x);
    y = saltusi_negative(y);
  }
  double lo = x.lo / (x.lo >= 0.0 ? y.hi : y.lo);
  double hi = x.hi / (x.hi >= 0.0 ? y.lo : y.hi);
  lo = lo == 0.0 && x.lo < 0.0 ? -SALTUSI_TINY : lo;
  hi = hi == 0.0 && x.hi > 0.0 ? SALTUSI_TINY : hi;
  return saltusi_outward(lo, hi, SALTUSI_UNIT);
}

/* r is positive, and zero only by underflow or from `exact` */
static double never_zero(double r, bool exact) {
  return r < SALTUSI_TINY && !exact ? SALTUSI_TINY : r;
}

saltus_interval saltusi_square(saltus_interval x) {
  const double least = saltusi_distance(x), most = saltusi_magnitude(x);
  return saltusi_outward(least * least, never_zero(most * most, most == 0.0), SALTUSI_UNIT);
}

/* x^n of a number with n roundings to nearest; underflow gives 0 */
static double whole(double x, int n) {
  double power = 1.0;
  for (double square = x; n > 0; n /= 2) {
    power = n % 2 == 1 ? power * square : power;
    square *= square;
  }
  return power;
}

saltus_interval saltusi_power(saltus_interval x, int n) {
  if (n <= 1) {
    return n == 0 ? saltusi_exactly(1.0) : x;
  }
  const double part = (double)n * SALTUSI_UNIT;
  if (n % 2 == 0) {
    const double least = saltusi_distance(x), most = saltusi_magnitude(x);
    return saltusi_outward(whole(least, n), never_zero(whole(most, n), most == 0.0), part);
  }
  double lo = whole(x.lo, n), hi = whole(x.hi, n);
  lo = x.lo < 0.0 ? -never_zero(-lo, false) : lo;
  hi = x.hi > 0.0 ? never_zero(hi, false) : hi;
  return saltusi_outward(lo, hi, part);
}

saltus_interval saltusi_range_sqrt(saltus_interval x) {
  if (x.hi < 0.0) {
    return saltusi_everything;
  }
  return saltusi_outward(x.lo > 0.0 ? sqrt(x.lo) : 0.0, sqrt(x.hi), SALTUSI_UNIT);
}

saltus_interval saltusi_range_exp(saltus_interval x) {
  return saltusi_outward(exp(x.lo), never_zero(exp(x.hi), false), LIBRARY);
}

static saltus_interval logarithm(saltus_interval x, double (*f)(double)) {
  if (x.hi <= 0.0) {
    return saltusi_everything;
  }
  return saltusi_outward(x.lo > 0.0 ? f(x.lo) : -INFINITY, f(x.hi), LIBRARY);
}

saltus_interval saltusi_range_log(saltus_interval x) {
  return logarithm(x, log);
}

saltus_interval saltusi_range_log10(saltus_interval x) {
  return logarithm(x, log10);
}

/* Which remainders modulo 4 the integers in x 2/pi have, as bits: sin has its tops at 1 and bottoms
 * at 3, cos at 0 and 2; tan has poles at 1 and 3. All bits if x is too large to decide. */
static unsigned turns(saltus_interval x) {
  const double two_over_pi = 0x1.45f306dc9c883p-1;
  const double size = saltusi_magnitude(x);
  if (!(size < 1e15)) {
    return 15;
  }
  const double from = x.lo * two_over_pi - size * 0x1p-50;
  const double to = x.hi * two_over_pi + size * 0x1p-50;
  long long first = (long long)from, last = (long long)to; /* rounded to zero */
  first += (double)first < from;
  last -= (double)last > to;
  unsigned met = last - first >= 3 ? 15 : 0;
  for (long long n = first; n <= last && met != 15; n++) {
    met |= 1U << (n & 3);
  }
  return met;
}

static saltus_interval wave(saltus_interval x, unsigned met, double (*f)(double), int top) {
  const bool bottom = (met & (1U << (top ^ 2))) != 0;
  if (bottom && (met & (1U << top)) != 0) {
    return (saltus_interval){-1.0, 1.0};
  }
  const double a = f(x.lo), b = x.lo == x.hi ? a : f(x.hi);
  saltus_interval r = saltusi_outward(a < b ? a : b, a > b ? a : b, LIBRARY);
  r.lo = r.lo < -1.0 || bottom ? -1.0 : r.lo;
  r.hi = r.hi > 1.0 || (met & (1U << top)) != 0 ? 1.0 : r.hi;
  return r;
}

saltus_interval saltusi_range_sin(saltus_interval x) {
  return wave(x, turns(x), sin, 1);
}

saltus_interval saltusi_range_cos(saltus_interval x) {
  return wave(x, turns(x), cos, 0);
}

void saltusi_range_waves(saltus_interval x, saltus_interval* s, saltus_interval* c) {
  assert(s != NULL && c != NULL);
  const unsigned met = turns(x);
  *s = wave(x, met, sin, 1);
  *c = wave(x, met, cos, 0);
}

saltus_interval saltusi_range_tan(saltus_interval x) {
  if ((turns(x) & 10) != 0) {
    return saltusi_everything;
  }
  return saltusi_outward(tan(x.lo), tan(x.hi), LIBRARY);
}

static saltus_interval within(saltus_interval x, double lo, double hi) {
  return (saltus_interval){x.lo > lo ? x.lo : lo, x.hi < hi ? x.hi : hi};
}

saltus_interval saltusi_range_asin(saltus_interval x) {
  const saltus_interval d = within(x, -1.0, 1.0);
  if (!(d.lo <= d.hi)) {
    return saltusi_everything;
  }
  return within(saltusi_outward(asin(d.lo), asin(d.hi), LIBRARY), -HALF_PI_ABOVE, HALF_PI_ABOVE);
}

saltus_interval saltusi_range_acos(saltus_interval x) {
  const saltus_interval d = within(x, -1.0, 1.0);
  if (!(d.lo <= d.hi)) {
    return saltusi_everything;
  }
  return within(saltusi_outward(acos(d.hi), acos(d.lo), LIBRARY), 0.0, PI_ABOVE);
}

saltus_interval saltusi_range_atan(saltus_interval x) {
  return within(saltusi_outward(atan(x.lo), atan(x.hi), LIBRARY), -HALF_PI_ABOVE, HALF_PI_ABOVE);
}

saltus_interval saltusi_range_sinh(saltus_interval x) {
  return saltusi_outward(sinh(x.lo), sinh(x.hi), LIBRARY);
}

saltus_interval saltusi_range_cosh(saltus_interval x) {
  const saltus_interval r =
      saltusi_outward(cosh(saltusi_distance(x)), cosh(saltusi_magnitude(x)), LIBRARY);
  return within(r, 1.0, INFINITY);
}

saltus_interval saltusi_range_tanh(saltus_interval x) {
  return within(saltusi_outward(tanh(x.lo), tanh(x.hi), LIBRARY), -1.0, 1.0);
}

saltus_interval saltusi_range_hypot(saltus_interval x, saltus_interval y) {
  const double a = saltusi_magnitude(x), b = saltusi_magnitude(y);
  return saltusi_outward(hypot(saltusi_distance(x), saltusi_distance(y)), hypot(a, b), LIBRARY);
}

/* The relative error of x^p is |ln x| times the error of p. */
static double root(double x, double p, double error, double* part) {
  *part = fmax(*part, LIBRARY + (error > 0.0 ? 2.0 * error * fabs(log(x > 0.0 ? x : 1.0)) : 0.0));
  return pow(x, p);
}

saltus_interval saltusi_range_root(saltus_interval x, double p, double error) {
  double part = 0.0;
  if (p == 0.0) {
    return saltusi_exactly(1.0);
  }
  if (!(x.lo >= 0.0)) {
    return saltusi_everything;
  }
  const double a = root(x.lo, p, error, &part), b = root(x.hi, p, error, &part);
  const double least = a < b ? a : b, most = a < b ? b : a;
  return saltusi_outward(least, never_zero(most, p > 0.0 && x.hi == 0.0), part);
}

/* x^y with y ln x at a corner. For x = 0 and y > 0 the power is 0. x < 0 is excluded unless y is a single integer. */
saltus_interval saltusi_range_pow(saltus_interval x, saltus_interval y) {
  if (x.lo < 0.0 || x.hi <= 0.0 || (x.lo == 0.0 && y.lo <= 0.0) || !saltusi_bounded(y)) {
    return saltusi_is_zero(x) && y.lo > 0.0 ? x : saltusi_everything;
  }
  const double a[2] = {x.lo, x.hi}, b[2] = {y.lo, y.hi};
  double lo = INFINITY, hi = 0.0;
  for (int i = 0; i < 4; i++) {
    const double p = pow(a[i / 2], b[i % 2]);
    lo = p < lo ? p : lo;
    hi = p > hi ? p : hi;
  }
  return saltusi_outward(lo, never_zero(hi, false), LIBRARY);
}

bool saltusi_range_atan2(saltus_interval y, saltus_interval x, saltus_interval* range) {
  assert(range != NULL);
  if (x.lo <= 0.0 && y.hi >= 0.0 && (y.lo < 0.0 || (y.lo == 0.0 && x.hi >= 0.0))) {
    *range = (saltus_interval){-PI_ABOVE, PI_ABOVE};
    return false;
  }
  const double a[2] = {y.lo + 0.0, y.hi + 0.0}, b[2] = {x.lo, x.hi}; /* -0 becomes 0 */
  double lo = INFINITY, hi = -INFINITY;
  for (int i = 0; i < 4; i++) {
    const double p = atan2(a[i / 2], b[i % 2]);
    lo = p < lo ? p : lo;
    hi = p > hi ? p : hi;
  }
  *range = within(saltusi_outward(lo, hi, LIBRARY), -PI_ABOVE, PI_ABOVE);
  return true;
}
