/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * carried_state.c - data carried by a scheme from step to step: its memory and, for a time-varying contact set, the keys of
 * the contacts. As bytes:
 *
 *   fixed set      memory
 *   varying set    head | for each key identity and law | memory
 */
#include "base/log.h"
#include "scheme/scheme_internal.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct carried_state_head {
  int64_t contacts; /* number of keys, used and unused */
} carried_state_head;

typedef struct carried_state_entry {
  uint64_t identity;
  int64_t law; /* -1: the key is unused */
} carried_state_entry;

uint64_t saltusi_scheme_identity(const saltus_scheme* scheme, int key) {
  assert(scheme != NULL);
  bool known = scheme->eval.keys != NULL && key >= 0 && key < scheme->eval.sys.dims.nc;
  return known ? scheme->keys.table.identity[key] : (uint64_t)key;
}

int saltusi_scheme_law(const saltus_scheme* scheme, int key) {
  assert(scheme != NULL);
  const saltus_system* sys = &scheme->eval.sys;
  if (scheme->eval.keys == NULL) {
    return sys->law_count == sys->dims.nc ? key : 0;
  }
  return key >= 0 && key < sys->dims.nc ? scheme->keys.table.law[key] : -1;
}

int saltusi_scheme_workspace(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->eval.sys.dims.nc;
}

void saltusi_scheme_settle(saltus_scheme* scheme) {
  assert(scheme != NULL);
  if (scheme->eval.keys == NULL) {
    return;
  }
  int count = saltusi_table_settle(&scheme->keys.table, scheme->freed);
  if (count == 0 || scheme->carried == 0) {
    return;
  }
  for (int i = 0; i < count; i++) {
    scheme->forgotten[scheme->freed[i]] = true;
  }
  int contacts = scheme->eval.sys.dims.nc;
  saltusi_state_transfer carry = {.to = scheme->memory0,
                                  .contacts_from = contacts,
                                  .contacts_to = contacts,
                                  .forgotten = scheme->forgotten};
  saltusi_scheme_transfer_memory(scheme, &carry);
  memset(scheme->forgotten, 0, (size_t)contacts * sizeof(bool));
}

void saltusi_scheme_mark(saltus_scheme* scheme) {
  assert(scheme != NULL);
  if (scheme->carried > 0) {
    memcpy(scheme->marked, scheme->memory0, scheme->carried * sizeof(double));
  }
  if (scheme->eval.keys != NULL) {
    saltusi_table_begin(&scheme->keys.table);
    saltusi_table_copy(&scheme->marked_table, &scheme->keys.table);
  }
}

void saltusi_scheme_undo(saltus_scheme* scheme) {
  assert(scheme != NULL);
  if (scheme->carried > 0) {
    memcpy(scheme->memory0, scheme->marked, scheme->carried * sizeof(double));
  }
  if (scheme->eval.keys != NULL) {
    saltusi_table_copy(&scheme->keys.table, &scheme->marked_table);
  }
}

static size_t table_bytes(const saltus_scheme* scheme) {
  size_t contacts = (size_t)scheme->eval.sys.dims.nc;
  return scheme->eval.keys != NULL
             ? sizeof(carried_state_head) + contacts * sizeof(carried_state_entry)
             : 0;
}

size_t saltus_scheme_memory_bytes(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return table_bytes(scheme) + scheme->carried * sizeof(double);
}

/* Keys that a failed step assigned are released by the next one: they count as new. */
static bool is_new(const saltusi_contact_table* table, int key) {
  for (int i = 0; i < table->added_count; i++) {
    if (table->added[i] == key) {
      return true;
    }
  }
  return false;
}

void saltus_scheme_memory_save(const saltus_scheme* scheme, void* bytes) {
  assert(scheme != NULL && bytes != NULL);
  unsigned char* to = bytes;
  if (scheme->eval.keys != NULL) {
    const saltusi_contact_table* table = &scheme->keys.table;
    const carried_state_head first = {.contacts = table->capacity};
    memcpy(to, &first, sizeof first);
    to += sizeof first;
    for (int key = 0; key < table->capacity; key++) {
      bool in_use = table->law[key] >= 0 && !is_new(table, key);
      const carried_state_entry one = {in_use ? table->identity[key] : 0,
                                       in_use ? table->law[key] : -1};
      memcpy(to, &one, sizeof one);
      to += sizeof one;
    }
  }
  if (scheme->carried > 0) {
    memcpy(to, scheme->memory0, scheme->carried * sizeof(double));
  }
}

