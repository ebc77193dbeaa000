/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * momentum_sweeps.h - Gauss-Seidel sweeps with momentum; see momentum_sweeps.c.
 */
#ifndef SALTUSI_MOMENTUM_SWEEPS_H
#define SALTUSI_MOMENTUM_SWEEPS_H

#include "solve/gauss_seidel.h"

/* Where a run is, so that it can go on later. */
typedef struct saltusi_racer {
  double* r;   /* [rows] */
  double* age; /* [units] of the momentum */
} saltusi_racer;

/* A start with every contact pressed by `level` times its typical impulse, bilateral rows at zero. */
void saltusi_racer_press(saltusi_racer* racer, const saltusi_friction_case* in, double level);

/* A start from `part` of the impulses `from` [rows]. */
void saltusi_racer_start(saltusi_racer* racer, const saltusi_friction_case* in, double part,
                         const double* from);

/* Goes on with the racer; `lowest` [rows] gets the point with the smallest increment, whose residual
 * is returned. */
saltusi_stage saltusi_momentum_sweeps(saltusi_sweep_work* work, saltusi_friction_case* in,
                                      int sweeps, double tol, saltusi_racer* racer, double* lowest);

#endif
