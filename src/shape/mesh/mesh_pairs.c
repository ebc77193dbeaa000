/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_pairs.c - pairs of features of meshes and heightfields with balls, capsules, boxes, hulls and half-spaces.
 */
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_mesh(const saltusi_shape* shape) {
  return shape->mesh != NULL;
}

static bool treats(const saltusi_shape* A, const saltusi_shape* B) {
  if (is_mesh(A) && is_mesh(B)) {
    return false;
  }
  const saltusi_shape* X = is_mesh(A) ? B : A;
  switch (X->kind) {
  case SALTUS_SHAPE_SPHERE:
    return X->feature[0].rho > 0.0;
  case SALTUS_SHAPE_CAPSULE:
  case SALTUS_SHAPE_HALF_SPACE:
  case SALTUS_SHAPE_BOX:
  case SALTUS_SHAPE_HULL:
  case SALTUS_SHAPE_CYLINDER:
  case SALTUS_SHAPE_CONE:
  case SALTUS_SHAPE_ELLIPSOID:
    return true;
  default:
    return false;
  }
}

void saltusi_mesh_query_of(const saltusi_two* two, saltusi_mesh_query* ask) {
  assert(two != NULL && ask != NULL);
  *ask = (saltusi_mesh_query){.two = two, .turned = is_mesh(two->A)};
  ask->shape = ask->turned ? two->A : two->B;
  ask->X = ask->turned ? two->B : two->A;
  ask->at = ask->turned ? two->a : two->b;
  ask->mesh = ask->shape->mesh;
  const saltusi_body_pose* x = ask->turned ? two->b : two->a;
  double from[3];
  saltusi_minus3(x->x, ask->at->x, from);
  saltusi_turn_back(ask->at->R, from, ask->t);
  const double* P = ask->at->R;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      ask->R[3 * i + j] = P[i] * x->R[j] + P[3 + i] * x->R[3 + j] + P[6 + i] * x->R[6 + j];
    }
  }
  ask->touch = saltusi_mesh_touch(ask->shape);
}

void saltusi_mesh_see(const saltusi_mesh_query* ask, const double own[3], double seen[3]) {
  assert(ask != NULL && own != NULL && seen != NULL && own != seen);
  saltusi_turn(ask->R, own, seen);
  saltusi_along(1.0, ask->t, seen, seen);
}

/* A sharp point of X behind a face or edge may still be in front of the mesh, through a thin
 * part. */
static bool through_something_thin(const saltusi_mesh_query* ask, int number, double gap,
                                   const double normal[3], const double point[3]) {
  const bool round = ask->X->kind == SALTUS_SHAPE_SPHERE || ask->X->kind == SALTUS_SHAPE_CAPSULE;
  if (!(gap < -4.0 * ask->touch) || ask->all || round || number <= ask->mesh->vertices) {
    return false;
  }
  double place[3];
  saltusi_mesh_foot foot;
  saltusi_along(gap, normal, point, place);
  saltusi_mesh_nearest(ask->mesh, place, &foot);
  /* the normal of crossing edges leaves their cones by up to the widening, so the point may be beside the mesh */
  const bool edge = number <= ask->mesh->vertices + ask->mesh->edges;
  const double beside = edge ? -gap * fmin(4.0 * ask->sine, SALTUSI_WIDEST) : 0.0;
  return foot.distance > ask->touch + beside;
}

void saltusi_mesh_list(const saltusi_mesh_query* ask, int x, int number, double gap,
                       const double normal[3], const double point[3]) {
  assert(ask != NULL && normal != NULL && point != NULL);
  const double rho = ask->X->kind == SALTUS_SHAPE_HALF_SPACE ? 0.0 : ask->X->feature[x - 1].rho;
  saltusi_feature_candidate item = {
      .a = ask->turned ? number : x, .b = ask->turned ? x : number, .gap = gap - rho};
  if (!(item.gap <= ask->reach) || through_something_thin(ask, number, item.gap, normal, point)) {
    return;
  }
  double from_mesh[3], place[3] = {point[0], point[1], point[2]};
  saltusi_turn(ask->at->R, normal, from_mesh);
  if (ask->turned) { /* the point of B is a point of X */
    saltusi_along(item.gap, normal, point, place);
  }
  saltusi_turn(ask->at->R, place, item.point);
  saltusi_along(1.0, ask->at->x, item.point, item.point);
  for (int k = 0; k < 3; k++) {
    item.normal[k] = ask->turned ? -from_mesh[k] : from_mesh[k];
  }
  saltusi_candidate_add(ask->out, &item);
}

