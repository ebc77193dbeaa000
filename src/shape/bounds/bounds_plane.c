/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bounds_plane.c - bounds of bounds.h for non-convex planar outlines: for each pair of straight edges, the direction
 * between their closest points separates them.
 */
#include "math/rotation.h"
#include "shape/bounds/bounds.h"
#include "shape/plane/plane.h"

#include <assert.h>
#include <math.h>

/* A straight edge or a point in axes of B, and its motion. */
typedef struct bounds_plane_stretch {
  double p[2][2];  /* ends */
  double p1[2][2]; /* their rates; of B zero */
} bounds_plane_stretch;

static bool is_straight_all(const saltusi_shape* shape) {
  const saltusi_planar_outline* o = shape->outline;
  for (int k = 0; o != NULL && k < o->edges; k++) {
    if (!saltusi_is_straight(shape, k)) {
      return false;
    }
  }
  return o != NULL && o->points > 0;
}

static int stretch_count(const saltusi_shape* shape) {
  return shape->outline->edges > 0 ? shape->outline->edges : 1;
}

static int end_of(const saltusi_shape* shape, int k, int end) {
  const saltusi_planar_outline* o = shape->outline;
  return o->edges == 0 ? 0 : end == 0 ? k : saltusi_point_after(o, k);
}

static void stretch_of(const saltusi_shape* shape, int k, const saltusi_bound_view* sight,
                       bounds_plane_stretch* out) {
  for (int end = 0; end < 2; end++) {
    const double* p = shape->feature[end_of(shape, k, end)].p;
    for (int i = 0; i < 2; i++) {
      out->p[end][i] = p[i];
      out->p1[end][i] = 0.0;
    }
    if (sight != NULL) {
      double from[3], turned[3], turning[3];
      saltusi_minus3(p, sight->centre, from);
      saltusi_turn(sight->Q, from, turned);
      saltusi_turn(sight->Q1, from, turning);
      for (int i = 0; i < 2; i++) {
        out->p[end][i] = sight->y[i] + turned[i];
        out->p1[end][i] = sight->y1[i] + turning[i];
      }
    }
  }
}

/* Vector from the nearest point of an edge to p, if it is shorter. */
static void keep_way(const double p[2], const bounds_plane_stretch* edge, double sign,
                     double way[2], double* least) {
  const double e[2] = {edge->p[1][0] - edge->p[0][0], edge->p[1][1] - edge->p[0][1]};
  const double d[2] = {p[0] - edge->p[0][0], p[1] - edge->p[0][1]};
  const double square = saltusi_dot2(e, e);
  const double u = square > 0.0 ? fmin(1.0, fmax(0.0, saltusi_dot2(e, d) / square)) : 0.0;
  const double w[2] = {d[0] - u * e[0], d[1] - u * e[1]};
  const double length = hypot(w[0], w[1]);
  if (length < *least) {
    *least = length;
    way[0] = sign * w[0];
    way[1] = sign * w[1];
  }
}

/* The distance of two edges that do not cross, and the direction from b to a. */
static double way_between(const bounds_plane_stretch* a, const bounds_plane_stretch* b,
                          double n[2]) {
  double least = INFINITY;
  for (int end = 0; end < 2; end++) {
    keep_way(a->p[end], b, 1.0, n, &least);
    keep_way(b->p[end], a, -1.0, n, &least);
  }
  for (int i = 0; i < 2; i++) {
    n[i] = least > 0.0 ? n[i] / least : 0.0;
  }
  return least;
}

bool saltusi_outlines_below(const saltusi_shape* A, const saltusi_bound_view* sight,
                            const saltusi_shape* B, const saltusi_support_span* span,
                            saltusi_lower* out) {
  assert(A != NULL && sight != NULL && B != NULL && span != NULL && out != NULL);
  if (!is_straight_all(A) || !is_straight_all(B)) {
    return false;
  }
  const double rho = fmax(0.0, A->rho) + fmax(0.0, B->rho), radius = A->radius;
  const double beyond = sight->bend + (radius > 0.0 ? sight->twist * radius : 0.0);
  /* pairs farther apart than this cannot become the closest pair within the interval */
  const double near = out->value + 2.0 * span->s * (sight->speed + sight->spin * radius);
  for (int i = 0; i < stretch_count(A); i++) {
    bounds_plane_stretch a;
    stretch_of(A, i, sight, &a);
    for (int k = 0; k < stretch_count(B); k++) {
      bounds_plane_stretch b;
      double n[2];
      stretch_of(B, k, NULL, &b);
      const double distance = way_between(&a, &b, n);
      if (distance - rho > near) {
        continue;
      }
      double height[3];
      const double top = fmax(saltusi_dot2(n, b.p[0]), saltusi_dot2(n, b.p[1]));
      for (int j = 0; j < 3; j++) {
        const double s = (j - 1) * span->s;
        const double first = saltusi_dot2(n, a.p[0]) + s * saltusi_dot2(n, a.p1[0]);
        const double second = saltusi_dot2(n, a.p[1]) + s * saltusi_dot2(n, a.p1[1]);
        height[j] = fmin(first, second) - top - rho;
      }
      saltusi_lower_take(height, beyond, span, out);
    }
  }
  return true;
}
