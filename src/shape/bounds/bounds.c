/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bounds.c - lower bounds of the distance of two shapes, see bounds.h. N is a direction in axes of B, S_B(N) the
 * support function of B, d = -Q^T N:
 *
 *   distance >= N . (y + y1 s) - max over A of (d + d1 s) . (p - centre) - rho - S_B(N) - (bend + twist |A|) s^2
 *
 * B is the unbounded shape, or the one that rotates less. Hollow B: radius - max over A of |y + y1 s + (Q + Q1 s)(p -
 * centre) - middle| - rho, which is concave too. Non-convex shapes: distance >= distance at the midpoint - speed |s|.
 */
#include "shape/bounds/bounds.h"
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "shape/plane/planar_outline.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static double length3(const double a[3]) {
  return sqrt(saltusi_dot3(a, a));
}

/* A^T B */
static void transposed_product(const double A[9], const double B[9], double out[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
    }
  }
}

void saltusi_sight_of(const saltusi_drift* body, const double centre[3], const saltusi_drift* from,
                      double span, saltusi_bound_view* out) {
  assert(body != NULL && centre != NULL && from != NULL && out != NULL);
  double z[3], z1[3], arm[3], arm1[3], part[9], turned[3];
  saltusi_turn(body->at.R, centre, arm);
  saltusi_turn(body->R1, centre, arm1);
  for (int k = 0; k < 3; k++) { /* positions are subtracted first: no cancellation far from the
                                 * origin */
    z[k] = (body->at.x[k] - from->at.x[k]) + arm[k];
    z1[k] = (body->x1[k] - from->x1[k]) + arm1[k];
  }
  memcpy(out->centre, centre, sizeof out->centre);
  const double length = length3(centre);
  const double z2 = body->bend + from->bend + (length > 0.0 ? body->twist * length : 0.0);
  const double rate = length3(z1) + 2.0 * z2 * span;
  const double far = length3(z) + rate * span;
  saltusi_turn_back(from->at.R, z, out->y);
  saltusi_turn_back(from->R1, z, turned);
  saltusi_turn_back(from->at.R, z1, out->y1);
  saltusi_along(1.0, turned, out->y1, out->y1);
  transposed_product(from->at.R, body->at.R, out->Q);
  transposed_product(from->R1, body->at.R, out->Q1);
  transposed_product(from->at.R, body->R1, part);
  for (int k = 0; k < 9; k++) {
    out->Q1[k] += part[k];
  }
  out->bend =
      from->twist > 0.0 || from->spin > 0.0 ? from->twist * far + from->spin * rate + z2 : z2;
  out->twist = from->twist + (from->spin > 0.0 ? from->spin * body->spin : 0.0) + body->twist;
  out->speed = length3(out->y1) + 2.0 * out->bend * span;
  out->spin = from->spin + body->spin;
}

/* The first s at which low + slope s - bend s^2 is not positive, at most span. */
static double positive_for(double low, double slope, double bend, double span) {
  if (!(low > 0.0)) {
    return 0.0;
  }
  if (low + slope * span - bend * span * span > 0.0) { /* concave: positive at both ends */
    return span;
  }
  const double root = sqrt(slope * slope + 4.0 * bend * low);
  const double s = slope < 0.0 ? 2.0 * low / (root - slope) : 0.5 * (slope + root) / bend;
  return s > 0.0 ? fmin(s * (1.0 - 8.0 * DBL_EPSILON), span) : 0.0;
}

void saltusi_lower_take(const double height[3], double bend, const saltusi_support_span* span,
                        saltusi_lower* out) {
  assert(height != NULL && span != NULL && out != NULL);
  const double s = span->s, low = height[1] - span->margin;
  const double beyond = s > 0.0 ? bend * s * s : 0.0;
  out->lowest = fmin(out->lowest, fmin(height[1], fmin(height[0], height[2])) - beyond);
  for (int k = 0; k < 2; k++) {
    const double slope = s > 0.0 ? (height[2 * k] - height[1]) / s : 0.0;
    out->clear[k] = fmin(out->clear[k], positive_for(low, slope, bend, s));
  }
}

/* ---- support functions ---- */

static bool is_half(const saltusi_shape* shape) {
  return shape->kind == SALTUS_SHAPE_HALF_SPACE || shape->kind == SALTUS_SHAPE_HALF_PLANE;
}

/* Number of leading features whose hull contains all other features. */
static int holding(const saltusi_shape* shape) {
  return shape->polytope != NULL ? shape->polytope->vertices
         : shape->mesh != NULL   ? shape->mesh->vertices
                                 : shape->stored;
}

static bool is_arc(const saltusi_shape* shape, int k) {
  return shape->outline != NULL && k >= shape->outline->points;
}

