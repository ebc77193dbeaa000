/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solve_sparse.c - the problem by blocks: components of joints are eliminated, and the remaining problem is solved, by
 * island where islands are small, by the solvers of bands, of friction, or of equalities.
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Largest number of normal rows for which a W without a band is solved by dense pivoting: some milliseconds. */
enum { PIVOTED_MAX = 200 };

/* Data of the problem in the order of the units. */
typedef struct solve_sparse_problem {
  const double* mu;
  const double* rhs;
  double* P;
  double* slip; /* NULL: none */
  const saltusi_eval* eval;
  int iterations;
  int threads;
  bool lacks; /* a solver needed more memory for factors */
} solve_sparse_problem;

void saltusi_sparse_gather(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  const saltusi_row_block* H = saltusi_operator_measured(op);
  if (op->groups.any && op->units > 0) {
    saltusi_eliminate_reduce(op, eval);
  }
  for (int u = 0; u < op->units; u++) {
    int at = op->offset[u];
    int contact = op->unit_contact[u];
    for (int k = 0; k < op->unit_rows[u]; k++) {
      int r = op->unit_row[u] + k;
      double moved = op->groups.any ? saltusi_row_dot(H, r, op->moved) : 0.0;
      op->unit_rhs[at + k] = op->rhs[r] - moved;
      op->unit_P[at + k] = contact < 0 && !op->warm.joints ? 0.0 : op->P[r];
    }
    for (int k = at + op->unit_rows[u]; k < op->offset[u + 1]; k++) { /* filled up */
      op->unit_rhs[k] = op->unit_P[k] = 0.0;
    }
    if (op->has_friction) {
      op->unit_slip[u] = contact < 0 ? 0.0 : op->slip[contact];
    }
  }
}

void saltusi_sparse_scatter(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  for (int u = 0; u < op->units; u++) {
    int at = op->offset[u];
    for (int k = 0; k < op->unit_rows[u]; k++) {
      op->P[op->unit_row[u] + k] = op->unit_P[at + k];
    }
    if (op->has_friction && op->unit_contact[u] >= 0) {
      op->slip[op->unit_contact[u]] = op->unit_slip[u];
    }
  }
  if (op->groups.any) {
    saltusi_eliminate_expand(op, eval);
  }
}

/* Adds the iterations of the problem of units first .. last - 1. */
static void count(const saltusi_operator* op, solve_sparse_problem* p, int first, int last,
                  int iterations) {
  p->iterations = iterations > p->iterations ? iterations : p->iterations;
  for (int u = first; u < last && p->eval->effort.tell != NULL; u++) {
    const int contact = op->unit_contact[u];
    saltusi_effort_tell(p->eval, contact < 0 ? -1 : op->key[contact], iterations);
  }
}

/* Normal rows of the units first .. last - 1 by solvers that pivot. */
static bool solve_dense(saltusi_operator* op, solve_sparse_problem* p, int first, int last) {
  int n = last - first;
  int at = op->offset[first];
  saltusi_blocks_spread(op, first, last);
  bool solved = saltusi_lcp_step_dense(&op->solver.lcp, n, op->W, p->rhs + at, p->P + at);
  count(op, p, first, last, op->solver.lcp.iterations);
  return solved;
}

/* Solves an island by iterations and the portfolio, or all units as equalities. */
static bool solve_blocks(saltusi_operator* op, solve_sparse_problem* p, int island) {
  const int first = op->island_start[island], last = op->island_start[island + 1];
  const bool thin = op->thin && op->island_thin[island];
  saltusi_friction_step* step = &op->friction;
  const saltusi_step_blocks all = saltusi_blocks_of(op);
  int at = op->offset[first];
  saltusi_friction_step_load(step, &all, first, last);
  step->slip = p->slip != NULL ? p->slip + first : NULL;
  step->bodies = thin ? saltusi_operator_bodies(op, p->eval, first, last) : NULL;
  step->thin = thin;
  step->tol = op->tol;
  step->threads = p->threads;
  bool solved =
      step->equalities == last - first
          ? saltusi_friction_step_hold(step, p->rhs + at, p->P + at)
          : saltusi_friction_step_solve_blocks(step, p->mu + first, p->rhs + at, p->P + at);
  count(op, p, first, last, step->iterations);
  p->lacks = p->lacks || step->lacks;
  return solved;
}

