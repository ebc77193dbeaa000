/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/problem/entries.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool saltusi_entries_workspace(saltusi_matrix_entries* e, size_t count, saltusi_pool* pool) {
  assert(e != NULL);
  e->count = 0;
  e->row = SALTUSI_TAKE(pool, int, count);
  e->column = SALTUSI_TAKE(pool, int, count);
  e->value = SALTUSI_TAKE(pool, double, count);
  return e->row != NULL && e->column != NULL && e->value != NULL;
}

/* order <- positions sorted by key (stable) */
static void sort_by(const int* key, int keys, size_t count, const int* from, int* start,
                    int* order) {
  memset(start, 0, ((size_t)keys + 1) * sizeof(int));
  for (size_t i = 0; i < count; i++) {
    start[key[i] + 1]++;
  }
  for (int k = 0; k < keys; k++) {
    start[k + 1] += start[k];
  }
  for (size_t i = 0; i < count; i++) {
    int entry = from != NULL ? from[i] : (int)i;
    order[start[key[entry]]++] = entry;
  }
}

static void fill_rows(const saltusi_matrix_entries* e, const int* order, int* start, int* column,
                      double* values) {
  int filled = 0;
  int row = -1; /* of the entry last filled */
  for (size_t i = 0; i < e->count; i++) {
    int k = order[i];
    if (e->row[k] == row && column[filled - 1] == e->column[k]) {
      values[filled - 1] += e->value[k];
      continue;
    }
    row = e->row[k];
    column[filled] = e->column[k];
    values[filled] = e->value[k];
    filled++;
    start[row + 1] = filled;
  }
  for (int i = 0; i < e->rows; i++) {
    start[i + 1] = start[i + 1] > start[i] ? start[i + 1] : start[i];
  }
}

saltus_status saltusi_entries_csr(const saltusi_matrix_entries* e, saltusi_pool* pool,
                                  saltus_csr* out) {
  assert(e != NULL && pool != NULL && out != NULL);
  saltusi_pool scratch = saltusi_pool_over(&pool->allocator);
  int most = e->rows > e->columns ? e->rows : e->columns;
  int* counts = SALTUSI_TAKE(&scratch, int, (size_t)most + 1);
  int* by_column = SALTUSI_TAKE(&scratch, int, e->count);
  int* order = SALTUSI_TAKE(&scratch, int, e->count);
  int* start = SALTUSI_TAKE(pool, int, (size_t)e->rows + 1);
  int* column = SALTUSI_TAKE(pool, int, e->count);
  double* values = SALTUSI_TAKE(pool, double, e->count);
  bool good = !scratch.failed && start != NULL && column != NULL && values != NULL;
  if (good) {
    sort_by(e->column, e->columns, e->count, NULL, counts, by_column);
    sort_by(e->row, e->rows, e->count, by_column, counts, order);
    fill_rows(e, order, start, column, values);
    *out = (saltus_csr){e->rows, e->columns, start, column, values};
  }
  saltusi_pool_free(&scratch);
  return good ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

static int by_value(const void* a, const void* b) {
  int x = *(const int*)a;
  int y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Unit columns of block row R, ascending, into list; mark[u] = R + 1 for those found. The diagonal block always
 * exists, since solvers use it. */
static int block_columns(const saltus_csr* csr, int size, int R, int* mark, int* list) {
  int count = 1;
  list[0] = R;
  mark[R] = R + 1;
  for (int k = csr->start[R * size]; k < csr->start[(R + 1) * size]; k++) {
    int unit = csr->column[k] / size;
    if (mark[unit] != R + 1) {
      mark[unit] = R + 1;
      list[count++] = unit;
    }
  }
  qsort(list, (size_t)count, sizeof(int), by_value);
  return count;
}

typedef struct blocks {
  int size;
  int *offset, *start, *unit, *place;
  double* values;
  int *mark, *where, *list; /* scratch */
} blocks;

static int count_blocks(const saltus_csr* csr, const blocks* b, int units) {
  int count = 0;
  for (int R = 0; R < units; R++) {
    count += block_columns(csr, b->size, R, b->mark, b->list);
  }
  memset(b->mark, 0, (size_t)units * sizeof(int));
  return count;
}

static void fill_blocks(const saltus_csr* csr, const blocks* b, int units) {
  int square = b->size * b->size;
  int filled = 0;
  for (int R = 0; R < units; R++) {
    b->offset[R + 1] = (R + 1) * b->size;
    int count = block_columns(csr, b->size, R, b->mark, b->unit + filled);
    for (int k = filled; k < filled + count; k++) {
      b->place[k + 1] = (k + 1) * square;
      b->where[b->unit[k]] = k;
    }
    filled += count;
    b->start[R + 1] = filled;
    for (int r = 0; r < b->size; r++) {
      int row = R * b->size + r;
      for (int k = csr->start[row]; k < csr->start[row + 1]; k++) {
        int block = b->where[csr->column[k] / b->size];
        b->values[block * square + r * b->size + csr->column[k] % b->size] = csr->values[k];
      }
    }
  }
}

saltus_status saltusi_csr_blocks(const saltus_csr* csr, int size, saltusi_pool* pool,
                                 saltus_block_matrix* out) {
  assert(csr != NULL && out != NULL);
  int units = csr->rows / size;
  saltusi_pool scratch = saltusi_pool_over(&pool->allocator);
  blocks b = {.size = size};
  b.mark = SALTUSI_TAKE(&scratch, int, units);
  b.where = SALTUSI_TAKE(&scratch, int, units);
  b.list = SALTUSI_TAKE(&scratch, int, units);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (!scratch.failed) {
    size_t count = (size_t)count_blocks(csr, &b, units);
    b.offset = SALTUSI_TAKE(pool, int, (size_t)units + 1);
    b.start = SALTUSI_TAKE(pool, int, (size_t)units + 1);
    b.unit = SALTUSI_TAKE(pool, int, count);
    b.place = SALTUSI_TAKE(pool, int, count + 1);
    b.values = SALTUSI_TAKE(pool, double, count*(size_t)(size * size));
    if (!pool->failed) {
      fill_blocks(csr, &b, units);
      *out = (saltus_block_matrix){units, b.offset, b.start, b.unit, b.place, b.values};
      status = SALTUS_OK;
    }
  }
  saltusi_pool_free(&scratch);
  return status;
}

saltus_status saltusi_csr_lcp(const saltus_csr* csr, saltusi_pool* pool, saltus_lcp* out) {
  assert(csr != NULL && out != NULL);
  size_t n = (size_t)csr->rows;
  size_t count = (size_t)csr->start[csr->rows];
  if (4 * count < n * n) {
    out->sparse = *csr;
    return SALTUS_OK;
  }
  double* M = SALTUSI_TAKE(pool, double, n* n);
  if (M == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < csr->rows; i++) {
    for (int k = csr->start[i]; k < csr->start[i + 1]; k++) {
      M[(size_t)i * n + (size_t)csr->column[k]] = csr->values[k];
    }
  }
  out->M = M;
  return SALTUS_OK;
}
