/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * products.h - products of sparse and dense matrices (column major), eigenvalues by LAPACK, Cholesky factors by CXSparse.
 */
#ifndef SALTUSI_FE_PRODUCTS_H
#define SALTUSI_FE_PRODUCTS_H

#include "base/pool.h"

#include <stdbool.h>
#include <suitesparse/cs.h>

double saltusi_fe_dot(int n, const double* a, const double* b);
/* Y = A X */
void saltusi_fe_times(const cs_di* A, int columns, const double* X, double* Y);
/* C [a x b] = A^T B */
void saltusi_fe_gram(int n, int a, const double* A, int b, const double* B, double* C);
/* Y [n x b] = A [n x a] C [a x b] */
void saltusi_fe_combine(int n, int a, const double* A, int b, const double* C, double* Y);
/* Eigenvalues ascending into w, vectors into A; with B the generalised problem. */
bool saltusi_fe_eigen(saltusi_pool* pool, int n, double* A, double* B, double* w);

typedef struct saltusi_fe_factor {
  cs_dis* symbolic;
  cs_din* numeric;
  int n;
} saltusi_fe_factor;

/* Cholesky; false: a pivot is zero to rounding. */
bool saltusi_fe_factor_make(const cs_di* A, saltusi_fe_factor* f);
void saltusi_fe_factor_free(saltusi_fe_factor* f);
void saltusi_fe_factor_solve(const saltusi_fe_factor* f, double* x, double* work);

#endif
