/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * room.h - capacities of a step: sizes that are not given at creation.
 *
 * A layout queries the capacity; a step that exceeds it registers the required one and returns
 * SALTUS_RETRY_ROOM. The driver of schemes then lays out the workspace again and repeats the step, so the
 * status never reaches a caller, and a step within its capacity does not allocate.
 */
#ifndef SALTUSI_ROOM_H
#define SALTUSI_ROOM_H

#include "saltus/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum saltusi_room_kind {
  SALTUSI_ROOM_CONTACTS, /* keys: dims.nc of a changing set */
  SALTUSI_ROOM_BLOCKS,   /* of W */
  SALTUSI_ROOM_FILL,     /* entries of factors */
  SALTUSI_ROOM_JOINTS,   /* bytes of sparse factors of joints */
  SALTUSI_ROOM_LINKAGE,  /* the same of all bodies with all joints */
  SALTUSI_ROOM_PRODUCT,  /* 1: for solving without W */
  SALTUSI_ROOM_ROWS,     /* of contact problems that are solved at once */
  SALTUSI_ROOM_UNKNOWNS, /* of laws that are solved by pivoting */
  SALTUSI_ROOM_EVENTS,   /* of one step */
  SALTUSI_ROOM_SPARSE,   /* bytes that depend on the pattern of many rows */
  SALTUSI_ROOM_LAWS,     /* contacts of one impact by a law of src/law */
  SALTUSI_ROOM_ITERATED, /* planar contacts of one problem that pivoting does not solve */
  SALTUSI_ROOM_KINDS
} saltusi_room_kind;

typedef struct saltusi_step_room {
  size_t have[SALTUSI_ROOM_KINDS];   /* 0: as the layout likes */
  size_t wanted[SALTUSI_ROOM_KINDS]; /* by the last try; 0: there was enough */
  bool lacks;                        /* a larger capacity is required */
} saltusi_step_room;

/* Capacity of the layout; `first` until a larger one is required. */
static inline size_t saltusi_room_of(const saltusi_step_room* room, saltusi_room_kind kind,
                                     size_t first) {
  return room->have[kind] > first ? room->have[kind] : first;
}

/* Registers a required capacity. Returns SALTUS_RETRY_ROOM. */
saltus_status saltusi_room_lacks(saltusi_step_room* room, saltusi_room_kind kind, size_t wanted);

/* The required capacity, times 1.5, becomes the present one, so that growth costs in proportion to
 * the final size. */
void saltusi_room_grow(saltusi_step_room* room);

#endif
