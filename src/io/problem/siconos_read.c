/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * siconos_read.c - the text formats of Siconos. In the order of the file:
 *
 *   friction   d nc   W   q [d nc]   mu [nc]
 *   global     d nc   M   H   f [n]   w [d nc]   mu [nc]
 *   lcp        n   M   q [n]
 *   mixed      isStorage1 isStorage2 n m, then
 *              1: ends of row groups from 0 to n + m, for each group 0 (equality) or 1, M, q
 *              2: A B C D a b, matrices row by row:  0 = A u + C v + a,  w = D u + B v + b
 */
#include "io/numbers.h"
#include "io/problem/formats.h"
#include "io/problem/siconos_matrix.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

typedef struct siconos_reader {
  saltusi_tokens t;
  saltusi_contact_problem* into;
  saltusi_pool* pool;
} siconos_reader;

/* A vector of the file, in the pool. */
static double* vector(siconos_reader* in, const char* what, int count) {
  if (!saltusi_tokens_can_hold(&in->t, what, (unsigned long long)count)) {
    return NULL;
  }
  double* x = SALTUSI_TAKE(in->pool, double, count);
  if (x == NULL) {
    in->t.status = SALTUS_ERR_MEMORY;
    return NULL;
  }
  saltusi_tokens_reals(&in->t, what, (size_t)count, x);
  return x;
}

static double* friction_coefficients(siconos_reader* in, int count) {
  double* mu = vector(in, "friction coefficient", count);
  for (int i = 0; i < count && in->t.status == SALTUS_OK; i++) {
    if (mu[i] < 0.0) {
      saltusi_tokens_refuse(&in->t, "friction coefficient %d is %g, must be >= 0", i + 1, mu[i]);
    }
  }
  return mu;
}

static void expect_size(siconos_reader* in, const char* name, const saltus_csr* A, int rows,
                        int columns) {
  if (in->t.status == SALTUS_OK && (A->rows != rows || A->columns != columns)) {
    saltusi_tokens_refuse(&in->t, "%s is %d x %d, must be %d x %d", name, A->rows, A->columns, rows,
                          columns);
  }
}

/* Dimension and number of contacts. */
static int read_head(siconos_reader* in, int* dimension) {
  *dimension = saltusi_tokens_int(&in->t, "dimension", 2, 5);
  if (in->t.status == SALTUS_OK && *dimension > 3) {
    saltusi_tokens_refuse(&in->t, "dimension is %d: rolling friction is not read", *dimension);
    in->t.status = SALTUS_ERR_UNSUPPORTED;
  }
  return saltusi_tokens_int(&in->t, "number of contacts", 0, (INT_MAX - 1) / 16);
}

static void read_friction(siconos_reader* in) {
  int d;
  int contacts = read_head(in, &d);
  saltus_csr W = {0};
  saltusi_siconos_matrix(&in->t, "W", in->pool, &W);
  expect_size(in, "W", &W, d * contacts, d * contacts);
  saltus_friction_problem* p = &in->into->file.friction;
  if (in->t.status == SALTUS_OK) {
    p->q = vector(in, "entry of q", d * contacts);
    p->mu = friction_coefficients(in, contacts);
  }
  if (in->t.status == SALTUS_OK) {
    in->t.status = saltusi_contact_problem_set_friction(in->into, d, &W);
  }
}

static void read_global(siconos_reader* in) {
  saltus_global_friction_problem* p = &in->into->file.global;
  int contacts = read_head(in, &p->dimension);
  in->into->file.dimension = p->dimension;
  saltusi_siconos_matrix(&in->t, "M", in->pool, &p->M);
  saltusi_siconos_matrix(&in->t, "H", in->pool, &p->H);
  expect_size(in, "M", &p->M, p->M.rows, p->M.rows);
  expect_size(in, "H", &p->H, p->M.rows, p->dimension * contacts);
  if (in->t.status == SALTUS_OK) {
    p->f = vector(in, "entry of f", p->M.rows);
    p->w = vector(in, "entry of w", p->dimension * contacts);
    p->mu = friction_coefficients(in, contacts);
  }
}

