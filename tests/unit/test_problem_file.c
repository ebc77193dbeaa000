/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Problem files: what is written is read back bit for bit, and no file, however damaged, does more
 * than being refused with its name, the place and the reason.
 */
#include "saltus_test.h"

#include "saltus/problem_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH = 1024 };

static char folder[PATH];

static int make_folder(void** state) {
  (void)state;
  const char* root = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/saltus-problems-XXXXXX", root != NULL ? root : "/tmp");
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void** state) {
  (void)state;
  DIR* dir = opendir(folder);
  for (struct dirent* e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    remove(path);
  }
  if (dir != NULL) {
    closedir(dir);
  }
  return rmdir(folder);
}

static const char* in_folder(const char* name) {
  static char path[2 * PATH];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const char* published(const char* name) {
  static char path[2 * PATH];
  const char* where = getenv("SALTUS_PROBLEMS");
  snprintf(path, sizeof path, "%s/%s", where != NULL ? where : SALTUS_PUBLISHED, name);
  return path;
}

static const char* ours(const char* name) {
  static char path[2 * PATH];
  snprintf(path, sizeof path, "%s/%s", SALTUS_COLLECTION, name);
  return path;
}

static char* slurp(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char* text = malloc(*bytes + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, *bytes, file), *bytes);
  text[*bytes] = '\0';
  fclose(file);
  return text;
}

static void spill(const char* path, const char* text, size_t bytes) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, bytes, file), bytes);
  fclose(file);
}

static saltus_problem_file* read_good(const char* path) {
  saltus_kept_message kept;
  saltus_problem_file* file;
  saltus_status status = saltus_problem_file_read(path, saltus_log_keep(&kept), NULL, &file);
  if (status != SALTUS_OK) {
    fail_msg("%s: %s", path, kept.text);
  }
  return file;
}

static void same_bits(const void* a, const void* b, size_t count, size_t item) {
  assert_true((a == NULL) == (b == NULL));
  if (a != NULL && count > 0) {
    assert_memory_equal(a, b, count * item);
  }
}

static void same_csr(const saltus_csr* a, const saltus_csr* b) {
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->columns, b->columns);
  same_bits(a->start, b->start, a->start != NULL ? (size_t)a->rows + 1 : 0, sizeof(int));
  size_t count = a->start != NULL ? (size_t)a->start[a->rows] : 0;
  same_bits(a->column, b->column, count, sizeof(int));
  same_bits(a->values, b->values, count, sizeof(double));
}

static void same_friction(const saltus_friction_problem* a, const saltus_friction_problem* b) {
  assert_int_equal(a->W.units, b->W.units);
  size_t units = (size_t)a->W.units;
  size_t blocks = (size_t)a->W.start[units];
  same_bits(a->W.offset, b->W.offset, units + 1, sizeof(int));
  same_bits(a->W.start, b->W.start, units + 1, sizeof(int));
  same_bits(a->W.unit, b->W.unit, blocks, sizeof(int));
  same_bits(a->W.place, b->W.place, blocks + 1, sizeof(int));
  same_bits(a->W.values, b->W.values, (size_t)a->W.place[blocks], sizeof(double));
  same_bits(a->q, b->q, (size_t)a->W.offset[units], sizeof(double));
  same_bits(a->mu, b->mu, units, sizeof(double));
}

static void same_global(const saltus_global_friction_problem* a,
                        const saltus_global_friction_problem* b) {
  assert_int_equal(a->dimension, b->dimension);
  same_csr(&a->M, &b->M);
  same_csr(&a->H, &b->H);
  same_bits(a->f, b->f, (size_t)a->M.rows, sizeof(double));
  same_bits(a->w, b->w, (size_t)a->H.columns, sizeof(double));
  same_bits(a->mu, b->mu, (size_t)(a->H.columns / a->dimension), sizeof(double));
}

static void same_lcp(const saltus_lcp* a, const saltus_lcp* b) {
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->bilateral, b->bilateral);
  same_bits(a->M, b->M, (size_t)a->n * (size_t)a->n, sizeof(double));
  same_csr(&a->sparse, &b->sparse);
  same_bits(a->q, b->q, (size_t)a->n, sizeof(double));
}

