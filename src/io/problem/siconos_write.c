/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * siconos_write.c - problems as Siconos text: friction matrices as blocks, sparse ones as triplets,
 * dense ones as they are. 17 digits, so that reading gives the same bits.
 */
#include "base/log.h"
#include "base/number.h"
#include "io/numbers.h"
#include "io/problem/formats.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct siconos_writer {
  FILE* file;
  saltusi_point_locale locale;
  const char* path;
  saltus_log log;
} siconos_writer;

static saltus_status start(const char* path, saltus_log log, siconos_writer* out) {
  *out = (siconos_writer){.file = fopen(path, "w"), .path = path, .log = log};
  if (out->file == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be written: %s", path, strerror(errno));
    return SALTUS_ERR_IO;
  }
  out->locale = saltusi_point_locale_enter();
  return SALTUS_OK;
}

static saltus_status finish(siconos_writer* out) {
  saltusi_point_locale_leave(out->locale);
  bool failed = ferror(out->file) != 0;
  failed = fclose(out->file) != 0 || failed;
  if (failed) {
    saltusi_log(out->log, SALTUS_LEVEL_ERROR, "%s: cannot be written: %s", out->path,
                strerror(errno));
    remove(out->path);
    return SALTUS_ERR_IO;
  }
  return SALTUS_OK;
}

static void write_vector(const siconos_writer* out, int count, const double* x) {
  for (int i = 0; i < count; i++) {
    saltusi_print_file(out->file, "%.17g\n", x[i]);
  }
}

static void write_ints(const siconos_writer* out, int count, const int* list) {
  for (int i = 0; i < count; i++) {
    fprintf(out->file, "%d%c", list[i], i + 1 < count ? ' ' : '\n');
  }
}

static void write_block(const siconos_writer* out, const double* block, int rows, int columns) {
  for (int j = 0; j < columns; j++) {
    for (int i = 0; i < rows; i++) {
      saltusi_print_file(out->file, "%.17g ", block[i * columns + j]);
    }
  }
  fprintf(out->file, "\n");
}

static void write_blocks(const siconos_writer* out, const saltus_block_matrix* W) {
  int rows = W->offset[W->units];
  int count = W->start[W->units];
  fprintf(out->file, "1\n%d\n%d\n%d\n", rows, rows, count);
  if (count == 0) {
    return;
  }
  fprintf(out->file, "%d %d\n", W->units, W->units);
  write_ints(out, W->units, W->offset + 1);
  write_ints(out, W->units, W->offset + 1);
  fprintf(out->file, "%d\n%d\n", W->units + 1, count);
  write_ints(out, W->units + 1, W->start);
  write_ints(out, count, W->unit);
  for (int R = 0; R < W->units; R++) {
    for (int k = W->start[R]; k < W->start[R + 1]; k++) {
      int C = W->unit[k];
      fprintf(out->file, "%d\n", k);
      write_block(out, W->values + W->place[k], W->offset[R + 1] - W->offset[R],
                  W->offset[C + 1] - W->offset[C]);
    }
  }
}

static void write_sparse(const siconos_writer* out, const saltus_csr* A) {
  int count = A->start[A->rows];
  fprintf(out->file, "2\n%d\n%d\n1\nCSparse Version 3, written by Saltus\n", A->rows, A->columns);
  fprintf(out->file, "triplet: %d-by-%d, nzmax: %d nnz: %d\n", A->rows, A->columns, count, count);
  for (int i = 0; i < A->rows; i++) {
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
      saltusi_print_file(out->file, "    %d %d : %.17g\n", i, A->column[k], A->values[k]);
    }
  }
}

static void write_dense(const siconos_writer* out, int n, const double* M) {
  fprintf(out->file, "0\n%d\n%d\n%d %d\n", n, n, n, n);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      saltusi_print_file(out->file, "%.17g%c", M[(size_t)i * (size_t)n + (size_t)j],
                         i + 1 < n ? ' ' : '\n');
    }
  }
}

static saltus_status refuse(const char* path, saltus_log log, const char* why) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be written: %s", path, why);
  return SALTUS_ERR_UNSUPPORTED;
}

