/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * slope.c - in a log-log panel y ~ x^p is a straight line of gradient
 *
 *   g = - p (height / ln(y_high / y_low)) / (width / ln(x_high / x_low))
 *
 * on the page, whose y points down. A coarse grid of occupied cells gives free space for triangles and labels.
 */
#include "figure/slope.h"

#include "base/number.h"
#include "figure/series.h"
#include "figure/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { COLUMNS = 80, ROWS = 60, LABEL_BYTES = 64 };

static const double BELOW = 9.0; /* points between a series and its line */
static const double GREY = 0.35;

typedef struct map {
  const saltusi_panel_view* view;
  bool taken[ROWS][COLUMNS];
} map;

typedef struct line {
  double gradient, intercept; /* page y = intercept + gradient * page x */
  double from, to;            /* page x inside the panel; from > to: outside */
} line;

/* --- layout --------------------------------------------------------------------------------- */

/* The cell at a point of the page, NULL outside the panel. */
static bool* cell_at(map* m, double x, double y) {
  double column = (x - m->view->left) / m->view->width * COLUMNS;
  double row = (y - m->view->top) / m->view->height * ROWS;
  if (!(column >= 0.0 && column < COLUMNS && row >= 0.0 && row < ROWS)) {
    return NULL;
  }
  return &m->taken[(int)row][(int)column];
}

static void take_segment(map* m, saltusi_point a, saltusi_point b) {
  double reach = hypot(b.x - a.x, b.y - a.y);
  int steps = (int)fmin(1.0 + reach / 2.0, 2000.0);
  for (int k = 0; k <= steps; k++) {
    double t = (double)k / steps;
    bool* cell = cell_at(m, a.x + t * (b.x - a.x), a.y + t * (b.y - a.y));
    if (cell != NULL) {
      *cell = true;
    }
  }
}

static void take_series(map* m, const saltusi_panel* panel) {
  for (int i = 0; i < panel->series_count; i++) {
    saltusi_trace trace = saltusi_trace_begin(&panel->series[i], m->view, 1.0);
    saltusi_point p;
    saltusi_point before = {0};
    while (saltusi_trace_next(&trace, &p)) {
      take_segment(m, p.start ? p : before, p);
      before = p;
    }
  }
}

/* Occupied or outside part of a box, given by its lower left corner and rotation angle. */
static int crowding(map* m, saltusi_point corner, double width, double height, double angle) {
  int crowd = 0;
  double c = cos(angle);
  double s = sin(angle);
  for (int i = 0; i <= 16; i++) {
    for (int j = 0; j <= 8; j++) {
      double along = width * i / 16.0;
      double up = height * j / 8.0;
      bool* cell = cell_at(m, corner.x + along * c - up * s, corner.y - along * s - up * c);
      crowd += cell == NULL ? 1000 : *cell ? 1 : 0;
    }
  }
  return crowd;
}

/* --- lines ---------------------------------------------------------------------------------- */

static double page_gradient(const saltusi_panel_view* view, double order) {
  double across = view->width / log(view->x.high / view->x.low);
  double up = view->height / log(view->y.high / view->y.low);
  return -order * up / across;
}

/* Least-squares gradient of a series on the page, its middle, and the lowest intercept of a line of gradient g through
 * a point of the series; false with fewer than two distinct x. */
static bool fit_series(const saltusi_plot_series* series, const saltusi_panel_view* view, double g,
                       double* gradient, saltusi_point* middle, double* intercept) {
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  saltusi_trace trace = saltusi_trace_begin(series, view, 1.0);
  saltusi_point p;
  *intercept = -HUGE_VAL;
  while (saltusi_trace_next(&trace, &p)) {
    double x = p.x - view->left; /* small numbers lose less in the sums */
    double y = p.y - view->top;
    n += 1.0;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    *intercept = fmax(*intercept, p.y - g * p.x);
  }
  double spread = n * sxx - sx * sx;
  if (n < 2.0 || spread < 1.0) {
    return false;
  }
  *gradient = (n * sxy - sx * sy) / spread;
  *middle = (saltusi_point){view->left + sx / n, view->top + sy / n, false};
  return true;
}

