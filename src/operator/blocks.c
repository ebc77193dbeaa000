/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * blocks.c - W as a block for every two contacts that share a velocity.
 */
#include "operator/inside.h"

#include <string.h>

/* Contacts that share a velocity with contact i, ascending; returns how many. mark[j] = i: found. */
static int find_neighbours(const saltusi_operator* op, int i, int* mark, int* found) {
  const saltusi_row_block* G = &op->rows;
  int row = op->first[i];
  int count = 0;
  for (int k = 0; k < G->entries[row]; k++) {
    int column = G->column[row * G->stride + k];
    for (int p = op->row_start[column]; p < op->row_start[column + 1]; p++) {
      int j = op->row_list[p];
      if (mark[j] == i) {
        continue;
      }
      mark[j] = i;
      int at = count++;
      while (at > 0 && found[at - 1] > j) {
        found[at] = found[at - 1];
        at--;
      }
      found[at] = j;
    }
  }
  return count;
}

/* A^-1 G_i of one contact into a table with three places for each velocity, or zeros back into it. */
static void spread_contact(const saltusi_operator* op, int i, bool clear, double* table) {
  const saltusi_row_block* G = &op->rows;
  int row = op->first[i];
  int rows = op->first[i + 1] - row;
  for (int a = 0; a < G->entries[row]; a++) {
    int column = G->column[row * G->stride + a];
    for (int k = 0; k < rows; k++) {
      double entry = G->G[(row + k) * G->stride + a] * op->inverse[column];
      table[3 * column + k] = clear ? 0.0 : entry;
    }
  }
}

/* G_i^T A^-1 G_j of two contacts, i in the table. Sizes are constants where this is inlined. */
static inline void write_block(const saltusi_operator* op, const double* table, int j,
                               const int rows, const int columns, double* block) {
  const saltusi_row_block* G = &op->rows;
  int first = op->first[j];
  const int* column = G->column + (size_t)first * (size_t)G->stride;
  const double* entry = G->G + (size_t)first * (size_t)G->stride;
  double sum[9] = {0.0};
  for (int b = 0; b < G->entries[first]; b++) {
    const double* own = table + 3 * (size_t)column[b];
    for (int k = 0; k < rows; k++) {
      for (int c = 0; c < columns; c++) {
        sum[k * columns + c] += own[k] * entry[c * G->stride + b];
      }
    }
  }
  memcpy(block, sum, (size_t)(rows * columns) * sizeof(double));
}

bool saltusi_blocks_form(saltusi_operator* op, int nv) {
  int units = op->contacts;
  int* mark = op->band_start;
  int* found = op->band_column;
  double* table = op->AinvG; /* not needed otherwise */
  memset(table, 0, 3 * (size_t)nv * sizeof(double));
  saltusi_operator_sort(op, nv, op->first, units);
  saltusi_friction_step_open(&op->friction, units, op->offset);
  for (int i = 0; i < units; i++) {
    mark[i] = -1;
  }
  for (int i = 0; i < units; i++) {
    int count = find_neighbours(op, i, mark, found);
    int d = op->first[i + 1] - op->first[i];
    saltusi_friction_step_row(&op->friction, i);
    spread_contact(op, i, false, table);
    for (int k = 0; k < count; k++) {
      int j = found[k];
      int columns = op->first[j + 1] - op->first[j];
      double* block = saltusi_friction_step_block(&op->friction, i, j);
      if (block == NULL) {
        return false;
      }
      if (d == 3 && columns == 3) {
        write_block(op, table, j, 3, 3, block);
      } else {
        write_block(op, table, j, d, columns, block);
      }
      for (int c = 0; j == i && c < d; c++) {
        op->diagonal[op->first[i] + c] = block[c * (d + 1)];
      }
    }
    spread_contact(op, i, true, table);
  }
  saltusi_friction_step_close(&op->friction);
  return true;
}
