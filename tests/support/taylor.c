/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * taylor.c - the recurrences; Griewank and Walther, Evaluating Derivatives, table 13.2.
 */
#include "taylor.h"

#include <math.h>

enum { N = TAYLOR_ORDER };

taylor taylor_number(long double x) {
  return (taylor){{x}};
}

taylor taylor_add(taylor x, taylor y) {
  for (int k = 0; k <= N; k++) {
    x.c[k] += y.c[k];
  }
  return x;
}

static taylor scale(long double c, taylor x) {
  for (int k = 0; k <= N; k++) {
    x.c[k] *= c;
  }
  return x;
}

taylor taylor_sub(taylor x, taylor y) {
  return taylor_add(x, scale(-1.0L, y));
}

taylor taylor_mul(taylor x, taylor y) {
  taylor r = {{0}};
  for (int k = 0; k <= N; k++) {
    for (int i = 0; i <= k; i++) {
      r.c[k] += x.c[i] * y.c[k - i];
    }
  }
  return r;
}

taylor taylor_div(taylor x, taylor y) {
  taylor r;
  for (int k = 0; k <= N; k++) {
    long double sum = x.c[k];
    for (int i = 1; i <= k; i++) {
      sum -= y.c[i] * r.c[k - i];
    }
    r.c[k] = sum / y.c[0];
  }
  return r;
}

/* r with r(0) = value and r' = slope x' */
static taylor integrate(long double value, taylor slope, taylor x) {
  taylor r;
  r.c[0] = value;
  for (int k = 1; k <= N; k++) {
    r.c[k] = 0.0L;
    for (int i = 1; i <= k; i++) {
      r.c[k] += (long double)i * x.c[i] * slope.c[k - i];
    }
    r.c[k] /= (long double)k;
  }
  return r;
}

static void waves(taylor x, long double sign, taylor* s, taylor* c) {
  for (int k = 1; k <= N; k++) {
    s->c[k] = c->c[k] = 0.0L;
    for (int i = 1; i <= k; i++) {
      s->c[k] += (long double)i * x.c[i] * c->c[k - i];
      c->c[k] += sign * (long double)i * x.c[i] * s->c[k - i];
    }
    s->c[k] /= (long double)k;
    c->c[k] /= (long double)k;
  }
}

taylor taylor_sin(taylor x) {
  taylor s = {{sinl(x.c[0])}}, c = {{cosl(x.c[0])}};
  waves(x, -1.0L, &s, &c);
  return s;
}

taylor taylor_cos(taylor x) {
  taylor s = {{sinl(x.c[0])}}, c = {{cosl(x.c[0])}};
  waves(x, -1.0L, &s, &c);
  return c;
}

taylor taylor_tan(taylor x) {
  taylor r = taylor_div(taylor_sin(x), taylor_cos(x));
  r.c[0] = tanl(x.c[0]);
  return r;
}

static taylor one_minus_square(taylor x) {
  taylor r = taylor_sub(taylor_number(1.0L), taylor_mul(x, x));
  r.c[0] = (1.0L - x.c[0]) * (1.0L + x.c[0]);
  return r;
}

taylor taylor_asin(taylor x) {
  const taylor slope = taylor_div(taylor_number(1.0L), taylor_sqrt(one_minus_square(x)));
  return integrate(asinl(x.c[0]), slope, x);
}

taylor taylor_acos(taylor x) {
  const taylor slope = taylor_div(taylor_number(-1.0L), taylor_sqrt(one_minus_square(x)));
  return integrate(acosl(x.c[0]), slope, x);
}

taylor taylor_atan(taylor x) {
  const taylor one = taylor_number(1.0L);
  return integrate(atanl(x.c[0]), taylor_div(one, taylor_add(one, taylor_mul(x, x))), x);
}

taylor taylor_atan2(taylor y, taylor x) {
  const taylor square = taylor_add(taylor_mul(x, x), taylor_mul(y, y));
  const taylor along_y = integrate(0.0L, taylor_div(x, square), y);
  const taylor along_x = integrate(0.0L, taylor_div(y, square), x);
  taylor r = taylor_sub(along_y, along_x);
  r.c[0] = atan2l(y.c[0], x.c[0]);
  return r;
}

taylor taylor_sinh(taylor x) {
  taylor s = {{sinhl(x.c[0])}}, c = {{coshl(x.c[0])}};
  waves(x, 1.0L, &s, &c);
  return s;
}

taylor taylor_cosh(taylor x) {
  taylor s = {{sinhl(x.c[0])}}, c = {{coshl(x.c[0])}};
  waves(x, 1.0L, &s, &c);
  return c;
}

/* r' = sech^2(x) x', without the cancellation of 1 - r^2 */
taylor taylor_tanh(taylor x) {
  const taylor c = taylor_cosh(x);
  return integrate(tanhl(x.c[0]), taylor_div(taylor_number(1.0L), taylor_mul(c, c)), x);
}

taylor taylor_exp(taylor x) {
  taylor r = {{expl(x.c[0])}};
  for (int k = 1; k <= N; k++) {
    r.c[k] = 0.0L;
    for (int i = 1; i <= k; i++) {
      r.c[k] += (long double)i * x.c[i] * r.c[k - i];
    }
    r.c[k] /= (long double)k;
  }
  return r;
}

taylor taylor_log(taylor x) {
  return integrate(logl(x.c[0]), taylor_div(taylor_number(1.0L), x), x);
}

taylor taylor_log10(taylor x) {
  taylor r = scale(0.43429448190325182765112891891660508L, taylor_log(x));
  r.c[0] = log10l(x.c[0]);
  return r;
}

taylor taylor_sqrt(taylor x) {
  taylor r = {{sqrtl(x.c[0])}};
  for (int k = 1; k <= N; k++) {
    long double sum = x.c[k];
    for (int i = 1; i < k; i++) {
      sum -= r.c[i] * r.c[k - i];
    }
    r.c[k] = sum / (2.0L * r.c[0]);
  }
  return r;
}

taylor taylor_abs(taylor x) {
  return x.c[0] < 0.0L ? scale(-1.0L, x) : x;
}

taylor taylor_sign(taylor x) {
  return taylor_number(x.c[0] > 0.0L ? 1.0L : x.c[0] < 0.0L ? -1.0L : 0.0L);
}

taylor taylor_min(taylor x, taylor y) {
  return x.c[0] <= y.c[0] ? x : y;
}

taylor taylor_max(taylor x, taylor y) {
  return x.c[0] >= y.c[0] ? x : y;
}

taylor taylor_hypot(taylor x, taylor y) {
  taylor r = taylor_sqrt(taylor_add(taylor_mul(x, x), taylor_mul(y, y)));
  r.c[0] = hypotl(x.c[0], y.c[0]);
  return r;
}

taylor taylor_pow(taylor x, taylor y) {
  taylor r = taylor_exp(taylor_mul(y, taylor_log(x)));
  const long double exact = powl(x.c[0], y.c[0]);
  r = scale(exact / r.c[0], r);
  r.c[0] = exact;
  return r;
}

taylor taylor_power(taylor x, int n) {
  taylor r = taylor_number(1.0L);
  for (int i = 0; i < (n < 0 ? -n : n); i++) {
    r = taylor_mul(r, x);
  }
  return n < 0 ? taylor_div(taylor_number(1.0L), r) : r;
}
