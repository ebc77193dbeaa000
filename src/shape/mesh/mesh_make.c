/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_make.c - meshes and heightfields from their definitions.
 *
 * Equal points are merged into one vertex; triangles with a repeated vertex are removed. Neighbours whose opposite
 * corners are within 8 eps x size of one plane are one face with one normal. Other edges are convex or concave by the
 * side of the opposite corner, relative to the larger of the two triangles.
 */
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/sides.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Mesh under construction, in its own axes until the end. */
typedef struct making_mesh {
  const saltusi_making* making;
  saltusi_pool* pool;
  int points, vertices, triangles, edges, faces;
  double (*vertex)[3];
  int (*triangle)[3];
  int (*triangle_edge)[3];
  double (*area)[3]; /* normal times twice the area, of triangles */
  double (*normal)[3];
  int* face;
  saltusi_mesh_edge* edge;
  int* star_first;
  int* star;
  bool* corner;
  int* owner;
  double size;
  bool closed;
} making_mesh;

static double norm(const double a[3]) {
  return sqrt(saltusi_dot3(a, a));
}

static void unit(double a[3]) {
  const double length = norm(a);
  for (int k = 0; k < 3 && length > 0.0; k++) {
    a[k] /= length;
  }
}

/* ------------------------------------------------------------------------------------ points --- */

static int compare(const double* a, const double* b) {
  for (int k = 0; k < 3; k++) {
    if (a[k] != b[k]) {
      return a[k] < b[k] ? -1 : 1;
    }
  }
  return 0;
}

/* Heap of indices of points, ordered by coordinates. */
static void sift(const double* points, int* place, int top, int count) {
  for (int child = 2 * top + 1; child < count; child = 2 * top + 1) {
#define AT(k) (points + (size_t)3 * (size_t)place[k])
    if (child + 1 < count && compare(AT(child), AT(child + 1)) < 0) {
      child++;
    }
    if (compare(AT(top), AT(child)) >= 0) {
      return;
    }
#undef AT
    const int swap = place[top];
    place[top] = place[child];
    place[child] = swap;
    top = child;
  }
}

/* first[p]: the smallest index of a point with the same coordinates. */
static bool weld(making_mesh* mesh, const double* points, int* first) {
  int* place = SALTUSI_TAKE(mesh->pool, int, mesh->points);
  if (place == NULL) {
    return false;
  }
  const int count = mesh->points;
  for (int p = 0; p < count; p++) {
    place[p] = p;
  }
  for (int k = count / 2 - 1; k >= 0; k--) {
    sift(points, place, k, count);
  }
  for (int k = count - 1; k > 0; k--) {
    const int swap = place[0];
    place[0] = place[k];
    place[k] = swap;
    sift(points, place, 0, k);
  }
  for (int start = 0; start < count;) {
    int end = start, least = place[start];
    while (end < count && compare(points + (size_t)3 * (size_t)place[start],
                                  points + (size_t)3 * (size_t)place[end]) == 0) {
      least = place[end] < least ? place[end] : least;
      end++;
    }
    for (int k = start; k < end; k++) {
      first[place[k]] = least;
    }
    start = end;
  }
  return true;
}

/* Numbers the vertices that triangles use, in the order of points, and rewrites the triangles. False: out of
 * memory. */
static bool number_vertices(making_mesh* mesh, const double* points, const int* given, int count) {
  int* first = SALTUSI_TAKE(mesh->pool, int, mesh->points);
  int* number = SALTUSI_TAKE(mesh->pool, int, mesh->points);
  mesh->triangle = saltusi_pool_take(mesh->pool, (size_t)count, sizeof mesh->triangle[0]);
  if (mesh->pool->failed || !weld(mesh, points, first)) {
    return false;
  }
  for (int t = 0; t < count; t++) {
    int corner[3];
    for (int k = 0; k < 3; k++) {
      corner[k] = first[given[3 * (size_t)t + (size_t)k]];
    }
    if (corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]) {
      memcpy(mesh->triangle[mesh->triangles++], corner, sizeof corner);
      number[corner[0]] = number[corner[1]] = number[corner[2]] = 1;
    }
  }
  for (int p = 0; p < mesh->points; p++) {
    number[p] = number[p] ? mesh->vertices++ : -1;
  }
  mesh->vertex = saltusi_pool_take(mesh->pool, (size_t)mesh->vertices, sizeof mesh->vertex[0]);
  if (mesh->pool->failed) {
    return false;
  }
  for (int p = 0; p < mesh->points; p++) {
    if (number[p] >= 0) {
      memcpy(mesh->vertex[number[p]], points + (size_t)3 * (size_t)p, sizeof mesh->vertex[0]);
    }
  }
  for (int t = 0; t < mesh->triangles; t++) {
    for (int k = 0; k < 3; k++) {
      mesh->triangle[t][k] = number[mesh->triangle[t][k]];
    }
  }
  return true;
}

