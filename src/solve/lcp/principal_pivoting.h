/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * principal_pivoting.h - block principal pivoting, plain and proximal.
 */
#ifndef SALTUSI_PRINCIPAL_PIVOTING_H
#define SALTUSI_PRINCIPAL_PIVOTING_H

#include "solve/lcp/lcp_run.h"

typedef struct saltusi_pivoting {
  bool shifted;    /* solves with M + diag(room->diagonal) */
  const double* q; /* [n] */
  int stall_limit; /* exchanges of all violated rows without progress before single ones */
  int iterations;  /* at most */
  int done;        /* iterations made */
} saltusi_pivoting;

/* Plain; starts from the guess, or from the rows with q < 0. */
bool saltusi_lcp_run_pivoting(saltusi_lcp_run* run, int stall_limit, int iterations);

/* From room->last, a point of another method near a solution, with its zero entries exact. */
bool saltusi_lcp_run_crossover(saltusi_lcp_run* run);

/* Proximal, for positive semidefinite M. */
bool saltusi_lcp_run_proximal(saltusi_lcp_run* run, int stall_limit);

#endif
