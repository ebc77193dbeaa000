/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_surface.c - closest points of ellipsoids.
 *
 * Ellipsoid with semi-axes s_i, y a point in its axes: x_i = s_i^2 y_i / (t + s_i^2), t the root of sum (s_i y_i / (t
 * + s_i^2))^2 = 1 to the right of -min s_i^2 (Eberly, Distance from a point to an ellipse, 2013). The function
 * decreases and is convex there, so Newton's method converges from the left without leaving the bracket. A line
 * reduces to a point and the projection of the ellipsoid along the line. Two ellipsoids: the largest s(n) = n.(c_A -
 * c_B) - |L_A n| - |L_B n| over directions n, L = diag(s) in own axes, by Newton's method on the sphere; -s'' = H_A +
 * H_B + s is definite unless the two overlap deeply.
 */
#include "math/rotation.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { ITERATIONS = 100 };

/* The function above and its slope, with x measured from the left end, which avoids cancellation there: t + s_i^2
 * = x + beyond_i. The shortest axis has no term where the point is in the middle of it. */
static double over_root(int n, const double s[3], const double beyond[3], const double y[3],
                        double x, double* slope) {
  double f = -1.0;
  *slope = 0.0;
  for (int k = 0; k < n; k++) {
    const double part = x + beyond[k], ratio = part > 0.0 ? s[k] * y[k] / part : 0.0;
    f += ratio * ratio;
    *slope -= part > 0.0 ? 2.0 * ratio * ratio / part : 0.0;
  }
  return f;
}

/* t + s_i^2 at the root t above, for n semi-axes and a point in their axes; false: the point is so deep inside
 * that there is no root. */
static bool foot_of_ellipse(int n, const double s[3], const double y[3], double part[3]) {
  double beyond[3], least = INFINITY, x = 0.0, slope;
  for (int i = 0; i < n; i++) {
    least = fmin(least, s[i]);
  }
  for (int i = 0; i < n; i++) {
    beyond[i] = (s[i] - least) * (s[i] + least);
    x = fmax(x, s[i] * fabs(y[i]) - beyond[i]);
  }
  if (!(x > 0.0) && !(over_root(n, s, beyond, y, x, &slope) > 0.0)) {
    return false;
  }
  for (int i = 0; i < 10 * ITERATIONS; i++) { /* near the left end x increases by factors of 1.5 */
    const double f = over_root(n, s, beyond, y, x, &slope);
    const double next = x - f / slope;
    if (!(f > 0.0) || !(next > x)) {
      break;
    }
    x = next;
  }
  for (int i = 0; i < n; i++) {
    part[i] = x + beyond[i];
  }
  return isfinite(x);
}

/* Local parameters at the point with the given components along the axes: x = L z, |z| = 1; z moves to first order
 * along two directions normal to it, and to second order towards the centre. */
static void set_ellipsoid(saltusi_closest_point* spot, const double x[3]) {
  const double* axis[3] = {spot->e, spot->f, spot->a};
  double z[3], t[2][3], length = 0.0;
  for (int k = 0; k < 3; k++) {
    z[k] = x[k] / spot->size[k];
    length += z[k] * z[k];
  }
  length = sqrt(length);
  int least = 0;
  for (int k = 0; k < 3; k++) {
    z[k] /= length;
    least = fabs(z[k]) < fabs(z[least]) ? k : least;
  }
  const double other[3] = {least == 0, least == 1, least == 2};
  saltusi_cross(z, other, t[0]);
  const double across = sqrt(saltusi_dot3(t[0], t[0]));
  for (int k = 0; k < 3; k++) {
    t[0][k] /= across;
  }
  saltusi_cross(z, t[0], t[1]);
  memset(spot->T, 0, sizeof spot->T);
  memset(spot->H, 0, sizeof spot->H);
  memset(spot->normal, 0, sizeof spot->normal);
  double steep = 0.0;
  for (int k = 0; k < 3; k++) {
    steep += (z[k] / spot->size[k]) * (z[k] / spot->size[k]);
  }
  memcpy(spot->p, spot->origin, sizeof spot->p);
  for (int k = 0; k < 3; k++) {
    saltusi_along(spot->size[k] * z[k], axis[k], spot->p, spot->p);
    saltusi_along(spot->size[k] * t[0][k], axis[k], spot->T[0], spot->T[0]);
    saltusi_along(spot->size[k] * t[1][k], axis[k], spot->T[1], spot->T[1]);
    saltusi_along(-spot->size[k] * z[k], axis[k], spot->H[0], spot->H[0]);
    saltusi_along(z[k] / (spot->size[k] * sqrt(steep)), axis[k], spot->normal, spot->normal);
  }
  memcpy(spot->H[2], spot->H[0], sizeof spot->H[0]);
  spot->u[0] = spot->u[1] = 0.0;
}