static void measure(making_mesh* mesh) {
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < mesh->vertices; v++) {
      low = fmin(low, mesh->vertex[v][k]);
      high = fmax(high, mesh->vertex[v][k]);
    }
    mesh->size = fmax(mesh->size, high - low);
  }
}

/* ------------------------------------------------------------------------------------ triangles --- */

/* Normals by the two longest edges; returns the index of a triangle without area, or -1. */
static int make_normals(making_mesh* mesh) {
  for (int t = 0; t < mesh->triangles; t++) {
    double side[3][3], length[3], longest = 0.0;
    int shortest = 0;
    for (int k = 0; k < 3; k++) {
      saltusi_minus3(mesh->vertex[mesh->triangle[t][(k + 1) % 3]],
                     mesh->vertex[mesh->triangle[t][k]], side[k]);
      length[k] = norm(side[k]);
      longest = fmax(longest, length[k]);
      shortest = length[k] < length[shortest] ? k : shortest;
    }
    saltusi_cross(side[(shortest + 1) % 3], side[(shortest + 2) % 3], mesh->area[t]);
    if (!(norm(mesh->area[t]) > 16.0 * DBL_EPSILON * mesh->size * longest)) {
      return t;
    }
  }
  return -1;
}

static int find(int* face, int t) {
  while (face[t] != t) {
    face[t] = face[face[t]];
    t = face[t];
  }
  return t;
}

/* The corner of a triangle that is not on the edge. */
static int opposite(const making_mesh* mesh, int t, const saltusi_mesh_edge* edge) {
  for (int k = 0; k < 3; k++) {
    const int v = mesh->triangle[t][k];
    if (v != edge->from && v != edge->to) {
      return v;
    }
  }
  return mesh->triangle[t][0];
}

/* Flat, convex or concave; flat edges unite the faces of their triangles. */
static void classify(making_mesh* mesh, saltusi_mesh_edge* edge) {
  if (edge->side[1] < 0) {
    edge->kind = SALTUSI_EDGE_BORDER;
    return;
  }
  const bool first = norm(mesh->area[edge->side[0]]) >= norm(mesh->area[edge->side[1]]);
  const int base = edge->side[first ? 0 : 1], other = edge->side[first ? 1 : 0];
  double n[3], from[3];
  memcpy(n, mesh->area[base], sizeof n);
  unit(n);
  saltusi_minus3(mesh->vertex[opposite(mesh, other, edge)], mesh->vertex[edge->from], from);
  const double height = saltusi_dot3(n, from);
  if (fabs(height) <= 8.0 * DBL_EPSILON * mesh->size &&
      saltusi_dot3(mesh->area[base], mesh->area[other]) > 0.0) {
    edge->kind = SALTUSI_EDGE_FLAT;
    const int a = find(mesh->face, edge->side[0]), b = find(mesh->face, edge->side[1]);
    mesh->face[a < b ? b : a] = a < b ? a : b;
  } else {
    edge->kind = height < 0.0 ? SALTUSI_EDGE_CONVEX : SALTUSI_EDGE_CONCAVE;
  }
}

