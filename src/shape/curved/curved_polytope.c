/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_polytope.c - boxes and hulls against curved shapes: the closest point of a point, the region of the outside
 * of each face, edge or vertex, and capsules on polytopes.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The edge of a box that leaves a corner along an axis. */
static int box_edge(const saltusi_polytope* box, int corner, int axis) {
  const int opposite = corner ^ (4 >> axis);
  for (int k = box->star_first[corner]; k < box->star_first[corner + 1]; k++) {
    if (box->star[k] == opposite) {
      return box->star_edge[k];
    }
  }
  return 0;
}

/* The closest feature of a box follows from the faces that the point is beyond. */
static void foot_of_box(const saltusi_polytope* box, const double point[3], saltusi_foot* out) {
  double from[3], own[3], beyond[3], normal[3] = {0.0, 0.0, 0.0}, square = 0.0;
  int corner = 0, outside = 0, last = 0, inner = 0;
  saltusi_minus3(point, box->placing.x, from);
  saltusi_turn_back(box->placing.R, from, own);
  for (int k = 0; k < 3; k++) {
    beyond[k] = fabs(own[k]) - box->half[k];
    corner |= own[k] > 0.0 ? 4 >> k : 0;
    if (beyond[k] > 0.0) {
      normal[k] = own[k] > 0.0 ? beyond[k] : -beyond[k];
      square += beyond[k] * beyond[k];
      outside++;
      last = k;
    } else {
      inner = k;
    }
  }
  if (outside == 0) { /* the face of least depth */
    last = beyond[1] > beyond[0] ? 1 : 0;
    last = beyond[2] > beyond[last] ? 2 : last;
  }
  if (outside < 2) {
    const int face = 2 * last + (own[last] > 0.0);
    out->number = saltusi_face_number(box, face);
    out->distance = beyond[last];
    memcpy(out->normal, box->face[face].normal, sizeof out->normal);
    return;
  }
  out->number = outside == 3 ? saltusi_vertex_number(corner)
                             : saltusi_edge_number(box, box_edge(box, corner, inner));
  out->distance = sqrt(square);
  saltusi_turn(box->placing.R, normal, out->normal);
  for (int k = 0; k < 3; k++) {
    out->normal[k] /= out->distance;
  }
}

static double least_inside(const saltusi_polytope* body, const saltusi_face* face,
                           const double point[3]) {
  double least = INFINITY;
  for (int k = face->first; k < face->first + face->count; k++) {
    double from[3];
    saltusi_minus3(point, body->vertex[body->loop[k]], from);
    least = fmin(least, saltusi_dot3(body->into[k], from));
  }
  return least;
}

/* The nearest point of an edge, ends included. */
static void foot_on_edge(const saltusi_polytope* body, int e, const double point[3],
                         saltusi_foot* best) {
  const saltusi_edge* edge = &body->edge[e];
  double from[3];
  saltusi_minus3(point, body->vertex[edge->from], from);
  const double u = fmin(fmax(saltusi_dot3(from, edge->direction), 0.0), edge->length);
  if (u >= edge->length) {
    saltusi_minus3(point, body->vertex[edge->to], from);
  } else {
    saltusi_along(-u, edge->direction, from, from);
  }
  const double distance = sqrt(saltusi_dot3(from, from));
  if (distance < best->distance) {
    best->distance = distance;
    best->number = u <= 0.0            ? saltusi_vertex_number(edge->from)
                   : u >= edge->length ? saltusi_vertex_number(edge->to)
                                       : saltusi_edge_number(body, e);
    for (int k = 0; k < 3; k++) {
      best->normal[k] = distance > 0.0 ? from[k] / distance : body->face[edge->left].normal[k];
    }
  }
}

static double above(const saltusi_face* face, const double point[3]) {
  return saltusi_dot3(face->normal, point) - face->offset;
}

static void foot_of_hull(const saltusi_polytope* body, const double point[3], saltusi_foot* out) {
  int highest = 0;
  double top = -INFINITY;
  for (int f = 0; f < body->faces; f++) {
    const double height = above(&body->face[f], point);
    if (height > top) {
      top = height;
      highest = f;
    }
    if (height > 0.0 && least_inside(body, &body->face[f], point) >= 0.0) {
      highest = f;
      break;
    }
  }
  out->distance = above(&body->face[highest], point);
  if (top <= 0.0 || least_inside(body, &body->face[highest], point) >= 0.0) {
    out->number = saltusi_face_number(body, highest);
    memcpy(out->normal, body->face[highest].normal, sizeof out->normal);
    return;
  }
  out->distance = INFINITY;
  for (int e = 0; e < body->edges; e++) {
    if (above(&body->face[body->edge[e].left], point) > 0.0 ||
        above(&body->face[body->edge[e].right], point) > 0.0) {
      foot_on_edge(body, e, point, out);
    }
  }
}

