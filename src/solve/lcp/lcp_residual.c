/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_residual.c - how far z is from solving a linear complementarity problem, from z alone.
 */
#include "saltus/contact.h"

#include "solve/lcp/lcp_dense.h"

#include <assert.h>
#include <math.h>

/* (M z)_i, and the diagonal entry of the row. */
static double row_times(const saltus_lcp* problem, int i, const double* z, double* diagonal) {
  if (problem->sparse.start == NULL) {
    const double* row = problem->M + (size_t)i * (size_t)problem->n;
    *diagonal = row[i];
    return saltusi_dot4(problem->n, row, z);
  }
  double sum = 0.0;
  *diagonal = 0.0;
  for (int k = problem->sparse.start[i]; k < problem->sparse.start[i + 1]; k++) {
    int j = problem->sparse.column[k];
    sum += problem->sparse.values[k] * z[j];
    *diagonal += j == i ? problem->sparse.values[k] : 0.0;
  }
  return sum;
}

/* Maximum that propagates NaN: a residual that cannot be computed is not small. */
static double larger(double a, double b) {
  return b <= a || isnan(a) ? a : b;
}

saltus_residual saltus_lcp_residual(const saltus_lcp* problem, const double* z, double* w) {
  assert(problem != NULL);
  saltus_residual out = {0};
  double sum = 0.0;
  double size = 0.0;
  for (int i = 0; i < problem->n; i++) {
    double diagonal;
    w[i] = row_times(problem, i, z, &diagonal) + problem->q[i];
    diagonal = diagonal > 0.0 ? diagonal : 1.0; /* 1 / rho */
    double as_velocity = z[i] * diagonal;
    /* a NaN in w or in z propagates to the result */
    bool free = i < problem->bilateral;
    double plain = (!free && z[i] < w[i] ? z[i] : w[i]) + 0.0 * z[i];
    double velocity = (!free && as_velocity < w[i] ? as_velocity : w[i]) + 0.0 * z[i];
    sum += plain * plain;
    size += problem->q[i] * problem->q[i];
    out.velocity = larger(out.velocity, fabs(velocity));
    /* compared before the division, which costs as much as the rest of the row */
    if (!(fabs(velocity) <= out.impulse * diagonal)) {
      out.impulse = larger(out.impulse, fabs(velocity) / diagonal);
    }
  }
  out.normalised = sqrt(sum) / (size > 0.0 ? sqrt(size) : 1.0);
  return out;
}
