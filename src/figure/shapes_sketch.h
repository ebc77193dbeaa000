/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes_sketch.h - shapes of a mechanism at one instant in a sketch: silhouettes and edges, to scale.
 */
#ifndef SALTUSI_FIGURE_SHAPES_SKETCH_H
#define SALTUSI_FIGURE_SHAPES_SKETCH_H

#include "figure/sketch.h"
#include "saltus/mechanism.h"

/* Shapes of the world and of fixed bodies, or of moving ones. `axes`: directions right and up of the paper in the
 * world. */
void saltusi_sketch_shapes(saltusi_sketch* sketch, const saltus_mechanism* mechanism, double t,
                           const double* q, const double axes[2][3], bool moving);

#endif
