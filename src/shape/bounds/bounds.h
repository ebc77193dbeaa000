/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bounds.h - how near two shapes can come while their bodies move: bounds of their distance from below that hold at every
 * moment of a piece of a motion (docs/theory/events.md).
 *
 * A direction that parts two convex shapes in the middle of the piece, carried along with one of them, parts them as long
 * as the lowest point of the other stays above: no smoothness is asked of the distance, and nothing is known of the
 * direction but that it is one. The lowest point of a body that moves as x + x1 s, R + R1 s is a concave function of s, so
 * three heights, in the middle and at the ends, bound it by chords, and what motions have beyond that is a bend s^2.
 */
#ifndef SALTUSI_BOUNDS_H
#define SALTUSI_BOUNDS_H

#include "shape/shape.h"

/* A body around the middle of a piece, |s| <= span: its origin at x + x1 s, off by bend s^2 at most, its axes R + R1 s,
 * off by twist s^2 (as a matrix on vectors of length 1). Where nothing is known these are infinite. */
typedef struct saltusi_drift {
  saltusi_body_pose at; /* in the middle; velocities are not used */
  double x1[3], R1[9];
  double bend;  /* m */
  double twist; /* of R''/2 */
  double spin;  /* of R', over the piece */
} saltusi_drift;

/* What is known of the distance of two shapes over the piece. */
typedef struct saltusi_lower {
  double value;    /* m, in the middle; nothing else is known where it is not positive */
  double lowest;   /* m; positive: nowhere zero; else nowhere below this */
  double clear[2]; /* as far before and behind the middle it is above the margin, at most span */
  bool exact;      /* of two features: value is their gap, of either sign */
  double rate;     /* of two features: none of their guards changes faster; INFINITY: not known */
} saltusi_lower;

/* How far the piece goes to either side of its middle. */
typedef struct saltusi_support_span {
  double s;
  double margin; /* m, what rounding may do */
} saltusi_support_span;

typedef struct saltusi_two_drifts {
  const saltusi_shape* A;
  const saltusi_drift* a;
  const saltusi_shape* B;
  const saltusi_drift* b;
} saltusi_two_drifts;

void saltusi_shape_below(const saltusi_two_drifts* two, const saltusi_support_span* span,
                         saltusi_lower* out);

/* Of two features as far as they go; value NaN: nothing is known. */
void saltusi_features_below(const saltusi_two_drifts* two, const saltusi_feature_candidate* numbers,
                            const saltusi_support_span* span, saltusi_lower* out);

/* ---- what the parts of it share ---- */

/* One body seen from another, from a point of its own: y + y1 s + (Q + Q1 s) (p - centre), off by (bend + twist |p -
 * centre|) s^2. */
typedef struct saltusi_bound_view {
  double centre[3]; /* body axes */
  double y[3], y1[3];
  double Q[9], Q1[9];
  double bend, twist;
  double speed, spin; /* largest |y'|, |Q'| */
} saltusi_bound_view;

void saltusi_sight_of(const saltusi_drift* body, const double centre[3], const saltusi_drift* from,
                      double span, saltusi_bound_view* out);

/* Takes in a function that is concave in s along the straight motion, by its values before, in and behind the middle, and
 * what the motion has beyond, times s^2. */
void saltusi_lower_take(const double height[3], double bend, const saltusi_support_span* span,
                        saltusi_lower* out);

/* Of two features one of which is curved; value: their gap. */
bool saltusi_hulls_treat(const saltusi_feature* A, const saltusi_feature* B);
void saltusi_hulls_below(const saltusi_two_drifts* two, const saltusi_feature_candidate* numbers,
                         const saltusi_support_span* span, saltusi_lower* out);

/* Of two shapes that are not convex: by pieces of their outlines. False: only speeds bound them. */
bool saltusi_outlines_below(const saltusi_shape* A, const saltusi_bound_view* sight,
                            const saltusi_shape* B, const saltusi_support_span* span,
                            saltusi_lower* out);

#endif
