/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact.h - impacts on touching contacts, and on contacts that these close; statuses are decided after them, in
 * transition.c.
 */
#ifndef SALTUSI_IMPACT_H
#define SALTUSI_IMPACT_H

#include "adaptive/adaptive.h"
#include "adaptive/thresholds.h"

/* Row k of a contact, 0: its normal velocity. */
static inline double saltusi_contact_velocity(const saltusi_mode_dynamics* m, const double* y,
                                              int key, int k) {
  int row = m->o->nj + m->o->base[key] + k;
  return saltusi_row_dot(&m->row, row, saltusi_v_of(m->o, y)) + m->row.b[row];
}

static inline bool saltusi_is_member(const int* list, int count, int key) {
  int i = 0;
  while (i < count && list[i] != key) {
    i++;
  }
  return i < count;
}

/* Gaps that count as closed (section 2). */
static inline double saltusi_near_gap(const saltusi_adaptive* w) {
  return fmax(saltusi_gap_rounding * w->o.size, saltusi_near_part * w->o.atol_q_min);
}

/* Whether the features of an open contact are the closest ones at contact. */
static inline bool saltusi_is_there(const saltusi_adaptive* w, int key) {
  return !w->o.featured || w->o.listed[key];
}

/* Normal velocities below this count as zero: a row sums some products of v and G, as a gap does of q. */
double saltusi_normal_rounding(saltusi_adaptive* w, const double* y);

/* Impacts on w->transition.members until none of them approaches; contacts that the impacts close are added. */
saltus_status saltusi_impact_members(saltusi_adaptive* w, double t, double* y, int* count,
                                     double rounding);

#endif
