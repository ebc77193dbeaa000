/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "figure/legend.h"

#include "figure/layout.h"
#include "figure/series.h"
#include "figure/text.h"

#include <assert.h>
#include <math.h>

static const double SAMPLE = 18.0; /* points, length of the line before a name */
static const double GAP = 4.0;     /* between line and name */
static const double SPACE = 14.0;  /* between entries */

static bool named(const saltusi_plot_series* series) {
  return series->label != NULL && series->label[0] != '\0';
}

bool saltusi_legend_needed(const saltusi_panel* panel) {
  assert(panel != NULL);
  int count = 0;
  for (int i = 0; i < panel->series_count; i++) {
    count += named(&panel->series[i]) ? 1 : 0;
  }
  return panel->series_count > 1 && count > 0;
}

static double entry_width(cairo_t* cairo, const saltusi_plot_series* series) {
  return SAMPLE + GAP + saltusi_text_width(cairo, series->label, SALTUSI_SIZE_LEGEND, false);
}

double saltusi_legend_width(cairo_t* cairo, const saltusi_panel* panel) {
  assert(panel != NULL);
  double width = 0.0;
  for (int i = 0; i < panel->series_count; i++) {
    if (named(&panel->series[i])) {
      width = fmax(width, entry_width(cairo, &panel->series[i]));
    }
  }
  return width;
}

double saltusi_legend_row(void) {
  return 1.45 * SALTUSI_SIZE_LEGEND;
}

int saltusi_legend_flow(cairo_t* cairo, const saltusi_panel* panel, double x, double y, double room,
                        bool draw) {
  assert(panel != NULL);
  int rows = 1;
  double pen = x;
  for (int i = 0; i < panel->series_count; i++) {
    const saltusi_plot_series* series = &panel->series[i];
    if (!named(series)) {
      continue;
    }
    double width = entry_width(cairo, series);
    if (pen > x && pen + width > x + room + 0.01) {
      rows++;
      pen = x;
    }
    if (draw) {
      double middle = y + (rows - 0.5) * saltusi_legend_row();
      saltusi_text_style style = {
          .size = SALTUSI_SIZE_LEGEND, .grey = 0.1, .room = room - SAMPLE - GAP};
      saltusi_series_sample(cairo, panel, i, pen, middle, SAMPLE);
      saltusi_text_draw(cairo, pen + SAMPLE + GAP,
                        middle + 0.5 * saltusi_text_capital(SALTUSI_SIZE_LEGEND), series->label,
                        style);
    }
    pen += width + SPACE;
  }
  return rows;
}
