/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * box.c - bounding boxes of shapes in world axes, from the features of their surfaces.
 */
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/polytope.h"
#include "shape/shape.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* Extends [low, high] to contain p +- half. */
static void hold(const double p[3], const double half[3], double low[3], double high[3]) {
  for (int k = 0; k < 3; k++) {
    low[k] = p[k] - half[k] < low[k] ? p[k] - half[k] : low[k];
    high[k] = p[k] + half[k] > high[k] ? p[k] + half[k] : high[k];
  }
}

static void hold_feature(const saltusi_feature* feature, const double R[9], int dimension,
                         double low[3], double high[3]) {
  const double rho = fabs(feature->rho);
  double p[3], a[3], e[3], f[3], half[3] = {rho, rho, rho};
  saltusi_turn(R, feature->p, p);
  if (feature->kind == SALTUSI_FEATURE_POINT) { /* the most frequent kind: vertices */
    hold(p, half, low, high);
    return;
  }
  saltusi_turn(R, feature->a, a);
  saltusi_turn(R, feature->e, e);
  saltusi_cross(a, e, f);
  switch (feature->kind) {
  case SALTUSI_FEATURE_POINT:
    break;
  case SALTUSI_FEATURE_LINE:
    hold(p, half, low, high);
    saltusi_along(feature->size[0], a, p, p);
    break;
  case SALTUSI_FEATURE_PLANE:
    if (dimension == 3) {
      return; /* in the hull of its vertices or rims */
    }
    hold(p, half, low, high);
    saltusi_along(feature->size[0], e, p, p);
    break;
  case SALTUSI_FEATURE_CIRCLE:
    for (int k = 0; k < 3; k++) {
      half[k] = rho + feature->size[0] * sqrt(e[k] * e[k] + f[k] * f[k]);
    }
    break;
  case SALTUSI_FEATURE_ELLIPSOID:
    for (int k = 0; k < 3; k++) {
      const double x = feature->size[0] * e[k], y = feature->size[1] * f[k];
      const double z = feature->size[2] * a[k];
      half[k] = rho + sqrt(x * x + y * y + z * z);
    }
    break;
  case SALTUSI_FEATURE_CONE:
    return; /* in the hull of its tip and its rim */
  }
  hold(p, half, low, high);
}

/* All of space, except where the half-space is exactly normal to an axis. */
static void hold_half(const saltusi_feature* plane, const saltusi_body_pose* at, double low[3],
                      double high[3]) {
  double p[3], a[3];
  saltusi_turn(at->R, plane->p, p);
  saltusi_turn(at->R, plane->a, a);
  for (int k = 0; k < 3; k++) {
    const double end = p[k] + at->x[k];
    const double margin = 4.0 * DBL_EPSILON * (fabs(p[k]) + fabs(at->x[k]) + fabs(end));
    low[k] = a[k] == -1.0 ? end - margin : -INFINITY;
    high[k] = a[k] == 1.0 ? end + margin : INFINITY;
  }
}

/* A box about its centre, in world axes, relative to the origin of the body. */
static void hold_box(const saltusi_polytope* box, const double R[9], double low[3],
                     double high[3]) {
  double Q[9], middle[3] = {0.0, 0.0, 0.0};
  if (box->placed) {
    saltusi_matrix3_product(R, box->placing.R, Q);
    saltusi_turn(R, box->placing.x, middle);
  }
  const double* axes = box->placed ? Q : R;
  for (int k = 0; k < 3; k++) {
    const double half = fabs(axes[3 * k]) * box->half[0] + fabs(axes[3 * k + 1]) * box->half[1] +
                        fabs(axes[3 * k + 2]) * box->half[2];
    low[k] = middle[k] - half;
    high[k] = middle[k] + half;
  }
}

/* Box around all features. */
static void hold_features(const saltusi_shape* shape, const double R[9], double low[3],
                          double high[3]) {
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  /* a polytope or a mesh lies in the hull of its vertices, which come first */
  const int count = shape->polytope != NULL ? shape->polytope->vertices
                    : shape->mesh != NULL   ? shape->mesh->vertices
                                            : shape->stored;
  for (int i = 0; i < count; i++) {
    const saltusi_feature* f = &shape->feature[i];
    if (shape->kind != SALTUS_SHAPE_CYLINDER || f->kind == SALTUSI_FEATURE_CIRCLE) {
      hold_feature(f, R, shape->dimension, low, high); /* rims bound the side of a cylinder */
    }
  }
}

void saltusi_shape_box(const saltusi_shape* shape, const saltusi_body_pose* at, double low[3],
                       double high[3]) {
  assert(shape != NULL && at != NULL && low != NULL && high != NULL);
  if (shape->kind == SALTUS_SHAPE_HALF_PLANE || shape->kind == SALTUS_SHAPE_HALF_SPACE) {
    hold_half(&shape->feature[0], at, low, high);
    return;
  }
  double centre[3];
  saltusi_turn(at->R, shape->centre, centre);
  const bool ball = shape->kind == SALTUS_SHAPE_SPHERE; /* bounded by its ball, below */
  const bool sharp = shape->polytope != NULL && shape->polytope->box && shape->rho == 0.0;
  if (sharp) {
    hold_box(shape->polytope, at->R, low, high);
  } else if (!ball) {
    hold_features(shape, at->R, low, high);
  }
  const double reach = sqrt(saltusi_dot3(shape->centre, shape->centre)) + shape->radius;
  for (int k = 0; k < 3; k++) {
    /* the ball is smaller where features are arcs of large circles, and the only bound without
     * features */
    const double from = centre[k] - shape->radius, to = centre[k] + shape->radius;
    low[k] = !ball && low[k] < INFINITY && low[k] > from ? low[k] : from;
    high[k] = !ball && high[k] > -INFINITY && high[k] < to ? high[k] : to;
    const double margin = 4.0 * DBL_EPSILON * (fabs(at->x[k]) + reach + shape->size);
    low[k] += at->x[k] - margin;
    high[k] += at->x[k] + margin;
  }
}
