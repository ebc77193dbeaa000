/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_matrix.h - the matrix of a complementarity problem in the form of the solvers, and linear systems with one of its
 * principal blocks, M_JJ x = b.
 */
#ifndef SALTUSI_LCP_MATRIX_H
#define SALTUSI_LCP_MATRIX_H

#include "saltus/contact.h"
#include "solve/lcp/lcp_sparse.h"

/* Largest problem treated with dense blocks (4000 rows are 128 MB), and with dense blocks beside
 * sparse ones. */
enum { SALTUSI_LCP_DENSE_MAX = 4000, SALTUSI_LCP_DENSE_TOO = 1500 };

typedef struct saltusi_lcp_matrix {
  int n;
  const double* dense; /* [n x n] row major; NULL: sparse */
  saltus_csr sparse;
  int lower, upper; /* bandwidths; n when dense */
  bool banded;      /* sparse and narrow enough for a banded factorisation */
  bool scattered;   /* sparse, not banded, and large enough for a sparse factorisation */
  bool lean;        /* sparse, without workspace for dense fallbacks */
  bool symmetric;
  bool z_matrix;  /* sparse, positive diagonal, no positive entry beside it */
  double largest; /* largest entry by size; NaN when one is not finite */
} saltusi_lcp_matrix;

/* Looks at the entries. */
saltusi_lcp_matrix saltusi_lcp_matrix_of(const saltus_lcp* problem);

/* to += factor (row i) */
void saltusi_lcp_matrix_add_row(const saltusi_lcp_matrix* M, int i, double factor, double* to);

/* (M z)_i */
double saltusi_lcp_matrix_row(const saltusi_lcp_matrix* M, int i, const double* z);

typedef enum saltusi_lcp_factor_kind {
  SALTUSI_LCP_FACTOR_CHOLESKY,
  SALTUSI_LCP_FACTOR_LU,
  SALTUSI_LCP_FACTOR_BAND,
  SALTUSI_LCP_FACTOR_SPARSE
} saltusi_lcp_factor_kind;

/* Memory of one factored block. */
typedef struct saltusi_lcp_block {
  size_t capacity; /* doubles in values */
  double* values;
  int* pivot; /* [n] */
  int* place; /* [n] index in the block of each row; -1: not in it */
  int count, lower, upper;
  saltusi_lcp_factor_kind kind;
  saltusi_sparse_lu* sparse; /* analysed for the matrix; NULL: not scattered */
} saltusi_lcp_block;

/* Doubles for the factors of the whole matrix; for scattered matrices those of the dense fallback after a zero pivot of
 * the sparse factorisation, or 0 if they are too large for it. */
size_t saltusi_lcp_block_size(const saltusi_lcp_matrix* M);

/* Factors M_JJ for the ascending list J, with added [n] on the diagonal (NULL: nothing). False when
 * it is singular to rounding. */
bool saltusi_lcp_block_factor(saltusi_lcp_block* block, const saltusi_lcp_matrix* M,
                              const int* list, int count, const double* added);

/* x <- block^-1 x, [count] */
void saltusi_lcp_block_solve(const saltusi_lcp_block* block, double* x);

#endif
