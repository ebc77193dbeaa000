/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * load_distribution.h - the solution of statically indeterminate contact problems: the limit of vanishing equal
 * compliance (docs/solvers/indeterminate.md).
 *
 *   (W + eps D) r + q = u,   u and r by the law of the contacts,   eps -> 0+
 *   D: equal in all rows of contacts, W_kk in rows of joints
 *
 * If the active rows are linearly dependent, the forces of rigid contacts are not unique, and with friction neither are
 * the velocities. The limit is unique, independent of order and start, and symmetric if the problem is.
 *
 * Every solver of a contact problem uses these two functions:
 *
 *   degree = saltusi_dependent_rows(&work, m);     work.S: W of the m active rows of its solution
 *   if (degree > 0) saltusi_load_distribution_solve(&work, &problem, r);
 *
 * Contact problems in `saltusi_friction_step` and frictionless ones in `saltusi_lcp_step` are solved to this limit when
 * `distributes` is set; that is all that a scheme has to do.
 */
#ifndef SALTUSI_LOAD_DISTRIBUTION_H
#define SALTUSI_LOAD_DISTRIBUTION_H

#include "saltus/memory.h"

#include <stdbool.h>

/* Islands of up to 200 contacts with three rows each. */
enum { SALTUSI_DISTRIBUTED_ROWS = 600 };

typedef struct saltusi_load_distribution {
  int rows_max;
  int degree; /* linearly dependent active rows of the last problem */
  double*
      S; /* [rows_max x max(rows_max, 4)] W of the active rows; overwritten by its Cholesky factor */
  int* lead;       /* [rows_max] first entry of each row of S */
  double* vectors; /* [4 x rows_max] */
} saltusi_load_distribution;

/* rows: of the largest problem; larger ones than SALTUSI_DISTRIBUTED_ROWS keep the solution of their solver. */
void saltusi_load_distribution_layout(saltusi_load_distribution* work, int rows,
                                      saltus_arena* arena);

/* Number of rows of S [m x m], symmetric, that depend linearly on rows before them. */
int saltusi_dependent_rows(saltusi_load_distribution* work, int m);

/* A problem as the caller solves it. */
typedef struct saltusi_compliant_problem {
  int rows;
  double accepted; /* residual at eps = 0 of a solution */
  void* user;
  /* (W + eps D) r + q - eps D from; from NULL: zero. r: initial guess and solution; false: not solved. */
  bool (*solve)(void* user, double eps, const double* from, double* r);
  double (*residual)(void* user, const double* r); /* at eps = 0 */
} saltusi_compliant_problem;

/* r: a solution on input, the limit on output; false: r is unchanged. */
bool saltusi_load_distribution_solve(saltusi_load_distribution* work,
                                     const saltusi_compliant_problem* problem, double* r);

/* r: nearly a solution; a solution with the same distribution on output, without a component in the null space beyond that
 * of r; false: not found, r is overwritten. work->vectors [0 .. rows) are not used. */
bool saltusi_load_distribution_keep(saltusi_load_distribution* work,
                                    const saltusi_compliant_problem* problem, double* r);

#endif
