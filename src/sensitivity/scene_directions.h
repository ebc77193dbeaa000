/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene_directions.h - directions of a scene that has more outputs than its text.
 */
#ifndef SALTUSI_SENSITIVITY_SCENE_DIRECTIONS_H
#define SALTUSI_SENSITIVITY_SCENE_DIRECTIONS_H

#include "saltus/sensitivity.h"

/* saltus_scene_directions_create for a scene created with these outputs. */
saltus_status saltusi_scene_directions_create(const saltus_scene* scene,
                                              const saltus_scene_output* outputs, int output_count,
                                              const char* const* names, int count, saltus_log log,
                                              saltus_scene_directions** out);

#endif
