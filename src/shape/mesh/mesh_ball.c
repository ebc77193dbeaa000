/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_ball.c - balls and capsules on meshes: each local minimum of the distance once
 * (docs/theory/contact-polytopes.md).
 *
 * The outside is partitioned: over a triangle (border included), beyond both sides of a convex edge, or in the normal
 * cone of a vertex. Points within `touch` of a border belong to the face rather than to the edge, and to the edge
 * rather than to the vertex, so that every minimum is found exactly once.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/mesh/mesh.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool saltusi_mesh_over(const saltusi_mesh* mesh, int triangle, const double p[3], double slack) {
  assert(mesh != NULL && p != NULL && triangle >= 0 && triangle < mesh->triangles);
  for (int k = 0; k < 3; k++) {
    const saltusi_mesh_edge* edge = &mesh->edge[mesh->triangle_edge[triangle][k]];
    double from[3];
    saltusi_minus3(p, mesh->vertex[mesh->triangle[triangle][k]], from);
    if (!(saltusi_dot3(edge->into[edge->side[0] == triangle ? 0 : 1], from) >= -slack)) {
      return false;
    }
  }
  return true;
}

bool saltusi_mesh_edge_cone(const saltusi_mesh_edge* edge, const double w[3], double sine) {
  assert(edge != NULL && w != NULL);
  for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
    if (!(saltusi_dot3(edge->into[k], w) <= sine)) {
      return false;
    }
  }
  return true;
}

/* Whether all edges of a vertex point away from a direction; above: the direction is in front of one of its
 * triangles; border: one of the edges is a border. */
static bool lead_away(const saltusi_mesh* mesh, int vertex, const double w[3], double sine,
                      bool* above, bool* border) {
  *above = *border = false;
  for (int k = mesh->star_first[vertex]; k < mesh->star_first[vertex + 1]; k++) {
    const saltusi_mesh_edge* edge = &mesh->edge[mesh->star[k]];
    const double along = saltusi_dot3(edge->direction, w);
    if (edge->kind != SALTUSI_EDGE_FLAT && !((edge->from == vertex ? along : -along) < sine)) {
      return false;
    }
    *border = *border || edge->kind == SALTUSI_EDGE_BORDER;
    for (int side = 0; side < 2 && edge->side[side] >= 0; side++) {
      *above = *above || saltusi_dot3(mesh->normal[edge->side[side]], w) >= -fmax(sine, 0.0);
    }
  }
  return true;
}

bool saltusi_mesh_vertex_cone(const saltusi_mesh* mesh, int vertex, const double w[3],
                              double sine) {
  assert(mesh != NULL && w != NULL && vertex >= 0 && vertex < mesh->vertices);
  bool above, border;
  return lead_away(mesh, vertex, w, sine, &above, &border) && above;
}

/* A ball about c in axes of the mesh. */
typedef struct ball {
  const saltusi_mesh_query* ask;
  int x; /* number of its feature */
  double c[3], r;
  bool end;       /* of a capsule: */
  double axis[3]; /* out of its end */
} ball;

/* At the end of a capsule: false if the normal has a component along the outward axis, since the side is closer
 * then. */
static bool at_end(const ball* b, const double normal[3], double distance) {
  return !b->end ||
         saltusi_dot3(normal, b->axis) <= b->ask->sine + b->ask->wide / fmin(b->r, fabs(distance));
}

static void on_face(const ball* b, int t) {
  const saltusi_mesh* mesh = b->ask->mesh;
  double from[3], point[3];
  saltusi_minus3(b->c, mesh->vertex[mesh->triangle[t][0]], from);
  const double height = saltusi_dot3(mesh->normal[t], from);
  if (height > -b->r - b->ask->wide && height <= b->r + b->ask->reach &&
      saltusi_mesh_over(mesh, t, b->c, b->ask->touch + b->ask->wide) &&
      at_end(b, mesh->normal[t], height)) {
    saltusi_along(-height, mesh->normal[t], b->c, point);
    saltusi_mesh_list(b->ask, b->x, saltusi_mesh_face_number(mesh, mesh->face[t]), height,
                      mesh->normal[t], point);
  }
}

/* w: vector from the edge to the centre. True if the centre is beyond both sides and above; a border has no below.
 * u: coordinate along the edge. */
