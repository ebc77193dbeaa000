/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bending.h - second derivatives of joints; `self` is the mechanism.
 */
#ifndef SALTUSI_BENDING_H
#define SALTUSI_BENDING_H

#include "body/constraints.h"

bool saltusi_mechanism_joint_bend(const void* self, const saltus_point* at, int joint,
                                  const double* P, double* K, double* U_q);

#endif
