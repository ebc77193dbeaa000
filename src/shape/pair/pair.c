/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair.c - closest points of two features by their kinds, and the normal. docs/theory/contact-geometry.md.
 *
 *   d = p_A - p_B = apart n,   T_A^T d = 0,  T_B^T d = 0
 *   n   one of the two a surface: its normal;  two curves: orthogonal to their tangents, or along d where both are
 *       thick and apart;  else along d;  opposite to d for the inside of a hollow shape
 */
#include "shape/pair/pair.h"
#include "math/rotation.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { KINDS = SALTUSI_FEATURE_CONE + 1 };

static const int parameters[KINDS] = {
    [SALTUSI_FEATURE_POINT] = 0,  [SALTUSI_FEATURE_LINE] = 1,      [SALTUSI_FEATURE_PLANE] = 2,
    [SALTUSI_FEATURE_CIRCLE] = 1, [SALTUSI_FEATURE_ELLIPSOID] = 2, [SALTUSI_FEATURE_CONE] = 2};

static saltusi_meet* const ways[KINDS][KINDS] = {
    [SALTUSI_FEATURE_POINT] = {[SALTUSI_FEATURE_POINT] = saltusi_meet_point_point,
                               [SALTUSI_FEATURE_LINE] = saltusi_meet_point_line,
                               [SALTUSI_FEATURE_PLANE] = saltusi_meet_point_plane,
                               [SALTUSI_FEATURE_CIRCLE] = saltusi_meet_point_circle,
                               [SALTUSI_FEATURE_ELLIPSOID] = saltusi_meet_point_ellipsoid,
                               [SALTUSI_FEATURE_CONE] = saltusi_meet_point_cone},
    [SALTUSI_FEATURE_LINE] = {[SALTUSI_FEATURE_LINE] = saltusi_meet_line_line,
                              [SALTUSI_FEATURE_CIRCLE] = saltusi_meet_line_circle,
                              [SALTUSI_FEATURE_ELLIPSOID] = saltusi_meet_line_ellipsoid,
                              [SALTUSI_FEATURE_CONE] = saltusi_meet_line_cone},
    [SALTUSI_FEATURE_PLANE] = {[SALTUSI_FEATURE_CIRCLE] = saltusi_meet_plane_circle,
                               [SALTUSI_FEATURE_ELLIPSOID] = saltusi_meet_plane_ellipsoid},
    [SALTUSI_FEATURE_CIRCLE] = {[SALTUSI_FEATURE_CIRCLE] = saltusi_meet_circles,
                                [SALTUSI_FEATURE_ELLIPSOID] = saltusi_meet_circle_ellipsoid,
                                [SALTUSI_FEATURE_CONE] = saltusi_meet_circle_cone},
    [SALTUSI_FEATURE_ELLIPSOID] = {[SALTUSI_FEATURE_ELLIPSOID] = saltusi_meet_ellipsoids,
                                   [SALTUSI_FEATURE_CONE] = saltusi_meet_ellipsoid_cone},
    [SALTUSI_FEATURE_CONE] = {[SALTUSI_FEATURE_CONE] = saltusi_meet_cones}};

/* From body axes to world axes, relative to `from`. */
static void place(const saltusi_feature* feature, const saltusi_body_pose* at, const double from[3],
                  saltusi_closest_point* out) {
  double shift[3];
  saltusi_minus3(at->x, from, shift);
  out->kind = feature->kind;
  out->k = parameters[feature->kind];
  out->rho = feature->rho;
  out->size = feature->size;
  saltusi_turn(at->R, feature->p, out->origin);
  saltusi_along(1.0, shift, out->origin, out->origin);
  if (feature->kind == SALTUSI_FEATURE_POINT) {
    return;
  }
  saltusi_turn(at->R, feature->a, out->a);
  saltusi_turn(at->R, feature->e, out->e);
  saltusi_cross(out->a, out->e, out->f);
}

/* Normal along d, or opposite to d if one of the two is hollow. False: d = 0. */
static bool normal_along(const saltusi_closest_point* A, const saltusi_closest_point* B,
                         const double d[3], const double side[3], double normal[3]) {
  const double length = sqrt(saltusi_dot3(d, d));
  if (!(length > 0.0)) {
    return false;
  }
  const double facing =
      saltusi_dot3(d, side); /* a centre may be inside of the other shape: d has the opposite
                              * orientation then */
  const bool hollow = (A->rho < 0.0) != (B->rho < 0.0);
  const double sign = hollow || facing < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    normal[k] = sign * d[k] / length;
  }
  return true;
}

