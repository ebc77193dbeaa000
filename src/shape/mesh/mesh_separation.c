/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_separation.c - separation of a ball, a capsule, a box or a hull from a mesh: the least distance to its
 * triangles, by branch and bound over the tree with the distance of boxes from the bounding ball. The depth of a hull
 * that a triangle cuts is the translation that separates it from this triangle alone. Behind the surface of a closed
 * mesh or a heightfield the distance is negative.
 */
#include "math/rotation.h"
#include "shape/curved/curved.h"
#include "shape/curved/curved_list.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/polytope_axes.h"
#include "shape/polytope/polytope_closest.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Results in axes of the mesh, normal from the mesh to X. */
typedef struct mesh_separation_search {
  const saltusi_mesh_query* ask;
  double best;
  double normal[3], point[3];
  double centre[3], radius; /* of the ball of X, m */
} mesh_separation_search;

static void offer(mesh_separation_search* s, double distance, const double normal[3],
                  const double point[3]) {
  if (distance < s->best) {
    s->best = distance;
    memcpy(s->normal, normal, sizeof s->normal);
    memcpy(s->point, point, sizeof s->point);
  }
}

/* A triangle as a polytope with a front and a back face. */
typedef struct sheet {
  saltusi_polytope body;
  double vertex[3][3];
  saltusi_edge edge[3];
  saltusi_face face[2];
  int loop[6], loop_edge[6];
  double into[6][3];
  int star_first[4], star[6], star_edge[6];
} sheet;

static void sheet_of(const saltusi_mesh* mesh, int t, sheet* out) {
  const double* n = mesh->normal[t];
  out->body = (saltusi_polytope){.vertices = 3,
                                 .edges = 3,
                                 .faces = 2,
                                 .vertex = (const double(*)[3])out->vertex,
                                 .edge = out->edge,
                                 .face = out->face,
                                 .loop = out->loop,
                                 .loop_edge = out->loop_edge,
                                 .into = (const double(*)[3])out->into,
                                 .star_first = out->star_first,
                                 .star = out->star,
                                 .star_edge = out->star_edge};
  for (int k = 0; k < 3; k++) {
    memcpy(out->vertex[k], mesh->vertex[mesh->triangle[t][k]], sizeof out->vertex[k]);
  }
  for (int k = 0; k < 3; k++) {
    const int e = mesh->triangle_edge[t][k];
    const int first = mesh->edge[e].side[0] == t ? 0 : 1;
    saltusi_edge* edge = &out->edge[k];
    *edge = (saltusi_edge){.from = k, .to = (k + 1) % 3, .left = 0, .right = 1};
    for (int j = 0; j < 3; j++) {
      edge->direction[j] = first == 0 ? mesh->edge[e].direction[j] : -mesh->edge[e].direction[j];
    }
    edge->length = mesh->edge[e].length;
    out->loop[k] = k;
    out->loop_edge[k] = k;
    out->loop[3 + k] = (3 - k) % 3; /* 0, 2, 1 */
    out->loop_edge[3 + k] = 2 - k;
    for (int j = 0; j < 2; j++) {
      memcpy(edge->into[j], mesh->edge[e].into[first], sizeof edge->into[j]);
    }
    out->star_first[k] = 2 * k;
    out->star[2 * k] = (k + 1) % 3;
    out->star_edge[2 * k] = k;
    out->star[2 * k + 1] = (k + 2) % 3;
    out->star_edge[2 * k + 1] = (k + 2) % 3;
  }
  out->star_first[3] = 6;
  for (int k = 0; k < 3; k++) {
    memcpy(out->into[k], out->edge[k].into[0], sizeof out->into[k]);
    memcpy(out->into[3 + k], out->edge[2 - k].into[0], sizeof out->into[k]);
  }
  for (int f = 0; f < 2; f++) {
    saltusi_face* face = &out->face[f];
    face->first = 3 * f;
    face->count = 3;
    for (int k = 0; k < 3; k++) {
      face->normal[k] = f == 0 ? n[k] : -n[k];
    }
    face->offset = saltusi_dot3(face->normal, out->vertex[0]);
  }
}

