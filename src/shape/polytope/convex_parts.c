/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convex_parts.c - approximate convex decomposition of a closed mesh. The bounding box is divided by planes normal to its
 * axes; each cell has the hull of the part of the mesh in it:
 *
 *   points of a cell = corners of the triangles cut by the cell, and corners of the cell inside of the mesh
 *
 * These are all extreme points of that part, so hulls contain the mesh; cells are convex, so hulls do not overlap, and
 * |hull| - |part| is the exact error of volume of a cell. The cell with the largest error is cut where most of it vanishes,
 * as in V-HACD (Mamou and Ghorbel 2009), or in its middle; planes are compared by hulls of support points.
 */
#include "shape/polytope/convex_parts.h"

#include "math/rotation.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { PLANES = 7, REFINEMENTS = 3, DIRECTIONS = 96, CORNERS = 12 };
static const double least_excess = 1e-3, least_part = 1e-6; /* of the volume of the mesh */
static const double least_gain = 0.05;                      /* of the error of a cell */

typedef struct cell {
  double low[3], high[3];
  double hull, excess; /* volume of the hull, and less that of the part */
  double volume;       /* of the hull of support points */
  double gain;         /* volume that the best cut removes */
  int axis;
  double at;
} cell;

typedef struct divider {
  const saltus_shape_def* def;
  saltusi_pool* pool; /* of points below */
  double (*point)[3];
  int points;
  double volume;
} divider;

static const double* corner_of(const divider* d, int triangle, int k) {
  return d->def->points + (size_t)3 * (size_t)d->def->triangles[3 * triangle + k];
}

/* Whether the ray from (x, y) along x in the plane z = 0 crosses the edge from a to b. Crossings of an edge and of its
 * reverse are the same numbers. */
static bool crosses(const double* a, const double* b, const double p[3]) {
  const double *low = a[1] < b[1] ? a : b, *high = a[1] < b[1] ? b : a;
  return (low[1] <= p[1]) != (high[1] <= p[1]) &&
         p[0] < low[0] + (p[1] - low[1]) / (high[1] - low[1]) * (high[0] - low[0]);
}

/* Inside of the mesh: by the signs of the triangles above the point. */
static bool is_inside(const divider* d, const double p[3]) {
  int sum = 0;
  for (int t = 0; t < d->def->triangle_count; t++) {
    const double *a = corner_of(d, t, 0), *b = corner_of(d, t, 1), *c = corner_of(d, t, 2);
    if (((int)crosses(a, b, p) + crosses(b, c, p) + crosses(c, a, p)) % 2 == 1) {
      double ab[3], ac[3], ap[3], n[3];
      saltusi_minus3(b, a, ab);
      saltusi_minus3(c, a, ac);
      saltusi_minus3(p, a, ap);
      saltusi_cross(ab, ac, n);
      const double under = saltusi_dot3(ap, n); /* < 0: inside of its half-space */
      sum += n[2] > 0.0 && under < 0.0 ? 1 : n[2] < 0.0 && under > 0.0 ? -1 : 0;
    }
  }
  return sum > 0;
}

/* The part of a polygon at sign x[axis] <= sign at. */
static int cut(double (*polygon)[3], int count, int axis, double sign, double at) {
  double out[CORNERS][3];
  int kept = 0;
  for (int i = 0; i < count; i++) {
    const double *a = polygon[i], *b = polygon[(i + 1) % count];
    const double over[2] = {sign * (a[axis] - at), sign * (b[axis] - at)};
    if (over[0] <= 0.0 && kept < CORNERS) {
      memcpy(out[kept++], a, sizeof out[0]);
    }
    if ((over[0] < 0.0 && over[1] > 0.0) || (over[0] > 0.0 && over[1] < 0.0)) {
      const double part = over[0] / (over[0] - over[1]);
      for (int k = 0; k < 3 && kept < CORNERS; k++) {
        out[kept][k] = k == axis ? at : a[k] + part * (b[k] - a[k]);
      }
      kept += kept < CORNERS;
    }
  }
  memcpy(polygon, out, (size_t)kept * sizeof out[0]);
  return kept;
}

/* A polygon in a side of the cell bounds what is in the cell only if it is all of a triangle that faces outwards: others
 * touch the cell from outside. */
