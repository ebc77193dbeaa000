/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "figure/series.h"

#include <assert.h>
#include <math.h>

/* In points unless noted. */
static const double COLUMN = 0.5; /* narrower than any line, so thinning is invisible */
static const double THICK = 1.25; /* curves */
static const double THIN = 0.9;   /* lines between markers, stems */
static const double HAIR = 0.6;   /* jumps */
static const double SPECK = 2.4;  /* a sample without neighbours, across */
static const double DOT = 3.2;    /* dots of stems, across */
static const double MARKER = 2.5; /* markers, centre to edge */
static const double FADED = 0.45; /* opacity of jumps */
static const double WASH = 0.22;  /* opacity of areas */

enum {
  TRACE_MAX = 20000,  /* points a curve may have before columns are widened */
  MARKERS_MAX = 4000, /* largest number of samples with markers; more of them look like a band */
  STEMS_WITH_DOT = 800,
  STROKE_MAX = 400 /* cairo's cost grows faster than the length of a stroke */
};

/* --- colours -------------------------------------------------------------------------------- */

typedef struct series_rgb {
  double r, g, b;
} series_rgb;

static series_rgb colour_of(const saltusi_panel* panel, int i) {
  static const int palette[] = {0x000000, 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                0xe69f00, 0x56b4e9, 0x000000, 0x777777};
  int chosen = (int)panel->series[i].colour;
  if (chosen < SALTUSI_COLOUR_BLUE || chosen > SALTUSI_COLOUR_GREY) {
    chosen = SALTUSI_COLOUR_BLUE + i % (SALTUSI_COLOUR_GREY - SALTUSI_COLOUR_BLUE + 1);
  }
  int code = palette[chosen];
  return (series_rgb){(code >> 16) / 255.0, ((code >> 8) & 255) / 255.0, (code & 255) / 255.0};
}

static void set_colour(cairo_t* cairo, series_rgb c, double opacity) {
  if (opacity < 1.0) {
    cairo_set_source_rgba(cairo, c.r, c.g, c.b, opacity);
  } else {
    cairo_set_source_rgb(cairo, c.r, c.g, c.b);
  }
}

/* --- points of a series --------------------------------------------------------------------- */

saltusi_trace saltusi_trace_begin(const saltusi_plot_series* series, const saltusi_panel_view* view,
                                  double column) {
  assert(series != NULL && view != NULL);
  return (saltusi_trace){.series = series, .view = view, .gap = true, .thin = {.width = column}};
}

static bool is_jump(const saltusi_plot_series* s, int i) {
  return s->kind == SALTUSI_SERIES_JUMPS && i > 0 && s->x[i] == s->x[i - 1];
}

/* The next point that can be drawn. */
static bool read_point(saltusi_trace* trace, saltusi_point* p) {
  const saltusi_plot_series* s = trace->series;
  const saltusi_panel_view* view = trace->view;
  if (trace->held) {
    trace->held = false;
    *p = trace->before;
    return true;
  }
  while (trace->at < s->count) {
    int i = trace->at++;
    if (!saltusi_axis_shows(view->x.log, s->x[i]) || !saltusi_axis_shows(view->y.log, s->y[i])) {
      trace->gap = true;
      continue;
    }
    saltusi_point before = trace->before;
    saltusi_point now = {saltusi_view_x(view, s->x[i]), saltusi_view_y(view, s->y[i]),
                         trace->gap || is_jump(s, i)};
    *p = now;
    if (s->kind == SALTUSI_SERIES_STEPS && !trace->gap) {
      trace->held = true;
      now.start = now.y != before.y;
      *p = (saltusi_point){now.x, before.y, false};
    }
    trace->before = now;
    trace->gap = false;
    return true;
  }
  return false;
}

bool saltusi_trace_next(saltusi_trace* trace, saltusi_point* p) {
  assert(trace != NULL && p != NULL);
  if (trace->thin.width <= 0.0) {
    return read_point(trace, p);
  }
  while (trace->out_at == trace->out_count) {
    saltusi_point q;
    bool more = read_point(trace, &q);
    trace->out_at = 0;
    trace->out_count = more ? saltusi_thin_push(&trace->thin, q, trace->out)
                            : saltusi_thin_flush(&trace->thin, trace->out);
    if (!more && trace->out_count == 0) {
      return false;
    }
  }
  *p = trace->out[trace->out_at++];
  return true;
}

/* The column that keeps a curve below TRACE_MAX points. Curves that are not monotonic in x need wider ones, up to two
 * points, at which the curve still looks the same. */
static double column_for(const saltusi_plot_series* series, const saltusi_panel_view* view) {
  if (series->path && series->count <= TRACE_MAX) {
    return 0.0;
  }
  double column = COLUMN;
  while (column < 2.0) {
    saltusi_trace trace = saltusi_trace_begin(series, view, column);
    saltusi_point p;
    long count = 0;
    while (saltusi_trace_next(&trace, &p)) {
      count++;
    }
    if (count <= TRACE_MAX) {
      break;
    }
    column *= 2.0;
  }
  return column;
}

