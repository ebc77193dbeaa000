/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.h - what a run to a tolerance was asked, how it went and what limited it, in plain words and as JSON.
 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "json.h"
#include "saltus/run.h"

/* What saltus_run_explain says, malloc'd; NULL: no memory. */
char* cli_explanation(const saltus_run* run);

void cli_explain_json(json* out, const saltus_scene_view* scene,
                      const saltus_run_settings* settings, const saltus_tally* tally);

#endif
