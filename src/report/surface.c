/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * surface.c - see surface.h.
 */
#include "report/surface.h"

#include "base/pool.h"
#include "report/solids.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double turn = 6.28318530717958647692;

/* ----------------------------------------------------------------------------------- lists --- */

int saltusi_surface_point_add(saltusi_surface* s, double x, double y, double z) {
  assert(s != NULL);
  void* array = s->point;
  if (s->failed || !saltusi_grow(s->memory, &array, &s->room, s->points + 1, sizeof *s->point)) {
    s->failed = true;
    return 0;
  }
  s->point = array;
  s->point[s->points] = (saltusi_surface_point){.x = {x, y, z}, .body = s->body};
  return (int)s->points++;
}

/* The corners of a new cell, to be written; NULL: no memory. */
static int* new_cell(saltusi_surface* s, saltusi_cell_kind kind, int count) {
  saltusi_cells* c = &s->cells[kind];
  void *list = c->list, *corners = c->corner;
  bool grown = saltusi_grow(s->memory, &list, &c->room, c->count + 1, sizeof *c->list);
  c->list = list;
  grown = grown && saltusi_grow(s->memory, &corners, &c->corner_room, c->corners + (size_t)count,
                                sizeof *c->corner);
  c->corner = corners;
  s->failed = s->failed || !grown;
  if (s->failed) {
    return NULL;
  }
  c->list[c->count++] =
      (saltusi_cell){.first = c->corners, .count = count, .body = s->body, .thing = s->thing};
  c->corners += (size_t)count;
  return c->corner + c->corners - count;
}

void saltusi_surface_cell_add(saltusi_surface* s, saltusi_cell_kind kind, const int* corner,
                              int count) {
  assert(s != NULL && corner != NULL && count > 0);
  int* out = new_cell(s, kind, count);
  if (out != NULL) {
    memcpy(out, corner, (size_t)count * sizeof *corner);
  }
}

void saltusi_surface_run_add(saltusi_surface* s, saltusi_cell_kind kind, int first, int count,
                             bool closed) {
  assert(s != NULL && count > 0);
  const int corners = count + (closed ? 1 : 0);
  int* out = new_cell(s, kind, corners);
  for (int i = 0; i < corners && out != NULL; i++) {
    out[i] = first + i % count;
  }
}

void saltusi_surface_free(saltusi_surface* s) {
  assert(s != NULL);
  saltusi_release(s->memory, s->point, s->room, sizeof *s->point);
  for (int k = 0; k < SALTUSI_CELL_KINDS; k++) {
    saltusi_release(s->memory, s->cells[k].list, s->cells[k].room, sizeof *s->cells[k].list);
    saltusi_release(s->memory, s->cells[k].corner, s->cells[k].corner_room,
                    sizeof *s->cells[k].corner);
  }
  *s = (saltusi_surface){.memory = s->memory};
}

saltusi_surface_mark saltusi_surface_here(const saltusi_surface* s) {
  assert(s != NULL);
  saltusi_surface_mark mark = {.points = s->points};
  for (int k = 0; k < SALTUSI_CELL_KINDS; k++) {
    mark.count[k] = s->cells[k].count;
    mark.corners[k] = s->cells[k].corners;
  }
  return mark;
}

void saltusi_surface_back(saltusi_surface* s, const saltusi_surface_mark* mark) {
  assert(s != NULL && mark != NULL && mark->points <= s->points);
  s->points = mark->points;
  for (int k = 0; k < SALTUSI_CELL_KINDS; k++) {
    s->cells[k].count = mark->count[k];
    s->cells[k].corners = mark->corners[k];
  }
}

/* ---------------------------------------------------------------------------------- shapes --- */

static void add_polyline(saltusi_surface* s, const double (*point)[3], int count, bool closed,
                         bool area) {
  const int first = (int)s->points;
  for (int i = 0; i < count; i++) {
    saltusi_surface_point_add(s, point[i][0], point[i][1], point[i][2]);
  }
  saltusi_surface_run_add(s, area ? SALTUSI_CELL_AREA : SALTUSI_CELL_LINE, first, count,
                          closed && !area);
}

typedef struct outline {
  saltusi_surface* surface;
  bool solid;
} outline;

static void take_line(void* user, bool closed, const double (*point)[3], int count) {
  const outline* o = user;
  add_polyline(o->surface, point, count, closed, closed && o->solid);
}

static void add_planar(saltusi_surface* s, const saltus_mechanism* mechanism, int shape,
                       const double middle[3], double far) {
  const saltus_shape_kind kind = saltus_mechanism_shape(mechanism, shape).kind;
  const bool hollow = saltus_mechanism_shape_form(mechanism, shape).hollow;
  outline o = {.surface = s, .solid = !hollow && kind != SALTUS_SHAPE_CHAIN};
  const saltus_shape_view view = {
      .middle = {middle[0], middle[1], middle[2]}, .far = far, .line = take_line, .user = &o};
  saltus_mechanism_outline(mechanism, shape, &view);
}

