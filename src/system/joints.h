/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joints.h - joints that say the same twice, and joints that contradict each other.
 *
 * Rows of G that depend on each other, n^T G = 0, are harmless as long as the constraints depend in the
 * same way: n^T g = 0 and n^T (G^T v + b) = 0 at every state near the joints. What is left of these sums
 * no motion can take away; that is a contradiction. Drift off the joints enters with its square.
 *
 * Only rows that G^T M^-1 G connects can depend on each other, so they are looked at in groups. Groups of
 * more than a few thousand rows are not looked at: their matrix would not fit.
 */
#ifndef SALTUSI_JOINTS_H
#define SALTUSI_JOINTS_H

#include "math/dependent.h"
#include "system/linear.h"

typedef struct saltusi_joints {
  saltusi_linear mass;
  saltusi_row_block rows; /* [nj] */
  int most;               /* rows of the largest group that is looked at */
  saltusi_dependent factor;
  double* W;        /* [most x most] G^T M^-1 G of a group */
  double* miss;     /* [most] */
  double* value;    /* [2 x nj] constraints, then their rates */
  double* column;   /* [nv] M^-1 G of a row, zero in between */
  double* response; /* [nv] the same, sparse */
  int* response_at; /* [nv] */
  int* joined;      /* [nv] velocities that rows connect */
  int* group_of;    /* [nv], then [nj] of rows */
  int* group_start; /* [nj + 1] */
  int* member;      /* [nj] rows by group */
} saltusi_joints;

/* Joints that cannot hold together. */
typedef struct saltusi_contradiction {
  enum { SALTUSI_AGREE, SALTUSI_POSITIONS_DISAGREE, SALTUSI_RATES_DISAGREE } kind;
  double miss; /* largest value of a constraint, or of its rate, that nothing takes away */
  int count;   /* joints named here */
  int joint[4];
} saltusi_contradiction;

void saltusi_joints_layout(saltusi_joints* joints, const saltus_system* sys, saltus_arena* arena);

/* Looks at the joints at a point. With rates their velocities have to agree as well: schemes that hold
 * joints on the mean of a step need not. */
saltus_status saltusi_joints_contradict(saltusi_joints* joints, saltusi_eval* eval,
                                        const saltus_point* at, bool rates,
                                        saltusi_contradiction* found);

/* `"rod" and "bar"`, or numbers where joints have no names. */
const char* saltusi_joints_names(const saltus_system* sys, const saltusi_contradiction* found,
                                 char* text, size_t size);

#endif
