/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * h5_wide.c - see wide_table.h.
 */
#include "base/log.h"
#include "base/pool.h"
#include "io/h5.h"
#include "io/wide_table.h"

#include <assert.h>
#include <string.h>

/* Layout of a row in the file: number, values, status, reason. */
typedef struct h5_wide_writer {
  const saltusi_wide_table* table;
  size_t bytes; /* of a row */
  hid_t file, type, dataset;
  saltusi_pool pool;
  saltusi_wide_block block;
  char* rows;
} h5_wide_writer;

static hid_t row_type(const h5_wide_writer* w) {
  const saltusi_wide_table* t = w->table;
  hid_t type = H5Tcreate(H5T_COMPOUND, w->bytes);
  hid_t text = saltusi_h5_text_type((size_t)t->reason_bytes);
  size_t at = 8;
  bool good = type >= 0 && text >= 0 && H5Tinsert(type, "run", 0, H5T_STD_I64LE) >= 0;
  for (int i = 0; i < t->column_count && good; i++) {
    good = H5Tinsert(type, t->columns[i], at, H5T_IEEE_F64LE) >= 0;
    at += 8;
  }
  good = good && H5Tinsert(type, "status", at, H5T_STD_I32LE) >= 0 &&
         H5Tinsert(type, "reason", at + 4, text) >= 0;
  if (text >= 0) {
    H5Tclose(text);
  }
  if (!good && type >= 0) {
    H5Tclose(type);
  }
  return good ? type : -1;
}

static void pack(const h5_wide_writer* w, int count) {
  const saltusi_wide_table* t = w->table;
  const size_t values = 8 * (size_t)t->column_count;
  for (int i = 0; i < count; i++) {
    char* row = w->rows + (size_t)i * w->bytes;
    const int64_t number = w->block.numbers[i];
    const int32_t status = w->block.statuses[i];
    memcpy(row, &number, sizeof number);
    memcpy(row + 8, w->block.values + (size_t)i * (size_t)t->column_count, values);
    memcpy(row + 8 + values, &status, sizeof status);
    memcpy(row + 12 + values, w->block.reasons + (size_t)i * (size_t)t->reason_bytes,
           (size_t)t->reason_bytes);
  }
}

/* False: HDF5 failed; *asked is -1 if `next` failed. */
static bool write_rows(h5_wide_writer* w, int* asked) {
  hsize_t first = 0;
  while ((*asked = w->table->next(w->table->user, &w->block)) > 0) {
    pack(w, *asked);
    const saltusi_h5_items items = {.dataset = w->dataset,
                                    .type = w->type,
                                    .rank = 1,
                                    .size = {(hsize_t)*asked},
                                    .first = first,
                                    .items = w->rows};
    if (!saltusi_h5_items_write(&items)) {
      return false;
    }
    first += (hsize_t)*asked;
  }
  return true;
}

static bool make(h5_wide_writer* w) {
  hid_t access = saltusi_h5_access();
  hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  bool good = access >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0;
  w->file = good ? H5Fcreate(w->table->path, H5F_ACC_TRUNC, creation, access) : -1;
  if (access >= 0) {
    H5Pclose(access);
  }
  if (creation >= 0) {
    H5Pclose(creation);
  }
  w->type = w->file >= 0 ? row_type(w) : -1;
  const hsize_t chunk = SALTUSI_WIDE_BLOCK;
  w->dataset = w->type >= 0 ? saltusi_h5_dataset_create(w->file, "runs", w->type, 1, &chunk) : -1;
  return w->dataset >= 0 && saltusi_h5_text_put(w->file, "about", w->table->about);
}

saltus_status saltusi_wide_table_write(const saltusi_wide_table* table) {
  assert(table != NULL && table->path != NULL && table->next != NULL);
  const size_t columns = (size_t)table->column_count;
  h5_wide_writer w = {.table = table,
                      .bytes = 12 + 8 * columns + (size_t)table->reason_bytes,
                      .file = -1,
                      .type = -1,
                      .dataset = -1,
                      .pool = saltusi_pool_over(NULL)};
  w.block.numbers = SALTUSI_TAKE(&w.pool, long long, SALTUSI_WIDE_BLOCK);
  w.block.values = saltusi_pool_take(&w.pool, SALTUSI_WIDE_BLOCK, sizeof(double) * (columns + 1));
  w.block.statuses = SALTUSI_TAKE(&w.pool, int, SALTUSI_WIDE_BLOCK);
  w.block.reasons = saltusi_pool_take(&w.pool, SALTUSI_WIDE_BLOCK, (size_t)table->reason_bytes);
  w.rows = saltusi_pool_take(&w.pool, SALTUSI_WIDE_BLOCK, w.bytes);
  if (w.pool.failed) {
    saltusi_log(table->log, SALTUS_LEVEL_ERROR, "%s: no memory", table->path);
    saltusi_pool_free(&w.pool);
    return SALTUS_ERR_MEMORY;
  }
  const saltusi_h5_voice voice = saltusi_h5_hush();
  int asked = 0;
  char text[SALTUSI_H5_TEXT] = "";
  bool good = make(&w) && write_rows(&w, &asked);
  if (!good) {
    saltusi_h5_reason(text);
  }
  if (w.dataset >= 0) {
    good = H5Dclose(w.dataset) >= 0 && good;
  }
  if (w.type >= 0) {
    H5Tclose(w.type);
  }
  if (w.file >= 0) {
    good = H5Fclose(w.file) >= 0 && good;
  }
  saltusi_h5_unhush(voice);
  saltusi_pool_free(&w.pool);
  if (!good) {
    saltusi_log(table->log, SALTUS_LEVEL_ERROR, "%s: %s", table->path,
                text[0] != '\0' ? text : "it could not be written");
  }
  return good && asked == 0 ? SALTUS_OK : SALTUS_ERR_IO;
}
