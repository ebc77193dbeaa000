/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_guards.c - validity of the features of a closed contact: a vertex over its face, closest points within
 * their edges (docs/theory/contact-polytopes.md).
 *
 * Exactly stacked bodies touch with vertices on vertices. Each guard has a larger margin than the lists, so that it is
 * positive there and becomes negative where the list contains the neighbour.
 */
#include "math/rotation.h"
#include "shape/polytope/polytope_axes.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A point of X in axes of Y. */
static void see(const saltusi_polytope_view* view, int vertex, double p[3]) {
  saltusi_turn(view->R, view->X->vertex[vertex], p);
  saltusi_along(1.0, view->t, p, p);
}

static int over_face(const saltusi_polytope_view* view, int vertex, int f, double slack,
                     double guard[SALTUSI_GUARDS]) {
  const saltusi_polytope* Y = view->Y;
  const saltusi_face* face = &Y->face[f];
  const bool one = face->count > SALTUSI_GUARDS; /* the minimum replaces them, with kinks */
  double p[3];
  see(view, vertex, p);
  guard[0] = INFINITY;
  for (int k = 0; k < face->count; k++) {
    double from[3];
    saltusi_minus3(p, Y->vertex[Y->loop[face->first + k]], from);
    const double inside = saltusi_dot3(Y->into[face->first + k], from) + slack;
    if (one) {
      guard[0] = fmin(guard[0], inside);
    } else {
      guard[k] = inside;
    }
  }
  return one ? 1 : face->count;
}

/* The least of d . (edge away from the vertex) over its edges, d in axes of the body: nonnegative while the vertex is
 * the closest of its body in the direction -d. */
static double least_rise(const saltusi_polytope* body, int vertex, const double d[3]) {
  double least = INFINITY;
  for (int k = body->star_first[vertex]; k < body->star_first[vertex + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    const double along = saltusi_dot3(d, edge->direction);
    least = fmin(least, edge->from == vertex ? along : -along);
  }
  return least;
}

/* A rounded vertex of X over a rounded edge of Y. */
static int over_edge(const saltusi_polytope_view* view, int vertex, int e, double slack,
                     double* guard) {
  const saltusi_edge* edge = &view->Y->edge[e];
  double p[3], from[3], d[3], upward[3];
  see(view, vertex, p);
  saltusi_minus3(p, view->Y->vertex[edge->from], from);
  const double u = saltusi_dot3(from, edge->direction);
  saltusi_along(-u, edge->direction, from, d);
  saltusi_turn_back(view->R, d, upward);
  guard[0] = u + slack;
  guard[1] = edge->length - u + slack;
  guard[2] = slack - saltusi_dot3(edge->into[0], from);
  guard[3] = slack - saltusi_dot3(edge->into[1], from);
  guard[4] = least_rise(view->X, vertex, upward) + slack;
  return 5;
}

static int over_vertex(const saltusi_polytope_view* view, int x, int y, double slack,
                       double* guard) {
  double p[3], d[3], upward[3];
  see(view, x, p);
  saltusi_minus3(p, view->Y->vertex[y], d);
  saltusi_turn_back(view->R, d, upward);
  guard[0] = least_rise(view->X, x, upward) + slack;
  for (int k = 0; k < 3; k++) {
    d[k] = -d[k];
  }
  guard[1] = least_rise(view->Y, y, d) + slack;
  return 2;
}

static int crossed(const saltusi_polytope_view* view, int i, int j, double slack, double* guard) {
  const double PARALLEL = 3e-6; /* as in lists */
  const saltusi_edge* x = &view->X->edge[i];
  const saltusi_edge* y = &view->Y->edge[j];
  double a[3], p[3], d[3], n[3], across[3];
  saltusi_turn(view->R, x->direction, a);
  see(view, x->from, p);
  saltusi_cross(a, y->direction, n);
  const double square = saltusi_dot3(n, n);
  saltusi_minus3(view->Y->vertex[y->from], p, d);
  saltusi_cross(d, y->direction, across);
  const double u = saltusi_dot3(across, n) / square;
  saltusi_cross(d, a, across);
  const double w = saltusi_dot3(across, n) / square;
  guard[0] = u + slack;
  guard[1] = x->length - u + slack;
  guard[2] = w + slack;
  guard[3] = y->length - w + slack;
  guard[4] = sqrt(square) - PARALLEL;
  return 5;
}

static int vertex_on(const saltusi_polytope_view* view, int x, int y, double slack,
                     double guard[SALTUSI_GUARDS]) {
  const saltusi_polytope* Y = view->Y;
  const int vertex = x - 1;
  if (y > Y->vertices + Y->edges) {
    return over_face(view, vertex, y - 1 - Y->vertices - Y->edges, slack, guard);
  }
  return y > Y->vertices ? over_edge(view, vertex, y - 1 - Y->vertices, slack, guard)
                         : over_vertex(view, vertex, y - 1, slack, guard);
}

int saltusi_polytope_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                            double guard[SALTUSI_GUARDS]) {
  assert(two != NULL && numbers != NULL && guard != NULL);
  if (two->A->polytope == NULL || two->B->polytope == NULL) {
    return 0; /* a half-space has no borders */
  }
  saltusi_polytope_view view;
  saltusi_view_of(two, &view);
  const double slack = 4.0 * SALTUSI_TOUCH * fmin(two->A->size, two->B->size);
  if (numbers->a <= view.X->vertices) {
    return vertex_on(&view, numbers->a, numbers->b, slack, guard);
  }
  if (numbers->b <= view.Y->vertices) {
    saltusi_polytope_view turned;
    saltusi_view_turned(&view, &turned);
    return vertex_on(&turned, numbers->b, numbers->a, slack, guard);
  }
  return crossed(&view, numbers->a - 1 - view.X->vertices, numbers->b - 1 - view.Y->vertices, slack,
                 guard);
}