static bool beyond(const ball* b, const saltusi_mesh_edge* edge, double* u, double w[3]) {
  const saltusi_mesh* mesh = b->ask->mesh;
  double from[3];
  saltusi_minus3(b->c, mesh->vertex[edge->from], from);
  *u = saltusi_dot3(from, edge->direction);
  if (edge->kind == SALTUSI_EDGE_FLAT || edge->kind == SALTUSI_EDGE_CONCAVE ||
      !(*u >= -b->ask->touch - b->ask->wide && *u <= edge->length + b->ask->touch + b->ask->wide)) {
    return false;
  }
  saltusi_along(-*u, edge->direction, from, w);
  bool above = edge->kind == SALTUSI_EDGE_BORDER;
  for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
    if (!(saltusi_dot3(edge->into[k], from) < b->ask->wide - b->ask->touch)) {
      return false;
    }
    above = above || saltusi_dot3(mesh->normal[edge->side[k]], w) >= -b->ask->wide;
  }
  return above;
}

/* A minimum at the end of an edge belongs to the first of the edges that meet there. */
static bool is_first(const ball* b, int e, double u) {
  const saltusi_mesh* mesh = b->ask->mesh;
  const saltusi_mesh_edge* edge = &mesh->edge[e];
  const bool low = fabs(u) <= b->ask->touch;
  if (!low && !(fabs(u - edge->length) <= b->ask->touch)) {
    return true;
  }
  const int v = low ? edge->from : edge->to;
  for (int k = mesh->star_first[v]; k < mesh->star_first[v + 1] && mesh->star[k] < e; k++) {
    double at, w[3];
    if (beyond(b, &mesh->edge[mesh->star[k]], &at, w)) {
      return false;
    }
  }
  return true;
}

static void on_edge(const ball* b, int e) {
  const saltusi_mesh* mesh = b->ask->mesh;
  const saltusi_mesh_edge* edge = &mesh->edge[e];
  double u, w[3], point[3];
  if (!beyond(b, edge, &u, w)) {
    return;
  }
  const double distance = sqrt(saltusi_dot3(w, w));
  if (!(distance <= b->r + b->ask->reach) || (!b->ask->all && !is_first(b, e, u))) {
    return;
  }
  saltusi_along(u, edge->direction, mesh->vertex[edge->from], point);
  for (int k = 0; k < 3; k++) {
    w[k] /= distance;
  }
  if (at_end(b, w, distance)) {
    saltusi_mesh_list(b->ask, b->x, saltusi_mesh_edge_number(mesh, e), distance, w, point);
  }
}

static void on_vertex(const ball* b, int v) {
  const saltusi_mesh* mesh = b->ask->mesh;
  double w[3];
  saltusi_minus3(b->c, mesh->vertex[v], w);
  const double distance = sqrt(saltusi_dot3(w, w));
  if (!mesh->corner[v] || !(distance <= b->r + b->ask->reach)) {
    return;
  }
  for (int k = 0; k < 3; k++) {
    w[k] /= distance;
  }
  bool above, border;
  if (lead_away(mesh, v, w, (b->ask->wide - b->ask->touch) / distance, &above, &border) &&
      (above || border) && at_end(b, w, distance)) {
    saltusi_mesh_list(b->ask, b->x, 1 + v, distance, w, mesh->vertex[v]);
  }
}

static void visit_ball(void* user, int t) {
  const ball* b = user;
  const saltusi_mesh* mesh = b->ask->mesh;
  on_face(b, t);
  for (int k = 0; k < 3; k++) {
    const int e = mesh->triangle_edge[t][k], v = mesh->triangle[t][k];
    if (mesh->edge[e].side[0] == t) {
      on_edge(b, e);
    }
    if (mesh->owner[v] == t) {
      on_vertex(b, v);
    }
  }
}

static void around(const ball* b) {
  double low[3], high[3];
  const double far = (b->r + fmax(b->ask->reach, 0.0)) * (1.0 + 1e-12) + b->ask->touch;
  for (int k = 0; k < 3; k++) {
    low[k] = b->c[k] - far;
    high[k] = b->c[k] + far;
  }
  saltusi_mesh_within(b->ask->mesh, low, high, visit_ball, (void*)b);
}

void saltusi_mesh_ball(const saltusi_mesh_query* ask) {
  assert(ask != NULL);
  ball b = {.ask = ask, .x = SALTUSI_SPHERE_POINT, .r = ask->X->rho};
  b.r = ask->X->feature[0].rho;
  saltusi_mesh_see(ask, ask->X->feature[0].p, b.c);
  around(&b);
}

/* ------------------------------------------------------------------------------------ capsules --- */

/* The side of a capsule, from p along a, in axes of the mesh. */
typedef struct side {
  const saltusi_mesh_query* ask;
  double p[3], a[3], length, r;
} side;

