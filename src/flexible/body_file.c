/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_file.c - reduced bodies in memory and in HDF5 files. docs/flexible.md lists the datasets.
 */
#include "base/log.h"
#include "base/regular.h"
#include "flexible/flexible.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SALTUS_WITH_HDF5
#include <hdf5.h>
#endif

enum {
  MOST_MODES = 2000,
  MOST_FRAMES = 100000,
  MOST_NODES = 3000000,
  MOST_TRIANGLES = 10000000,
  VERSION = 1
};

typedef struct owner {
  saltus_flexible body; /* first */
  saltusi_pool pool;
} owner;

saltus_flexible* saltusi_flexible_make(int modes, int frames, int nodes, int triangles,
                                       bool stiffened) {
  assert(modes >= 0 && frames >= 0 && nodes >= 0 && triangles >= 0);
  saltusi_pool pool = saltusi_pool_over(NULL);
  owner* o = SALTUSI_TAKE(&pool, owner, 1);
  if (o == NULL) {
    return NULL;
  }
  const size_t k = (size_t)modes, f = (size_t)frames, n = (size_t)nodes;
  o->body = (saltus_flexible){.modes = modes,
                              .frames = frames,
                              .nodes = nodes,
                              .triangles = triangles,
                              .residual = SALTUSI_TAKE(&pool, double, 9 * f),
                              .triangle = SALTUSI_TAKE(&pool, int, 3 * (size_t)triangles),
                              .C1 = SALTUSI_TAKE(&pool, double, 9 * k),
                              .C2 = SALTUSI_TAKE(&pool, double, 9 * k * k),
                              .omega = SALTUSI_TAKE(&pool, double, k),
                              .zeta = SALTUSI_TAKE(&pool, double, k),
                              .stiffen = stiffened ? SALTUSI_TAKE(&pool, double, k* k) : NULL,
                              .effective = SALTUSI_TAKE(&pool, double, 6 * k),
                              .frame = SALTUSI_TAKE(&pool, saltus_flexible_frame, f),
                              .phi = SALTUSI_TAKE(&pool, double, 3 * f * k),
                              .psi = SALTUSI_TAKE(&pool, double, 3 * f * k),
                              .node = SALTUSI_TAKE(&pool, double, 3 * n),
                              .shape = SALTUSI_TAKE(&pool, double, 3 * n * k)};
  if (pool.failed) {
    saltusi_pool_free(&pool);
    return NULL;
  }
  o->pool = pool;
  return &o->body;
}

void saltus_flexible_destroy(saltus_flexible* body) {
  if (body != NULL) {
    saltusi_pool pool = ((owner*)(void*)body)->pool;
    saltusi_pool_free(&pool);
  }
}

#if SALTUS_WITH_HDF5

/* A dataset of doubles: its name, its place and how many. */
typedef struct dataset {
  const char* name;
  double* values;
  hsize_t size[3];
  int rank;
} dataset;

enum { DATASETS = 12 };

static int list(const saltus_flexible* b, double frames[], dataset out[DATASETS]) {
  const hsize_t k = (hsize_t)b->modes, f = (hsize_t)b->frames, n = (hsize_t)b->nodes;
#define AT(pointer) ((double*)(uintptr_t)(pointer))
  const dataset all[DATASETS] = {
      {"mass", AT(&b->mass), {1}, 1},
      {"centre", AT(b->centre), {3}, 1},
      {"C0", AT(b->C0), {3, 3}, 2},
      {"C1", AT(b->C1), {k, 9}, 2},
      {"C2", AT(b->C2), {k, k, 9}, 3},
      {"omega", AT(b->omega), {k}, 1},
      {"zeta", AT(b->zeta), {k}, 1},
      {"effective_mass", AT(b->effective), {k, 6}, 2},
      {"frame_data", frames, {f, 4}, 2},
      {"frame_displacement", AT(b->phi), {f, 3, k}, 3},
      {"frame_rotation", AT(b->psi), {f, 3, k}, 3},
      {"nodes", AT(b->node), {n, 3}, 2},
  };
  memcpy(out, all, sizeof all);
  return DATASETS;
}

