/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * index.h - places of names, found by hashing: long lists are read in proportion to their length.
 */
#ifndef SALTUSI_INDEX_H
#define SALTUSI_INDEX_H

#include "base/pool.h"

typedef struct saltusi_index {
  const char** texts; /* [count] not copied */
  int count;
  int* slots; /* [slot_count] place, or -1 */
  size_t slot_count;
} saltusi_index;

/* Room for `most` names in the pool; false when there is none. */
bool saltusi_index_start(saltusi_index* index, int most, saltusi_pool* pool);
/* The place of a name, or -1. */
int saltusi_index_find(const saltusi_index* index, const char* text);
/* Gives the name the next place, from 0 on; -1 when it has one already. */
int saltusi_index_add(saltusi_index* index, const char* text);

#endif
