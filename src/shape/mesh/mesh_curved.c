/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_curved.c - cylinders, cones, ellipsoids and rounded boxes and hulls on meshes: each feature of these with each
 * face, convex edge and corner near it, at the closest points of the pair. A pair is listed if the closest points are
 * on both features and the normal is in both normal cones. A rim in face contact is represented by its fixed points.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"
#include "shape/mesh/mesh.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct curved {
  const saltusi_mesh_query* ask;
  const saltusi_body_pose* x;
  double from[3]; /* m, from the mesh's carrier to that of X, world */
  double depth;   /* m, largest depth: a deeper point is behind another surface */
} curved;

/* The rim of a fixed point; NULL: not a fixed point. */
static const saltusi_feature* rim_of(const saltusi_shape* X, int number) {
  switch (X->kind) {
  case SALTUS_SHAPE_CYLINDER:
    return number < SALTUSI_CYLINDER_RIM
               ? &X->feature[SALTUSI_CYLINDER_RIM - 1 + (number > SALTUSI_RIM_POINTS)]
               : NULL;
  case SALTUS_SHAPE_CONE:
    return number != SALTUSI_CONE_TIP && number < SALTUSI_CONE_RIM
               ? &X->feature[SALTUSI_CONE_RIM - 1]
               : NULL;
  default:
    return NULL;
  }
}

/* Sine of the angle between the axis of a circle and a normal, each in its own body axes; negative: same
 * orientation, not facing. */
static double tilt(const curved* c, const saltusi_feature* circle, const double m[3]) {
  double a[3], across[3];
  saltusi_turn(c->ask->R, circle->a, a);
  saltusi_cross(a, m, across);
  const double sine = sqrt(saltusi_dot3(across, across));
  return saltusi_dot3(a, m) < 0.0 ? sine : -sine;
}

static int parameters(saltusi_feature_kind kind) {
  static const int of[] = {0, 1, 2, 1, 2, 2};
  return of[kind];
}

/* Pairs that are evaluated: planes of X with vertices only, fixed points of a rim with a face that the rim may be
 * in contact with. */
static bool may_touch(const curved* c, int x, int number, const double* normal) {
  const saltusi_mesh_query* ask = c->ask;
  assert(ask->X->feature != NULL && ask->shape->feature != NULL);
  const saltusi_feature* X = &ask->X->feature[x - 1];
  const saltusi_feature* M = &ask->shape->feature[number - 1];
  const saltusi_feature* rim = rim_of(ask->X, x);
  if (rim != NULL) {
    const double sine = normal != NULL ? tilt(c, rim, normal) : INFINITY;
    return sine >= 0.0 && sine <= fmax(SALTUSI_LIES_FLAT, ask->sine);
  }
  if (X->kind == SALTUSI_FEATURE_PLANE && M->kind != SALTUSI_FEATURE_POINT) {
    return false;
  }
  if (X->kind == SALTUSI_FEATURE_CIRCLE && normal != NULL &&
      fabs(tilt(c, X, normal)) <= SALTUSI_LIES_FLAT) {
    return false;
  }
  return X->rho > 0.0 || parameters(X->kind) + parameters(M->kind) >= 2;
}

/* Whether the closest point is on the feature of the mesh and the normal in its normal cone. Axes of the mesh. */
static bool on_mesh(const curved* c, const saltusi_capacity* in, int number, int triangle,
                    const saltusi_closest_points* at, const double n[3]) {
  const saltusi_mesh_query* ask = c->ask;
  const saltusi_mesh* mesh = ask->mesh;
  if (number > mesh->vertices + mesh->edges) {
    double p[3];
    saltusi_turn_back(ask->at->R, at->spot[1].p, p);
    return saltusi_mesh_over(mesh, triangle, p, ask->touch + in->wide);
  }
  if (number > mesh->vertices) {
    const saltusi_mesh_edge* edge = &mesh->edge[number - 1 - mesh->vertices];
    return at->spot[1].u[0] > -in->wide && at->spot[1].u[0] < edge->length + in->wide &&
           saltusi_mesh_edge_cone(edge, n, in->sine);
  }
  return saltusi_mesh_vertex_cone(mesh, number - 1, n, in->sine);
}

/* Whether the numbers of the pair reproduce this minimum: a rim and a line have several. */
static bool found_again(const saltusi_mesh_query* ask, int x, int number, int branch, double gap) {
  const saltusi_feature_candidate numbers = {
      .a = ask->turned ? number : x, .b = ask->turned ? x : number, .branch = branch};
  saltusi_pair pair;
  saltusi_closest at;
  saltusi_mesh_pair(ask->two, &numbers, &pair);
  return saltusi_pair_closest(&pair, &at) && fabs(at.gap - gap) <= 1e-10 * ask->X->size;
}