static bool comes_before(const saltusi_feature_candidate* a, const saltusi_feature_candidate* b) {
  return a->a != b->a ? a->a < b->a : a->b != b->b ? a->b < b->b : a->branch < b->branch;
}

/* Sorts by numbers and removes duplicates: triangles of one face find the same pairs. */
static void sort_once(saltusi_candidates* list, int first) {
  if (list->count > list->capacity) {
    return; /* the caller increases the capacity and repeats the query */
  }
  for (int k = first + 1; k < list->count; k++) {
    const saltusi_feature_candidate item = list->item[k];
    int j = k;
    for (; j > first && comes_before(&item, &list->item[j - 1]); j--) {
      list->item[j] = list->item[j - 1];
    }
    list->item[j] = item;
  }
  int kept = first;
  for (int k = first; k < list->count; k++) {
    if (kept == first || comes_before(&list->item[kept - 1], &list->item[k])) {
      list->item[kept++] = list->item[k];
    }
  }
  list->count = kept;
}

/* The point of an item on its face, in axes of the mesh. */
static void place_on(const saltusi_mesh_query* ask, const saltusi_feature_candidate* of,
                     double place[3]) {
  double from[3], p[3];
  saltusi_minus3(of->point, ask->at->x, from);
  saltusi_turn_back(ask->at->R, from, place);
  if (ask->turned) { /* from X back to the mesh */
    saltusi_turn_back(ask->at->R, of->normal, p);
    saltusi_along(of->gap, p, place, place);
  }
}

/* Whether the point of an item is on the mesh. A corner beyond a concave edge is listed with the face, and its
 * projection is not on the mesh. */
static bool is_on_mesh(const saltusi_mesh_query* ask, const saltusi_feature_candidate* of,
                       double touch) {
  const int number = ask->turned ? of->a : of->b;
  double place[3];
  saltusi_mesh_foot foot;
  if (number <= ask->mesh->vertices + ask->mesh->edges) {
    return true;
  }
  place_on(ask, of, place);
  saltusi_mesh_nearest(ask->mesh, place, &foot);
  return fabs(foot.distance) <= touch;
}

/* Whether the face of an item rises above the plane of another item through its point. False for edges and
 * vertices. */
static bool rises_over(const saltusi_mesh_query* ask, const saltusi_feature_candidate* of,
                       const saltusi_feature_candidate* over) {
  const int number = ask->turned ? of->a : of->b;
  const saltusi_mesh* mesh = ask->mesh;
  double n[3], from[3];
  const double sign = ask->turned ? -1.0 : 1.0;
  for (int k = 0; k < 3; k++) {
    from[k] = sign * over->normal[k];
  }
  saltusi_turn_back(ask->at->R, from, n);
  if (number > mesh->vertices + mesh->edges) {
    double p[3], q[3];
    saltusi_turn_back(ask->at->R, of->normal, p);
    /* the face continues from its point along the tangential part of n, upward where it rises above the plane */
    const double along = saltusi_dot3(n, p) * sign;
    for (int k = 0; k < 3; k++) {
      q[k] = n[k] - along * sign * p[k];
    }
    double place[3], ahead[3];
    place_on(ask, of, place);
    const double length = fmax(sqrt(saltusi_dot3(q, q)), 1e-300);
    /* the face may end within the first distance, as near a corner; the second covers the distance of the two
     * points */
    const double size = ask->X->size;
    const double far[2] = {0.01 * size,
                           fmax(1e-5 * size, 16.0 * (fabs(of->gap) + fabs(over->gap)))};
    for (int i = 0; i < 2; i++) {
      saltusi_mesh_foot foot;
      saltusi_along(far[i] / length, q, place, ahead);
      saltusi_mesh_nearest(mesh, ahead, &foot);
      if (fabs(foot.distance) <= 1e-3 * far[i]) {
        return true;
      }
    }
  }
  return false;
}

/* One point with two normals: at a convex corner, where both faces fall away, one contact is enough, that of the
 * larger gap. A point found as two kinds of pair counts as the first. */
