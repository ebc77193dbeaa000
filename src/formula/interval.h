/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * interval.h - intervals that contain the exact result of every operation on their points.
 *
 * The rounding mode stays: results are computed to nearest and moved outwards by a bound of their
 * error, one unit in the last place for * / and sqrt, one or two for + and -, 2^-50 of the value for
 * functions of the C library, whose errors are below two units. Numbers below TINY are moved to 0 or
 * TINY, so that nothing underflows. Rounding is monotone: a smaller interval gives a result inside
 * that of a larger one, but for functions of the C library, which may miss by their last digits.
 *
 * lo is never +inf, hi never -inf, none is NaN. Unknown, undefined or overflowing results have
 * infinite ends.
 */
#ifndef SALTUSI_INTERVAL_H
#define SALTUSI_INTERVAL_H

#include "saltus/enclosure.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define SALTUSI_TINY 0x1p-960
#define SALTUSI_UNIT 0x1.004p-53 /* r -+ UNIT |r| is the neighbour of r */

static const saltus_interval saltusi_everything = {-INFINITY, INFINITY};

static inline saltus_interval saltusi_exactly(double x) {
  return (saltus_interval){x, x};
}

static inline bool saltusi_is_zero(saltus_interval x) {
  return x.lo == 0.0 && x.hi == 0.0;
}

/* Both ends finite; false for NaN as well. */
static inline bool saltusi_bounded(saltus_interval x) {
  return x.hi - x.lo < INFINITY;
}

static inline saltus_interval saltusi_negative(saltus_interval x) {
  return (saltus_interval){-x.hi, -x.lo};
}

