/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * groups.c - partition of velocities into coupled groups, and selection of the joints that are eliminated.
 *
 * A group is a set of velocities that A^-1 couples: one velocity where A is diagonal, a block where it is
 * block-diagonal, blocks connected by springs otherwise. Joints couple groups further, and coupled joints form
 * a component. A component with few rows is eliminated: its matrix
 *
 *   B = G_b^T A^-1 G_b
 *
 * is factored, and A^-1 becomes A^-1 - A^-1 G_b B^-1 G_b^T A^-1 for all other units. That couples all
 * velocities of the component, so they form one group. Larger components are eliminated by sparse factors
 * (tree_elimination.c), with the same effect, unless they have many contacts or many loops. The joints of
 * the remaining components stay units of W.
 */
#include "operator/operator_internal.h"

#include <assert.h>
#include <string.h>

/* Largest number of rows of a component that is eliminated by dense factors, with contacts and without. With contacts,
 * factors of this size cost less than the blocks of a few contacts. Without contacts they take a few milliseconds, and
 * they alone reveal the rank of the rows. */
enum { BESIDE_CONTACTS = 48, ALONE = 200 };

/* Elimination couples all contacts of a component pairwise, which adds blocks, and saves Gauss-Seidel iterations. It
 * pays off up to this ratio of the numbers of blocks with and without elimination. */
enum { MORE_BLOCKS = 8 };

void saltusi_groups_layout(saltusi_groups* g, const saltus_dims* dims, int bilateral,
                           saltus_arena* arena) {
  assert(g != NULL && dims != NULL && arena != NULL);
  int most = bilateral < ALONE ? bilateral : ALONE;
  size_t square = (size_t)most * (size_t)most;
  size_t many = (size_t)bilateral * BESIDE_CONTACTS;
  g->room = many > square ? many : square;
  g->parent = SALTUS_PUSH(arena, int, dims->nv);
  g->alone = SALTUS_PUSH(arena, int, dims->nv);
  g->group = SALTUS_PUSH(arena, int, dims->nv);
  g->component = SALTUS_PUSH(arena, int, dims->nv);
  g->mark = SALTUS_PUSH(arena, int, dims->nv);
  g->column = SALTUS_PUSH(arena, int, dims->nv);
  g->column_start = SALTUS_PUSH(arena, int, bilateral + 1);
  g->start = SALTUS_PUSH(arena, int, bilateral + 2);
  g->row = SALTUS_PUSH(arena, int, bilateral);
  g->of_row = SALTUS_PUSH(arena, int, bilateral);
  g->contacts = SALTUS_PUSH(arena, long long, bilateral);
  g->blocks = SALTUS_PUSH(arena, long long, bilateral);
  g->eliminated = SALTUS_PUSH(arena, bool, bilateral);
  g->tree = SALTUS_PUSH(arena, int, bilateral);
  g->heavy = SALTUS_PUSH(arena, bool, bilateral);
  g->factor = SALTUS_PUSH(arena, saltusi_rank_revealing, bilateral);
  g->pivot = SALTUS_PUSH2(arena, int, bilateral, 2);
  g->scale = SALTUS_PUSH(arena, double, bilateral);
  g->LU = SALTUS_PUSH(arena, double, g->room);
  g->gram = SALTUS_PUSH(arena, double, g->room);
  g->part = SALTUS_PUSH(arena, double, bilateral);
}

/* Columns of a row, and their number. */
static const int* columns_of(const saltusi_operator* op, int r, int* count) {
  *count = op->rows.entries[r];
  return op->rows.column + (size_t)r * (size_t)op->rows.stride;
}

static void couple_joints(saltusi_operator* op, int nv) {
  saltusi_groups* g = &op->groups;
  for (int i = 0; i < nv; i++) {
    g->alone[i] = saltusi_root(g->parent, i);
    g->component[i] = -1;
  }
  for (int r = 0; r < op->bilateral; r++) {
    int count;
    const int* column = columns_of(op, r, &count);
    for (int k = 1; k < count; k++) {
      saltusi_unite(g->parent, column[0], column[k]);
    }
  }
}

/* Numbers components in the order of their first rows; a row without entries is a component of its own. */
static void sort_rows(saltusi_operator* op) {
  saltusi_groups* g = &op->groups;
  g->components = 0;
  for (int r = 0; r < op->bilateral; r++) {
    int count;
    const int* column = columns_of(op, r, &count);
    int root = count > 0 ? saltusi_root(g->parent, column[0]) : -1;
    if (root < 0 || g->component[root] < 0) {
      g->start[g->components + 1] = 0;
      g->of_row[r] = g->components++;
      if (root >= 0) {
        g->component[root] = g->of_row[r];
      }
    } else {
      g->of_row[r] = g->component[root];
    }
    g->start[g->of_row[r] + 1]++;
  }
  g->start[0] = 0;
  for (int c = 0; c < g->components; c++) {
    g->start[c + 1] += g->start[c];
    g->contacts[c] = 0;
    g->blocks[c] = 0;
  }
  for (int r = 0; r < op->bilateral; r++) {
    g->row[g->start[g->of_row[r]]++] = r;
  }
  for (int c = g->components; c > 0; c--) { /* restores the starts, which were moved to the ends */
    g->start[c] = g->start[c - 1];
  }
  g->start[0] = 0;
}

