/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_ring.c - distance of a torus from another shape: least distance of its circle, by branch and bound.
 *
 * The signed distance f of a point from a convex solid is convex, from a circle nearly so, and its gradient is the
 * normal n at the foot. With c(t) the circle, radius R, r and T its directions outwards and along at t0,
 *
 *   f(c(t0 + x)) >= f(c(t0)) + R (n.T sin x - n.r (1 - cos x)) - k d^2 / 2,     d = 2 R |sin(x / 2)|,
 *
 * k = 0 for convex solids. For a circle of radius S, k bounds the negative curvature of the distance within d: with q
 * the distance from its axis, f has the second derivatives 1 / f, 0 and (q - S) / (q f), so that k = (S - q)/(q f) at
 * q - d, f - d. Also f has the Lipschitz constant 1. Arcs whose lower bound exceeds the least distance found are
 * discarded, the others are halved (docs/theory/contact-geometry.md). Symmetric cases, such as coaxial rings, end
 * with arcs left; `slack` is then the distance to their lower bounds.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A circle in axes of the solid. */
typedef struct ring {
  const saltusi_shape* solid;
  double centre[3], e[3], f[3];
  double R, rho;
} ring;

/* A point of the circle. */
typedef struct place {
  double angle;
  double distance; /* from the surface of the solid, m */
  double normal[3], point[3];
  double along, away; /* of the normal: n.T, n.r */
  bool known;         /* false: f has no gradient at this point */
} place;

static void look(const ring* c, double angle, place* out) {
  const double cosine = cos(angle), sine = sin(angle);
  double away[3], along[3];
  for (int k = 0; k < 3; k++) {
    away[k] = cosine * c->e[k] + sine * c->f[k];
    along[k] = cosine * c->f[k] - sine * c->e[k];
    out->point[k] = c->centre[k] + c->R * away[k];
  }
  saltusi_foot foot;
  out->angle = angle;
  out->known = saltusi_foot_of(c->solid, out->point, &foot);
  if (!out->known) { /* on the axis of a capsule or torus */
    const saltusi_feature* f = &c->solid->feature[c->solid->stored - 1];
    double w[3];
    saltusi_minus3(out->point, f->p, w);
    const bool torus = c->solid->kind == SALTUS_SHAPE_TORUS;
    foot.distance = (torus ? hypot(f->size[0], saltusi_dot3(w, f->a)) : 0.0) - f->rho;
    memcpy(foot.normal, f->e, sizeof foot.normal);
  }
  out->distance = foot.distance;
  memcpy(out->normal, foot.normal, sizeof out->normal);
  out->along = saltusi_dot3(foot.normal, along);
  out->away = saltusi_dot3(foot.normal, away);
}

/* Bound of the negative curvature of f within d of a point. */
static double bend_within(const ring* c, const place* at, double d) {
  if (c->solid->kind != SALTUS_SHAPE_TORUS) {
    return 0.0;
  }
  const saltusi_feature* f = &c->solid->feature[SALTUSI_TORUS_CIRCLE - 1];
  double w[3], r[3];
  saltusi_minus3(at->point, f->p, w);
  const double q = saltusi_away_from(f->a, w, r) - d, least = at->distance + f->rho - d;
  return q > 0.0 && least > 0.0 ? fmax(0.0, f->size[0] - q) / (q * least) : INFINITY;
}

/* Lower bound of the distance on an arc of half angle `half` about a point. */
static double least_about(const ring* c, const place* at, double half) {
  const double d = 2.0 * c->R * sin(0.5 * half);
  const double by_speed = at->distance - d;
  if (!at->known) {
    return by_speed;
  }
  const double bend = bend_within(c, at, d);
  const double fall =
      c->R * (fabs(at->along) * sin(half) + fmax(0.0, at->away) * (1.0 - cos(half)));
  return bend < INFINITY ? fmax(by_speed, at->distance - fall - 0.5 * bend * d * d) : by_speed;
}

enum { FIRST = 32, MOST = 256 };

/* Arcs of one width, by their midpoints. */
typedef struct arcs {
  int count;
  double middle[MOST];
} arcs;

static void keep_nearer(const place* at, place* best) {
  if (at->distance < best->distance) {
    *best = *at;
  }
}

/* Tolerance of the bound: rounding, or 1e-6 of the gap. */
static double left_open(const ring* c, const place* best) {
  const double size = sqrt(saltusi_dot3(c->centre, c->centre)) + c->R + c->solid->size;
  return fmax(64.0 * DBL_EPSILON * size, 1e-6 * (best->distance - c->rho));
}

