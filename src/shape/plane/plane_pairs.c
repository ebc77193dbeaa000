/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plane_pairs.c - pairs of features of planar shapes. Two kinds are enough: point on straight edge, point on point,
 * where a point is a vertex, a rounded vertex, a circle or an arc.
 *
 * Point i on edge j, with s along the edge, normal n of the edge:
 *     0 <= s <= length,  -n in the cone of i, widened by delta on the side of a straight edge, so that a flat edge
 *   gives both of its ends. Beyond an end of the edge, by up to reach, only two sharp corners are a pair. Beyond an end
 * at a reflex corner the point is below the next edge: both edges apply, since the free side
 *   of such a corner is that of both.
 * Point i on point k: the direction between them in the cones of both. Cones and edges partition the outside, so no
 * pair is found twice.
 * All pairs hold at once, except these, of which one is enough: a point and the two edges of a convex corner; corner
 * i on an edge at corner k, and corner k on an edge at corner i. Preferred is the one that projects inside, then that
 * of the larger gap, then that of the smaller number.
 */
#include "shape/plane/plane.h"

#include <assert.h>
#include <float.h>

#define WITHIN 1e-12 /* of the length of an edge: tolerance of points shared by neighbours */
#define TOUCH 1e-9   /* rad, m per size: tolerance of equal points and directions */
#define SHALLOW                                                                                    \
  1e-8 /* of the size: depth up to which a point need not be inside of the shape it penetrates */
#define DEPTH                                                                                      \
  0.1 /* of the size of the penetrating shape: largest depth at an edge after an exit elsewhere */

/* Points of P on edges of E: `to` transforms from axes of P to those of E. `swapped`: P is B. */
typedef struct half {
  const saltusi_shape* P;
  const saltusi_shape* E;
  saltusi_motion2 to, back;
  bool swapped;
  const saltusi_near* near;
} half;

typedef struct plane_pairs_result {
  double gap, h;
  double normal[2]; /* of the edge, in axes of E */
  double s;
  bool strict;
} plane_pairs_result;

bool saltusi_polygon_holds(const saltusi_shape* shape, const double p[2]) {
  assert(shape != NULL && p != NULL);
  const saltusi_planar_outline* o = shape->outline;
  if (!o->solid) {
    return false;
  }
  if (o->points == 0) {
    const saltusi_feature* f = &shape->feature[0];
    return saltusi_dot2(f->a, p) < saltusi_dot2(f->a, f->p);
  }
  bool inside = false;
  for (int k = 0; k < o->edges; k++) {
    const double* a = shape->feature[k].p;
    const double* b = shape->feature[saltusi_point_after(o, k)].p;
    if ((a[1] > p[1]) != (b[1] > p[1]) &&
        p[0] < a[0] + (b[0] - a[0]) * ((p[1] - a[1]) / (b[1] - a[1]))) {
      inside = !inside;
    }
  }
  return inside;
}

static bool is_flat_at(const saltusi_planar_outline* o, int point) {
  return o->joint[point] == SALTUSI_JOINT_FLAT;
}

/* Whether a point in body axes projects onto an edge, between its ends; `loosely`: or beyond a smooth joint by a
 * rounding tolerance, so that the point belongs to at least one of the two edges that join there. */
static bool is_beside(const saltusi_shape* shape, int edge, const double p[2], bool loosely) {
  const saltusi_planar_outline* o = shape->outline;
  const saltusi_feature* f = &shape->feature[o->points + edge];
  const double d[2] = {p[0] - f->p[0], p[1] - f->p[1]};
  if (isinf(f->size[0])) {
    return true;
  }
  const bool at_start = loosely && is_flat_at(o, edge);
  const bool at_end = loosely && is_flat_at(o, saltusi_point_after(o, edge));
  if (f->kind == SALTUSI_FEATURE_PLANE) {
    const double s = saltusi_dot2(f->e, d), slack = WITHIN * f->size[0];
    return s >= (at_start ? -slack : 0.0) && s <= f->size[0] + (at_end ? slack : 0.0);
  }
  const saltusi_cone* cone = &o->cone[o->points + edge];
  const double angle = saltusi_cone_angle(cone, d);
  const bool forwards = f->rho < 0.0; /* a hollow arc runs counter-clockwise about its centre */
  const double low = (forwards ? at_start : at_end) ? TOUCH : 0.0;
  const double high = (forwards ? at_end : at_start) ? TOUCH : 0.0;
  return angle >= -cone->half - low && angle <= cone->half + high;
}

