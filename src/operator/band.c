/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * band.c - W of many contacts with sparse rows, a diagonal A and no friction, a column of balls: a narrow
 * band, and everything costs time and room in proportion to the contacts.
 */
#include "operator/inside.h"

#include <string.h>

void saltusi_band_layout(saltusi_operator* op, const saltus_dims* dims, int rows,
                         saltus_arena* arena) {
  size_t entries = (size_t)rows * SALTUSI_STEP_ENTRIES;
  op->inverse = SALTUS_PUSH(arena, double, dims->nv);
  op->band_start = SALTUS_PUSH(arena, int, rows + 1);
  op->band_column = SALTUS_PUSH(arena, int, entries);
  op->band_values = SALTUS_PUSH(arena, double, entries);
  op->row_start = SALTUS_PUSH(arena, int, dims->nv + 1);
  op->row_list = SALTUS_PUSH2(arena, int, rows, dims->row_width);
}

void saltusi_operator_sort(saltusi_operator* op, int nv, const int* first, int items) {
  const saltusi_row_block* G = &op->rows;
  memset(op->row_start, 0, ((size_t)nv + 1) * sizeof(int));
  for (int i = 0; i < items; i++) {
    int r = first != NULL ? first[i] : i;
    for (int k = 0; k < G->entries[r]; k++) {
      op->row_start[G->column[r * G->stride + k] + 1]++;
    }
  }
  for (int j = 0; j < nv; j++) {
    op->row_start[j + 1] += op->row_start[j];
  }
  for (int i = 0; i < items; i++) {
    int r = first != NULL ? first[i] : i;
    for (int k = 0; k < G->entries[r]; k++) {
      op->row_list[op->row_start[G->column[r * G->stride + k]]++] = i;
    }
  }
  for (int j = nv; j > 0; j--) { /* the starts moved to the ends: back */
    op->row_start[j] = op->row_start[j - 1];
  }
  op->row_start[0] = 0;
}

/* Entry of G in a row and a column that it has. */
static double entry(const saltusi_row_block* G, int r, int column) {
  for (int k = 0; k < G->entries[r]; k++) {
    if (G->column[r * G->stride + k] == column) {
      return G->G[r * G->stride + k];
    }
  }
  return 0.0;
}

/* Adds a number to entry (r, i) of the row of W that is being made, places start .. *end, ascending.
 * False when the band is too wide. */
static bool add_entry(saltusi_operator* op, int start, int* end, int i, double value) {
  int at = *end;
  while (at > start && op->band_column[at - 1] > i) {
    at--;
  }
  if (at > start && op->band_column[at - 1] == i) {
    op->band_values[at - 1] += value;
    return true;
  }
  if (*end - start == SALTUSI_STEP_ENTRIES) {
    return false;
  }
  for (int k = *end; k > at; k--) {
    op->band_column[k] = op->band_column[k - 1];
    op->band_values[k] = op->band_values[k - 1];
  }
  op->band_column[at] = i;
  op->band_values[at] = value;
  (*end)++;
  return true;
}

bool saltusi_band_form(saltusi_operator* op, int nv) {
  const saltusi_row_block* G = &op->rows;
  int rows = op->count;
  saltusi_operator_sort(op, nv, NULL, rows);
  int end = 0;
  for (int r = 0; r < rows; r++) {
    int start = end;
    op->band_start[r] = start;
    for (int k = 0; k < G->entries[r]; k++) {
      int column = G->column[r * G->stride + k];
      double scaled = G->G[r * G->stride + k] * op->inverse[column];
      for (int p = op->row_start[column]; p < op->row_start[column + 1]; p++) {
        int i = op->row_list[p];
        bool near = i - r <= SALTUSI_STEP_BAND && r - i <= SALTUSI_STEP_BAND;
        if (!near || !add_entry(op, start, &end, i, scaled * entry(G, i, column))) {
          return false;
        }
      }
    }
    for (int k = start; k < end; k++) {
      if (op->band_column[k] == r) {
        op->diagonal[r] = op->band_values[k];
      }
    }
  }
  op->band_start[rows] = end;
  op->band = (saltus_csr){rows, rows, op->band_start, op->band_column, op->band_values};
  return true;
}

bool saltusi_band_spread(saltusi_operator* op, int nv) {
  int rows = op->count;
  if (rows > op->dense_max) {
    return false;
  }
  memset(op->W, 0, (size_t)rows * (size_t)rows * sizeof(double));
  for (int r = 0; r < rows; r++) {
    for (int k = op->band_start[r]; k < op->band_start[r + 1]; k++) {
      op->W[r * rows + op->band_column[k]] = op->band_values[k];
    }
    double* column = op->AinvG + (size_t)r * (size_t)nv;
    memset(column, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&op->rows, r, 1.0, column);
    for (int k = 0; k < nv; k++) {
      column[k] *= op->inverse[k];
    }
  }
  op->storage = SALTUSI_STORED_DENSE;
  return true;
}
