/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ordering.c - the pattern as lists that the algorithm may overwrite.
 */
#include "math/ordering.h"

#include <assert.h>
#include <limits.h>

/* extra workspace recommended by AMD: a fifth of the lists */
static size_t capacity_of(size_t entries, int n) {
  return entries + entries / 5 + (size_t)n + 1;
}

size_t saltusi_ordering_workspace(size_t entries, int n) {
  assert(n >= 0);
  return capacity_of(entries, n) + (SALTUSI_ORDERING_ARRAYS + 2) * ((size_t)n + 1);
}

void saltusi_ordering(int n, const int* start, const int* column, const bool* later, int* order,
                      int* room) {
  assert(n >= 0 && (n == 0 || start[n] <= INT_MAX / 2 - n));
  size_t stride = (size_t)n + 1;
  saltusi_ordering_graph graph = {.n = n, .begin = room, .length = room + stride, .later = later};
  for (int k = 0; k < SALTUSI_ORDERING_ARRAYS; k++) {
    graph.array[k] = room + (size_t)(k + 2) * stride;
  }
  graph.lists = room + (SALTUSI_ORDERING_ARRAYS + 2) * stride;
  int* seen = graph.array[0];
  for (int i = 0; i < n; i++) {
    seen[i] = -1;
  }
  int used = 0;
  for (int i = 0; i < n; i++) {
    graph.begin[i] = used;
    seen[i] = i;
    for (int e = start[i]; e < start[i + 1]; e++) {
      int j = column[e];
      if (seen[j] != i) {
        seen[j] = i;
        graph.lists[used++] = j;
      }
    }
    graph.length[i] = used - graph.begin[i];
  }
  graph.used = used;
  graph.capacity = used + used / 5 + n + 1;
  if (n > 0) {
    saltusi_ordering_find(&graph, order);
  }
}