static void same_problem(const saltus_problem_file* a, const saltus_problem_file* b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->dimension, b->dimension);
  if (a->kind == SALTUS_PROBLEM_FRICTION) {
    same_friction(&a->friction, &b->friction);
  } else if (a->kind == SALTUS_PROBLEM_GLOBAL_FRICTION) {
    same_global(&a->global, &b->global);
  } else {
    same_lcp(&a->lcp, &b->lcp);
  }
}

static saltus_status write_again(const char* path, const saltus_problem_file* file,
                                 saltus_log log) {
  switch (file->kind) {
  case SALTUS_PROBLEM_FRICTION:
    return saltus_problem_file_write_friction(path, &file->friction, log);
  case SALTUS_PROBLEM_GLOBAL_FRICTION:
    return saltus_problem_file_write_global(path, &file->global, log);
  case SALTUS_PROBLEM_LCP:
  case SALTUS_PROBLEM_MIXED_LCP:
    break;
  }
  return saltus_problem_file_write_lcp(path, &file->lcp, log);
}

static void check_round_trip(const char* path, const char* name, bool hdf5) {
  saltus_problem_file* first = read_good(path);
  bool lcp = first->kind == SALTUS_PROBLEM_LCP || first->kind == SALTUS_PROBLEM_MIXED_LCP;
  if (!hdf5 || !lcp) {
    const char* copy = hdf5 ? "copy.hdf5" : name;
    saltus_kept_message kept;
    assert_int_equal(write_again(in_folder(copy), first, saltus_log_keep(&kept)), SALTUS_OK);
    saltus_problem_file* second = read_good(in_folder(copy));
    same_problem(first, second);
    saltus_problem_file_destroy(second);
    remove(in_folder(copy));
  }
  saltus_problem_file_destroy(first);
}

#ifdef SALTUS_WITHOUT_HDF5
static const bool with_hdf5 = false;
#else
static const bool with_hdf5 = true;
#endif

static int check_all(const char* where, bool hdf5) {
  DIR* dir = opendir(where);
  if (dir == NULL) {
    return 0;
  }
  int count = 0;
  for (struct dirent* e = readdir(dir); e != NULL; e = readdir(dir)) {
    size_t length = strlen(e->d_name);
    bool text = length > 4 && strcmp(e->d_name + length - 4, ".dat") == 0;
    bool binary = with_hdf5 && length > 5 && strcmp(e->d_name + length - 5, ".hdf5") == 0;
    if (text || binary) {
      char path[2 * PATH];
      char name[PATH];
      snprintf(path, sizeof path, "%s/%s", where, e->d_name);
      saltus_problem_file* file = read_good(path);
      bool global = file->kind == SALTUS_PROBLEM_GLOBAL_FRICTION;
      snprintf(name, sizeof name, "%s%s", binary && global ? "gfc_" : "", e->d_name);
      saltus_problem_file_destroy(file);
      if (binary) {
        strcpy(name + strlen(name) - 5, ".dat");
      }
      check_round_trip(path, name, hdf5);
      count++;
    }
  }
  closedir(dir);
  return count;
}

static void our_collection_survives_both_formats(void** state) {
  (void)state;
  assert_true(check_all(SALTUS_COLLECTION, false) >= 20);
  assert_true(!with_hdf5 || check_all(SALTUS_COLLECTION, true) >= 20);
}

static void published_files_survive_both_formats(void** state) {
  (void)state;
  int count = check_all(published("."), false);
  if (count == 0) {
    print_message("no published problems in %s\n", published("."));
    skip();
  }
  assert_true(count >= 25);
  assert_true(check_all(published("lcp"), false) >= 10);
  assert_true(check_all(published("mlcp"), false) >= 5);
  assert_true(!with_hdf5 || check_all(published("."), true) >= 30);
}

