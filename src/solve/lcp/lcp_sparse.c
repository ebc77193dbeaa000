/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_sparse.c - order by approximate minimum degree (Amestoy, Davis & Duff, ACM TOMS 30, 2004), rows
 * without diagonal entry last, elimination tree and rows of L (Liu; Davis, Direct Methods for Sparse Linear Systems, section 4),
 * on the pattern of M + M^T. Factors row by row: for each i in row k of L, ascending,
 *
 *   l_ki = x_i / u_ii, x <- x - l_ki u_i; the remaining x is row k of U.
 */
#include "solve/lcp/lcp_sparse.h"

#include "math/ordering.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pivot below this part of the largest entry of its row, 45 eps, is rounding: sparse rows have fewer terms
 * than full ones. */
static const double singular_pivot = 1e-14;

/* M + M^T without the diagonal: neighbours of each row, some twice. */
typedef struct lcp_sparse_graph {
  int *start, *to;
} lcp_sparse_graph;

static bool make_graph(const saltus_csr* M, saltusi_pool* pool, lcp_sparse_graph* g) {
  int n = M->rows;
  g->start = SALTUSI_TAKE(pool, int, (size_t)n + 2);
  g->to = SALTUSI_TAKE(pool, int, 2 * (size_t)M->start[n]);
  if (g->start == NULL || g->to == NULL) {
    return false;
  }
  int* at = g->start + 1; /* shifted by one: filling moves each start to its position */
  for (int i = 0; i < n; i++) {
    for (int k = M->start[i]; k < M->start[i + 1]; k++) {
      at[i + 1]++;
      at[M->column[k] + 1]++;
    }
  }
  for (int i = 0; i < n; i++) {
    at[i + 1] += at[i];
  }
  for (int i = 0; i < n; i++) {
    for (int k = M->start[i]; k < M->start[i + 1]; k++) {
      int j = M->column[k];
      g->to[at[i]++] = j;
      g->to[at[j]++] = i;
    }
  }
  return true;
}

static void find_tree(const saltusi_sparse_lu* lu, const lcp_sparse_graph* g, int* parent,
                      int* ancestor) {
  for (int k = 0; k < lu->n; k++) {
    parent[k] = -1;
    ancestor[k] = -1;
    int row = lu->order[k];
    for (int e = g->start[row]; e < g->start[row + 1]; e++) {
      int i = lu->rank[g->to[e]];
      while (i >= 0 && i < k) {
        int next = ancestor[i];
        ancestor[i] = k; /* shortens later walks */
        if (next < 0) {
          parent[i] = k;
        }
        i = next;
      }
    }
  }
}

/* Columns of row k of L into list, unsorted; returns their number. */
static int row_columns(const saltusi_sparse_lu* lu, const lcp_sparse_graph* g, int k,
                       const int* parent, int* mark, int* list) {
  int count = 0;
  int row = lu->order[k];
  mark[k] = k + 1;
  for (int e = g->start[row]; e < g->start[row + 1]; e++) {
    for (int i = lu->rank[g->to[e]]; i < k && mark[i] != k + 1; i = parent[i]) {
      mark[i] = k + 1;
      list[count++] = i;
    }
  }
  return count;
}

