/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope.h - boxes and hulls in body axes: vertices, edges, faces and their adjacency.
 *
 * Numbers of features: vertices from 1, then edges, then faces. A half-space has the number 1, its plane, and no
 * polytope of its own. Loops of faces run counter-clockwise seen from outside; an edge runs from -> to in the loop of
 * its face `left`, and normal(left) x normal(right) points along it.
 */
#ifndef SALTUSI_POLYTOPE_H
#define SALTUSI_POLYTOPE_H

#include "shape/narrow_phase.h"

typedef struct saltusi_edge {
  int from, to;
  int left, right;     /* faces */
  double direction[3]; /* of length 1 */
  double length;       /* m */
  double into[2][3];   /* into the face left and right, away from the edge; of length 1 */
} saltusi_edge;

typedef struct saltusi_face {
  int first, count; /* indices in loop, loop_edge and into */
  double normal[3];
  double offset; /* m, normal . p of the plane */
} saltusi_face;

typedef struct saltusi_polytope {
  int vertices, edges, faces;
  const double (*vertex)[3];
  const saltusi_edge* edge;
  const saltusi_face* face;
  const int* loop;         /* vertices of the faces, face by face */
  const int* loop_edge;    /* from loop[k] to the next of the face */
  const double (*into)[3]; /* of that edge, into the face */
  const int* star_first;   /* [vertices + 1] */
  const int* star;         /* neighbours of vertices */
  const int* star_edge;    /* the edges to them */
  bool box;
  bool placed;    /* the box has axes or a middle other than those of its body */
  double half[3]; /* m, of a box */
  saltusi_placing placing;
} saltusi_polytope;

/* Numbers of features. */
static inline int saltusi_vertex_number(int vertex) {
  return 1 + vertex;
}
static inline int saltusi_edge_number(const saltusi_polytope* polytope, int edge) {
  return 1 + polytope->vertices + edge;
}
static inline int saltusi_face_number(const saltusi_polytope* polytope, int face) {
  return 1 + polytope->vertices + polytope->edges + face;
}

/* Input of a polytope: points in axes of the shape, and loops of faces. */
typedef struct saltusi_solid {
  const double (*point)[3];
  int points;
  const int* loop;
  const int* count; /* [faces] corners of each */
  int faces;
} saltusi_solid;

/* False: no memory (*closed true), or loops that are not closed (*closed false). */
bool saltusi_polytope_assemble(const saltusi_making* making, const saltusi_solid* solid,
                               saltusi_polytope* out, bool* closed);

/* Vertices and faces of the hull of the points of a definition: given as triangles, or coplanar facets are merged. */
saltus_status saltusi_hull_solid(const saltusi_making* making, saltusi_solid* out);

/* Triangles of the faces of a hull for such a definition: consecutive ones (a, b, c), (a, c, d) are one face. NULL: there is
 * no hull, or no memory. */
int* saltusi_hull_triangles(const double* points, int point_count, saltusi_pool* pool, int* count);

/* Unordered facets of a hull: sets of points in any order. hull_qhull.c, or hull_none.c in builds without qhull. */
typedef struct saltusi_facets {
  int count;
  int* first;          /* [count + 1] indices in `point` */
  int* point;          /* indices of given points */
  double (*normal)[3]; /* outward */
} saltusi_facets;
saltus_status saltusi_hull_facets(const saltusi_making* making, saltusi_facets* out);

/* Support vertex in a direction (body axes). `start`: first vertex of the hill climbing. */
int saltusi_polytope_support(const saltusi_polytope* polytope, const double direction[3],
                             int start);

#endif
