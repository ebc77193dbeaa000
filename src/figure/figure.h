/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * figure.h - figures for papers and reports, as SVG, PDF or PNG.
 *
 * A figure is plain data: panels stacked above one shared x axis, each with its series. Members that are zero take
 * defaults, so a designated initialiser contains only the others:
 *
 *   saltusi_plot_series height = {.label = "exact", .count = n, .x = t, .y = q};
 *   saltusi_panel panel = {.y_label = "height [m]", .series_count = 1, .series = &height};
 *   saltusi_figure figure = {.x_label = "time [s]", .panel_count = 1, .panels = &panel};
 *   saltusi_figure_write(&figure, "ball.svg", log);
 *
 * Texts are UTF-8. In them x^2, s^-1 and 10^{-3} raise, q_{n} lowers; any other ^ or _ is printed as such.
 * Samples that cannot be drawn (NaN, infinite, beyond 1e300, not positive on a log axis) are gaps.
 * The figure owns no memory, and no pointer is kept after the call; equal figures give identical bytes.
 */
#ifndef SALTUSI_FIGURE_H
#define SALTUSI_FIGURE_H

#include "saltus/log.h"
#include "saltus/status.h"

#include <stdbool.h>

enum { SALTUSI_FIGURE_PANELS_MAX = 16 };

typedef enum saltusi_series_kind {
  SALTUSI_SERIES_LINE,    /* a curve */
  SALTUSI_SERIES_JUMPS,   /* a curve with jumps: at equal x, or across a NaN; jumps drawn light */
  SALTUSI_SERIES_STEPS,   /* y[i] holds from x[i] to x[i + 1]; jumps drawn light */
  SALTUSI_SERIES_STEMS,   /* impulses: a vertical line from zero with a dot */
  SALTUSI_SERIES_MARKERS, /* a thin line with a marker at each sample: convergence studies */
  SALTUSI_SERIES_POINTS,  /* markers without a line */
  SALTUSI_SERIES_DOTS,    /* every sample a small dot, for any number of samples: maps, clouds */
  SALTUSI_SERIES_AREA     /* a curve filled down to zero, or to the bottom of a log axis */
} saltusi_series_kind;

/* The Okabe-Ito palette, which stays distinct for colour-blind readers. */
typedef enum saltusi_colour {
  SALTUSI_COLOUR_AUTO, /* the next in the order below, by position in the panel */
  SALTUSI_COLOUR_BLUE,
  SALTUSI_COLOUR_VERMILION,
  SALTUSI_COLOUR_GREEN,
  SALTUSI_COLOUR_PURPLE,
  SALTUSI_COLOUR_ORANGE,
  SALTUSI_COLOUR_SKY,
  SALTUSI_COLOUR_BLACK,
  SALTUSI_COLOUR_GREY
} saltusi_colour;

typedef struct saltusi_plot_series {
  const char* label; /* NULL: not in the legend */
  saltusi_series_kind kind;
  int count;
  const double* x; /* [count] */
  const double* y; /* [count] */
  saltusi_colour colour;
  bool dashed; /* for a reference beside a computed curve */
  bool path;   /* not monotonic in x, as in a phase plane: with a margin, extrema are kept */
} saltusi_plot_series;

/* A vertical line through all panels, its label above the first. Overlapping labels are moved up, or left out if they
 * still overlap; marks have to be in ascending x. */
typedef struct saltusi_plot_mark {
  double x;
  const char* label; /* NULL: line only */
} saltusi_plot_mark;

/* y ~ x^order in a panel with two log axes. */
typedef struct saltusi_slope {
  double order;
  const char* label; /* NULL: "order 2", or the order beside a triangle */
  bool triangle;     /* a triangle in free space; else a dashed line across the panel */
  double x, y;       /* a point of the line; 0: just below the series of the nearest slope */
} saltusi_slope;

typedef struct saltusi_panel {
  const char* y_label; /* with its unit: "velocity [m/s]" */
  bool log_y;
  bool whole_y; /* y is a count: ticks at integers only, with a margin around the first and last */
  const char* const* y_names; /* [y_name_count] in place of the numbers 1, 2, ... of whole_y */
  int y_name_count;
  int series_count;
  const saltusi_plot_series* series;
  int slope_count;
  const saltusi_slope* slopes;
  double weight; /* height relative to the other panels; 0: 1 */
} saltusi_panel;

typedef struct saltusi_figure {
  const char* title;    /* any of the texts may be NULL */
  const char* subtitle; /* one sentence below the title */
  const char* footnote; /* small, below everything: where the numbers come from */
  const char* x_label;
  bool log_x;
  int panel_count; /* 1 .. SALTUSI_FIGURE_PANELS_MAX, first on top */
  const saltusi_panel* panels;
  int mark_count;
  const saltusi_plot_mark* marks;
  double width_cm;  /* 0: 16, the text width of an A4 page */
  double height_cm; /* 0: by the number of panels */
} saltusi_figure;

/* Whether the name ends in .svg, .pdf or .png; SALTUS_ERR_INPUT and a message when not. For a check
 * before a long computation. */
saltus_status saltusi_figure_path_check(const char* path, saltus_log log);

/* Draws the figure into the file named by path; the extension is the format. Writes a temporary file and renames it:
 * after a failure (SALTUS_ERR_INPUT, SALTUS_ERR_IO, with a message) there is no partial file, and an older file is
 * unchanged. */
saltus_status saltusi_figure_write(const saltusi_figure* figure, const char* path, saltus_log log);

#endif
