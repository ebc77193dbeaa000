/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * planar.h - joints, frictionless contacts and contacts with Coulomb friction in one problem: joints are eliminated, the
 * rest is a linear complementarity problem or one with cones (solve/friction/friction_step.h).
 *
 *   u = W P + rhs
 *   joint            u = 0
 *   contact          0 <= u_N  perp  P_N >= 0
 *   with friction    -u_T in the normal cone of [-mu P_N, mu P_N] at P_T, in space of the disc of radius mu P_N
 *
 * W need not be symmetric: rows may be on another level, or at another stage, than the forces.
 */
#ifndef SALTUSI_PLANAR_H
#define SALTUSI_PLANAR_H

#include "solve/friction/friction_step.h"
#include "solve/lcp/mixed_lcp.h"

typedef struct saltusi_planar_item {
  int row; /* of the joint, or of the normal; rows of tangents follow when it has friction */
  bool bilateral;
  int tangents; /* 0: without friction */
  double mu;
} saltusi_planar_item;

typedef struct saltusi_planar_problem {
  int items;
  const saltusi_planar_item* item;
  int rows;
  const double* W;   /* [rows x rows] */
  const double* rhs; /* [rows] */
} saltusi_planar_problem;

typedef struct saltusi_planar {
  saltusi_mixed_work solver;
  saltusi_friction_step friction;
  int* unknown; /* [rows] index of a row, joints first */
  double* A;    /* [rows x rows] */
  double* b;    /* [rows] */
  double* z;    /* [rows] */
  int* first;   /* [rows + 1] row of each contact */
  double* mu;   /* [rows] */
} saltusi_planar;

/* Capacity: `rows` rows, `bilateral` of them joints, and the number of tangents of contacts with
 * friction. */
void saltusi_planar_layout(saltusi_planar* work, int rows, int bilateral, int tangents,
                           saltus_arena* arena);

/* Whether bilateral rows of the last solution are linearly dependent. */
static inline bool saltusi_planar_dependent(const saltusi_planar* work) {
  return work->solver.block.n > 0 && work->solver.block.rank < work->solver.block.n;
}

/* P [rows] is written when solved. */
saltusi_mixed_outcome saltusi_planar_solve(saltusi_planar* work,
                                           const saltusi_planar_problem* problem, double* P);

/* Largest violation of the law in the unit of u, for rows with W_ii > 0. */
double saltusi_planar_residual(const saltusi_planar_problem* problem, const double* P);

#endif
