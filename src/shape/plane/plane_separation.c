/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plane_separation.c - separation of planar shapes.
 *
 * Half-plane: the lowest point over its line. Hollow circle: its radius less the distance of the farthest point.
 * Otherwise the Euclidean distance of the outlines, the least over all pairs of points, straight edges and arcs,
 * radii subtracted. Overlapping convex shapes: the largest height of the lowest point over the normals of all edges
 * (separating axes; exact). Other overlapping shapes: the deepest pair of touching features.
 */
#include "shape/plane/plane.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#define FEW 32 /* capacity of the list of pairs of overlapping outlines */

/* Both in axes of B. */
typedef struct apart {
  double distance;
  double on_a[2], on_b[2];
} apart;

typedef struct outlined {
  const saltusi_shape* shape;
  saltusi_motion2 to; /* axes of B */
} outlined;

/* A point, straight edge or arc in axes of B. */
typedef struct plane_separation_segment {
  enum { DOT, EDGE, ARC } kind;
  double p[2], q[2];   /* ends; of a dot p */
  double centre[2];    /* arc */
  double mid[2], half; /* arc: directions from the centre */
  double radius;       /* arc */
} plane_separation_segment;

static int piece_count(const saltusi_shape* shape) {
  return shape->outline->edges > 0 ? shape->outline->edges : 1;
}

static plane_separation_segment piece_of(const outlined* of, int k) {
  const saltusi_shape* shape = of->shape;
  const saltusi_planar_outline* o = shape->outline;
  plane_separation_segment out;
  memset(&out, 0, sizeof out);
  saltusi_move2(&of->to, shape->feature[o->edges > 0 ? k : 0].p, out.p);
  if (o->edges == 0) {
    out.kind = DOT;
    return out;
  }
  const saltusi_feature* f = &shape->feature[o->points + k];
  saltusi_move2(&of->to, shape->feature[saltusi_point_after(o, k)].p, out.q);
  out.kind = EDGE;
  if (f->kind == SALTUSI_FEATURE_POINT) {
    out.kind = ARC;
    saltusi_move2(&of->to, f->p, out.centre);
    saltusi_turn2(&of->to, o->cone[o->points + k].mid, out.mid);
    out.half = o->cone[o->points + k].half;
    out.radius = fabs(f->rho);
  }
  return out;
}

static void keep(apart* least, const double a[2], const double b[2]) {
  const double distance = hypot(a[0] - b[0], a[1] - b[1]);
  if (!(distance >= least->distance)) { /* NaN is kept */
    *least = (apart){distance, {a[0], a[1]}, {b[0], b[1]}};
  }
}

/* The same as keep(); of_a: the point is on A. */
static void keep_from(apart* least, const double point[2], const double other[2], bool of_a) {
  keep(least, of_a ? point : other, of_a ? other : point);
}

static bool arc_faces(const plane_separation_segment* arc, const double d[2]) {
  return fabs(atan2(saltusi_cross2(arc->mid, d), saltusi_dot2(arc->mid, d))) <= arc->half;
}

/* Distance of a point from a segment. */
static void point_to_segment(const double p[2], const plane_separation_segment* to, bool of_a,
                             apart* least) {
  keep_from(least, p, to->p, of_a);
  if (to->kind == DOT) {
    return;
  }
  keep_from(least, p, to->q, of_a);
  double foot[2];
  if (to->kind == EDGE) {
    const double e[2] = {to->q[0] - to->p[0], to->q[1] - to->p[1]};
    const double d[2] = {p[0] - to->p[0], p[1] - to->p[1]};
    const double u = saltusi_dot2(e, d) / saltusi_dot2(e, e);
    if (u > 0.0 && u < 1.0) {
      const double length = sqrt(saltusi_dot2(e, e));
      const double h = saltusi_cross2(e, d) / length; /* relative to the line: no cancellation if
                                                       * p is close to it */
      foot[0] = p[0] + h * e[1] / length;
      foot[1] = p[1] - h * e[0] / length;
      keep_from(least, p, foot, of_a);
    }
    return;
  }
  const double d[2] = {p[0] - to->centre[0], p[1] - to->centre[1]};
  const double length = hypot(d[0], d[1]);
  if (length > 0.0 && arc_faces(to, d)) {
    foot[0] = to->centre[0] + to->radius * d[0] / length;
    foot[1] = to->centre[1] + to->radius * d[1] / length;
    keep_from(least, p, foot, of_a);
  }
}

