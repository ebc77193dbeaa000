/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_rows.h - contacts of a time-varying set: consecutive rows, frame by frame. One list of columns defines
 * memory, both writers and both readers.
 */
#ifndef SALTUSI_CONTACT_ROWS_H
#define SALTUSI_CONTACT_ROWS_H

#include "base/pool.h"
#include "saltus/recording.h"

typedef enum saltusi_row_kind {
  SALTUSI_ROW_REAL,
  SALTUSI_ROW_INTEGER, /* long long */
  SALTUSI_ROW_IDENTITY /* uint64_t */
} saltusi_row_kind;

/* A column of one or several components, each 8 bytes wide. */
typedef struct saltusi_row_column {
  const char* path;           /* dataset in HDF5 */
  const char* name;           /* in a text table */
  const char* const* endings; /* [components] of the name */
  const char* unit;
  int components;
  saltusi_row_kind kind;
  size_t member; /* of the pointer in saltus_recorded_contacts */
} saltusi_row_column;

enum {
  SALTUSI_ROW_IDENTITIES,
  SALTUSI_ROW_LAW,
  SALTUSI_ROW_BODIES,
  SALTUSI_ROW_POINT,
  SALTUSI_ROW_NORMAL,
  SALTUSI_ROW_GAP,
  SALTUSI_ROW_VELOCITY,
  SALTUSI_ROW_FORCE,
  SALTUSI_ROW_IMPULSE,
  SALTUSI_ROW_FRICTION_WORK,
  SALTUSI_ROW_IMPACT_WORK,
  SALTUSI_ROW_COLUMNS
};

extern const saltusi_row_column saltusi_row_columns[SALTUSI_ROW_COLUMNS];

/* Bytes and cells of a row over all columns. */
size_t saltusi_row_bytes(void);
int saltusi_row_cells(void);

/* Rows not yet written to the file. */
typedef struct saltusi_row_batch {
  long long first; /* number of the first one in the whole recording */
  size_t count, capacity;
  void* column[SALTUSI_ROW_COLUMNS]; /* [capacity x components] */
} saltusi_row_batch;

/* Capacity for `wanted` rows; existing rows are kept. SALTUS_ERR_MEMORY. */
saltus_status saltusi_rows_workspace(saltusi_row_batch* rows, saltusi_pool* pool, size_t wanted);

/* Adds the contacts of a frame; the capacity has to suffice. */
void saltusi_rows_put(saltusi_row_batch* rows, const saltus_frame* frame);

/* Arrays of the table of a recording that is read; SALTUS_ERR_MEMORY. */
saltus_status saltusi_rows_take(saltus_recorded_contacts* table, long long count,
                                saltusi_pool* pool);

/* The array of a column. */
void* saltusi_rows_get(const saltus_recorded_contacts* table, int column);

/* The first error in the rows of `frames` frames, whose starts are [frames + 1]; NULL: none. */
const char* saltusi_rows_fault(const saltus_recorded_contacts* table, long long frames,
                               int law_count);

#endif