/* --- curves --------------------------------------------------------------------------------- */

static void set_pen(cairo_t* cairo, double width, bool dashed) {
  static const double dashes[] = {4.0, 2.6};
  cairo_set_line_width(cairo, width);
  cairo_set_line_cap(cairo, dashed ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_dash(cairo, dashes, dashed ? 2 : 0, 0.0);
}

static void draw_curve(cairo_t* cairo, saltusi_trace trace, bool dashed) {
  saltusi_point p;
  saltusi_point before = {0};
  int length = 0; /* of the stroke so far */
  while (saltusi_trace_next(&trace, &p)) {
    /* a dash pattern would restart with each stroke */
    if (length >= STROKE_MAX && !p.start && !dashed) {
      cairo_stroke(cairo);
      cairo_move_to(cairo, before.x, before.y);
      length = 0;
    }
    if (p.start) {
      cairo_move_to(cairo, p.x, p.y);
    }
    /* also after move_to, which draws nothing by itself */
    cairo_line_to(cairo, p.x, p.y);
    before = p;
    length++;
  }
  cairo_stroke(cairo);
}

/* A segment of one point is drawn as a visible dot. */
static void draw_specks(cairo_t* cairo, saltusi_trace trace) {
  saltusi_point p = {0};
  saltusi_point before = {0};
  bool alone = false;
  for (bool more = true; more;) {
    more = saltusi_trace_next(&trace, &p);
    if (alone && (!more || p.start)) {
      cairo_move_to(cairo, before.x, before.y);
      cairo_line_to(cairo, before.x, before.y);
    }
    alone = more && p.start;
    before = p;
  }
  set_pen(cairo, SPECK, false);
  cairo_stroke(cairo);
}

static void draw_jumps(cairo_t* cairo, saltusi_trace trace) {
  saltusi_point p;
  saltusi_point before = {0};
  bool any = false;
  while (saltusi_trace_next(&trace, &p)) {
    if (p.start && any) {
      cairo_move_to(cairo, before.x, before.y);
      cairo_line_to(cairo, p.x, p.y);
    }
    before = p;
    any = true;
  }
  cairo_stroke(cairo);
}

/* Base line of stems and areas. */
static double base_line(const saltusi_panel_view* view) {
  return saltusi_view_y(view, view->y.log ? view->y.low : 0.0);
}

static void draw_area(cairo_t* cairo, saltusi_trace trace) {
  double base = base_line(trace.view);
  saltusi_point p;
  saltusi_point before = {0};
  bool open = false;
  while (saltusi_trace_next(&trace, &p)) {
    if (p.start) {
      if (open) {
        cairo_line_to(cairo, before.x, base);
        cairo_close_path(cairo);
      }
      cairo_move_to(cairo, p.x, base);
      open = true;
    }
    cairo_line_to(cairo, p.x, p.y);
    before = p;
  }
  if (open) {
    cairo_line_to(cairo, before.x, base);
    cairo_close_path(cairo);
  }
  cairo_fill(cairo);
}

static void draw_stems(cairo_t* cairo, saltusi_trace trace) {
  double base = base_line(trace.view);
  int drawn = 0;
  saltusi_point p;
  saltusi_trace dots = trace;
  while (saltusi_trace_next(&trace, &p)) {
    cairo_move_to(cairo, p.x, base);
    cairo_line_to(cairo, p.x, p.y);
    drawn++;
  }
  cairo_set_line_width(cairo, drawn > STEMS_WITH_DOT ? HAIR : THIN);
  cairo_stroke(cairo);
  if (drawn > STEMS_WITH_DOT) {
    return;
  }
  while (saltusi_trace_next(&dots, &p)) {
    cairo_move_to(cairo, p.x, p.y);
    cairo_line_to(cairo, p.x, p.y);
  }
  cairo_set_line_width(cairo, DOT);
  cairo_stroke(cairo);
}

/* --- markers -------------------------------------------------------------------------------- */

/* Marker shapes of about equal weight, by position of the series in the panel. */
static void marker_path(cairo_t* cairo, int shape, double x, double y) {
  static const struct {
    int corners;  /* 0: a circle */
    double start; /* first corner, in revolutions clockwise from the top */
    double reach; /* relative to a circle */
  } shapes[] = {{0, 0.0, 1.0},  {4, 0.125, 1.27}, {3, 0.0, 1.45}, {4, 0.0, 1.4},
                {3, 0.5, 1.45}, {6, 0.0, 1.15},   {5, 0.0, 1.2},  {4, 0.0625, 1.3}};
  const double turn = 6.283185307179586;
  int k = shape % (int)(sizeof shapes / sizeof shapes[0]);
  double reach = MARKER * shapes[k].reach;
  cairo_new_sub_path(cairo);
  if (shapes[k].corners == 0) {
    cairo_arc(cairo, x, y, reach, 0.0, turn);
  }
  for (int i = 0; i < shapes[k].corners; i++) {
    double angle = turn * (shapes[k].start - 0.25 + (double)i / shapes[k].corners);
    cairo_line_to(cairo, x + reach * cos(angle), y + reach * sin(angle));
  }
  cairo_close_path(cairo);
}

/* A white rim keeps markers apart where series cross. */
static void draw_marker(cairo_t* cairo, int shape, double x, double y, series_rgb colour) {
  marker_path(cairo, shape, x, y);
  set_colour(cairo, (series_rgb){1.0, 1.0, 1.0}, 1.0);
  set_pen(cairo, 1.2, false);
  cairo_stroke_preserve(cairo);
  set_colour(cairo, colour, 1.0);
  cairo_fill(cairo);
}

static void draw_markers(cairo_t* cairo, const saltusi_plot_series* series,
                         const saltusi_panel_view* view, int shape, series_rgb colour) {
  double column = series->count > MARKERS_MAX ? 2.0 : 0.0;
  saltusi_trace trace = saltusi_trace_begin(series, view, column);
  saltusi_point p;
  while (saltusi_trace_next(&trace, &p)) {
    draw_marker(cairo, shape, p.x, p.y, colour);
  }
}

/* All points are drawn: density is preserved. */
static void draw_dots(cairo_t* cairo, const saltusi_plot_series* series,
                      const saltusi_panel_view* view) {
  static const double radius = 0.55; /* points */
  for (int i = 0; i < series->count; i++) {
    if (!saltusi_axis_shows(view->x.log, series->x[i]) ||
        !saltusi_axis_shows(view->y.log, series->y[i])) {
      continue;
    }
    const double x = saltusi_view_x(view, series->x[i]), y = saltusi_view_y(view, series->y[i]);
    cairo_rectangle(cairo, x - radius, y - radius, 2.0 * radius, 2.0 * radius);
  }
  cairo_fill(cairo);
}

/* --- all kinds ------------------------------------------------------------------------------ */

void saltusi_series_draw(cairo_t* cairo, const saltusi_panel* panel, int i,
                         const saltusi_panel_view* view) {
  assert(panel != NULL);
  const saltusi_plot_series* series = &panel->series[i];
  series_rgb colour = colour_of(panel, i);
  saltusi_series_kind kind = series->kind;
  saltusi_trace trace = saltusi_trace_begin(series, view, column_for(series, view));

  set_pen(cairo, HAIR, false);
  if (kind == SALTUSI_SERIES_JUMPS || kind == SALTUSI_SERIES_STEPS) {
    set_colour(cairo, colour, FADED);
    draw_jumps(cairo, trace);
  }
  if (kind == SALTUSI_SERIES_AREA) {
    set_colour(cairo, colour, WASH);
    draw_area(cairo, trace);
  }
  set_colour(cairo, colour, 1.0);
  if (kind == SALTUSI_SERIES_STEMS) {
    draw_stems(cairo, trace);
  } else if (kind == SALTUSI_SERIES_DOTS) {
    draw_dots(cairo, series, view);
  } else if (kind != SALTUSI_SERIES_POINTS) {
    set_pen(cairo, kind == SALTUSI_SERIES_MARKERS ? THIN : THICK, series->dashed);
    draw_curve(cairo, trace, series->dashed);
    draw_specks(cairo, trace);
  }
  if (kind == SALTUSI_SERIES_MARKERS || kind == SALTUSI_SERIES_POINTS) {
    draw_markers(cairo, series, view, i, colour);
  }
}

void saltusi_series_sample(cairo_t* cairo, const saltusi_panel* panel, int i, double x, double y,
                           double width) {
  assert(panel != NULL);
  const saltusi_plot_series* series = &panel->series[i];
  series_rgb colour = colour_of(panel, i);
  saltusi_series_kind kind = series->kind;
  bool marked = kind == SALTUSI_SERIES_MARKERS || kind == SALTUSI_SERIES_POINTS ||
                kind == SALTUSI_SERIES_DOTS;
  if (kind == SALTUSI_SERIES_AREA) {
    set_colour(cairo, colour, WASH);
    cairo_rectangle(cairo, x, y, width, 3.0);
    cairo_fill(cairo);
  }
  set_colour(cairo, colour, 1.0);
  if (kind == SALTUSI_SERIES_STEMS) {
    set_pen(cairo, THIN, false);
    cairo_move_to(cairo, x + 0.5 * width, y + 3.5);
    cairo_line_to(cairo, x + 0.5 * width, y - 2.5);
    cairo_stroke(cairo);
    set_pen(cairo, DOT, false);
    cairo_move_to(cairo, x + 0.5 * width, y - 2.5);
    cairo_line_to(cairo, x + 0.5 * width, y - 2.5);
    cairo_stroke(cairo);
  } else if (kind != SALTUSI_SERIES_POINTS && kind != SALTUSI_SERIES_DOTS) {
    set_pen(cairo, marked ? THIN : THICK, series->dashed);
    cairo_move_to(cairo, x, y);
    cairo_line_to(cairo, x + width, y);
    cairo_stroke(cairo);
  }
  if (marked) {
    draw_marker(cairo, i, x + 0.5 * width, y, colour);
  }
}
