/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elliptic.h - elliptic functions and integrals, for the analytic solutions of pendulums and tops.
 *
 *   K = int_0^(pi/2) d / sqrt(1 - m sin^2)        Pi(n; a) = int_0^a d / ((1 - n sin^2) sqrt(1 - m sin^2))
 *
 * The parameter m is given as mc = 1 - m, which is exact where m is near 1. 0 < mc.
 */
#ifndef SALTUSI_ELLIPTIC_H
#define SALTUSI_ELLIPTIC_H

/* Complete integral of the first kind. */
double saltusi_elliptic_k(double mc);

/* Jacobi's functions of u; am is the amplitude, which grows with u. */
typedef struct saltusi_jacobi {
  double am, sn, cn, dn;
} saltusi_jacobi;
saltusi_jacobi saltusi_jacobi_of(double u, double mc);

/* Incomplete integral of the third kind at any amplitude; n < 1. */
double saltusi_elliptic_pi(double n, double amplitude, double mc);

#endif
