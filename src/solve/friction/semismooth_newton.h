/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * semismooth_newton.h - Newton's method on the Alart-Curnier function; see semismooth_newton.c.
 */
#ifndef SALTUSI_SEMISMOOTH_NEWTON_H
#define SALTUSI_SEMISMOOTH_NEWTON_H

#include "math/block_lu.h"
#include "solve/friction/gauss_seidel.h"

typedef struct saltusi_newton_work {
  double* u;           /* [rows] */
  double* phi;         /* [rows] */
  double* dr;          /* [rows] */
  double* next;        /* [rows] */
  double* next_u;      /* [rows] */
  double* best;        /* [rows] */
  double* by_impulse;  /* [units x 9] d phi / d r of contacts */
  double* by_velocity; /* [units x 9] d phi / d u of contacts */
} saltusi_newton_work;

void saltusi_newton_layout(saltusi_newton_work* work, int units, int rows, saltus_arena* arena);

typedef struct saltusi_newton_settings {
  int iterations;
  double tol;
  double softness;  /* first alpha; 0: 1e-8, for starts close to the solution */
  int trial;        /* ends after this number of steps without sufficient decrease; 0: never */
  int deeper;       /* additional steps below the tolerance, of body_proximal.h */
  bool no_pivoting; /* a matrix that requires pivoting counts as singular */
} saltusi_newton_settings;

saltusi_stage saltusi_semismooth_newton(saltusi_newton_work* work, saltusi_block_lu* lu,
                                        const saltusi_friction_case* in,
                                        const saltusi_newton_settings* settings, double* r);

#endif
