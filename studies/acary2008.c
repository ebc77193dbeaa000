/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2008.c - splitting schemes with constant and controlled steps (slides 42-45), and systems of
 * several balls. Numbers: docs/theory/splitting.md, 5, and docs/theory/problems.md, 5.
 */
#include "low_order_tables.h"
#include "motions.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-9};
enum { TOLERANCES = sizeof tolerances / sizeof tolerances[0] };

/* A closed contact without force penetrates with speed |f| h (1 - e) / 2(1 + e). */
static int claim_sinking(study_report* report) {
  saltus_known_motion* problem;
  if (saltus_known_motion_create("ball", cli_log(), NULL, &problem) != SALTUS_OK) {
    return CLI_FAILED;
  }
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
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
  saltus_known_motion_destroy(problem);
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

/* Largest |q error| of a column at the instants of its motion by another program, and the mean. */
static saltus_status off_column(const saltus_known_motion* column, const motion* known,
                                const char* scheme, long long steps, study_row* row) {
  const saltus_sim_def def = {.system = saltus_known_motion_system(column),
                              .scheme = scheme,
                              .h = known->t_end / (double)steps,
                              .q0 = saltus_known_motion_q0(column),
                              .v0 = saltus_known_motion_v0(column),
                              .log = cli_log()};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status != SALTUS_OK) {
    return status;
  }
  double worst = 0.0;
  double sum = 0.0;
  for (int k = 0; k < MOTION_INSTANTS && status == SALTUS_OK; k++) {
    status = saltus_sim_run(sim, steps * (k + 1) / MOTION_INSTANTS);
    double off = 0.0;
    for (int i = 0; i < known->nq; i++) {
      off = fmax(off, fabs(saltus_sim_q(sim)[i] - motion_q(known, k)[i]));
    }
    worst = fmax(worst, off);
    sum += off / MOTION_INSTANTS;
  }
  row->steps = steps;
  row->h = def.h;
  row->t_end = known->t_end;
  row->error.q = (saltusi_error_norms){worst, sum, NAN, NAN};
  row->error.v = (saltusi_error_norms){NAN, NAN, NAN, NAN};
  row->work = saltus_sim_work(sim);
  snprintf(row->scheme, sizeof row->scheme, "%s", scheme);
  saltus_sim_destroy(sim);
  return status;
}

/* How columns are run: numbers of steps, multiples of the 16 instants with a prime, so that impacts fall
 * anywhere in a step; the order; a bound of the largest error at the last of them over h or as it is. */
typedef struct column_plan {
  const char* scheme;
  int primes[5];
  double order_low, order_high;
  double most;
  bool over_h;
} column_plan;

static int run_column(study_report* report, const column_plan* plan, int size) {
  char name[32];
  char problem[32];
  char label[96];
  snprintf(name, sizeof name, "columns of %d", size);
  snprintf(problem, sizeof problem, "column:%d", size);
  snprintf(label, sizeof label, "%s, %s", problem, plan->scheme);
  saltus_known_motion* column;
  saltus_status status = saltus_known_motion_create(problem, cli_log(), NULL, &column);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  study_begin_series(report, label);
  study_row* row = NULL;
  for (int k = 0; k < 5 && status == SALTUS_OK; k++) {
    row = study_add_row(report);
    snprintf(row->problem, sizeof row->problem, "%s", problem);
    status = off_column(column, motion_find(name), plan->scheme,
                        MOTION_INSTANTS * (long long)plan->primes[k], row);
  }
  study_end_series(report);
  saltus_known_motion_destroy(column);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  char id[128];
  const study_series* series = &report->series[report->series_count - 1];
  snprintf(id, sizeof id, "order of q L1, %s", label);
  double order = study_order(report, series, study_q_l1);
  if (plan->over_h && size > 3) {
    study_measure(report, id, order);
    return CLI_DONE;
  }
  study_claim_range(report, id, order, plan->order_low, plan->order_high);
  snprintf(id, sizeof id, "q inf%s at %lld steps, %s", plan->over_h ? " / h" : "", row->steps,
           label);
  study_claim_error(report, id, row->error.q.inf / (plan->over_h ? row->h : 1.0), plan->most);
  return CLI_DONE;
}

