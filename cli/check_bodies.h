/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_bodies.h - report of saltus check on bodies and their joints: correction of the start,
 * mobility, masses, momentum; and a sketch of the start.
 */
#ifndef CLI_CHECK_BODIES_H
#define CLI_CHECK_BODIES_H

#include "json.h"
#include "model.h"

/* For models with bodies. The exit code differs from CLI_DONE only without memory. */
int check_bodies_print(const cli_model* model);
int check_bodies_json(json* j, const cli_model* model);

/* Draws the start into a file .svg, .pdf or .png. Returns an exit code. */
int check_bodies_sketch(const cli_model* model, const char* path);

#endif
