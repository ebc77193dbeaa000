/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * jet.c - Taylor arithmetic over intervals.
 *
 * A function of one jet is composed: with d = x - x_0 and f_j = f^(j)(X)/j! over the range X of x_0,
 *
 *   f(x) = f_0 + f_1 d + f_2 d^2 + ...                Griewank and Walther, Evaluating Derivatives,
 *                                                     chapter 13
 *
 * instead of the usual recurrence in the coefficients of the result, because each f_j is enclosed as
 * a whole and even powers of d are squares: narrower, and for orders up to 6 not more work.
 *
 *   sin, cos, exp, sinh, cosh     f_j directly
 *   log, 1/x, sqrt, x^n, x^p      f_j = binomial x^(p - j)
 *   tan, tanh                     f' = 1 +- f^2, so (k + 1) f_(k+1) = +- sum f_i f_(k-i)
 *   asin, acos                    (1 - x^2) y'' = x y', differentiated n times
 *   atan                          (1 + x^2) y' = 1, differentiated n times; |f_j| <= (1 + x^2)^(-j/2) / j
 *
 * Coefficients are computed from the highest down, so a result may overwrite an operand.
 */
#include "formula/jet.h"

#include "formula/ops.h"

#include <assert.h>
#include <string.h>

enum { MOST = SALTUS_JET_ORDER + 1 };