/* Whether an outline has arcs. The radius of an arc counts only along the directions of its
 * cone. */
static bool has_arcs(const saltusi_shape* shape) {
  for (int k = shape->outline != NULL ? shape->outline->points : shape->stored; k < shape->stored;
       k++) {
    if (shape->feature[k].kind == SALTUSI_FEATURE_POINT) {
      return true;
    }
  }
  return false;
}

/* d . (p - centre) at the support point of a feature, without its radius. */
static double skeleton_far(const saltusi_feature* f, const double centre[3], const double d[3]) {
  double from[3], other[3];
  saltusi_minus3(f->p, centre, from);
  const double at = saltusi_dot3(from, d);
  if (f->kind == SALTUSI_FEATURE_POINT) {
    return at;
  }
  saltusi_cross(f->a, f->e, other);
  const double x = saltusi_dot3(d, f->e), y = saltusi_dot3(d, other), z = saltusi_dot3(d, f->a);
  if (f->kind == SALTUSI_FEATURE_CIRCLE) {
    return at + f->size[0] * sqrt(x * x + y * y);
  }
  const double u = f->size[0] * x, v = f->size[1] * y, w = f->size[2] * z;
  return at + sqrt(u * u + v * v + w * w);
}

/* Points, circles and ellipsoids. Lines, planes and sides of cones lie in the hull of other
 * features. */
static bool holds(const saltusi_feature* f) {
  return f->kind == SALTUSI_FEATURE_POINT || f->kind == SALTUSI_FEATURE_CIRCLE ||
         f->kind == SALTUSI_FEATURE_ELLIPSOID;
}

/* Whether the cone of an arc contains d. */
static bool arc_faces(const saltusi_planar_outline* o, int k, const double d[3]) {
  const double* mid = o->cone[k].mid;
  return fabs(atan2(mid[0] * d[1] - mid[1] * d[0], mid[0] * d[0] + mid[1] * d[1])) <=
         o->cone[k].half;
}

/* max of d . (p - centre) + rho over a shape, for three directions. Radii are not scaled by |d|, since the exact
 * directions have length 1. Radii of arcs are scaled, as the support values of the end points of an arc are. */
static void far_ends(const saltusi_shape* shape, const double centre[3], double d[3][3],
                     double far[3]) {
  const int count = holding(shape);
  for (int i = 0; i < 3; i++) {
    far[i] = -INFINITY;
  }
  for (int k = 0; k < count; k++) {
    const saltusi_feature* f = &shape->feature[k];
    for (int i = 0; i < 3 && holds(f); i++) {
      double rho = f->rho;
      if (is_arc(shape, k)) {
        rho = rho > 0.0 && arc_faces(shape->outline, k, d[i]) ? rho * length3(d[i]) : -INFINITY;
      }
      far[i] = fmax(far[i], skeleton_far(f, centre, d[i]) + rho);
    }
  }
}

/* Largest distance of a skeleton point from the centre, m. Radii about points do not change
 * under rotation. */
static double turning_radius(const saltusi_shape* shape) {
  const int count = shape->polytope != NULL || shape->mesh != NULL ? 1 : shape->stored;
  double rho = INFINITY;
  for (int k = 0; k < count; k++) {
    rho = holds(&shape->feature[k]) ? fmin(rho, shape->feature[k].rho) : rho;
  }
  const bool thick = rho > 0.0 && rho < INFINITY && !has_arcs(shape);
  return thick ? fmax(0.0, shape->radius - rho) : shape->radius;
}

/* Support function of a shape along N, in axes of the shape. */
static double extent(const saltusi_shape* shape, const double N[3]) {
  if (is_half(shape)) {
    const saltusi_feature* plane = &shape->feature[0];
    return saltusi_dot3(plane->p, plane->a) + plane->rho;
  }
  const double origin[3] = {0.0, 0.0, 0.0};
  double d[3][3], far[3];
  for (int i = 0; i < 3; i++) {
    memcpy(d[i], N, sizeof d[i]);
  }
  far_ends(shape, origin, d, far);
  return far[0];
}

/* ---- bounds ---- */

/* Bound along N, given in axes of B. */
static void along_axis(const saltusi_shape* A, const saltusi_bound_view* sight, const double N[3],
                       double reach, const saltusi_support_span* span, saltusi_lower* out) {
  double d[3][3], far[3], height[3], d0[3], d1[3];
  saltusi_turn_back(sight->Q, N, d0);
  saltusi_turn_back(sight->Q1, N, d1);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      d[i][k] = -(d0[k] + (i - 1) * span->s * d1[k]);
    }
  }
  far_ends(A, sight->centre, d, far);
  for (int i = 0; i < 3; i++) {
    height[i] =
        saltusi_dot3(N, sight->y) + (i - 1) * span->s * saltusi_dot3(N, sight->y1) - far[i] - reach;
  }
  const double radius = turning_radius(A);
  saltusi_lower_take(height, sight->bend + (radius > 0.0 ? sight->twist * radius : 0.0), span, out);
}

