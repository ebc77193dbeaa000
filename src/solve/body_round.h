/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_round.h - contacts of balls, packed for sweeps. See body_round.c.
 */
#ifndef SALTUSI_BODY_ROUND_H
#define SALTUSI_BODY_ROUND_H

#include "solve/friction_case.h"

#include <stdbool.h>

/* Packs the contacts; false when they are not of this kind. */
bool saltusi_round_pack(const saltusi_friction_case* in);

/* One sweep over all contacts from r, whose velocities are in bodies->v; both are changed. Returns the sum of
 * |W_ii (change of r_i)|^2. */
double saltusi_round_sweep(const saltusi_friction_case* in, double* r);

/* v += A^-1 G_i d of a packed contact. */
void saltusi_round_push(const saltusi_friction_case* in, int i, const double* d);

/* |F / rho|^2 summed, velocities of r computed anew in bodies->v. */
double saltusi_round_miss2(const saltusi_friction_case* in, const double* r);

#endif
