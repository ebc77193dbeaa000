/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sketch_draw.c - a sketch on paper: one scale for both directions, symbols, labels, a bar for the scale
 * and the directions of axes and gravity below.
 *
 * Candidate positions of a label have several distances and directions from its point. Of those on the paper without
 * overlap of other labels, the one of least cost is taken: distance, plus covered lines and symbols.
 */
#include "base/log.h"
#include "base/number.h"
#include "figure/canvas.h"
#include "figure/layout.h"
#include "figure/sketch.h"
#include "figure/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MM = 72.0 / 25.4;                          /* points */
static const double WIDTH = 160.0, MARGIN = 14.0;              /* mm */
static const double HEIGHT_LEAST = 50.0, HEIGHT_MOST = 170.0;  /* mm, of the drawing */
static const double FOOT = 17.0;                               /* mm, for axes and scale */
static const double BODY_RADIUS = 1.9;                         /* mm, of rounded outlines */
static const double LINE_WIDTH = 0.7, THIN = 0.5, THICK = 1.8; /* points */
static const double ZIGZAG_HEIGHT = 1.6;                       /* mm */
enum { LABELS_MOST = 300 };                                    /* more would be unreadable */

typedef struct box {
  double left, top, right, bottom; /* points */
} box;

typedef struct paper {
  const saltusi_sketch* sketch;
  double scale;  /* points per m */
  double x0, y0; /* of the origin, points */
  double width, height, head;
  box drawing;
} paper;

typedef struct sketch_draw_rgb {
  double r, g, b;
} sketch_draw_rgb;

static sketch_draw_rgb colour_of(int colour, double white) {
  static const int palette[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xb07000, 0x3a8fc0};
  const int n = (int)(sizeof palette / sizeof palette[0]);
  const int code = colour < 0 ? 0x707070 : palette[colour % n];
  const double c[3] = {(code >> 16 & 255) / 255.0, (code >> 8 & 255) / 255.0, (code & 255) / 255.0};
  return (sketch_draw_rgb){c[0] + white * (1.0 - c[0]), c[1] + white * (1.0 - c[1]),
                           c[2] + white * (1.0 - c[2])};
}

static void set(cairo_t* cairo, sketch_draw_rgb c) {
  cairo_set_source_rgb(cairo, c.r, c.g, c.b);
}

static void to_paper(const paper* p, const saltusi_sketch_path* path, int i, double out[2]) {
  const double* point = p->sketch->points + path->first + 2 * (size_t)i;
  if (path->symbol) {
    out[0] = p->x0 + p->scale * path->at[0] + MM * point[0];
    out[1] = p->y0 - p->scale * path->at[1] - MM * point[1];
  } else {
    out[0] = p->x0 + p->scale * point[0];
    out[1] = p->y0 - p->scale * point[1];
  }
}

/* ---- paths ---- */

static void trace(cairo_t* cairo, const paper* p, const saltusi_sketch_path* path, bool closed) {
  double x[2];
  cairo_new_path(cairo);
  for (int i = 0; i < path->count; i++) {
    to_paper(p, path, i, x);
    if (i == 0) {
      cairo_move_to(cairo, x[0], x[1]);
    }
    cairo_line_to(cairo, x[0], x[1]);
  }
  if (closed) {
    cairo_close_path(cairo);
  }
}

static void stroke(cairo_t* cairo, double width, bool dashed) {
  const double dashes[2] = {4.0, 2.5};
  cairo_set_line_width(cairo, width);
  cairo_set_dash(cairo, dashes, dashed ? 2 : 0, 0.0);
  cairo_stroke(cairo);
  cairo_set_dash(cairo, NULL, 0, 0.0);
}

static void draw_body(cairo_t* cairo, const paper* p, const saltusi_sketch_path* path) {
  const double fat = 2.0 * BODY_RADIUS * MM;
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
  set(cairo, colour_of(path->colour, path->dashed ? 0.55 : 0.0));
  trace(cairo, p, path, true);
  stroke(cairo, fat + 2.0 * LINE_WIDTH, false);
  set(cairo, colour_of(path->colour, 0.82));
  trace(cairo, p, path, true);
  cairo_fill_preserve(cairo);
  stroke(cairo, fat, false);
}

static void draw_shape(cairo_t* cairo, const paper* p, const saltusi_sketch_path* path) {
  const bool face = path->style == SALTUSI_SKETCH_FACE;
  trace(cairo, p, path, face);
  if (face) {
    set(cairo, colour_of(path->colour, 0.82));
    cairo_fill_preserve(cairo);
  }
  set(cairo, colour_of(path->colour, path->dashed ? 0.55 : 0.0));
  stroke(cairo, face ? LINE_WIDTH : THIN, false);
}

