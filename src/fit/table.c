/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * table.c - tables of measurements: a dataset of HDF5 with two dimensions and an attribute `columns`, or a compound of
 * numbers; CSV files by a pattern.
 */
#include "base/log.h"
#include "fit/fit.h"
#include "saltus/recording.h"

#include <assert.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#if SALTUS_WITH_HDF5
#include <hdf5.h>
#endif

enum { ROWS_MOST = 100000000 };

int saltusi_fit_column(const saltusi_fit_table* table, const char* name) {
  assert(table != NULL && name != NULL);
  for (int i = 0; i < table->columns; i++) {
    if (strcmp(table->names[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

#if SALTUS_WITH_HDF5

/* Names separated by spaces or commas. */
static int split(char* text, saltusi_fit_table* out) {
  int count = 0;
  for (char* word = strtok(text, " ,"); word != NULL; word = strtok(NULL, " ,")) {
    if (count < SALTUSI_FIT_COLUMNS) {
      out->names[count] = word;
    }
    count++;
  }
  return count;
}

static bool read_names(hid_t set, saltusi_pool* pool, saltusi_fit_table* out, int columns) {
  const hid_t attribute = H5Aopen(set, "columns", H5P_DEFAULT);
  if (attribute < 0) {
    return false;
  }
  const hid_t type = H5Aget_type(attribute);
  char* text = NULL;
  bool done = false;
  if (H5Tis_variable_str(type) > 0) {
    char* own = NULL;
    done = H5Aread(attribute, type, &own) >= 0 && own != NULL;
    text = done ? saltusi_pool_text(pool, own) : NULL;
    if (own != NULL) {
      H5free_memory(own);
    }
  } else if (H5Tget_class(type) == H5T_STRING) {
    text = saltusi_pool_take(pool, H5Tget_size(type) + 1, 1);
    done = text != NULL && H5Aread(attribute, type, text) >= 0;
  }
  H5Tclose(type);
  H5Aclose(attribute);
  return done && text != NULL && split(text, out) == columns;
}

/* All members as doubles. A NULL name of a member: out of memory. */
static hid_t compound_of_doubles(hid_t type, saltusi_pool* pool, saltusi_fit_table* out) {
  const int count = H5Tget_nmembers(type);
  if (count < 1 || count > SALTUSI_FIT_COLUMNS) {
    return -1;
  }
  const hid_t memory = H5Tcreate(H5T_COMPOUND, (size_t)count * sizeof(double));
  bool done = true;
  for (int i = 0; i < count && done; i++) {
    char* name = H5Tget_member_name(type, (unsigned)i);
    const H5T_class_t kind = H5Tget_member_class(type, (unsigned)i);
    out->names[i] = saltusi_pool_text(pool, name);
    done = (kind == H5T_INTEGER || kind == H5T_FLOAT) && out->names[i] != NULL &&
           H5Tinsert(memory, name, (size_t)i * sizeof(double), H5T_NATIVE_DOUBLE) >= 0;
    H5free_memory(name);
  }
  out->columns = count;
  if (!done) {
    H5Tclose(memory);
  }
  return done ? memory : -1;
}

static const char* read_set(hid_t set, saltusi_pool* pool, saltusi_fit_table* out) {
  const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  hsize_t size[H5S_MAX_RANK] = {0};
  const int rank = H5Sget_simple_extent_ndims(space);
  const char* wrong = NULL;
  hid_t memory = -1;
  H5Sget_simple_extent_dims(space, size, NULL);
  const bool records = H5Tget_class(type) == H5T_COMPOUND;
  if (rank != (records ? 1 : 2) || size[0] > ROWS_MOST ||
      (!records && size[1] > SALTUSI_FIT_COLUMNS)) {
    wrong = "must have rows of at most 64 columns, or records of numbers";
  } else if (records) {
    memory = compound_of_doubles(type, pool, out);
    wrong = memory < 0 ? "its records must have 1 to 64 members, all of them numbers" : NULL;
  } else {
    out->columns = (int)size[1];
    memory = H5Tcopy(H5T_NATIVE_DOUBLE);
    wrong = read_names(set, pool, out, out->columns)
                ? NULL
                : "needs an attribute columns with a name for each column";
  }
  if (wrong == NULL) {
    out->rows = (long long)size[0];
    out->values = SALTUSI_TAKE(pool, double, out->rows * out->columns + 1);
    wrong =
        out->values != NULL && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->values) >= 0
            ? NULL
            : "cannot be read";
  }
  if (memory >= 0) {
    H5Tclose(memory);
  }
  H5Tclose(type);
  H5Sclose(space);
  return wrong;
}

saltus_status saltusi_fit_table_h5(const char* path, const char* dataset, saltusi_pool* pool,
                                   saltus_log log, saltusi_fit_table* out) {
  assert(path != NULL && dataset != NULL && out != NULL);
  H5E_auto2_t print;
  void* user;
  H5Eget_auto2(H5E_DEFAULT, &print, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = file >= 0 ? H5Dopen2(file, dataset, H5P_DEFAULT) : -1;
  const char* wrong = file < 0  ? "cannot be opened as HDF5"
                      : set < 0 ? "is not there"
                                : read_set(set, pool, out);
  if (set >= 0) {
    H5Dclose(set);
  }
  if (file >= 0) {
    H5Fclose(file);
  }
  H5Eset_auto2(H5E_DEFAULT, print, user);
  if (wrong != NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: dataset %.100s: %s", path, dataset, wrong);
  }
  return wrong == NULL ? SALTUS_OK : file < 0 ? SALTUS_ERR_IO : SALTUS_ERR_INPUT;
}

#else

saltus_status saltusi_fit_table_h5(const char* path, const char* dataset, saltusi_pool* pool,
                                   saltus_log log, saltusi_fit_table* out) {
  assert(path != NULL && dataset != NULL && pool != NULL && out != NULL);
  (void)dataset;
  (void)pool;
  (void)out;
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: built without HDF5; give CSV files", path);
  return SALTUS_ERR_UNSUPPORTED;
}

#endif

/* One file, with the columns of the first. */
static saltus_status append(const char* path, saltus_log log, saltusi_pool* pool,
                            saltusi_fit_table* out, size_t* room) {
  saltus_table* table;
  saltus_status status = saltus_table_read(path, log, NULL, &table);
  if (status != SALTUS_OK) {
    return status;
  }
  const bool first = out->columns == 0;
  if (first && table->columns <= SALTUSI_FIT_COLUMNS) {
    out->columns = table->columns;
    for (int i = 0; i < table->columns; i++) {
      out->names[i] = saltusi_pool_text(pool, table->labels[i].name);
    }
  }
  bool same = table->columns == out->columns;
  for (int i = 0; i < table->columns && same; i++) {
    same = out->names[i] != NULL && strcmp(out->names[i], table->labels[i].name) == 0;
  }
  if (!same) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "%s: has other columns than the first file, or more than %d", path,
                SALTUSI_FIT_COLUMNS);
    status = SALTUS_ERR_INPUT;
  }
  const size_t columns = (size_t)out->columns, old = (size_t)out->rows * columns;
  void* values = out->values;
  if (same && !saltusi_grow(&pool->allocator, &values, room, old + (size_t)table->rows * columns,
                            sizeof(double))) {
    status = SALTUS_ERR_MEMORY;
  }
  out->values = values;
  for (long long r = 0; r < table->rows && status == SALTUS_OK; r++) {
    for (int c = 0; c < out->columns; c++) {
      out->values[old + (size_t)r * columns + (size_t)c] = table->values[c * table->rows + r];
    }
  }
  out->rows += status == SALTUS_OK ? table->rows : 0;
  saltus_table_destroy(table);
  return status;
}

saltus_status saltusi_fit_table_csv(const char* pattern, saltusi_pool* pool, saltus_log log,
                                    saltusi_fit_table* out, long long** starts, int* files) {
  assert(pattern != NULL && out != NULL && starts != NULL && files != NULL);
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: there is no such file", pattern);
    return SALTUS_ERR_IO;
  }
  *out = (saltusi_fit_table){0};
  *files = (int)found.gl_pathc;
  *starts = SALTUSI_TAKE(pool, long long, found.gl_pathc + 1);
  saltus_status status = *starts != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  size_t room = 0;
  for (size_t i = 0; i < found.gl_pathc && status == SALTUS_OK; i++) {
    status = append(found.gl_pathv[i], log, pool, out, &room);
    (*starts)[i + 1] = out->rows;
  }
  globfree(&found);
  double* kept = SALTUSI_TAKE(pool, double, room + 1);
  if (status == SALTUS_OK && kept == NULL) {
    status = SALTUS_ERR_MEMORY;
  }
  if (status == SALTUS_OK) {
    memcpy(kept, out->values, (size_t)out->rows * (size_t)out->columns * sizeof *kept);
  }
  saltusi_release(&pool->allocator, out->values, room, sizeof(double));
  out->values = kept;
  return status;
}
