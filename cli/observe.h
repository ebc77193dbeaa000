/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - what a run says about the outputs and events of its scene.
 */
#ifndef CLI_OBSERVE_H
#define CLI_OBSERVE_H

#include "json.h"
#include "saltus/run.h"

/* observables NULL: the scene defines nothing. */
void cli_observed_print(const saltus_observables* observables, const saltus_run_result* result);
void cli_observed_json(json* out, const saltus_observables* observables,
                       const saltus_run_result* result);

#endif
