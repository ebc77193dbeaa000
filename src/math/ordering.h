/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ordering.h - fill-reducing orders of elimination of a symmetric pattern.
 */
#ifndef SALTUSI_ORDERING_H
#define SALTUSI_ORDERING_H

#include <stdbool.h>
#include <stddef.h>

/* Integers of scratch for a pattern of n rows with this many entries. */
size_t saltusi_ordering_workspace(size_t entries, int n);

/* order[k] is the row that is eliminated as k-th. Rows contain their neighbours, both halves, in any order; the
 * diagonal and repeated entries are ignored. Rows with `later` come after all others; NULL: none. Equal input gives
 * equal order. */
void saltusi_ordering(int n, const int* start, const int* column, const bool* later, int* order,
                      int* room);

/* ---- between ordering.c and the algorithm behind it: ordering_amd.c or ordering_degree.c ---- */

enum { SALTUSI_ORDERING_ARRAYS = 9 };

/* Distinct neighbours of each row, without itself; overwritten by the algorithm. */
typedef struct saltusi_ordering_graph {
  int n;
  int *begin, *length;                 /* [n] of each list */
  int* lists;                          /* [capacity] */
  int used, capacity;                  /* capacity is at least used + n */
  int* array[SALTUSI_ORDERING_ARRAYS]; /* [n + 1] scratch */
  const bool* later;
} saltusi_ordering_graph;

void saltusi_ordering_find(saltusi_ordering_graph* graph, int* order);

#endif
