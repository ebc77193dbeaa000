/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * prox_fixed_point.c - the proximal equations solved by fixed point, all contacts at once:
 *
 *   r_N+ = prox_{R+}(r_N - s u_N),   r_T+ = prox_{B(mu r_N+)}(r_T - s u_T),   r_b+ = r_b - s u_b
 *
 * as in the nonsmooth generalised-alpha and Moreau-type codes (Capobianco & Eugster, IJNME 114
 * (2018); Leine & van de Wouw, Stability and Convergence of Mechanical Systems, section 5.3), with
 * s = w rho_i and the common factor w adapted: halved when the increment grows by half over its
 * best, raised slowly otherwise.
 */
#include "solve/friction/prox_fixed_point.h"

#include <assert.h>
#include <string.h>

/* Relaxation: halved, down to `relaxation_least`, when increments exceed `worse` times the smallest; else it
 * grows by one in 500 up to `relaxation_most`, below the 2 beyond which no such iteration contracts. The residual
 * is looked at once in LOOK iterations. All but the 2 chosen. */
static const double relaxation_least = 1e-4;
static const double relaxation_most = 1.5;
static const double relaxation_growth = 1.002;
static const double worse = 1.5;
enum { LOOK = 20 };

/* Keeps the impulses of the smallest residual in work->last_after. */
static void keep_best(saltusi_gauss_seidel_work* work, const saltusi_friction_case* in,
                      const double* r, double* best) {
  double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
  if (residual < *best) {
    *best = residual;
    memcpy(work->last_after, r, (size_t)in->pattern->rows * sizeof(double));
  }
}

/* One proximal step of unit i; returns |increment / rho|^2. */
static double prox_unit(const saltusi_friction_case* in, int i, double w, const double* u,
                        double* r) {
  int d = saltusi_unit_rows(in->pattern, i);
  double step = w * in->rho[i];
  double sum = 0.0;
  if (in->pattern->bilateral[i] != 0) {
    for (int k = 0; k < d; k++) {
      r[k] -= step * u[k];
      sum += w * w * u[k] * u[k];
    }
    return sum;
  }
  double x[3] = {0.0};
  for (int k = 0; k < d; k++) {
    x[k] = r[k] - step * u[k];
  }
  x[0] = fmax(x[0], 0.0);
  double t = saltusi_tangent_norm(d, x);
  double radius = d > 1 ? in->mu[i] * x[0] : 0.0;
  double shrink = t > radius ? radius / t : 1.0;
  for (int k = 0; k < d; k++) {
    double fresh = k == 0 ? x[0] : x[k] * shrink;
    double change = (fresh - r[k]) / in->rho[i];
    sum += change * change;
    r[k] = fresh;
  }
  return sum;
}

saltusi_stage saltusi_prox_fixed_point(saltusi_gauss_seidel_work* work,
                                       const saltusi_friction_case* in, int iterations, double tol,
                                       double* r) {
  assert(work != NULL && in != NULL && iterations >= 0 && tol >= 0.0);
  const saltusi_friction_pattern* pattern = in->pattern;
  size_t bytes = (size_t)pattern->rows * sizeof(double);
  double best = INFINITY;
  keep_best(work, in, r, &best);
  double w = 1.0;
  double smallest = INFINITY;
  int k = 0;
  for (; k < iterations && best > tol; k++) {
    saltusi_friction_velocity(in, r, work->u);
    double sum = 0.0;
    for (int i = 0; i < pattern->units; i++) {
      sum += prox_unit(in, i, w, work->u + pattern->offset[i], r + pattern->offset[i]);
    }
    double size = sqrt(sum) / w;
    if (size > worse * smallest && w > relaxation_least) {
      w *= 0.5;
      smallest = size;
    } else {
      smallest = fmin(smallest, size);
      w = fmin(relaxation_growth * w, relaxation_most);
    }
    if (k % LOOK == LOOK - 1 || size <= tol * in->velocity_unit) {
      keep_best(work, in, r, &best);
    }
  }
  keep_best(work, in, r, &best);
  memcpy(r, work->last_after, bytes);
  return (saltusi_stage){k, best};
}
