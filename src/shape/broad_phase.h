/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * broad_phase.h - pairs of overlapping boxes among boxes that move little: a bounding volume tree with enlarged
 * leaves, and for each leaf a list of the leaves that overlap it. Lists are updated only when a leaf is reinserted.
 * The result contains all boxes that overlap, and possibly more.
 */
#ifndef SALTUSI_BROAD_PHASE_H
#define SALTUSI_BROAD_PHASE_H

#include "shape/tree.h"

/* Capacity of the list of a leaf; beyond it every query searches the tree. */
enum { SALTUSI_NEIGHBOURS = 32 };

typedef struct saltusi_broad_phase {
  saltusi_tree tree;
  int* count; /* [leaves] entries of each list; -1: overflow */
  int* other; /* [leaves x SALTUSI_NEIGHBOURS] any order */
  int* found; /* [leaves] scratch */
} saltusi_broad_phase;

/* Clears it; all arrays, also those of the tree, have to be set before. */
void saltusi_broad_phase_clear(saltusi_broad_phase* n, int leaves);

/* Updates the box of an item. No effect while its leaf contains the box. Otherwise the leaf becomes the box
 * enlarged by `margin` and by the displacement `way`. */
void saltusi_broad_phase_move(saltusi_broad_phase* n, int item, const saltusi_bounds* box,
                              double margin, const double way[3]);

/* Writes the items above `item` that may overlap its box, which its leaf contains, to found [leaves]; returns
 * their number. Any order. */
int saltusi_broad_phase_of(const saltusi_broad_phase* n, int item, const saltusi_bounds* box,
                           int* found);

#endif
