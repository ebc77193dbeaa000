/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh.h - meshes and heightfields in body axes: triangles, of which coplanar neighbours form one face; edges,
 * classified as flat, convex, concave or border; and a bounding volume tree of the triangles.
 *
 * Numbers of features: vertices from 1, then edges, then faces (several triangles each). Flat and concave edges are
 * never in contact, nor are vertices in the interior of a face or on a straight ridge.
 */
#ifndef SALTUSI_MESH_H
#define SALTUSI_MESH_H

#include "shape/narrow_phase.h"

typedef enum saltusi_mesh_edge_kind {
  SALTUSI_EDGE_FLAT,
  SALTUSI_EDGE_CONVEX,
  SALTUSI_EDGE_CONCAVE,
  SALTUSI_EDGE_BORDER /* of one triangle only */
} saltusi_mesh_edge_kind;

typedef struct saltusi_mesh_edge {
  int from, to;
  int side[2]; /* triangles; the first runs from -> to; side[1] = -1 at a border */
  saltusi_mesh_edge_kind kind;
  double direction[3]; /* of length 1 */
  double length;
  double into[2][3]; /* into the triangles, away from the edge; of length 1 */
} saltusi_mesh_edge;

/* A node of the tree; children are node + 1 and `right`, or triangles first .. first + count -
 * 1. */
typedef struct saltusi_mesh_node {
  double low[3], high[3];
  int right;
  int first, count; /* count = 0: has children */
} saltusi_mesh_node;

typedef struct saltusi_mesh {
  int vertices, edges, triangles, faces;
  const double (*vertex)[3];
  const int (*triangle)[3];
  const int (*triangle_edge)[3]; /* edge from corner k to the next */
  const double (*normal)[3];     /* of triangles: the normal of their face */
  const int* face;               /* of triangles */
  const saltusi_mesh_edge* edge;
  const int* star_first; /* [vertices + 1] */
  const int* star;       /* edges of vertices */
  const bool* corner;    /* of vertices: can be in contact */
  const int* owner;      /* a triangle of each vertex */
  const saltusi_mesh_node* node;
  const int* order; /* triangles in the order of the tree */
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

/* Coordinates within this distance of a border count as on it: m. */
double saltusi_mesh_touch(const saltusi_shape* shape);

/* Builds the tree in the pool. False: out of memory. */
bool saltusi_mesh_grow_tree(saltusi_pool* pool, saltusi_mesh* mesh);

/* Calls visit for the triangles whose boxes overlap the box. */
typedef void (*saltusi_mesh_visit)(void* user, int triangle);
void saltusi_mesh_within(const saltusi_mesh* mesh, const double low[3], const double high[3],
                         saltusi_mesh_visit visit, void* user);
/* The same for triangles whose box has a point below the plane: normal . p <= offset. */
void saltusi_mesh_below(const saltusi_mesh* mesh, const double normal[3], double offset,
                        saltusi_mesh_visit visit, void* user);

/* The point of the mesh closest to p; the side of p follows from the angle-weighted normal there. If the closest
 * point is on the border of an open mesh, p is not behind. */
typedef struct saltusi_mesh_foot {
  double distance; /* m, negative: behind the surface */
  double point[3];
  double normal[3]; /* from the surface to p, of length 1; for p on the surface that of the
                     * feature */
  int number;       /* of the feature */
} saltusi_mesh_foot;
void saltusi_mesh_nearest(const saltusi_mesh* mesh, const double p[3], saltusi_mesh_foot* out);

/* The angle-weighted normal of a feature (Baerentzen and Aanaes 2005). For a point whose closest feature this is,
 * the sign of its product with the vector to the point gives the side. */
void saltusi_mesh_outward(const saltusi_mesh* mesh, int number, double normal[3]);

/* Data shared by the pairs of one query. X is the other shape; `turned`: the mesh is A. */
typedef struct saltusi_mesh_query {
  const saltusi_two* two;
  const saltusi_shape* shape; /* the mesh */
  const saltusi_mesh* mesh;
  const saltusi_body_pose* at; /* of the mesh */
  const saltusi_shape* X;
  bool turned;
  double R[9], t[3]; /* from axes of X to those of the mesh */
  double reach, sine, touch;
  bool all;    /* every pair that can become active (saltusi_near.all): */
  double wide; /* m, widening of extents for that; else 0 */
  saltusi_candidates* out;
} saltusi_mesh_query;

/* Lists a pair: gap of the skeletons, normal from the mesh to X, and the point of the mesh in
 * its axes. */
void saltusi_mesh_list(const saltusi_mesh_query* ask, int x, int number, double gap,
                       const double normal[3], const double point[3]);

/* From axes of X to those of the mesh. */
void saltusi_mesh_see(const saltusi_mesh_query* ask, const double own[3], double seen[3]);

/* Whether w, of length 1 and outward of a vertex or edge, is in its normal cone widened by the
 * sine. */
bool saltusi_mesh_vertex_cone(const saltusi_mesh* mesh, int vertex, const double w[3], double sine);
bool saltusi_mesh_edge_cone(const saltusi_mesh_edge* edge, const double w[3], double sine);
/* Whether the projection of p is in the triangle, or outside of it by at most `slack`. */
bool saltusi_mesh_over(const saltusi_mesh* mesh, int triangle, const double p[3], double slack);

/* Pairs of a mesh with X, by the kind of X. */
void saltusi_mesh_ball(const saltusi_mesh_query* ask);
void saltusi_mesh_capsule(const saltusi_mesh_query* ask);
void saltusi_mesh_hull(const saltusi_mesh_query* ask);
void saltusi_mesh_plane(const saltusi_mesh_query* ask);
void saltusi_mesh_curved(const saltusi_mesh_query* ask);

/* Guards of a contact point p on a feature of the mesh with normal n, in axes of the mesh; returns their number. */
int saltusi_mesh_place_guards(const saltusi_mesh_query* ask, int number, const double p[3],
                              const double n[3], double slack, double* guard);
int saltusi_mesh_curved_guards(const saltusi_mesh_query* ask, const saltusi_pair* pair, int number,
                               double slack, double guard[SALTUSI_GUARDS]);
/* A pair of features by numbers, as in saltusi_family. */
void saltusi_mesh_pair(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                       saltusi_pair* out);

void saltusi_mesh_query_of(const saltusi_two* two, saltusi_mesh_query* ask);
void saltusi_mesh_separation(const saltusi_two* two, saltusi_separation* out);
int saltusi_mesh_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                        double guard[SALTUSI_GUARDS]);

#endif
