/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout.c - measures every text first; the panels take the remaining space.
 *
 * From top to bottom: title, subtitle; per panel its row of axis note and legend, above the first
 * also the labels of marks, then the panel; tick labels and name of the x axis, footnote.
 */
#include "figure/layout.h"

#include "figure/legend.h"
#include "figure/text.h"

#include <assert.h>
#include <math.h>

/* Points. */
static const double MARGIN = 6.0;
static const double CENTIMETRE = 72.0 / 2.54;
static const double TICK_SPACE = 6.0;    /* from the panel to the tick labels */
static const double PANEL_GAP = 9.0;     /* between panels */
static const double STACKED_HEIGHT = 92; /* of a panel among others */
static const double LEAST_HEIGHT = 30.0; /* of a panel in a figure of given height */
static const double Y_TICK_EVERY = 16.0;
static const double X_TICK_EVERY = 38.0;

enum { LANES_MAX = 3 };

double saltusi_view_x(const saltusi_panel_view* view, double x) {
  assert(view != NULL);
  return view->left + view->width * saltusi_axis_place(&view->x, x);
}

double saltusi_view_y(const saltusi_panel_view* view, double y) {
  assert(view != NULL);
  return view->top + view->height * (1.0 - saltusi_axis_place(&view->y, y));
}

/* --- axes ----------------------------------------------------------------------------------- */

/* Adds the samples that both axes show to the ranges. */
static void add_series(const saltusi_plot_series* s, bool log_x, bool log_y, saltusi_range* x,
                       saltusi_range* y) {
  for (int i = 0; i < s->count; i++) {
    if (saltusi_axis_shows(log_x, s->x[i]) && saltusi_axis_shows(log_y, s->y[i])) {
      saltusi_range_add(x, s->x[i]);
      saltusi_range_add(y, s->y[i]);
    }
  }
}

static saltusi_plot_axis fit_x(const saltusi_figure* figure, int ticks) {
  saltusi_range x = saltusi_range_empty();
  saltusi_range ignored = saltusi_range_empty();
  /* curves may touch the frame, symbols should not */
  double pad = figure->log_x ? 0.03 : 0.0;
  for (int k = 0; k < figure->panel_count; k++) {
    const saltusi_panel* panel = &figure->panels[k];
    for (int i = 0; i < panel->series_count; i++) {
      saltusi_series_kind kind = panel->series[i].kind;
      add_series(&panel->series[i], figure->log_x, panel->log_y, &x, &ignored);
      if (kind == SALTUSI_SERIES_MARKERS || kind == SALTUSI_SERIES_POINTS ||
          kind == SALTUSI_SERIES_DOTS || kind == SALTUSI_SERIES_STEMS || panel->series[i].path) {
        pad = fmax(pad, 0.015);
      }
    }
  }
  saltusi_axis_request request = {
      .log = figure->log_x, .pad_low = pad, .pad_high = pad, .ticks = ticks};
  return saltusi_axis_fit(x, request);
}

/* Ticks at whole numbers only. */
static void keep_whole(saltusi_plot_axis* axis) {
  int kept = 0;
  for (int i = 0; i < axis->count; i++) {
    if (fabs(axis->at[i] - rint(axis->at[i])) < 1e-9) {
      axis->at[kept++] = rint(axis->at[i]);
    }
  }
  axis->count = kept;
  axis->minor_count = 0;
  axis->step_exponent = axis->step_exponent > 0 ? axis->step_exponent : 0;
}

/* A name for every integer if all fit, otherwise for the present ticks. */
static void name_ticks(saltusi_plot_axis* axis, const saltusi_panel* panel, double height) {
  axis->names = panel->y_names;
  axis->name_count = panel->y_name_count;
  if (panel->y_name_count > SALTUSI_TICKS_MAX ||
      panel->y_name_count * (SALTUSI_SIZE_TICK + 1.0) > height) {
    return;
  }
  axis->count = 0;
  for (int i = 1; i <= panel->y_name_count; i++) {
    if (i >= axis->low && i <= axis->high) {
      axis->at[axis->count++] = i;
    }
  }
}

