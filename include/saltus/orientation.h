/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orientation.h - a rotation as given by the user: angle, quaternion, axis, or roll, pitch and yaw.
 */
#ifndef SALTUS_ORIENTATION_H
#define SALTUS_ORIENTATION_H

typedef enum saltus_orientation_kind {
  SALTUS_ORIENTATION_NONE,       /* axes coincide */
  SALTUS_ORIENTATION_ANGLE,      /* value[0] rad about z: the only one in the plane */
  SALTUS_ORIENTATION_QUATERNION, /* w, x, y, z; any nonzero length */
  SALTUS_ORIENTATION_AXIS,       /* x, y, z of an axis of any nonzero length, then rad */
  SALTUS_ORIENTATION_RPY         /* roll, pitch, yaw, rad, about fixed x, then y, then z */
} saltus_orientation_kind;

/* A rotation from the axes of an object to those of its parent. */
typedef struct saltus_orientation {
  saltus_orientation_kind kind;
  double value[4];
} saltus_orientation;

#endif
