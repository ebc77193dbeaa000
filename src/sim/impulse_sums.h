/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impulse_sums.h - impulses of contacts and joints between two frames, of lasting forces and of impacts apart. A step first
 * becomes parts, which go to the sums of a frame.
 */
#ifndef SALTUSI_IMPULSE_SUMS_H
#define SALTUSI_IMPULSE_SUMS_H

#include "sim/sim_state.h"

/* Penetration since the last frame. */
void saltusi_sums_deepen(saltus_sim* sim, double gap);

/* Impulses of a step into the parts: as the contact reports, or the rest of located impacts, which go to the sums one by one.
 * end: the state there. */
void saltusi_sums_part(saltus_sim* sim, const saltus_step_report* report, bool located,
                       const saltus_state* end);

/* A share of the rest of lasting impulses goes to the sums. */
void saltusi_sums_share(saltus_sim* sim, double share);

/* The same as the scheme reports: sim->lasting since the start of the step. */
void saltusi_sums_known(saltus_sim* sim);

/* Located impacts from number `from` up to a time go to the sums; the number of the first event after it. */
int saltusi_sums_impacts(saltus_sim* sim, const saltus_step_report* report, int from, double t);

/* The rest of a step goes to the sums. */
void saltusi_sums_rest(saltus_sim* sim);

/* Sums of the next frame start from zero. */
void saltusi_sums_start(saltus_sim* sim, double t);

#endif
