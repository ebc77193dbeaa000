/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * eliminate.c - components of joints that are eliminated (groups.c), b, beside the other units u:
 *
 *   W'   = W_uu - W_ub B^-1 W_bu               by units that touch the component: saltusi_eliminate_from
 *   rhs' = rhs_u - H_u^T A^-1 G_b B^-1 rhs_b
 *   P_b  = -B^-1 (rhs_b + H_b^T A^-1 G_u P_u)
 *
 * For linearly dependent rows B^-1 denotes the minimum-norm solution of rank_revealing.h.
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* B of component c, factored. False when it is not finite. */
static bool factor(saltusi_operator* op, const saltusi_eval* eval, int c) {
  saltusi_groups* g = &op->groups;
  const int* row = g->row + g->start[c];
  int n = g->start[c + 1] - g->start[c];
  double* B = g->factor[c].gram; /* unused before the factorisation */
  for (int j = 0; j < n; j++) {
    const saltusi_block_entries entries = saltusi_row_entries(op, row[j]);
    int count = saltusi_response_sparse(op, eval, &entries, op->reached, op->reached_values);
    for (int k = 0; k < count; k++) {
      op->push[op->reached[k]] = op->reached_values[k];
    }
    for (int i = 0; i < n; i++) {
      B[i * n + j] = saltusi_row_dot(saltusi_operator_measured(op), row[i], op->push);
    }
    for (int k = 0; k < count; k++) {
      op->push[op->reached[k]] = 0.0;
    }
    op->diagonal[row[j]] = B[j * n + j];
  }
  return saltusi_rank_revealing_factor(&g->factor[c], n, B, n);
}

saltus_status saltusi_eliminate_factor(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  saltusi_groups* g = &op->groups;
  bool trees = false;
  memset(op->push, 0, (size_t)eval->sys.dims.nv * sizeof(double));
  for (int c = 0; c < g->components; c++) {
    trees = trees || g->tree[c] >= 0;
    if (!g->eliminated[c] || g->tree[c] >= 0) {
      continue;
    }
    if (!factor(op, eval, c)) {
      return SALTUS_RETRY_NAN;
    }
    eval->dependent |= g->factor[c].rank < g->factor[c].n;
  }
  return trees ? saltusi_tree_elimination_factor(op, eval) : SALTUS_OK;
}

bool saltusi_eliminate_dependent(const saltusi_operator* op) {
  assert(op != NULL);
  const saltusi_groups* g = &op->groups;
  for (int c = 0; c < g->components; c++) {
    if (g->eliminated[c] && g->tree[c] < 0 && g->factor[c].rank < g->factor[c].n) {
      return true;
    }
  }
  return saltusi_tree_elimination_dependent(op);
}

/* Adds s_b G_b over the rows of a component to op->push, which is zero before; the caller resets the columns of the
 * component. */
static void gather_push(saltusi_operator* op, int c, const double* s) {
  saltusi_groups* g = &op->groups;
  for (int b = g->start[c]; b < g->start[c + 1]; b++) {
    saltusi_row_add(&op->rows, g->row[b], s[b - g->start[c]], op->push);
  }
}

