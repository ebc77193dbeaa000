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
 * The points of rims and circles carry what lies flat, where the lowest point of a circle is not determined.
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

/* Below this sine of their angle two lines are parallel and the ends of their overlap do (theory page), and a circle lies
 * flat on a plane, carried by its fixed points. */
#define SALTUSI_PARALLEL 3e-6
#define SALTUSI_LIES_FLAT 1e-8

/* Where a solid is closest to a point in the axes of its body, or, for a point inside, which way out is shortest. */
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

/* Somewhere between the normals of an edge or vertex (body axes); zero for what has none. */
void saltusi_outward_of(const saltusi_shape* solid, int number, double sum[3]);

/* Whether n is a normal of an edge or vertex, or misses that by less than the sine. */
bool saltusi_normal_of(const saltusi_shape* solid, int number, const double n[3], double sine);

/* The circle that a fixed point is of; NULL: the number is none of a fixed point. */
const saltusi_feature* saltusi_circle_of(const saltusi_shape* shape, int number);

/* The farthest point in a direction of length 1, both in body axes, and how far it is. */
double saltusi_support_of(const saltusi_shape* shape, const double direction[3], double point[3]);

#endif
