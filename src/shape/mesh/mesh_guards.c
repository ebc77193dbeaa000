/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_guards.c - validity of the features of a contact with a mesh. Over a face: the distance of the closest point
 * from the border of the face, positive inside and capped by the size of X, so that distant edges need not be
 * visited. Flat edges are not borders. A concave edge is a border also for sharp features; the neighbouring face has
 * a contact of its own.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The border of a face near a point. */
typedef struct border {
  const saltusi_mesh* mesh;
  int face;
  double p[3];
  double touch;
  double distance; /* m, from the nearest border edge */
  bool inside;
} border;

static void visit(void* user, int t) {
  border* at = user;
  const saltusi_mesh* mesh = at->mesh;
  if (mesh->face[t] != at->face) {
    return;
  }
  at->inside = at->inside || saltusi_mesh_over(mesh, t, at->p, at->touch);
  for (int k = 0; k < 3; k++) {
    const saltusi_mesh_edge* edge = &mesh->edge[mesh->triangle_edge[t][k]];
    if (edge->kind == SALTUSI_EDGE_FLAT) {
      continue;
    }
    double from[3];
    saltusi_minus3(at->p, mesh->vertex[edge->from], from);
    const double u = fmin(edge->length, fmax(0.0, saltusi_dot3(from, edge->direction)));
    saltusi_along(-u, edge->direction, from, from);
    at->distance = fmin(at->distance, sqrt(saltusi_dot3(from, from)));
  }
}

static double within_face(const saltusi_mesh_query* ask, int face, const double p[3],
                          double scale) {
  const saltusi_feature* plane =
      &ask->shape->feature[saltusi_mesh_face_number(ask->mesh, face) - 1];
  border at = {.mesh = ask->mesh, .face = face, .touch = ask->touch, .distance = scale};
  double from[3], low[3], high[3];
  saltusi_minus3(p, plane->p, from);
  saltusi_along(-saltusi_dot3(plane->a, from), plane->a, p, at.p);
  for (int k = 0; k < 3; k++) {
    low[k] = at.p[k] - scale;
    high[k] = at.p[k] + scale;
  }
  saltusi_mesh_within(ask->mesh, low, high, visit, &at);
  return at.inside ? at.distance : -at.distance;
}

/* A point p over a face, an edge or a vertex. `slack` is added, since the lists extend slightly beyond borders. */
static int point_on(const saltusi_mesh_query* ask, const double p[3], int number, double slack,
                    double* guard) {
  const saltusi_mesh* mesh = ask->mesh;
  double from[3];
  if (number > mesh->vertices + mesh->edges) {
    guard[0] = within_face(ask, number - 1 - mesh->vertices - mesh->edges, p, ask->X->size) + slack;
    return 1;
  }
  if (number > mesh->vertices) {
    const saltusi_mesh_edge* edge = &mesh->edge[number - 1 - mesh->vertices];
    saltusi_minus3(p, mesh->vertex[edge->from], from);
    const double u = saltusi_dot3(from, edge->direction);
    guard[0] = u + slack;
    guard[1] = edge->length - u + slack;
    guard[2] = guard[3] = INFINITY;
    for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
      guard[2 + k] = slack - saltusi_dot3(edge->into[k], from);
    }
    return edge->side[1] >= 0 ? 4 : 3;
  }
  const int v = number - 1;
  guard[0] = INFINITY;
  saltusi_minus3(p, mesh->vertex[v], from);
  for (int k = mesh->star_first[v]; k < mesh->star_first[v + 1]; k++) {
    const saltusi_mesh_edge* edge = &mesh->edge[mesh->star[k]];
    if (edge->kind != SALTUSI_EDGE_FLAT) {
      const double along = saltusi_dot3(edge->direction, from);
      guard[0] = fmin(guard[0], (edge->from == v ? -along : along) + slack);
    }
  }
  return 1;
}

int saltusi_mesh_place_guards(const saltusi_mesh_query* ask, int number, const double p[3],
                              const double n[3], double slack, double* guard) {
  assert(ask != NULL && p != NULL && n != NULL && guard != NULL);
  /* regions are defined for points above the features: evaluate at a distance along the normal */
  double above[3];
  saltusi_along(ask->X->size, n, p, above);
  return point_on(ask, above, number, slack, guard);
}

/* Margin of a direction in the normal cone of an edge, as a sine. */
static double in_arc(const saltusi_mesh_edge* edge, const double n[3]) {
  double least = INFINITY;
  for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
    least = fmin(least, -saltusi_dot3(edge->into[k], n));
  }
  return least;
}

/* The end of a capsule at p, on an edge or vertex: its side becomes the contact feature where the normal is
 * orthogonal to the axis. */
