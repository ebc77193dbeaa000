/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * series.h - the series of a panel as points on the page, and their drawing.
 */
#ifndef SALTUSI_FIGURE_SERIES_H
#define SALTUSI_FIGURE_SERIES_H

#include "figure/figure.h"
#include "figure/layout.h"
#include "figure/thin.h"

#include <cairo.h>

/* Reads a series point by point in page coordinates, thinned to columns of thin.width. */
typedef struct saltusi_trace {
  const saltusi_plot_series* series;
  const saltusi_panel_view* view;
  int at;               /* next sample */
  bool gap;             /* the sample before could not be drawn */
  bool held;            /* the second point of a step is pending in `before` */
  saltusi_point before; /* the point read last */
  saltusi_thin thin;    /* width 0: every point */
  saltusi_point out[SALTUSI_THIN_OUT];
  int out_count, out_at;
} saltusi_trace;

saltusi_trace saltusi_trace_begin(const saltusi_plot_series* series, const saltusi_panel_view* view,
                                  double column);

/* false at the end. */
bool saltusi_trace_next(saltusi_trace* trace, saltusi_point* p);

/* Draws series i of the panel. */
void saltusi_series_draw(cairo_t* cairo, const saltusi_panel* panel, int i,
                         const saltusi_panel_view* view);

/* Draws the legend key of series i: from x to x + width at height y. */
void saltusi_series_sample(cairo_t* cairo, const saltusi_panel* panel, int i, double x, double y,
                           double width);

#endif
