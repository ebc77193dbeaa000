/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_box.h - two boxes: the same results as for general polytopes, by their symmetry.
 */
#ifndef SALTUSI_POLYTOPE_BOX_H
#define SALTUSI_POLYTOPE_BOX_H

#include "shape/polytope/polytope_axes.h"

/* Both in axes of B's box, from its middle: points of A are C p + t. */
typedef struct saltusi_boxes {
  const double *half_A, *half_B;
  double C[9], t[3];
  double Q[9], middle[3]; /* B's box in the world */
} saltusi_boxes;

void saltusi_boxes_of(const saltusi_two* two, saltusi_boxes* out);

/* The best of 3 + 3 + 9 axes; normal in axes of B's box. False: one is above
 * the limit. */
typedef struct saltusi_box_axis {
  double value;
  double normal[3];
} saltusi_box_axis;
bool saltusi_boxes_axis(const saltusi_boxes* boxes, double limit, saltusi_box_axis* best);

/* Lists pairs as saltusi_polytope_near does; false: this case is left to that function. */
bool saltusi_boxes_near(const saltusi_two* two, const saltusi_near* near, saltusi_candidates* out);

#endif
