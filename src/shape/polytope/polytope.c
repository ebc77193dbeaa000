/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope.c - boxes, hulls and half-spaces from their definitions.
 */
#include "shape/polytope/polytope.h"

#include "math/rotation.h"
#include "shape/polytope/sides.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static double norm(const double a[3]) {
  return sqrt(saltusi_dot3(a, a));
}

/* a / |a|; the zero vector stays zero. */
static void unit(double a[3]) {
  const double length = norm(a);
  for (int k = 0; k < 3 && length > 0.0; k++) {
    a[k] /= length;
  }
}

/* ------------------------------------------------------------------------------------ assembly --- */

/* Arrays written by the assembly; constant members of the polytope. */
typedef struct assembly {
  double (*vertex)[3];
  saltusi_edge* edge;
  saltusi_face* face;
  int* loop;
  int* loop_edge;
  double (*into)[3];
  int* star_first;
  int* star;
  int* star_edge;
  int corners;
} assembly;

static bool take(const saltusi_making* making, const saltusi_solid* solid, assembly* parts) {
  saltusi_pool* pool = making->pool;
  parts->corners = 0;
  for (int f = 0; f < solid->faces; f++) {
    parts->corners += solid->count[f];
  }
  const int edges = parts->corners / 2;
  parts->vertex = saltusi_pool_take(pool, (size_t)solid->points, sizeof parts->vertex[0]);
  parts->edge = SALTUSI_TAKE(pool, saltusi_edge, edges);
  parts->face = SALTUSI_TAKE(pool, saltusi_face, solid->faces);
  parts->loop = SALTUSI_TAKE(pool, int, parts->corners);
  parts->loop_edge = SALTUSI_TAKE(pool, int, parts->corners);
  parts->into = saltusi_pool_take(pool, (size_t)parts->corners, sizeof parts->into[0]);
  parts->star_first = SALTUSI_TAKE(pool, int, solid->points + 1);
  parts->star = SALTUSI_TAKE(pool, int, parts->corners);
  parts->star_edge = SALTUSI_TAKE(pool, int, parts->corners);
  return !pool->failed;
}

/* Twice the area of a loop times its normal (Newell), about its first corner. */
static void loop_normal(const double (*vertex)[3], const int* loop, int count, double normal[3]) {
  memset(normal, 0, 3 * sizeof *normal);
  const double* p = vertex[loop[0]];
  for (int k = 1; k + 1 < count; k++) {
    double u[3], w[3], n[3];
    saltusi_minus3(vertex[loop[k]], p, u);
    saltusi_minus3(vertex[loop[k + 1]], p, w);
    saltusi_cross(u, w, n);
    saltusi_along(1.0, n, normal, normal);
  }
}

static void make_faces(const saltusi_solid* solid, assembly* parts) {
  int first = 0;
  for (int f = 0; f < solid->faces; f++) {
    saltusi_face* face = &parts->face[f];
    face->first = first;
    face->count = solid->count[f];
    memcpy(parts->loop + first, solid->loop + first, (size_t)face->count * sizeof(int));
    loop_normal((const double(*)[3])parts->vertex, parts->loop + first, face->count, face->normal);
    unit(face->normal);
    face->offset = saltusi_dot3(face->normal, parts->vertex[parts->loop[first]]);
    first += face->count;
  }
}

static void make_edge(assembly* parts, int number, const saltusi_face_side* forward,
                      const saltusi_face_side* backward) {
  saltusi_edge* edge = &parts->edge[number];
  edge->from = forward->low;
  edge->to = forward->high;
  edge->left = forward->face;
  edge->right = backward->face;
  saltusi_minus3(parts->vertex[edge->to], parts->vertex[edge->from], edge->direction);
  edge->length = norm(edge->direction);
  unit(edge->direction);
  saltusi_cross(parts->face[edge->left].normal, edge->direction, edge->into[0]);
  saltusi_cross(edge->direction, parts->face[edge->right].normal, edge->into[1]);
  unit(edge->into[0]);
  unit(edge->into[1]);
  parts->loop_edge[forward->place] = number;
  parts->loop_edge[backward->place] = number;
  memcpy(parts->into[forward->place], edge->into[0], sizeof edge->into[0]);
  memcpy(parts->into[backward->place], edge->into[1], sizeof edge->into[1]);
}

/* False: an edge of length zero, or without exactly one face on each side. */
static bool make_edges(const saltusi_making* making, const saltusi_solid* solid, assembly* parts) {
  saltusi_face_side* sides = SALTUSI_TAKE(making->pool, saltusi_face_side, parts->corners);
  if (sides == NULL || parts->corners % 2 != 0) {
    return false;
  }
  for (int f = 0; f < solid->faces; f++) {
    const saltusi_face* face = &parts->face[f];
    for (int k = 0; k < face->count; k++) {
      const int from = parts->loop[face->first + k];
      const int to = parts->loop[face->first + (k + 1) % face->count];
      sides[face->first + k] = saltusi_side_of(from, to, face->first + k, f);
    }
  }
  saltusi_sides_sort(sides, parts->corners);
  for (int k = 0; k < parts->corners; k += 2) {
    const saltusi_face_side* one = &sides[k];
    const saltusi_face_side* two = &sides[k + 1];
    const bool again =
        k + 2 < parts->corners && sides[k + 2].low == one->low && sides[k + 2].high == one->high;
    if (one->low != two->low || one->high != two->high || one->forward == two->forward || again ||
        one->low == one->high) {
      return false;
    }
    make_edge(parts, k / 2, one->forward ? one : two, one->forward ? two : one);
    if (!(parts->edge[k / 2].length > 0.0)) {
      return false;
    }
  }
  return true;
}

