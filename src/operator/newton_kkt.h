/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * newton_kkt.h - all bodies and joints of a system as one sparse matrix (math/kkt_factor.h), with the constraint
 * Hessians: the matrix of Newton's method for
 *
 *   A(v) - G P = 0,    G^T v + b = 0          at positions that move by `reach` for each unit of v:
 *
 *   [ A - reach K           -G ]              K   = d(G P)/dq
 *   [ G^T + measured U_q     0 ]              U_q = d(G^T v + b)/dq
 *
 * For systems with joint Hessians by blocks (saltus_system_ops.joint_hessian, .blocks).
 */
#ifndef SALTUSI_NEWTON_KKT_H
#define SALTUSI_NEWTON_KKT_H

#include "math/kkt_factor.h"
#include "system/evaluate.h"

/* Two bodies that A or K couples. */
typedef struct saltusi_coupled {
  int low, high;
  int place; /* among the pairs; -1: not yet */
} saltusi_coupled;

typedef struct saltusi_newton_kkt {
  bool serves;    /* the method applies to the system */
  bool refused;   /* too many loops, or singular joints */
  bool redundant; /* the last rows were linearly dependent: P is not unique, K P no derivative */
  saltusi_kkt_factor saddle;
  int* body_of;  /* [nv] */
  int* local;    /* [nv] */
  int* velocity; /* [nv] */
  int joints; /* segments of joints, with at most as many rows as their smallest body has velocities */
  int* joint_row;         /* [nj] */
  int* joint_rows;        /* [nj] */
  int* joint_at;          /* [nj + 1] */
  int* column;            /* [nj x row_width] */
  int* run;               /* number of consecutive columns from here on of the same body */
  int known;              /* joints of the system that were planned; 0: none */
  bool again;             /* joints were demoted: the plan must be recomputed */
  bool* couples;          /* [joints of the system] */
  int pairs;              /* of the structure, then of joints that couple */
  int* pair;              /* [2 pairs] */
  int sorted;             /* how many pairs are */
  saltusi_coupled* found; /* [sorted] */
  double* values;         /* [values of the structure] */
  double* over;           /* [nv] one over the diagonal of A */
  double* K;              /* [row_width^2] */
  double* U_q;            /* [rows of a joint x row_width] */
} saltusi_newton_kkt;

/* State and coefficients of the linearisation. */
typedef struct saltusi_newton_kkt_at {
  const saltus_point* forces; /* of A = M + fv F_v + fq F_q */
  double fv, fq;
  const saltus_point* joints; /* of rows, by the velocity that they measure */
  const double* P;            /* [nj] */
  double reach, measured;
} saltusi_newton_kkt_at;

/* Whether the method applies: enough joints, and a system with the derivatives that it needs. */
bool saltusi_newton_kkt_serves(const saltus_system* sys);

void saltusi_newton_kkt_layout(saltusi_newton_kkt* l, const saltusi_eval* eval,
                               saltus_arena* arena);

/* Evaluates rows, factors the matrix, and writes diagonal [nj], W as if A were diagonal. SALTUS_RETRY_CAPACITY,
 * SALTUS_RETRY_NAN; with l->refused the method does not apply to the system, with l->redundant not to this
 * configuration. */
saltus_status saltusi_newton_kkt_factor(saltusi_newton_kkt* l, saltusi_eval* eval,
                                        const saltusi_newton_kkt_at* at, saltusi_row_block* rows,
                                        double* diagonal);

/* Fraction of the matrix that depends on bodies whose velocities change by `least` or more in dv [nv]. */
double saltusi_newton_kkt_moved(saltusi_newton_kkt* l, const saltus_structure* structure,
                                const double* dv, double least);

/* Recomputes that share of a factored matrix at another state; A and rows of the other bodies are kept.
 * Status as of saltusi_newton_kkt_factor. */
saltus_status saltusi_newton_kkt_refresh(saltusi_newton_kkt* l, saltusi_eval* eval,
                                         const saltusi_newton_kkt_at* at, saltusi_row_block* rows,
                                         double* diagonal);

/* z [nv + nj] <- the factored matrix^-1 z */
void saltusi_newton_kkt_solve(saltusi_newton_kkt* l, const saltus_dims* dims, double* z);

#endif
