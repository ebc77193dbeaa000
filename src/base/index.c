/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * index.c - hash table with open addressing, at most half full.
 */
#include "base/index.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

bool saltusi_index_start(saltusi_index* index, int most, saltusi_pool* pool) {
  assert(index != NULL && most >= 0);
  *index = (saltusi_index){.slot_count = 16};
  while (index->slot_count < 2 * (size_t)most) {
    index->slot_count *= 2;
  }
  index->texts = SALTUSI_TAKE(pool, const char*, most);
  index->slots = SALTUSI_TAKE(pool, int, index->slot_count);
  if (index->texts == NULL || index->slots == NULL) {
    return false;
  }
  for (size_t i = 0; i < index->slot_count; i++) {
    index->slots[i] = -1;
  }
  return true;
}

/* Slot of the name, or the free slot for it. */
static size_t slot_of(const saltusi_index* index, const char* text) {
  size_t i = (size_t)saltusi_hash(SALTUSI_HASH_START, text, strlen(text));
  for (;; i++) {
    const int place = index->slots[i & (index->slot_count - 1)];
    if (place < 0 || strcmp(index->texts[place], text) == 0) {
      return i & (index->slot_count - 1);
    }
  }
}

int saltusi_index_find(const saltusi_index* index, const char* text) {
  assert(index != NULL);
  return index->slots[slot_of(index, text)];
}

int saltusi_index_add(saltusi_index* index, const char* text) {
  assert(index != NULL);
  const size_t slot = slot_of(index, text);
  if (index->slots[slot] >= 0) {
    return -1;
  }
  index->slots[slot] = index->count;
  index->texts[index->count] = text;
  return index->count++;
}
