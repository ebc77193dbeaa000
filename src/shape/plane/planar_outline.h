/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * planar_outline.h - common representation of planar shapes: a sequence of points with straight edges or arcs between them.
 * Number k of a feature is point k - 1, or edge k - 1 - points; edge k goes from point k to point k + 1.
 *
 * A circle is one point without edges, a capsule two points and two edges, a half-plane one unbounded edge. A
 * straight edge is a PLANE, every other feature a POINT with rho: the radius of an arc, negative where it is hollow.
 */
#ifndef SALTUSI_SHAPE_PLANAR_OUTLINE_H
#define SALTUSI_SHAPE_PLANAR_OUTLINE_H

#include <stdbool.h>

typedef enum saltusi_joint_kind {
  SALTUSI_JOINT_CONVEX, /* can touch */
  SALTUSI_JOINT_FLAT,   /* the normals of both edges are the same: no feature of its own */
  SALTUSI_JOINT_REFLEX, /* never touches first */
  SALTUSI_JOINT_END     /* of an open chain: can touch */
} saltusi_joint_kind;

/* Directions in which a point or an arc can touch, from its centre in body axes: those within the angle `half` of
 * mid. For a vertex and a convex arc these are outward normals, for a hollow arc their opposites. */
typedef struct saltusi_cone {
  double mid[2];
  double half;      /* rad; pi: all directions */
  bool straight[2]; /* whether the neighbour on the clockwise, counter-clockwise side is a
                     * straight edge */
} saltusi_cone;

typedef struct saltusi_planar_outline {
  int points, edges;
  bool closed;                     /* the last edge ends in point 0 */
  bool solid;                      /* the side that is not free is the inside of the shape;
                                    * false: one-sided */
  const saltusi_joint_kind* joint; /* [points] */
  const saltusi_cone* cone;        /* [points + edges]; undefined for straight edges */
} saltusi_planar_outline;

#endif
