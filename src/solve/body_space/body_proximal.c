/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_proximal.c - the augmented Lagrangian of Alart and Curnier (CMAME 92 (1991) 353-375) with velocities of
 * bodies as its unknowns:
 *
 *   outer   r <- P(r - k rho u),     P: normal part positive, tangents in its disc
 *   inner   R(v) = A v - G P(r - k rho (q + G^T v)) = 0    by Newton's method,   A + G k rho D G^T,   D = dP/dx
 *
 * with r fixed in the inner problem. A body has six velocities for any number of contacts, and A + G k rho D G^T is
 * regular for all of them, including linearly dependent ones such as those of boxes. With friction discs of fixed
 * radii the inner problem is the minimum of a convex function,
 *
 *   v^T A v / 2 + sum (|x|^2 - |x - P(x)|^2) / (2 k rho),   x = r - k rho u,
 *
 * which Newton's method with a line search finds from any initial guess: the first outer steps are of this kind.
 * Then radii follow the normal parts, and the line search reduces R. The larger k, the fewer outer steps and the
 * harder the inner ones.
 *
 * Compliant contacts have u + S r in place of u: P is that of (r / (k rho) - u) / (S + 1 / (k rho)). If S is not
 * small relative to W body_newton_compliant.c is used first.
 */
#include "solve/body_space/body_proximal.h"

#include "math/matrix.h"
#include "solve/body_space/body_gauss_seidel.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = SALTUSI_BODY_WIDTH, BLOCK = SALTUSI_BODY_BLOCK, ROWS = SALTUSI_BODY_ROWS };

/* k: its initial value, far from a solution and near one, its bounds, and its factors after easy, hard and failed
 * inner problems. Measured on the dominoes of bench/peers: 5 or 10 times after easy ones fails two and eight times
 * as often. */
static const double stiff_far = 10.0;
static const double stiff_near = 1000.0;
static const double near_by = 1e-4;
static const double stiff_least = 1.0;
static const double stiff_most = 1e6;
static const double stiff_more = 3.0;
static const double stiff_less = 0.5;
static const double stiff_failed = 0.1;
/* Inner steps: the largest number, limits of easy and hard problems; outer steps with fixed radii at the start. */
/* Gauss-Seidel iterations after each outer step, which determine the statuses of contacts with small impulses. */
enum { BETWEEN = 10 };
enum { INNER = 15, EASY = 3, HARD = 6, FROZEN = 2, HALVINGS = 12 };
/* Targeted and required reduction of R by inner problems. */
static const double inner_part = 1e-3;
static const double failed_part = 0.1;
static const double armijo = 1e-4;
/* Largest accepted fraction of the residual after the first steps. */
static const double trial_part = 0.5;
/* Accuracy beyond the tolerance that additional factorisations aim at, if at most a fraction of the contacts slips:
 * bodies at rest. In moving piles the next step gains nothing from them, and they are a fifth of all factorisations. */
static const double deep_part = 0.05;
static const double slipping_part = 0.02;

/* The present inner problem. */
typedef struct inner {
  saltusi_newton_work* work; /* next: P, by_impulse: radii, by_velocity: k rho D */
  const saltusi_friction_case* in;
  const double* r;
  double stiff;
  bool frozen;   /* friction discs have fixed radii */
  double energy; /* of the velocities evaluated last */
} inner;

void saltusi_disc_project(double radius, double follows, const double* x, double* p, double* D) {
  assert(x != NULL && p != NULL);
  if (follows < 0.0) { /* a joint */
    memcpy(p, x, 3 * sizeof(double));
    for (int k = 0; D != NULL && k < SALTUSI_CONTACT_ENTRIES; k++) {
      D[k] = k % 4 == 0 ? 1.0 : 0.0;
    }
    return;
  }
  const double t = saltusi_tangent_norm(3, x);
  const double shrink = t > radius ? radius / t : 1.0;
  p[0] = x[0] > 0.0 ? x[0] : 0.0;
  p[1] = shrink * x[1];
  p[2] = shrink * x[2];
  if (D == NULL) {
    return;
  }
  const double along[2] = {t > radius ? x[1] / t : 0.0, t > radius ? x[2] / t : 0.0};
  memset(D, 0, SALTUSI_CONTACT_ENTRIES * sizeof(double));
  D[0] = x[0] > 0.0 ? 1.0 : 0.0;
  D[3] = D[0] * follows * along[0];
  D[6] = D[0] * follows * along[1];
  D[4] = shrink * (1.0 - along[0] * along[0]);
  D[8] = shrink * (1.0 - along[1] * along[1]);
  D[5] = D[7] = -shrink * along[0] * along[1];
}

