/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mechanism_sketch.c - see mechanism_sketch.h. Symbols as in textbooks on mechanisms and in ISO 3952: a circle
 * is a revolute joint, a block on a guide a prismatic one, a square is rigid, a hatched triangle is the ground.
 *
 * The view in space is the parallel projection along azimuth -55 and elevation 25 degrees.
 */
#include "figure/mechanism_sketch.h"

#include "figure/shapes_sketch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double TURN_RADIUS = 1.3; /* mm, of revolute joints */
static const double CENTRE_RADIUS =
    2.0; /* mm: visible as a ring around a joint at the same point */

typedef struct view {
  saltusi_sketch* sketch;
  const saltus_mechanism* m;
  saltus_mechanism_size size;
  double t;
  const double* q;
  double right[3], up[3]; /* directions of the paper in the world */
} view;

/* A marker on paper. */
typedef struct spot {
  double at[2];     /* m */
  double way[3][2]; /* its axes, as projected */
  int body;         /* -1: the world */
  bool held;        /* fixed to the ground: the world, or a fixed body */
} spot;

static void project(const view* v, const double x[3], double out[2]) {
  out[0] = x[0] * v->right[0] + x[1] * v->right[1] + x[2] * v->right[2];
  out[1] = x[0] * v->up[0] + x[1] * v->up[1] + x[2] * v->up[2];
}

static view look(saltusi_sketch* sketch, const saltus_mechanism* m, double t, const double* q) {
  view v = {.sketch = sketch,
            .m = m,
            .size = saltus_mechanism_sizes(m),
            .t = t,
            .q = q,
            .right = {1.0, 0.0, 0.0},
            .up = {0.0, 1.0, 0.0}};
  if (v.size.dimension == 3) {
    const double azimuth = -55.0 * pi / 180.0, elevation = 25.0 * pi / 180.0;
    v.right[0] = -sin(azimuth);
    v.right[1] = cos(azimuth);
    v.up[0] = -sin(elevation) * cos(azimuth);
    v.up[1] = -sin(elevation) * sin(azimuth);
    v.up[2] = cos(elevation);
  }
  return v;
}

static spot spot_of(const view* v, int marker) {
  double x[3], axes[9];
  spot s = {.body = saltus_mechanism_marker(v->m, marker).body};
  saltus_mechanism_frame(v->m, marker, v->t, v->q, x, axes);
  project(v, x, s.at);
  for (int k = 0; k < 3; k++) {
    const double axis[3] = {axes[k], axes[3 + k], axes[6 + k]};
    project(v, axis, s.way[k]);
  }
  s.held = s.body < 0 || saltus_mechanism_body(v->m, s.body).kind == SALTUS_BODY_FIXED;
  return s;
}

static int colour_of(const view* v, int body) {
  return saltus_mechanism_body(v->m, body).kind == SALTUS_BODY_FIXED ? SALTUSI_SKETCH_GREY : body;
}

/* ---- parts of symbols, in mm around a point ---- */

static void symbol(const view* v, saltusi_sketch_style style, const double at[2],
                   const double* points, int count) {
  const saltusi_sketch_path path = {.style = style, .symbol = true, .at = {at[0], at[1]}};
  saltusi_sketch_draw(v->sketch, path, points, count);
}

static void segment(const view* v, saltusi_sketch_style style, const double at[2], double x0,
                    double y0, double x1, double y1) {
  const double points[4] = {x0, y0, x1, y1};
  symbol(v, style, at, points, 2);
}

static void circle(const view* v, saltusi_sketch_style style, const double at[2], double r) {
  enum { CORNERS = 24 };
  double points[2 * CORNERS];
  for (int i = 0; i < CORNERS; i++) {
    points[2 * i] = r * cos(2.0 * pi * i / CORNERS);
    points[2 * i + 1] = r * sin(2.0 * pi * i / CORNERS);
  }
  symbol(v, style, at, points, CORNERS);
}

/* A rectangle of 2 a along u and 2 b across. */
static void block(const view* v, saltusi_sketch_style style, const double at[2], const double u[2],
                  double a, double b) {
  const double points[8] = {a * u[0] - b * u[1],  a * u[1] + b * u[0],  -a * u[0] - b * u[1],
                            -a * u[1] + b * u[0], -a * u[0] + b * u[1], -a * u[1] - b * u[0],
                            a * u[0] + b * u[1],  a * u[1] - b * u[0]};
  symbol(v, style, at, points, 4);
}

