/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "adaptive/positions.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

void saltusi_shift_along(saltusi_adaptive* w, double* y, const double* rate, double s) {
  assert(w != NULL && y != NULL && rate != NULL && isfinite(s));
  double* v = y + w->o.nq;
  const double* a = rate + w->o.nq;
  if (!w->step.ways.maps) {
    saltusi_add_scaled(w->o.nq, s, rate, y);
    for (int i = 0; i < w->o.nv; i++) {
      y[i] += 0.5 * s * s * a[i];
      v[i] += s * a[i];
    }
    return;
  }
  for (int i = 0; i < w->o.nv; i++) {
    w->step.apart[i] = v[i] + 0.5 * s * a[i];
    v[i] += s * a[i];
  }
  saltusi_advance(w->sys, y, w->step.apart, s, w->step.beside);
  memcpy(y, w->step.beside, (size_t)w->o.nq * sizeof(double));
}

void saltusi_defect(saltusi_adaptive* w, saltusi_dense_rate dense_rate, double theta, double h) {
  assert(w != NULL && dense_rate != NULL && h > 0.0);
  memcpy(w->step.along, w->step.y_try, (size_t)w->o.nq * sizeof(double));
  dense_rate(&w->step.motion, theta, 0, w->o.ny, w->step.y_try);
  for (int i = 0; i < w->o.ny; i++) {
    w->step.y_try[i] = h * (w->step.rate_mid[i] - w->step.y_try[i]);
  }
  saltusi_change_to_displacement(w, w->step.along, w->step.y_try);
}
