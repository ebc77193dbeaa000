/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2008.c - splitting schemes with constant and controlled steps (slides 42-45), and systems of
 * several balls. Numbers: methods, event capturing, 3.7 and 3.8.
 */
#include "low_order_tables.h"

#include <math.h>
#include <stdio.h>

static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-9};
enum { TOLERANCES = sizeof tolerances / sizeof tolerances[0] };

/* A closed contact without force sinks with speed |f| h (1 - e) / 2(1 + e). */
static int claim_sinking(study_report* report) {
  saltus_problem* problem;
  if (saltus_problem_create("ball", cli_log(), NULL, &problem) != SALTUS_OK) {
    return CLI_FAILED;
  }
  const saltusi_experiment_def def = {.system = saltus_problem_system(problem),
                                      .q0 = saltus_problem_q0(problem),
                                      .v0 = saltus_problem_v0(problem),
                                      .scheme = "splitting-rkf45",
                                      .t_end = 20.0,
                                      .steps = 4000,
                                      .log = cli_log()};
  saltusi_experiment run;
  saltus_status status = saltusi_experiment_run(&def, &run);
  if (status == SALTUS_OK) {
    int last = run.motion.count - 1;
    int early = last / 2;
    double speed =
        (run.motion.q[last] - run.motion.q[early]) / (run.motion.t[last] - run.motion.t[early]);
    study_claim_near(report, "speed of the resting ball, splitting without contact force", speed,
                     -2.0 * 0.005 * 0.5 / (2.0 * 1.5), 0.01);
    saltusi_experiment_free(&run);
  }
  saltus_problem_destroy(problem);
  return cli_exit_code(status);
}

static int run_splitting(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const problems[] = {"ball", "oscillator", "oscillator-damped",
                                         "oscillator-preload"};
  int code = low_order_run(report, "splitting-rkf45");
  if (code == CLI_DONE) {
    code = low_order_run(report, "splitting-rkf45-contact");
  }
  for (int k = 0; code == CLI_DONE && k < 4; k++) {
    const study_controlled what = {.problem = problems[k],
                                   .scheme = "splitting-rkf45-contact",
                                   .options = "",
                                   .control = "embedded",
                                   .t_end = 5.0,
                                   .tolerances = tolerances,
                                   .tolerance_count = TOLERANCES};
    code = study_run_controlled(report, &what);
    const study_series* series = &report->series[report->series_count - 1];
    for (int i = 0; code == CLI_DONE && i < series->count; i++) {
      const study_row* row = &report->rows[series->first + i];
      char id[128];
      snprintf(id, sizeof id, "q L1 / tol at %g, %s, embedded", row->tol, problems[k]);
      study_claim_most(report, id, row->error.q.l1 / row->tol, 15.0);
    }
  }
  return code == CLI_DONE ? claim_sinking(report) : code;
}

const study study_acary2008_splitting = {
    .name = "acary2008-splitting",
    .summary = "splitting with RKF45, with and without contact forces, constant and controlled",
    .source = "Acary 2008 (CSMA slides), slides 42-45",
    .run = run_splitting,
};

/* Stacks converge like the ball on them, chains move on as the LCP says: 2.7 and 3.8. */
static int run_balls(const cli_args* args, study_report* report) {
  (void)args;
  static const long long grids[] = {1009, 2003, 4001, 8009, 16001};
  static const char* const names[] = {"stack:3", "stack:5", "column:1"};
  for (int k = 0; k < 3; k++) {
    int code =
        study_run_problem(report, names[k], "moreau-jean", "theta=0.5 gamma=1", 5.0, grids, 5);
    if (code != CLI_DONE) {
      return code;
    }
    char id[128];
    const study_series* series = &report->series[report->series_count - 1];
    snprintf(id, sizeof id, "order of q L1, %s", names[k]);
    study_claim_range(report, id, study_order(report, series, study_q_l1), 0.8, 1.25);
  }
  static const char* const schemes[] = {"moreau-jean", "moreau-jean-projected", "schatzman-paoli",
                                        "splitting-rkf45-contact"};
  static const long long one[] = {1009};
  for (int k = 0; k < 4; k++) { /* v after the impact of the chain: exact for velocity-level laws */
    int code = study_run_problem(report, "chain:5", schemes[k], "", 4.0, one, 1);
    if (code != CLI_DONE) {
      return code;
    }
    char id[128];
    const study_row* row = &report->rows[report->row_count - 1];
    snprintf(id, sizeof id, "q inf / h of the chain of 5, %s", schemes[k]);
    study_claim_most(report, id, row->error.q.inf / row->h, 2.0);
  }
  return CLI_DONE;
}

const study study_acary2008_balls = {
    .name = "acary2008-balls",
    .summary = "columns, stacks and chains of balls",
    .source = "Acary 2008 (CSMA slides); methods 2.7 and 3.8",
    .run = run_balls,
};
