/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * linear.h - the effective mass  A = m M + fv F_v + fq F_q  of a system, factored: dense, by the structure
 * that the system declares (linear_blocks.h), or by the system itself.
 */
#ifndef SALTUSI_LINEAR_H
#define SALTUSI_LINEAR_H

#include "system/linear_blocks.h"

/* Storage of the matrix. */
typedef enum saltusi_linear_kind {
  SALTUSI_LINEAR_DENSE,
  SALTUSI_LINEAR_BLOCKS, /* by the structure of the system */
  SALTUSI_LINEAR_OWN     /* the system */
} saltusi_linear_kind;

typedef struct saltusi_linear {
  saltusi_linear_kind kind;
  double* M;       /* [nv x nv] at the last point */
  double* A;       /* [nv x nv] factored */
  double* J;       /* [nv x nv] F_q or F_v */
  int* pivot;      /* [nv] */
  void* own;       /* memory of the system's own linear algebra */
  double* inverse; /* [nv] inverse of a diagonal matrix of the system */
  saltusi_linear_blocks blocks;
  bool diagonal;
  bool kept; /* A is valid for these coefficients at every point */
  double m, fv, fq;
} saltusi_linear;

void saltusi_linear_layout(saltusi_linear* linear, const saltus_system* sys, saltus_arena* arena);

/* Evaluates and factors A at a point. A system whose M, F_q and F_v are constant is factored again
 * only when the coefficients change. */
saltus_status saltusi_linear_renew(saltusi_eval* eval, saltusi_linear* linear,
                                   const saltus_point* at, double m, double fv, double fq);
static inline saltus_status saltusi_linear_assemble(saltusi_eval* eval, saltusi_linear* linear,
                                                    const saltus_point* at, double m, double fv,
                                                    double fq) {
  if (linear->kept && linear->m == m && linear->fv == fv && linear->fq == fq) {
    return SALTUS_OK;
  }
  return saltusi_linear_renew(eval, linear, at, m, fv, fq);
}

/* Whether A is dense, written by one callback, and of bodies with many coordinates: flexible ones, whose F_v and F_q vary
 * little in a step and cost more than the forces. */
bool saltusi_linear_smooth(const saltus_system* sys);
/* M at a point, for saltusi_linear_mass_times; the factors of such a system stay. */
saltus_status saltusi_linear_renew_mass(saltusi_linear* linear, const saltus_system* sys,
                                        const saltus_point* at);

/* x <- A^-1 x */
void saltusi_linear_solve(const saltusi_eval* eval, const saltusi_linear* linear, double* x);

/* When A is diagonal: true, with its inverse in d [nv]. */
bool saltusi_linear_diagonal(const saltusi_eval* eval, const saltusi_linear* linear, double* d);

/* False: the assembled A couples only velocities of one block of the structure; true: those of blocks that
 * pairs join, or all where there is no structure. */
bool saltusi_linear_coupled(const saltusi_linear* linear);

/* A^-1 times a row with `width` entries in ascending columns; NULL: one entry for each velocity. Writes the columns,
 * ascending, and the values of all structurally nonzero entries: the blocks of the row and all blocks coupled to them
 * by pairs. Returns their number, at most saltusi_linear_row_workspace. */
int saltusi_linear_solve_row(const saltusi_eval* eval, const saltusi_linear* linear, int width,
                             const int* column, const double* entries, int* out_column,
                             double* out);
int saltusi_linear_row_workspace(const saltusi_linear* linear, const saltus_system* sys, int width);

/* y = M x at the point of the last assemble. */
void saltusi_linear_mass_times(const saltusi_eval* eval, const saltusi_linear* linear,
                               const saltus_point* at, const double* x, double* y);

#endif
