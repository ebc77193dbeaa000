/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * entries.h - a matrix as a list of entries in any order, and what can be made of it.
 */
#ifndef SALTUSI_ENTRIES_H
#define SALTUSI_ENTRIES_H

#include "base/pool.h"
#include "saltus/contact.h"

typedef struct saltusi_matrix_entries {
  int rows, columns;
  size_t count;
  int* row;      /* [count] */
  int* column;   /* [count] */
  double* value; /* [count] */
} saltusi_matrix_entries;

/* Capacity for `count` entries; false without memory. */
bool saltusi_entries_workspace(saltusi_matrix_entries* e, size_t count, saltusi_pool* pool);

static inline void saltusi_entries_add(saltusi_matrix_entries* e, int row, int column,
                                       double value) {
  e->row[e->count] = row;
  e->column[e->count] = column;
  e->value[e->count] = value;
  e->count++;
}

/* Entries with equal indices are added in the order of the list. All make their arrays in the
 * pool; SALTUS_ERR_MEMORY. Fewer than INT_MAX entries. */
saltus_status saltusi_entries_csr(const saltusi_matrix_entries* e, saltusi_pool* pool,
                                  saltus_csr* out);

/* Square, units of `size` rows each; the blocks on the diagonal and those that hold at
 * least one entry. */
saltus_status saltusi_csr_blocks(const saltus_csr* csr, int size, saltusi_pool* pool,
                                 saltus_block_matrix* out);

/* Dense when at least a quarter of the entries is there, else sparse. */
saltus_status saltusi_csr_lcp(const saltus_csr* csr, saltusi_pool* pool, saltus_lcp* out);

#endif
