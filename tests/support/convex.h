/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convex.h - the distance of two convex shapes as a convex program: the point of least norm of their difference, with a
 * lower bound that proves it. Shapes are support functions of their definitions; nothing of src/shape is used.
 */
#ifndef SALTUS_TEST_CONVEX_H
#define SALTUS_TEST_CONVEX_H

#include "saltus/shape.h"

#include <stdbool.h>
#include <stdint.h>

/* A shape as defined, turned by R and moved to x. */
typedef struct convex {
  const saltus_shape_def* def;
  long double x[3], R[9];
} convex;

/* Farthest point of a shape in a direction. */
void convex_support(const convex* shape, const long double direction[3], long double point[3]);

typedef struct convex_distance {
  long double lower, upper; /* the distance is between these; both 0: they overlap or touch */
  long double normal[3];    /* from B to A */
} convex_distance;

convex_distance convex_distance_of(const convex* A, const convex* B);

/* How far A is from B along n of length 1: least n.(a - b). Negative: a movement of A along n by this much parts them. */
long double convex_along(const convex* A, const convex* B, const long double n[3]);

/* The least movement of A that parts two overlapping shapes, by searching all directions: an upper bound that is close. */
long double convex_depth_of(const convex* A, const convex* B, long double normal[3]);

#endif
