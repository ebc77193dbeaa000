/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run_state.h - the inside of a run, shared by its life and its snapshots.
 */
#ifndef SALTUSI_RUN_STATE_H
#define SALTUSI_RUN_STATE_H

#include "run/run_statistics.h"
#include "run/settings.h"

struct saltus_run {
  saltusi_pool pool; /* everything but the simulation and the recorders, itself included */
  saltus_run_def def;
  saltus_run_settings settings;
  saltus_run_result result;
  saltusi_run_statistics gather;
  saltus_recorder* recorders;
  size_t recorder_count, recorder_room;
  char reason[256];
  saltus_sim* sim;
  bool tightened; /* or there is nothing to tighten */
};

/* The state and the costs of the simulation as it is now, into the result. */
void saltusi_run_read_state(saltus_run* run, saltus_status status);

/* The simulation of the definition and the settings. */
saltus_status saltusi_run_make_sim(saltus_run* run);

#endif
