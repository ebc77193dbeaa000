/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lines.c - see lines.h. The silhouette of a convex shape is formed by its support points in the directions of the
 * image plane; that of a torus by the projection of a ball moved along its circle. Of boxes, hulls and meshes the
 * edges that face the viewer are drawn; of meshes with many edges only sharp edges and those of the silhouette.
 */
#include "shape/lines.h"

#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/mesh/mesh.h"
#include "shape/plane/planar_outline.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CORNERS = 96, ROOM = 256, MANY_EDGES = 3000, STROKES = 24 };
static const double TURN = 6.283185307179586;
static const double SHARP = 0.9; /* largest cosine of the angle of an edge that is drawn among
                                  * many */

static void viewer(const saltusi_silhouette_view* sight, double out[3]) {
  saltusi_cross(sight->right, sight->up, out);
}

/* x right + y up */
static void on_paper(const saltusi_silhouette_view* sight, double x, double y, double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = x * sight->right[k] + y * sight->up[k];
  }
}

static void farthest(const saltusi_shape* shape, const double direction[3], double out[3]) {
  if (shape->polytope != NULL) {
    const int v = saltusi_polytope_support(shape->polytope, direction, 0);
    saltusi_along(shape->rho, direction, shape->polytope->vertex[v], out);
  } else {
    saltusi_support_of(shape, direction, out);
  }
}

static void silhouette(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  double point[CORNERS][3];
  for (int i = 0; i < CORNERS; i++) {
    double direction[3];
    on_paper(sight, cos(TURN * i / CORNERS), sin(TURN * i / CORNERS), direction);
    farthest(shape, direction, point[i]);
  }
  sight->line(sight->user, true, (const double(*)[3])point, CORNERS);
}

static void circle(const saltusi_silhouette_view* sight, const double centre[3], const double e[3],
                   const double f[3], double radius, bool closed) {
  double point[CORNERS + 1][3];
  for (int i = 0; i <= CORNERS; i++) {
    const double x = radius * cos(TURN * i / CORNERS), y = radius * sin(TURN * i / CORNERS);
    for (int k = 0; k < 3; k++) {
      point[i][k] = centre[k] + x * e[k] + y * f[k];
    }
  }
  sight->line(sight->user, closed, (const double(*)[3])point, closed ? CORNERS : CORNERS + 1);
}

/* Sharp rims that face the viewer. */
static void rims(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  double to[3], f[3];
  viewer(sight, to);
  for (int i = 0; i < shape->stored; i++) {
    const saltusi_feature* rim = &shape->feature[i];
    if (rim->kind == SALTUSI_FEATURE_CIRCLE && rim->rho == 0.0 && saltusi_dot3(rim->a, to) > 0.0) {
      saltusi_cross(rim->a, rim->e, f);
      circle(sight, rim->p, rim->e, f, rim->size[0], false);
    }
  }
}

/* The edges of the projected circle, moved to both sides by the radius of the tube. */
static void torus(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  const saltusi_feature* ring = &shape->feature[SALTUSI_TORUS_CIRCLE - 1];
  double f[3], point[CORNERS + 1][3];
  saltusi_cross(ring->a, ring->e, f);
  for (int side = 1; side >= -1; side -= 2) {
    for (int i = 0; i <= CORNERS;
         i++) { /* support points of the circle, by directions in the image plane */
      double d[3];
      on_paper(sight, cos(TURN * i / CORNERS), sin(TURN * i / CORNERS), d);
      const double x = saltusi_dot3(d, ring->e), y = saltusi_dot3(d, f);
      const double length = sqrt(x * x + y * y),
                   reach = length > 0.0 ? ring->size[0] / length : 0.0;
      for (int k = 0; k < 3; k++) {
        point[i][k] = ring->p[k] + reach * (x * ring->e[k] + y * f[k]) + side * ring->rho * d[k];
      }
    }
    sight->line(sight->user, side > 0, (const double(*)[3])point, side > 0 ? CORNERS : CORNERS + 1);
  }
}

static void faces(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  const saltusi_polytope* body = shape->polytope;
  double to[3], point[ROOM][3];
  viewer(sight, to);
  for (int f = 0; f < body->faces; f++) {
    const saltusi_face* face = &body->face[f];
    if (!(saltusi_dot3(face->normal, to) > 1e-9) || face->count > ROOM) {
      continue;
    }
    for (int k = 0; k < face->count; k++) {
      saltusi_along(shape->rho, face->normal, body->vertex[body->loop[face->first + k]], point[k]);
    }
    sight->line(sight->user, true, (const double(*)[3])point, face->count);
  }
}

/* Edges of the silhouette, borders, and edges between two faces that both face the viewer. */
static void mesh_edges(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  const saltusi_mesh* mesh = shape->mesh;
  double to[3];
  viewer(sight, to);
  for (int e = 0; e < mesh->edges; e++) {
    const saltusi_mesh_edge* edge = &mesh->edge[e];
    const double* n = mesh->normal[edge->side[0]];
    const double* m = edge->side[1] >= 0 ? mesh->normal[edge->side[1]] : n;
    const bool near = saltusi_dot3(n, to) > 0.0, other = saltusi_dot3(m, to) > 0.0;
    const bool inner = edge->side[1] >= 0 && near == other;
    if ((inner && !near) || (inner && edge->kind == SALTUSI_EDGE_FLAT) ||
        (inner && mesh->edges > MANY_EDGES && saltusi_dot3(n, m) > SHARP)) {
      continue;
    }
    double point[2][3];
    memcpy(point[0], mesh->vertex[edge->from], sizeof point[0]);
    memcpy(point[1], mesh->vertex[edge->to], sizeof point[1]);
    sight->line(sight->user, false, (const double(*)[3])point, 2);
  }
}

