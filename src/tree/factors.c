/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * factors.c - A = m M + fv F_v + fq F_q with the sparsity of the branches (Featherstone 2008, chapter 6.4): entry (j, k)
 * is nonzero only where one of the two velocities is on the path of the other. With the columns u_k = (a, d, S) of
 * jacobians.c and X = (I, -D, fq C) of the subtree of j,
 *
 *   A_jk = S_j . X u_k,   A_kj = S_k . (X u_j - fq S_j x* f)      k ahead of j
 *
 * without the last term where both axes rotate with the same body. Elimination of j from the leaves to the root
 * subtracts a matrix of rank one from X, in O(n) as for articulated bodies (chapter 7.3):
 *
 *   r = S_j X,   c = X u_j - fq S_j x* f,   A_jj = r . u_j,   X -= c r / A_jj
 *
 * Afterwards A_jk = r . u_k and A_kj / A_jj = S_k . c / A_jj are the factors. Forces between bodies make A dense, with
 * pivoting.
 */
#include "base/lanes.h"
#include "math/matrix.h"
#include "tree/kinematic_tree.h"

#include <assert.h>
#include <math.h>

/* A pivot below this fraction of its entry by the masses of the subtree is rounding. */
static const double singular_pivot = 1e-14;

/* Numbers of u_k, of X, and of a velocity that is eliminated: r, c for axes ahead of its group and in it, 1 / A_jj. */
enum { WIDE = 18, OPERATOR = 6 * WIDE, ELIMINATED = WIDE + 13 };

/* A matrix: 1 if it is dense, then the factors. */
static size_t bytes(const void* self) {
  const saltus_tree* tree = self;
  const size_t n = (size_t)tree->axes, sparse = 2 * tree->entries * sizeof(double);
  const size_t dense = tree->couples ? n * n * sizeof(double) + n * sizeof(int) : 0;
  return sizeof(double) + (dense > sparse ? dense : sparse);
}

static bool is_dense(const double* matrix) {
  return matrix[0] != 0.0;
}

static saltus_status assemble_dense(const saltus_tree* tree, const saltus_point* at,
                                    const double factor[3], saltusi_tree_state* x, double* A) {
  const int n = tree->axes;
  saltusi_tree_dense(tree, at, factor, x, A);
  if (!isfinite(saltusi_long_max_abs(n * n, A))) {
    return SALTUS_RETRY_NAN;
  }
  int* pivot = (int*)(void*)(A + (size_t)n * (size_t)n);
  return saltusi_lu_factor(n, A, pivot, singular_pivot) ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

/* ---- elimination ---- */

/* X += (I, -D, fq C) of a body alone, and the forces of its subtree to its parent. */
static void add_body(const saltusi_tree_composite* c, double fq, double* X) {
  const double* h = c->h;
  const double cross[9] = {0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      X[WIDE * i + k] += c->I[3 * i + k];
      X[WIDE * i + 3 + k] += cross[3 * i + k];
      X[WIDE * (3 + i) + k] -= cross[3 * i + k];
    }
    X[WIDE * (3 + i) + 3 + i] += c->mass;
  }
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < 6; k++) {
      X[WIDE * i + 6 + k] -= c->D[6 * i + k];
      X[WIDE * i + 12 + k] += fq * c->C[6 * i + k];
    }
  }
}

/* y = S X */
SALTUSI_FOR_MACHINES static void times_left(const double* restrict S, const double* restrict X,
                                            double* restrict y) {
  for (int k = 0; k < WIDE; k++) {
    y[k] =
        ((S[0] * X[k] + S[1] * X[WIDE + k]) + (S[2] * X[2 * WIDE + k] + S[3] * X[3 * WIDE + k])) +
        (S[4] * X[4 * WIDE + k] + S[5] * X[5 * WIDE + k]);
  }
}

static double dot_wide(const double* x, const double* y) {
  return (saltusi_dot6(x, y) + saltusi_dot6(x + 6, y + 6)) + saltusi_dot6(x + 12, y + 12);
}