static int ascending(const void* a, const void* b) {
  int x = *(const int*)a;
  int y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Lengths of the rows of L and of U; false: more entries than INT_MAX. */
static bool count_fill(saltusi_sparse_lu* lu, const lcp_sparse_graph* g, const int* parent,
                       int* mark, int* list) {
  long long total = 0;
  for (int k = 0; k < lu->n; k++) {
    int count = row_columns(lu, g, k, parent, mark, list);
    total += count;
    if (total >= INT_MAX) {
      return false;
    }
    lu->lower_start[k + 1] = (int)total;
    for (int c = 0; c < count; c++) {
      lu->upper_start[list[c] + 2]++;
    }
  }
  for (int k = 0; k < lu->n; k++) {
    lu->upper_start[k + 2] += lu->upper_start[k + 1];
  }
  memset(mark, 0, (size_t)lu->n * sizeof(int));
  return true;
}

static void fill_patterns(saltusi_sparse_lu* lu, const lcp_sparse_graph* g, const int* parent,
                          int* mark) {
  for (int k = 0; k < lu->n; k++) {
    int* row = lu->lower_column + lu->lower_start[k];
    int count = row_columns(lu, g, k, parent, mark, row);
    qsort(row, (size_t)count, sizeof(int), ascending);
    for (int c = 0; c < count; c++) {
      lu->upper_column[lu->upper_start[row[c] + 1]++] = k;
    }
  }
}

static bool take_rows(saltusi_sparse_lu* lu, const saltus_csr* M, saltusi_pool* pool) {
  size_t n = (size_t)M->rows;
  lu->n = M->rows;
  lu->start = SALTUSI_TAKE(pool, int, n + 1);
  lu->column = SALTUSI_TAKE(pool, int, M->start[n]);
  lu->order = SALTUSI_TAKE(pool, int, n);
  lu->rank = SALTUSI_TAKE(pool, int, n);
  lu->lower_start = SALTUSI_TAKE(pool, int, n + 1);
  lu->upper_start = SALTUSI_TAKE(pool, int, n + 2);
  lu->pivot = SALTUSI_TAKE(pool, double, n);
  lu->row = SALTUSI_TAKE(pool, double, n);
  return !pool->failed;
}

static saltus_status take_factors(saltusi_sparse_lu* lu, const lcp_sparse_graph* g,
                                  saltusi_pool* pool, saltusi_pool* scratch) {
  int* parent = SALTUSI_TAKE(scratch, int, lu->n);
  int* mark = SALTUSI_TAKE(scratch, int, lu->n);
  int* list = SALTUSI_TAKE(scratch, int, lu->n);
  if (scratch->failed) {
    return SALTUS_ERR_MEMORY;
  }
  find_tree(lu, g, parent, mark);
  memset(mark, 0, (size_t)lu->n * sizeof(int));
  if (!count_fill(lu, g, parent, mark, list)) {
    return SALTUS_ERR_MEMORY;
  }
  size_t count = (size_t)lu->lower_start[lu->n];
  lu->lower_column = SALTUSI_TAKE(pool, int, count);
  lu->upper_column = SALTUSI_TAKE(pool, int, count);
  lu->lower = SALTUSI_TAKE(pool, double, count);
  lu->upper = SALTUSI_TAKE(pool, double, count);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  fill_patterns(lu, g, parent, mark);
  return SALTUS_OK;
}

/* Rows without an entry on the diagonal (multipliers beside velocities) come last: eliminating the
 * others gives them one. */
static bool find_order(saltusi_sparse_lu* lu, const saltus_csr* M, const lcp_sparse_graph* g,
                       saltusi_pool* scratch) {
  size_t room = saltusi_ordering_workspace((size_t)g->start[lu->n], lu->n);
  bool* later = SALTUSI_TAKE(scratch, bool, lu->n);
  int* integers = SALTUSI_TAKE(scratch, int, room);
  if (later == NULL || integers == NULL) {
    return false;
  }
  for (int i = 0; i < lu->n; i++) {
    later[i] = true;
    for (int e = M->start[i]; e < M->start[i + 1]; e++) {
      later[i] = later[i] && M->column[e] != i;
    }
  }
  saltusi_ordering(lu->n, g->start, g->to, later, lu->order, integers);
  return true;
}

saltus_status saltusi_sparse_lu_analyse(saltusi_sparse_lu* lu, const saltus_csr* M,
                                        saltusi_pool* pool) {
  assert(lu != NULL && M != NULL && pool != NULL);
  *lu = (saltusi_sparse_lu){0};
  saltusi_pool scratch = saltusi_pool_over(&pool->allocator);
  lcp_sparse_graph g;
  saltus_status status = SALTUS_ERR_MEMORY;
  if (take_rows(lu, M, pool) && make_graph(M, &scratch, &g)) {
    memcpy(lu->start, M->start, ((size_t)M->rows + 1) * sizeof(int));
    memcpy(lu->column, M->column, (size_t)M->start[M->rows] * sizeof(int));
    if (find_order(lu, M, &g, &scratch)) {
      for (int k = 0; k < lu->n; k++) {
        lu->rank[lu->order[k]] = k;
      }
      status = take_factors(lu, &g, pool, &scratch);
    }
  }
  saltusi_pool_free(&scratch);
  if (status != SALTUS_OK) {
    lu->n = 0;
  }
  return status;
}

bool saltusi_sparse_lu_matches(const saltusi_sparse_lu* lu, const saltus_csr* M) {
  assert(lu != NULL && M != NULL);
  return lu->n > 0 && lu->n == M->rows && lu->start[lu->n] == M->start[M->rows] &&
         memcmp(lu->start, M->start, ((size_t)lu->n + 1) * sizeof(int)) == 0 &&
         memcmp(lu->column, M->column, (size_t)lu->start[lu->n] * sizeof(int)) == 0;
}

/* Row k of M_JJ into lu->row; returns its largest entry. */
static double load_row(saltusi_sparse_lu* lu, const saltus_csr* M, const int* place, int k,
                       const double* added) {
  int i = lu->order[k];
  double largest = 0.0;
  for (int e = M->start[i]; e < M->start[i + 1]; e++) {
    int j = M->column[e];
    if (place[j] >= 0) {
      lu->row[lu->rank[j]] += M->values[e];
      double size = fabs(M->values[e]);
      largest = size > largest ? size : largest;
    }
  }
  lu->row[k] += added != NULL ? added[i] : 0.0;
  return largest;
}

/* x <- x - (rows of U above) for row k; fills row k of L. */
static void eliminate_row(saltusi_sparse_lu* lu, const int* place, int k) {
  double* x = lu->row;
  for (int e = lu->lower_start[k]; e < lu->lower_start[k + 1]; e++) {
    int i = lu->lower_column[e];
    double factor = place[lu->order[i]] >= 0 ? x[i] * lu->pivot[i] : 0.0;
    x[i] = 0.0;
    lu->lower[e] = factor;
    if (factor != 0.0) {
      for (int u = lu->upper_start[i]; u < lu->upper_start[i + 1]; u++) {
        x[lu->upper_column[u]] -= factor * lu->upper[u];
      }
    }
  }
}

bool saltusi_sparse_lu_factor(saltusi_sparse_lu* lu, const saltus_csr* M, const int* place,
                              const double* added) {
  assert(lu != NULL && M != NULL);
  bool good = true;
  for (int k = 0; k < lu->n; k++) {
    if (place[lu->order[k]] < 0) {
      continue;
    }
    double largest = load_row(lu, M, place, k, added);
    eliminate_row(lu, place, k);
    double pivot = lu->row[k];
    lu->row[k] = 0.0;
    for (int u = lu->upper_start[k]; u < lu->upper_start[k + 1]; u++) {
      lu->upper[u] = lu->row[lu->upper_column[u]];
      lu->row[lu->upper_column[u]] = 0.0;
    }
    if (!(fabs(pivot) > singular_pivot * largest) || !isfinite(pivot)) {
      good = false;
      break;
    }
    lu->pivot[k] = 1.0 / pivot;
  }
  return good;
}

void saltusi_sparse_lu_solve(saltusi_sparse_lu* lu, const int* place, double* x) {
  assert(lu != NULL);
  double* y = lu->row;
  for (int k = 0; k < lu->n; k++) {
    int at = place[lu->order[k]];
    if (at < 0) {
      continue;
    }
    double sum = x[at];
    for (int e = lu->lower_start[k]; e < lu->lower_start[k + 1]; e++) {
      sum -= lu->lower[e] * y[lu->lower_column[e]];
    }
    y[k] = sum;
  }
  for (int k = lu->n - 1; k >= 0; k--) {
    int at = place[lu->order[k]];
    if (at < 0) {
      continue;
    }
    double sum = y[k];
    for (int u = lu->upper_start[k]; u < lu->upper_start[k + 1]; u++) {
      sum -= lu->upper[u] * y[lu->upper_column[u]];
    }
    y[k] = sum * lu->pivot[k];
    x[at] = y[k];
  }
  memset(y, 0, (size_t)lu->n * sizeof(double));
}
