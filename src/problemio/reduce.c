/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reduce.c - from the global to the local problem, column by column of H:
 *
 *   M x = H e_j,   W e_j = H^T x,   and once   M x = f,   q = H^T x + w
 *
 * M symmetric and positive definite: Cholesky factors of CHOLMOD (Chen, Davis, Hager & Rajamanickam,
 * ACM TOMS 35, 2008), whose solution for a sparse right-hand side touches only the bodies that the
 * contact touches, so that the cost grows with the blocks of W. Otherwise LU factors of UMFPACK
 * (Davis, ACM TOMS 30, 2004).
 */
#include "base/log.h"
#include "problemio/formats.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>

typedef struct solver {
  cholmod_common common;
  cholmod_factor* factor;        /* NULL: LU */
  cholmod_dense *b, *x, *y, *e;  /* b is ours, the others belong to cholmod_solve2 */
  cholmod_sparse *b_set, *x_set; /* patterns */
  void* lu;
  const saltus_csr* M;
  double* plain; /* [n] solution of the LU */
} solver;

static bool is_symmetric(const saltus_csr* M) {
  /* walks the matrix and its transpose side by side: entry (i, j) is met in the order of j */
  bool same = true;
  int* at = malloc(((size_t)M->rows + 1) * sizeof(int));
  if (at == NULL) {
    return false;
  }
  memcpy(at, M->start, ((size_t)M->rows + 1) * sizeof(int));
  for (int i = 0; i < M->rows && same; i++) {
    for (int k = M->start[i]; k < M->start[i + 1] && same; k++) {
      int j = M->column[k];
      int mirror = at[j];
      same = mirror < M->start[j + 1] && M->column[mirror] == i &&
             fabs(M->values[mirror] - M->values[k]) <= 1e-14 * fabs(M->values[k]);
      at[j]++;
    }
  }
  free(at);
  return same;
}

/* The lower triangle by columns is the upper one by rows. */
static bool factor_cholesky(solver* s) {
  const saltus_csr* M = s->M;
  cholmod_sparse view = {.nrow = (size_t)M->rows,
                         .ncol = (size_t)M->rows,
                         .nzmax = (size_t)M->start[M->rows],
                         .p = (void*)M->start,
                         .i = (void*)M->column,
                         .x = (void*)M->values,
                         .stype = -1,
                         .itype = CHOLMOD_INT,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE,
                         .sorted = 1,
                         .packed = 1};
  s->common.supernodal = CHOLMOD_SIMPLICIAL; /* sparse right-hand sides need it */
  s->common.print = 0;
  s->factor = cholmod_analyze(&view, &s->common);
  bool good = s->factor != NULL && cholmod_factorize(&view, s->factor, &s->common) &&
              s->common.status == CHOLMOD_OK && s->factor->minor == s->factor->n;
  if (!good) {
    cholmod_free_factor(&s->factor, &s->common);
  }
  return good;
}

static bool factor_lu(solver* s) {
  const saltus_csr* M = s->M;
  void* symbolic = NULL;
  /* compressed rows are the columns of the transpose */
  int code =
      umfpack_di_symbolic(M->rows, M->rows, M->start, M->column, M->values, &symbolic, NULL, NULL);
  if (code == UMFPACK_OK) {
    code = umfpack_di_numeric(M->start, M->column, M->values, symbolic, &s->lu, NULL, NULL);
  }
  umfpack_di_free_symbolic(&symbolic);
  return code == UMFPACK_OK;
}

static bool open_solver(solver* s, const saltus_csr* M) {
  *s = (solver){.M = M};
  cholmod_start(&s->common);
  size_t n = (size_t)M->rows;
  s->b = cholmod_zeros(n, 1, CHOLMOD_REAL, &s->common);
  s->b_set = cholmod_allocate_sparse(n, 1, n, 0, 1, 0, CHOLMOD_PATTERN, &s->common);
  s->plain = calloc(n + 1, sizeof(double));
  if (s->b == NULL || s->b_set == NULL || s->plain == NULL) {
    return false;
  }
  return (is_symmetric(M) && factor_cholesky(s)) || factor_lu(s);
}

