/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2009_adaptive.c - work and precision of step-size control through impacts (Acary 2009,
 * figures 4 and 5; Acary 2008, slides 33-37). Numbers: docs/theory/step-control.md, 5.
 */
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
enum { TOLERANCES = sizeof tolerances / sizeof tolerances[0] };
static const long long grids[] = {150, 500, 1501, 5003, 15013, 50021};
enum { GRIDS = sizeof grids / sizeof grids[0] };

static const char moreau[] = "theta=0.5 gamma=1";

/* What the table of 3.3 shows for constant steps, L1 of q; two digits: 5 %. */
static const struct {
  const char* problem;
  double t_end;
  double l1[GRIDS];
} constant[] = {
    {"ball", 5.0, {2.7e-2, 7.5e-3, 2.2e-3, 7.1e-4, 2.4e-4, 6.5e-5}},
    {"ball", 2.45, {8.8e-3, 2.8e-3, 1.1e-3, 3.0e-4, 1.3e-4, 4.3e-5}},
    {"oscillator", 5.0, {5.2e-3, 7.8e-2, 5.8e-2, 1.8e-2, 2.6e-3, 1.8e-3}},
    {"oscillator-damped", 5.0, {2.0e-2, 3.4e-2, 2.5e-3, 1.6e-3, 2.5e-4, 1.2e-4}},
    {"oscillator-preload", 5.0, {9.9e-2, 1.5e-2, 3.0e-3, 9.8e-4, 2.5e-4, 6.8e-5}},
};
enum { PROBLEMS = sizeof constant / sizeof constant[0] };

static int run_constant(study_report* report, int k) {
  int code = study_run_problem(report, constant[k].problem, "moreau-jean", moreau,
                               constant[k].t_end, grids, GRIDS);
  const study_series* series = &report->series[report->series_count - 1];
  for (int i = 0; code == CLI_DONE && i < GRIDS; i++) {
    char id[128];
    snprintf(id, sizeof id, "%s to %g s, %lld constant steps, q L1", constant[k].problem,
             constant[k].t_end, grids[i]);
    study_claim_near(report, id, report->rows[series->first + i].error.q.l1, constant[k].l1[i],
                     0.05);
  }
  return code;
}

static int run_controlled(study_report* report, int k, const char* control) {
  const study_controlled what = {.problem = constant[k].problem,
                                 .scheme = "moreau-jean",
                                 .options = moreau,
                                 .control = control,
                                 .t_end = constant[k].t_end,
                                 .tolerances = tolerances,
                                 .tolerance_count = TOLERANCES};
  return study_run_controlled(report, &what);
}

/* The last row is that of tol = 1e-7. */
static const study_row* finest(const study_report* report) {
  return &report->rows[report->row_count - 1];
}

static void claim_finest(study_report* report, const char* control, double work, double l1) {
  const study_row* row = finest(report);
  char id[192];
  snprintf(id, sizeof id, "steps attempted at 1e-7, %s to %g s, %s", row->problem, row->t_end,
           control);
  study_claim_most(report, id, (double)row->work.steps, work);
  snprintf(id, sizeof id, "q L1 at 1e-7, %s to %g s, %s", row->problem, row->t_end, control);
  study_claim_error(report, id, row->error.q.l1, l1);
}

/* The printed controller on the ball through its accumulation (methods 3.3, two digits: 5 %). Its error
 * does not follow the tolerance. Flights are parabolas, which the scheme integrates exactly: q_1/2 - q_1
 * is zero, the first step of tol / |v| after an impact grows by 5 each time, and the last one covers up
 * to 4/5 of the flight and its end: step and halves all overlook the impact, agree, and are accepted
 * with the ball some |v| h below the floor. How late the impact comes depends on where powers of 5 times
 * tol / |v| fall, not on the size of tol. At 1e-3 two programs with the same formulas overlook different
 * impacts (2.3e-2 there, 9.7e-2 here and there with another order): that one is only measured. */