/* The line under the series with the slope nearest to g; without series, through the middle of the panel. Steep lines
 * differ little in gradient but much in angle, so angles are compared. */
static double place_under(const saltusi_panel* panel, const saltusi_panel_view* view, double g,
                          saltusi_point* middle) {
  double best = HUGE_VAL;
  *middle = (saltusi_point){view->left + 0.5 * view->width, view->top + 0.5 * view->height, false};
  double chosen = middle->y - g * middle->x;
  for (int i = 0; i < panel->series_count; i++) {
    double gradient, intercept;
    saltusi_point centre;
    if (fit_series(&panel->series[i], view, g, &gradient, &centre, &intercept) &&
        fabs(atan(gradient) - atan(g)) < best) {
      best = fabs(atan(gradient) - atan(g));
      chosen = intercept + BELOW * hypot(1.0, g);
      *middle = centre;
    }
  }
  return chosen;
}

/* Cuts the line at the edges of the panel. */
static void cut(line* l, const saltusi_panel_view* view) {
  l->from = view->left;
  l->to = view->left + view->width;
  if (l->gradient != 0.0) {
    double a = (view->top - l->intercept) / l->gradient;
    double b = (view->top + view->height - l->intercept) / l->gradient;
    l->from = fmax(l->from, fmin(a, b));
    l->to = fmin(l->to, fmax(a, b));
  }
}

static void order_text(const saltusi_slope* slope, const char* before, char text[LABEL_BYTES]) {
  if (slope->label != NULL) {
    snprintf(text, LABEL_BYTES, "%.60s", slope->label);
  } else {
    saltusi_print(text, LABEL_BYTES, "%s%.4g", before, fabs(slope->order));
  }
}

/* Label along the line, below it, at the position that covers least. */
static void label_line(cairo_t* cairo, map* m, const line* l, const char* text) {
  double width = saltusi_text_width(cairo, text, SALTUSI_SIZE_SMALL, false);
  double height = saltusi_text_capital(SALTUSI_SIZE_SMALL);
  double length = hypot(1.0, l->gradient); /* per point of x */
  double angle = -atan(l->gradient);
  saltusi_point best = {0};
  int least = 0;
  for (int k = 0; k <= 40; k++) {
    double x = l->from + (l->to - l->from) * k / 40.0;
    double down = height + 2.5;
    saltusi_point corner = {x - down * l->gradient / length,
                            l->intercept + l->gradient * x + down / length, false};
    int crowd = crowding(m, corner, width + 2.0, height, angle);
    if (k == 0 || crowd < least) {
      least = crowd;
      best = corner;
    }
  }
  saltusi_text_style style = {.size = SALTUSI_SIZE_SMALL, .grey = GREY, .angle = angle};
  saltusi_text_draw(cairo, best.x, best.y, text, style);
  for (int i = 0; i <= 1; i++) {
    double up = height * i;
    saltusi_point a = {best.x - up * sin(angle), best.y - up * cos(angle), true};
    saltusi_point b = {a.x + width * cos(angle), a.y - width * sin(angle), false};
    take_segment(m, a, b);
  }
}

static void draw_line(cairo_t* cairo, map* m, const saltusi_panel* panel,
                      const saltusi_slope* slope) {
  static const double dashes[] = {5.0, 3.0};
  const saltusi_panel_view* view = m->view;
  line l = {.gradient = page_gradient(view, slope->order)};
  saltusi_point middle;
  if (slope->x > 0.0 && slope->y > 0.0) {
    l.intercept = saltusi_view_y(view, slope->y) - l.gradient * saltusi_view_x(view, slope->x);
  } else {
    l.intercept = place_under(panel, view, l.gradient, &middle);
  }
  cut(&l, view);
  if (!(l.from < l.to)) {
    return;
  }
  saltusi_point a = {l.from, l.intercept + l.gradient * l.from, true};
  saltusi_point b = {l.to, l.intercept + l.gradient * l.to, false};
  cairo_set_source_rgb(cairo, 0.5, 0.5, 0.5);
  cairo_set_line_width(cairo, 0.8);
  cairo_set_dash(cairo, dashes, 2, 0.0);
  cairo_move_to(cairo, a.x, a.y);
  cairo_line_to(cairo, b.x, b.y);
  cairo_stroke(cairo);
  cairo_set_dash(cairo, NULL, 0, 0.0);

  char text[LABEL_BYTES];
  order_text(slope, "order ", text);
  take_segment(m, a, b);
  label_line(cairo, m, &l, text);
}

