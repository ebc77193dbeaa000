/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_enclosure.h - do the enclosures of a system contain its values?
 */
#ifndef SALTUSI_CHECK_ENCLOSURE_H
#define SALTUSI_CHECK_ENCLOSURE_H

#include "saltus/system.h"

/* How far gaps, relative velocities, forces and joints of points around `at` lie outside their
 * enclosures, relative to 1 + their size; also gap and joint rates outside the first coefficient
 * along q' = N v. 1 and more where one depends on a variable that is declared unread. 0 when all is well, NaN when there
 * are no enclosures. */
saltus_status saltusi_check_enclosures(const saltus_system* system, const saltus_point* at,
                                       double* outside);

#endif