/* X -= c r */
SALTUSI_FOR_MACHINES static void take_off(const double* restrict c, const double* restrict r,
                                          double* restrict X) {
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < WIDE; k++) {
      X[WIDE * i + k] -= c[i] * r[k];
    }
  }
}

/* Eliminates velocity j. own: X for axes that rotate with the same body, the same as X if there is one alone. */
static saltus_status eliminate(const saltus_tree* tree, int j, const saltusi_tree_state* x,
                               const double factor[3], double diagonal, double* X, double* own) {
  const double *S = x->axis[j].S, *u = x->path + (ptrdiff_t)WIDE * j;
  const saltusi_tree_composite* c = &x->sum[tree->axis[j].link];
  double *row = x->eliminated + (ptrdiff_t)ELIMINATED * j, *column = row + WIDE, turned[6];
  saltusi_tree_momentum(c, S, turned);
  const double size = fabs(factor[0]) * saltusi_dot6(S, turned);
  times_left(S, own, row);
  const double pivot = dot_wide(row, u) + diagonal;
  if (!isfinite(pivot)) {
    return SALTUS_RETRY_NAN;
  }
  if (!(fabs(pivot) > singular_pivot * size)) {
    return SALTUS_ERR_SINGULAR;
  }
  const double over = 1.0 / pivot;
  saltusi_wrench_cross(S, c->f, turned);
  for (int i = 0; i < 6; i++) {
    column[i] = (dot_wide(X + (ptrdiff_t)WIDE * i, u) - factor[2] * turned[i]) * over;
    column[6 + i] = dot_wide(own + (ptrdiff_t)WIDE * i, u) * over;
  }
  column[12] = pivot;
  take_off(column, row, X);
  if (own != X) {
    take_off(column + 6, row, own);
  }
  return SALTUS_OK;
}

static saltus_status eliminate_all(const saltus_tree* tree, const saltusi_tree_state* x,
                                   const double factor[3], const double* diagonal) {
  for (int i = tree->links - 1; i >= 0; i--) {
    const saltusi_tree_link* l = &tree->link[i];
    double *X = x->operators + (ptrdiff_t)OPERATOR * i, group[OPERATOR];
    for (int j = l->axis + l->axes - 1; j >= l->axis; j--) {
      const int first = tree->axis[j].first;
      const bool last = j == l->axis + l->axes - 1 || tree->axis[j + 1].first != first;
      const bool alone = last && first == j;
      if (last && !alone) {
        memcpy(group, X, sizeof group);
      }
      const saltus_status status = eliminate(tree, j, x, factor, diagonal[j], X, alone ? X : group);
      if (status != SALTUS_OK) {
        return status;
      }
    }
    for (int k = 0; k < OPERATOR && l->parent >= 0; k++) {
      x->operators[(ptrdiff_t)OPERATOR * l->parent + k] += X[k];
    }
  }
  return SALTUS_OK;
}

/* ---- factors ---- */

/* y_k = sum_c x_c U_ck, U [count x room] */
SALTUSI_FOR_MACHINES static void combine(int n, int count, int room, const double* restrict x,
                                         const double* restrict U, double* restrict y) {
  memset(y, 0, (size_t)n * sizeof *y);
  for (int c = 0; c < count; c++) {
    for (int k = 0; k < n; k++) {
      y[k] += x[c] * U[(ptrdiff_t)c * room + k];
    }
  }
}

/* Columns and screws of velocity j at their place along the path. */
static void put_along(const saltus_tree* tree, int j, const saltusi_tree_state* x) {
  double* at = x->along + tree->axis[j].depth;
  for (int c = 0; c < WIDE; c++) {
    at[(ptrdiff_t)c * tree->longest] = x->path[(ptrdiff_t)WIDE * j + c];
  }
  for (int c = 0; c < 6; c++) {
    at[(ptrdiff_t)(WIDE + c) * tree->longest] = x->axis[j].S[c];
  }
}

