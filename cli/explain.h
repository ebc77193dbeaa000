/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.h - what a run to a tolerance was asked, how it went and what limited it, in plain words.
 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "json.h"
#include "saltus/run.h"

void cli_explain(const saltus_scene_view* scene, const saltus_run_settings* settings,
                 const saltus_tally* tally);
void cli_explain_json(json* out, const saltus_scene_view* scene,
                      const saltus_run_settings* settings, const saltus_tally* tally);

/* Name of a coordinate, velocity or contact; made up into text where the system has none. */
const char* cli_q_name(const saltus_system* sys, int i, char* text, size_t bytes);
const char* cli_v_name(const saltus_system* sys, int i, char* text, size_t bytes);
const char* cli_contact_name(const saltus_system* sys, int i, char* text, size_t bytes);

#endif