static int capsule_end(const saltusi_mesh_query* ask, int x, int number, const double p[3],
                       int count, double* guard) {
  const saltusi_mesh* mesh = ask->mesh;
  if (ask->X->kind != SALTUS_SHAPE_CAPSULE || number > mesh->vertices + mesh->edges) {
    return count;
  }
  double a[3], n[3];
  saltusi_turn(ask->R, ask->X->feature[SALTUSI_CAPSULE_SIDE - 1].a, a);
  if (number > mesh->vertices) {
    const saltusi_mesh_edge* edge = &mesh->edge[number - 1 - mesh->vertices];
    saltusi_minus3(p, mesh->vertex[edge->from], n);
    saltusi_along(-saltusi_dot3(n, edge->direction), edge->direction, n, n);
  } else {
    saltusi_minus3(p, mesh->vertex[number - 1], n);
  }
  const double length = sqrt(saltusi_dot3(n, n));
  const double out = x == SALTUSI_CAPSULE_END ? -1.0 : 1.0; /* the line starts at the first end */
  guard[count] = -out * saltusi_dot3(n, a) / length + SALTUSI_TOUCH;
  return count + 1;
}

/* A line of X across an edge, or over a vertex. */
static int line_on(const saltusi_mesh_query* ask, const saltusi_feature* line, int number,
                   double slack, double* guard) {
  const saltusi_mesh* mesh = ask->mesh;
  double p[3], a[3], d[3], n[3], across[3];
  saltusi_mesh_see(ask, line->p, p);
  saltusi_turn(ask->R, line->a, a);
  if (number <= mesh->vertices) {
    saltusi_minus3(mesh->vertex[number - 1], p, d);
    const double u = saltusi_dot3(d, a);
    guard[0] = u + slack;
    guard[1] = line->size[0] - u + slack;
    return 2;
  }
  const saltusi_mesh_edge* edge = &mesh->edge[number - 1 - mesh->vertices];
  saltusi_cross(a, edge->direction, n);
  const double square = saltusi_dot3(n, n);
  saltusi_minus3(mesh->vertex[edge->from], p, d);
  saltusi_cross(d, edge->direction, across);
  const double u = saltusi_dot3(across, n) / square;
  saltusi_cross(d, a, across);
  const double w = saltusi_dot3(across, n) / square;
  guard[0] = u + slack;
  guard[1] = line->size[0] - u + slack;
  guard[2] = w + slack;
  guard[3] = edge->length - w + slack;
  guard[4] = sqrt(square) - SALTUSI_PARALLEL;
  double outward[3];
  saltusi_mesh_outward(mesh, number, outward);
  const double scale = (saltusi_dot3(outward, n) < 0.0 ? -1.0 : 1.0) / sqrt(square);
  for (int k = 0; k < 3; k++) {
    n[k] *= scale;
  }
  guard[5] = in_arc(edge, n) + SALTUSI_TOUCH;
  return 6;
}

/* A vertex of the mesh over a face of X. */
static int under_face(const saltusi_mesh_query* ask, int f, int v, double slack, double* guard) {
  const saltusi_polytope* body = ask->X->polytope;
  const saltusi_face* face = &body->face[f];
  double from[3], p[3];
  saltusi_minus3(ask->mesh->vertex[v], ask->t, from);
  saltusi_turn_back(ask->R, from, p);
  const bool one = face->count > SALTUSI_GUARDS;
  guard[0] = INFINITY;
  for (int k = 0; k < face->count; k++) {
    saltusi_minus3(p, body->vertex[body->loop[face->first + k]], from);
    const double inside = saltusi_dot3(body->into[face->first + k], from) + slack;
    if (one) {
      guard[0] = fmin(guard[0], inside);
    } else {
      guard[k] = inside;
    }
  }
  return one ? 1 : face->count;
}

int saltusi_mesh_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                        double guard[SALTUSI_GUARDS]) {
  assert(two != NULL && numbers != NULL && guard != NULL);
  saltusi_mesh_query ask;
  saltusi_mesh_query_of(two, &ask);
  if (ask.X->kind == SALTUS_SHAPE_HALF_SPACE) {
    return 0;
  }
  const int x = ask.turned ? numbers->b : numbers->a;
  const int number = ask.turned ? numbers->a : numbers->b;
  const double slack = 4.0 * fmax(ask.touch, SALTUSI_TOUCH * ask.X->size);
  const saltusi_feature* feature = &ask.X->feature[x - 1];
  const bool round = ask.X->kind == SALTUS_SHAPE_SPHERE || ask.X->kind == SALTUS_SHAPE_CAPSULE;
  if (!round && (ask.X->polytope == NULL || ask.X->rho > 0.0)) {
    saltusi_pair pair;
    saltusi_mesh_pair(two, numbers, &pair);
    return saltusi_mesh_curved_guards(&ask, &pair, number, slack, guard);
  }
  switch (feature->kind) {
  case SALTUSI_FEATURE_POINT: {
    double p[3];
    saltusi_mesh_see(&ask, feature->p, p);
    return capsule_end(&ask, x, number, p, point_on(&ask, p, number, slack, guard), guard);
  }
  case SALTUSI_FEATURE_LINE:
    return line_on(&ask, feature, number, slack, guard);
  default:
    return under_face(&ask, x - 1 - ask.X->polytope->vertices - ask.X->polytope->edges, number - 1,
                      slack, guard);
  }
}
