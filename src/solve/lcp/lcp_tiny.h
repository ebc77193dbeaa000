/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_tiny.h - complementarity problems of a few rows, mixed or not, without a workspace: the setup of the general
 * methods would cost more than the solution.
 */
#ifndef SALTUSI_LCP_TINY_H
#define SALTUSI_LCP_TINY_H

#include "saltus/contact.h"

enum { SALTUSI_LCP_TINY_MAX = 12 };

/* Number of principal pivots, and of those of Lemke's method after them. */
typedef struct saltusi_lcp_tiny_result {
  bool found; /* a complementary basis was found; whether it is a solution, its residual decides */
  int principal, lemke;
} saltusi_lcp_tiny_result;

/* z [n] of a problem of at most SALTUSI_LCP_TINY_MAX rows. */
saltusi_lcp_tiny_result saltusi_lcp_tiny(const saltus_lcp* problem, double* z);

#endif
