/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * invariants.c - conditions of every accepted step, independent of the event search (docs/theory/events.md, 8).
 */
#include "adaptive/adaptive.h"
#include "adaptive/thresholds.h"

#include <assert.h>

/* The largest unresolved penetration; -1: none. Separating it would move bodies without an impact in the energy
 * balance. */
static saltus_status find_overlap(saltusi_adaptive* w, double t, int* deepest) {
  *deepest = -1;
  return w->o.featured && !w->o.settings.without_checks
             ? saltusi_deepest(&w->search, t, w->step.y_end, deepest)
             : SALTUS_OK;
}

saltus_status saltusi_check_end(saltusi_adaptive* w, double t, saltusi_refusal* refusal) {
  assert(w != NULL && refusal != NULL);
  saltus_status status = w->o.nc > 0 ? saltusi_mode_gaps(&w->mode, t, w->step.y_end) : SALTUS_OK;
  for (int key = 0; key < w->o.nc && status == SALTUS_OK; key++) {
    bool separated = !saltusi_is_closed(&w->contact[key]) && !w->contact[key].touching;
    if (w->o.featured && separated) {
      continue;
    }
    double deep =
        /* the first have the depth at closing */
        separated ? w->o.atol_q_min : 10.0 * w->o.atol_q_min;
    if (!saltusi_is_pressed(&w->contact[key]) && w->mode.gap[key] < -deep &&
        !w->o.settings.without_checks) {
      *refusal = (saltusi_refusal){.why = SALTUSI_PENETRATION, .index = key, .part = 0.5};
    }
  }
  int deepest = -1;
  status = status == SALTUS_OK ? find_overlap(w, t, &deepest) : status;
  if (deepest >= 0) {
    *refusal = (saltusi_refusal){.why = SALTUSI_PENETRATION, .index = deepest, .part = 0.5};
  }
  return status;
}

saltus_status saltusi_check_event(saltusi_adaptive* w, const saltusi_found* f, double t,
                                  saltusi_refusal* refusal) {
  assert(w != NULL && f != NULL && refusal != NULL);
  saltus_status status = SALTUS_OK;
  int deepest = -1;
  if (f->kind == SALTUSI_FOUND_HIT) { /* its gap must be zero there */
    status = saltusi_mode_gaps(&w->mode, t, w->step.y_end);
    double rounding = saltusi_surface_rounding * w->o.size;
    if (fabs(w->mode.gap[f->key]) > fmax(saltusi_depth_part * w->o.atol_q_min, rounding)) {
      *refusal = (saltusi_refusal){.why = SALTUSI_OFF_SURFACE, .index = f->key, .part = 0.5};
      return status;
    }
  }
  if (status == SALTUS_OK && t > w->step.t) { /* an event before it may have been missed */
    status = find_overlap(w, t, &deepest);
  }
  if (deepest >= 0 && deepest != f->key) {
    *refusal = (saltusi_refusal){
        .why = SALTUSI_PENETRATION, .index = deepest, .part = 0.5 * fmin(1.0, f->theta)};
  }
  return status;
}
