/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recordings_h5.c - recordings in HDF5 whose datasets and attributes are removed or made again, with another size, rank,
 * type or other values, by the HDF5 library itself: the file stays valid.
 */
#include "recordings_h5.h"

#include "fuzz.h"

#ifdef SALTUS_FUZZ_HDF5
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 128, LONGEST = 96, RANKS = 4 };

typedef struct names {
  char name[NAMES][LONGEST];
  size_t count;
} names;

static herr_t add_link(hid_t group, const char* name, const H5L_info_t* info, void* user) {
  (void)group, (void)info;
  names* all = user;
  if (all->count < NAMES && strlen(name) < LONGEST) {
    strcpy(all->name[all->count++], name);
  }
  return 0;
}

static herr_t add_attribute(hid_t object, const char* name, const H5A_info_t* info, void* user) {
  (void)object, (void)info;
  names* all = user;
  if (all->count < NAMES && strlen(name) < LONGEST) {
    strcpy(all->name[all->count++], name);
  }
  return 0;
}

static hid_t other_type(uint64_t* state) {
  const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_I8LE,
                         H5T_STD_I64LE,  H5T_STD_U64LE,  H5T_STD_I32BE};
  return types[fuzz_pick(state, sizeof types / sizeof types[0])];
}

static double other_value(uint64_t* state) {
  static const double values[] = {NAN,    INFINITY, -INFINITY, 1e308, -1e308, 0.0,   -0.0,
                                  -1.0,   1e-308,   1e300,     0.5,   3.0,    1e9,   -1e9,
                                  5e-324, 1.0,      2.0,       1e-3,  1e18,   -1e18, 7.0};
  return values[fuzz_pick(state, sizeof values / sizeof values[0])];
}

/* Values of the dataset in place, of numbers only. */
static void change_values(hid_t dataset, uint64_t* state) {
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const H5T_class_t class = H5Tget_class(type);
  if (count > 0 && count < 100000 && (class == H5T_FLOAT || class == H5T_INTEGER)) {
    double* values = malloc((size_t)count * sizeof *values);
    if (values != NULL &&
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
      for (size_t i = 1 + fuzz_pick(state, 3); i > 0; i--) {
        values[fuzz_pick(state, (size_t)count)] = other_value(state);
      }
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    free(values);
  }
  H5Sclose(space);
  H5Tclose(type);
}

/* Another dataset under its name: without values, of another size, rank or type. */
static void make_again(hid_t file, const char* name, hid_t dataset, uint64_t* state) {
  const hid_t own_type = H5Dget_type(dataset), old = H5Dget_space(dataset);
  hsize_t size[RANKS + 1] = {1, 1, 1, 1, 1};
  int rank = H5Sget_simple_extent_ndims(old);
  if (rank >= 0 && rank < RANKS) {
    H5Sget_simple_extent_dims(old, size, NULL);
    const size_t way = fuzz_pick(state, 5);
    if (way == 0) {
      size[rank > 0 ? fuzz_pick(state, (size_t)rank) : 0] = fuzz_pick(state, 40);
    } else if (way == 1) {
      rank += rank < RANKS ? 1 : 0;
    } else if (way == 2) {
      rank -= rank > 0 ? 1 : 0;
    }
    const hid_t space = H5Screate_simple(rank, size, NULL);
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t made = H5Dcreate2(file, name, way > 2 ? other_type(state) : own_type, space,
                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (made >= 0) {
      H5Dclose(made);
    }
    H5Sclose(space);
  }
  H5Sclose(old);
  H5Tclose(own_type);
}

static void change_dataset(hid_t file, uint64_t* state) {
  names all = {.count = 0};
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, add_link, &all);
  if (all.count == 0) {
    return;
  }
  const char* name = all.name[fuzz_pick(state, all.count)];
  const size_t way = fuzz_pick(state, 10);
  const hid_t dataset = way < 1 ? -1 : H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) {
    H5Ldelete(file, name, H5P_DEFAULT);
    return;
  }
  if (way < 6) {
    change_values(dataset, state);
  } else if (way < 8) {
    hsize_t size[RANKS] = {fuzz_pick(state, 60), 1, 1, 1};
    hsize_t now[RANKS] = {0};
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank > 0 && rank <= RANKS) {
      H5Sget_simple_extent_dims(space, now, NULL);
      memcpy(size + 1, now + 1, sizeof size - sizeof size[0]);
      H5Dset_extent(dataset, size);
    }
    H5Sclose(space);
  } else {
    make_again(file, name, dataset, state);
  }
  H5Dclose(dataset);
}

static void change_attribute(hid_t file, uint64_t* state) {
  names all = {.count = 0};
  names objects = {.count = 1}; /* the file itself is the first, without a name */
  if (fuzz_chance(state, 40)) {
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, add_link, &objects);
  }
  const size_t chosen = fuzz_pick(state, objects.count);
  const hid_t object = H5Oopen(file, chosen == 0 ? "/" : objects.name[chosen], H5P_DEFAULT);
  if (object < 0) {
    return;
  }
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, &all);
  if (all.count > 0) {
    const char* name = all.name[fuzz_pick(state, all.count)];
    H5Adelete(object, name);
    const size_t way = fuzz_pick(state, 4);
    if (way > 0) {
      static const long long counts[] = {-1,      0,          1,          2,         3,        5,
                                         1000000, 2147483647, 2147483648, 1LL << 40, 1LL << 62};
      const long long count = counts[fuzz_pick(state, sizeof counts / sizeof counts[0])];
      const double value = other_value(state);
      const hsize_t size = way == 3 ? fuzz_pick(state, 5) : 1;
      const hid_t space = H5Screate_simple(1, &size, NULL);
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, 8);
      const hid_t type = way == 1 ? H5T_NATIVE_LLONG : way == 2 ? H5T_NATIVE_DOUBLE : text;
      const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
      const char words[5 * 8] = "a\0......x\xff<>%s%n\n";
      if (made >= 0) {
        H5Awrite(made, type,
                 way == 1   ? (const void*)&count
                 : way == 2 ? (const void*)&value
                            : words);
        H5Aclose(made);
      }
      H5Tclose(text);
      H5Sclose(space);
    }
  }
  H5Oclose(object);
}

void recordings_h5_change(const char* path, uint64_t* state) {
  H5E_auto2_t print = NULL;
  void* user = NULL;
  H5Eget_auto2(H5E_DEFAULT, &print, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  fuzz_require(file >= 0, "the unchanged recording opens");
  for (size_t i = 1 + fuzz_pick(state, 2); i > 0; i--) {
    if (fuzz_chance(state, 70)) {
      change_dataset(file, state);
    } else {
      change_attribute(file, state);
    }
  }
  H5Fclose(file);
  H5Eset_auto2(H5E_DEFAULT, print, user);
}
#else
void recordings_h5_change(const char* path, uint64_t* state) {
  (void)path, (void)state;
}
#endif
