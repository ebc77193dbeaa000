/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bounds.h - lower bounds of the distance of two moving shapes over a time interval (docs/theory/events.md).
 *
 * A direction that separates two convex shapes at the midpoint of the interval is fixed in the axes of one of them.
 * It separates them as long as the support point of the other stays above. The distance need not be smooth, and the
 * direction need not be the exact normal. The lowest point of a body that moves as x + x1 s, R + R1 s is a concave
 * function of s. Its heights at the midpoint and at both ends therefore bound it by chords. The remainder of the
 * motion is bounded by bend s^2.
 */
#ifndef SALTUSI_BOUNDS_H
#define SALTUSI_BOUNDS_H

#include "shape/shape.h"

/* Motion of a body about the midpoint of a time interval, |s| <= span: origin x + x1 s with remainder at most bend
 * s^2, axes R + R1 s with remainder at most twist s^2 (operator norm). Remainders without a bound are infinite. */
typedef struct saltusi_drift {
  saltusi_body_pose at; /* at the midpoint; velocities are not used */
  double x1[3], R1[9];
  double bend;  /* m */
  double twist; /* bound of R''/2 */
  double spin;  /* bound of R' over the interval */
} saltusi_drift;

/* Lower bound of the distance of two shapes over the interval. */
typedef struct saltusi_lower {
  double value;    /* m, at the midpoint; no other bound holds where it is not positive */
  double lowest;   /* m; positive: the distance has no zero; else a lower bound of it */
  double clear[2]; /* lengths before and after the midpoint on which the distance exceeds the
                    * margin, at most span */
  bool exact;      /* of two features: value is their gap, of either sign */
  double rate;     /* of two features: bound of the rates of their guards; INFINITY: no bound */
} saltusi_lower;

/* Half length of the interval. */
typedef struct saltusi_support_span {
  double s;
  double margin; /* m, bound of the rounding errors */
} saltusi_support_span;

typedef struct saltusi_two_drifts {
  const saltusi_shape* A;
  const saltusi_drift* a;
  const saltusi_shape* B;
  const saltusi_drift* b;
} saltusi_two_drifts;

void saltusi_shape_below(const saltusi_two_drifts* two, const saltusi_support_span* span,
                         saltusi_lower* out);

/* Bound for two bounded features; value NaN: no bound. */
void saltusi_features_below(const saltusi_two_drifts* two, const saltusi_feature_candidate* numbers,
                            const saltusi_support_span* span, saltusi_lower* out);

/* ---- shared by the parts of bounds ---- */

/* Motion of one body in the axes of another, from the reference point `centre`: y + y1 s + (Q + Q1 s) (p -
 * centre), with remainder at most (bend + twist |p - centre|) s^2. */
typedef struct saltusi_bound_view {
  double centre[3]; /* body axes */
  double y[3], y1[3];
  double Q[9], Q1[9];
  double bend, twist;
  double speed, spin; /* largest |y'|, |Q'| */
} saltusi_bound_view;

void saltusi_sight_of(const saltusi_drift* body, const double centre[3], const saltusi_drift* from,
                      double span, saltusi_bound_view* out);

/* Includes a function that is concave in s for the linear motion, by its values before, at and after the midpoint;
 * `bend` s^2 bounds the remainder of the motion. */
void saltusi_lower_take(const double height[3], double bend, const saltusi_support_span* span,
                        saltusi_lower* out);

/* For two features one of which is curved; value: their gap. */
bool saltusi_hulls_treat(const saltusi_feature* A, const saltusi_feature* B);
void saltusi_hulls_below(const saltusi_two_drifts* two, const saltusi_feature_candidate* numbers,
                         const saltusi_support_span* span, saltusi_lower* out);

/* For two non-convex shapes: bound by the edges of their outlines. False: only the bound by
 * speeds applies. */
bool saltusi_outlines_below(const saltusi_shape* A, const saltusi_bound_view* sight,
                            const saltusi_shape* B, const saltusi_support_span* span,
                            saltusi_lower* out);

#endif