static bool beside(const saltusi_shape* shape, int edge, const double p[2]) {
  return is_beside(shape, edge, p, false);
}

/* The same, unique for two edges with a smooth joint: a straight edge before an arc, else the
 * first. */
static bool owns(const saltusi_shape* shape, int edge, const double p[2]) {
  const saltusi_planar_outline* o = shape->outline;
  if (!is_beside(shape, edge, p, true)) {
    return false;
  }
  const bool strictly = beside(shape, edge, p);
  const bool straight = saltusi_is_straight(shape, edge);
  for (int side = 0; side < 2 && o->points > 0; side++) {
    const int point = side == 0 ? edge : saltusi_point_after(o, edge);
    if (o->joint[point] != SALTUSI_JOINT_FLAT) {
      continue;
    }
    const int other = side == 0 ? saltusi_edge_before(o, point) : saltusi_edge_after(o, point);
    if (other < 0 || other == edge || !is_beside(shape, other, p, true)) {
      continue;
    }
    const bool other_strictly = beside(shape, other, p);
    const bool other_straight = saltusi_is_straight(shape, other);
    const bool yields = other_straight != straight ? other_straight : other < edge;
    if (strictly != other_strictly ? other_strictly : yields) {
      return false;
    }
  }
  return true;
}

/* Whether point feature i (a vertex or an arc) is the closest feature in direction w from its centre, at the
 * distance `far`. The edges beside it are tested with the same point. */
static bool faces(const saltusi_shape* shape, int i, const double w[2], double far) {
  const saltusi_planar_outline* o = shape->outline;
  const saltusi_feature* f = &shape->feature[i];
  const double p[2] = {f->p[0] + far * w[0], f->p[1] + far * w[1]};
  if (i >= o->points) {
    return owns(shape, i - o->points, p);
  }
  if (o->joint[i] != SALTUSI_JOINT_CONVEX && o->joint[i] != SALTUSI_JOINT_END) {
    return false;
  }
  const saltusi_cone* cone = &o->cone[i];
  if (fabs(saltusi_cone_angle(cone, w)) > cone->half + TOUCH) {
    return false;
  }
  const int before = saltusi_edge_before(o, i), next = saltusi_edge_after(o, i);
  return !(o->edges > 0 && before >= 0 && beside(shape, before, p)) &&
         !(o->edges > 0 && next >= 0 && beside(shape, next, p));
}

static bool is_used(const saltusi_shape* shape, int i) {
  const saltusi_planar_outline* o = shape->outline;
  if (i >= o->points) {
    return shape->feature[i].kind == SALTUSI_FEATURE_POINT;
  }
  return o->joint[i] == SALTUSI_JOINT_CONVEX || o->joint[i] == SALTUSI_JOINT_END;
}

/* Whether the cone of point i of P, widened on its straight sides, contains the direction w. */
static bool cone_holds(const saltusi_shape* P, int i, const double w[2], const saltusi_near* near) {
  const saltusi_cone* cone = &P->outline->cone[i];
  const double angle = saltusi_cone_angle(cone, w), wide = fmax(near->delta, TOUCH);
  const double low = cone->half + (near->all || cone->straight[0] ? wide : TOUCH);
  const double high = cone->half + (near->all || cone->straight[1] ? wide : TOUCH);
  return angle >= -low && angle <= high;
}

/* Whether arc i of P yields to a neighbouring arc where n is in both cones: the first one
 * counts. */
