/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * perturbed_restart.c - spatial contacts that begin to slide from rest: a velocity that gives them a direction
 * (section 9).
 */
#include "adaptive/adaptive.h"
#include "math/matrix.h"

#include <assert.h>

/* Contacts that touch and slide slower than this fraction of a perturbation are at rest. */
static const double still_part = 1e-3;

/* Sliding contacts that hardly move: they get the direction of -l_T for now. */
static int find_perturbed(saltusi_adaptive* w, double t, const double* y, double speed) {
  int count = 0;
  saltusi_mode_rows(&w->mode, t, y, true);
  for (int key = 0; key < w->o.nc; key++) {
    w->transition.perturbation.on[key] = false;
    int tangents = w->o.tangents[key];
    if (tangents < 2 || w->o.mu[key] == 0.0 || w->contact[key].mode != SALTUSI_SLIP) {
      continue;
    }
    int row = w->o.nj + w->o.base[key] + 1;
    const double* l = w->decision.impulse + w->o.base[key] + 1;
    double friction = saltusi_length(tangents, l);
    double u[SALTUSI_SLIPS];
    for (int k = 0; k < tangents; k++) {
      u[k] = saltusi_row_dot(&w->mode.row, row + k, y + w->o.nq) + w->mode.row.b[row + k];
    }
    if (saltusi_length(tangents, u) < speed && friction > 0.0) {
      w->transition.perturbation.on[key] = true;
      for (int k = 0; k < tangents; k++) {
        w->decision.direction[SALTUSI_SLIPS * key + k] = -l[k] / friction;
      }
      count++;
    }
  }
  return count;
}

/* Contacts that begin to slide from rest get a small velocity, far below the tolerance, so that their direction is
 * defined: all in proportion to the accelerations of the friction problem, which a rigid body can follow, and the
 * slowest with twice the speed at which slip stops. */
saltus_status saltusi_perturb_slips(saltusi_adaptive* w, double t, double* y) {
  assert(w != NULL);
  const double most = 50.0; /* between the fastest and the slowest */
  double speed = 2.0 * w->o.slip_floor;
  if (find_perturbed(w, t, y, speed) == 0) {
    return SALTUS_OK;
  }
  double largest = 0.0;
  double least = INFINITY;
  for (int key = 0; key < w->o.nc; key++) {
    double* u = w->transition.perturbation.u + SALTUSI_SLIPS * (size_t)key;
    for (int k = 0; w->transition.perturbation.on[key] && k < w->o.tangents[key]; k++) {
      u[k] = w->decision.u_after[w->o.base[key] + 1 + k];
    }
    double size = saltusi_length(w->o.tangents[key], u);
    largest = w->transition.perturbation.on[key] ? fmax(largest, size) : largest;
    least = w->transition.perturbation.on[key] ? fmin(least, size) : least;
  }
  bool along = largest > 0.0;
  double factor = along ? speed / fmax(least, largest / most) : 0.0;
  for (int key = 0; key < w->o.nc; key++) {
    double* u = w->transition.perturbation.u + SALTUSI_SLIPS * (size_t)key;
    for (int k = 0; w->transition.perturbation.on[key] && k < w->o.tangents[key]; k++) {
      u[k] = along ? factor * u[k] : speed * w->decision.direction[SALTUSI_SLIPS * key + k];
    }
  }
  w->transition.perturbation.still = still_part * speed;
  return saltusi_mode_project_velocity(&w->mode, t, y, &w->transition.perturbation);
}
