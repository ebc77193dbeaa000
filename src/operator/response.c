/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * response.c - A^-1 G of single rows, as sparse as A allows, and of all rows at once.
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_operator_response(const saltusi_row_block* rows, int row, const saltusi_eval* eval,
                               const saltusi_linear* linear, double* x) {
  assert(rows != NULL && eval != NULL && linear != NULL);
  memset(x, 0, (size_t)eval->sys.dims.nv * sizeof(double));
  saltusi_row_add(rows, row, 1.0, x);
  saltusi_linear_solve(eval, linear, x);
}

bool saltusi_response_groups(saltusi_operator* op, const saltusi_eval* eval, int* parent) {
  assert(op != NULL && eval != NULL);
  const saltus_system* sys = &eval->sys;
  op->scalar = saltusi_linear_diagonal(eval, op->A, op->inverse);
  for (int i = 0; i < sys->dims.nv; i++) {
    parent[i] = i;
  }
  bool own = op->A->kind == SALTUSI_LINEAR_OWN && sys->ops->linear->solve_row != NULL;
  if (op->scalar || sys->structure == NULL || !(own || op->A->kind == SALTUSI_LINEAR_BLOCKS)) {
    return op->scalar;
  }
  const saltus_structure* s = sys->structure;
  for (int k = 0; k < s->blocks; k++) {
    for (int i = s->start[k]; i < s->start[k + 1]; i++) {
      parent[i] = s->start[k];
    }
  }
  for (int k = 0; k < s->pairs && saltusi_linear_coupled(op->A); k++) {
    saltusi_unite(parent, s->start[s->pair[2 * k]], s->start[s->pair[2 * k + 1]]);
  }
  return true;
}

int saltusi_response_sparse(const saltusi_operator* op, const saltusi_eval* eval,
                            const saltusi_block_entries* of, int* column, double* x) {
  assert(op != NULL && eval != NULL && of != NULL);
  if (!op->scalar) {
    return saltusi_linear_solve_row(eval, op->A, of->count, of->column, of->values, column, x);
  }
  for (int k = 0; k < of->count; k++) {
    column[k] = of->column[k];
    x[k] = of->values[k] * op->inverse[of->column[k]];
  }
  return of->count;
}

void saltusi_response_add(const saltusi_operator* op, const saltusi_eval* eval, int first, int last,
                          double* x) {
  assert(op != NULL && eval != NULL);
  const saltusi_row_block* G = &op->rows;
  int nv = eval->sys.dims.nv;
  if (!op->scalar) {
    memset(op->push, 0, (size_t)nv * sizeof(double));
  }
  for (int r = first; r < last; r++) {
    double push = op->P[r];
    if (push == 0.0) {
      continue;
    }
    if (!op->scalar) {
      saltusi_row_add(G, r, push, op->push);
      continue;
    }
    for (int k = 0; k < G->entries[r]; k++) {
      int column = G->column[r * G->stride + k];
      x[column] += push * op->inverse[column] * G->G[r * G->stride + k];
    }
  }
  if (!op->scalar) {
    saltusi_linear_solve(eval, op->A, op->push);
    saltusi_add_scaled(nv, 1.0, op->push, x);
  }
}