/* Interior points where the distance between an arc and an edge, or between two arcs, may be
 * least. */
static void inner_places(const plane_separation_segment* arc, const plane_separation_segment* other,
                         bool of_a, apart* least) {
  double d[2];
  if (other->kind == EDGE) {
    const double e[2] = {other->q[0] - other->p[0], other->q[1] - other->p[1]};
    const double c[2] = {arc->centre[0] - other->p[0], arc->centre[1] - other->p[1]};
    const double u = saltusi_dot2(e, c) / saltusi_dot2(e, e);
    if (!(u > 0.0 && u < 1.0)) {
      return;
    }
    const double foot[2] = {other->p[0] + u * e[0], other->p[1] + u * e[1]};
    d[0] = foot[0] - arc->centre[0];
    d[1] = foot[1] - arc->centre[1];
    const double length = hypot(d[0], d[1]);
    if (length > 0.0 && arc_faces(arc, d)) {
      const double at[2] = {arc->centre[0] + arc->radius * d[0] / length,
                            arc->centre[1] + arc->radius * d[1] / length};
      keep_from(least, at, foot, of_a);
    }
    return;
  }
  d[0] = other->centre[0] - arc->centre[0];
  d[1] = other->centre[1] - arc->centre[1];
  const double length = hypot(d[0], d[1]);
  for (int sides = 0; sides < 4 && length > 0.0; sides++) {
    const double a = sides & 1 ? 1.0 : -1.0, b = sides & 2 ? 1.0 : -1.0;
    const double wa[2] = {a * d[0] / length, a * d[1] / length};
    const double wb[2] = {b * d[0] / length, b * d[1] / length};
    if (arc_faces(arc, wa) && arc_faces(other, wb)) {
      const double pa[2] = {arc->centre[0] + arc->radius * wa[0],
                            arc->centre[1] + arc->radius * wa[1]};
      const double pb[2] = {other->centre[0] + other->radius * wb[0],
                            other->centre[1] + other->radius * wb[1]};
      keep_from(least, pa, pb, of_a);
    }
  }
}

/* Whether an arc crosses an edge, or two arcs cross. */
static bool arc_crosses(const plane_separation_segment* arc,
                        const plane_separation_segment* other) {
  double base[2], along[2], reach;
  if (other->kind == EDGE) { /* both intersections with the line */
    const double e[2] = {other->q[0] - other->p[0], other->q[1] - other->p[1]};
    const double length = hypot(e[0], e[1]);
    const double c[2] = {arc->centre[0] - other->p[0], arc->centre[1] - other->p[1]};
    const double h = saltusi_cross2(e, c) / length, s = saltusi_dot2(e, c) / length;
    reach = sqrt(fmax(0.0, arc->radius * arc->radius - h * h));
    for (int k = 0; k < 2 && fabs(h) < arc->radius; k++) {
      const double u = s + (k == 0 ? reach : -reach);
      const double d[2] = {other->p[0] + u * e[0] / length - arc->centre[0],
                           other->p[1] + u * e[1] / length - arc->centre[1]};
      if (u > 0.0 && u < length && arc_faces(arc, d)) {
        return true;
      }
    }
    return false;
  }
  along[0] = other->centre[0] - arc->centre[0];
  along[1] = other->centre[1] - arc->centre[1];
  const double D = hypot(along[0], along[1]), r = arc->radius, R = other->radius;
  if (!(D > fabs(r - R) && D < r + R)) {
    return false;
  }
  const double x = 0.5 * (D + (r - R) * (r + R) / D);
  reach = sqrt(fmax(0.0, r * r - x * x));
  for (int k = 0; k < 2; k++) {
    const double y = k == 0 ? reach : -reach;
    base[0] = (x * along[0] - y * along[1]) / D;
    base[1] = (x * along[1] + y * along[0]) / D;
    const double from[2] = {base[0] - along[0], base[1] - along[1]};
    if (arc_faces(arc, base) && arc_faces(other, from)) {
      return true;
    }
  }
  return false;
}

