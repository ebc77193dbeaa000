/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_near.c - vertices over faces and crossing edges near the best axis (selection: polytope_pairs.c).
 */
#include "shape/polytope/polytope_near.h"

#include "math/rotation.h"
#include "shape/polytope/polytope_axes.h"
#include "shape/polytope/polytope_box.h"
#include "shape/polytope/polytope_closest.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

bool saltusi_in_cone(const saltusi_polytope* body, int vertex, const double n[3], double sine) {
  assert(body != NULL && n != NULL && vertex >= 0 && vertex < body->vertices);
  for (int k = body->star_first[vertex]; k < body->star_first[vertex + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    const double along = saltusi_dot3(n, edge->direction);
    if (!((edge->from == vertex ? along : -along) >= -sine)) {
      return false;
    }
  }
  return true;
}

/* A query: both views, the axis, and angles. */
typedef struct polytope_near_query {
  const saltusi_two* two;
  saltusi_polytope_view view[2]; /* A from B, B from A */
  double axis[2][3];             /* in axes of the Y of each view, from Y to X */
  double reach;                  /* m, of skeletons */
  double sine;                   /* of delta */
  double near_sine, near_cosine; /* of 2 delta */
  double touch;                  /* m */
  saltusi_candidates* out;
} polytope_near_query;

/* ------------------------------------------------------------------------------ vertex over face --- */

double saltusi_polytope_outside(const saltusi_polytope* body, int f, const double p[3]) {
  assert(body != NULL && f >= 0 && f < body->faces && p != NULL);
  const saltusi_face* face = &body->face[f];
  double most = -INFINITY;
  for (int k = face->first; k < face->first + face->count; k++) {
    double from[3];
    saltusi_minus3(p, body->vertex[body->loop[k]], from);
    most = fmax(most, -saltusi_dot3(body->into[k], from));
  }
  return most;
}

typedef struct over_face {
  int face;
  double gap;
} over_face;

static void see_vertex(const saltusi_polytope_view* view, int vertex, double p[3]) {
  saltusi_turn(view->R, view->X->vertex[vertex], p);
  saltusi_along(1.0, view->t, p, p);
}

/* The face of Y near the axis below a vertex of X, of several the one with the largest gap; false: none within reach.
 * */
static bool face_under(const polytope_near_query* ask, int side, int vertex, over_face* found) {
  const saltusi_polytope_view* view = &ask->view[side];
  const saltusi_polytope* Y = view->Y;
  double upward[3];
  saltusi_turn_back(view->R, ask->axis[side], upward);
  if (!saltusi_in_cone(view->X, vertex, upward, ask->near_sine + ask->sine)) {
    return false;
  }
  double p[3];
  see_vertex(view, vertex, p);
  found->face = -1;
  for (int f = 0; f < Y->faces; f++) {
    const double* n = Y->face[f].normal;
    if (!(saltusi_dot3(n, ask->axis[side]) >= ask->near_cosine)) {
      continue;
    }
    const double gap = saltusi_dot3(n, p) - Y->face[f].offset;
    saltusi_turn_back(view->R, n, upward);
    if (gap <= ask->reach && (found->face < 0 || gap > found->gap) &&
        saltusi_polytope_outside(Y, f, p) <= ask->touch &&
        saltusi_in_cone(view->X, vertex, upward, ask->sine)) {
      *found = (over_face){f, gap};
    }
  }
  return found->face >= 0;
}

/* Transforms the normal and a point of the skeleton of B from axes of B to world axes. */
static void list(const polytope_near_query* ask, int a, int b, double gap, const double normal[3],
                 const double point[3]) {
  const saltusi_skeletons at = {.distance = gap,
                                .normal = {normal[0], normal[1], normal[2]},
                                .point = {point[0], point[1], point[2]},
                                .x = a,
                                .y = b};
  saltusi_skeletons_list(ask->two, &at, ask->out);
}

static void list_vertex(const polytope_near_query* ask, int side, int vertex, const over_face* at) {
  const saltusi_polytope_view* view = &ask->view[side];
  const double* n = view->Y->face[at->face].normal;
  if (side == 0) {
    double p[3], point[3];
    see_vertex(view, vertex, p);
    saltusi_along(-at->gap, n, p, point);
    list(ask, saltusi_vertex_number(vertex), saltusi_face_number(view->Y, at->face), at->gap, n,
         point);
  } else {
    double normal[3];
    saltusi_turn_back(view->R, n, normal); /* from axes of A to those of B, from A outward */
    const double from_B[3] = {-normal[0], -normal[1], -normal[2]};
    list(ask, saltusi_face_number(view->Y, at->face), saltusi_vertex_number(vertex), at->gap,
         from_B, view->X->vertex[vertex]);
  }
}

/* Whether a vertex of B over a face of A coincides with a corner that is listed itself. */
static bool on_listed_corner(const polytope_near_query* ask, int vertex, const over_face* at) {
  const saltusi_polytope_view* view = &ask->view[1];
  const saltusi_face* face = &view->Y->face[at->face];
  double p[3];
  see_vertex(view, vertex, p);
  for (int k = 0; k < face->count; k++) {
    const int corner = view->Y->loop[face->first + k];
    double from[3];
    saltusi_minus3(p, view->Y->vertex[corner], from);
    const double up = saltusi_dot3(from, face->normal);
    over_face other;
    if (saltusi_dot3(from, from) - up * up <= 4.0 * ask->touch * ask->touch &&
        face_under(ask, 0, corner, &other)) {
      return true;
    }
  }
  return false;
}

static bool vertex_listed(const polytope_near_query* ask, int side, int vertex) {
  over_face at;
  return face_under(ask, side, vertex, &at) && !(side == 1 && on_listed_corner(ask, vertex, &at));
}

static void list_vertices(const polytope_near_query* ask, int side) {
  for (int v = 0; v < ask->view[side].X->vertices; v++) {
    over_face at;
    if (face_under(ask, side, v, &at) && !(side == 1 && on_listed_corner(ask, v, &at))) {
      list_vertex(ask, side, v, &at);
    }
  }
}

/* ------------------------------------------------------------------------------ edge over edge --- */

/* Two crossing edges and their crossing. */
typedef struct polytope_near_crossing {
  double gap;
  double normal[3]; /* axes of B */
  double point[3];  /* on the edge of B */
  int end_A, end_B; /* -1, or the vertex at which they cross */
} polytope_near_crossing;

/* Below this sine edges count as parallel: their ends represent them, with an error of the gap of (length x sine)^2. */
static const double PARALLEL = 3e-6;

/* The edge of A in axes of B. */
typedef struct edge_seen {
  const saltusi_edge* edge;
  double direction[3], from[3], into[2][3];
} edge_seen;

static bool edge_near_A(const polytope_near_query* ask, int e, edge_seen* seen) {
  const saltusi_polytope_view* view = &ask->view[0];
  const saltusi_edge* edge = &view->X->edge[e];
  const double wide = ask->near_sine + ask->sine;
  seen->edge = edge;
  saltusi_turn(view->R, edge->direction, seen->direction);
  if (!(fabs(saltusi_dot3(seen->direction, ask->axis[0])) <= wide)) {
    return false;
  }
  for (int k = 0; k < 2; k++) {
    saltusi_turn(view->R, edge->into[k], seen->into[k]);
    if (!(saltusi_dot3(seen->into[k], ask->axis[0]) >= -wide)) {
      return false;
    }
  }
  see_vertex(view, edge->from, seen->from);
  return true;
}

static bool edge_near_B(const polytope_near_query* ask, const saltusi_edge* edge) {
  const double wide = ask->near_sine + ask->sine;
  return fabs(saltusi_dot3(edge->direction, ask->axis[0])) <= wide &&
         saltusi_dot3(edge->into[0], ask->axis[0]) <= wide &&
         saltusi_dot3(edge->into[1], ask->axis[0]) <= wide;
}

/* Whether two signed distances have opposite signs; `end`: 0 or 1 if that one is zero, else -1. A negative `touch`
 * allows both on one side by that amount. */
static bool straddle(double first, double second, double touch, int* end) {
  if (touch < 0.0) {
    *end = -1;
    return fmin(first, second) <= -touch && fmax(first, second) >= touch;
  }
  const bool on[2] = {fabs(first) <= touch, fabs(second) <= touch};
  *end = on[0] ? 0 : on[1] ? 1 : -1;
  return *end >= 0 ? on[0] != on[1] : first * second < 0.0;
}

/* Orientation of n by the faces of both edges, as in the equations of the pair. */
static double outward_of(const polytope_near_query* ask, const saltusi_edge* a,
                         const saltusi_edge* b, const double n[3]) {
  const saltusi_polytope_view* view = &ask->view[0];
  double up[3];
  saltusi_turn_back(view->R, n, up);
  return saltusi_dot3(n, view->Y->face[b->left].normal) +
         saltusi_dot3(n, view->Y->face[b->right].normal) -
         saltusi_dot3(up, view->X->face[a->left].normal) -
         saltusi_dot3(up, view->X->face[a->right].normal);
}

/* Edges a, b of A and B near the axis: the common normal in both cones, closest points within both. */
static bool cross(const polytope_near_query* ask, const edge_seen* a, const saltusi_edge* b,
                  polytope_near_crossing* out) {
  double n[3];
  saltusi_cross(a->direction, b->direction, n);
  const double sine = sqrt(saltusi_dot3(n, n));
  if (!(sine > PARALLEL)) {
    return false;
  }
  const double scale = saltusi_dot3(n, ask->axis[0]) > 0.0 ? 1.0 / sine : -1.0 / sine;
  for (int k = 0; k < 3; k++) {
    n[k] *= scale;
  }
  /* a rotation of the bodies by delta rotates the common normal by delta / sine; beyond four times delta the edges are
   * nearly parallel, and the corner is almost on the line of its neighbours */
  const double wide = fmin(ask->sine / sine, fmin(4.0 * ask->sine, SALTUSI_WIDEST));
  /* the common normal of nearly parallel edges is undetermined, and can be orthogonal to the axis */
  const double along = saltusi_dot3(n, ask->axis[0]);
  if (!saltusi_crossing_near(along, wide)) {
    return false;
  }
  for (int k = 0; k < 2; k++) {
    if (!(saltusi_dot3(n, b->into[k]) <= wide && saltusi_dot3(n, a->into[k]) >= -wide)) {
      return false;
    }
  }
  if (!(outward_of(ask, a->edge, b, n) > SALTUSI_OUTWARD)) {
    return false;
  }
  const double* origin = ask->view[0].Y->vertex[b->from];
  double between[3], across[3];
  saltusi_minus3(a->from, origin, between);
  out->gap = saltusi_dot3(n, between);
  if (!(out->gap <= ask->reach)) {
    return false;
  }
  saltusi_cross(n, b->direction, across); /* distances of the ends of a from the line of b */
  const double slope_A = saltusi_dot3(across, a->direction); /* + or - sine */
  const double first_A = saltusi_dot3(across, between);
  saltusi_cross(n, a->direction, across);
  const double slope_B = saltusi_dot3(across, b->direction);
  const double first_B = -saltusi_dot3(across, between);
  int end_A, end_B;
  if (!straddle(first_A, first_A + slope_A * a->edge->length, ask->touch, &end_A) ||
      !straddle(first_B, first_B + slope_B * b->length, ask->touch, &end_B)) {
    return false;
  }
  saltusi_along(-first_B / slope_B, b->direction, origin, out->point);
  memcpy(out->normal, n, sizeof n);
  out->end_A = end_A < 0 ? -1 : end_A == 0 ? a->edge->from : a->edge->to;
  out->end_B = end_B < 0 ? -1 : end_B == 0 ? b->from : b->to;
  return true;
}

/* A crossing at a vertex of one body: listed unless the vertex is, and by the first of its edges that cross. */
static bool first_at_end(const polytope_near_query* ask, int e, int j,
                         const polytope_near_crossing* at) {
  if (at->end_A >= 0 && at->end_B >= 0) {
    return false; /* vertex on vertex: left to the axis itself */
  }
  const int side = at->end_A >= 0 ? 0 : 1;
  const int vertex = side == 0 ? at->end_A : at->end_B;
  const saltusi_polytope* body = ask->view[side].X;
  if (vertex_listed(ask, side, vertex)) {
    return false;
  }
  for (int k = body->star_first[vertex]; k < body->star_first[vertex + 1]; k++) {
    const int other = body->star_edge[k];
    edge_seen seen;
    polytope_near_crossing there;
    if (other < (side == 0 ? e : j) && edge_near_A(ask, side == 0 ? other : e, &seen) &&
        edge_near_B(ask, &ask->view[0].Y->edge[side == 0 ? j : other]) &&
        cross(ask, &seen, &ask->view[0].Y->edge[side == 0 ? j : other], &there)) {
      return false;
    }
  }
  return true;
}

static void list_edges(const polytope_near_query* ask) {
  const saltusi_polytope* A = ask->view[0].X;
  const saltusi_polytope* B = ask->view[0].Y;
  for (int e = 0; e < A->edges; e++) {
    edge_seen seen;
    if (!edge_near_A(ask, e, &seen)) {
      continue;
    }
    for (int j = 0; j < B->edges; j++) {
      polytope_near_crossing at;
      if (!edge_near_B(ask, &B->edge[j]) || !cross(ask, &seen, &B->edge[j], &at)) {
        continue;
      }
      if ((at.end_A < 0 && at.end_B < 0) || first_at_end(ask, e, j, &at)) {
        list(ask, saltusi_edge_number(A, e), saltusi_edge_number(B, j), at.gap, at.normal,
             at.point);
      }
    }
  }
}

/* ------------------------------------------------------------------------------ lists --- */

void saltusi_candidates_sort(saltusi_candidates* list_of, int first) {
  assert(list_of != NULL && first >= 0);
  const int last = list_of->count < list_of->capacity ? list_of->count : list_of->capacity;
  for (int k = first + 1; k < last; k++) {
    const saltusi_feature_candidate item = list_of->item[k];
    int j = k;
    for (; j > first && (list_of->item[j - 1].a > item.a ||
                         (list_of->item[j - 1].a == item.a && list_of->item[j - 1].b > item.b));
         j--) {
      list_of->item[j] = list_of->item[j - 1];
    }
    list_of->item[j] = item;
  }
}

/* Near bodies without a listed pair: a vertex over the ridge of two faces near the axis, or a vertex on a vertex. The
 * features of the axis are listed if they miss each other by at most the gap times the angle. */
static void list_axis(const polytope_near_query* ask, const saltusi_separating_axis* axis) {
  const double slack = fmax(ask->touch, fmax(axis->value, 0.0) * ask->near_sine);
  if (axis->kind == SALTUSI_AXIS_EDGES) {
    polytope_near_query wide = *ask;
    wide.touch = -slack;
    edge_seen seen;
    polytope_near_crossing at;
    if (edge_near_A(ask, axis->x, &seen) &&
        cross(&wide, &seen, &ask->view[0].Y->edge[axis->y], &at)) {
      list(ask, saltusi_edge_number(ask->view[0].X, axis->x),
           saltusi_edge_number(ask->view[0].Y, axis->y), at.gap, at.normal, at.point);
    }
    return;
  }
  const int side = axis->kind == SALTUSI_AXIS_FACE_Y ? 0 : 1;
  const int vertex = side == 0 ? axis->x : axis->y;
  const over_face at = {side == 0 ? axis->y : axis->x, axis->value};
  double p[3];
  see_vertex(&ask->view[side], vertex, p);
  if (saltusi_polytope_outside(ask->view[side].Y, at.face, p) <= slack) {
    list_vertex(ask, side, vertex, &at);
  }
}

static void prepare(polytope_near_query* ask, const saltusi_near* near, const double normal[3]) {
  const double delta = saltusi_bounded_delta(near->delta);
  const saltusi_two* two = ask->two;
  ask->reach = near->reach + two->A->rho + two->B->rho;
  ask->sine = delta; /* angles in place of their sines, slightly larger */
  ask->near_sine = 2.0 * delta;
  ask->near_cosine = saltusi_near_cosine(delta);
  ask->touch =
      SALTUSI_TOUCH * fmin(two->A->size, two->B->size) + 16.0 * DBL_EPSILON * ask->view[0].size;
  saltusi_view_turned(&ask->view[0], &ask->view[1]);
  memcpy(ask->axis[0], normal, sizeof ask->axis[0]);
  double back[3];
  saltusi_turn_back(ask->view[0].R, normal, back);
  for (int k = 0; k < 3; k++) {
    ask->axis[1][k] = -back[k];
  }
}

static bool sharp_boxes(const saltusi_two* two) {
  return two->A->polytope->box && two->B->polytope->box && two->A->rho == 0.0 && two->B->rho == 0.0;
}

void saltusi_polytope_near(const saltusi_two* two, const saltusi_near* near,
                           saltusi_candidates* out) {
  assert(two != NULL && near != NULL && out != NULL);
  if (near->all) {
    saltusi_polytope_all(two, near, out);
    return;
  }
  if (sharp_boxes(two) && saltusi_boxes_near(two, near, out)) {
    return;
  }
  polytope_near_query ask = {.two = two, .out = out};
  saltusi_view_of(two, &ask.view[0]);
  const double rho = two->A->rho + two->B->rho;
  saltusi_separating_axis axis;
  saltusi_best_axis(&ask.view[0], near->reach + rho, &axis);
  if (axis.kind == SALTUSI_AXIS_NONE || !(axis.value <= near->reach + rho)) {
    return;
  }
  const int first = out->count;
  saltusi_skeletons closest = {.distance = 0.0};
  const bool rounded = rho > 0.0 && axis.value > saltusi_view_rounding(&ask.view[0]);
  if (rounded) { /* apart: the normal is that of the closest points, which may be vertices and edges */
    saltusi_closest_skeletons(&ask.view[0], &closest);
    if (!(closest.distance <= near->reach + rho)) {
      return;
    }
    memcpy(axis.normal, closest.normal, sizeof axis.normal);
  }
  prepare(&ask, near, axis.normal);
  list_vertices(&ask, 0);
  list_vertices(&ask, 1);
  list_edges(&ask);
  if (out->count == first) {
    if (rounded) {
      saltusi_skeletons_list(two, &closest, out);
    } else {
      list_axis(&ask, &axis);
    }
  }
  saltusi_candidates_sort(out, first);
}

/* Two boxes: value and normal of the best axis, near a corner of B. */
static void boxes_apart(const saltusi_two* two, saltusi_separation* out) {
  saltusi_boxes boxes;
  saltusi_box_axis axis;
  saltusi_boxes_of(two, &boxes);
  if (!saltusi_boxes_axis(&boxes, INFINITY, &axis)) { /* a pose that is not finite */
    axis = (saltusi_box_axis){.value = NAN, .normal = {NAN, NAN, NAN}};
  }
  double corner[3];
  for (int k = 0; k < 3; k++) { /* centre of the near feature of B */
    corner[k] = axis.normal[k] > 1e-6    ? boxes.half_B[k]
                : axis.normal[k] < -1e-6 ? -boxes.half_B[k]
                                         : 0.0;
  }
  out->distance = axis.value;
  saltusi_turn(boxes.Q, axis.normal, out->normal);
  saltusi_turn(boxes.Q, corner, out->point);
  saltusi_along(1.0, boxes.middle, out->point, out->point);
}

void saltusi_polytope_separation(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  if (sharp_boxes(two)) {
    boxes_apart(two, out);
    return;
  }
  saltusi_polytope_view view;
  saltusi_view_of(two, &view);
  const double rho = two->A->rho + two->B->rho;
  saltusi_separating_axis axis;
  saltusi_best_axis(&view, INFINITY, &axis);
  double point[3] = {NAN, NAN, NAN};
  if (axis.kind == SALTUSI_AXIS_NONE) { /* a pose that is not finite */
    axis.value = NAN;
    axis.normal[0] = axis.normal[1] = axis.normal[2] = NAN;
  } else if (rho > 0.0 && axis.value > saltusi_view_rounding(&view)) {
    saltusi_skeletons closest;
    saltusi_closest_skeletons(&view, &closest);
    axis.value = closest.distance;
    memcpy(axis.normal, closest.normal, sizeof axis.normal);
    memcpy(point, closest.point, sizeof point);
  } else {
    const double* n = axis.normal;
    const int far = saltusi_polytope_support(view.Y, n, 0);
    memcpy(point, view.Y->vertex[far], sizeof point);
    if (axis.kind == SALTUSI_AXIS_FACE_Y) {
      double p[3];
      see_vertex(&view, axis.x, p);
      saltusi_along(-axis.value, n, p, point);
    } else if (axis.kind == SALTUSI_AXIS_FACE_X) {
      memcpy(point, view.Y->vertex[axis.y], sizeof point);
    }
  }
  out->distance = axis.value - rho;
  double surface[3];
  saltusi_along(two->B->rho, axis.normal, point, surface);
  saltusi_turn(two->b->R, axis.normal, out->normal);
  saltusi_turn(two->b->R, surface, out->point);
  saltusi_along(1.0, two->b->x, out->point, out->point);
}