/* A spring: straight ends, and windings whose number follows the length. */
static void draw_zigzag(cairo_t* cairo, const paper* p, const saltusi_sketch_path* path) {
  double a[2], b[2];
  to_paper(p, path, 0, a);
  to_paper(p, path, path->count - 1, b);
  const double length = hypot(b[0] - a[0], b[1] - a[1]);
  const double high = ZIGZAG_HEIGHT * MM, end = fmin(0.15 * length, 4.0 * MM);
  if (length < 0.5 * MM) {
    return;
  }
  const double u[2] = {(b[0] - a[0]) / length, (b[1] - a[1]) / length};
  const int turns = (int)fmin(fmax(floor((length - 2.0 * end) / (1.5 * MM)), 4.0), 24.0);
  cairo_move_to(cairo, a[0], a[1]);
  cairo_line_to(cairo, a[0] + end * u[0], a[1] + end * u[1]);
  for (int i = 0; i < turns; i++) {
    const double s = end + (i + 0.5) * (length - 2.0 * end) / turns;
    const double side = i % 2 == 0 ? high : -high;
    cairo_line_to(cairo, a[0] + s * u[0] - side * u[1], a[1] + s * u[1] + side * u[0]);
  }
  cairo_line_to(cairo, b[0] - end * u[0], b[1] - end * u[1]);
  cairo_line_to(cairo, b[0], b[1]);
  stroke(cairo, LINE_WIDTH, false);
}

static void draw_path(cairo_t* cairo, const paper* p, const saltusi_sketch_path* path) {
  const sketch_draw_rgb black = {0.1, 0.1, 0.1}, white = {1.0, 1.0, 1.0};
  if (path->style == SALTUSI_SKETCH_BODY) {
    draw_body(cairo, p, path);
    return;
  }
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
  if (path->style == SALTUSI_SKETCH_FACE || path->style == SALTUSI_SKETCH_EDGE) {
    draw_shape(cairo, p, path);
    return;
  }
  set(cairo, black);
  if (path->style == SALTUSI_SKETCH_ZIGZAG) {
    draw_zigzag(cairo, p, path);
    return;
  }
  const bool closed = path->style == SALTUSI_SKETCH_AREA || path->style == SALTUSI_SKETCH_SOLID;
  trace(cairo, p, path, closed);
  if (closed) {
    set(cairo, path->style == SALTUSI_SKETCH_AREA ? white : black);
    cairo_fill_preserve(cairo);
    set(cairo, black);
  }
  const bool axis = path->style == SALTUSI_SKETCH_AXIS;
  stroke(cairo, axis ? THIN : path->style == SALTUSI_SKETCH_ROD ? THICK : LINE_WIDTH, axis);
}

/* ---- labels ---- */

