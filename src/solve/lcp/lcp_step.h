/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_step.h - the complementarity problem of one time step: workspace from an arena for every size up to the largest,
 * dense or with a narrow band, solved by the portfolio of lcp_auto.c. Nothing is
 * allocated in a solve.
 *
 *   0 <= w = M z + q   perp   z >= 0
 *
 * Problems are scaled to a unit diagonal and a unit right-hand side first, so that one set of
 * tolerances serves inertias of 1e-9 and of 1e9.
 */
#ifndef SALTUSI_LCP_STEP_H
#define SALTUSI_LCP_STEP_H

#include "solve/lcp/lcp_run.h"
#include "solve/load_distribution.h"

/* Largest problem with dense matrices in a step, and widest band of larger ones. */
enum { SALTUSI_STEP_DENSE_MAX = 1500, SALTUSI_STEP_BAND = 4, SALTUSI_STEP_ENTRIES = 9 };

typedef struct saltusi_lcp_step {
  int n_max;
  int iterations; /* of the last solve: factorisations or pivots */
  saltusi_lcp_workspace dense;
  saltusi_lcp_workspace band;
  double* scale;  /* [n] 1 / sqrt(M_ii) */
  double* M;      /* [n x n] scaled; NULL when n_max is too large */
  double* q;      /* [n] scaled */
  double* z;      /* [n] scaled: initial guess and solution */
  double* values; /* [9 n] scaled entries of a band */
  bool
      distributes; /* of the caller: statically indeterminate problems have the limit of load_distribution.h */
  saltusi_load_distribution load;
} saltusi_lcp_step;

/* dense_max: largest dense problem, at most SALTUSI_STEP_DENSE_MAX. */
void saltusi_lcp_step_layout(saltusi_lcp_step* step, int n_max, int dense_max, saltus_arena* arena);

/* Each returns whether z is a solution to rounding. z holds the initial guess, which is used unless the residual of
 * zero is smaller. */
bool saltusi_lcp_step_dense(saltusi_lcp_step* step, int n, const double* M, const double* q,
                            double* z);
bool saltusi_lcp_step_banded(saltusi_lcp_step* step, const saltus_csr* M, const double* q,
                             double* z);

#endif
