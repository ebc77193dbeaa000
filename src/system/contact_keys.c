/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_keys.c - see contact_keys.h.
 */
#include "system/contact_keys.h"

#include "system/evaluate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void saltusi_keys_layout(saltusi_contact_keys* keys, int capacity, saltus_arena* arena) {
  saltusi_table_layout(&keys->table, capacity, arena);
  keys->gap = SALTUS_PUSH(arena, double, capacity);
  keys->identity = SALTUS_PUSH(arena, uint64_t, capacity);
  keys->law = SALTUS_PUSH(arena, int, capacity);
  keys->place = SALTUS_PUSH(arena, int, capacity);
}

void saltusi_keys_clear(saltusi_contact_keys* keys) {
  saltusi_table_clear(&keys->table);
  memset(keys->place, 0, (size_t)keys->table.capacity * sizeof(int));
  keys->fault[0] = '\0';
}

/* The first fault is the cause of those that follow. */
static saltus_status refuse(saltusi_contact_keys* keys, const saltus_point* at, const char* format,
                            ...) {
  if (keys->fault[0] == '\0') {
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(keys->fault, sizeof keys->fault, format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used < sizeof keys->fault) {
      snprintf(keys->fault + used, sizeof keys->fault - (size_t)used, " at t = %.10g s", at->t);
    }
  }
  return SALTUS_ERR_SYSTEM;
}

static bool is_finite_point(const saltus_system* sys, const saltus_point* at) {
  bool finite = isfinite(at->t);
  for (int i = 0; finite && i < sys->dims.nq; i++) {
    finite = isfinite(at->q[i]);
  }
  return finite;
}

/* What a list says as a whole. */
static saltus_status check_list(saltusi_contact_keys* keys, const saltus_point* at,
                                const saltus_contact_list* said) {
  if (said->count < 0 || said->count > said->capacity) {
    return refuse(keys, at, "the system lists %d contacts; there is room for %d", said->count,
                  said->capacity);
  }
  if (!(said->reach >= 0.0)) {
    return refuse(keys, at, "the system lists contacts up to a reach of %g m, must be at least 0",
                  said->reach);
  }
  return SALTUS_OK;
}

/* One contact of a list and its key. */
static saltus_status take(saltusi_contact_keys* keys, const saltus_system* sys,
                          const saltus_point* at, int i) {
  saltusi_contact_table* table = &keys->table;
  uint64_t identity = keys->identity[i];
  int law = keys->law[i];
  if (law < 0 || law >= sys->law_count) {
    return refuse(keys, at, "contact %" PRIu64 " has law %d, must be between 0 and %d", identity,
                  law, sys->law_count - 1);
  }
  if (isnan(keys->gap[i]) && is_finite_point(sys, at)) {
    return refuse(keys, at, "the gap of contact %" PRIu64 " is not a number", identity);
  }
  int key = saltusi_table_find(table, identity);
  key = key < 0 ? saltusi_table_add(table, identity, law) : key;
  if (key < 0) {
    /* some of the contacts left may have keys; at most this many do not */
    return SALTUS_RETRY_ROOM;
  }
  if (table->law[key] != law) {
    return refuse(keys, at, "contact %" PRIu64 " has law %d, but had law %d before", identity, law,
                  table->law[key]);
  }
  if (keys->place[key] != 0) {
    return refuse(keys, at, "contact %" PRIu64 " is listed twice", identity);
  }
  keys->place[key] = 1 + i;
  saltusi_table_use(table, key);
  return SALTUS_OK;
}

/* Contacts of a list of `count` that have no key, after the table is full. */
static size_t count_unknown(const saltusi_contact_keys* keys, int from, int count) {
  size_t unknown = 0;
  for (int i = from; i < count; i++) {
    unknown += saltusi_table_find(&keys->table, keys->identity[i]) < 0 ? 1 : 0;
  }
  return unknown;
}

/* In the order of keys. */
static void write_list(saltusi_contact_keys* keys, saltusi_contact_list* list) {
  list->count = 0;
  for (int key = 0; key < keys->table.capacity; key++) {
    int i = keys->place[key] - 1;
    if (i >= 0) {
      list->key[list->count] = key;
      list->identity[list->count] = keys->identity[i];
      list->gap[list->count] = keys->gap[i];
      list->law[list->count++] = keys->law[i];
    }
  }
}

saltus_status saltusi_keys_list(saltusi_contact_keys* keys, const saltus_system* sys,
                                const saltus_point* at, saltusi_contact_list* list) {
  saltus_contact_list said = {.capacity = keys->table.capacity,
                              .reach = list->requested,
                              .gap = keys->gap,
                              .identity = keys->identity,
                              .law = keys->law};
  size_t most = (size_t)keys->table.capacity;
  list->count = 0;
  saltus_status status = sys->ops->contacts(sys->self, at, &said);
  if (status == SALTUS_RETRY_ROOM) {
    size_t wanted = said.count > 0 ? (size_t)said.count : 0;
    return saltusi_room_lacks(keys->room, SALTUSI_ROOM_CONTACTS, wanted > most ? wanted : most + 1);
  }
  if (status == SALTUS_OK) {
    status = check_list(keys, at, &said);
  }
  memset(keys->place, 0, most * sizeof(int));
  for (int i = 0; status == SALTUS_OK && i < said.count; i++) {
    status = take(keys, sys, at, i);
    if (status == SALTUS_RETRY_ROOM) {
      saltusi_room_lacks(keys->room, SALTUSI_ROOM_CONTACTS,
                         most + count_unknown(keys, i, said.count));
    }
  }
  if (status == SALTUS_OK) {
    list->reach = said.reach;
    write_list(keys, list);
  }
  return status;
}
