/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plane_make.c - planar shapes from their definitions. All become an outline (planar_outline.h).
 *
 * Arc of bulge b = tan(angle / 4) over the chord from p to q of length L, counter-clockwise for b > 0:
 *   radius L (1 + b^2) / (4 |b|),   centre (p + q)/2 + (1 - b^2)/(4 b) J (q - p)
 * so with the free side on the left, b > 0 is hollow and b < 0 convex.
 */
#include "shape/narrow_phase.h"
#include "shape/plane/planar_outline.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* Points closer to the line through their neighbours than this many roundings of the size are
 * removed. */
#define STRAIGHT 8.0
/* rad: arcs with a smaller angle between their tangents are joined smoothly; coordinates in files are rounded
 * decimals. */
#define SMOOTH 1e-9

typedef struct plane_make_path {
  int count;      /* points */
  double (*p)[2]; /* m, body axes */
  double* bulge;  /* [edges] 0: straight */
  bool closed;
  bool right; /* the free side is on the right: polygons */
  double rho; /* rounding */
  double size;
} plane_make_path;

static double cross(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[2], const double b[2]) {
  return a[0] * b[0] + a[1] * b[1];
}

static int edges_of(const plane_make_path* way) {
  return way->closed ? way->count : way->count - 1;
}

static int after(const plane_make_path* way, int point) {
  return (point + 1) % way->count;
}

/* Reads count points into body axes. */
static saltus_status read_points(const saltusi_making* making, plane_make_path* way, int least) {
  const saltus_shape_def* def = making->def;
  if (def->point_count < least || def->points == NULL) {
    return saltusi_shape_refuse(making, "%d points are given, a %s has at least %d",
                                def->points == NULL ? 0 : def->point_count,
                                saltus_shape_kind_name(def->kind), least);
  }
  way->count = def->point_count;
  way->p = saltusi_pool_take(making->pool, (size_t)way->count, sizeof *way->p);
  way->bulge = SALTUSI_TAKE(making->pool, double, way->count);
  if (way->p == NULL || way->bulge == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < way->count; i++) {
    const double own[3] = {def->points[2 * i], def->points[2 * i + 1], 0.0};
    if (!isfinite(own[0]) || !isfinite(own[1])) {
      return saltusi_shape_refuse(making, "point %d (%g, %g) is not finite", i, own[0], own[1]);
    }
    double body[3];
    saltusi_placed_point(&making->placing, own, body);
    way->p[i][0] = body[0];
    way->p[i][1] = body[1];
  }
  for (int i = 0; i < way->count; i++) {
    for (int k = 0; k < 2; k++) {
      way->size = fmax(way->size, fabs(way->p[i][k] - way->p[0][k]));
    }
  }
  return SALTUS_OK;
}

static saltus_status refuse_coinciding(const saltusi_making* making, const plane_make_path* way) {
  for (int i = 0; i < edges_of(way); i++) {
    const double* p = way->p[i];
    const double* q = way->p[after(way, i)];
    if (!(hypot(q[0] - p[0], q[1] - p[1]) > STRAIGHT * DBL_EPSILON * way->size)) {
      return saltusi_shape_refuse(making, "points %d and %d are the same place", i, after(way, i));
    }
  }
  return SALTUS_OK;
}

