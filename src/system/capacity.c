/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * capacity.c - see capacity.h.
 */
#include "system/capacity.h"

#include <assert.h>

saltus_status saltusi_capacity_lacks(saltusi_step_capacity* room, saltusi_capacity_kind kind,
                                     size_t wanted) {
  assert(room != NULL);
  room->wanted[kind] = wanted > room->wanted[kind] ? wanted : room->wanted[kind];
  room->lacks = true;
  return SALTUS_RETRY_CAPACITY;
}

void saltusi_capacity_grow(saltusi_step_capacity* room) {
  assert(room != NULL);
  room->lacks = false;
  for (int kind = 0; kind < SALTUSI_CAPACITY_KINDS; kind++) {
    size_t wanted = room->wanted[kind];
    if (wanted > 0) {
      size_t more = room->have[kind] + room->have[kind] / 2;
      room->have[kind] = wanted > more ? wanted : more;
      room->wanted[kind] = 0;
    }
  }
}
