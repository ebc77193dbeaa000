/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense.c - W as one matrix, from A^-1 G row by row; and that of any rows and columns.
 */
#include "operator/operator_internal.h"

#include <assert.h>
#include <string.h>

/* Entries of a row of H and their positions in a vector; place NULL: consecutive. */
typedef struct spread_row {
  int count;
  const double* values;
  const int* column;
} spread_row;

/* One entry of W. Every path sums in the same order. */
static inline double product(const spread_row* row, const int* local, const double* x) {
  double sum = 0.0;
  if (row->column == NULL) {
    for (int e = 0; e < row->count; e++) {
      sum += row->values[e] * x[e];
    }
  } else if (local == NULL) {
    for (int e = 0; e < row->count; e++) {
      sum += row->values[e] * x[row->column[e]];
    }
  } else {
    for (int e = 0; e < row->count; e++) {
      sum += row->values[e] * x[local[row->column[e]]];
    }
  }
  return sum;
}

/* Dense rows, restricted to some velocities. */
static double product_some(const double* values, const saltusi_row_span* in, const double* x) {
  double sum = 0.0;
  for (int a = 0; a < in->k; a++) {
    sum += values[in->velocity[a]] * x[a];
  }
  return sum;
}

void saltusi_operator_gram(const saltusi_row_block* H, int n, const int* row,
                           const saltusi_row_span* in, const double* X, double* W) {
  assert(H != NULL && n >= 0 && in != NULL && X != NULL && W != NULL);
  bool some = H->column == NULL && in->local != NULL;
  for (int i = 0; i < n; i++) {
    int r = row != NULL ? row[i] : i;
    double* out = W + (size_t)i * (size_t)n;
    if (r < 0) {
      memset(out, 0, (size_t)n * sizeof(double));
      continue;
    }
    size_t at = (size_t)r * (size_t)H->stride;
    const spread_row of = {.count = H->column != NULL ? H->entries[r] : H->stride,
                           .values = H->G + at,
                           .column = H->column != NULL ? H->column + at : NULL};
    for (int j = 0; j < n; j++) {
      const double* x = X + (size_t)j * (size_t)in->k;
      out[j] = some ? product_some(of.values, in, x) : product(&of, in->local, x);
    }
  }
}

void saltusi_operator_fill(const saltusi_row_block* G, const saltusi_row_block* H, int n,
                           const saltusi_eval* eval, const saltusi_linear* linear, double* AinvG,
                           double* W) {
  assert(G != NULL && H != NULL && eval != NULL && linear != NULL);
  const saltusi_row_span all = {.k = eval->sys.dims.nv};
  for (int r = 0; r < n; r++) {
    saltusi_operator_response(G, r, eval, linear, AinvG + (size_t)r * (size_t)all.k);
  }
  saltusi_operator_gram(H, n, NULL, &all, AinvG, W);
}

void saltusi_dense_form(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  int rows = op->count;
  if (rows == 1 && !op->apart) {
    saltusi_operator_response(&op->rows, 0, eval, op->A, op->AinvG);
    op->W[0] = saltusi_row_dot(&op->rows, 0, op->AinvG);
    op->diagonal[0] = op->W[0] += op->softens ? op->soft[0] : 0.0;
    return;
  }
  saltusi_operator_fill(&op->rows, op->apart ? &op->measured : &op->rows, rows, eval, op->A,
                        op->AinvG, op->W);
  for (int r = 0; r < rows; r++) {
    double* own = op->W + (size_t)r * ((size_t)rows + 1);
    op->diagonal[r] = *own += op->softens ? op->soft[r] : 0.0;
  }
}