/* The counterpart of k rho in row c of contact i: 1 / (S + 1 / (k rho)). */
static double stiffness(const inner* s, int i, int c) {
  const double S = s->in->bodies->soft[3 * (size_t)i + (size_t)c], k = s->stiff * s->in->rho[i];
  return k / (1.0 + k * S);
}

/* x of contact i, its P, and D if requested. */
static void look(const inner* s, int i, const double* v, double* x, double* p, double* D) {
  const double* q = s->in->q + 3 * (size_t)i;
  const double* r = s->r + 3 * (size_t)i;
  double u[3] = {q[0], q[1], q[2]};
  saltusi_bodies_add(s->in->bodies, i, v, u);
  for (int c = 0; c < 3; c++) {
    x[c] = stiffness(s, i, c) * (r[c] / (s->stiff * s->in->rho[i]) - u[c]);
  }
  const double mu = s->in->mu[i];
  const double radius = s->frozen ? s->work->by_impulse[i] : mu * fmax(x[0], 0.0);
  saltusi_disc_project(radius, s->frozen && mu > 0.0 ? 0.0 : mu, x, p, D);
}

/* G P - A v into bodies->right; returns its size in the metric of A^-1. */
static double miss(inner* s, const double* v) {
  saltusi_bodies* b = s->in->bodies;
  s->energy = 0.0;
  for (int k = 0; k < b->bodies; k++) {
    for (int a = 0; a < WIDTH; a++) {
      const double push =
          saltusi_dot(WIDTH, b->A + (size_t)k * BLOCK + (size_t)a * WIDTH, v + (size_t)k * WIDTH);
      b->right[k * WIDTH + a] = -push;
      s->energy += 0.5 * push * v[k * WIDTH + a];
    }
  }
  for (int i = 0; i < b->units; i++) {
    double x[3], *p = s->work->next + 3 * (size_t)i;
    look(s, i, v, x, p, NULL);
    for (int c = 0; c < 3; c++) {
      s->energy += p[c] * (2.0 * x[c] - p[c]) / (2.0 * stiffness(s, i, c));
    }
    saltusi_bodies_add_force(b, i, p, b->right);
  }
  double sum = 0.0;
  for (int k = 0; k < b->bodies; k++) {
    const double* f = b->right + (size_t)k * WIDTH;
    for (int a = 0; a < WIDTH; a++) {
      sum += f[a] * saltusi_dot(WIDTH, b->inverse + (size_t)k * BLOCK + (size_t)a * WIDTH, f);
    }
  }
  return sqrt(fmax(sum, 0.0));
}

/* Newton's step from bodies->v, whose R is in bodies->right, into bodies->step. */
static bool find_step(inner* s, saltusi_block_lu* lu) {
  saltusi_bodies* b = s->in->bodies;
  for (int i = 0; i < b->units; i++) {
    double x[3], p[3], *K = s->work->by_velocity + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    look(s, i, b->v, x, p, K);
    for (int c = 0; c < SALTUSI_CONTACT_ENTRIES; c++) {
      K[c] *= stiffness(s, i, c % 3);
    }
  }
  if (!saltusi_bodies_factor(b, lu, s->work->by_velocity)) {
    return false;
  }
  saltusi_block_lu_solve(lu, b->right, b->step);
  return true;
}

/* Line search by halving; returns R at its end, in bodies->v. */
static double go(inner* s, double before, double first) {
  saltusi_bodies* b = s->in->bodies;
  const int n = WIDTH * b->bodies;
  const double energy = s->energy;
  const double slope = -saltusi_dot(n, b->right, b->step);
  double after = before, length = 1.0;
  for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
    for (int a = 0; a < n; a++) {
      b->next[a] = b->v[a] + length * b->step[a];
    }
    after = miss(s, b->next);
    const bool lower =
        s->energy <= energy + armijo * length * slope + 4.0 * DBL_EPSILON * fabs(energy);
    if (s->frozen ? lower || after < inner_part * first
                  : after < (1.0 - armijo * length) * before) {
      break;
    }
  }
  memcpy(b->v, b->next, (size_t)n * sizeof(double));
  return after;
}