static bool arc_yields(const saltusi_shape* P, int i, const double w[2]) {
  const saltusi_planar_outline* o = P->outline;
  if (i < o->points) {
    return false;
  }
  const saltusi_feature* f = &P->feature[i];
  const double p[2] = {f->p[0] + P->size * w[0], f->p[1] + P->size * w[1]};
  const int edge = i - o->points;
  for (int side = 0; side < 2; side++) {
    const int point = side == 0 ? edge : saltusi_point_after(o, edge);
    const int other = side == 0 ? saltusi_edge_before(o, point) : saltusi_edge_after(o, point);
    if (o->joint[point] == SALTUSI_JOINT_FLAT && other >= 0 && other < edge &&
        !saltusi_is_straight(P, other) && P->feature[o->points + other].rho > 0.0 &&
        beside(P, other, p)) {
      return true;
    }
  }
  return false;
}

/* Whether edge j ends in a convex corner. */
static bool ends_in_corner(const saltusi_shape* E, int j, bool at_start) {
  const saltusi_planar_outline* o = E->outline;
  const int point = at_start ? j : saltusi_point_after(o, j);
  return o->joint[point] == SALTUSI_JOINT_CONVEX || o->joint[point] == SALTUSI_JOINT_END;
}

/* Whether the polygon P penetrates edge j of E: the line of the edge cuts P in a chord, most of which is on the
 * edge. The length of the chord is the sum of its crossings, upward less downward (arcs as straight). */
static bool goes_through(const half* H, int j) {
  const saltusi_planar_outline* o = H->P->outline;
  const saltusi_feature* g = &H->E->feature[H->E->outline->points + j];
  double all = 0.0, on_edge = 0.0;
  bool crosses = o->edges == 0; /* of a circle only the centre */
  for (int k = 0; k < o->edges; k++) {
    double p[2][2], h[2], s[2];
    for (int end = 0; end < 2; end++) {
      saltusi_move2(&H->to, H->P->feature[end == 0 ? k : saltusi_point_after(o, k)].p, p[end]);
      const double d[2] = {p[end][0] - g->p[0], p[end][1] - g->p[1]};
      h[end] = saltusi_dot2(g->a, d);
      s[end] = saltusi_dot2(g->e, d);
    }
    if ((h[0] < 0.0) != (h[1] < 0.0)) {
      const double at = s[0] + (s[1] - s[0]) * (h[0] / (h[0] - h[1]));
      const double sign = h[0] < 0.0 ? 1.0 : -1.0;
      crosses = crosses || (at > 0.0 && at < g->size[0]);
      all += sign * at;
      on_edge += sign * fmin(fmax(at, 0.0), g->size[0]);
    }
  }
  return crosses && fabs(on_edge) >= 0.5 * fabs(all);
}

/* Whether a point behind an edge has left the shape again and is not to be pushed back through it: it is far
 * behind, or has moved there around the shape. */
static bool is_behind_all(const half* H, int j, const double p[2], double h) {
  const saltusi_shape* E = H->E;
  if (h >= -SHALLOW * E->size || isinf(E->feature[E->outline->points + j].size[0]) ||
      saltusi_polygon_holds(E, p)) {
    return false;
  }
  return -h > DEPTH * H->P->size ||
         (E->outline->solid && H->P->outline->solid && !goes_through(H, j));
}

/* Whether a point inside of E is beyond the end of edge j at a reflex corner, and not deep below the next edge,
 * where it entered. */
static bool is_beyond_reflex(const half* H, int j, const double p[2], double s) {
  const saltusi_planar_outline* o = H->E->outline;
  const double length = H->E->feature[o->points + j].size[0];
  const int point = s < 0.0 ? j : saltusi_point_after(o, j);
  if (isinf(length) || (s >= 0.0 && s <= length) || o->joint[point] != SALTUSI_JOINT_REFLEX) {
    return false;
  }
  const int next = s < 0.0 ? saltusi_edge_before(o, point) : saltusi_edge_after(o, point);
  if (next < 0 || !saltusi_is_straight(H->E, next)) {
    return false;
  }
  const saltusi_feature* g = &H->E->feature[o->points + next];
  const double d[2] = {p[0] - g->p[0], p[1] - g->p[1]};
  const double h = saltusi_dot2(g->a, d), beyond = s < 0.0 ? -s : s - length;
  const double most = DEPTH * fmin(H->P->size, H->E->size);
  return h <= 0.0 && h >= -most && beyond <= most &&
         (h >= -SHALLOW * H->E->size || saltusi_polygon_holds(H->E, p));
}

