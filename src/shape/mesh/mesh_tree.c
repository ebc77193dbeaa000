/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_tree.c - bounding volume tree of the triangles of a mesh, split at the median of their centres along the
 * longest side: its depth is logarithmic in their number. Built once, since a mesh does not deform.
 */
#include "math/rotation.h"
#include "shape/mesh/mesh.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  LEAF = 4,  /* triangles in a leaf */
  DEPTH = 64 /* of the stack: above the logarithm of any number of triangles */
};

static void box_of(const saltusi_mesh* mesh, int t, double low[3], double high[3]) {
  for (int k = 0; k < 3; k++) {
    const double a = mesh->vertex[mesh->triangle[t][0]][k];
    const double b = mesh->vertex[mesh->triangle[t][1]][k];
    const double c = mesh->vertex[mesh->triangle[t][2]][k];
    low[k] = fmin(a, fmin(b, c));
    high[k] = fmax(a, fmax(b, c));
  }
}

static double middle(const saltusi_mesh* mesh, int t, int axis) {
  return mesh->vertex[mesh->triangle[t][0]][axis] + mesh->vertex[mesh->triangle[t][1]][axis] +
         mesh->vertex[mesh->triangle[t][2]][axis];
}

/* Order of the selection: smaller centres before `half`, larger ones behind it, equal ones by number (Hoare's
 * quickselect). */
static bool before(const saltusi_mesh* mesh, int axis, int a, int b) {
  const double x = middle(mesh, a, axis), y = middle(mesh, b, axis);
  return x != y ? x < y : a < b;
}

static void split(const saltusi_mesh* mesh, int axis, int* order, int count, int half) {
  int low = 0, high = count - 1;
  while (low < high) {
    const int pivot = order[low + (high - low) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (before(mesh, axis, order[i], pivot)) {
        i++;
      }
      while (before(mesh, axis, pivot, order[j])) {
        j--;
      }
      if (i <= j) {
        const int swap = order[i];
        order[i++] = order[j];
        order[j--] = swap;
      }
    }
    if (half <= j) {
      high = j;
    } else if (half >= i) {
      low = i;
    } else {
      return;
    }
  }
}

static void bound(const saltusi_mesh* mesh, const int* order, int count, saltusi_mesh_node* node) {
  for (int k = 0; k < 3; k++) {
    node->low[k] = INFINITY;
    node->high[k] = -INFINITY;
  }
  for (int i = 0; i < count; i++) {
    double low[3], high[3];
    box_of(mesh, order[i], low, high);
    for (int k = 0; k < 3; k++) {
      node->low[k] = fmin(node->low[k], low[k]);
      node->high[k] = fmax(node->high[k], high[k]);
    }
  }
}

bool saltusi_mesh_grow_tree(saltusi_pool* pool, saltusi_mesh* mesh) {
  assert(pool != NULL && mesh != NULL && mesh->triangles > 0);
  int* order = SALTUSI_TAKE(pool, int, mesh->triangles);
  saltusi_mesh_node* node = SALTUSI_TAKE(pool, saltusi_mesh_node, 2 * mesh->triangles);
  if (pool->failed) {
    return false;
  }
  for (int t = 0; t < mesh->triangles; t++) {
    order[t] = t;
  }
  /* ranges still to be built, and the parent whose right child each is; a left child follows its
   * parent */
  struct {
    int first, count, parent;
  } wait[DEPTH];
  int waiting = 0, nodes = 0;
  wait[waiting].first = 0;
  wait[waiting].count = mesh->triangles;
  wait[waiting++].parent = -1;
  while (waiting > 0) {
    waiting--;
    const int first = wait[waiting].first, count = wait[waiting].count;
    const int number = nodes++;
    if (wait[waiting].parent >= 0) {
      node[wait[waiting].parent].right = number;
    }
    bound(mesh, order + first, count, &node[number]);
    node[number].first = first;
    node[number].count = count <= LEAF ? count : 0;
    if (count <= LEAF) {
      continue;
    }
    int axis = 0;
    for (int k = 1; k < 3; k++) {
      axis = node[number].high[k] - node[number].low[k] >
                     node[number].high[axis] - node[number].low[axis]
                 ? k
                 : axis;
    }
    split(mesh, axis, order + first, count, count / 2);
    wait[waiting].first = first + count / 2;
    wait[waiting].count = count - count / 2;
    wait[waiting++].parent = number;
    wait[waiting].first = first;
    wait[waiting].count = count / 2;
    wait[waiting++].parent = -1; /* is number + 1 */
  }
  mesh->node = node;
  mesh->order = order;
  return true;
}