/* A dense matrix is stored by columns, whatever its lines look like. */
static void dense_matrices_are_column_major(void** state) {
  (void)state;
  const char text[] = "2\n0\n2\n2\n2 2\n1 2\n3 4\n-5 -6\n trailing words are ignored";
  spill(in_folder("lcp_columns.dat"), text, sizeof text - 1);
  saltus_problem_file* file = read_good(in_folder("lcp_columns.dat"));
  assert_true(file->lcp.M[0] == 1.0 && file->lcp.M[1] == 3.0);
  assert_true(file->lcp.M[2] == 2.0 && file->lcp.M[3] == 4.0);
  assert_true(file->lcp.q[0] == -5.0 && file->lcp.q[1] == -6.0);
  saltus_problem_file_destroy(file);
}

/* Triplets that say the same place twice add up; empty columns of the compressed form are allowed. */
static void sparse_matrices_add_up(void** state) {
  (void)state;
  const char triplets[] = "1\n2\n1\n1\n1\nCSparse\ntriplet: 1-by-1, nzmax: 3 nnz: 2\n"
                          "  0 0 : 1.5\n 0 0 : 2.5\n-1\n";
  spill(in_folder("lcp_t.dat"), triplets, sizeof triplets - 1);
  saltus_problem_file* file = read_good(in_folder("lcp_t.dat"));
  assert_true(file->lcp.M[0] == 4.0);
  saltus_problem_file_destroy(file);
  const char columns[] = "3\n2\n3\n3\n2\nCSparse\n3-by-3, nzmax: 2 nnz: 2, 1-norm: 1\n"
                         "    col 0 : locations 0 to 0\n      2 : 7\n"
                         "    col 1 : locations 1 to 0\n"
                         "    col 2 : locations 1 to 1\n      0 : 8\n1 2 3\n";
  spill(in_folder("lcp_c.dat"), columns, sizeof columns - 1);
  file = read_good(in_folder("lcp_c.dat"));
  assert_null(file->lcp.M);
  assert_int_equal(file->lcp.sparse.start[3], 2);
  assert_true(file->lcp.sparse.column[0] == 2 && file->lcp.sparse.values[0] == 8.0);
  assert_true(file->lcp.sparse.column[1] == 0 && file->lcp.sparse.values[1] == 7.0);
  saltus_problem_file_destroy(file);
}

/* Bilateral rows come first here; file_row says where they were. */
static void mixed_rows_are_put_in_order(void** state) {
  (void)state;
  const char text[] = "1 0 1 2\n0 2 3\n1 0\n0\n3\n3\n3 3\n11 21 31 12 22 32 13 23 33\n1 2 3\n";
  spill(in_folder("order_mlcp.dat"), text, sizeof text - 1);
  saltus_problem_file* file = read_good(in_folder("order_mlcp.dat"));
  const double M[9] = {33, 31, 32, 13, 11, 12, 23, 21, 22};
  const double q[3] = {3, 1, 2};
  const int row[3] = {2, 0, 1};
  assert_int_equal(file->lcp.bilateral, 1);
  assert_memory_equal(file->lcp.M, M, sizeof M);
  assert_memory_equal(file->lcp.q, q, sizeof q);
  assert_memory_equal(file->file_row, row, sizeof row);
  saltus_problem_file_destroy(file);
  const char four[] = "0 1 1 1\n5\n6\n7\n8\n9\n10\n";
  spill(in_folder("four_mlcp.dat"), four, sizeof four - 1);
  file = read_good(in_folder("four_mlcp.dat"));
  const double F[4] = {5, 7, 8, 6};
  assert_memory_equal(file->lcp.M, F, sizeof F);
  assert_true(file->lcp.q[0] == 9.0 && file->lcp.q[1] == 10.0);
  saltus_problem_file_destroy(file);
}

