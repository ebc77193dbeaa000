/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_axes.h - two polytopes seen from one of them, and the axis along which they are furthest apart.
 */
#ifndef SALTUSI_POLYTOPE_AXES_H
#define SALTUSI_POLYTOPE_AXES_H

#include "shape/polytope/polytope.h"

/* Axes and points of X, in those of Y: p_Y = R p_X + t. */
typedef struct saltusi_polytope_view {
  const saltusi_polytope* X;
  const saltusi_polytope* Y;
  double R[9];
  double t[3];
  double size; /* m, of both and of what lies between: rounding is eps times this */
} saltusi_polytope_view;

/* A seen from B; and the same two the other way around. */
void saltusi_view_of(const saltusi_two* two, saltusi_polytope_view* out);
void saltusi_view_turned(const saltusi_polytope_view* view, saltusi_polytope_view* out);

typedef enum saltusi_separating_axis_kind {
  SALTUSI_AXIS_FACE_Y, /* normal of face y of Y; x: the vertex of X that is nearest */
  SALTUSI_AXIS_FACE_X, /* of face x of X; y: the vertex of Y */
  SALTUSI_AXIS_EDGES,  /* of two edges */
  SALTUSI_AXIS_NONE
} saltusi_separating_axis_kind;

/* max over axes of min over vertices: faces of both and pairs of edges whose arcs of normals cross on the sphere of
 * directions, which are the faces of the difference of the two: where they overlap the value is the exact depth. */
typedef struct saltusi_separating_axis {
  double value;     /* m; negative: depth */
  double normal[3]; /* in axes of Y, from Y to X */
  saltusi_separating_axis_kind kind;
  int x, y;
} saltusi_separating_axis;

/* Stops with the first axis whose value is above `limit`. */
void saltusi_best_axis(const saltusi_polytope_view* view, double limit,
                       saltusi_separating_axis* best);

/* Faces are preferred to pairs of edges unless these are further apart by more than rounding. */
double saltusi_view_rounding(const saltusi_polytope_view* view);

#endif
