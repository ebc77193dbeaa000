/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * positions.h - errors of positions in m and rad, whatever q is made of.
 *
 * A vector of errors is laid out as y. With maps q' = N(q) v the first nv places of its positions are the way
 * d with q advanced along d; the other nq - nv places mean nothing and have infinite tolerances.
 */
#ifndef SALTUSI_POSITIONS_H
#define SALTUSI_POSITIONS_H

#include "adaptive/adaptive.h"

/* Size of the position along velocity i, for relative tolerances. */
static inline double saltusi_position_size(const saltusi_adaptive* w, const double* y, int i) {
  return saltusi_displacement_size(&w->step.ways, y, i);
}

/* A small change x of q [nq] becomes the way [nv] that it is. */
static inline void saltusi_change_to_displacement(const saltusi_adaptive* w, const double* q,
                                                  double* x) {
  saltusi_displacement_of_change(&w->step.ways, w->sys, q, x);
}

/* h (y' - that of the dense output) at a place of a step, into y_try, which is the state there; y' is in
 * rate_mid. */
typedef void (*saltusi_dense_rate)(const saltusi_trial_motion*, double, int, int, double*);
void saltusi_defect(saltusi_adaptive* w, saltusi_dense_rate dense_rate, double theta, double h);

/* q and v of a state go on for s with their rate, which is too short for more than an acceleration. */
void saltusi_shift_along(saltusi_adaptive* w, double* y, const double* rate, double s);

#endif
