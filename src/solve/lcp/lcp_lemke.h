/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_lemke.h - Lemke's method with lexicographic ties for dense linear complementarity problems.
 *
 *   0 <= w = M z + q   perp   z >= 0
 */
#ifndef SALTUSI_LCP_LEMKE_H
#define SALTUSI_LCP_LEMKE_H

#include "saltus/memory.h"

#include <stdbool.h>

typedef enum saltusi_lcp_outcome {
  SALTUSI_LCP_SOLVED,
  SALTUSI_LCP_RAY,  /* ended on a ray: no solution for the usual classes of M */
  SALTUSI_LCP_LIMIT /* limit of pivots reached, or the result does not satisfy the problem */
} saltusi_lcp_outcome;

typedef struct saltusi_lcp_result {
  saltusi_lcp_outcome outcome;
  int pivots;
  double residual; /* max |min(z, w)| of the scaled problem: unit diagonal, largest |q| = 1 */
} saltusi_lcp_result;

/* Workspace for problems of up to n unknowns. */
typedef struct saltusi_lcp_work {
  int n_max;
  int first;        /* attempt at which saltusi_lcp_lemke begins; zero by the layout */
  double* scale;    /* [n] 1 / sqrt(M_ii) */
  double* M;        /* [n x n] scaled */
  double* q;        /* [n] scaled */
  double* z;        /* [n] scaled answer */
  double* best;     /* [n] best scaled solution so far */
  double* inverse;  /* [n x n] of the basis */
  double* value;    /* [n] of the basic variables */
  double* column;   /* [n] entering column, B^-1 a */
  double* entering; /* [n] the same before B^-1 */
  double* block;    /* [n x n] active block, for the last solve */
  int* basis;       /* [n] i: w_i, n + i: z_i, 2 n: z_0 */
  int* pivot;       /* [n] */
} saltusi_lcp_work;

void saltusi_lcp_layout(saltusi_lcp_work* work, int n_max, saltus_arena* arena);

/* M is n x n row major; z is written when the outcome is SALTUSI_LCP_SOLVED. */
saltusi_lcp_result saltusi_lcp_lemke(saltusi_lcp_work* work, int n, const double* M,
                                     const double* q, double* z);

/* The same in steps, for a portfolio. Attempts differ in tolerances and covering vector. */
enum { SALTUSI_LEMKE_ATTEMPTS = 8 };

/* Scales the problem into the workspace; solutions are in units of the returned size times work->scale. */
double saltusi_lemke_start(saltusi_lcp_work* work, int n, const double* M, const double* q);

/* At most `most` pivots. Solved: work->z holds the scaled solution; on a ray its direction. */
saltusi_lcp_outcome saltusi_lemke_attempt(saltusi_lcp_work* work, int n, int attempt, int most,
                                          int* pivots);

/* Whether the ray y in work->z shows that there is no solution (Farkas): y >= 0, M^T y <= 0 and
 * q^T y < 0 contradict M z + q >= 0, z >= 0 whatever the class of M. With a margin for rounding: any solution would be
 * 1e10 times larger than |q| / M_ii. */
bool saltusi_lemke_ray_proves(const saltusi_lcp_work* work, int n);

#endif
