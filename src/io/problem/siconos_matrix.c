/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * siconos_matrix.c - the matrix record: storage type, rows, columns, then
 *
 *   0  dense    rows and columns again, entries column by column
 *   1  blocks   number of blocks, block rows and columns, ends of the block rows and columns,
 *               lengths of and the two index arrays, then per block its number and its entries
 *               column by column
 *   2  sparse   origin, a line of CSparse's own, and "triplet: M-by-N, nzmax: X nnz: Z" with lines
 *               "i j : value", or "M-by-N, nzmax: X nnz: Z, 1-norm: V" with, per column,
 *               "col j : locations a to b" and lines "i : value"
 */
#include "io/problem/siconos_matrix.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct siconos_matrix_reading {
  saltusi_tokens* t;
  const char* name;
  saltusi_pool scratch;
  saltusi_matrix_entries entries;
} siconos_matrix_reading;

/* Capacity for entries of `tokens` tokens each. */
static bool room(siconos_matrix_reading* in, unsigned long long count, unsigned tokens) {
  if (!saltusi_tokens_can_hold(in->t, in->name, count * tokens)) {
    return false;
  }
  if (count >= INT_MAX || !saltusi_entries_workspace(&in->entries, (size_t)count, &in->scratch)) {
    in->t->status = SALTUS_ERR_MEMORY;
    return false;
  }
  return true;
}

static void read_dense(siconos_matrix_reading* in) {
  saltusi_matrix_entries* e = &in->entries;
  saltusi_tokens_int(in->t, "repeated number of rows", e->rows, e->rows);
  saltusi_tokens_int(in->t, "repeated number of columns", e->columns, e->columns);
  if (!room(in, (unsigned long long)e->rows * (unsigned long long)e->columns, 1)) {
    return;
  }
  for (int j = 0; j < e->columns; j++) {
    for (int i = 0; i < e->rows && in->t->status == SALTUS_OK; i++) {
      double value = saltusi_tokens_real(in->t, in->name);
      if (value != 0.0) {
        saltusi_entries_add(e, i, j, value);
      }
    }
  }
}

static int* read_ints(siconos_matrix_reading* in, const char* what, int count, long long lo,
                      long long hi) {
  int* list = NULL;
  if (saltusi_tokens_can_hold(in->t, what, (unsigned long long)count)) {
    list = SALTUSI_TAKE(&in->scratch, int, (size_t)count + 1);
    if (list == NULL) {
      in->t->status = SALTUS_ERR_MEMORY;
    }
  }
  for (int i = 0; list != NULL && i < count; i++) {
    list[i] = saltusi_tokens_int(in->t, what, lo, hi);
  }
  return in->t->status == SALTUS_OK ? list : NULL;
}

/* Ends of block rows or columns with a zero in front: [count + 1]. */
static int* read_ends(siconos_matrix_reading* in, const char* what, int count, int total) {
  int* list = read_ints(in, what, count, 1, total);
  if (list == NULL) {
    return NULL;
  }
  memmove(list + 1, list, (size_t)count * sizeof(int));
  list[0] = 0;
  for (int i = 0; i < count; i++) {
    if (list[i + 1] <= list[i]) {
      saltusi_tokens_refuse(in->t, "%s of %s do not increase: %d after %d", what, in->name,
                            list[i + 1], list[i]);
      return NULL;
    }
  }
  if (list[count] != total) {
    saltusi_tokens_refuse(in->t, "%s of %s end at %d, must end at %d", what, in->name, list[count],
                          total);
    return NULL;
  }
  return list;
}

typedef struct siconos_matrix_layout {
  int rows, columns, count;  /* of blocks */
  int *row_end, *column_end; /* [rows + 1], [columns + 1] */
  int *start, *column;       /* [rows + 1], [count] */
} siconos_matrix_layout;

static bool read_layout(siconos_matrix_reading* in, siconos_matrix_layout* l) {
  saltusi_matrix_entries* e = &in->entries;
  l->rows = saltusi_tokens_int(in->t, "number of block rows", 1, e->rows);
  l->columns = saltusi_tokens_int(in->t, "number of block columns", 1, e->columns);
  l->row_end = read_ends(in, "ends of block rows", l->rows, e->rows);
  l->column_end = read_ends(in, "ends of block columns", l->columns, e->columns);
  saltusi_tokens_int(in->t, "length of the row index", l->rows + 1LL, l->rows + 1LL);
  saltusi_tokens_int(in->t, "length of the column index", l->count, l->count);
  l->start = read_ints(in, "row index of the blocks", l->rows + 1, 0, l->count);
  l->column = read_ints(in, "block column", l->count, 0, l->columns - 1LL);
  if (in->t->status != SALTUS_OK) {
    return false;
  }
  bool ordered = l->start[0] == 0 && l->start[l->rows] == l->count;
  for (int i = 0; i < l->rows; i++) {
    ordered = ordered && l->start[i] <= l->start[i + 1];
  }
  if (!ordered) {
    saltusi_tokens_refuse(in->t, "the row index of the blocks of %s must run from 0 to %d",
                          in->name, l->count);
  }
  return ordered;
}

static void read_block(siconos_matrix_reading* in, const siconos_matrix_layout* l, int R, int k) {
  saltusi_tokens_int(in->t, "block number", k, k);
  int C = l->column[k];
  for (int j = l->column_end[C]; j < l->column_end[C + 1]; j++) {
    for (int i = l->row_end[R]; i < l->row_end[R + 1] && in->t->status == SALTUS_OK; i++) {
      saltusi_entries_add(&in->entries, i, j, saltusi_tokens_real(in->t, in->name));
    }
  }
}

