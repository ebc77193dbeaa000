/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_mode_transition.c - rolling and drilling friction and bonds where contacts open, close and have
 * impacts.
 */
#include "adaptive/adaptive.h"

#include <assert.h>

void saltusi_release_friction_modes(saltusi_adaptive* w, int key) {
  assert(w != NULL && key >= 0);
  for (int k = 0; k < SALTUSI_GRIPS; k++) {
    int grip = saltusi_friction_mode_of(&w->o, key, k);
    if (grip >= 0) {
      w->contact[grip].mode = SALTUSI_OPEN;
    }
  }
}

void saltusi_settle_friction_modes(saltusi_adaptive* w, int key) {
  assert(w != NULL && key >= 0);
  for (int k = 0; k < SALTUSI_GRIPS; k++) {
    int grip = saltusi_friction_mode_of(&w->o, key, k);
    if (grip < 0) {
      continue;
    }
    saltusi_contact* c = &w->contact[grip];
    c->mode = saltusi_is_pressed(&w->contact[key]) ? c->mode : SALTUSI_OPEN;
    c->fresh_slip = c->mode == SALTUSI_SLIP && w->decision.sense[grip] == 0.0;
  }
}

void saltusi_loosen(saltusi_adaptive* w) {
  assert(w != NULL);
  for (int key = 0; w->o.pulled && key < w->o.nc; key++) {
    const saltus_friction_law* law = w->o.law[key]->friction;
    if (w->contact[key].mode == SALTUSI_OPEN && law != NULL) {
      w->contact[key].bonded = law->rebinds;
    }
  }
}
