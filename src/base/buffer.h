/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * buffer.h - a block of memory that is reused from problem to problem. Its capacity only grows.
 */
#ifndef SALTUSI_BUFFER_H
#define SALTUSI_BUFFER_H

#include "saltus/memory.h"
#include "saltus/status.h"

typedef struct saltusi_buffer {
  void* block;
  size_t bytes;
} saltusi_buffer;

/* Ensures a capacity of at least this many bytes. Old contents are lost when the block grows. */
static inline saltus_status saltusi_buffer_reserve(saltusi_buffer* buffer,
                                                   const saltus_allocator* memory, size_t bytes) {
  if (buffer->bytes >= bytes && buffer->block != NULL) {
    return SALTUS_OK;
  }
  void* block = memory->alloc(bytes, memory->user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (buffer->block != NULL) {
    memory->free(buffer->block, buffer->bytes, memory->user);
  }
  *buffer = (saltusi_buffer){block, bytes};
  return SALTUS_OK;
}

/* A buffer of fixed capacity in an arena. */
static inline void saltusi_buffer_layout(saltusi_buffer* buffer, size_t bytes,
                                         saltus_arena* arena) {
  *buffer = (saltusi_buffer){saltus_arena_push(arena, bytes, 1, SALTUS_ALIGNMENT), bytes};
}

/* A block of memory whose first `zeroed` bytes are zero, and an aligned start inside of it (NULL: out of memory).
 * Memory comes from calloc by default; pages that are never written are not committed. */
typedef struct saltusi_zeros {
  void* block; /* to be freed, with `bytes` */
  size_t bytes;
  unsigned char* start;
} saltusi_zeros;
saltusi_zeros saltusi_alloc_zeros(const saltus_allocator* memory, size_t bytes, size_t zeroed);

static inline void saltusi_buffer_release(saltusi_buffer* buffer, const saltus_allocator* memory) {
  if (buffer->block != NULL) {
    memory->free(buffer->block, buffer->bytes, memory->user);
  }
  *buffer = (saltusi_buffer){0};
}

#endif
