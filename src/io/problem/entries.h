/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * entries.h - a matrix as a list of entries in any order, and conversions to other formats.
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

/* Entries with equal indices are added in the order of the list. Arrays are allocated in the pool; SALTUS_ERR_MEMORY.
 * There are fewer than INT_MAX entries. */
saltus_status saltusi_entries_csr(const saltusi_matrix_entries* e, saltusi_pool* pool,
                                  saltus_csr* out);

/* Square block matrix, blocks of `size` rows; contains the diagonal blocks and all blocks with an entry. */
saltus_status saltusi_csr_blocks(const saltus_csr* csr, int size, saltusi_pool* pool,
                                 saltus_block_matrix* out);

/* Dense if at least a quarter of the entries is given, else sparse. */
saltus_status saltusi_csr_lcp(const saltus_csr* csr, saltusi_pool* pool, saltus_lcp* out);

#endif