/* Rejects problems whose file would be read as another kind. */
static saltus_status check_name(const char* path, saltus_problem_kind kind, saltus_log log) {
  saltus_problem_kind read_as = saltus_problem_kind_of_name(path);
  if (read_as == kind) {
    return SALTUS_OK;
  }
  static const char* const names[] = {"neither start with \"gfc\" or \"lcp\" nor contain \"mlcp\"",
                                      "start with \"gfc\"", "start with \"lcp\"",
                                      "contain \"mlcp\""};
  saltusi_log(
      log, SALTUS_LEVEL_ERROR,
      "%s: by its name this would be read as a %s problem; the name of a %s problem must %s", path,
      saltus_problem_kind_text(read_as), saltus_problem_kind_text(kind), names[kind]);
  return SALTUS_ERR_NAME;
}

/* Number of rows of every constraint block; 0: they differ, or one is bilateral. */
static int common_size(const saltus_friction_problem* problem) {
  int size = problem->W.units > 0 ? problem->W.offset[1] : 3;
  for (int i = 0; i < problem->W.units; i++) {
    bool bilateral = problem->bilateral != NULL && problem->bilateral[i] != 0;
    if (bilateral || problem->W.offset[i + 1] - problem->W.offset[i] != size) {
      return 0;
    }
  }
  return size == 2 || size == 3 ? size : 0;
}

saltus_status saltus_problem_file_write_friction(const char* path,
                                                 const saltus_friction_problem* problem,
                                                 saltus_log log) {
  assert(path != NULL && problem != NULL);
  int size = common_size(problem);
  if (size == 0) {
    return refuse(path, log,
                  "the formats hold contacts of 2 or of 3 rows each, without bilateral rows");
  }
  if (saltusi_name_is_hdf5(path)) {
    return saltusi_fclib_write_friction(path, size, problem, log);
  }
  saltus_status status = check_name(path, SALTUS_PROBLEM_FRICTION, log);
  siconos_writer out;
  if (status == SALTUS_OK) {
    status = start(path, log, &out);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  fprintf(out.file, "%d\n%d\n", size, problem->W.units);
  write_blocks(&out, &problem->W);
  write_vector(&out, problem->W.offset[problem->W.units], problem->q);
  write_vector(&out, problem->W.units, problem->mu);
  return finish(&out);
}

saltus_status saltus_problem_file_write_global(const char* path,
                                               const saltus_global_friction_problem* problem,
                                               saltus_log log) {
  assert(problem != NULL);
  if (saltusi_name_is_hdf5(path)) {
    return saltusi_fclib_write_global(path, problem, log);
  }
  saltus_status status = check_name(path, SALTUS_PROBLEM_GLOBAL_FRICTION, log);
  siconos_writer out;
  if (status == SALTUS_OK) {
    status = start(path, log, &out);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  int contacts = problem->H.columns / problem->dimension;
  fprintf(out.file, "%d\n%d\n", problem->dimension, contacts);
  write_sparse(&out, &problem->M);
  write_sparse(&out, &problem->H);
  write_vector(&out, problem->M.rows, problem->f);
  write_vector(&out, problem->H.columns, problem->w);
  write_vector(&out, contacts, problem->mu);
  return finish(&out);
}

saltus_status saltus_problem_file_write_lcp(const char* path, const saltus_lcp* problem,
                                            saltus_log log) {
  assert(problem != NULL);
  if (saltusi_name_is_hdf5(path)) {
    return refuse(path, log, "FCLIB knows no complementarity problems");
  }
  bool mixed = saltus_problem_kind_of_name(path) == SALTUS_PROBLEM_MIXED_LCP;
  saltus_status status =
      mixed
          ? SALTUS_OK
          : check_name(path, problem->bilateral > 0 ? SALTUS_PROBLEM_MIXED_LCP : SALTUS_PROBLEM_LCP,
                       log);
  siconos_writer out;
  if (status == SALTUS_OK) {
    status = start(path, log, &out);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  int n = problem->n;
  int nb = problem->bilateral;
  if (!mixed) {
    fprintf(out.file, "%d\n", n);
  } else {
    fprintf(out.file, "1\n0\n%d\n%d\n0", nb, n - nb);
    if (nb > 0 && nb < n) {
      fprintf(out.file, " %d", nb);
    }
    if (n > 0) {
      fprintf(out.file, " %d", n);
    }
    fprintf(out.file, "\n%s%s\n", nb > 0 ? "0 " : "", nb < n ? "1" : "");
  }
  if (problem->sparse.start != NULL) {
    write_sparse(&out, &problem->sparse);
  } else {
    write_dense(&out, n, problem->M);
  }
  write_vector(&out, n, problem->q);
  return finish(&out);
}