/* Numbers of faces 0 .. faces - 1 and their normals, for each triangle. */
static bool make_faces(making_mesh* mesh) {
  int* number = SALTUSI_TAKE(mesh->pool, int, mesh->triangles);
  double(*sum)[3] = saltusi_pool_take(mesh->pool, (size_t)mesh->triangles, sizeof sum[0]);
  if (mesh->pool->failed) {
    return false;
  }
  for (int t = 0; t < mesh->triangles; t++) {
    const int root = find(mesh->face, t);
    if (root == t) {
      number[t] = mesh->faces++;
    }
    saltusi_along(1.0, mesh->area[t], sum[root], sum[root]);
  }
  for (int t = 0; t < mesh->triangles; t++) {
    memcpy(mesh->normal[t], sum[find(mesh->face, t)], sizeof mesh->normal[t]);
    unit(mesh->normal[t]);
  }
  for (int t = mesh->triangles - 1; t >= 0; t--) { /* roots come first */
    mesh->face[t] = find(mesh->face, t);
  }
  for (int t = 0; t < mesh->triangles; t++) {
    mesh->face[t] = number[mesh->face[t]];
  }
  return true;
}

/* ------------------------------------------------------------------------------------ edges --- */

static saltus_status refuse_winding(const making_mesh* mesh, const saltusi_face_side* one) {
  const double* a = mesh->vertex[one->low];
  const double* b = mesh->vertex[one->high];
  return saltusi_shape_refuse(mesh->making,
                              "its edge from (%g, %g, %g) to (%g, %g, %g) is in more than two "
                              "triangles, or in two that run the same way along it",
                              a[0], a[1], a[2], b[0], b[1], b[2]);
}

static void add_edge(making_mesh* mesh, const saltusi_face_side* first,
                     const saltusi_face_side* second) {
  saltusi_mesh_edge* edge = &mesh->edge[mesh->edges];
  edge->from = first->forward ? first->low : first->high;
  edge->to = first->forward ? first->high : first->low;
  edge->side[0] = first->face;
  edge->side[1] = second != NULL ? second->face : -1;
  mesh->triangle_edge[first->face][first->place % 3] = mesh->edges;
  if (second != NULL) {
    mesh->triangle_edge[second->face][second->place % 3] = mesh->edges;
  }
  mesh->closed = mesh->closed && second != NULL;
  mesh->edges++;
}

static saltus_status make_edges(making_mesh* mesh) {
  const int count = 3 * mesh->triangles;
  saltusi_face_side* side = SALTUSI_TAKE(mesh->pool, saltusi_face_side, count);
  mesh->edge = SALTUSI_TAKE(mesh->pool, saltusi_mesh_edge, count);
  if (mesh->pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int k = 0; k < count; k++) {
    const int* corner = mesh->triangle[k / 3];
    side[k] = saltusi_side_of(corner[k % 3], corner[(k + 1) % 3], k, k / 3);
  }
  saltusi_sides_sort(side, count);
  mesh->closed = true;
  for (int k = 0; k < count;) {
    int same = 1;
    while (k + same < count && side[k + same].low == side[k].low &&
           side[k + same].high == side[k].high) {
      same++;
    }
    if (same > 2 || (same == 2 && side[k].forward == side[k + 1].forward)) {
      return refuse_winding(mesh, &side[k]);
    }
    const bool swap = same == 2 && !side[k].forward;
    add_edge(mesh, &side[swap ? k + 1 : k], same == 1 ? NULL : &side[swap ? k : k + 1]);
    k += same;
  }
  return SALTUS_OK;
}

/* Directions, in the current axes of vertices and normals. */
static void measure_edges(making_mesh* mesh) {
  for (int e = 0; e < mesh->edges; e++) {
    saltusi_mesh_edge* edge = &mesh->edge[e];
    saltusi_minus3(mesh->vertex[edge->to], mesh->vertex[edge->from], edge->direction);
    edge->length = norm(edge->direction);
    unit(edge->direction);
    saltusi_cross(mesh->normal[edge->side[0]], edge->direction, edge->into[0]);
    unit(edge->into[0]);
    if (edge->side[1] >= 0) {
      saltusi_cross(edge->direction, mesh->normal[edge->side[1]], edge->into[1]);
      unit(edge->into[1]);
    }
  }
}

