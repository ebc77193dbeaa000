/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_keys.c - see contact_keys.h.
 */
#include "system/contact_keys.h"

#include "system/evaluate.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Lists the contacts at a point with a capacity; *count: their number, or 0. */
static saltus_status count_contacts(const saltus_system* sys, const saltus_point* at,
                                    const saltus_allocator* memory, int capacity, int* count) {
  saltus_contact_list said = {.capacity = capacity, .reach = INFINITY};
  void* scratch = NULL;
  saltus_arena arena = saltus_arena_counting();
  saltus_point here = *at;
  for (int pass = 0; pass < 2; pass++) {
    scratch = saltusi_scratch_layout(&sys->dims, &arena);
    said.gap = SALTUS_PUSH(&arena, double, capacity);
    said.identity = SALTUS_PUSH(&arena, uint64_t, capacity);
    said.law = SALTUS_PUSH(&arena, int, capacity);
    if (pass == 0) {
      void* block = memory->alloc(arena.used + 1, memory->user);
      if (block == NULL) {
        return SALTUS_ERR_MEMORY;
      }
      arena = saltus_arena_over(block, arena.used);
    }
  }
  here.scratch = scratch;
  here.keys = NULL;
  saltus_status status = sys->ops->contacts(sys->self, &here, &said);
  *count = said.count;
  memory->free(arena.base, arena.capacity + 1, memory->user);
  return status;
}

saltus_status saltusi_keys_fit(const saltus_system* sys, const saltus_point* at,
                               const saltus_allocator* memory, saltus_system* fit) {
  assert(sys != NULL && at != NULL && memory != NULL && fit != NULL);
  enum { TRIES = 32, FIRST = 16 };
  *fit = *sys;
  if ((sys->traits & SALTUS_CHANGING_CONTACTS) == 0) {
    return SALTUS_OK;
  }
  saltus_status status = SALTUS_RETRY_CAPACITY;
  int capacity = sys->dims.nc > FIRST ? sys->dims.nc : FIRST;
  for (int k = 0; k < TRIES && status == SALTUS_RETRY_CAPACITY && capacity < INT_MAX / 4; k++) {
    int count = 0;
    status = count_contacts(sys, at, memory, capacity, &count);
    fit->dims.nc = capacity;
    capacity = count > capacity ? count + count / 2 : 2 * capacity;
  }
  return status == SALTUS_RETRY_CAPACITY ? SALTUS_ERR_SYSTEM : status;
}

void saltusi_keys_layout(saltusi_contact_keys* keys, int capacity, saltus_arena* arena) {
  assert(keys != NULL && arena != NULL);
  saltusi_table_layout(&keys->table, capacity, arena);
  keys->gap = SALTUS_PUSH(arena, double, capacity);
  keys->identity = SALTUS_PUSH(arena, uint64_t, capacity);
  keys->law = SALTUS_PUSH(arena, int, capacity);
  keys->place = SALTUS_PUSH(arena, int, capacity);
}

void saltusi_keys_clear(saltusi_contact_keys* keys) {
  assert(keys != NULL);
  saltusi_table_clear(&keys->table);
  memset(keys->place, 0, (size_t)keys->table.capacity * sizeof(int));
}

static bool is_finite_point(const saltus_system* sys, const saltus_point* at) {
  bool finite = isfinite(at->t);
  for (int i = 0; finite && i < sys->dims.nq; i++) {
    finite = isfinite(at->q[i]);
  }
  return finite;
}

/* Checks of a list as a whole. */
static saltus_status check_list(const saltus_point* at, const saltus_contact_list* said) {
  if (said->count < 0 || said->count > said->capacity) {
    saltus_fail(at, "%d contacts are listed at t = %.10g s; the capacity is %d", said->count, at->t,
                said->capacity);
    return SALTUS_ERR_SYSTEM;
  }
  if (!(said->reach >= 0.0)) {
    saltus_fail(at, "the list of contacts at t = %.10g s has a reach of %g m, must be at least 0",
                at->t, said->reach);
    return SALTUS_ERR_SYSTEM;
  }
  return SALTUS_OK;
}

/* Checks one contact of a list before it has a key; lists of swept queries also contain separation monitors. */
static saltus_status check_contact(const saltusi_contact_keys* keys, const saltus_system* sys,
                                   const saltus_point* at, int i, bool swept) {
  if (swept && keys->law[i] == saltusi_measure_monitor_law(sys)) {
    return SALTUS_OK;
  }
  if (keys->law[i] < 0 || keys->law[i] >= sys->law_count) {
    saltus_fail(at, "contact %" PRIu64 " has law %d at t = %.10g s, must be between 0 and %d",
                keys->identity[i], keys->law[i], at->t, sys->law_count - 1);
    return SALTUS_ERR_SYSTEM;
  }
  if (isnan(keys->gap[i]) && is_finite_point(sys, at)) {
    saltus_fail(at, "the gap of contact %" PRIu64 " at t = %.10g s is not a number",
                keys->identity[i], at->t);
    return SALTUS_ERR_SYSTEM;
  }
  return SALTUS_OK;
}

/* The same for a contact with a key. */
static saltus_status check_key(const saltusi_contact_keys* keys, const saltus_point* at, int i,
                               int key) {
  if (keys->table.law[key] != keys->law[i]) {
    saltus_fail(at, "contact %" PRIu64 " has law %d at t = %.10g s and had law %d before",
                keys->identity[i], keys->law[i], at->t, keys->table.law[key]);
    return SALTUS_ERR_SYSTEM;
  }
  if (keys->place[key] != 0) {
    saltus_fail(at, "contact %" PRIu64 " is listed twice at t = %.10g s", keys->identity[i], at->t);
    return SALTUS_ERR_SYSTEM;
  }
  return SALTUS_OK;
}

