/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_make.c - spheres, capsules, cylinders, cones, ellipsoids and tori: their features, and checks of their
 * definitions.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define HALF 0.70710678118654752440 /* sqrt(1/2) */

/* Features under construction, in the shape's own axes until placed. */
typedef struct curved_make_bench {
  const saltusi_making* making;
  saltusi_feature* feature;
  int count;
} curved_make_bench;

static saltusi_feature* add(curved_make_bench* b, saltusi_feature_kind kind, double z, double rho) {
  static const double origin_axis[3] = {0.0, 0.0, 1.0}, first[3] = {1.0, 0.0, 0.0};
  saltusi_feature* f = &b->feature[b->count++];
  const double at[3] = {0.0, 0.0, z};
  f->kind = kind;
  f->rho = rho;
  saltusi_placed_point(&b->making->placing, at, f->p);
  saltusi_placed_direction(&b->making->placing, origin_axis, f->a);
  saltusi_placed_direction(&b->making->placing, first, f->e);
  return f;
}

static void point_down(saltusi_feature* f) {
  for (int k = 0; k < 3; k++) {
    f->a[k] = -f->a[k];
  }
}

static void add_rim_points(curved_make_bench* b, double z, double radius, double rho) {
  for (int i = 0; i < SALTUSI_RIM_POINTS; i++) {
    /* multiples of a right angle are exact */
    static const double x[8] = {1.0, HALF, 0.0, -HALF, -1.0, -HALF, 0.0, HALF};
    const double own[3] = {radius * x[i], radius * x[(i + 6) % 8], z};
    saltusi_feature* f = add(b, SALTUSI_FEATURE_POINT, z, rho);
    saltusi_placed_point(&b->making->placing, own, f->p);
  }
}

static bool take(curved_make_bench* b, const saltusi_making* making, int count) {
  b->making = making;
  b->count = 0;
  b->feature = SALTUSI_TAKE(making->pool, saltusi_feature, count);
  return b->feature != NULL;
}

static saltus_status finish(const curved_make_bench* b, double z, double radius,
                            saltusi_shape* out) {
  const double own[3] = {0.0, 0.0, z};
  saltusi_placed_point(&b->making->placing, own, out->centre);
  out->radius = radius;
  out->size = radius;
  out->feature = b->feature;
  out->stored = b->count;
  out->features = b->count + 1;
  out->convex = true;
  return SALTUS_OK;
}

static saltus_status positive(const saltusi_making* making, const char* what, double value) {
  if (value > 0.0 && value < INFINITY) {
    return SALTUS_OK;
  }
  return saltusi_shape_refuse(making, "%s %g: a finite number above 0 is needed", what, value);
}

static saltus_status make_sphere(const saltusi_making* making, saltusi_shape* out) {
  const double r = making->def->radius;
  curved_make_bench b;
  const saltus_status status = positive(making, "radius", r);
  if (status != SALTUS_OK) {
    return status;
  }
  if (!take(&b, making, 1)) {
    return SALTUS_ERR_MEMORY;
  }
  out->rho = making->def->hollow ? -r : r;
  add(&b, SALTUSI_FEATURE_POINT, 0.0, out->rho);
  finish(&b, 0.0, r, out);
  out->convex = !making->def->hollow;
  return SALTUS_OK;
}

static saltus_status make_capsule(const saltusi_making* making, saltusi_shape* out) {
  const double r = making->def->radius, length = making->def->length;
  curved_make_bench b;
  const saltus_status status = positive(making, "radius", r);
  if (status != SALTUS_OK) {
    return status;
  }
  if (!(length >= 0.0 && length < INFINITY)) {
    return saltusi_shape_refuse(making, "length %g: a finite number from 0 is needed", length);
  }
  if (length == 0.0) {
    out->kind = SALTUS_SHAPE_SPHERE;
    return make_sphere(making, out);
  }
  if (!take(&b, making, 3)) {
    return SALTUS_ERR_MEMORY;
  }
  out->rho = r;
  add(&b, SALTUSI_FEATURE_POINT, -0.5 * length, r);
  add(&b, SALTUSI_FEATURE_POINT, 0.5 * length, r);
  add(&b, SALTUSI_FEATURE_LINE, -0.5 * length, r)->size[0] = length;
  return finish(&b, 0.0, 0.5 * length + r, out);
}

