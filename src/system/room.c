/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * room.c - see room.h.
 */
#include "system/room.h"

#include <assert.h>

saltus_status saltusi_room_lacks(saltusi_step_room* room, saltusi_room_kind kind, size_t wanted) {
  assert(room != NULL);
  room->wanted[kind] = wanted > room->wanted[kind] ? wanted : room->wanted[kind];
  room->lacks = true;
  return SALTUS_RETRY_ROOM;
}

void saltusi_room_grow(saltusi_step_room* room) {
  assert(room != NULL);
  room->lacks = false;
  for (int kind = 0; kind < SALTUSI_ROOM_KINDS; kind++) {
    size_t wanted = room->wanted[kind];
    if (wanted > 0) {
      size_t more = room->have[kind] + room->have[kind] / 2;
      room->have[kind] = wanted > more ? wanted : more;
      room->wanted[kind] = 0;
    }
  }
}