/* Velocities of each component, ascending. */
static void sort_columns(saltusi_groups* g, int nv) {
  memset(g->column_start, 0, ((size_t)g->components + 1) * sizeof(int));
  for (int i = 0; i < nv; i++) {
    int c = g->component[saltusi_root(g->parent, i)];
    if (c >= 0) {
      g->column_start[c + 1]++;
    }
  }
  for (int c = 0; c < g->components; c++) {
    g->column_start[c + 1] += g->column_start[c];
  }
  for (int i = 0; i < nv; i++) {
    int c = g->component[saltusi_root(g->parent, i)];
    if (c >= 0) {
      g->column[g->column_start[c]++] = i;
    }
  }
  for (int c = g->components; c > 0; c--) {
    g->column_start[c] = g->column_start[c - 1];
  }
  g->column_start[0] = 0;
}

/* Counts the contacts that touch each component, and estimates the number of blocks between them. */
static void count_contacts(saltusi_operator* op, int nv) {
  saltusi_groups* g = &op->groups;
  int* on_group = g->group; /* used as scratch: number of contacts of each group of A */
  memset(on_group, 0, (size_t)nv * sizeof(int));
  for (int i = 0; i < op->contacts && op->bilateral < op->count; i++) {
    int count;
    const int* column = columns_of(op, op->first[i], &count);
    int last = -1;
    for (int k = 0; k < count; k++) {
      int c = g->component[saltusi_root(g->parent, column[k])];
      if (c >= 0 && c != last) {
        g->contacts[c]++;
        last = c;
      }
      on_group[g->alone[column[k]]]++;
    }
  }
  for (int i = 0; i < nv; i++) {
    int c = g->component[saltusi_root(g->parent, i)];
    if (c >= 0 && g->alone[i] == i) {
      g->blocks[c] += (long long)on_group[i] * on_group[i];
    }
  }
}

/* Whether the joints of a component stay blocks of a problem in body space. */
static bool stays(const saltusi_operator* op, int c) {
  const saltusi_groups* g = &op->groups;
  return op->thin && g->column_start[c + 1] > g->column_start[c] &&
         saltusi_operator_bodies_hold(op, g->column[g->column_start[c]]);
}

/* Which components get sparse factors. */
static void choose_trees(saltusi_operator* op, saltusi_eval* eval) {
  saltusi_groups* g = &op->groups;
  int* component_of = op->trees.component_of;
  for (int i = 0; i < eval->sys.dims.nv && op->trees.most > 0; i++) {
    component_of[i] = -1;
  }
  op->trees.joints = 0;
  for (int c = 0; c < g->components; c++) {
    g->heavy[c] = false;
    for (int e = g->column_start[c]; op->trees.most > 0 && e < g->column_start[c + 1]; e++) {
      component_of[g->column[e]] = c;
    }
  }
  for (;;) {
    bool some = false;
    for (int c = 0; c < g->components; c++) {
      g->tree[c] = saltusi_tree_elimination_serve(op, c) && !stays(op, c) ? c : -1;
      some = some || g->tree[c] >= 0;
    }
    op->trees.saddle.wanted = 0;
    if (!some || saltusi_tree_elimination_find(op)) {
      return;
    }
    if (op->trees.saddle.wanted > 0) {
      op->trees.seen_rows = 0;
      op->status =
          saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_JOINTS, op->trees.saddle.wanted);
      return;
    }
    g->heavy[saltusi_tree_elimination_heavy(op)] = true;
  }
}

static void choose(saltusi_operator* op, int nv) {
  saltusi_groups* g = &op->groups;
  size_t used = 0;
  for (int c = 0; c < g->components; c++) {
    if (g->tree[c] >= 0) {
      g->eliminated[c] = true;
      g->any = true;
      continue;
    }
    int first = g->start[c];
    int rows = g->start[c + 1] - first;
    size_t square = (size_t)rows * (size_t)rows;
    long long all = g->contacts[c] * g->contacts[c];
    bool few = g->contacts[c] == 0
                   ? rows <= ALONE
                   : rows <= BESIDE_CONTACTS &&
                         all <= MORE_BLOCKS * (g->blocks[c] + g->contacts[c] + rows);
    g->eliminated[c] = few && used + square <= g->room && !stays(op, c);
    if (g->eliminated[c]) {
      g->factor[c] = (saltusi_rank_revealing){.LU = g->LU + used,
                                              .gram = g->gram + used,
                                              .pivot = g->pivot + 2 * (size_t)first,
                                              .scale = g->scale + first};
      used += square;
      g->any = true;
    }
  }
  for (int i = 0; i < nv; i++) {
    int root = saltusi_root(g->parent, i);
    int c = g->component[root];
    g->group[i] = c >= 0 && g->eliminated[c] ? root : g->alone[i];
    g->mark[i] = -1;
  }
}

bool saltusi_groups_find(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  saltusi_groups* g = &op->groups;
  int nv = eval->sys.dims.nv;
  op->thin = false;
  if (!saltusi_response_groups(op, eval, g->parent)) {
    return false;
  }
  if (op->trees.most > 0 && saltusi_tree_elimination_known(op)) {
    return true;
  }
  g->any = false;
  g->components = 0;
  saltusi_operator_bodies_find(op, eval);
  if (op->bilateral == 0) {
    for (int i = 0; i < nv; i++) {
      g->group[i] = saltusi_root(g->parent, i);
      g->mark[i] = -1;
    }
    return true;
  }
  couple_joints(op, nv);
  sort_rows(op);
  sort_columns(g, nv);
  count_contacts(op, nv);
  choose_trees(op, eval);
  choose(op, nv);
  return true;
}