void saltusi_foot_of_polytope(const saltusi_shape* solid, const double point[3],
                              saltusi_foot* out) {
  assert(solid != NULL && solid->polytope != NULL && point != NULL && out != NULL);
  if (solid->polytope->box) {
    foot_of_box(solid->polytope, point, out);
  } else {
    foot_of_hull(solid->polytope, point, out);
  }
  out->distance -= solid->rho;
}

double saltusi_region_of_polytope(const saltusi_shape* solid, int number, const double point[3]) {
  assert(solid != NULL && solid->polytope != NULL && point != NULL);
  const saltusi_polytope* body = solid->polytope;
  double from[3], least = INFINITY;
  if (number <= body->vertices) {
    const int v = number - 1;
    saltusi_minus3(point, body->vertex[v], from);
    for (int k = body->star_first[v]; k < body->star_first[v + 1]; k++) {
      const saltusi_edge* edge = &body->edge[body->star_edge[k]];
      const double along = saltusi_dot3(from, edge->direction);
      least = fmin(least, edge->from == v ? -along : along);
    }
    return least;
  }
  if (number <= body->vertices + body->edges) {
    const saltusi_edge* edge = &body->edge[number - 1 - body->vertices];
    saltusi_minus3(point, body->vertex[edge->from], from);
    const double u = saltusi_dot3(from, edge->direction);
    least = fmin(u, edge->length - u);
    least = fmin(least, -saltusi_dot3(edge->into[0], from));
    return fmin(least, -saltusi_dot3(edge->into[1], from));
  }
  return least_inside(body, &body->face[number - 1 - body->vertices - body->edges], point);
}

