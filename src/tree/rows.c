/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rows.c - rows of contacts, joints and dry friction: those of the bodies, as wrenches that do work on the screws of the path,
 *
 *   G_j = S_j . wrench,   c = c of the bodies + G of the bodies times their accelerations at v' = 0
 */
#include "tree/kinematic_tree.h"

#include <assert.h>
#include <math.h>

/* Entries of joint rows below this fraction of the largest work of wrench and screw are zero: otherwise axes that are
 * parallel up to rounding lock a loop. */
static const double rounding = 1e-14;

/* Rows of the inner system. */
typedef void (*tree_row_maker)(const saltus_system* in, const saltus_point* at, uint64_t which,
                               saltus_rows* rows);

static void make_contact(const saltus_system* in, const saltus_point* at, uint64_t which,
                         saltus_rows* rows) {
  in->ops->contact(in->self, at, which, rows);
}

static void make_joint(const saltus_system* in, const saltus_point* at, uint64_t which,
                       saltus_rows* rows) {
  in->ops->joint(in->self, at, (int)which, rows);
}

static void make_dry(const saltus_system* in, const saltus_point* at, uint64_t which,
                     saltus_rows* rows) {
  in->ops->dry(in->self, at, (int)which, rows);
}

/* Adds the path of a link to ascending columns; returns their number. */
static int merge_path(const saltus_tree* tree, int link, int count, int* column, int* beside) {
  int path = tree->link[link].last, used = tree->axes;
  for (int k = count - 1; k >= 0 || path >= 0;) { /* from the end of both */
    const int a = k >= 0 ? column[k] : -1, next = a > path ? a : path;
    k -= a == next;
    path = path == next ? tree->axis[path].parent : path;
    beside[--used] = next;
  }
  memcpy(column, beside + used, (size_t)(tree->axes - used) * sizeof *column);
  return tree->axes - used;
}

/* Velocities in the bodies of the inner columns. */
typedef struct touched {
  int count;
  int link[64];
} touched;

static void find_links(const saltus_tree* tree, const saltus_rows* in, touched* t) {
  const int each = tree->plane ? 3 : 6;
  t->count = 0;
  for (int k = 0; k < in->width; k++) {
    const int link = tree->link_of[(in->column != NULL ? in->column[k] : k) / each];
    bool known = false;
    for (int i = 0; i < t->count; i++) {
      known = known || t->link[i] == link;
    }
    if (!known && t->count < 64) {
      t->link[t->count++] = link;
    }
  }
}

/* Largest work of a wrench of this size on a screw of this size. */
static double size6(const double S[6], const double f[6]) {
  return sqrt(saltusi_dot3(S, S) * saltusi_dot3(f, f)) +
         sqrt(saltusi_dot3(S + 3, S + 3) * saltusi_dot3(f + 3, f + 3));
}

/* Row r of the bodies as a row of this system: place [nv], column of each velocity, or NULL. size: sum of the terms of
 * each entry, or
 * NULL. */
static void project_row(const saltus_tree* tree, const saltusi_tree_state* x, const saltus_rows* in,
                        int r, const int* place, double* G, double* size) {
  const int each = tree->plane ? 3 : 6;
  const double* g = in->G + (ptrdiff_t)r * in->stride;
  for (int k = 0; k < in->width;) {
    const int block = (in->column != NULL ? in->column[k] : k) / each;
    double part[6] = {0.0}, f[6];
    bool any = false;
    for (; k < in->width && (in->column != NULL ? in->column[k] : k) / each == block; k++) {
      part[(in->column != NULL ? in->column[k] : k) % each] = g[k];
      any = any || g[k] != 0.0;
    }
    const int link = tree->link_of[block];
    if (!any) {
      continue;
    }
    saltusi_tree_wrench(tree, &x->link[link], part, f);
    for (int j = tree->link[link].last; j >= 0; j = tree->axis[j].parent) {
      const int to = place != NULL ? place[j] : j;
      G[to] += saltusi_dot6(x->axis[j].S, f);
      if (size != NULL) {
        size[to] += size6(x->axis[j].S, f);
      }
    }
  }
}

