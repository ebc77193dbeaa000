/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impacts.h - the impact laws of a system.
 */
#ifndef SALTUSI_IMPACTS_H
#define SALTUSI_IMPACTS_H

#include "saltus/system.h"

/* SALTUS_ERR_RANGE after a message for invalid laws of contacts or of `impacts`. */
saltus_status saltusi_impacts_validate(const saltus_system* system, saltus_log log);

/* Whether impacts have laws other than those of Newton and Poisson for simultaneous contacts. */
bool saltusi_impacts_special(const saltus_system* system);

#endif
