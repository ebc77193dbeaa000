/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/contact_rows.h"

#include <assert.h>
#include <string.h>

#define AT(member) offsetof(saltus_recorded_contacts, member)

static const char* const alone[] = {""};
static const char* const bodies[] = {"_a", "_b"};
static const char* const axes[] = {"_x", "_y", "_z"};
static const char* const directions[] = {"_N", "_T1", "_T2"};

/* The order is that of the chunks in an HDF5 file and of the columns in a text table. */
const saltusi_row_column saltusi_row_columns[SALTUSI_ROW_COLUMNS] = {
    {"/contact_table/identity", "identity", alone, "1", 1, SALTUSI_ROW_IDENTITY, AT(identity)},
    {"/contact_table/law", "law", alone, "1", 1, SALTUSI_ROW_INTEGER, AT(law)},
    {"/contact_table/bodies", "body", bodies, "1", 2, SALTUSI_ROW_INTEGER, AT(bodies)},
    {"/contact_table/point", "point", axes, "m", 3, SALTUSI_ROW_REAL, AT(point)},
    {"/contact_table/normal", "normal", axes, "1", 3, SALTUSI_ROW_REAL, AT(normal)},
    {"/contact_table/gap", "gap", alone, "m", 1, SALTUSI_ROW_REAL, AT(gap)},
    {"/contact_table/velocity", "velocity", alone, "m/s", 1, SALTUSI_ROW_REAL, AT(velocity)},
    {"/contact_table/force", "force", directions, "N", 3, SALTUSI_ROW_REAL, AT(force)},
    {"/contact_table/impulse", "impulse", directions, "N s", 3, SALTUSI_ROW_REAL, AT(impulse)},
    {"/contact_table/friction_work", "friction_work", alone, "J", 1, SALTUSI_ROW_REAL,
     AT(friction_work)},
    {"/contact_table/impact_work", "impact_work", alone, "J", 1, SALTUSI_ROW_REAL, AT(impact_work)},
};

enum { ITEM = 8 };

int saltusi_row_cells(void) {
  int cells = 0;
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    cells += saltusi_row_columns[c].components;
  }
  return cells;
}

size_t saltusi_row_bytes(void) {
  return ITEM * (size_t)saltusi_row_cells();
}

saltus_status saltusi_rows_workspace(saltusi_row_batch* rows, saltusi_pool* pool, size_t wanted) {
  assert(rows->count <= rows->capacity && pool != NULL);
  if (wanted <= rows->capacity) {
    return SALTUS_OK;
  }
  size_t room = rows->capacity + rows->capacity / 2;
  room = room < wanted ? wanted : room;
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    size_t item = ITEM * (size_t)saltusi_row_columns[c].components;
    void* larger = saltusi_pool_take(pool, room, item);
    if (larger == NULL) {
      return SALTUS_ERR_MEMORY; /* columns that have grown already stay */
    }
    if (rows->count > 0) {
      memcpy(larger, rows->column[c], rows->count * item);
    }
    rows->column[c] = larger;
  }
  rows->capacity = room;
  return SALTUS_OK;
}

/* The items of a contact in a column. */
static void fill(int column, const saltus_contact_frame* c, void* items) {
  const long long law = c->law;
  const long long pair[2] = {c->bodies[0], c->bodies[1]};
  const void* const from[SALTUSI_ROW_COLUMNS] = {
      [SALTUSI_ROW_IDENTITIES] = &c->identity,
      [SALTUSI_ROW_LAW] = &law,
      [SALTUSI_ROW_BODIES] = pair,
      [SALTUSI_ROW_POINT] = c->point,
      [SALTUSI_ROW_NORMAL] = c->normal,
      [SALTUSI_ROW_GAP] = &c->gap,
      [SALTUSI_ROW_VELOCITY] = &c->velocity,
      [SALTUSI_ROW_FORCE] = c->force,
      [SALTUSI_ROW_IMPULSE] = c->impulse,
      [SALTUSI_ROW_FRICTION_WORK] = &c->friction,
      [SALTUSI_ROW_IMPACT_WORK] = &c->impact,
  };
  memcpy(items, from[column], ITEM * (size_t)saltusi_row_columns[column].components);
}

void saltusi_rows_put(saltusi_row_batch* rows, const saltus_frame* frame) {
  assert(rows->capacity - rows->count >= (size_t)frame->contact_count);
  for (int i = 0; i < frame->contact_count; i++) {
    for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
      size_t item = ITEM * (size_t)saltusi_row_columns[c].components;
      fill(c, &frame->contacts[i], (unsigned char*)rows->column[c] + rows->count * item);
    }
    rows->count++;
  }
}

void* saltusi_rows_get(const saltus_recorded_contacts* table, int column) {
  assert(column >= 0 && column < SALTUSI_ROW_COLUMNS);
  const unsigned char* at = (const unsigned char*)table + saltusi_row_columns[column].member;
  switch (saltusi_row_columns[column].kind) {
  case SALTUSI_ROW_REAL:
    return *(double* const*)(const void*)at;
  case SALTUSI_ROW_INTEGER:
    return *(long long* const*)(const void*)at;
  case SALTUSI_ROW_IDENTITY:
    return *(uint64_t* const*)(const void*)at;
  }
  return NULL;
}

static void set(saltus_recorded_contacts* table, int column, void* array) {
  unsigned char* at = (unsigned char*)table + saltusi_row_columns[column].member;
  switch (saltusi_row_columns[column].kind) {
  case SALTUSI_ROW_REAL:
    *(double**)(void*)at = array;
    break;
  case SALTUSI_ROW_INTEGER:
    *(long long**)(void*)at = array;
    break;
  case SALTUSI_ROW_IDENTITY:
    *(uint64_t**)(void*)at = array;
    break;
  }
}

saltus_status saltusi_rows_take(saltus_recorded_contacts* table, long long count,
                                saltusi_pool* pool) {
  assert(count >= 0 && pool != NULL);
  table->count = count;
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    size_t item = ITEM * (size_t)saltusi_row_columns[c].components;
    void* array = saltusi_pool_take(pool, (size_t)count, item);
    if (array == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    set(table, c, array);
  }
  return SALTUS_OK;
}

const char* saltusi_rows_fault(const saltus_recorded_contacts* table, long long frames,
                               int law_count) {
  assert(frames >= 0);
  if (table->start[0] != 0 || table->start[frames] != table->count) {
    return "rows of contacts before the first or after the last frame";
  }
  for (long long i = 0; i < frames; i++) {
    if (table->start[i] > table->start[i + 1]) {
      return "the rows of a frame start after those of the next";
    }
  }
  for (long long i = 0; i < table->count; i++) {
    if (table->law[i] < 0 || table->law[i] >= law_count) {
      return "a contact has a law that is not in law_names";
    }
  }
  return NULL;
}
