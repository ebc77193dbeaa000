/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * def_check.h - common checks of the definitions of simulations and integrators.
 */
#ifndef SALTUSI_DEF_CHECK_H
#define SALTUSI_DEF_CHECK_H

#include "saltus/log.h"
#include "saltus/status.h"

/* Largest violation of a joint or contact that a change of inputs activates, unless the definition has one. */
static const double saltusi_switch_tolerance = 1e-2;

/* SALTUS_ERR_RANGE with the message "who: member is value, must be allowed". */
saltus_status saltusi_def_refuse(saltus_log log, const char* who, const char* member, double value,
                                 const char* allowed);

/* Rejects a vector that is NULL or has an entry that is not finite. */
saltus_status saltusi_def_check_vector(saltus_log log, const char* who, const char* name, int n,
                                       const double* x);

#endif