static void names_say_the_kind(void** state) {
  (void)state;
  static const struct {
    const char* path;
    saltus_problem_kind kind;
  } list[] = {
      {"a/GFC3D_TwoRods1.dat", SALTUS_PROBLEM_GLOBAL_FRICTION},
      {"a/GFC3D_TwoRods1-condensed.dat", SALTUS_PROBLEM_FRICTION},
      {"gfc2d_x.reduced.dat", SALTUS_PROBLEM_FRICTION},
      {"Rover1039.dat", SALTUS_PROBLEM_FRICTION},
      {"gfc/Rover1039.dat", SALTUS_PROBLEM_FRICTION},
      {"lcp_CPS_1.dat", SALTUS_PROBLEM_LCP},
      {"data/lcp/spd_300.dat", SALTUS_PROBLEM_LCP},
      {"lcp/x.dat", SALTUS_PROBLEM_LCP},
      {"PD_mlcp.dat", SALTUS_PROBLEM_MIXED_LCP},
      {"mlcp/Buck.dat", SALTUS_PROBLEM_MIXED_LCP},
      {"xlcp/Buck.dat", SALTUS_PROBLEM_FRICTION},
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    assert_int_equal(saltus_problem_kind_of_name(list[k].path), list[k].kind);
  }
}

/* Each file is wrong in one way; the message has to say where and what. */
static const struct {
  const char *name, *text, *words;
} hostile[] = {
    {"x.dat", "", ":1: token 1: the file ends where the dimension should be"},
    {"x.dat", "three", "dimension is \"three\", must be a whole number"},
    {"x.dat", "4 1", "rolling friction is not read"},
    {"x.dat", "1 1", "dimension is 1, must be from 2 to 5"},
    {"x.dat", "3 -1", "number of contacts is -1"},
    {"x.dat", "3 99999999999999999999", "number of contacts is 99999999999999999999"},
    {"x.dat", "3 1\n7 3 3", ":2: token 3: storage type of a matrix is 7"},
    {"x.dat", "3 1\n0 2000000000 2000000000", "number of rows is 2000000000"},
    {"x.dat", "3 1\n0 -3 3", "number of rows is -3"},
    {"x.dat", "2 1\n0 2 2 2 3 1 0 0 1 0 0 0",
     "repeated number of columns is 3, must be from 2 to 2"},
    {"x.dat", "2 1\n0 2 2 2 2 1 0 nan 1 0 0 0", "W is \"nan\", must be a finite number"},
    {"x.dat", "2 1\n0 2 2 2 2 1 0 inf 1 0 0 0", "W is \"inf\", must be a finite number"},
    {"x.dat", "2 1\n0 2 2 2 2 1 0 1e999 1 0 0 0", "W is \"1e999\", must be a finite number"},
    {"x.dat", "2 1\n0 2 2 2 2 1 0 1.0x 1 0 0 0", "W is \"1.0x\""},
    {"x.dat", "2 1\n0 4 4 4 4 1 0", "16 numbers announced for the W"},
    {"x.dat", "2 1\n0 1 1 1 1 1 0 0 0 0 0 0 0 0", "W is 1 x 1, must be 2 x 2"},
    {"x.dat", "2 1\n0 2 2 2 2 1 0 0 1\n0 0\n-0.5", "friction coefficient 1 is -0.5"},
    {"x.dat", "2 1\n0 2 2 2 2 1 0 0 1\n0 0",
     ":3: token 14: the file ends where the friction coefficient"},
    {"x.dat", "2 1\n1 2 2 1 1 1 3 2 2 1 0 1 0 0 1 0 0 1 0 0 0", "ends of block rows is 3"},
    {"x.dat", "2 1\n1 2 2 1 1 1 1 2 2 1 0 1 0 0 1 0 0 1 0 0 0", "end at 1, must end at 2"},
    {"x.dat", "2 1\n1 2 2 4 2 2 2 2 1 2 3 4 0 0 0 0 0 0 0", "do not increase: 2 after 2"},
    {"x.dat", "2 1\n1 2 2 1 1 1 2 2 5 1 0 1 0 0 1 0 0 1 0 0 0", "length of the row index is 5"},
    {"x.dat", "2 1\n1 2 2 1 1 1 2 2 2 9 0 1 0 0 1 0 0 1 0 0 0", "length of the column index is 9"},
    {"x.dat", "2 1\n1 2 2 1 1 1 2 2 2 1 0 1 4 0 1 0 0 1 0 0 0", "block column is 4"},
    {"x.dat", "2 1\n1 2 2 1 1 1 2 2 2 1 1 1 0 0 1 0 0 1 0 0 0", "must run from 0 to 1"},
    {"x.dat", "2 1\n1 2 2 1 1 1 2 2 2 1 0 1 0 3 1 0 0 1 0 0 0", "block number is 3"},
    {"x.dat", "2 1\n1 2 2 2000000000 1 1 2 2 2 2000000000 0 2000000000 0 0 0 0",
     "2000000000 numbers announced for the block column"},
    {"x.dat", "2 1\n2 2 2\n3\nCSparse\ncsr: 2-by-2, nzmax: 1 nnz: 1\n", "origin of the sparse"},
    {"x.dat", "2 1\n2 2 2\n1\nCSparse\ntriplet: 3-by-2, nzmax: 1 nnz: 1\n0 0 : 1\n0 0 0 0",
     "should say \"triplet: 2-by-2"},
    {"x.dat", "2 1\n2 2 2\n1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 999999\n0 0 : 1\n0 0 0 0",
     "numbers announced for the W"},
    {"x.dat", "2 1\n2 2 2\n1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: -4\n0 0 : 1\n0 0 0 0",
     "should say"},
    {"x.dat", "2 1\n2 2 2\n1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 2 : 1\n0 0 0 0",
     ":6: token 8: column of an entry is 2"},
    {"x.dat", "2 1\n2 2 2\n1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 -1 : 1\n0 0 0 0",
     "column of an entry is -1"},
    {"x.dat", "2 1\n2 2 2\n1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n0 0 1\n0 0 0 0",
     "where \":\" should be"},
    {"x.dat",
     "2 1\n2 2 2\n2\nCSparse\n2-by-2, nzmax: 2 nnz: 2, 1-norm: 1\ncol 1 : locations 0 to 1",
     "number of a column is 1"},
    {"x.dat",
     "2 1\n2 2 2\n2\nCSparse\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 9",
     "last location of a column is 9"},
    {"gfc_x.dat", "2 1\n0 1 1 1 1 2\n0 2 2 2 2 1 0 0 1\n0 0 0 0", "H is 2 x 2, must be 1 x 2"},
    {"gfc_x.dat", "2 1\n0 2 1 2 1 2 2\n0 2 2 2 2 1 0 0 1\n0 0 0 0", "M is 2 x 1, must be 2 x 2"},
    {"lcp_x.dat", "3\n0 2 2 2 2 1 0 0 1 1 1", "M is 2 x 2, must be 3 x 3"},
    {"lcp_x.dat", "-3\n0 2 2 2 2 1 0 0 1 1 1", "number of rows is -3"},
    {"x_mlcp.dat", "0 0 1 1", "both 0"},
    {"x_mlcp.dat", "1 0 1 1\n0 1 1 2\n0 1\n0 2 2 2 2 1 0 0 1 1 1", "end of a group of rows is 1"},
    {"x_mlcp.dat", "1 0 1 1\n0 1 2\n0 0\n0 2 2 2 2 1 0 0 1 1 1", "1 equalities and 1 other rows"},
    {"x_mlcp.dat", "1 0 1 1\n0 1 2\n0 3\n0 2 2 2 2 1 0 0 1 1 1", "kind of a group of rows is 3"},
    {"x_mlcp.dat", "1 0 1 1\n0 1 2\n0 1\n0 3 2 3 2 1 0 0 1 1 1 1 1", "M is 3 x 2, must be 2 x 2"},
    {"x_mlcp.dat", "0 1 50000 50000\n1 2 3", "announced for the right-hand side"},
};