void saltusi_spot_of_support(saltusi_closest_point* spot, const double n[3]) {
  assert(spot != NULL && n != NULL && spot->kind == SALTUSI_FEATURE_ELLIPSOID);
  const double* axis[3] = {spot->e, spot->f, spot->a};
  double x[3];
  for (int k = 0; k < 3; k++) {
    x[k] = spot->size[k] * spot->size[k] * saltusi_dot3(axis[k], n);
  }
  set_ellipsoid(spot, x);
}

bool saltusi_meet_point_ellipsoid(saltusi_closest_point* first, saltusi_closest_point* second,
                                  const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  double w[3], x[3], part[3];
  memcpy(first->p, first->origin, sizeof first->p);
  saltusi_minus3(first->origin, second->origin, w);
  const double y[3] = {saltusi_dot3(w, second->e), saltusi_dot3(w, second->f),
                       saltusi_dot3(w, second->a)};
  if (!foot_of_ellipse(3, second->size, y, part)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    x[k] = second->size[k] * second->size[k] * y[k] / part[k];
  }
  set_ellipsoid(second, x);
  return true;
}

bool saltusi_meet_plane_ellipsoid(saltusi_closest_point* first, saltusi_closest_point* second,
                                  const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  const double down[3] = {-first->a[0], -first->a[1], -first->a[2]};
  saltusi_spot_of_support(second, down);
  saltusi_spot_on_plane(first, second->p);
  return true;
}

/* L n of an ellipsoid, in its own axes. */
static void stretched(const saltusi_closest_point* spot, const double n[3], double out[3]) {
  out[0] = spot->size[0] * saltusi_dot3(spot->e, n);
  out[1] = spot->size[1] * saltusi_dot3(spot->f, n);
  out[2] = spot->size[2] * saltusi_dot3(spot->a, n);
}

bool saltusi_meet_line_ellipsoid(saltusi_closest_point* first, saltusi_closest_point* second,
                                 const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  /* the projection has the support function sqrt(n^T Q n) for n normal to the line; Q in the axes e, f of the line */
  double Le[3], Lf[3], w[3], part[3];
  stretched(second, first->e, Le);
  stretched(second, first->f, Lf);
  const double a = saltusi_dot3(Le, Le), b = saltusi_dot3(Le, Lf), c = saltusi_dot3(Lf, Lf);
  const double half = 0.5 * (a - c), root = sqrt(half * half + b * b);
  const double large = 0.5 * (a + c) + root, small = (a * c - b * b) / large;
  const double angle = 0.5 * atan2(2.0 * b, a - c);
  const double s[3] = {sqrt(large), sqrt(fmax(small, 0.0)), 0.0};
  double main[3], other[3], n[3];
  for (int k = 0; k < 3; k++) {
    main[k] = cos(angle) * first->e[k] + sin(angle) * first->f[k];
    other[k] = cos(angle) * first->f[k] - sin(angle) * first->e[k];
  }
  saltusi_minus3(first->origin, second->origin, w);
  const double y[3] = {saltusi_dot3(w, main), saltusi_dot3(w, other), 0.0};
  if (!(s[1] > 0.0) || !foot_of_ellipse(2, s, y, part)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    n[k] = main[k] * y[0] / part[0] + other[k] * y[1] / part[1];
  }
  saltusi_spot_of_support(second, n);
  saltusi_minus3(second->p, first->origin, w);
  saltusi_spot_on_line(first, saltusi_dot3(w, first->a));
  return true;
}

