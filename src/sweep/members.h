/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * members.h - members of a sweep at values that are not those of its axes, and what they are made of.
 */
#ifndef SALTUSI_SWEEP_MEMBERS_H
#define SALTUSI_SWEEP_MEMBERS_H

#include "sweep/measure.h"

/* Rows of `points` sets of values of the first `axes` axes, which have one value each, with all samples of the others:
 * row = sample x points + point. Returns as saltus_sweep_compute. */
saltus_status saltusi_sweep_compute_at(saltus_sweep* sweep, const double* values, int axes,
                                       int points, const saltus_sweep_rows* rows);

/* Formulas of the measures, behind the outputs of the scene. */
typedef struct saltusi_sweep_parts {
  const saltus_scene* scene; /* template */
  const saltus_scene_output* outputs;
  int output_count;
  const saltusi_measures* measures;
  const saltus_run_def* run;
} saltusi_sweep_parts;

saltusi_sweep_parts saltusi_sweep_get_parts(const saltus_sweep* sweep);

/* The scene of a member with these values of all axes. */
saltus_status saltusi_sweep_scene(saltus_sweep* sweep, double* values, saltus_log log,
                                  saltus_scene** out);

#endif
