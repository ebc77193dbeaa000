/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_newton.c - semismooth Newton on the function of Alart and Curnier (CMAME 92 (1991) 353-375)
 *
 *   Phi_i = r_i - P_i(x_i),   x_i = r_i - t rho_i u_i,    P: normal part positive, tangents in its disc
 *   (I - D_i + e D_i) dr_i + t rho_i D_i du_i = -Phi_i,     D = dP/dx,   du = G^T dv + S dr,   A dv = G dr
 *
 * with steps solved in body space (bodies.h) and Gauss-Seidel iterations between them: the iterations determine
 * which contacts stick, slip and open, Newton's steps transport impulses through the whole pile. t above 1 weights
 * velocities more than impulses: load-bearing contacts are not opened by the first wrong velocity. e regularises
 * impulses in directions in which they are not unique.
 */
#include "solve/body_space/body_newton.h"

#include "math/matrix.h"
#include "solve/body_space/body_gauss_seidel.h"
#include "solve/body_space/body_newton_compliant.h"
#include "solve/body_space/body_proximal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Weight of velocities. Measured on settling piles: 10 and 100 take a third more steps, 1 three times as many. */
static const double weight = 30.0;
/* e while all steps so far were full ones: near a solution, where stiff stacks need it. */
static const double soft_sharp = 1e-6;
/* e after that, its minimum, and its factors after a full step, a short one and one without gain. */
static const double soft_first = 1e-2;
static const double soft_least = 1e-3;
static const double soft_most = 10.0;
static const double soft_less = 0.3;
static const double soft_more = 3.0;
static const double soft_refused = 10.0;
static const double short_step = 0.2;
/* Number of stored norms of Phi, most halvings of a step, and the required decrease. */
enum { MEMORY = 8, HALVINGS = 10 };
static const double armijo = 1e-3;
/* Gauss-Seidel iterations after each step. Measured: 5 fail twice as often, 50 take half as long again. */
enum { BETWEEN = 20 };
/* Largest accepted fraction of the residual after the trial steps. */
static const double trial_part = 0.5;

/* |Phi / (t rho)| / |q| at r and velocities v of the bodies. */
static double size_of(const saltusi_friction_case* in, const double* r, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < in->pattern->units; i++) {
    const double* ri = r + 3 * (size_t)i;
    const double* q = in->q + 3 * (size_t)i;
    double u[3] = {q[0], q[1], q[2]};
    double rho = weight * in->rho[i];
    saltusi_bodies_add(in->bodies, i, v, u);
    saltusi_bodies_add_compliance(in->bodies, i, ri, u);
    double x[3] = {ri[0] - rho * u[0], ri[1] - rho * u[1], ri[2] - rho * u[2]};
    double p[3];
    saltusi_disc_project(in->mu[i] * fmax(x[0], 0.0), in->mu[i], x, p, NULL);
    for (int k = 0; k < 3; k++) {
      double miss = (ri[k] - p[k]) / rho;
      sum += miss * miss;
    }
  }
  return sqrt(sum) / in->velocity_unit;
}

/* dr and dv; false when the matrix is singular. */
static bool direction(saltusi_newton_work* work, saltusi_block_lu* lu,
                      const saltusi_friction_case* in, const double* r, double soft) {
  const saltusi_body_linearisation how = {
      .weight = weight, .soft = soft, .joint_soft = soft_sharp / weight};
  saltusi_body_linearise(in, &how, r, work->by_velocity, work->dr);
  if (!saltusi_bodies_factor(in->bodies, lu, work->by_velocity)) {
    return false;
  }
  saltusi_block_lu_solve(lu, in->bodies->right, in->bodies->step);
  saltusi_body_impulses(in->bodies, work->by_velocity, work->dr);
  return true;
}

/* Halves the step until Phi is below `ceiling`; returns the length, 0: never. */
static double search(saltusi_newton_work* work, const saltusi_friction_case* in, double ceiling,
                     const double* r) {
  const saltusi_bodies* bodies = in->bodies;
  int n = SALTUSI_BODY_WIDTH * bodies->bodies;
  double length = 1.0;
  for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
    for (int a = 0; a < in->pattern->rows; a++) {
      work->next[a] = r[a] + length * work->dr[a];
    }
    for (int a = 0; a < n; a++) {
      bodies->next[a] = bodies->v[a] + length * bodies->step[a];
    }
    if (size_of(in, work->next, bodies->next) < (1.0 - armijo * length) * ceiling) {
      return length;
    }
  }
  return 0.0;
}

static double softer(double soft, double length) {
  if (soft == soft_sharp) {
    return length == 1.0 ? soft : soft_first;
  }
  if (!(length > 0.0)) {
    return fmin(soft_refused * soft, soft_most);
  }
  if (length == 1.0) {
    return fmax(soft_less * soft, soft_least);
  }
  return length < short_step ? fmin(soft_more * soft, soft_most) : soft;
}

saltusi_stage saltusi_body_newton(saltusi_newton_work* work, saltusi_gauss_seidel_work* sweep,
                                  saltusi_block_lu* lu, saltusi_friction_case* in,
                                  const saltusi_newton_settings* settings, double* r) {
  assert(work != NULL && lu != NULL && in != NULL && in->bodies != NULL && settings != NULL);
  size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  saltusi_body_gauss_seidel between = {.sweeps = BETWEEN, .tol = settings->tol, .plain = true};
  double first = saltusi_friction_case_residual(in, r, work->u).normalised; /* and v */
  double best = first;
  double memory[MEMORY];
  double soft = soft_sharp;
  int k = 0;
  memcpy(work->best, r, bytes);
  for (; k < settings->iterations && best > settings->tol; k++) {
    if (settings->trial > 0 && k >= settings->trial && best > trial_part * first) {
      break;
    }
    memory[k % MEMORY] = size_of(in, r, in->bodies->v);
    double ceiling = 0.0;
    for (int m = 0; m <= k && m < MEMORY; m++) {
      ceiling = fmax(ceiling, memory[m]);
    }
    if (!direction(work, lu, in, r, soft)) {
      break;
    }
    double length = search(work, in, ceiling, r);
    soft = softer(soft, length);
    memcpy(r, work->next, bytes);
    saltusi_friction_project(in, r);
    double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
    if (residual > settings->tol) {
      between.known = residual;
      residual = saltusi_gauss_seidel_bodies(sweep, in, &between, r).residual;
      saltusi_bodies_move(in->bodies, r, in->bodies->v);
    }
    if (residual < best) {
      best = residual;
      memcpy(work->best, r, bytes);
    }
  }
  memcpy(r, work->best, bytes);
  return (saltusi_stage){k, best};
}