static void side_on_vertex(const side* s, int v) {
  const saltusi_mesh* mesh = s->ask->mesh;
  double from[3], w[3];
  saltusi_minus3(mesh->vertex[v], s->p, from);
  const double u = saltusi_dot3(from, s->a);
  if (!mesh->corner[v] || !(u > -s->ask->wide && u < s->length + s->ask->wide)) {
    return;
  }
  for (int k = 0; k < 3; k++) {
    w[k] = u * s->a[k] - from[k];
  }
  const double distance = sqrt(saltusi_dot3(w, w));
  if (!(distance <= s->r + s->ask->reach) || !(distance > 0.0)) {
    return;
  }
  for (int k = 0; k < 3; k++) {
    w[k] /= distance;
  }
  if (saltusi_mesh_vertex_cone(mesh, v, w, s->ask->sine + s->ask->wide / distance)) {
    saltusi_mesh_list(s->ask, SALTUSI_CAPSULE_SIDE, 1 + v, distance, w, mesh->vertex[v]);
  }
}

static void side_on_edge(const side* s, int e) {
  const saltusi_mesh* mesh = s->ask->mesh;
  const saltusi_mesh_edge* edge = &mesh->edge[e];
  if (edge->kind == SALTUSI_EDGE_FLAT || edge->kind == SALTUSI_EDGE_CONCAVE) {
    return;
  }
  double n[3], d[3], across[3], point[3];
  saltusi_cross(s->a, edge->direction, n);
  const double square = saltusi_dot3(n, n);
  if (!(square > SALTUSI_PARALLEL * SALTUSI_PARALLEL)) {
    return;
  }
  saltusi_minus3(mesh->vertex[edge->from], s->p, d);
  saltusi_cross(d, edge->direction, across);
  const double u = saltusi_dot3(across, n) / square;
  saltusi_cross(d, s->a, across);
  const double w = saltusi_dot3(across, n) / square;
  const double sine = s->ask->all ? s->ask->sine / sqrt(square) : s->ask->sine;
  const double wide = (s->ask->wide + (s->ask->all ? s->ask->X->size * sine : 0.0)) / sqrt(square);
  if (!(u > -wide && u < s->length + wide && w > -wide && w < edge->length + wide)) {
    return;
  }
  double outward = 0.0;
  for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
    outward += saltusi_dot3(n, mesh->normal[edge->side[k]]);
  }
  const double scale = outward > 0.0 ? 1.0 / sqrt(square) : -1.0 / sqrt(square);
  for (int k = 0; k < 3; k++) {
    n[k] *= scale;
  }
  const double gap = -saltusi_dot3(n, d);
  if (gap > -s->r && gap <= s->r + s->ask->reach && saltusi_mesh_edge_cone(edge, n, sine)) {
    saltusi_along(w, edge->direction, mesh->vertex[edge->from], point);
    saltusi_mesh_list(s->ask, SALTUSI_CAPSULE_SIDE, saltusi_mesh_edge_number(mesh, e), gap, n,
                      point);
  }
}

static void visit_side(void* user, int t) {
  const side* s = user;
  const saltusi_mesh* mesh = s->ask->mesh;
  for (int k = 0; k < 3; k++) {
    const int e = mesh->triangle_edge[t][k], v = mesh->triangle[t][k];
    if (mesh->edge[e].side[0] == t) {
      side_on_edge(s, e);
    }
    if (mesh->owner[v] == t) {
      side_on_vertex(s, v);
    }
  }
}

void saltusi_mesh_capsule(const saltusi_mesh_query* ask) {
  assert(ask != NULL);
  const saltusi_feature* line = &ask->X->feature[SALTUSI_CAPSULE_SIDE - 1];
  side s = {.ask = ask, .length = line->size[0], .r = line->rho};
  saltusi_mesh_see(ask, line->p, s.p);
  saltusi_turn(ask->R, line->a, s.a);
  double ends[2][3], low[3], high[3];
  for (int k = 0; k < 2; k++) {
    const saltusi_feature* end = &ask->X->feature[SALTUSI_CAPSULE_END - 1 + k];
    saltusi_mesh_see(ask, end->p, ends[k]);
    ball b = {.ask = ask, .x = SALTUSI_CAPSULE_END + k, .r = end->rho, .end = true};
    double middle[3], from[3];
    saltusi_along(0.5 * s.length, s.a, s.p, middle);
    saltusi_minus3(ends[k], middle, from);
    const double sign = saltusi_dot3(from, s.a) > 0.0 ? 1.0 : -1.0;
    for (int j = 0; j < 3; j++) {
      b.c[j] = ends[k][j];
      b.axis[j] = sign * s.a[j];
    }
    around(&b);
  }
  const double far = (s.r + fmax(ask->reach, 0.0)) * (1.0 + 1e-12) + ask->touch;
  for (int k = 0; k < 3; k++) {
    low[k] = fmin(ends[0][k], ends[1][k]) - far;
    high[k] = fmax(ends[0][k], ends[1][k]) + far;
  }
  saltusi_mesh_within(ask->mesh, low, high, visit_side, &s);
}