static void read_blocks(siconos_matrix_reading* in) {
  siconos_matrix_layout l = {.count =
                                 saltusi_tokens_int(in->t, "number of blocks", 0, INT_MAX - 1)};
  if (l.count == 0) {
    room(in, 0, 1);
    return;
  }
  if (!read_layout(in, &l)) {
    return;
  }
  unsigned long long total = 0;
  for (int R = 0; R < l.rows; R++) {
    for (int k = l.start[R]; k < l.start[R + 1]; k++) {
      total += (unsigned long long)(l.row_end[R + 1] - l.row_end[R]) *
               (unsigned long long)(l.column_end[l.column[k] + 1] - l.column_end[l.column[k]]);
    }
  }
  if (!room(in, total, 1)) {
    return;
  }
  for (int R = 0; R < l.rows; R++) {
    for (int k = l.start[R]; k < l.start[R + 1] && in->t->status == SALTUS_OK; k++) {
      read_block(in, &l, R, k);
    }
  }
}

/* The number after `mark` in the line, or -1. */
static long long number_after(const char* line, const char* mark) {
  const char* at = strstr(line, mark);
  if (at == NULL) {
    return -1;
  }
  char* stop;
  errno = 0;
  long long value = strtoll(at + strlen(mark), &stop, 10);
  return errno == 0 && stop != at + strlen(mark) && value >= 0 && value < INT_MAX ? value : -1;
}

static void read_triplets(siconos_matrix_reading* in, long long count) {
  if (!room(in, (unsigned long long)count, 4)) {
    return;
  }
  for (long long k = 0; k < count && in->t->status == SALTUS_OK; k++) {
    int i = saltusi_tokens_int(in->t, "row of an entry", 0, in->entries.rows - 1LL);
    int j = saltusi_tokens_int(in->t, "column of an entry", 0, in->entries.columns - 1LL);
    saltusi_tokens_word(in->t, ":");
    saltusi_entries_add(&in->entries, i, j, saltusi_tokens_real(in->t, in->name));
  }
}

static void read_columns(siconos_matrix_reading* in, long long count) {
  if (!room(in, (unsigned long long)count, 3)) {
    return;
  }
  long long at = 0;
  for (int j = 0; j < in->entries.columns && in->t->status == SALTUS_OK; j++) {
    saltusi_tokens_word(in->t, "col");
    saltusi_tokens_int(in->t, "number of a column", j, j);
    saltusi_tokens_word(in->t, ":");
    saltusi_tokens_word(in->t, "locations");
    saltusi_tokens_int(in->t, "first location of a column", at, at);
    saltusi_tokens_word(in->t, "to");
    long long last = saltusi_tokens_int(in->t, "last location of a column", at - 1, count - 1);
    for (; at <= last && in->t->status == SALTUS_OK; at++) {
      int i = saltusi_tokens_int(in->t, "row of an entry", 0, in->entries.rows - 1LL);
      saltusi_tokens_word(in->t, ":");
      saltusi_entries_add(&in->entries, i, j, saltusi_tokens_real(in->t, in->name));
    }
  }
}

static void read_sparse(siconos_matrix_reading* in) {
  char line[256];
  saltusi_tokens_int(in->t, "origin of the sparse matrix", 1, 2);
  saltusi_tokens_line(in->t, line, sizeof line); /* rest of the line */
  saltusi_tokens_line(in->t, line, sizeof line); /* CSparse Version ... */
  saltusi_tokens_line(in->t, line, sizeof line);
  if (in->t->status != SALTUS_OK) {
    return;
  }
  bool triplets = strncmp(line, "triplet:", 8) == 0;
  long long rows = number_after(line, triplets ? "triplet:" : "");
  long long columns = number_after(line, "-by-");
  long long count = number_after(line, "nnz:");
  if (rows != in->entries.rows || columns != in->entries.columns || count < 0) {
    saltusi_tokens_refuse(in->t,
                          "the line before this should say \"%s%d-by-%d, nzmax: ... nnz: ...\" for "
                          "%s, but is \"%.60s\"",
                          triplets ? "triplet: " : "", in->entries.rows, in->entries.columns,
                          in->name, line);
    return;
  }
  if (triplets) {
    read_triplets(in, count);
  } else {
    read_columns(in, count);
  }
}

void saltusi_siconos_matrix(saltusi_tokens* t, const char* name, saltusi_pool* pool,
                            saltus_csr* out) {
  assert(t != NULL && pool != NULL);
  siconos_matrix_reading in = {
      .t = t, .name = name, .scratch = saltusi_pool_over(&pool->allocator)};
  /* every row and column has its number in a vector of the file */
  long long most = (t->end - t->text) / 2 + 1;
  most = most < INT_MAX - 1 ? most : INT_MAX - 1;
  int storage = saltusi_tokens_int(t, "storage type of a matrix", 0, 2);
  in.entries.rows = saltusi_tokens_int(t, "number of rows", 0, most);
  in.entries.columns = saltusi_tokens_int(t, "number of columns", 0, most);
  if (t->status == SALTUS_OK) {
    if (storage == 0) {
      read_dense(&in);
    } else if (storage == 1) {
      read_blocks(&in);
    } else {
      read_sparse(&in);
    }
  }
  if (t->status == SALTUS_OK) {
    t->status = saltusi_entries_csr(&in.entries, pool, out);
  }
  saltusi_pool_free(&in.scratch);
}
