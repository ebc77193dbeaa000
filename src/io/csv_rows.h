/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * csv_rows.h - reads the table of contacts beside a text recording.
 */
#ifndef SALTUSI_CSV_ROWS_H
#define SALTUSI_CSV_ROWS_H

#include "io/contact_rows.h"

/* A recording after its frames were read; table.start has the number of rows of each frame. */
typedef struct saltusi_rows_reading {
  const char* path; /* of the recording */
  saltus_log log;
  saltus_recording_data* data;
  saltusi_pool* pool;
  long long most; /* rows that the table can have at most */
} saltusi_rows_reading;

/* Fills the table, and leaves out frames of an interrupted run whose rows are missing. */
saltus_status saltusi_csv_rows_read(saltusi_rows_reading in, const char* path);

/* 64 bits as digits. */
bool saltusi_cell_identity(const char* cell, uint64_t* value);

#endif
