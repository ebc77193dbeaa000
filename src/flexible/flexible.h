/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible.h - matrices and meshes of finite elements as they are read, and memory of reduced bodies.
 */
#ifndef SALTUSI_FLEXIBLE_H
#define SALTUSI_FLEXIBLE_H

#include "base/pool.h"
#include "saltus/flexible.h"

/* A symmetric matrix as entries, both triangles. */
typedef struct saltusi_entries {
  int rows;
  int count;
  int *row, *column;
  double* value;
} saltusi_entries;

typedef struct saltusi_mesh_set {
  const char* name;
  int count;
  int* node; /* numbers */
} saltusi_mesh_set;

enum { SALTUSI_FE_CORNERS = 4 };

/* A face of an element by numbers of nodes; the fourth is 0 in triangles. */
typedef struct saltusi_fe_face {
  int corner[SALTUSI_FE_CORNERS], sorted[SALTUSI_FE_CORNERS];
} saltusi_fe_face;

typedef struct saltusi_fe_faces {
  saltusi_fe_face* list; /* from realloc */
  int count, room;
} saltusi_fe_faces;

/* Faces of an element with 4, 6 or 8 corners; false: no memory. */
bool saltusi_fe_faces_add(saltusi_fe_faces* faces, const int* node, int corners);
/* Removes faces that two elements have. */
void saltusi_fe_faces_outer(saltusi_fe_faces* faces);

typedef struct saltusi_fe_mesh {
  int count;
  int* number; /* ascending */
  double* x;   /* [3 count] m */
  saltusi_mesh_set* sets;
  int set_count;
  int (*triangle)[3]; /* [triangles] numbers of nodes of the surface, counter-clockwise */
  int triangles;
} saltusi_fe_mesh;

/* The node and direction (0 to 2) of each row. */
typedef struct saltusi_fe_dof {
  int rows;
  int *node, *direction;
} saltusi_fe_dof;

/* Each reports file and line of a fault. */
saltus_status saltusi_read_matrix(const char* path, saltusi_pool* pool, saltus_log log,
                                  saltusi_entries* out);
saltus_status saltusi_read_dof(const char* path, saltusi_pool* pool, saltus_log log,
                               saltusi_fe_dof* out);
saltus_status saltusi_read_mesh(const char* path, double scale, saltusi_pool* pool, saltus_log log,
                                saltusi_fe_mesh* out);
/* The index of a node number, or -1. */
int saltusi_mesh_node(const saltusi_fe_mesh* mesh, int number);

/* A body with its arrays, zero; NULL: no memory. */
saltus_flexible* saltusi_flexible_make(int modes, int frames, int nodes, int triangles,
                                       bool stiffened);

#endif