void saltusi_eliminate_from(saltusi_operator* op, const saltusi_eval* eval, int c, int k) {
  assert(op != NULL && eval != NULL);
  saltusi_groups* g = &op->groups;
  if (g->tree[c] >= 0) {
    saltusi_tree_elimination_from(op, c, k);
    return;
  }
  int n = g->start[c + 1] - g->start[c];
  int stride = op->table_stride;
  const int* row = g->row + g->start[c];
  const int* column = g->column + g->column_start[c];
  int width = g->column_start[c + 1] - g->column_start[c];
  for (int b = 0; b < n; b++) {
    const saltusi_block_entries entries = saltusi_measured_entries(op, row[b]);
    double sum = 0.0;
    for (int e = 0; e < entries.count; e++) {
      sum += entries.values[e] * op->table[entries.column[e] * stride + k];
    }
    g->part[b] = sum;
  }
  saltusi_rank_revealing_solve(&g->factor[c], g->part);
  if (op->scalar) {
    for (int b = 0; b < n; b++) {
      const saltusi_block_entries entries = saltusi_row_entries(op, row[b]);
      for (int e = 0; e < entries.count; e++) {
        int i = entries.column[e];
        op->table[i * stride + k] -= g->part[b] * op->inverse[i] * entries.values[e];
      }
    }
    return;
  }
  gather_push(op, c, g->part);
  for (int e = 0; e < width; e++) {
    op->pushed[e] = op->push[column[e]];
    op->push[column[e]] = 0.0;
  }
  const saltusi_block_entries all = {width, column, op->pushed};
  int count = saltusi_response_sparse(op, eval, &all, op->reached, op->reached_values);
  for (int e = 0; e < count; e++) {
    op->table[op->reached[e] * stride + k] -= op->reached_values[e];
  }
}

void saltusi_eliminate_reduce(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  saltusi_groups* g = &op->groups;
  int nv = eval->sys.dims.nv;
  double* P = op->P;
  memset(P, 0, (size_t)op->bilateral * sizeof(double));
  for (int c = 0; c < g->components; c++) {
    if (!g->eliminated[c] || g->tree[c] >= 0) {
      continue;
    }
    int n = g->start[c + 1] - g->start[c];
    for (int b = 0; b < n; b++) {
      g->part[b] = op->rhs[g->row[g->start[c] + b]];
    }
    saltusi_rank_revealing_solve(&g->factor[c], g->part);
    for (int b = 0; b < n; b++) {
      P[g->row[g->start[c] + b]] = g->part[b];
    }
  }
  memset(op->moved, 0, (size_t)nv * sizeof(double));
  saltusi_response_add(op, eval, 0, op->bilateral, op->moved);
  for (int c = 0; c < g->components; c++) {
    if (g->tree[c] >= 0) { /* no other unit acts on these velocities */
      saltusi_kkt_factor_solve(&op->trees.saddle, g->tree[c], NULL, op->rhs, op->moved, NULL);
    }
  }
}

static void expand_tree(saltusi_operator* op, int c) {
  const saltusi_groups* g = &op->groups;
  double* rhs = op->trees.rows;
  for (int b = g->start[c]; b < g->start[c + 1]; b++) {
    int r = g->row[b];
    rhs[r] = op->rhs[r];
    if (op->units > 0) {
      rhs[r] += saltusi_row_dot(saltusi_operator_measured(op), r, op->moved);
    }
  }
  saltusi_kkt_factor_solve(&op->trees.saddle, g->tree[c], NULL, rhs, NULL, op->P);
}

void saltusi_eliminate_expand(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  saltusi_groups* g = &op->groups;
  for (int c = 0; c < g->components; c++) {
    for (int b = g->start[c]; g->eliminated[c] && b < g->start[c + 1]; b++) {
      op->P[g->row[b]] = 0.0;
    }
  }
  memset(op->moved, 0, (size_t)eval->sys.dims.nv * sizeof(double));
  if (op->units > 0) {
    saltusi_response_add(op, eval, 0, op->count, op->moved);
  }
  for (int c = 0; c < g->components; c++) {
    if (!g->eliminated[c]) {
      continue;
    }
    if (g->tree[c] >= 0) {
      expand_tree(op, c);
      continue;
    }
    int n = g->start[c + 1] - g->start[c];
    for (int b = 0; b < n; b++) {
      int r = g->row[g->start[c] + b];
      g->part[b] = op->rhs[r] + saltusi_row_dot(saltusi_operator_measured(op), r, op->moved);
    }
    saltusi_rank_revealing_solve(&g->factor[c], g->part);
    for (int b = 0; b < n; b++) {
      op->P[g->row[g->start[c] + b]] = -g->part[b];
    }
  }
}
