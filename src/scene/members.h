/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * members.h - scenes in which some parameters are inputs, so that one model serves all members of an ensemble.
 */
#ifndef SALTUSI_SCENE_MEMBERS_H
#define SALTUSI_SCENE_MEMBERS_H

#include "saltus/scene.h"

/* Parameters of the scene that become its last inputs. */
typedef struct saltusi_scene_members {
  const char* const* names; /* [count] */
  const double* values;
  int count;
} saltusi_scene_members;

/* As saltus_scene_create. SALTUS_ERR_INPUT with a message if anything but formulas of the motion, starts, friction and
 * restitution depends on these parameters. */
saltus_status saltusi_scene_create_members(const saltus_scene_def* def,
                                           const saltusi_scene_members* members,
                                           saltus_scene** out);

#endif
