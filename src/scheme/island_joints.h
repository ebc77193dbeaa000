/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_joints.h - an island (operator.h) with its joints eliminated, for a law of contacts:
 *
 *   W_c = W_cc - W_cj W_jj^-1 W_jc,    u_c = b_c - W_cj W_jj^-1 b_j,    P_j = -W_jj^-1 (b_j + W_jc P_c)
 */
#ifndef SALTUSI_ISLAND_JOINTS_H
#define SALTUSI_ISLAND_JOINTS_H

#include "operator/operator.h"

typedef struct saltusi_island_joints {
  double* LU; /* [nj x nj] */
  double* gram;
  double* scale;  /* [nj] */
  double* answer; /* [nj x (rows + 1)] W_jj^-1 times columns, then b */
  int* pivot;     /* [2 nj] */
} saltusi_island_joints;

/* rows: of contacts, at most. */
void saltusi_island_joints_layout(saltusi_island_joints* joints, int nj, int rows,
                                  saltus_arena* arena);

/* Rows of joints of an island. */
static inline int saltusi_island_joint_rows(const saltusi_law_island* in) {
  return in->joints > 0 ? in->offset[in->joints] - in->offset[0] : 0;
}

/* W [rows x rows] and u [rows] of its contacts; false if the terms of the joints are not finite. */
bool saltusi_island_joints_hold(saltusi_island_joints* joints, const saltusi_law_island* in,
                                double* W, double* u);

/* P of the contacts and the reactions of the joints, into the island. */
void saltusi_island_joints_answer(const saltusi_island_joints* joints, const saltusi_law_island* in,
                                  const double* P);

#endif