static void hostile_files_are_refused_with_place_and_reason(void** state) {
  (void)state;
  enum { COUNT = sizeof hostile / sizeof *hostile };
  assert_true(COUNT >= 25);
  for (size_t k = 0; k < COUNT; k++) {
    const char* path = in_folder(hostile[k].name);
    spill(path, hostile[k].text, strlen(hostile[k].text));
    saltus_kept_message kept;
    saltus_problem_file* file = (saltus_problem_file*)(void*)&kept;
    counter count = {0};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_status status =
        saltus_problem_file_read(path, saltus_log_keep(&kept), &allocator, &file);
    assert_true(status == SALTUS_ERR_INPUT || status == SALTUS_ERR_UNSUPPORTED);
    assert_null(file);
    assert_int_equal(count.live, 0);
    assert_says(kept, hostile[k].words);
    assert_says(kept, path);
  }
}

/* Cut or changed anywhere: refused or read, never a crash; what is read can be written. */
static void damage(const char* good, const char* name, int cuts, int flips) {
  size_t bytes;
  char* text = slurp(good, &bytes);
  char* copy = malloc(bytes + 1);
  assert_non_null(copy);
  uint64_t seed = 11;
  int refused = 0;
  for (int k = 0; k < cuts + flips; k++) {
    size_t length = bytes;
    memcpy(copy, text, bytes);
    if (k < cuts) {
      length = bytes * (size_t)k / (size_t)cuts;
    } else {
      copy[(size_t)(saltus_test_random(&seed) * (double)bytes)] =
          (char)(unsigned char)(int)(saltus_test_random(&seed) * 256.0);
    }
    spill(in_folder(name), copy, length);
    saltus_kept_message kept;
    saltus_problem_file* file;
    saltus_status status =
        saltus_problem_file_read(in_folder(name), saltus_log_keep(&kept), NULL, &file);
    if (status != SALTUS_OK) {
      refused++;
      assert_null(file);
      assert_true(kept.text[0] != '\0');
      assert_true(k >= cuts || status == SALTUS_ERR_INPUT);
    }
    saltus_problem_file_destroy(file);
  }
  assert_true(refused >= cuts);
  free(copy);
  free(text);
}

