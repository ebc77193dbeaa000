/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "figure/draw.h"

#include "figure/legend.h"
#include "figure/series.h"
#include "figure/slope.h"
#include "figure/text.h"

#include <assert.h>
#include <math.h>

/* Greys, from paper to ink. */
static const double GRID = 0.90;
static const double MINOR = 0.955;
static const double ZERO = 0.62;
static const double MARK = 0.65;
static const double FRAME = 0.35;

static const double TICK = 3.0; /* points */

static void segment(cairo_t* cairo, double x0, double y0, double x1, double y1) {
  cairo_move_to(cairo, x0, y0);
  cairo_line_to(cairo, x1, y1);
}

static void stroke(cairo_t* cairo, double grey, double width) {
  cairo_set_source_rgb(cairo, grey, grey, grey);
  cairo_set_line_width(cairo, width);
  cairo_stroke(cairo);
}

static void upright_line(cairo_t* cairo, const saltusi_panel_view* v, double value) {
  double x = saltusi_view_x(v, value);
  segment(cairo, x, v->top, x, v->top + v->height);
}

static void level_line(cairo_t* cairo, const saltusi_panel_view* v, double value) {
  double y = saltusi_view_y(v, value);
  segment(cairo, v->left, y, v->left + v->width, y);
}

static void draw_grid(cairo_t* cairo, const saltusi_panel_view* v) {
  for (int i = 0; i < v->x.minor_count; i++) {
    upright_line(cairo, v, v->x.minor[i]);
  }
  for (int i = 0; i < v->y.minor_count; i++) {
    level_line(cairo, v, v->y.minor[i]);
  }
  stroke(cairo, MINOR, 0.4);
  for (int i = 0; i < v->x.count; i++) {
    upright_line(cairo, v, v->x.at[i]);
  }
  for (int i = 0; i < v->y.count; i++) {
    level_line(cairo, v, v->y.at[i]);
  }
  stroke(cairo, GRID, 0.5);
  if (!v->y.log && v->y.low < 0.0 && v->y.high > 0.0) {
    level_line(cairo, v, 0.0);
    stroke(cairo, ZERO, 0.5);
  }
}

static void draw_frame(cairo_t* cairo, const saltusi_panel_view* v) {
  double bottom = v->top + v->height;
  for (int i = 0; i < v->x.count; i++) {
    double x = saltusi_view_x(v, v->x.at[i]);
    segment(cairo, x, bottom, x, bottom + TICK);
  }
  for (int i = 0; i < v->y.count; i++) {
    double y = saltusi_view_y(v, v->y.at[i]);
    segment(cairo, v->left - TICK, y, v->left, y);
  }
  stroke(cairo, FRAME, 0.6);
  for (int i = 0; i < v->x.minor_count; i++) {
    double x = saltusi_view_x(v, v->x.minor[i]);
    segment(cairo, x, bottom, x, bottom + 0.55 * TICK);
  }
  for (int i = 0; i < v->y.minor_count; i++) {
    double y = saltusi_view_y(v, v->y.minor[i]);
    segment(cairo, v->left - 0.55 * TICK, y, v->left, y);
  }
  stroke(cairo, FRAME, 0.4);
  cairo_rectangle(cairo, v->left, v->top, v->width, v->height);
  stroke(cairo, FRAME, 0.6);
}

/* Marks closer than half a point look like one; thousands of impacts are common. */
static void draw_marks(cairo_t* cairo, const saltusi_figure* figure, const saltusi_panel_view* v) {
  double before = -HUGE_VAL;
  for (int i = 0; i < figure->mark_count; i++) {
    double value = figure->marks[i].x;
    if (!saltusi_axis_shows(v->x.log, value) || value < v->x.low || value > v->x.high) {
      continue;
    }
    double x = saltusi_view_x(v, value);
    if (fabs(x - before) >= 0.5) {
      segment(cairo, x, v->top, x, v->top + v->height);
      before = x;
    }
  }
  stroke(cairo, MARK, 0.5);
}

static void draw_y_texts(cairo_t* cairo, const saltusi_figure* figure, const saltusi_layout* layout,
                         int k) {
  const saltusi_panel_layout* at = &layout->panel[k];
  const saltusi_panel_view* v = &at->view;
  char text[SALTUSI_TICK_TEXT];
  saltusi_text_style tick = {.size = SALTUSI_SIZE_TICK, .grey = 0.15, .align = 1.0};
  for (int i = 0; i < v->y.count; i++) {
    saltusi_axis_tick_text(&v->y, i, text);
    saltusi_text_draw(cairo, v->left - TICK - 2.5,
                      saltusi_view_y(v, v->y.at[i]) + 0.5 * saltusi_text_capital(tick.size), text,
                      tick);
  }
  tick.align = 0.0;
  saltusi_axis_note_text(&v->y, text);
  saltusi_text_draw(cairo, v->left,
                    at->legend_y + 0.5 * (saltusi_legend_row() + saltusi_text_capital(tick.size)),
                    text, tick);

  saltusi_text_style label = {.size = SALTUSI_SIZE_LABEL,
                              .grey = 0.1,
                              .align = 0.5,
                              .angle = 1.5707963267948966,
                              .room = v->height + 4.0};
  saltusi_text_draw(cairo, layout->y_label_x, v->top + 0.5 * v->height, figure->panels[k].y_label,
                    label);
}

