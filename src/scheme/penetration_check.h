/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * penetration_check.h - whether a displacement exists that resolves all penetrations at the end of a step.
 *
 *   d = M^-1 G lambda,  lambda >= 0      G^T d = 0 of joints,  g + G^T d >= -d_0 of contacts with g < 0
 *
 * Schemes with impacts at the end of a step leave penetrations O(h). A body inside two contacts of opposite normals
 * (the nose of a pawl inside a tooth) is then wedged by forces that no motion of the model has. d_0, a tenth of the
 * displacement of the contact in the step, excludes rounding and guides without clearance. Time-varying sets are not
 * checked: of bodies that interpenetrate they list features of opposite sides.
 */
#ifndef SALTUSI_PENETRATION_CHECK_H
#define SALTUSI_PENETRATION_CHECK_H

#include "scheme/event/acceleration.h"

/* For the first `count` contacts of a list at a point after a step h. Overwrites the problem and the mass matrix of `work`.
 * SALTUS_RETRY_SMALLER: no such displacement; the deepest contact is reported in eval->bound. */
saltus_status saltusi_penetration_check(saltusi_acceleration* work, saltusi_eval* eval,
                                        const saltus_point* at, double h,
                                        const saltusi_contact_list* list, int count);

#endif
