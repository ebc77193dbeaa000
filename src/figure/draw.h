/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * draw.h - a figure on a cairo surface.
 */
#ifndef SALTUSI_FIGURE_DRAW_H
#define SALTUSI_FIGURE_DRAW_H

#include "figure/figure.h"
#include "figure/layout.h"

#include <cairo.h>

void saltusi_figure_draw(cairo_t* cairo, const saltusi_figure* figure,
                         const saltusi_layout* layout);

#endif
