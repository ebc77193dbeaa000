/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * semismooth_newton.c - Alart & Curnier, CMAME 92 (1991) 353-375. With x = r - rho u, per contact
 * and divided by rho,
 *
 *   x_N <= 0            phi = r / rho
 *   |x_T| <= mu x_N     phi = u
 *   else                phi_N = u_N,  phi_T = (r_T - mu x_N x_T / |x_T|) / rho
 *
 * and phi = u for bilateral rows. The Newton matrix uses W + alpha diag(1 / rho): alpha grows by 30
 * when the line search fails and shrinks by 5 after a full step, which carries the method over
 * redundant contacts. The line search compares with the largest of the last eight values (Grippo,
 * Lampariello & Lucidi, SIAM J. Numer. Anal. 23 (1986) 707-716).
 */
#include "solve/friction/semismooth_newton.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

enum { MEMORY = 8, HALVINGS = 8, FAILURES = 20 };
/* Required relative decrease per unit of step length: the usual 1e-4 of Armijo's rule (Nocedal & Wright,
 * Numerical Optimization (2006), section 3.1). */
static const double armijo = 1e-4;
/* alpha, relative to the diagonal: initially the square root of rounding, since near a solution the error of a step is
 * proportional to alpha; at least 1e-6 after a failure; at least 5e4 eps, below which it is lost in the factors; above
 * 10 a step is a gradient step. The factors are chosen. */
static const double alpha_first = 1e-8;
static const double alpha_after_failure = 1e-6;
static const double alpha_least = 1e-11;
static const double alpha_most = 10.0;
static const double alpha_growth = 30.0;
static const double alpha_decay = 0.2;
/* Relative residual of linear solves: an inexact Newton step with a forcing term of a tenth
 * (Dembo, Eisenstat & Steihaug, SIAM J. Numer. Anal. 19 (1982) 400-408, ask for less than one). */
static const double forcing = 0.1;
/* A trial is continued if it reduces the residual below this fraction; NEWTON_TRIAL of friction_auto.c is measured with
 * it. */
static const double trial_part = 0.15;
/* |phi| below this fraction of the largest stored value makes the line search monotone; chosen. */
static const double forget = 0.1;

void saltusi_newton_layout(saltusi_newton_work* work, int units, int rows, saltus_arena* arena) {
  assert(work != NULL && arena != NULL && units >= 0 && rows >= 0);
  work->u = SALTUS_PUSH(arena, double, rows);
  work->phi = SALTUS_PUSH(arena, double, rows);
  work->dr = SALTUS_PUSH(arena, double, rows);
  work->next = SALTUS_PUSH(arena, double, rows);
  work->next_u = SALTUS_PUSH(arena, double, rows);
  work->best = SALTUS_PUSH(arena, double, rows);
  work->by_impulse = SALTUS_PUSH2(arena, double, units, 9);
  work->by_velocity = SALTUS_PUSH2(arena, double, units, 9);
}

/* Slip rows: phi_T and its derivatives by r and by u, NULL when not wanted. */
static void slip_rows(int d, double mu, double rho, const double* r, const double* x, double* phi,
                      double* derivatives[2]) {
  double* A = derivatives != NULL ? derivatives[0] : NULL;
  double* B = derivatives != NULL ? derivatives[1] : NULL;
  double t = saltusi_tangent_norm(d, x);
  double radius = mu * x[0];
  double shrink = t > 0.0 ? radius / t : 0.0;
  for (int k = 1; k < d; k++) {
    phi[k] = (r[k] - shrink * x[k]) / rho;
    double along = t > 0.0 ? x[k] / t : 0.0;
    for (int c = 1; c < d && A != NULL; c++) {
      double one = k == c ? 1.0 : 0.0;
      double projector = t > 0.0 ? shrink * (one - along * x[c] / t) : 0.0;
      A[k * d + c] = (one - projector) / rho;
      B[k * d + c] = projector;
    }
    if (A != NULL) {
      A[k * d] = -mu * along / rho;
      B[k * d] = mu * along;
    }
  }
}

