/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joints.h - joints that say the same twice, and joints that contradict each other.
 *
 * Rows of G that depend on each other, n^T G = 0, are harmless as long as the constraints depend in the
 * same way: n^T g = 0 and n^T (G^T v + b) = 0 at every state near the joints. What is left of these sums
 * no motion can take away; that is a contradiction. Drift off the joints enters with its square.
 *
 * Rows are looked at by components of joints that share bodies, whatever their size: loops of one component are a dense
 * matrix, which memory alone limits.
 */
#ifndef SALTUSI_JOINTS_H
#define SALTUSI_JOINTS_H

#include "operator/operator.h"

/* Joints that hold to this, in the units of their rows, are off by rounding of the caller's numbers: 5000 eps of a
 * metre. It does not scale: coordinates say too little about lengths (quaternions are 1, positions may be 0). */
#define SALTUSI_CONSISTENT 1e-12

typedef struct saltusi_joints {
  saltusi_linear mass;
  saltusi_operator op; /* of joints alone */
  double* miss;        /* [nj] */
  double* q;           /* [nq] */
  double* x;           /* [nv] positions as velocities */
} saltusi_joints;

/* Joints that cannot hold together. */
typedef struct saltusi_contradiction {
  enum { SALTUSI_AGREE, SALTUSI_POSITIONS_DISAGREE, SALTUSI_RATES_DISAGREE } kind;
  double miss;  /* largest value of a constraint, or of its rate, that nothing takes away */
  int count;    /* joints named here */
  int joint[4]; /* the first row of each that misses something */
} saltusi_contradiction;

void saltusi_joints_layout(saltusi_joints* joints, const saltusi_eval* eval, saltus_arena* arena);

/* Looks at the joints at a point; SALTUS_RETRY_CAPACITY when there is not enough, which eval then knows. With rates their velocities have to agree as well: schemes that hold
 * joints on the mean of a step need not. */
saltus_status saltusi_joints_contradict(saltusi_joints* joints, saltusi_eval* eval,
                                        const saltus_point* at, bool rates,
                                        saltusi_contradiction* found);

/* `"rod" and "bar"`, or numbers where joints have no names. */
const char* saltusi_joints_names(const saltus_system* sys, const saltusi_contradiction* found,
                                 char* text, size_t size);

#endif
