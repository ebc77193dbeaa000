/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * accelerated_gauss_seidel.h - Gauss-Seidel sweeps with momentum; see accelerated_gauss_seidel.c.
 */
#ifndef SALTUSI_ACCELERATED_GAUSS_SEIDEL_H
#define SALTUSI_ACCELERATED_GAUSS_SEIDEL_H

#include "solve/friction/gauss_seidel.h"

/* State of an iteration that can be resumed. */
typedef struct saltusi_iterate_candidate {
  double* r;   /* [rows] */
  double* age; /* [units] of the momentum */
} saltusi_iterate_candidate;

/* Initial guess: every contact with `level` times its typical impulse as preload, bilateral rows at zero. */
void saltusi_candidate_press(saltusi_iterate_candidate* candidate, const saltusi_friction_case* in,
                             double level);

/* Initial guess: `part` times the impulses `from` [rows]. */
void saltusi_candidate_start(saltusi_iterate_candidate* candidate, const saltusi_friction_case* in,
                             double part, const double* from);

/* Continues the iteration of the candidate; `lowest` [rows] gets the point with the smallest increment, whose residual
 * is returned. */
saltusi_stage saltusi_accelerated_gauss_seidel(saltusi_gauss_seidel_work* work,
                                               saltusi_friction_case* in, int sweeps, double tol,
                                               saltusi_iterate_candidate* candidate,
                                               double* lowest);

#endif
