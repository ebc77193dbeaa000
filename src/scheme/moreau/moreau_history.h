/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_history.h - velocities and impulses of the last steps of large mechanisms, from which the next are guessed.
 *
 * What joints hold is the mean velocity of a step, and the part of v_k that breaks joints changes its sign from step to
 * step. So means are extrapolated, and plain values where that part is small; what would have been best for the last step is
 * taken for the next. z = (v, P).
 */
#ifndef SALTUSI_MOREAU_HISTORY_H
#define SALTUSI_MOREAU_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Lengths of what is kept, and where the next step starts. */
typedef struct saltusi_history_at {
  int nv, nj;
  double h;
  const double* v0;
} saltusi_history_at;

/* How much a guess knows. */
typedef enum saltusi_guess {
  SALTUSI_GUESS_NOTHING,  /* v_k, no impulses */
  SALTUSI_GUESS_LAST,     /* v_k, the last impulses */
  SALTUSI_GUESS_CONTINUED /* extrapolated */
} saltusi_guess;

/* Doubles of it; all zero: nothing is known. */
size_t saltusi_history_count(int nv, int nj);

/* z [nv + nj] for a step; past: NULL: nothing is known. `most`: how much to make of it. */
saltusi_guess saltusi_history_guess(const double* past, const saltusi_history_at* at,
                                    saltusi_guess most, double* z);

/* z, as it came out of a step of length at->h, in front of what `before` has; may be the same memory. `follows`: the step was
 * one of joints alone. */
void saltusi_history_keep(const double* before, const saltusi_history_at* at, bool follows,
                          const double* z, double* after);

/* In how many parts the next step is to be taken at first; at least 1. */
int saltusi_history_parts(const double* past);
void saltusi_history_set_parts(double* past, int parts);

#endif
