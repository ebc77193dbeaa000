/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solids.h - facets of balls, boxes and other solids; see surface.h.
 */
#ifndef SALTUSI_REPORT_SOLIDS_H
#define SALTUSI_REPORT_SOLIDS_H

#include "report/surface.h"

enum { SALTUSI_MOST_AROUND = 256 };

/* Pose of local axes in body axes. */
typedef struct saltusi_axes {
  const double *x, *R;
} saltusi_axes;

extern const double saltusi_upright[9]; /* R without rotation */

/* A sphere extruded along z (capsule); for length 0 a sphere. */
void saltusi_add_ball(saltusi_surface* s, saltusi_axes at, double radius, double length);
void saltusi_add_ellipsoid(saltusi_surface* s, saltusi_axes at, const double size[3]);
/* From a disc of one radius to a disc of another; of radius 0: a tip. */
void saltusi_add_frustum(saltusi_surface* s, saltusi_axes at, const double height[2],
                         const double radius[2]);
void saltusi_add_torus(saltusi_surface* s, saltusi_axes at, double large, double small);
/* Rounded outside of its size if the radius is positive. */
void saltusi_add_box(saltusi_surface* s, saltusi_axes at, const double size[3], double radius);
void saltusi_add_hull(saltusi_surface* s, const saltus_mechanism* mechanism, int shape,
                      const saltus_shape_form* form);
void saltusi_add_mesh(saltusi_surface* s, const saltus_shape_form* form);
/* A square in the plane z = 0 of its local axes, around the projection of the centre. */
void saltusi_add_half_space(saltusi_surface* s, const saltus_shape_form* form,
                            const double middle[3], double far);

#endif
