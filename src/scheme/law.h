/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law.h - the one-step law on joints and contacts, on whatever level a scheme needs it.
 *
 *   x = x_free + A^-1 G P,      w = G^T x + ... = W P + rhs,      W = G^T A^-1 G
 *   joints    w = 0             contacts   0 <= w perp P >= 0
 *   with friction     w + mu |w_T| n  in K*  perp  P in K,      K = { |P_T| <= mu P_N }
 *
 * x is a velocity with P an impulse (Moreau, impacts), an acceleration with P a force (contact held
 * by Runge-Kutta stages), or a position with P an impulse times a time (Schatzman-Paoli,
 * projections). Rows are joints first, then contacts; a contact with friction has its tangent rows after
 * its normal row.
 */
#ifndef SALTUSI_LAW_H
#define SALTUSI_LAW_H

#include "solve/friction_step.h"
#include "solve/mixed_lcp.h"
#include "system/linear.h"

/* First guess of P from the memory of the last accepted step; see warm_start.h. */
typedef struct saltusi_warm {
  int each;             /* doubles kept of a contact; 0: every solve starts from zero */
  const double* memory; /* what was kept */
  double factor;        /* impulses of this step over those of the last; 0: there are none */
} saltusi_warm;

typedef struct saltusi_law {
  saltusi_row_block rows; /* [rows + 3]: room to look at a contact before it counts */
  saltusi_mixed_work solver;
  int dense_max; /* rows of the largest dense W */
  double* AinvG; /* [dense_max x nv] row r is A^-1 G_r */
  double* W;     /* [dense_max x dense_max] */
  double* rhs;   /* [rows] */
  double* P;     /* [rows] first guess when warm.each > 0, and the answer */
  saltusi_warm warm;
  double* diagonal; /* [rows] of W */

  /* Many contacts with sparse rows and a diagonal A, a column of balls: W is a narrow band, and
   * everything costs time and room in proportion to the contacts. */
  bool banded;      /* the last operator is one */
  bool unsupported; /* it has no band, and there are too many rows for a dense W */
  double* inverse;  /* [nv] of A */
  saltus_csr band;  /* W */
  int* band_start;  /* [rows + 1] */
  int* band_column;
  double* band_values;
  int* row_start; /* [nv + 1] rows that have a column: where they start in row_list */
  int* row_list;

  bool has_friction; /* there is friction, and memory for it: */
  bool
      blocks; /* the last operator is in the blocks of `friction`: diagonal A, sparse rows, no joints */
  saltusi_friction_step friction;
  int* first;   /* [nc + 1] first row of each contact, counted without the joints */
  double* mu;   /* [nc] */
  double* slip; /* [nc] slip parameters, guessed and found like P */
} saltusi_law;

/* Rows that a contact has in a law with friction: tangents count only where there is friction. */
static inline int saltusi_law_rows(const saltus_contact_law* law) {
  return law->mu > 0.0 ? 1 + law->tangents : 1;
}

void saltusi_law_layout(saltusi_law* law, const saltus_dims* dims, bool convective,
                        saltus_arena* arena);

/* The same with room for the tangents of all contacts with friction. */
void saltusi_law_layout_friction(saltusi_law* law, const saltus_system* sys, bool convective,
                                 saltus_arena* arena);

/* W from the first rows, joints before contacts, and a factored matrix. With friction `first` has to be
 * written before. */
void saltusi_law_operator(saltusi_law* law, const saltusi_eval* eval, const saltusi_linear* linear,
                          int rows);

/* P from W and rhs; joints that depend on each other get impulses of least size, see dependent.h.
 * SALTUS_RETRY_SMALLER when no solution is found, SALTUS_RETRY_NAN when the data are not numbers,
 * SALTUS_ERR_UNSUPPORTED when there are too many contacts without a band. */
saltus_status saltusi_law_solve(saltusi_law* law, saltusi_eval* eval, int joints, int contacts);

/* The same with friction for contacts whose rows and coefficients are in first and mu. */
saltus_status saltusi_law_solve_friction(saltusi_law* law, saltusi_eval* eval, int joints,
                                         int contacts);

/* The same with equality in every row. */
saltus_status saltusi_law_solve_equalities(saltusi_law* law, saltusi_eval* eval, int rows);

/* x += A^-1 G P */
void saltusi_law_apply(const saltusi_law* law, int nv, int rows, double* x);

#endif
