/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run_state.h - internal state of a run, shared by run.c and snapshots.
 */
#ifndef SALTUSI_RUN_STATE_H
#define SALTUSI_RUN_STATE_H

#include "run/run_statistics.h"
#include "run/settings.h"

struct saltus_run {
  saltusi_pool pool; /* all memory except the simulation and the recorders, this struct included */
  saltus_run_def def;
  saltus_run_settings settings;
  saltus_run_result result;
  saltusi_run_statistics gather;
  saltus_recorder* recorders;
  size_t recorder_count, recorder_room;
  char reason[256];
  saltus_sim* sim;
  bool tightened; /* or no global tolerance is requested */
};

/* Warns of flexible bodies that rotate too fast for their data, at the start or with velocities v. */
void saltusi_run_flexible_warn(const saltus_run* run, const double* v);
/* Copies the present state and costs of the simulation to the result. */
void saltusi_run_read_state(saltus_run* run, saltus_status status);

/* The simulation of the definition and the settings. */
saltus_status saltusi_run_make_sim(saltus_run* run);

#endif