void saltusi_outward_of(const saltusi_shape* solid, int number, double sum[3]) {
  assert(solid != NULL && sum != NULL);
  const saltusi_polytope* body = solid->polytope;
  memset(sum, 0, 3 * sizeof *sum);
  if (body == NULL || number > body->vertices + body->edges) {
    return;
  }
  const int v = number - 1;
  if (number > body->vertices) {
    const saltusi_edge* edge = &body->edge[v - body->vertices];
    saltusi_along(1.0, body->face[edge->left].normal, body->face[edge->right].normal, sum);
    return;
  }
  /* against its edges: every normal of the vertex has a positive product with this sum, however sharp the vertex
   * is */
  for (int k = body->star_first[v]; k < body->star_first[v + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    saltusi_along(edge->from == v ? -1.0 : 1.0, edge->direction, sum, sum);
  }
}

bool saltusi_normal_of(const saltusi_shape* solid, int number, const double n[3], double sine) {
  assert(solid != NULL && solid->polytope != NULL && n != NULL);
  const saltusi_polytope* body = solid->polytope;
  if (number > body->vertices) {
    const saltusi_edge* edge = &body->edge[number - 1 - body->vertices];
    return saltusi_dot3(n, edge->into[0]) <= sine && saltusi_dot3(n, edge->into[1]) <= sine;
  }
  const int v = number - 1;
  for (int k = body->star_first[v]; k < body->star_first[v + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    const double along = saltusi_dot3(n, edge->direction);
    if (!((edge->from == v ? along : -along) <= sine)) {
      return false;
    }
  }
  return true;
}

/* Best axis among the faces of the polytope swept along a segment: its own faces, and the products of an edge with
 * the segment whose normal is in the arc of the edge. w0, a, length: start, direction and length of the segment,
 * body axes. */
static int best_axis(const saltusi_polytope* body, const double w0[3], const double a[3],
                     double length, double* best, double normal[3]) {
  int number = 0;
  *best = -INFINITY;
  for (int f = 0; f < body->faces; f++) {
    const saltusi_face* face = &body->face[f];
    const double height = above(face, w0) + fmin(0.0, length * saltusi_dot3(face->normal, a));
    if (height > *best) {
      *best = height;
      number = saltusi_face_number(body, f);
      memcpy(normal, face->normal, sizeof face->normal);
    }
  }
  for (int e = 0; e < body->edges; e++) {
    const saltusi_edge* edge = &body->edge[e];
    double n[3], from[3];
    saltusi_cross(a, edge->direction, n);
    const double sine = sqrt(saltusi_dot3(n, n));
    if (!(sine > SALTUSI_PARALLEL)) {
      continue;
    }
    const double x = saltusi_dot3(n, edge->into[0]), y = saltusi_dot3(n, edge->into[1]);
    if (!(x * y > 0.0)) {
      continue; /* not between the normals of its faces */
    }
    for (int k = 0; k < 3; k++) {
      n[k] *= (x > 0.0 ? -1.0 : 1.0) / sine;
    }
    saltusi_minus3(w0, body->vertex[edge->from], from);
    const double height = saltusi_dot3(n, from);
    if (height > *best) {
      *best = height;
      number = saltusi_edge_number(body, e);
      memcpy(normal, n, sizeof n);
    }
  }
  return number;
}

/* The axis of a capsule in the axes of the polytope, and the best axis between the two. */
typedef struct middle {
  double start[3], a[3], best, normal[3];
  int number; /* of the feature of the best axis */
} middle;

static void middle_of(const saltusi_two* two, middle* out) {
  const saltusi_feature* side = &two->A->feature[SALTUSI_CAPSULE_SIDE - 1];
  double world[3];
  saltusi_seen_from(two->b, two->a, side->p, out->start);
  saltusi_turn(two->a->R, side->a, world);
  saltusi_turn_back(two->b->R, world, out->a);
  out->number =
      best_axis(two->B->polytope, out->start, out->a, side->size[0], &out->best, out->normal);
}

/* Ends against the polytope as a whole; the side against edges and vertices that are closest to
 * it. */
void saltusi_list_capsule_polytope(const saltusi_listing* list) {
  assert(list != NULL);
  const saltusi_two* two = list->two;
  const saltusi_polytope* body = two->B->polytope;
  const double length = two->A->feature[SALTUSI_CAPSULE_SIDE - 1].size[0];
  middle line;
  middle_of(two, &line);
  const bool deep =
      line.best <= 0.0; /* then the axis of least depth is used, not the closest feature */
  if (deep && line.number <= body->vertices + body->edges) {
    saltusi_list_add(list, SALTUSI_CAPSULE_SIDE, line.number, 0);
  }
  const int lower = saltusi_dot3(line.normal, line.a) < 0.0;
  for (int i = 0; i < 2; i++) {
    double point[3];
    saltusi_foot foot = {.number = 0};
    if (list->all && !deep) {
      saltusi_list_round(list, 0, SALTUSI_CAPSULE_END + i);
      continue;
    }
    saltusi_seen_from(two->b, two->a, two->A->feature[i].p, point);
    saltusi_foot_of_polytope(two->B, point, &foot);
    saltusi_list_add(list, SALTUSI_CAPSULE_END + i, foot.number, 0);
    if (deep && i == lower && line.number > body->vertices + body->edges &&
        line.number != foot.number) {
      saltusi_list_add(list, SALTUSI_CAPSULE_END + i, line.number, 0);
    }
  }
  for (int number = 1; !deep && number <= body->vertices + body->edges; number++) {
    saltusi_closest_points at;
    double n[3];
    if (!saltusi_list_meet(list, SALTUSI_CAPSULE_SIDE, number, 0, &at) ||
        !(at.apart - at.spot[0].rho - at.spot[1].rho <= list->reach) || !(at.apart > 0.0)) {
      continue;
    }
    const saltusi_capacity in = list->all
                                    ? saltusi_capacity_of(&at, list->reach, list->sine, length)
                                    : (saltusi_capacity){.sine = list->sine};
    const double wide = in.wide;
    if (!(at.spot[0].u[0] > -wide && at.spot[0].u[0] < length + wide)) {
      continue;
    }
    if (number > body->vertices) {
      const double u = at.spot[1].u[0];
      double across[3];
      saltusi_cross(at.spot[0].a, at.spot[1].a, across);
      if (!(u > -wide && u < at.spot[1].size[0] + wide) ||
          saltusi_dot3(across, across) < SALTUSI_PARALLEL * SALTUSI_PARALLEL) {
        continue;
      }
    }
    saltusi_turn_back(two->b->R, at.normal, n);
    if (saltusi_normal_of(two->B, number, n, in.sine)) {
      saltusi_list_met(list, SALTUSI_CAPSULE_SIDE, number, 0, &at);
    }
  }
}

bool saltusi_capsule_in_polytope(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  const saltusi_feature* side = &two->A->feature[SALTUSI_CAPSULE_SIDE - 1];
  double half[3], world[3];
  middle line;
  middle_of(two, &line);
  if (line.best > 0.0) {
    return false;
  }
  out->distance = line.best - side->rho - two->B->rho;
  saltusi_turn(two->b->R, line.normal, out->normal);
  saltusi_along(0.5 * side->size[0], line.a, line.start, half);
  saltusi_turn(two->b->R, half, world);
  saltusi_along(1.0, two->b->x, world, out->point);
  return true;
}
