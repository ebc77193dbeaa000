/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_separation.c - distance of curved shapes, or the least translation that separates them.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Separation from the closest point on B to the centre of a ball. */
static void by_foot(const saltusi_two* two, const double centre[3], const saltusi_foot* foot,
                    double rho, saltusi_separation* out) {
  double p[3];
  out->distance = foot->distance - rho;
  saltusi_turn(two->b->R, foot->normal, out->normal);
  saltusi_turn(two->b->R, centre, p);
  for (int k = 0; k < 3; k++) {
    out->point[k] = two->b->x[k] + p[k] - foot->distance * out->normal[k];
  }
}

static void ball(const saltusi_two* two, saltusi_separation* out) {
  const saltusi_feature* A = &two->A->feature[0];
  double centre[3];
  saltusi_foot foot;
  saltusi_seen_from(two->b, two->a, A->p, centre);
  if (!saltusi_foot_of(two->B, centre, &foot)) { /* concentric, or on the axis of a torus */
    const saltusi_feature* B = &two->B->feature[two->B->stored - 1];
    const bool ring = two->B->kind == SALTUS_SHAPE_TORUS;
    double w[3];
    saltusi_minus3(centre, B->p, w);
    const double height = ring ? saltusi_dot3(w, B->a) : 0.0;
    foot.distance = (ring ? sqrt(B->size[0] * B->size[0] + height * height) : 0.0) - B->rho;
    memcpy(foot.normal, B->a, sizeof foot.normal);
  }
  by_foot(two, centre, &foot, A->rho, out);
}

/* Closest points of two segments p + u a, u in 0 .. L, by clamping (Lumelsky 1985). */
static void segments(const double w[3], const double a[3], const double b[3],
                     const double length[2], double u[2]) {
  const double c = saltusi_dot3(a, b), aw = saltusi_dot3(a, w), bw = saltusi_dot3(b, w);
  double across[3], ba[3];
  saltusi_cross(a, b, across);
  const double square = saltusi_dot3(across, across);
  saltusi_cross(b, across, ba);
  u[0] = square > 0.0 ? -saltusi_dot3(w, ba) / square : -aw;
  u[0] = fmin(fmax(u[0], 0.0), length[0]);
  u[1] = bw + c * u[0];
  if (u[1] < 0.0 || u[1] > length[1]) {
    u[1] = u[1] < 0.0 ? 0.0 : length[1];
    u[0] = fmin(fmax(c * u[1] - aw, 0.0), length[0]);
  }
}

static void capsules(const saltusi_two* two, saltusi_separation* out) {
  const saltusi_feature* A = &two->A->feature[SALTUSI_CAPSULE_SIDE - 1];
  const saltusi_feature* B = &two->B->feature[SALTUSI_CAPSULE_SIDE - 1];
  double pA[3], pB[3], a[3], b[3], w[3], u[2];
  saltusi_turn(two->a->R, A->p, pA);
  saltusi_turn(two->b->R, B->p, pB);
  saltusi_turn(two->a->R, A->a, a);
  saltusi_turn(two->b->R, B->a, b);
  for (int k = 0; k < 3; k++) {
    w[k] = (two->a->x[k] - two->b->x[k]) + (pA[k] - pB[k]);
  }
  const double lengths[2] = {A->size[0], B->size[0]};
  segments(w, a, b, lengths, u);
  double d[3];
  for (int k = 0; k < 3; k++) {
    d[k] = w[k] + u[0] * a[k] - u[1] * b[k];
  }
  const double apart = sqrt(saltusi_dot3(d, d));
  if (!(apart > 0.0)) { /* they cross: separation along their common normal */
    saltusi_cross(a, b, d);
  }
  double length = sqrt(saltusi_dot3(d, d));
  if (!(length > 0.0)) {
    saltusi_normal_to(b, d);
    length = 1.0;
  }
  out->distance = apart - A->rho - B->rho;
  for (int k = 0; k < 3; k++) {
    out->normal[k] = d[k] / length;
    out->point[k] = two->b->x[k] + pB[k] + u[1] * b[k] + B->rho * out->normal[k];
  }
}