/* A inside of a hollow B: bound by the points of A and their radii. */
static void in_hollow(const saltusi_shape* A, const saltusi_bound_view* sight,
                      const saltusi_shape* B, const saltusi_support_span* span,
                      saltusi_lower* out) {
  const double* middle = B->feature[0].p;
  double height[3];
  for (int i = 0; i < 3; i++) {
    const double s = (i - 1) * span->s;
    double most = -INFINITY;
    for (int k = 0; k < holding(A); k++) {
      const saltusi_feature* f = &A->feature[k];
      double from[3], turned[3], turning[3], at[3];
      if (!holds(f)) {
        continue;
      }
      saltusi_minus3(f->p, sight->centre, from);
      saltusi_turn(sight->Q, from, turned);
      saltusi_turn(sight->Q1, from, turning);
      for (int c = 0; c < 3; c++) {
        at[c] = sight->y[c] + turned[c] + s * (sight->y1[c] + turning[c]) - middle[c];
      }
      most = fmax(most, length3(at) + f->rho);
    }
    height[i] = -B->feature[0].rho - most;
  }
  const double radius = turning_radius(A);
  saltusi_lower_take(height, sight->bend + (radius > 0.0 ? sight->twist * radius : 0.0), span, out);
}

static bool has_only_points(const saltusi_shape* shape) {
  for (int k = 0; k < holding(shape); k++) {
    if (holds(&shape->feature[k]) && shape->feature[k].kind != SALTUSI_FEATURE_POINT) {
      return false;
    }
  }
  return !has_arcs(shape);
}

/* Whether the bounds are computed in axes of A instead of B. */
static bool is_turned(const saltusi_shape* A, const saltusi_drift* a, const saltusi_shape* B,
                      const saltusi_drift* b) {
  const bool first = is_half(A) || A->rho < 0.0, second = is_half(B) || B->rho < 0.0;
  if (first != second) {
    return first;
  }
  if ((A->mesh != NULL) != (B->mesh != NULL)) {
    return A->mesh != NULL;
  }
  return a->spin < b->spin;
}

/* Bound by the largest speed of the points of A relative to B. */
static void by_speed(const saltusi_shape* A, const saltusi_bound_view* sight, double slack,
                     const saltusi_support_span* span, saltusi_lower* out) {
  const double radius = turning_radius(A);
  const double speed = sight->speed + (radius > 0.0 ? sight->spin * radius : 0.0);
  const double middle = out->value - slack;
  const double end = middle - (span->s > 0.0 ? speed * span->s : 0.0);
  const double height[3] = {end, middle, end};
  saltusi_lower_take(height, 0.0, span, out);
}

void saltusi_shape_below(const saltusi_two_drifts* two, const saltusi_support_span* span,
                         saltusi_lower* out) {
  assert(two != NULL && span != NULL && out != NULL && span->s >= 0.0);
  const saltusi_shape *A = two->A, *B = two->B;
  const saltusi_drift *a = two->a, *b = two->b;
  saltusi_separation apart;
  *out = (saltusi_lower){.value = NAN, .lowest = -INFINITY, .rate = INFINITY};
  if (saltusi_shape_separation(A, &a->at, B, &b->at, &apart) != SALTUS_OK) {
    return;
  }
  out->value = apart.distance;
  if (!(apart.distance > 0.0)) {
    return;
  }
  double sign = 1.0;
  if (is_turned(A, a, B, b)) {
    A = two->B;
    a = two->b;
    B = two->A;
    b = two->a;
    sign = -1.0;
  }
  saltusi_bound_view sight;
  saltusi_sight_of(a, A->centre, b, span->s, &sight);
  double N[3], world[3] = {sign * apart.normal[0], sign * apart.normal[1], sign * apart.normal[2]};
  saltusi_turn_back(b->at.R, world, N);
  out->lowest = INFINITY;
  out->clear[0] = out->clear[1] = span->s;
  if (is_half(B)) {
    along_axis(A, &sight, B->feature[0].a, extent(B, N), span, out);
  } else if (B->rho < 0.0 && has_only_points(A)) {
    in_hollow(A, &sight, B, span, out);
  } else if (A->convex && B->convex && B->rho >= 0.0) {
    along_axis(A, &sight, N, extent(B, N), span, out);
  } else if (B->rho < 0.0 || B->outline == NULL ||
             !saltusi_outlines_below(A, &sight, B, span, out)) {
    by_speed(A, &sight, apart.slack, span, out);
  }
}