static void hull_to(mesh_separation_search* s, int t) {
  const saltusi_mesh_query* ask = s->ask;
  sheet triangle;
  sheet_of(ask->mesh, t, &triangle);
  saltusi_polytope_view view = {.X = ask->X->polytope, .Y = &triangle.body};
  memcpy(view.R, ask->R, sizeof view.R);
  memcpy(view.t, ask->t, sizeof view.t);
  view.size = ask->X->size + ask->shape->size;
  saltusi_separating_axis axis;
  saltusi_best_axis(&view, INFINITY, &axis);
  if (axis.kind == SALTUSI_AXIS_NONE || axis.value > s->best) {
    return; /* the distance is at least the separation along an axis */
  }
  if (axis.value > saltusi_view_rounding(&view)) {
    saltusi_skeletons closest;
    saltusi_closest_skeletons(&view, &closest);
    offer(s, closest.distance, closest.normal, closest.point);
  } else {
    offer(s, axis.value, axis.normal, triangle.vertex[0]);
  }
}

/* A triangle as a hull, for shapes given by their support functions. */
typedef struct sheet_shape {
  sheet triangle;
  saltusi_shape shape;
  saltusi_feature feature[8];
} sheet_shape;

static void convex_to(mesh_separation_search* s, int t) {
  const saltusi_mesh_query* ask = s->ask;
  sheet_shape it = {.shape = {.kind = SALTUS_SHAPE_HULL, .dimension = 3, .stored = 8}};
  sheet_of(ask->mesh, t, &it.triangle);
  for (int k = 0; k < 3; k++) {
    const saltusi_edge* edge = &it.triangle.edge[k];
    it.feature[k].kind = SALTUSI_FEATURE_POINT;
    memcpy(it.feature[k].p, it.triangle.vertex[k], sizeof it.feature[k].p);
    it.feature[3 + k].kind = SALTUSI_FEATURE_LINE;
    memcpy(it.feature[3 + k].p, it.triangle.vertex[k], sizeof it.feature[k].p);
    memcpy(it.feature[3 + k].a, edge->direction, sizeof edge->direction);
    memcpy(it.feature[3 + k].e, it.triangle.face[0].normal, sizeof it.feature[k].e);
    it.feature[3 + k].size[0] = edge->length;
    it.shape.size = fmax(it.shape.size, edge->length);
  }
  for (int k = 0; k < 2; k++) {
    it.feature[6 + k].kind = SALTUSI_FEATURE_PLANE;
    memcpy(it.feature[6 + k].p, it.triangle.vertex[0], sizeof it.feature[k].p);
    memcpy(it.feature[6 + k].a, it.triangle.face[k].normal, sizeof it.feature[k].a);
    memcpy(it.feature[6 + k].e, it.triangle.edge[0].direction, sizeof it.feature[k].e);
  }
  memcpy(it.shape.centre, it.triangle.vertex[0], sizeof it.shape.centre);
  it.shape.feature = it.feature;
  it.shape.polytope = &it.triangle.body;
  it.shape.radius = it.shape.size;
  it.shape.features = 9;
  it.shape.convex = true;
  const saltusi_two two = {ask->X, ask->turned ? ask->two->b : ask->two->a, &it.shape, ask->at};
  saltusi_separation apart;
  saltusi_convex_separation(&two, &apart);
  double normal[3], from[3], point[3];
  saltusi_turn_back(ask->at->R, apart.normal, normal);
  saltusi_minus3(apart.point, ask->at->x, from);
  saltusi_turn_back(ask->at->R, from, point);
  offer(s, apart.distance, normal, point);
}

