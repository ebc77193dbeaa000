/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * float_kernel.h - contacts of rigid bodies, packed by eight in single precision for Gauss-Seidel. See
 * float_kernel.c; the functions are those of sphere_kernel.h.
 */
#ifndef SALTUSI_FLOAT_KERNEL_H
#define SALTUSI_FLOAT_KERNEL_H

#include "solve/body_space/body_groups.h"

/* If bodies->single.wanted is set, for contacts that rigid_kernel.c packs. */
bool saltusi_float_pack(const saltusi_friction_case* in);
void saltusi_float_start(const saltusi_friction_case* in, const saltusi_group_points* points);
double saltusi_float_iteration(const saltusi_friction_case* in, const saltusi_group_points* points);
void saltusi_float_extrapolate(const saltusi_friction_case* in, const saltusi_group_points* points);
void saltusi_float_forget(const saltusi_friction_case* in, const saltusi_group_points* points);
/* Impulses into points->r, with velocities in double precision; both become the reference of changes. */
void saltusi_float_move(const saltusi_friction_case* in, const saltusi_group_points* points);
double saltusi_float_miss2(const saltusi_friction_case* in, const saltusi_group_points* points);
/* The slip multipliers in->slip. */
void saltusi_float_fetch(const saltusi_friction_case* in, const saltusi_group_points* points);

#endif
