/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * memory.c - the default allocator and the counting arena.
 */
#include "base/buffer.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void* libc_alloc(size_t bytes, void* user) {
  (void)user;
  if (bytes > SIZE_MAX - SALTUS_ALIGNMENT) {
    return NULL;
  }
  /* aligned_alloc requires a multiple of the alignment, and zero bytes may return NULL */
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

saltusi_zeros saltusi_alloc_zeros(const saltus_allocator* memory, size_t bytes, size_t zeroed) {
  assert(memory != NULL && zeroed <= bytes);
  saltusi_zeros zeros = {.bytes = bytes};
  if (memory->alloc != libc_alloc || bytes > SIZE_MAX - SALTUS_ALIGNMENT) {
    zeros.block = memory->alloc(bytes, memory->user);
    zeros.start = zeros.block;
    if (zeros.block != NULL) {
      memset(zeros.block, 0, zeroed);
    }
    return zeros;
  }
  zeros.bytes = bytes + SALTUS_ALIGNMENT;
  zeros.block = calloc(zeros.bytes, 1);
  if (zeros.block != NULL) {
    const size_t off = (uintptr_t)zeros.block % SALTUS_ALIGNMENT;
    zeros.start = (unsigned char*)zeros.block + (off > 0 ? SALTUS_ALIGNMENT - off : 0);
  }
  return zeros;
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
