/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * idle_contacts.c - redundant contacts beside sliding ones in the plane: where their load ends, and where vanishing
 * compliance gives them a load again (docs/solvers/indeterminate.md).
 */
#include "adaptive/adaptive.h"
#include "math/matrix.h"

#include <assert.h>

/* Loads below this fraction of the largest force are rounding of the solutions of redundant rows. */
static const double no_load = 1e-10;

bool saltusi_loads_matter(const saltusi_layout_tables* o, const saltusi_contact* contact) {
  assert(o != NULL && contact != NULL);
  bool slide = false;
  for (int key = 0; !o->spatial && key < o->contacts && !slide; key++) {
    slide = contact[key].mode == SALTUSI_SLIP && o->mu[key] > 0.0;
  }
  return slide;
}

/* The load that vanishing compliance gives an idle contact at theta. */
static saltus_status idle_load_at(saltusi_search* search, int key, double theta, double* load) {
  search->step->ops->dense(&search->step->motion, theta, 0, search->o->ny, search->probe);
  saltus_status status = saltusi_mode_rate(search->mode, search->step->t + theta * search->step->h,
                                           search->probe, search->probe_rate);
  const double* forces = search->probe_rate + search->o->nq + search->o->nv;
  bool implied = false;
  status = status == SALTUS_OK ? saltusi_mode_idle_load(search->mode, key, forces, load, &implied)
                               : status;
  *load = implied ? *load : 0.0;
  return status;
}

saltus_status saltusi_find_load(saltusi_search* search, int key, double width, int rank) {
  assert(search != NULL && key >= 0);
  const double* forces = search->step->rate1 + search->o->nq + search->o->nv;
  const double least = no_load * saltusi_max_abs(search->o->nl, forces);
  double load = 0.0;
  saltus_status status = SALTUS_OK;
  if (search->contact[key].spared || !saltusi_loads_matter(search->o, search->contact)) {
    return SALTUS_OK;
  }
  status = idle_load_at(search, key, 1.0, &load);
  if (status != SALTUS_OK || !(load > least)) {
    return status;
  }
  double last = 0.0;
  double first = 1.0;
  while (status == SALTUS_OK && first - last > width) {
    const double middle = 0.5 * (first + last);
    status = idle_load_at(search, key, middle, &load);
    last = load > least ? last : middle;
    first = load > least ? middle : first;
  }
  saltusi_found_add(
      search,
      (saltusi_found){
          .kind = SALTUSI_FOUND_DECIDE, .key = key, .theta = first, .origin = first, .rank = rank});
  return status;
}

saltus_status saltusi_make_idle(saltusi_adaptive* w, double t, const double* y, int key) {
  assert(w != NULL && y != NULL && key >= 0);
  double load = 0.0;
  bool implied = false;
  if (!saltusi_loads_matter(&w->o, w->transition.old) || !saltusi_is_balanced(&w->decision, key)) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_rate(&w->mode, t, y, w->transition.rate);
  if (status == SALTUS_OK) {
    saltusi_mode_rows(&w->mode, t, y, true);
    status = saltusi_mode_idle_load(&w->mode, key, w->transition.rate + w->o.nq + w->o.nv, &load,
                                    &implied);
  }
  if (status == SALTUS_OK && implied) {
    w->contact[key].mode = SALTUSI_IDLE;
    w->contact[key].spared = true;
  }
  return status;
}