/* Point i of P on edge j of E, regardless of other pairs. */
static bool point_on_edge(const half* H, int i, int j, plane_pairs_result* out) {
  const saltusi_shape *P = H->P, *E = H->E;
  const saltusi_feature *f = &P->feature[i], *g = &E->feature[E->outline->points + j];
  if (!is_used(P, i) || g->kind != SALTUSI_FEATURE_PLANE || f->rho < 0.0) {
    return false;
  }
  double p[2], w[2];
  saltusi_move2(&H->to, f->p, p);
  const double d[2] = {p[0] - g->p[0], p[1] - g->p[1]};
  out->h = saltusi_dot2(g->a, d);
  out->s = saltusi_dot2(g->e, d);
  out->gap = out->h - f->rho - g->rho;
  if (!(out->gap <= H->near->reach)) {
    return false;
  }
  out->normal[0] = g->a[0];
  out->normal[1] = g->a[1];
  const double minus[2] = {-g->a[0], -g->a[1]};
  saltusi_turn2(&H->back, minus, w);
  if (!cone_holds(P, i, w, H->near)) {
    return false;
  }
  if (H->near->all) {
    const double beyond = isinf(g->size[0]) ? 0.0 : fmax(-out->s, out->s - g->size[0]);
    return out->gap >= -H->near->reach && beyond <= H->near->reach;
  }
  if (arc_yields(P, i, w)) {
    return false;
  }
  out->strict = owns(E, j, p) || is_beyond_reflex(H, j, p, out->s);
  if (!out->strict) {
    const bool sharp = f->rho + g->rho == 0.0;
    const double beyond = fmax(-out->s, out->s - g->size[0]);
    if (!sharp || beside(E, j, p) || beyond > H->near->reach || out->gap < -SHALLOW * E->size ||
        !ends_in_corner(E, j, out->s < 0.0)) {
      return false;
    }
  }
  return !is_behind_all(H, j, p, out->h);
}

/* Whether `a` is preferred to b at the same point. */
static bool is_better(const plane_pairs_result* a, const plane_pairs_result* b, double tie,
                      bool first) {
  if (a->strict != b->strict) {
    return a->strict;
  }
  if (fabs(a->gap - b->gap) <= tie) {
    return first;
  }
  return a->gap > b->gap;
}

/* Corner k, at an end of edge j, on an edge at corner i: the same contact with the roles
 * exchanged. */
static bool beaten_from_other_side(const half* H, int i, int j, const plane_pairs_result* mine) {
  const saltusi_planar_outline *op = H->P->outline, *oe = H->E->outline;
  if (i >= op->points || oe->points == 0) {
    return false;
  }
  const half other = {H->E, H->P, H->back, H->to, !H->swapped, H->near};
  const double tie = WITHIN * fmin(H->P->size, H->E->size);
  const double length = H->E->feature[oe->points + j].size[0];
  const double rounded = H->P->feature[i].rho + H->E->feature[oe->points + j].rho;
  const double size = fmin(H->P->size, H->E->size);
  const double place = rounded > 0.0 ? TOUCH * size : fmax(H->near->reach, TOUCH * size);
  for (int end = 0; end < 2; end++) {
    const int k = end == 0 ? j : saltusi_point_after(oe, j);
    if (fabs(mine->s - (end == 0 ? 0.0 : length)) > place) {
      continue;
    }
    for (int side = 0; side < 2; side++) {
      const int m = side == 0 ? saltusi_edge_before(op, i) : saltusi_edge_after(op, i);
      plane_pairs_result rival;
      if (op->edges > 0 && m >= 0 && point_on_edge(&other, k, m, &rival)) {
        const double corner = side == 0 ? H->P->feature[op->points + m].size[0] : 0.0;
        if (fabs(rival.s - corner) <= place && is_better(&rival, mine, tie, H->swapped)) {
          return true;
        }
      }
    }
  }
  return false;
}

/* Whether the point is at a small depth below another edge and deep below this one: it entered there, even if
 * another corner touches there, and this edge does not push it all the way through. */
