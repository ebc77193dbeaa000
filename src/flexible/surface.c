/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * surface.c - the surface of a solid mesh: faces of elements that no other element has. Corners alone; Abaqus, CalculiX and gmsh
 * list them first, in the same order.
 */
#include "flexible/flexible.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CORNERS = SALTUSI_FE_CORNERS };

static void sort_corners(int node[CORNERS]) {
  for (int i = 1; i < CORNERS; i++) {
    for (int k = i; k > 0 && node[k] < node[k - 1]; k--) {
      const int other = node[k];
      node[k] = node[k - 1];
      node[k - 1] = other;
    }
  }
}

static bool add_face(saltusi_fe_faces* faces, const int* node, const signed char* of) {
  if (faces->count == faces->room) {
    const int room = faces->room > 0 ? 2 * faces->room : 1024;
    saltusi_fe_face* grown = realloc(faces->list, (size_t)room * sizeof *grown);
    if (grown == NULL) {
      return false;
    }
    faces->list = grown;
    faces->room = room;
  }
  saltusi_fe_face* face = &faces->list[faces->count++];
  for (int k = 0; k < CORNERS; k++) {
    face->corner[k] = face->sorted[k] = of[k] < 0 ? 0 : node[of[k]];
  }
  sort_corners(face->sorted);
  return true;
}

/* Faces seen from outside, counter-clockwise; -1: a triangle. */
bool saltusi_fe_faces_add(saltusi_fe_faces* faces, const int* node, int corners) {
  static const signed char tetrahedron[4][CORNERS] = {
      {0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {0, 3, 2, -1}};
  static const signed char wedge[5][CORNERS] = {
      {0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};
  static const signed char brick[6][CORNERS] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                                {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  assert(faces != NULL && node != NULL && (corners == 4 || corners == 6 || corners == 8));
  const signed char(*table)[CORNERS] = corners == 4 ? tetrahedron : corners == 6 ? wedge : brick;
  bool kept = true;
  for (int f = 0; f < (corners == 8 ? 6 : corners == 6 ? 5 : 4) && kept; f++) {
    kept = add_face(faces, node, table[f]);
  }
  return kept;
}

static int by_corners(const void* a, const void* b) {
  const saltusi_fe_face *x = a, *y = b;
  for (int k = 0; k < CORNERS; k++) {
    if (x->sorted[k] != y->sorted[k]) {
      return x->sorted[k] < y->sorted[k] ? -1 : 1;
    }
  }
  return 0;
}

void saltusi_fe_faces_outer(saltusi_fe_faces* faces) {
  assert(faces != NULL && faces->count >= 0);
  const int count = faces->count;
  faces->count = 0;
  if (count == 0) {
    return;
  }
  qsort(faces->list, (size_t)count, sizeof *faces->list, by_corners);
  for (int i = 0, end = 0; i < count; i = end) {
    while (end < count && by_corners(&faces->list[i], &faces->list[end]) == 0) {
      end++;
    }
    if (end == i + 1) {
      faces->list[faces->count++] = faces->list[i];
    }
  }
}
