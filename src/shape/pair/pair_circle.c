/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_circle.c - closest points of circles.
 *
 * Line and circle: t is the angle from the direction of the line in the plane of the circle, p and q are the
 * components of the centre beside the line, k = R sin^2 of the angle between line and axis. Half of the squared
 * distance over R is, up to a constant,
 *
 *   p cos t + q sin t - k cos^2 t / 2
 *
 * In s = sin t it is convex on the half cos t > 0 where p <= 0, and where p > 0 convex between the two s with (1 -
 * s^2)^(3/2) = p / k and falling towards the ends. So each half has at most one minimum: branch 0 is that of cos t >
 * 0, branch 1 the other one. A branch without a minimum selects the existing one. Where p = 0 and |q| >= k, as for a
 * line orthogonal to the axis that crosses it, the only minimum is between the halves and counts as branch 0.
 *
 * Circle and circle, ellipsoid or side of a cone: the closest point there of a point of the circle has a closed form.
 * The minimum over the circle is bracketed by samples and found by its slope d . T = 0.
 */
#include "math/rotation.h"
#include "shape/pair/closest_points.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The terms of the formula above. */
typedef struct chord {
  double p, q, k;
  double along[3], beside[3]; /* t = 0 and t = 90 degrees */
} chord;

static double slope(const chord* c, double sign, double t) {
  return -sign * c->p * sin(t) + c->q * cos(t) + c->k * sin(t) * cos(t);
}

/* The minimum of one half, t from its midpoint; q is measured from there. False: there is none. */
static bool minimum_of_half(const chord* given, double sign, double* t) {
  chord c = *given;
  c.q *= sign;
  const double p = sign * c.p;
  double high = 0.5 * acos(-1.0);
  if (p > 0.0) {
    if (!(p < c.k)) {
      return false;
    }
    high = acos(cbrt(p / c.k));
  }
  double low = -high;
  /* at the ends of the half the slope is exactly p and -p, independent of the rounding of the
   * cosine */
  const bool inside = p < 0.0    ? true
                      : p == 0.0 ? fabs(c.q) < c.k
                                 : slope(&c, sign, low) < 0.0 && slope(&c, sign, high) > 0.0;
  if (!inside) {
    return false;
  }
  double x = 0.0;
  for (int i = 0; i < 100; i++) { /* Newton's method with a bracket */
    const double f = slope(&c, sign, x);
    if (f < 0.0) {
      low = x;
    } else {
      high = x;
    }
    const double df = -p * cos(x) - c.q * sin(x) + c.k * cos(2.0 * x);
    double next = x - f / df;
    if (df > 0.0 && fabs(next - x) < 1e-15) {
      x = next;
      break;
    }
    if (!(next > low && next < high)) {
      next = 0.5 * (low + high);
    }
    x = next;
  }
  *t = x;
  return true;
}

bool saltusi_meet_line_circle(saltusi_closest_point* first, saltusi_closest_point* second,
                              const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  double w[3], x = saltusi_dot3(first->a, second->e), y = saltusi_dot3(first->a, second->f);
  const double sine = sqrt(x * x + y * y), R = second->size[0];
  saltusi_minus3(second->origin, first->origin, w);
  saltusi_along(-saltusi_dot3(w, first->a), first->a, w, w);
  x = sine > 0.0 ? x / sine : 1.0;
  y = sine > 0.0 ? y / sine : 0.0;
  chord c = {.k = R * sine * sine};
  for (int i = 0; i < 3; i++) {
    c.along[i] = x * second->e[i] + y * second->f[i];
    c.beside[i] = x * second->f[i] - y * second->e[i];
  }
  c.p = saltusi_dot3(w, c.along);
  c.q = saltusi_dot3(w, c.beside);
  double sign = aim->branch == 1 ? -1.0 : 1.0, t;
  const bool between = c.p == 0.0 && fabs(c.q) >= c.k && c.q != 0.0;
  if (between ? aim->only && aim->branch == 1 : !minimum_of_half(&c, sign, &t)) {
    if (aim->only) {
      return false;
    }
    sign = -sign;
    if (!between && !minimum_of_half(&c, sign, &t)) {
      return false; /* the line is the axis */
    }
  }
  const double cosine = between ? 0.0 : sign * cos(t);
  const double turned = between ? (c.q > 0.0 ? -1.0 : 1.0) : sign * sin(t);
  saltusi_spot_on_circle(second, x * cosine - y * turned, y * cosine + x * turned);
  saltusi_minus3(second->p, first->origin, w);
  saltusi_spot_on_line(first, saltusi_dot3(w, first->a));
  return true;
}

