/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * make.c - shapes from their definitions: common parts of all kinds.
 */
#include "base/log.h"
#include "base/number.h"
#include "math/rotation.h"
#include "shape/narrow_phase.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* In the order of the kinds. */
static const char* const kind_names[] = {"circle",     "segment", "polygon",   "half-plane",
                                         "chain",      "capsule", "sphere",    "box",
                                         "cylinder",   "cone",    "ellipsoid", "torus",
                                         "half-space", "hull",    "mesh",      "heightfield"};
_Static_assert(sizeof kind_names / sizeof *kind_names == SALTUS_SHAPE_HEIGHTFIELD + 1, "one each");

const char* saltus_shape_kind_name(saltus_shape_kind kind) {
  return (size_t)kind < sizeof kind_names / sizeof kind_names[0] ? kind_names[kind] : NULL;
}

saltus_status saltusi_shape_refuse(const saltusi_making* making, const char* format, ...) {
  assert(making != NULL && format != NULL);
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  saltusi_print_list(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* name = making->def->name != NULL ? making->def->name : "without a name";
  saltusi_log(making->log, SALTUS_LEVEL_ERROR, "shape %s: %s", name, text);
  return SALTUS_ERR_INPUT;
}

void saltusi_placed_direction(const saltusi_placing* placing, const double own[3], double body[3]) {
  assert(placing != NULL && own != NULL && body != NULL && own != body);
  saltusi_turn(placing->R, own, body);
}

void saltusi_placed_point(const saltusi_placing* placing, const double own[3], double body[3]) {
  assert(placing != NULL && own != NULL && body != NULL && own != body);
  saltusi_placed_direction(placing, own, body);
  for (int k = 0; k < 3; k++) {
    body[k] += placing->x[k];
  }
}

void saltusi_normal_to(const double a[3], double e[3]) {
  assert(a != NULL && e != NULL && a != e);
  int least = 0;
  for (int k = 1; k < 3; k++) {
    least = fabs(a[k]) < fabs(a[least]) ? k : least;
  }
  const double axis[3] = {least == 0, least == 1, least == 2};
  saltusi_along(-a[least], a, axis, e);
  const double length = sqrt(saltusi_dot3(e, e));
  for (int k = 0; k < 3; k++) {
    e[k] /= length;
  }
}

void saltusi_shape_ball(const double (*vertex)[3], int count, double rho, saltusi_shape* out) {
  assert(vertex != NULL && out != NULL);
  double radius = 0.0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < count; v++) {
      low = fmin(low, vertex[v][k]);
      high = fmax(high, vertex[v][k]);
    }
    out->centre[k] = 0.5 * low + 0.5 * high;
  }
  for (int v = 0; v < count; v++) {
    double from[3];
    saltusi_minus3(vertex[v], out->centre, from);
    radius = fmax(radius, sqrt(saltusi_dot3(from, from)));
  }
  out->radius = (radius + rho) * (1.0 + 4.0 * DBL_EPSILON);
  out->size = 2.0 * radius;
}

/* Reads the placement of a definition. */
static saltus_status place(saltusi_making* making, int dimension) {
  const saltus_shape_def* def = making->def;
  for (int k = 0; k < 3; k++) {
    making->placing.x[k] = k < dimension ? def->position[k] : 0.0;
    if (!isfinite(making->placing.x[k])) {
      return saltusi_shape_refuse(making, "position %g is not a finite number", def->position[k]);
    }
  }
  if (!saltusi_orientation_matrix(&def->orientation, making->placing.R)) {
    return saltusi_shape_refuse(
        making, "its orientation is no rotation: numbers have to be finite, axes and "
                "quaternions longer than zero");
  }
  return SALTUS_OK;
}

/* Lengths whose fourth powers are finite and not zero; 0 is allowed too. */
static bool can_be_computed(double x) {
  return x == 0.0 || (fabs(x) >= 1e-50 && fabs(x) <= 1e50);
}

static saltus_status check_lengths(const saltusi_making* making, const saltusi_shape* shape) {
  for (int i = 0; i < shape->stored; i++) {
    const saltusi_feature* f = &shape->feature[i];
    const double length[4] = {f->rho, f->size[0], f->size[1], f->size[2]};
    for (int k = 0; k < 4; k++) {
      if (isfinite(length[k]) && !can_be_computed(length[k])) {
        return saltusi_shape_refuse(making,
                                    "its length %g m: lengths of 1e-50 to 1e50 m can be "
                                    "computed with",
                                    fabs(length[k]));
      }
    }
    for (int k = 0; k < 3; k++) {
      if (!(fabs(f->p[k]) <= 1e50)) {
        return saltusi_shape_refuse(making, "its point at %g m: up to 1e50 m can be computed with",
                                    f->p[k]);
      }
    }
  }
  return SALTUS_OK;
}