/* Traversal of the boxes that pass a test; children are pushed. */
static int push_children(const saltusi_mesh_node* node, int number, int* stack, int count) {
  stack[count++] = node[number].right;
  stack[count++] = number + 1;
  return count;
}

static bool meet(const double low[3], const double high[3], const double l[3], const double h[3]) {
  for (int k = 0; k < 3; k++) {
    if (!(low[k] <= h[k] && l[k] <= high[k])) {
      return false;
    }
  }
  return true;
}

void saltusi_mesh_within(const saltusi_mesh* mesh, const double low[3], const double high[3],
                         saltusi_mesh_visit visit, void* user) {
  assert(mesh != NULL && low != NULL && high != NULL && visit != NULL);
  int stack[DEPTH + 2], count = 1;
  stack[0] = 0;
  while (count > 0) {
    const int number = stack[--count];
    const saltusi_mesh_node* at = &mesh->node[number];
    if (!meet(at->low, at->high, low, high)) {
      continue;
    }
    if (at->count == 0) {
      count = push_children(mesh->node, number, stack, count);
      continue;
    }
    for (int k = at->first; k < at->first + at->count; k++) {
      double l[3], h[3];
      box_of(mesh, mesh->order[k], l, h);
      if (meet(l, h, low, high)) {
        visit(user, mesh->order[k]);
      }
    }
  }
}

void saltusi_mesh_below(const saltusi_mesh* mesh, const double normal[3], double offset,
                        saltusi_mesh_visit visit, void* user) {
  assert(mesh != NULL && normal != NULL && visit != NULL);
  int stack[DEPTH + 2], count = 1;
  stack[0] = 0;
  while (count > 0) {
    const int number = stack[--count];
    const saltusi_mesh_node* at = &mesh->node[number];
    double least = 0.0;
    for (int k = 0; k < 3; k++) {
      least += normal[k] * (normal[k] > 0.0 ? at->low[k] : at->high[k]);
    }
    if (!(least <= offset)) {
      continue;
    }
    if (at->count == 0) {
      count = push_children(mesh->node, number, stack, count);
      continue;
    }
    for (int k = at->first; k < at->first + at->count; k++) {
      visit(user, mesh->order[k]);
    }
  }
}

/* ------------------------------------------------------------------------------------ nearest --- */

/* Squared distance of p from a box. */
static double gap_to(const saltusi_mesh_node* node, const double p[3]) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    const double d = fmax(0.0, fmax(node->low[k] - p[k], p[k] - node->high[k]));
    sum += d * d;
  }
  return sum;
}

/* The closest point of a triangle and its feature: face, edge k or corner k. */
static void triangle_foot(const saltusi_mesh* mesh, int t, const double p[3], double point[3],
                          int* number) {
  const int* corner = mesh->triangle[t];
  if (saltusi_mesh_over(mesh, t, p, 0.0)) {
    double from[3];
    saltusi_minus3(p, mesh->vertex[corner[0]], from);
    saltusi_along(-saltusi_dot3(mesh->normal[t], from), mesh->normal[t], p, point);
    *number = saltusi_mesh_face_number(mesh, mesh->face[t]);
    return;
  }
  double least = INFINITY;
  for (int k = 0; k < 3; k++) {
    const int e = mesh->triangle_edge[t][k];
    const saltusi_mesh_edge* edge = &mesh->edge[e];
    double from[3], foot[3], d[3];
    saltusi_minus3(p, mesh->vertex[edge->from], from);
    const double u = saltusi_dot3(from, edge->direction);
    int at = saltusi_mesh_edge_number(mesh, e);
    if (u <= 0.0 || u >= edge->length) {
      const int v = u <= 0.0 ? edge->from : edge->to;
      memcpy(foot, mesh->vertex[v], sizeof foot);
      at = 1 + v;
    } else {
      saltusi_along(u, edge->direction, mesh->vertex[edge->from], foot);
    }
    saltusi_minus3(p, foot, d);
    if (saltusi_dot3(d, d) < least) {
      least = saltusi_dot3(d, d);
      memcpy(point, foot, 3 * sizeof *point);
      *number = at;
    }
  }
}

