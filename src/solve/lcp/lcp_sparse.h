/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_sparse.h - sparse LU of any principal block of one matrix. Ordering and symbolic
 * factorization are done once for the whole matrix; a block omits rows and has a subset of the fill. Nothing
 * is allocated after the analysis. Pivots stay on the diagonal, which is stable for positive definite
 * matrices, symmetric or not; callers check the residual.
 */
#ifndef SALTUSI_LCP_SPARSE_H
#define SALTUSI_LCP_SPARSE_H

#include "base/pool.h"
#include "saltus/contact.h"

typedef struct saltusi_sparse_lu {
  int n;                           /* 0: nothing was analysed */
  int *start, *column;             /* the analysed pattern, for comparison */
  int *order, *rank;               /* [n] row at each position, and its inverse */
  int *lower_start, *lower_column; /* rows of L in the order, columns ascending */
  int *upper_start, *upper_column; /* rows of U without the diagonal */
  double *lower, *upper;
  double* pivot; /* [n] reciprocals */
  double* row;   /* [n] zero between calls */
} saltusi_sparse_lu;

/* Everything in the pool; SALTUS_ERR_MEMORY. */
saltus_status saltusi_sparse_lu_analyse(saltusi_sparse_lu* lu, const saltus_csr* M,
                                        saltusi_pool* pool);

/* Whether M has the pattern that was analysed. */
bool saltusi_sparse_lu_matches(const saltusi_sparse_lu* lu, const saltus_csr* M);

/* Factors M_JJ, J the rows with place >= 0, with added [n] on the diagonal (NULL: nothing). False
 * when a pivot is rounding. */
bool saltusi_sparse_lu_factor(saltusi_sparse_lu* lu, const saltus_csr* M, const int* place,
                              const double* added);

/* x [count] <- M_JJ^-1 x; entry place[i] belongs to row i. */
void saltusi_sparse_lu_solve(saltusi_sparse_lu* lu, const int* place, double* x);

#endif