static void set_lcp(siconos_reader* in, const saltus_csr* M, const double* q, int bilateral) {
  saltus_lcp* p = &in->into->file.lcp;
  in->into->file.dimension = 1;
  p->n = M->rows;
  p->bilateral = bilateral;
  p->q = q;
  in->t.status = saltusi_csr_lcp(M, in->pool, p);
}

static void read_lcp(siconos_reader* in) {
  int n = saltusi_tokens_int(&in->t, "number of rows", 0, INT_MAX - 1);
  saltus_csr M = {0};
  saltusi_siconos_matrix(&in->t, "M", in->pool, &M);
  expect_size(in, "M", &M, n, n);
  double* q = in->t.status == SALTUS_OK ? vector(in, "entry of q", n) : NULL;
  if (in->t.status == SALTUS_OK) {
    set_lcp(in, &M, q, 0);
  }
}

/* row[i]: new index of row i of the file; bilateral rows come first. */
static int* read_groups(siconos_reader* in, int equalities, int total) {
  int* ends = SALTUSI_TAKE(in->pool, int, (size_t)total + 3);
  int* row = SALTUSI_TAKE(in->pool, int, total);
  int* file_row = SALTUSI_TAKE(in->pool, int, total);
  if (ends == NULL || row == NULL || file_row == NULL) {
    in->t.status = SALTUS_ERR_MEMORY;
    return NULL;
  }
  saltusi_tokens_int(&in->t, "first row of the first group", 0, 0);
  int groups = 0;
  while (in->t.status == SALTUS_OK && ends[groups] < total) {
    int end = saltusi_tokens_int(&in->t, "end of a group of rows", ends[groups] + 1LL, total);
    ends[++groups] = end;
  }
  int filled[2] = {0, equalities};
  for (int g = 0; g < groups && in->t.status == SALTUS_OK; g++) {
    int kind = saltusi_tokens_int(&in->t, "kind of a group of rows", 0, 1);
    for (int i = ends[g]; i < ends[g + 1] && filled[kind] < (kind == 0 ? equalities : total); i++) {
      file_row[filled[kind]] = i;
      row[i] = filled[kind]++;
    }
  }
  if (in->t.status == SALTUS_OK && (filled[0] != equalities || filled[1] != total)) {
    saltusi_tokens_refuse(&in->t, "the groups do not hold %d equalities and %d other rows",
                          equalities, total - equalities);
  }
  in->into->file.file_row = file_row;
  return row;
}

/* M and q with rows and columns in the new order. */
static void read_grouped(siconos_reader* in, int equalities, int total) {
  int* row = read_groups(in, equalities, total);
  saltus_csr M = {0};
  saltusi_siconos_matrix(&in->t, "M", in->pool, &M);
  expect_size(in, "M", &M, total, total);
  double* read = in->t.status == SALTUS_OK ? vector(in, "entry of q", total) : NULL;
  double* q = SALTUSI_TAKE(in->pool, double, total);
  saltusi_pool scratch = saltusi_pool_over(&in->pool->allocator);
  if (in->t.status == SALTUS_OK) {
    saltusi_matrix_entries e = {.rows = total, .columns = total};
    bool good = q != NULL && saltusi_entries_workspace(&e, (size_t)M.start[total], &scratch);
    in->t.status = good ? SALTUS_OK : SALTUS_ERR_MEMORY;
    for (int i = 0; good && i < total; i++) {
      q[row[i]] = read[i];
      for (int k = M.start[i]; k < M.start[i + 1]; k++) {
        saltusi_entries_add(&e, row[i], row[M.column[k]], M.values[k]);
      }
    }
    if (good) {
      in->t.status = saltusi_entries_csr(&e, in->pool, &M);
    }
  }
  if (in->t.status == SALTUS_OK) {
    set_lcp(in, &M, q, equalities);
  }
  saltusi_pool_free(&scratch);
}

