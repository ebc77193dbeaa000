/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree.c - see tree.h. A leaf is inserted at the node with the smallest increase of the sum of surface areas
 * (Goldsmith and Salmon, IEEE Computer Graphics and Applications 7 (1987) 14-20).
 */
#include "shape/tree.h"

#include <assert.h>
#include <math.h>

static saltusi_bounds join(const saltusi_bounds* a, const saltusi_bounds* b) {
  saltusi_bounds c;
  for (int k = 0; k < 3; k++) {
    c.low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
    c.high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
  }
  return c;
}

/* Half of the surface area. In the plane boxes have no depth, and this is their area. */
static double area(const saltusi_bounds* b) {
  const double x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
  return x * y + y * z + z * x;
}

static bool is_leaf(const saltusi_tree* tree, int i) {
  return i < tree->leaves;
}

void saltusi_tree_clear(saltusi_tree* tree, int leaves) {
  assert(tree != NULL && leaves >= 0 && tree->node != NULL);
  const int nodes = saltusi_tree_nodes(leaves);
  tree->leaves = leaves;
  tree->root = -1;
  tree->spare = leaves < nodes ? leaves : -1;
  for (int i = 0; i < nodes; i++) {
    tree->node[i] =
        (saltusi_tree_node){.parent = i >= leaves && i + 1 < nodes ? i + 1 : -1, .child = {-1, -1}};
  }
}

/* Updates the boxes from a node up to the root. */
static void refit(saltusi_tree* tree, int from) {
  saltusi_tree_node* node = tree->node;
  for (int i = from; i >= 0; i = node[i].parent) {
    node[i].box = join(&node[node[i].child[0]].box, &node[node[i].child[1]].box);
  }
}

/* Exchanges a child of node i with a child of its other child if that reduces the box of the latter. Without
 * rotations a tree of boxes inserted in a row would degenerate to a list (Kensler, IEEE Symposium on Interactive
 * Ray Tracing (2008) 73-76). */
static void rotate(saltusi_tree* tree, int i) {
  saltusi_tree_node* node = tree->node;
  double best = 0.0;
  int up = -1, down = -1; /* sides of the grandchild and of the child to be exchanged */
  for (int side = 0; side < 2; side++) {
    const int inner = node[i].child[side], other = node[i].child[1 - side];
    for (int k = 0; k < 2 && !is_leaf(tree, inner); k++) {
      const saltusi_bounds with = join(&node[other].box, &node[node[inner].child[1 - k]].box);
      const double gain = area(&node[inner].box) - area(&with);
      if (gain > best) {
        best = gain;
        up = k;
        down = side;
      }
    }
  }
  if (up < 0) {
    return;
  }
  const int inner = node[i].child[down], other = node[i].child[1 - down];
  const int rises = node[inner].child[up];
  node[i].child[1 - down] = rises;
  node[rises].parent = i;
  node[inner].child[up] = other;
  node[other].parent = inner;
  node[inner].box = join(&node[node[inner].child[0]].box, &node[node[inner].child[1]].box);
}

/* Cost of the insertion of the box below a child. */
static double cost_below(const saltusi_tree* tree, int child, const saltusi_bounds* box) {
  const saltusi_bounds with = join(&tree->node[child].box, box);
  return area(&with) - (is_leaf(tree, child) ? 0.0 : area(&tree->node[child].box));
}

static int sibling_for(const saltusi_tree* tree, const saltusi_bounds* box) {
  int i = tree->root;
  while (!is_leaf(tree, i)) {
    const saltusi_tree_node* at = &tree->node[i];
    const saltusi_bounds with = join(&at->box, box);
    const double here = 2.0 * area(&with), passing = here - 2.0 * area(&at->box);
    const double left = passing + cost_below(tree, at->child[0], box);
    const double right = passing + cost_below(tree, at->child[1], box);
    if (here < left && here < right) {
      break;
    }
    i = at->child[right < left ? 1 : 0];
  }
  return i;
}