static void damaged_text_is_no_danger(void** state) {
  (void)state;
  static const char* const names[] = {"fc3d_stack_4_rest.dat", "gfc3d_stack_4_rest.dat",
                                      "lcp_beads_40_rest.dat", "lcp_degenerate_12.dat",
                                      "redundant_mlcp.dat"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    /* the last cut before the end would only take the last line end */
    damage(ours(names[k]), names[k], 60, 500);
  }
}

#ifndef SALTUS_WITHOUT_HDF5
static void damaged_hdf5_is_no_danger(void** state) {
  (void)state;
  saltus_problem_file* file = read_good(ours("fc3d_stack_4_rest.dat"));
  char path[2 * PATH];
  snprintf(path, sizeof path, "%s", in_folder("good.hdf5"));
  assert_int_equal(saltus_problem_file_write_friction(path, &file->friction, (saltus_log){0}),
                   SALTUS_OK);
  saltus_problem_file_destroy(file);
  damage(path, "damaged.hdf5", 60, 500);
}
#endif

static void without_memory_nothing_is_left_behind(void** state) {
  (void)state;
  static const char* const names[] = {"gfc3d_stack_4_rest.dat", "fc2d_two_sliding.dat",
                                      "lcp_beads_40_rest.dat", "redundant_mlcp.dat"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    saltus_status status = SALTUS_ERR_MEMORY;
    for (int at = 1; status == SALTUS_ERR_MEMORY && at < 1000; at++) {
      counter count = {.fail_at = at};
      saltus_allocator allocator = counting_allocator(&count);
      saltus_problem_file* file;
      status = saltus_problem_file_read(ours(names[k]), (saltus_log){0}, &allocator, &file);
      assert_true((file != NULL) == (status == SALTUS_OK));
      saltus_problem_file_destroy(file);
      assert_int_equal(count.live, 0);
    }
    assert_int_equal(status, SALTUS_OK);
  }
}

