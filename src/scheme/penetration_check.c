/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * penetration_check.c - see penetration_check.h.
 */
#include "scheme/penetration_check.h"

#include <assert.h>

static const double part = 0.1;

saltus_status saltusi_penetration_check(saltusi_acceleration* work, saltusi_eval* eval,
                                        const saltus_point* at, double h,
                                        const saltusi_contact_list* list, int count) {
  assert(work != NULL && eval != NULL && at != NULL && list != NULL && h > 0.0);
  const saltus_system* sys = &eval->sys;
  saltusi_operator* op = &work->op;
  if (count < 2 || (sys->traits & SALTUS_CHANGING_CONTACTS) != 0) {
    return SALTUS_OK; /* a single penetration can be resolved */
  }
  saltusi_operator_hold(op, sys, at, list->key, count);
  int deepest = 0, deep = 0;
  for (int i = 0; i < count; i++) {
    const int row = op->first[i];
    const double allowed = part * h * saltusi_row_size(&op->rows, row, at->v);
    op->rhs[row] = list->gap[i] + allowed;
    deep += op->rhs[row] < 0.0;
    deepest = list->gap[i] < list->gap[deepest] ? i : deepest;
  }
  if (deep == 0) {
    return SALTUS_OK;
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    op->rhs[j] = 0.0;
  }
  saltus_status status = saltusi_linear_assemble(eval, &work->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_form(op, eval, &work->mass);
  status = saltusi_operator_solve(op, eval);
  if (status == SALTUS_RETRY_SMALLER) {
    eval->bound = (saltusi_bound){.what = "penetration",
                                  .kind = SALTUSI_BOUND_PENETRATION,
                                  .key = list->key[deepest],
                                  .t = at->t,
                                  .value = -list->gap[deepest]};
  }
  return status;
}
