/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * include.h - a robot as a part of a scene: all its names begin with a prefix.
 */
#ifndef SALTUSI_URDF_INCLUDE_H
#define SALTUSI_URDF_INCLUDE_H

#include "saltus/urdf.h"

/* A letter, then up to 15 letters, digits and _. */
bool saltusi_urdf_prefix_is_valid(const char* prefix);

/* saltus_urdf_create with names PREFIX_NAME (NULL: without) and the root link at a position [m]. */
saltus_status saltusi_urdf_include(const saltus_urdf_def* def, const char* prefix,
                                   const double position[3], saltus_urdf** out);

#endif
