/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bending.h - joints without their rows: second derivatives and products with multipliers; `self` is the mechanism.
 */
#ifndef SALTUSI_BENDING_H
#define SALTUSI_BENDING_H

#include "body/constraints.h"

bool saltusi_mechanism_joint_bend(const void* self, const saltus_point* at, int joint,
                                  const double* P, double* K, double* U_q);
/* Of a joint whose rows and markers are given. */
void saltusi_hold_fill(const saltus_mechanism* mechanism, int joint, saltusi_hold* hold);
void saltusi_mechanism_joints_act(const void* self, const saltus_point* at, const double* P,
                                  double* F, double* U);

#endif