static saltusi_plot_axis fit_y(const saltusi_panel* panel, bool log_x, double height) {
  saltusi_range y = saltusi_range_empty();
  saltusi_range ignored = saltusi_range_empty();
  bool grounded = false; /* stems and areas stand on zero */
  for (int i = 0; i < panel->series_count; i++) {
    saltusi_series_kind kind = panel->series[i].kind;
    add_series(&panel->series[i], log_x, panel->log_y, &ignored, &y);
    grounded = grounded || kind == SALTUSI_SERIES_STEMS || kind == SALTUSI_SERIES_AREA;
  }
  if (grounded && !panel->log_y && y.low <= y.high) {
    saltusi_range_add(&y, 0.0);
  }
  const double pad = panel->whole_y ? 0.0 : 0.07;
  bool fixed = grounded && !panel->log_y;
  if (panel->whole_y && y.low <= y.high) {
    saltusi_range_add(&y, y.low - 0.6);
    saltusi_range_add(&y, y.high + 0.6);
  }
  saltusi_axis_request request = {.log = panel->log_y,
                                  .pad_low = fixed && y.low == 0.0 ? 0.0 : pad,
                                  .pad_high = fixed && y.high == 0.0 ? 0.0 : pad,
                                  .ticks = (int)(height / Y_TICK_EVERY)};
  saltusi_plot_axis axis = saltusi_axis_fit(y, request);
  if (panel->whole_y) {
    keep_whole(&axis);
  }
  if (panel->y_names != NULL) {
    name_ticks(&axis, panel, height);
  }
  return axis;
}

static double widest_tick(cairo_t* cairo, const saltusi_plot_axis* axis) {
  double widest = 0.0;
  char text[SALTUSI_TICK_TEXT];
  for (int i = 0; i < axis->count; i++) {
    saltusi_axis_tick_text(axis, i, text);
    widest = fmax(widest, saltusi_text_width(cairo, text, SALTUSI_SIZE_TICK, false));
  }
  return widest;
}

static double note_width(cairo_t* cairo, const saltusi_plot_axis* axis) {
  char text[SALTUSI_TICK_TEXT];
  saltusi_axis_note_text(axis, text);
  return saltusi_text_width(cairo, text, SALTUSI_SIZE_TICK, false);
}

/* Number of x ticks whose labels fit. */
static saltusi_plot_axis fit_x_labels(cairo_t* cairo, const saltusi_figure* figure, double width) {
  int ticks = (int)fmin(width / X_TICK_EVERY, SALTUSI_TICKS_MAX);
  saltusi_plot_axis axis = fit_x(figure, ticks);
  while (ticks > 3 && axis.count * (widest_tick(cairo, &axis) + 8.0) > width) {
    ticks--;
    axis = fit_x(figure, ticks);
  }
  return axis;
}

/* --- marks ---------------------------------------------------------------------------------- */

static void draw_mark_label(cairo_t* cairo, const saltusi_panel_view* view, double x, double left,
                            int lane, const char* text) {
  saltusi_text_style style = {.size = SALTUSI_SIZE_SMALL, .grey = 0.35};
  double y = view->top - 3.0 - lane * saltusi_text_leading(style.size);
  if (lane > 0) {
    cairo_set_source_rgb(cairo, 0.65, 0.65, 0.65);
    cairo_set_line_width(cairo, 0.5);
    cairo_move_to(cairo, x, view->top);
    cairo_line_to(cairo, x, y + 1.5);
    cairo_stroke(cairo);
  }
  saltusi_text_draw(cairo, left, y, text, style);
}

/* The lowest lane that is free from `left` on; LANES_MAX: none. The leader of a label at x crosses the lanes below,
 * which have to be free there and are then occupied up to x. */
static int free_lane(double used[LANES_MAX], double x, double left) {
  int lane = 0;
  while (lane < LANES_MAX && left < used[lane]) {
    if (x < used[lane]) {
      return LANES_MAX;
    }
    lane++;
  }
  for (int below = 0; lane < LANES_MAX && below < lane; below++) {
    used[below] = x + 2.0;
  }
  return lane;
}

