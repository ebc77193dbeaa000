/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * memory.c - the default allocator and the counting arena.
 */
#include "saltus/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

static void* libc_alloc(size_t bytes, void* user) {
  (void)user;
  if (bytes > SIZE_MAX - SALTUS_ALIGNMENT) {
    return NULL;
  }
  /* aligned_alloc wants a multiple of the alignment, and zero bytes may give NULL */
  size_t rounded = (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT;
  return aligned_alloc(SALTUS_ALIGNMENT, rounded);
}

static void libc_free(void* block, size_t bytes, void* user) {
  (void)bytes;
  (void)user;
  free(block);
}

saltus_allocator saltus_allocator_default(void) {
  return (saltus_allocator){.alloc = libc_alloc, .free = libc_free};
}

saltus_arena saltus_arena_counting(void) {
  return (saltus_arena){.capacity = SIZE_MAX};
}

saltus_arena saltus_arena_over(void* block, size_t bytes) {
  assert(block != NULL);
  return (saltus_arena){.base = block, .capacity = bytes};
}

void* saltus_arena_push(saltus_arena* arena, size_t count, size_t item, size_t align) {
  assert(align > 0 && (align & (align - 1)) == 0 && align <= SALTUS_ALIGNMENT);
  assert(item > 0 && count <= SIZE_MAX / item);

  size_t start = (arena->used + align - 1) & ~(align - 1);
  size_t bytes = count * item;
  assert(start <= arena->capacity && bytes <= arena->capacity - start);
  arena->used = start + bytes;
  return arena->base == NULL ? NULL : arena->base + start;
}