static void close_solver(solver* s) {
  cholmod_free_factor(&s->factor, &s->common);
  cholmod_free_dense(&s->b, &s->common);
  cholmod_free_dense(&s->x, &s->common);
  cholmod_free_dense(&s->y, &s->common);
  cholmod_free_dense(&s->e, &s->common);
  cholmod_free_sparse(&s->b_set, &s->common);
  cholmod_free_sparse(&s->x_set, &s->common);
  umfpack_di_free_numeric(&s->lu);
  cholmod_finish(&s->common);
  free(s->plain);
}

/* Solves for the right-hand side in b, nonzero in the rows of b_set. The solution is *x, nonzero in
 * *count rows `rows` (NULL: anywhere). */
static bool solve(solver* s, const double** x, const int** rows, int* count) {
  *rows = NULL;
  *count = s->M->rows;
  if (s->factor == NULL) {
    *x = s->plain;
    return umfpack_di_solve(UMFPACK_At, s->M->start, s->M->column, s->M->values, s->plain, s->b->x,
                            s->lu, NULL, NULL) == UMFPACK_OK;
  }
  if (!cholmod_solve2(CHOLMOD_A, s->factor, s->b, s->b_set, &s->x, &s->x_set, &s->y, &s->e,
                      &s->common)) {
    return false;
  }
  *x = s->x->x;
  *rows = s->x_set->i;
  *count = ((const int*)s->x_set->p)[1];
  return true;
}

typedef struct columns {
  const saltus_csr* H;
  int *start, *row; /* H by columns */
  double* value;
  double* sum;  /* [m] H^T x */
  int* mark;    /* [m] */
  int* touched; /* [m] rows of H^T x that may not be zero */
} columns;

static bool turn_around(const saltus_csr* H, saltusi_pool* pool, columns* c) {
  size_t m = (size_t)H->columns;
  c->H = H;
  c->start = SALTUSI_TAKE(pool, int, m + 2);
  c->row = SALTUSI_TAKE(pool, int, H->start[H->rows]);
  c->value = SALTUSI_TAKE(pool, double, H->start[H->rows]);
  c->sum = SALTUSI_TAKE(pool, double, m);
  c->mark = SALTUSI_TAKE(pool, int, m);
  c->touched = SALTUSI_TAKE(pool, int, m);
  if (pool->failed) {
    return false;
  }
  int* at = c->start + 1; /* one ahead: filling moves each start to its place */
  for (int k = 0; k < H->start[H->rows]; k++) {
    at[H->column[k] + 1]++;
  }
  for (size_t j = 0; j < m; j++) {
    at[j + 1] += at[j];
  }
  for (int i = 0; i < H->rows; i++) {
    for (int k = H->start[i]; k < H->start[i + 1]; k++) {
      int to = at[H->column[k]]++;
      c->row[to] = i;
      c->value[to] = H->values[k];
    }
  }
  return true;
}

/* sum <- H^T x; returns the number of touched rows. mark holds j + 1 for those of column j. */
static int project(columns* c, const double* x, const int* rows, int count, int j) {
  int touched = 0;
  for (int k = 0; k < count; k++) {
    int i = rows != NULL ? rows[k] : k;
    for (int e = c->H->start[i]; e < c->H->start[i + 1]; e++) {
      int r = c->H->column[e];
      if (c->mark[r] != j + 1) {
        c->mark[r] = j + 1;
        c->sum[r] = 0.0;
        c->touched[touched++] = r;
      }
      c->sum[r] += c->H->values[e] * x[i];
    }
  }
  return touched;
}

/* Puts column j of H into the right-hand side; or takes it out again. */
static void load_column(solver* s, const columns* c, int j, bool in) {
  double* b = s->b->x;
  int* pattern = s->b_set->i;
  int* ends = s->b_set->p;
  int filled = 0;
  for (int k = c->start[j]; k < c->start[j + 1]; k++) {
    b[c->row[k]] = in ? c->value[k] : 0.0;
    pattern[filled++] = c->row[k];
  }
  ends[0] = 0;
  ends[1] = in ? filled : 0;
}

typedef struct entry {
  int row, column;
  double value;
} entry;

/* Entries of W, in a list that grows. */
typedef struct entry_list {
  saltus_allocator allocator;
  void* entries; /* of type entry */
  size_t count, room;
} entry_list;