static void contact_rows(int d, double mu, double rho, const double* r, const double* u,
                         double* phi, double* derivatives[2]) {
  double* A = derivatives != NULL ? derivatives[0] : NULL;
  double* B = derivatives != NULL ? derivatives[1] : NULL;
  double x[3] = {0.0};
  for (int k = 0; k < d; k++) {
    x[k] = r[k] - rho * u[k];
  }
  if (A != NULL) {
    memset(A, 0, 9 * sizeof(double));
    memset(B, 0, 9 * sizeof(double));
  }
  if (x[0] <= 0.0) {
    for (int k = 0; k < d; k++) {
      phi[k] = r[k] / rho;
      if (A != NULL) {
        A[k * (d + 1)] = 1.0 / rho;
      }
    }
    return;
  }
  bool sticks = mu > 0.0 && saltusi_tangent_norm(d, x) <= mu * x[0];
  phi[0] = u[0];
  if (B != NULL) {
    B[0] = 1.0;
  }
  if (!sticks) {
    slip_rows(d, mu, rho, r, x, phi, derivatives);
    return;
  }
  for (int k = 1; k < d; k++) {
    phi[k] = u[k];
    if (B != NULL) {
      B[k * (d + 1)] = 1.0;
    }
  }
}

/* phi and, when wanted, its derivatives; returns |phi| / |q|. */
static double evaluate(saltusi_newton_work* work, const saltusi_friction_case* in, const double* r,
                       const double* u, double* phi, bool derivatives) {
  const saltusi_friction_pattern* pattern = in->pattern;
  double sum = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    int at = pattern->offset[i];
    int d = saltusi_unit_rows(pattern, i);
    if (pattern->bilateral[i] != 0) {
      memcpy(phi + at, u + at, (size_t)d * sizeof(double));
    } else {
      double* both[2] = {work->by_impulse + 9 * (size_t)i, work->by_velocity + 9 * (size_t)i};
      contact_rows(d, d > 1 ? in->mu[i] : 0.0, in->rho[i], r + at, u + at, phi + at,
                   derivatives ? both : NULL);
    }
    sum += saltusi_dot(d, phi + at, phi + at);
  }
  return sqrt(sum) / in->velocity_unit;
}

/* to = B W_ij of a contact row, or W_ij of a bilateral one. */
static void fill_block(const double* B, int d, int columns, const double* from, double* to) {
  for (int k = 0; k < d; k++) {
    for (int c = 0; c < columns; c++) {
      double sum = 0.0;
      for (int l = 0; l < d; l++) {
        sum += B[k * d + l] * from[l * columns + c];
      }
      to[k * columns + c] = sum;
    }
  }
}

/* A + B (W + alpha / rho) */
static void assemble(const saltusi_newton_work* work, saltusi_block_lu* lu,
                     const saltusi_friction_case* in, double alpha) {
  const saltusi_friction_pattern* pattern = in->pattern;
  for (int i = 0; i < pattern->units; i++) {
    int d = saltusi_unit_rows(pattern, i);
    bool bilateral = pattern->bilateral[i] != 0;
    const double* A = work->by_impulse + 9 * (size_t)i;
    const double* B = work->by_velocity + 9 * (size_t)i;
    for (int e = lu->start[i]; e < lu->start[i + 1]; e++) {
      double* to = lu->values + lu->place[e];
      size_t count = lu->place[e + 1] - lu->place[e];
      if (lu->source[e] < 0) {
        memset(to, 0, count * sizeof(double));
        continue;
      }
      const double* from = in->values + pattern->place[lu->source[e]];
      if (bilateral) {
        memcpy(to, from, count * sizeof(double));
      } else if (d == 3 && count == 9) {
        fill_block(B, 3, 3, from, to);
      } else {
        fill_block(B, d, (int)(count / (size_t)d), from, to);
      }
    }
    double* own = lu->values + lu->place[lu->diagonal[i]];
    double soft = alpha / in->rho[i];
    for (int k = 0; k < d; k++) {
      for (int c = 0; c < d; c++) {
        double one = k == c ? 1.0 : 0.0;
        own[k * d + c] += bilateral ? soft * one : A[k * d + c] + soft * B[k * d + c];
      }
    }
  }
}

