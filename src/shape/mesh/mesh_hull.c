/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_hull.c - boxes, hulls and half-spaces on meshes (docs/theory/contact-polytopes.md): vertices of the hull over
 * faces, vertices of the mesh below faces of the hull, edges of the hull across convex edges of the mesh. A mesh is a
 * surface: depths above half of the hull belong to another part of it.
 */
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct hull {
  const saltusi_mesh_query* ask;
  const saltusi_polytope* body;
  double depth; /* m, largest depth of edges and vertices of the mesh */
} hull;

/* From axes of the mesh to those of the hull. */
static void into_hull(const saltusi_mesh_query* ask, const double p[3], double own[3]) {
  double from[3];
  saltusi_minus3(p, ask->t, from);
  saltusi_turn_back(ask->R, from, own);
}

/* Whether the projection of p is in the triangle, border included. Beyond a concave edge a point slightly over the
 * neighbour is still over this face: both faces restrict it. */
static bool over(const hull* h, int t, const double p[3]) {
  const saltusi_mesh* mesh = h->ask->mesh;
  for (int k = 0; k < 3; k++) {
    const saltusi_mesh_edge* edge = &mesh->edge[mesh->triangle_edge[t][k]];
    const double slack =
        h->ask->wide + (edge->kind == SALTUSI_EDGE_CONCAVE ? 0.1 * h->ask->X->size : h->ask->touch);
    double from[3];
    saltusi_minus3(p, mesh->vertex[mesh->triangle[t][k]], from);
    if (!(saltusi_dot3(edge->into[edge->side[0] == t ? 0 : 1], from) >= -slack)) {
      return false;
    }
  }
  return true;
}

/* Whether a point behind the plane of a face, beyond a concave edge, is closer to the mesh than to the plane: the
 * mesh descends again there, and the plane is not part of its surface. If all free space is in front of the plane,
 * a point behind it is at least as far from the mesh. */
static bool beyond(const hull* h, int t, const double p[3], double gap) {
  const saltusi_mesh_query* ask = h->ask;
  if (ask->all || !(gap < -4.0 * ask->touch) ||
      saltusi_mesh_over(ask->mesh, t, p, 4.0 * ask->touch)) {
    return false;
  }
  saltusi_mesh_foot foot;
  saltusi_mesh_nearest(ask->mesh, p, &foot);
  return foot.distance > gap + 4.0 * ask->touch;
}

static void vertices_on_face(const hull* h, int t) {
  const saltusi_mesh_query* ask = h->ask;
  const saltusi_mesh* mesh = ask->mesh;
  const double* n = mesh->normal[t];
  double up[3], from[3];
  saltusi_turn_back(ask->R, n, up);
  const double down[3] = {-up[0], -up[1], -up[2]};
  saltusi_minus3(ask->t, mesh->vertex[mesh->triangle[t][0]], from);
  const double base = saltusi_dot3(n, from);
  const int lowest = saltusi_polytope_support(h->body, down, 0);
  const int highest = saltusi_polytope_support(h->body, up, 0);
  const double low = base + saltusi_dot3(up, h->body->vertex[lowest]);
  const double high = base + saltusi_dot3(up, h->body->vertex[highest]);
  if (!(low <= ask->reach) || (!ask->all && !(low > -0.5 * (high - low)))) {
    return;
  }
  for (int v = 0; v < h->body->vertices; v++) {
    const double gap = base + saltusi_dot3(up, h->body->vertex[v]);
    double p[3], point[3];
    if (!(gap <= ask->reach) || (ask->all && !(gap >= -ask->reach)) ||
        !saltusi_in_cone(h->body, v, up, ask->sine)) {
      continue;
    }
    saltusi_mesh_see(ask, h->body->vertex[v], p);
    if (over(h, t, p) && !beyond(h, t, p, gap)) {
      saltusi_along(-gap, n, p, point);
      saltusi_mesh_list(ask, saltusi_vertex_number(v),
                        saltusi_mesh_face_number(mesh, mesh->face[t]), gap, n, point);
    }
  }
}

/* Least distance of a point (axes of the hull) from the sides of a face, positive inside. */
static double within_face(const saltusi_polytope* body, const saltusi_face* face,
                          const double p[3]) {
  double least = INFINITY;
  for (int k = face->first; k < face->first + face->count; k++) {
    double from[3];
    saltusi_minus3(p, body->vertex[body->loop[k]], from);
    least = fmin(least, saltusi_dot3(body->into[k], from));
  }
  return least;
}

