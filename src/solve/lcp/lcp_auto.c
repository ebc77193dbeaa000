/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_auto.c - the portfolio, cheapest first; measured on the published collections:
 *
 *   up to 12 rows       pivots on the stack, without a guess
 *   chains              active set, monotone sweeps
 *   everything          block principal pivoting
 *   up to 60 rows       Lemke; up to 12 rows all bases
 *   semidefinite        proximal principal pivoting and interior point; large and sparse the other
 *                       way round
 *   more than 60 rows   Lemke
 */
#include "solve/lcp/principal_pivoting.h"

enum {
  SMALL = 60,
  STALL_LIMIT = 10,
  PIVOTS_PER_ROW = 10,
  CHAIN_ITERATIONS = 8,
  INTERIOR_ITERATIONS = 60
};

/* Whether the problem is solved, proved infeasible, or the best residual, also that of the guess, meets the target. */
static bool over(const saltusi_lcp_run* run) {
  return run->solved || run->none || run->residual <= run->target;
}

/* Large sparse problems with their bilateral rows kept. Problems that are small enough for elimination of these rows
 * have only one cheap trial here. */
static void solve_kept(saltusi_lcp_run* run) {
  saltusi_lcp_run_pivoting(run, STALL_LIMIT, 25 + run->M->n / 20);
  if (run->quick || over(run)) {
    return;
  }
  saltusi_lcp_run_interior(run, INTERIOR_ITERATIONS);
  if (!over(run)) {
    saltusi_lcp_run_proximal(run, STALL_LIMIT);
  }
  /* without a solution proximal points diverge, along a direction that proves it */
  if (!over(run)) {
    run->none = saltusi_lcp_run_proves_none(run, run->room->last);
  }
}

static void solve(saltusi_lcp_run* run) {
  int n = run->M->n;
  if (run->bilateral > 0) {
    solve_kept(run);
    return;
  }
  if (saltusi_lcp_run_is_chain(run)) {
    saltusi_lcp_run_chain(run, CHAIN_ITERATIONS);
    if (over(run)) {
      return;
    }
  }
  saltusi_lcp_run_pivoting(run, STALL_LIMIT, n <= SMALL ? 10 + n : 25 + n / 20);
  if (!over(run) && n <= SMALL) {
    saltusi_lcp_run_lemke(run, PIVOTS_PER_ROW);
  }
  if (!over(run)) {
    saltusi_lcp_run_enumerate(run);
  }
  /* packings are more redundant than dense problems; the interior point is faster there */
  for (int k = 0; k < 2 && !over(run); k++) {
    if ((k == 0) == run->M->scattered) {
      saltusi_lcp_run_interior(run, INTERIOR_ITERATIONS);
    } else {
      saltusi_lcp_run_proximal(run, STALL_LIMIT);
    }
  }
  if (!over(run) && n > SMALL) {
    saltusi_lcp_run_lemke(run, PIVOTS_PER_ROW);
  }
}

const saltusi_lcp_ops saltusi_lcp_auto = {
    .info = {.name = "auto",
             .summary = "active set, principal pivoting, Lemke and all bases, cheapest first",
             .source = "see the individual solvers"},
    .tiny = true,
    .keeps = true,
    .solve = solve,
};
