/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_room.h - a block of memory that is kept from problem to problem and only ever grows.
 */
#ifndef SALTUSI_FRICTION_ROOM_H
#define SALTUSI_FRICTION_ROOM_H

#include "saltus/memory.h"
#include "saltus/status.h"

typedef struct saltusi_room {
  void* block;
  size_t bytes;
} saltusi_room;

/* At least so many bytes; old contents are lost when it grows. */
static inline saltus_status saltusi_room_reserve(saltusi_room* room, const saltus_allocator* memory,
                                                 size_t bytes) {
  if (room->bytes >= bytes && room->block != NULL) {
    return SALTUS_OK;
  }
  void* block = memory->alloc(bytes, memory->user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (room->block != NULL) {
    memory->free(room->block, room->bytes, memory->user);
  }
  *room = (saltusi_room){block, bytes};
  return SALTUS_OK;
}

/* Room in an arena, for ever as large as it is. */
static inline void saltusi_room_layout(saltusi_room* room, size_t bytes, saltus_arena* arena) {
  *room = (saltusi_room){saltus_arena_push(arena, bytes, 1, SALTUS_ALIGNMENT), bytes};
}

static inline void saltusi_room_release(saltusi_room* room, const saltus_allocator* memory) {
  if (room->block != NULL) {
    memory->free(room->block, room->bytes, memory->user);
  }
  *room = (saltusi_room){0};
}

#endif