/* Whether the straight edges i and j meet anywhere but in a common end. */
static bool edges_cross(const plane_make_path* way, int i, int j) {
  const double *a = way->p[i], *b = way->p[after(way, i)];
  const double *c = way->p[j], *d = way->p[after(way, j)];
  const double u[2] = {b[0] - a[0], b[1] - a[1]}, w[2] = {d[0] - c[0], d[1] - c[1]};
  const double ac[2] = {c[0] - a[0], c[1] - a[1]}, ad[2] = {d[0] - a[0], d[1] - a[1]};
  if (after(way, i) == j || after(way, j) == i) { /* neighbours cross only if they fold back */
    return fabs(cross(u, w)) <= STRAIGHT * DBL_EPSILON * way->size * hypot(u[0], u[1]) &&
           dot(u, w) < 0.0;
  }
  const double slack = STRAIGHT * DBL_EPSILON * way->size;
  const double length = hypot(u[0], u[1]);
  const double hc = cross(u, ac) / length, hd = cross(u, ad) / length;
  if ((hc > slack && hd > slack) || (hc < -slack && hd < -slack)) {
    return false;
  }
  const double other = hypot(w[0], w[1]);
  const double ca[2] = {-ac[0], -ac[1]}, cb[2] = {b[0] - c[0], b[1] - c[1]};
  const double ha = cross(w, ca) / other, hb = cross(w, cb) / other;
  if ((ha > slack && hb > slack) || (ha < -slack && hb < -slack)) {
    return false;
  }
  const double sc = dot(u, ac) / length, sd = dot(u, ad) / length; /* on one line: overlap? */
  return fmax(sc, sd) >= -slack && fmin(sc, sd) <= length + slack;
}

static saltus_status refuse_crossing(const saltusi_making* making, const plane_make_path* way) {
  for (int i = 0; i < edges_of(way); i++) {
    for (int j = i + 1; j < edges_of(way); j++) {
      if (way->bulge[i] == 0.0 && way->bulge[j] == 0.0 && edges_cross(way, i, j)) {
        return saltusi_shape_refuse(making, "edges %d and %d cross or touch", i, j);
      }
    }
  }
  return SALTUS_OK;
}

/* Removes points between collinear straight edges. */
static void unite(plane_make_path* way) {
  const double slack = STRAIGHT * DBL_EPSILON * way->size;
  int kept = 0;
  for (int i = 0; i < way->count; i++) {
    const bool end = !way->closed && (i == 0 || i == way->count - 1);
    bool leave = false;
    if (!end && (kept > 0 || way->closed)) {
      const double* before = kept > 0 ? way->p[kept - 1] : way->p[way->count - 1];
      const double* next = way->p[after(way, i)];
      const int last = kept > 0 ? kept - 1 : way->count - 1;
      const double chord[2] = {next[0] - before[0], next[1] - before[1]};
      const double here[2] = {way->p[i][0] - before[0], way->p[i][1] - before[1]};
      const double length = hypot(chord[0], chord[1]);
      leave = way->bulge[i] == 0.0 && way->bulge[last] == 0.0 && length > slack &&
              fabs(cross(chord, here)) <= slack * length && dot(chord, here) > 0.0 &&
              dot(chord, here) < length * length;
    }
    if (!leave) {
      way->p[kept][0] = way->p[i][0];
      way->p[kept][1] = way->p[i][1];
      way->bulge[kept] = way->bulge[i];
      kept++;
    }
  }
  way->count = kept;
}

/* The feature of edge k, its normals on the free side at both ends, and of an arc its cone. */
static void make_edge(const plane_make_path* way, int k, saltusi_feature* out, double normal[2][2],
                      saltusi_cone* cone) {
  const double *p = way->p[k], *q = way->p[after(way, k)];
  const double chord[2] = {q[0] - p[0], q[1] - p[1]};
  const double length = hypot(chord[0], chord[1]);
  const double side = way->right ? -1.0 : 1.0;
  const double left[2] = {-side * chord[1] / length, side * chord[0] / length};
  const double b = way->bulge[k];
  *out = (saltusi_feature){.p = {p[0], p[1], 0.0}, .rho = way->rho};
  if (b == 0.0) {
    out->kind = SALTUSI_FEATURE_PLANE;
    out->size[0] = length;
    for (int i = 0; i < 2; i++) {
      out->a[i] = left[i];
      out->e[i] = chord[i] / length;
      normal[0][i] = normal[1][i] = left[i];
    }
    return;
  }
  const double radius = length * (1.0 + b * b) / (4.0 * fabs(b));
  const double lift = (1.0 - b * b) / (4.0 * b);
  out->kind = SALTUSI_FEATURE_POINT;
  out->p[0] = 0.5 * (p[0] + q[0]) - lift * chord[1];
  out->p[1] = 0.5 * (p[1] + q[1]) + lift * chord[0];
  out->rho = b > 0.0 ? -radius : radius;
  out->a[2] = out->e[0] = 1.0;
  const double sign = b > 0.0 ? -1.0 : 1.0; /* sign of the normal along the radius */
  for (int i = 0; i < 2; i++) {
    normal[0][i] = sign * (p[i] - out->p[i]) / radius;
    normal[1][i] = sign * (q[i] - out->p[i]) / radius;
    cone->mid[i] = sign * left[i]; /* the chord's normal points to the middle of the arc, or away */
  }
  cone->half = 2.0 * atan(fabs(b));
}

