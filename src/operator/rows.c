/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rows.c - joints and contacts become units of the operator.
 */
#include "operator/inside.h"

#include <assert.h>

void saltusi_operator_begin(saltusi_operator* op, int joints) {
  op->joints = joints;
  op->contacts = 0;
  op->count = joints;
  op->apart = false;
  op->first[0] = joints;
}

void saltusi_operator_hold(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                           const int* keys, int count) {
  saltusi_operator_begin(op, sys->dims.nj);
  saltusi_rows_joints(sys, at, &op->rows);
  for (int i = 0; i < count; i++) {
    saltusi_operator_look(op, sys, at, keys[i], 1);
    saltusi_operator_take(op, 1, 0.0);
  }
}

int saltusi_operator_look(saltusi_operator* op, const saltus_system* sys, const saltus_point* at,
                          int key, int count) {
  assert(count >= 1 && count <= 3);
  saltusi_rows_contact(sys, at, key, count, &op->rows, op->count);
  return op->count;
}

void saltusi_operator_take(saltusi_operator* op, int count, double mu) {
  assert(count >= 1 && count <= 3);
  op->mu[op->contacts++] = mu;
  op->count += count;
  op->first[op->contacts] = op->count;
}
