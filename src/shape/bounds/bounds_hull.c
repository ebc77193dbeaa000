/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bounds_hull.c - bounds of bounds.h for two features one of which is curved: a circle, an ellipsoid, the side of a
 * cone. Each is contained in its hull: a disc, a solid ellipsoid, a solid cone. While a direction N separates the
 * hulls, the features do not touch. The bound of bounds.c along N holds for hulls as for shapes: the lowest point of
 * a hull along N is a concave function of s. N is the normal of the pair; close to a contact of convex shapes, hulls
 * and features have the same distance along it. If it does not separate the hulls, N is computed by the algorithm of
 * Gilbert (1966).
 */
#include "math/rotation.h"
#include "shape/bounds/bounds.h"
#include "shape/pair/pair.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Support point of a circle along d, computed in the axes of the circle: it lies in its plane to rounding for
 * every d. */
static void far_on_circle(const saltusi_feature* f, const double centre[3], double radius,
                          const double d[3], double point[3]) {
  double other[3];
  saltusi_cross(f->a, f->e, other);
  const double x = saltusi_dot3(d, f->e), y = saltusi_dot3(d, other), length = hypot(x, y);
  saltusi_along(length > 0.0 ? radius * x / length : radius, f->e, centre, point);
  saltusi_along(length > 0.0 ? radius * y / length : 0.0, other, point, point);
}

