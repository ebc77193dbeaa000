/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_history.h - velocities and impulses of the last steps of large mechanisms, for the initial guess of the next
 * step.
 *
 * Joints constrain the mean velocity of a step, so that the part of v_k that violates them alternates in sign. The mean
 * velocities are extrapolated therefore, or v_k itself where that part is small. The formula with the smallest error in
 * the last step is used for the next. z = (v, P).
 */
#ifndef SALTUSI_MOREAU_HISTORY_H
#define SALTUSI_MOREAU_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Sizes of the stored data, and the start of the next step. */
typedef struct saltusi_history_at {
  int nv, nj;
  double h;
  const double* v0;
} saltusi_history_at;

/* Kind of an initial guess. */
typedef enum saltusi_guess {
  SALTUSI_GUESS_NOTHING,  /* v_k, no impulses */
  SALTUSI_GUESS_LAST,     /* v_k, the last impulses */
  SALTUSI_GUESS_CONTINUED /* extrapolated */
} saltusi_guess;

/* Doubles of the history; all zero: empty. */
size_t saltusi_history_count(int nv, int nj);

/* Initial guess z [nv + nj] of a step; past NULL: no history. `most`: best kind of guess
 * allowed. */
saltusi_guess saltusi_history_guess(const double* past, const saltusi_history_at* at,
                                    saltusi_guess most, double* z);

/* Stores z of a step of length at->h in front of the history `before`; both may be the same memory.
 * `follows`: the step had joints alone. */
void saltusi_history_keep(const double* before, const saltusi_history_at* at, bool follows,
                          const double* z, double* after);

/* Number of parts in which the next step is taken first; at least 1. */
int saltusi_history_parts(const double* past);
void saltusi_history_set_parts(double* past, int parts);

#endif