static bool make_stars(making_mesh* mesh) {
  mesh->star_first = SALTUSI_TAKE(mesh->pool, int, mesh->vertices + 1);
  mesh->star = SALTUSI_TAKE(mesh->pool, int, 2 * mesh->edges);
  mesh->corner = SALTUSI_TAKE(mesh->pool, bool, mesh->vertices);
  mesh->owner = SALTUSI_TAKE(mesh->pool, int, mesh->vertices);
  if (mesh->pool->failed) {
    return false;
  }
  for (int e = 0; e < mesh->edges; e++) {
    mesh->star_first[mesh->edge[e].from + 1]++;
    mesh->star_first[mesh->edge[e].to + 1]++;
  }
  for (int v = 0; v < mesh->vertices; v++) {
    mesh->star_first[v + 1] += mesh->star_first[v];
  }
  for (int e = 0; e < mesh->edges; e++) { /* start indices advance, and are restored afterwards */
    mesh->star[mesh->star_first[mesh->edge[e].from]++] = e;
    mesh->star[mesh->star_first[mesh->edge[e].to]++] = e;
  }
  for (int v = mesh->vertices; v > 0; v--) {
    mesh->star_first[v] = mesh->star_first[v - 1];
  }
  mesh->star_first[0] = 0;
  for (int t = mesh->triangles - 1; t >= 0; t--) {
    for (int k = 0; k < 3; k++) {
      mesh->owner[mesh->triangle[t][k]] = t;
    }
  }
  return true;
}

/* A vertex whose edges are all flat, or whose only two other edges are collinear, has no contacts of its own. */
static void find_corners(making_mesh* mesh) {
  for (int v = 0; v < mesh->vertices; v++) {
    int count = 0;
    const saltusi_mesh_edge* two[2] = {NULL, NULL};
    for (int k = mesh->star_first[v]; k < mesh->star_first[v + 1]; k++) {
      const saltusi_mesh_edge* edge = &mesh->edge[mesh->star[k]];
      if (edge->kind != SALTUSI_EDGE_FLAT) {
        two[count < 2 ? count : 1] = edge;
        count++;
      }
    }
    mesh->corner[v] = count > 0;
    if (count == 2) {
      double from[3], far[3];
      const int a = two[0]->from == v ? two[0]->to : two[0]->from;
      const int b = two[1]->from == v ? two[1]->to : two[1]->from;
      saltusi_minus3(mesh->vertex[b], mesh->vertex[a], far);
      saltusi_minus3(mesh->vertex[v], mesh->vertex[a], from);
      unit(far);
      const double along = saltusi_dot3(far, from);
      saltusi_along(-along, far, from, from);
      mesh->corner[v] = norm(from) > 8.0 * DBL_EPSILON * mesh->size;
    }
  }
}

/* ------------------------------------------------------------------------------------ features --- */

static void make_features(const making_mesh* mesh, double rho, saltusi_feature* feature) {
  for (int v = 0; v < mesh->vertices; v++) {
    feature[v].kind = SALTUSI_FEATURE_POINT;
    feature[v].rho = rho;
    memcpy(feature[v].p, mesh->vertex[v], sizeof feature[v].p);
  }
  saltusi_feature* line = feature + mesh->vertices;
  for (int e = 0; e < mesh->edges; e++) {
    line[e].kind = SALTUSI_FEATURE_LINE;
    line[e].rho = rho;
    memcpy(line[e].p, mesh->vertex[mesh->edge[e].from], sizeof line[e].p);
    memcpy(line[e].a, mesh->edge[e].direction, sizeof line[e].a);
    saltusi_normal_to(line[e].a, line[e].e);
    line[e].size[0] = mesh->edge[e].length;
  }
  saltusi_feature* plane = line + mesh->edges;
  for (int t = mesh->triangles - 1; t >= 0;
       t--) { /* the first triangle of a face is written last */
    saltusi_feature* at = &plane[mesh->face[t]];
    at->kind = SALTUSI_FEATURE_PLANE;
    at->rho = rho;
    memcpy(at->p, mesh->vertex[mesh->triangle[t][0]], sizeof at->p);
    memcpy(at->a, mesh->normal[t], sizeof at->a);
    saltusi_normal_to(at->a, at->e);
  }
}

static void place_all(making_mesh* mesh) {
  for (int v = 0; v < mesh->vertices; v++) {
    const double own[3] = {mesh->vertex[v][0], mesh->vertex[v][1], mesh->vertex[v][2]};
    saltusi_placed_point(&mesh->making->placing, own, mesh->vertex[v]);
  }
  for (int t = 0; t < mesh->triangles; t++) {
    const double own[3] = {mesh->normal[t][0], mesh->normal[t][1], mesh->normal[t][2]};
    saltusi_placed_direction(&mesh->making->placing, own, mesh->normal[t]);
  }
}

