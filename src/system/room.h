/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * room.h - how much a step may meet: sizes that nobody knows at creation.
 *
 * A layout asks how many to lay out; a step that meets more says what it lacks and returns
 * SALTUS_RETRY_ROOM. The driver of schemes then lays out anew and tries the same step again, so the
 * status never reaches a caller, and a step that finds room enough allocates nothing.
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
  SALTUSI_ROOM_SPARSE,   /* bytes of what the pattern of many rows decides */
  SALTUSI_ROOM_LAWS,     /* contacts of one impact by a law of src/law */
  SALTUSI_ROOM_ITERATED, /* planar contacts of one problem that pivoting does not solve */
  SALTUSI_ROOM_KINDS
} saltusi_room_kind;

typedef struct saltusi_step_room {
  size_t have[SALTUSI_ROOM_KINDS];   /* 0: as the layout likes */
  size_t wanted[SALTUSI_ROOM_KINDS]; /* by the last try; 0: there was enough */
  bool lacks;                        /* something is wanted */
} saltusi_step_room;

/* How many to lay out; `first` as long as nothing more was wanted. */
static inline size_t saltusi_room_of(const saltusi_step_room* room, saltusi_room_kind kind,
                                     size_t first) {
  return room->have[kind] > first ? room->have[kind] : first;
}

/* Notes that a step wants more than there is. Returns SALTUS_RETRY_ROOM. */
saltus_status saltusi_room_lacks(saltusi_step_room* room, saltusi_room_kind kind, size_t wanted);

/* What was wanted becomes what there is, with half as much again, so that growth costs in proportion to
 * what it ends with; nothing is wanted then. */
void saltusi_room_grow(saltusi_step_room* room);

#endif
