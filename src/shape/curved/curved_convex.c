/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_convex.c - separation of two convex shapes by their support functions.
 *
 * Separated: the point v of least norm of A - B by the algorithm of Gilbert, Johnson and Keerthi (1988). For every
 * direction n the value min n.(a - b) is a lower bound of the distance. The largest of these bounds is returned; its
 * error is of second order in the error of n. Overlapping: the same value, negative, is the translation along n that
 * separates the shapes. Its maximum over all directions is found by a multi-start search, with a compass search about
 * the best start.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  ITERATIONS = 200,
  STARTS = 200,
  CLIMBS = 8,
  ROUNDS = 100, /* number of starts: few for slight overlaps, more for deep ones */
  DIRECTIONS = 10,
  LONG = 1024, /* rounds of a climb; 20 of 10^4 arbitrary pairs of shapes take more */
  STRIDE = 16,
  LONGEST = 16384
};

/* Overlaps below this fraction of the size of the smaller shape are usual in time steps: no other axis is searched. */
static const double touching = 1e-6;

static void support(const saltusi_shape* shape, const saltusi_body_pose* at, const double n[3],
                    double sign, double out[3]) {
  double own[3], point[3], direction[3] = {sign * n[0], sign * n[1], sign * n[2]};
  saltusi_turn_back(at->R, direction, own);
  if (shape->polytope != NULL) {
    const int v = saltusi_polytope_support(shape->polytope, own, 0);
    saltusi_along(shape->rho, own, shape->polytope->vertex[v], point);
  } else {
    saltusi_support_of(shape, own, point);
  }
  saltusi_turn(at->R, point, out);
}

/* The point of A - B with the least product with n, and its point on B. */
static void lowest(const saltusi_two* two, const double n[3], double out[3], double on_B[3]) {
  double pA[3];
  support(two->A, two->a, n, -1.0, pA);
  support(two->B, two->b, n, 1.0, on_B);
  for (int k = 0; k < 3; k++) {
    out[k] = (two->a->x[k] - two->b->x[k]) + (pA[k] - on_B[k]);
  }
}

/* A simplex of points of A - B. */
typedef struct simplex {
  int count;
  double w[4][3], on_B[4][3];
  double weight[4];
  double v[3];
} simplex;

/* The point of least norm of the affine hull of a subset, if it is in the simplex; weights of
 * all points. */
static bool of_subset(const simplex* s, int subset, double weight[4], double v[3]) {
  int member[4], n = 0;
  double e[3][3], M[16], b[4];
  for (int i = 0; i < s->count; i++) {
    if ((subset >> i) % 2 == 1) {
      member[n++] = i;
    }
  }
  for (int i = 1; i < n; i++) {
    saltusi_minus3(s->w[member[i]], s->w[member[0]], e[i - 1]);
  }
  for (int i = 0; i + 1 < n; i++) {
    b[i] = -saltusi_dot3(e[i], s->w[member[0]]);
    for (int j = 0; j + 1 < n; j++) {
      M[4 * i + j] = saltusi_dot3(e[i], e[j]);
    }
  }
  if (!saltusi_solve_small(n - 1, M, b)) {
    return false;
  }
  double first = 1.0;
  memset(weight, 0, 4 * sizeof *weight);
  memcpy(v, s->w[member[0]], 3 * sizeof *v);
  for (int i = 0; i + 1 < n; i++) {
    if (!(b[i] > 0.0)) {
      return false;
    }
    weight[member[i + 1]] = b[i];
    first -= b[i];
    saltusi_along(b[i], e[i], v, v);
  }
  weight[member[0]] = first;
  return first > 0.0;
}

/* Keeps the vertices of the face that contains the point of least norm. */
static void reduce(simplex* s) {
  double least = INFINITY, kept[4] = {0.0, 0.0, 0.0, 0.0};
  for (int subset = 1; subset < 1 << s->count; subset++) {
    double weight[4], v[3];
    if (of_subset(s, subset, weight, v) && saltusi_dot3(v, v) < least) {
      least = saltusi_dot3(v, v);
      memcpy(kept, weight, sizeof kept);
      memcpy(s->v, v, sizeof v);
    }
  }
  int n = 0;
  for (int i = 0; i < s->count; i++) {
    if (kept[i] > 0.0) {
      memmove(s->w[n], s->w[i], sizeof s->w[i]);
      memmove(s->on_B[n], s->on_B[i], sizeof s->on_B[i]);
      s->weight[n++] = kept[i];
    }
  }
  s->count = n;
}

