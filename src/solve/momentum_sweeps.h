/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * momentum_sweeps.h - Gauss-Seidel sweeps with momentum; see momentum_sweeps.c.
 */
#ifndef SALTUSI_MOMENTUM_SWEEPS_H
#define SALTUSI_MOMENTUM_SWEEPS_H

#include "solve/gauss_seidel.h"

/* Every contact pressed with `level` times its typical impulse, bilateral rows at zero. */
void saltusi_prestress(const saltusi_friction_case* in, double level, double* r);

/* Goes on from r, which is left where the sweeps end; `lowest` [rows] gets the point with the smallest
 * increment, whose residual is returned. */
saltusi_stage saltusi_momentum_sweeps(saltusi_sweep_work* work, saltusi_friction_case* in,
                                      int sweeps, double tol, double* r, double* lowest);

#endif
