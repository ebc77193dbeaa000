/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_coefficients.c - coefficients of the status problems: of sticking, of present or beginning slip, of
 * impacts.
 */
#include "adaptive/mode/decide.h"
#include "adaptive/mode/friction_mode.h"
#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Coefficients of sticking; without a friction curve also those of slip. */
static void load_coefficients(saltusi_decision* d) {
  memcpy(d->mu, d->o->mu, (size_t)d->o->nc * sizeof(double));
  for (int key = 0; key < d->o->nc; key++) {
    d->share[key] = 1.0;
  }
}

/* Rolling and drilling friction of the contacts moves if its velocity is not zero, unless it is prescribed. */
static void load_grips(saltusi_decision* d, const double* v, int count) {
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < SALTUSI_GRIPS; k++) {
      int grip = saltusi_friction_mode_of(d->o, d->set[i], k);
      if (grip < 0 || d->sense[grip] != 0.0) {
        continue;
      }
      double u[SALTUSI_SLIPS] = {0.0};
      int tangents = d->o->tangents[grip];
      for (int j = 0; j < tangents; j++) {
        int row = d->o->nj + d->o->base[grip] + 1 + j;
        u[j] = saltusi_row_dot(&d->mode->row, row, v) + d->mode->row.b[row];
      }
      double size = saltusi_length(tangents, u);
      double slow = saltusi_slip_rounding(d);
      if (size > (tangents > 1 ? fmax(slow, 2.5 * d->o->slip_floor) : slow)) {
        d->sense[grip] = tangents > 1 || u[0] > 0.0 ? 1.0 : -1.0;
        for (int j = 0; j < tangents; j++) {
          d->direction[SALTUSI_SLIPS * grip + j] = u[j] / size;
        }
      }
    }
  }
}

void saltusi_load_slips(saltusi_decision* d, const double* v, int count) {
  assert(d != NULL && v != NULL && count >= 0);
  load_coefficients(d);
  load_grips(d, v, count);
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    d->mu[key] *= saltusi_is_prescribed(d, key) ? 1.0 : d->grip_part;
    if (d->o->law[key]->friction == NULL || !saltusi_is_prescribed(d, key)) {
      continue;
    }
    double u[SALTUSI_SLIPS] = {0.0};
    double slip[SALTUSI_SLIPS];
    for (int k = 0; k < d->o->tangents[key]; k++) {
      int row = d->o->nj + d->o->base[key] + 1 + k;
      u[k] = saltusi_row_dot(&d->mode->row, row, v) + d->mode->row.b[row];
    }
    if (d->o->tangents[key] == 1) { /* prescribed slip begins with zero velocity */
      u[0] = d->sense[key] * fmax(0.0, d->sense[key] * u[0]);
      saltusi_friction_mode_direction(d->o, key, d->sense[key], u, slip);
      d->share[key] = slip[0] * d->sense[key];
    } else if (saltusi_length(d->o->tangents[key], u) > 0.0) {
      saltusi_friction_mode_direction(d->o, key, 1.0, u,
                                      d->direction + SALTUSI_SLIPS * (size_t)key);
    }
  }
}

bool saltusi_let_go(saltusi_decision* d, int count) {
  assert(d != NULL && count >= 0);
  bool any = false;
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    if (d->contact[key].mode != SALTUSI_SLIP || d->sense[key] != 0.0 || !(d->mu[key] > 0.0) ||
        !saltusi_friction_mode_falls(d->o, key)) {
      continue;
    }
    const double* a = d->u_after + d->o->base[key] + 1;
    const double* l = d->impulse + d->o->base[key] + 1;
    d->begun[key] = true;
    any = true;
    if (d->o->tangents[key] == 1) {
      d->sense[key] = d->contact[key].sense;
      d->share[key] = saltusi_friction_mode_ratio(d->o, key, 0.0);
      continue;
    }
    int tangents = d->o->tangents[key];
    bool moves = saltusi_length(tangents, a) > 0.0;
    double u[SALTUSI_SLIPS];
    for (int k = 0; k < tangents; k++) {
      u[k] = moves ? a[k] : -l[k];
    }
    d->sense[key] = 1.0;
    saltusi_friction_mode_from_rest(d->o, key, u, d->direction + SALTUSI_SLIPS * (size_t)key);
  }
  return any;
}

bool saltusi_load_impact(saltusi_decision* d, int count) {
  assert(d != NULL && count >= 0);
  load_coefficients(d);
  bool any = false;
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    const saltus_friction_law* law = d->o->law[key]->friction;
    const double* u = d->u_before + d->o->base[key] + 1;
    if (saltusi_has_curve(law) && d->mu[key] > 0.0) {
      bool slips = saltusi_length(d->o->law[key]->tangents, u) > saltusi_slip_rounding(d);
      saltusi_curve_start(&d->curve[key], law, d->mu[key],
                          slips ? saltusi_friction_mode_speed(d->o, key, u) : 0.0);
      d->mu[key] *= d->curve[key].ratio;
      any = true;
    }
  }
  return any;
}

bool saltusi_follow_impact(saltusi_decision* d, int count, int round) {
  assert(d != NULL && count >= 0);
  const double rests = 1e-11 * saltusi_max_abs(d->o->nl, d->u_before);
  double change = 0.0;
  for (int i = 0; i < count; i++) {
    int key = d->set[i];
    int row = d->o->base[key];
    const saltus_contact_law* law = d->o->law[key];
    if (!saltusi_has_curve(law->friction) || !(d->o->mu[key] > 0.0) || !(d->impulse[row] > 0.0)) {
      continue;
    }
    double u[SALTUSI_SLIPS] = {0.0}; /* slip velocity */
    for (int k = 0; k < law->tangents; k++) {
      u[k] = d->u_after[row + 1 + k] + law->e_T * d->u_before[row + 1 + k];
    }
    bool slips = saltusi_length(law->tangents, u) > rests;
    bool turned = saltusi_dot(law->tangents, u, d->u_before + row + 1) < 0.0;
    change =
        fmax(change, saltusi_curve_follow(&d->curve[key], law->friction, d->o->mu[key],
                                          slips ? saltusi_friction_mode_speed(d->o, key, u) : 0.0,
                                          turned, saltusi_curve_damping(round)));
    d->mu[key] = d->o->mu[key] * d->curve[key].ratio;
  }
  return change > saltusi_curve_settled;
}
