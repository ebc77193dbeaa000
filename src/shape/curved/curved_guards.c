/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_guards.c - validity of the features of a closed contact of curved shapes. It ends when a point leaves the
 * outside region of the touched feature, when the closest points of lines pass their ends or the lines become
 * parallel, or when a circle settles into face contact.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>

static bool is_point(const saltusi_closest_point* spot) {
  return spot->kind == SALTUSI_FEATURE_POINT;
}

/* Depth of p (from the origin of B's carrier) in the region of a feature. */
static double depth_in(const saltusi_two* two, int of, int number, const double p[3]) {
  const saltusi_body_pose* at = of == 0 ? two->a : two->b;
  double from[3], own[3];
  saltusi_minus3(at->x, two->b->x, from);
  saltusi_minus3(p, from, from);
  saltusi_turn_back(at->R, from, own);
  return saltusi_region_of(of == 0 ? two->A : two->B, number, own);
}

static int add(double value, int count, double guard[SALTUSI_GUARDS]) {
  if (value < INFINITY) {
    guard[count++] = value;
  }
  return count;
}

/* Spheres and ends of capsules: the surface is one point with a radius. */
static bool is_round(const saltusi_shape* shape, const saltusi_closest_point* spot) {
  return is_point(spot) &&
         (shape->kind == SALTUS_SHAPE_SPHERE || shape->kind == SALTUS_SHAPE_CAPSULE);
}

/* A rounded point against the other shape: the guard is the depth in the region of the touched feature. The
 * transition from the end of a capsule to its side is delayed by SALTUSI_TOUCH x size, since a capsule in flat
 * contact has ends on edges. On a plane both ends are separate contacts. */
static int round_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                        const saltusi_closest_points* at, double guard[SALTUSI_GUARDS]) {
  int count = 0;
  for (int of = 0; of < 2; of++) {
    const saltusi_closest_point* other = &at->spot[1 - of];
    const saltusi_shape* shape = of == 0 ? two->A : two->B;
    const bool own = is_round(shape, &at->spot[of]);
    if (!own || other->kind != SALTUSI_FEATURE_PLANE) {
      const double later = own ? SALTUSI_TOUCH * shape->size : 0.0;
      const double depth = depth_in(two, of, of == 0 ? numbers->a : numbers->b, other->p);
      count = add(depth + later, count, guard);
    }
  }
  return count;
}

