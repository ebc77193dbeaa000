/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * proximal.h - the proximal point iteration around the other methods; see proximal.c.
 */
#ifndef SALTUSI_PROXIMAL_H
#define SALTUSI_PROXIMAL_H

#include "solve/friction/interior_point.h"
#include "solve/friction/semismooth_newton.h"

/* Initial weight a relative to the diagonal, for all callers; chosen, since it adapts by factors of 0.4 and 5. */
#define SALTUSI_PROXIMAL_START 0.1

typedef struct saltusi_proximal_work {
  saltusi_friction_case inner;
  double* values; /* of W + a D */
  double* q;      /* [rows] */
  double* next;   /* [rows] */
  double* other;  /* [rows] */
  double* best;   /* [rows] */
  double* u;      /* [rows] */
} saltusi_proximal_work;

/* Sizes from the pattern: the problem is not known when this memory is allocated. */
void saltusi_proximal_layout(saltusi_proximal_work* work, const saltusi_friction_sizes* sizes,
                             saltus_arena* arena);

/* The inner methods. */
typedef struct saltusi_proximal_tools {
  saltusi_gauss_seidel_work* sweep;
  saltusi_newton_work* newton;
  saltusi_interior_work* interior;
  saltusi_block_lu* lu;
} saltusi_proximal_tools;

typedef struct saltusi_proximal_settings {
  int iterations;
  double tol;
  double start;      /* first weight a */
  double cost_limit; /* operations */
} saltusi_proximal_settings;

/* cost: operations spent, added. */
saltusi_stage saltusi_proximal(saltusi_proximal_work* work, const saltusi_proximal_tools* tools,
                               const saltusi_friction_case* in,
                               const saltusi_proximal_settings* settings, double* r, double* cost);

#endif
