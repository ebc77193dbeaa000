/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * anderson.h - Anderson acceleration of an iteration z <- z + f(z) with an approximate Jacobian, from its
 * last corrections (Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735),
 *
 *   z <- g - sum of gamma_i dg_i,   g = z + f,     gamma: least |f - sum of gamma_i df_i|
 *
 * with dg and df the differences between iterations.
 */
#ifndef SALTUSI_ANDERSON_H
#define SALTUSI_ANDERSON_H

#include "saltus/memory.h"

/* Number of corrections in the acceleration. At the crack of a whip of 100 links 8 corrections need hundreds of
 * iterations, 16 need 60; elsewhere both need 12 to 20. */
enum { SALTUSI_MIXED = 16 };

typedef struct saltusi_anderson {
  int n;                   /* unknowns */
  int measured;            /* number of first components whose f is minimised */
  int depth;               /* corrections in use, SALTUSI_MIXED at most */
  double *last_g, *last_f; /* [n] */
  double *dg, *df;         /* [depth x n] g = z + f */
  double* gram;            /* [depth x depth] products of df */
  double regularisation;   /* added to their diagonal, relative to their trace; 0 after layout */
  int kept;
} saltusi_anderson;

void saltusi_anderson_layout(saltusi_anderson* m, int n, int depth, int measured,
                             saltus_arena* arena);

/* Accelerated z after iteration k = 0, 1, ..., which computed the correction f. */
void saltusi_mix(saltusi_anderson* m, int k, const double* f, double* z);

/* The same from g = z + f, which becomes the accelerated z; f may be weighted. */
void saltusi_mix_points(saltusi_anderson* m, int k, const double* f, double* g);

#endif
