/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * memory.h - allocators and arenas.
 *
 * An allocator is called while objects are created, never inside a step. An arena divides a block
 * into arrays. An arena without a block only counts, so one layout function both measures and
 * assigns:
 *
 *   saltus_arena a = saltus_arena_counting();
 *   layout(work, &a);                                every pointer is NULL, a.used grows
 *   a = saltus_arena_over(block, a.used);
 *   layout(work, &a);                                the same calls, real pointers
 */
#ifndef SALTUS_MEMORY_H
#define SALTUS_MEMORY_H

#include "saltus/api.h"

#include <stdbool.h>
#include <stddef.h>

SALTUS_BEGIN_DECLS

enum { SALTUS_ALIGNMENT = 64 };

typedef struct saltus_allocator {
  void* (*alloc)(size_t bytes, void* user); /* aligned to SALTUS_ALIGNMENT, or NULL */
  void (*free)(void* block, size_t bytes, void* user);
  void* user;
} saltus_allocator;

/* The C library's memory. */
SALTUS_API saltus_allocator saltus_allocator_default(void);

typedef struct saltus_arena {
  unsigned char* base; /* NULL while counting */
  size_t capacity;
  size_t used;
} saltus_arena;

/* An arena that only counts, and one over a block of this size. */
SALTUS_API saltus_arena saltus_arena_counting(void);
SALTUS_API saltus_arena saltus_arena_over(void* block, size_t bytes);

/* Memory for count items, zero if the block was; NULL while counting. Exceeding the capacity is an error of the layout
 * function and asserted. */
SALTUS_API void* saltus_arena_push(saltus_arena* arena, size_t count, size_t item, size_t align);

#define SALTUS_PUSH(arena, type, count)                                                            \
  ((type*)saltus_arena_push((arena), (size_t)(count), sizeof(type), _Alignof(type)))
#define SALTUS_PUSH2(arena, type, rows, columns)                                                   \
  SALTUS_PUSH(arena, type, (size_t)(rows) * (size_t)(columns))

SALTUS_END_DECLS

#endif
