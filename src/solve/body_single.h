/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_single.h - contacts of rigid bodies, packed by eight in single precision for sweeps. See body_single.c; the functions are those
 * of body_round.h.
 */
#ifndef SALTUSI_BODY_SINGLE_H
#define SALTUSI_BODY_SINGLE_H

#include "solve/body_groups.h"

/* Where bodies->single.wanted says so, of contacts that body_rigid.c packs. */
bool saltusi_single_pack(const saltusi_friction_case* in);
void saltusi_single_start(const saltusi_friction_case* in, const saltusi_points* points);
double saltusi_single_sweep(const saltusi_friction_case* in, const saltusi_points* points);
void saltusi_single_extrapolate(const saltusi_friction_case* in, const saltusi_points* points);
void saltusi_single_forget(const saltusi_friction_case* in, const saltusi_points* points);
/* Impulses into points->r, with velocities in double precision, from which changes are counted anew. */
void saltusi_single_move(const saltusi_friction_case* in, const saltusi_points* points);
double saltusi_single_miss2(const saltusi_friction_case* in, const saltusi_points* points);
/* The slip multipliers in->slip. */
void saltusi_single_fetch(const saltusi_friction_case* in, const saltusi_points* points);

#endif
