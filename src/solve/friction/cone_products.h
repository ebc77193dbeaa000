/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cone_products.h - solver of saltus/cone.h on memory of the caller's.
 */
#ifndef SALTUSI_CONE_PRODUCTS_H
#define SALTUSI_CONE_PRODUCTS_H

#include "saltus/cone.h"
#include "solve/friction/circular_cones.h"

typedef struct saltusi_balls {
  int units_max, rows_max;
  double* u;     /* [rows] */
  double* phi;   /* [rows] */
  double* next;  /* [rows] */
  double* best;  /* [rows] */
  double* J;     /* [rows x rows] */
  double* by_r;  /* [rows x SALTUS_CONE_ROWS] d phi / d r of the own unit */
  double* by_u;  /* the same by u */
  int* pivot;    /* [rows] */
  double factor; /* of every rho */
  int iterations;
  saltusi_circular_cones circular;
} saltusi_balls;

/* dependent: problems with linearly dependent rows are solved by the portfolio of circular cones as well. */
void saltusi_balls_layout(saltusi_balls* work, int units, int rows, bool dependent,
                          saltus_arena* arena);

/* Solves from the initial guess in r, which gets the solution; returns its normalised residual. u is in work->u. */
double saltusi_balls_solve(saltusi_balls* work, const saltus_cone_problem* problem, double tol,
                           double* r);

#endif
