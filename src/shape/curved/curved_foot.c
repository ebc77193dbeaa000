/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_foot.c - closest point of a solid to a point. Solids of revolution reduce to planar figures of height and
 * distance from the axis. Each region of the outside belongs to one feature, so every point has exactly one.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A point relative to an axis: height, distance, and direction away from the axis. */
typedef struct curved_foot_view {
  double height, away;
  double out[3]; /* of length 1; e where the point is on the axis */
} curved_foot_view;

static curved_foot_view from_axis(const saltusi_feature* f, const double point[3]) {
  curved_foot_view s;
  double w[3];
  saltusi_minus3(point, f->p, w);
  s.height = saltusi_dot3(w, f->a);
  s.away = saltusi_away_from(f->a, w, s.out);
  if (!(s.away > 0.0)) {
    memcpy(s.out, f->e, sizeof s.out);
  }
  return s;
}

static bool from_point(const saltusi_feature* f, int number, const double point[3],
                       saltusi_foot* out) {
  double w[3];
  saltusi_minus3(point, f->p, w);
  const double length = sqrt(saltusi_dot3(w, w));
  const double sign = f->rho < 0.0 ? -1.0 : 1.0;
  if (!(length > 0.0)) {
    return false;
  }
  out->number = number;
  out->distance = sign * length - f->rho;
  for (int k = 0; k < 3; k++) {
    out->normal[k] = sign * w[k] / length;
  }
  return true;
}

static void set(saltusi_foot* out, int number, double distance, const double normal[3]) {
  out->number = number;
  out->distance = distance;
  memcpy(out->normal, normal, sizeof out->normal);
}

/* out = x u + y v, normalised; on a sharp edge or vertex itself, x = y = 0, a direction between
 * u and v */
static void combine(double x, const double u[3], double y, const double v[3], double out[3]) {
  if (x == 0.0 && y == 0.0) {
    x = y = 1.0;
  }
  const double length = sqrt(x * x + y * y);
  for (int k = 0; k < 3; k++) {
    out[k] = (x * u[k] + y * v[k]) / length;
  }
}

static bool of_capsule(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  const saltusi_feature* side = &solid->feature[SALTUSI_CAPSULE_SIDE - 1];
  const curved_foot_view s = from_axis(side, point);
  if (s.height <= 0.0 || s.height >= side->size[0]) {
    const int end = SALTUSI_CAPSULE_END + (s.height <= 0.0 ? 0 : 1);
    return from_point(&solid->feature[end - 1], end, point, out);
  }
  set(out, SALTUSI_CAPSULE_SIDE, s.away - side->rho, s.out);
  return s.away > 0.0;
}

static bool of_cylinder(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  const saltusi_feature* side = &solid->feature[SALTUSI_CYLINDER_SIDE - 1];
  const curved_foot_view s = from_axis(side, point);
  const double beside = s.away - side->rho, above = s.height - side->size[0], below = -s.height;
  const int upper = above >= below;
  const double beyond = upper ? above : below;
  double axis[3];
  for (int k = 0; k < 3; k++) {
    axis[k] = upper ? side->a[k] : -side->a[k];
  }
  if (beside > 0.0 && beyond > 0.0) {
    out->number = SALTUSI_CYLINDER_RIM + upper;
    out->distance = sqrt(beside * beside + beyond * beyond);
    combine(beside, s.out, beyond, axis, out->normal);
  } else if (beside > beyond) {
    set(out, SALTUSI_CYLINDER_SIDE, beside, s.out);
  } else {
    set(out, SALTUSI_CYLINDER_END + upper, beyond, axis);
  }
  return true;
}