void saltusi_tree_insert(saltusi_tree* tree, int item, const saltusi_bounds* box) {
  assert(tree != NULL && box != NULL && item >= 0 && item < tree->leaves);
  saltusi_tree_node* node = tree->node;
  node[item] = (saltusi_tree_node){.box = *box, .parent = -1, .child = {-1, -1}};
  if (tree->root < 0) {
    tree->root = item;
    return;
  }
  const int beside = sibling_for(tree, box), above = node[beside].parent, made = tree->spare;
  assert(made >= 0); /* n leaves have n - 1 inner nodes */
  tree->spare = node[made].parent;
  node[made].parent = above;
  node[made].child[0] = beside;
  node[made].child[1] = item;
  node[beside].parent = made;
  node[item].parent = made;
  if (above < 0) {
    tree->root = made;
  } else {
    node[above].child[node[above].child[1] == beside ? 1 : 0] = made;
  }
  for (int i = made; i >= 0; i = node[i].parent) {
    node[i].box = join(&node[node[i].child[0]].box, &node[node[i].child[1]].box);
    rotate(tree, i);
  }
}

void saltusi_tree_remove(saltusi_tree* tree, int item) {
  assert(tree != NULL && item >= 0 && item < tree->leaves && tree->root >= 0);
  saltusi_tree_node* node = tree->node;
  const int parent = node[item].parent;
  if (parent < 0) {
    tree->root = -1;
    return;
  }
  const int beside = node[parent].child[node[parent].child[0] == item ? 1 : 0];
  const int above = node[parent].parent;
  node[beside].parent = above;
  if (above < 0) {
    tree->root = beside;
  } else {
    node[above].child[node[above].child[1] == parent ? 1 : 0] = beside;
  }
  node[parent].parent = tree->spare;
  tree->spare = parent;
  refit(tree, above);
}

static bool holds(const saltusi_bounds* large, const saltusi_bounds* small) {
  bool all = true;
  for (int k = 0; k < 3; k++) {
    all = all && large->low[k] <= small->low[k] && small->high[k] <= large->high[k];
  }
  return all;
}

static bool is_there(const saltusi_tree* tree, int item) {
  return tree->root == item || tree->node[item].parent >= 0;
}

bool saltusi_tree_holds(const saltusi_tree* tree, int item, const saltusi_bounds* box) {
  assert(tree != NULL && box != NULL && item >= 0 && item < tree->leaves);
  return is_there(tree, item) && holds(&tree->node[item].box, box);
}

void saltusi_tree_move(saltusi_tree* tree, int item, const saltusi_bounds* box, double margin) {
  assert(tree != NULL && box != NULL && margin >= 0.0);
  const bool there = is_there(tree, item);
  if (there && holds(&tree->node[item].box, box)) {
    return;
  }
  saltusi_bounds larger = *box;
  for (int k = 0; k < 3; k++) {
    larger.low[k] -= margin;
    larger.high[k] += margin;
  }
  if (there) {
    saltusi_tree_remove(tree, item);
  }
  saltusi_tree_insert(tree, item, &larger);
}

int saltusi_tree_find(const saltusi_tree* tree, const saltusi_bounds* box, int after, int* found) {
  assert(tree != NULL && box != NULL && found != NULL);
  int count = 0, top = 0;
  if (tree->root >= 0) {
    tree->stack[top++] = tree->root;
  }
  while (top > 0) {
    const int i = tree->stack[--top];
    const saltusi_tree_node* at = &tree->node[i];
    if (!saltusi_bounds_meet(&at->box, box)) {
      continue;
    }
    if (!is_leaf(tree, i)) {
      tree->stack[top++] = at->child[1];
      tree->stack[top++] = at->child[0];
    } else if (i > after) {
      found[count++] = i;
    }
  }
  return count;
}
