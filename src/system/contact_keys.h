/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_keys.h - validates the list of a time-varying contact set and maps identities to keys.
 *
 * Lists are untrusted: a duplicate identity, a law that does not exist or that
 * changes, a gap that is NaN, a count beyond the capacity and a negative reach are failures of the
 * system (saltus_fail) that name contact and time.
 */
#ifndef SALTUSI_CONTACT_KEYS_H
#define SALTUSI_CONTACT_KEYS_H

#include "saltus/system.h"
#include "system/capacity.h"
#include "system/contact_table.h"

typedef struct saltusi_contact_keys {
  saltusi_contact_table table;
  saltusi_step_capacity* room;
  double* gap;        /* [capacity] as listed by the system */
  uint64_t* identity; /* [capacity] */
  int* law;           /* [capacity] */
  int* place;         /* [capacity] by key: 1 + index in the current list, 0: none */
  double horizon;     /* s, lower bound for every list: the step of a fixed-step scheme */
  bool concise;       /* lists may omit contacts implied by others */
} saltusi_contact_keys;

/* The system with capacity for the contacts that it lists at a point, plus a reserve; unchanged for a fixed set. For
 * evaluations of a system outside of a scheme. */
saltus_status saltusi_keys_fit(const saltus_system* sys, const saltus_point* at,
                               const saltus_allocator* memory, saltus_system* fit);

void saltusi_keys_layout(saltusi_contact_keys* keys, int capacity, saltus_arena* arena);
void saltusi_keys_clear(saltusi_contact_keys* keys);

struct saltusi_contact_list;

/* Law index of separation monitors in the table: one beyond those of contacts, since negative values mean free keys. */
static inline int saltusi_measure_monitor_law(const saltus_system* sys) {
  return sys->law_count;
}

/* Contacts at a point, sorted by key; new contacts get a key. SALTUS_RETRY_CAPACITY if there are more contacts than
 * keys, SALTUS_ERR_SYSTEM for an invalid list. */
saltus_status saltusi_keys_list(saltusi_contact_keys* keys, const saltus_system* sys,
                                const saltus_point* at, struct saltusi_contact_list* list);

/* Assigns keys to all contacts whose gap can be up to `reach` in a box; `at` is used in messages. */
saltus_status saltusi_keys_sweep(saltusi_contact_keys* keys, const saltus_system* sys,
                                 const saltus_point* at, const saltus_box* over, double reach);

/* Evaluates the callback `gaps` for the keys some[count], into gap[key]. */
saltus_status saltusi_keys_gaps(saltusi_contact_keys* keys, const saltus_system* sys,
                                const saltus_point* at, const int* some, int count, double* gap);

#endif
