/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_partition.h - which velocities of a system can ever influence each other, by the declarations of the system:
 *
 *   M and forces   blocks and pairs of its structure; a constant diagonal M with constant forces
 *   forces, gaps   variables that enclosures read
 *   contacts       velocities in the rows of a fixed set
 *   joints         the same
 *
 * Sets without any of these connections remain independent.
 */
#ifndef SALTUSI_CLOCK_ISLAND_PARTITION_H
#define SALTUSI_CLOCK_ISLAND_PARTITION_H

#include "system/evaluate.h"

typedef struct saltusi_apart {
  int count;       /* islands; 1: no separation is proven, or all are connected */
  int* of;         /* [nv] island of a velocity, counted in the order of their first velocities */
  int* of_contact; /* [nc] */
  int* of_joint;   /* [joints] */
  int* of_switch;  /* [switches] -1: of time alone, every island has it */
} saltusi_apart;

/* Arrays of `apart` come from the allocator, as one block; SALTUS_ERR_MEMORY. */
saltus_status saltusi_find_apart(const saltus_system* sys, const saltus_allocator* memory,
                                 saltusi_apart* apart);
void saltusi_apart_release(const saltus_system* sys, const saltus_allocator* memory,
                           saltusi_apart* apart);

#endif