static bool edges_cross(const plane_separation_segment* a, const plane_separation_segment* b) {
  const double u[2] = {a->q[0] - a->p[0], a->q[1] - a->p[1]};
  const double w[2] = {b->q[0] - b->p[0], b->q[1] - b->p[1]};
  const double pp[2] = {b->p[0] - a->p[0], b->p[1] - a->p[1]};
  const double pq[2] = {b->q[0] - a->p[0], b->q[1] - a->p[1]};
  const double qp[2] = {a->q[0] - b->p[0], a->q[1] - b->p[1]};
  const double c = saltusi_cross2(u, pp), d = saltusi_cross2(u, pq);
  const double e = -saltusi_cross2(w, pp), f = saltusi_cross2(w, qp);
  return ((c < 0.0 && d > 0.0) || (c > 0.0 && d < 0.0)) &&
         ((e < 0.0 && f > 0.0) || (e > 0.0 && f < 0.0));
}

/* The least distance of two segments; false: they cross. */
static bool piece_to_segment(const plane_separation_segment* a, const plane_separation_segment* b,
                             apart* least) {
  point_to_segment(a->p, b, true, least);
  point_to_segment(b->p, a, false, least);
  if (a->kind != DOT) {
    point_to_segment(a->q, b, true, least);
  }
  if (b->kind != DOT) {
    point_to_segment(b->q, a, false, least);
  }
  if (a->kind == ARC && b->kind != DOT) {
    inner_places(a, b, true, least);
    return !arc_crosses(a, b);
  }
  if (b->kind == ARC && a->kind != DOT) {
    inner_places(b, a, false, least);
    return !arc_crosses(b, a);
  }
  return !(a->kind == EDGE && b->kind == EDGE && edges_cross(a, b));
}

/* The lowest point of a shape over the line through p with normal n, in axes of B. */
static double lowest(const outlined* of, const double p[2], const double n[2], double at[2]) {
  const saltusi_shape* shape = of->shape;
  const saltusi_planar_outline* o = shape->outline;
  double least = INFINITY;
  for (int k = 0; k < o->points + o->edges; k++) {
    const saltusi_feature* f = &shape->feature[k];
    const saltusi_cone* cone = &o->cone[k];
    double centre[2], mid[2];
    const double minus[2] = {-n[0], -n[1]};
    saltusi_turn2(&of->to, cone->mid, mid);
    if (f->kind != SALTUSI_FEATURE_POINT || f->rho < 0.0 ||
        (k >= o->points &&
         fabs(atan2(saltusi_cross2(mid, minus), saltusi_dot2(mid, minus))) > cone->half)) {
      continue;
    }
    saltusi_move2(&of->to, f->p, centre);
    const double h = n[0] * (centre[0] - p[0]) + n[1] * (centre[1] - p[1]) - f->rho;
    if (!(h >= least)) {
      least = h;
      at[0] = centre[0] - f->rho * n[0];
      at[1] = centre[1] - f->rho * n[1];
    }
  }
  return least;
}

