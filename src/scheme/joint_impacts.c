/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joint_impacts.c - impulses of joints at the impacts of a step, of schemes whose joints have one impulse a step.
 *
 *   P_E = -(G_E^T M^-1 G_E)^-1 G_E^T M^-1 H P,   P the impulses of the contacts in impact without the non-impulsive part
 */
#include "scheme/scheme_internal.h"

#include <assert.h>
#include <string.h>

/* H P [nv] of a report; false: no contact is in impact. */
static bool add_impulses(saltus_scheme* scheme, const saltus_step_report* report,
                         const saltus_point* at, double* sum) {
  const saltus_system* sys = &scheme->eval.sys;
  bool any = false;
  memset(sum, 0, (size_t)sys->dims.nv * sizeof *sum);
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* contact = &report->contacts[i];
    if (!contact->impact) {
      continue;
    }
    const int tangents = sys->laws[contact->law].tangents, rows = 1 + (tangents < 2 ? tangents : 2);
    saltusi_rows_identity(sys, at, contact->identity, rows, &scheme->contact_row, 0);
    for (int k = 0; k < rows; k++) {
      saltusi_row_add(&scheme->contact_row, k, contact->impulse[k] - contact->lasting[k], sum);
    }
    any = true;
  }
  return any;
}

bool saltusi_scheme_joint_impacts(saltus_scheme* scheme, const saltus_step_report* report,
                                  const saltus_state* end, double* impacts) {
  assert(scheme != NULL && report != NULL && end != NULL && impacts != NULL);
  saltusi_projection* p = scheme->response;
  if (p == NULL) {
    return false;
  }
  const saltus_work kept = scheme->eval.work;
  const saltus_point at = saltusi_at(&scheme->eval, end->t, end->q, end->v);
  const bool found =
      add_impulses(scheme, report, &at, p->shift) &&
      saltusi_projection_answer(p, &scheme->eval, &at, p->shift, impacts) == SALTUS_OK;
  scheme->eval.work = kept;
  return found;
}
