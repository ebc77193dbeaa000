/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sphere_kernel.h - contacts of balls, packed for Gauss-Seidel. See sphere_kernel.c; momentum is dropped and
 * impulses are copied as for all groups (body_groups.h).
 */
#ifndef SALTUSI_SPHERE_KERNEL_H
#define SALTUSI_SPHERE_KERNEL_H

#include "solve/body_space/body_groups.h"

/* Packs the contacts; false if they are not of this kind. */
bool saltusi_sphere_pack(const saltusi_friction_case* in);

/* Starts from the impulses points->r, with their velocities in bodies->v and no momentum. Packed data may be stored
 * elsewhere until they are copied back. */
void saltusi_sphere_start(const saltusi_friction_case* in, const saltusi_group_points* points);

/* One iteration over all contacts; returns the sum of |W_ii (change of r_i)|^2. */
double saltusi_sphere_iteration(const saltusi_friction_case* in,
                                const saltusi_group_points* points);

/* r becomes y, with its velocities. */
void saltusi_sphere_extrapolate(const saltusi_friction_case* in,
                                const saltusi_group_points* points);

/* Recomputes the velocities of r in bodies->v. */
void saltusi_sphere_move(const saltusi_friction_case* in, const saltusi_group_points* points);

/* |F / rho|^2 summed, with the velocities in bodies->v. */
double saltusi_sphere_miss2(const saltusi_friction_case* in, const saltusi_group_points* points);

#endif
