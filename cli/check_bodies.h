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
#include "saltus/flexible.h"

/* For models with bodies. The exit code differs from CLI_DONE only without memory. */
int check_bodies_print(const cli_model* model);
int check_bodies_json(json* j, const cli_model* model);

/* A rigid solid inside of the surface of a flexible body, with its mass. */
typedef struct check_solid {
  double density; /* kg/m^3 */
  double centre;  /* m, between both centres of mass */
  double inertia; /* largest difference of entries over the largest entry */
} check_solid;

/* SALTUS_ERR_INPUT for bodies without a closed surface. */
saltus_status check_flexible_solid(const saltus_flexible* body, check_solid* out);
/* Mass properties, the solid, frequencies. */
void check_flexible_print(const saltus_flexible* body);

/* Draws the start into a file .svg, .pdf or .png. Returns an exit code. */
int check_bodies_sketch(const cli_model* model, const char* path);

#endif
