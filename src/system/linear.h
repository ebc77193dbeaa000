/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * linear.h - the effective mass  A = m M + fv F_v + fq F_q  of a system, factored.
 */
#ifndef SALTUSI_LINEAR_H
#define SALTUSI_LINEAR_H

#include "system/evaluate.h"

typedef struct saltusi_linear {
  double* M;  /* [nv x nv] at the last point */
  double* A;  /* [nv x nv] factored */
  double* J;  /* [nv x nv] F_q or F_v */
  int* pivot; /* [nv] */
  void* own;  /* memory of the system's own linear algebra, which replaces all above */
  bool diagonal;
  bool kept; /* A holds for these coefficients, whatever the point */
  double m, fv, fq;
} saltusi_linear;

void saltusi_linear_layout(saltusi_linear* linear, const saltus_system* sys, saltus_arena* arena);

/* Evaluates and factors A at a point. A system whose M, F_q and F_v are constant is factored again
 * only when the coefficients change. */
saltus_status saltusi_linear_assemble(saltusi_eval* eval, saltusi_linear* linear,
                                      const saltus_point* at, double m, double fv, double fq);

/* x <- A^-1 x */
void saltusi_linear_solve(const saltusi_eval* eval, const saltusi_linear* linear, double* x);

/* When A is diagonal: true, with its inverse in d [nv]. */
bool saltusi_linear_diagonal(const saltusi_eval* eval, const saltusi_linear* linear, double* d);

/* y = M x at the point of the last assemble. */
void saltusi_linear_mass_times(const saltusi_eval* eval, const saltusi_linear* linear,
                               const saltus_point* at, const double* x, double* y);

#endif