static void list_under(const hull* h, int v, int f, double gap) {
  const saltusi_mesh_query* ask = h->ask;
  double normal[3];
  saltusi_turn(ask->R, h->body->face[f].normal, normal);
  for (int k = 0; k < 3; k++) {
    normal[k] = -normal[k]; /* from the mesh to the hull */
  }
  if (saltusi_mesh_vertex_cone(ask->mesh, v, normal, ask->sine)) {
    saltusi_mesh_list(ask, saltusi_face_number(h->body, f), 1 + v, gap, normal,
                      ask->mesh->vertex[v]);
  }
}

/* All faces of the hull that the vertex may touch. */
static void vertex_under_all(const hull* h, int v, const double p[3]) {
  for (int f = 0; f < h->body->faces; f++) {
    const saltusi_face* face = &h->body->face[f];
    const double gap = saltusi_dot3(face->normal, p) - face->offset;
    if (fabs(gap) <= h->ask->reach &&
        within_face(h->body, face, p) >= -h->ask->touch - h->ask->wide) {
      list_under(h, v, f, gap);
    }
  }
}

/* A vertex of the mesh with the face of least depth in the hull. */
static void vertex_under(const hull* h, int v) {
  const saltusi_mesh_query* ask = h->ask;
  if (!ask->mesh->corner[v]) {
    return;
  }
  double p[3], best = -INFINITY;
  int under = -1;
  into_hull(ask, ask->mesh->vertex[v], p);
  if (ask->all) {
    vertex_under_all(h, v, p);
    return;
  }
  for (int f = 0; f < h->body->faces; f++) {
    const saltusi_face* face = &h->body->face[f];
    const double gap = saltusi_dot3(face->normal, p) - face->offset;
    if (gap >
        best) { /* the largest over all faces: a point beyond another face is outside of the hull */
      best = gap;
      under = within_face(h->body, face, p) >= -ask->touch ? f : -1;
    }
  }
  if (under >= 0 && best <= ask->reach && best > -h->depth) {
    list_under(h, v, under, best);
  }
}

/* Whether two ends are on opposite sides of a line. For all pairs: or on one side by at most `wide`, the displacement
 * of the bodies, across the line. Along edges that cross at a small angle this is a longer distance. */
static bool apart(double first, double second, double touch, double wide) {
  if (wide > 0.0) {
    return fmin(first, second) <= wide && fmax(first, second) >= -wide;
  }
  return fabs(first) > touch && fabs(second) > touch && first * second < 0.0;
}

static void edge_across(const hull* h, const saltusi_edge* mine, int number, int e) {
  const double PARALLEL = 3e-6; /* below, the ends of the edges are the contact points */
  const saltusi_mesh_query* ask = h->ask;
  const saltusi_mesh* mesh = ask->mesh;
  const saltusi_mesh_edge* edge = &mesh->edge[e];
  double a[3], p[3], n[3], d[3], across[3], point[3];
  saltusi_turn(ask->R, mine->direction, a);
  saltusi_cross(a, edge->direction, n);
  const double sine = sqrt(saltusi_dot3(n, n));
  if (!(sine > PARALLEL)) {
    return;
  }
  double up[3]; /* out of the faces of the mesh, into those of the hull, as in the equations of the
            * pair */
  saltusi_turn_back(ask->R, n, up);
  double outward = -saltusi_dot3(up, h->body->face[mine->left].normal) -
                   saltusi_dot3(up, h->body->face[mine->right].normal);
  for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
    outward += saltusi_dot3(n, mesh->normal[edge->side[k]]);
  }
  const double scale = outward > 0.0 ? 1.0 / sine : -1.0 / sine;
  for (int k = 0; k < 3; k++) {
    n[k] *= scale;
  }
  if (!ask->all && !(fabs(outward) > SALTUSI_OUTWARD * sine)) {
    return;
  }
  saltusi_mesh_see(ask, h->body->vertex[mine->from], p);
  saltusi_minus3(p, mesh->vertex[edge->from], d);
  const double gap = saltusi_dot3(n, d);
  const double wide = ask->all
                          ? ask->sine / sine
                          : fmin(ask->sine / sine,
                                 fmin(4.0 * ask->sine, SALTUSI_WIDEST)); /* as for two polytopes */
  if (!(gap <= ask->reach && gap > -fmax(h->depth, ask->wide)) ||
      !saltusi_mesh_edge_cone(edge, n, wide)) {
    return;
  }
  saltusi_turn_back(ask->R, n, up);
  if (!(saltusi_dot3(mine->into[0], up) >= -wide && saltusi_dot3(mine->into[1], up) >= -wide)) {
    return;
  }
  saltusi_cross(n, edge->direction, across);
  const double x = saltusi_dot3(across, d), slope = saltusi_dot3(across, a);
  saltusi_cross(n, a, across);
  const double y = -saltusi_dot3(across, d), rise = saltusi_dot3(across, edge->direction);
  if (apart(x, x + slope * mine->length, ask->touch, ask->wide) &&
      apart(y, y + rise * edge->length, ask->touch, ask->wide)) {
    saltusi_along(-y / rise, edge->direction, mesh->vertex[edge->from], point);
    saltusi_mesh_list(ask, saltusi_edge_number(h->body, number), saltusi_mesh_edge_number(mesh, e),
                      gap, n, point);
  }
}

