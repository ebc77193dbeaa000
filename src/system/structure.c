/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * structure.c - see structure.h.
 */
#include "system/structure.h"

#include "base/log.h"
#include "math/matrix.h"
#include "saltus/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t saltusi_structure_diagonal_values(const saltus_structure* s) {
  assert(s != NULL);
  size_t count = 0;
  for (int i = 0; i < s->blocks; i++) {
    const size_t n = (size_t)saltusi_block_size(s, i);
    count += n * n;
  }
  return count;
}

size_t saltusi_structure_values(const saltus_structure* s) {
  assert(s != NULL);
  size_t count = saltusi_structure_diagonal_values(s);
  for (int p = 0; p < s->pairs; p++) {
    count += 2 * (size_t)saltusi_block_size(s, s->pair[2 * p]) *
             (size_t)saltusi_block_size(s, s->pair[2 * p + 1]);
  }
  return count;
}

int saltusi_structure_block_max(const saltus_structure* s) {
  assert(s != NULL);
  int most = 0;
  for (int i = 0; i < s->blocks; i++) {
    const int n = saltusi_block_size(s, i);
    most = n > most ? n : most;
  }
  return most;
}

/* y += A x; the number of columns is constant where inlined. */
static inline void add_rows(int rows, const int columns, const double* restrict A,
                            const double* restrict x, double* restrict y) {
  for (int a = 0; a < rows; a++) {
    y[a] += saltusi_dot(columns, A + a * columns, x);
  }
}

/* y_i += block x_j */
static void add_block(const saltus_structure* s, int i, int j, const double* block, const double* x,
                      double* y) {
  const int rows = saltusi_block_size(s, i), columns = saltusi_block_size(s, j);
  if (columns == 6) { /* bodies in space, */
    add_rows(rows, 6, block, x + s->start[j], y + s->start[i]);
  } else if (columns == 3) { /* and in the plane */
    add_rows(rows, 3, block, x + s->start[j], y + s->start[i]);
  } else {
    add_rows(rows, columns, block, x + s->start[j], y + s->start[i]);
  }
}

void saltusi_structure_times(const saltus_structure* s, const double* values, const double* x,
                             double* y) {
  assert(s != NULL);
  memset(y, 0, (size_t)s->start[s->blocks] * sizeof(double));
  for (int i = 0; i < s->blocks; i++) {
    const size_t n = (size_t)saltusi_block_size(s, i);
    add_block(s, i, i, values, x, y);
    values += n * n;
  }
  for (int p = 0; p < s->pairs; p++) {
    const int i = s->pair[2 * p], j = s->pair[2 * p + 1];
    const size_t size = (size_t)saltusi_block_size(s, i) * (size_t)saltusi_block_size(s, j);
    add_block(s, i, j, values, x, y);
    add_block(s, j, i, values + size, x, y);
    values += 2 * size;
  }
}

/* Copies rows of a block between a dense matrix and its values; returns the next value. */
static double* copy_out(const saltus_structure* s, int i, int j, const double* A, double* values) {
  const size_t nv = (size_t)s->start[s->blocks], columns = (size_t)saltusi_block_size(s, j);
  for (int a = s->start[i]; a < s->start[i + 1]; a++, values += columns) {
    memcpy(values, A + (size_t)a * nv + (size_t)s->start[j], columns * sizeof(double));
  }
  return values;
}

static const double* copy_in(const saltus_structure* s, int i, int j, const double* values,
                             double* A) {
  const size_t nv = (size_t)s->start[s->blocks], columns = (size_t)saltusi_block_size(s, j);
  for (int a = s->start[i]; a < s->start[i + 1]; a++, values += columns) {
    memcpy(A + (size_t)a * nv + (size_t)s->start[j], values, columns * sizeof(double));
  }
  return values;
}

void saltusi_structure_gather(const saltus_structure* s, const double* A, double* values) {
  assert(s != NULL);
  for (int i = 0; i < s->blocks; i++) {
    values = copy_out(s, i, i, A, values);
  }
  for (int p = 0; p < s->pairs; p++) {
    values = copy_out(s, s->pair[2 * p], s->pair[2 * p + 1], A, values);
    values = copy_out(s, s->pair[2 * p + 1], s->pair[2 * p], A, values);
  }
}