static saltus_status refuse(const saltus_scheme* scheme, size_t size) {
  saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
              "scheme %s: these %zu bytes are not what such a scheme carries",
              scheme->ops->info.name, size);
  return SALTUS_ERR_INPUT;
}

/* Whether the bytes have the size of a table with memory for its number of keys, and valid law
 * indices. */
static bool fits(const saltus_scheme* scheme, const unsigned char* from, size_t size,
                 carried_state_head* first) {
  if (size < sizeof *first) {
    return false;
  }
  memcpy(first, from, sizeof *first);
  size_t rest = size - sizeof *first;
  if (first->contacts < 1 || (uint64_t)first->contacts > rest / sizeof(carried_state_entry) ||
      first->contacts > INT_MAX / 64) {
    return false;
  }
  saltus_system sys = scheme->eval.sys;
  sys.dims.nc = (int)first->contacts;
  size_t carried = saltusi_scheme_memory_doubles(scheme, &sys);
  bool good =
      rest == (size_t)first->contacts * sizeof(carried_state_entry) + carried * sizeof(double);
  for (int64_t key = 0; good && key < first->contacts; key++) {
    carried_state_entry one;
    memcpy(&one, from + sizeof *first + (size_t)key * sizeof one, sizeof one);
    good =
        one.law >= -1 && one.law < sys.law_count + (sys.ops->guards != NULL ? 1 : 0); /* watches */
  }
  return good;
}

static int by_size(const void* x, const void* y) {
  uint64_t a = *(const uint64_t*)x;
  uint64_t b = *(const uint64_t*)y;
  return (a > b) - (a < b);
}

/* SALTUS_ERR_INPUT where two keys of the bytes are of one contact. */
static saltus_status check_identities(const saltus_scheme* scheme, const unsigned char* from,
                                      size_t size, int contacts) {
  size_t bytes = (size_t)contacts * sizeof(uint64_t);
  uint64_t* identity = scheme->memory.alloc(bytes, scheme->memory.user);
  if (identity == NULL) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for %zu bytes",
                scheme->ops->info.name, bytes);
    return SALTUS_ERR_MEMORY;
  }
  size_t count = 0;
  for (int key = 0; key < contacts; key++) {
    carried_state_entry one;
    memcpy(&one, from + sizeof(carried_state_head) + (size_t)key * sizeof one, sizeof one);
    if (one.law >= 0) {
      identity[count++] = one.identity;
    }
  }
  qsort(identity, count, sizeof *identity, by_size);
  bool twice = false;
  for (size_t i = 1; i < count; i++) {
    twice = twice || identity[i] == identity[i - 1];
  }
  scheme->memory.free(identity, bytes, scheme->memory.user);
  return twice ? refuse(scheme, size) : SALTUS_OK;
}

/* SALTUS_ERR_INPUT where the memory holds values that no step could have written. The bytes may be
 * unaligned: they are read from a copy. */
static saltus_status check_memory(const saltus_scheme* scheme, const unsigned char* from,
                                  size_t size, int contacts) {
  saltus_system sys = scheme->eval.sys;
  sys.dims.nc = contacts;
  double* memory = scheme->memory.alloc(size + 1, scheme->memory.user);
  if (memory == NULL) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for %zu bytes",
                scheme->ops->info.name, size);
    return SALTUS_ERR_MEMORY;
  }
  memcpy(memory, from, size);
  bool good = true;
  for (size_t i = 0; i < size / sizeof(double); i++) {
    good = good && !isnan(memory[i]);
  }
  if (good && size > 0 && scheme->clocks != NULL) {
    good = saltusi_async_islands_memory_valid(scheme->clocks, memory);
  } else if (good && size > 0 && scheme->ops->memory_valid != NULL) {
    good = scheme->ops->memory_valid(scheme->options, &sys, memory);
  }
  scheme->memory.free(memory, size + 1, scheme->memory.user);
  return good ? SALTUS_OK : refuse(scheme, size);
}

