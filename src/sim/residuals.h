/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * residuals.h - largest residuals of a simulation; they do not influence the motion, and nothing is allocated.
 */
#ifndef SALTUSI_RESIDUALS_H
#define SALTUSI_RESIDUALS_H

#include "saltus/residual.h"
#include "saltus/scheme.h"
#include "system/evaluate.h"

typedef struct saltusi_residuals {
  saltus_worst worst[SALTUS_RESIDUALS];
  double slip; /* m/s, largest so far: a millionth of it counts as rest */
} saltusi_residuals;

void saltusi_residuals_start(saltusi_residuals* r);

/* Stores a value if it is the largest so far; who NULL: no contact. */
void saltusi_residuals_keep(saltusi_residuals* r, saltus_residual_kind kind, double value, double t,
                            const saltus_contact_step* who);

/* A step from t0 to t1. located: impacts are events of the report, and impulses of contacts are means over a step
 * in which they may open and close. */
void saltusi_residuals_step(saltusi_residuals* r, const saltus_system* sys,
                            const saltus_step_report* report, double t0, double t1, bool located);

/* Likewise for a row of joints. */
void saltusi_residuals_joint(saltusi_residuals* r, saltus_residual_kind kind, double value,
                             double t, int row);
/* Rate of violation of joints at a state; block holds the rows of the largest joint. */
void saltusi_residuals_rates(saltusi_residuals* r, const saltus_system* sys, const saltus_point* at,
                             saltusi_row_block* block);

#endif
