/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mass_factor.c - factors of the mass matrix by CXSparse (Davis, Direct Methods for Sparse Linear
 * Systems, SIAM 2006; LGPL):
 *
 *   M symmetric and positive definite   P M P^T = L L^T
 *   otherwise                           P M Q = L U
 *
 * A body is a component of the graph of M, that is a tree of the elimination forest. A Cholesky solve
 * visits only the trees that the right-hand side touches, so the cost of W grows with its blocks. The whole tree is
 * solved, since M^-1 b is full in the component.
 */
#include "io/problem/mass_factor.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <suitesparse/cs.h>

/* Minimum degree of M + M^T, and of M^T M for LU. */
enum { ORDER_CHOLESKY = 1, ORDER_LU = 2 };

static bool is_symmetric(const saltus_csr* M) {
  /* traverses the matrix and its transpose in parallel: entries (i, j) come in the order of j */
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

/* Compressed rows read as compressed columns: the transpose. */
static cs_di transpose_view(const saltus_csr* M) {
  return (cs_di){.nzmax = M->start[M->rows],
                 .m = M->rows,
                 .n = M->rows,
                 .p = (int*)M->start,
                 .i = (int*)M->column,
                 .x = (double*)M->values,
                 .nz = -1};
}

/* Positions sorted into the trees of the elimination forest; a parent has a higher position. */
static void find_components(saltusi_mass_factor* f) {
  int n = f->M->rows;
  const int* parent = f->symbolic->parent;
  int components = 0;
  for (int j = n - 1; j >= 0; j--) {
    f->component_of[j] = parent[j] < 0 ? components++ : f->component_of[parent[j]];
  }
  memset(f->component_start, 0, ((size_t)n + 1) * sizeof(int));
  for (int j = 0; j < n; j++) {
    f->component_start[f->component_of[j] + 1]++;
  }
  for (int c = 0; c < components; c++) {
    f->component_start[c + 1] += f->component_start[c];
  }
  for (int j = n - 1; j >= 0; j--) { /* backwards: each end is moved to its start */
    f->member[--f->component_start[f->component_of[j] + 1]] = j;
  }
  for (int c = 0; c < components; c++) {
    f->component_start[c] = f->component_start[c + 1];
  }
  f->component_start[components] = n;
  for (int i = 0; i < n; i++) {
    f->row_at[f->symbolic->pinv[i]] = i;
  }
}

static bool factor_cholesky(saltusi_mass_factor* f) {
  cs_di view = transpose_view(f->M);
  f->symbolic = cs_di_schol(ORDER_CHOLESKY, &view);
  f->numeric = f->symbolic != NULL ? cs_di_chol(&view, f->symbolic) : NULL;
  if (f->numeric == NULL) { /* not positive definite */
    cs_di_sfree(f->symbolic);
    f->symbolic = NULL;
    return false;
  }
  find_components(f);
  return true;
}

/* A pivot at the rounding error of its column indicates a singular matrix. */
static bool pivots_are_sound(const cs_di* U) {
  for (int j = 0; j < U->n; j++) {
    double largest = 0.0;
    for (int k = U->p[j]; k < U->p[j + 1]; k++) {
      largest = fmax(largest, fabs(U->x[k]));
    }
    if (!(fabs(U->x[U->p[j + 1] - 1]) > 4.0 * DBL_EPSILON * largest)) {
      return false;
    }
  }
  return true;
}

static bool factor_lu(saltusi_mass_factor* f) {
  cs_di view = transpose_view(f->M);
  cs_di* columns = cs_di_transpose(&view, 1);
  if (columns != NULL) {
    f->symbolic = cs_di_sqr(ORDER_LU, columns, 0);
    f->numeric = f->symbolic != NULL ? cs_di_lu(columns, f->symbolic, 1.0) : NULL;
  }
  cs_di_spfree(columns);
  return f->numeric != NULL && pivots_are_sound(f->numeric->U);
}

saltus_status saltusi_mass_factor_open(saltusi_mass_factor* f, const saltus_csr* M) {
  assert(f != NULL && M != NULL);
  *f = (saltusi_mass_factor){.M = M};
  int** lists[] = {&f->component_of, &f->component_start, &f->member,
                   &f->row_at,       &f->wanted,          &f->mark,
                   &f->rows};
  size_t n = (size_t)M->rows;
  bool good = true;
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
    *lists[k] = calloc(n + 1, sizeof(int));
    good = good && *lists[k] != NULL;
  }
  f->work = calloc(n + 1, sizeof(double));
  f->x = calloc(n + 1, sizeof(double));
  if (!good || f->work == NULL || f->x == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  f->symmetric = is_symmetric(M) && factor_cholesky(f);
  return f->symmetric || factor_lu(f) ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

void saltusi_mass_factor_close(saltusi_mass_factor* f) {
  assert(f != NULL);
  cs_di_sfree(f->symbolic);
  cs_di_nfree(f->numeric);
  int* lists[] = {f->component_of, f->component_start, f->member, f->row_at, f->wanted, f->mark,
                  f->rows};
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
    free(lists[k]);
  }
  free(f->work);
  free(f->x);
  *f = (saltusi_mass_factor){0};
}

/* L L^T x = b within one component; the diagonal is the first entry of each column of L. */
static void solve_component(saltusi_mass_factor* f, int c) {
  const cs_di* L = f->numeric->L;
  double* x = f->work;
  int from = f->component_start[c];
  int to = f->component_start[c + 1];
  for (int k = from; k < to; k++) {
    int j = f->member[k];
    x[j] /= L->x[L->p[j]];
    for (int e = L->p[j] + 1; e < L->p[j + 1]; e++) {
      x[L->i[e]] -= L->x[e] * x[j];
    }
  }
  for (int k = to - 1; k >= from; k--) {
    int j = f->member[k];
    for (int e = L->p[j] + 1; e < L->p[j + 1]; e++) {
      x[j] -= L->x[e] * x[L->i[e]];
    }
    x[j] /= L->x[L->p[j]];
  }
  for (int k = from; k < to; k++) {
    int row = f->row_at[f->member[k]];
    f->rows[f->solved_rows++] = row;
    f->x[row] = x[f->member[k]];
    x[f->member[k]] = 0.0;
  }
}

static void solve_lu(saltusi_mass_factor* f, int count, const int* row, const double* value) {
  int n = f->M->rows;
  memset(f->work, 0, (size_t)n * sizeof(double));
  for (int k = 0; k < count; k++) {
    f->work[f->numeric->pinv[row[k]]] = value[k];
  }
  cs_di_lsolve(f->numeric->L, f->work);
  cs_di_usolve(f->numeric->U, f->work);
  for (int k = 0; k < n; k++) {
    f->x[f->symbolic->q[k]] = f->work[k];
    f->rows[k] = k;
  }
  f->solved_rows = n;
}

void saltusi_mass_factor_solve(saltusi_mass_factor* f, int count, const int* row,
                               const double* value) {
  assert(f != NULL && count >= 0);
  if (!f->symmetric) {
    solve_lu(f, count, row, value);
    return;
  }
  int components = 0;
  f->solves++;
  f->solved_rows = 0;
  for (int k = 0; k < count; k++) {
    int at = f->symbolic->pinv[row[k]];
    int c = f->component_of[at];
    f->work[at] = value[k];
    if (f->mark[c] != f->solves) {
      f->mark[c] = f->solves;
      f->wanted[components++] = c;
    }
  }
  for (int k = 0; k < components; k++) {
    solve_component(f, f->wanted[k]);
  }
}