static bool append(entry_list* W, int touched, const columns* c, int j) {
  size_t wanted = W->count + (size_t)touched;
  if (!saltusi_grow(&W->allocator, &W->entries, &W->room, wanted, sizeof(entry))) {
    return false;
  }
  entry* list = W->entries;
  for (int k = 0; k < touched; k++) {
    list[W->count++] = (entry){c->touched[k], j, c->sum[c->touched[k]]};
  }
  return true;
}

static saltus_status take_entries(const entry_list* W, int rows, saltusi_pool* pool,
                                  saltus_csr* out) {
  saltusi_pool scratch = saltusi_pool_over(&pool->allocator);
  saltusi_entries e = {.rows = rows, .columns = rows};
  saltus_status status = SALTUS_ERR_MEMORY;
  if (W->count < INT_MAX && saltusi_entries_room(&e, W->count, &scratch)) {
    const entry* list = W->entries;
    for (size_t k = 0; k < W->count; k++) {
      saltusi_entries_add(&e, list[k].row, list[k].column, list[k].value);
    }
    status = saltusi_entries_csr(&e, pool, out);
  }
  saltusi_pool_free(&scratch);
  return status;
}

static saltus_status assemble(solver* s, columns* c, const saltus_global_friction_problem* problem,
                              entry_list* W, double* q) {
  const double* x;
  const int* rows;
  int count;
  int m = problem->H.columns;
  for (int j = 0; j < m; j++) {
    load_column(s, c, j, true);
    bool good = solve(s, &x, &rows, &count);
    load_column(s, c, j, false);
    if (!good) {
      return SALTUS_ERR_SINGULAR;
    }
    if (!append(W, project(c, x, rows, count, j), c, j)) {
      return SALTUS_ERR_MEMORY;
    }
  }
  int n = problem->M.rows;
  int* pattern = s->b_set->i;
  int* ends = s->b_set->p;
  for (int i = 0; i < n; i++) {
    ((double*)s->b->x)[i] = problem->f[i];
    pattern[i] = i;
  }
  ends[1] = n;
  if (!solve(s, &x, &rows, &count)) {
    return SALTUS_ERR_SINGULAR;
  }
  int touched = project(c, x, rows, count, m);
  for (int k = 0; k < touched; k++) {
    q[c->touched[k]] += c->sum[c->touched[k]];
  }
  return SALTUS_OK;
}

static saltus_status reduce(const saltus_global_friction_problem* problem, saltusi_problem* into) {
  int m = problem->H.columns;
  int contacts = m / problem->dimension;
  saltusi_pool scratch = saltusi_pool_over(&into->pool.allocator);
  columns c;
  solver s;
  entry_list W = {.allocator = into->pool.allocator};
  double* q = SALTUSI_TAKE(&into->pool, double, m);
  double* mu = SALTUSI_TAKE(&into->pool, double, contacts);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (q != NULL && mu != NULL && turn_around(&problem->H, &scratch, &c)) {
    memcpy(q, problem->w, (size_t)m * sizeof(double));
    status = SALTUS_OK;
    if (problem->M.rows > 0) { /* nothing moves otherwise */
      status = open_solver(&s, &problem->M) ? SALTUS_OK : SALTUS_ERR_SINGULAR;
      if (status == SALTUS_OK) {
        status = assemble(&s, &c, problem, &W, q);
      }
      close_solver(&s);
    }
  }
  saltus_csr rows;
  if (status == SALTUS_OK) {
    status = take_entries(&W, m, &into->pool, &rows);
  }
  if (status == SALTUS_OK) {
    memcpy(mu, problem->mu, (size_t)contacts * sizeof(double));
    into->file.friction.q = q;
    into->file.friction.mu = mu;
    status = saltusi_problem_set_friction(into, problem->dimension, &rows);
  }
  saltusi_release(&W.allocator, W.entries, W.room, sizeof(entry));
  saltusi_pool_free(&scratch);
  return status;
}

saltus_status saltus_global_friction_reduce(const saltus_global_friction_problem* problem,
                                            saltus_log log, const saltus_allocator* allocator,
                                            saltus_problem_file** out) {
  *out = NULL;
  saltusi_problem* into = saltusi_problem_create(allocator);
  if (into == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = reduce(problem, into);
  if (status == SALTUS_ERR_SINGULAR) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "the matrix M of the global problem is singular");
  }
  if (status != SALTUS_OK) {
    saltus_problem_file_destroy(&into->file);
    return status;
  }
  *out = &into->file;
  return SALTUS_OK;
}