/* Solves one unit exactly; false if it is coupled to others. */
static bool solve_single(saltusi_operator* op, solve_sparse_problem* p, int u) {
  const double* W = op->friction.values + op->block_place[op->block_start[u]];
  int at = op->offset[u];
  int rows = op->offset[u + 1] - at;
  if (op->unit_joint[u] != 0 && rows == 1) {
    p->P[at] = W[0] > 0.0 ? -p->rhs[at] / W[0] : 0.0;
    return W[0] > 0.0;
  }
  if (op->unit_joint[u] != 0) {
    return false;
  }
  if (rows == 1) {
    p->P[at] = p->rhs[at] < 0.0 && W[0] > 0.0 ? -p->rhs[at] / W[0] : 0.0;
    return W[0] > 0.0 && isfinite(p->P[at]);
  }
  return saltusi_friction_step_single(rows, p->mu[u], W, p->rhs + at, p->P + at);
}

/* Normal rows alone that make a band. */
static bool solve_band(saltusi_operator* op, solve_sparse_problem* p) {
  int n = op->units;
  const saltus_csr band = {n, n, op->block_start, op->block_unit, op->friction.values};
  bool solved = saltusi_lcp_step_banded(&op->solver.lcp, &band, p->rhs, p->P);
  count(op, p, 0, n, op->solver.lcp.iterations);
  if (!solved) {
    memset(p->P, 0, (size_t)n * sizeof(double));
  }
  return solved;
}

static bool has_joints(const saltusi_operator* op, int first, int last) {
  for (int u = first; u < last && op->staying > 0; u++) {
    if (op->unit_joint[u] != 0) {
      return true;
    }
  }
  return false;
}

static bool solve_island(saltusi_operator* op, solve_sparse_problem* p, int island) {
  const int first = op->island_start[island], last = op->island_start[island + 1];
  if (last - first == 1 && solve_single(op, p, first)) {
    count(op, p, first, last, 0);
    return true;
  }
  int n = last - first;
  bool pivoted = !op->has_friction && n <= op->dense_max && !has_joints(op, first, last);
  if ((pivoted && n <= PIVOTED_MAX && solve_dense(op, p, first, last)) ||
      solve_blocks(op, p, island)) {
    return true;
  }
  if (pivoted && n > PIVOTED_MAX) {
    memset(p->P + op->offset[first], 0, (size_t)n * sizeof(double));
    return solve_dense(op, p, first, last);
  }
  return false;
}

static bool solve_units(saltusi_operator* op, solve_sparse_problem* p) {
  if (op->band && solve_band(op, p)) {
    return true;
  }
  for (int i = 0; i < op->islands; i++) {
    if (!solve_island(op, p, i)) {
      return false;
    }
  }
  return true;
}

/* Whether the capacity for factors can grow. */
static bool may_grow(const saltusi_operator* op) {
  return op->friction.factored < SALTUSI_FACTORED_MOST && op->friction.factored < op->friction.most;
}

saltus_status saltusi_sparse_solve(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  if (op->broken) {
    return SALTUS_RETRY_NAN;
  }
  if (op->warm.each == 0) {
    memset(op->P, 0, (size_t)op->count * sizeof(double));
    if (op->has_friction) {
      memset(op->slip, 0, (size_t)op->contacts * sizeof(double));
    }
  }
  /* without joints, one island: the units are the contacts, in their order */
  bool same = op->bilateral == 0 && op->islands <= 1 && op->offset[op->units] == op->count;
  solve_sparse_problem p = {.mu = op->mu, .rhs = op->rhs, .P = op->P};
  if (!same) {
    saltusi_sparse_gather(op, eval);
    p = (solve_sparse_problem){.mu = op->unit_mu, .rhs = op->unit_rhs, .P = op->unit_P};
  }
  p.threads = eval->threads;
  p.eval = eval;
  p.slip = !op->has_friction ? NULL : same ? op->slip : op->unit_slip;
  bool solved = solve_units(op, &p);
  if (!solved && p.lacks && may_grow(op)) {
    op->friction.lacks = true;
    saltusi_operator_wants(op, eval);
    return SALTUS_RETRY_CAPACITY;
  }
  if (!solved && op->thin) {
    saltus_status status = saltusi_operator_complete(op, eval);
    if (status != SALTUS_OK) {
      return status;
    }
    if (!same) {
      saltusi_sparse_gather(op, eval);
    }
    solved = solve_units(op, &p);
  }
  op->friction.lacks = p.lacks;
  saltusi_operator_wants(op, eval);
  eval->work.contact_iterations += p.iterations;
  if (solved) {
    if (!same) {
      saltusi_sparse_scatter(op, eval);
    }
    return SALTUS_OK;
  }
  bool numbers = isfinite(saltusi_max_abs(op->count, op->rhs));
  return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
}
