/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acceleration.h - acceleration of a system with joints and active contacts.
 *
 *   M a = F + G lambda
 *   joints             G^T a + c = 0
 *   active contacts     0 <= G^T a + c  perp  lambda >= 0
 *
 * Sticking tangents are rows; slipping contacts have modified columns (friction_mode.h).
 * c is the convective part of the row; without it a contact leaves a curved surface.
 */
#ifndef SALTUSI_ACCELERATION_H
#define SALTUSI_ACCELERATION_H

#include "scheme/event/friction_mode.h"

typedef struct saltusi_acceleration {
  saltusi_linear mass;
  saltusi_operator op; /* rows with convective parts; P are the forces [N] */
} saltusi_acceleration;

void saltusi_acceleration_layout(saltusi_acceleration* work, const saltusi_eval* eval,
                                 saltus_arena* arena);

/* The active contacts, and whether negative normal forces are permitted (G^T a + c = 0). With friction they are. */
typedef struct saltusi_active_rows {
  const int* keys; /* [count] */
  int count;
  bool both_ways;
  saltusi_friction_modes* grips; /* their friction modes; NULL: no friction */
} saltusi_active_rows;

/* Evaluates joints and active contacts and adds them to the operator. */
void saltusi_hold(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                  const saltusi_active_rows* held);

/* a [nv] at a point with the given workspace: mass gets M, law the rows and in P the forces, joints first. */
saltus_status saltusi_accelerate(saltusi_eval* eval, saltusi_linear* mass, saltusi_operator* op,
                                 const saltus_point* at, const saltusi_active_rows* held,
                                 double* a);

/* a [nv] at a point with the active contacts `keys`, whose normal forces are not negative; forces remain in work->op.P,
 * joints first. */
saltus_status saltusi_acceleration_find(saltusi_acceleration* work, saltusi_eval* eval,
                                        const saltus_point* at, const int* keys, int count,
                                        double* a);

#endif