/* Largest distance of a point of a shape from a centre. */
static double farthest(const outlined* of, const double centre[2], double at[2]) {
  const saltusi_shape* shape = of->shape;
  const saltusi_planar_outline* o = shape->outline;
  double most = -INFINITY;
  for (int k = 0; k < o->points + o->edges; k++) {
    const saltusi_feature* f = &shape->feature[k];
    double p[2], mid[2];
    saltusi_move2(&of->to, f->p, p);
    saltusi_turn2(&of->to, o->cone[k].mid, mid);
    const double d[2] = {p[0] - centre[0], p[1] - centre[1]};
    if (f->kind != SALTUSI_FEATURE_POINT ||
        (k >= o->points &&
         fabs(atan2(saltusi_cross2(mid, d), saltusi_dot2(mid, d))) > o->cone[k].half)) {
      continue;
    }
    const double length = hypot(d[0], d[1]), radius = fabs(f->rho);
    if (!(length + radius <= most)) {
      most = length + radius;
      for (int i = 0; i < 2; i++) {
        const double w = length > 0.0 ? d[i] / length : (i == 0 ? 1.0 : 0.0);
        at[i] = p[i] + radius * w;
      }
    }
  }
  return most;
}

/* Separating axes of overlapping convex shapes: the normals of the edges of `of`, and the lowest point of the
 * other over them. Both in axes of B. */
static void try_axes(const outlined* of, const outlined* other, bool of_b, apart* best,
                     double normal[2]) {
  const saltusi_planar_outline* o = of->shape->outline;
  for (int k = 0; k < o->edges; k++) {
    const saltusi_feature* f = &of->shape->feature[o->points + k];
    double p[2], n[2], at[2] = {0.0, 0.0};
    saltusi_move2(&of->to, f->p, p);
    saltusi_turn2(&of->to, f->a, n);
    const double h = lowest(other, p, n, at) - f->rho;
    if (!(h <= best->distance)) {
      *best = (apart){h, {at[0], at[1]}, {at[0], at[1]}};
      normal[0] = of_b ? n[0] : -n[0];
      normal[1] = of_b ? n[1] : -n[1];
    }
  }
}

static void give(const saltusi_two* two, double distance, const double n[2], const double p[2],
                 saltusi_separation* out) {
  const double *R = two->b->R, *x = two->b->x;
  out->distance = distance;
  for (int k = 0; k < 3; k++) {
    out->normal[k] = R[3 * k] * n[0] + R[3 * k + 1] * n[1];
    out->point[k] = x[k] + R[3 * k] * p[0] + R[3 * k + 1] * p[1];
  }
}

/* Depth of overlapping shapes: along the best axis if both are convex, else by their deepest
 * pair. */
static void overlap(const saltusi_two* two, const outlined* a, const outlined* b, const apart* near,
                    saltusi_separation* out) {
  if (a->shape->convex && b->shape->convex) {
    apart best = {-INFINITY, {0.0, 0.0}, {0.0, 0.0}};
    double n[2] = {0.0, 1.0};
    try_axes(b, a, true, &best, n);
    try_axes(a, b, false, &best, n);
    if (isinf(best.distance)) { /* concentric circles */
      best.distance = -a->shape->rho - b->shape->rho;
    }
    give(two, best.distance, n, best.on_b, out);
    return;
  }
  saltusi_feature_candidate item[FEW];
  saltusi_candidates list = {.capacity = FEW, .item = item};
  saltusi_planar_pairs(two, &(saltusi_near){.reach = 0.0, .delta = 0.0}, &list);
  /* initial value, for shapes without a touching pair: one is deep inside of the other */
  give(two, -fmin(a->shape->size, b->shape->size), (const double[2]){0.0, 1.0}, near->on_b, out);
  bool is_first = true;
  for (int k = 0; k < list.count && k < FEW; k++) {
    if (is_first || item[k].gap < out->distance) {
      is_first = false;
      out->distance = item[k].gap;
      memcpy(out->normal, item[k].normal, sizeof out->normal);
      memcpy(out->point, item[k].point, sizeof out->point);
    }
  }
}

/* Whether a point of one is in the other, for outlines that do not cross. */
static bool one_in_other(const outlined* a, const outlined* b, const saltusi_motion2* ba) {
  double p[2];
  if (a->shape->outline->points > 0 && b->shape->outline->points > 2) {
    saltusi_move2(&a->to, a->shape->feature[0].p, p);
    if (saltusi_polygon_holds(b->shape, p)) {
      return true;
    }
  }
  if (b->shape->outline->points > 0 && a->shape->outline->points > 2) {
    saltusi_move2(ba, b->shape->feature[0].p, p);
    return saltusi_polygon_holds(a->shape, p);
  }
  return false;
}

