/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The table of contacts of a time-varying set in an HDF5 recording: one dataset for each column,
 * all with as many rows; /contact_table/start holds the first row of each frame.
 */
#include "io/h5.h"
#include "io/h5_reading.h"

#include <assert.h>

static hid_t stored_type(saltusi_row_kind kind) {
  return kind == SALTUSI_ROW_REAL      ? H5T_IEEE_F64LE
         : kind == SALTUSI_ROW_INTEGER ? H5T_STD_I64LE
                                       : H5T_STD_U64LE;
}

static hid_t memory_type(saltusi_row_kind kind) {
  return kind == SALTUSI_ROW_REAL      ? H5T_NATIVE_DOUBLE
         : kind == SALTUSI_ROW_INTEGER ? H5T_NATIVE_LLONG
                                       : H5T_NATIVE_UINT64;
}

static int rank_of(const saltusi_row_column* column) {
  return column->components == 1 ? 1 : 2;
}

bool saltusi_h5_rows_create(hid_t file) {
  assert(file >= 0);
  bool good = true;
  for (int c = 0; good && c < SALTUSI_ROW_COLUMNS; c++) {
    const saltusi_row_column* column = &saltusi_row_columns[c];
    const hsize_t chunk[2] = {SALTUSI_H5_CHUNK_ROWS, (hsize_t)column->components};
    hid_t dataset = saltusi_h5_dataset_create(file, column->path, stored_type(column->kind),
                                              rank_of(column), chunk);
    good = dataset >= 0 && saltusi_h5_text_put(dataset, "units", column->unit);
    if (dataset >= 0) {
      good = H5Dclose(dataset) >= 0 && good;
    }
  }
  return good;
}

bool saltusi_h5_rows_open(hid_t file, hid_t datasets[SALTUSI_ROW_COLUMNS]) {
  assert(file >= 0);
  bool good = true;
  for (int c = 0; good && c < SALTUSI_ROW_COLUMNS; c++) {
    datasets[c] = H5Dopen2(file, saltusi_row_columns[c].path, H5P_DEFAULT);
    good = datasets[c] >= 0;
  }
  return good;
}

bool saltusi_h5_rows_write(const hid_t datasets[SALTUSI_ROW_COLUMNS], const saltusi_row_batch* rows,
                           size_t from, size_t to) {
  assert(from <= to && to <= rows->count);
  bool good = true;
  for (int c = 0; good && from < to && c < SALTUSI_ROW_COLUMNS; c++) {
    const saltusi_row_column* column = &saltusi_row_columns[c];
    size_t item = SALTUSI_ITEM * (size_t)column->components;
    const saltusi_h5_items items = {.dataset = datasets[c],
                                    .type = memory_type(column->kind),
                                    .rank = rank_of(column),
                                    .size = {(hsize_t)(to - from), (hsize_t)column->components},
                                    .first = (hsize_t)(rows->first + (long long)from),
                                    .items = (const unsigned char*)rows->column[c] + from * item};
    good = saltusi_h5_items_write(&items);
  }
  return good;
}

static saltus_status read_opened(const saltusi_h5_reading* in, int c, hid_t dataset) {
  const saltusi_row_column* column = &saltusi_row_columns[c];
  hid_t type = H5Dget_type(dataset);
  bool fits = type >= 0 && H5Tequal(type, stored_type(column->kind)) > 0;
  if (type >= 0) {
    H5Tclose(type);
  }
  if (!fits) {
    return saltusi_h5_refuse(in, column->path, "dataset does not hold numbers of the right kind");
  }
  const hsize_t inner[2] = {0, (hsize_t)column->components};
  long long count = saltusi_h5_count(in, column->path, dataset, rank_of(column), inner);
  if (count < 0) {
    return SALTUS_ERR_INPUT;
  }
  saltus_recorded_contacts* table = &in->data->table;
  if (c ==
      0) { /* the size of the first is checked against the file, the others against the first */
    saltus_status status = saltusi_rows_take(table, count, in->pool);
    if (status != SALTUS_OK) {
      return status;
    }
  } else if (count != table->count) {
    return saltusi_h5_refuse(in, column->path,
                             "dataset does not have as many rows as /contact_table/identity");
  }
  if (H5Dread(dataset, memory_type(column->kind), H5S_ALL, H5S_ALL, H5P_DEFAULT,
              saltusi_rows_get(table, c)) < 0) {
    return saltusi_h5_refuse(in, column->path, "dataset cannot be read, the file is damaged");
  }
  return SALTUS_OK;
}

/* The end of the last frame is the end of the table. */
static saltus_status complete_starts(const saltusi_h5_reading* in) {
  saltus_recorded_contacts* table = &in->data->table;
  size_t frames = (size_t)in->data->count;
  long long* start = saltusi_pool_take(in->pool, frames + 1, sizeof *start);
  if (start == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (size_t i = 0; i < frames; i++) {
    start[i] = table->start[i];
  }
  start[frames] = table->count;
  table->start = start;
  return SALTUS_OK;
}

saltus_status saltusi_h5_rows_read(const saltusi_h5_reading* in) {
  assert(in != NULL);
  saltus_status status = SALTUS_OK;
  for (int c = 0; status == SALTUS_OK && c < SALTUSI_ROW_COLUMNS; c++) {
    hid_t dataset = H5Dopen2(in->file, saltusi_row_columns[c].path, H5P_DEFAULT);
    if (dataset < 0) {
      return saltusi_h5_refuse(in, saltusi_row_columns[c].path, "dataset is missing or damaged");
    }
    status = read_opened(in, c, dataset);
    H5Dclose(dataset);
  }
  if (status == SALTUS_OK) {
    status = complete_starts(in);
  }
  const char* fault = status == SALTUS_OK ? saltusi_rows_fault(&in->data->table, in->data->count,
                                                               in->data->law_count)
                                          : NULL;
  return fault != NULL ? saltusi_h5_refuse(in, "/contact_table", fault) : status;
}
