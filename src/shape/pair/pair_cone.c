/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_cone.c - closest points of the sides of cones.
 *
 * Cone with tangent k of its half angle, tip at 0, axis a: the normals are n = (r - k a) / sqrt(1 + k^2), r normal to
 * a. A generator of its side is along a + k r, and n.x is constant along it. So the height of a point over the cone
 * along n is its height over the tip.
 *
 *   line b         n.b = 0: two normals
 *   cone           n.a_B = -sin, n.a_A = sin of the half angles: two normals
 *   ellipsoid      the largest n.(c - tip) - |L n| over the normals: (p - tip) is normal to a x r there
 */
#include "math/rotation.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool saltusi_spot_on_cone(saltusi_closest_point* cone, const double r[3], double along) {
  assert(cone != NULL && r != NULL && cone->kind == SALTUSI_FEATURE_CONE);
  const double k = cone->size[0], cosine = 1.0 / sqrt(1.0 + k * k), sine = k * cosine;
  if (!(fabs(along) > 0.0)) {
    return false; /* the tip has no tangents */
  }
  saltusi_cross(cone->a, r, cone->T[1]);
  for (int i = 0; i < 3; i++) {
    cone->T[0][i] = cosine * cone->a[i] + sine * r[i];
    cone->p[i] = cone->origin[i] + along * cone->T[0][i];
    cone->normal[i] = cosine * r[i] - sine * cone->a[i];
    cone->H[0][i] = 0.0;
    cone->H[1][i] = cone->T[1][i] / along;
    cone->H[2][i] = -r[i] / (along * sine);
  }
  cone->u[0] = along;
  cone->u[1] = 0.0;
  return true;
}

double saltusi_away_from(const double a[3], const double w[3], double r[3]) {
  assert(a != NULL && w != NULL && r != NULL && w != r);
  saltusi_along(-saltusi_dot3(w, a), a, w, r);
  const double away = sqrt(saltusi_dot3(r, r));
  for (int round = 0; round < 2 && away > 0.0;
       round++) { /* repeated: the residual along a is amplified for small r */
    const double length = sqrt(saltusi_dot3(r, r));
    for (int k = 0; k < 3; k++) {
      r[k] /= length;
    }
    if (round == 0) {
      saltusi_along(-saltusi_dot3(r, a), a, r, r);
    }
  }
  return away;
}

bool saltusi_meet_point_cone(saltusi_closest_point* first, saltusi_closest_point* second,
                             const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  double w[3], r[3];
  memcpy(first->p, first->origin, sizeof first->p);
  saltusi_minus3(first->origin, second->origin, w);
  const double height = saltusi_dot3(w, second->a);
  const double away = saltusi_away_from(second->a, w, r);
  if (!(away > 0.0)) {
    return false;
  }
  const double k = second->size[0];
  return saltusi_spot_on_cone(second, r, (height + k * away) / sqrt(1.0 + k * k));
}

/* Lines x + u b and tip + t g in the plane normal to n, w = x - tip: t and u of their crossing, projected along n. */
static bool cross_on(const double w[3], const double b[3], const double g[3], const double n[3],
                     double* t, double* u) {
  double across[3], gn[3], bn[3];
  saltusi_cross(g, b, across);
  if (!(fabs(saltusi_dot3(across, n)) > 0.0)) {
    return false;
  }
  saltusi_cross(b, n, bn);
  saltusi_cross(g, n, gn);
  *t = saltusi_dot3(w, bn) / saltusi_dot3(g, bn);
  *u = -saltusi_dot3(w, gn) / saltusi_dot3(b, gn);
  return true;
}

/* The generator and the normal of a cone in the direction r. */
static void side_of(const saltusi_closest_point* cone, const double r[3], double g[3],
                    double n[3]) {
  const double k = cone->size[0], c = 1.0 / sqrt(1.0 + k * k);
  for (int i = 0; i < 3; i++) {
    g[i] = c * (cone->a[i] + k * r[i]);
    n[i] = c * (r[i] - k * cone->a[i]);
  }
}

bool saltusi_meet_line_cone(saltusi_closest_point* first, saltusi_closest_point* second,
                            const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  const double k = second->size[0], on = saltusi_dot3(first->a, second->a);
  double x[3], y[3], w[3], best[3] = {0.0, 0.0, 0.0}, highest = -INFINITY;
  saltusi_along(-on, second->a, first->a, x);
  const double across = sqrt(saltusi_dot3(x, x)), cosine = k * on / across;
  if (!(fabs(cosine) < 1.0)) {
    return false; /* as steep as the cone, or steeper */
  }
  for (int i = 0; i < 3; i++) {
    x[i] /= across;
  }
  saltusi_cross(second->a, x, y);
  saltusi_minus3(first->origin, second->origin, w);
  const double sine = sqrt((1.0 - cosine) * (1.0 + cosine));
  for (int sign = -1; sign <= 1; sign += 2) {
    double r[3];
    for (int i = 0; i < 3; i++) {
      r[i] = cosine * x[i] + sign * sine * y[i];
    }
    const double over = saltusi_dot3(r, w) - k * saltusi_dot3(second->a, w);
    if (over > highest) {
      highest = over;
      memcpy(best, r, sizeof r);
    }
  }
  double t, u, g[3], n[3];
  side_of(second, best, g, n);
  if (!cross_on(w, first->a, g, n, &t, &u)) {
    return false;
  }
  saltusi_spot_on_line(first, u);
  return saltusi_spot_on_cone(second, best, t);
}