static bool overlap(box a, box b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/* Whether a segment passes through a box: clipped against its four sides. */
static bool crosses(box b, const double x[2], const double y[2]) {
  const double d[2] = {y[0] - x[0], y[1] - x[1]};
  const double lower[2] = {b.left, b.top}, upper[2] = {b.right, b.bottom};
  double from = 0.0, to = 1.0;
  for (int k = 0; k < 2; k++) {
    if (d[k] == 0.0) {
      if (x[k] < lower[k] || x[k] > upper[k]) {
        return false;
      }
      continue;
    }
    const double s = (lower[k] - x[k]) / d[k], e = (upper[k] - x[k]) / d[k];
    from = fmax(from, fmin(s, e));
    to = fmin(to, fmax(s, e));
  }
  return from < to;
}

/* Costs of covering, in mm of distance: a symbol costs more than the edge of a body. */
static double cost_of(const saltusi_sketch_path* path) {
  return path->style == SALTUSI_SKETCH_FACE || path->style == SALTUSI_SKETCH_EDGE ? 3.0
         : path->style == SALTUSI_SKETCH_BODY                                     ? 6.0
         : path->symbol                                                           ? 12.0
                                                                                  : 8.0;
}

/* Extent of a path around its points, mm. */
static double reach_of(const saltusi_sketch_path* path) {
  return path->style == SALTUSI_SKETCH_BODY     ? BODY_RADIUS + 0.2
         : path->style == SALTUSI_SKETCH_ZIGZAG ? ZIGZAG_HEIGHT
                                                : 0.3;
}

/* Area covered by a label in a box. */
static double covered(const paper* p, box b) {
  double cost = 0.0;
  for (int k = 0; k < p->sketch->path_count; k++) {
    const saltusi_sketch_path* path = &p->sketch->paths[k];
    const double far = reach_of(path) * MM;
    const box around = {b.left - far, b.top - far, b.right + far, b.bottom + far};
    double x[2], y[2];
    to_paper(p, path, path->count - 1, x);
    for (int i = 0; i < path->count; i++) {
      to_paper(p, path, i, y);
      if (crosses(around, x, y)) {
        cost += cost_of(path);
        break;
      }
      x[0] = y[0];
      x[1] = y[1];
    }
  }
  return cost;
}

/* End of a leader at its label. */
static void leader_end(const double at[2], box b, double end[2]) {
  end[0] = fmin(fmax(at[0], b.left), b.right);
  end[1] = fmin(fmax(at[1], b.top), b.bottom);
}

typedef struct placed_label {
  box box;
  double at[2];
} placed_label;

/* Number of leaders that would cross labels, and of labels that would cover leaders. */
static double tangled(const double at[2], box b, const placed_label* placed, int count) {
  double cost = 0.0, end[2], other[2];
  leader_end(at, b, end);
  for (int i = 0; i < count; i++) {
    leader_end(placed[i].at, placed[i].box, other);
    cost += crosses(placed[i].box, at, end) ? 20.0 : 0.0;
    cost += crosses(b, placed[i].at, other) ? 20.0 : 0.0;
  }
  return cost;
}

static box place_at(const double at[2], double width, double height, double far, int direction) {
  const double angle = 0.25 * 3.14159265358979323846 * direction;
  const double x = at[0] + far * cos(angle), y = at[1] - far * sin(angle);
  const double part[3] = {1.0, 0.5, 0.0}; /* fraction of the width left of x, by the sign of cos */
  const int side = direction % 4 == 2 ? 1 : direction < 2 || direction > 6 ? 2 : 0;
  const double left = x - part[side] * width;
  return (box){left, y - 0.5 * height, left + width, y + 0.5 * height};
}

static bool is_free(const paper* p, box b, const placed_label* placed, int count) {
  if (b.left < 2.0 * MM || b.right > p->width - 2.0 * MM || b.top < p->drawing.top ||
      b.bottom > p->drawing.bottom) {
    return false;
  }
  for (int i = 0; i < count; i++) {
    if (overlap(b, placed[i].box)) {
      return false;
    }
  }
  return true;
}

/* The best position of a label; false: none. */
static bool find_place(const paper* p, const double at[2], double width, const placed_label* placed,
                       int count, box* best) {
  static const double distances[] = {3.2, 5.0, 7.5, 11.0, 16.0, 23.0, 32.0, 44.0};
  const double height = saltusi_text_leading(SALTUSI_SIZE_TICK);
  double least = INFINITY;
  for (size_t k = 0; k < sizeof distances / sizeof distances[0]; k++) {
    for (int direction = 0; direction < 8; direction++) {
      const double far = distances[k] * MM;
      const box b = place_at(at, width, height, far, direction);
      const double cost = is_free(p, b, placed, count)
                              ? distances[k] + covered(p, b) + tangled(at, b, placed, count)
                              : INFINITY;
      if (cost < least) {
        least = cost;
        *best = b;
      }
    }
  }
  return isfinite(least);
}

/* A thin line from the point to a distant label. */
static void draw_leader(cairo_t* cairo, const double at[2], box b) {
  double end[2];
  leader_end(at, b, end);
  const double x = end[0], y = end[1], far = hypot(x - at[0], y - at[1]);
  if (far > 4.5 * MM) {
    cairo_move_to(cairo, at[0] + 2.2 * MM * (x - at[0]) / far,
                  at[1] + 2.2 * MM * (y - at[1]) / far);
    cairo_line_to(cairo, x, y);
    set(cairo, (sketch_draw_rgb){0.6, 0.6, 0.6});
    stroke(cairo, THIN, false);
  }
}

static void draw_label(cairo_t* cairo, const saltusi_sketch_label* label, const double at[2],
                       box b) {
  draw_leader(cairo, at, b);
  set(cairo, (sketch_draw_rgb){1.0, 1.0, 1.0});
  cairo_rectangle(cairo, b.left, b.top, b.right - b.left, b.bottom - b.top);
  cairo_fill(cairo);
  const double baseline = 0.5 * (b.top + b.bottom) + 0.5 * saltusi_text_capital(SALTUSI_SIZE_TICK);
  const saltusi_text_style style = {.size = SALTUSI_SIZE_TICK, .bold = label->colour >= 0};
  saltusi_text_draw(cairo, b.left + 0.3 * MM, baseline, label->text, style);
}

/* Places the labels in order, draws them if requested, and returns their number. */
static int place_labels(cairo_t* cairo, const paper* p, bool draw,
                        placed_label placed[LABELS_MOST]) {
  int count = 0;
  for (int i = 0; i < p->sketch->label_count; i++) {
    const saltusi_sketch_label* label = &p->sketch->labels[i];
    const double at[2] = {p->x0 + p->scale * label->at[0], p->y0 - p->scale * label->at[1]};
    const double width =
        saltusi_text_width(cairo, label->text, SALTUSI_SIZE_TICK, label->colour >= 0) + 0.6 * MM;
    if (count == LABELS_MOST || !find_place(p, at, width, placed, count, &placed[count].box)) {
      continue;
    }
    if (draw) {
      draw_label(cairo, label, at, placed[count].box);
    }
    memcpy(placed[count].at, at, sizeof at);
    count++;
  }
  return count;
}

/* ---- around it ---- */

static void draw_arrow(cairo_t* cairo, double x, double y, double dx, double dy) {
  const double length = hypot(dx, dy);
  if (length < 1.0) {
    return;
  }
  const double u[2] = {dx / length, dy / length};
  const double head = 1.6 * MM, half = 0.6 * MM;
  cairo_move_to(cairo, x, y);
  cairo_line_to(cairo, x + dx - 0.8 * head * u[0], y + dy - 0.8 * head * u[1]);
  stroke(cairo, LINE_WIDTH, false);
  cairo_move_to(cairo, x + dx, y + dy);
  cairo_line_to(cairo, x + dx - head * u[0] - half * u[1], y + dy - head * u[1] + half * u[0]);
  cairo_line_to(cairo, x + dx - head * u[0] + half * u[1], y + dy - head * u[1] - half * u[0]);
  cairo_close_path(cairo);
  cairo_fill(cairo);
}

static void draw_axes(cairo_t* cairo, const paper* p) {
  const double x = MARGIN * MM, y = p->height - 6.0 * MM, length = 8.0 * MM;
  const saltusi_text_style style = {.size = SALTUSI_SIZE_TICK, .align = 0.5};
  cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
  for (int k = 0; k < p->sketch->axis_count; k++) {
    const double* way = p->sketch->axes[k].way;
    const double size = hypot(way[0], way[1]);
    draw_arrow(cairo, x, y, length * way[0], -length * way[1]);
    if (size > 0.05) {
      const double far = length + 2.2 * MM / size;
      saltusi_text_draw(cairo, x + far * way[0],
                        y - far * way[1] + 0.5 * saltusi_text_capital(style.size),
                        p->sketch->axes[k].name, style);
    }
  }
  const double* g = p->sketch->gravity;
  const double size = hypot(g[0], g[1]);
  if (size > 0.0) {
    const double gx = x + 26.0 * MM, gy = y - 0.5 * length;
    cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
    draw_arrow(cairo, gx - 0.5 * length * g[0] / size, gy + 0.5 * length * g[1] / size,
               length * g[0] / size, -length * g[1] / size);
    saltusi_text_draw(cairo, gx + 2.5 * MM, gy + 0.5 * saltusi_text_capital(style.size), "g",
                      (saltusi_text_style){.size = SALTUSI_SIZE_TICK});
  }
}

/* A bar of 1, 2 or 5 times a power of ten m, at most a third of the width. */
static void draw_scale(cairo_t* cairo, const paper* p) {
  const double most = p->width / 3.0 / p->scale;
  double length = pow(10.0, floor(log10(most)));
  length *= length * 5.0 <= most ? 5.0 : length * 2.0 <= most ? 2.0 : 1.0;
  const double right = p->width - MARGIN * MM, y = p->height - 6.0 * MM;
  const double left = right - length * p->scale;
  const double tick = 0.9 * MM;
  cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
  cairo_move_to(cairo, left, y - tick);
  cairo_line_to(cairo, left, y);
  cairo_line_to(cairo, right, y);
  cairo_line_to(cairo, right, y - tick);
  stroke(cairo, LINE_WIDTH, false);
  char text[32];
  saltusi_print(text, sizeof text, "%g m", length);
  const saltusi_text_style style = {.size = SALTUSI_SIZE_TICK, .align = 0.5};
  saltusi_text_draw(cairo, 0.5 * (left + right), y - 1.2 * MM, text, style);
}

static void draw_head(cairo_t* cairo, const paper* p, int left_out) {
  const double x = 5.0 * MM, room = p->width - 10.0 * MM;
  double y = 5.0 * MM + saltusi_text_capital(SALTUSI_SIZE_TITLE);
  char text[512];
  if (p->sketch->title != NULL) {
    const saltusi_text_style title = {.size = SALTUSI_SIZE_TITLE, .bold = true, .room = room};
    saltusi_text_draw(cairo, x, y, p->sketch->title, title);
    y += saltusi_text_leading(SALTUSI_SIZE_TITLE);
  }
  const char* subtitle = p->sketch->subtitle != NULL ? p->sketch->subtitle : "";
  snprintf(text, sizeof text, "%s", subtitle);
  if (left_out > 0) {
    snprintf(text, sizeof text, "%s%s%d labels did not fit", subtitle,
             subtitle[0] != '\0' ? "; " : "", left_out);
  }
  const saltusi_text_style style = {.size = SALTUSI_SIZE_SUBTITLE, .grey = 0.35, .room = room};
  saltusi_text_draw(cairo, x, y, text, style);
}

static void draw_all(cairo_t* cairo, const void* what) {
  const paper* p = what;
  cairo_set_source_rgb(cairo, 1.0, 1.0, 1.0);
  cairo_paint(cairo);
  for (int k = 0; k < p->sketch->path_count; k++) {
    draw_path(cairo, p, &p->sketch->paths[k]);
  }
  draw_axes(cairo, p);
  draw_scale(cairo, p);
  placed_label placed[LABELS_MOST];
  draw_head(cairo, p, p->sketch->label_count - place_labels(cairo, p, true, placed));
}

/* Extent of the contents of the sketch, m. */
static box extent_of(const saltusi_sketch* s) {
  box e = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < s->path_count; k++) {
    const saltusi_sketch_path* path = &s->paths[k];
    const int count = path->symbol ? 1 : path->count;
    for (int i = 0; i < count; i++) {
      const double* x = path->symbol ? path->at : s->points + path->first + 2 * (size_t)i;
      e = (box){fmin(e.left, x[0]), fmin(e.top, x[1]), fmax(e.right, x[0]), fmax(e.bottom, x[1])};
    }
  }
  return e;
}

