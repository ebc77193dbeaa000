/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_enclosure.h - tests whether the enclosures of a system contain its values.
 */
#ifndef SALTUSI_CHECK_ENCLOSURE_H
#define SALTUSI_CHECK_ENCLOSURE_H

#include "saltus/system.h"

/* Largest distance of gaps, relative velocities, forces and joints at points around `at` from their enclosures,
 * relative to 1 + their size; also of gap and joint rates from the first coefficient along q' = N v. At least 1 if a
 * quantity depends on a variable that is declared as not read. 0: no violation; NaN: no enclosures. */
saltus_status saltusi_check_enclosures(const saltus_system* system, const saltus_point* at,
                                       double* outside);

#endif
