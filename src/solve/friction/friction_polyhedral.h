/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_polyhedral.h - memory of the friction solver "polyhedral"; see friction_polyhedral.c.
 */
#ifndef SALTUSI_FRICTION_POLYHEDRAL_H
#define SALTUSI_FRICTION_POLYHEDRAL_H

#include "base/buffer.h"
#include "solve/friction/friction_case.h"
#include "solve/friction/polyhedral.h"

typedef struct saltusi_friction_polyhedral {
  saltusi_polyhedral law;
  int* place; /* [rows] row in the law; -1: a tangent without friction */
  int pairs;  /* capacity; 0: not created yet */
  saltusi_buffer memory;
} saltusi_friction_polyhedral;

#endif