static saltus_status make_cylinder(const saltusi_making* making, saltusi_shape* out) {
  const double r = making->def->radius, length = making->def->length;
  curved_make_bench b;
  saltus_status status = positive(making, "radius", r);
  status = status == SALTUS_OK ? positive(making, "length", length) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (!take(&b, making, SALTUSI_CYLINDER_END + 1)) {
    return SALTUS_ERR_MEMORY;
  }
  add_rim_points(&b, -0.5 * length, r, 0.0);
  add_rim_points(&b, 0.5 * length, r, 0.0);
  saltusi_feature* lower = add(&b, SALTUSI_FEATURE_CIRCLE, -0.5 * length, 0.0);
  saltusi_feature* upper = add(&b, SALTUSI_FEATURE_CIRCLE, 0.5 * length, 0.0);
  point_down(lower);
  lower->size[0] = upper->size[0] = r;
  lower->size[1] = lower->size[2] = upper->size[1] = upper->size[2] = 1.0;
  add(&b, SALTUSI_FEATURE_LINE, -0.5 * length, r)->size[0] = length;
  point_down(add(&b, SALTUSI_FEATURE_PLANE, -0.5 * length, 0.0));
  add(&b, SALTUSI_FEATURE_PLANE, 0.5 * length, 0.0);
  finish(&b, 0.0, sqrt(r * r + 0.25 * length * length), out);
  return SALTUS_OK;
}

static saltus_status make_cone(const saltusi_making* making, saltusi_shape* out) {
  const double r = making->def->radius, length = making->def->length;
  curved_make_bench b;
  saltus_status status = positive(making, "radius", r);
  status = status == SALTUS_OK ? positive(making, "length", length) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (!take(&b, making, SALTUSI_CONE_BASE)) {
    return SALTUS_ERR_MEMORY;
  }
  add(&b, SALTUSI_FEATURE_POINT, length, 0.0);
  add_rim_points(&b, 0.0, r, 0.0);
  saltusi_feature* rim = add(&b, SALTUSI_FEATURE_CIRCLE, 0.0, 0.0);
  const double slant = sqrt(r * r + length * length);
  point_down(rim);
  rim->size[0] = r;
  rim->size[1] = length / slant;
  rim->size[2] = 1.0 - r / slant;
  saltusi_feature* side = add(&b, SALTUSI_FEATURE_CONE, length, 0.0);
  point_down(side);
  side->size[0] = r / length;
  side->size[1] = length;
  point_down(add(&b, SALTUSI_FEATURE_PLANE, 0.0, 0.0));
  /* the sphere through tip and rim, or the sphere about the base if its radius is larger */
  const double z = fmax(0.0, 0.5 * (length - r * r / length));
  return finish(&b, z, fmax(length - z, sqrt(r * r + z * z)), out);
}

static saltus_status make_ellipsoid(const saltusi_making* making, saltusi_shape* out) {
  const double* size = making->def->size;
  curved_make_bench b;
  for (int k = 0; k < 3; k++) {
    const saltus_status status = positive(making, "semi-axis", size[k]);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  if (!take(&b, making, 1)) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(add(&b, SALTUSI_FEATURE_ELLIPSOID, 0.0, 0.0)->size, size, 3 * sizeof *size);
  return finish(&b, 0.0, fmax(size[0], fmax(size[1], size[2])), out);
}

static saltus_status make_torus(const saltusi_making* making, saltusi_shape* out) {
  const double R = making->def->size[0], r = making->def->radius;
  curved_make_bench b;
  saltus_status status = positive(making, "radius of the tube", r);
  status = status == SALTUS_OK ? positive(making, "radius of the circle", R) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (!(r < R)) {
    return saltusi_shape_refuse(making, "radius of the tube %g: below that of the circle %g", r, R);
  }
  if (!take(&b, making, SALTUSI_TORUS_CIRCLE)) {
    return SALTUS_ERR_MEMORY;
  }
  out->rho = r;
  add_rim_points(&b, 0.0, R, r);
  add(&b, SALTUSI_FEATURE_CIRCLE, 0.0, r)->size[0] = R;
  finish(&b, 0.0, R + r, out);
  out->convex = false;
  return SALTUS_OK;
}

saltus_status saltusi_make_curved(const saltusi_making* making, saltusi_shape* out) {
  assert(making != NULL && out != NULL);
  switch (making->def->kind) {
  case SALTUS_SHAPE_SPHERE:
    return make_sphere(making, out);
  case SALTUS_SHAPE_CAPSULE:
    return make_capsule(making, out);
  case SALTUS_SHAPE_CYLINDER:
    return make_cylinder(making, out);
  case SALTUS_SHAPE_CONE:
    return make_cone(making, out);
  case SALTUS_SHAPE_ELLIPSOID:
    return make_ellipsoid(making, out);
  case SALTUS_SHAPE_TORUS:
    return make_torus(making, out);
  default:
    return saltusi_shape_refuse(making, "is no curved shape");
  }
}
