/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * halved_sweeps.h - symmetric sweeps with Nesterov's extrapolation, and projected gradients where
 * they stagnate; for many contacts and loose tolerances.
 */
#ifndef SALTUSI_HALVED_SWEEPS_H
#define SALTUSI_HALVED_SWEEPS_H

#include "solve/gauss_seidel.h"
#include "solve/halves.h"

typedef struct saltusi_halved_settings {
  int iterations; /* at most, to the next multiple of 25 */
  double tol;
  int threads; /* 1 or 2; the same bits */
} saltusi_halved_settings;

/* r holds the first point and the best one found; halves are filled. */
saltusi_stage saltusi_halved_sweeps(saltusi_sweep_work* work, const saltusi_halves* halves,
                                    saltusi_friction_case* in,
                                    const saltusi_halved_settings* settings, double* r);

#endif
