/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * coulomb_check.c - see coulomb_check.h.
 */
#include "scheme/coulomb_check.h"

#include "operator/operator.h"

#include <assert.h>

static const double part = 0.1;

/* Violation of the law by an impulse, N s; friction: the part by which friction exceeds its bound. */
static double outside(const saltus_contact_law* law, const saltus_friction_law* f, const double* P,
                      bool* friction) {
  const bool rough = law->mu > 0.0 && law->tangents > 0;
  const bool curved = f != NULL && f->curve == SALTUS_CURVE_OWN;
  *friction = false;
  if (f != NULL && (f->adhesion > 0.0 || f->viscous > 0.0)) {
    return 0.0;
  }
  const double across = f != NULL && f->across > 0.0 ? P[2] * law->mu / f->across : P[2];
  const double excess =
      rough && !curved ? hypot(P[1], across) - law->mu * fmax(P[0], 0.0) : -INFINITY;
  *friction = excess > -P[0];
  return fmax(excess, -P[0]);
}

/* Impulse that cancels the motion of the rows of a contact due to forces in the step, N s. */
static saltus_status find_stopping(saltusi_eval* eval, const saltusi_coulomb_step* step,
                                   const saltusi_coulomb_work* work, int key, double* most) {
  const saltus_system* sys = &eval->sys;
  const int rows = saltusi_friction_rows(&sys->laws[step->laws[key]]);
  saltus_status status = saltusi_linear_assemble(eval, work->mass, step->at, 1.0, 0.0, 0.0);
  *most = 0.0;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(eval, step->at, work->a);
  saltusi_linear_solve(eval, work->mass, work->a);
  saltusi_rows_contact(sys, step->at, key, rows, work->rows, work->row);
  for (int r = work->row; r < work->row + rows; r++) {
    saltusi_operator_response(work->rows, r, eval, work->mass, work->response);
    const double W = saltusi_row_dot(work->rows, r, work->response);
    const double P = step->h * saltusi_row_size(work->rows, r, work->a) / W;
    *most = P > *most ? P : *most;
  }
  return status;
}

saltus_status saltusi_coulomb_check(saltusi_eval* eval, const saltusi_coulomb_step* step,
                                    const saltusi_coulomb_work* work) {
  assert(eval != NULL && step != NULL && work != NULL && step->h > 0.0);
  for (int key = 0; key < eval->sys.dims.nc; key++) {
    const saltusi_lasting* of = &step->contacts[key];
    if (!(of->size > 0.0)) {
      continue;
    }
    const int number = step->laws[key];
    const saltus_contact_law* law = &eval->sys.laws[number];
    const saltus_friction_law* own = eval->curves != NULL ? eval->curves[number].friction : NULL;
    const double* P = of->impulse;
    bool friction = false;
    const double out = outside(law, own, P, &friction);
    if (!(out > part * of->size)) {
      continue;
    }
    double stopping = 0.0;
    const saltus_status status = find_stopping(eval, step, work, key, &stopping);
    if (status != SALTUS_OK) {
      return status;
    }
    if (out > part * (of->size + stopping)) {
      eval->bound = (saltusi_bound){.what = friction ? "friction" : "pulling",
                                    .kind = SALTUSI_BOUND_LAW,
                                    .key = key,
                                    .t = step->at->t,
                                    .value = (friction ? hypot(P[1], P[2]) : -P[0]) / step->h,
                                    .limit = friction ? law->mu * fmax(P[0], 0.0) / step->h : 0.0};
      return SALTUS_RETRY_SMALLER;
    }
  }
  return SALTUS_OK;
}
