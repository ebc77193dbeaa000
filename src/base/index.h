/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * index.h - hash table from names to their indices. Long lists of names are read in linear time.
 */
#ifndef SALTUSI_INDEX_H
#define SALTUSI_INDEX_H

#include "base/pool.h"

typedef struct saltusi_index {
  const char** texts; /* [count] not copied */
  int count;
  int* slots; /* [slot_count] index of a name, or -1 */
  size_t slot_count;
} saltusi_index;

/* Reserves capacity for `most` names in the pool; false when there is no memory. */
bool saltusi_index_start(saltusi_index* index, int most, saltusi_pool* pool);
/* Index of a name, or -1. */
int saltusi_index_find(const saltusi_index* index, const char* text);
/* Adds a name with the next index, from 0 on; -1 when the name is in the table already. */
int saltusi_index_add(saltusi_index* index, const char* text);

#endif
