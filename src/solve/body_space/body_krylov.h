/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_krylov.h - systems (A + G K G^T) x = b in body space without complete factors: GMRES with incomplete factors.
 * See body_krylov.c.
 */
#ifndef SALTUSI_BODY_KRYLOV_H
#define SALTUSI_BODY_KRYLOV_H

#include "solve/body_space/bodies.h"

typedef struct saltusi_body_krylov {
  int bodies, blocks;
  const int* start;     /* [bodies + 1] of saltusi_bodies */
  const int* neighbour; /* [blocks] likewise */
  int* diagonal;        /* [bodies] */
  int* place;           /* [2 units] blocks (first, second) and (second, first) of each contact */
  double* matrix;       /* [blocks] of 6 x 6, each column by column */
  float*
      factor; /* [blocks] of the scaled matrix, columns of SALTUSI_SINGLE_WIDTH, without the diagonal */
  float* inverse; /* [bodies] likewise, inverted diagonal */
  double* scale;  /* [rows] 1 / root of the mass */
  double* basis;  /* [(SALTUSI_KRYLOV_DEPTH + 1) x rows] */
  float*
      /* [SALTUSI_KRYLOV_DEPTH x bodies x SALTUSI_SINGLE_WIDTH] preconditioned basis, scaled */
      direction;
  double* solved; /* [rows] */
} saltusi_body_krylov;

enum { SALTUSI_KRYLOV_DEPTH = 40 };

/* Workspace for so many contacts, bodies and blocks of coupled bodies; and setup for the prepared `b` in that
 * memory. */
void saltusi_krylov_layout(saltusi_body_krylov* k, int units, int bodies, int blocks,
                           saltus_arena* arena);
void saltusi_krylov_prepare(saltusi_body_krylov* k, const saltusi_bodies* b);

/* The matrix with K [units x 9], and its incomplete factors; false: they do not exist. */
bool saltusi_krylov_form(saltusi_body_krylov* k, const saltusi_bodies* b, const double* K);

/* x of (A + G K G^T) x = right, until the residual is at most `part` of the right-hand side in the metric of the
 * masses, or SALTUSI_KRYLOV_DEPTH iterations; returns their number. */
int saltusi_krylov_solve(saltusi_body_krylov* k, const double* right, double part, double* x);

#endif