static saltus_status finish(making_mesh* mesh, saltusi_shape* out) {
  const int count = mesh->vertices + mesh->edges + mesh->faces;
  saltusi_mesh* made = SALTUSI_TAKE(mesh->pool, saltusi_mesh, 1);
  saltusi_feature* feature = SALTUSI_TAKE(mesh->pool, saltusi_feature, count);
  if (mesh->pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  place_all(mesh);
  measure_edges(mesh);
  make_features(mesh, 0.0, feature);
  saltusi_shape_ball((const double(*)[3])mesh->vertex, mesh->vertices, 0.0, out);
  *made = (saltusi_mesh){.vertices = mesh->vertices,
                         .edges = mesh->edges,
                         .triangles = mesh->triangles,
                         .faces = mesh->faces,
                         .vertex = (const double(*)[3])mesh->vertex,
                         .triangle = (const int(*)[3])mesh->triangle,
                         .triangle_edge = (const int(*)[3])mesh->triangle_edge,
                         .normal = (const double(*)[3])mesh->normal,
                         .face = mesh->face,
                         .edge = mesh->edge,
                         .star_first = mesh->star_first,
                         .star = mesh->star,
                         .corner = mesh->corner,
                         .owner = mesh->owner,
                         .closed = mesh->closed};
  if (!saltusi_mesh_grow_tree(mesh->pool, made)) {
    return SALTUS_ERR_MEMORY;
  }
  out->feature = feature;
  out->stored = count;
  out->features = count + 1;
  out->mesh = made;
  return SALTUS_OK;
}

static saltus_status check_area(making_mesh* mesh) {
  const int flat = make_normals(mesh);
  if (flat < 0) {
    return SALTUS_OK;
  }
  const double* a = mesh->vertex[mesh->triangle[flat][0]];
  const double* b = mesh->vertex[mesh->triangle[flat][1]];
  const double* c = mesh->vertex[mesh->triangle[flat][2]];
  return saltusi_shape_refuse(mesh->making,
                              "its triangle (%g, %g, %g), (%g, %g, %g), (%g, %g, %g) has no area",
                              a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]);
}

static double volume(const making_mesh* mesh) {
  double sum = 0.0;
  for (int t = 0; t < mesh->triangles; t++) {
    double from[3];
    saltusi_minus3(mesh->vertex[mesh->triangle[t][0]], mesh->vertex[0], from);
    sum += saltusi_dot3(from, mesh->area[t]) / 6.0;
  }
  return sum;
}

