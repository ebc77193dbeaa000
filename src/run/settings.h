/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * settings.h - overrides over the scene over the defaults.
 */
#ifndef SALTUSI_RUN_SETTINGS_H
#define SALTUSI_RUN_SETTINGS_H

#include "base/pool.h"
#include "saltus/run.h"

/* The settings of a run; texts and options lie in the pool. stepped: the caller brings the steps
 * itself, so that none has to be given (studies of convergence). Every refusal is logged once. */
saltus_status saltusi_run_resolve(const saltus_run_def* def, bool stepped, saltusi_pool* pool,
                                  saltus_run_settings* settings);

#endif
