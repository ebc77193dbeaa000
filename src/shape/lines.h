/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lines.h - line drawing of a shape from one direction: its silhouette, and the edges that face the viewer.
 */
#ifndef SALTUSI_LINES_H
#define SALTUSI_LINES_H

#include "shape/shape.h"

/* View in body axes. The viewer is at infinity along right x up. */
typedef struct saltusi_silhouette_view {
  double right[3], up[3]; /* of length 1, normal to each other */
  double middle[3];       /* m: unbounded shapes are drawn around this point */
  double far;             /* m: up to this distance */
  /* [count][3] m, body axes; closed: an area, else a line */
  void (*line)(void* user, bool closed, const double (*point)[3], int count);
  void* user;
} saltusi_silhouette_view;

void saltusi_shape_lines(const saltusi_shape* shape, const saltusi_silhouette_view* sight);

#endif