static int larger(int a, int b) {
  return a > b ? a : b;
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* The highest coefficient that is stored. */
static int last(saltusi_extent e) {
  return smaller(e.degree, e.open - 1);
}

static void describe(saltusi_jet_place to, int degree, int open) {
  open = saltusi_bounded(to.c[0]) ? open : 1;
  to.extent->open = (unsigned char)open;
  to.extent->degree = (unsigned char)(open <= to.order ? to.order : smaller(degree, to.order));
}

/* Coefficients 1 .. last may have overflowed. */
static void finish(saltusi_jet_place to, int degree, int open) {
  const int top = smaller(smaller(degree, to.order), open - 1);
  for (int k = 1; k <= top; k++) {
    if (!saltusi_bounded(to.c[k])) {
      open = k;
      break;
    }
  }
  describe(to, degree, open);
}

saltusi_jet saltusi_jet_given(const saltus_interval* c, int order) {
  assert(c != NULL);
  int degree = order, open = 1;
  while (degree > 1 && saltusi_is_zero(c[degree])) {
    degree--;
  }
  if (saltusi_bounded(c[0])) {
    while (open <= degree && saltusi_bounded(c[open])) {
      open++;
    }
    open = open > degree ? order + 1 : open;
  }
  degree = open <= order ? order : degree;
  return (saltusi_jet){c, {(unsigned char)degree, (unsigned char)open}};
}

void saltusi_jet_write(saltusi_jet x, int order, saltus_interval* out) {
  assert(out != NULL);
  const int top = last(x.extent);
  for (int k = 0; k <= order; k++) {
    out[k] = k == 0 || k <= top   ? x.c[k]
             : k >= x.extent.open ? saltusi_everything
                                  : saltusi_exactly(0.0);
  }
}

void saltusi_jet_copy(saltusi_jet_place to, saltusi_jet x) {
  const int top = last(x.extent);
  for (int k = 0; k <= top; k++) {
    to.c[k] = x.c[k];
  }
  *to.extent = x.extent;
}

void saltusi_jet_negative(saltusi_jet_place to, saltusi_jet x) {
  const int top = last(x.extent);
  for (int k = 0; k <= top; k++) {
    to.c[k] = saltusi_negative(x.c[k]);
  }
  *to.extent = x.extent;
}

void saltusi_jet_sum(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  const int open = smaller(x.extent.open, y.extent.open);
  const int degree = larger(x.extent.degree, y.extent.degree);
  const int top = smaller(degree, open - 1);
  to.c[0] = saltusi_sum(x.c[0], y.c[0]);
  for (int k = 1; k <= top; k++) {
    to.c[k] = k > x.extent.degree   ? y.c[k]
              : k > y.extent.degree ? x.c[k]
                                    : saltusi_sum(x.c[k], y.c[k]);
  }
  finish(to, degree, open);
}

void saltusi_jet_difference(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  const int open = smaller(x.extent.open, y.extent.open);
  const int degree = larger(x.extent.degree, y.extent.degree);
  const int top = smaller(degree, open - 1);
  to.c[0] = saltusi_difference(x.c[0], y.c[0]);
  for (int k = 1; k <= top; k++) {
    to.c[k] = k > x.extent.degree   ? saltusi_negative(y.c[k])
              : k > y.extent.degree ? x.c[k]
                                    : saltusi_difference(x.c[k], y.c[k]);
  }
  finish(to, degree, open);
}

/* Coefficient k of x y */
static saltus_interval product_at(const saltus_interval* x, int nx, const saltus_interval* y,
                                  int ny, int k) {
  const int first = larger(0, k - ny), end = smaller(k, nx);
  if (first == end) {
    return saltusi_matrix_free(x[first], y[k - first]);
  }
  saltusi_dot dot = {0};
  for (int i = first; i <= end; i++) {
    saltusi_dot_product(&dot, x[i], y[k - i]);
  }
  return saltusi_dot_value(&dot);
}

void saltusi_jet_product_sum(saltusi_jet_place to, saltusi_jet x, saltusi_jet y,
                             const saltusi_jet* z, int s, int r) {
  assert(to.c != NULL && x.c != NULL && y.c != NULL);
  int open = smaller(x.extent.open, y.extent.open);
  int degree = smaller(x.extent.degree + y.extent.degree, to.order);
  const int product_degree = degree;
  if (z != NULL) {
    open = smaller(open, z->extent.open);
    degree = larger(degree, z->extent.degree);
  }
  for (int k = smaller(degree, open - 1); k >= 0; k--) {
    saltus_interval c = saltusi_exactly(0.0);
    if (k == 0) {
      c = saltusi_matrix_free(x.c[0], y.c[0]);
    } else if (k <= product_degree) {
      c = product_at(x.c, x.extent.degree, y.c, y.extent.degree, k);
    }
    c = s < 0 ? saltusi_negative(c) : c;
    if (z != NULL && k <= z->extent.degree) {
      const saltus_interval added = r < 0 ? saltusi_negative(z->c[k]) : z->c[k];
      c = k <= product_degree ? saltusi_sum(c, added) : added;
    }
    to.c[k] = c;
  }
  finish(to, degree, open);
}

void saltusi_jet_product(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  saltusi_jet_product_sum(to, x, y, NULL, 1, 1);
}

/* Coefficient k of x^2, x from coefficient `from` on */
static saltus_interval square_at(const saltus_interval* x, int from, int n, int k) {
  saltusi_dot dot = {0};
  for (int i = larger(from, k - n); 2 * i < k; i++) {
    saltusi_dot_product(&dot, x[i], x[k - i]);
  }
  const bool middle = k % 2 == 0 && k / 2 >= from && k / 2 <= n;
  if (dot.terms == 0) {
    return middle ? saltusi_square(x[k / 2]) : saltusi_exactly(0.0);
  }
  dot = (saltusi_dot){2.0 * dot.lo, 2.0 * dot.hi, 2.0 * dot.size, dot.terms};
  if (middle) {
    saltusi_dot_add(&dot, saltusi_square(x[k / 2]));
    dot.terms++; /* the square is already rounded */
  }
  return saltusi_dot_value(&dot);
}

/* Powers of d = x - x_0: p[j][k] for j = 2 .. most, k = j .. j * degree */
static void powers(const saltus_interval* x, int degree, int most, int order,
                   saltus_interval p[MOST][MOST]) {
  for (int j = 2; j <= most; j++) {
    const int half = j / 2, top = smaller(order, j * degree);
    const saltus_interval* base = half == 1 ? x : p[half];
    const int base_degree = smaller(order, half * degree);
    for (int k = j; k <= top; k++) {
      if (j % 2 == 0) {
        p[j][k] = square_at(base, half, base_degree, k);
        continue;
      }
      saltusi_dot dot = {0};
      const int before = smaller(order, (j - 1) * degree);
      for (int i = larger(j - 1, k - degree); i <= smaller(before, k - 1); i++) {
        saltusi_dot_product(&dot, p[j - 1][i], x[k - i]);
      }
      p[j][k] = saltusi_dot_value(&dot);
    }
  }
}

/* to = f(x), where f[j] for j = 1 .. order is the j-th coefficient of f over x_0 and `top` the last
 * that is not zero; value = f(x_0). */
static void compose(saltusi_jet_place to, saltusi_jet x, saltus_interval value,
                    const saltus_interval* f, int top) {
  const int degree = x.extent.degree, order = to.order;
  if (degree == 0) {
    to.c[0] = value;
    describe(to, 0, order + 1);
    return;
  }
  int open = x.extent.open;
  for (int j = 1; j <= smaller(top, open - 1); j++) {
    if (!saltusi_bounded(f[j])) {
      open = j;
    }
  }
  const int stored = smaller(degree, open - 1), most = smaller(top, open - 1);
  saltus_interval p[MOST][MOST];
  if (most >= 3 || (most == 2 && open > 3)) {
    powers(x.c, stored, most, open - 1, p);
  } else if (most == 2) {
    p[2][2] = saltusi_square(x.c[1]);
  }
  for (int k = open - 1; k >= 1; k--) {
    if (k == 1) {
      to.c[1] = most >= 1 ? saltusi_matrix_free(f[1], x.c[1]) : saltusi_exactly(0.0);
      continue;
    }
    saltusi_dot dot = {0};
    if (k <= degree && most >= 1) {
      saltusi_dot_product(&dot, f[1], x.c[k]);
    }
    for (int j = 2; j <= smaller(k, most); j++) {
      if (k <= j * stored) {
        saltusi_dot_product(&dot, f[j], p[j][k]);
      }
    }
    to.c[k] = saltusi_dot_value(&dot);
  }
  to.c[0] = value;
  finish(to, top < order ? smaller(order, top * degree) : order, open);
}

static const double inverse_factorial[MOST] = {1.0,        1.0,         1.0 / 2.0,  1.0 / 6.0,
                                               1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0};

/* f_j of a function with f'' = sign f; `zeroth` and `first` enclose f and f' */
static void periodic(saltus_interval zeroth, saltus_interval first, int sign, int order,
                     saltus_interval* f) {
  f[1] = first;
  for (int j = 2; j <= order; j++) {
    const saltus_interval base = j % 2 == 0 ? zeroth : first;
    f[j] = saltusi_scaled(inverse_factorial[j],
                          sign < 0 && j / 2 % 2 == 1 ? saltusi_negative(base) : base);
  }
}

/* sqrt: x^(1/2 - j) = r^(2 j - 1) with r = x^(-1/2) */
static void root_slopes(saltus_interval r, int order, saltus_interval* f) {
  static const double binomial[MOST] = {1.0,        0.5,        -0.125,       0.0625,
                                        -0.0390625, 0.02734375, -0.0205078125};
  for (int j = 1; j <= order; j++) {
    f[j] = saltusi_matrix_free(saltusi_exactly(binomial[j]), saltusi_power(r, 2 * j - 1));
  }
}

static void fill(saltus_interval* f, int order) {
  for (int j = 1; j <= order; j++) {
    f[j] = saltusi_everything;
  }
}

/* tan and tanh: f[0], f[1] are given */
static void by_square(int sign, int order, saltus_interval* f) {
  for (int k = 1; k < order; k++) {
    const saltus_interval w = square_at(f, 0, k, k);
    f[k + 1] = saltusi_scaled((double)sign / (double)(k + 1), w);
  }
}

/* 1 - x^2 = (1 - |x|)(1 + |x|), three roundings */
static saltus_interval one_minus_square(saltus_interval x) {
  const double a = saltusi_magnitude(x), b = saltusi_distance(x);
  return saltusi_outward((1.0 - a) * (1.0 + a), (1.0 - b) * (1.0 + b), 0x1p-51);
}

/* asin: (1 - x^2) y_(n+2) = (2 n + 1) x y_(n+1) + n^2 y_n */
static void arc_sine(saltus_interval x, int order, saltus_interval* f) {
  if (!(x.lo > -1.0 && x.hi < 1.0)) {
    fill(f, order);
    return;
  }
  const saltus_interval s = one_minus_square(x), one = saltusi_exactly(1.0);
  const saltus_interval inverse = saltusi_quotient(one, s);
  saltus_interval y[MOST + 1];
  y[1] = saltusi_quotient(one, saltusi_range_sqrt(s));
  for (int n = 0; n + 2 <= order; n++) {
    saltusi_dot dot = {0};
    saltusi_dot_product(&dot, saltusi_scaled((double)(2 * n + 1), x), y[n + 1]);
    if (n > 0) {
      saltusi_dot_product(&dot, saltusi_exactly((double)(n * n)), y[n]);
    }
    y[n + 2] = saltusi_matrix_free(saltusi_dot_value(&dot), inverse);
  }
  for (int j = 1; j <= order; j++) {
    f[j] = saltusi_scaled(inverse_factorial[j], y[j]);
  }
}

/* atan: (1 + x^2) y_(n+1) = -2 n x y_n - n (n - 1) y_(n-1) */
static void arc_tangent(saltus_interval x, int order, saltus_interval* f) {
  const saltus_interval one = saltusi_exactly(1.0);
  const saltus_interval inverse = saltusi_quotient(one, saltusi_sum(one, saltusi_square(x)));
  const double root = sqrt(inverse.hi) * (1.0 + 0x1p-50);
  saltus_interval y[MOST + 1];
  y[1] = inverse;
  double bound = root;
  for (int n = 1; n <= order; n++) {
    /* |y_n| <= (n - 1)! (1 + x^2)^(-n/2), a bound also for wide x */
    y[n] = saltusi_both(y[n], (saltus_interval){-bound, bound});
    f[n] = saltusi_scaled(inverse_factorial[n], y[n]);
    bound *= (double)n * root * (1.0 + 0x1p-50);
    if (n < order) {
      saltusi_dot dot = {0};
      saltusi_dot_product(&dot, saltusi_scaled(-2.0 * n, x), y[n]);
      if (n > 1) {
        saltusi_dot_product(&dot, saltusi_exactly(-(double)(n * (n - 1))), y[n - 1]);
      }
      y[n + 1] = saltusi_matrix_free(saltusi_dot_value(&dot), inverse);
    }
  }
}

static void log_slopes(saltus_interval x, int order, saltus_interval* f) {
  const saltus_interval inverse = saltusi_quotient(saltusi_exactly(1.0), x);
  for (int j = 1; j <= order; j++) {
    f[j] = saltusi_scaled((j % 2 == 1 ? 1.0 : -1.0) / (double)j, saltusi_power(inverse, j));
  }
}

/* The value, and f[1 .. order]. */
static saltus_interval expand(int op, saltus_interval x, int order, saltus_interval* f) {
  const saltus_interval one = saltusi_exactly(1.0);
  switch (op) {
  case SALTUSI_SIN:
  case SALTUSI_COS: {
    saltus_interval s, c;
    if (order == 0) {
      f[0] = op == SALTUSI_SIN ? saltusi_range_sin(x) : saltusi_range_cos(x);
      break;
    }
    saltusi_range_waves(x, &s, &c);
    f[0] = op == SALTUSI_SIN ? s : c;
    periodic(f[0], op == SALTUSI_SIN ? c : saltusi_negative(s), -1, order, f);
    break;
  }
  case SALTUSI_SINH:
    f[0] = saltusi_range_sinh(x);
    periodic(f[0], order > 0 ? saltusi_range_cosh(x) : one, 1, order, f);
    break;
  case SALTUSI_COSH:
    f[0] = saltusi_range_cosh(x);
    periodic(f[0], order > 0 ? saltusi_range_sinh(x) : one, 1, order, f);
    break;
  case SALTUSI_EXP:
    f[0] = saltusi_range_exp(x);
    periodic(f[0], f[0], 1, order, f);
    break;
  case SALTUSI_TAN:
    f[0] = saltusi_range_tan(x);
    f[1] = saltusi_sum(one, saltusi_square(f[0]));
    by_square(1, saltusi_bounded(f[0]) ? order : 0, f);
    break;
  case SALTUSI_TANH:
    f[0] = saltusi_range_tanh(x);
    f[1] = saltusi_quotient(one, saltusi_square(saltusi_range_cosh(x)));
    by_square(-1, order, f);
    break;
  case SALTUSI_ASIN:
    f[0] = saltusi_range_asin(x);
    arc_sine(x, order, f);
    break;
  case SALTUSI_ACOS:
    f[0] = saltusi_range_acos(x);
    arc_sine(x, order, f);
    for (int j = 1; j <= order; j++) {
      f[j] = saltusi_negative(f[j]);
    }
    break;
  case SALTUSI_ATAN:
    f[0] = saltusi_range_atan(x);
    arc_tangent(x, order, f);
    break;
  case SALTUSI_LOG:
    f[0] = saltusi_range_log(x);
    log_slopes(x, order, f);
    break;
  case SALTUSI_LOG10: {
    const saltus_interval log_e = {0x1.bcb7b1526e50dp-2, 0x1.bcb7b1526e50fp-2};
    f[0] = saltusi_range_log10(x);
    log_slopes(x, order, f);
    for (int j = 1; j <= order; j++) {
      f[j] = saltusi_matrix_free(log_e, f[j]);
    }
    break;
  }
  default: /* SQRT */
    f[0] = saltusi_range_sqrt(x);
    root_slopes(saltusi_quotient(one, f[0]), x.lo > 0.0 ? order : 0, f);
    if (!(x.lo > 0.0)) {
      fill(f, order);
    }
    break;
  }
  return f[0];
}

/* Number of coefficients of a function that have to be computed. */
static int wanted(saltusi_jet_place to, saltusi_jet x) {
  return x.extent.degree == 0 ? 0 : smaller(to.order, x.extent.open - 1);
}

void saltusi_jet_function(saltusi_jet_place to, int op, saltusi_jet x) {
  saltus_interval f[MOST + 1];
  const saltus_interval value = expand(op, x.c[0], wanted(to, x), f);
  if (!saltusi_bounded(value) && x.extent.degree > 0) {
    to.c[0] = value;
    describe(to, to.order, 1);
    return;
  }
  compose(to, x, value, f, to.order);
}

void saltusi_jet_power(saltusi_jet_place to, saltusi_jet x, int n) {
  saltus_interval f[MOST];
  const int top = smaller(wanted(to, x), n);
  double binomial = 1.0;
  for (int j = 1; j <= top; j++) {
    binomial = binomial * (double)(n - j + 1) / (double)j; /* a whole number, exact */
    f[j] = saltusi_matrix_free(saltusi_exactly(binomial), saltusi_power(x.c[0], n - j));
  }
  compose(to, x, n == 2 ? saltusi_square(x.c[0]) : saltusi_power(x.c[0], n), f,
          smaller(to.order, n));
}

void saltusi_jet_quotient(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  const saltus_interval value = saltusi_quotient(x.c[0], y.c[0]);
  if (y.extent.degree == 0) {
    const int top = last(x.extent);
    for (int k = 1; k <= top; k++) {
      to.c[k] = saltusi_quotient(x.c[k], y.c[0]);
    }
    to.c[0] = value;
    finish(to, x.extent.degree, x.extent.open);
    return;
  }
  saltus_interval f[MOST], inverse_c[MOST];
  saltusi_extent extent;
  const saltus_interval inverse = saltusi_quotient(saltusi_exactly(1.0), y.c[0]);
  if (!saltusi_bounded(value) || !saltusi_bounded(inverse)) {
    to.c[0] = value;
    describe(to, to.order, 1);
    return;
  }
  for (int j = 1; j <= wanted(to, y); j++) {
    const saltus_interval power = saltusi_power(inverse, j + 1);
    f[j] = j % 2 == 1 ? saltusi_negative(power) : power;
  }
  compose((saltusi_jet_place){inverse_c, &extent, to.order}, y, inverse, f, to.order);
  saltusi_jet_product(to, x, (saltusi_jet){inverse_c, extent});
  to.c[0] = value;
}

/* x^n for a whole number n, also negative and large */
static saltus_interval whole_power(saltus_interval x, double n) {
  if (n < 0.0) {
    return saltusi_quotient(saltusi_exactly(1.0), whole_power(x, -n));
  }
  const saltus_interval size = {saltusi_distance(x), saltusi_magnitude(x)};
  const saltus_interval r = saltusi_range_root(size, n, 0.0);
  if (fmod(n, 2.0) == 0.0 || x.lo >= 0.0) {
    return r;
  }
  if (x.hi <= 0.0) {
    return saltusi_negative(r);
  }
  const saltus_interval down = saltusi_range_root((saltus_interval){0.0, -x.lo}, n, 0.0);
  return (saltus_interval){-down.hi, saltusi_range_root((saltus_interval){0.0, x.hi}, n, 0.0).hi};
}

/* x^p for a number p: f_j = binomial(p, j) x^(p - j) */
static void constant_power(saltusi_jet_place to, saltusi_jet x, double p) {
  saltus_interval f[MOST];
  const saltus_interval X = x.c[0];
  const bool whole = p == floor(p);
  saltus_interval value, part = X, binomial = saltusi_exactly(1.0);
  if (whole) {
    value = whole_power(X, p);
  } else {
    part.lo = X.lo > 0.0 ? X.lo : 0.0;
    value = X.hi < 0.0 ? saltusi_everything : saltusi_range_root(part, p, 0.0);
  }
  const int order = wanted(to, x);
  for (int j = 1; j <= order; j++) {
    const double left = p - (double)j, error = left + (double)j == p ? 0.0 : 0x1p-53 * fabs(left);
    const saltus_interval factor =
        saltusi_sum(saltusi_exactly(p), saltusi_exactly(-(double)(j - 1)));
    binomial = saltusi_scaled(1.0 / (double)j, saltusi_matrix_free(binomial, factor));
    f[j] = whole                                       ? whole_power(X, left)
           : X.lo < 0.0 || (X.lo == 0.0 && left < 0.0) ? saltusi_everything
                                                       : saltusi_range_root(X, left, error);
    /* beyond 2^53 all numbers are even */
    f[j] = fabs(p) < 0x1p52 ? saltusi_matrix_free(binomial, f[j]) : saltusi_everything;
  }
  if (!saltusi_bounded(value) && x.extent.degree > 0) {
    to.c[0] = value;
    describe(to, to.order, 1);
    return;
  }
  compose(to, x, value, f, to.order);
}

void saltusi_jet_pow(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  if (y.extent.degree == 0 && y.c[0].lo == y.c[0].hi) {
    constant_power(to, x, y.c[0].lo);
    return;
  }
  const saltus_interval value = saltusi_range_pow(x.c[0], y.c[0]);
  if (!saltusi_bounded(value) || !(x.c[0].lo > 0.0)) {
    to.c[0] = value;
    describe(to, to.order, 1);
    return;
  }
  /* exp(y log x), except for the value, which is that of the power: exp(y log x) loses digits */
  saltus_interval log_c[MOST], f[MOST];
  saltusi_extent extent;
  const saltusi_jet_place log_place = {log_c, &extent, to.order};
  saltusi_jet_function(log_place, SALTUSI_LOG, x);
  saltusi_jet_product(log_place, (saltusi_jet){log_c, extent}, y);
  const saltusi_jet exponent = {log_c, extent};
  periodic(value, value, 1, wanted(to, exponent), f);
  compose(to, exponent, value, f, to.order);
}

/* x^2 + y^2 */
static void square_sum(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  saltus_interval c[MOST] = {{0}};
  saltusi_extent extent;
  const saltusi_jet_place second = {c, &extent, to.order};
  saltusi_jet_power(to, x, 2);
  saltusi_jet_power(second, y, 2);
  saltusi_jet_sum(to, (saltusi_jet){to.c, *to.extent}, (saltusi_jet){c, extent});
}

void saltusi_jet_hypot(saltusi_jet_place to, saltusi_jet x, saltusi_jet y) {
  const saltus_interval value = saltusi_range_hypot(x.c[0], y.c[0]);
  saltus_interval c[MOST];
  saltusi_extent extent;
  square_sum((saltusi_jet_place){c, &extent, to.order}, x, y);
  saltusi_jet_function(to, SALTUSI_SQRT, (saltusi_jet){c, extent});
  to.c[0] = value;
}

/* a = atan2(y, x):  (x^2 + y^2) a' = x y' - y x' */
void saltusi_jet_atan2(saltusi_jet_place to, saltusi_jet y, saltusi_jet x) {
  saltus_interval value, N[MOST] = {{0}}, D[MOST] = {{0}};
  saltusi_extent N_extent, D_extent;
  const int degree = larger(x.extent.degree, y.extent.degree);
  const bool smooth = saltusi_range_atan2(y.c[0], x.c[0], &value);
  const int open = smaller(x.extent.open, y.extent.open);
  if (degree == 0 || !smooth || to.order == 0) {
    to.c[0] = value;
    describe(to, degree, smooth || degree == 0 ? to.order + 1 : 1);
    return;
  }
  /* coefficient k of x y' - y x' needs coefficients up to k + 1 */
  const int top = smaller(to.order, open - 1) - 1;
  for (int k = 0; k <= top; k++) {
    saltusi_dot dot = {0};
    for (int i = 1; i <= k + 1; i++) {
      const saltus_interval scale = saltusi_exactly((double)i);
      if (i <= y.extent.degree && k + 1 - i <= x.extent.degree) {
        saltusi_dot_product(&dot, saltusi_matrix_free(scale, y.c[i]), x.c[k + 1 - i]);
      }
      if (i <= x.extent.degree && k + 1 - i <= y.extent.degree) {
        saltusi_dot_product(&dot, saltusi_negative(saltusi_matrix_free(scale, x.c[i])),
                            y.c[k + 1 - i]);
      }
    }
    N[k] = saltusi_dot_value(&dot);
  }
  const saltusi_jet_place N_place = {N, &N_extent, larger(top, 0)};
  if (top < 0) {
    to.c[0] = value;
    describe(to, to.order, 1);
    return;
  }
  const saltusi_jet N_jet = saltusi_jet_given(N, top);
  square_sum((saltusi_jet_place){D, &D_extent, to.order}, x, y);
  saltusi_extent D_short = {(unsigned char)smaller(D_extent.degree, top),
                            (unsigned char)smaller(D_extent.open, top + 1)};
  saltusi_jet_quotient(N_place, N_jet, (saltusi_jet){D, D_short});
  const int reach = N_extent.open <= top ? N_extent.open : top + 1;
  saltus_interval all[MOST];
  saltusi_jet_write((saltusi_jet){N, N_extent}, top, all);
  for (int k = reach; k >= 1; k--) {
    to.c[k] = saltusi_scaled(1.0 / (double)k, all[k - 1]);
  }
  to.c[0] = value;
  finish(to, to.order, reach + 1);
}

void saltusi_jet_either(saltusi_jet_place to, saltusi_jet x, saltusi_jet y, saltus_interval value,
                        bool joined) {
  if (x.extent.degree == 0 && y.extent.degree == 0 && joined) {
    to.c[0] = value;
    describe(to, 0, to.order + 1);
    return;
  }
  int open = 1;
  if (joined && x.extent.open > 1 && y.extent.open > 1 && to.order > 0) {
    const saltus_interval zero = saltusi_exactly(0.0);
    to.c[1] =
        saltusi_hull(x.extent.degree > 0 ? x.c[1] : zero, y.extent.degree > 0 ? y.c[1] : zero);
    open = 2;
  }
  to.c[0] = value;
  describe(to, to.order, open);
}
