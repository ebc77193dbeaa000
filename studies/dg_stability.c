/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_stability.c - linear stability of the time-discontinuous Galerkin families
 * (docs/theory/problems.md, 6.8): the factor of one step with a damper, and with a spring.
 */
#include "dg_series.h"

#include <math.h>
#include <stdio.h>

/* The largest modulus of a step with h c/m = x (damper) or h omega = x (spring). */
static saltus_status factor(int family, int degree, bool spring, double x, double* value,
                            saltus_work* work) {
  saltus_dg_options o = dg_options(family, degree);
  o.iteration = SALTUS_DG_NEWTON; /* far beyond where the fixed point converges */
  const dg_oscillator oscillator = {.stiffness = x * x};
  return spring ? dg_growth(dg_families[family], &o, &oscillator, cli_log(), value, work)
                : dg_decay(dg_families[family], &o, x, cli_log(), value, work);
}

/* Where the factor passes 1 + 1e-9, by bisection between a stable and an unstable x. */
static saltus_status limit(int family, int degree, bool spring, double from, double to,
                           double* where) {
  for (int k = 0; k < 40; k++) {
    double middle = 0.5 * (from + to);
    double value;
    saltus_work work = {0};
    saltus_status status = factor(family, degree, spring, middle, &value, &work);
    if (status != SALTUS_OK) {
      return status;
    }
    if (value <= 1.0 + 1e-9) {
      from = middle;
    } else {
      to = middle;
    }
  }
  *where = from;
  return SALTUS_OK;
}

static saltus_status draw_factors(study_report* report, int family, int degree, bool spring) {
  double x[DG_GRIDS_MAX];
  double y[DG_GRIDS_MAX];
  for (int k = 0; k < DG_GRIDS_MAX; k++) {
    x[k] = spring ? 0.2 * (k + 1) : 0.53 * pow(2.0, 0.5 * k);
    saltus_work work = {0};
    saltus_status status = factor(family, degree, spring, x[k], &y[k], &work);
    study_note_run(report, work.steps, work);
    if (status != SALTUS_OK) {
      return status;
    }
    y[k] = spring ? fmax(fabs(y[k] - 1.0), 1e-17) : y[k]; /* 1e-17: neutral */
  }
  char text[96];
  char method[32];
  snprintf(text, sizeof text, "%s: %s", spring ? "spring | |R| - 1 |" : "damper |R|",
           dg_families[family]);
  snprintf(method, sizeof method, "degree %d", degree);
  dg_add(report, text, method, DG_GRIDS_MAX, x, y);
  return SALTUS_OK;
}

static saltus_status claim_limits(study_report* report, int family, int degree) {
  static const double damper[DG_DEGREES] = {0.0, 2.00, 5.42, 14.09, 21.59};
  static const double spring[2][DG_DEGREES] = {{0.0, 2.000, 2.828, 0.0, 0.0},
                                               {0.0, 2.000, 2.828, 3.064, 3.134}};
  char id[128];
  double where = NAN;
  saltus_status status = SALTUS_OK;
  if (family == 0) {
    status = limit(family, degree, false, 0.5, 40.0, &where);
    snprintf(id, sizeof id, "largest h c/m, dg-minus degree %d", degree);
    study_claim_near(report, id, where, damper[degree], 0.03);
  } else {
    double worst = 0.0;
    for (double x = 0.125; x < 1e9 && status == SALTUS_OK; x *= 1.5) {
      double value;
      saltus_work work = {0};
      status = factor(family, degree, false, x, &value, &work);
      worst = fmax(worst, value);
    }
    snprintf(id, sizeof id, "largest factor with any damper, dg-plus degree %d", degree);
    study_claim_range(report, id, worst, 0.0, 1.0);
  }
  if (status == SALTUS_OK && spring[family][degree] > 0.0) {
    status = limit(family, degree, true, 1.0, 3.14, &where);
    snprintf(id, sizeof id, "largest h omega, %s degree %d", dg_families[family], degree);
    study_claim_near(report, id, where, spring[family][degree], 0.03);
  }
  return status;
}

static saltus_status claim_growth(study_report* report, int family, int degree) {
  char id[128];
  double one = NAN;
  double fifth = NAN;
  saltus_work work = {0};
  saltus_status status = factor(family, degree, true, 1.0, &one, &work);
  if (status == SALTUS_OK) {
    status = factor(family, degree, true, 0.2, &fifth, &work);
  }
  double sign = family == 0 ? 1.0 : -1.0; /* what D1- adds, D1+ takes */
  snprintf(id, sizeof id, "growth a step at h omega = 1, %s degree %d", dg_families[family],
           degree);
  if (degree <= 2) {
    study_claim_range(report, id, one - 1.0, -1e-14, 1e-14);
    return status;
  }
  dg_claim_independent(report, id, sign * (one - 1.0), degree == 3 ? 3.5e-5 : 1.8e-7);
  if (degree == 3) {
    snprintf(id, sizeof id, "growth a step at h omega = 0.2, %s degree 3", dg_families[family]);
    dg_claim_independent(report, id, sign * (fifth - 1.0), 2.3e-9);
  }
  return status;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  report->x_label = "h c/m of a damper, h omega of a spring";
  for (int family = 0; family < 2; family++) {
    for (int M = 1; M < DG_DEGREES; M++) {
      saltus_status status = claim_limits(report, family, M);
      if (status == SALTUS_OK) {
        status = claim_growth(report, family, M);
      }
      if (status == SALTUS_OK) {
        status = draw_factors(report, family, M, false);
      }
      if (status == SALTUS_OK) {
        status = draw_factors(report, family, M, true);
      }
      if (status != SALTUS_OK) {
        return cli_exit_code(status);
      }
    }
  }
  return CLI_DONE;
}

const study study_dg_stability = {
    .name = "dg-stability",
    .summary = "time-DG schemes: how far dampers and springs let the step grow",
    .source = "docs/theory/problems.md, 6.8",
    .run = run,
};
