/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * factors.c - A = m M + fv F_v + fq F_q with the sparsity of the branches (Featherstone 2008, chapter 6.4): entry (j, k)
 * is nonzero only where one of the two velocities is on the path of the other. Elimination from the leaves to the root
 * has no fill-in:
 *
 *   for j = n - 1 .. 0:   A_ik -= (A_ij / A_jj) A_jk       i, k ahead of j on its path
 *
 * Forces that couple different branches make A dense, with pivoting.
 */
#include "base/lanes.h"
#include "math/matrix.h"
#include "tree/kinematic_tree.h"

#include <assert.h>
#include <math.h>

/* A pivot below this fraction of its diagonal entry is rounding. */
static const double singular_pivot = 1e-14;

static size_t bytes(const void* self) {
  const saltus_tree* tree = self;
  const size_t n = (size_t)tree->axes;
  return tree->dense ? n * n * sizeof(double) + n * sizeof(int)
                     : 2 * tree->entries * sizeof(double);
}

/* y -= s x */
SALTUSI_FOR_MACHINES static void take_off(int n, double s, const double* restrict x,
                                          double* restrict y) {
  for (int k = 0; k < n; k++) {
    y[k] -= s * x[k];
  }
}

/* Eliminates velocity j; its upper entries become the factors A_ij / A_jj. */
static void eliminate(const saltus_tree* tree, int j, double* lower, double* upper) {
  const saltusi_tree_axis* axis = &tree->axis[j];
  double *row = lower + axis->entry, *column = upper + axis->entry;
  const double over = 1.0 / row[axis->depth];
  for (int i = axis->parent; i >= 0; i = tree->axis[i].parent) {
    const saltusi_tree_axis* ahead = &tree->axis[i];
    const int d = ahead->depth;
    take_off(d + 1, column[d] * over, row, lower + ahead->entry);
    take_off(d, row[d] * over, column, upper + ahead->entry);
  }
  for (int d = 0; d < axis->depth; d++) {
    column[d] *= over;
  }
}

static saltus_status assemble_dense(const saltus_tree* tree, double* A, const saltus_point* at,
                                    const double factor[3]) {
  const int n = tree->axes;
  saltusi_tree_matrix(tree, at, factor, NULL, NULL, A);
  if (!isfinite(saltusi_long_max_abs(n * n, A))) {
    return SALTUS_RETRY_NAN;
  }
  int* pivot = (int*)(void*)(A + (size_t)n * (size_t)n);
  return saltusi_lu_factor(n, A, pivot, singular_pivot) ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

static saltus_status assemble(const void* self, void* matrix, const saltus_point* at, double m,
                              double fv, double fq) {
  const saltus_tree* tree = self;
  const double factor[3] = {m, fv, fq};
  assert(tree != NULL && matrix != NULL && at != NULL);
  if (tree->dense) {
    return assemble_dense(tree, matrix, at, factor);
  }
  double *lower = matrix, *upper = lower + tree->entries;
  saltusi_tree_matrix(tree, at, factor, lower, upper, NULL);
  for (int j = tree->axes - 1; j >= 0; j--) {
    const saltusi_tree_axis* axis = &tree->axis[j];
    const double size = saltusi_max_abs(axis->depth + 1, lower + axis->entry);
    const double pivot = fabs(lower[axis->entry + (size_t)axis->depth]);
    if (!isfinite(size)) {
      return SALTUS_RETRY_NAN;
    }
    if (!(pivot > singular_pivot * size)) {
      return SALTUS_ERR_SINGULAR;
    }
    eliminate(tree, j, lower, upper);
  }
  return SALTUS_OK;
}

static void solve_range(const saltus_tree* tree, const double* lower, const double* upper, int from,
                        int to, double* x) {
  for (int j = to - 1; j >= from; j--) {
    const saltusi_tree_axis* axis = &tree->axis[j];
    const double *column = upper + axis->entry, value = x[j];
    for (int i = axis->parent, d = axis->depth - 1; value != 0.0 && i >= 0;
         i = tree->axis[i].parent, d--) {
      x[i] -= column[d] * value;
    }
  }
  for (int j = from; j < to; j++) {
    const saltusi_tree_axis* axis = &tree->axis[j];
    const double* row = lower + axis->entry;
    double sum = x[j];
    for (int i = axis->parent, d = axis->depth - 1; i >= 0; i = tree->axis[i].parent, d--) {
      sum -= row[d] * x[i];
    }
    x[j] = sum / row[axis->depth];
  }
}

static void solve(const void* self, const void* matrix, double* x) {
  const saltus_tree* tree = self;
  assert(tree != NULL && matrix != NULL && x != NULL);
  const double* lower = matrix;
  if (tree->dense) {
    const int n = tree->axes;
    saltusi_lu_solve(n, lower, (const int*)(const void*)(lower + (size_t)n * (size_t)n), x);
    return;
  }
  solve_range(tree, lower, lower + tree->entries, 0, tree->axes, x);
}

/* The velocities of the trees of a row are its nonzeros. */
static int solve_row(const void* self, const void* matrix, int width, const int* column,
                     const double* entries, int* out_column, double* out) {
  const saltus_tree* tree = self;
  assert(tree != NULL && matrix != NULL && width >= 0 && out_column != NULL && out != NULL);
  const double* lower = matrix;
  int count = 0;
  for (int k = 0; k < width;) {
    int from = tree->dense ? 0 : tree->link[tree->link[tree->axis[column[k]].link].root].axis;
    int to = from;
    const int root = tree->link[tree->axis[column[k]].link].root;
    while (to < tree->axes && (tree->dense || tree->link[tree->axis[to].link].root == root)) {
      out_column[count + to - from] = to;
      out[count + to - from] = 0.0;
      to++;
    }
    for (; k < width && column[k] < to; k++) {
      out[count + column[k] - from] = entries[k];
    }
    if (tree->dense) {
      solve(self, matrix, out);
    } else {
      solve_range(tree, lower, lower + tree->entries, from, to, out + count - from);
    }
    count += to - from;
  }
  return count;
}

const saltus_linear_ops saltusi_tree_linear = {.bytes = bytes,
                                               .assemble = assemble,
                                               .solve = solve,
                                               .mass_times = saltusi_tree_mass_times,
                                               .solve_row = solve_row};
