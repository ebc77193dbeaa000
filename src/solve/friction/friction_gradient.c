/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_gradient.c - accelerated projected gradient descent (Mazhar, Heyn, Negrut & Tasora, ACM
 * TOG 34 (2015) 32) with the term of De Saxce taken from the present point:
 *
 *   r+ = P_K(y - rho / L (u(y) + mu |u_T(y)| n)),   y+ = r+ + beta (r+ - r)
 *
 * Nesterov's beta, restarted when the step turns back (O'Donoghue & Candes, Found. Comput. Math. 15
 * (2015) 715-732). L is the largest eigenvalue of rho W by power iteration. On impacts the term
 * makes it diverge; Gauss-Seidel iterations follow where a hundred steps reduce the residual too little.
 */
#include "solve/friction/prox_fixed_point.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

enum { POWER_STEPS = 30, LOOK = 25, BETWEEN = 100 };

/* Steps of power iteration leave the eigenvalue a little short: a margin of two in a hundred after 30. Steps
 * beyond 1 / L would only be restarted; chosen, not measured. */
static const double power_margin = 1.02;

/* If this many iterations do not reduce the residual by this factor, Gauss-Seidel iterations follow; chosen. */
static const double gain_wanted = 0.95;

/* Largest eigenvalue of rho W, from W x = u(x) - q. */
static double lipschitz(saltusi_gauss_seidel_work* work, const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double* x = work->before;
  double L = 1.0;
  for (int a = 0; a < pattern->rows; a++) {
    x[a] = 1.0 + 0.25 * (a % 3) - 0.125 * (a % 7);
  }
  for (int k = 0; k < POWER_STEPS; k++) {
    double before = 0.0;
    for (int i = 0; i < pattern->units; i++) {
      for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
        before += x[a] * x[a] / in->rho[i];
      }
    }
    double scale = before > 0.0 ? 1.0 / sqrt(before) : 1.0;
    for (int a = 0; a < pattern->rows; a++) {
      x[a] *= scale;
    }
    saltusi_friction_velocity(in, x, work->u);
    double after = 0.0;
    for (int i = 0; i < pattern->units; i++) {
      for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
        x[a] = (work->u[a] - in->q[a]) * in->rho[i];
        after += x[a] * x[a] / in->rho[i];
      }
    }
    L = sqrt(after);
  }
  return L > 0.0 ? power_margin * L : 1.0;
}

/* The gradient step from y into next; returns (y - r+).(r+ - r) in the metric of 1 / rho. */
static double gradient_step(const saltusi_friction_case* in, const double* u, double L,
                            const double* y, const double* r, double* next) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double turn = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = saltusi_unit_rows(pattern, i);
    double step = in->rho[i] / L;
    for (int k = 0; k < d; k++) {
      next[at + k] = y[at + k] - step * u[at + k];
    }
    if (pattern->bilateral[i] == 0) {
      double mu = d > 1 ? in->mu[i] : 0.0;
      next[at] -= step * mu * saltusi_tangent_norm(d, u + at);
      saltusi_cone_project(d, mu, next + at);
    }
    for (int k = 0; k < d; k++) {
      turn += (y[at + k] - next[at + k]) * (next[at + k] - r[at + k]) / in->rho[i];
    }
  }
  return turn;
}

saltusi_stage saltusi_projected_gradient(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                         int iterations, int sweeps, double tol, double* r) {
  assert(work != NULL && in != NULL && iterations >= 0 && tol >= 0.0);
  int rows = in->pattern->rows;
  size_t bytes = (size_t)rows * sizeof(double);
  double* y = work->after;
  double* next = work->last_f;
  double L = lipschitz(work, in);
  double theta = 1.0;
  double best = INFINITY;
  double best_before = INFINITY;
  int judged = 0;
  memcpy(y, r, bytes);
  int k = 0;
  for (; k < iterations; k++) {
    if (k % LOOK == 0) {
      double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
      if (residual < best) {
        best = residual;
        memcpy(work->last_after, r, bytes);
      }
      if (best <= tol) {
        break;
      }
    }
    if (sweeps > 0 && k == judged + BETWEEN) {
      bool slow = !(best <= gain_wanted * best_before);
      judged = k;
      best_before = best;
      for (int s = 0; s < sweeps && slow; s++) {
        saltusi_sweep(in, r);
      }
      if (slow) {
        memcpy(y, r, bytes);
        theta = 1.0;
      }
    }
    saltusi_friction_velocity(in, y, work->u);
    double turn = gradient_step(in, work->u, L, y, r, next);
    double next_theta = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4.0));
    double beta = theta * (1.0 - theta) / (theta * theta + next_theta);
    theta = turn > 0.0 ? 1.0 : next_theta;
    beta = turn > 0.0 ? 0.0 : beta;
    for (int a = 0; a < rows; a++) {
      y[a] = next[a] + beta * (next[a] - r[a]);
      r[a] = next[a];
    }
  }
  memcpy(r, work->last_after, bytes);
  return (saltusi_stage){k, best};
}
