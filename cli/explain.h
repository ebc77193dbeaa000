/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.h - explanation of a run to a tolerance: request, statistics of the steps and limits of
 * the step size, as text and as JSON.
 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "json.h"
#include "saltus/run.h"

/* The text of saltus_run_explain, malloc'd; NULL: no memory. */
char* cli_explanation(const saltus_run* run);

void cli_explain_json(json* out, const saltus_scene_view* scene,
                      const saltus_run_settings* settings, const saltus_tally* tally);

#endif