static void try_pair(const curved* c, int x, int number, int triangle, int branch) {
  const saltusi_mesh_query* ask = c->ask;
  saltusi_pair pair = {.A = &ask->X->feature[x - 1],
                       .B = &ask->shape->feature[number - 1],
                       .a = c->x,
                       .b = ask->at,
                       .branch = branch};
  const bool curve = pair.A->kind == SALTUSI_FEATURE_LINE || pair.A->kind == SALTUSI_FEATURE_CIRCLE;
  if (curve &&
      pair.B->kind == SALTUSI_FEATURE_LINE) { /* two curves: d alone does not determine the outward
                                            * side */
    double own[3];
    saltusi_mesh_outward(ask->mesh, number, own);
    saltusi_turn(ask->at->R, own, pair.side);
  }
  saltusi_closest_points at;
  if (!saltusi_pair_meet_only(&pair, true, &at)) {
    return;
  }
  /* crossed closest points, with a normal along their difference d, may touch earlier or later: d is nearly their
   * normal */
  const bool crossed = !at.by_tangents && !(at.apart > 0.0);
  if (crossed && !(ask->all && at.apart < 0.0)) {
    return;
  }
  const double way = crossed ? -1.0 : 1.0;
  const double gap = way * at.apart - pair.A->rho;
  if (!(gap <= ask->reach && gap > -fmax(c->depth, ask->wide))) {
    return;
  }
  double p[3], n[3];
  const double to_X[3] = {way * at.normal[0], way * at.normal[1], way * at.normal[2]};
  const double out_of_X[3] = {-to_X[0], -to_X[1], -to_X[2]};
  saltusi_turn_back(ask->at->R, at.spot[1].p, p);
  saltusi_turn_back(ask->at->R, to_X, n);
  const saltusi_capacity in = ask->all
                                  ? saltusi_capacity_of(&at, ask->wide, ask->sine, ask->X->size)
                                  : (saltusi_capacity){.sine = ask->sine};
  const saltusi_touching touching = {ask->X, c->x, x, &at.spot[0], out_of_X, in.wide};
  if (!on_mesh(c, &in, number, triangle, &at, n) ||
      !saltusi_feature_counts(&touching, c->from, in.sine, ask->touch + in.wide)) {
    return;
  }
  if (pair.A->kind == SALTUSI_FEATURE_CIRCLE && pair.B->kind == SALTUSI_FEATURE_LINE &&
      !found_again(ask, x, number, branch, at.apart - pair.A->rho)) {
    return;
  }
  const int before = ask->out->count;
  saltusi_mesh_list(ask, x, number, way * at.apart, n, p);
  if (ask->out->count > before && before < ask->out->capacity) {
    ask->out->item[before].branch = branch;
  }
}

static void try_all(const curved* c, int number, int triangle, const double* normal) {
  const saltusi_shape* X = c->ask->X;
  const saltusi_feature_kind other = c->ask->shape->feature[number - 1].kind;
  for (int x = 1; x <= X->stored; x++) {
    if (!may_touch(c, x, number, normal)) {
      continue;
    }
    try_pair(c, x, number, triangle, 0);
    if (X->feature[x - 1].kind == SALTUSI_FEATURE_CIRCLE && other == SALTUSI_FEATURE_LINE) {
      try_pair(c, x, number, triangle, 1);
    }
  }
}

static void visit(void* user, int t) {
  const curved* c = user;
  const saltusi_mesh* mesh = c->ask->mesh;
  try_all(c, saltusi_mesh_face_number(mesh, mesh->face[t]), t, mesh->normal[t]);
  for (int k = 0; k < 3; k++) {
    const int e = mesh->triangle_edge[t][k], v = mesh->triangle[t][k];
    const saltusi_mesh_edge* edge = &mesh->edge[e];
    if (edge->side[0] == t &&
        (edge->kind == SALTUSI_EDGE_CONVEX || edge->kind == SALTUSI_EDGE_BORDER)) {
      try_all(c, saltusi_mesh_edge_number(mesh, e), t, NULL);
    }
    if (mesh->owner[v] == t && mesh->corner[v]) {
      try_all(c, 1 + v, t, NULL);
    }
  }
}

void saltusi_mesh_curved(const saltusi_mesh_query* ask) {
  assert(ask != NULL);
  curved c = {
      .ask = ask, .x = ask->turned ? ask->two->b : ask->two->a, .depth = 0.25 * ask->X->size};
  saltusi_minus3(c.x->x, ask->at->x, c.from);
  double middle[3], low[3], high[3];
  saltusi_mesh_see(ask, ask->X->centre, middle);
  const double far = ask->X->radius + fmax(ask->reach, 0.0) + ask->touch;
  for (int k = 0; k < 3; k++) {
    low[k] = middle[k] - far;
    high[k] = middle[k] + far;
  }
  saltusi_mesh_within(ask->mesh, low, high, visit, &c);
}

int saltusi_mesh_curved_guards(const saltusi_mesh_query* ask, const saltusi_pair* pair, int number,
                               double slack, double guard[SALTUSI_GUARDS]) {
  assert(ask != NULL && pair != NULL && guard != NULL);
  /* the pair in the order of the list: X first */
  saltusi_pair own = *pair;
  if (ask->turned) {
    own = (saltusi_pair){.A = pair->B, .B = pair->A, .a = pair->b, .b = pair->a};
    own.branch = pair->branch;
    for (int k = 0; k < 3; k++) {
      own.side[k] = -pair->side[k];
    }
  }
  saltusi_closest_points at;
  if (!saltusi_pair_meet(&own, &at)) {
    return 0;
  }
  double p[3], n[3];
  saltusi_turn_back(ask->at->R, at.spot[1].p, p);
  saltusi_turn_back(ask->at->R, at.normal, n);
  int count = saltusi_mesh_place_guards(ask, number, p, n, slack, guard);
  if (own.A->kind == SALTUSI_FEATURE_LINE) {
    guard[count++] = at.spot[0].u[0] + slack;
    guard[count++] = own.A->size[0] - at.spot[0].u[0] + slack;
  }
  return count;
}
