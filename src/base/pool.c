/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pool.c - a linked list of blocks; memory is taken from the front of the last one.
 */
#include "base/pool.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

typedef struct saltusi_pool_block {
  struct saltusi_pool_block* before;
  size_t bytes;
  size_t used;
} block;

enum { UNIT = 16, HEAD = (sizeof(block) + UNIT - 1) / UNIT * UNIT, USUAL = 8192 };

saltusi_pool saltusi_pool_over(const saltus_allocator* allocator) {
  saltusi_pool pool = {.allocator = allocator != NULL ? *allocator : saltus_allocator_default()};
  return pool;
}

static block* add_block(saltusi_pool* pool, size_t bytes) {
  block* b = pool->allocator.alloc(bytes, pool->allocator.user);
  if (b == NULL) {
    pool->failed = true;
    return NULL;
  }
  b->before = pool->last;
  b->bytes = bytes;
  b->used = HEAD;
  pool->last = b;
  return b;
}

void* saltusi_pool_take(saltusi_pool* pool, size_t count, size_t item) {
  assert(pool != NULL);
  if (item != 0 && count > (SIZE_MAX / 2) / item) {
    pool->failed = true;
    return NULL;
  }
  size_t bytes = (count * item + UNIT - 1) / UNIT * UNIT;
  block* b = pool->last;
  if (b == NULL || bytes > b->bytes - b->used) {
    /* blocks grow by a quarter: there are few, and the last is a fifth of all */
    size_t size = b == NULL ? USUAL : b->bytes + b->bytes / 4;
    size = size > (size_t)1 << 20 ? (size_t)1 << 20 : size;
    b = add_block(pool, bytes + HEAD > size ? bytes + HEAD : size);
    if (b == NULL) {
      return NULL;
    }
  }
  void* piece = (unsigned char*)b + b->used;
  b->used += bytes;
  memset(piece, 0, bytes); /* only the part in use; the block is larger */
  return piece;
}

char* saltusi_pool_text(saltusi_pool* pool, const char* text) {
  assert(pool != NULL);
  if (text == NULL) {
    text = "";
  }
  size_t bytes = strlen(text) + 1;
  char* copy = saltusi_pool_take(pool, bytes, 1);
  if (copy != NULL) {
    memcpy(copy, text, bytes);
  }
  return copy;
}

char* saltusi_pool_join(saltusi_pool* pool, const char* a, const char* b) {
  assert(pool != NULL && a != NULL && b != NULL);
  size_t first = strlen(a);
  size_t second = strlen(b);
  char* copy = saltusi_pool_take(pool, first + second + 1, 1);
  if (copy != NULL) {
    memcpy(copy, a, first);
    memcpy(copy + first, b, second);
  }
  return copy;
}

void saltusi_pool_free(saltusi_pool* pool) {
  assert(pool != NULL);
  saltus_allocator allocator = pool->allocator;
  block* b = pool->last;
  pool->last = NULL;
  while (b != NULL) {
    block* before = b->before;
    allocator.free(b, b->bytes, allocator.user);
    b = before;
  }
}

bool saltusi_grow(const saltus_allocator* allocator, void** array, size_t* capacity, size_t wanted,
                  size_t item) {
  assert(allocator != NULL && array != NULL && capacity != NULL && item > 0);
  if (wanted <= *capacity) {
    return true;
  }
  size_t room = *capacity < 32 ? 64 : 2 * *capacity;
  room = room < wanted ? wanted : room;
  if (room > (SIZE_MAX / 2) / item) {
    return false;
  }
  void* larger = allocator->alloc(room * item, allocator->user);
  if (larger == NULL) {
    return false;
  }
  if (*array != NULL) {
    memcpy(larger, *array, *capacity * item);
    allocator->free(*array, *capacity * item, allocator->user);
  }
  *array = larger;
  *capacity = room;
  return true;
}

void saltusi_release(const saltus_allocator* allocator, void* array, size_t capacity, size_t item) {
  assert(allocator != NULL && (array != NULL || capacity == 0) && item > 0);
  if (array != NULL) {
    allocator->free(array, capacity * item, allocator->user);
  }
}