/* A line of 2 a along u at the distance `off` across, hatched on its far side. */
static void ground(const view* v, const double at[2], const double u[2], double off, double a) {
  const double n[2] = {-u[1], u[0]};
  const double side = off < 0.0 ? -1.0 : 1.0;
  const double x = off * n[0], y = off * n[1];
  segment(v, SALTUSI_SKETCH_LINE, at, x - a * u[0], y - a * u[1], x + a * u[0], y + a * u[1]);
  const int strokes = (int)(a / 0.55);
  for (int i = 0; i <= strokes; i++) {
    const double s = a * (2.0 * i / strokes - 1.0);
    const double fx = x + s * u[0], fy = y + s * u[1];
    segment(v, SALTUSI_SKETCH_LINE, at, fx, fy, fx + side * 1.2 * n[0] - 0.8 * u[0],
            fy + side * 1.2 * n[1] - 0.8 * u[1]);
  }
}

/* The one of four directions on paper that leads away from a direction; down without one. */
static void away_from(const double way[2], double u[2]) {
  const bool level = fabs(way[0]) > 1.2 * fabs(way[1]);
  u[0] = level ? (way[0] > 0.0 ? -1.0 : 1.0) : 0.0;
  u[1] = level ? 0.0 : way[1] >= 0.0 ? -1.0 : 1.0;
}

/* A support under a point: a triangle on hatched ground. */
static void support(const view* v, const double at[2], const double way[2]) {
  double u[2];
  away_from(way, u);
  const double along[2] = {-u[1], u[0]};
  const double far = 4.6;
  const double triangle[6] = {0.0,
                              0.0,
                              far * u[0] + 2.3 * along[0],
                              far * u[1] + 2.3 * along[1],
                              far * u[0] - 2.3 * along[0],
                              far * u[1] - 2.3 * along[1]};
  symbol(v, SALTUSI_SKETCH_AREA, at, triangle, 3);
  ground(v, at, along, -far, 3.3);
}

/* An arrow head at (x, y) that points along u. */
static void arrow_head(const view* v, const double at[2], double x, double y, const double u[2]) {
  const double points[6] = {x + 0.9 * u[0],
                            y + 0.9 * u[1],
                            x - 0.5 * u[0] - 0.6 * u[1],
                            y - 0.5 * u[1] + 0.6 * u[0],
                            x - 0.5 * u[0] + 0.6 * u[1],
                            y - 0.5 * u[1] - 0.6 * u[0]};
  symbol(v, SALTUSI_SKETCH_SOLID, at, points, 3);
}

/* A driven angle: an arrow around the point. */
static void turning(const view* v, const double at[2]) {
  enum { POINTS = 16 };
  double points[2 * POINTS];
  const double r = 3.1, from = -0.3 * pi, to = 0.9 * pi;
  for (int i = 0; i < POINTS; i++) {
    const double angle = from + (to - from) * i / (POINTS - 1);
    points[2 * i] = r * cos(angle);
    points[2 * i + 1] = r * sin(angle);
  }
  const double u[2] = {-sin(to), cos(to)};
  symbol(v, SALTUSI_SKETCH_LINE, at, points, POINTS);
  arrow_head(v, at, points[2 * POINTS - 2], points[2 * POINTS - 1], u);
}

/* ---- bodies ---- */

static bool is_left(const double* a, const double* b, const double* c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0;
}

static void sort(double* points, int count) {
  for (int i = 1; i < count; i++) {
    const double x = points[2 * i], y = points[2 * i + 1];
    int k = i;
    for (; k > 0 && (points[2 * k - 2] > x || (points[2 * k - 2] == x && points[2 * k - 1] > y));
         k--) {
      points[2 * k] = points[2 * k - 2];
      points[2 * k + 1] = points[2 * k - 1];
    }
    points[2 * k] = x;
    points[2 * k + 1] = y;
  }
}

