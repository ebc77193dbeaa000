/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mass_plane.c - area, centre and polar moment of planar shapes. A polygon, about its first point, with
 * k = x_i y_i+1 - x_i+1 y_i:  A = sum k/2, first = sum k (p + q)/6, J = sum k (p.p + p.q + q.q)/12; rounded by r: a
 * rectangle on each edge and a sector of angle w at each corner, whose centre is 4 r sin(w/2)/(3 w) away.
 */
#include "shape/mass/mass.h"

#include <assert.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

typedef struct areas {
  double area, first[2], polar; /* about the origin of the sums */
} areas;

/* A part with its own centre and moment about it. */
static void add_part(double area, double x, double y, double polar, areas* sum) {
  sum->area += area;
  sum->first[0] += area * x;
  sum->first[1] += area * y;
  sum->polar += polar + area * (x * x + y * y);
}

static void add_polygon(const double* p, int count, areas* sum) {
  for (int i = 1; i + 1 < count; i++) {
    const double a[2] = {p[2 * i] - p[0], p[2 * i + 1] - p[1]};
    const double b[2] = {p[2 * i + 2] - p[0], p[2 * i + 3] - p[1]};
    const double k = a[0] * b[1] - a[1] * b[0];
    sum->area += k / 2.0;
    sum->first[0] += k * (a[0] + b[0]) / 6.0;
    sum->first[1] += k * (a[1] + b[1]) / 6.0;
    sum->polar +=
        k * (a[0] * a[0] + a[1] * a[1] + a[0] * b[0] + a[1] * b[1] + b[0] * b[0] + b[1] * b[1]) /
        12.0;
  }
}

/* Adds the rounding by r at point i and on the edge that follows; the outside is on the right of
 * the edge. */
static void add_rounding(const double* p, int count, int i, double r, areas* sum) {
  const double* a = p + 2 * i;
  const double* b = p + 2 * ((i + 1) % count);
  const double* z = p + 2 * ((i + count - 1) % count);
  const double d[2] = {b[0] - a[0], b[1] - a[1]}, e[2] = {a[0] - z[0], a[1] - z[1]};
  const double l = hypot(d[0], d[1]), before = hypot(e[0], e[1]);
  const double m[2] = {d[1] / l, -d[0] / l};
  const double s[2] = {m[0] + e[1] / before, m[1] - e[0] / before};
  const double x = a[0] - p[0], y = a[1] - p[1];
  add_part(l * r, x + 0.5 * d[0] + 0.5 * r * m[0], y + 0.5 * d[1] + 0.5 * r * m[1],
           l * r * (l * l + r * r) / 12.0, sum);
  const double w = atan2(e[0] * d[1] - e[1] * d[0], e[0] * d[0] + e[1] * d[1]);
  if (w > 0.0) {
    const double area = 0.5 * w * r * r, away = 4.0 * r * sin(0.5 * w) / (3.0 * w);
    const double unit = away / hypot(s[0], s[1]);
    add_part(area, x + unit * s[0], y + unit * s[1], area * (0.5 * r * r - away * away), sum);
  }
}

/* A bar between two points with round ends, about its middle. */
static bool bar(double r, double l, double* area, double* polar) {
  const double c = 2.0 * r * l, b = PI * r * r;
  *area = c + b;
  /* halves of a disc with their centres 4 r/(3 pi) beyond the ends of the bar */
  *polar = c * (l * l + 4.0 * r * r) / 12.0 +
           b * (0.5 * r * r + 0.25 * l * l + 4.0 * l * r / (3.0 * PI));
  return r > 0.0;
}

bool saltusi_area_of(const saltus_shape_def* def, double* area, double centre[2], double* polar) {
  assert(def != NULL && area != NULL && centre != NULL && polar != NULL);
  centre[0] = centre[1] = 0.0;
  const double* p = def->points;
  switch (def->kind) {
  case SALTUS_SHAPE_CIRCLE:
    *area = PI * def->radius * def->radius;
    *polar = 0.5 * *area * def->radius * def->radius;
    return !def->hollow;
  case SALTUS_SHAPE_CAPSULE:
    return bar(def->radius, def->length, area, polar);
  case SALTUS_SHAPE_SEGMENT:
    centre[0] = 0.5 * p[0] + 0.5 * p[2];
    centre[1] = 0.5 * p[1] + 0.5 * p[3];
    return bar(def->radius, hypot(p[2] - p[0], p[3] - p[1]), area, polar);
  case SALTUS_SHAPE_POLYGON: {
    areas sum = {.area = 0.0};
    add_polygon(p, def->point_count, &sum);
    for (int i = 0; i < def->point_count && def->radius > 0.0; i++) {
      add_rounding(p, def->point_count, i, def->radius, &sum);
    }
    const double x = sum.first[0] / sum.area, y = sum.first[1] / sum.area;
    *area = sum.area;
    *polar = sum.polar - sum.area * (x * x + y * y);
    centre[0] = p[0] + x;
    centre[1] = p[1] + y;
    return true;
  }
  default:
    return false;
  }
}
