/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solve_sparse.c - the problem by blocks: components of joints are eliminated, and what stays is given to
 * the solvers of bands, of friction, or of equalities alone.
 */
#include "operator/inside.h"

#include "math/matrix.h"

#include <math.h>
#include <string.h>

/* Normal rows up to which a W without a band is given to the solvers of dense problems, which pivot:
 * some milliseconds. */
enum { PIVOTED_MAX = 200 };

/* Right-hand sides of the units that stay, and first guesses. */
static void gather(saltusi_operator* op, const saltusi_eval* eval) {
  if (op->groups.any) {
    saltusi_eliminate_reduce(op, eval);
  }
  for (int u = 0; u < op->units; u++) {
    int at = op->offset[u];
    for (int k = 0; k < op->offset[u + 1] - at; k++) {
      int r = op->unit_row[u] + k;
      double moved = op->groups.any ? saltusi_row_dot(&op->rows, r, op->moved) : 0.0;
      op->unit_rhs[at + k] = op->rhs[r] - moved;
      op->unit_P[at + k] = u < op->staying ? 0.0 : op->P[r];
    }
    if (op->has_friction) {
      op->unit_slip[u] = u < op->staying ? 0.0 : op->slip[u - op->staying];
    }
  }
}

static void scatter(saltusi_operator* op, const saltusi_eval* eval) {
  for (int u = 0; u < op->units; u++) {
    int at = op->offset[u];
    for (int k = 0; k < op->offset[u + 1] - at; k++) {
      op->P[op->unit_row[u] + k] = op->unit_P[at + k];
    }
    if (op->has_friction && u >= op->staying) {
      op->slip[u - op->staying] = op->unit_slip[u];
    }
  }
  if (op->groups.any) {
    saltusi_eliminate_expand(op, eval);
  }
}

static bool solve_dense(saltusi_operator* op, saltusi_eval* eval, const double* rhs, double* P) {
  saltusi_blocks_spread(op);
  bool solved = saltusi_lcp_step_dense(&op->solver.lcp, op->units, op->W, rhs, P);
  eval->work.contact_iterations += op->solver.lcp.iterations;
  return solved;
}

static bool solve_blocks(saltusi_operator* op, saltusi_eval* eval, const double* mu,
                         const double* rhs, double* P) {
  op->friction.threads = eval->threads;
  bool solved = saltusi_friction_step_solve_blocks(&op->friction, mu, rhs, P);
  eval->work.contact_iterations += op->friction.iterations;
  return solved;
}

/* Normal rows alone. */
static bool solve_normal(saltusi_operator* op, saltusi_eval* eval, const double* rhs, double* P) {
  const saltusi_friction_pattern* pattern = &op->friction.work.pattern;
  int n = op->units;
  if (saltusi_blocks_are_band(op)) {
    const saltus_csr band = {n, n, pattern->start, pattern->unit, op->friction.values};
    bool solved = saltusi_lcp_step_banded(&op->solver.lcp, &band, rhs, P);
    eval->work.contact_iterations += op->solver.lcp.iterations;
    if (solved) {
      return true;
    }
    memset(P, 0, (size_t)n * sizeof(double));
  }
  if (n <= PIVOTED_MAX && n <= op->dense_max && solve_dense(op, eval, rhs, P)) {
    return true;
  }
  if (solve_blocks(op, eval, op->unit_mu, rhs, P)) {
    return true;
  }
  memset(P, 0, (size_t)n * sizeof(double));
  return n > PIVOTED_MAX && n <= op->dense_max && solve_dense(op, eval, rhs, P);
}

/* The units that stay; rhs and P in their order. */
static bool solve_units(saltusi_operator* op, saltusi_eval* eval, const double* mu,
                        const double* rhs, double* P) {
  if (op->staying == op->units) {
    bool solved = saltusi_friction_step_hold(&op->friction, rhs, P);
    eval->work.contact_iterations += op->friction.iterations;
    return solved;
  }
  return op->has_friction || op->staying > 0 ? solve_blocks(op, eval, mu, rhs, P)
                                             : solve_normal(op, eval, rhs, P);
}

saltus_status saltusi_sparse_solve(saltusi_operator* op, saltusi_eval* eval) {
  if (op->broken) {
    return SALTUS_RETRY_NAN;
  }
  if (op->warm.each == 0) {
    memset(op->P, 0, (size_t)op->count * sizeof(double));
    if (op->has_friction) {
      memset(op->slip, 0, (size_t)op->contacts * sizeof(double));
    }
  }
  bool solved;
  if (op->bilateral == 0) { /* the units are the contacts, in their order */
    op->friction.slip = op->slip;
    solved = solve_units(op, eval, op->mu, op->rhs, op->P);
  } else {
    op->friction.slip = op->has_friction ? op->unit_slip : NULL;
    gather(op, eval);
    solved = op->units == 0 || solve_units(op, eval, op->unit_mu, op->unit_rhs, op->unit_P);
    if (solved) {
      scatter(op, eval);
    }
  }
  if (solved) {
    return SALTUS_OK;
  }
  bool numbers = isfinite(saltusi_max_abs(op->count, op->rhs));
  return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
}
