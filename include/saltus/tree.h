/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree.h - joint coordinates: the bodies of a mechanism as trees of joints, with a velocity for each degree of freedom of
 * a joint in place of six for each body and rows for each joint.
 *
 *   q    that of the bodies: poses and angles of joints, docs/bodies.md
 *   v    rates of joints, and x', y', z', wx, wy, wz of bodies without a joint to an earlier one
 *
 * Joints outside of the spanning tree, drives, limits, shapes and forces are those of the mechanism. docs/trees.md has the
 * formulas.
 */
#ifndef SALTUS_TREE_H
#define SALTUS_TREE_H

#include "saltus/api.h"
#include "saltus/body.h"

SALTUS_BEGIN_DECLS

/* A force along the angle or position of a revolute or prismatic joint by this coordinate and its rate. */
typedef struct saltus_tree_law {
  int joint; /* of the mechanism; saltus_tree_takes holds */
  /* force [N m or N], and its derivatives by x and rate */
  void (*evaluate)(const void* self, double t, double x, double rate, double out[3]);
  const void* self;
} saltus_tree_law;

typedef struct saltus_tree_def {
  /* Its system may not be used any more: springs, dampers and actuators of joints in the tree become generalized forces. */
  saltus_mechanism* mechanism;
  const saltus_system*
      system;       /* ? that of the mechanism; with further forces and rows by formula */
  const double* q0; /* ? that of the mechanism; on the joints */
  const double* v0; /* ? that of the mechanism */
  saltus_log log;
  const saltus_allocator* allocator; /* NULL: the C library */
  const saltus_tree_law*
      laws; /* have to outlive the tree; their forces are not among those of `system` */
  int law_count;
  SALTUS_RESERVED(2);
} saltus_tree_def;

typedef struct saltus_tree saltus_tree;

/* SALTUS_ERR_UNSUPPORTED with a message for systems with coordinates other than those of bodies, or flexible bodies. */
SALTUS_API saltus_status saltus_tree_create(const saltus_tree_def* def, saltus_tree** out);
SALTUS_API void saltus_tree_destroy(saltus_tree* tree);

/* Whether a joint is revolute or prismatic and becomes a coordinate of a tree of the mechanism. */
SALTUS_API bool saltus_tree_takes(const saltus_mechanism* mechanism, int joint);

/* Valid as long as the tree. */
SALTUS_API const saltus_system* saltus_tree_system(const saltus_tree* tree);
SALTUS_API const double* saltus_tree_q0(const saltus_tree* tree); /* [nq] */
SALTUS_API const double* saltus_tree_v0(const saltus_tree* tree); /* [nv] */

/* Row of the system of bodies that is a row of the joints of this system. */
SALTUS_API int saltus_tree_joint_row(const saltus_tree* tree, int row);

/* Velocities of the bodies in the order of the mechanism [its nv], from v [nv] at q. */
SALTUS_API void saltus_tree_body_velocities(const saltus_tree* tree, const double* q,
                                            const double* v, double* bodies);
/* Their accelerations from v' [nv]. SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_tree_body_accelerations(const saltus_tree* tree, double t,
                                                        const double* q, const double* v,
                                                        const double* dv, double* bodies);
/* Rates v [nv] of joints from velocities of bodies that satisfy the joints. */
SALTUS_API void saltus_tree_rates(const saltus_tree* tree, const double* q, const double* bodies,
                                  double* v);

/* Multipliers of all joint rows of the mechanism's system [its nj] at accelerations v' [nv]: forces of joints in the tree
 * follow from the balance of the bodies. applied: forces on the bodies beyond those of the system, such as contact
 * forces, [nv of the mechanism]; NULL: none. lambda: forces of the rows of this system [nj]; NULL: it has none.
 * SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_tree_joint_forces(const saltus_tree* tree, const saltus_point* at,
                                                  const double* dv, const double* applied,
                                                  const double* lambda, double* forces);

SALTUS_END_DECLS

#endif