static bool bounds(const divider* d, const cell* c, int triangle, const double (*polygon)[3],
                   int count) {
  for (int side = 0; side < 6; side++) {
    const int k = side / 2, l = (k + 1) % 3, m = (k + 2) % 3;
    const double at = side % 2 == 0 ? c->low[k] : c->high[k];
    bool flat = true, all = true;
    for (int i = 0; i < count; i++) {
      flat = flat && polygon[i][k] == at;
    }
    for (int i = 0; i < 3; i++) {
      all = all && corner_of(d, triangle, i)[k] == at;
    }
    if (flat) {
      const double *a = corner_of(d, triangle, 0), *b = corner_of(d, triangle, 1),
                   *e = corner_of(d, triangle, 2);
      const double normal = (b[l] - a[l]) * (e[m] - a[m]) - (b[m] - a[m]) * (e[l] - a[l]);
      return all && (side % 2 == 0 ? normal < 0.0 : normal > 0.0);
    }
  }
  return count > 0;
}

/* The points of a cell. */
static void collect(divider* d, const cell* c) {
  d->points = 0;
  for (int t = 0; t < d->def->triangle_count; t++) {
    double polygon[CORNERS][3];
    int count = 3;
    for (int k = 0; k < 3; k++) {
      memcpy(polygon[k], corner_of(d, t, k), sizeof polygon[k]);
    }
    for (int k = 0; k < 3 && count > 0; k++) {
      count = cut(polygon, count, k, 1.0, c->high[k]);
      count = count > 0 ? cut(polygon, count, k, -1.0, c->low[k]) : 0;
    }
    if (bounds(d, c, t, (const double(*)[3])polygon, count)) {
      memcpy(d->point[d->points], polygon, (size_t)count * sizeof polygon[0]);
      d->points += count;
    }
  }
  for (int i = 0; i < 8; i++) {
    const double p[3] = {(i & 1) != 0 ? c->high[0] : c->low[0],
                         (i & 2) != 0 ? c->high[1] : c->low[1],
                         (i & 4) != 0 ? c->high[2] : c->low[2]};
    if (is_inside(d, p)) {
      memcpy(d->point[d->points++], p, sizeof p);
    }
  }
}

/* The integral of z - low over the projection of a polygon along z, positive where it faces up. */
static double column(const double (*polygon)[3], int count, double low) {
  double sum = 0.0;
  for (int i = 2; i < count; i++) {
    const double *a = polygon[0], *b = polygon[i - 1], *c = polygon[i];
    const double area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    sum += area * ((a[2] + b[2] + c[2]) / 3.0 - low);
  }
  return sum;
}

/* Volume of the mesh in a cell: of the columns below its triangles. */
static double part_volume(const divider* d, const cell* c) {
  double sum = 0.0;
  for (int t = 0; t < d->def->triangle_count; t++) {
    double polygon[CORNERS][3], over[CORNERS][3];
    int count = 3;
    for (int k = 0; k < 3; k++) {
      memcpy(polygon[k], corner_of(d, t, k), sizeof polygon[k]);
    }
    for (int k = 0; k < 2 && count > 0; k++) {
      count = cut(polygon, count, k, 1.0, c->high[k]);
      count = count > 0 ? cut(polygon, count, k, -1.0, c->low[k]) : 0;
    }
    memcpy(over, polygon, sizeof over);
    double top = -INFINITY;
    for (int i = 0; i < count; i++) {
      top = fmax(top, polygon[i][2]);
    }
    const int above = top > c->high[2] ? cut(over, count, 2, -1.0, c->high[2]) : 0;
    for (int i = 0; i < above; i++) {
      over[i][2] = c->high[2];
    }
    sum += column((const double(*)[3])over, above, c->low[2]);
    count = count > 0 ? cut(polygon, count, 2, 1.0, c->high[2]) : 0;
    count = count > 0 ? cut(polygon, count, 2, -1.0, c->low[2]) : 0;
    sum += column((const double(*)[3])polygon, count, c->low[2]);
  }
  return sum;
}

/* Keeps the support points of directions on a spiral of equal areas. */
static void thin(divider* d) {
  int best[DIRECTIONS];
  double kept[DIRECTIONS][3];
  for (int i = 0; i < DIRECTIONS && d->points > DIRECTIONS; i++) {
    const double z = 1.0 - (2.0 * i + 1.0) / DIRECTIONS, angle = 2.39996322972865332 * i;
    const double r = sqrt(1.0 - z * z), n[3] = {r * cos(angle), r * sin(angle), z};
    best[i] = 0;
    for (int k = 1; k < d->points; k++) {
      best[i] = saltusi_dot3(n, d->point[k]) > saltusi_dot3(n, d->point[best[i]]) ? k : best[i];
    }
    memcpy(kept[i], d->point[best[i]], sizeof kept[i]);
  }
  if (d->points > DIRECTIONS) {
    memcpy(d->point, kept, sizeof kept);
    d->points = DIRECTIONS;
  }
}