/* r of a cone whose outward normal is n. */
static void away_from(const saltusi_closest_point* cone, const double n[3], double r[3]) {
  saltusi_along(-saltusi_dot3(n, cone->a), cone->a, n, r);
  const double length = sqrt(saltusi_dot3(r, r));
  for (int i = 0; i < 3; i++) {
    r[i] /= length;
  }
}

bool saltusi_meet_cones(saltusi_closest_point* first, saltusi_closest_point* second,
                        const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  const double sA = first->size[0] / sqrt(1.0 + first->size[0] * first->size[0]);
  const double sB = second->size[0] / sqrt(1.0 + second->size[0] * second->size[0]);
  double across[3], w[3], n[3] = {0.0, 0.0, 0.0}, back[3], highest = -INFINITY;
  const double c = saltusi_dot3(first->a, second->a);
  saltusi_cross(first->a, second->a, across);
  const double square = saltusi_dot3(across, across);
  /* n = x a_A + y a_B +- z across, n.a_A = sA, n.a_B = -sB */
  const double x = (sA + c * sB) / square, y = -(sB + c * sA) / square;
  const double left = 1.0 - x * sA + y * sB;
  if (!(square > 0.0) || !(left > 0.0)) {
    return false; /* parallel, or one inside of the cone of directions of the other */
  }
  const double z = sqrt(left / square);
  saltusi_minus3(first->origin, second->origin, w);
  for (int sign = -1; sign <= 1; sign += 2) {
    double other[3];
    for (int i = 0; i < 3; i++) {
      other[i] = x * first->a[i] + y * second->a[i] + sign * z * across[i];
    }
    if (saltusi_dot3(other, w) > highest) {
      highest = saltusi_dot3(other, w);
      memcpy(n, other, sizeof n);
    }
  }
  double rA[3], rB[3], gA[3], gB[3], nA[3], nB[3], t, u;
  saltusi_along(-2.0, n, n, back);
  away_from(first, back, rA);
  away_from(second, n, rB);
  side_of(first, rA, gA, nA);
  side_of(second, rB, gB, nB);
  if (!cross_on(w, gA, gB, nB, &t, &u) || !saltusi_spot_on_cone(first, rA, u)) {
    return false;
  }
  return saltusi_spot_on_cone(second, rB, t);
}

/* The support point of the ellipsoid against the normal at an angle; returns its offset from the
 * generator. */
static double beside(saltusi_closest_point* ellipsoid, const saltusi_closest_point* cone,
                     double angle, double r[3], double* height) {
  double g[3], n[3], back[3], w[3], turned[3];
  for (int i = 0; i < 3; i++) {
    r[i] = cos(angle) * cone->e[i] + sin(angle) * cone->f[i];
  }
  side_of(cone, r, g, n);
  saltusi_along(-2.0, n, n, back);
  saltusi_spot_of_support(ellipsoid, back);
  saltusi_minus3(ellipsoid->p, cone->origin, w);
  saltusi_cross(cone->a, r, turned);
  *height = saltusi_dot3(n, w);
  return saltusi_dot3(turned, w);
}

bool saltusi_meet_ellipsoid_cone(saltusi_closest_point* first, saltusi_closest_point* second,
                                 const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  enum { SAMPLES = 32 };
  const double step = 2.0 * acos(-1.0) / SAMPLES;
  double r[3], height, best = -INFINITY, low = 0.0, high = 0.0, w[3];
  double last = beside(first, second, -step, r, &height);
  for (int i = 0; i < SAMPLES; i++) { /* the height increases while the point is ahead of the
                                       * generator */
    const double now = beside(first, second, i * step, r, &height);
    if (last > 0.0 && now <= 0.0 && height > best) {
      best = height;
      low = (i - 1) * step;
      high = i * step;
    }
    last = now;
  }
  for (int i = 0; i < 80 && high - low > 1e-15; i++) {
    const double middle = 0.5 * (low + high);
    if (beside(first, second, middle, r, &height) > 0.0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  if (!(best > -INFINITY)) {
    return false;
  }
  beside(first, second, 0.5 * (low + high), r, &height);
  double g[3], n[3];
  side_of(second, r, g, n);
  saltusi_minus3(first->p, second->origin, w);
  return saltusi_spot_on_cone(second, r, saltusi_dot3(g, w));
}
