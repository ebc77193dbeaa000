/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_table.h - identities of contacts and the keys that they have in one simulation.
 *
 * A key is an array index: small, dense, and unique to a contact while it is in the table. A new
 * contact takes the lowest free key. The table is part of the memory of a scheme: a failed step revokes
 * the keys that it assigned, a committed one frees those that it did not use. The key of a contact
 * depends on the history of listings alone, never on addresses or on the capacity.
 */
#ifndef SALTUSI_CONTACT_TABLE_H
#define SALTUSI_CONTACT_TABLE_H

#include "saltus/memory.h"

#include <stdint.h>

typedef struct saltusi_contact_table {
  int capacity;       /* keys */
  int count;          /* keys in use */
  uint64_t* identity; /* [capacity] by key */
  int* law;           /* [capacity] by key; -1: the key is free */
  long long* used;    /* [capacity] by key: number of the last trial step that used it */
  long long tries;    /* number of the present trial step */
  int* added;         /* [capacity] keys assigned by this trial step, in order */
  int added_count;
  int lowest; /* no key below it is free */
  int slots;  /* a power of two, at least twice the capacity */
  int* slot;  /* [slots] key, or -1; open addressing, linear probing */
  int*
      next; /* [capacity + 1] by 1 + key: the key that followed it in a list, a guess; 0: the first of a list */
} saltusi_contact_table;

void saltusi_table_layout(saltusi_contact_table* table, int capacity, saltus_arena* arena);

/* Clears the table; after the layout. */
void saltusi_table_clear(saltusi_contact_table* table);

/* The key of a contact, or -1. */
int saltusi_table_find(const saltusi_contact_table* table, uint64_t identity);

/* The same for a contact that follows contact `after` in a list (-1: the first). Lists hardly change from step to
 * step: the
 * previous successor is tried before the slots. */
int saltusi_table_follow(saltusi_contact_table* table, int after, uint64_t identity);

/* Assigns the lowest free key to a new contact; -1: the table is full. */
int saltusi_table_add(saltusi_contact_table* table, uint64_t identity, int law);

/* Assigns a given free key to a contact permanently. */
void saltusi_table_put(saltusi_contact_table* table, int key, uint64_t identity, int law);

/* Marks a key as used in this trial step. */
static inline void saltusi_table_use(saltusi_contact_table* table, int key) {
  table->used[key] = table->tries;
}

/* Begins a trial step: keys of an unsettled one are revoked. */
void saltusi_table_begin(saltusi_contact_table* table);

/* Commits the trial step: its keys stay, and unused keys become free, ascending in freed[capacity]; returns their
 * number. */
int saltusi_table_settle(saltusi_contact_table* table, int* freed);

/* The same contacts with the same keys in a table of another capacity, which has to hold its largest key. */
void saltusi_table_copy(saltusi_contact_table* to, const saltusi_contact_table* from);

/* Least capacity that holds all keys in use. */
int saltusi_table_least(const saltusi_contact_table* table);

#endif