/* A part of a half-space around the middle of the view; transparent from behind. */
static void half_space(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  const saltusi_feature* plane = &shape->feature[0];
  double from[3], centre[3], f[3], to[3], point[5][3];
  viewer(sight, to);
  saltusi_minus3(sight->middle, plane->p, from);
  saltusi_along(-saltusi_dot3(from, plane->a), plane->a, sight->middle, centre);
  saltusi_cross(plane->a, plane->e, f);
  for (int i = 0; i < 5; i++) {
    const double x = i % 4 == 0 || i == 3 ? sight->far : -sight->far;
    const double y = i % 4 < 2 ? sight->far : -sight->far;
    for (int k = 0; k < 3; k++) {
      point[i][k] = centre[k] + x * plane->e[k] + y * f[k];
    }
  }
  const bool near = saltusi_dot3(plane->a, to) > 0.0;
  sight->line(sight->user, near, (const double(*)[3])point, near ? 4 : 5);
}

/* ------------------------------------------------------------------------------------ plane --- */

/* A line with strokes below it. */
static void half_plane(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  const saltusi_feature* edge = &shape->feature[0];
  double from[3], centre[3], point[2][3];
  saltusi_minus3(sight->middle, edge->p, from);
  saltusi_along(-saltusi_dot3(from, edge->a), edge->a, sight->middle, centre);
  for (int i = 0; i <= STROKES; i++) {
    const double x = sight->far * (2.0 * i / STROKES - 1.0), stroke = 1.2 * sight->far / STROKES;
    saltusi_along(x, edge->e, centre, point[0]);
    saltusi_along(-stroke, edge->a, point[0], point[1]);
    saltusi_along(-stroke, edge->e, point[1], point[1]);
    sight->line(sight->user, false, (const double(*)[3])point, 2);
  }
  saltusi_along(-sight->far, edge->e, centre, point[0]);
  saltusi_along(sight->far, edge->e, centre, point[1]);
  sight->line(sight->user, false, (const double(*)[3])point, 2);
}

/* Edges in sequence, straight or arcs; areas with more corners than the capacity are drawn as
 * lines. */
static void outline(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  const saltusi_planar_outline* o = shape->outline;
  enum { OF_ARC = 24 };
  double point[ROOM][3];
  int count = 0;
  bool whole = o->solid && o->closed;
  for (int e = 0; e < o->edges; e++) {
    const saltusi_feature* edge = &shape->feature[o->points + e];
    if (count + OF_ARC + 1 > ROOM) {
      sight->line(sight->user, false, (const double(*)[3])point, count);
      memcpy(point[0], point[count - 1], sizeof point[0]);
      count = 1;
      whole = false;
    }
    if (edge->kind == SALTUSI_FEATURE_PLANE) {
      memcpy(point[count++], edge->p, sizeof edge->p);
      saltusi_along(edge->size[0], edge->e, edge->p, point[count++]);
      continue;
    }
    const saltusi_cone* cone = &o->cone[o->points + e];
    const double sense = edge->rho < 0.0 ? -1.0 : 1.0; /* hollow arcs run in the opposite
                                                        * direction */
    for (int i = 0; i < OF_ARC; i++) {
      const double angle = sense * cone->half * (1.0 - 2.0 * i / (OF_ARC - 1));
      const double c = cos(angle), s = sin(angle), r = fabs(edge->rho);
      point[count][0] = edge->p[0] + r * (c * cone->mid[0] - s * cone->mid[1]);
      point[count][1] = edge->p[1] + r * (s * cone->mid[0] + c * cone->mid[1]);
      point[count++][2] = 0.0;
    }
  }
  sight->line(sight->user, whole, (const double(*)[3])point, count);
}

static void planar(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  if (shape->kind == SALTUS_SHAPE_HALF_PLANE) {
    half_plane(shape, sight);
  } else if (shape->kind == SALTUS_SHAPE_CIRCLE) {
    const saltusi_feature* middle = &shape->feature[0];
    circle(sight, middle->p, sight->right, sight->up, fabs(middle->rho), middle->rho > 0.0);
  } else if (shape->rho > 0.0 || shape->kind == SALTUS_SHAPE_CAPSULE) {
    silhouette(shape, sight);
  } else {
    outline(shape, sight);
  }
}

void saltusi_shape_lines(const saltusi_shape* shape, const saltusi_silhouette_view* sight) {
  assert(shape != NULL && sight != NULL && sight->line != NULL);
  if (shape->dimension == 2) {
    planar(shape, sight);
  } else if (shape->mesh != NULL) {
    mesh_edges(shape, sight);
  } else if (shape->kind == SALTUS_SHAPE_HALF_SPACE) {
    half_space(shape, sight);
  } else if (shape->kind == SALTUS_SHAPE_TORUS) {
    torus(shape, sight);
  } else if (shape->kind == SALTUS_SHAPE_SPHERE) {
    const saltusi_feature* middle = &shape->feature[0];
    circle(sight, middle->p, sight->right, sight->up, fabs(middle->rho), middle->rho > 0.0);
  } else {
    if (shape->polytope == NULL || shape->rho > 0.0) {
      silhouette(shape, sight);
    }
    if (shape->polytope != NULL) {
      faces(shape, sight);
    } else {
      rims(shape, sight);
    }
  }
}