/* Adds a block of the second storage, given by rows, to the entries. */
static void read_part(siconos_reader* in, saltusi_matrix_entries* e, const int* corner, int rows,
                      int columns) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns && in->t.status == SALTUS_OK; j++) {
      double value = saltusi_tokens_real(&in->t, "entry of A, B, C or D");
      if (value != 0.0) {
        saltusi_entries_add(e, corner[0] + i, corner[1] + j, value);
      }
    }
  }
}

static void read_four(siconos_reader* in, int n, int m) {
  int total = n + m;
  unsigned long long count = (unsigned long long)total * (unsigned long long)total;
  saltusi_pool scratch = saltusi_pool_over(&in->pool->allocator);
  saltusi_matrix_entries e = {.rows = total, .columns = total};
  if (!saltusi_tokens_can_hold(&in->t, "matrices", count)) {
    return;
  }
  int* file_row = SALTUSI_TAKE(in->pool, int, total);
  if (count >= INT_MAX || file_row == NULL ||
      !saltusi_entries_workspace(&e, (size_t)count, &scratch)) {
    in->t.status = SALTUS_ERR_MEMORY;
    saltusi_pool_free(&scratch);
    return;
  }
  if (in->t.status == SALTUS_OK) {
    read_part(in, &e, (const int[]){0, 0}, n, n);
    read_part(in, &e, (const int[]){n, n}, m, m);
    read_part(in, &e, (const int[]){0, n}, n, m);
    read_part(in, &e, (const int[]){n, 0}, m, n);
  }
  saltus_csr M = {0};
  double* q = in->t.status == SALTUS_OK ? vector(in, "entry of a or b", total) : NULL;
  if (in->t.status == SALTUS_OK) {
    in->t.status = saltusi_entries_csr(&e, in->pool, &M);
  }
  for (int i = 0; in->t.status == SALTUS_OK && i < total; i++) {
    file_row[i] = i;
  }
  if (in->t.status == SALTUS_OK) {
    in->into->file.file_row = file_row;
    set_lcp(in, &M, q, n);
  }
  saltusi_pool_free(&scratch);
}

static void read_mixed(siconos_reader* in) {
  int first = saltusi_tokens_int(&in->t, "isStorage1", 0, 1);
  int second = saltusi_tokens_int(&in->t, "isStorage2", 0, 1);
  int n = saltusi_tokens_int(&in->t, "number of equalities", 0, INT_MAX / 4);
  int m = saltusi_tokens_int(&in->t, "number of complementarity rows", 0, INT_MAX / 4);
  if (in->t.status == SALTUS_OK && first + second == 0) {
    saltusi_tokens_refuse(&in->t, "isStorage1 and isStorage2 are both 0: there is no problem");
  }
  unsigned long long rows = (unsigned long long)n + (unsigned long long)m;
  if (in->t.status != SALTUS_OK || !saltusi_tokens_can_hold(&in->t, "right-hand side", rows)) {
    return;
  }
  if (first == 1) {
    read_grouped(in, n, n + m);
  } else {
    read_four(in, n, m);
  }
}

saltus_status saltusi_siconos_read(const char* path, saltus_problem_kind kind, saltus_log log,
                                   saltusi_contact_problem* into) {
  assert(into != NULL);
  saltusi_pool text = saltusi_pool_over(&into->pool.allocator);
  siconos_reader in = {.into = into, .pool = &into->pool};
  saltus_status status = saltusi_tokens_load(path, log, &text, &in.t);
  if (status == SALTUS_OK) {
    saltusi_point_locale locale = saltusi_point_locale_enter();
    into->file.kind = kind;
    switch (kind) {
    case SALTUS_PROBLEM_FRICTION:
      read_friction(&in);
      break;
    case SALTUS_PROBLEM_GLOBAL_FRICTION:
      read_global(&in);
      break;
    case SALTUS_PROBLEM_LCP:
      read_lcp(&in);
      break;
    case SALTUS_PROBLEM_MIXED_LCP:
      read_mixed(&in);
      break;
    }
    saltusi_point_locale_leave(locale);
    status = in.t.status;
  }
  saltusi_pool_free(&text);
  return status;
}