static bool of_cone(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  const saltusi_feature* side = &solid->feature[SALTUSI_CONE_SIDE - 1];
  const curved_foot_view s = from_axis(side, point);
  const double cosine = 1.0 / sqrt(1.0 + side->size[0] * side->size[0]);
  const double sine = side->size[0] * cosine;
  const double along = s.height * cosine + s.away * sine; /* in axes of the generator of the side */
  const double beside = s.away * cosine - s.height * sine;
  const double below = s.height - side->size[1];
  const double beyond = s.away - side->size[0] * side->size[1];
  if ((below > 0.0 && beyond > 0.0) || (beside > 0.0 && along >= side->size[1] / cosine)) {
    out->number = SALTUSI_CONE_RIM;
    out->distance = sqrt(below * below + beyond * beyond);
    combine(beyond, s.out, below, side->a, out->normal);
  } else if (beside > 0.0 && along <= 0.0) {
    return from_point(&solid->feature[SALTUSI_CONE_TIP - 1], SALTUSI_CONE_TIP, point, out);
  } else if (beside > below) {
    out->number = SALTUSI_CONE_SIDE;
    out->distance = beside;
    combine(cosine, s.out, -sine, side->a, out->normal);
  } else {
    set(out, SALTUSI_CONE_BASE, below, side->a);
  }
  return true;
}

static bool of_torus(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  const saltusi_feature* circle = &solid->feature[SALTUSI_TORUS_CIRCLE - 1];
  const curved_foot_view s = from_axis(circle, point);
  const double beyond = s.away - circle->size[0];
  const double length = sqrt(beyond * beyond + s.height * s.height);
  if (!(s.away > 0.0 && length > 0.0)) {
    return false;
  }
  out->number = SALTUSI_TORUS_CIRCLE;
  out->distance = length - circle->rho;
  combine(beyond, s.out, s.height, circle->a, out->normal);
  return true;
}

/* Deep inside, on the plane normal to the shortest axis s: x_i = s_i^2 y_i / (s_i^2 - s^2) along the other axes,
 * to either side along s (Eberly 2013). */
static void in_the_middle(const saltusi_feature* f, const double point[3], saltusi_foot* out) {
  double axis[3][3], from[3], way[3] = {0.0, 0.0, 0.0}, left = 1.0, square = 0.0, steep = 0.0;
  memcpy(axis[0], f->e, sizeof f->e);
  saltusi_cross(f->a, f->e, axis[1]);
  memcpy(axis[2], f->a, sizeof f->a);
  int least = f->size[1] < f->size[0] ? 1 : 0;
  least = f->size[2] < f->size[least] ? 2 : least;
  saltusi_minus3(point, f->p, from);
  double x[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; k++) {
    const double beyond = (f->size[k] - f->size[least]) * (f->size[k] + f->size[least]);
    if (beyond > 0.0) {
      x[k] = f->size[k] * f->size[k] * saltusi_dot3(from, axis[k]) / beyond;
      left -= (x[k] / f->size[k]) * (x[k] / f->size[k]);
    }
  }
  x[least] = f->size[least] * sqrt(fmax(0.0, left));
  out->number = SALTUSI_ELLIPSOID;
  for (int k = 0; k < 3; k++) {
    const double part = x[k] / (f->size[k] * f->size[k]), d = x[k] - saltusi_dot3(from, axis[k]);
    saltusi_along(part, axis[k], way, way);
    steep += part * part;
    square += d * d;
  }
  out->distance = -sqrt(square);
  for (int k = 0; k < 3; k++) {
    out->normal[k] = way[k] / sqrt(steep);
  }
}

