/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * settings.h - overrides over the scene over the defaults.
 */
#ifndef SALTUSI_RUN_SETTINGS_H
#define SALTUSI_RUN_SETTINGS_H

#include "base/pool.h"
#include "saltus/run.h"

/* The settings of a run; texts and options are in the pool. stepped: the caller supplies the steps, so the scene need
 * not specify one (convergence studies). Every error is logged once. */
saltus_status saltusi_run_resolve(const saltus_run_def* def, bool stepped, saltusi_pool* pool,
                                  saltus_run_settings* settings);

#endif