/* A column of H and M = diag(2, 4): W = h M^-1 h. And a matrix that is not symmetric, by LU. */
static void the_reduction_has_the_values_of_the_formula(void** state) {
  (void)state;
  if (!saltus_has("cxsparse")) {
    skip();
  }
  const int Hs[] = {0, 2, 4};
  const int Hc[] = {0, 1, 0, 1};
  const double Hv[] = {1.0, 3.0, 2.0, -1.0};
  const int Ms[] = {0, 2, 4};
  const int Mc[] = {0, 1, 0, 1};
  const double diagonal[] = {2.0, 0.0, 0.0, 4.0};
  const double turned[] = {1.0, 2.0, -2.0, 1.0};
  const double f[] = {2.0, 8.0};
  const double w[] = {0.5, -0.5};
  const double mu[] = {0.3};
  saltus_global_friction_problem g = {.dimension = 2,
                                      .M = {2, 2, Ms, Mc, diagonal},
                                      .H = {2, 2, Hs, Hc, Hv},
                                      .f = f,
                                      .w = w,
                                      .mu = mu};
  saltus_problem_file* local;
  assert_int_equal(saltus_global_friction_reduce(&g, (saltus_log){0}, NULL, &local), SALTUS_OK);
  /* columns of H: (1, 2) and (3, -1) */
  const double W[4] = {0.5 + 1.0, 1.5 - 0.5, 1.5 - 0.5, 4.5 + 0.25};
  for (int k = 0; k < 4; k++) {
    assert_near(local->friction.W.values[k], W[k], 1e-15);
  }
  assert_near(local->friction.q[0], 1.0 + 4.0 + 0.5, 1e-15);
  assert_near(local->friction.q[1], 3.0 - 2.0 - 0.5, 1e-15);
  saltus_problem_file_destroy(local);
  g.M.values = turned; /* inverse (1, -2; 2, 1) / 5 */
  assert_int_equal(saltus_global_friction_reduce(&g, (saltus_log){0}, NULL, &local), SALTUS_OK);
  /* M^-1 h1 = (-3, 4) / 5, M^-1 h2 = (5, 5) / 5 */
  const double T[4] = {1.0, 3.0, -13.0 / 5.0, 2.0};
  for (int k = 0; k < 4; k++) {
    assert_near(local->friction.W.values[k], T[k], 1e-14);
  }
  saltus_problem_file_destroy(local);
  const double nothing[] = {1.0, 2.0, 2.0, 4.0};
  g.M.values = nothing;
  saltus_kept_message kept;
  assert_int_equal(saltus_global_friction_reduce(&g, saltus_log_keep(&kept), NULL, &local),
                   SALTUS_ERR_SINGULAR);
  assert_says(kept, "singular");
  assert_null(local);
}

/* Coupled coordinates: M^-1 h is full where h has a single entry, whatever the order of elimination.
 * Two bodies of three coordinates, M = 4 I + 1 1^T each, so M^-1 = (I - 1 1^T / 7) / 4. */
static void the_reduction_fills_coupled_bodies(void** state) {
  (void)state;
  if (!saltus_has("cxsparse")) {
    skip();
  }
  const int Ms[] = {0, 3, 6, 9, 12, 15, 18};
  const int Mc[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5};
  const double Mv[] = {5, 1, 1, 1, 5, 1, 1, 1, 5, 5, 1, 1, 1, 5, 1, 1, 1, 5};
  const int Hs[] = {0, 1, 2, 3, 4, 5, 6}; /* one entry in every row: column i for row i */
  const int Hc[] = {0, 1, 2, 3, 4, 5};
  const double Hv[] = {1, 1, 1, 1, 1, 1};
  const double f[] = {7, 0, 0, 0, 7, 7};
  const double w[] = {0, 0, 0, 0, 0, 0};
  const double mu[] = {0.1, 0.1};
  const saltus_global_friction_problem g = {
      .dimension = 3, .M = {6, 6, Ms, Mc, Mv}, .H = {6, 6, Hs, Hc, Hv}, .f = f, .w = w, .mu = mu};
  saltus_problem_file* local;
  assert_int_equal(saltus_global_friction_reduce(&g, (saltus_log){0}, NULL, &local), SALTUS_OK);
  const saltus_block_matrix* W = &local->friction.W;
  assert_int_equal(W->start[2], 2); /* the bodies do not touch */
  for (int k = 0; k < 18; k++) {
    double expected = ((k % 9) % 4 == 0 ? 6.0 : -1.0) / 28.0;
    assert_near(W->values[k], expected, 1e-15);
  }
  const double q[] = {1.5, -0.25, -0.25, -0.5, 1.25, 1.25};
  for (int k = 0; k < 6; k++) {
    assert_near(local->friction.q[k], q[k], 1e-15);
  }
  saltus_problem_file_destroy(local);
}

