/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rigid_kernel.h - contacts of rigid bodies of any form, packed for Gauss-Seidel. See rigid_kernel.c; the functions
 * are those of sphere_kernel.h.
 */
#ifndef SALTUSI_RIGID_KERNEL_H
#define SALTUSI_RIGID_KERNEL_H

#include "solve/body_space/sphere_kernel.h"

/* Whether A^-1 and rows of all contacts are those of rigid bodies. */
bool saltusi_rigid_serves(const saltusi_bodies* bodies);
bool saltusi_rigid_pack(const saltusi_friction_case* in);
void saltusi_rigid_start(const saltusi_friction_case* in, const saltusi_group_points* points);
double saltusi_rigid_iteration(const saltusi_friction_case* in, const saltusi_group_points* points);
void saltusi_rigid_extrapolate(const saltusi_friction_case* in, const saltusi_group_points* points);
void saltusi_rigid_move(const saltusi_friction_case* in, const saltusi_group_points* points);
double saltusi_rigid_miss2(const saltusi_friction_case* in, const saltusi_group_points* points);
/* and the slip multipliers in->slip */
void saltusi_rigid_fetch(const saltusi_friction_case* in, const saltusi_group_points* points);

#endif
