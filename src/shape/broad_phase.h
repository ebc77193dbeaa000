/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * broad_phase.h - who is near whom among boxes that move little: a tree with enlarged leaves, and for each leaf the
 * others that meet it, which are looked for only when a leaf has to be put elsewhere. What is found is all that meets a
 * box and possibly more.
 */
#ifndef SALTUSI_BROAD_PHASE_H
#define SALTUSI_BROAD_PHASE_H

#include "shape/tree.h"

/* Others that a leaf keeps; of one that has more the tree is asked each time. */
enum { SALTUSI_NEIGHBOURS = 32 };

typedef struct saltusi_broad_phase {
  saltusi_tree tree;
  int* count; /* [leaves] others that are kept; -1: there are more */
  int* other; /* [leaves x SALTUSI_NEIGHBOURS] any order */
  int* found; /* [leaves] scratch */
} saltusi_broad_phase;

/* Empty; arrays have to be set, those of the tree too. */
void saltusi_broad_phase_clear(saltusi_broad_phase* n, int leaves);

/* The item's box again: nothing happens while its leaf holds it, else the leaf gets the box enlarged by `margin` and by
 * `way`, where it goes. */
void saltusi_broad_phase_move(saltusi_broad_phase* n, int item, const saltusi_bounds* box,
                              double margin, const double way[3]);

/* Items above `item` that its box, which its leaf holds, may meet into found [leaves]; how many. Any order. */
int saltusi_broad_phase_of(const saltusi_broad_phase* n, int item, const saltusi_bounds* box,
                           int* found);

#endif
