/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hull.c - faces of a convex hull from its facets: coplanar facets (within 8 eps x size) are merged into one face;
 * points with fewer than three faces are no vertices; vertices of a face are sorted counter-clockwise. Or faces that
 * are given as fans of triangles, as in saved scenes: (a, b, c), (a, c, d), ... are one face.
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

/* Loops of the given fans; returns the number of their corners, -1 for places that do not exist. */
static int read_fans(const saltus_shape_def* def, uniting* work, int* loop, int* count) {
  int corners = 0;
  for (int k = 0; k < def->triangle_count; k++) {
    const int* now = def->triangles + (size_t)3 * (size_t)k;
    for (int i = 0; i < 3; i++) {
      if (now[i] < 0 || now[i] >= def->point_count) {
        return -1;
      }
    }
    if (k == 0 || now[0] != now[-3] || now[1] != now[-1]) {
      count[work->faces++] = 2;
      loop[corners++] = now[0];
      loop[corners++] = now[1];
    }
    count[work->faces - 1]++;
    loop[corners++] = now[2];
  }
  for (int k = 0; k < corners; k++) {
    work->uses[loop[k]]++;
  }
  return corners;
}

/* Twice the area of a face along its normal. */
static void area_of(const double* points, const int* loop, int count, double area[3]) {
  area[0] = area[1] = area[2] = 0.0;
  const double* first = points + (size_t)3 * (size_t)loop[0];
  for (int k = 2; k < count; k++) {
    double a[3], b[3], part[3];
    saltusi_minus3(points + (size_t)3 * (size_t)loop[k - 1], first, a);
    saltusi_minus3(points + (size_t)3 * (size_t)loop[k], first, b);
    saltusi_cross(a, b, part);
    saltusi_along(1.0, part, area, area);
  }
}

/* Whether all points are behind the plane of the face, up to rounding. */
static bool is_outside(const saltus_shape_def* def, const int* loop, int count, double flat) {
  double n[3];
  area_of(def->points, loop, count, n);
  const double size = sqrt(saltusi_dot3(n, n));
  for (int p = 0; p < def->point_count; p++) {
    double from[3];
    saltusi_minus3(def->points + (size_t)3 * (size_t)p, def->points + (size_t)3 * (size_t)loop[0],
                   from);
    if (!(size > 0.0) || !(saltusi_dot3(n, from) <= flat * size)) {
      return false;
    }
  }
  return true;
}

static saltus_status given_solid(const saltusi_making* making, uniting* work, saltusi_solid* out) {
  const saltus_shape_def* def = making->def;
  int* loop = SALTUSI_TAKE(making->pool, int, 3 * (size_t)def->triangle_count);
  int* count = SALTUSI_TAKE(making->pool, int, def->triangle_count);
  work->uses = SALTUSI_TAKE(making->pool, int, def->point_count);
  if (making->pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  const int corners = read_fans(def, work, loop, count);
  bool good = corners > 0;
  for (int face = 0, at = 0; good && face < work->faces; at += count[face++]) {
    good = is_outside(def, loop + at, count[face], 32.0 * work->flat);
  }
  if (!good) {
    return saltusi_shape_refuse(making, "its triangles are not the hull of its points; "
                                        "consecutive ones (a, b, c), (a, c, d) are one face");
  }
  out->count = count;
  out->faces = work->faces;
  return number_points(making, work, out, loop, corners) ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

/* Consecutive faces begin at different points. */
int* saltusi_hull_triangles(const double* points, int point_count, saltusi_pool* pool, int* count) {
  assert(points != NULL && point_count > 0 && pool != NULL && count != NULL);
  const saltus_shape_def def = {
      .kind = SALTUS_SHAPE_HULL, .points = points, .point_count = point_count};
  const saltusi_making making = {.def = &def, .pool = pool};
  saltusi_solid solid;
  *count = 0;
  if (saltusi_hull_solid(&making, &solid) != SALTUS_OK) {
    return NULL;
  }
  int* place = SALTUSI_TAKE(pool, int, solid.points);
  int corners = 0;
  for (int face = 0; face < solid.faces; face++) {
    corners += solid.count[face];
  }
  int* out = SALTUSI_TAKE(pool, int, 3 * (size_t)corners);
  for (int p = 0, v = 0; place != NULL && v < solid.points; p++) {
    const double *from = points + (size_t)3 * (size_t)p, *to = solid.point[v];
    if (from[0] == to[0] && from[1] == to[1] && from[2] == to[2]) {
      place[v++] = p;
    }
  }
  const int* loop = solid.loop;
  for (int face = 0; out != NULL && place != NULL && face < solid.faces; face++) {
    const int n = solid.count[face];
    const int from = *count > 0 && place[loop[0]] == out[3 * (*count - 1)] ? 1 : 0;
    for (int k = 1; k < n - 1; k++, (*count)++) {
      out[3 * *count] = place[loop[from]];
      out[3 * *count + 1] = place[loop[(from + k) % n]];
      out[3 * *count + 2] = place[loop[(from + k + 1) % n]];
    }
    loop += n;
  }
  return out;
}

saltus_status saltusi_hull_solid(const saltusi_making* making, saltusi_solid* out) {
  assert(making != NULL && out != NULL);
  const saltus_shape_def* def = making->def;
  uniting work = {.points = def->points,
                  .flat = 8.0 * DBL_EPSILON * extent(def->points, def->point_count)};
  if (def->triangle_count > 0) {
    return given_solid(making, &work, out);
  }
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
