/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * legend.h - the names of the series of a panel.
 */
#ifndef SALTUSI_FIGURE_LEGEND_H
#define SALTUSI_FIGURE_LEGEND_H

#include "figure/figure.h"

#include <cairo.h>

/* Whether the panel needs one: more than one series, at least one of them named. */
bool saltusi_legend_needed(const saltusi_panel* panel);

/* Width of the widest entry, with its sample. */
double saltusi_legend_width(cairo_t* cairo, const saltusi_panel* panel);

/* Height of one row. */
double saltusi_legend_row(void);

/* Entries in rows of width `room` from the top left corner x, y; the width of one entry gives a column. Returns the
 * number of rows. With draw = false it only counts. */
int saltusi_legend_flow(cairo_t* cairo, const saltusi_panel* panel, double x, double y, double room,
                        bool draw);

#endif