static void write_factors(const saltus_tree* tree, const saltusi_tree_state* x, double* lower,
                          double* upper) {
  const int room = tree->longest;
  for (int j = 0; j < tree->axes; j++) {
    const saltusi_tree_axis* axis = &tree->axis[j];
    const double* row = x->eliminated + (ptrdiff_t)ELIMINATED * j;
    const double *S = x->along + (ptrdiff_t)WIDE * room, *column = row + WIDE;
    if (axis->parent != j - 1) {
      for (int k = axis->parent; k >= 0; k = tree->axis[k].parent) {
        put_along(tree, k, x);
      }
    }
    put_along(tree, j, x);
    combine(axis->depth, WIDE, room, row, x->along, lower + axis->entry);
    combine(axis->depth, 6, room, column, S, upper + axis->entry);
    lower[axis->entry + (size_t)axis->depth] = column[12];
    for (int k = axis->parent, d = axis->depth - 1; k >= axis->first; k = tree->axis[k].parent) {
      upper[axis->entry + (size_t)d--] = saltusi_dot6(x->axis[k].S, column + 6);
    }
  }
}

static saltus_status assemble(const void* self, void* matrix, const saltus_point* at, double m,
                              double fv, double fq) {
  const saltus_tree* tree = self;
  const double factor[3] = {m, fv, fq};
  double *lower = (double*)matrix + 1, *upper = lower + tree->entries, *diagonal = lower;
  saltusi_tree_state x;
  assert(tree != NULL && matrix != NULL && at != NULL);
  const bool dense = saltusi_tree_slopes(tree, at, factor, &x);
  assert(tree->couples || !dense);
  *(double*)matrix = dense ? 1.0 : 0.0;
  if (dense) {
    return assemble_dense(tree, at, factor, &x, lower);
  }
  memset(x.operators, 0, (size_t)OPERATOR * (size_t)tree->links * sizeof(double));
  memset(diagonal, 0, (size_t)tree->axes * sizeof *diagonal);
  for (int i = 0; i < tree->links; i++) {
    add_body(&x.sum[i], fq, x.operators + (ptrdiff_t)OPERATOR * i);
  }
  saltusi_tree_sum_inertia(tree, &x);
  for (int i = 0; i < tree->drives; i++) {
    diagonal[tree->drive[i].axis] += saltusi_tree_drive_entry(tree, i, at, factor);
  }
  const saltus_status status = eliminate_all(tree, &x, factor, diagonal);
  if (status == SALTUS_OK) {
    write_factors(tree, &x, lower, upper);
  }
  return status;
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
  const double* lower = (const double*)matrix + 1;
  if (is_dense(matrix)) {
    const int n = tree->axes;
    saltusi_lu_solve(n, lower, (const int*)(const void*)(lower + (size_t)n * (size_t)n), x);
    return;
  }
  solve_range(tree, lower, lower + tree->entries, 0, tree->axes, x);
}

/* The velocities of the trees of a row are its nonzeros; all, if forces may couple trees. */
static int solve_row(const void* self, const void* matrix, int width, const int* column,
                     const double* entries, int* out_column, double* out) {
  const saltus_tree* tree = self;
  assert(tree != NULL && matrix != NULL && width >= 0 && out_column != NULL && out != NULL);
  const double* lower = (const double*)matrix + 1;
  int count = 0;
  for (int k = 0; k < width;) {
    const int root = tree->link[tree->axis[column[k]].link].root;
    int from = tree->couples ? 0 : tree->link[root].axis, to = from;
    while (to < tree->axes && (tree->couples || tree->link[tree->axis[to].link].root == root)) {
      out_column[count + to - from] = to;
      out[count + to - from] = 0.0;
      to++;
    }
    for (; k < width && column[k] < to; k++) {
      out[count + column[k] - from] = entries[k];
    }
    if (tree->couples) {
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