/* Halves the step until |phi| is below the largest stored value; false if no step achieves this. */
static bool search(saltusi_newton_work* work, const saltusi_friction_case* in, double ceiling,
                   const double* r, double* step) {
  int rows = in->pattern->rows;
  *step = 1.0;
  for (int k = 0; k < HALVINGS; k++, *step *= 0.5) {
    for (int a = 0; a < rows; a++) {
      work->next[a] = r[a] + *step * work->dr[a];
    }
    saltusi_friction_velocity(in, work->next, work->next_u);
    double size = evaluate(work, in, work->next, work->next_u, work->phi, false);
    if (size <= (1.0 - armijo * *step) * ceiling) {
      return true;
    }
  }
  return false;
}

static double largest(const double* values, int stored) {
  double most = 0.0;
  for (int k = 0; k < (stored < MEMORY ? stored : MEMORY); k++) {
    most = fmax(most, values[k]);
  }
  return most;
}

/* dr of the regularised Newton equation; false when the matrix is too close to singular. */
static bool newton_direction(saltusi_newton_work* work, saltusi_block_lu* lu,
                             const saltusi_friction_case* in, double alpha) {
  assemble(work, lu, in, alpha);
  for (int a = 0; a < in->pattern->rows; a++) {
    work->phi[a] = -work->phi[a];
  }
  return saltusi_block_lu_factor(lu) && saltusi_block_lu_solve(lu, work->phi, work->dr) <= forcing;
}

saltusi_stage saltusi_semismooth_newton(saltusi_newton_work* work, saltusi_block_lu* lu,
                                        const saltusi_friction_case* in,
                                        const saltusi_newton_settings* settings, double* r) {
  assert(work != NULL && lu != NULL && in != NULL && settings != NULL);
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  double first = saltusi_friction_case_residual(in, r, work->u).normalised;
  double best = first;
  memcpy(work->best, r, bytes);
  lu->no_pivoting = settings->no_pivoting;
  double memory[MEMORY];
  double alpha = settings->softness > 0.0 ? settings->softness : alpha_first;
  int failures = 0;
  int k = 0;
  int stored = 0;
  for (; k < settings->iterations && best > settings->tol && failures <= FAILURES; k++) {
    if (k == settings->trial && k > 0 && best > trial_part * first) {
      break;
    }
    double size = evaluate(work, in, r, work->u, work->phi, true);
    if (size < forget * largest(memory, stored)) { /* from here on the line search is monotone */
      stored = 0;
    }
    memory[stored++ % MEMORY] = size;
    double step = 0.0;
    if (!newton_direction(work, lu, in, alpha) ||
        !search(work, in, largest(memory, stored), r, &step)) {
      alpha = fmax(alpha_growth * alpha, alpha_after_failure);
      failures++;
      if (alpha > alpha_most) {
        break;
      }
      continue;
    }
    if (step == 1.0) {
      alpha = fmax(alpha_decay * alpha, alpha_least);
    }
    memcpy(r, work->next, bytes);
    memcpy(work->u, work->next_u, bytes);
    saltusi_friction_project(in, work->next);
    double residual = saltusi_friction_case_residual(in, work->next, work->next_u).normalised;
    if (residual < best) {
      best = residual;
      memcpy(work->best, work->next, bytes);
    }
  }
  lu->no_pivoting = false;
  memcpy(r, work->best, bytes);
  return (saltusi_stage){k, best};
}
