/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense.c - W as one matrix, from A^-1 G row by row.
 */
#include "operator/inside.h"

#include <assert.h>

void saltusi_operator_fill(const saltusi_row_block* G, const saltusi_row_block* H, int n,
                           const saltusi_eval* eval, const saltusi_linear* linear, double* AinvG,
                           double* W) {
  assert(G != NULL && H != NULL && eval != NULL && linear != NULL);
  size_t nv = (size_t)eval->sys.dims.nv;
  size_t side = (size_t)n;
  for (int r = 0; r < n; r++) {
    double* column = AinvG + (size_t)r * nv;
    saltusi_operator_response(G, r, eval, linear, column);
    for (int i = 0; i <= r; i++) {
      W[(size_t)i * side + (size_t)r] = saltusi_row_dot(H, i, column);
    }
    for (int i = 0; i < r; i++) {
      W[(size_t)r * side + (size_t)i] = saltusi_row_dot(H, r, AinvG + (size_t)i * nv);
    }
  }
}

void saltusi_dense_form(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  int rows = op->count;
  if (rows == 1 && !op->apart) {
    saltusi_operator_response(&op->rows, 0, eval, op->A, op->AinvG);
    op->W[0] = saltusi_row_dot(&op->rows, 0, op->AinvG);
    op->diagonal[0] = op->W[0];
    return;
  }
  saltusi_operator_fill(&op->rows, op->apart ? &op->measured : &op->rows, rows, eval, op->A,
                        op->AinvG, op->W);
  for (int r = 0; r < rows; r++) {
    op->diagonal[r] = op->W[(size_t)r * ((size_t)rows + 1)];
  }
}