/* The joint at a point, from the normals before and after it, and its cone. */
static saltusi_joint_kind make_joint(const plane_make_path* way, const double before[2],
                                     const double next[2], double flat, saltusi_cone* cone) {
  const double side = way->right ? 1.0 : -1.0;
  const double sine = cross(before, next), cosine = dot(before, next);
  double turn = side * atan2(sine, cosine); /* positive: convex */
  if (way->count == 2 && cosine < 0.0 && fabs(sine) < SMOOTH) {
    turn = M_PI; /* the end of a capsule */
  }
  if (fabs(turn) <= flat) {
    return SALTUSI_JOINT_FLAT;
  }
  if (turn < 0.0) {
    return SALTUSI_JOINT_REFLEX;
  }
  const double c = cos(0.5 * turn), s = side * sin(0.5 * turn);
  cone->mid[0] = c * before[0] - s * before[1];
  cone->mid[1] = s * before[0] + c * before[1];
  cone->half = 0.5 * turn;
  return SALTUSI_JOINT_CONVEX;
}

/* The end of an open chain: its cone has every direction that does not point into the chain. */
static void make_end(const plane_make_path* way, const double normal[2], bool first,
                     saltusi_cone* cone) {
  const double side = way->right ? -1.0 : 1.0;
  const double along =
      first ? -side : side; /* out of the chain: the normal rotated by -90 degrees, or 90 */
  cone->mid[0] = along * normal[1];
  cone->mid[1] = -along * normal[0];
  cone->half = 0.5 * M_PI;
}

/* Marks which neighbours of point k are straight, on the clockwise and the counter-clockwise side of its cone. */
static void mark_sides(const plane_make_path* way, int k, saltusi_cone* cone) {
  const int edges = edges_of(way);
  const int before = k > 0 ? k - 1 : way->closed ? edges - 1 : -1;
  const int next = k < edges ? k : -1;
  const bool is_before = before >= 0 && way->bulge[before] == 0.0;
  const bool is_next = next >= 0 && way->bulge[next] == 0.0;
  cone->straight[0] = way->right ? is_before : is_next;
  cone->straight[1] = way->right ? is_next : is_before;
}

static void mark_arc_sides(const plane_make_path* way, int k, saltusi_cone* cone) {
  const int edges = edges_of(way);
  const int before = k > 0 ? k - 1 : way->closed ? edges - 1 : -1;
  const int next = k + 1 < edges ? k + 1 : way->closed ? 0 : -1;
  const bool is_before = before >= 0 && way->bulge[before] == 0.0;
  const bool is_next = next >= 0 && way->bulge[next] == 0.0;
  const bool forwards = way->bulge[k] > 0.0; /* counter-clockwise about its centre */
  cone->straight[0] = forwards ? is_before : is_next;
  cone->straight[1] = forwards ? is_next : is_before;
}

/* A ball that contains all points and arcs. */
static void make_ball(const saltusi_planar_outline* outline, saltusi_shape* out) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  const int count = outline->points + outline->edges;
  for (int k = 0; k < count; k++) {
    const saltusi_feature* f = &out->feature[k];
    for (int i = 0; i < 2 && f->kind == SALTUSI_FEATURE_POINT; i++) {
      low[i] = fmin(low[i], f->p[i] - fabs(f->rho));
      high[i] = fmax(high[i], f->p[i] + fabs(f->rho));
    }
  }
  for (int i = 0; i < 2; i++) {
    out->centre[i] = 0.5 * (low[i] + high[i]);
  }
  for (int k = 0; k < count; k++) {
    const saltusi_feature* f = &out->feature[k];
    if (f->kind == SALTUSI_FEATURE_POINT) {
      const double far = hypot(f->p[0] - out->centre[0], f->p[1] - out->centre[1]) + fabs(f->rho);
      out->radius = fmax(out->radius, far * (1.0 + 4.0 * DBL_EPSILON));
    }
  }
  out->size = out->radius;
}