void saltusi_surface_shape(saltusi_surface* s, const saltus_mechanism* mechanism, int shape,
                           const double middle[3], double far) {
  assert(s != NULL && s->around >= 8 && s->around <= SALTUSI_MOST_AROUND && mechanism != NULL);
  const saltus_shape_kind kind = saltus_mechanism_shape(mechanism, shape).kind;
  const saltus_shape_form form = saltus_mechanism_shape_form(mechanism, shape);
  const saltusi_axes at = {form.position, form.axes};
  const double ends[2] = {-0.5 * form.length, 0.5 * form.length}, tip[2] = {0.0, form.length};
  const double same[2] = {form.radius, form.radius}, sharp[2] = {form.radius, 0.0};
  if (saltus_mechanism_sizes(mechanism).dimension == 2) {
    add_planar(s, mechanism, shape, middle, far);
    return;
  }
  switch (kind) {
  case SALTUS_SHAPE_SPHERE:
    saltusi_add_ball(s, at, form.radius, 0.0);
    break;
  case SALTUS_SHAPE_CAPSULE:
    saltusi_add_ball(s, at, form.radius, form.length);
    break;
  case SALTUS_SHAPE_ELLIPSOID:
    saltusi_add_ellipsoid(s, at, form.size);
    break;
  case SALTUS_SHAPE_BOX:
    saltusi_add_box(s, at, form.size, form.radius);
    break;
  case SALTUS_SHAPE_CYLINDER:
    saltusi_add_frustum(s, at, ends, same);
    break;
  case SALTUS_SHAPE_CONE:
    saltusi_add_frustum(s, at, tip, sharp);
    break;
  case SALTUS_SHAPE_TORUS:
    saltusi_add_torus(s, at, form.size[0], form.radius);
    break;
  case SALTUS_SHAPE_HULL:
    saltusi_add_hull(s, mechanism, shape, &form);
    break;
  case SALTUS_SHAPE_HALF_SPACE:
    saltusi_add_half_space(s, &form, middle, far);
    break;
  default: /* meshes and heightfields; the others are planar */
    saltusi_add_mesh(s, &form);
  }
}

/* ----------------------------------------------------------------------------- drawn things --- */

static void drawn_place(const double* values, int dimension, int i, double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = k < dimension ? values[i * dimension + k] : 0.0;
  }
}

/* A circle or a box in the plane at its position, rotated by its angle. */
static void add_flat(saltusi_surface* s, const saltus_drawn* thing, const double* values) {
  double point[SALTUSI_MOST_AROUND][3];
  const bool box = thing->type == SALTUS_DRAWN_BOX;
  const int count = box ? 4 : s->around;
  const double angle = box ? values[4] : values[3];
  for (int i = 0; i < count; i++) {
    const double radius = values[2], part = turn * i / count;
    const double x = box ? (i == 1 || i == 2 ? 0.5 : -0.5) * values[2] : radius * cos(part);
    const double y = box ? (i > 1 ? 0.5 : -0.5) * values[3] : radius * sin(part);
    point[i][0] = values[0] + x * cos(angle) - y * sin(angle);
    point[i][1] = values[1] + x * sin(angle) + y * cos(angle);
    point[i][2] = 0.0;
  }
  add_polyline(s, (const double(*)[3])point, count, true, thing->filled);
}

/* A point, or the segments of a line or spring. */
static void add_places(saltusi_surface* s, const saltus_drawn* thing, int dimension,
                       const double* values) {
  for (int i = 0; i < thing->places; i++) {
    double x[3];
    drawn_place(values, dimension, i, x);
    const int at = saltusi_surface_point_add(s, x[0], x[1], x[2]);
    const int piece[2] = {at - 1, at};
    if (thing->places == 1) {
      saltusi_surface_cell_add(s, SALTUSI_CELL_POINT, &at, 1);
    } else if (i > 0) {
      saltusi_surface_cell_add(s, SALTUSI_CELL_LINE, piece, 2);
    }
  }
}

void saltusi_surface_drawn(saltusi_surface* s, const saltus_drawn* thing, int dimension,
                           const double* values) {
  assert(s != NULL && s->around >= 8 && s->around <= SALTUSI_MOST_AROUND && thing != NULL);
  const double* v = values + thing->first;
  const bool round = thing->type == SALTUS_DRAWN_CIRCLE, box = thing->type == SALTUS_DRAWN_BOX;
  s->body = -1;
  if (thing->type == SALTUS_DRAWN_TEXT || thing->type == SALTUS_DRAWN_CONTACT) {
    return;
  }
  if (!round && !box) {
    add_places(s, thing, dimension, v);
  } else if (dimension == 2) {
    add_flat(s, thing, v);
  } else if (round) {
    saltusi_add_ball(s, (saltusi_axes){v, saltusi_upright}, v[3], 0.0);
  } else {
    const double c = cos(v[6]), sine = sin(v[6]);
    const double R[9] = {c, -sine, 0.0, sine, c, 0.0, 0.0, 0.0, 1.0};
    saltusi_add_box(s, (saltusi_axes){v, R}, v + 3, 0.0);
  }
}
