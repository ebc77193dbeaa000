/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * capacity.h - capacities of a step: sizes that are not given at creation.
 *
 * A layout queries the capacity; a step that exceeds it registers the required one and returns
 * SALTUS_RETRY_CAPACITY. The driver of schemes then lays out the workspace again and repeats the step, so the
 * status never reaches a caller, and a step within its capacity does not allocate.
 */
#ifndef SALTUSI_CAPACITY_H
#define SALTUSI_CAPACITY_H

#include "saltus/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum saltusi_capacity_kind {
  SALTUSI_CAPACITY_CONTACTS,    /* keys: dims.nc of a changing set */
  SALTUSI_CAPACITY_BLOCKS,      /* of W */
  SALTUSI_CAPACITY_FILL,        /* entries of factors */
  SALTUSI_CAPACITY_JOINTS,      /* bytes of sparse factors of joints */
  SALTUSI_CAPACITY_NEWTON_KKT,  /* likewise, of all bodies with all joints */
  SALTUSI_CAPACITY_MATRIX_FREE, /* 1: for solving without W */
  SALTUSI_CAPACITY_ROWS,        /* of contact problems that are solved at once */
  SALTUSI_CAPACITY_UNKNOWNS,    /* of laws that are solved by pivoting */
  SALTUSI_CAPACITY_EVENTS,      /* of one step */
  SALTUSI_CAPACITY_SPARSE,      /* bytes that depend on the pattern of many rows */
  SALTUSI_CAPACITY_LAWS,        /* contacts of one impact by a law of src/law */
  SALTUSI_CAPACITY_ITERATED,    /* planar contacts of one problem that pivoting does not solve */
  SALTUSI_CAPACITY_KINDS
} saltusi_capacity_kind;

typedef struct saltusi_step_capacity {
  size_t have[SALTUSI_CAPACITY_KINDS];   /* 0: default of the layout */
  size_t wanted[SALTUSI_CAPACITY_KINDS]; /* required by the last trial step; 0: sufficient */
  bool lacks;                            /* a larger capacity is required */
} saltusi_step_capacity;

/* Capacity of the layout; `first` until a larger one is required. */
static inline size_t saltusi_capacity_of(const saltusi_step_capacity* room,
                                         saltusi_capacity_kind kind, size_t first) {
  return room->have[kind] > first ? room->have[kind] : first;
}

/* Registers a required capacity. Returns SALTUS_RETRY_CAPACITY. */
saltus_status saltusi_capacity_lacks(saltusi_step_capacity* room, saltusi_capacity_kind kind,
                                     size_t wanted);

/* The required capacity, times 1.5, becomes the present one, so that growth costs in proportion to
 * the final size. */
void saltusi_capacity_grow(saltusi_step_capacity* room);

#endif