static double lowest(const saltusi_feature* f, const double down[3], double point[3]) {
  memcpy(point, f->p, sizeof f->p);
  if (f->kind ==
      SALTUSI_FEATURE_CIRCLE) { /* in axes of the circle: the point is in its plane to rounding */
    double other[3];
    saltusi_cross(f->a, f->e, other);
    const double x = saltusi_dot3(down, f->e), y = saltusi_dot3(down, other);
    const double length = sqrt(x * x + y * y);
    saltusi_along(length > 0.0 ? f->size[0] * x / length : f->size[0], f->e, point, point);
    saltusi_along(length > 0.0 ? f->size[0] * y / length : 0.0, other, point, point);
  } else if (f->kind == SALTUSI_FEATURE_ELLIPSOID) {
    double axis[3][3], by[3], length = 0.0;
    memcpy(axis[0], f->e, sizeof f->e);
    saltusi_cross(f->a, f->e, axis[1]);
    memcpy(axis[2], f->a, sizeof f->a);
    for (int k = 0; k < 3; k++) {
      by[k] = f->size[k] * saltusi_dot3(axis[k], down);
      length += by[k] * by[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
      saltusi_along(f->size[k] * by[k] / length, axis[k], point, point);
    }
  }
  saltusi_along(f->rho, down, point, point);
  return saltusi_dot3(point, down);
}

double saltusi_support_of(const saltusi_shape* shape, const double direction[3], double point[3]) {
  assert(shape != NULL && direction != NULL && point != NULL);
  double best = -INFINITY;
  for (int i = 0; i < shape->stored; i++) {
    const saltusi_feature* f = &shape->feature[i];
    if (f->kind == SALTUSI_FEATURE_LINE || f->kind == SALTUSI_FEATURE_PLANE ||
        f->kind == SALTUSI_FEATURE_CONE) {
      continue; /* their ends are features as well */
    }
    double at[3];
    const double far = lowest(f, direction, at);
    if (far > best) {
      best = far;
      memcpy(point, at, 3 * sizeof *at);
    }
  }
  return best;
}

static void on_plane(const saltusi_two* two, saltusi_separation* out) {
  const saltusi_feature* plane = &two->B->feature[0];
  double down[3], own[3], point[3], from[3];
  saltusi_turn(two->b->R, plane->a, out->normal);
  saltusi_turn_back(two->a->R, out->normal, own);
  for (int k = 0; k < 3; k++) {
    down[k] = -own[k];
  }
  saltusi_support_of(two->A, down, point);
  saltusi_seen_from(two->b, two->a, point, from);
  double w[3];
  saltusi_minus3(from, plane->p, w);
  out->distance = saltusi_dot3(w, plane->a) - plane->rho;
  saltusi_turn(two->b->R, from, point);
  for (int k = 0; k < 3; k++) {
    out->point[k] = two->b->x[k] + point[k] - out->distance * out->normal[k];
  }
}

/* The end of a capsule that is farthest from the centre of a hollow sphere. */
static void inside(const saltusi_two* two, saltusi_separation* out) {
  const saltusi_feature* A = &two->A->feature[0];
  out->distance = INFINITY;
  const int ends = two->B->kind == SALTUS_SHAPE_CAPSULE ? 2 : 1;
  for (int i = 0; i < ends; i++) {
    const saltusi_pair pair = {.A = A, .B = &two->B->feature[i], .a = two->a, .b = two->b};
    saltusi_closest at;
    if (!saltusi_pair_closest(&pair, &at)) { /* at the centre */
      at.gap = fabs(A->rho + pair.B->rho);
      memcpy(at.normal, two->b->R, sizeof at.normal);
      memcpy(at.pB, two->b->x, sizeof at.pB);
    }
    if (at.gap < out->distance) {
      out->distance = at.gap;
      memcpy(out->normal, at.normal, sizeof out->normal);
      saltusi_along(pair.B->rho, at.normal, at.pB, out->point);
    }
  }
}

void saltusi_curved_separation(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  if (two->A->rho < 0.0 || two->B->rho < 0.0) {
    inside(two, out);
  } else if (two->B->kind == SALTUS_SHAPE_HALF_SPACE) {
    on_plane(two, out);
  } else if (two->A->kind == SALTUS_SHAPE_SPHERE) {
    ball(two, out);
  } else if (two->A->kind == SALTUS_SHAPE_CAPSULE && two->B->kind == SALTUS_SHAPE_CAPSULE) {
    capsules(two, out);
  } else if (two->A->kind == SALTUS_SHAPE_CAPSULE && two->B->polytope != NULL) {
    if (!saltusi_capsule_in_polytope(two, out)) {
      saltusi_least_gap(two, out);
    }
  } else if (two->A->convex && two->B->convex) {
    saltusi_convex_separation(two, out);
  } else if (two->A->kind == SALTUS_SHAPE_CAPSULE) { /* with a torus: in closed form */
    saltusi_least_gap(two, out);
    if (!(out->distance < INFINITY)) {
      saltusi_ring_separation(two, out);
    }
  } else {
    saltusi_ring_separation(two, out);
  }
}
