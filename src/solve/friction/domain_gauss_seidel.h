/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * domain_gauss_seidel.h - symmetric sweeps with Nesterov's extrapolation, and projected gradients where
 * they stagnate; for many units and loose tolerances, by any number of threads with the same bits.
 */
#ifndef SALTUSI_DOMAIN_GAUSS_SEIDEL_H
#define SALTUSI_DOMAIN_GAUSS_SEIDEL_H

#include "solve/friction/domain_matrix.h"
#include "solve/friction/gauss_seidel.h"

typedef struct saltusi_domain_settings {
  int iterations; /* at most, to the next multiple of 25 */
  double tol;
} saltusi_domain_settings;

/* r holds the first point and the best one found; the matrix is filled, the case has domains. */
saltusi_stage saltusi_domain_gauss_seidel(saltusi_gauss_seidel_work* work,
                                          const saltusi_domain_matrix* matrix,
                                          saltusi_friction_case* in,
                                          const saltusi_domain_settings* settings, double* r);

#endif
