/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * problem_file.c - selects the reader of a file; creation and destruction of problems.
 */
#include "base/log.h"
#include "base/regular.h"
#include "io/problem/formats.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <unistd.h>

const char* saltus_problem_kind_text(saltus_problem_kind kind) {
  static const char* const texts[] = {"friction", "global friction", "complementarity",
                                      "mixed complementarity"};
  return texts[kind];
}

/* Length of the folder part of a path, with its slash. */
static size_t folder_length(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

bool saltusi_name_is_hdf5(const char* path) {
  assert(path != NULL);
  size_t length = strlen(path);
  return (length >= 5 && strcmp(path + length - 5, ".hdf5") == 0) ||
         (length >= 3 && strcmp(path + length - 3, ".h5") == 0);
}

static bool starts_with(const char* text, const char* word) {
  return strncmp(text, word, strlen(word)) == 0;
}

saltus_problem_kind saltus_problem_kind_of_name(const char* path) {
  assert(path != NULL);
  /* usual file systems have no longer names */
  enum { NAME = 256 };
  size_t folder = folder_length(path);
  char name[NAME] = {0};
  for (size_t i = 0; i + 1 < NAME && path[folder + i] != '\0'; i++) {
    name[i] = (char)tolower((unsigned char)path[folder + i]);
  }
  bool in_mlcp = folder >= 5 && strncmp(path + folder - 5, "mlcp/", 5) == 0 &&
                 (folder == 5 || path[folder - 6] == '/');
  bool in_lcp = folder >= 4 && strncmp(path + folder - 4, "lcp/", 4) == 0 &&
                (folder == 4 || path[folder - 5] == '/');
  if (strstr(name, "mlcp") != NULL || in_mlcp) {
    return SALTUS_PROBLEM_MIXED_LCP;
  }
  if (starts_with(name, "lcp") || in_lcp) {
    return SALTUS_PROBLEM_LCP;
  }
  bool reduced = strstr(name, "condensed") != NULL || strstr(name, "reduced") != NULL;
  if (starts_with(name, "gfc") && !reduced) {
    return SALTUS_PROBLEM_GLOBAL_FRICTION;
  }
  return SALTUS_PROBLEM_FRICTION;
}

saltusi_contact_problem* saltusi_contact_problem_create(const saltus_allocator* allocator) {
  saltusi_pool pool = saltusi_pool_over(allocator);
  saltusi_contact_problem* problem = SALTUSI_TAKE(&pool, saltusi_contact_problem, 1);
  if (problem == NULL) {
    saltusi_pool_free(&pool);
    return NULL;
  }
  problem->pool = pool;
  return problem;
}

void saltus_problem_file_destroy(saltus_problem_file* file) {
  if (file != NULL) {
    saltusi_contact_problem* problem = (saltusi_contact_problem*)(void*)file;
    saltusi_pool_free(&problem->pool);
  }
}

saltus_status saltusi_contact_problem_set_friction(saltusi_contact_problem* into, int dimension,
                                                   const saltus_csr* W) {
  assert(into != NULL);
  into->file.kind = SALTUS_PROBLEM_FRICTION;
  into->file.dimension = dimension;
  return saltusi_csr_blocks(W, dimension, &into->pool, &into->file.friction.W);
}

/* HDF5 files are detected by their signature of eight bytes. */
static bool is_hdf5(const char* path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char head[8] = {0};
  int file = saltusi_regular_open(path);
  if (file < 0) {
    return false; /* the text reader reports the reason */
  }
  bool same = read(file, head, sizeof head) == (ssize_t)sizeof head &&
              memcmp(head, signature, sizeof head) == 0;
  close(file);
  return same;
}

saltus_status saltus_problem_file_read(const char* path, saltus_log log,
                                       const saltus_allocator* allocator,
                                       saltus_problem_file** out) {
  assert(out != NULL);
  *out = NULL;
  saltusi_contact_problem* problem = saltusi_contact_problem_create(allocator);
  if (problem == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status =
      is_hdf5(path) ? saltusi_fclib_read(path, log, problem)
                    : saltusi_siconos_read(path, saltus_problem_kind_of_name(path), log, problem);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: no memory", path);
  }
  if (status != SALTUS_OK) {
    saltus_problem_file_destroy(&problem->file);
    return status;
  }
  *out = &problem->file;
  return SALTUS_OK;
}
