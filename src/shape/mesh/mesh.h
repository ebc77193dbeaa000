/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh.h - meshes and heightfields in body axes: triangles of which coplanar neighbours are one face, edges by what they
 * are for what touches them, and a tree of boxes that finds triangles.
 *
 * Numbers of features: vertices from 1, then edges, then faces (several triangles each). Flat and concave edges are
 * never touched, nor are vertices that lie in a face or on a straight ridge.
 */
#ifndef SALTUSI_MESH_H
#define SALTUSI_MESH_H

#include "shape/narrow_phase.h"

typedef enum saltusi_mesh_edge_kind {
  SALTUSI_EDGE_FLAT,
  SALTUSI_EDGE_CONVEX,
  SALTUSI_EDGE_CONCAVE,
  SALTUSI_EDGE_BORDER /* one triangle alone */
} saltusi_mesh_edge_kind;

typedef struct saltusi_mesh_edge {
  int from, to;
  int side[2]; /* triangles; the first runs from -> to; side[1] = -1 at a border */
  saltusi_mesh_edge_kind kind;
  double direction[3]; /* of length 1 */
  double length;
  double into[2][3]; /* into the triangles, away from the edge; of length 1 */
} saltusi_mesh_edge;

/* Triangles of one box of the tree; children are node + 1 and `right`, or triangles first .. first + count - 1. */
typedef struct saltusi_mesh_node {
  double low[3], high[3];
  int right;
  int first, count; /* count = 0: has children */
} saltusi_mesh_node;

typedef struct saltusi_mesh {
  int vertices, edges, triangles, faces;
  const double (*vertex)[3];
  const int (*triangle)[3];
  const int (*triangle_edge)[3]; /* from corner k to the next */
  const double (*normal)[3];     /* of triangles: that of their face */
  const int* face;               /* of triangles */
  const saltusi_mesh_edge* edge;
  const int* star_first; /* [vertices + 1] */
  const int* star;       /* edges of vertices */
  const bool* corner;    /* of vertices: can be touched */
  const int* owner;      /* a triangle of each vertex */
  const saltusi_mesh_node* node;
  const int* order; /* triangles as the tree has them */
  bool closed;
} saltusi_mesh;

/* Every edge has a triangle on each side: the mesh has a volume. */
bool saltusi_mesh_is_closed(const saltusi_shape* shape);

static inline int saltusi_mesh_edge_number(const saltusi_mesh* mesh, int edge) {
  return 1 + mesh->vertices + edge;
}
static inline int saltusi_mesh_face_number(const saltusi_mesh* mesh, int face) {
  return 1 + mesh->vertices + mesh->edges + face;
}

/* Coordinates within this of a border count as on it: m. */
double saltusi_mesh_touch(const saltusi_shape* shape);

/* The tree, made in the pool. False: no memory. */
bool saltusi_mesh_grow_tree(saltusi_pool* pool, saltusi_mesh* mesh);

/* Calls visit for triangles whose boxes meet the box. */
typedef void (*saltusi_mesh_visit)(void* user, int triangle);
void saltusi_mesh_within(const saltusi_mesh* mesh, const double low[3], const double high[3],
                         saltusi_mesh_visit visit, void* user);
/* The same for those with a point below the plane: normal . p <= offset. */
void saltusi_mesh_below(const saltusi_mesh* mesh, const double normal[3], double offset,
                        saltusi_mesh_visit visit, void* user);

/* The point of the mesh that is nearest to p; which side p is on comes from the angle-weighted normal there. Where that
 * point is on the border of an open mesh p is not behind. */
typedef struct saltusi_mesh_foot {
  double distance; /* m, negative: behind the surface */
  double point[3];
  double normal[3]; /* from the surface to p, of length 1; on the surface that of the feature */
  int number;       /* of the feature */
} saltusi_mesh_foot;
void saltusi_mesh_nearest(const saltusi_mesh* mesh, const double p[3], saltusi_mesh_foot* out);

/* The angle-weighted normal of a feature (Baerentzen and Aanaes 2005): its product with a vector to a point whose
 * nearest feature this is says on which side the point is. */
void saltusi_mesh_outward(const saltusi_mesh* mesh, int number, double normal[3]);

/* What the pairs of one query share. X touches the mesh; `turned`: the mesh is A. */
typedef struct saltusi_mesh_query {
  const saltusi_two* two;
  const saltusi_shape* shape; /* the mesh */
  const saltusi_mesh* mesh;
  const saltusi_body_pose* at; /* of the mesh */
  const saltusi_shape* X;
  bool turned;
  double R[9], t[3]; /* from axes of X to those of the mesh */
  double reach, sine, touch;
  bool all;    /* every pair that can come to touch (saltusi_near.all): */
  double wide; /* m, by which extents are widened for that; else 0 */
  saltusi_candidates* out;
} saltusi_mesh_query;

/* Lists a pair; gap of skeletons, normal from the mesh to X and the point of the mesh in its axes. */
void saltusi_mesh_list(const saltusi_mesh_query* ask, int x, int number, double gap,
                       const double normal[3], const double point[3]);

/* From axes of X to those of the mesh. */
void saltusi_mesh_see(const saltusi_mesh_query* ask, const double own[3], double seen[3]);

/* Whether w, from a vertex or edge outward, is in its cone of normals widened by the sine; w of length 1. */
bool saltusi_mesh_vertex_cone(const saltusi_mesh* mesh, int vertex, const double w[3], double sine);
bool saltusi_mesh_edge_cone(const saltusi_mesh_edge* edge, const double w[3], double sine);
/* Whether the foot of p is in the triangle, or outside of it by no more than `slack`. */
bool saltusi_mesh_over(const saltusi_mesh* mesh, int triangle, const double p[3], double slack);

/* Pairs of what X is with a mesh. */
void saltusi_mesh_ball(const saltusi_mesh_query* ask);
void saltusi_mesh_capsule(const saltusi_mesh_query* ask);
void saltusi_mesh_hull(const saltusi_mesh_query* ask);
void saltusi_mesh_plane(const saltusi_mesh_query* ask);
void saltusi_mesh_curved(const saltusi_mesh_query* ask);

/* Guards of a place p on a feature of the mesh that is touched along n, in its axes; how many. */
int saltusi_mesh_place_guards(const saltusi_mesh_query* ask, int number, const double p[3],
                              const double n[3], double slack, double* guard);
int saltusi_mesh_curved_guards(const saltusi_mesh_query* ask, const saltusi_pair* pair, int number,
                               double slack, double guard[SALTUSI_GUARDS]);
/* One pair of numbers, as saltusi_family has it. */
void saltusi_mesh_pair(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                       saltusi_pair* out);

void saltusi_mesh_query_of(const saltusi_two* two, saltusi_mesh_query* ask);
void saltusi_mesh_separation(const saltusi_two* two, saltusi_separation* out);
int saltusi_mesh_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                        double guard[SALTUSI_GUARDS]);

#endif