/* A circle and a feature with a closed form of the closest point. */
typedef struct pair_circle_search {
  saltusi_closest_point* circle;
  saltusi_closest_point* other;
  saltusi_meet* foot;
  double x, y; /* the direction of angle 0 */
} pair_circle_search;

/* Signed distance and its slope at an angle of the circle. */
static bool look(const pair_circle_search* s, double angle, double* distance, double* rate) {
  const saltusi_aim aim = {0, {0.0, 0.0, 0.0}, false};
  const double cosine = cos(angle), sine = sin(angle);
  saltusi_spot_on_circle(s->circle, s->x * cosine - s->y * sine, s->y * cosine + s->x * sine);
  saltusi_closest_point point = {.kind = SALTUSI_FEATURE_POINT};
  memcpy(point.origin, s->circle->p, sizeof point.origin);
  if (!s->foot(&point, s->other, &aim)) {
    return false;
  }
  double d[3];
  saltusi_minus3(s->circle->p, s->other->p, d);
  const double length = sqrt(saltusi_dot3(d, d));
  const bool surface = s->other->k == 2;
  const double height = surface ? saltusi_dot3(d, s->other->normal) : length;
  *distance = height;
  *rate =
      surface ? saltusi_dot3(s->other->normal, s->circle->T[0]) : saltusi_dot3(d, s->circle->T[0]);
  return true;
}

enum { SAMPLES = 32 };

/* Measure that selects the least of several minima: distance of the point of the circle from the bounded feature.
 * The side of a cone ends at its tip and at its base; points close to its extension beyond these are not close to
 * it. */
static double measure(const pair_circle_search* s, double distance) {
  const saltusi_closest_point* cone = s->other;
  if (cone->kind != SALTUSI_FEATURE_CONE) {
    return distance;
  }
  double w[3];
  saltusi_minus3(s->circle->p, cone->origin, w);
  const double k = cone->size[0], end = cone->size[1] * sqrt(1.0 + k * k);
  const double beyond = fmax(-cone->u[0], cone->u[0] - end);
  if (beyond > 0.0) {
    return sqrt(distance * distance + beyond * beyond);
  }
  return saltusi_dot3(w, cone->a) > cone->size[1] ? fabs(distance) : distance;
}

