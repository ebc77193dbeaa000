/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fclib_read.c - FCLIB problems (Acary et al., INRIA report 0444, 2014). The file has one of the groups fclib_local
 * and fclib_global; a matrix is a group with m, n, nz, nzmax, p, i, x, where nz gives the storage:
 *
 *   nz >= 0   entries: row i, column p      nz = -1   columns: p [n + 1]      nz = -2   rows: p [m + 1]
 *
 * The file is untrusted: types, ranks and sizes are checked before memory is allocated.
 */
#include "base/log.h"
#include "io/h5.h"
#include "io/problem/formats.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACE = 64 };

typedef struct fclib_reader {
  const char* path;
  saltus_log log;
  hid_t file;
  saltusi_contact_problem* into;
  saltusi_pool scratch;
} fclib_reader;

static saltus_status refuse(const fclib_reader* in, const char* place, const char* why) {
  saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: not an FCLIB problem that can be read: %s: %s",
              in->path, place, why);
  return SALTUS_ERR_INPUT;
}

/* Every group of the path has to exist: HDF5 fails for paths with missing groups. */
static bool exists(const fclib_reader* in, const char* place) {
  char part[PLACE];
  for (const char* at = strchr(place + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", (int)(at - place), place);
    if (H5Lexists(in->file, part, H5P_DEFAULT) <= 0) {
      return false;
    }
  }
  return H5Lexists(in->file, place, H5P_DEFAULT) > 0;
}

/* Checks type and rank of an opened dataset; *count is the number of items found. */
static const char* fault_of(hid_t dataset, H5T_class_t wanted, size_t* count) {
  hid_t type = H5Dget_type(dataset);
  hid_t space = H5Dget_space(dataset);
  size_t item = type >= 0 ? H5Tget_size(type) : 0;
  H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  if (space >= 0) {
    H5Sclose(space);
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  if (class != wanted || item == 0 || item > sizeof(long long)) {
    return wanted == H5T_INTEGER ? "does not hold whole numbers" : "does not hold numbers";
  }
  if (rank < 0 || rank > 1 || points < 0 || points >= INT_MAX) {
    return "has the wrong rank or size";
  }
  /* deflate packs at most 1032 bytes to one */
  if ((unsigned long long)points > H5Dget_storage_size(dataset) / item * 1032ULL) {
    return "claims more data than the file holds";
  }
  *count = (size_t)points;
  return NULL;
}

/* All items of a dataset, in the pool; *count is their number. */
static saltus_status read_items(const fclib_reader* in, const char* place, bool whole,
                                saltusi_pool* pool, size_t* count, void** out) {
  if (!exists(in, place)) {
    return refuse(in, place, "is missing");
  }
  hid_t dataset = H5Dopen2(in->file, place, H5P_DEFAULT);
  if (dataset < 0) {
    return refuse(in, place, "is not a dataset");
  }
  saltus_status status = SALTUS_OK;
  const char* fault = fault_of(dataset, whole ? H5T_INTEGER : H5T_FLOAT, count);
  if (fault != NULL) {
    status = refuse(in, place, fault);
  } else {
    *out = saltusi_pool_take(pool, *count, whole ? sizeof(int) : sizeof(double));
    if (*out == NULL) {
      status = SALTUS_ERR_MEMORY;
    } else if (*count > 0 && H5Dread(dataset, whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE, H5S_ALL,
                                     H5S_ALL, H5P_DEFAULT, *out) < 0) {
      status = refuse(in, place, "cannot be read, the file is damaged");
    }
  }
  H5Dclose(dataset);
  return status;
}

static saltus_status read_int(const fclib_reader* in, const char* place, int lo, int* value) {
  size_t count;
  void* items;
  saltusi_pool one = saltusi_pool_over(&in->scratch.allocator);
  saltus_status status = read_items(in, place, true, &one, &count, &items);
  if (status == SALTUS_OK) {
    *value = count == 1 ? *(const int*)items : INT_MIN;
    if (*value < lo || *value >= INT_MAX / 16) {
      status = refuse(in, place, "is not one number in the allowed range");
    }
  }
  saltusi_pool_free(&one);
  return status;
}

static saltus_status read_vector(const fclib_reader* in, const char* place, int wanted,
                                 const double** out) {
  size_t count;
  void* items;
  saltus_status status = read_items(in, place, false, &in->into->pool, &count, &items);
  if (status != SALTUS_OK) {
    return status;
  }
  if (count != (size_t)wanted) {
    return refuse(in, place, "has the wrong length");
  }
  const double* x = items;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) {
      return refuse(in, place, "holds a number that is not finite");
    }
  }
  *out = x;
  return SALTUS_OK;
}

static saltus_status read_friction_coefficients(const fclib_reader* in, const char* place,
                                                int count, const double** out) {
  saltus_status status = read_vector(in, place, count, out);
  for (int i = 0; status == SALTUS_OK && i < count; i++) {
    if ((*out)[i] < 0.0) {
      status = refuse(in, place, "holds a negative friction coefficient");
    }
  }
  return status;
}

