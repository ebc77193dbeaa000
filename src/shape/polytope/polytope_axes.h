/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_axes.h - one polytope in axes of another, and the axis of largest separation.
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
  double size; /* m, extent of both and of their distance: rounding is eps times this */
} saltusi_polytope_view;

/* A in axes of B, and B in axes of A. */
void saltusi_view_of(const saltusi_two* two, saltusi_polytope_view* out);
void saltusi_view_turned(const saltusi_polytope_view* view, saltusi_polytope_view* out);

typedef enum saltusi_separating_axis_kind {
  SALTUSI_AXIS_FACE_Y, /* normal of face y of Y; x: the nearest vertex of X */
  SALTUSI_AXIS_FACE_X, /* of face x of X; y: the vertex of Y */
  SALTUSI_AXIS_EDGES,  /* of two edges */
  SALTUSI_AXIS_NONE
} saltusi_separating_axis_kind;

/* max over axes of min over vertices: faces of both and pairs of edges whose arcs of normals cross on the sphere of
 * directions, which are the faces of the Minkowski difference: for overlapping polytopes the value is the exact depth.
 * */
typedef struct saltusi_separating_axis {
  double value;     /* m; negative: depth */
  double normal[3]; /* in axes of Y, from Y to X */
  saltusi_separating_axis_kind kind;
  int x, y;
} saltusi_separating_axis;

/* Stops with the first axis whose value is above `limit`. */
void saltusi_best_axis(const saltusi_polytope_view* view, double limit,
                       saltusi_separating_axis* best);

/* Faces are preferred to pairs of edges unless the separation of the latter is larger by more than rounding. */
double saltusi_view_rounding(const saltusi_polytope_view* view);

#endif