/* Adds value, gradient and second derivatives (xx, xy, xz, yy, yz, zz) of -|L n|. */
static void add_radius(const saltusi_closest_point* spot, const double n[3], double* s, double g[3],
                       double H[6]) {
  const double* axis[3] = {spot->e, spot->f, spot->a};
  double L[3], Dn[3] = {0.0, 0.0, 0.0};
  stretched(spot, n, L);
  const double length = sqrt(saltusi_dot3(L, L));
  for (int k = 0; k < 3; k++) {
    saltusi_along(spot->size[k] * L[k], axis[k], Dn, Dn);
  }
  *s -= length;
  int place = 0;
  for (int i = 0; i < 3; i++) {
    g[i] -= Dn[i] / length;
    for (int j = i; j < 3; j++) {
      double D = 0.0;
      for (int k = 0; k < 3; k++) {
        D += spot->size[k] * spot->size[k] * axis[k][i] * axis[k][j];
      }
      H[place++] -= (D - Dn[i] * Dn[j] / (length * length)) / length;
    }
  }
}

static double height(const saltusi_closest_point* A, const saltusi_closest_point* B,
                     const double w[3], const double n[3], double g[3], double H[6]) {
  double s = saltusi_dot3(n, w);
  memcpy(g, w, 3 * sizeof *g);
  memset(H, 0, 6 * sizeof *H);
  add_radius(A, n, &s, g, H);
  add_radius(B, n, &s, g, H);
  return s;
}

/* n + x e + y f, of length 1. */
static void turn_to(const double n[3], const double e[3], const double f[3], double x, double y,
                    double out[3]) {
  const double length = sqrt(1.0 + x * x + y * y);
  for (int k = 0; k < 3; k++) {
    out[k] = (n[k] + x * e[k] + y * f[k]) / length;
  }
}

static double product(const double H[6], const double x[3], const double y[3]) {
  return x[0] * (H[0] * y[0] + H[1] * y[1] + H[2] * y[2]) +
         x[1] * (H[1] * y[0] + H[3] * y[1] + H[4] * y[2]) +
         x[2] * (H[2] * y[0] + H[4] * y[1] + H[5] * y[2]);
}

/* One step of Newton's method on the sphere, shortened until s increases; false: no increase. */
static bool climb(const saltusi_closest_point* A, const saltusi_closest_point* B, const double w[3],
                  double n[3]) {
  double g[3], H[6], e[3], f[3], next[3], unused[3], also[6];
  const double s = height(A, B, w, n, g, H);
  int least = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
  least = fabs(n[2]) < fabs(n[least]) ? 2 : least;
  const double axis[3] = {least == 0, least == 1, least == 2};
  saltusi_cross(n, axis, e);
  const double length = sqrt(saltusi_dot3(e, e));
  for (int k = 0; k < 3; k++) {
    e[k] /= length;
  }
  saltusi_cross(n, e, f);
  const double ge = saltusi_dot3(g, e), gf = saltusi_dot3(g, f);
  double a = s - product(H, e, e), b = -product(H, e, f), c = s - product(H, f, f);
  const double middle = 0.5 * (a + c), spread = sqrt(0.25 * (a - c) * (a - c) + b * b);
  const double lowest = 1e-3 * (fabs(middle) + spread);
  if (middle - spread < lowest) { /* deep overlap: shift the Hessian, still an ascent direction */
    a += lowest - (middle - spread);
    c += lowest - (middle - spread);
  }
  const double determinant = a * c - b * b;
  double x = (c * ge - b * gf) / determinant, y = (a * gf - b * ge) / determinant;
  const double step = sqrt(x * x + y * y);
  if (step > 0.5) {
    x *= 0.5 / step;
    y *= 0.5 / step;
  }
  for (int i = 0; i < 40; i++) {
    turn_to(n, e, f, x, y, next);
    if (height(A, B, w, next, unused, also) > s) {
      memcpy(n, next, sizeof next);
      return true;
    }
    if (step < 1e-7) { /* last step: its effect on s is below rounding, that on the normal is not */
      memcpy(n, next, sizeof next);
      return false;
    }
    x *= 0.5;
    y *= 0.5;
  }
  return false;
}

bool saltusi_meet_ellipsoids(saltusi_closest_point* first, saltusi_closest_point* second,
                             const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  (void)aim;
  double w[3], n[3];
  saltusi_minus3(first->origin, second->origin, w);
  const double length = sqrt(saltusi_dot3(w, w));
  if (!(length > 0.0)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    n[k] = w[k] / length;
  }
  for (int i = 0; i < ITERATIONS; i++) {
    if (!climb(first, second, w, n)) {
      break;
    }
  }
  const double back[3] = {-n[0], -n[1], -n[2]};
  saltusi_spot_of_support(first, back);
  saltusi_spot_of_support(second, n);
  memcpy(second->normal, n, sizeof n);
  memcpy(first->normal, back, sizeof back);
  return true;
}
