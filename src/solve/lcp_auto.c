/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_auto.c - the portfolio, cheapest first; measured on the published collections:
 *
 *   chains              active set, monotone sweeps
 *   everything          block principal pivoting
 *   up to 60 rows       Lemke; up to 12 rows all bases
 *   semidefinite        proximal principal pivoting
 *   more than 60 rows   Lemke
 */
#include "solve/principal_pivoting.h"

enum { SMALL = 60, PATIENCE = 10, PIVOTS_PER_ROW = 10, CHAIN_ITERATIONS = 8 };

static bool over(const saltusi_lcp_run* run) {
  return run->solved || run->none;
}

static void solve(saltusi_lcp_run* run) {
  int n = run->M->n;
  if (saltusi_lcp_run_is_chain(run)) {
    saltusi_lcp_run_chain(run, CHAIN_ITERATIONS);
    if (over(run)) {
      return;
    }
  }
  saltusi_lcp_run_pivoting(run, PATIENCE, n <= SMALL ? 10 + n : 25 + n / 20);
  if (!over(run) && n <= SMALL) {
    saltusi_lcp_run_lemke(run, PIVOTS_PER_ROW);
  }
  if (!over(run)) {
    saltusi_lcp_run_enumerate(run);
  }
  if (!over(run)) {
    saltusi_lcp_run_proximal(run, PATIENCE);
  }
  if (!over(run) && n > SMALL) {
    saltusi_lcp_run_lemke(run, PIVOTS_PER_ROW);
  }
}

const saltusi_lcp_ops saltusi_lcp_auto = {
    .info = {.name = "auto",
             .summary = "active set, principal pivoting, Lemke and all bases, cheapest first",
             .source = "see the single solvers"},
    .solve = solve,
};