/* Columns of N balls that fall 1 m apart onto the floor and onto each other (slides, "N bouncing
 * balls"), until those of the first three lie. Moreau's scheme notices an impact up to a step late,
 * which costs (1 + e) |U| h with |U| at most 4 m/s here; impacts of neighbours within one step are one
 * impact of both for it, with another outcome, and a column of 5 has such at all these steps: its order
 * is measured only. The error of Radau IIA 3 through impacts is
 * that of its brackets, order 4; another program has 1e-7 at h = 0.019 with wider ones. */
static int run_columns(study_report* report) {
  static const int sizes[3] = {2, 3, 5};
  static const column_plan plans[2] = {
      {"moreau-jean", {47, 97, 193, 389, 769}, 0.7, 1.4, 6.0, true},
      {"radau-iia-3", {2, 3, 5, 7, 11}, 3.6, 4.4, 1e-9, false},
  };
  int code = CLI_DONE;
  for (int p = 0; p < 2; p++) {
    for (int s = 0; s < 3 && code == CLI_DONE; s++) {
      code = run_column(report, &plans[p], sizes[s]);
    }
  }
  return code;
}

/* Stacks of N balls that lie, and one that falls onto them: it bounces as if alone, the others stay
 * where they are to the last bit (2.7). Errors of all stacks are therefore those of one ball, digit for digit: that is the claim, and the orders of
 * larger stacks are no evidence of their own. */
static int run_stacks(study_report* report) {
  static const long long grids[] = {1009, 2003, 4001, 8009, 16001};
  static const char* const names[] = {"stack:3", "stack:5", "stack:10"};
  double one = NAN;
  for (int k = 0; k < 3; k++) {
    int code =
        study_run_problem(report, names[k], "moreau-jean", "theta=0.5 gamma=1", 5.0, grids, 5);
    if (code != CLI_DONE) {
      return code;
    }
    char id[128];
    const study_series* series = &report->series[report->series_count - 1];
    const double error = report->rows[series->first].error.q.l1;
    if (k == 0) {
      one = error;
      snprintf(id, sizeof id, "order of q L1, %s", names[k]);
      study_claim_range(report, id, study_order(report, series, study_q_l1), 0.8, 1.25);
    } else {
      snprintf(id, sizeof id, "q L1 of %s over that of %s: one ball moves", names[k], names[0]);
      study_claim_near(report, id, error / one, 1.0, 1e-12);
    }
    static const long long hundred[] = {100};
    code = study_run_problem(report, names[k], "radau-iia-3", "", 5.0, hundred, 1);
    if (code != CLI_DONE) {
      return code;
    }
    snprintf(id, sizeof id, "q inf at 100 steps, %s, radau-iia-3", names[k]);
    study_claim_error(report, id, report->rows[report->row_count - 1].error.q.inf, 1e-5);
  }
  return CLI_DONE;
}

/* Chains move on as the complementarity problem of all contacts says (2.7). */
static int run_chains(study_report* report) {
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
    study_claim_error(report, id, row->error.q.inf / row->h, 2.0);
  }
  return CLI_DONE;
}

static int run_balls(const cli_args* args, study_report* report) {
  (void)args;
  int code = run_columns(report);
  if (code == CLI_DONE) {
    code = run_stacks(report);
  }
  return code == CLI_DONE ? run_chains(report) : code;
}

const study study_acary2008_balls = {
    .name = "acary2008-balls",
    .summary = "columns, stacks and chains of balls",
    .source = "Acary 2008 (CSMA slides); methods 2.7 and 3.8",
    .run = run_balls,
};