void saltusi_mesh_outward(const saltusi_mesh* mesh, int number, double normal[3]) {
  assert(mesh != NULL && normal != NULL && number >= 1);
  memset(normal, 0, 3 * sizeof *normal);
  if (number > mesh->vertices + mesh->edges) {
    /* zero for faces: the callers use the normal of a triangle of the face */
    return;
  }
  if (number > mesh->vertices) {
    const saltusi_mesh_edge* edge = &mesh->edge[number - 1 - mesh->vertices];
    for (int k = 0; k < 2 && edge->side[k] >= 0; k++) {
      saltusi_along(1.0, mesh->normal[edge->side[k]], normal, normal);
    }
    return;
  }
  const int v = number - 1;
  for (int k = mesh->star_first[v]; k < mesh->star_first[v + 1]; k++) {
    const saltusi_mesh_edge* edge = &mesh->edge[mesh->star[k]];
    const int t = edge->side[edge->from == v ? 0 : 1]; /* the side in which the edge starts at v */
    if (t < 0) {
      continue;
    }
    int place = 0;
    while (mesh->triangle[t][place] != v) {
      place++;
    }
    double u[3], w[3], cross[3];
    saltusi_minus3(mesh->vertex[mesh->triangle[t][(place + 1) % 3]], mesh->vertex[v], u);
    saltusi_minus3(mesh->vertex[mesh->triangle[t][(place + 2) % 3]], mesh->vertex[v], w);
    saltusi_cross(u, w, cross);
    const double angle = atan2(sqrt(saltusi_dot3(cross, cross)), saltusi_dot3(u, w));
    saltusi_along(angle, mesh->normal[t], normal, normal);
  }
}

/* Whether a feature is on the border of an open mesh, beyond which there is no side behind. */
static bool is_border(const saltusi_mesh* mesh, int number) {
  if (number > mesh->vertices + mesh->edges) {
    return false;
  }
  if (number > mesh->vertices) {
    return mesh->edge[number - 1 - mesh->vertices].kind == SALTUSI_EDGE_BORDER;
  }
  bool any = false;
  for (int k = mesh->star_first[number - 1]; k < mesh->star_first[number] && !any; k++) {
    any = mesh->edge[mesh->star[k]].kind == SALTUSI_EDGE_BORDER;
  }
  return any;
}

void saltusi_mesh_nearest(const saltusi_mesh* mesh, const double p[3], saltusi_mesh_foot* out) {
  assert(mesh != NULL && p != NULL && out != NULL);
  int stack[DEPTH + 2], count = 1, triangle = -1;
  double best = INFINITY;
  *out = (saltusi_mesh_foot){.distance = NAN, .number = 0};
  stack[0] = 0;
  while (count > 0) {
    const int number = stack[--count];
    const saltusi_mesh_node* at = &mesh->node[number];
    if (!(gap_to(at, p) < best)) {
      continue;
    }
    if (at->count == 0) { /* the closer child is visited first */
      const int right = at->right, left = number + 1;
      const bool swap = gap_to(&mesh->node[right], p) < gap_to(&mesh->node[left], p);
      stack[count++] = swap ? left : right;
      stack[count++] = swap ? right : left;
      continue;
    }
    for (int k = at->first; k < at->first + at->count; k++) {
      double point[3] = {NAN, NAN, NAN}, d[3];
      int feature = 0;
      triangle_foot(mesh, mesh->order[k], p, point, &feature);
      saltusi_minus3(p, point, d);
      if (saltusi_dot3(d, d) < best) {
        best = saltusi_dot3(d, d);
        triangle = mesh->order[k];
        out->number = feature;
        memcpy(out->point, point, sizeof point);
        memcpy(out->normal, d, sizeof d);
      }
    }
  }
  if (triangle < 0) { /* p is not finite */
    return;
  }
  double outward[3];
  saltusi_mesh_outward(mesh, out->number, outward);
  if (out->number > mesh->vertices + mesh->edges) {
    memcpy(outward, mesh->normal[triangle], sizeof outward);
  }
  const bool above = is_border(mesh, out->number) || saltusi_dot3(out->normal, outward) >= 0.0;
  out->distance = above ? sqrt(best) : -sqrt(best);
  const double length = best > 0.0 ? out->distance : sqrt(saltusi_dot3(outward, outward));
  for (int k = 0; k < 3; k++) { /* outward of the surface, on either side */
    out->normal[k] = (best > 0.0 ? out->normal[k] : outward[k]) / length;
  }
}