typedef struct stored {
  int rows, columns, nz;
  size_t p_count, i_count, x_count;
  int *p, *i;
  double* x;
} stored;

/* Entries of compressed lines (rows or columns) whose starts are s->p. */
static bool add_lines(const stored* s, bool by_rows, saltusi_matrix_entries* e) {
  int lines = by_rows ? s->rows : s->columns;
  int across = by_rows ? s->columns : s->rows;
  if (s->p_count != (size_t)lines + 1 || s->p[0] != 0 || s->p[lines] < 0 ||
      (size_t)s->p[lines] > s->i_count) {
    return false;
  }
  for (int l = 0; l < lines; l++) {
    if (s->p[l + 1] < s->p[l] || s->p[l + 1] > s->p[lines]) {
      return false;
    }
    for (int k = s->p[l]; k < s->p[l + 1]; k++) {
      if (s->i[k] < 0 || s->i[k] >= across) {
        return false;
      }
      saltusi_entries_add(e, by_rows ? l : s->i[k], by_rows ? s->i[k] : l, s->x[k]);
    }
  }
  return true;
}

static bool add_triplets(const stored* s, saltusi_matrix_entries* e) {
  if (s->p_count < (size_t)s->nz || s->i_count < (size_t)s->nz) {
    return false;
  }
  for (int k = 0; k < s->nz; k++) {
    if (s->i[k] < 0 || s->i[k] >= s->rows || s->p[k] < 0 || s->p[k] >= s->columns) {
      return false;
    }
    saltusi_entries_add(e, s->i[k], s->p[k], s->x[k]);
  }
  return true;
}

static saltus_status read_arrays(fclib_reader* in, const char* group, stored* s) {
  static const char* const names[] = {"m", "n", "nz"};
  int* const numbers[] = {&s->rows, &s->columns, &s->nz};
  const int least[] = {0, 0, -2};
  char place[PLACE];
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < 3 && status == SALTUS_OK; k++) {
    snprintf(place, sizeof place, "%s/%s", group, names[k]);
    status = read_int(in, place, least[k], numbers[k]);
  }
  static const char* const arrays[] = {"p", "i", "x"};
  size_t* const counts[] = {&s->p_count, &s->i_count, &s->x_count};
  void* items[3] = {NULL, NULL, NULL};
  for (int k = 0; k < 3 && status == SALTUS_OK; k++) {
    snprintf(place, sizeof place, "%s/%s", group, arrays[k]);
    status = read_items(in, place, k < 2, &in->scratch, counts[k], &items[k]);
  }
  s->p = items[0];
  s->i = items[1];
  s->x = items[2];
  return status;
}

static saltus_status read_matrix(fclib_reader* in, const char* group, saltus_csr* out) {
  stored s = {0};
  saltus_status status = read_arrays(in, group, &s);
  if (status != SALTUS_OK) {
    return status;
  }
  if (s.x_count != s.i_count) {
    return refuse(in, group, "i and x have different lengths");
  }
  for (size_t k = 0; k < s.x_count; k++) {
    if (!isfinite(s.x[k])) {
      return refuse(in, group, "x holds a number that is not finite");
    }
  }
  saltusi_matrix_entries e = {.rows = s.rows, .columns = s.columns};
  if (!saltusi_entries_workspace(&e, s.x_count, &in->scratch)) {
    return SALTUS_ERR_MEMORY;
  }
  bool good = s.nz >= 0 ? add_triplets(&s, &e) : add_lines(&s, s.nz == -2, &e);
  if (!good) {
    return refuse(in, group, "p or i has the wrong length or points outside of the matrix");
  }
  return saltusi_entries_csr(&e, &in->into->pool, out);
}

/* An empty matrix may have any declared size: it is checked against the vectors first. */
static saltus_status check_rows(const fclib_reader* in, const char* place, const char* vector) {
  int rows = 0;
  size_t count = 0;
  void* items;
  saltusi_pool one = saltusi_pool_over(&in->scratch.allocator);
  saltus_status status = read_int(in, place, 0, &rows);
  if (status == SALTUS_OK) {
    status = read_items(in, vector, false, &one, &count, &items);
  }
  if (status == SALTUS_OK && count != (size_t)rows) {
    status = refuse(in, place, "does not fit the length of the vectors");
  }
  saltusi_pool_free(&one);
  return status;
}

static saltus_status read_dimension(fclib_reader* in, const char* place) {
  int d = 0;
  saltus_status status = read_int(in, place, 0, &d);
  if (status == SALTUS_OK && d != 2 && d != 3) {
    status = refuse(in, place, "is not 2 or 3");
  }
  in->into->file.dimension = d;
  return status;
}