static double value(const saltusi_two* two, const double n[3]) {
  double low[3], on_B[3];
  lowest(two, n, low, on_B);
  return saltusi_dot3(n, low);
}

static void try(const saltusi_two* two, const double n[3], saltusi_separation* best) {
  const double length = sqrt(saltusi_dot3(n, n));
  const double unit[3] = {n[0] / length, n[1] / length, n[2] / length};
  const double height = length > 0.0 ? value(two, unit) : -INFINITY;
  if (height > best->distance) {
    best->distance = height;
    memcpy(best->normal, unit, sizeof unit);
  }
}

/* Normals of faces, and normals of pairs of axes or edges: the directions of least depth of sharp shapes are among
 * these. */
static void try_axes(const saltusi_two* two, saltusi_separation* best) {
  double axis[2][3];
  for (int s = 0; s < 2; s++) {
    const saltusi_shape* shape = s == 0 ? two->A : two->B;
    const saltusi_body_pose* at = s == 0 ? two->a : two->b;
    for (int i = 0; i < shape->stored; i++) {
      if (shape->feature[i].kind == SALTUSI_FEATURE_PLANE) {
        double n[3], back[3];
        saltusi_turn(at->R, shape->feature[i].a, n);
        saltusi_along(-2.0, n, n, back);
        try(two, s == 0 ? back : n, best);
      }
    }
    saltusi_turn(at->R, shape->feature[shape->stored - 1].a, axis[s]);
  }
  for (int s = 0; s < 2; s++) { /* axis of one, edges and axis of the other */
    const saltusi_shape* other = s == 0 ? two->B : two->A;
    const saltusi_body_pose* at = s == 0 ? two->b : two->a;
    for (int i = 0; i < other->stored; i++) {
      if (other->feature[i].kind == SALTUSI_FEATURE_LINE) {
        double edge[3], n[3], back[3];
        saltusi_turn(at->R, other->feature[i].a, edge);
        saltusi_cross(axis[s], edge, n);
        saltusi_along(-2.0, n, n, back);
        try(two, n, best);
        try(two, back, best);
      }
    }
  }
}

/* Line search from the normal of `best`, away from `from`, with step doubling while the value
 * increases. */
static void go_on(const saltusi_two* two, const double from[3], saltusi_separation* best) {
  double start[3], way[3], before = -INFINITY;
  memcpy(start, best->normal, sizeof start);
  saltusi_minus3(start, from, way);
  for (double far = 1.0; best->distance > before; far *= 2.0) {
    double n[3];
    before = best->distance;
    saltusi_along(far, way, start, n);
    try(two, n, best);
  }
}

/* Compass search uphill from `best`. A long climb zigzags along a ridge, which is as narrow as a shape is thin.
 * After LONG rounds a line search along the displacement is added, and LONGEST bounds the rounds. */
static void climb(const saltusi_two* two, double first, saltusi_separation* best) {
  double turn = 0.0, from[3] = {0.0, 0.0, 0.0};
  int rounds = 0;
  for (double step = first; step > 1e-9 && rounds < LONGEST;) { /* the error of the value is of
                                                                 * second order */
    if (++rounds >= LONG && rounds % STRIDE == 0) {
      if (rounds > LONG) {
        go_on(two, from, best);
      }
      memcpy(from, best->normal, sizeof from);
    }
    const double before = best->distance;
    double e[3], f[3], centre[3];
    memcpy(centre, best->normal, sizeof centre);
    saltusi_normal_to(centre, e);
    saltusi_cross(centre, e, f);
    for (int i = 0; i < DIRECTIONS && !(best->distance > before); i++) {
      const double angle = turn + 6.283185307179586 * i / DIRECTIONS;
      double n[3];
      saltusi_along(step * cos(angle), e, centre, n);
      saltusi_along(step * sin(angle), f, n, n);
      try(two, n, best);
    }
    step *= best->distance > before ? 1.5 : 0.5;
    turn += 0.7; /* so that narrow ridges between two slopes are found as well */
  }
}

