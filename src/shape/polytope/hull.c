/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hull.c - faces of a convex hull from its facets: coplanar facets (within 8 eps x size) are merged into one face;
 * points with fewer than three faces are no vertices; vertices of a face are sorted counter-clockwise.
 */
#include "math/rotation.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Facets with the index of their face, and workspace. */
typedef struct uniting {
  const double* points; /* of the definition */
  saltusi_facets facets;
  double flat;  /* m, tolerance of coplanarity */
  int* face_of; /* [facets] */
  int faces;
  int* uses; /* [points] number of faces at a point */
  int* seen; /* [points] the last face that has counted it, plus one */
} uniting;

static const double* point_of(const uniting* work, int place) {
  return work->points + (size_t)3 * (size_t)work->facets.point[place];
}

static bool coplanar(const uniting* work, int one, int two) {
  const double* n = work->facets.normal[one];
  if (!(saltusi_dot3(n, work->facets.normal[two]) > 0.9)) {
    return false;
  }
  const double* p = point_of(work, work->facets.first[one]);
  for (int k = work->facets.first[two]; k < work->facets.first[two + 1]; k++) {
    double from[3];
    saltusi_minus3(point_of(work, k), p, from);
    if (!(fabs(saltusi_dot3(n, from)) <= work->flat)) {
      return false;
    }
  }
  return true;
}

static void unite(uniting* work) {
  work->faces = 0;
  for (int one = 0; one < work->facets.count; one++) {
    if (work->face_of[one] >= 0) {
      continue;
    }
    work->face_of[one] = work->faces;
    for (int two = one + 1; two < work->facets.count; two++) {
      if (work->face_of[two] < 0 && coplanar(work, one, two)) {
        work->face_of[two] = work->faces;
      }
    }
    work->faces++;
  }
}

/* Counts the faces at each point. */
static void count_uses(uniting* work) {
  for (int face = 0; face < work->faces; face++) {
    for (int one = 0; one < work->facets.count; one++) {
      if (work->face_of[one] != face) {
        continue;
      }
      for (int k = work->facets.first[one]; k < work->facets.first[one + 1]; k++) {
        const int p = work->facets.point[k];
        if (work->seen[p] != face + 1) {
          work->seen[p] = face + 1;
          work->uses[p]++;
        }
      }
    }
  }
}

/* Sorts the vertices of a face counter-clockwise about its normal, by insertion: by the angle about their
 * centroid. */
static void go_around(const double* points, const double normal[3], int* corner, double* angle,
                      int count) {
  double middle[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < count; k++) {
    saltusi_along(1.0 / count, points + (size_t)3 * (size_t)corner[k], middle, middle);
  }
  double x[3], y[3];
  saltusi_normal_to(normal, x);
  saltusi_cross(normal, x, y);
  for (int k = 0; k < count; k++) {
    double from[3];
    saltusi_minus3(points + (size_t)3 * (size_t)corner[k], middle, from);
    const double at = atan2(saltusi_dot3(from, y), saltusi_dot3(from, x));
    const int place = corner[k];
    int j = k;
    for (; j > 0 && angle[j - 1] > at; j--) {
      angle[j] = angle[j - 1];
      corner[j] = corner[j - 1];
    }
    angle[j] = at;
    corner[j] = place;
  }
}

/* Writes the vertices of one face; returns their number. */
static int corners_of(uniting* work, int face, int* corner, double* angle) {
  int count = 0;
  double normal[3] = {0.0, 0.0, 0.0};
  for (int one = 0; one < work->facets.count; one++) {
    if (work->face_of[one] != face) {
      continue;
    }
    if (saltusi_dot3(normal, normal) == 0.0) {
      memcpy(normal, work->facets.normal[one], sizeof normal);
    }
    for (int k = work->facets.first[one]; k < work->facets.first[one + 1]; k++) {
      const int p = work->facets.point[k];
      if (work->seen[p] != face + 1 && work->uses[p] >= 3) {
        work->seen[p] = face + 1;
        corner[count++] = p;
      }
    }
  }
  go_around(work->points, normal, corner, angle, count);
  return count;
}

/* Points that are vertices, in the order of the definition. */
static bool number_points(const saltusi_making* making, const uniting* work, saltusi_solid* out,
                          int* loop, int corners) {
  const int given = making->def->point_count;
  int* number = SALTUSI_TAKE(making->pool, int, given);
  double(*point)[3] = saltusi_pool_take(making->pool, (size_t)given, sizeof point[0]);
  if (making->pool->failed) {
    return false;
  }
  out->points = 0;
  for (int p = 0; p < given; p++) {
    if (work->uses[p] >= 3) {
      memcpy(point[out->points], work->points + (size_t)3 * (size_t)p, sizeof point[0]);
      number[p] = out->points++;
    }
  }
  for (int k = 0; k < corners; k++) {
    loop[k] = number[loop[k]];
  }
  out->point = (const double(*)[3])point;
  out->loop = loop;
  return true;
}

static double extent(const double* points, int count) {
  double most = 0.0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int p = 0; p < count; p++) {
      low = fmin(low, points[3 * (size_t)p + (size_t)k]);
      high = fmax(high, points[3 * (size_t)p + (size_t)k]);
    }
    most = fmax(most, high - low);
  }
  return most;
}

saltus_status saltusi_hull_solid(const saltusi_making* making, saltusi_solid* out) {
  assert(making != NULL && out != NULL);
  const saltus_shape_def* def = making->def;
  uniting work = {.points = def->points,
                  .flat = 8.0 * DBL_EPSILON * extent(def->points, def->point_count)};
  const saltus_status status = saltusi_hull_facets(making, &work.facets);
  if (status != SALTUS_OK) {
    return status;
  }
  const int corners = work.facets.first[work.facets.count];
  saltusi_pool* pool = making->pool;
  work.face_of = SALTUSI_TAKE(pool, int, work.facets.count);
  work.uses = SALTUSI_TAKE(pool, int, def->point_count);
  work.seen = SALTUSI_TAKE(pool, int, def->point_count);
  int* loop = SALTUSI_TAKE(pool, int, corners);
  int* count = SALTUSI_TAKE(pool, int, work.facets.count);
  double* angle = SALTUSI_TAKE(pool, double, corners);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int f = 0; f < work.facets.count; f++) {
    work.face_of[f] = -1;
  }
  unite(&work);
  count_uses(&work);
  memset(work.seen, 0, (size_t)def->point_count * sizeof *work.seen);
  int written = 0;
  for (int face = 0; face < work.faces; face++) {
    count[face] = corners_of(&work, face, loop + written, angle);
    if (count[face] < 3) {
      return saltusi_shape_refuse(making, "the hull of its points is too thin for double "
                                          "precision: a face has fewer than 3 corners");
    }
    written += count[face];
  }
  out->count = count;
  out->faces = work.faces;
  return number_points(making, &work, out, loop, written) ? SALTUS_OK : SALTUS_ERR_MEMORY;
}