/* Convex hull of points, counterclockwise (Andrew's monotone chains); returns the number of corners. */
static int outline(double* points, int count, double* hull) {
  sort(points, count);
  int n = 0;
  for (int turn = 0; turn < 2; turn++) {
    const int first = n;
    for (int i = 0; i < count; i++) {
      const double* p = points + 2 * (size_t)(turn == 0 ? i : count - 1 - i);
      while (n >= first + 2 &&
             !is_left(hull + 2 * (size_t)(n - 2), hull + 2 * (size_t)(n - 1), p)) {
        n--;
      }
      hull[2 * n] = p[0];
      hull[2 * n + 1] = p[1];
      n++;
    }
    n--; /* the last point is the first of the other chain */
  }
  return n > 0 ? n : 1;
}

static void centre(const view* v, const double at[2], double r) {
  circle(v, SALTUSI_SKETCH_AREA, at, r);
  for (int quarter = 0; quarter < 2; quarter++) {
    enum { CORNERS = 7 };
    double points[2 * (CORNERS + 1)] = {0.0, 0.0};
    for (int i = 0; i < CORNERS; i++) {
      const double angle = pi * quarter + 0.5 * pi * i / (CORNERS - 1);
      points[2 * i + 2] = r * cos(angle);
      points[2 * i + 3] = r * sin(angle);
    }
    symbol(v, SALTUSI_SKETCH_SOLID, at, points, CORNERS + 1);
  }
}

static bool has_shapes(const view* v, int body) {
  for (int i = 0; i < v->size.shapes; i++) {
    if (saltus_mechanism_shape(v->m, i).body == body) {
      return true;
    }
  }
  return false;
}

/* Workspace for the outline of a body with all markers of the mechanism: points, then the hull. */
static void draw_body(const view* v, int body, double* room) {
  const saltus_body_place place = saltus_mechanism_body(v->m, body);
  double x[3], axes[9];
  int count = 1;
  saltus_mechanism_pose(v->m, body, v->t, v->q, x, axes);
  project(v, x, room);
  for (int i = 0; i < v->size.markers; i++) {
    if (saltus_mechanism_marker(v->m, i).body == body) {
      const spot s = spot_of(v, i);
      memcpy(room + 2 * (size_t)count++, s.at, sizeof s.at);
    }
  }
  if (count == 1 && has_shapes(v, body)) {
    return; /* its shapes are drawn instead */
  }
  double* hull = room + 2 * ((size_t)v->size.markers + 1);
  const saltusi_sketch_path path = {.style = SALTUSI_SKETCH_BODY,
                                    .colour = colour_of(v, body),
                                    .dashed = place.kind == SALTUS_BODY_DRIVEN};
  saltusi_sketch_draw(v->sketch, path, hull, outline(room, count, hull));
}

static void mark_body(const view* v, int body) {
  double x[3], axes[9], at[2];
  saltus_mechanism_pose(v->m, body, v->t, v->q, x, axes);
  project(v, x, at);
  if (saltus_mechanism_body(v->m, body).kind == SALTUS_BODY_FREE) {
    centre(v, at, has_shapes(v, body) ? 0.5 * CENTRE_RADIUS : CENTRE_RADIUS);
  }
  saltusi_sketch_name(v->sketch, saltus_mechanism_body(v->m, body).name, body, at);
}

/* ---- joints ---- */

/* Point and direction of a joint. */
typedef struct setting {
  saltus_joint_place place;
  spot a, b;
  double u[2];    /* of length 1: its axis on paper */
  double size;    /* projected length of the unit axis, 0 .. 1 */
  double away[2]; /* from the joint to the middle of the moving body */
} setting;

static void middle(const view* v, const setting* s, double way[2]) {
  const int body = s->a.held && !s->b.held ? s->b.body : s->a.body;
  way[0] = 0.0;
  way[1] = 1.0;
  if (body >= 0) {
    double x[3], axes[9];
    saltus_mechanism_pose(v->m, body, v->t, v->q, x, axes);
    project(v, x, way);
    way[0] -= s->b.at[0];
    way[1] -= s->b.at[1];
  }
}

static setting setting_of(const view* v, int joint) {
  setting s = {.place = saltus_mechanism_joint(v->m, joint)};
  s.a = spot_of(v, s.place.between[0]);
  s.b = spot_of(v, s.place.between[1]);
  const double* axis = s.a.way[v->size.dimension == 3 ? 2 : 0];
  s.size = hypot(axis[0], axis[1]);
  s.u[0] = s.size > 0.0 ? axis[0] / s.size : 1.0;
  s.u[1] = s.size > 0.0 ? axis[1] / s.size : 0.0;
  middle(v, &s, s.away);
  return s;
}