static inline saltus_interval saltusi_hull(saltus_interval x, saltus_interval y) {
  return (saltus_interval){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* Intersection of two enclosures of one quantity. */
static inline saltus_interval saltusi_both(saltus_interval x, saltus_interval y) {
  return (saltus_interval){x.lo > y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
}

static inline double saltusi_magnitude(saltus_interval x) {
  return -x.lo > x.hi ? -x.lo : x.hi;
}

/* The smallest |x|. */
static inline double saltusi_distance(saltus_interval x) {
  return x.lo > 0.0 ? x.lo : x.hi < 0.0 ? -x.hi : 0.0;
}

/* Rare case of widening: ends that are zero, tiny, infinite or NaN; other ends are moved by `part`. */
saltus_interval saltusi_outward_rare(double lo, double hi, double part);

/* Moves the ends outwards by the fraction `part`. Zeros are exact, or have the sign of the underflowed value. */
static inline saltus_interval saltusi_outward(double lo, double hi, double part) {
  const double a = fabs(lo), b = fabs(hi);
  if (a >= SALTUSI_TINY && a <= 0x1p1020 && b >= SALTUSI_TINY && b <= 0x1p1020) {
    return (saltus_interval){lo - a * part, hi + b * part};
  }
  return saltusi_outward_rare(lo, hi, part);
}

/* Sums do not underflow; 2^-52 instead of UNIT holds for subnormal numbers too. */
static inline saltus_interval saltusi_sum(saltus_interval x, saltus_interval y) {
  const double lo = x.lo + y.lo, hi = x.hi + y.hi;
  const saltus_interval r = {lo - fabs(lo) * 0x1p-52, hi + fabs(hi) * 0x1p-52};
  return r.lo <= r.hi ? r : saltusi_everything;
}

static inline saltus_interval saltusi_difference(saltus_interval x, saltus_interval y) {
  return saltusi_sum(x, saltusi_negative(y));
}

/* The ends of a product of finite intervals, to nearest. All four corners without a branch are
 * quicker than two after the signs. */
static inline saltus_interval saltusi_matrix_free_near(saltus_interval x, saltus_interval y) {
  const double a = x.lo * y.lo, b = x.lo * y.hi, c = x.hi * y.lo, d = x.hi * y.hi;
  const double least = a < b ? a : b, most = a > b ? a : b;
  const double less = c < d ? c : d, more = c > d ? c : d;
  return (saltus_interval){least < less ? least : less, most > more ? most : more};
}

saltus_interval saltusi_matrix_free_rare(saltus_interval x, saltus_interval y);

static inline saltus_interval saltusi_matrix_free(saltus_interval x, saltus_interval y) {
  const saltus_interval r = saltusi_matrix_free_near(x, y);
  const double a = fabs(r.lo), b = fabs(r.hi);
  if (a >= SALTUSI_TINY && a <= 0x1p1020 && b >= SALTUSI_TINY && b <= 0x1p1020) {
    return (saltus_interval){r.lo - a * SALTUSI_UNIT, r.hi + b * SALTUSI_UNIT};
  }
  return saltusi_matrix_free_rare(x, y);
}

/* c x, where c may itself be rounded */
static inline saltus_interval saltusi_scaled(double c, saltus_interval x) {
  const saltus_interval r = saltusi_matrix_free(saltusi_exactly(c), x);
  return saltusi_outward(r.lo, r.hi, SALTUSI_UNIT);
}

saltus_interval saltusi_quotient(saltus_interval x, saltus_interval y);
saltus_interval saltusi_square(saltus_interval x);
saltus_interval saltusi_power(saltus_interval x, int n); /* n >= 0 */

/* Sums of products, with one rounding for all: lo and hi are summed to nearest, and the error of n
 * terms is below (n + 2) 2^-53 sum |term|. Ends must be finite. */
typedef struct saltusi_dot {
  double lo, hi, size;
  int terms;
} saltusi_dot;

static inline void saltusi_dot_add(saltusi_dot* dot, saltus_interval x) {
  const double a = fabs(x.lo), b = fabs(x.hi);
  dot->lo += x.lo;
  dot->hi += x.hi;
  dot->size += a > b ? a : b;
  dot->terms++;
}

static inline void saltusi_dot_product(saltusi_dot* dot, saltus_interval x, saltus_interval y) {
  if (!saltusi_is_zero(x) && !saltusi_is_zero(y)) {
    saltusi_dot_add(dot, saltusi_matrix_free_near(x, y));
  }
}

static inline saltus_interval saltusi_dot_value(const saltusi_dot* dot) {
  if (dot->terms == 0) {
    return saltusi_exactly(0.0);
  }
  double error = dot->size * ((double)(dot->terms + 2) * 0x1p-53);
  error += dot->size < 0x1p-900 ? SALTUSI_TINY : 0.0; /* a term may have underflowed */
  return (saltus_interval){dot->lo - error, dot->hi + error};
}

/* Ranges of functions over the part of x in their domain; the entire line if x is outside of it. */
saltus_interval saltusi_range_sqrt(saltus_interval x);
saltus_interval saltusi_range_exp(saltus_interval x);
saltus_interval saltusi_range_log(saltus_interval x);
saltus_interval saltusi_range_log10(saltus_interval x);
saltus_interval saltusi_range_sin(saltus_interval x);
saltus_interval saltusi_range_cos(saltus_interval x);
void saltusi_range_waves(saltus_interval x, saltus_interval* sin, saltus_interval* cos);
saltus_interval saltusi_range_tan(saltus_interval x);
saltus_interval saltusi_range_asin(saltus_interval x);
saltus_interval saltusi_range_acos(saltus_interval x);
saltus_interval saltusi_range_atan(saltus_interval x);
saltus_interval saltusi_range_sinh(saltus_interval x);
saltus_interval saltusi_range_cosh(saltus_interval x);
saltus_interval saltusi_range_tanh(saltus_interval x);
saltus_interval saltusi_range_hypot(saltus_interval x, saltus_interval y);

/* x^p for x >= 0 and a number p that may be wrong by `error` */
saltus_interval saltusi_range_root(saltus_interval x, double p, double error);
/* x^y */
saltus_interval saltusi_range_pow(saltus_interval x, saltus_interval y);

/* False if the branch cut y = 0, x <= 0 is met: the range is then -pi..pi, and the angle jumps. */
bool saltusi_range_atan2(saltus_interval y, saltus_interval x, saltus_interval* range);

#endif
