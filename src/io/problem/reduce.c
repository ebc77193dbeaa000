/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reduce.c - reduction of the global to the local problem, column by column of H:
 *
 *   M x = H e_j,   W e_j = H^T x,   and once   M x = f,   q = H^T x + w
 *
 * mass_factor.c solves; its solutions list their nonzero components, so that the cost is proportional to the
 * blocks of W.
 */
#include "base/log.h"
#include "io/problem/formats.h"
#include "io/problem/mass_factor.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

typedef struct reduce_columns {
  const saltus_csr* H;
  int *start, *row; /* H by columns */
  double* value;
  double* sum;   /* [m] H^T x */
  int* mark;     /* [m] */
  int* touched;  /* [m] rows of H^T x that may not be zero */
  int* all_rows; /* [n] 0, 1, 2, .. */
} reduce_columns;

static bool turn_around(const saltus_csr* H, saltusi_pool* pool, reduce_columns* c) {
  size_t m = (size_t)H->columns;
  c->H = H;
  c->start = SALTUSI_TAKE(pool, int, m + 2);
  c->row = SALTUSI_TAKE(pool, int, H->start[H->rows]);
  c->value = SALTUSI_TAKE(pool, double, H->start[H->rows]);
  c->sum = SALTUSI_TAKE(pool, double, m);
  c->mark = SALTUSI_TAKE(pool, int, m);
  c->touched = SALTUSI_TAKE(pool, int, m);
  c->all_rows = SALTUSI_TAKE(pool, int, H->rows);
  if (pool->failed) {
    return false;
  }
  int* at = c->start + 1; /* shifted by one: filling moves each start to its final value */
  for (int k = 0; k < H->start[H->rows]; k++) {
    at[H->column[k] + 1]++;
  }
  for (size_t j = 0; j < m; j++) {
    at[j + 1] += at[j];
  }
  for (int i = 0; i < H->rows; i++) {
    c->all_rows[i] = i;
    for (int k = H->start[i]; k < H->start[i + 1]; k++) {
      int to = at[H->column[k]]++;
      c->row[to] = i;
      c->value[to] = H->values[k];
    }
  }
  return true;
}

/* sum <- H^T x; returns the number of touched rows. mark holds j + 1 for those of column j. */
static int project(reduce_columns* c, const saltusi_mass_factor* mass, int j) {
  int touched = 0;
  for (int k = 0; k < mass->solved_rows; k++) {
    int i = mass->rows[k];
    for (int e = c->H->start[i]; e < c->H->start[i + 1]; e++) {
      int r = c->H->column[e];
      if (c->mark[r] != j + 1) {
        c->mark[r] = j + 1;
        c->sum[r] = 0.0;
        c->touched[touched++] = r;
      }
      c->sum[r] += c->H->values[e] * mass->x[i];
    }
  }
  return touched;
}

typedef struct reduce_entry {
  int row, column;
  double value;
} reduce_entry;

/* Entries of W, in a list that grows. */
typedef struct entry_list {
  saltus_allocator allocator;
  void* entries; /* of type entry */
  size_t count, room;
} entry_list;

static bool append(entry_list* W, int touched, const reduce_columns* c, int j) {
  size_t wanted = W->count + (size_t)touched;
  if (!saltusi_grow(&W->allocator, &W->entries, &W->room, wanted, sizeof(reduce_entry))) {
    return false;
  }
  reduce_entry* list = W->entries;
  for (int k = 0; k < touched; k++) {
    list[W->count++] = (reduce_entry){c->touched[k], j, c->sum[c->touched[k]]};
  }
  return true;
}

static saltus_status take_entries(const entry_list* W, int rows, saltusi_pool* pool,
                                  saltus_csr* out) {
  saltusi_pool scratch = saltusi_pool_over(&pool->allocator);
  saltusi_matrix_entries e = {.rows = rows, .columns = rows};
  saltus_status status = SALTUS_ERR_MEMORY;
  if (W->count < INT_MAX && saltusi_entries_workspace(&e, W->count, &scratch)) {
    const reduce_entry* list = W->entries;
    for (size_t k = 0; k < W->count; k++) {
      saltusi_entries_add(&e, list[k].row, list[k].column, list[k].value);
    }
    status = saltusi_entries_csr(&e, pool, out);
  }
  saltusi_pool_free(&scratch);
  return status;
}

static saltus_status assemble(saltusi_mass_factor* mass, reduce_columns* c,
                              const saltus_global_friction_problem* problem, entry_list* W,
                              double* q) {
  int m = problem->H.columns;
  for (int j = 0; j < m; j++) {
    int first = c->start[j];
    saltusi_mass_factor_solve(mass, c->start[j + 1] - first, c->row + first, c->value + first);
    if (!append(W, project(c, mass, j), c, j)) {
      return SALTUS_ERR_MEMORY;
    }
  }
  saltusi_mass_factor_solve(mass, problem->M.rows, c->all_rows, problem->f);
  int touched = project(c, mass, m);
  for (int k = 0; k < touched; k++) {
    q[c->touched[k]] += c->sum[c->touched[k]];
  }
  return SALTUS_OK;
}

static saltus_status reduce(const saltus_global_friction_problem* problem,
                            saltusi_contact_problem* into) {
  int m = problem->H.columns;
  int contacts = m / problem->dimension;
  saltusi_pool scratch = saltusi_pool_over(&into->pool.allocator);
  reduce_columns c;
  saltusi_mass_factor mass;
  entry_list W = {.allocator = into->pool.allocator};
  double* q = SALTUSI_TAKE(&into->pool, double, m);
  double* mu = SALTUSI_TAKE(&into->pool, double, contacts);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (q != NULL && mu != NULL && turn_around(&problem->H, &scratch, &c)) {
    memcpy(q, problem->w, (size_t)m * sizeof(double));
    status = SALTUS_OK;
    if (problem->M.rows > 0) { /* nothing moves otherwise */
      status = saltusi_mass_factor_open(&mass, &problem->M);
      if (status == SALTUS_OK) {
        status = assemble(&mass, &c, problem, &W, q);
      }
      saltusi_mass_factor_close(&mass);
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
    status = saltusi_contact_problem_set_friction(into, problem->dimension, &rows);
  }
  saltusi_release(&W.allocator, W.entries, W.room, sizeof(reduce_entry));
  saltusi_pool_free(&scratch);
  return status;
}

saltus_status saltus_global_friction_reduce(const saltus_global_friction_problem* problem,
                                            saltus_log log, const saltus_allocator* allocator,
                                            saltus_problem_file** out) {
  assert(out != NULL);
  *out = NULL;
  saltusi_contact_problem* into = saltusi_contact_problem_create(allocator);
  if (into == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = reduce(problem, into);
  if (status == SALTUS_ERR_SINGULAR) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "the matrix M of the global problem is singular");
  }
  if (status == SALTUS_ERR_UNSUPPORTED) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "this build of Saltus reduces no global problems (CMake option "
                "SALTUS_WITH_CXSPARSE)");
  }
  if (status != SALTUS_OK) {
    saltus_problem_file_destroy(&into->file);
    return status;
  }
  *out = &into->file;
  return SALTUS_OK;
}
