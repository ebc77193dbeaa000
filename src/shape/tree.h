/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree.h - bounding volume hierarchy: finds the boxes that overlap a box. The boxes of leaves have a margin, so that
 * a small movement needs no update. The tree depends on the order of calls alone (ties go left). A query returns all
 * items that overlap the box and possibly more; after a test of these by the caller the result does not depend on the
 * tree.
 */
#ifndef SALTUSI_TREE_H
#define SALTUSI_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct saltusi_bounds {
  double low[3], high[3]; /* m */
} saltusi_bounds;

/* Comparisons are ordered such that a box with a NaN overlaps every box. */
static inline bool saltusi_bounds_meet(const saltusi_bounds* a, const saltusi_bounds* b) {
  return !(a->low[0] > b->high[0] || b->low[0] > a->high[0] || a->low[1] > b->high[1] ||
           b->low[1] > a->high[1] || a->low[2] > b->high[2] || b->low[2] > a->high[2]);
}

typedef struct saltusi_tree_node {
  saltusi_bounds box;
  int parent;   /* -1: the root; of a free node the next free one */
  int child[2]; /* of a leaf -1 */
} saltusi_tree_node;

typedef struct saltusi_tree {
  int leaves;              /* capacity; item i is leaf i */
  int root;                /* -1: empty */
  int spare;               /* first free inner node, -1: none */
  saltusi_tree_node* node; /* [saltusi_tree_nodes(leaves)] */
  int* stack;              /* of the same size, for queries */
} saltusi_tree;

static inline int saltusi_tree_nodes(int leaves) {
  return leaves > 0 ? 2 * leaves : 1;
}

/* An empty tree; node and stack have to be set. */
void saltusi_tree_clear(saltusi_tree* tree, int leaves);
void saltusi_tree_insert(saltusi_tree* tree, int item, const saltusi_bounds* box);
void saltusi_tree_remove(saltusi_tree* tree, int item);

/* Updates the box of an item: no change while its leaf contains the box, else the leaf becomes the box enlarged by
 * `margin`. */
void saltusi_tree_move(saltusi_tree* tree, int item, const saltusi_bounds* box, double margin);

/* True if the leaf of the item is in the tree and contains the box. */
bool saltusi_tree_holds(const saltusi_tree* tree, int item, const saltusi_bounds* box);

/* Items above `after` whose leaves overlap the box, into found [leaves], in any order; returns their number. */
int saltusi_tree_find(const saltusi_tree* tree, const saltusi_bounds* box, int after, int* found);

#endif