static paper lay_out(const saltusi_sketch* s) {
  box e = extent_of(s);
  if (!(isfinite(e.left) && isfinite(e.right) && isfinite(e.top) && isfinite(e.bottom))) {
    e = (box){-0.5, -0.5, 0.5, 0.5};
  }
  double wide = e.right - e.left, high = e.bottom - e.top;
  if (fmax(wide, high) <= 1e-9 * fmax(fabs(e.left) + fabs(e.right), fabs(e.top) + fabs(e.bottom))) {
    wide = high = 1.0; /* a point: any scale serves */
  }
  paper p = {.sketch = s, .width = WIDTH * MM, .head = 16.0 * MM};
  const double room = (WIDTH - 2.0 * MARGIN) * MM;
  const double most = (HEIGHT_MOST - 2.0 * MARGIN) * MM;
  p.scale = fmin(room / fmax(wide, 1e-300), most / fmax(high, 1e-300));
  const double drawn = fmax(high * p.scale + 2.0 * MARGIN * MM, HEIGHT_LEAST * MM);
  p.height = p.head + drawn + FOOT * MM;
  p.x0 = 0.5 * p.width - 0.5 * p.scale * (e.left + e.right);
  p.y0 = p.head + 0.5 * drawn + 0.5 * p.scale * (e.top + e.bottom);
  p.drawing = (box){0.0, p.head, p.width, p.head + drawn};
  return p;
}

int saltusi_sketch_label_boxes(const saltusi_sketch* sketch, double (*boxes)[4], int room) {
  assert(sketch != NULL && boxes != NULL && room >= 0);
  const paper p = lay_out(sketch);
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t* cairo = cairo_create(surface);
  saltusi_text_setup(cairo);
  placed_label placed[LABELS_MOST];
  const int count = place_labels(cairo, &p, false, placed);
  for (int i = 0; i < count && i < room; i++) {
    const box b = placed[i].box;
    const double one[4] = {b.left, b.top, b.right, b.bottom};
    memcpy(boxes[i], one, sizeof one);
  }
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
  return count;
}

saltus_status saltusi_sketch_write(const saltusi_sketch* sketch, const char* path, saltus_log log) {
  assert(sketch != NULL && path != NULL);
  if (sketch->failed) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "sketch \"%s\": no memory", path);
    return SALTUS_ERR_MEMORY;
  }
  const paper p = lay_out(sketch);
  const saltusi_canvas canvas = {
      .title = sketch->title, .width = p.width, .height = p.height, .what = &p, .draw = draw_all};
  return saltusi_canvas_write(&canvas, path, log);
}
