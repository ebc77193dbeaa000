/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_workspace.h - what a simulation keeps for each contact, with as much room as there are contacts.
 *
 * Arrays go by keys. Of a fixed set they are those of the system. Of a changing set they belong to the
 * simulation alone: identity decides who has one, so that it does not matter how the scheme gives and
 * takes its own. A contact has a key as long as it is listed, acts, carries a lasting force, or owes a
 * frame what it gave. Room grows when a step or a frame meets more contacts; all pointers into it move
 * then.
 */
#ifndef SALTUSI_CONTACT_WORKSPACE_H
#define SALTUSI_CONTACT_WORKSPACE_H

#include "saltus/sim.h"
#include "system/evaluate.h"

/* Arrays for sim->sys.dims.nc contacts; SALTUS_ERR_MEMORY with a message. */
saltus_status saltusi_contact_workspace_create(saltus_sim* sim);
void saltusi_contact_workspace_release(saltus_sim* sim);

/* Where the system is asked about contacts. */
saltus_point saltusi_sim_at(saltus_sim* sim, double t, const double* q, const double* v);

/* Contacts at a point into sim->list, in keys of the simulation. Says what is wrong with a list. */
saltus_status saltusi_sim_list(saltus_sim* sim, const saltus_point* at);

/* The report of a step in keys of the simulation, valid until the next call: *report is replaced. Every
 * contact that the scheme knows has a key then. */
saltus_status saltusi_sim_translate(saltus_sim* sim, const saltus_step_report** report);

/* Gives every contact that the scheme knows a key. */
saltus_status saltusi_sim_know(saltus_sim* sim);

/* The key of a contact that has another one in the scheme; -1: none. */
int saltusi_sim_key(const saltus_sim* sim, int scheme_key);

/* [3 nc + nj] numbers of contacts and joints: where the scheme writes them with its keys, which is `to`
 * itself for a fixed set, or NULL without memory; and from there to those of the simulation. */
double* saltusi_sim_scratch(saltus_sim* sim, double* to);
void saltusi_sim_scatter(saltus_sim* sim, const double* from, double* to);

/* Gap and velocity of contacts that act and are not listed because their gaps are positive by rounding, into
 * sim->contact_frames. */
saltus_status saltusi_sim_closed(saltus_sim* sim, const saltus_point* at);

/* The contacts of the frame that was made from sim->contact_frames: of a changing set those that are
 * listed or acted, by rising identity. Where they are is asked at the point. */
const saltus_contact_frame* saltusi_sim_rows(saltus_sim* sim, const saltus_point* at, int* count);

/* After a frame: contacts that nobody needs give their keys free. */
void saltusi_sim_settle(saltus_sim* sim, double t);

/* Gives contacts of a snapshot their keys: identities (uint64_t) and laws (int) of `count` keys as bytes;
 * a law of -1: nobody has the key. */
saltus_status saltusi_sim_restore(saltus_sim* sim, int count, const unsigned char* identities,
                                  const unsigned char* laws);

#endif
