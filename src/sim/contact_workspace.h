/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_workspace.h - arrays of a simulation with an entry for each contact.
 *
 * Arrays are indexed by keys. The keys of a fixed set are those of the system. In a time-varying contact set the
 * simulation assigns its own keys by identity, independent of the keys of the scheme. A contact keeps its key while
 * it is listed, is active, bears a non-impulsive force, or has impulses that no frame has reported yet. The capacity
 * grows when a step or a frame has more contacts; pointers into the arrays are invalid then.
 */
#ifndef SALTUSI_CONTACT_WORKSPACE_H
#define SALTUSI_CONTACT_WORKSPACE_H

#include "saltus/sim.h"
#include "system/evaluate.h"

/* Arrays for sim->sys.dims.nc contacts; SALTUS_ERR_MEMORY with a message. */
saltus_status saltusi_contact_workspace_create(saltus_sim* sim);
void saltusi_contact_workspace_release(saltus_sim* sim);

/* The point at which the system is evaluated. */
saltus_point saltusi_sim_at(saltus_sim* sim, double t, const double* q, const double* v);

/* Contacts at a point into sim->list, with keys of the simulation. Reports errors of the list. */
saltus_status saltusi_sim_list(saltus_sim* sim, const saltus_point* at);

/* Replaces *report by a report with keys of the simulation, valid until the next call. Every contact of the scheme
 * has a key afterwards. */
saltus_status saltusi_sim_translate(saltus_sim* sim, const saltus_step_report** report);

/* Assigns a key to every contact of the scheme. */
saltus_status saltusi_sim_know(saltus_sim* sim);

/* Key of the contact with this key in the scheme; -1: none. */
int saltusi_sim_key(const saltus_sim* sim, int scheme_key);

/* [3 nc + nj] numbers of contacts and joints, in two steps: _scratch is the array that the scheme writes with its
 * keys (`to` itself for a fixed set, NULL without memory); _scatter copies it to keys of the simulation. */
double* saltusi_sim_scratch(saltus_sim* sim, double* to);
void saltusi_sim_scatter(saltus_sim* sim, const double* from, double* to);

/* Gap and velocity of active contacts that are not listed because rounding made their gaps positive, into
 * sim->contact_frames. */
saltus_status saltusi_sim_closed(saltus_sim* sim, const saltus_point* at);

/* Contacts of the frame in sim->contact_frames. Of a time-varying set these are the listed and active contacts, by
 * rising identity; their points are evaluated at `at`. */
const saltus_contact_frame* saltusi_sim_rows(saltus_sim* sim, const saltus_point* at, int* count);

/* After a frame: releases the keys of contacts that are not needed any more. */
void saltusi_sim_settle(saltus_sim* sim, double t);

/* Assigns the keys of a snapshot: identities (uint64_t) and laws (int) of `count` keys as bytes; a law of -1: the
 * key is free. */
saltus_status saltusi_sim_restore(saltus_sim* sim, int count, const unsigned char* identities,
                                  const unsigned char* laws);

#endif