/* --- triangles ------------------------------------------------------------------------------ */

/* The free position of a box nearest to `request`; false: none. */
static bool find_room(map* m, double width, double height, saltusi_point request,
                      saltusi_point* corner) {
  const saltusi_panel_view* view = m->view;
  double best = HUGE_VAL;
  for (int i = 0; i < COLUMNS; i++) {
    for (int j = 0; j < ROWS; j++) {
      saltusi_point p = {view->left + view->width * i / COLUMNS,
                         view->top + view->height * (j + 1) / ROWS - 0.01, false};
      double far = hypot(p.x + 0.5 * width - request.x, p.y - 0.5 * height - request.y);
      if (far < best && crowding(m, p, width, height, 0.0) == 0) {
        best = far;
        *corner = p;
      }
    }
  }
  return best < HUGE_VAL;
}

static void draw_triangle(cairo_t* cairo, map* m, const saltusi_panel* panel,
                          const saltusi_slope* slope) {
  const saltusi_panel_view* view = m->view;
  const double border = 4.0;
  double g = page_gradient(view, slope->order);
  double base = fmin(0.13 * view->width, 0.3 * view->height / fmax(fabs(g), 1e-6));
  double rise = base * fabs(g);
  char text[LABEL_BYTES];
  order_text(slope, "", text);
  double text_width = saltusi_text_width(cairo, text, SALTUSI_SIZE_SMALL, false) + 3.0;
  double text_height = saltusi_text_capital(SALTUSI_SIZE_SMALL) + 3.0;

  saltusi_point middle;
  saltusi_point box;
  place_under(panel, view, g, &middle);
  double width = base + text_width + 2.0 * border;
  double height = rise + text_height + 2.0 * border;
  if (!find_room(m, width, height, middle, &box)) {
    return;
  }

  /* the right angle is at the bottom, on the side the hypotenuse rises to */
  bool rising = slope->order > 0.0;
  double left = box.x + border + (rising ? 0.0 : text_width);
  double bottom = box.y - border - text_height;
  double upright = rising ? left + base : left;
  cairo_set_source_rgb(cairo, GREY, GREY, GREY);
  cairo_set_line_width(cairo, 0.8);
  cairo_move_to(cairo, left, bottom);
  cairo_line_to(cairo, left + base, bottom);
  cairo_line_to(cairo, upright, bottom - rise);
  cairo_close_path(cairo);
  cairo_stroke(cairo);
  saltusi_text_style style = {.size = SALTUSI_SIZE_SMALL, .grey = GREY, .align = 0.5};
  saltusi_text_draw(cairo, left + 0.5 * base, bottom + text_height, "1", style);
  style.align = rising ? 0.0 : 1.0;
  saltusi_text_draw(cairo, upright + (rising ? 3.0 : -3.0),
                    bottom - 0.5 * rise + 0.5 * saltusi_text_capital(SALTUSI_SIZE_SMALL), text,
                    style);
  for (int i = 0; 2.0 * i <= height; i++) {
    double y = box.y - 2.0 * i;
    take_segment(m, (saltusi_point){box.x, y, true}, (saltusi_point){box.x + width, y, false});
  }
}

void saltusi_slopes_draw(cairo_t* cairo, const saltusi_panel* panel,
                         const saltusi_panel_view* view) {
  assert(panel != NULL && view != NULL);
  if (panel->slope_count <= 0 || !view->x.log || !view->y.log) {
    return;
  }
  map m = {.view = view};
  take_series(&m, panel);
  for (int i = 0; i < panel->slope_count; i++) {
    if (!panel->slopes[i].triangle) {
      draw_line(cairo, &m, panel, &panel->slopes[i]);
    }
  }
  for (int i = 0; i < panel->slope_count; i++) {
    if (panel->slopes[i].triangle) {
      draw_triangle(cairo, &m, panel, &panel->slopes[i]);
    }
  }
}
