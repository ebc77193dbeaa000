/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_guards.c - when the features of a closed contact of curved shapes stop being those that touch: a point leaves the
 * region outside of a solid that belongs to the feature it touches, lines part at their ends or become parallel, a
 * circle lies flat.
 */
#include "math/rotation.h"
#include "shape/curved.h"
#include "shape/curved_list.h"

#include <assert.h>
#include <math.h>

static bool is_point(const saltusi_spot* spot) {
  return spot->kind == SALTUSI_FEATURE_POINT;
}

/* How deep p (from the origin of B's carrier) is in the region of a feature. */
static double depth_in(const saltusi_two* two, int of, int number, const double p[3]) {
  const saltusi_carrier* at = of == 0 ? two->a : two->b;
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

static bool is_corner(const saltusi_shape* shape) {
  return shape->kind == SALTUS_SHAPE_BOX || shape->kind == SALTUS_SHAPE_HULL;
}

/* Where one is a point or both are. An end of a capsule is listed against the whole of the other shape, so its own
 * region does not matter, unless the other is as round. */
static int point_guards(const saltusi_two* two, const saltusi_candidate* numbers,
                        const saltusi_meeting* at, double guard[SALTUSI_GUARDS]) {
  const saltusi_spot* A = &at->spot[0];
  const saltusi_spot* B = &at->spot[1];
  const double of_A = depth_in(two, 0, numbers->a, B->p);
  const double of_B = depth_in(two, 1, numbers->b, A->p);
  if (is_point(A) && is_point(B)) {
    if (two->A->kind == SALTUS_SHAPE_SPHERE || two->B->kind == SALTUS_SHAPE_SPHERE) {
      return add(two->A->kind == SALTUS_SHAPE_SPHERE ? of_B : of_A, 0, guard);
    }
    return add(fmax(of_A, of_B), 0, guard);
  }
  int count = add(is_point(A) ? of_B : of_A, 0, guard);
  if (is_corner(is_point(A) ? two->A : two->B)) {
    count = add(is_point(A) ? of_A : of_B, count, guard);
  }
  return count;
}

static int line_guards(const saltusi_two* two, const saltusi_candidate* numbers,
                       const saltusi_meeting* at, double guard[SALTUSI_GUARDS]) {
  const saltusi_spot* A = &at->spot[0];
  const saltusi_spot* B = &at->spot[1];
  int count = 0;
  for (int s = 0; s < 2; s++) {
    const saltusi_spot* spot = &at->spot[s];
    if (spot->kind == SALTUSI_FEATURE_LINE) {
      count = add(spot->u[0], count, guard);
      count = add(spot->size[0] - spot->u[0], count, guard);
    }
  }
  double across[3];
  saltusi_cross(A->a, B->a, across);
  const double sine = sqrt(saltusi_dot3(across, across));
  if (A->kind == SALTUSI_FEATURE_LINE && B->kind == SALTUSI_FEATURE_LINE) {
    count = add(sine - SALTUSI_PARALLEL, count, guard);
  } else if (A->kind == SALTUSI_FEATURE_PLANE || B->kind == SALTUSI_FEATURE_PLANE) {
    count = add(sine - SALTUSI_LIES_FLAT, count, guard);
  }
  if (is_corner(two->A) && A->kind != SALTUSI_FEATURE_PLANE) {
    count = add(depth_in(two, 0, numbers->a, B->p), count, guard);
  }
  if (is_corner(two->B) && B->kind != SALTUSI_FEATURE_PLANE) {
    count = add(depth_in(two, 1, numbers->b, A->p), count, guard);
  }
  return count;
}

int saltusi_curved_guards(const saltusi_two* two, const saltusi_candidate* numbers,
                          const saltusi_meeting* at, double guard[SALTUSI_GUARDS]) {
  assert(two != NULL && numbers != NULL && at != NULL && guard != NULL);
  if (two->A->rho < 0.0 || two->B->rho < 0.0) {
    return 0; /* inside of a sphere each end is a contact for ever */
  }
  if (is_point(&at->spot[0]) || is_point(&at->spot[1])) {
    return point_guards(two, numbers, at, guard);
  }
  return line_guards(two, numbers, at, guard);
}
