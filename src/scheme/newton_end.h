/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * newton_end.h - when Newton's iteration on the velocity at the end of a step has arrived.
 */
#ifndef SALTUSI_NEWTON_END_H
#define SALTUSI_NEWTON_END_H

#include "math/matrix.h"
#include "scheme/scheme_ops.h"

/* Options that end Newton's iteration on `unknown`, "velocity" or "position". */
#define SALTUSI_NEWTON_FIELDS(S, unknown, tol, most)                                               \
  SALTUS_REAL(S, newton_tol, tol, 1e-15, 1e-2,                                                     \
              "relative change of the " unknown " that ends Newton's iteration [1]"),              \
      SALTUS_INT(S, newton_max, most, 1, 1000, "most Newton iterations")

typedef struct saltusi_newton_end {
  double tol;    /* relative change of the velocity */
  double change; /* of the last iteration; infinite before the first */
} saltusi_newton_end;

/* After iteration k, which took v_before to s->v1; v_before becomes the change. SALTUS_OK: go on unless
 * *arrived. Velocities are measured by the largest of the step, v_free without contacts included: those
 * of bodies at rest are nothing but rounding. */
static inline saltus_status saltusi_newton_judge(saltusi_newton_end* n, const saltusi_step* s,
                                                 int k, const double* v_free, double* v_before,
                                                 bool* arrived) {
  int nv = s->eval->sys.dims.nv;
  double last = n->change;
  double size = fmax(saltusi_max_abs(nv, s->v0), saltusi_max_abs(nv, s->v1));
  size = fmax(size, saltusi_max_abs(nv, v_free));
  saltusi_add_scaled(nv, -1.0, s->v1, v_before);
  n->change = saltusi_max_abs(nv, v_before);
  /* the last digits may wander: an iteration that no longer shrinks has arrived as well */
  *arrived = n->change <= n->tol * size ||
             (k > 1 && n->change >= last && n->change <= 1e4 * n->tol * size);
  return isfinite(n->change) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

#endif