/* Solves the inner problem from bodies->v; P at the end is in work->next. Returns the steps; left: the remaining
 * fraction of R. */
static int solve_inner(inner* s, saltusi_block_lu* lu, double* left) {
  const double first = miss(s, s->in->bodies->v);
  double now = first;
  int k = 0;
  while (k < INNER && now > inner_part * first && find_step(s, lu)) {
    const double before = now;
    now = go(s, before, first);
    k++;
    if (!(now < before) && !s->frozen) {
      break;
    }
  }
  *left = first > 0.0 ? now / first : 0.0;
  return k;
}

/* k of the next outer step. */
static double next_stiffness(double stiff, int steps, double left) {
  if (left > failed_part) {
    return fmax(stiff_failed * stiff, stiff_least);
  }
  if (steps <= EASY) {
    return fmin(stiff_more * stiff, stiff_most);
  }
  return steps > HARD ? fmax(stiff_less * stiff, stiff_least) : stiff;
}

/* Whether at most a small fraction of the contacts slips. */
static bool is_at_rest(const saltusi_friction_case* in, const double* r) {
  int slips = 0;
  for (int i = 0; i < in->pattern->units; i++) {
    const double *ri = r + 3 * (size_t)i, radius = in->mu[i] * ri[0];
    slips += radius > 0.0 && saltusi_tangent_norm(3, ri) >= (1.0 - 1e-9) * radius;
  }
  return slips <= slipping_part * in->pattern->units;
}

saltusi_stage saltusi_body_proximal(saltusi_newton_work* work, saltusi_gauss_seidel_work* sweep,
                                    saltusi_block_lu* lu, saltusi_friction_case* in,
                                    const saltusi_newton_settings* settings, double* r) {
  assert(work != NULL && lu != NULL && in != NULL && in->bodies != NULL && settings != NULL);
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  const double first = saltusi_friction_case_residual(in, r, work->u).normalised; /* and v */
  saltusi_body_gauss_seidel between = {.sweeps = BETWEEN, .tol = settings->tol, .plain = true};
  const bool near = first < near_by;
  double best = first;
  int solved = 0; /* factorisations up to the tolerance */
  inner s = {.work = work, .in = in, .r = r, .stiff = near ? stiff_near : stiff_far};
  int frozen = near ? 0 : FROZEN, count = 0;
  memcpy(work->best, r, bytes);
  while (
      count < settings->iterations &&
      (best > settings->tol || (count < solved + settings->deeper &&
                                best > deep_part * settings->tol && is_at_rest(in, work->best)))) {
    if (settings->trial > 0 && count >= settings->trial && best > trial_part * first) {
      break;
    }
    for (int i = 0; i < in->pattern->units; i++) {
      work->by_impulse[i] = in->mu[i] * fmax(r[3 * i], 0.0);
    }
    s.frozen = frozen > 0;
    frozen -= s.frozen;
    double left = 1.0;
    const int steps = solve_inner(&s, lu, &left);
    count += steps > 0 ? steps : 1;
    s.stiff = next_stiffness(s.stiff, steps, left);
    if (!(left > failed_part) || s.frozen) {
      memcpy(r, work->next, bytes);
    }
    double residual = saltusi_friction_case_residual(in, r, work->u).normalised;
    if (residual > (settings->deeper > 0 ? deep_part : 1.0) * settings->tol) {
      between.known = residual;
      residual = saltusi_gauss_seidel_bodies(sweep, in, &between, r).residual;
      saltusi_bodies_move(in->bodies, r, in->bodies->v);
    }
    if (!isfinite(residual)) {
      break;
    }
    solved = best > settings->tol ? count : solved;
    if (residual < best) {
      best = residual;
      memcpy(work->best, r, bytes);
    }
  }
  memcpy(r, work->best, bytes);
  return (saltusi_stage){count, best};
}
