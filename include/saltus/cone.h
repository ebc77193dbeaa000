/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cone.h - contact problems with products of balls: slip, rolling and drilling friction together, dry friction with a
 * given limit, elliptic cones and ellipsoids by scaled rows.
 *
 *   u = W r + q
 *   normal    0 <= u_N perp r_N >= 0
 *   ball k    |r_k| <= mu_k r_N + held_k,  against u_k (largest dissipation);  zero where that is negative
 *
 * With held = 0 it is  u + sum mu_k |u_k| n in K*  perp  r in K,  K = { r_N >= 0, |r_k| <= mu_k r_N }. W need not be
 * symmetric (elliptic cones that are not associated); then there may be no solution.
 */
#ifndef SALTUS_CONE_H
#define SALTUS_CONE_H

#include "saltus/contact.h"

SALTUS_BEGIN_DECLS

enum { SALTUS_BALLS = 3, SALTUS_CONE_ROWS = 6 };

/* Rows: one normal unless `dry`, then those of each ball. At most SALTUS_CONE_ROWS. */
typedef struct saltus_cone {
  int balls;
  int rows[SALTUS_BALLS]; /* 1 to 3 */
  double mu[SALTUS_BALLS];
  double held[SALTUS_BALLS]; /* N s */
  bool dry;                  /* no normal row: mu is not used */
} saltus_cone;

typedef struct saltus_cone_problem {
  int units, rows;
  const saltus_cone* cone; /* [units] */
  const int* offset;       /* [units + 1] first row of each */
  const double* W;         /* [rows x rows] */
  const double* q;         /* [rows] m/s */
} saltus_cone_problem;

/* Number of rows of a cone: 1 for the normal, and those of its balls. */
SALTUS_API int saltus_cone_rows(const saltus_cone* cone);

/* F_N = r_N - max(0, r_N - rho u_N) and F_k = r_k - P(r_k - rho u_k), P the projection onto the ball of the current
 * r_N, rho from the
 * diagonal of W; members as in contact.h. u [rows] is recomputed from r. */
SALTUS_API saltus_residual saltus_cone_residual(const saltus_cone_problem* problem, const double* r,
                                                double* u);

typedef struct saltus_cone_solver saltus_cone_solver;
/* A solver with capacity for this number of units and rows. SALTUS_ERR_MEMORY; *out is NULL then. */
SALTUS_API saltus_status saltus_cone_solver_create(int units, int rows,
                                                   const saltus_allocator* allocator,
                                                   saltus_cone_solver** out);
SALTUS_API void saltus_cone_solver_destroy(saltus_cone_solver* solver);

/* r holds the initial guess (zeros: none) and the solution; u is written. tol: normalised residual. */
SALTUS_API saltus_status saltus_cone_solve(saltus_cone_solver* solver,
                                           const saltus_cone_problem* problem, double tol,
                                           double* r, double* u, saltus_solve_result* result);

SALTUS_END_DECLS

#endif