static bool came_in_at(const half* H, int i, int other, const plane_pairs_result* mine) {
  const saltusi_feature* g = &H->E->feature[H->E->outline->points + other];
  const double deep = -DEPTH * H->P->size;
  if (mine->h >= deep || g->kind != SALTUSI_FEATURE_PLANE) {
    return false;
  }
  double p[2];
  saltusi_move2(&H->to, H->P->feature[i].p, p);
  const double d[2] = {p[0] - g->p[0], p[1] - g->p[1]};
  const double h = saltusi_dot2(g->a, d);
  return h <= 0.0 && h > deep && beside(H->E, other, p);
}

/* Other edges at the same point, one of which is enough. */
static bool beaten_by_edge(const half* H, int i, int j, const plane_pairs_result* mine) {
  const saltusi_planar_outline* o = H->E->outline;
  const double tie = WITHIN * fmin(H->P->size, H->E->size);
  for (int end = 0; end < 2 && o->points > 0; end++) {
    const int point = end == 0 ? j : saltusi_point_after(o, j);
    const int other = end == 0 ? saltusi_edge_before(o, point) : saltusi_edge_after(o, point);
    plane_pairs_result rival;
    if (other >= 0 && other != j && o->joint[point] != SALTUSI_JOINT_REFLEX &&
        point_on_edge(H, i, other, &rival) && is_better(&rival, mine, tie, other < j)) {
      return true;
    }
  }
  if (mine->h >= -SHALLOW * H->E->size || !o->solid || o->points == 0) {
    return false;
  }
  for (int other = 0; other < o->edges; other++) { /* inside: the closest edge */
    const int a = saltusi_point_after(o, j), b = saltusi_point_after(o, other);
    const bool reflex = (a == other && o->joint[a] == SALTUSI_JOINT_REFLEX) ||
                        (b == j && o->joint[b] == SALTUSI_JOINT_REFLEX);
    plane_pairs_result rival;
    if (other != j && !reflex &&
        ((point_on_edge(H, i, other, &rival) && rival.gap > mine->gap) ||
         came_in_at(H, i, other, mine))) {
      return true;
    }
  }
  return false;
}

static void add(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                saltusi_candidates* out) {
  saltusi_feature_candidate candidate = *numbers;
  const double n[3] = {numbers->normal[0], numbers->normal[1], 0.0};
  const double p[3] = {numbers->point[0], numbers->point[1], 0.0};
  const double *R = two->b->R, *x = two->b->x; /* given in axes of B */
  for (int k = 0; k < 3; k++) {
    candidate.normal[k] = R[3 * k] * n[0] + R[3 * k + 1] * n[1];
    candidate.point[k] = x[k] + R[3 * k] * p[0] + R[3 * k + 1] * p[1];
  }
  saltusi_candidate_add(out, &candidate);
}

static bool edge_pair(const half* H, int i, int j, saltusi_feature_candidate* out) {
  plane_pairs_result mine;
  if (!point_on_edge(H, i, j, &mine) ||
      (!H->near->all &&
       (beaten_by_edge(H, i, j, &mine) || beaten_from_other_side(H, i, j, &mine)))) {
    return false;
  }
  const saltusi_feature* g = &H->E->feature[H->E->outline->points + j];
  const int edge = H->E->outline->points + j + 1;
  double n[2] = {mine.normal[0], mine.normal[1]}, foot[2];
  for (int k = 0; k < 2; k++) {
    foot[k] = g->p[k] + mine.s * g->e[k] + g->rho * n[k];
  }
  *out = (saltusi_feature_candidate){.a = i + 1, .b = edge, .gap = mine.gap};
  if (H->swapped) { /* the edge is on A: into axes of B, on the surface of B */
    out->a = edge;
    out->b = i + 1;
    foot[0] += mine.gap * n[0];
    foot[1] += mine.gap * n[1];
    saltusi_move2(&H->back, foot, foot);
    saltusi_turn2(&H->back, n, n);
    n[0] = -n[0];
    n[1] = -n[1];
  }
  for (int k = 0; k < 2; k++) {
    out->normal[k] = n[k];
    out->point[k] = foot[k];
  }
  return true;
}

/* Whether the centre of a feature that touches arc k of a one-sided shape is too far on the
 * wrong side. */