static void make_stars(const saltusi_solid* solid, assembly* parts) {
  const int edges = parts->corners / 2;
  for (int e = 0; e < edges; e++) {
    parts->star_first[parts->edge[e].from + 1]++;
    parts->star_first[parts->edge[e].to + 1]++;
  }
  for (int v = 0; v < solid->points; v++) {
    parts->star_first[v + 1] += parts->star_first[v];
  }
  /* each end is written at the front of its range, which advances; the ranges are restored afterwards */
  for (int e = 0; e < edges; e++) {
    const int ends[2] = {parts->edge[e].from, parts->edge[e].to};
    for (int k = 0; k < 2; k++) {
      const int place = parts->star_first[ends[k]]++;
      parts->star[place] = ends[1 - k];
      parts->star_edge[place] = e;
    }
  }
  for (int v = solid->points; v > 0; v--) {
    parts->star_first[v] = parts->star_first[v - 1];
  }
  parts->star_first[0] = 0;
}

bool saltusi_polytope_assemble(const saltusi_making* making, const saltusi_solid* solid,
                               saltusi_polytope* out, bool* closed) {
  assert(making != NULL && solid != NULL && out != NULL && closed != NULL);
  assembly parts = {.corners = 0};
  *closed = true;
  if (!take(making, solid, &parts)) {
    return false;
  }
  for (int v = 0; v < solid->points; v++) {
    saltusi_placed_point(&making->placing, solid->point[v], parts.vertex[v]);
  }
  make_faces(solid, &parts);
  *closed = make_edges(making, solid, &parts);
  if (!*closed || making->pool->failed) {
    return false;
  }
  make_stars(solid, &parts);
  *out = (saltusi_polytope){.vertices = solid->points,
                            .edges = parts.corners / 2,
                            .faces = solid->faces,
                            .vertex = (const double(*)[3])parts.vertex,
                            .edge = parts.edge,
                            .face = parts.face,
                            .loop = parts.loop,
                            .loop_edge = parts.loop_edge,
                            .into = (const double(*)[3])parts.into,
                            .star_first = parts.star_first,
                            .star = parts.star,
                            .star_edge = parts.star_edge,
                            .placing = making->placing};
  return true;
}

int saltusi_polytope_support(const saltusi_polytope* polytope, const double direction[3],
                             int start) {
  assert(polytope != NULL && direction != NULL && start >= 0 && start < polytope->vertices);
  enum { SCAN = 24 }; /* up to this number of vertices a full search is faster than hill climbing */
  int best = start;
  double most = saltusi_dot3(direction, polytope->vertex[start]);
  if (polytope->vertices <= SCAN) {
    for (int v = 0; v < polytope->vertices; v++) {
      const double value = saltusi_dot3(direction, polytope->vertex[v]);
      if (value > most) {
        most = value;
        best = v;
      }
    }
    return best;
  }
  for (int at = -1; at != best;) { /* on a convex body a local maximum is global */
    at = best;
    for (int k = polytope->star_first[at]; k < polytope->star_first[at + 1]; k++) {
      const double value = saltusi_dot3(direction, polytope->vertex[polytope->star[k]]);
      if (value > most) {
        most = value;
        best = polytope->star[k];
      }
    }
  }
  return best;
}

/* ------------------------------------------------------------------------------------ features --- */

static void features_of(const saltusi_polytope* body, double rho, saltusi_feature* feature) {
  for (int v = 0; v < body->vertices; v++) {
    saltusi_feature* point = feature++;
    point->kind = SALTUSI_FEATURE_POINT;
    point->rho = rho;
    memcpy(point->p, body->vertex[v], sizeof point->p);
  }
  for (int e = 0; e < body->edges; e++) {
    saltusi_feature* line = feature++;
    line->kind = SALTUSI_FEATURE_LINE;
    line->rho = rho;
    memcpy(line->p, body->vertex[body->edge[e].from], sizeof line->p);
    memcpy(line->a, body->edge[e].direction, sizeof line->a);
    saltusi_normal_to(line->a, line->e);
    line->size[0] = body->edge[e].length;
  }
  for (int f = 0; f < body->faces; f++) {
    saltusi_feature* plane = feature++;
    const saltusi_face* face = &body->face[f];
    plane->kind = SALTUSI_FEATURE_PLANE;
    plane->rho = rho;
    memcpy(plane->p, body->vertex[body->loop[face->first]], sizeof plane->p);
    memcpy(plane->a, face->normal, sizeof plane->a);
    saltusi_cross(body->into[face->first], face->normal, plane->e);
    unit(plane->e);
  }
}

