/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * stepping.h - a simulation advanced by its caller. Steps of a scheme with dense output end beyond the time of the
 * caller; times of the caller neither cost nor change steps.
 */
#ifndef SALTUSI_STEPPING_H
#define SALTUSI_STEPPING_H

#include "saltus/sim.h"

/* From now on the simulation is advanced by the functions below, from its present state. */
saltus_status saltusi_stepping_start(saltus_sim* sim, double t_last);
void saltusi_stepping_release(saltus_sim* sim);

/* See saltus_run_advance. */
saltus_status saltusi_stepping_advance(saltus_sim* sim, double t, unsigned stop, bool step_ends,
                                       const saltus_event** event);

/* Outputs at the state of the caller [output_count], with forces of joints where the scheme has them. */
saltus_status saltusi_stepping_outputs(saltus_sim* sim, bool left, double* outputs);

/* Queues an event of a step; no effect on simulations that run to their end. */
saltus_status saltusi_stepping_note(saltus_sim* sim, const saltus_event* event);

/* True if the end of the present step is ahead of the caller. */
bool saltusi_stepping_is_ahead(const saltus_sim* sim);

/* State of the caller, and left limit at the event of the last advance. */
void saltusi_stepping_present(const saltus_sim* sim, saltus_state* now, saltus_state* left);

/* Copies an event with its padding zeroed, to an address of any alignment. */
void saltusi_event_copy(void* to, const saltus_event* from);

/* Snapshots that include the position of the caller inside of the last step. */
size_t saltusi_stepping_bytes(const saltus_sim* sim);
void saltusi_stepping_save(const saltus_sim* sim, void* bytes);
saltus_status saltusi_stepping_load(saltus_sim* sim, const void* bytes, size_t size);

#endif
