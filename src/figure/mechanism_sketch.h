/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mechanism_sketch.h - a mechanism at one instant as a sketch: bodies as outlines around their markers,
 * joints and springs as the usual symbols, hatching at fixed parts.
 */
#ifndef SALTUSI_FIGURE_MECHANISM_SKETCH_H
#define SALTUSI_FIGURE_MECHANISM_SKETCH_H

#include "figure/sketch.h"
#include "saltus/mechanism.h"

/* q: [nq] of the mechanism. In space the view is axonometric: z up, x to the right and towards the eye, y to
 * the right and away from it. */
void saltusi_sketch_mechanism(saltusi_sketch* sketch, const saltus_mechanism* mechanism, double t,
                              const double* q);

#endif