static saltus_status finish(const saltusi_making* making, saltusi_polytope* body,
                            saltusi_shape* out) {
  const int count = body->vertices + body->edges + body->faces;
  saltusi_feature* feature = SALTUSI_TAKE(making->pool, saltusi_feature, count);
  if (feature == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  out->rho = making->def->radius;
  features_of(body, out->rho, feature);
  saltusi_shape_ball(body->vertex, body->vertices, out->rho, out);
  out->feature = feature;
  out->stored = count;
  out->features = count + 1;
  out->convex = true;
  out->polytope = body;
  return SALTUS_OK;
}

/* ------------------------------------------------------------------------------------ kinds --- */

/* Corner i of a box: bits x y z of i from high to low, 0 is the negative side. Faces -x +x -y +y -z +z. */
static const int box_loop[24] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1,
                                 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
static const int box_count[6] = {4, 4, 4, 4, 4, 4};

static saltus_status make_box(const saltusi_making* making, saltusi_shape* out) {
  const double* size = making->def->size;
  for (int k = 0; k < 3; k++) {
    if (!(size[k] > 0.0) || !isfinite(size[k])) {
      return saltusi_shape_refuse(making, "size %g of a box has to be above zero and finite",
                                  size[k]);
    }
  }
  double point[8][3];
  saltusi_polytope* body = SALTUSI_TAKE(making->pool, saltusi_polytope, 1);
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) {
      point[i][k] = (i >> (2 - k)) & 1 ? 0.5 * size[k] : -0.5 * size[k];
    }
  }
  const saltusi_solid solid = {(const double(*)[3])point, 8, box_loop, box_count, 6};
  bool closed = true;
  if (body == NULL || !saltusi_polytope_assemble(making, &solid, body, &closed)) {
    return closed ? SALTUS_ERR_MEMORY
                  : saltusi_shape_refuse(making,
                                         "a box of %g x %g x %g at this position has edges "
                                         "without length in double precision",
                                         size[0], size[1], size[2]);
  }
  static const double same[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  body->box = true;
  for (int k = 0; k < 9; k++) {
    body->placed =
        body->placed || making->placing.R[k] != same[k] || (k < 3 && making->placing.x[k] != 0.0);
  }
  for (int k = 0; k < 3; k++) {
    body->half[k] = 0.5 * size[k];
  }
  return finish(making, body, out);
}

static saltus_status make_hull(const saltusi_making* making, saltusi_shape* out) {
  const saltus_shape_def* def = making->def;
  if (def->points == NULL || def->point_count < 4) {
    return saltusi_shape_refuse(making, "a hull of %d points: at least 4 are needed",
                                def->points == NULL ? 0 : def->point_count);
  }
  for (int k = 0; k < 3 * def->point_count; k++) {
    if (!isfinite(def->points[k])) {
      return saltusi_shape_refuse(making, "coordinate %d of point %d is %g, not a finite number",
                                  k % 3 + 1, k / 3 + 1, def->points[k]);
    }
  }
  saltusi_solid solid;
  const saltus_status status = saltusi_hull_solid(making, &solid);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_polytope* body = SALTUSI_TAKE(making->pool, saltusi_polytope, 1);
  bool closed = true;
  if (body == NULL || !saltusi_polytope_assemble(making, &solid, body, &closed)) {
    return closed ? SALTUS_ERR_MEMORY
                  : saltusi_shape_refuse(making,
                                         "the hull of its points is too thin for double precision: "
                                         "faces do not close");
  }
  return finish(making, body, out);
}

static saltus_status make_half_space(const saltusi_making* making, saltusi_shape* out) {
  saltusi_feature* plane = SALTUSI_TAKE(making->pool, saltusi_feature, 1);
  if (plane == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const double x[3] = {1.0, 0.0, 0.0}, z[3] = {0.0, 0.0, 1.0};
  plane->kind = SALTUSI_FEATURE_PLANE;
  plane->rho = 0.0;
  memcpy(plane->p, making->placing.x, sizeof plane->p);
  saltusi_placed_direction(&making->placing, z, plane->a);
  saltusi_placed_direction(&making->placing, x, plane->e);
  plane->size[0] = INFINITY;
  memcpy(out->centre, plane->p, sizeof out->centre);
  out->radius = INFINITY;
  out->size = 0.0;
  out->feature = plane;
  out->stored = 1;
  out->features = 2;
  out->convex = true;
  return SALTUS_OK;
}

saltus_status saltusi_make_polytope(const saltusi_making* making, saltusi_shape* out) {
  assert(making != NULL && out != NULL);
  const double radius = making->def->radius;
  if (making->def->kind == SALTUS_SHAPE_HALF_SPACE) {
    return make_half_space(making, out);
  }
  if (!(radius >= 0.0) || !isfinite(radius)) {
    return saltusi_shape_refuse(
        making, "radius %g of its rounding has to be zero or above, and finite", radius);
  }
  return making->def->kind == SALTUS_SHAPE_BOX ? make_box(making, out) : make_hull(making, out);
}
