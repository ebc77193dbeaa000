/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * momentum_sweeps.h - Gauss-Seidel sweeps with momentum; see momentum_sweeps.c.
 */
#ifndef SALTUSI_MOMENTUM_SWEEPS_H
#define SALTUSI_MOMENTUM_SWEEPS_H

#include "solve/gauss_seidel.h"

/* Where a run is, so that it can go on later. */
typedef struct saltusi_candidate {
  double* r;   /* [rows] */
  double* age; /* [units] of the momentum */
} saltusi_candidate;

/* A start with every contact pressed by `level` times its typical impulse, bilateral rows at zero. */
void saltusi_candidate_press(saltusi_candidate* candidate, const saltusi_friction_case* in,
                             double level);

/* A start from `part` of the impulses `from` [rows]. */
void saltusi_candidate_start(saltusi_candidate* candidate, const saltusi_friction_case* in,
                             double part, const double* from);

/* Goes on with the candidate; `lowest` [rows] gets the point with the smallest increment, whose residual
 * is returned. */
saltusi_stage saltusi_momentum_sweeps(saltusi_sweep_work* work, saltusi_friction_case* in,
                                      int sweeps, double tol, saltusi_candidate* candidate,
                                      double* lowest);

#endif