static bool on_ground(const setting* s) {
  return s->a.held != s->b.held;
}

/* The axis of a joint in space, projected. */
static void axis_line(const view* v, const setting* s, double half) {
  if (v->size.dimension == 3 && s->size > 0.2) {
    const double l = half * s->size;
    segment(v, SALTUSI_SKETCH_AXIS, s->b.at, -l * s->u[0], -l * s->u[1], l * s->u[0], l * s->u[1]);
  }
}

static void draw_turning(const view* v, const setting* s) {
  if (on_ground(s)) {
    support(v, s->b.at, s->away);
  }
  if (s->place.type == SALTUS_JOINT_REVOLUTE) {
    axis_line(v, s, 7.0);
  }
  circle(v, SALTUSI_SKETCH_AREA, s->b.at, TURN_RADIUS);
  if (s->place.type == SALTUS_JOINT_SPHERICAL) {
    circle(v, SALTUSI_SKETCH_SOLID, s->b.at, 0.7);
  }
  if (s->place.type == SALTUS_JOINT_UNIVERSAL) {
    segment(v, SALTUSI_SKETCH_LINE, s->b.at, -TURN_RADIUS, 0.0, TURN_RADIUS, 0.0);
    segment(v, SALTUSI_SKETCH_LINE, s->b.at, 0.0, -TURN_RADIUS, 0.0, TURN_RADIUS);
  }
}

/* A line from one point to another, m. */
static void between(const view* v, saltusi_sketch_style style, const double a[2],
                    const double b[2]) {
  const double points[4] = {a[0], a[1], b[0], b[1]};
  saltusi_sketch_draw(v->sketch, (saltusi_sketch_path){.style = style}, points, 2);
}

/* Guides on both sides; those of the ground are hatched on the side away from the body. */
static void rails(const view* v, const setting* s, double off, double half) {
  const double* u = s->u;
  const double across = u[0] * s->away[1] - u[1] * s->away[0];
  const bool beside = fabs(across) > 1e-6 * hypot(s->away[0], s->away[1]);
  const double side = (beside ? across : u[0]) > 0.0 ? -1.0 : 1.0; /* below if the body is on top */
  if (on_ground(s)) {
    ground(v, s->b.at, u, side * off, half);
  } else {
    segment(v, SALTUSI_SKETCH_LINE, s->b.at, -half * u[0] - side * off * u[1],
            -half * u[1] + side * off * u[0], half * u[0] - side * off * u[1],
            half * u[1] + side * off * u[0]);
  }
  segment(v, SALTUSI_SKETCH_LINE, s->b.at, -half * u[0] + side * off * u[1],
          -half * u[1] - side * off * u[0], half * u[0] + side * off * u[1],
          half * u[1] - side * off * u[0]);
}

static void draw_sliding(const view* v, const setting* s) {
  between(v, SALTUSI_SKETCH_AXIS, s->a.at, s->b.at);
  rails(v, s, 2.0, 6.5);
  block(v, SALTUSI_SKETCH_AREA, s->b.at, s->u, 2.8, 1.6);
  if (s->place.type == SALTUS_JOINT_CYLINDRICAL) {
    circle(v, SALTUSI_SKETCH_AREA, s->b.at, 1.0);
  }
  for (int i = 0; i < 4 && s->place.type == SALTUS_JOINT_SCREW; i++) { /* a thread */
    const double x = -2.1 + 1.4 * i;
    segment(v, SALTUSI_SKETCH_LINE, s->b.at, (x - 0.5) * s->u[0] + 1.6 * s->u[1],
            (x - 0.5) * s->u[1] - 1.6 * s->u[0], (x + 0.5) * s->u[0] - 1.6 * s->u[1],
            (x + 0.5) * s->u[1] + 1.6 * s->u[0]);
  }
}

static void draw_on_line(const view* v, const setting* s) {
  between(v, SALTUSI_SKETCH_AXIS, s->a.at, s->b.at);
  rails(v, s, 1.1, 6.5);
  circle(v, SALTUSI_SKETCH_AREA, s->b.at, 1.1);
}

