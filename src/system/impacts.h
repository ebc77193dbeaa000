/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impacts.h - the impact laws that a system asks for.
 */
#ifndef SALTUSI_IMPACTS_H
#define SALTUSI_IMPACTS_H

#include "saltus/system.h"

/* SALTUS_ERR_RANGE after a message when laws of contacts or `impacts` are none. */
saltus_status saltusi_impacts_validate(const saltus_system* system, saltus_log log);

/* Whether impacts need more than Newton's or Poisson's law of simultaneous contacts. */
bool saltusi_impacts_special(const saltus_system* system);

#endif
