/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fclib_write.c - FCLIB problems; matrices as compressed rows (nz = -2), as other programs do.
 */
#include "base/log.h"
#include "io/h5.h"
#include "io/problem/formats.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef struct fclib_writer {
  hid_t file;
  bool good;
} fclib_writer;

static void add_group(fclib_writer* out, const char* place) {
  hid_t group =
      out->good ? H5Gcreate2(out->file, place, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
  out->good = group >= 0;
  if (group >= 0) {
    H5Gclose(group);
  }
}

static void add_items(fclib_writer* out, const char* place, bool whole, int count,
                      const void* items) {
  if (!out->good) {
    return;
  }
  hsize_t size = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t dataset = H5Dcreate2(out->file, place, whole ? H5T_STD_I32LE : H5T_IEEE_F64LE, space,
                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  out->good =
      dataset >= 0 && (count == 0 || H5Dwrite(dataset, whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE,
                                              H5S_ALL, H5S_ALL, H5P_DEFAULT, items) >= 0);
  if (dataset >= 0) {
    out->good = H5Dclose(dataset) >= 0 && out->good;
  }
  if (space >= 0) {
    H5Sclose(space);
  }
}

static void add_int(fclib_writer* out, const char* place, int value) {
  add_items(out, place, true, 1, &value);
}

static void add_matrix(fclib_writer* out, const char* group, const saltus_csr* A) {
  char place[64];
  add_group(out, group);
  const struct {
    const char* name;
    int value;
  } numbers[] = {{"m", A->rows}, {"n", A->columns}, {"nz", -2}, {"nzmax", A->start[A->rows]}};
  for (int k = 0; k < 4; k++) {
    snprintf(place, sizeof place, "%s/%s", group, numbers[k].name);
    add_int(out, place, numbers[k].value);
  }
  snprintf(place, sizeof place, "%s/p", group);
  add_items(out, place, true, A->rows + 1, A->start);
  snprintf(place, sizeof place, "%s/i", group);
  add_items(out, place, true, A->start[A->rows], A->column);
  snprintf(place, sizeof place, "%s/x", group);
  add_items(out, place, false, A->start[A->rows], A->values);
}

/* Rows of blocks as rows of numbers. */
static saltus_status rows_of(const saltus_block_matrix* W, saltusi_pool* pool, saltus_csr* out) {
  int rows = W->offset[W->units];
  int count = W->place[W->start[W->units]];
  int* start = SALTUSI_TAKE(pool, int, (size_t)rows + 1);
  int* column = SALTUSI_TAKE(pool, int, count);
  double* values = SALTUSI_TAKE(pool, double, count);
  if (start == NULL || column == NULL || values == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  int filled = 0;
  for (int R = 0; R < W->units; R++) {
    for (int i = W->offset[R]; i < W->offset[R + 1]; i++) {
      for (int k = W->start[R]; k < W->start[R + 1]; k++) {
        int first = W->offset[W->unit[k]];
        int width = W->offset[W->unit[k] + 1] - first;
        for (int j = 0; j < width; j++) {
          column[filled] = first + j;
          values[filled++] = W->values[W->place[k] + (i - W->offset[R]) * width + j];
        }
      }
      start[i + 1] = filled;
    }
  }
  *out = (saltus_csr){rows, rows, start, column, values};
  return SALTUS_OK;
}

static saltus_status start(const char* path, saltus_log log, fclib_writer* out) {
  out->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  out->good = out->file >= 0;
  if (!out->good) {
    char text[SALTUSI_H5_TEXT];
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be written: %s", path,
                saltusi_h5_reason(text));
    return SALTUS_ERR_IO;
  }
  return SALTUS_OK;
}

static saltus_status finish(const char* path, saltus_log log, fclib_writer* out) {
  char text[SALTUSI_H5_TEXT] = "the file could not be closed";
  if (!out->good) {
    saltusi_h5_reason(text);
  }
  bool closed = H5Fclose(out->file) >= 0;
  if (out->good && closed) {
    return SALTUS_OK;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be written: %s", path, text);
  remove(path);
  return SALTUS_ERR_IO;
}

static void put_friction(fclib_writer* out, int dimension, const saltus_friction_problem* problem,
                         const saltus_csr* W) {
  add_group(out, "/fclib_local");
  add_int(out, "/fclib_local/spacedim", dimension);
  add_matrix(out, "/fclib_local/W", W);
  add_group(out, "/fclib_local/vectors");
  add_items(out, "/fclib_local/vectors/q", false, W->rows, problem->q);
  add_items(out, "/fclib_local/vectors/mu", false, problem->W.units, problem->mu);
}

saltus_status saltusi_fclib_write_friction(const char* path, int dimension,
                                           const saltus_friction_problem* problem, saltus_log log) {
  assert(problem != NULL);
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_csr W = {0};
  saltus_status status = rows_of(&problem->W, &pool, &W);
  saltusi_h5_voice voice = saltusi_h5_hush();
  fclib_writer out;
  if (status == SALTUS_OK) {
    status = start(path, log, &out);
  }
  if (status == SALTUS_OK) {
    put_friction(&out, dimension, problem, &W);
    status = finish(path, log, &out);
  }
  saltusi_h5_unhush(voice);
  saltusi_pool_free(&pool);
  return status;
}

saltus_status saltusi_fclib_write_global(const char* path,
                                         const saltus_global_friction_problem* problem,
                                         saltus_log log) {
  assert(problem != NULL);
  saltusi_h5_voice voice = saltusi_h5_hush();
  fclib_writer out;
  saltus_status status = start(path, log, &out);
  if (status == SALTUS_OK) {
    add_group(&out, "/fclib_global");
    add_int(&out, "/fclib_global/spacedim", problem->dimension);
    add_matrix(&out, "/fclib_global/M", &problem->M);
    add_matrix(&out, "/fclib_global/H", &problem->H);
    add_group(&out, "/fclib_global/vectors");
    add_items(&out, "/fclib_global/vectors/f", false, problem->M.rows, problem->f);
    add_items(&out, "/fclib_global/vectors/w", false, problem->H.columns, problem->w);
    add_items(&out, "/fclib_global/vectors/mu", false, problem->H.columns / problem->dimension,
              problem->mu);
    status = finish(path, log, &out);
  }
  saltusi_h5_unhush(voice);
  return status;
}