/* A shape from points and triangles. */
static saltus_status assemble(const saltusi_making* making, const double* points, int point_count,
                              const int* triangles, int triangle_count, saltusi_shape* out) {
  making_mesh mesh = {.making = making, .pool = making->pool, .points = point_count};
  if (!number_vertices(&mesh, points, triangles, triangle_count)) {
    return SALTUS_ERR_MEMORY;
  }
  if (mesh.triangles == 0) {
    return saltusi_shape_refuse(making, "its triangles have no area: corners coincide in all");
  }
  measure(&mesh);
  const size_t count = (size_t)mesh.triangles;
  mesh.area = saltusi_pool_take(mesh.pool, count, sizeof mesh.area[0]);
  mesh.normal = saltusi_pool_take(mesh.pool, count, sizeof mesh.normal[0]);
  mesh.triangle_edge = saltusi_pool_take(mesh.pool, count, sizeof mesh.triangle_edge[0]);
  mesh.face = SALTUSI_TAKE(mesh.pool, int, mesh.triangles);
  if (mesh.pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = check_area(&mesh);
  status = status == SALTUS_OK ? make_edges(&mesh) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (mesh.closed && !(volume(&mesh) > 0.0)) {
    return saltusi_shape_refuse(making,
                                "its triangles face inwards (volume %g): corners have to run "
                                "counter-clockwise seen from outside",
                                volume(&mesh));
  }
  for (int t = 0; t < mesh.triangles; t++) {
    mesh.face[t] = t;
  }
  for (int e = 0; e < mesh.edges; e++) {
    classify(&mesh, &mesh.edge[e]);
  }
  if (!make_faces(&mesh) || !make_stars(&mesh)) {
    return SALTUS_ERR_MEMORY;
  }
  find_corners(&mesh);
  return finish(&mesh, out);
}

static saltus_status make_triangles(const saltusi_making* making, saltusi_shape* out) {
  const saltus_shape_def* def = making->def;
  if (def->points == NULL || def->point_count < 3 || def->triangles == NULL ||
      def->triangle_count < 1) {
    return saltusi_shape_refuse(
        making, "a mesh of %d points and %d triangles: at least 3 points and 1 triangle are needed",
        def->points == NULL ? 0 : def->point_count,
        def->triangles == NULL ? 0 : def->triangle_count);
  }
  if (def->triangle_count > INT_MAX / 8 || def->point_count > INT_MAX / 8) {
    return saltusi_shape_refuse(making, "a mesh of %d points and %d triangles is too large",
                                def->point_count, def->triangle_count);
  }
  for (size_t k = 0; k < 3 * (size_t)def->point_count; k++) {
    if (!isfinite(def->points[k])) {
      return saltusi_shape_refuse(making, "coordinate %d of point %d is %g, not a finite number",
                                  (int)(k % 3) + 1, (int)(k / 3) + 1, def->points[k]);
    }
  }
  for (size_t k = 0; k < 3 * (size_t)def->triangle_count; k++) {
    if (def->triangles[k] < 0 || def->triangles[k] >= def->point_count) {
      return saltusi_shape_refuse(making, "triangle %d names point %d of %d", (int)(k / 3) + 1,
                                  def->triangles[k], def->point_count);
    }
  }
  return assemble(making, def->points, def->point_count, def->triangles, def->triangle_count, out);
}

static saltus_status make_heights(const saltusi_making* making, saltusi_shape* out) {
  const saltus_shape_def* def = making->def;
  const int m = def->columns, n = def->rows;
  if (m < 2 || n < 2 || m > INT_MAX / 16 / n || def->heights == NULL) {
    return saltusi_shape_refuse(making, "a heightfield of %d x %d heights: 2 x 2 at least", m, n);
  }
  for (int k = 0; k < 2; k++) {
    if (!(def->spacing[k] > 0.0) || !isfinite(def->spacing[k])) {
      return saltusi_shape_refuse(making, "spacing %g has to be above zero and finite",
                                  def->spacing[k]);
    }
  }
  const int cells = (m - 1) * (n - 1);
  double(*point)[3] = saltusi_pool_take(making->pool, (size_t)m * (size_t)n, sizeof point[0]);
  int(*triangle)[3] = saltusi_pool_take(making->pool, 2 * (size_t)cells, sizeof triangle[0]);
  if (making->pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int k = 0; k < m * n; k++) {
    if (!isfinite(def->heights[k])) {
      return saltusi_shape_refuse(making, "height %g in column %d of row %d is not a finite number",
                                  def->heights[k], k % m + 1, k / m + 1);
    }
    point[k][0] = k % m * def->spacing[0];
    point[k][1] = k / m * def->spacing[1]; /* NOLINT(bugprone-integer-division): the row */
    point[k][2] = def->heights[k];
  }
  for (int k = 0; k < cells; k++) { /* cut from (i, j) to (i + 1, j + 1) */
    const int at = k / (m - 1) * m + k % (m - 1);
    memcpy(triangle[2 * k], (const int[3]){at, at + 1, at + m + 1}, sizeof triangle[0]);
    memcpy(triangle[2 * k + 1], (const int[3]){at, at + m + 1, at + m}, sizeof triangle[0]);
  }
  return assemble(making, point[0], m * n, triangle[0], 2 * cells, out);
}

saltus_status saltusi_make_mesh(const saltusi_making* making, saltusi_shape* out) {
  assert(making != NULL && out != NULL);
  return making->def->kind == SALTUS_SHAPE_MESH ? make_triangles(making, out)
                                                : make_heights(making, out);
}

bool saltusi_mesh_is_closed(const saltusi_shape* shape) {
  assert(shape != NULL);
  return shape->mesh != NULL && shape->mesh->closed;
}

double saltusi_mesh_touch(const saltusi_shape* shape) {
  assert(shape != NULL);
  return 256.0 * DBL_EPSILON * shape->size;
}
