/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_table.c - see contact_table.h. At most half of the slots are in use, so probes are short.
 * Keys added by a trial step are the last in the slots: removing them in reverse order preserves the probe
 * sequences of the others. Freed keys may be anywhere in them: the slots are rebuilt.
 */
#include "system/contact_table.h"

#include <assert.h>
#include <string.h>

static int count_slots(int capacity) {
  int slots = 16;
  while (slots / 2 < capacity) {
    slots *= 2;
  }
  return slots;
}

void saltusi_table_layout(saltusi_contact_table* table, int capacity, saltus_arena* arena) {
  assert(table != NULL && arena != NULL);
  table->capacity = capacity;
  table->slots = count_slots(capacity);
  table->identity = SALTUS_PUSH(arena, uint64_t, capacity);
  table->law = SALTUS_PUSH(arena, int, capacity);
  table->used = SALTUS_PUSH(arena, long long, capacity);
  table->added = SALTUS_PUSH(arena, int, capacity);
  table->slot = SALTUS_PUSH(arena, int, table->slots);
  table->next = SALTUS_PUSH(arena, int, capacity + 1);
}

static void clear_slots(saltusi_contact_table* table) {
  for (int i = 0; i < table->slots; i++) {
    table->slot[i] = -1;
  }
}

void saltusi_table_clear(saltusi_contact_table* table) {
  assert(table != NULL);
  for (int key = 0; key < table->capacity; key++) {
    table->identity[key] = 0;
    table->law[key] = -1;
    table->used[key] = 0;
  }
  memset(table->next, 0, ((size_t)table->capacity + 1) * sizeof(int));
  clear_slots(table);
  table->count = 0;
  table->added_count = 0;
  table->lowest = 0;
  table->tries = 1;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every bit of an identity (often two feature numbers)
 * affects all bits of the slot. */
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* The slot of a contact, or the empty one where it would be. */
static int slot_of(const saltusi_contact_table* table, uint64_t identity) {
  unsigned last = (unsigned)table->slots - 1U;
  for (unsigned i = (unsigned)mix(identity);; i++) {
    int key = table->slot[i & last];
    if (key < 0 || table->identity[key] == identity) {
      return (int)(i & last);
    }
  }
}

int saltusi_table_find(const saltusi_contact_table* table, uint64_t identity) {
  assert(table != NULL);
  return table->slot[slot_of(table, identity)];
}

int saltusi_table_follow(saltusi_contact_table* table, int after, uint64_t identity) {
  assert(table != NULL && after >= -1 && after < table->capacity);
  if (table->capacity == 0) {
    return -1;
  }
  int* guess = &table->next[1 + after];
  if (table->identity[*guess] == identity && table->law[*guess] >= 0) {
    return *guess;
  }
  const int key = saltusi_table_find(table, identity);
  *guess = key < 0 ? *guess : key;
  return key;
}

static void enter(saltusi_contact_table* table, int key, uint64_t identity, int law) {
  int slot = slot_of(table, identity);
  assert(table->slot[slot] < 0);
  table->slot[slot] = key;
  table->identity[key] = identity;
  table->law[key] = law;
  table->count++;
}

int saltusi_table_add(saltusi_contact_table* table, uint64_t identity, int law) {
  assert(table != NULL);
  if (table->count == table->capacity) {
    return -1;
  }
  int key = table->lowest;
  while (table->law[key] >= 0) {
    key++;
  }
  table->lowest = key + 1;
  enter(table, key, identity, law);
  table->used[key] = table->tries;
  table->added[table->added_count++] = key;
  return key;
}

void saltusi_table_put(saltusi_contact_table* table, int key, uint64_t identity, int law) {
  assert(table != NULL && key >= 0);
  enter(table, key, identity, law);
  table->used[key] = table->tries;
}

static void make_free(saltusi_contact_table* table, int key) {
  table->law[key] = -1;
  table->count--;
  table->lowest = key < table->lowest ? key : table->lowest;
}

void saltusi_table_begin(saltusi_contact_table* table) {
  assert(table != NULL);
  while (table->added_count > 0) {
    int key = table->added[--table->added_count];
    table->slot[slot_of(table, table->identity[key])] = -1;
    make_free(table, key);
  }
  table->tries++;
}

int saltusi_table_settle(saltusi_contact_table* table, int* freed) {
  assert(table != NULL);
  int count = 0;
  for (int key = 0; key < table->capacity; key++) {
    if (table->law[key] >= 0 && table->used[key] != table->tries) {
      make_free(table, key);
      freed[count++] = key;
    }
  }
  if (count > 0) {
    clear_slots(table);
    for (int key = 0; key < table->capacity; key++) {
      if (table->law[key] >= 0) {
        table->slot[slot_of(table, table->identity[key])] = key;
      }
    }
  }
  table->added_count = 0;
  return count;
}

/* Copies the contact of a key into another table. */
static void copy_key(saltusi_contact_table* to, const saltusi_contact_table* from, int key) {
  enter(to, key, from->identity[key], from->law[key]);
  to->used[key] = from->used[key];
}

void saltusi_table_copy(saltusi_contact_table* to, const saltusi_contact_table* from) {
  assert(to->capacity >= saltusi_table_least(from));
  saltusi_table_clear(to);
  to->tries = from->tries;
  /* keys of the present trial step enter last, so that they can be revoked */
  for (int i = 0; i < from->added_count; i++) {
    to->used[from->added[i]] = -1;
  }
  for (int key = 0; key < from->capacity && key < to->capacity; key++) {
    if (from->law[key] >= 0 && to->used[key] >= 0) {
      copy_key(to, from, key);
    }
  }
  for (int i = 0; i < from->added_count; i++) {
    copy_key(to, from, from->added[i]);
  }
  memcpy(to->added, from->added, (size_t)from->added_count * sizeof(int));
  to->added_count = from->added_count;
}

int saltusi_table_least(const saltusi_contact_table* table) {
  assert(table != NULL);
  int least = table->capacity;
  while (least > 0 && table->law[least - 1] < 0) {
    least--;
  }
  return least;
}
