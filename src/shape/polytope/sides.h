/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sides.h - sides of faces sorted by their ends, so that the two sides of an edge are adjacent.
 */
#ifndef SALTUSI_SIDES_H
#define SALTUSI_SIDES_H

#include <stdbool.h>

typedef struct saltusi_face_side {
  int low, high; /* ends, smaller number first */
  int place;     /* in the list of loops */
  int face;
  bool forward; /* the loop runs from low to high */
} saltusi_face_side;

saltusi_face_side saltusi_side_of(int from, int to, int place, int face);

/* By low, high, place. */
void saltusi_sides_sort(saltusi_face_side* side, int count);

#endif
