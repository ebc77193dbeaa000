/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ordering_amd.c - Amestoy, Davis & Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905, by the libraries AMD and CAMD
 * of SuiteSparse, in given memory.
 */
#include "math/ordering.h"

#include <suitesparse/amd.h>
#include <suitesparse/camd.h>

/* CAMD counts groups from 0 without gaps. */
static bool has_both(const saltusi_ordering_graph* g) {
  int count = 0;
  for (int i = 0; i < g->n && g->later != NULL; i++) {
    count += g->later[i] ? 1 : 0;
  }
  return count > 0 && count < g->n;
}

void saltusi_ordering_find(saltusi_ordering_graph* g, int* order) {
  _Static_assert(AMD_CONTROL >= CAMD_CONTROL && AMD_INFO >= CAMD_INFO, "one array serves both");
  double control[AMD_CONTROL];
  double info[AMD_INFO];
  int* const* a = g->array;
  if (!has_both(g)) {
    amd_defaults(control);
    amd_2(g->n, g->begin, g->lists, g->length, g->capacity, g->used, a[0], a[1], order, a[2], a[3],
          a[4], a[5], control, info);
    return;
  }
  int* group = a[6];
  for (int i = 0; i < g->n; i++) {
    group[i] = g->later[i] ? 1 : 0;
  }
  camd_defaults(control);
  camd_2(g->n, g->begin, g->lists, g->length, g->capacity, g->used, a[0], a[1], order, a[2], a[3],
         a[4], a[5], control, info, group, a[7]);
}