/* Twice the area vector of a triangle, and six times the volume below it about p. */
static double add_triangle(const double* a, const double* b, const double* c, const double p[3],
                           double area[3]) {
  double ab[3], ac[3], ap[3], n[3];
  saltusi_minus3(b, a, ab);
  saltusi_minus3(c, a, ac);
  saltusi_minus3(a, p, ap);
  saltusi_cross(ab, ac, n);
  for (int k = 0; k < 3; k++) {
    area[k] += n[k];
  }
  return saltusi_dot3(ap, n);
}

/* Volume of the hull of the points; 0: they are flat. */
static double hull_volume(const divider* d) {
  saltusi_pool pool = saltusi_pool_over(&d->pool->allocator);
  int count = 0;
  double six = 0.0, area[3] = {0.0};
  const int* t =
      d->points < 4 ? NULL : saltusi_hull_triangles(&d->point[0][0], d->points, &pool, &count);
  for (int i = 0; t != NULL && i < count; i++) {
    six += add_triangle(d->point[t[3 * i]], d->point[t[3 * i + 1]], d->point[t[3 * i + 2]],
                        d->point[0], area);
  }
  saltusi_pool_free(&pool);
  return six / 6.0;
}

static double cell_volume(divider* d, const cell* c) {
  collect(d, c);
  thin(d);
  return hull_volume(d);
}

static cell side_of(const cell* c, int axis, double at, bool above) {
  cell side = *c;
  *(above ? &side.low[axis] : &side.high[axis]) = at;
  return side;
}

/* Takes a cut instead of the best one of the cell if it removes more volume than that less `slack`. */
static void try_cut(divider* d, cell* c, int axis, double at, double slack) {
  if (!(at > c->low[axis] && at < c->high[axis])) {
    return;
  }
  const cell below = side_of(c, axis, at, false), above = side_of(c, axis, at, true);
  const double volume[2] = {cell_volume(d, &below), cell_volume(d, &above)};
  const double gain = c->volume - volume[0] - volume[1];
  if (gain > c->gain - slack && gain > 0.0 && fmin(volume[0], volume[1]) > least_part * d->volume) {
    c->gain = gain;
    c->axis = axis;
    c->at = at;
  }
}

/* Shrinks the cell to its points and finds its best cut: planes at equal distances, then closer ones around the best, then
 * the plane through the nearest vertex of the mesh, where it costs at most 1 % of the gain. */
static void examine(divider* d, cell* c) {
  collect(d, c);
  for (int k = 0; k < 3 && d->points > 0; k++) {
    c->low[k] = c->high[k] = d->point[0][k];
    for (int i = 1; i < d->points; i++) {
      c->low[k] = fmin(c->low[k], d->point[i][k]);
      c->high[k] = fmax(c->high[k], d->point[i][k]);
    }
  }
  c->hull = hull_volume(d);
  c->excess = c->hull - part_volume(d, c);
  if (!(c->excess > least_excess * d->volume)) {
    return;
  }
  thin(d);
  c->volume = hull_volume(d);
  c->gain = 0.0;
  c->axis = 0;
  for (int k = 0; k < 3; k++) {
    for (int i = 1; i <= PLANES; i++) {
      try_cut(d, c, k, c->low[k] + (c->high[k] - c->low[k]) * i / (PLANES + 1), 0.0);
    }
  }
  const int axis = c->axis;
  const double spacing = (c->high[axis] - c->low[axis]) / (PLANES + 1);
  double width = spacing;
  for (int r = 0; r < REFINEMENTS && c->gain > 0.0; r++) {
    const double middle = c->at;
    width *= 0.25;
    for (int i = -3; i <= 3; i++) {
      try_cut(d, c, axis, middle + i * width, 0.0);
    }
  }
  double nearest = INFINITY;
  for (int i = 0; i < d->def->point_count && c->gain > 0.0; i++) {
    const double x = d->def->points[3 * i + axis];
    nearest = fabs(x - c->at) < fabs(nearest - c->at) ? x : nearest;
  }
  if (c->gain > 0.0 && fabs(nearest - c->at) <= spacing) {
    try_cut(d, c, axis, nearest, 0.01 * c->gain);
  }
  if (!(c->gain > least_gain * c->excess)) {
    c->axis = 0;
    for (int k = 1; k < 3; k++) {
      c->axis = c->high[k] - c->low[k] > c->high[c->axis] - c->low[c->axis] ? k : c->axis;
    }
    c->at = 0.5 * (c->low[c->axis] + c->high[c->axis]);
  }
}

