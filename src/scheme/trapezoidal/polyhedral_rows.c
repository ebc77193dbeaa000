/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polyhedral_rows.c - see polyhedral_rows.h.
 */
#include "scheme/trapezoidal/polyhedral_rows.h"

#include "math/matrix.h"
#include "operator/operator.h"

#include <assert.h>

void saltusi_polyhedral_rows_layout(saltusi_polyhedral_rows* rows, saltusi_polyhedral* law,
                                    const saltus_system* sys, int pairs, saltus_arena* arena) {
  assert(rows != NULL && law != NULL && sys != NULL && arena != NULL);
  const saltus_dims* d = &sys->dims;
  saltusi_polyhedral_size size = {
      .joints = d->nj, .contacts = d->nc, .pairs = pairs, .most = SALTUSI_POLYHEDRAL_MAX};
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    const saltus_contact_law* data = &sys->laws[i];
    int tangents = data->mu > 0.0 ? data->tangents : 0;
    size.tangents = tangents > size.tangents ? tangents : size.tangents;
  }
  saltusi_polyhedral_layout(law, &size, arena);
  saltusi_rows_layout(&rows->force, d, law->rows_max, false, arena);
  saltusi_rows_layout(&rows->velocity, d, law->rows_max, false, arena);
  rows->AinvG = SALTUS_PUSH2(arena, double, law->rows_max, d->nv);
}

bool saltusi_polyhedral_rows_add(saltusi_polyhedral* law, const saltus_system* sys, int key,
                                 int which) {
  assert(law != NULL && sys != NULL && key >= 0);
  const saltus_contact_law* data = &sys->laws[which];
  saltusi_polyhedral_contact* contact = saltusi_polyhedral_add(law, data->tangents, data->mu);
  if (contact == NULL) {
    return false;
  }
  contact->key = key;
  contact->law = which;
  return true;
}

static void evaluate(const saltusi_polyhedral* law, const saltus_system* sys,
                     const saltus_point* at, saltusi_row_block* block) {
  saltusi_rows_joints(sys, at, block);
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    saltusi_rows_contact(sys, at, contact->key, 1 + contact->tangents, block, contact->row);
  }
}

void saltusi_polyhedral_rows_evaluate(saltusi_polyhedral_rows* rows, const saltusi_polyhedral* law,
                                      const saltus_system* sys, const saltus_point* force_at,
                                      const saltus_point* velocity_at) {
  assert(rows != NULL && law != NULL && sys != NULL && force_at != NULL && velocity_at != NULL);
  evaluate(law, sys, force_at, &rows->force);
  evaluate(law, sys, velocity_at, &rows->velocity);
}

void saltusi_polyhedral_rows_operator(const saltusi_polyhedral_rows* rows, saltusi_polyhedral* law,
                                      const saltusi_eval* eval, const saltusi_linear* linear) {
  assert(rows != NULL && law != NULL && eval != NULL && linear != NULL);
  saltusi_operator_fill(&rows->force, &rows->velocity, law->rows, eval, linear, rows->AinvG,
                        law->W);
}

saltus_status saltusi_polyhedral_rows_solve(saltusi_polyhedral* law, saltusi_eval* eval) {
  assert(law != NULL && eval != NULL);
  eval->work.contact_solves += law->n > 0 ? 1 : 0;
  saltus_status status = saltusi_polyhedral_solve(law);
  eval->dependent |= law->held.rank < law->held.n;
  return status;
}

void saltusi_polyhedral_rows_apply(const saltusi_polyhedral_rows* rows,
                                   const saltusi_polyhedral* law, int nv, double* x) {
  assert(rows != NULL && law != NULL);
  for (int r = 0; r < law->rows; r++) {
    saltusi_add_scaled(nv, law->P[r], rows->AinvG + (size_t)r * (size_t)nv, x);
  }
}
