/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * constraint_hessian.h - second derivatives of joints and products with their multipliers, without forming rows;
 * `self` is the mechanism.
 */
#ifndef SALTUSI_CONSTRAINT_HESSIAN_H
#define SALTUSI_CONSTRAINT_HESSIAN_H

#include "body/constraints.h"

bool saltusi_mechanism_joint_hessian(const void* self, const saltus_point* at, int joint,
                                     const double* P, double* K, double* U_q);
/* The same for one joint with given rows and markers. */
void saltusi_hold_fill(const saltus_mechanism* mechanism, int joint, saltusi_hold* hold);
void saltusi_mechanism_joints_act(const void* self, const saltus_point* at, const double* P,
                                  double* F, double* U);

#endif
