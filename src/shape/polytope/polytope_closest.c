/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_closest.c - closest points by enumeration of all feature pairs: vertex and face, vertex and edge, vertex
 * and vertex, edge and edge. Without tolerances: each pair gives a distance of two points of the bodies, and the least
 * is taken.
 */
#include "shape/polytope/polytope_closest.h"

#include "math/rotation.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Two points, one of each skeleton; stored if they are closer than the best so far. */
static void offer(saltusi_skeletons* best, const double on_X[3], const double on_Y[3], int x,
                  int y) {
  double d[3];
  saltusi_minus3(on_X, on_Y, d);
  const double distance = sqrt(saltusi_dot3(d, d));
  if (!(distance < best->distance)) {
    return;
  }
  best->distance = distance;
  best->x = x;
  best->y = y;
  memcpy(best->point, on_Y, sizeof best->point);
  for (int k = 0; k < 3; k++) {
    best->normal[k] = d[k] / distance;
  }
}

static void see(const saltusi_polytope_view* view, int vertex, double p[3]) {
  saltusi_turn(view->R, view->X->vertex[vertex], p);
  saltusi_along(1.0, view->t, p, p);
}

/* A point of X, found in axes of Y, against faces, edges and vertices of Y. `turned`: X is B of the caller, and
 * results are in axes of X. */
static void vertex_against(const saltusi_polytope_view* view, int v, bool turned,
                           saltusi_skeletons* best) {
  const saltusi_polytope* Y = view->Y;
  double p[3];
  see(view, v, p);
  saltusi_skeletons found = {.distance = INFINITY};
  const int mine = saltusi_vertex_number(v);
  for (int w = 0; w < Y->vertices; w++) {
    offer(&found, p, Y->vertex[w], mine, saltusi_vertex_number(w));
  }
  for (int e = 0; e < Y->edges; e++) {
    const saltusi_edge* edge = &Y->edge[e];
    double from[3], foot[3];
    saltusi_minus3(p, Y->vertex[edge->from], from);
    const double u = saltusi_dot3(from, edge->direction);
    if (u > 0.0 && u < edge->length) {
      saltusi_along(u, edge->direction, Y->vertex[edge->from], foot);
      offer(&found, p, foot, mine, saltusi_edge_number(Y, e));
    }
  }
  for (int f = 0; f < Y->faces; f++) {
    const saltusi_face* face = &Y->face[f];
    const double up = saltusi_dot3(face->normal, p) - face->offset;
    bool over = up > 0.0;
    for (int k = face->first; over && k < face->first + face->count; k++) {
      double from[3];
      saltusi_minus3(p, Y->vertex[Y->loop[k]], from);
      over = saltusi_dot3(Y->into[k], from) >= 0.0;
    }
    if (over) {
      double foot[3];
      saltusi_along(-up, face->normal, p, foot);
      offer(&found, p, foot, mine, saltusi_face_number(Y, f));
    }
  }
  if (!(found.distance < best->distance)) {
    return;
  }
  if (!turned) {
    *best = found;
    return;
  }
  best->distance = found.distance;
  best->x = found.y;
  best->y = found.x;
  saltusi_turn_back(view->R, found.normal, best->normal);
  for (int k = 0; k < 3; k++) {
    best->normal[k] = -best->normal[k];
  }
  memcpy(best->point, view->X->vertex[v], sizeof best->point);
}

static void edges_against(const saltusi_polytope_view* view, saltusi_skeletons* best) {
  const double PARALLEL = 1e-9; /* for such edges the ends give the distance to rounding */
  for (int i = 0; i < view->X->edges; i++) {
    const saltusi_edge* x = &view->X->edge[i];
    double a[3], p[3];
    saltusi_turn(view->R, x->direction, a);
    see(view, x->from, p);
    for (int j = 0; j < view->Y->edges; j++) {
      const saltusi_edge* y = &view->Y->edge[j];
      double d[3], n[3];
      saltusi_cross(a, y->direction, n);
      const double square = saltusi_dot3(n, n);
      if (!(square > PARALLEL * PARALLEL)) {
        continue;
      }
      saltusi_minus3(view->Y->vertex[y->from], p, d);
      double across[3];
      saltusi_cross(d, y->direction, across);
      const double u = saltusi_dot3(across, n) / square;
      saltusi_cross(d, a, across);
      const double w = saltusi_dot3(across, n) / square;
      if (u > 0.0 && u < x->length && w > 0.0 && w < y->length) {
        double on_X[3], on_Y[3];
        saltusi_along(u, a, p, on_X);
        saltusi_along(w, y->direction, view->Y->vertex[y->from], on_Y);
        offer(best, on_X, on_Y, saltusi_edge_number(view->X, i), saltusi_edge_number(view->Y, j));
      }
    }
  }
}

void saltusi_closest_skeletons(const saltusi_polytope_view* view, saltusi_skeletons* out) {
  assert(view != NULL && out != NULL);
  *out = (saltusi_skeletons){.distance = INFINITY};
  for (int v = 0; v < view->X->vertices; v++) {
    vertex_against(view, v, false, out);
  }
  saltusi_polytope_view turned;
  saltusi_view_turned(view, &turned);
  for (int v = 0; v < view->Y->vertices; v++) {
    vertex_against(&turned, v, true, out);
  }
  edges_against(view, out);
}

void saltusi_skeletons_list(const saltusi_two* two, const saltusi_skeletons* at,
                            saltusi_candidates* out) {
  assert(two != NULL && at != NULL && out != NULL);
  saltusi_feature_candidate pair = {
      .a = at->x, .b = at->y, .gap = at->distance - two->A->rho - two->B->rho};
  double surface[3];
  saltusi_along(two->B->rho, at->normal, at->point, surface);
  saltusi_turn(two->b->R, at->normal, pair.normal);
  saltusi_turn(two->b->R, surface, pair.point);
  saltusi_along(1.0, two->b->x, pair.point, pair.point);
  saltusi_candidate_add(out, &pair);
}
