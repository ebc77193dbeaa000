/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_kkt.h - large mechanisms without active contacts whose joints have second derivatives.
 */
#ifndef SALTUSI_MOREAU_KKT_H
#define SALTUSI_MOREAU_KKT_H

#include "scheme/moreau/moreau_step.h"

void saltusi_moreau_kkt_layout(saltusi_moreau_kkt* linkage, const saltusi_eval* eval,
                               saltus_arena* arena);

/* Whether this method applies to a step without active contacts. */
static inline bool saltusi_moreau_kkt_serves(const saltusi_moreau* work) {
  return work->linked.n > 0 && !work->linked.factors.refused;
}

/* s->v1 and work->op.P of the step, and its rows. weight: of v_{k+1} in the velocity that joints
 * constrain. */
saltus_status saltusi_moreau_linked(saltusi_moreau* work, const saltus_moreau_jean_options* options,
                                    const saltusi_step* step, double weight);

/* After such a step, with its mean velocity in work->v_theta: projects positions onto the joints by
 * changes of that velocity, with the matrix of the step. *step->closed: g is zero up to rounding.
 * SALTUS_RETRY_SMALLER when g does not shrink. */
saltus_status saltusi_moreau_linked_project(saltusi_moreau* work, const saltusi_step* step);

/* Impulses of the last step as those of joints in work->op.P. */
void saltusi_moreau_kkt_guess(saltusi_moreau* w, const saltusi_step* s);

/* Stores velocities and impulses of a step, by any method, in work->past_after. */
void saltusi_moreau_kkt_keep(saltusi_moreau* work, const saltusi_step* step);

#endif
