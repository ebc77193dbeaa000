/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_closest.h - closest points of two separated polytopes, and their features.
 */
#ifndef SALTUSI_POLYTOPE_CLOSEST_H
#define SALTUSI_POLYTOPE_CLOSEST_H

#include "shape/polytope/polytope_axes.h"

typedef struct saltusi_skeletons {
  double distance;  /* m */
  double normal[3]; /* axes of Y, from Y to X */
  double point[3];  /* on Y, its axes */
  int x, y;         /* numbers of the features */
} saltusi_skeletons;

void saltusi_closest_skeletons(const saltusi_polytope_view* view, saltusi_skeletons* out);

/* Lists a pair of features, X being A and Y being B. */
void saltusi_skeletons_list(const saltusi_two* two, const saltusi_skeletons* at,
                            saltusi_candidates* out);

#endif