/* The published twin was reduced by another program and printed with 7 digits. */
static void the_reduction_agrees_with_the_published_twin(void** state) {
  (void)state;
  if (!saltus_has("cxsparse")) {
    skip();
  }
  if (access(published("GFC3D_TwoRods1.dat"), R_OK) != 0) {
    print_message("no published problems in %s\n", published("."));
    skip();
  }
  saltus_problem_file* global = read_good(published("GFC3D_TwoRods1.dat"));
  saltus_problem_file* twin = read_good(published("GFC3D_TwoRods1-condensed.dat"));
  saltus_problem_file* local;
  assert_int_equal(saltus_global_friction_reduce(&global->global, (saltus_log){0}, NULL, &local),
                   SALTUS_OK);
  assert_int_equal(local->friction.W.start[3], 9);
  double largest = 0.0;
  for (int k = 0; k < 81; k++) {
    largest = fmax(largest, fabs(twin->friction.W.values[k]));
  }
  for (int k = 0; k < 81; k++) {
    assert_near(local->friction.W.values[k], twin->friction.W.values[k], 2e-6 * largest);
  }
  saltus_problem_file_destroy(local);
  saltus_problem_file_destroy(twin);
  saltus_problem_file_destroy(global);
}

static void what_a_format_cannot_hold_is_not_written(void** state) {
  (void)state;
  const int offset[] = {0, 2};
  const int start[] = {0, 1};
  const int unit[] = {0};
  const int place[] = {0, 4};
  const double W[] = {1.0, 0.0, 0.0, 1.0};
  const double q[] = {-1.0, 0.5};
  const double mu[] = {0.5};
  const unsigned char fixed[] = {1};
  saltus_friction_problem p = {
      .W = {1, offset, start, unit, place, W}, .q = q, .mu = mu, .bilateral = fixed};
  saltus_kept_message kept;
  saltus_log log = saltus_log_keep(&kept);
  assert_int_equal(saltus_problem_file_write_friction(in_folder("a.dat"), &p, log),
                   SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "bilateral");
  p.bilateral = NULL;
  log = saltus_log_keep(&kept);
  assert_int_equal(saltus_problem_file_write_friction(in_folder("lcp_a.dat"), &p, log),
                   SALTUS_ERR_NAME);
  assert_says(kept, "would be read as a complementarity problem");
  log = saltus_log_keep(&kept);
  assert_int_equal(saltus_problem_file_write_friction(in_folder("no/a.dat"), &p, log),
                   SALTUS_ERR_IO);
  assert_says(kept, "cannot be written");
  log = saltus_log_keep(&kept);
  const saltus_lcp lcp = {.n = 1, .M = W, .q = q};
  assert_int_equal(saltus_problem_file_write_lcp(in_folder("a.hdf5"), &lcp, log),
                   SALTUS_ERR_UNSUPPORTED);
  saltus_problem_file* file;
  log = saltus_log_keep(&kept);
  assert_int_equal(saltus_problem_file_read(in_folder("missing.dat"), log, NULL, &file),
                   SALTUS_ERR_IO);
  assert_says(kept, "missing.dat");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(our_collection_survives_both_formats),
      cmocka_unit_test(published_files_survive_both_formats),
      cmocka_unit_test(dense_matrices_are_column_major),
      cmocka_unit_test(sparse_matrices_add_up),
      cmocka_unit_test(mixed_rows_are_put_in_order),
      cmocka_unit_test(names_say_the_kind),
      cmocka_unit_test(hostile_files_are_refused_with_place_and_reason),
      cmocka_unit_test(damaged_text_is_no_danger),
#ifndef SALTUS_WITHOUT_HDF5
      cmocka_unit_test(damaged_hdf5_is_no_danger),
#endif
      cmocka_unit_test(without_memory_nothing_is_left_behind),
      cmocka_unit_test(the_reduction_has_the_values_of_the_formula),
      cmocka_unit_test(the_reduction_fills_coupled_bodies),
      cmocka_unit_test(the_reduction_agrees_with_the_published_twin),
      cmocka_unit_test(what_a_format_cannot_hold_is_not_written),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