/* Margin of a direction in the normal cone of an edge or vertex of a polytope, as a sine. */
static int corner_guards(const saltusi_shape* shape, const saltusi_body_pose* at, int number,
                         const double n[3], int count, double guard[SALTUSI_GUARDS]) {
  const saltusi_polytope* body = shape->polytope;
  double own[3], least = INFINITY;
  saltusi_turn_back(at->R, n, own);
  if (number > body->vertices) {
    const saltusi_edge* edge = &body->edge[number - 1 - body->vertices];
    count = add(-saltusi_dot3(own, edge->into[0]), count, guard);
    return add(-saltusi_dot3(own, edge->into[1]), count, guard);
  }
  const int v = number - 1;
  for (int k = body->star_first[v]; k < body->star_first[v + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    const double along = saltusi_dot3(own, edge->direction);
    least = fmin(least, edge->from == v ? -along : along);
  }
  return add(least, count, guard);
}

/* The normals of a rim are between its a and the direction away from its axis; those of a cone extend to its side. */
static int rim_guards(const saltusi_shape* shape, const saltusi_closest_point* rim,
                      const double n[3], int count, double guard[SALTUSI_GUARDS]) {
  double r[3];
  saltusi_minus3(rim->p, rim->origin, r);
  const double away = saltusi_dot3(n, r) / rim->size[0], down = saltusi_dot3(n, rim->a);
  const double k =
      shape->kind == SALTUS_SHAPE_CONE ? shape->feature[SALTUSI_CONE_SIDE - 1].size[0] : 0.0;
  count = add(away, count, guard);
  return add((down + k * away) / sqrt(1.0 + k * k), count, guard);
}

/* Depth inside of the face, end or base of a plane. */
static double on_plane(const saltusi_two* two, int of, int number,
                       const saltusi_closest_point* plane) {
  const saltusi_shape* shape = of == 0 ? two->A : two->B;
  if (shape->kind == SALTUS_SHAPE_HALF_SPACE) {
    return INFINITY;
  }
  if (shape->polytope != NULL) {
    return depth_in(two, of, number, plane->p);
  }
  double w[3];
  const bool cone = shape->kind == SALTUS_SHAPE_CONE;
  saltusi_minus3(plane->p, plane->origin, w);
  return shape->feature[(cone ? SALTUSI_CONE_RIM : SALTUSI_CYLINDER_RIM) - 1].size[0] -
         sqrt(saltusi_dot3(w, w));
}

static int end_guards(const saltusi_two* two, int of, int number, const saltusi_closest_points* at,
                      int count, double guard[SALTUSI_GUARDS]) {
  const saltusi_shape* shape = of == 0 ? two->A : two->B;
  const saltusi_body_pose* carrier = of == 0 ? two->a : two->b;
  const saltusi_closest_point* spot = &at->spot[of];
  const double sign = of == 0 ? -1.0 : 1.0;
  const double n[3] = {sign * at->normal[0], sign * at->normal[1], sign * at->normal[2]};
  if (shape->polytope != NULL && number <= shape->polytope->vertices + shape->polytope->edges) {
    count = corner_guards(shape, carrier, number, n, count, guard);
  }
  switch (spot->kind) {
  case SALTUSI_FEATURE_LINE:
    count = add(spot->u[0], count, guard);
    return add(spot->size[0] - spot->u[0], count, guard);
  case SALTUSI_FEATURE_PLANE:
    return add(on_plane(two, of, number, spot), count, guard);
  case SALTUSI_FEATURE_CIRCLE:
    return spot->rho > 0.0 ? count : rim_guards(shape, spot, n, count, guard);
  case SALTUSI_FEATURE_CONE:
    count = add(spot->u[0], count, guard);
    return add(spot->size[1] * sqrt(1.0 + spot->size[0] * spot->size[0]) - spot->u[0], count,
               guard);
  default:
    return count;
  }
}

/* Angle of lines to parallel, and of circles to face contact. */
static int angle_guards(const saltusi_closest_point* A, const saltusi_closest_point* B, int count,
                        double guard[SALTUSI_GUARDS]) {
  double across[3];
  if (is_point(A) || is_point(B)) {
    return count;
  }
  saltusi_cross(A->a, B->a, across);
  const double sine = sqrt(saltusi_dot3(across, across));
  if (A->kind == SALTUSI_FEATURE_LINE && B->kind == SALTUSI_FEATURE_LINE) {
    return add(sine - SALTUSI_PARALLEL, count, guard);
  }
  const bool plane = A->kind == SALTUSI_FEATURE_PLANE || B->kind == SALTUSI_FEATURE_PLANE;
  const bool circle = A->kind == SALTUSI_FEATURE_CIRCLE || B->kind == SALTUSI_FEATURE_CIRCLE;
  if (!(plane && circle)) {
    return count;
  }
  count = add(sine - SALTUSI_LIES_FLAT, count, guard) | SALTUSI_TILTS;
  return sine <= SALTUSI_LIES_FLAT ? count | SALTUSI_LIES_DOWN : count;
}

/* A fixed point of a circle is valid while the circle is in face contact with the plane. */
static int flat_guard(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                      const saltusi_closest_points* at, double guard[SALTUSI_GUARDS]) {
  for (int of = 0; of < 2; of++) {
    const saltusi_shape* shape = of == 0 ? two->A : two->B;
    const saltusi_feature* circle = saltusi_circle_of(shape, of == 0 ? numbers->a : numbers->b);
    const saltusi_closest_point* plane = &at->spot[1 - of];
    if (circle != NULL && plane->kind == SALTUSI_FEATURE_PLANE) {
      double a[3], across[3];
      saltusi_turn((of == 0 ? two->a : two->b)->R, circle->a, a);
      saltusi_cross(a, plane->a, across);
      const double left = 2.0 * SALTUSI_LIES_FLAT - sqrt(saltusi_dot3(across, across));
      return add(left >= 0.0 ? left : -1.0, 0, guard); /* clearly negative, beyond every length
                                                        * tolerance */
    }
  }
  return 0;
}

int saltusi_curved_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                          const saltusi_closest_points* at, double guard[SALTUSI_GUARDS]) {
  assert(two != NULL && numbers != NULL && at != NULL && guard != NULL);
  if (two->A->rho < 0.0 || two->B->rho < 0.0) {
    return 0; /* inside of a hollow sphere each end is a permanent contact */
  }
  if (is_round(two->A, &at->spot[0]) || is_round(two->B, &at->spot[1])) {
    return round_guards(two, numbers, at, guard);
  }
  int count = flat_guard(two, numbers, at, guard);
  count = end_guards(two, 0, numbers->a, at, count, guard);
  count = end_guards(two, 1, numbers->b, at, count, guard);
  if (saltusi_circle_has_halves(at)) {
    count = add(saltusi_circle_side(at, numbers->branch), count, guard);
  }
  return angle_guards(&at->spot[0], &at->spot[1], count, guard);
}
