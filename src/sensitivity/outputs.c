/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * outputs.c - outputs y(t, z, p) of a scene: dy = y_z s + y_p (docs/theory/sensitivity.md, 5).
 */
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <math.h>

/* Which output of which sensitivity. */
typedef struct output_of {
  saltus_sensitivity* s;
  int number;
} output_of;

static bool output_value(saltusi_vary* v, const saltus_system* sys, saltusi_spot at,
                         const void* user, double* out) {
  const output_of* of = user;
  const saltus_observables* o = saltusi_sensitivity_observables(of->s, sys);
  (void)v;
  if (o == NULL || o->output_count != of->s->def.observables->output_count) {
    return false;
  }
  const saltus_point p = {.t = at.t, .q = at.q, .v = at.v, .scratch = of->s->output_scratch};
  if (o->outputs_with != NULL) {
    o->outputs_with(o->self, &p, NULL, of->s->output_values);
  } else {
    o->outputs(o->self, &p, of->s->output_values);
  }
  out[0] = of->s->output_values[of->number];
  return true;
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
  const saltusi_spot at = {.t = t, .q = s->y, .v = s->y + v->nq};
  for (int i = 0; i < count; i++) {
    const output_of of = {.s = s, .number = i};
    if (!output_value(v, s->def.system, at, &of, &values[i])) {
      values[i] = (double)NAN;
    }
    for (int j = 0; j < v->count; j++) {
      const saltusi_along along = {.at = at, .s = s->y + (ptrdiff_t)(j + 1) * v->n, .direction = j};
      if (!saltusi_vary_slope(v, output_value, &of, &along, 1, &slopes[j * count + i])) {
        slopes[j * count + i] = (double)NAN;
      }
    }
  }
  s->view.outputs = values;
  s->view.doutputs = slopes;
  s->view.output_count = count;
  return true;
}
