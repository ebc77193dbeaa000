/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * residual.c - residual of a friction problem from the problem and r alone. Solvers use the same formulas with
 * precomputed rho (friction_case.c); this evaluation is independent of them.
 */
#include "solve/friction/residual.h"

#include <assert.h>

static int unit_rows(const saltus_block_matrix* W, int i) {
  return W->offset[i + 1] - W->offset[i];
}

/* NULL when the unit has no diagonal block. */
static const double* diagonal_block(const saltus_block_matrix* W, int i) {
  for (int e = W->start[i]; e < W->start[i + 1]; e++) {
    if (W->unit[e] == i) {
      return W->values + W->place[e];
    }
  }
  return NULL;
}

/* u_i = (W r + q)_i */
static void unit_velocity(const saltus_friction_problem* problem, int i, const double* r,
                          double* u) {
  const saltus_block_matrix* W = &problem->W;
  int d = unit_rows(W, i);
  for (int k = 0; k < d; k++) {
    u[k] = problem->q[W->offset[i] + k];
  }
  for (int e = W->start[i]; e < W->start[i + 1]; e++) {
    int j = W->unit[e];
    int columns = unit_rows(W, j);
    const double* block = W->values + W->place[e];
    const double* rj = r + W->offset[j];
    for (int k = 0; k < d; k++) {
      double sum = 0.0;
      for (int c = 0; c < columns; c++) {
        sum += block[k * columns + c] * rj[c];
      }
      u[k] += sum;
    }
  }
}

saltus_residual saltus_friction_residual(const saltus_friction_problem* problem, const double* r,
                                         double* u) {
  assert(problem != NULL);
  const saltus_block_matrix* W = &problem->W;
  double largest = 0.0;
  for (int i = 0; i < W->units; i++) {
    largest = fmax(largest, saltusi_mean_diagonal(unit_rows(W, i), diagonal_block(W, i)));
  }
  saltusi_residual_sum sum = {0};
  for (int i = 0; i < W->units; i++) {
    int d = unit_rows(W, i);
    int at = W->offset[i];
    unit_velocity(problem, i, r, u + at);
    double rho = saltusi_unit_rho(saltusi_mean_diagonal(d, diagonal_block(W, i)), largest);
    double miss2 = 0.0;
    if (problem->bilateral != NULL && problem->bilateral[i] != 0) {
      for (int k = 0; k < d; k++) {
        miss2 += u[at + k] * u[at + k];
      }
    } else if (d >= 1 && d <= 3) {
      miss2 = saltusi_natural_map2(d, d > 1 ? problem->mu[i] : 0.0, rho, r + at, u + at);
    } else {
      miss2 = NAN; /* no such contact */
    }
    saltusi_residual_add(&sum, miss2, rho);
  }
  int rows = W->units > 0 ? W->offset[W->units] : 0;
  return (saltus_residual){.normalised = sqrt(sum.sum2) / saltusi_velocity_unit(rows, problem->q),
                           .velocity = sum.velocity,
                           .impulse = sum.impulse};
}