int saltusi_marks_labels(cairo_t* cairo, const saltusi_figure* figure,
                         const saltusi_panel_view* view, double right_end, bool draw) {
  assert(figure != NULL && view != NULL);
  double used[LANES_MAX]; /* right end of each lane */
  for (int lane = 0; lane < LANES_MAX; lane++) {
    used[lane] = MARGIN;
  }
  int lanes = 0;
  for (int i = 0; i < figure->mark_count; i++) {
    const saltusi_plot_mark* mark = &figure->marks[i];
    if (mark->label == NULL || !saltusi_axis_shows(view->x.log, mark->x) || mark->x < view->x.low ||
        mark->x > view->x.high) {
      continue;
    }
    double x = saltusi_view_x(view, mark->x);
    double width = saltusi_text_width(cairo, mark->label, SALTUSI_SIZE_SMALL, false);
    double left = fmax(MARGIN, fmin(x - 0.5 * width, right_end - width));
    int lane = free_lane(used, x, left);
    if (lane == LANES_MAX) {
      continue;
    }
    used[lane] = left + width + 5.0;
    lanes = lane + 1 > lanes ? lane + 1 : lanes;
    if (draw) {
      draw_mark_label(cairo, view, x, left, lane, mark->label);
    }
  }
  return lanes;
}

/* --- placing -------------------------------------------------------------------------------- */

static double lines_height(cairo_t* cairo, const char* text, double size, bool bold, double room) {
  saltusi_text_style style = {.size = size, .room = room, .bold = bold};
  return saltusi_text_lines(cairo, 0.0, 0.0, text, style, false) * saltusi_text_leading(size);
}

/* Left and right edges of all panels, and the legend beside or above them. */
static void place_sides(cairo_t* cairo, const saltusi_figure* figure, saltusi_layout* layout) {
  double left = layout->margin;
  double ticks = 0.0;
  bool labelled = false;
  for (int k = 0; k < figure->panel_count; k++) {
    const saltusi_panel* panel = &figure->panels[k];
    saltusi_panel_view* view = &layout->panel[k].view;
    view->y = fit_y(panel, figure->log_x, view->height);
    ticks = fmax(ticks, widest_tick(cairo, &view->y));
    labelled = labelled || panel->y_label != NULL;
  }
  if (labelled) {
    layout->y_label_x = left + SALTUSI_SIZE_LABEL;
    left += 1.3 * SALTUSI_SIZE_LABEL + 5.0;
  }
  left += ticks + TICK_SPACE;

  double right = layout->width - layout->margin;
  double legend = saltusi_legend_width(cairo, &figure->panels[0]);
  layout->legend_right = figure->panel_count == 1 && figure->panels[0].series_count > 2 &&
                         saltusi_legend_needed(&figure->panels[0]) && legend < 0.35 * layout->width;
  if (layout->legend_right) {
    right -= legend + 10.0;
  }
  saltusi_plot_axis x = fit_x_labels(cairo, figure, right - left);
  if (!layout->legend_right) {
    right -= 0.5 * widest_tick(cairo, &x);
  }
  for (int k = 0; k < figure->panel_count; k++) {
    saltusi_panel_layout* at = &layout->panel[k];
    at->view.x = x;
    at->view.left = left;
    at->view.width = fmax(right - left, 20.0);
    double note = note_width(cairo, &at->view.y);
    at->legend_x = layout->legend_right ? right + 10.0 : left + (note > 0.0 ? note + 12.0 : 0.0);
    at->legend_room = layout->legend_right ? legend : right - at->legend_x;
  }
}

