/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_closest.c - closest points of points, lines, planes and circles in closed form.
 *
 *   point-line    u = a . (p - p0)
 *   point-plane   the foot of the normal
 *   line-line     the system [1 -a.b; a.b -1] (u, v) = (-a.w, -b.w), w = p0_A - p0_B
 *   point-circle  the point of the circle in the half-plane of the axis and the point
 *   circle-plane  c - R (m - a (a.m)) / |a x m|
 */
#include "math/rotation.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void saltusi_spot_on_line(saltusi_closest_point* line, double u) {
  assert(line != NULL && line->kind == SALTUSI_FEATURE_LINE);
  line->u[0] = u;
  saltusi_along(u, line->a, line->origin, line->p);
  memcpy(line->T[0], line->a, sizeof line->a);
  memset(line->H, 0, sizeof line->H);
}

void saltusi_spot_on_plane(saltusi_closest_point* plane, const double at[3]) {
  assert(plane != NULL && at != NULL && plane->kind == SALTUSI_FEATURE_PLANE);
  double w[3];
  saltusi_minus3(at, plane->origin, w);
  const double height = saltusi_dot3(w, plane->a);
  plane->u[0] = saltusi_dot3(w, plane->e);
  plane->u[1] = saltusi_dot3(w, plane->f);
  saltusi_along(-height, plane->a, at, plane->p);
  memcpy(plane->T[0], plane->e, sizeof plane->e);
  memcpy(plane->T[1], plane->f, sizeof plane->f);
  memset(plane->H, 0, sizeof plane->H);
  memcpy(plane->normal, plane->a, sizeof plane->a);
}

void saltusi_spot_on_circle(saltusi_closest_point* circle, double cosine, double sine) {
  assert(circle != NULL && circle->kind == SALTUSI_FEATURE_CIRCLE);
  const double R = circle->size[0];
  for (int k = 0; k < 3; k++) {
    const double out = cosine * circle->e[k] + sine * circle->f[k];
    circle->p[k] = circle->origin[k] + R * out;
    circle->T[0][k] = R * (cosine * circle->f[k] - sine * circle->e[k]);
    circle->H[0][k] = -R * out;
  }
  circle->u[0] = atan2(sine, cosine);
}

bool saltusi_meet_point_point(saltusi_closest_point* first, saltusi_closest_point* second,
                              const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  memcpy(first->p, first->origin, sizeof first->p);
  memcpy(second->p, second->origin, sizeof second->p);
  return true;
}

bool saltusi_meet_point_line(saltusi_closest_point* first, saltusi_closest_point* second,
                             const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  double w[3];
  memcpy(first->p, first->origin, sizeof first->p);
  saltusi_minus3(first->origin, second->origin, w);
  saltusi_spot_on_line(second, saltusi_dot3(second->a, w));
  return true;
}

bool saltusi_meet_point_plane(saltusi_closest_point* first, saltusi_closest_point* second,
                              const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  memcpy(first->p, first->origin, sizeof first->p);
  saltusi_spot_on_plane(second, first->p);
  return true;
}

bool saltusi_meet_line_line(saltusi_closest_point* first, saltusi_closest_point* second,
                            const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  double w[3], across[3];
  saltusi_minus3(first->origin, second->origin, w);
  saltusi_cross(first->a, second->a, across);
  const double square = saltusi_dot3(across, across); /* sin^2 */
  if (!(square > 0.0)) {
    return false;
  }
  /* w + u a - v b is along a x b: products with b x (a x b) and a x (a x b) */
  double ba[3], aa[3];
  saltusi_cross(second->a, across, ba);
  saltusi_cross(first->a, across, aa);
  saltusi_spot_on_line(first, -saltusi_dot3(w, ba) / square);
  saltusi_spot_on_line(second, -saltusi_dot3(w, aa) / square);
  return true;
}

bool saltusi_meet_point_circle(saltusi_closest_point* first, saltusi_closest_point* second,
                               const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  double w[3];
  memcpy(first->p, first->origin, sizeof first->p);
  saltusi_minus3(first->origin, second->origin, w);
  const double x = saltusi_dot3(w, second->e);
  const double y = saltusi_dot3(w, second->f);
  const double from_axis = sqrt(x * x + y * y);
  if (!(from_axis > 0.0)) {
    return false;
  }
  const double sign = aim->branch == 1 ? -1.0 : 1.0;
  saltusi_spot_on_circle(second, sign * x / from_axis, sign * y / from_axis);
  return true;
}

bool saltusi_meet_plane_circle(saltusi_closest_point* first, saltusi_closest_point* second,
                               const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  const double x = saltusi_dot3(first->a, second->e);
  const double y = saltusi_dot3(first->a, second->f);
  const double sine = sqrt(x * x + y * y);
  if (!(sine > 0.0)) {
    return false;
  }
  const double sign = aim->branch == 1 ? 1.0 : -1.0; /* the highest point, or the lowest */
  saltusi_spot_on_circle(second, sign * x / sine, sign * y / sine);
  saltusi_spot_on_plane(first, second->p);
  return true;
}