/* Whether an edge of the mesh is near the bounding ball of the hull. */
static bool near_edge(const hull* h, const saltusi_mesh_edge* edge) {
  const saltusi_mesh_query* ask = h->ask;
  double c[3], from[3];
  saltusi_mesh_see(ask, ask->X->centre, c);
  saltusi_minus3(c, ask->mesh->vertex[edge->from], from);
  const double u = fmin(edge->length, fmax(0.0, saltusi_dot3(from, edge->direction)));
  saltusi_along(-u, edge->direction, from, from);
  const double far = ask->X->radius + fmax(ask->reach, 0.0);
  return saltusi_dot3(from, from) <= far * far;
}

static void visit(void* user, int t) {
  const hull* h = user;
  const saltusi_mesh* mesh = h->ask->mesh;
  vertices_on_face(h, t);
  for (int k = 0; k < 3; k++) {
    const int v = mesh->triangle[t][k], e = mesh->triangle_edge[t][k];
    const saltusi_mesh_edge* edge = &mesh->edge[e];
    if (mesh->owner[v] == t) {
      vertex_under(h, v);
    }
    if (edge->side[0] != t || edge->kind == SALTUSI_EDGE_FLAT ||
        edge->kind == SALTUSI_EDGE_CONCAVE || !near_edge(h, edge)) {
      continue;
    }
    for (int j = 0; j < h->body->edges; j++) {
      edge_across(h, &h->body->edge[j], j, e);
    }
  }
}

void saltusi_mesh_hull(const saltusi_mesh_query* ask) {
  assert(ask != NULL && ask->X->polytope != NULL);
  hull h = {.ask = ask, .body = ask->X->polytope, .depth = 0.25 * ask->X->size};
  double low[3], high[3];
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (int v = 0; v < h.body->vertices; v++) {
    double p[3];
    saltusi_mesh_see(ask, h.body->vertex[v], p);
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], p[k]);
      high[k] = fmax(high[k], p[k]);
    }
  }
  const double far = fmax(ask->reach, 0.0) + ask->touch;
  for (int k = 0; k < 3; k++) {
    low[k] -= far;
    high[k] += far;
  }
  saltusi_mesh_within(ask->mesh, low, high, visit, &h);
}

/* ------------------------------------------------------------------------------------ half-space --- */

typedef struct mesh_hull_plane {
  const saltusi_mesh_query* ask;
  double normal[3], offset;
} mesh_hull_plane;

static void visit_plane(void* user, int t) {
  const mesh_hull_plane* under = user;
  const saltusi_mesh* mesh = under->ask->mesh;
  const double up[3] = {-under->normal[0], -under->normal[1], -under->normal[2]};
  for (int k = 0; k < 3; k++) {
    const int v = mesh->triangle[t][k];
    const double gap = saltusi_dot3(under->normal, mesh->vertex[v]) - under->offset;
    if (mesh->owner[v] == t && mesh->corner[v] && gap <= under->ask->reach &&
        saltusi_mesh_vertex_cone(mesh, v, up, under->ask->sine)) {
      saltusi_mesh_list(under->ask, 1, 1 + v, gap, up, mesh->vertex[v]);
    }
  }
}

void saltusi_mesh_plane(const saltusi_mesh_query* ask) {
  assert(ask != NULL);
  mesh_hull_plane under = {.ask = ask};
  double p[3];
  saltusi_turn(ask->R, ask->X->feature[0].a, under.normal);
  saltusi_mesh_see(ask, ask->X->feature[0].p, p);
  under.offset = saltusi_dot3(under.normal, p);
  saltusi_mesh_below(ask->mesh, under.normal, under.offset + ask->reach, visit_plane, &under);
}