/* Resolves a distance between the bounds `out` and `above`: by the least gap of pairs of features if it is between
 * these, else by a climb. */
static void polish(const saltusi_two* two, double above, saltusi_separation* out) {
  saltusi_separation least = {.distance = INFINITY};
  const double rounding = 16.0 * DBL_EPSILON * (two->A->size + two->B->size);
  const saltusi_listing list = {.two = two,
                                .reach = above + rounding,
                                .sine = 1e-3,
                                .delta = 1e-2,
                                .best = out,
                                .least = &least};
  saltusi_list_features(&list);
  if (least.distance >= out->distance - rounding && least.distance <= above + rounding) {
    *out = least;
  } else {
    climb(two, sqrt(2.0 * (above - out->distance) / above), out);
  }
}

/* True: separated; out is the separation. */
static bool apart(const saltusi_two* two, saltusi_separation* out) {
  simplex s = {.count = 1};
  double start[3] = {1.0, 0.0, 0.0}, low[3], on_B[3];
  lowest(two, start, s.w[0], s.on_B[0]);
  s.weight[0] = 1.0;
  memcpy(s.v, s.w[0], sizeof s.v);
  out->distance = 0.0;
  const double size = two->A->size + two->B->size;
  double above = INFINITY; /* upper bound of the distance */
  bool found = false;
  for (int i = 0; i < ITERATIONS; i++) {
    const double norm = sqrt(saltusi_dot3(s.v, s.v));
    if (!(norm > 4.0 * DBL_EPSILON * size)) {
      return found;
    }
    above = norm;
    const double n[3] = {s.v[0] / norm, s.v[1] / norm, s.v[2] / norm};
    lowest(two, n, low, on_B);
    const double bound = saltusi_dot3(n, low);
    if (bound > out->distance) {
      found = true;
      out->distance = bound;
      memcpy(out->normal, n, sizeof n);
      memcpy(out->point, two->b->x, sizeof out->point);
      for (int k = 0; k < s.count; k++) {
        saltusi_along(s.weight[k], s.on_B[k], out->point, out->point);
      }
    }
    if (norm - out->distance <= 4.0 * DBL_EPSILON * size) {
      break;
    }
    memcpy(s.w[s.count], low, sizeof low);
    memcpy(s.on_B[s.count], on_B, sizeof on_B);
    s.count++;
    reduce(&s);
    if (s.count == 4 || !(sqrt(saltusi_dot3(s.v, s.v)) < norm)) {
      break; /* the origin is inside, or no progress within rounding */
    }
  }
  if (found && above - out->distance > 64.0 * DBL_EPSILON * size) {
    polish(two, above, out); /* stopped by rounding */
  }
  return found;
}

/* Maximises over the directions normal to a line (offset 0) or the normals of a cone, along which the value has a
 * ridge. */
static void walk_ridge(const saltusi_two* two, const double a[3], double offset,
                       saltusi_separation* best) {
  saltusi_separation here = {.distance = -INFINITY};
  double e[3], f[3], at = 0.0;
  saltusi_normal_to(a, e);
  saltusi_cross(a, e, f);
  for (double step = 0.3, angle = 0.0; angle < 6.283185307179586 || step > 1e-13;) {
    const double before = here.distance;
    for (int side = -1; side <= 1 && !(here.distance > before); side += 2) {
      const double to = angle < 6.283185307179586 ? angle : at + side * step;
      double n[3];
      for (int k = 0; k < 3; k++) {
        n[k] = cos(to) * e[k] + sin(to) * f[k] + offset * a[k];
      }
      try(two, n, &here);
      at = here.distance > before ? to : at;
    }
    if (angle < 6.283185307179586) {
      angle += step;
    } else {
      step *= here.distance > before ? 1.5 : 0.5;
    }
  }
  if (here.distance > best->distance) {
    *best = here;
  }
}

static void walk_ridges(const saltusi_two* two, saltusi_separation* best) {
  for (int s = 0; s < 2; s++) {
    const saltusi_shape* shape = s == 0 ? two->A : two->B;
    for (int i = 0; i < shape->stored; i++) {
      const saltusi_feature* f = &shape->feature[i];
      const bool cone = f->kind == SALTUSI_FEATURE_CONE;
      if (f->kind == SALTUSI_FEATURE_LINE || cone) {
        double a[3];
        saltusi_turn((s == 0 ? two->a : two->b)->R, f->a, a);
        walk_ridge(two, a, cone ? (s == 0 ? f->size[0] : -f->size[0]) : 0.0, best);
      }
    }
  }
}

