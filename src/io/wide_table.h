/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * wide_table.h - a table of numbers with a status and a text in every row, written to an HDF5 file block by block: one dataset
 * of records, as numpy and pandas read them. The same table gives the same bytes.
 */
#ifndef SALTUSI_WIDE_TABLE_H
#define SALTUSI_WIDE_TABLE_H

#include "saltus/log.h"
#include "saltus/status.h"

enum { SALTUSI_WIDE_BLOCK = 4096 };

typedef struct saltusi_wide_block {
  long long* numbers; /* [SALTUSI_WIDE_BLOCK] of the rows */
  double* values;     /* [SALTUSI_WIDE_BLOCK x columns] */
  int* statuses;      /* [SALTUSI_WIDE_BLOCK] */
  char* reasons;      /* [SALTUSI_WIDE_BLOCK x reason_bytes] */
} saltusi_wide_block;

typedef struct saltusi_wide_table {
  const char* path;
  const char* const* columns; /* [column_count] */
  int column_count;
  int reason_bytes;
  const char* about; /* attribute of the file */
  /* Fills the next block and returns its number of rows; 0: end; -1: failure, with a message. */
  int (*next)(void* user, const saltusi_wide_block* block);
  void* user;
  saltus_log log;
} saltusi_wide_table;

/* Writes a new file. SALTUS_ERR_IO, SALTUS_ERR_UNSUPPORTED without HDF5, SALTUS_ERR_MEMORY; with
 * a message. */
saltus_status saltusi_wide_table_write(const saltusi_wide_table* table);

#endif
