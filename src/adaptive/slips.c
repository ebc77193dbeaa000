/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * slips.c - coefficients of the problems that decide: those of sticking, of slip that is known or begins, of impacts.
 */
#include "adaptive/decide.h"
#include "adaptive/grip.h"

#include <assert.h>
#include <string.h>

/* Coefficients of sticking, all of which slide with, too. */
static void load_coefficients(saltusi_decision* d) {
  memcpy(d->mu, d->o->mu, (size_t)d->o->nc * sizeof(double));
  for (int key = 0; key < d->o->nc; key++) {
    d->share[key] = 1.0;
  }
}

void saltusi_load_slips(saltusi_decision* d, const double* v, int count) {
  assert(d != NULL && v != NULL && count >= 0);
  load_coefficients(d);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (d->o->law[key]->friction == NULL || !saltusi_is_prescribed(d, key)) {
      continue;
    }
    double u[2] = {0.0, 0.0};
    double slip[2];
    for (int k = 0; k < d->o->tangents[key]; k++) {
      int row = d->o->nj + d->o->base[key] + 1 + k;
      u[k] = saltusi_row_dot(&d->mode->row, row, v) + d->mode->row.b[row];
    }
    if (d->o->tangents[key] == 1) { /* forced slip begins with none */
      u[0] = d->sense[key] * fmax(0.0, d->sense[key] * u[0]);
      saltusi_grip_direction(d->o, key, d->sense[key], u, slip);
      d->share[key] = slip[0] * d->sense[key];
    } else if (hypot(u[0], u[1]) > 0.0) {
      saltusi_grip_direction(d->o, key, 1.0, u, d->direction + 2 * (size_t)key);
    }
  }
}

bool saltusi_let_go(saltusi_decision* d, int count) {
  assert(d != NULL && count >= 0);
  bool any = false;
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (d->contact[key].mode != SALTUSI_SLIP || d->sense[key] != 0.0 || !(d->mu[key] > 0.0) ||
        !saltusi_grip_falls(d->o, key)) {
      continue;
    }
    const double* a = d->u_after + d->o->base[key] + 1;
    const double* l = d->impulse + d->o->base[key] + 1;
    d->begun[key] = true;
    any = true;
    if (d->o->tangents[key] == 1) {
      d->sense[key] = d->contact[key].sense;
      d->share[key] = saltusi_grip_ratio(d->o, key, 0.0);
      continue;
    }
    bool moves = hypot(a[0], a[1]) > 0.0;
    const double u[2] = {moves ? a[0] : -l[0], moves ? a[1] : -l[1]};
    d->sense[key] = 1.0;
    saltusi_grip_from_rest(d->o, key, u, d->direction + 2 * (size_t)key);
  }
  return any;
}

void saltusi_load_impact(saltusi_decision* d, int count) {
  assert(d != NULL && count >= 0);
  load_coefficients(d);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    const double* u = d->u_before + d->o->base[key] + 1;
    if (d->o->law[key]->friction != NULL && d->mu[key] > 0.0) {
      double slip = d->o->tangents[key] == 1 ? fabs(u[0]) : hypot(u[0], u[1]);
      d->mu[key] *= slip > saltusi_slip_rounding(d) ? saltusi_grip_ratio(d->o, key, slip) : 1.0;
    }
  }
}
