/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dependent.h - A x = b for a small square matrix W = G^T M^-1 G whose rows may depend on each other:
 * joints that say the same twice, more supports than a body needs.
 *
 *   S = D A D,  D = diag(|A_ii|^-1/2)          rows and columns of comparable size show the rank
 *   S = L U with complete pivoting             exact zeros, or less than `tiny`, beyond the rank
 *   b loses its part in the left null space    what no x can meet: a contradiction
 *   x has no part in the right null space      least sum of A_ii x_i^2
 *
 * In this metric every multiplier counts with the velocity that it gives to its own row: a constraint
 * multiplied by a number keeps its force, and equal rows carry equal forces.
 */
#ifndef SALTUSI_DEPENDENT_H
#define SALTUSI_DEPENDENT_H

#include <stdbool.h>

typedef struct saltusi_dependent {
  int n;         /* rows of the last matrix */
  int rank;      /* n: they do not depend on each other */
  bool regular;  /* so clearly that rows alone were exchanged, without scales */
  double* LU;    /* [n x n] */
  int* pivot;    /* [2 n] rows, then columns */
  double* scale; /* [n] D */
  double* gram;  /* [n x n] used only between a factorization and the solutions with it */
} saltusi_dependent;

/* Joints whose W loses more digits than this depend on each other: positions that drift by 1e-5 make
 * rows that are one and the same differ by as much, and W by the square of it. */
#define SALTUSI_DEPENDENT 1e-9

/* Factors the first n rows and columns of A, whose rows are `stride` long. False when an entry is not
 * finite. */
bool saltusi_dependent_factor(saltusi_dependent* d, int n, const double* A, int stride);

/* The same for what other rows left of a matrix with the diagonal `size`, by which the rank is measured. A
 * is not needed any more. */
bool saltusi_dependent_factor_beside(saltusi_dependent* d, int n, const double* A,
                                     const double* size);

/* The k-th vector of the right null space, 0 <= k < n - rank, after a factorisation that is not regular. */
void saltusi_dependent_null(const saltusi_dependent* d, int k, double* x);

/* b <- x. */
void saltusi_dependent_solve(const saltusi_dependent* d, double* b);

/* b <- its part in the left null space, zero but for contradictions. */
void saltusi_dependent_miss(const saltusi_dependent* d, double* b);

/* x <- x without its part in the right null space. */
void saltusi_dependent_spread(const saltusi_dependent* d, double* x);

/* The k-th row and column, rank <= k < n, that the others make superfluous. */
int saltusi_dependent_row(const saltusi_dependent* d, int k);
int saltusi_dependent_column(const saltusi_dependent* d, int k);

#endif