static saltus_status make_outline(const saltusi_making* making, const plane_make_path* way,
                                  bool solid, saltusi_shape* out) {
  const int edges = edges_of(way), count = way->count + edges;
  saltusi_planar_outline* outline = SALTUSI_TAKE(making->pool, saltusi_planar_outline, 1);
  saltusi_feature* feature = SALTUSI_TAKE(making->pool, saltusi_feature, count);
  saltusi_joint_kind* joint = SALTUSI_TAKE(making->pool, saltusi_joint_kind, way->count);
  saltusi_cone* cone = SALTUSI_TAKE(making->pool, saltusi_cone, count);
  double(*normal)[2][2] = saltusi_pool_take(making->pool, (size_t)edges, sizeof *normal);
  if (outline == NULL || feature == NULL || joint == NULL || cone == NULL || normal == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int k = 0; k < edges; k++) {
    make_edge(way, k, &feature[way->count + k], normal[k], &cone[way->count + k]);
    mark_arc_sides(way, k, &cone[way->count + k]);
  }
  bool convex = way->closed && solid;
  for (int k = 0; k < way->count; k++) {
    feature[k] = (saltusi_feature){.kind = SALTUSI_FEATURE_POINT,
                                   .rho = way->rho,
                                   .p = {way->p[k][0], way->p[k][1], 0.0},
                                   .a = {0.0, 0.0, 1.0},
                                   .e = {1.0, 0.0, 0.0}};
    const int before = k > 0 ? k - 1 : edges - 1, next = k;
    if (!way->closed && (k == 0 || k == way->count - 1)) {
      make_end(way, k == 0 ? normal[0][0] : normal[edges - 1][1], k == 0, &cone[k]);
      joint[k] = SALTUSI_JOINT_END;
    } else {
      const bool arcs = way->bulge[before] != 0.0 || way->bulge[next] != 0.0;
      joint[k] = make_joint(way, normal[before][1], normal[next][0],
                            arcs ? SMOOTH : STRAIGHT * DBL_EPSILON, &cone[k]);
      convex = convex && joint[k] != SALTUSI_JOINT_REFLEX;
    }
    mark_sides(way, k, &cone[k]);
  }
  *outline = (saltusi_planar_outline){.points = way->count,
                                      .edges = edges,
                                      .closed = way->closed,
                                      .solid = solid,
                                      .joint = joint,
                                      .cone = cone};
  out->outline = outline;
  out->feature = feature;
  out->stored = count;
  out->features = count + 1;
  out->rho = way->rho;
  out->convex = convex;
  make_ball(outline, out);
  return SALTUS_OK;
}

static saltus_status refuse_radius(const saltusi_making* making, double least, const char* text) {
  const double radius = making->def->radius;
  if (!isfinite(radius) || radius < 0.0 || (least > 0.0 && radius == 0.0)) {
    return saltusi_shape_refuse(making, "radius %g, it has to be finite and %s", radius, text);
  }
  return SALTUS_OK;
}

