/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene_text.h - the text of a scene while it is written.
 */
#ifndef SALTUSI_SCENE_TEXT_H
#define SALTUSI_SCENE_TEXT_H

#include "urdf/robot.h"

typedef struct saltusi_robot_text {
  saltusi_robot* robot;
  char* bytes;
  size_t used, room;
  double reach; /* m, the largest coordinate */
  int parts;    /* of meshes that move; 0: their hulls */
} saltusi_robot_text;

void saltusi_robot_put(saltusi_robot_text* t, const char* format, ...) SALTUSI_PRINTF(2, 3);

/* The fewest digits that are read back as the same number. */
/* Name of material i of MJCF. */
void saltusi_robot_put_material(saltusi_robot_text* t, int i);
void saltusi_robot_put_number(saltusi_robot_text* t, double value);

/* Numbers below the rounding of `scale` become 0: the cosine of a right angle is computed as 6e-17. */
void saltusi_robot_put_list(saltusi_robot_text* t, const double* values, int count, double scale);

#endif
