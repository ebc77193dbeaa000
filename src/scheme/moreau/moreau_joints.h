/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_joints.h - large mechanisms without active contacts: matrices are kept while velocities and impulses
 * are corrected.
 */
#ifndef SALTUSI_MOREAU_JOINTS_H
#define SALTUSI_MOREAU_JOINTS_H

#include "scheme/moreau/moreau_step.h"

void saltusi_moreau_joints_layout(saltusi_moreau_joints* joints, const saltus_system* sys,
                                  saltus_arena* arena);

/* From the velocities and impulses of the first iteration, s->v1 and work->op.P, to those of the
 * step. weight: of v_{k+1} in the velocity that joints constrain. */
saltus_status saltusi_moreau_hold(saltusi_moreau* work, const saltus_moreau_jean_options* options,
                                  const saltusi_step* step, double weight);

#endif