static double convective(const saltusi_tree_state* x, const saltus_rows* in, int r) {
  const double* g = in->G + (ptrdiff_t)r * in->stride;
  double sum = in->c[r];
  for (int k = 0; k < in->width; k++) {
    sum += g[k] * x->a_inner[in->column != NULL ? in->column[k] : k];
  }
  return sum;
}

/* Rows from range[0] on of an object of the inner system, which has range[1] rows. */
static void take_rows(const saltus_tree* tree, const saltus_point* at, tree_row_maker make,
                      uint64_t which, const int range[2], saltus_rows* rows) {
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  const int n = tree->inner->dims.nv, width = tree->inner->dims.row_width;
  const int first = range[0], all = range[1];
  double b[SALTUSI_TREE_ROWS] = {0.0}, c[SALTUSI_TREE_ROWS] = {0.0};
  saltus_rows in = {.count = all,
                    .width = width > 0 ? width : n,
                    .stride = width > 0 ? width : n,
                    .column = width > 0 ? x.column : NULL,
                    .G = x.rows,
                    .b = b,
                    .c = rows->c != NULL ? c : NULL};
  assert(all <= SALTUSI_TREE_ROWS);
  memset(x.rows, 0, (size_t)all * (size_t)in.stride * sizeof *x.rows);
  make(tree->inner, &p, which, &in);
  int* place = NULL;
  if (rows->column != NULL) {
    touched t;
    int count = 0;
    place = x.merged + tree->axes;
    find_links(tree, &in, &t);
    for (int i = 0; i < t.count; i++) {
      count = merge_path(tree, t.link[i], count, rows->column, x.merged);
    }
    rows->width = count;
    for (int k = 0; k < count; k++) {
      place[rows->column[k]] = k;
    }
  }
  const bool cleans = make == make_joint;
  for (int r = 0; r < rows->count; r++) {
    double *G = rows->G + (ptrdiff_t)r * rows->stride, *size = cleans ? x.path : NULL;
    memset(x.path, 0, (cleans ? (size_t)rows->width : 0) * sizeof *x.path);
    project_row(tree, &x, &in, first + r, place, G, size);
    for (int k = 0; k < rows->width && cleans;
         k++) { /* otherwise redundant rows of loops are not detected */
      G[k] = fabs(G[k]) <= rounding * size[k] ? 0.0 : G[k];
    }
    rows->b[r] = b[first + r];
    if (rows->c != NULL) {
      rows->c[r] = convective(&x, &in, first + r);
    }
  }
}

void saltusi_tree_contact(const void* self, const saltus_point* at, uint64_t identity,
                          saltus_rows* rows) {
  assert(self != NULL && at != NULL && rows != NULL);
  take_rows(self, at, make_contact, identity, (const int[2]){0, rows->count}, rows);
}

void saltusi_tree_joint(const void* self, const saltus_point* at, int joint, saltus_rows* rows) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && rows != NULL && joint < tree->kept_count);
  const saltusi_tree_kept* k = &tree->kept[joint];
  const saltus_system* in = tree->inner;
  const int all =
      in->joint_first != NULL ? in->joint_first[k->joint + 1] - in->joint_first[k->joint] : 1;
  take_rows(tree, at, make_joint, (uint64_t)k->joint, (const int[2]){k->first, all}, rows);
}

void saltusi_tree_dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  assert(self != NULL && at != NULL && rows != NULL);
  take_rows(self, at, make_dry, (uint64_t)i, (const int[2]){0, rows->count}, rows);
}

void saltusi_tree_joints(const void* self, const saltus_point* at, double* g) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && g != NULL);
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  const saltus_system* in = tree->inner;
  double* all = x.joints;
  in->ops->joints(in->self, &p, all);
  for (int i = 0, row = 0; i < tree->kept_count; i++) {
    const saltusi_tree_kept* k = &tree->kept[i];
    const int first = (in->joint_first != NULL ? in->joint_first[k->joint] : k->joint) + k->first;
    for (int r = 0; r < k->rows; r++) {
      g[row++] = all[first + r];
    }
  }
}