/* Two segments p + u a, q + w b: u, w clamped; the distance of the closest points. */
static void segments(mesh_separation_search* s, const double p[3], const double a[3], double la,
                     const saltusi_mesh_edge* edge) {
  const double* q = s->ask->mesh->vertex[edge->from];
  double d[3], n[3];
  saltusi_minus3(p, q, d);
  const double cosine = saltusi_dot3(a, edge->direction);
  const double da = saltusi_dot3(d, a), db = saltusi_dot3(d, edge->direction);
  const double square = 1.0 - cosine * cosine;
  double u = square > 1e-18 ? (cosine * db - da) / square : 0.0;
  u = fmin(la, fmax(0.0, u));
  double w = fmin(edge->length, fmax(0.0, db + cosine * u));
  u = fmin(la, fmax(0.0, cosine * w - da));
  for (int k = 0; k < 3; k++) {
    n[k] = d[k] + u * a[k] - w * edge->direction[k];
  }
  const double distance = sqrt(saltusi_dot3(n, n));
  if (distance > 0.0) {
    double point[3];
    for (int k = 0; k < 3; k++) {
      n[k] /= distance;
      point[k] = q[k] + w * edge->direction[k];
    }
    offer(s, distance, n, point);
  }
}

/* The axis of a capsule and a triangle: its edges and, where the axis crosses it, the depth of
 * the crossing. */
static void capsule_to(mesh_separation_search* s, int t) {
  const saltusi_mesh_query* ask = s->ask;
  const saltusi_mesh* mesh = ask->mesh;
  const saltusi_feature* line = &ask->X->feature[SALTUSI_CAPSULE_SIDE - 1];
  double p[3], a[3], far[3], from[3];
  saltusi_mesh_see(ask, line->p, p);
  saltusi_turn(ask->R, line->a, a);
  saltusi_along(line->size[0], a, p, far);
  for (int k = 0; k < 3; k++) {
    segments(s, p, a, line->size[0], &mesh->edge[mesh->triangle_edge[t][k]]);
  }
  const double* n = mesh->normal[t];
  saltusi_minus3(p, mesh->vertex[mesh->triangle[t][0]], from);
  const double low = saltusi_dot3(n, from), high = low + line->size[0] * saltusi_dot3(n, a);
  const double height[2] = {low, high};
  for (int k = 0; k < 2; k++) {
    const double* end = k == 0 ? p : far;
    if (saltusi_mesh_over(mesh, t, end, 0.0)) {
      const double sign = height[k] >= 0.0 ? 1.0 : -1.0;
      const double out[3] = {sign * n[0], sign * n[1], sign * n[2]};
      double point[3];
      saltusi_along(-height[k], n, end, point);
      offer(s, fabs(height[k]), out, point);
    }
  }
  if (low * high < 0.0) {
    double through[3];
    saltusi_along(line->size[0] * low / (low - high), a, p, through);
    if (saltusi_mesh_over(mesh, t, through, 0.0)) {
      offer(s, fmin(low, high), n, through);
    }
  }
}

/* Distance of the ball of X from a box, at most zero inside. */
static double bound(const mesh_separation_search* s, const saltusi_mesh_node* node) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    const double d = fmax(0.0, fmax(node->low[k] - s->centre[k], s->centre[k] - node->high[k]));
    sum += d * d;
  }
  return sqrt(sum) - s->radius;
}

static void walk(mesh_separation_search* s, void (*to)(mesh_separation_search*, int)) {
  const saltusi_mesh* mesh = s->ask->mesh;
  int stack[66], count = 1; /* the tree is no deeper than 64 */
  stack[0] = 0;
  while (count > 0) {
    const int number = stack[--count];
    const saltusi_mesh_node* at = &mesh->node[number];
    const double least = bound(s, at);
    if (!(least < s->best) && !(s->best < 0.0 && least <= 0.0)) {
      continue;
    }
    if (at->count == 0) {
      const int right = at->right, left = number + 1;
      const bool swap = bound(s, &mesh->node[right]) < bound(s, &mesh->node[left]);
      stack[count++] = swap ? left : right;
      stack[count++] = swap ? right : left;
      continue;
    }
    for (int k = at->first; k < at->first + at->count; k++) {
      to(s, mesh->order[k]);
    }
  }
}