static saltus_status make_by_kind(const saltusi_making* making, saltusi_shape* out) {
  if (out->dimension == 2) {
    return saltusi_make_planar(making, out);
  }
  switch (making->def->kind) {
  case SALTUS_SHAPE_MESH:
  case SALTUS_SHAPE_HEIGHTFIELD:
    return saltusi_make_mesh(making, out);
  case SALTUS_SHAPE_BOX:
  case SALTUS_SHAPE_HULL:
  case SALTUS_SHAPE_HALF_SPACE:
    return saltusi_make_polytope(making, out);
  default:
    return saltusi_make_curved(making, out);
  }
}

static const saltusi_form* keep_form(const saltusi_making* making) {
  saltusi_form* form = SALTUSI_TAKE(making->pool, saltusi_form, 1);
  const saltus_shape_def* def = making->def;
  if (form == NULL) {
    return NULL;
  }
  form->radius = def->radius;
  form->length = def->length;
  form->hollow = def->hollow;
  memcpy(form->size, def->size, sizeof form->size);
  memcpy(form->x, making->placing.x, sizeof form->x);
  memcpy(form->R, making->placing.R, sizeof form->R);
  return form;
}

saltus_status saltusi_shape_make(const saltus_shape_def* def, int dimension, saltusi_pool* pool,
                                 saltus_log log, saltusi_shape* out) {
  assert(def != NULL && pool != NULL && out != NULL && (dimension == 2 || dimension == 3));
  saltusi_making making = {.def = def, .pool = pool, .log = log};
  memset(out, 0, sizeof *out);
  const char* kind = saltus_shape_kind_name(def->kind);
  if (kind == NULL) {
    return saltusi_shape_refuse(&making, "kind %d does not exist", (int)def->kind);
  }
  const bool of_plane = def->kind <= SALTUS_SHAPE_CAPSULE;
  const bool of_space = def->kind >= SALTUS_SHAPE_CAPSULE;
  if (dimension == 2 ? !of_plane : !of_space) {
    return saltusi_shape_refuse(&making, "a %s is a shape of %s", kind,
                                dimension == 2 ? "space, not of the plane"
                                               : "the plane, not of space");
  }
  saltus_status status = place(&making, dimension);
  if (status != SALTUS_OK) {
    return status;
  }
  out->name = saltusi_pool_text(pool, def->name);
  out->kind = def->kind;
  out->dimension = dimension;
  out->form = keep_form(&making);
  if (out->form == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  status = make_by_kind(&making, out);
  return status == SALTUS_OK ? check_lengths(&making, out) : status;
}

/* Whether numbers are bitwise identical. */
static bool are_same(size_t count, const double* a, const double* b) {
  return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

/* Number of coordinates of the points of a definition. */
static size_t numbers_of_points(const saltus_shape_def* def) {
  const bool solid = def->kind == SALTUS_SHAPE_HULL;
  const bool planar = def->kind == SALTUS_SHAPE_POLYGON || def->kind == SALTUS_SHAPE_SEGMENT;
  return (solid ? 3 : planar ? 2 : 0) * (size_t)def->point_count;
}

bool saltusi_shape_is_alike(const saltus_shape_def* a, const saltus_shape_def* b) {
  assert(a != NULL && b != NULL);
  const bool of_parts = a->kind == SALTUS_SHAPE_CHAIN || a->kind == SALTUS_SHAPE_MESH ||
                        a->kind == SALTUS_SHAPE_HEIGHTFIELD;
  return !of_parts && a->kind == b->kind && a->hollow == b->hollow &&
         a->orientation.kind == b->orientation.kind && a->point_count == b->point_count &&
         are_same(3, a->position, b->position) &&
         are_same(4, a->orientation.value, b->orientation.value) &&
         are_same(1, &a->radius, &b->radius) && are_same(1, &a->length, &b->length) &&
         are_same(3, a->size, b->size) && (a->points == NULL) == (b->points == NULL) &&
         (a->points == NULL || are_same(numbers_of_points(a), a->points, b->points));
}

saltus_status saltusi_shape_repeat(const saltusi_shape* made, const char* name, saltusi_pool* pool,
                                   saltusi_shape* out) {
  assert(made != NULL && pool != NULL && out != NULL);
  *out = *made;
  out->name = saltusi_pool_text(pool, name);
  return pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}