/* Initial value. The normal is valid, since shapes without faces, lines and axes try no direction before the
 * climb. */
static const saltusi_separation unknown = {.distance = -INFINITY, .normal = {0.0, 0.0, 1.0}};

/* Climbs from the best of directions spread evenly over the sphere (Fibonacci lattice). */
static void overlap(const saltusi_two* two, saltusi_separation* out) {
  saltusi_separation first[CLIMBS];
  for (int i = 0; i < CLIMBS; i++) {
    first[i] = unknown;
  }
  for (int i = 0; i < STARTS; i++) {
    const double z = 1.0 - (2.0 * i + 1.0) / STARTS, angle = 2.399963229728653 * i;
    const double across = sqrt(1.0 - z * z);
    const double n[3] = {across * cos(angle), across * sin(angle), z};
    const double height = value(two, n);
    for (int k = 0; k < CLIMBS; k++) {
      if (height > first[k].distance) {
        memmove(first + k + 1, first + k, (size_t)(CLIMBS - 1 - k) * sizeof *first);
        first[k].distance = height;
        memcpy(first[k].normal, n, sizeof n);
        break;
      }
    }
  }
  *out = unknown;
  try_axes(two, out);
  walk_ridges(two, out);
  climb(two, 0.1, out);
  for (int i = 0; i < CLIMBS; i++) {
    climb(two, 0.1, &first[i]);
    if (first[i].distance > out->distance) {
      *out = first[i];
    }
  }
  double low[3], on_B[3];
  lowest(two, out->normal, low, on_B);
  saltusi_along(1.0, two->b->x, on_B, out->point);
}

/* Translates A out along the best normal found and repeats the distance query: the normal converges to a
 * stationary point of s(n). */
static void settle(const saltusi_two* two, double margin, saltusi_separation* out) {
  for (int i = 0; i < ROUNDS && out->distance > -INFINITY; i++) {
    saltusi_body_pose moved = *two->a;
    saltusi_separation next;
    saltusi_along(margin - out->distance, out->normal, two->a->x, moved.x);
    const saltusi_two off = {two->A, &moved, two->B, two->b};
    const double before = out->distance;
    if (!apart(&off, &next)) {
      break;
    }
    try(two, next.normal, out);
    if (!(out->distance > before + 1e-9 * two->A->size)) {
      break;
    }
  }
}

/* A stationary point of s(n) need not be its maximum. Restarts from the direction between the centres, and from
 * the end of a climb by small rotations. */
static void settle_elsewhere(const saltusi_two* two, const double from[3], double margin,
                             saltusi_separation* out) {
  saltusi_separation other = unknown;
  memcpy(other.point, out->point, sizeof other.point);
  try(two, from, &other);
  settle(two, margin, &other);
  if (other.distance > out->distance) {
    *out = other;
  }
  climb(two, 0.3, out);
  settle(two, margin, out);
}

void saltusi_convex_near(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  if (apart(two, out)) {
    return;
  }
  double cA[3], cB[3], from[3];
  saltusi_turn(two->a->R, two->A->centre, cA);
  saltusi_turn(two->b->R, two->B->centre, cB);
  for (int k = 0; k < 3; k++) {
    from[k] = (two->a->x[k] - two->b->x[k]) + (cA[k] - cB[k]);
  }
  *out = unknown;
  try(two, from, out);
  try_axes(two, out);
  memcpy(out->point, two->b->x, sizeof out->point);
  const double size = fmin(two->A->size, two->B->size), margin = 0.01 * size;
  settle(two, margin, out);
  if (out->distance < -touching * size && out->distance >= -margin) {
    settle_elsewhere(two, from, margin, out);
  }
  if (out->distance < -margin) { /* deep, or the iteration has failed: search over all directions */
    overlap(two, out);
  }
}

void saltusi_convex_separation(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  if (!apart(two, out)) {
    overlap(two, out);
  }
}