/* The lowest vertex of the mesh along the normal of a plane. */
typedef struct lowest {
  const saltusi_mesh* mesh;
  const double* normal;
  double best;
  int vertex;
} lowest;

static void visit_lowest(void* user, int t) {
  lowest* find = user;
  for (int k = 0; k < 3; k++) {
    const int v = find->mesh->triangle[t][k];
    const double height = saltusi_dot3(find->normal, find->mesh->vertex[v]);
    if (height < find->best) {
      find->best = height;
      find->vertex = v;
    }
  }
}

static void plane_to(mesh_separation_search* s) {
  const saltusi_mesh_query* ask = s->ask;
  double n[3], p[3];
  saltusi_turn(ask->R, ask->X->feature[0].a, n);
  saltusi_mesh_see(ask, ask->X->feature[0].p, p);
  lowest find = {.mesh = ask->mesh, .normal = n, .best = INFINITY};
  saltusi_mesh_below(ask->mesh, n, INFINITY, visit_lowest, &find);
  const double up[3] = {-n[0], -n[1], -n[2]};
  offer(s, find.best - saltusi_dot3(n, p), up, ask->mesh->vertex[find.vertex]);
}

/* Behind the surface without being cut by a triangle: the whole shape is behind. */
static void behind(mesh_separation_search* s, const double inside[3]) {
  const saltusi_shape* shape = s->ask->shape;
  if (!(s->best > 0.0) || !(shape->mesh->closed || shape->kind == SALTUS_SHAPE_HEIGHTFIELD)) {
    return;
  }
  saltusi_mesh_foot foot;
  saltusi_mesh_nearest(shape->mesh, inside, &foot);
  if (foot.distance < 0.0) {
    s->best = -s->best;
    for (int k = 0; k < 3; k++) {
      s->normal[k] = -s->normal[k];
    }
  }
}

void saltusi_mesh_separation(const saltusi_two* two, saltusi_separation* out) {
  assert(two != NULL && out != NULL);
  saltusi_mesh_query ask;
  saltusi_mesh_query_of(two, &ask);
  mesh_separation_search s = {
      .ask = &ask, .best = INFINITY, .normal = {NAN, NAN, NAN}, .radius = ask.X->radius};
  saltusi_mesh_see(&ask, ask.X->centre, s.centre);
  if (ask.X->kind == SALTUS_SHAPE_SPHERE) {
    double c[3];
    saltusi_mesh_foot foot;
    saltusi_mesh_see(&ask, ask.X->feature[0].p, c);
    saltusi_mesh_nearest(ask.mesh, c, &foot);
    s.best = foot.distance - ask.X->feature[0].rho;
    memcpy(s.normal, foot.normal, sizeof s.normal);
    memcpy(s.point, foot.point, sizeof s.point);
  } else if (ask.X->kind == SALTUS_SHAPE_HALF_SPACE) {
    plane_to(&s);
  } else {
    const bool capsule = ask.X->kind == SALTUS_SHAPE_CAPSULE;
    const bool sharp = ask.X->polytope != NULL && ask.X->rho == 0.0;
    walk(&s, capsule ? capsule_to : sharp ? hull_to : convex_to);
    double p[3];
    saltusi_mesh_see(&ask, ask.X->feature[0].p, p);
    behind(&s, p);
    s.best -= capsule ? ask.X->feature[0].rho : 0.0;
  }
  out->distance = s.best == INFINITY ? NAN : s.best;
  double place[3] = {s.point[0], s.point[1], s.point[2]}, normal[3];
  if (ask.turned) {
    saltusi_along(s.best, s.normal, s.point, place);
  }
  saltusi_turn(ask.at->R, s.normal, normal);
  saltusi_turn(ask.at->R, place, out->point);
  saltusi_along(1.0, ask.at->x, out->point, out->point);
  for (int k = 0; k < 3; k++) {
    out->normal[k] = ask.turned ? -normal[k] : normal[k];
  }
}