static saltus_status make_circle(const saltusi_making* making, const double centre[2],
                                 bool is_hollow, saltusi_shape* out) {
  const double radius = making->def->radius;
  saltusi_planar_outline* outline = SALTUSI_TAKE(making->pool, saltusi_planar_outline, 1);
  saltusi_feature* feature = SALTUSI_TAKE(making->pool, saltusi_feature, 1);
  saltusi_joint_kind* joint = SALTUSI_TAKE(making->pool, saltusi_joint_kind, 1);
  saltusi_cone* cone = SALTUSI_TAKE(making->pool, saltusi_cone, 1);
  if (outline == NULL || feature == NULL || joint == NULL || cone == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  *feature = (saltusi_feature){.kind = SALTUSI_FEATURE_POINT,
                               .rho = is_hollow ? -radius : radius,
                               .p = {centre[0], centre[1], 0.0},
                               .a = {0.0, 0.0, 1.0},
                               .e = {1.0, 0.0, 0.0}};
  *joint = SALTUSI_JOINT_CONVEX;
  *cone = (saltusi_cone){.mid = {1.0, 0.0}, .half = M_PI};
  *outline = (saltusi_planar_outline){
      .points = 1, .closed = true, .solid = !is_hollow, .joint = joint, .cone = cone};
  out->outline = outline;
  out->feature = feature;
  out->stored = 1;
  out->features = 2;
  out->rho = feature->rho;
  out->convex = !is_hollow;
  make_ball(outline, out);
  return SALTUS_OK;
}

static saltus_status make_capsule(const saltusi_making* making, plane_make_path* way,
                                  saltusi_shape* out) {
  if (way->p[0][0] == way->p[1][0] && way->p[0][1] == way->p[1][1]) {
    return make_circle(making, way->p[0], false, out);
  }
  way->closed = true;
  way->right = true;
  way->rho = making->def->radius;
  return make_outline(making, way, true, out);
}

static saltus_status make_capsule_of_length(const saltusi_making* making, saltusi_shape* out) {
  const double length = making->def->length;
  const saltus_status status = refuse_radius(making, 1.0, "above zero");
  if (status != SALTUS_OK) {
    return status;
  }
  if (!isfinite(length) || length < 0.0) {
    return saltusi_shape_refuse(making, "length %g, it has to be finite and not negative", length);
  }
  double p[2][2], bulge[2] = {0.0, 0.0};
  for (int k = 0; k < 2; k++) {
    const double own[3] = {k == 0 ? -0.5 * length : 0.5 * length, 0.0, 0.0};
    double body[3];
    saltusi_placed_point(&making->placing, own, body);
    p[k][0] = body[0];
    p[k][1] = body[1];
  }
  plane_make_path way = {.count = 2, .p = p, .bulge = bulge};
  return make_capsule(making, &way, out);
}

static saltus_status make_segment(const saltusi_making* making, saltusi_shape* out) {
  plane_make_path way = {0};
  saltus_status status = refuse_radius(making, 0.0, "not negative");
  if (status == SALTUS_OK && making->def->point_count != 2) {
    return saltusi_shape_refuse(making, "%d points are given, a segment has 2",
                                making->def->point_count);
  }
  status = status == SALTUS_OK ? read_points(making, &way, 2) : status;
  status = status == SALTUS_OK ? refuse_coinciding(making, &way) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  return making->def->radius > 0.0 ? make_capsule(making, &way, out)
                                   : make_outline(making, &way, false, out);
}

static saltus_status make_polygon(const saltusi_making* making, saltusi_shape* out) {
  plane_make_path way = {.closed = true, .right = true, .rho = making->def->radius};
  saltus_status status = refuse_radius(making, 0.0, "not negative");
  status = status == SALTUS_OK ? read_points(making, &way, 3) : status;
  status = status == SALTUS_OK ? refuse_coinciding(making, &way) : status;
  status = status == SALTUS_OK ? refuse_crossing(making, &way) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  double area = 0.0;
  for (int i = 1; i + 1 < way.count; i++) {
    const double u[2] = {way.p[i][0] - way.p[0][0], way.p[i][1] - way.p[0][1]};
    const double w[2] = {way.p[i + 1][0] - way.p[0][0], way.p[i + 1][1] - way.p[0][1]};
    area += 0.5 * cross(u, w);
  }
  if (!(fabs(area) > STRAIGHT * DBL_EPSILON * way.size * way.size)) {
    return saltusi_shape_refuse(making, "its area is zero");
  }
  if (area < 0.0) {
    return saltusi_shape_refuse(making,
                                "its points go clockwise, they have to go counter-clockwise");
  }
  unite(&way);
  status = make_outline(making, &way, true, out);
  if (status == SALTUS_OK && way.rho > 0.0 && !out->convex) {
    return saltusi_shape_refuse(making, "radius %g, only a convex polygon can be rounded", way.rho);
  }
  return status;
}

static saltus_status read_bulges(const saltusi_making* making, plane_make_path* way) {
  for (int k = 0; k < edges_of(way); k++) {
    way->bulge[k] = making->def->bulges != NULL ? making->def->bulges[k] : 0.0;
    if (!isfinite(way->bulge[k])) {
      return saltusi_shape_refuse(making, "bulge %d is %g, it has to be finite", k, way->bulge[k]);
    }
  }
  return SALTUS_OK;
}

static saltus_status make_chain(const saltusi_making* making, saltusi_shape* out) {
  plane_make_path way = {.closed = making->def->closed};
  if (making->def->radius != 0.0) {
    return saltusi_shape_refuse(making, "radius %g, a chain has none", making->def->radius);
  }
  saltus_status status = read_points(making, &way, 2);
  status = status == SALTUS_OK ? refuse_coinciding(making, &way) : status;
  status = status == SALTUS_OK ? read_bulges(making, &way) : status;
  status = status == SALTUS_OK ? refuse_crossing(making, &way) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  unite(&way);
  return make_outline(making, &way, false, out);
}

static saltus_status make_half_plane(const saltusi_making* making, saltusi_shape* out) {
  saltusi_planar_outline* outline = SALTUSI_TAKE(making->pool, saltusi_planar_outline, 1);
  saltusi_feature* feature = SALTUSI_TAKE(making->pool, saltusi_feature, 1);
  saltusi_cone* cone = SALTUSI_TAKE(making->pool, saltusi_cone, 1);
  if (outline == NULL || feature == NULL || cone == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  feature->kind = SALTUSI_FEATURE_PLANE;
  for (int k = 0; k < 3; k++) {
    feature->p[k] = making->placing.x[k];
    out->centre[k] = making->placing.x[k];
  }
  saltusi_placed_direction(&making->placing, (const double[3]){0.0, 1.0, 0.0}, feature->a);
  saltusi_placed_direction(&making->placing, (const double[3]){1.0, 0.0, 0.0}, feature->e);
  feature->size[0] = INFINITY;
  *outline = (saltusi_planar_outline){.edges = 1, .solid = true, .cone = cone};
  out->outline = outline;
  out->feature = feature;
  out->stored = 1;
  out->features = 2;
  out->radius = INFINITY;
  out->convex = true;
  return SALTUS_OK;
}

saltus_status saltusi_make_planar(const saltusi_making* making, saltusi_shape* out) {
  assert(making != NULL && out != NULL);
  if (!(fabs(making->placing.R[8] - 1.0) <= 1e-12)) { /* rounding of a decimal axis or quaternion */
    return saltusi_shape_refuse(making, "its orientation leaves the plane, it has to turn about z");
  }
  const bool is_circle = making->def->kind == SALTUS_SHAPE_CIRCLE;
  if (making->def->hollow && !is_circle) {
    return saltusi_shape_refuse(making, "a %s cannot be hollow, a circle can",
                                saltus_shape_kind_name(making->def->kind));
  }
  switch (making->def->kind) {
  case SALTUS_SHAPE_CIRCLE: {
    const saltus_status status = refuse_radius(making, 1.0, "above zero");
    return status != SALTUS_OK ? status
                               : make_circle(making, making->placing.x, making->def->hollow, out);
  }
  case SALTUS_SHAPE_SEGMENT:
    return make_segment(making, out);
  case SALTUS_SHAPE_POLYGON:
    return make_polygon(making, out);
  case SALTUS_SHAPE_HALF_PLANE:
    return make_half_plane(making, out);
  case SALTUS_SHAPE_CHAIN:
    return make_chain(making, out);
  default:
    return make_capsule_of_length(making, out);
  }
}
