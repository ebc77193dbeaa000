/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout.h - positions of all parts of a figure, in points (1/72 inch) from the top left corner.
 */
#ifndef SALTUSI_FIGURE_LAYOUT_H
#define SALTUSI_FIGURE_LAYOUT_H

#include "figure/axis.h"
#include "figure/figure.h"

#include <cairo.h>

/* Sizes of text, points. */
#define SALTUSI_SIZE_TITLE 10.5
#define SALTUSI_SIZE_SUBTITLE 8.5
#define SALTUSI_SIZE_LABEL 8.5
#define SALTUSI_SIZE_TICK 7.5
#define SALTUSI_SIZE_LEGEND 8.0
#define SALTUSI_SIZE_SMALL 7.0

/* The rectangle that data is drawn in. */
typedef struct saltusi_panel_view {
  double left, top, width, height;
  saltusi_plot_axis x, y;
} saltusi_panel_view;

typedef struct saltusi_panel_layout {
  saltusi_panel_view view;
  double legend_y; /* top of the rows of legend and axis note above the panel */
  double legend_x; /* left end of the legend */
  double legend_room;
} saltusi_panel_layout;

typedef struct saltusi_layout {
  double width, height;
  double margin;  /* free border */
  double title_y; /* baselines of the first lines */
  double subtitle_y;
  double footnote_y;
  double tick_y; /* of the x axis */
  double x_label_y;
  double y_label_x;
  bool legend_right; /* beside the only panel, else above each */
  int lanes;         /* rows of labels of marks above the first panel */
  saltusi_panel_layout panel[SALTUSI_FIGURE_PANELS_MAX];
} saltusi_layout;

/* Measures texts with the fonts of the surface. */
void saltusi_layout_make(cairo_t* cairo, const saltusi_figure* figure, saltusi_layout* layout);

/* Labels of marks in rows above the view, none beyond right_end; returns the number of rows. With draw = false it only
 * counts. */
int saltusi_marks_labels(cairo_t* cairo, const saltusi_figure* figure,
                         const saltusi_panel_view* view, double right_end, bool draw);

/* Data to points; the axis has to be able to show the value. */
double saltusi_view_x(const saltusi_panel_view* view, double x);
double saltusi_view_y(const saltusi_panel_view* view, double y);

#endif