static bool normal_across(const saltusi_closest_point* A, const saltusi_closest_point* B,
                          const double d[3], const double side[3], double normal[3]) {
  double across[3];
  saltusi_cross(A->T[0], B->T[0], across);
  const double length = sqrt(saltusi_dot3(across, across));
  if (!(length > 0.0)) {
    return false;
  }
  const double facing = saltusi_dot3(across, side);
  const double sign = (facing != 0.0 ? facing : saltusi_dot3(across, d)) < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    normal[k] = sign * across[k] / length;
  }
  return true;
}

/* Sharp rim: size[1] away from its axis and size[2] along a give the middle of its normal cone. */
static void add_outward(const saltusi_closest_point* rim, double sign, double side[3]) {
  if (rim->kind == SALTUSI_FEATURE_CIRCLE && (rim->size[1] != 0.0 || rim->size[2] != 0.0)) {
    double out[3];
    saltusi_minus3(rim->p, rim->origin, out);
    saltusi_along(sign * rim->size[1] / rim->size[0], out, side, side);
    saltusi_along(sign * rim->size[2], rim->a, side, side);
  }
}

static bool find_normal(const double d[3], const double given[3], saltusi_closest_points* at) {
  const saltusi_closest_point* A = &at->spot[0];
  const saltusi_closest_point* B = &at->spot[1];
  at->by_tangents = true;
  if (B->k == 2) {
    memcpy(at->normal, B->normal, sizeof B->normal);
    return true;
  }
  if (A->k == 2) {
    saltusi_along(-2.0, A->normal, A->normal, at->normal);
    return true;
  }
  double side[3] = {given[0], given[1], given[2]};
  add_outward(A, -1.0, side);
  add_outward(B, 1.0, side);
  /* Two thick curves may be parallel at their closest points (rings side by side): the normal is along d. Sharp
   * curves touch at d = 0, where only the tangents determine the normal. */
  const double thick = fabs(A->rho + B->rho);
  if (A->k + B->k < 2 || (thick > 0.0 && saltusi_dot3(d, d) > 0.25 * thick * thick)) {
    at->by_tangents = false;
    return normal_along(A, B, d, side, at->normal);
  }
  return normal_across(A, B, d, side, at->normal);
}

bool saltusi_pair_meet(const saltusi_pair* pair, saltusi_closest_points* out) {
  assert(pair != NULL && out != NULL);
  return saltusi_pair_meet_only(pair, false, out);
}

bool saltusi_pair_meet_only(const saltusi_pair* pair, bool only, saltusi_closest_points* out) {
  assert(pair != NULL && out != NULL);
  saltusi_closest_point* A = &out->spot[0];
  saltusi_closest_point* B = &out->spot[1];
  place(pair->A, pair->a, pair->b->x, A);
  place(pair->B, pair->b, pair->b->x, B);
  saltusi_aim aim = {
      .branch = pair->branch, .only = only, .side = {pair->side[0], pair->side[1], pair->side[2]}};
  bool found;
  const bool turned =
      pair->turned && A->kind == SALTUSI_FEATURE_CIRCLE && B->kind == SALTUSI_FEATURE_CIRCLE;
  out->first = A->kind > B->kind || turned ? 1 : 0;
  if (out->first == 0) {
    saltusi_meet* const meet = ways[A->kind][B->kind];
    found = meet != NULL && meet(A, B, &aim);
  } else {
    saltusi_along(-2.0, pair->side, pair->side, aim.side);
    saltusi_meet* const meet = ways[B->kind][A->kind];
    found = meet != NULL && meet(B, A, &aim);
  }
  if (!found) {
    return false;
  }
  double d[3];
  saltusi_minus3(A->p, B->p, d);
  if (!find_normal(d, pair->side, out)) {
    return false;
  }
  out->apart = saltusi_dot3(out->normal, d);
  return isfinite(out->apart);
}

bool saltusi_pair_closest(const saltusi_pair* pair, saltusi_closest* out) {
  assert(pair != NULL && out != NULL);
  saltusi_closest_points at;
  if (!saltusi_pair_meet(pair, &at)) {
    out->gap = NAN;
    out->condition = INFINITY;
    return false;
  }
  const saltusi_closest_point* A = &at.spot[0];
  const saltusi_closest_point* B = &at.spot[1];
  for (int k = 0; k < 3; k++) {
    out->pA[k] = A->p[k] + pair->b->x[k];
    out->pB[k] = B->p[k] + pair->b->x[k];
    out->normal[k] = at.normal[k];
  }
  for (int k = 0; k < 2; k++) {
    out->uA[k] = k < A->k ? A->u[k] : 0.0;
    out->uB[k] = k < B->k ? B->u[k] : 0.0;
  }
  out->gap = at.apart - A->rho - B->rho;
  out->condition = saltusi_closest_points_condition(&at);
  return true;
}
