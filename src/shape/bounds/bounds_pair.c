/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bounds_pair.c - bounds of bounds.h for two bounded features: a vertex, an edge between its ends, a face in its
 * plane. While these are separated the pair does not touch, whatever the gap of the infinite lines and planes.
 */
#include "math/rotation.h"
#include "shape/bounds/bounds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A feature in body axes. */
typedef struct bit {
  int points; /* 0: a plane */
  double p[2][3];
  double normal[3]; /* of a plane */
  double rho;
} bit;

static bool bit_of(const saltusi_shape* shape, int number, bit* out) {
  if (number < 1 || number > shape->stored) {
    return false;
  }
  const saltusi_feature* f = &shape->feature[number - 1];
  const bool line = f->kind == SALTUSI_FEATURE_LINE;
  const bool edge =
      f->kind == SALTUSI_FEATURE_PLANE && shape->dimension == 2 && isfinite(f->size[0]);
  out->rho = f->rho;
  memcpy(out->p[0], f->p, sizeof f->p);
  memcpy(out->normal, f->a, sizeof f->a);
  out->points = line || edge ? 2 : f->kind == SALTUSI_FEATURE_POINT ? 1 : 0;
  if (line || edge) {
    saltusi_along(f->size[0], line ? f->a : f->e, f->p, out->p[1]);
  }
  return f->rho >= 0.0 && (out->points != 0 || f->kind == SALTUSI_FEATURE_PLANE);
}

/* Vector from the nearest point of b to p, if it is shorter than `way`. */
static void keep_way(const double p[3], const double b[2][3], int points, double sign,
                     double way[3]) {
  double e[3] = {0.0, 0.0, 0.0}, d[3], w[3];
  saltusi_minus3(p, b[0], d);
  if (points == 2) {
    saltusi_minus3(b[1], b[0], e);
  }
  const double square = saltusi_dot3(e, e);
  const double u = square > 0.0 ? fmin(1.0, fmax(0.0, saltusi_dot3(e, d) / square)) : 0.0;
  saltusi_along(-u, e, d, w);
  if (saltusi_dot3(w, w) < saltusi_dot3(way, way)) {
    for (int k = 0; k < 3; k++) {
      way[k] = sign * w[k];
    }
  }
}

/* A separating direction from b to a: between ends and edges, and normal to two edges. */
static bool direction(const double a[2][3], int na, const double b[2][3], int nb, double N[3]) {
  double way[3] = {INFINITY, 0.0, 0.0};
  for (int k = 0; k < na; k++) {
    keep_way(a[k], b, nb, 1.0, way);
  }
  for (int k = 0; k < nb; k++) {
    keep_way(b[k], a, na, -1.0, way);
  }
  if (na == 2 && nb == 2) { /* closest points in the interior of both */
    double ea[3], eb[3], w[3], across[3], part[3];
    saltusi_minus3(a[1], a[0], ea);
    saltusi_minus3(b[1], b[0], eb);
    saltusi_minus3(a[0], b[0], w);
    saltusi_cross(ea, eb, across);
    const double square = saltusi_dot3(across, across);
    saltusi_cross(w, eb, part);
    const double u = -saltusi_dot3(part, across) / square;
    saltusi_cross(w, ea, part);
    const double v = -saltusi_dot3(part, across) / square;
    if (u > 0.0 && u < 1.0 && v > 0.0 && v < 1.0) {
      const double height = saltusi_dot3(w, across) / square;
      for (int k = 0; k < 3; k++) {
        way[k] = height * across[k];
      }
    }
  }
  const double length = sqrt(saltusi_dot3(way, way));
  for (int k = 0; k < 3; k++) {
    N[k] = way[k] / length;
  }
  return length > 0.0 && isfinite(length);
}