static bool of_ellipsoid(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  const saltusi_feature dot = {.kind = SALTUSI_FEATURE_POINT, .p = {point[0], point[1], point[2]}};
  const saltusi_body_pose here = {.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  const saltusi_pair pair = {.A = &dot, .B = &solid->feature[0], .a = &here, .b = &here};
  saltusi_closest_points at;
  if (!saltusi_pair_meet(&pair, &at)) {
    in_the_middle(&solid->feature[0], point, out);
    return true;
  }
  set(out, SALTUSI_ELLIPSOID, at.apart, at.normal);
  return true;
}

static bool of_half_space(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  const saltusi_feature* plane = &solid->feature[0];
  double w[3];
  saltusi_minus3(point, plane->p, w);
  set(out, 1, saltusi_dot3(w, plane->a) - plane->rho, plane->a);
  return true;
}

bool saltusi_foot_of(const saltusi_shape* solid, const double point[3], saltusi_foot* out) {
  assert(solid != NULL && point != NULL && out != NULL);
  switch (solid->kind) {
  case SALTUS_SHAPE_SPHERE:
    return from_point(&solid->feature[0], SALTUSI_SPHERE_POINT, point, out);
  case SALTUS_SHAPE_CAPSULE:
    return of_capsule(solid, point, out);
  case SALTUS_SHAPE_CYLINDER:
    return of_cylinder(solid, point, out);
  case SALTUS_SHAPE_CONE:
    return of_cone(solid, point, out);
  case SALTUS_SHAPE_TORUS:
    return of_torus(solid, point, out);
  case SALTUS_SHAPE_HALF_SPACE:
    return of_half_space(solid, point, out);
  case SALTUS_SHAPE_ELLIPSOID:
    return of_ellipsoid(solid, point, out);
  case SALTUS_SHAPE_BOX:
  case SALTUS_SHAPE_HULL:
    saltusi_foot_of_polytope(solid, point, out);
    return true;
  default:
    return false;
  }
}

static double in_capsule(const saltusi_shape* solid, int number, const double point[3]) {
  const saltusi_feature* side = &solid->feature[SALTUSI_CAPSULE_SIDE - 1];
  const double height = from_axis(side, point).height, above = height - side->size[0];
  if (number == SALTUSI_CAPSULE_SIDE) {
    return fmin(height, -above);
  }
  return number == SALTUSI_CAPSULE_END ? -height : above;
}

static double in_cylinder(const saltusi_shape* solid, int number, const double point[3]) {
  const saltusi_feature* side = &solid->feature[SALTUSI_CYLINDER_SIDE - 1];
  const curved_foot_view s = from_axis(side, point);
  const double beside = s.away - side->rho, above = s.height - side->size[0];
  if (number == SALTUSI_CYLINDER_SIDE) {
    return fmin(s.height, -above);
  }
  if (number >= SALTUSI_CYLINDER_END) {
    return -beside;
  }
  const bool upper = number != SALTUSI_CYLINDER_RIM;
  return number >= SALTUSI_CYLINDER_RIM ? fmin(beside, upper ? above : -s.height) : INFINITY;
}

static double in_cone(const saltusi_shape* solid, int number, const double point[3]) {
  const saltusi_feature* side = &solid->feature[SALTUSI_CONE_SIDE - 1];
  const curved_foot_view s = from_axis(side, point);
  const double cosine = 1.0 / sqrt(1.0 + side->size[0] * side->size[0]);
  const double along = (s.height + s.away * side->size[0]) * cosine;
  const double over = along - side->size[1] / cosine;
  const double beyond = s.away - side->size[0] * side->size[1];
  switch (number) {
  case SALTUSI_CONE_TIP:
    return -along;
  case SALTUSI_CONE_SIDE:
    return fmin(along, -over);
  case SALTUSI_CONE_BASE:
    return -beyond;
  case SALTUSI_CONE_RIM:
    return fmin(over, beyond);
  default:
    return INFINITY;
  }
}

double saltusi_region_of(const saltusi_shape* solid, int number, const double point[3]) {
  assert(solid != NULL && point != NULL);
  switch (solid->kind) {
  case SALTUS_SHAPE_CAPSULE:
    return in_capsule(solid, number, point);
  case SALTUS_SHAPE_CYLINDER:
    return in_cylinder(solid, number, point);
  case SALTUS_SHAPE_CONE:
    return in_cone(solid, number, point);
  case SALTUS_SHAPE_BOX:
  case SALTUS_SHAPE_HULL:
    return saltusi_region_of_polytope(solid, number, point);
  default:
    return INFINITY;
  }
}
