/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * norms.c - grid norms of errors and the order of convergence from their slope.
 *
 *   ||e||_p   = (sum_i h_i |e_i|^p)^(1/p),  h_i = t_i - t_{i-1}     (Acary 2009, (21))
 *   ||e||_inf = max_i |e_i|
 *   slope     = sum (x - mean x)(y - mean y) / sum (x - mean x)^2,  x = log h, y = log error
 */
#include "saltus/measure.h"

#include <assert.h>
#include <math.h>

/* Largest absolute component; NaN if one is NaN, so that it does not count as a small error. */
static double largest(size_t n, const double* e) {
  double most = 0.0;
  for (size_t i = 0; i < n; i++) {
    double size = fabs(e[i]);
    if (!(size <= most)) {
      most = size;
    }
    if (isnan(most)) {
      return most;
    }
  }
  return most;
}

double saltus_norm(int count, int n, const double* t, const double* e, double p) {
  assert(count >= 0 && n >= 0);
  if (isinf(p)) {
    return largest((size_t)count * (size_t)n, e);
  }
  double sum = 0.0;
  for (int i = 1; i < count; i++) {
    double size = largest((size_t)n, e + (size_t)i * (size_t)n);
    double power = p == 1.0 ? size : p == 2.0 ? size * size : pow(size, p);
    sum += (t[i] - t[i - 1]) * power;
  }
  return p == 1.0 ? sum : p == 2.0 ? sqrt(sum) : pow(sum, 1.0 / p);
}

double saltus_slope(int count, const double* h, const double* error) {
  assert(count >= 0);
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (int i = 0; i < count; i++) {
    if (!(h[i] > 0.0) || !(error[i] > 0.0)) {
      return NAN;
    }
    mean_x += log(h[i]) / count;
    mean_y += log(error[i]) / count;
  }
  double xx = 0.0;
  double xy = 0.0;
  for (int i = 0; i < count; i++) {
    double dx = log(h[i]) - mean_x;
    xx += dx * dx;
    xy += dx * (log(error[i]) - mean_y);
  }
  return count >= 2 && xx > 0.0 ? xy / xx : NAN;
}
