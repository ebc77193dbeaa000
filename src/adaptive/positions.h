/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * positions.h - errors of positions in m and rad, for any coordinates q.
 *
 * A vector of errors has the layout of y. With maps q' = N(q) v the first nv entries of its positions are the
 * displacement d with q advanced along d; the other nq - nv entries are unused and have infinite tolerances.
 */
#ifndef SALTUSI_POSITIONS_H
#define SALTUSI_POSITIONS_H

#include "adaptive/adaptive.h"

/* Size of the position along velocity i, for relative tolerances. */
static inline double saltusi_position_size(const saltusi_adaptive* w, const double* y, int i) {
  return saltusi_displacement_size(&w->step.ways, y, i);
}

/* Converts a small change x of q [nq] to a displacement [nv]. */
static inline void saltusi_change_to_displacement(const saltusi_adaptive* w, const double* q,
                                                  double* x) {
  saltusi_displacement_of_change(&w->step.ways, w->sys, q, x);
}

/* h (y' - that of the dense output) at one theta of a step, into y_try, which is the state there; y' is in
 * rate_mid. */
typedef void (*saltusi_dense_rate)(const saltusi_trial_motion*, double, int, int, double*);
void saltusi_defect(saltusi_adaptive* w, saltusi_dense_rate dense_rate, double theta, double h);

/* Advances q and v of a state by s with their rate; s is too short for effects beyond the acceleration. */
void saltusi_shift_along(saltusi_adaptive* w, double* y, const double* rate, double s);

#endif
