/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sides.c - sorts sides of faces (heapsort: no recursion, no allocation).
 */
#include "shape/polytope/sides.h"

#include <assert.h>
#include <stddef.h>

saltusi_face_side saltusi_side_of(int from, int to, int place, int face) {
  assert(from >= 0 && to >= 0);
  return (saltusi_face_side){.low = from < to ? from : to,
                             .high = from < to ? to : from,
                             .place = place,
                             .face = face,
                             .forward = from < to};
}

static bool before(const saltusi_face_side* a, const saltusi_face_side* b) {
  if (a->low != b->low) {
    return a->low < b->low;
  }
  return a->high != b->high ? a->high < b->high : a->place < b->place;
}

static void sift(saltusi_face_side* item, int top, int count) {
  for (int child = 2 * top + 1; child < count; child = 2 * top + 1) {
    if (child + 1 < count && before(&item[child], &item[child + 1])) {
      child++;
    }
    if (!before(&item[top], &item[child])) {
      return;
    }
    const saltusi_face_side swap = item[top];
    item[top] = item[child];
    item[child] = swap;
    top = child;
  }
}

void saltusi_sides_sort(saltusi_face_side* side, int count) {
  assert(side != NULL || count == 0);
  for (int k = count / 2 - 1; k >= 0; k--) {
    sift(side, k, count);
  }
  for (int k = count - 1; k > 0; k--) {
    const saltusi_face_side swap = side[0];
    side[0] = side[k];
    side[k] = swap;
    sift(side, 0, k);
  }
}