/* Volume, bounds and closedness of the mesh. */
static saltus_status measure(divider* d, const saltusi_making* making, cell* whole) {
  double area[3] = {0.0}, size = 0.0, six = 0.0;
  for (int k = 0; k < 3; k++) {
    whole->low[k] = whole->high[k] = d->def->points[k];
    for (int i = 1; i < d->def->point_count; i++) {
      whole->low[k] = fmin(whole->low[k], d->def->points[3 * i + k]);
      whole->high[k] = fmax(whole->high[k], d->def->points[3 * i + k]);
    }
  }
  for (int t = 0; t < d->def->triangle_count; t++) {
    double own[3] = {0.0};
    six +=
        add_triangle(corner_of(d, t, 0), corner_of(d, t, 1), corner_of(d, t, 2), whole->low, own);
    size += sqrt(saltusi_dot3(own, own));
    for (int k = 0; k < 3; k++) {
      area[k] += own[k];
    }
  }
  d->volume = six / 6.0;
  const double open = 1e-4 * size; /* areas of a closed surface cancel */
  if (!(sqrt(saltusi_dot3(area, area)) <= open) || !(d->volume > 0.0)) {
    return saltusi_shape_refuse(
        making,
        "parts need a closed mesh with its triangles counter-clockwise seen "
        "from outside; its volume is %g m^3 and its areas sum to %g m^2",
        d->volume, 0.5 * sqrt(saltusi_dot3(area, area)));
  }
  return SALTUS_OK;
}

saltus_status saltusi_convex_parts_make(const saltusi_making* making, int most,
                                        saltusi_convex_parts* out) {
  assert(making != NULL && out != NULL && most >= 1 && most <= SALTUSI_MOST_CONVEX_PARTS);
  const saltus_shape_def* def = making->def;
  assert(def->point_count > 0 && def->triangle_count > 0);
  saltusi_pool pool = saltusi_pool_over(&making->pool->allocator);
  cell cells[SALTUSI_MOST_CONVEX_PARTS];
  divider d = {.def = def, .pool = &pool};
  d.point = saltusi_pool_take(&pool, (size_t)CORNERS * (size_t)def->triangle_count + 8,
                              sizeof d.point[0]);
  *out = (saltusi_convex_parts){.count = 1};
  saltus_status status = d.point != NULL ? measure(&d, making, &cells[0]) : SALTUS_ERR_MEMORY;
  saltusi_facets facets; /* reports what hulls of this build lack */
  status = status == SALTUS_OK ? saltusi_hull_facets(making, &facets) : status;
  if (status == SALTUS_OK) {
    examine(&d, &cells[0]);
  }
  while (status == SALTUS_OK && out->count < most) {
    int best = 0;
    for (int i = 1; i < out->count; i++) {
      best = cells[i].excess > cells[best].excess ? i : best;
    }
    cell* c = &cells[best];
    if (!(c->excess > least_excess * d.volume)) {
      break;
    }
    const cell above = side_of(c, c->axis, c->at, true);
    *c = side_of(c, c->axis, c->at, false);
    cells[out->count] = above;
    examine(&d, c);
    examine(&d, &cells[out->count++]);
  }
  double hulls = 0.0;
  for (int i = 0; i < out->count && status == SALTUS_OK; i++) {
    collect(&d, &cells[i]);
    hulls += cells[i].hull;
    out->point_count[i] = d.points;
    out->points[i] = SALTUSI_TAKE(making->pool, double, 3 * (size_t)d.points);
    status = out->points[i] != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
    if (status == SALTUS_OK) {
      memcpy(out->points[i], d.point, 3 * (size_t)d.points * sizeof(double));
    }
  }
  out->volume = d.volume;
  out->excess = hulls - d.volume;
  saltusi_pool_free(&pool);
  return status;
}