/* The table of a time-varying contact set, with capacity for its keys. Bytes that do not fit change
 * nothing. */
static saltus_status load_table(saltus_scheme* scheme, const unsigned char* from, size_t size) {
  carried_state_head first = {.contacts = 0};
  if (!fits(scheme, from, size, &first)) {
    return refuse(scheme, size);
  }
  saltus_status status = check_identities(scheme, from, size, (int)first.contacts);
  if (status == SALTUS_OK) {
    size_t table = sizeof first + (size_t)first.contacts * sizeof(carried_state_entry);
    status = check_memory(scheme, from + table, size - table, (int)first.contacts);
  }
  if (status == SALTUS_OK) {
    status = saltusi_scheme_fit(scheme, (int)first.contacts);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_contact_table* table = &scheme->keys.table;
  saltusi_table_clear(table);
  from += sizeof first;
  for (int key = 0; key < table->capacity; key++) {
    carried_state_entry one;
    memcpy(&one, from, sizeof one);
    from += sizeof one;
    if (one.law >= 0) {
      saltusi_table_put(table, key, one.identity, (int)one.law);
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_scheme_memory_check(saltus_scheme* scheme, const saltus_state* state,
                                          const void* bytes, size_t size) {
  assert(scheme != NULL && state != NULL && bytes != NULL);
  const saltus_system* sys = &scheme->eval.sys;
  carried_state_head first = {.contacts = 0};
  if (scheme->eval.keys == NULL || sys->ops->place == NULL) {
    return SALTUS_OK;
  }
  if (!fits(scheme, bytes, size, &first)) {
    return refuse(scheme, size);
  }
  const saltus_point at = saltusi_at(&scheme->eval, state->t, state->q, state->v);
  for (int64_t key = 0; key < first.contacts; key++) {
    carried_state_entry one;
    saltus_contact_place place;
    memcpy(&one, (const unsigned char*)bytes + sizeof first + (size_t)key * sizeof one, sizeof one);
    if (one.law >= 0 && one.law < sys->law_count &&
        sys->ops->place(sys->self, &at, one.identity, &place) == SALTUS_ERR_RANGE) {
      return refuse(scheme, size);
    }
  }
  return SALTUS_OK;
}

saltus_status saltus_scheme_memory_load(saltus_scheme* scheme, const void* bytes, size_t size) {
  assert(scheme != NULL && bytes != NULL);
  const unsigned char* from = bytes;
  saltus_status status = SALTUS_OK;
  if (scheme->eval.keys != NULL) {
    status = load_table(scheme, from, size);
  } else if (size == saltus_scheme_memory_bytes(scheme)) {
    status = check_memory(scheme, from, size, scheme->eval.sys.dims.nc);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (size != saltus_scheme_memory_bytes(scheme)) {
    return refuse(scheme, size);
  }
  if (scheme->carried > 0) {
    memcpy(scheme->memory0, from + table_bytes(scheme), scheme->carried * sizeof(double));
  }
  if (scheme->clocks != NULL) {
    saltusi_async_islands_forget(scheme->clocks);
  }
  return SALTUS_OK;
}

static void restart(saltus_scheme* scheme, bool resumes, double t) {
  if (resumes && scheme->ops->resume != NULL && scheme->clocks == NULL) {
    scheme->ops->resume(scheme->memory0, scheme->carried, t);
  } else if (scheme->carried > 0) {
    memset(scheme->memory0, 0, scheme->carried * sizeof(double));
  }
  if (scheme->eval.keys != NULL) {
    saltusi_table_clear(&scheme->keys.table);
  }
  if (scheme->clocks != NULL) {
    saltusi_async_islands_forget(scheme->clocks);
  }
  saltusi_scheme_forget(scheme);
}

void saltusi_scheme_restart(saltus_scheme* scheme) {
  assert(scheme != NULL);
  restart(scheme, false, NAN);
}

void saltusi_scheme_resume(saltus_scheme* scheme, double t) {
  assert(scheme != NULL);
  restart(scheme, true, t);
}

void saltusi_scheme_forget(saltus_scheme* scheme) {
  assert(scheme != NULL);
  for (int i = 0; i < DENSE_STEPS; i++) {
    scheme->dense[i].h = 0.0;
  }
}
