/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * near_polynomial.h - Taylor remainders over a trajectory segment, by scalars instead of jets.
 *
 * Over a segment an angle stays within r of its middle and a square s within s_0 (1 +- e). The Taylor polynomials of
 * degree 6 there leave
 *
 *   |e^(i a) - T(a)| <= r^7 / 7!                         rate: r^6 / 6! |a'|
 *   |s^p - T(s)|     <= s_0^p e^7 / (1 - e)              rate: s_0^p 7 e^6 / (1 - e)^2 |s'| / s_0
 *
 * for p = 1/2, -1/2, -1, whose binomials are 1 at most. Sums and products propagate the remainders.
 */
#ifndef SALTUSI_NEAR_POLYNOMIAL_H
#define SALTUSI_NEAR_POLYNOMIAL_H

#include "formula/program.h"
#include "saltus/enclosure.h"

#include <math.h>

/* Bounds of a quantity, of its rate, of its distance from a polynomial, and of the rate of this distance. */
typedef struct saltusi_near_polynomial {
  double size, rate, off, off_rate;
} saltusi_near_polynomial;

static const saltusi_near_polynomial saltusi_far_from_polynomials = {INFINITY, INFINITY, INFINITY,
                                                                     INFINITY};

static inline saltusi_near_polynomial saltusi_near_exactly(double size, double rate) {
  return (saltusi_near_polynomial){.size = size, .rate = rate};
}

static inline saltusi_near_polynomial saltusi_near_sum(saltusi_near_polynomial x,
                                                       saltusi_near_polynomial y) {
  return (saltusi_near_polynomial){x.size + y.size, x.rate + y.rate, x.off + y.off,
                                   x.off_rate + y.off_rate};
}

/* x y - X Y = (x - X) Y + x (y - Y) for the polynomials X and Y */
static inline saltusi_near_polynomial saltusi_near_product(saltusi_near_polynomial x,
                                                           saltusi_near_polynomial y) {
  return (saltusi_near_polynomial){.size = x.size * y.size,
                                   .rate = x.rate * y.size + x.size * y.rate,
                                   .off = x.off * (y.size + y.off) + x.size * y.off,
                                   .off_rate = x.off_rate * (y.size + y.off) +
                                               x.off * (y.rate + y.off_rate) + x.rate * y.off +
                                               x.size * y.off_rate};
}

/* sin x and cos x, x within r of its middle; the remainder of x propagates through the polynomial, whose slope is at
 * most 1 + r^6 / 6!. */
static inline saltusi_near_polynomial saltusi_near_wave(saltusi_near_polynomial x, double r) {
  const double all = r + x.off, r2 = all * all, r6 = r2 * r2 * r2, slope = r6 / 720.0;
  return (saltusi_near_polynomial){.size = 1.0,
                                   .rate = x.rate,
                                   .off = r6 * all / 5040.0 + x.off,
                                   .off_rate =
                                       (slope + x.off) * x.rate + (1.0 + slope) * x.off_rate};
}

/* s^(n / 2), n = 1, -1, -2, of s between low and high, both positive, and within low (1 +- e) of its middle. The
 * remainder of s propagates through T' and T''. */
static inline saltusi_near_polynomial saltusi_near_power(saltusi_near_polynomial s, double low,
                                                         double high, double e, int n) {
  const double e2 = e * e, e6 = e2 * e2 * e2;
  if (!(e <= 0.5)) {
    return saltusi_far_from_polynomials;
  }
  const double largest = pow(n > 0 ? high : low, 0.5 * n);
  const double rate = s.rate / low, off = s.off / low;
  return (saltusi_near_polynomial){
      .size = largest,
      .rate = largest * rate, /* |n / 2| <= 1 */
      .off = largest * (2.0 * e6 * e + 4.0 * off),
      .off_rate = largest * (28.0 * e6 * rate + 16.0 * off * rate + 4.0 * s.off_rate / low)};
}

/* Bytes of scratch. */
size_t saltusi_remainder_bytes(const saltusi_program* program);

/* Output 0 of a program over a segment of order 1 or more: its distance from a polynomial of degree SALTUS_JET_ORDER at
 * most in q, v and t, with sines, roots and inverses of polynomials as further arguments; rate: that of its rate. INFINITY: no
 * bound. */
double saltusi_remainder(const saltusi_program* program, const saltus_course* course, bool rate);

#endif
