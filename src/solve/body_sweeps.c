/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_sweeps.c - Gauss-Seidel with exact one-contact solutions (gauss_seidel.c) where a visit reads and writes
 * the velocities of the two bodies of a contact:
 *
 *   u_i = q_i + G_i^T v,   r_i <- solution with b = u_i - W_ii r_i,   v <- v + A^-1 G_i (change of r_i)
 *
 * and momentum by contact (momentum_sweeps.c). W is not read. Contacts of balls are packed (body_round.c): a visit
 * takes 20 ns, others some 50.
 */
#include "solve/body_sweeps.h"

#include "math/matrix.h"
#include "solve/body_round.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Sweeps between looks at the residual, which costs one. */
enum { LOOK = 10 };
/* Looks are made before that where the change of a sweep, as a velocity, is below this part of the tolerance. */
static const double look_part = 0.7;
/* Sweeps without a lower residual after which all momentum is dropped. */
enum { PATIENCE = 60 };

/* The new impulses of contact i; returns |W_ii (change)|^2. */
static double visit(const saltusi_friction_case* in, int i, double* r) {
  const saltusi_friction_pattern* pattern = in->pattern;
  const saltusi_bodies* bodies = in->bodies;
  const double* own = in->values + pattern->place[pattern->diagonal[i]];
  double* ri = r + 3 * (size_t)i;
  const double* q = in->q + 3 * (size_t)i;
  double b[3] = {q[0], q[1], q[2]};
  double fresh[3];
  saltusi_bodies_add(bodies, i, bodies->v, b);
  for (int k = 0; k < 3; k++) {
    b[k] -= own[3 * k] * ri[0] + own[3 * k + 1] * ri[1] + own[3 * k + 2] * ri[2];
  }
  saltusi_one_contact_spatial(in->local + pattern->local_at[i], in->mu[i], b, fresh, in->slip + i);
  const double change[3] = {fresh[0] - ri[0], fresh[1] - ri[1], fresh[2] - ri[2]};
  double change2 = 0.0;
  if (change[0] != 0.0 || change[1] != 0.0 || change[2] != 0.0) {
    for (int k = 0; k < 3; k++) {
      const double moved = saltusi_dot(3, own + 3 * (size_t)k, change);
      change2 += moved * moved;
    }
    memcpy(ri, fresh, sizeof fresh);
    saltusi_bodies_push(bodies, i, change, bodies->v);
  }
  return change2;
}

/* A sweep over all contacts; likewise, of all. */
static double sweep(const saltusi_friction_case* in, bool round, double* r) {
  if (round) {
    return saltusi_round_sweep(in, r);
  }
  double change2 = 0.0;
  for (int i = 0; i < in->pattern->units; i++) {
    change2 += visit(in, i, r);
  }
  return change2;
}

/* The residual of r, with its velocities. */
static double look(const saltusi_friction_case* in, bool round, const double* r, double* u) {
  return round ? sqrt(saltusi_round_miss2(in, r)) / in->velocity_unit
               : saltusi_friction_case_residual(in, r, u).normalised;
}

/* r becomes y. */
static void extrapolate(const saltusi_friction_case* in, bool round, const saltusi_points* p) {
  if (round) {
    saltusi_round_extrapolate(in, p);
    return;
  }
  for (int i = 0; i < in->pattern->units; i++) {
    double change[3];
    if (saltusi_momentum(p, i, change)) {
      saltusi_bodies_push(in->bodies, i, change, in->bodies->v);
    }
  }
}

saltusi_stage saltusi_sweep_bodies(saltusi_sweep_work* work, saltusi_friction_case* in,
                                   const saltusi_body_sweeps* settings, double* r) {
  assert(work != NULL && in != NULL && in->bodies != NULL && settings != NULL);
  const int units = in->pattern->units;
  const size_t bytes = (size_t)in->pattern->rows * sizeof(double);
  const saltusi_points p = {.r = r, .x = work->after, .before = work->before, .age = work->last_f};
  double* best = work->last_after;
  const bool round = saltusi_round_pack(in);
  const double enough = look_part * settings->tol * in->velocity_unit;
  double lowest = look(in, round, r, work->u);
  int since = 0;
  int k = 0;
  memcpy(p.x, r, bytes);
  memcpy(p.before, r, bytes);
  memcpy(best, r, bytes);
  memset(p.age, 0, (size_t)units * sizeof(double));
  while (k < settings->sweeps && lowest > settings->tol) {
    const double change2 = sweep(in, round, r);
    k++;
    if (k % LOOK == 0 || k == settings->sweeps || change2 <= enough * enough) {
      double residual = look(in, round, r, work->u);
      if (residual < lowest) {
        lowest = residual;
        memcpy(best, r, bytes);
        since = k;
      } else if (!(k - since <= PATIENCE)) {
        memset(p.age, 0, (size_t)units * sizeof(double));
        since = k;
      }
      if (!isfinite(residual)) {
        break;
      }
    }
    if (!settings->plain) {
      extrapolate(in, round, &p);
    }
  }
  memcpy(r, best, bytes);
  return (saltusi_stage){k, saltusi_friction_case_residual(in, r, work->u).normalised};
}