/* Support point of the hull of a feature along d, without its radius, in body axes. */
static void far_point(const saltusi_feature* f, const double d[3], double point[3]) {
  double axis[3][3], by[3], rim[3], length = 0.0;
  memcpy(point, f->p, sizeof f->p);
  switch (f->kind) {
  case SALTUSI_FEATURE_LINE:
    saltusi_along(saltusi_dot3(d, f->a) > 0.0 ? f->size[0] : 0.0, f->a, f->p, point);
    break;
  case SALTUSI_FEATURE_CIRCLE:
    far_on_circle(f, f->p, f->size[0], d, point);
    break;
  case SALTUSI_FEATURE_CONE:
    saltusi_along(f->size[1], f->a, f->p, rim);
    far_on_circle(f, rim, f->size[0] * f->size[1], d, rim);
    if (saltusi_dot3(d, rim) > saltusi_dot3(d, point)) {
      memcpy(point, rim, sizeof rim);
    }
    break;
  case SALTUSI_FEATURE_ELLIPSOID:
    memcpy(axis[0], f->e, sizeof f->e);
    saltusi_cross(f->a, f->e, axis[1]);
    memcpy(axis[2], f->a, sizeof f->a);
    for (int k = 0; k < 3; k++) {
      by[k] = f->size[k] * saltusi_dot3(axis[k], d);
      length += by[k] * by[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3 && length > 0.0; k++) {
      saltusi_along(f->size[k] * by[k] / length, axis[k], point, point);
    }
    break;
  default:
    break;
  }
}

/* Largest distance of a point of a feature from its p. */
static double radius_of(const saltusi_feature* f) {
  switch (f->kind) {
  case SALTUSI_FEATURE_LINE:
  case SALTUSI_FEATURE_CIRCLE:
    return f->size[0];
  case SALTUSI_FEATURE_CONE:
    return f->size[1] * sqrt(1.0 + f->size[0] * f->size[0]);
  case SALTUSI_FEATURE_ELLIPSOID:
    return fmax(f->size[0], fmax(f->size[1], f->size[2]));
  default:
    return 0.0;
  }
}

/* Two hulls in axes of the second, which is at rest there. */
typedef struct hulls {
  const saltusi_feature *first, *second;
  const saltusi_bound_view* sight;
  double rho;
} hulls;

/* Height of the first hull above the second along N at s. w: lowest point of the first less highest point of the
 * second; may be NULL. */
static double height_along(const hulls* h, const double N[3], double s, double w[3]) {
  double d[3], turning[3], lowest[3], highest[3], from[3];
  saltusi_turn_back(h->sight->Q, N, d);
  saltusi_turn_back(h->sight->Q1, N, turning);
  for (int k = 0; k < 3; k++) {
    d[k] = -(d[k] + s * turning[k]);
  }
  far_point(h->first, d, lowest);
  far_point(h->second, N, highest);
  saltusi_minus3(lowest, h->sight->centre, from);
  if (w != NULL) {
    saltusi_turn(h->sight->Q, from, w);
    for (int k = 0; k < 3; k++) {
      w[k] += h->sight->y[k] - highest[k];
    }
  }
  return saltusi_dot3(N, h->sight->y) - saltusi_dot3(N, highest) +
         s * saltusi_dot3(N, h->sight->y1) - saltusi_dot3(d, from) - h->rho;
}

/* A separating direction by Gilbert's iteration: v converges to the point of least norm of the difference of the
 * hulls. Stops as soon as v / |v| separates them by half of |v| - rho. */
static double part(const hulls* h, double N[3]) {
  enum { ROUNDS = 24 };
  double v[3], best = -INFINITY;
  saltusi_minus3(h->sight->y, h->second->p, v);
  for (int i = 0; i < ROUNDS; i++) {
    const double length = sqrt(saltusi_dot3(v, v));
    if (!(length > 0.0)) {
      break;
    }
    const double n[3] = {v[0] / length, v[1] / length, v[2] / length};
    double w[3], way[3];
    const double height = height_along(h, n, 0.0, w);
    if (height > best) {
      best = height;
      memcpy(N, n, sizeof n);
    }
    if (best > 0.5 * (length - h->rho)) {
      break;
    }
    saltusi_minus3(w, v, way);
    const double square = saltusi_dot3(way, way);
    const double t = square > 0.0 ? -saltusi_dot3(v, way) / square : 0.0;
    saltusi_along(fmin(fmax(t, 0.0), 1.0), way, v, v);
  }
  return best;
}

static void take(const hulls* h, const double N[3], const saltusi_support_span* span,
                 saltusi_lower* out) {
  const double radius = radius_of(h->first);
  double height[3];
  for (int i = 0; i < 3; i++) {
    height[i] = height_along(h, N, (i - 1) * span->s, NULL);
  }
  if (height[1] > 0.0) {
    out->lowest = INFINITY;
    out->clear[0] = out->clear[1] = span->s;
    saltusi_lower_take(height, h->sight->bend + (radius > 0.0 ? h->sight->twist * radius : 0.0),
                       span, out);
  }
}

static bool is_curved(const saltusi_feature* f) {
  return f->kind == SALTUSI_FEATURE_CIRCLE || f->kind == SALTUSI_FEATURE_ELLIPSOID ||
         f->kind == SALTUSI_FEATURE_CONE;
}

bool saltusi_hulls_treat(const saltusi_feature* A, const saltusi_feature* B) {
  assert(A != NULL && B != NULL);
  if (A->rho < 0.0 || B->rho < 0.0) {
    return false;
  }
  if (A->kind == SALTUSI_FEATURE_PLANE || B->kind == SALTUSI_FEATURE_PLANE) {
    const saltusi_feature_kind kind = A->kind == SALTUSI_FEATURE_PLANE ? B->kind : A->kind;
    return kind == SALTUSI_FEATURE_CIRCLE || kind == SALTUSI_FEATURE_ELLIPSOID;
  }
  return is_curved(A) || is_curved(B);
}

/* The gap of a circle or ellipsoid on a plane is its signed height, negative below the plane. */
static void over_plane(const hulls* h, int branch, const saltusi_support_span* span,
                       saltusi_lower* out) {
  out->value = height_along(h, h->second->a, 0.0, NULL);
  out->exact = branch == 0; /* branch 1 of a circle is its highest point */
  take(h, h->second->a, span, out);
}

/* Bound of the rates of the guards of a circle or ellipsoid on a plane: displacement of its lowest point along the
 * plane, and angles. The direction from the centre of a circle to its lowest point rotates at most at |Q'| / sine
 * of the tilt. The lowest point of an ellipsoid moves on its surface at most at |Q'| times the largest radius of
 * curvature (docs/theory/events.md). */
static double rate_on_plane(const hulls* h, double span) {
  const saltusi_feature* f = h->first;
  const double spin = h->sight->spin, most = radius_of(f);
  double way;
  if (f->kind == SALTUSI_FEATURE_CIRCLE) {
    double axis[3], across[3];
    saltusi_turn(h->sight->Q, f->a, axis);
    saltusi_cross(axis, h->second->a, across);
    const double sine = sqrt(saltusi_dot3(across, across)) - spin * span;
    way = sine > 0.0 ? most / sine : INFINITY;
  } else {
    const double least = fmin(f->size[0], fmin(f->size[1], f->size[2]));
    way = most + most * most / least;
  }
  const double angles =
      sqrt(2.0) *
      spin; /* rim of a cone: a sum of two terms whose squared coefficients add up to 1 */
  return spin > 0.0 ? fmax(h->sight->speed + spin * way, angles) : h->sight->speed;
}

/* All other pairs, along the normal of the pair or a direction with a larger separation. */
static void apart(const hulls* h, const saltusi_closest* at, const double normal[3],
                  const saltusi_support_span* span, saltusi_lower* out) {
  const double* y = h->sight->y;
  const double size = radius_of(h->first) + radius_of(h->second) + sqrt(saltusi_dot3(y, y));
  double N[3] = {normal[0], normal[1], normal[2]}, other[3] = {0.0, 0.0, 0.0};
  const bool known = !isnan(at->gap);
  double height = known ? height_along(h, N, 0.0, NULL) : -INFINITY;
  out->exact = fabs(height - at->gap) <= 64.0 * DBL_EPSILON * size + 1e-6 * fabs(at->gap);
  if (!out->exact || !(height > 0.0)) { /* closest points outside of the features, or on the far
                                         * side */
    const double found = part(h, other);
    memcpy(N, found > height ? other : normal, sizeof N);
    height = fmax(found, height);
  }
  /* undetermined closest points: the value is positive, and only the bound holds */
  out->value = known ? at->gap : fmax(height, DBL_MIN);
  take(h, N, span, out);
}

void saltusi_hulls_below(const saltusi_two_drifts* two, const saltusi_feature_candidate* numbers,
                         const saltusi_support_span* span, saltusi_lower* out) {
  assert(two != NULL && numbers != NULL && span != NULL && out != NULL);
  const saltusi_feature* A = &two->A->feature[numbers->a - 1];
  const saltusi_feature* B = &two->B->feature[numbers->b - 1];
  const bool plane = A->kind == SALTUSI_FEATURE_PLANE || B->kind == SALTUSI_FEATURE_PLANE;
  const bool turned =
      plane ? A->kind == SALTUSI_FEATURE_PLANE : two->a->spin < two->b->spin; /* B is at rest */
  const saltusi_drift *first = turned ? two->b : two->a, *second = turned ? two->a : two->b;
  saltusi_bound_view sight;
  const hulls h = {turned ? B : A, turned ? A : B, &sight, A->rho + B->rho};
  saltusi_sight_of(first, h.first->p, second, span->s, &sight);
  if (plane) {
    over_plane(&h, numbers->branch, span, out);
    if (numbers->branch == 0 && two->A->mesh == NULL && two->B->mesh == NULL) {
      out->rate = rate_on_plane(&h, span->s);
    }
    return;
  }
  saltusi_pair pair;
  saltusi_closest at;
  saltusi_shape_pair(two->A, &two->a->at, two->B, &two->b->at, numbers, &pair);
  double normal[3] = {0.0, 0.0, 0.0};
  if (saltusi_pair_closest(&pair, &at)) {
    const double sign = turned ? -1.0 : 1.0;
    const double world[3] = {sign * at.normal[0], sign * at.normal[1], sign * at.normal[2]};
    saltusi_turn_back(second->at.R, world, normal);
  }
  apart(&h, &at, normal, span, out);
}
