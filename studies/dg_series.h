/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_series.h - what the studies of time-discontinuous Galerkin schemes share.
 */
#ifndef STUDIES_DG_SERIES_H
#define STUDIES_DG_SERIES_H

#include "dg_problems.h"
#include "study.h"

enum { DG_DEGREES = 5, DG_GRIDS_MAX = 16 };

extern const char* const dg_families[2]; /* dg-minus, dg-plus */

/* Defaults of a family with another degree. */
saltus_dg_options dg_options(int family, int degree);

/* One line of a figure: the errors of a quantity over the step. */
void dg_add(study_report* report, const char* quantity, const char* method, int count,
            const double* h, const double* errors);

/* Claims that a number is that of another program: within 3 %, or half a unit
 * of its second digit. */
void dg_claim_independent(study_report* report, const char* id, double measured,
                          double independent);

/* The slope between the ends of a series of errors. */
double dg_slope(int count, const double* h, const double* errors);

#endif
