/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_near.h - near feature pairs of two polytopes.
 */
#ifndef SALTUSI_POLYTOPE_NEAR_H
#define SALTUSI_POLYTOPE_NEAR_H

#include "shape/polytope/polytope.h"

#include <float.h>
#include <math.h>

/* Smallest and largest angle by which normal cones are widened: face contact is exact only to rounding, and beyond
 * 0.25 rad a neighbouring face would be listed. */
static const double SALTUSI_LEAST_DELTA = 1e-8;
static const double SALTUSI_LARGEST_DELTA = 0.25;

/* Crossing edges: largest sine by which their normal may leave their cones, and least product of the normal with the
 * sum of the face normals, so that its sign is determined. */
static const double SALTUSI_WIDEST = 0.5;
static const double SALTUSI_OUTWARD = 1e-3;

/* Tolerance of coincident vertices and edges, relative to the size of the smaller body. */
static const double SALTUSI_TOUCH = 1e-10;

static inline double saltusi_bounded_delta(double delta) {
  const double least = delta > SALTUSI_LEAST_DELTA ? delta : SALTUSI_LEAST_DELTA; /* NaN too */
  return least < SALTUSI_LARGEST_DELTA ? least : SALTUSI_LARGEST_DELTA;
}

/* Cosine of 2 delta, slightly smaller: largest angle between the normal of a face and the axis. */
static inline double saltusi_near_cosine(double delta) {
  return 1.0 - 2.0 * delta * delta - 4.0 * DBL_EPSILON;
}

/* Whether the common normal m of crossing edges is near the axis n: within 2 wide, its largest rotation, and at most
 * 30 degrees. The points of both bodies have the distance g m, so that g (n.m) is at least the separation s along n: a
 * listed edge pair is at most 1.16 times as deep as the bodies. Near a right angle g would be unbounded. */
static inline bool saltusi_crossing_near(double along, double wide) {
  const double least = 1.0 - 4.0 * wide * wide;
  return along * along >= (least > 0.75 ? least : 0.75) - 8.0 * DBL_EPSILON;
}

/* The angle in place of its sine, slightly larger. */
static inline double saltusi_sine_of(double delta) {
  return saltusi_bounded_delta(delta);
}

/* Whether all edges of the vertex ascend along n (body axes), or descend by less than the angle. */
bool saltusi_in_cone(const saltusi_polytope* body, int vertex, const double n[3], double sine);

/* Largest distance of p (body axes) outside of the sides of a face, in its plane; negative: inside. */
double saltusi_polytope_outside(const saltusi_polytope* body, int face, const double p[3]);

/* Feature pairs of two polytopes within reach; returns their separation. */
void saltusi_polytope_near(const saltusi_two* two, const saltusi_near* near,
                           saltusi_candidates* out);
/* Every pair that can touch (saltusi_near.all). */
void saltusi_polytope_all(const saltusi_two* two, const saltusi_near* near,
                          saltusi_candidates* out);
/* Sorts by feature numbers, from index `first` on. */
void saltusi_candidates_sort(saltusi_candidates* list, int first);
void saltusi_polytope_separation(const saltusi_two* two, saltusi_separation* out);

int saltusi_polytope_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                            double guard[SALTUSI_GUARDS]);

#endif