void saltusi_structure_spread(const saltus_structure* s, const double* values, double* A) {
  assert(s != NULL);
  const size_t nv = (size_t)s->start[s->blocks];
  memset(A, 0, nv * nv * sizeof(double));
  for (int i = 0; i < s->blocks; i++) {
    values = copy_in(s, i, i, values, A);
  }
  for (int p = 0; p < s->pairs; p++) {
    values = copy_in(s, s->pair[2 * p], s->pair[2 * p + 1], values, A);
    values = copy_in(s, s->pair[2 * p + 1], s->pair[2 * p], values, A);
  }
}

/* Representative of a component: its first block. Paths are halved (union-find). */
static int first_of(int* component, int i) {
  while (component[i] != i) {
    component[i] = component[component[i]];
    i = component[i];
  }
  return i;
}

int saltusi_structure_components(const saltus_structure* s, int* component) {
  assert(s != NULL);
  for (int i = 0; i < s->blocks; i++) {
    component[i] = i;
  }
  for (int p = 0; p < s->pairs; p++) {
    const int a = first_of(component, s->pair[2 * p]);
    const int b = first_of(component, s->pair[2 * p + 1]);
    component[a > b ? a : b] = a > b ? b : a;
  }
  int count = 0;
  for (int i = 0; i < s->blocks;
       i++) { /* the first block comes before all others of its component */
    component[i] = component[i] == i ? count++ : component[component[i]];
  }
  return count;
}

static int by_blocks(const void* a, const void* b) {
  const int* x = a;
  const int* y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static saltus_status check_partition(const saltus_structure* s, int nv, saltus_log log) {
  if (s->blocks < 1 || s->blocks > nv || s->start == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "system: structure.blocks is %d, must be 1 to dims.nv = %d", s->blocks, nv);
    return SALTUS_ERR_RANGE;
  }
  for (int i = 0; i < s->blocks; i++) {
    if (s->start[i] >= s->start[i + 1]) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "system: structure.start[%d] is %d and start[%d] is %d, must ascend", i,
                  s->start[i], i + 1, s->start[i + 1]);
      return SALTUS_ERR_RANGE;
    }
  }
  if (s->start[0] != 0 || s->start[s->blocks] != nv) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "system: structure.start goes from %d to %d, must go from 0 to dims.nv = %d",
                s->start[0], s->start[s->blocks], nv);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

static saltus_status check_pairs(const saltus_structure* s, saltus_log log) {
  if (s->pairs < 0 || (s->pairs > 0 && s->pair == NULL)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "system: structure.pairs is %d %s", s->pairs,
                s->pairs < 0 ? "and must be at least 0" : "but structure.pair is missing");
    return SALTUS_ERR_RANGE;
  }
  for (int p = 0; p < s->pairs; p++) {
    const int i = s->pair[2 * p], j = s->pair[2 * p + 1];
    if (i < 0 || i >= j || j >= s->blocks) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "system: pair %d of the structure is (%d, %d), must be i < j in 0 to %d", p, i, j,
                  s->blocks - 1);
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}

static saltus_status check_once(const saltus_structure* s, saltus_log log) {
  if (s->pairs < 2) {
    return SALTUS_OK;
  }
  const saltus_allocator memory = saltus_allocator_default();
  const size_t bytes = 2 * (size_t)s->pairs * sizeof(int);
  int* sorted = memory.alloc(bytes, memory.user);
  if (sorted == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(sorted, s->pair, bytes);
  qsort(sorted, (size_t)s->pairs, 2 * sizeof(int), by_blocks);
  saltus_status status = SALTUS_OK;
  for (int p = 1; p < s->pairs && status == SALTUS_OK; p++) {
    if (by_blocks(sorted + 2 * p, sorted + 2 * p - 2) == 0) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "system: the pair (%d, %d) of the structure is there twice", sorted[2 * p],
                  sorted[2 * p + 1]);
      status = SALTUS_ERR_RANGE;
    }
  }
  memory.free(sorted, bytes, memory.user);
  return status;
}

saltus_status saltusi_structure_validate(const saltus_structure* s, int nv, saltus_log log) {
  assert(s != NULL && nv >= 0);
  saltus_status status = check_partition(s, nv, log);
  status = status == SALTUS_OK ? check_pairs(s, log) : status;
  return status == SALTUS_OK ? check_once(s, log) : status;
}