static void general(const saltusi_two* two, const outlined* a, const outlined* b,
                    const saltusi_motion2* ba, saltusi_separation* out) {
  apart least = {INFINITY, {0.0, 0.0}, {0.0, 0.0}};
  bool is_free = !one_in_other(a, b, ba);
  for (int i = 0; i < piece_count(a->shape); i++) {
    const plane_separation_segment of_a = piece_of(a, i);
    for (int k = 0; k < piece_count(b->shape); k++) {
      const plane_separation_segment of_b = piece_of(b, k);
      is_free = piece_to_segment(&of_a, &of_b, &least) && is_free;
    }
  }
  const double rho_a = fmax(0.0, a->shape->rho), rho_b = fmax(0.0, b->shape->rho);
  if (!is_free || (least.distance == 0.0 && rho_a + rho_b > 0.0 && !isnan(least.distance))) {
    overlap(two, a, b, &least, out);
    return;
  }
  const double gap = least.distance;
  double n[2] = {0.0, 1.0};
  if (gap > 0.0) {
    n[0] = (least.on_a[0] - least.on_b[0]) / gap;
    n[1] = (least.on_a[1] - least.on_b[1]) / gap;
  }
  const double at[2] = {least.on_b[0] + rho_b * n[0], least.on_b[1] + rho_b * n[1]};
  give(two, gap - rho_a - rho_b, n, at, out);
}

/* A half-plane is one of the two. */
static void over_half_plane(const saltusi_two* two, const outlined* plane, const outlined* other,
                            bool of_b, saltusi_separation* out) {
  double p[2], n[2], at[2] = {0.0, 0.0};
  saltusi_move2(&plane->to, plane->shape->feature[0].p, p);
  saltusi_turn2(&plane->to, plane->shape->feature[0].a, n);
  const double h = lowest(other, p, n, at);
  const double sign = of_b ? 1.0 : -1.0;
  const double turned[2] = {sign * n[0], sign * n[1]};
  for (int k = 0; k < 2 && of_b; k++) {
    at[k] -= h * n[k];
  }
  give(two, h, turned, at, out);
}

/* A hollow circle is one of the two. */
static void in_hollow(const saltusi_two* two, const outlined* ring, const outlined* other,
                      bool of_b, saltusi_separation* out) {
  double centre[2], at[2] = {0.0, 0.0};
  saltusi_move2(&ring->to, ring->shape->feature[0].p, centre);
  const double radius = -ring->shape->feature[0].rho;
  const double far = farthest(other, centre, at);
  const double length = hypot(at[0] - centre[0], at[1] - centre[1]);
  double n[2] = {1.0, 0.0};
  for (int k = 0; k < 2 && length > 0.0; k++) {
    n[k] = (of_b ? -1.0 : 1.0) * (at[k] - centre[k]) / length;
  }
  for (int k = 0; k < 2 && of_b; k++) {
    at[k] = centre[k] - radius * n[k];
  }
  give(two, radius - far, n, at, out);
}

void saltusi_planar_separation(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  const saltusi_motion2 ab = saltusi_seen_from(two->a, two->b),
                        ba = saltusi_seen_from(two->b, two->a);
  const outlined a = {two->A, ab}, b = {two->B, {{0.0, 0.0}, 1.0, 0.0}};
  if (isinf(two->B->radius) || isinf(two->A->radius)) {
    const bool of_b = isinf(two->B->radius);
    over_half_plane(two, of_b ? &b : &a, of_b ? &a : &b, of_b, out);
  } else if (two->B->rho < 0.0 || two->A->rho < 0.0) {
    const bool of_b = two->B->rho < 0.0;
    in_hollow(two, of_b ? &b : &a, of_b ? &a : &b, of_b, out);
  } else {
    general(two, &a, &b, &ba, out);
  }
}
