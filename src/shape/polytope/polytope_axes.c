/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_axes.c - the separating axes of two polytopes.
 *
 *   face of Y, normal n:  min over vertices v of X of n.(R v + t) - offset
 *   edges d_X, d_Y whose arcs cross (L, R: faces left and right; nL x nR along d):
 *     (nL_Y.d_X)(nR_Y.d_X) < 0,  (nL_X.d_Y)(nR_X.d_Y) < 0,  (nL_Y.d_X)(nR_X.d_Y) < 0
 *     n = +-(d_X x d_Y)/|.|, outward of Y;  n.(p_X - p_Y)
 */
#include "shape/polytope/polytope_axes.h"

#include "math/rotation.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void saltusi_view_of(const saltusi_two* two, saltusi_polytope_view* out) {
  assert(two != NULL && out != NULL);
  out->X = two->A->polytope;
  out->Y = two->B->polytope;
  double from[3];
  saltusi_minus3(two->a->x, two->b->x, from);
  saltusi_turn_back(two->b->R, from, out->t);
  const double* P = two->b->R;
  const double* Q = two->a->R;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->R[3 * i + j] = P[i] * Q[j] + P[3 + i] * Q[3 + j] + P[6 + i] * Q[6 + j];
    }
  }
  out->size = two->A->size + two->B->size + fabs(out->t[0]) + fabs(out->t[1]) + fabs(out->t[2]);
}

void saltusi_view_turned(const saltusi_polytope_view* view, saltusi_polytope_view* out) {
  assert(view != NULL && out != NULL && view != out);
  out->X = view->Y;
  out->Y = view->X;
  out->size = view->size;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->R[3 * i + j] = view->R[3 * j + i];
    }
  }
  double back[3];
  saltusi_turn(out->R, view->t, back);
  for (int k = 0; k < 3; k++) {
    out->t[k] = -back[k];
  }
}

double saltusi_view_rounding(const saltusi_polytope_view* view) {
  assert(view != NULL);
  return 64.0 * DBL_EPSILON * view->size;
}

/* Faces of Y; true: one is above the limit. */
static bool faces(const saltusi_polytope_view* view, bool turned, double limit,
                  saltusi_separating_axis* best) {
  const saltusi_polytope* Y = view->Y;
  int start = 0;
  for (int f = 0; f < Y->faces; f++) {
    const double* n = Y->face[f].normal;
    double inward[3];
    saltusi_turn_back(view->R, n, inward);
    const double down[3] = {-inward[0], -inward[1], -inward[2]};
    start = saltusi_polytope_support(view->X, down, start);
    const double value =
        saltusi_dot3(inward, view->X->vertex[start]) + saltusi_dot3(n, view->t) - Y->face[f].offset;
    if (!(value > best->value + (turned ? saltusi_view_rounding(view) : 0.0))) {
      continue;
    }
    best->value = value;
    best->kind = turned ? SALTUSI_AXIS_FACE_X : SALTUSI_AXIS_FACE_Y;
    best->x = turned ? f : start;
    best->y = turned ? start : f;
    for (int k = 0; k < 3; k++) {
      best->normal[k] = turned ? -inward[k] : n[k];
    }
    if (value > limit) {
      return true;
    }
  }
  return false;
}

/* One edge of X, in axes of Y. */
typedef struct seen_edge {
  double direction[3], left[3], right[3], point[3];
} seen_edge;

/* The axis of two edges whose arcs cross; false: not an axis, or the edges are nearly parallel and the axis is
 * dominated by rounding. The adjacent faces then give the same value to length x angle. */
static bool edge_axis(const saltusi_polytope_view* view, const seen_edge* x, const saltusi_edge* y,
                      double normal[3], double* value) {
  const double PARALLEL = 1e-9;
  saltusi_cross(x->direction, y->direction, normal);
  const double sine = sqrt(saltusi_dot3(normal, normal));
  if (!(sine > PARALLEL)) {
    return false;
  }
  /* away from both faces; also for a single triangle, whose front and back are two faces */
  const double inward = saltusi_dot3(normal, y->into[0]) + saltusi_dot3(normal, y->into[1]);
  const double scale = inward < 0.0 ? 1.0 / sine : -1.0 / sine;
  double between[3];
  saltusi_minus3(x->point, view->Y->vertex[y->from], between);
  for (int k = 0; k < 3; k++) {
    normal[k] *= scale;
  }
  *value = saltusi_dot3(normal, between);
  return true;
}

static bool arcs_cross(const saltusi_polytope_view* view, const seen_edge* x,
                       const saltusi_edge* y) {
  const double left_Y = saltusi_dot3(view->Y->face[y->left].normal, x->direction);
  const double right_Y = saltusi_dot3(view->Y->face[y->right].normal, x->direction);
  if (!(left_Y * right_Y < 0.0)) {
    return false;
  }
  const double left_X = saltusi_dot3(x->left, y->direction);
  const double right_X = saltusi_dot3(x->right, y->direction);
  return left_X * right_X < 0.0 && left_Y * right_X < 0.0;
}

static void see_edge(const saltusi_polytope_view* view, int number, seen_edge* out) {
  const saltusi_edge* edge = &view->X->edge[number];
  saltusi_turn(view->R, edge->direction, out->direction);
  saltusi_turn(view->R, view->X->face[edge->left].normal, out->left);
  saltusi_turn(view->R, view->X->face[edge->right].normal, out->right);
  saltusi_turn(view->R, view->X->vertex[edge->from], out->point);
  saltusi_along(1.0, view->t, out->point, out->point);
}

static void edges(const saltusi_polytope_view* view, double limit, saltusi_separating_axis* best) {
  const double rounding = saltusi_view_rounding(view);
  for (int i = 0; i < view->X->edges; i++) {
    seen_edge x;
    see_edge(view, i, &x);
    for (int j = 0; j < view->Y->edges; j++) {
      double normal[3], value;
      if (!arcs_cross(view, &x, &view->Y->edge[j]) ||
          !edge_axis(view, &x, &view->Y->edge[j], normal, &value) ||
          !(value > best->value + (best->kind == SALTUSI_AXIS_EDGES ? 0.0 : rounding))) {
        continue;
      }
      best->value = value;
      best->kind = SALTUSI_AXIS_EDGES;
      best->x = i;
      best->y = j;
      memcpy(best->normal, normal, sizeof normal);
      if (value > limit) {
        return;
      }
    }
  }
}

void saltusi_best_axis(const saltusi_polytope_view* view, double limit,
                       saltusi_separating_axis* best) {
  assert(view != NULL && best != NULL);
  *best = (saltusi_separating_axis){.value = -INFINITY, .kind = SALTUSI_AXIS_NONE};
  if (faces(view, false, limit, best)) {
    return;
  }
  saltusi_polytope_view turned;
  saltusi_view_turned(view, &turned);
  if (faces(&turned, true, limit, best)) {
    return;
  }
  edges(view, limit, best);
}
