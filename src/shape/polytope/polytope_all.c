/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_all.c - all feature pairs of two polytopes that can touch while the bodies translate by at most `reach` and
 * rotate by at most `delta`: extents are widened by reach, normal cones by delta, and pairs at corners are not reduced
 * to one. Used by the search for events over a step.
 */
#include "math/rotation.h"
#include "shape/polytope/polytope_closest.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct polytope_all_query {
  const saltusi_two* two;
  saltusi_polytope_view view[2];
  double reach; /* m, of skeletons */
  double wide;  /* m, widening of extents */
  double sine;
  saltusi_candidates* out;
} polytope_all_query;

/* Normal and a point of the skeleton of B, both in axes of B. */
static void list(const polytope_all_query* ask, int a, int b, double gap, const double normal[3],
                 const double point[3]) {
  const saltusi_skeletons at = {.distance = gap,
                                .normal = {normal[0], normal[1], normal[2]},
                                .point = {point[0], point[1], point[2]},
                                .x = a,
                                .y = b};
  saltusi_skeletons_list(ask->two, &at, ask->out);
}

static bool over(const saltusi_polytope* body, int f, const double p[3], double wide) {
  const saltusi_face* face = &body->face[f];
  for (int k = face->first; k < face->first + face->count; k++) {
    double from[3];
    saltusi_minus3(p, body->vertex[body->loop[k]], from);
    if (!(saltusi_dot3(body->into[k], from) >= -wide)) {
      return false;
    }
  }
  return true;
}

/* Vertices of X over faces of Y; side 1: X is B. */
static void vertices(const polytope_all_query* ask, int side) {
  const saltusi_polytope_view* view = &ask->view[side];
  const saltusi_polytope *X = view->X, *Y = view->Y;
  for (int v = 0; v < X->vertices; v++) {
    double p[3];
    saltusi_turn(view->R, X->vertex[v], p);
    saltusi_along(1.0, view->t, p, p);
    for (int f = 0; f < Y->faces; f++) {
      const double* n = Y->face[f].normal;
      const double gap = saltusi_dot3(n, p) - Y->face[f].offset;
      double upward[3], point[3];
      if (!(fabs(gap) <= ask->reach) || !over(Y, f, p, ask->wide)) {
        continue;
      }
      saltusi_turn_back(view->R, n, upward);
      if (!saltusi_in_cone(X, v, upward, ask->sine)) {
        continue;
      }
      if (side == 0) {
        saltusi_along(-gap, n, p, point);
        list(ask, saltusi_vertex_number(v), saltusi_face_number(Y, f), gap, n, point);
      } else {
        const double from_B[3] = {-upward[0], -upward[1], -upward[2]};
        list(ask, saltusi_face_number(Y, f), saltusi_vertex_number(v), gap, from_B, X->vertex[v]);
      }
    }
  }
}

/* Whether first + slope u, u in 0 .. length, has a zero after a change by at most `wide`. */
static bool within(double first, double slope, double length, double wide) {
  const double last = first + slope * length;
  return fmin(first, last) <= wide && fmax(first, last) >= -wide;
}

static void edge_pair(const polytope_all_query* ask, int i, int j) {
  const double PARALLEL = 3e-6; /* as in lists of near pairs */
  const saltusi_polytope_view* view = &ask->view[0];
  const saltusi_edge* x = &view->X->edge[i];
  const saltusi_edge* y = &view->Y->edge[j];
  double a[3], p[3], n[3], d[3], across[3], up[3], point[3];
  saltusi_turn(view->R, x->direction, a);
  saltusi_cross(a, y->direction, n);
  const double sine = sqrt(saltusi_dot3(n, n));
  if (!(sine > PARALLEL)) {
    return;
  }
  saltusi_turn_back(view->R, n, up);
  const double outward = saltusi_dot3(n, view->Y->face[y->left].normal) +
                         saltusi_dot3(n, view->Y->face[y->right].normal) -
                         saltusi_dot3(up, view->X->face[x->left].normal) -
                         saltusi_dot3(up, view->X->face[x->right].normal);
  const double scale = outward > 0.0 ? 1.0 / sine : -1.0 / sine;
  for (int k = 0; k < 3; k++) {
    n[k] *= scale;
    up[k] *= scale;
  }
  const double wide = ask->sine / sine; /* rotation of the common normal */
  for (int k = 0; k < 2; k++) {
    if (!(saltusi_dot3(n, y->into[k]) <= wide && saltusi_dot3(up, x->into[k]) >= -wide)) {
      return;
    }
  }
  saltusi_turn(view->R, view->X->vertex[x->from], p);
  saltusi_along(1.0, view->t, p, p);
  saltusi_minus3(p, view->Y->vertex[y->from], d);
  const double gap = saltusi_dot3(n, d);
  saltusi_cross(n, y->direction, across);
  const double first_X = saltusi_dot3(across, d), slope_X = saltusi_dot3(across, a);
  saltusi_cross(n, a, across);
  const double first_Y = -saltusi_dot3(across, d), slope_Y = saltusi_dot3(across, y->direction);
  if (fabs(gap) <= ask->reach && within(first_X, slope_X, x->length, ask->wide) &&
      within(first_Y, slope_Y, y->length, ask->wide)) {
    saltusi_along(-first_Y / slope_Y, y->direction, view->Y->vertex[y->from], point);
    list(ask, saltusi_edge_number(view->X, i), saltusi_edge_number(view->Y, j), gap, n, point);
  }
}

