/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * anderson.h - Anderson acceleration of an iteration z <- z + f(z) with an approximate Jacobian, from its
 * last corrections (Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735),
 *
 *   z <- z + f - sum of gamma_i (dz_i + df_i),     gamma: least |f - sum of gamma_i df_i|
 *
 * with dz and df the differences between iterations.
 */
#ifndef SALTUSI_ANDERSON_H
#define SALTUSI_ANDERSON_H

#include "saltus/memory.h"

/* Corrections that are mixed. A chain of 100 links at the crack of its whip, where 8 need hundreds of
 * iterations, takes 60 with 16; elsewhere 12 to 20 with either. */
enum { SALTUSI_MIXED = 16 };

typedef struct saltusi_anderson {
  int n;                                     /* unknowns */
  int measured;                              /* the first ones, whose f is made small */
  double *last_z, *last_f;                   /* [n] */
  double *dz, *df;                           /* [SALTUSI_MIXED x n] dz with df in it */
  double gram[SALTUSI_MIXED][SALTUSI_MIXED]; /* products of df */
  int kept;
} saltusi_anderson;

void saltusi_anderson_layout(saltusi_anderson* m, int n, int measured, saltus_arena* arena);

/* z after iteration k = 0, 1, ..., which found the correction f. */
void saltusi_mix(saltusi_anderson* m, int k, const double* f, double* z);

#endif
