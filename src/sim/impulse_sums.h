/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impulse_sums.h - impulses of contacts and joints between two frames: of non-impulsive forces and of impacts,
 * separately. The impulses of a step are first stored as parts, which are then added to the sums of a frame.
 */
#ifndef SALTUSI_IMPULSE_SUMS_H
#define SALTUSI_IMPULSE_SUMS_H

#include "sim/sim_state.h"

/* Records the largest penetration since the last frame. */
void saltusi_sums_deepen(saltus_sim* sim, double gap);

/* Impulses of a step into the parts: those that the contacts report, or those without the located impacts, which
 * are added to the sums one by one. end: state at the end of the step. */
void saltusi_sums_part(saltus_sim* sim, const saltus_step_report* report, bool located,
                       const saltus_state* end);

/* Adds this fraction of the remaining non-impulsive impulses to the sums. */
void saltusi_sums_share(saltus_sim* sim, double share);

/* Adds the impulses that the scheme reports, from the start of the step to a time inside of it. */
void saltusi_sums_known(saltus_sim* sim);

/* Adds located impacts from number `from` up to a time to the sums; returns the number of the first event after
 * it. */
int saltusi_sums_impacts(saltus_sim* sim, const saltus_step_report* report, int from, double t);

/* Adds the remaining impulses of a step to the sums. */
void saltusi_sums_rest(saltus_sim* sim);

/* Resets the sums for the next frame. */
void saltusi_sums_start(saltus_sim* sim, double t);

#endif