static void thin_out(const saltusi_mesh_query* ask, int first) {
  saltusi_candidates* list = ask->out;
  if (list->count > list->capacity || ask->X->polytope == NULL) {
    return;
  }
  const double same = 4.0 * fmax(ask->touch, SALTUSI_TOUCH * ask->X->size);
  for (int i = first; i < list->count; i++) {
    for (int j = i + 1; j < list->count; j++) {
      saltusi_feature_candidate* one = &list->item[i];
      saltusi_feature_candidate* two = &list->item[j];
      double d[3];
      saltusi_minus3(one->point, two->point, d);
      const double distance = sqrt(saltusi_dot3(d, d));
      const bool parallel = saltusi_dot3(one->normal, two->normal) > 1.0 - ask->sine * ask->sine;
      int leave = -1;
      if (parallel && distance <= same) {
        leave = j;
      } else if (!parallel && distance <= same + fabs(one->gap) + fabs(two->gap) &&
                 !rises_over(ask, one, two) && !rises_over(ask, two, one) &&
                 (is_on_mesh(ask, one->gap >= two->gap ? one : two, same) ||
                  !is_on_mesh(ask, one->gap >= two->gap ? two : one, same))) {
        leave = one->gap >= two->gap ? j : i;
      }
      if (leave >= 0) {
        memmove(&list->item[leave], &list->item[leave + 1],
                (size_t)(list->count - leave - 1) * sizeof list->item[0]);
        list->count--;
        j = leave == i ? list->count : j - 1;
        i = leave == i ? i - 1 : i;
      }
    }
  }
}

static void pairs(const saltusi_two* two, const saltusi_near* near, saltusi_candidates* out) {
  saltusi_mesh_query ask;
  saltusi_mesh_query_of(two, &ask);
  ask.reach = near->reach;
  /* all pairs: cones are widened by the rotation delta of the bodies, up to all directions */
  ask.sine = near->all ? fmax(near->delta, SALTUSI_LEAST_DELTA) : saltusi_sine_of(near->delta);
  ask.all = near->all;
  ask.wide = near->all ? fmax(near->reach, 0.0) : 0.0;
  ask.out = out;
  const int first = out->count;
  switch (ask.X->kind) {
  case SALTUS_SHAPE_SPHERE:
    saltusi_mesh_ball(&ask);
    break;
  case SALTUS_SHAPE_CAPSULE:
    saltusi_mesh_capsule(&ask);
    break;
  case SALTUS_SHAPE_HALF_SPACE:
    saltusi_mesh_plane(&ask);
    break;
  default:
    if (ask.X->polytope != NULL && ask.X->rho == 0.0) {
      saltusi_mesh_hull(&ask);
    } else {
      saltusi_mesh_curved(&ask);
    }
    break;
  }
  sort_once(out, first);
  if (!near->all) {
    thin_out(&ask, first);
  }
}

/* Outward of the mesh at its edge and of the hull at its edge, world axes, oriented from the mesh to the hull. */
static void side_of(const saltusi_mesh_query* ask, int x, int number, double side[3]) {
  double sum[3], own[3];
  saltusi_mesh_outward(ask->mesh, number, sum);
  const saltusi_polytope* body = ask->X->polytope;
  if (body != NULL && x > body->vertices && x <= body->vertices + body->edges) {
    const saltusi_edge* edge = &body->edge[x - 1 - body->vertices];
    double both[3];
    saltusi_along(1.0, body->face[edge->left].normal, body->face[edge->right].normal, both);
    saltusi_turn(ask->R, both, own);
    saltusi_along(-1.0, own, sum, sum);
  }
  const double sign = ask->turned ? -1.0 : 1.0;
  saltusi_turn(ask->at->R, sum, own);
  for (int k = 0; k < 3; k++) {
    side[k] = sign * own[k];
  }
}

void saltusi_mesh_pair(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                       saltusi_pair* out) {
  assert(two != NULL && numbers != NULL && out != NULL);
  assert(numbers->a >= 1 && numbers->a <= two->A->stored);
  assert(numbers->b >= 1 && numbers->b <= two->B->stored);
  *out = (saltusi_pair){.A = &two->A->feature[numbers->a - 1],
                        .B = &two->B->feature[numbers->b - 1],
                        .a = two->a,
                        .b = two->b,
                        .branch = numbers->branch};
  saltusi_mesh_query ask;
  saltusi_mesh_query_of(two, &ask);
  const int number = ask.turned ? numbers->a : numbers->b;
  const saltusi_feature_kind kind = ask.turned ? out->B->kind : out->A->kind;
  const bool curve = kind == SALTUSI_FEATURE_LINE || kind == SALTUSI_FEATURE_CIRCLE;
  if (curve && number > ask.mesh->vertices && number <= ask.mesh->vertices + ask.mesh->edges) {
    side_of(&ask, ask.turned ? numbers->b : numbers->a, number, out->side);
  }
}

const saltusi_family saltusi_meshes = {.treats = treats,
                                       .pairs = pairs,
                                       .separation = saltusi_mesh_separation,
                                       .pair = saltusi_mesh_pair,
                                       .guards = saltusi_mesh_guards};