/* The angle of a sign change of the slope, by bisection. */
static bool refine(const pair_circle_search* s, double low, double high, double* angle,
                   double* distance) {
  double rate;
  for (int i = 0; i < 80 && high - low > 1e-15; i++) {
    const double middle = 0.5 * (low + high);
    if (!look(s, middle, distance, &rate)) {
      return false;
    }
    if (rate < 0.0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  *angle = 0.5 * (low + high);
  return look(s, *angle, distance, &rate);
}

/* The least minimum of the half circle about angle 0, or pi for branch 1. A closed contact is followed beyond its
 * half by `more` samples; in lists every minimum belongs to one half. */
static bool least_of_half(const pair_circle_search* s, int branch, int more) {
  const double pi = acos(-1.0), start = branch == 1 ? 0.5 * pi : -0.5 * pi, step = pi / SAMPLES;
  double best = INFINITY, at = 0.0, distance, rate, last = 0.0;
  for (int i = -more; i <= SAMPLES + more; i++) {
    const double angle = start + i * step;
    /* at their common ends both halves use the same angle, hence the same slope */
    if (!look(s, branch == 1 && i == SAMPLES ? -0.5 * pi : angle, &distance, &rate)) {
      return false;
    }
    if (i > -more && last < 0.0 && rate >= 0.0) {
      double found;
      if (!refine(s, angle - step, angle, &found, &distance)) {
        return false;
      }
      distance = measure(s, distance);
      if (distance < best) {
        best = distance;
        at = found;
      }
    }
    last = rate;
  }
  return best < INFINITY && look(s, at, &distance, &rate);
}

/* The minimum of a branch; if it has none, of the other one. */
static bool least_of_circle(const pair_circle_search* s, const saltusi_aim* aim) {
  return aim->only ? least_of_half(s, aim->branch, 0)
                   : least_of_half(s, aim->branch, 1) || least_of_half(s, 1 - aim->branch, 1);
}

/* Angle 0: the direction to the centre of the other feature, or the common normal of the axes of two tilted
 * circles. */
static void aim_at(pair_circle_search* s) {
  double w[3], across[3];
  saltusi_minus3(s->other->origin, s->circle->origin, w);
  saltusi_cross(s->circle->a, s->other->a, across);
  const bool ring = s->other->kind == SALTUSI_FEATURE_CIRCLE;
  const double* towards = ring && saltusi_dot3(across, across) > 1e-12 ? across : w;
  const double x = saltusi_dot3(towards, s->circle->e), y = saltusi_dot3(towards, s->circle->f);
  const double length = sqrt(x * x + y * y);
  s->x = length > 0.0 ? x / length : 1.0;
  s->y = length > 0.0 ? y / length : 0.0;
}

bool saltusi_meet_circles(saltusi_closest_point* first, saltusi_closest_point* second,
                          const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  pair_circle_search s = {.circle = first, .other = second, .foot = saltusi_meet_point_circle};
  aim_at(&s);
  return least_of_circle(&s, aim);
}

bool saltusi_circle_has_halves(const saltusi_closest_points* at) {
  assert(at != NULL);
  const saltusi_feature_kind other = at->spot[1 - at->first].kind;
  return at->spot[at->first].kind == SALTUSI_FEATURE_CIRCLE &&
         (other == SALTUSI_FEATURE_CIRCLE || other == SALTUSI_FEATURE_ELLIPSOID ||
          other == SALTUSI_FEATURE_CONE);
}

double saltusi_circle_side(const saltusi_closest_points* at, int branch) {
  assert(at != NULL);
  saltusi_closest_point first = at->spot[at->first], second = at->spot[1 - at->first];
  pair_circle_search s = {.circle = &first, .other = &second};
  aim_at(&s);
  double from[3];
  saltusi_minus3(first.p, first.origin, from);
  const double along = s.x * saltusi_dot3(from, first.e) + s.y * saltusi_dot3(from, first.f);
  const double beyond = 0.5 * sin(acos(-1.0) / SAMPLES); /* half of the overlap of the branches
                                                          * in least_of_half */
  return (branch == 1 ? -along : along) / first.size[0] + beyond;
}

bool saltusi_meet_circle_ellipsoid(saltusi_closest_point* first, saltusi_closest_point* second,
                                   const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  pair_circle_search s = {.circle = first, .other = second, .foot = saltusi_meet_point_ellipsoid};
  aim_at(&s);
  return least_of_circle(&s, aim);
}

bool saltusi_meet_circle_cone(saltusi_closest_point* first, saltusi_closest_point* second,
                              const saltusi_aim* aim) {
  assert(first != NULL && second != NULL && aim != NULL);
  pair_circle_search s = {.circle = first, .other = second, .foot = saltusi_meet_point_cone};
  aim_at(&s);
  return least_of_circle(&s, aim);
}
