/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solve.c - impulses of joints and contacts from a dense W, and what impulses do.
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void saltusi_operator_wants(const saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  size_t factored = (size_t)op->friction.factored;
  if (op->friction.lacks && factored < SALTUSI_FACTORED_MOST) {
    saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_FILL, 2 * factored);
  }
}

static saltus_status judge(const saltusi_operator* op, saltusi_mixed_outcome outcome) {
  switch (outcome) {
  case SALTUSI_MIXED_SOLVED:
    return SALTUS_OK;
  case SALTUSI_MIXED_NO_NUMBER:
    return SALTUS_RETRY_NAN;
  case SALTUSI_MIXED_UNSOLVED:
    break;
  }
  bool numbers = isfinite(saltusi_max_abs(op->count, op->rhs));
  return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
}

static saltus_status solve_frictionless(saltusi_operator* op, saltusi_eval* eval) {
  int joints = op->joints;
  if (joints == 0 && op->contacts == 1 && op->diagonal[0] > 0.0) {
    op->P[0] = op->rhs[0] < 0.0 ? -op->rhs[0] / op->diagonal[0] : 0.0;
    return SALTUS_OK;
  }
  if (op->warm.each == 0) {
    memset(op->P, 0, (size_t)op->count * sizeof(double));
  }
  saltusi_mixed_outcome outcome =
      saltusi_mixed_solve(&op->solver, joints, op->contacts, op->W, op->rhs, op->P);
  eval->work.contact_iterations += op->solver.lcp.iterations;
  eval->dependent |= joints > 0 && op->solver.block.rank < joints;
  return judge(op, outcome);
}

static saltus_status solve_friction(saltusi_operator* op, saltusi_eval* eval) {
  int joints = op->joints;
  int contacts = op->contacts;
  int rows = op->count - joints;
  const double* W = op->W;
  const double* rhs = op->rhs;
  if (joints > 0) {
    if (!saltusi_mixed_reduce(&op->solver, joints, rows, op->W, op->rhs)) {
      return SALTUS_RETRY_NAN;
    }
    eval->dependent |= op->solver.block.rank < joints;
    W = op->solver.schur;
    rhs = op->solver.rest;
  }
  if (op->warm.each == 0) {
    memset(op->P + joints, 0, (size_t)rows * sizeof(double));
    memset(op->slip, 0, (size_t)contacts * sizeof(double));
  }
  for (int i = 0; i <= contacts; i++) {
    op->offset[i] = op->first[i] - joints;
  }
  op->friction.slip = op->slip;
  op->friction.tol = op->tol;
  bool solved = saltusi_friction_step_solve(&op->friction, contacts, op->offset, op->mu, W, rhs,
                                            op->P + joints);
  eval->work.contact_iterations += op->friction.iterations;
  saltusi_operator_wants(op, eval);
  if (!solved) {
    return judge(op, SALTUSI_MIXED_UNSOLVED);
  }
  saltusi_mixed_expand(&op->solver, joints, rows, op->P);
  return SALTUS_OK;
}

/* Impulses of linearly dependent active contacts: those of least size with the same weight in all rows of contacts, as in
 * load_distribution.h; rows of joints keep W_rr. The null-space vectors of W are made orthonormal in this metric. */
static void distribute_load(saltusi_operator* op) {
  const saltusi_rank_revealing* block = &op->solver.block;
  const int n = op->count, degree = n - block->rank;
  if (op->contacts == 0 || block->regular || degree == 0) {
    return;
  }
  double largest = 0.0;
  for (int r = op->joints; r < n; r++) {
    largest = fmax(largest, op->diagonal[r]);
  }
  double *null = op->solver.schur, *weighted = op->solver.right; /* unused after the solution */
  for (int k = 0; k < degree; k++) {
    double* x = null + (size_t)k * (size_t)n;
    saltusi_rank_revealing_null(block, k, x);
    for (int j = 0; j <= k; j++) {
      const double* other = null + (size_t)j * (size_t)n;
      for (int r = 0; r < n; r++) {
        weighted[r] = (r < op->joints ? op->diagonal[r] : largest) * other[r];
      }
      const double part = saltusi_dot(n, weighted, x);
      if (j < k) {
        saltusi_add_scaled(n, -part, other, x);
        continue;
      }
      for (int r = 0; r < n; r++) {
        x[r] /= sqrt(part);
        weighted[r] /= sqrt(part);
      }
      saltusi_add_scaled(n, -saltusi_dot(n, weighted, op->P), x, op->P);
    }
  }
}

