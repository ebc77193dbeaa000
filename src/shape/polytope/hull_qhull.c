/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hull_qhull.c - facets of the hull of points, by qhull (Barber, Dobkin, Huhdanpaa 1996), reentrant. Errors are
 * written to a buffer; nothing is printed.
 */
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <string.h>

/* Copies facets into the pool. */
static bool read_facets(qhT* qh, saltusi_pool* pool, saltusi_facets* out) {
  facetT* facet;
  vertexT *vertex, **vertexp;
  int corners = 0;
  int count = 0;
  FORALLfacets {
    count++;
    corners += qh_setsize(qh, facet->vertices);
  }
  out->first = SALTUSI_TAKE(pool, int, count + 1);
  out->point = SALTUSI_TAKE(pool, int, corners);
  out->normal = saltusi_pool_take(pool, (size_t)count, sizeof out->normal[0]);
  if (pool->failed) {
    return false;
  }
  out->count = 0;
  int place = 0;
  FORALLfacets {
    out->first[out->count] = place;
    FOREACHvertex_(facet->vertices) {
      out->point[place++] = qh_pointid(qh, vertex->point);
    }
    memcpy(out->normal[out->count++], facet->normal, sizeof out->normal[0]);
  }
  out->first[out->count] = place;
  return true;
}

/* The first line of the error message of qhull. */
static void first_line(char* text) {
  char* end = strpbrk(text, "\r\n");
  if (end != NULL) {
    *end = '\0';
  }
}

saltus_status saltusi_hull_facets(const saltusi_making* making, saltusi_facets* out) {
  assert(making != NULL && out != NULL);
  const saltus_shape_def* def = making->def;
  const size_t numbers = 3 * (size_t)def->point_count;
  double* points = SALTUSI_TAKE(making->pool, double, numbers);
  char said[256] = "";
  FILE* messages = fmemopen(said, sizeof said - 1, "w");
  if (points == NULL || messages == NULL) {
    if (messages != NULL) {
      fclose(messages);
    }
    return SALTUS_ERR_MEMORY;
  }
  memcpy(points, def->points, numbers * sizeof *points);
  qhT memory;
  qhT* qh = &memory;
  qh_zero(qh, messages);
  char command[] = "qhull";
  const int failed = qh_new_qhull(qh, 3, def->point_count, points, False, command, NULL, messages);
  const bool copied = !failed && read_facets(qh, making->pool, out);
  qh_freeqhull(qh, !qh_ALL);
  int kept, blocks;
  qh_memfreeshort(qh, &kept, &blocks);
  fclose(messages);
  if (failed) {
    first_line(said);
    return saltusi_shape_refuse(making,
                                "its points have no hull with a volume: they lie in a plane or on "
                                "a line, or nearly so (%s)",
                                said);
  }
  return copied ? SALTUS_OK : SALTUS_ERR_MEMORY;
}