/* Height of the items above panel k. */
static double height_above(cairo_t* cairo, const saltusi_figure* figure,
                           const saltusi_layout* layout, int k) {
  const saltusi_panel_layout* at = &layout->panel[k];
  double height = 0.0;
  if (saltusi_legend_needed(&figure->panels[k]) && !layout->legend_right) {
    int rows =
        saltusi_legend_flow(cairo, &figure->panels[k], at->legend_x, 0.0, at->legend_room, false);
    height = rows * saltusi_legend_row();
  } else if (note_width(cairo, &at->view.y) > 0.0) {
    height = saltusi_legend_row();
  }
  return height > 0.0 ? height + 2.0 : 0.0;
}

static double weight_of(const saltusi_panel* panel) {
  return panel->weight > 0.0 ? panel->weight : 1.0;
}

/* Tops and heights of panels; `room` is their total height, without the spaces between. */
static void place_panels(cairo_t* cairo, const saltusi_figure* figure, saltusi_layout* layout,
                         double room) {
  double weights = 0.0;
  for (int k = 0; k < figure->panel_count; k++) {
    weights += weight_of(&figure->panels[k]);
  }
  double y = layout->title_y - SALTUSI_SIZE_TITLE;
  y += lines_height(cairo, figure->title, SALTUSI_SIZE_TITLE, true,
                    layout->width - 2.0 * layout->margin);
  layout->subtitle_y = y + SALTUSI_SIZE_SUBTITLE;
  y += lines_height(cairo, figure->subtitle, SALTUSI_SIZE_SUBTITLE, false,
                    layout->width - 2.0 * layout->margin);
  y += figure->title != NULL || figure->subtitle != NULL ? 5.0 : 2.0;
  for (int k = 0; k < figure->panel_count; k++) {
    saltusi_panel_layout* at = &layout->panel[k];
    y += k > 0 ? PANEL_GAP : 0.0;
    at->legend_y = y;
    y += height_above(cairo, figure, layout, k);
    if (k == 0 && layout->lanes > 0) {
      y += layout->lanes * saltusi_text_leading(SALTUSI_SIZE_SMALL) + 2.0;
    }
    at->view.top = y;
    at->view.height = room * weight_of(&figure->panels[k]) / weights;
    y += at->view.height;
  }

  layout->tick_y = y + TICK_SPACE + SALTUSI_SIZE_TICK;
  y = layout->tick_y + 4.0;
  if (figure->x_label != NULL || note_width(cairo, &layout->panel[0].view.x) > 0.0) {
    layout->x_label_y = y + SALTUSI_SIZE_LABEL + 1.0;
    y = layout->x_label_y + 3.0;
  }
  double foot = lines_height(cairo, figure->footnote, SALTUSI_SIZE_SMALL, false,
                             layout->width - 2.0 * layout->margin);
  layout->footnote_y = y + 4.0 + SALTUSI_SIZE_SMALL;
  y += foot > 0.0 ? foot + 4.0 : 0.0;
  layout->height = y + layout->margin;
}

void saltusi_layout_make(cairo_t* cairo, const saltusi_figure* figure, saltusi_layout* layout) {
  assert(figure != NULL && layout != NULL);
  *layout = (saltusi_layout){.margin = MARGIN, .title_y = MARGIN + SALTUSI_SIZE_TITLE};
  layout->width = CENTIMETRE * (figure->width_cm > 0.0 ? figure->width_cm : 16.0);

  int n = figure->panel_count;
  double room = 0.0;
  for (int k = 0; k < n; k++) {
    room += STACKED_HEIGHT * weight_of(&figure->panels[k]);
  }
  if (n == 1) {
    room = 0.52 * layout->width;
  }
  place_panels(cairo, figure, layout, room);

  /* ticks depend on heights and heights on the texts of ticks: two iterations suffice, texts hardly change */
  for (int pass = 0; pass < 2; pass++) {
    place_sides(cairo, figure, layout);
    layout->lanes = saltusi_marks_labels(cairo, figure, &layout->panel[0].view,
                                         layout->width - layout->margin, false);
    place_panels(cairo, figure, layout, room);
    if (figure->height_cm > 0.0) {
      room = fmax(room + figure->height_cm * CENTIMETRE - layout->height, n * LEAST_HEIGHT);
      place_panels(cairo, figure, layout, room);
    }
  }
}