static void claim_printed(study_report* report) {
  static const double l1[TOLERANCES] = {9.2e-2, 0.0, 2.3e-2, 1.3e-2, 2.9e-3, 1.7e-3};
  static const double attempted[TOLERANCES] = {216, 378, 483, 567, 924, 912};
  const study_series* series = &report->series[report->series_count - 1];
  for (int i = 0; i < TOLERANCES; i++) {
    const study_row* row = &report->rows[series->first + i];
    char id[128];
    snprintf(id, sizeof id, "q L1 at %g, ball to 5 s, order 0 as printed", tolerances[i]);
    if (l1[i] == 0.0) {
      study_measure(report, id, row->error.q.l1);
      continue;
    }
    study_claim_near(report, id, row->error.q.l1, l1[i], 0.05);
    snprintf(id, sizeof id, "steps attempted at %g, ball to 5 s, order 0 as printed",
             tolerances[i]);
    study_claim_near(report, id, (double)row->work.steps, attempted[i], 0.05);
  }
}

/* Order 0, equation (67), as printed: half of the tolerances are missed by far, without the violation
 * even at 1e-7 the ball is off by 1e-3. */
static int run_fig4(const cli_args* args, study_report* report) {
  (void)args;
  report->over_work = true;
  for (int k = 0; k < PROBLEMS; k++) {
    int code = run_constant(report, k);
    if (code == CLI_DONE) {
      code = run_controlled(report, k, "order-0");
    }
    if (code != CLI_DONE) {
      return code;
    }
    if (k == 0) {
      claim_printed(report);
    } else if (k == 1) { /* before it the printed controller works: 417 steps, 4.6e-8 */
      claim_finest(report, "order-0", 550.0, 5e-7);
    }
  }
  return CLI_DONE;
}

const study study_acary2009_fig4 = {
    .name = "acary2009-fig4",
    .summary = "constant steps against step doubling of order 0 as printed, work and precision",
    .source = "Acary 2009 (RR-7151), figure 4, equation (67)",
    .run = run_fig4,
};

/* Acceptance bounds of the recommended controller, methods 3.3. */
static const double bounds[PROBLEMS][2] = {
    {1700, 6e-7}, {600, 6e-7}, {7500, 1.2e-4}, {5000, 5e-5}, {2700, 4e-6}};

static void claim_slope(study_report* report, const char* id, double lo, double hi) {
  const study_series* series = &report->series[report->series_count - 1];
  double x[TOLERANCES];
  double y[TOLERANCES];
  for (int i = 0; i < series->count && i < TOLERANCES; i++) {
    x[i] = (double)report->rows[series->first + i].work.steps;
    y[i] = report->rows[series->first + i].error.q.l1;
  }
  study_claim_range(report, id, saltus_slope(series->count, x, y), lo, hi);
}

static int run_fig5(const cli_args* args, study_report* report) {
  (void)args;
  report->over_work = true;
  for (int k = 0; k < PROBLEMS; k++) {
    static const char* const controls[] = {"variable-order-printed", "variable-order"};
    for (int c = 0; c < 2; c++) {
      int code = run_controlled(report, k, controls[c]);
      if (code != CLI_DONE) {
        return code;
      }
    }
    claim_finest(report, "variable-order", bounds[k][0], bounds[k][1]);
  }
  /* slope of error over work: -6 on the ball, where constant steps have -1 */
  int code = run_controlled(report, 0, "variable-order");
  claim_slope(report, "slope of q L1 over work, ball to 5 s, variable-order", -8.0, -4.5);
  return code;
}

const study study_acary2009_fig5 = {
    .name = "acary2009-fig5",
    .summary = "variable order, printed and robust, work and precision",
    .source = "Acary 2009 (RR-7151), figure 5, equations (68)-(70)",
    .run = run_fig5,
};

/* The new violation repairs order 0: L1 at 1e-7 by another program 4.2e-7 (ball), 3.0e-6 (preload). */
static int run_violation(const cli_args* args, study_report* report) {
  (void)args;
  report->over_work = true;
  static const struct {
    const char* control;
    int problem;
    double work, l1;
  } plans[] = {
      {"violation", 0, 2000, 2e-6}, {"violation", 2, 17000, 1.2e-4}, {"violation", 4, 4500, 1.2e-5},
      {"order-1", 0, 4000, 2e-6},   {"order-1", 2, 12500, 1.5e-4},   {"order-1", 4, 5600, 1.2e-5},
  };
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
    int code = run_controlled(report, plans[i].problem, plans[i].control);
    if (code != CLI_DONE) {
      return code;
    }
    claim_finest(report, plans[i].control, plans[i].work, plans[i].l1);
  }
  return CLI_DONE;
}

const study study_acary2008_violation = {
    .name = "acary2008-violation",
    .summary = "new violation as an error: order 0 and 1, work and precision",
    .source = "Acary 2008 (CSMA slides), slides 33-37",
    .run = run_violation,
};
