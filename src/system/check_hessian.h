/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_hessian.h - second derivatives of joints against differences of their rows.
 */
#ifndef SALTUSI_CHECK_HESSIAN_H
#define SALTUSI_CHECK_HESSIAN_H

#include "system/evaluate.h"

/* Largest difference over all joints, relative to 1 + the largest entry; NaN: nothing to check. K is
 * compared on the null space of the joint; entries between blocks that are declared uncoupled count in full. */
saltus_status saltusi_check_hessian(const saltus_system* sys, const saltus_point* at,
                                    double* worst);

#endif
