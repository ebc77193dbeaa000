/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_proximal.h - the augmented Lagrangian in velocities of bodies; see body_proximal.c.
 */
#ifndef SALTUSI_BODY_PROXIMAL_H
#define SALTUSI_BODY_PROXIMAL_H

#include "solve/friction/semismooth_newton.h"

/* On in->bodies from r, which gets the best point. Iterations are factorisations; gives up if the first `trial` of
 * them gain nothing. */
saltusi_stage saltusi_body_proximal(saltusi_newton_work* work, saltusi_gauss_seidel_work* sweep,
                                    saltusi_block_lu* lu, saltusi_friction_case* in,
                                    const saltusi_newton_settings* settings, double* r);

/* P(x), normal part positive, tangents in a disc of the given radius, and D = dP/dx if not NULL; follows: mu if the
 * radius is mu times the normal part, negative: a joint, P = x. */
void saltusi_disc_project(double radius, double follows, const double* x, double* p, double* D);

#endif