static void draw_x_texts(cairo_t* cairo, const saltusi_figure* figure,
                         const saltusi_layout* layout) {
  const saltusi_panel_view* v = &layout->panel[figure->panel_count - 1].view;
  char text[SALTUSI_TICK_TEXT];
  saltusi_text_style tick = {.size = SALTUSI_SIZE_TICK, .grey = 0.15, .align = 0.5};
  for (int i = 0; i < v->x.count; i++) {
    saltusi_axis_tick_text(&v->x, i, text);
    saltusi_text_draw(cairo, saltusi_view_x(v, v->x.at[i]), layout->tick_y, text, tick);
  }
  tick.align = 1.0;
  saltusi_axis_note_text(&v->x, text);
  saltusi_text_draw(cairo, v->left + v->width, layout->x_label_y, text, tick);

  double taken = saltusi_text_width(cairo, text, tick.size, false);
  saltusi_text_style label = {
      .size = SALTUSI_SIZE_LABEL, .grey = 0.1, .align = 0.5, .room = v->width - 2.0 * taken - 8.0};
  saltusi_text_draw(cairo, v->left + 0.5 * v->width, layout->x_label_y, figure->x_label, label);
}

static void draw_head_and_foot(cairo_t* cairo, const saltusi_figure* figure,
                               const saltusi_layout* layout) {
  double room = layout->width - 2.0 * layout->margin;
  saltusi_text_style title = {.size = SALTUSI_SIZE_TITLE, .room = room, .bold = true};
  saltusi_text_style subtitle = {.size = SALTUSI_SIZE_SUBTITLE, .grey = 0.3, .room = room};
  saltusi_text_style footnote = {.size = SALTUSI_SIZE_SMALL, .grey = 0.4, .room = room};
  double x = layout->margin;
  saltusi_text_lines(cairo, x, layout->title_y, figure->title, title, true);
  saltusi_text_lines(cairo, x, layout->subtitle_y, figure->subtitle, subtitle, true);
  saltusi_text_lines(cairo, x, layout->footnote_y, figure->footnote, footnote, true);
}

/* Whether any sample of the panel is on the page. */
static bool has_data(const saltusi_panel* panel, const saltusi_panel_view* view) {
  for (int i = 0; i < panel->series_count; i++) {
    saltusi_trace trace = saltusi_trace_begin(&panel->series[i], view, 0.0);
    saltusi_point p;
    if (saltusi_trace_next(&trace, &p)) {
      return true;
    }
  }
  return false;
}

static void draw_panel(cairo_t* cairo, const saltusi_figure* figure, const saltusi_layout* layout,
                       int k) {
  const saltusi_panel* panel = &figure->panels[k];
  const saltusi_panel_layout* at = &layout->panel[k];
  const saltusi_panel_view* v = &at->view;
  draw_grid(cairo, v);
  draw_marks(cairo, figure, v);
  draw_frame(cairo, v);
  saltusi_slopes_draw(cairo, panel, v);
  for (int i = 0; i < panel->series_count; i++) {
    cairo_save(cairo);
    saltusi_series_draw(cairo, panel, i, v);
    cairo_restore(cairo);
  }
  if (!has_data(panel, v)) {
    saltusi_text_style style = {.size = SALTUSI_SIZE_LABEL, .grey = 0.5, .align = 0.5};
    saltusi_text_draw(cairo, v->left + 0.5 * v->width, v->top + 0.5 * v->height, "no data", style);
  }
  draw_y_texts(cairo, figure, layout, k);
  if (saltusi_legend_needed(panel)) {
    cairo_save(cairo);
    saltusi_legend_flow(cairo, panel, at->legend_x, layout->legend_right ? v->top : at->legend_y,
                        at->legend_room, true);
    cairo_restore(cairo);
  }
}

void saltusi_figure_draw(cairo_t* cairo, const saltusi_figure* figure,
                         const saltusi_layout* layout) {
  assert(figure != NULL && layout != NULL);
  cairo_set_source_rgb(cairo, 1.0, 1.0, 1.0);
  cairo_paint(cairo); /* the whole surface: a PNG is rounded up to whole pixels */
  for (int k = 0; k < figure->panel_count; k++) {
    draw_panel(cairo, figure, layout, k);
  }
  draw_x_texts(cairo, figure, layout);
  saltusi_marks_labels(cairo, figure, &layout->panel[0].view, layout->width - layout->margin, true);
  draw_head_and_foot(cairo, figure, layout);
}