static bool is_behind(const saltusi_shape* shape, int k, double h, const saltusi_shape* other) {
  return k >= shape->outline->points && -h > DEPTH * other->size;
}

/* Point i of A on point k of B, at least one of them rounded; H: the points are those of A. */
static bool point_pair(const half* H, int i, int k, saltusi_feature_candidate* out) {
  const saltusi_feature *f = &H->P->feature[i], *g = &H->E->feature[k];
  const bool hollow = f->rho < 0.0 || g->rho < 0.0;
  if (!is_used(H->P, i) || !is_used(H->E, k) || (f->rho < 0.0 && g->rho < 0.0) ||
      f->rho + g->rho == 0.0 || (hollow && f->rho + g->rho > 0.0)) {
    return false;
  }
  double p[2];
  saltusi_move2(&H->to, f->p, p);
  const double d[2] = {p[0] - g->p[0], p[1] - g->p[1]};
  const double length = hypot(d[0], d[1]), sign = hollow ? -1.0 : 1.0;
  const double gap = sign * length - f->rho - g->rho;
  if (!(gap <= H->near->reach) || !(length > DBL_EPSILON * fmin(H->P->size, H->E->size))) {
    return false;
  }
  /* not with `all`: a shape behind at the midpoint of its motion need not be behind at its start */
  if (!H->near->all && (is_behind(H->E, k, sign * length - g->rho, H->P) ||
                        is_behind(H->P, i, sign * length - f->rho, H->E))) {
    return false;
  }
  const double n[2] = {sign * d[0] / length, sign * d[1] / length};
  const double side_f = f->rho < 0.0 ? 1.0 : -1.0, side_g = g->rho < 0.0 ? -1.0 : 1.0;
  const double wg[2] = {side_g * n[0], side_g * n[1]};
  double wf[2] = {side_f * n[0], side_f * n[1]};
  saltusi_turn2(&H->back, wf, wf);
  const bool is_facing = H->near->all
                             ? gap >= -H->near->reach && cone_holds(H->P, i, wf, H->near) &&
                                   cone_holds(H->E, k, wg, H->near)
                             : faces(H->P, i, wf, length) && faces(H->E, k, wg, length);
  if (!is_facing) {
    return false;
  }
  *out = (saltusi_feature_candidate){.a = i + 1, .b = k + 1, .gap = gap};
  for (int c = 0; c < 2; c++) {
    out->normal[c] = n[c];
    out->point[c] = g->p[c] + g->rho * n[c];
  }
  return true;
}

void saltusi_planar_pairs(const saltusi_two* two, const saltusi_near* near,
                          saltusi_candidates* out) {
  assert(two != NULL && near != NULL && out != NULL);
  const saltusi_motion2 ab = saltusi_seen_from(two->a, two->b),
                        ba = saltusi_seen_from(two->b, two->a);
  const half forth = {two->A, two->B, ab, ba, false, near};
  const half back = {two->B, two->A, ba, ab, true, near};
  const int points_a = two->A->outline->points, points_b = two->B->outline->points;
  out->count = 0;
  for (int i = 0; i < two->A->stored; i++) { /* in the order of (a, b) */
    for (int k = 0; k < two->B->stored; k++) {
      const bool flat_a = two->A->feature[i].kind == SALTUSI_FEATURE_PLANE;
      const bool flat_b = two->B->feature[k].kind == SALTUSI_FEATURE_PLANE;
      saltusi_feature_candidate one;
      bool is_pair = false;
      if (flat_a != flat_b) {
        is_pair = flat_b ? edge_pair(&forth, i, k - points_b, &one)
                         : edge_pair(&back, k, i - points_a, &one);
      } else if (!flat_a) {
        is_pair = point_pair(&forth, i, k, &one);
      }
      if (is_pair) {
        add(two, &one, out);
      }
    }
  }
}

static bool treats(const saltusi_shape* A, const saltusi_shape* B) {
  const bool hollow_a = A->kind == SALTUS_SHAPE_CIRCLE && A->rho < 0.0;
  const bool hollow_b = B->kind == SALTUS_SHAPE_CIRCLE && B->rho < 0.0;
  const bool endless_a = isinf(A->radius), endless_b = isinf(B->radius);
  return !((hollow_a || endless_a) && (hollow_b || endless_b));
}

