/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_round.h - contacts of balls, packed for sweeps. See body_round.c; momentum is dropped and impulses are fetched as from any
 * groups (body_groups.h).
 */
#ifndef SALTUSI_BODY_ROUND_H
#define SALTUSI_BODY_ROUND_H

#include "solve/body_groups.h"

/* Packs the contacts; false when they are not of this kind. */
bool saltusi_round_pack(const saltusi_friction_case* in);

/* From the impulses points->r, with their velocities in bodies->v and no momentum. What is packed may be kept elsewhere from then
 * on, until fetched. */
void saltusi_round_start(const saltusi_friction_case* in, const saltusi_points* points);

/* One sweep over all contacts; returns the sum of |W_ii (change of r_i)|^2. */
double saltusi_round_sweep(const saltusi_friction_case* in, const saltusi_points* points);

/* r becomes y, with its velocities. */
void saltusi_round_extrapolate(const saltusi_friction_case* in, const saltusi_points* points);

/* Velocities of r computed anew in bodies->v. */
void saltusi_round_move(const saltusi_friction_case* in, const saltusi_points* points);

/* |F / rho|^2 summed, with the velocities in bodies->v. */
double saltusi_round_miss2(const saltusi_friction_case* in, const saltusi_points* points);

#endif