static saltus_status solve_equalities(saltusi_operator* op, saltusi_eval* eval) {
  int rows = op->count;
  saltusi_mixed_outcome outcome = saltusi_mixed_solve(&op->solver, rows, 0, op->W, op->rhs, op->P);
  if (outcome != SALTUSI_MIXED_SOLVED) {
    return SALTUS_RETRY_NAN;
  }
  if (rows > 0) {
    eval->dependent |= op->solver.block.rank < rows;
    distribute_load(op);
  }
  return SALTUS_OK;
}

/* All contacts in one problem. */
static saltus_status solve_as_one(saltusi_operator* op, saltusi_eval* eval) {
  if (op->storage == SALTUSI_STORED_PRODUCT) {
    return saltusi_matrix_free_solve(op, eval);
  }
  if (op->held) {
    return solve_equalities(op, eval);
  }
  if (op->laws.any) {
    return saltusi_friction_laws_solve(op, eval);
  }
  return op->has_friction && op->contacts > 0 ? solve_friction(op, eval)
                                              : solve_frictionless(op, eval);
}

saltus_status saltusi_operator_solve(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  eval->work.contact_solves++;
  if (op->status != SALTUS_OK) {
    return op->status;
  }
  const bool blocks = op->storage == SALTUSI_STORED_BLOCKS;
  const long long before = eval->work.contact_iterations;
  saltus_status status = blocks ? saltusi_sparse_solve(op, eval) : solve_as_one(op, eval);
  const long long iterations = eval->work.contact_iterations - before;
  for (int i = 0; i < op->contacts && (!blocks || op->held); i++) {
    saltusi_effort_tell(eval, op->key[i], iterations);
  }
  return status;
}

int saltusi_operator_superfluous(saltusi_operator* op) {
  assert(op->held);
  const saltusi_groups* g = &op->groups;
  if (op->storage == SALTUSI_STORED_PRODUCT) {
    return 0;
  }
  if (op->storage == SALTUSI_STORED_DENSE) {
    saltusi_rank_revealing* block = &op->solver.block;
    bool finite = saltusi_rank_revealing_factor(block, op->count, op->W, op->count);
    return finite ? block->n - block->rank : -1;
  }
  int count = 0;
  for (int c = 0; c < g->components && !op->broken; c++) {
    count += g->tree[c] >= 0    ? op->trees.saddle.null_count[g->tree[c]]
             : g->eliminated[c] ? g->factor[c].n - g->factor[c].rank
                                : 0;
  }
  return op->broken ? -1 : count;
}

void saltusi_operator_miss(saltusi_operator* op, double* b) {
  assert(op->held);
  const saltusi_groups* g = &op->groups;
  if (op->storage == SALTUSI_STORED_PRODUCT) {
    memset(b, 0, (size_t)op->count * sizeof(double));
    return;
  }
  if (op->storage == SALTUSI_STORED_DENSE) {
    saltusi_rank_revealing_miss(&op->solver.block, b);
    return;
  }
  for (int c = 0; c < g->components; c++) {
    const int* row = g->row + g->start[c];
    int n = g->start[c + 1] - g->start[c];
    if (g->tree[c] >= 0) {
      saltusi_kkt_factor_miss(&op->trees.saddle, g->tree[c], b);
      continue;
    }
    for (int k = 0; k < n; k++) {
      g->part[k] = g->eliminated[c] ? b[row[k]] : 0.0;
    }
    if (g->eliminated[c]) {
      saltusi_rank_revealing_miss(&g->factor[c], g->part);
    }
    for (int k = 0; k < n; k++) {
      b[row[k]] = g->part[k];
    }
  }
}

void saltusi_operator_apply(const saltusi_operator* op, const saltusi_eval* eval, double* x) {
  assert(op != NULL && eval != NULL);
  if (op->storage == SALTUSI_STORED_BLOCKS) {
    saltusi_response_add(op, eval, 0, op->count, x);
    return;
  }
  if (op->storage == SALTUSI_STORED_PRODUCT) {
    saltusi_matrix_free_add(op, eval, op->P, x);
    return;
  }
  int nv = eval->sys.dims.nv;
  for (int r = 0; r < op->count; r++) {
    if (op->P[r] != 0.0) {
      saltusi_add_scaled(nv, op->P[r], op->AinvG + (size_t)r * (size_t)nv, x);
    }
  }
}
