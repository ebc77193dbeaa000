/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * names.c - a hash table of names, at most half full.
 */
#include "formula/parse.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

saltus_status saltusi_names_start(saltusi_names* names, int most, saltusi_pool* pool) {
  assert(names != NULL && pool != NULL && most >= 0);
  *names = (saltusi_names){.slot_count = 16};
  while (names->slot_count < 2 * (size_t)most) {
    names->slot_count *= 2;
  }
  names->items = SALTUSI_TAKE(pool, saltusi_name, most);
  names->slots = SALTUSI_TAKE(pool, int, names->slot_count);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (size_t i = 0; i < names->slot_count; i++) {
    names->slots[i] = -1;
  }
  return SALTUS_OK;
}

/* Where the name is, or the free slot where it would be. */
static size_t slot_of(const saltusi_names* names, const char* text) {
  size_t i = (size_t)saltusi_hash(SALTUSI_HASH_START, text, strlen(text));
  for (;; i++) {
    int item = names->slots[i & (names->slot_count - 1)];
    if (item < 0 || strcmp(names->items[item].text, text) == 0) {
      return i & (names->slot_count - 1);
    }
  }
}

saltusi_name* saltusi_names_find(const saltusi_names* names, const char* text) {
  assert(names != NULL);
  int item = names->slots[slot_of(names, text)];
  return item < 0 ? NULL : &names->items[item];
}

void saltusi_names_add(saltusi_names* names, saltusi_name name) {
  assert(names != NULL);
  names->slots[slot_of(names, name.text)] = names->count;
  names->items[names->count++] = name;
}
