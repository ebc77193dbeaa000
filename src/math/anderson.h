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

/* Number of corrections in the acceleration. At the crack of a whip of 100 links 8 corrections need hundreds of
 * iterations, 16 need 60; elsewhere both need 12 to 20. */
enum { SALTUSI_MIXED = 16 };

typedef struct saltusi_anderson {
  int n;                                     /* unknowns */
  int measured;                              /* number of first components whose f is minimised */
  double *last_z, *last_f;                   /* [n] */
  double *dz, *df;                           /* [SALTUSI_MIXED x n] dz includes df */
  double gram[SALTUSI_MIXED][SALTUSI_MIXED]; /* products of df */
  int kept;
} saltusi_anderson;

void saltusi_anderson_layout(saltusi_anderson* m, int n, int measured, saltus_arena* arena);

/* Accelerated z after iteration k = 0, 1, ..., which computed the correction f. */
void saltusi_mix(saltusi_anderson* m, int k, const double* f, double* z);

#endif
