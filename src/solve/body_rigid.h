/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_rigid.h - contacts of rigid bodies of any form, packed for sweeps. See body_rigid.c; the functions are those of
 * body_round.h.
 */
#ifndef SALTUSI_BODY_RIGID_H
#define SALTUSI_BODY_RIGID_H

#include "solve/body_round.h"

/* Whether A^-1 and rows of all contacts are those of rigid bodies. */
bool saltusi_rigid_serves(const saltusi_bodies* bodies);
bool saltusi_rigid_pack(const saltusi_friction_case* in);
void saltusi_rigid_start(const saltusi_friction_case* in, const saltusi_points* points);
double saltusi_rigid_sweep(const saltusi_friction_case* in, const saltusi_points* points);
void saltusi_rigid_extrapolate(const saltusi_friction_case* in, const saltusi_points* points);
void saltusi_rigid_move(const saltusi_friction_case* in, const saltusi_points* points);
double saltusi_rigid_miss2(const saltusi_friction_case* in, const saltusi_points* points);
/* and the slip multipliers in->slip */
void saltusi_rigid_fetch(const saltusi_friction_case* in, const saltusi_points* points);

#endif
