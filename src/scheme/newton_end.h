/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * newton_end.h - convergence test of Newton's iteration on the velocity at the end of a step.
 */
#ifndef SALTUSI_NEWTON_END_H
#define SALTUSI_NEWTON_END_H

#include "math/matrix.h"
#include "scheme/scheme_ops.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Options that end Newton's iteration on `unknown`, "velocity" or "position". */
#define SALTUSI_NEWTON_FIELDS(S, unknown, tol, most)                                               \
  SALTUS_REAL(S, newton_tol, tol, 1e-15, 1e-2,                                                     \
              "relative change of the " unknown " that ends Newton's iteration [1]"),              \
      SALTUS_INT(S, newton_max, most, 1, 1000, "most Newton iterations")

typedef struct saltusi_newton_end {
  double tol;    /* relative change of the velocity */
  double change; /* of the last iteration; infinite before the first */
  double before; /* that of the iteration before */
  double part;   /* fraction of the change that is applied */
} saltusi_newton_end;

/* Velocities that differ by less lead to the same positions up to rounding, and so to the same
 * forces of positions: the iteration also ends there where bodies settle. */
static inline double saltusi_newton_floor(const saltusi_step* s) {
  return 4.0 * DBL_EPSILON * saltusi_max_abs(s->eval->sys.dims.nq, s->q0) / s->h;
}

/* After iteration k, from v_before to s->v1; v_before becomes the change. SALTUS_OK: continue unless *arrived. Changes
 * are relative to the largest velocity of the step, including v_free without contacts: velocities of bodies at rest are
 * at the level of rounding. */
static inline saltus_status saltusi_newton_judge(saltusi_newton_end* n, const saltusi_step* s,
                                                 int k, const double* v_free, double* v_before,
                                                 bool* arrived) {
  int nv = s->eval->sys.dims.nv;
  double last = n->change;
  double size = fmax(saltusi_max_abs(nv, s->v0), saltusi_max_abs(nv, s->v1));
  size = fmax(size, saltusi_max_abs(nv, v_free));
  saltusi_add_scaled(nv, -1.0, s->v1, v_before);
  n->change = saltusi_max_abs(nv, v_before);
  /* the last digits may fluctuate: an iteration that no longer shrinks has converged as well */
  *arrived = n->change <= n->tol * size ||
             (k > 1 && n->change >= last &&
              n->change <= fmax(1e4 * n->tol * size, saltusi_newton_floor(s)));
  return isfinite(n->change) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

/* After an iteration that has not converged, with its change (before less after) in v_change:
 * forces with kinks, as those of saturated drives, make Newton's method cycle. A change against the
 * last one is taken by half of the previous part, others by twice as much (relaxation). `last` is
 * the previous change, [nv], and is replaced. */
static inline void saltusi_newton_relax(saltusi_newton_end* n, const saltusi_step* s, int k,
                                        const double* v_change, double* last) {
  const double least = 1.0 / 256.0;
  const int nv = s->eval->sys.dims.nv;
  const bool turned =
      k > 0 && saltusi_dot(nv, v_change, last) < 0.0 && n->change >= 0.5 * n->before;
  const double part = k == 0 ? 1.0 : n->part;
  n->part = turned ? fmax(0.5 * part, least) : fmin(2.0 * part, 1.0);
  n->before = n->change;
  memcpy(last, v_change, (size_t)nv * sizeof(double));
  if (n->part < 1.0) {
    saltusi_add_scaled(nv, 1.0 - n->part, v_change, s->v1);
  }
}

#endif