static void draw_on_plane(const view* v, const setting* s) {
  double points[8];
  for (int i = 0; i < 4; i++) {
    const double x = i == 0 || i == 3 ? 4.0 : -4.0, y = i < 2 ? 4.0 : -4.0;
    points[2 * i] = x * s->a.way[0][0] + y * s->a.way[1][0];
    points[2 * i + 1] = x * s->a.way[0][1] + y * s->a.way[1][1];
  }
  symbol(v, SALTUSI_SKETCH_AREA, s->b.at, points, 4);
  if (s->place.type == SALTUS_JOINT_PLANAR) {
    const double level[2] = {1.0, 0.0};
    block(v, SALTUSI_SKETCH_AREA, s->b.at, level, 1.6, 1.0);
  } else {
    circle(v, SALTUSI_SKETCH_AREA, s->b.at, 0.9);
  }
}

static void draw_rigid(const view* v, const setting* s) {
  const double level[2] = {1.0, 0.0};
  if (on_ground(s)) {
    double u[2];
    away_from(s->away, u);
    const double along[2] = {-u[1], u[0]};
    ground(v, s->b.at, along, -1.6, 3.6);
  }
  block(v, SALTUSI_SKETCH_AREA, s->b.at, level, 1.6, 1.6);
  segment(v, SALTUSI_SKETCH_LINE, s->b.at, -1.6, -1.6, 1.6, 1.6);
  segment(v, SALTUSI_SKETCH_LINE, s->b.at, -1.6, 0.0, 0.0, 1.6);
  segment(v, SALTUSI_SKETCH_LINE, s->b.at, 0.0, -1.6, 1.6, 0.0);
}

static void end_of(const view* v, const spot* end, const spot* other) {
  if (end->held) {
    support(v, end->at, (const double[2]){other->at[0] - end->at[0], other->at[1] - end->at[1]});
  }
  circle(v, SALTUSI_SKETCH_AREA, end->at, 0.9);
}

static void draw_rod(const view* v, const setting* s) {
  between(v, SALTUSI_SKETCH_ROD, s->a.at, s->b.at);
  end_of(v, &s->a, &s->b);
  end_of(v, &s->b, &s->a);
}

/* A gear or rack: a line between the coupled joints. */
static void draw_coupling(const view* v, const saltus_joint_place* place) {
  const spot a = spot_of(v, saltus_mechanism_joint(v->m, place->between[0]).between[1]);
  const spot b = spot_of(v, saltus_mechanism_joint(v->m, place->between[1]).between[1]);
  between(v, SALTUSI_SKETCH_AXIS, a.at, b.at);
  const double at[2] = {0.5 * (a.at[0] + b.at[0]), 0.5 * (a.at[1] + b.at[1])};
  saltusi_sketch_name(v->sketch, place->name, SALTUSI_SKETCH_GREY, at);
}

static void draw_joint(const view* v, int joint) {
  const saltus_joint_place place = saltus_mechanism_joint(v->m, joint);
  if (place.type == SALTUS_JOINT_GEAR || place.type == SALTUS_JOINT_RACK_AND_PINION) {
    draw_coupling(v, &place);
    return;
  }
  static void (*const draw[])(const view*, const setting*) = {
      [SALTUS_JOINT_FIXED] = draw_rigid,
      [SALTUS_JOINT_REVOLUTE] = draw_turning,
      [SALTUS_JOINT_PRISMATIC] = draw_sliding,
      [SALTUS_JOINT_CYLINDRICAL] = draw_sliding,
      [SALTUS_JOINT_SPHERICAL] = draw_turning,
      [SALTUS_JOINT_UNIVERSAL] = draw_turning,
      [SALTUS_JOINT_PLANAR] = draw_on_plane,
      [SALTUS_JOINT_POINT_ON_LINE] = draw_on_line,
      [SALTUS_JOINT_POINT_IN_PLANE] = draw_on_plane,
      [SALTUS_JOINT_DISTANCE] = draw_rod,
      [SALTUS_JOINT_SCREW] = draw_sliding,
  };
  const setting s = setting_of(v, joint);
  draw[place.type](v, &s);
  if (place.driven[0] >= 0) {
    turning(v, s.b.at);
  }
  if (place.driven[1] >= 0) {
    segment(v, SALTUSI_SKETCH_LINE, s.b.at, 2.8 * s.u[0], 2.8 * s.u[1], 5.4 * s.u[0], 5.4 * s.u[1]);
    arrow_head(v, s.b.at, 5.4 * s.u[0], 5.4 * s.u[1], s.u);
  }
  const double at[2] = {0.5 * (s.a.at[0] + s.b.at[0]), 0.5 * (s.a.at[1] + s.b.at[1])};
  saltusi_sketch_name(v->sketch, place.name, SALTUSI_SKETCH_GREY,
                      place.type == SALTUS_JOINT_DISTANCE ? at : s.b.at);
}

