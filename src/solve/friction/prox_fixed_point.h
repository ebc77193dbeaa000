/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * prox_fixed_point.h - methods that need no more than W r: the fixed point on the proximal
 * equations, for comparison, and accelerated projected gradients, for very many contacts.
 */
#ifndef SALTUSI_PROX_FIXED_POINT_H
#define SALTUSI_PROX_FIXED_POINT_H

#include "solve/friction/gauss_seidel.h"

saltusi_stage saltusi_prox_fixed_point(saltusi_gauss_seidel_work* work,
                                       const saltusi_friction_case* in, int iterations, double tol,
                                       double* r);

/* `sweeps` Gauss-Seidel sweeps after every hundred gradient steps; 0: none. */
saltusi_stage saltusi_projected_gradient(saltusi_gauss_seidel_work* work, saltusi_friction_case* in,
                                         int iterations, int sweeps, double tol, double* r);

#endif
