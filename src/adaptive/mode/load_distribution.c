/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * load_distribution.c - redundant contacts in space (docs/theory/adaptive.md, 4.3): many load distributions
 * satisfy their rows, and the even one may violate some friction cones while others are inside of all.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/thresholds.h"

#include <assert.h>
#include <string.h>

/* Whether a contact that shares its load with others exceeds its friction bound, with forces [nl]. */
static bool is_outside(const saltusi_adaptive* w, int key, const double* force) {
  const double* l = force + w->o.base[key];
  return w->contact[key].mode == SALTUSI_STICK && w->mode.held.shared[key] &&
         w->o.tangents[key] == 2 &&
         saltusi_friction_mode_size(&w->o, key, l + 1) >
             saltusi_friction_bound * w->o.mu[key] * fmax(l[0], 0.0);
}

saltus_status saltusi_start_rate(saltusi_adaptive* w) {
  assert(w != NULL);
  saltus_status status = saltusi_mode_rate(&w->mode, w->step.t, w->step.y0, w->step.rate0);
  bool outside = false;
  for (int key = 0; saltusi_active_may_distribute_load(&w->mode) && key < w->o.contacts; key++) {
    outside = outside || is_outside(w, key, w->step.rate0 + w->o.nq + w->o.nv);
  }
  bool inside = false;
  const double* force = w->step.rate0 + w->o.nq + w->o.nv;
  if (status == SALTUS_OK && outside) {
    status = saltusi_decide_load_distribution(&w->decision, w->step.t, w->step.y0, force, &inside);
  }
  return status == SALTUS_OK && inside && saltusi_decide_redundant_forces(&w->decision, force, 1.0)
             ? saltusi_mode_rate(&w->mode, w->step.t, w->step.y0, w->step.rate0)
             : status;
}