/* ---- springs ---- */

static void draw_spring(const view* v, int spring) {
  const saltus_spring_place place = saltus_mechanism_spring(v->m, spring);
  const spot a = spot_of(v, place.between[0]), b = spot_of(v, place.between[1]);
  const double at[2] = {0.5 * (a.at[0] + b.at[0]), 0.5 * (a.at[1] + b.at[1])};
  if (place.type == SALTUS_SPRING_LINEAR) {
    between(v, SALTUSI_SKETCH_ZIGZAG, a.at, b.at);
    end_of(v, &a, &b);
    end_of(v, &b, &a);
  } else if (place.type == SALTUS_SPRING_TORSIONAL) {
    enum { POINTS = 40 };
    double points[2 * POINTS]; /* a spiral of two turns */
    for (int i = 0; i < POINTS; i++) {
      const double angle = 4.0 * pi * i / (POINTS - 1), r = 1.0 + 2.0 * i / (POINTS - 1);
      points[2 * i] = r * cos(angle);
      points[2 * i + 1] = r * sin(angle);
    }
    symbol(v, SALTUSI_SKETCH_LINE, at, points, POINTS);
  } else {
    const double level[2] = {1.0, 0.0};
    block(v, SALTUSI_SKETCH_AREA, at, level, 1.8, 1.8);
    segment(v, SALTUSI_SKETCH_LINE, at, -1.8, -1.8, 1.8, 1.8);
    segment(v, SALTUSI_SKETCH_LINE, at, -1.8, 1.8, 1.8, -1.8);
  }
  saltusi_sketch_name(v->sketch, place.name, SALTUSI_SKETCH_GREY, at);
}

static bool is_round(saltus_joint_type type) {
  return type == SALTUS_JOINT_REVOLUTE || type == SALTUS_JOINT_SPHERICAL ||
         type == SALTUS_JOINT_UNIVERSAL;
}

void saltusi_sketch_mechanism(saltusi_sketch* sketch, const saltus_mechanism* mechanism, double t,
                              const double* q) {
  assert(sketch != NULL && mechanism != NULL && q != NULL);
  const view v = look(sketch, mechanism, t, q);
  static const char* const names[3] = {"x", "y", "z"};
  sketch->axis_count = v.size.dimension;
  for (int k = 0; k < 3 && k < v.size.dimension; k++) {
    const double axis[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
    sketch->axes[k].name = names[k];
    project(&v, axis, sketch->axes[k].way);
  }
  project(&v, v.size.gravity, sketch->gravity);
  const size_t room = 6 * ((size_t)v.size.markers + 1) * sizeof(double);
  double* points = sketch->memory.alloc(room, sketch->memory.user);
  if (points == NULL) {
    sketch->failed = true;
    return;
  }
  double axes[2][3];
  memcpy(axes[0], v.right, sizeof v.right);
  memcpy(axes[1], v.up, sizeof v.up);
  saltusi_sketch_shapes(sketch, mechanism, t, q, (const double(*)[3])axes, false);
  for (int i = 0; i < v.size.bodies; i++) {
    draw_body(&v, i, points);
  }
  saltusi_sketch_shapes(sketch, mechanism, t, q, (const double(*)[3])axes, true);
  sketch->memory.free(points, room, sketch->memory.user);
  for (int i = 0; i < v.size.springs; i++) {
    draw_spring(&v, i);
  }
  for (int i = 0; i < v.size.joints; i++) {
    if (!is_round(saltus_mechanism_joint(mechanism, i).type)) {
      draw_joint(&v, i);
    }
  }
  for (int i = 0; i < v.size.bodies; i++) {
    mark_body(&v, i);
  }
  for (int i = 0; i < v.size.joints; i++) { /* revolute joints are drawn over prismatic ones */
    if (is_round(saltus_mechanism_joint(mechanism, i).type)) {
      draw_joint(&v, i);
    }
  }
}