/* Height of the lowest point of a above the top of b along N, before, at and after the midpoint. */
static void heights(const bit* a, const saltusi_bound_view* sight, const double N[3], double top,
                    double s, double height[3]) {
  for (int i = 0; i < 3; i++) {
    height[i] = INFINITY;
  }
  for (int k = 0; k < a->points; k++) {
    double from[3], turned[3], turning[3];
    saltusi_minus3(a->p[k], sight->centre, from);
    saltusi_turn(sight->Q, from, turned);
    saltusi_turn(sight->Q1, from, turning);
    const double at = saltusi_dot3(N, sight->y) + saltusi_dot3(N, turned);
    const double rate = saltusi_dot3(N, sight->y1) + saltusi_dot3(N, turning);
    for (int i = 0; i < 3; i++) {
      height[i] = fmin(height[i], at + (i - 1) * s * rate - top);
    }
  }
}

/* The direction along which heights are measured; sign -1: points below a plane. */
static bool axis_between(const double seen[2][3], int points, const bit* below, double N[3],
                         double* sign) {
  *sign = 1.0;
  if (below->points > 0) {
    return direction(seen, points, below->p, below->points, N);
  }
  double w[3];
  saltusi_minus3(seen[0], below->p[0], w);
  *sign = saltusi_dot3(w, below->normal) < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    N[k] = *sign * below->normal[k];
  }
  return true;
}

void saltusi_features_below(const saltusi_two_drifts* two, const saltusi_feature_candidate* numbers,
                            const saltusi_support_span* span, saltusi_lower* out) {
  assert(two != NULL && numbers != NULL && span != NULL && out != NULL);
  bit a, b;
  *out = (saltusi_lower){.value = NAN, .lowest = -INFINITY, .rate = INFINITY};
  if (numbers->a >= 1 && numbers->a <= two->A->stored && numbers->b >= 1 &&
      numbers->b <= two->B->stored &&
      saltusi_hulls_treat(&two->A->feature[numbers->a - 1], &two->B->feature[numbers->b - 1])) {
    saltusi_hulls_below(two, numbers, span, out);
    return;
  }
  if (!bit_of(two->A, numbers->a, &a) || !bit_of(two->B, numbers->b, &b)) {
    return;
  }
  if (a.points == 0 && b.points == 0) {
    return; /* two planes touch only by their edges and vertices */
  }
  const bool turned = a.points == 0 || (b.points > 0 && two->a->spin < two->b->spin);
  const bit *first = turned ? &b : &a, *second = turned ? &a : &b;
  saltusi_bound_view sight;
  saltusi_sight_of(turned ? two->b : two->a, first->p[0], turned ? two->a : two->b, span->s,
                   &sight);
  double seen[2][3], from[3], N[3], top, sign;
  for (int k = 0; k < first->points; k++) {
    saltusi_minus3(first->p[k], first->p[0], from);
    saltusi_turn(sight.Q, from, seen[k]);
    saltusi_along(1.0, sight.y, seen[k], seen[k]);
  }
  if (!axis_between((const double(*)[3])seen, first->points, second, N, &sign)) {
    return;
  }
  top = saltusi_dot3(N, second->p[0]);
  top = second->points == 2 ? fmax(top, saltusi_dot3(N, second->p[1])) : top;
  double height[3], length[3] = {0.0, 0.0, 0.0};
  /* a point below a plane: heights along the opposite normal, radii still on the outside */
  heights(first, &sight, N, top + sign * (a.rho + b.rho), span->s, height);
  if (first->points == 2) {
    saltusi_minus3(first->p[1], first->p[0], length);
  }
  const double radius = sqrt(saltusi_dot3(length, length));
  out->exact = second->points == 0 && first->points == 1;
  if (out->exact || (two->A->dimension == 2 && first->points + second->points == 3)) {
    /* displacement of a point along a face and across its borders, and angles:
     * docs/theory/events.md */
    out->rate = fmax(sight.speed + (radius > 0.0 ? sight.spin * radius : 0.0), sight.spin);
  }
  out->value = sign * height[1];
  out->lowest = INFINITY;
  out->clear[0] = out->clear[1] = span->s;
  saltusi_lower_take(height, sight.bend + (radius > 0.0 ? sight.twist * radius : 0.0), span, out);
  out->lowest = sign < 0.0 ? -INFINITY : out->lowest;
}