static void pair(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                 saltusi_pair* out) {
  *out = (saltusi_pair){.A = &two->A->feature[numbers->a - 1],
                        .B = &two->B->feature[numbers->b - 1],
                        .a = two->a,
                        .b = two->b,
                        .branch = numbers->branch};
  const bool flat_a = out->A->kind == SALTUSI_FEATURE_PLANE;
  const saltusi_feature* edge = flat_a ? out->A : out->B;
  const double* R = flat_a ? two->a->R : two->b->R;
  for (int k = 0; k < 3 && edge->kind == SALTUSI_FEATURE_PLANE; k++) {
    out->side[k] = (flat_a ? -1.0 : 1.0) * (R[3 * k] * edge->a[0] + R[3 * k + 1] * edge->a[1]);
  }
}

/* Guards of the cone of point i of P in direction w: both sides, or those without a straight
 * neighbour. */
static int cone_guards(const saltusi_shape* P, int i, const double w[2], bool all,
                       double guard[SALTUSI_GUARDS], int count) {
  const saltusi_cone* cone = &P->outline->cone[i];
  if (cone->half > 3.14) { /* a circle */
    return count;
  }
  const double angle = saltusi_cone_angle(cone, w);
  if (all || !cone->straight[0]) {
    guard[count++] = cone->half + angle;
  }
  if (all || !cone->straight[1]) {
    guard[count++] = cone->half - angle;
  }
  return count;
}

static int edge_guards(const half* H, int i, int j, double guard[SALTUSI_GUARDS]) {
  const saltusi_feature *f = &H->P->feature[i], *g = &H->E->feature[H->E->outline->points + j];
  int count = 0;
  double p[2], w[2] = {-g->a[0], -g->a[1]};
  saltusi_move2(&H->to, f->p, p);
  const double d[2] = {p[0] - g->p[0], p[1] - g->p[1]};
  const double s = saltusi_dot2(g->e, d);
  if (!isinf(g->size[0])) {
    guard[count++] = s;
    guard[count++] = g->size[0] - s;
  }
  saltusi_turn2(&H->back, w, w);
  return cone_guards(H->P, i, w, false, guard, count);
}

static int guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                  double guard[SALTUSI_GUARDS]) {
  const saltusi_motion2 ab = saltusi_seen_from(two->a, two->b),
                        ba = saltusi_seen_from(two->b, two->a);
  const saltusi_near near = {.reach = 0.0};
  const half forth = {two->A, two->B, ab, ba, false, &near};
  const int i = numbers->a - 1, k = numbers->b - 1;
  const saltusi_feature *f = &two->A->feature[i], *g = &two->B->feature[k];
  if (g->kind == SALTUSI_FEATURE_PLANE) {
    return edge_guards(&forth, i, k - two->B->outline->points, guard);
  }
  if (f->kind == SALTUSI_FEATURE_PLANE) {
    const half back = {two->B, two->A, ba, ab, true, &near};
    return edge_guards(&back, k, i - two->A->outline->points, guard);
  }
  double p[2];
  saltusi_move2(&ab, f->p, p);
  const double sign = f->rho < 0.0 || g->rho < 0.0 ? -1.0 : 1.0;
  const double n[2] = {sign * (p[0] - g->p[0]), sign * (p[1] - g->p[1])};
  const double side_f = f->rho < 0.0 ? 1.0 : -1.0, side_g = g->rho < 0.0 ? -1.0 : 1.0;
  const double wg[2] = {side_g * n[0], side_g * n[1]};
  double wf[2] = {side_f * n[0], side_f * n[1]};
  saltusi_turn2(&ba, wf, wf);
  const int count = cone_guards(two->A, i, wf, true, guard, 0);
  return cone_guards(two->B, k, wg, true, guard, count);
}

const saltusi_family saltusi_planar = {.treats = treats,
                                       .pairs = saltusi_planar_pairs,
                                       .separation = saltusi_planar_separation,
                                       .pair = pair,
                                       .guards = guards};
