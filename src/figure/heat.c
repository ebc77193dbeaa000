/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * heat.c - see heat.h.
 */
#include "figure/heat.h"

#include "figure/axis.h"
#include "figure/canvas.h"
#include "figure/figure.h"
#include "figure/text.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

enum { STOPS = 9, BAR_PARTS = 128 };

static const double WIDTH = 453.5; /* points: 16 cm */
static const double HEIGHT = 340.0;
static const double LEFT = 62.0, RIGHT = 96.0, TOP = 52.0, BOTTOM = 46.0;
static const double FONT = 9.0;

/* From dark blue to yellow, lightness in equal steps. */
static const double colours[STOPS][3] = {
    {0.267, 0.005, 0.329}, {0.278, 0.175, 0.483}, {0.231, 0.322, 0.546},
    {0.173, 0.449, 0.558}, {0.128, 0.567, 0.551}, {0.153, 0.679, 0.506},
    {0.361, 0.786, 0.388}, {0.668, 0.862, 0.196}, {0.993, 0.906, 0.144}};

static void set_colour(cairo_t* cairo, double part) {
  const double place = fmin(fmax(part, 0.0), 1.0) * (STOPS - 1);
  const int i = place >= STOPS - 1 ? STOPS - 2 : (int)place;
  const double f = place - i;
  double c[3];
  for (int k = 0; k < 3; k++) {
    c[k] = (1.0 - f) * colours[i][k] + f * colours[i + 1][k];
  }
  cairo_set_source_rgb(cairo, c[0], c[1], c[2]);
}

/* The edge between cell i - 1 and cell i, half way on the scale of the axis. */
static double edge(const double* at, int count, bool log, int i) {
  if (count == 1) {
    const double half = at[0] != 0.0 ? 0.5 * fabs(at[0]) : 0.5;
    return log ? at[0] * (i == 0 ? 0.5 : 2.0) : at[0] + (i == 0 ? -half : half);
  }
  const int a = i == 0 ? 0 : i == count ? count - 2 : i - 1;
  const double low = log ? log10(at[a]) : at[a], high = log ? log10(at[a + 1]) : at[a + 1];
  const double value = i == 0       ? low - 0.5 * (high - low)
                       : i == count ? high + 0.5 * (high - low)
                                    : 0.5 * (low + high);
  return log ? pow(10.0, value) : value;
}

typedef struct heat_view {
  const saltusi_heat* heat;
  saltusi_plot_axis x, y, value;
} heat_view;

static saltusi_plot_axis fit(const double* at, int count, bool log) {
  saltusi_range range = saltusi_range_empty();
  saltusi_range_add(&range, edge(at, count, log, 0));
  saltusi_range_add(&range, edge(at, count, log, count));
  saltusi_plot_axis axis = saltusi_axis_fit(range, (saltusi_axis_request){.log = log, .ticks = 6});
  axis.low = range.low; /* cells fill the panel */
  axis.high = range.high;
  return axis;
}

static double at_x(const heat_view* v, double x) {
  return LEFT + saltusi_axis_place(&v->x, x) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const heat_view* v, double y) {
  return HEIGHT - BOTTOM - saltusi_axis_place(&v->y, y) * (HEIGHT - TOP - BOTTOM);
}

static void draw_cells(cairo_t* cairo, const heat_view* v) {
  const saltusi_heat* h = v->heat;
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_NONE); /* no seams between cells */
  for (int i = 0; i < h->rows; i++) {
    const double y0 = at_y(v, edge(h->y, h->rows, h->log_y, i));
    const double y1 = at_y(v, edge(h->y, h->rows, h->log_y, i + 1));
    for (int k = 0; k < h->columns; k++) {
      const double value = h->values[(size_t)i * (size_t)h->columns + (size_t)k];
      if (!isfinite(value)) {
        continue;
      }
      const double x0 = at_x(v, edge(h->x, h->columns, h->log_x, k));
      const double x1 = at_x(v, edge(h->x, h->columns, h->log_x, k + 1));
      set_colour(cairo, saltusi_axis_place(&v->value, value));
      cairo_rectangle(cairo, fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0));
      cairo_fill(cairo);
    }
  }
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_DEFAULT);
}

static void frame(cairo_t* cairo, double x, double y, double width, double height) {
  cairo_rectangle(cairo, x, y, width, height);
  cairo_set_source_rgb(cairo, 0.35, 0.35, 0.35);
  cairo_set_line_width(cairo, 0.6);
  cairo_stroke(cairo);
}

static void tick(cairo_t* cairo, double x0, double y0, double x1, double y1) {
  cairo_move_to(cairo, x0, y0);
  cairo_line_to(cairo, x1, y1);
  cairo_set_source_rgb(cairo, 0.35, 0.35, 0.35);
  cairo_set_line_width(cairo, 0.6);
  cairo_stroke(cairo);
}

static bool inside(const saltusi_plot_axis* axis, int i) {
  return axis->at[i] >= axis->low && axis->at[i] <= axis->high;
}

