/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * gauss_seidel.h - sweeps of exact one-contact solves, with or without Anderson acceleration.
 */
#ifndef SALTUSI_GAUSS_SEIDEL_H
#define SALTUSI_GAUSS_SEIDEL_H

#include "math/anderson.h"
#include "solve/friction/friction_case.h"

enum { SALTUSI_ANDERSON_DEPTH = 5 };

typedef struct saltusi_gauss_seidel_work {
  double* u;      /* [rows] */
  double* before; /* [rows] first the point before an iteration, then its scaled increment f */
  double* after;  /* [rows] the point after the iteration */
  saltusi_anderson mixing; /* its arrays serve other iterations as well */
} saltusi_gauss_seidel_work;

void saltusi_gauss_seidel_layout(saltusi_gauss_seidel_work* work, int rows, saltus_arena* arena);

typedef struct saltusi_gauss_seidel_settings {
  int sweeps; /* at most */
  double tol;
  bool anderson;
} saltusi_gauss_seidel_settings;

/* Outcome of a stage of any algorithm. */
typedef struct saltusi_stage {
  int iterations;
  double residual; /* normalised, of the point it leaves behind */
} saltusi_stage;

/* One forward iteration; returns |increment / rho| / |q|, an estimate of the residual before it. */
double saltusi_sweep(saltusi_friction_case* in, double* r);

saltusi_stage saltusi_gauss_seidel(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                   const saltusi_gauss_seidel_settings* settings, double* r);

#endif
