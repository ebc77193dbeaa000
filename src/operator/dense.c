/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense.c - W as one matrix, from A^-1 G row by row.
 */
#include "operator/inside.h"

void saltusi_dense_form(saltusi_operator* op, const saltusi_eval* eval) {
  size_t nv = (size_t)eval->sys.dims.nv;
  int rows = op->count;
  const saltusi_row_block* H = op->measured.G != NULL ? &op->measured : &op->rows;
  for (int r = 0; r < rows; r++) {
    double* column = op->AinvG + (size_t)r * nv;
    saltusi_operator_response(&op->rows, r, eval, op->A, column);
    for (int i = 0; i <= r; i++) {
      op->W[i * rows + r] = saltusi_row_dot(H, i, column);
    }
    for (int i = 0; i < r; i++) {
      op->W[r * rows + i] = saltusi_row_dot(H, r, op->AinvG + (size_t)i * nv);
    }
    op->diagonal[r] = op->W[r * rows + r];
  }
}