static saltus_status read_local(fclib_reader* in) {
  saltus_problem_file* file = &in->into->file;
  if (exists(in, "/fclib_local/V") || exists(in, "/fclib_local/R")) {
    refuse(in, "/fclib_local", "equality multipliers (V, R) are not supported");
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltus_csr W = {0};
  saltus_status status = read_dimension(in, "/fclib_local/spacedim");
  if (status == SALTUS_OK) {
    status = check_rows(in, "/fclib_local/W/m", "/fclib_local/vectors/q");
  }
  if (status == SALTUS_OK) {
    status = check_rows(in, "/fclib_local/W/n", "/fclib_local/vectors/q");
  }
  if (status == SALTUS_OK) {
    status = read_matrix(in, "/fclib_local/W", &W);
  }
  if (status == SALTUS_OK && W.rows % file->dimension != 0) {
    status = refuse(in, "/fclib_local/W", "rows are not a multiple of the dimension");
  }
  if (status == SALTUS_OK) {
    status = read_vector(in, "/fclib_local/vectors/q", W.rows, &file->friction.q);
  }
  if (status == SALTUS_OK) {
    status = read_friction_coefficients(in, "/fclib_local/vectors/mu", W.rows / file->dimension,
                                        &file->friction.mu);
  }
  if (status == SALTUS_OK) {
    status = saltusi_contact_problem_set_friction(in->into, file->dimension, &W);
  }
  return status;
}

static saltus_status read_global_matrices(fclib_reader* in) {
  saltus_global_friction_problem* p = &in->into->file.global;
  saltus_status status = check_rows(in, "/fclib_global/M/m", "/fclib_global/vectors/f");
  if (status == SALTUS_OK) {
    status = check_rows(in, "/fclib_global/M/n", "/fclib_global/vectors/f");
  }
  if (status == SALTUS_OK) {
    status = check_rows(in, "/fclib_global/H/m", "/fclib_global/vectors/f");
  }
  if (status == SALTUS_OK) {
    status = check_rows(in, "/fclib_global/H/n", "/fclib_global/vectors/w");
  }
  if (status == SALTUS_OK) {
    status = read_matrix(in, "/fclib_global/M", &p->M);
  }
  if (status == SALTUS_OK) {
    status = read_matrix(in, "/fclib_global/H", &p->H);
  }
  if (status == SALTUS_OK && p->H.columns % p->dimension != 0) {
    status = refuse(in, "/fclib_global/H", "columns are not a multiple of the dimension");
  }
  return status;
}

static saltus_status read_global(fclib_reader* in) {
  saltus_problem_file* file = &in->into->file;
  saltus_global_friction_problem* p = &file->global;
  if (exists(in, "/fclib_global/G")) {
    refuse(in, "/fclib_global/G", "equality multipliers are not supported");
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltus_status status = read_dimension(in, "/fclib_global/spacedim");
  file->kind = SALTUS_PROBLEM_GLOBAL_FRICTION;
  p->dimension = file->dimension;
  if (status == SALTUS_OK) {
    status = read_global_matrices(in);
  }
  if (status == SALTUS_OK) {
    status = read_vector(in, "/fclib_global/vectors/f", p->M.rows, &p->f);
  }
  if (status == SALTUS_OK) {
    status = read_vector(in, "/fclib_global/vectors/w", p->H.columns, &p->w);
  }
  if (status == SALTUS_OK) {
    status = read_friction_coefficients(in, "/fclib_global/vectors/mu", p->H.columns / p->dimension,
                                        &p->mu);
  }
  return status;
}

static saltus_status read_all(fclib_reader* in) {
  saltus_problem_file* file = &in->into->file;
  saltus_status status = SALTUS_ERR_INPUT;
  if (exists(in, "/fclib_local")) {
    status = read_local(in);
  } else if (exists(in, "/fclib_global")) {
    status = read_global(in);
  } else if (exists(in, "/fclib_global_rolling")) {
    refuse(in, "/fclib_global_rolling", "rolling friction is not supported");
    status = SALTUS_ERR_UNSUPPORTED;
  } else {
    return refuse(in, "/", "there is neither fclib_local nor fclib_global");
  }
  if (status == SALTUS_OK && exists(in, "/guesses/1/r")) {
    int rows = file->kind == SALTUS_PROBLEM_FRICTION
                   ? file->friction.W.offset[file->friction.W.units]
                   : file->global.H.columns;
    status = read_vector(in, "/guesses/1/r", rows, &file->guess);
  }
  return status;
}

saltus_status saltusi_fclib_read(const char* path, saltus_log log, saltusi_contact_problem* into) {
  assert(into != NULL);
  saltusi_h5_voice voice = saltusi_h5_hush();
  fclib_reader in = {.path = path,
                     .log = log,
                     .file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
                     .into = into,
                     .scratch = saltusi_pool_over(&into->pool.allocator)};
  saltus_status status = SALTUS_ERR_INPUT;
  if (in.file >= 0) {
    status = read_all(&in);
    H5Fclose(in.file);
  } else {
    char text[SALTUSI_H5_TEXT];
    refuse(&in, "HDF5", saltusi_h5_reason(text));
  }
  saltusi_pool_free(&in.scratch);
  saltusi_h5_unhush(voice);
  return status;
}