/* Evaluates arcs and keeps those that may contain a closer point than `best`; `bound`: lower bound of the distance
 * on the arcs kept. */
static void sift(const ring* c, double half, arcs* list, place* best, double* bound) {
  double least[MOST];
  for (int i = 0; i < list->count; i++) {
    place at;
    look(c, list->middle[i], &at);
    keep_nearer(&at, best);
    least[i] = least_about(c, &at, half);
  }
  const double enough = best->distance - left_open(c, best);
  int kept = 0;
  *bound = INFINITY;
  for (int i = 0; i < list->count; i++) {
    if (!(least[i] >= enough)) {
      *bound = fmin(*bound, least[i]);
      list->middle[kept++] = list->middle[i];
    }
  }
  list->count = kept;
}

/* A point beyond the minimum: the slope has changed its sign, within 16 steps. */
static bool turned_up(const ring* c, const place* from, double step, place* up) {
  const double way = from->along > 0.0 ? -step : step;
  for (int i = 1; i <= 16; i++) {
    look(c, from->angle + i * way, up);
    if (up->known && up->along * way >= 0.0) {
      return true;
    }
  }
  return false;
}

/* Refines the closest point found to the stationary point of the distance next to it: every third step bisects,
 * the others are secant steps. */
static void settle(const ring* c, double step, place* best) {
  place from = *best, up;
  if (!from.known || from.along == 0.0 || !turned_up(c, &from, step, &up)) {
    return;
  }
  for (int i = 0; i < 100 && fabs(up.angle - from.angle) > 4.0 * DBL_EPSILON; i++) {
    const double width = up.angle - from.angle;
    const double part = i % 3 == 2 ? 0.5 : from.along / (from.along - up.along);
    place at;
    look(c, from.angle + width * part, &at);
    keep_nearer(&at, best);
    if (!at.known || at.angle == from.angle || at.angle == up.angle || at.along == 0.0) {
      break;
    }
    if ((at.along < 0.0) == (from.along < 0.0)) {
      from = at;
    } else {
      up = at;
    }
  }
}

/* The closest point of the circle, with an error of the distance of at most `slack`. */
static void nearest(const ring* c, place* best, double* slack) {
  double half = acos(-1.0) / FIRST, bound = INFINITY;
  arcs list = {.count = FIRST};
  for (int i = 0; i < FIRST; i++) {
    list.middle[i] = 2.0 * half * i;
  }
  best->distance = INFINITY;
  sift(c, half, &list, best, &bound);
  while (list.count > 0 && 2 * list.count <= MOST && half > 1e-9) {
    half *= 0.5;
    for (int i = list.count - 1; i >= 0; i--) { /* split in place */
      const double middle = list.middle[i];
      list.middle[2 * i] = middle - half;
      list.middle[2 * i + 1] = middle + half;
    }
    list.count *= 2;
    sift(c, half, &list, best, &bound);
  }
  const double found = best->distance;
  *slack = left_open(c, best);
  *slack = list.count > 0 ? fmax(*slack, found - bound) : *slack;
  settle(c, half, best);
}

void saltusi_ring_separation(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  const bool first = two->A->kind == SALTUS_SHAPE_TORUS;
  const saltusi_shape* torus = first ? two->A : two->B;
  const saltusi_body_pose* at = first ? two->a : two->b;
  const saltusi_body_pose* solid_at = first ? two->b : two->a;
  const saltusi_feature* circle = &torus->feature[SALTUSI_TORUS_CIRCLE - 1];
  ring c = {.solid = first ? two->B : two->A, .R = circle->size[0], .rho = circle->rho};
  double world[3], other[3];
  saltusi_seen_from(solid_at, at, circle->p, c.centre);
  saltusi_turn(at->R, circle->e, world);
  saltusi_turn_back(solid_at->R, world, c.e);
  saltusi_cross(circle->a, circle->e, other);
  saltusi_turn(at->R, other, world);
  saltusi_turn_back(solid_at->R, world, c.f);
  place best = {0};
  nearest(&c, &best, &out->slack);
  out->distance = best.distance - circle->rho;
  /* on the surface of B, the normal from B to A */
  const double beyond = first ? best.distance : circle->rho;
  double point[3];
  saltusi_turn(solid_at->R, best.normal, world);
  saltusi_turn(solid_at->R, best.point, point);
  for (int k = 0; k < 3; k++) {
    out->normal[k] = first ? world[k] : -world[k];
    out->point[k] = solid_at->x[k] + point[k] - beyond * world[k];
  }
}
