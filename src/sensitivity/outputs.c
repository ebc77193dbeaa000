/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * outputs.c - outputs y(t, z, p) of a scene: dy = y_z s + y_p (docs/theory/sensitivity.md, 5).
 */
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <math.h>

bool saltusi_sensitivity_output_values(saltusi_vary* v, const saltus_system* sys,
                                       saltusi_phase_point at, const void* user, double* out) {
  const saltus_sensitivity* s = user;
  assert(s != NULL && out != NULL);
  const saltus_observables* o = saltusi_sensitivity_observables(s, sys);
  (void)v;
  if (o == NULL || o->output_count != s->def.observables->output_count) {
    return false;
  }
  const saltus_point p = {.t = at.t, .q = at.q, .v = at.v, .scratch = s->output_scratch};
  if (o->outputs_with != NULL) {
    o->outputs_with(o->self, &p, NULL, out);
  } else {
    o->outputs(o->self, &p, out);
  }
  return true;
}

void saltusi_sensitivity_integral_jump(saltus_sensitivity* s, double t, const double* z,
                                       double sign) {
  assert(s != NULL && z != NULL);
  const saltusi_vary* v = &s->vary;
  const int m = v->integrands;
  const saltusi_phase_point at = {.t = t, .q = z, .v = z + v->nq};
  if (m == 0 ||
      !saltusi_sensitivity_output_values(&s->vary, s->def.system, at, s, s->output_values)) {
    return;
  }
  for (int k = 0; k < m; k++) {
    s->output_jump[k] = (sign > 0.0 ? 0.0 : s->output_jump[k]) + sign * s->output_values[k];
  }
  double* sums = s->y + (ptrdiff_t)v->n * (1 + v->count) + m;
  for (int j = 0; j < v->count && sign < 0.0; j++) {
    for (int k = 0; k < m; k++) {
      sums[j * m + k] += s->output_jump[k] * s->dt[j];
    }
  }
}

bool saltusi_sensitivity_outputs(saltus_sensitivity* s, double t) {
  assert(s != NULL && s->y != NULL);
  const saltus_observables* o = s->def.observables;
  saltusi_vary* v = &s->vary;
  if (o == NULL || o->output_count == 0) {
    return true;
  }
  const int count = o->output_count;
  double* values = SALTUSI_TAKE(&s->pool, double, count);
  double* slopes = SALTUSI_TAKE(&s->pool, double, (size_t)count*(size_t)(v->count + 1));
  if (s->pool.failed) {
    return false;
  }
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  if (!saltusi_sensitivity_output_values(v, s->def.system, at, s, values)) {
    return true;
  }
  for (int j = 0; j < v->count; j++) {
    const saltusi_along along = {.at = at, .s = s->y + (ptrdiff_t)(j + 1) * v->n, .direction = j};
    if (!saltusi_vary_slope(v, saltusi_sensitivity_output_values, s, &along, count,
                            slopes + (ptrdiff_t)j * count)) {
      return true;
    }
  }
  s->view.outputs = values;
  s->view.doutputs = slopes;
  s->view.output_count = count;
  s->view.integrals = v->integrands > 0 ? s->y + (ptrdiff_t)v->n * (1 + v->count) : NULL;
  return true;
}