static bool write_values(hid_t file, const char* name, int rank, const hsize_t* size, hid_t type,
                         const void* values) {
  const hid_t space = H5Screate_simple(rank, size, NULL);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t count = 1;
  for (int i = 0; i < rank; i++) {
    count *= size[i];
  }
  const bool done =
      set >= 0 && (count == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  if (set >= 0) {
    H5Dclose(set);
  }
  H5Sclose(space);
  return done;
}

/* Sizes have to agree. */
static bool read_values(hid_t file, const char* name, int rank, const hsize_t* size, hid_t type,
                        void* values) {
  const hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
  if (set < 0) {
    return false;
  }
  const hid_t space = H5Dget_space(set);
  hsize_t found[H5S_MAX_RANK] = {0}, count = 1;
  bool same = H5Sget_simple_extent_ndims(space) == rank &&
              H5Sget_simple_extent_dims(space, found, NULL) == rank;
  for (int i = 0; i < rank && same; i++) {
    same = found[i] == size[i];
    count *= size[i];
  }
  same = same && (count == 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  return same;
}

saltus_status saltus_flexible_save(const saltus_flexible* body, const char* path, saltus_log log) {
  assert(body != NULL && path != NULL);
  dataset sets[DATASETS];
  double* frames = calloc(4 * (size_t)body->frames + 1, sizeof *frames);
  char* names = calloc(64 * (size_t)body->frames + 1, 1);
  float* shape = calloc(3 * (size_t)body->nodes * (size_t)body->modes + 1, sizeof *shape);
  if (frames == NULL || names == NULL || shape == NULL) {
    free(frames);
    free(names);
    free(shape);
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < body->frames; i++) {
    memcpy(frames + 4 * (ptrdiff_t)i, body->frame[i].s, 3 * sizeof *frames);
    frames[4 * i + 3] = body->frame[i].turns;
    memcpy(names + 64 * (ptrdiff_t)i, body->frame[i].name, 64);
  }
  for (ptrdiff_t i = 0; i < (ptrdiff_t)3 * body->nodes * body->modes; i++) {
    shape[i] = (float)body->shape[i];
  }
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const int head[5] = {VERSION, body->modes, body->frames, body->nodes, body->stiffen != NULL};
  const hsize_t five = 5, k = (hsize_t)body->modes, letters[2] = {(hsize_t)body->frames, 64};
  const hsize_t shapes[3] = {(hsize_t)body->nodes, 3, k}, square[2] = {k, k}, three = 3;
  bool done = file >= 0 && write_values(file, "saltus_flexible", 1, &five, H5T_NATIVE_INT, head);
  for (int i = 0; i < list(body, frames, sets) && done; i++) {
    done = write_values(file, sets[i].name, sets[i].rank, sets[i].size, H5T_NATIVE_DOUBLE,
                        sets[i].values);
  }
  done = done && write_values(file, "frame_names", 2, letters, H5T_NATIVE_CHAR, names) &&
         write_values(file, "shapes", 3, shapes, H5T_NATIVE_FLOAT, shape);
  if (done && body->stiffen != NULL) {
    done = write_values(file, "stiffening", 2, square, H5T_NATIVE_DOUBLE, body->stiffen) &&
           write_values(file, "stiffening_axis", 1, &three, H5T_NATIVE_DOUBLE, body->axis);
  }
  const hsize_t corners[2] = {(hsize_t)body->triangles, 3};
  const hsize_t nine[2] = {(hsize_t)body->frames, 9};
  done = done && (body->residual == NULL || write_values(file, "residual_flexibility", 2, nine,
                                                         H5T_NATIVE_DOUBLE, body->residual));
  if (done && body->triangles > 0) {
    done = write_values(file, "triangles", 2, corners, H5T_NATIVE_INT, body->triangle);
  }
  done = file >= 0 && H5Fclose(file) >= 0 && done;
  free(frames);
  free(names);
  free(shape);
  if (!done) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: could not be written", path);
  }
  return done ? SALTUS_OK : SALTUS_ERR_IO;
}

static bool all_finite(const double* x, ptrdiff_t count) {
  ptrdiff_t i = 0;
  while (i < count && isfinite(x[i])) {
    i++;
  }
  return i == count;
}

/* Whether the sizes of a body are in range. */
static bool sound(const saltus_flexible* b, const double* frames) {
  const ptrdiff_t k = b->modes, f = b->frames, n = b->nodes;
  bool good = b->mass > 0.0 && isfinite(b->mass) && all_finite(b->centre, 3) &&
              all_finite(b->C0, 9) && all_finite(b->C1, 9 * k) && all_finite(b->C2, 9 * k * k) &&
              all_finite(b->omega, k) && all_finite(b->effective, 6 * k) &&
              all_finite(frames, 4 * f) && all_finite(b->phi, 3 * f * k) &&
              all_finite(b->psi, 3 * f * k) && all_finite(b->node, 3 * n) &&
              all_finite(b->shape, 3 * n * k) && all_finite(b->residual, 9 * f) &&
              all_finite(b->axis, 3) && (b->stiffen == NULL || all_finite(b->stiffen, k * k));
  for (int i = 0; i < 3 * b->triangles; i++) {
    good = good && b->triangle[i] >= 0 && b->triangle[i] < b->nodes;
  }
  for (int i = 0; i < b->modes; i++) {
    good = good && b->omega[i] > 0.0 && b->zeta[i] >= 0.0 && b->zeta[i] <= 10.0;
  }
  return good;
}

/* Rows of the dataset of triangles; 0: none, -1: too many. */
static int count_triangles(hid_t file) {
  const hid_t set =
      H5Lexists(file, "triangles", H5P_DEFAULT) > 0 ? H5Dopen2(file, "triangles", H5P_DEFAULT) : -1;
  if (set < 0) {
    return 0;
  }
  const hid_t space = H5Dget_space(set);
  hsize_t found[H5S_MAX_RANK] = {0};
  const int rank = H5Sget_simple_extent_ndims(space);
  H5Sget_simple_extent_dims(space, found, NULL);
  H5Sclose(space);
  H5Dclose(set);
  return rank == 2 && found[0] <= MOST_TRIANGLES ? (int)found[0] : -1;
}

static saltus_flexible* read_body(hid_t file) {
  int head[5] = {0};
  const hsize_t five = 5;
  if (!read_values(file, "saltus_flexible", 1, &five, H5T_NATIVE_INT, head) || head[0] != VERSION ||
      head[1] < 0 || head[1] > MOST_MODES || head[2] < 0 || head[2] > MOST_FRAMES || head[3] < 0 ||
      head[3] > MOST_NODES) {
    return NULL;
  }
  const int triangles = count_triangles(file);
  saltus_flexible* b =
      triangles >= 0 ? saltusi_flexible_make(head[1], head[2], head[3], triangles, head[4] != 0)
                     : NULL;
  double* frames = calloc(4 * (size_t)head[2] + 1, sizeof *frames);
  char* names = calloc(64 * (size_t)head[2] + 1, 1);
  bool done = b != NULL && frames != NULL && names != NULL;
  dataset sets[DATASETS];
  const hsize_t k = (hsize_t)head[1], letters[2] = {(hsize_t)head[2], 64}, square[2] = {k, k};
  const hsize_t shapes[3] = {(hsize_t)head[3], 3, k}, three = 3;
  for (int i = 0; done && i < list(b, frames, sets); i++) {
    done = read_values(file, sets[i].name, sets[i].rank, sets[i].size, H5T_NATIVE_DOUBLE,
                       sets[i].values);
  }
  done = done && read_values(file, "frame_names", 2, letters, H5T_NATIVE_CHAR, names) &&
         read_values(file, "shapes", 3, shapes, H5T_NATIVE_DOUBLE, (double*)(uintptr_t)b->shape);
  if (done && b->stiffen != NULL) {
    done = read_values(file, "stiffening", 2, square, H5T_NATIVE_DOUBLE,
                       (double*)(uintptr_t)b->stiffen) &&
           read_values(file, "stiffening_axis", 1, &three, H5T_NATIVE_DOUBLE, b->axis);
  }
  if (done && H5Lexists(file, "residual_flexibility", H5P_DEFAULT) > 0) {
    const hsize_t nine[2] = {(hsize_t)head[2], 9};
    done = read_values(file, "residual_flexibility", 2, nine, H5T_NATIVE_DOUBLE,
                       (double*)(uintptr_t)b->residual);
  }
  if (done && triangles > 0) {
    const hsize_t corners[2] = {(hsize_t)triangles, 3};
    done = read_values(file, "triangles", 2, corners, H5T_NATIVE_INT, (int*)(uintptr_t)b->triangle);
  }
  for (int i = 0; done && i < b->frames; i++) {
    saltus_flexible_frame* frame = (saltus_flexible_frame*)(uintptr_t)&b->frame[i];
    memcpy(frame->s, frames + 4 * (ptrdiff_t)i, sizeof frame->s);
    frame->turns = frames[4 * i + 3] != 0.0;
    memcpy(frame->name, names + 64 * (ptrdiff_t)i, 63);
  }
  done = done && sound(b, frames);
  free(frames);
  free(names);
  if (!done) {
    saltus_flexible_destroy(b);
    return NULL;
  }
  return b;
}

saltus_status saltus_flexible_load(const char* path, saltus_log log, saltus_flexible** out) {
  assert(path != NULL && out != NULL);
  *out = NULL;
  FILE* probe = saltusi_regular_stream(path); /* HDF5 would wait for the writer of a pipe */
  if (probe == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s", path, saltusi_regular_reason(errno));
    return SALTUS_ERR_IO;
  }
  fclose(probe);
  H5E_auto2_t print;
  void* user;
  H5Eget_auto2(H5E_DEFAULT, &print, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  *out = file >= 0 ? read_body(file) : NULL;
  if (file >= 0) {
    H5Fclose(file);
  }
  H5Eset_auto2(H5E_DEFAULT, print, user);
  if (*out == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s", path,
                file < 0 ? "cannot be opened as HDF5"
                         : "not a reduced body of saltus reduce, or damaged");
    return file < 0 ? SALTUS_ERR_IO : SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

#else

saltus_status saltus_flexible_save(const saltus_flexible* body, const char* path, saltus_log log) {
  assert(body != NULL && path != NULL);
  (void)body; /* in builds without assertions */
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: this build has no HDF5", path);
  return SALTUS_ERR_UNSUPPORTED;
}

saltus_status saltus_flexible_load(const char* path, saltus_log log, saltus_flexible** out) {
  assert(path != NULL && out != NULL);
  *out = NULL;
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: this build has no HDF5", path);
  return SALTUS_ERR_UNSUPPORTED;
}

#endif
