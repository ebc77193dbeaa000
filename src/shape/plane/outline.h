/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * outline.h - what the planar shapes have in common: points in a row, and straight edges or arcs between them. Number k
 * of a feature is point k - 1, or edge k - 1 - points; edge k goes from point k to point k + 1.
 *
 * A circle is one point without edges, a capsule two points and two edges, a half-plane one edge without ends.
 * A straight edge is a PLANE, everything else a POINT with rho: the radius of an arc, negative where it is hollow.
 */
#ifndef SALTUSI_SHAPE_OUTLINE_H
#define SALTUSI_SHAPE_OUTLINE_H

#include <stdbool.h>

typedef enum saltusi_joint_kind {
  SALTUSI_JOINT_CONVEX, /* may touch */
  SALTUSI_JOINT_FLAT,   /* the normals of both edges are the same: no feature of its own */
  SALTUSI_JOINT_REFLEX, /* never touches first */
  SALTUSI_JOINT_END     /* of an open chain: may touch */
} saltusi_joint_kind;

/* Directions in which a point or an arc may touch, from its centre in body axes: those that are up to `half` from mid.
 * Of a vertex and a convex arc these are outward normals, of a hollow arc their opposites. */
typedef struct saltusi_cone {
  double mid[2];
  double half;      /* rad; pi: all of them */
  bool straight[2]; /* beyond its clockwise, counter-clockwise side lies a straight edge */
} saltusi_cone;

typedef struct saltusi_planar_outline {
  int points, edges;
  bool closed;                     /* the last edge ends in point 0 */
  bool solid;                      /* what is not free is inside of the shape; false: one-sided */
  const saltusi_joint_kind* joint; /* [points] */
  const saltusi_cone* cone;        /* [points + edges]; of straight edges without meaning */
} saltusi_planar_outline;

#endif
