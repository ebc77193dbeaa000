/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible.h - flexible bodies from finite-element matrices: Craig-Bampton reduction to modes with mean axes, and the numbers
 * that a floating frame needs.
 *
 *   x = r + A (s + sum phi_j q_j)        sum m phi_j = 0,  sum m s x phi_j = 0  (mean axes)
 *   T = m |v|^2/2 + w J(q) w/2 + w . sum h_j(q) q_j' + sum q_j'^2/2
 *
 * docs/flexible.md has the formulas, the formats of the files and the body file.
 */
#ifndef SALTUS_FLEXIBLE_H
#define SALTUS_FLEXIBLE_H

#include "saltus/api.h"
#include "saltus/log.h"
#include "saltus/status.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

/* Nodes of a set that move as one rigid piece (interface), or each by itself (contact nodes). */
typedef struct saltus_reduce_frame {
  const char* name;
  const char* set; /* of the mesh: a node set, or the number of one node */
  bool contact;    /* contact nodes, else an interface */
} saltus_reduce_frame;

typedef struct saltus_reduce_def {
  const char* stiffness; /* file .sti of CalculiX, or .mtx of Matrix Market */
  const char* mass;      /* the same: .mas or .mtx */
  const char* dof;       /* "node.direction" of each row */
  const char* mesh;      /* .inp of CalculiX or .msh (2.2) of gmsh: nodes and sets */
  double scale;          /* m for each unit of the mesh; 0: 1 */
  int modes;             /* fixed-interface modes */
  const saltus_reduce_frame* frames;
  int frame_count;
  double damping;         /* ratio of all modes */
  const char* stiffening; /* stiffness of the rotating body; NULL: none */
  double speed, axis[3];  /* its angular velocity, rad/s, and axis */
  saltus_log log;
  const char* still; /* stiffness at rest with the supports of stiffening; NULL: stiffness */
  double below;      /* Hz: modes above are condensed to their static flexibility; 0: none */
  SALTUS_RESERVED(2);
} saltus_reduce_def;

/* A frame of the reduced body: an interface, or a contact node. */
typedef struct saltus_flexible_frame {
  char name[64];
  bool turns;  /* an interface */
  double s[3]; /* m, from the centre of mass */
} saltus_flexible_frame;

/* A reduced body; owns all of its arrays. */
typedef struct saltus_flexible {
  int modes, frames, nodes;
  double mass;         /* kg */
  double centre[3];    /* m, of the mass in the axes of the mesh */
  double C0[9];        /* kg m^2, sum m s s^T */
  const double* C1;    /* [modes x 9] sum m s phi_j^T */
  const double* C2;    /* [modes x modes x 9] sum m phi_j phi_k^T */
  const double* omega; /* [modes] rad/s */
  const double* zeta;  /* [modes] damping ratios */
  /* [modes x modes] geometric stiffness over the square of the speed; NULL: none */
  const double* stiffen;
  double axis[3]; /* of that speed */
  /* [modes x 6] kg and kg m^2: effective masses of the fixed-interface modes, in order; 0: others */
  const double* effective;
  const saltus_flexible_frame* frame; /* [frames] */
  const double* phi;                  /* [frames x 3 x modes] displacement */
  const double* psi;                  /* [frames x 3 x modes] rotation; 0 for contact nodes */
  const double* node;                 /* [nodes x 3] m, from the centre of mass: for drawing */
  const double* shape;                /* [nodes x 3 x modes] */
  const int* triangle; /* [triangles x 3] nodes of the surface, counter-clockwise from outside */
  int triangles;       /* 0: the mesh file has no elements */
  /* [frames x 9] m/N, static flexibility of the modes left out by `below` at contact nodes, sum of phi phi^T/w^2; NULL: 0 */
  const double* residual;
  SALTUS_RESERVED(1);
} saltus_flexible;

/* SALTUS_ERR_INPUT after a message that names file, line and value; SALTUS_ERR_UNSUPPORTED where the library is built
 * without CXSparse or LAPACK. */
SALTUS_API saltus_status saltus_flexible_reduce(const saltus_reduce_def* def,
                                                saltus_flexible** out);
/* HDF5; docs/flexible.md. */
SALTUS_API saltus_status saltus_flexible_save(const saltus_flexible* body, const char* path,
                                              saltus_log log);
SALTUS_API saltus_status saltus_flexible_load(const char* path, saltus_log log,
                                              saltus_flexible** out);
SALTUS_API void saltus_flexible_destroy(saltus_flexible* body); /* NULL: nothing */

SALTUS_END_DECLS

#endif
