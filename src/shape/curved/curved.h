/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved.h - shapes of the family `curved` and the numbers of their features.
 *
 *   sphere      1 point
 *   capsule     1, 2 ends, 3 side (line)
 *   cylinder    1 .. 8 points of the rim at the lower end, 9 .. 16 at the upper one, 17, 18 rims, 19 side (line), 20, 21
 *               ends (planes), lower first
 *   cone        1 tip, 2 .. 9 points of the rim, 10 rim, 11 side, 12 base
 *   ellipsoid   1
 *   torus       1 .. 8 points of the circle, 9 circle
 *
 * The fixed points of rims and circles are the contact points in face contact, where the lowest point of a circle is
 * not determined.
 */
#ifndef SALTUSI_CURVED_H
#define SALTUSI_CURVED_H

#include "shape/narrow_phase.h"

enum {
  SALTUSI_RIM_POINTS = 8,
  SALTUSI_SPHERE_POINT = 1,
  SALTUSI_CAPSULE_END = 1,
  SALTUSI_CAPSULE_SIDE = 3,
  SALTUSI_CYLINDER_RIM = 2 * SALTUSI_RIM_POINTS + 1,
  SALTUSI_CYLINDER_SIDE = SALTUSI_CYLINDER_RIM + 2,
  SALTUSI_CYLINDER_END = SALTUSI_CYLINDER_SIDE + 1,
  SALTUSI_CONE_TIP = 1,
  SALTUSI_CONE_RIM = SALTUSI_RIM_POINTS + 2,
  SALTUSI_CONE_SIDE = SALTUSI_CONE_RIM + 1,
  SALTUSI_CONE_BASE = SALTUSI_CONE_SIDE + 1,
  SALTUSI_ELLIPSOID = 1,
  SALTUSI_TORUS_CIRCLE = SALTUSI_RIM_POINTS + 1
};

/* Below this sine of their angle two lines are parallel, and the ends of their overlap are the contact points
 * (theory page). Below it a circle is in face contact with a plane, by its fixed points. */
#define SALTUSI_PARALLEL 3e-6
#define SALTUSI_LIES_FLAT 1e-8

/* Closest point of a solid to a point, in body axes; for a point inside, the exit of least
 * depth. */
typedef struct saltusi_foot {
  int number;       /* of the feature */
  double distance;  /* m, from the surface; negative inside */
  double normal[3]; /* outward, of length 1 */
} saltusi_foot;

/* False where the foot is not determined: the axis of a torus, the centre of a sphere. */
bool saltusi_foot_of(const saltusi_shape* solid, const double point[3], saltusi_foot* out);

/* Positive while the foot of a point is on this feature: how far the point is inside of the feature's region, m; INFINITY:
 * the whole outside is its region. */
double saltusi_region_of(const saltusi_shape* solid, int number, const double point[3]);

/* The same of boxes and hulls. */
void saltusi_foot_of_polytope(const saltusi_shape* solid, const double point[3], saltusi_foot* out);
double saltusi_region_of_polytope(const saltusi_shape* solid, int number, const double point[3]);

/* A direction in the interior of the normal cone of an edge or vertex (body axes); zero for
 * other features. */
void saltusi_outward_of(const saltusi_shape* solid, int number, double sum[3]);

/* Whether n is in the normal cone of an edge or vertex, widened by the sine. */
bool saltusi_normal_of(const saltusi_shape* solid, int number, const double n[3], double sine);

/* The circle of a fixed point; NULL: the number is not that of a fixed point. */
const saltusi_feature* saltusi_circle_of(const saltusi_shape* shape, int number);

/* Support point in a direction of length 1, both in body axes; returns the support value. */
double saltusi_support_of(const saltusi_shape* shape, const double direction[3], double point[3]);

#endif