static void draw_axes(cairo_t* cairo, const heat_view* v) {
  const saltusi_heat* h = v->heat;
  const double bottom = HEIGHT - BOTTOM;
  char text[SALTUSI_TICK_TEXT];
  const saltusi_text_style centre = {.size = FONT, .align = 0.5};
  const saltusi_text_style right = {.size = FONT, .align = 1.0};
  for (int i = 0; i < v->x.count; i++) {
    if (inside(&v->x, i)) {
      const double x = at_x(v, v->x.at[i]);
      tick(cairo, x, bottom, x, bottom + 3.0);
      saltusi_axis_tick_text(&v->x, i, text);
      saltusi_text_draw(cairo, x, bottom + 13.0, text, centre);
    }
  }
  for (int i = 0; i < v->y.count; i++) {
    if (inside(&v->y, i)) {
      const double y = at_y(v, v->y.at[i]);
      tick(cairo, LEFT - 3.0, y, LEFT, y);
      saltusi_axis_tick_text(&v->y, i, text);
      saltusi_text_draw(cairo, LEFT - 6.0, y + 0.5 * saltusi_text_capital(FONT), text, right);
    }
  }
  saltusi_axis_note_text(&v->x, text);
  saltusi_text_draw(cairo, WIDTH - RIGHT, bottom + 24.0, text, right);
  saltusi_axis_note_text(&v->y, text);
  saltusi_text_draw(cairo, LEFT, TOP - 4.0, text, (saltusi_text_style){.size = FONT});
  frame(cairo, LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
  if (h->x_label != NULL) {
    saltusi_text_draw(
        cairo, 0.5 * (LEFT + WIDTH - RIGHT), HEIGHT - 10.0, h->x_label,
        (saltusi_text_style){.size = FONT + 1.0, .align = 0.5, .room = WIDTH - LEFT - RIGHT});
  }
  if (h->y_label != NULL) {
    saltusi_text_draw(cairo, 14.0, 0.5 * (TOP + bottom), h->y_label,
                      (saltusi_text_style){.size = FONT + 1.0,
                                           .align = 0.5,
                                           .angle = 1.5707963267948966,
                                           .room = HEIGHT - TOP - BOTTOM});
  }
}

static void draw_bar(cairo_t* cairo, const heat_view* v) {
  const double x = WIDTH - RIGHT + 16.0, width = 12.0, height = HEIGHT - TOP - BOTTOM;
  char text[SALTUSI_TICK_TEXT];
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_NONE);
  for (int i = 0; i < BAR_PARTS; i++) {
    set_colour(cairo, (i + 0.5) / BAR_PARTS);
    cairo_rectangle(cairo, x, TOP + height * (1.0 - (double)(i + 1) / BAR_PARTS), width,
                    height / BAR_PARTS + 0.5);
    cairo_fill(cairo);
  }
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_DEFAULT);
  frame(cairo, x, TOP, width, height);
  for (int i = 0; i < v->value.count; i++) {
    if (inside(&v->value, i)) {
      const double y = TOP + height * (1.0 - saltusi_axis_place(&v->value, v->value.at[i]));
      tick(cairo, x + width, y, x + width + 3.0, y);
      saltusi_axis_tick_text(&v->value, i, text);
      saltusi_text_draw(cairo, x + width + 6.0, y + 0.5 * saltusi_text_capital(FONT), text,
                        (saltusi_text_style){.size = FONT});
    }
  }
  saltusi_axis_note_text(&v->value, text);
  saltusi_text_draw(cairo, x, TOP - 4.0, text, (saltusi_text_style){.size = FONT});
  if (v->heat->label != NULL) {
    saltusi_text_draw(
        cairo, WIDTH - 8.0, TOP + 0.5 * height, v->heat->label,
        (saltusi_text_style){
            .size = FONT + 1.0, .align = 0.5, .angle = 1.5707963267948966, .room = height});
  }
}

static void draw_all(cairo_t* cairo, const void* what) {
  const heat_view* v = what;
  cairo_set_source_rgb(cairo, 1.0, 1.0, 1.0);
  cairo_paint(cairo);
  saltusi_text_setup(cairo);
  draw_cells(cairo, v);
  draw_axes(cairo, v);
  draw_bar(cairo, v);
  if (v->heat->title != NULL) {
    saltusi_text_draw(
        cairo, LEFT, 18.0, v->heat->title,
        (saltusi_text_style){.size = FONT + 3.0, .bold = true, .room = WIDTH - LEFT - 10.0});
  }
  if (v->heat->subtitle != NULL) {
    saltusi_text_draw(
        cairo, LEFT, 32.0, v->heat->subtitle,
        (saltusi_text_style){.size = FONT, .grey = 0.35, .room = WIDTH - LEFT - 10.0});
  }
}

saltus_status saltusi_heat_write(const saltusi_heat* heat, const char* path, saltus_log log) {
  assert(heat != NULL && path != NULL && heat->columns > 0 && heat->rows > 0);
  const saltus_status status = saltusi_figure_path_check(path, log);
  if (status != SALTUS_OK) {
    return status;
  }
  heat_view v = {.heat = heat,
                 .x = fit(heat->x, heat->columns, heat->log_x),
                 .y = fit(heat->y, heat->rows, heat->log_y)};
  saltusi_range range = saltusi_range_empty();
  for (size_t i = 0; i < (size_t)heat->columns * (size_t)heat->rows; i++) {
    if (isfinite(heat->values[i])) {
      saltusi_range_add(&range, heat->values[i]);
    }
  }
  v.value = saltusi_axis_fit(range, (saltusi_axis_request){.ticks = 6});
  const saltusi_canvas canvas = {
      .title = heat->title, .width = WIDTH, .height = HEIGHT, .what = &v, .draw = draw_all};
  return saltusi_canvas_write(&canvas, path, log);
}
