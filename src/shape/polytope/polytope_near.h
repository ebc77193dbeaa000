/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_near.h - features of two polytopes that are near each other.
 */
#ifndef SALTUSI_POLYTOPE_NEAR_H
#define SALTUSI_POLYTOPE_NEAR_H

#include "shape/polytope/polytope.h"

#include <float.h>
#include <math.h>

/* Angles by which cones of normals are widened: a flat contact is flat to rounding at best, and beyond a quarter of a
 * radian a face would be taken for its neighbour. */
static const double SALTUSI_LEAST_DELTA = 1e-8;
static const double SALTUSI_LARGEST_DELTA = 0.25;

/* Crossing edges: the sine by which their normal may leave their cones at most, and how far it has to be outward by the
 * sum of the faces' normals, so that its sign is never in doubt. */
static const double SALTUSI_WIDEST = 0.5;
static const double SALTUSI_OUTWARD = 1e-3;

/* Within this part of the smaller body's size a vertex is on an edge or on another vertex. */
static const double SALTUSI_TOUCH = 1e-10;

static inline double saltusi_bounded_delta(double delta) {
  const double least = delta > SALTUSI_LEAST_DELTA ? delta : SALTUSI_LEAST_DELTA; /* NaN too */
  return least < SALTUSI_LARGEST_DELTA ? least : SALTUSI_LARGEST_DELTA;
}

/* Cosine of 2 delta, a little wider: how near the normal of a face has to be to the axis. */
static inline double saltusi_near_cosine(double delta) {
  return 1.0 - 2.0 * delta * delta - 4.0 * DBL_EPSILON;
}

/* Whether the common normal m of crossing edges is near the axis n: by 2 wide, as much as it turns, and never by more than 30
 * degrees. Points of both bodies lie g m apart, so that g (n.m) is at least the separation s along n: an edge that is listed is
 * at most 1.16 times as deep as the bodies are. Near a right angle g would be anything. */
static inline bool saltusi_crossing_near(double along, double wide) {
  const double least = 1.0 - 4.0 * wide * wide;
  return along * along >= (least > 0.75 ? least : 0.75) - 8.0 * DBL_EPSILON;
}

/* The angle stands for its sine, a little wider. */
static inline double saltusi_sine_of(double delta) {
  return saltusi_bounded_delta(delta);
}

/* All edges of the vertex lead upwards along n (body axes), or down by less than the angle. */
bool saltusi_in_cone(const saltusi_polytope* body, int vertex, const double n[3], double sine);

/* How far p (body axes) is outside of the sides of a face at most, in its plane; negative: inside. */
double saltusi_polytope_outside(const saltusi_polytope* body, int face, const double p[3]);

/* Pairs of features of two polytopes within reach; how far they are apart. */
void saltusi_polytope_near(const saltusi_two* two, const saltusi_near* near,
                           saltusi_candidates* out);
/* Every pair that can come to touch (saltusi_near.all). */
void saltusi_polytope_all(const saltusi_two* two, const saltusi_near* near,
                          saltusi_candidates* out);
/* By numbers, from place `first` on. */
void saltusi_candidates_sort(saltusi_candidates* list, int first);
void saltusi_polytope_separation(const saltusi_two* two, saltusi_separation* out);

int saltusi_polytope_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                            double guard[SALTUSI_GUARDS]);

#endif
