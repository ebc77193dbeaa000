/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * broad_phase.c - see broad_phase.h. Two leaves that overlap are in the list of each other, unless a list has
 * overflowed.
 */
#include "shape/broad_phase.h"

#include <assert.h>

static int* others_of(const saltusi_broad_phase* n, int item) {
  return n->other + (size_t)item * SALTUSI_NEIGHBOURS;
}

void saltusi_broad_phase_clear(saltusi_broad_phase* n, int leaves) {
  assert(n != NULL && (leaves == 0 || n->count != NULL));
  saltusi_tree_clear(&n->tree, leaves);
  for (int i = 0; i < leaves; i++) {
    n->count[i] = 0;
  }
}

static void add(saltusi_broad_phase* n, int item, int other) {
  if (n->count[item] < 0) {
    return;
  }
  if (n->count[item] == SALTUSI_NEIGHBOURS) {
    n->count[item] = -1;
    return;
  }
  others_of(n, item)[n->count[item]++] = other;
}

static void drop(saltusi_broad_phase* n, int item, int other) {
  int* list = others_of(n, item);
  for (int k = 0; k < n->count[item]; k++) {
    if (list[k] == other) {
      list[k] = list[--n->count[item]];
      return;
    }
  }
}

/* Removes the item from the lists of all others. */
static void forget(saltusi_broad_phase* n, int item) {
  if (n->count[item] < 0) { /* overflowed list: remove it from all leaves that overlap its own */
    const int found = saltusi_tree_find(&n->tree, &n->tree.node[item].box, -1, n->found);
    for (int k = 0; k < found; k++) {
      drop(n, n->found[k], item);
    }
  }
  for (int k = 0; k < n->count[item]; k++) {
    drop(n, others_of(n, item)[k], item);
  }
  n->count[item] = 0;
}

void saltusi_broad_phase_move(saltusi_broad_phase* n, int item, const saltusi_bounds* box,
                              double margin, const double way[3]) {
  assert(n != NULL && box != NULL && way != NULL && margin >= 0.0);
  if (saltusi_tree_holds(&n->tree, item, box)) {
    return;
  }
  saltusi_bounds larger = *box;
  for (int k = 0; k < 3; k++) {
    larger.low[k] -= margin - (way[k] < 0.0 ? way[k] : 0.0);
    larger.high[k] += margin + (way[k] > 0.0 ? way[k] : 0.0);
  }
  forget(n, item);
  saltusi_tree_move(&n->tree, item, &larger, 0.0);
  const int found = saltusi_tree_find(&n->tree, &larger, -1, n->found);
  for (int k = 0; k < found; k++) {
    if (n->found[k] != item) {
      add(n, item, n->found[k]);
      add(n, n->found[k], item);
    }
  }
}

int saltusi_broad_phase_of(const saltusi_broad_phase* n, int item, const saltusi_bounds* box,
                           int* found) {
  assert(n != NULL && box != NULL && found != NULL);
  if (n->count[item] < 0) {
    return saltusi_tree_find(&n->tree, box, item, found);
  }
  int count = 0;
  for (int k = 0; k < n->count[item]; k++) {
    const int other = others_of(n, item)[k];
    if (other > item) {
      found[count++] = other;
    }
  }
  return count;
}
