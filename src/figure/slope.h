/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * slope.h - lines and triangles that show an order of convergence in a log-log panel.
 */
#ifndef SALTUSI_FIGURE_SLOPE_H
#define SALTUSI_FIGURE_SLOPE_H

#include "figure/figure.h"
#include "figure/layout.h"

#include <cairo.h>

/* Draws all slopes of the panel in free space. Both axes have to be logarithmic. */
void saltusi_slopes_draw(cairo_t* cairo, const saltusi_panel* panel,
                         const saltusi_panel_view* view);

#endif
