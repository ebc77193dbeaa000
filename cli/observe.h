/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - outputs and user-defined events of a scene in the summary of a run.
 */
#ifndef CLI_OBSERVE_H
#define CLI_OBSERVE_H

#include "json.h"
#include "saltus/run.h"

/* observables NULL: the scene defines none. The first screen has the first few of each; `all` prints the rest. */
void cli_observed_print(const saltus_observables* observables, const saltus_run_result* result,
                        bool all);
void cli_observed_json(json* out, const saltus_observables* observables,
                       const saltus_run_result* result);

#endif