/* *last: key of the previous contact in the list; replaced by its own. */
static saltus_status take(saltusi_contact_keys* keys, const saltus_system* sys,
                          const saltus_point* at, int i, bool swept, int* last) {
  saltusi_contact_table* table = &keys->table;
  saltus_status status = check_contact(keys, sys, at, i, swept);
  if (status != SALTUS_OK) {
    return status;
  }
  int key = saltusi_table_follow(table, *last, keys->identity[i]);
  key = key < 0 ? saltusi_table_add(table, keys->identity[i], keys->law[i]) : key;
  if (key < 0) {
    return SALTUS_RETRY_CAPACITY;
  }
  *last = key;
  status = check_key(keys, at, i, key);
  keys->place[key] = 1 + i;
  saltusi_table_use(table, key);
  return status;
}

/* Number of contacts without a key in a list of `count`, after the table is full. */
static size_t count_unknown(const saltusi_contact_keys* keys, int from, int count) {
  size_t unknown = 0;
  for (int i = from; i < count; i++) {
    unknown += saltusi_table_find(&keys->table, keys->identity[i]) < 0 ? 1 : 0;
  }
  return unknown;
}

/* Sorts by key. */
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

/* Checks the listed contacts and assigns keys, into keys->place. */
static saltus_status take_all(saltusi_contact_keys* keys, const saltus_system* sys,
                              const saltus_point* at, saltus_status status,
                              const saltus_contact_list* said, bool swept) {
  size_t most = (size_t)keys->table.capacity;
  if (status == SALTUS_RETRY_CAPACITY) {
    size_t wanted = said->count > 0 ? (size_t)said->count : 0;
    return saltusi_capacity_lacks(keys->room, SALTUSI_CAPACITY_CONTACTS,
                                  wanted > most ? wanted : most + 1);
  }
  if (status == SALTUS_OK) {
    status = check_list(at, said);
  }
  memset(keys->place, 0, most * sizeof(int));
  int last = -1;
  for (int i = 0; status == SALTUS_OK && i < said->count; i++) {
    status = take(keys, sys, at, i, swept, &last);
    if (status == SALTUS_RETRY_CAPACITY) {
      saltusi_capacity_lacks(keys->room, SALTUSI_CAPACITY_CONTACTS,
                             most + count_unknown(keys, i, said->count));
    }
  }
  return status;
}

/* A list to be filled by the system. */
static saltus_contact_list open_list(saltusi_contact_keys* keys, double reach) {
  return (saltus_contact_list){.capacity = keys->table.capacity,
                               .reach = reach,
                               .gap = keys->gap,
                               .identity = keys->identity,
                               .law = keys->law};
}

saltus_status saltusi_keys_list(saltusi_contact_keys* keys, const saltus_system* sys,
                                const saltus_point* at, saltusi_contact_list* list) {
  assert(keys != NULL && sys != NULL && at != NULL && list != NULL);
  saltus_contact_list said = open_list(keys, list->requested);
  said.horizon = keys->horizon;
  said.concise = keys->concise;
  list->count = 0;
  saltus_status status = sys->ops->contacts(sys->self, at, &said);
  status = take_all(keys, sys, at, status, &said, false);
  if (status == SALTUS_OK) {
    list->reach = said.reach;
    write_list(keys, list);
  }
  return status;
}

saltus_status saltusi_keys_sweep(saltusi_contact_keys* keys, const saltus_system* sys,
                                 const saltus_point* at, const saltus_box* over, double reach) {
  assert(keys != NULL && sys != NULL && at != NULL && over != NULL);
  saltus_contact_list said = open_list(keys, reach);
  memset(keys->gap, 0, (size_t)keys->table.capacity * sizeof(double)); /* a sweep writes none */
  saltus_box inside = *over;
  inside.scratch = at->scratch;
  saltus_status status = sys->ops->sweep(sys->self, &inside, &said);
  for (int i = 0;
       status == SALTUS_OK && sys->ops->guards != NULL && i < said.count && i < said.capacity;
       i++) {
    keys->law[i] = keys->law[i] == SALTUS_WATCH ? saltusi_measure_monitor_law(sys) : keys->law[i];
  }
  return take_all(keys, sys, at, status, &said, true);
}

saltus_status saltusi_keys_gaps(saltusi_contact_keys* keys, const saltus_system* sys,
                                const saltus_point* at, const int* some, int count, double* gap) {
  assert(keys != NULL && sys != NULL && at != NULL && count >= 0);
  if (count == 0) {
    return SALTUS_OK;
  }
  for (int i = 0; i < count; i++) {
    keys->identity[i] = keys->table.identity[some[i]];
  }
  saltus_status status = sys->ops->gaps(sys->self, at, count, keys->identity, keys->gap);
  for (int i = 0; status == SALTUS_OK && i < count; i++) {
    gap[some[i]] = keys->gap[i];
    if (isnan(keys->gap[i]) && is_finite_point(sys, at)) {
      saltus_fail(at, "the gap of contact %" PRIu64 " at t = %.10g s is not a number",
                  keys->identity[i], at->t);
      status = SALTUS_ERR_SYSTEM;
    }
  }
  return status;
}
