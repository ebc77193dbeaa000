/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rows.c - joints and contacts become units of the operator.
 */
#include "operator/operator_internal.h"

#include <assert.h>

void saltusi_operator_hold(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                           const int* keys, int count) {
  assert(op != NULL && sys != NULL && at != NULL && count >= 0);
  saltusi_operator_begin(op, sys->dims.nj);
  saltusi_rows_joints(sys, at, &op->rows);
  for (int i = 0; i < count; i++) {
    saltusi_operator_look(op, sys, at, keys[i], 1);
    saltusi_operator_take(op, 1, 0.0);
  }
}
