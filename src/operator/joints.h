/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joints.h - redundant joints and inconsistent joints.
 *
 * Linearly dependent rows of G, n^T G = 0, are redundant if n^T g = 0 and n^T (G^T v + b) = 0 hold at every state
 * near the joints. Otherwise no motion reduces these sums, and the joints are inconsistent. Drift off the joints
 * enters quadratically.
 *
 * The test runs for each component of joints that share bodies. The loops of a component form a dense matrix, whose
 * size is limited by memory alone.
 */
#ifndef SALTUSI_JOINTS_H
#define SALTUSI_JOINTS_H

#include "operator/operator.h"

/* Residuals of joints below this, in the units of their rows, are rounding of the caller's numbers: 5000 eps of a
 * metre. It is absolute because coordinates give no length scale (quaternions are 1, positions may be 0). */
#define SALTUSI_CONSISTENT 1e-12

typedef struct saltusi_joints {
  saltusi_linear mass;
  saltusi_operator op; /* of joints alone */
  double* miss;        /* [nj] */
  double* q;           /* [nq] */
  double* x;           /* [nv] positions as velocities */
} saltusi_joints;

/* Inconsistent joints. */
typedef struct saltusi_contradiction {
  enum { SALTUSI_AGREE, SALTUSI_POSITIONS_DISAGREE, SALTUSI_RATES_DISAGREE } kind;
  double miss;  /* largest inconsistent part of a constraint, or of its rate */
  int count;    /* joints named here */
  int joint[4]; /* first inconsistent row of each */
} saltusi_contradiction;

void saltusi_joints_layout(saltusi_joints* joints, const saltusi_eval* eval, saltus_arena* arena);

/* Finds inconsistent joints at a point; SALTUS_RETRY_CAPACITY when memory is short (the demand is left in eval). With
 * rates the velocities are tested too; schemes that enforce joints on the mean of a step omit them. */
saltus_status saltusi_joints_contradict(saltusi_joints* joints, saltusi_eval* eval,
                                        const saltus_point* at, bool rates,
                                        saltusi_contradiction* found);

/* `"rod" and "bar"`, or numbers where joints have no names. */
const char* saltusi_joints_names(const saltus_system* sys, const saltusi_contradiction* found,
                                 char* text, size_t size);

#endif