/* Rounded bodies touch with vertices and edges as well: a vertex of X, or an edge of X and a vertex of Y, at d from Y
 * to X. The cone of d is widened by the rotation of d. */
static bool in_edge_cone(const saltusi_edge* edge, const double n[3], double sine) {
  return saltusi_dot3(n, edge->into[0]) <= sine && saltusi_dot3(n, edge->into[1]) <= sine;
}

static void vertex_on_vertex(const polytope_all_query* ask, int v, const double p[3]) {
  const saltusi_polytope_view* view = &ask->view[0];
  for (int u = 0; u < view->Y->vertices; u++) {
    double d[3], up[3];
    saltusi_minus3(p, view->Y->vertex[u], d);
    const double distance = sqrt(saltusi_dot3(d, d));
    if (!(distance <= ask->reach && distance > 0.0)) {
      continue;
    }
    const double sine = ask->sine + ask->wide / distance;
    for (int k = 0; k < 3; k++) {
      d[k] /= distance;
    }
    saltusi_turn_back(view->R, d, up);
    const double down[3] = {-d[0], -d[1], -d[2]};
    if (saltusi_in_cone(view->X, v, up, sine) && saltusi_in_cone(view->Y, u, down, sine)) {
      list(ask, saltusi_vertex_number(v), saltusi_vertex_number(u), distance, d,
           view->Y->vertex[u]);
    }
  }
}

/* Vertices of X on edges of Y; side 1: X is B. */
static void vertex_on_edge(const polytope_all_query* ask, int side, int v, const double p[3]) {
  const saltusi_polytope_view* view = &ask->view[side];
  for (int e = 0; e < view->Y->edges; e++) {
    const saltusi_edge* edge = &view->Y->edge[e];
    double d[3], up[3], point[3];
    saltusi_minus3(p, view->Y->vertex[edge->from], d);
    const double u = saltusi_dot3(d, edge->direction);
    saltusi_along(-u, edge->direction, d, d);
    const double distance = sqrt(saltusi_dot3(d, d));
    if (!(u >= -ask->wide && u <= edge->length + ask->wide && distance <= ask->reach &&
          distance > 0.0)) {
      continue;
    }
    const double sine = ask->sine + ask->wide / distance;
    for (int k = 0; k < 3; k++) {
      d[k] /= distance;
    }
    saltusi_turn_back(view->R, d, up);
    if (!saltusi_in_cone(view->X, v, up, sine) || !in_edge_cone(edge, d, sine)) {
      continue;
    }
    const int number = saltusi_edge_number(view->Y, e), vertex = saltusi_vertex_number(v);
    if (side == 0) {
      saltusi_along(u, edge->direction, view->Y->vertex[edge->from], point);
      list(ask, vertex, number, distance, d, point);
    } else {
      const double from_B[3] = {-up[0], -up[1], -up[2]};
      list(ask, number, vertex, distance, from_B, view->X->vertex[v]);
    }
  }
}

static void round_pairs(const polytope_all_query* ask) {
  for (int side = 0; side < 2; side++) {
    const saltusi_polytope_view* view = &ask->view[side];
    for (int v = 0; v < view->X->vertices; v++) {
      double p[3];
      saltusi_turn(view->R, view->X->vertex[v], p);
      saltusi_along(1.0, view->t, p, p);
      if (side == 0) {
        vertex_on_vertex(ask, v, p);
      }
      vertex_on_edge(ask, side, v, p);
    }
  }
}

void saltusi_polytope_all(const saltusi_two* two, const saltusi_near* near,
                          saltusi_candidates* out) {
  assert(two != NULL && near != NULL && out != NULL);
  polytope_all_query ask = {.two = two,
                            .reach = near->reach + two->A->rho + two->B->rho,
                            .wide = fmax(near->reach, 0.0) +
                                    SALTUSI_TOUCH * fmin(two->A->size, two->B->size),
                            .sine = fmax(near->delta, SALTUSI_LEAST_DELTA),
                            .out = out};
  saltusi_view_of(two, &ask.view[0]);
  saltusi_view_turned(&ask.view[0], &ask.view[1]);
  const int first = out->count;
  vertices(&ask, 0);
  for (int i = 0; i < ask.view[0].X->edges; i++) {
    for (int j = 0; j < ask.view[0].Y->edges; j++) {
      edge_pair(&ask, i, j);
    }
  }
  vertices(&ask, 1);
  if (two->A->rho + two->B->rho > 0.0) {
    round_pairs(&ask);
  }
  saltusi_candidates_sort(out, first);
}
