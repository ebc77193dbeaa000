/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2008_higher_order.c - precision over work of schemes of any order (Acary 2008, section "Time-
 * stepping schemes of any order": the linear oscillator, then the bouncing ball through its
 * accumulation), against Moreau's scheme with constant and with controlled steps and against
 * event-driven integration. The slides plot; what is claimed here follows from the orders, and the
 * errors at 211 steps are those of another program (docs/theory/event-capturing.md, 5). How many
 * force evaluations a goal takes depends on how an implementation counts them: measured, not
 * claimed.
 */
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct method {
  const char *scheme, *options;
  int order;
  double q_inf; /* of the oscillator at 211 steps; 0: not known */
} method;

static const method methods[] = {
    {"midpoint", "bracket=0.001", 2, 2.003e-2},
    {"radau-iia-3", "bracket=0.001", 3, 2.284e-4},
    {"rk4", "bracket=0.001", 4, 2.231e-5},
    {"radau-iia-5", "bracket=0.001", 5, 5.047e-8},
    {"lobatto-iiia-6", "bracket=0.001", 6, 5.913e-10},
    {"event-driven", "at_accumulation=capture tolerance=1e-14", 5, 0.0},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

typedef struct problem_case {
  const char* problem;
  long long steps[4];
  bool parabolas; /* methods of order 2 are exact between impacts: brackets are what is left */
} problem_case;

static const problem_case cases[] = {
    {"oscillator", {101, 211, 401, 809}, false},
    {"ball", {23, 47, 97, 191}, true},
};

/* The series that was run last, with a name for people. */
static study_series* named(study_report* report, const char* problem, const char* name) {
  study_series* series = &report->series[report->series_count - 1];
  snprintf(series->label, sizeof series->label, "%s to 5 s, %s", problem, name);
  return series;
}

/* Least squares slope of log L1(q) over log work, as a positive number. */
static double order_over_work(const study_report* report, const study_series* series) {
  double sum_x = 0.0, sum_y = 0.0, sum_xx = 0.0, sum_xy = 0.0;
  int n = series->count;
  for (int i = 0; i < n; i++) {
    const study_row* row = &report->rows[series->first + i];
    double x = log((double)study_work(report, row));
    double y = log(row->error.q.l1);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  return -(n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

/* Force evaluations that L1(q) = goal takes: between two rows, or from the last on with `order`. */
static double work_for(const study_report* report, const study_series* series, double goal,
                       double order) {
  const study_row* rows = report->rows + series->first;
  for (int i = 1; i < series->count; i++) {
    double a = rows[i - 1].error.q.l1;
    double b = rows[i].error.q.l1;
    if (a > goal && b <= goal) {
      double s = log(a / goal) / log(a / b);
      return exp((1.0 - s) * log((double)study_work(report, &rows[i - 1])) +
                 s * log((double)study_work(report, &rows[i])));
    }
  }
  int at = rows[0].error.q.l1 <= goal ? 0 : series->count - 1;
  double off = rows[at].error.q.l1 / goal;
  return (double)study_work(report, &rows[at]) * (at == 0 ? 1.0 : pow(off, 1.0 / order));
}

static int run_moreau(study_report* report, const problem_case* c, double* constant,
                      double* controlled) {
  static const long long steps[] = {1009, 2003, 4001, 8009, 16001, 32003};
  static const double tolerances[] = {1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
  int code = study_run_problem(report, c->problem, "moreau-jean", "theta=0.5 gamma=1", 5.0, steps,
                               sizeof steps / sizeof steps[0]);
  if (code != CLI_DONE) {
    return code;
  }
  char id[192];
  const study_series* series = named(report, c->problem, "Moreau");
  *constant = work_for(report, series, 1e-8, 1.0);
  if (c->parabolas) { /* on the oscillator the error jumps about with N (docs/theory/moreau-jean.md, 5) */
    snprintf(id, sizeof id, "order over work, %s", series->label);
    study_claim_range(report, id, order_over_work(report, series), 0.8, 1.25);
  }
  const study_controlled what = {.problem = c->problem,
                                 .scheme = "moreau-jean",
                                 .options = "theta=0.5 gamma=1",
                                 .control = "variable-order",
                                 .t_end = 5.0,
                                 .tolerances = tolerances,
                                 .tolerance_count = sizeof tolerances / sizeof tolerances[0]};
  code = study_run_controlled(report, &what);
  if (code == CLI_DONE) {
    series = named(report, c->problem, "Moreau, controlled");
    *controlled = work_for(report, series, 1e-8, order_over_work(report, series));
  }
  return code;
}

static int run_case(study_report* report, const problem_case* c) {
  double constant = NAN;
  double controlled = NAN;
  double best = INFINITY;
  double driven = NAN;
  char id[192];
  int code = run_moreau(report, c, &constant, &controlled);
  for (int k = 0; k < METHODS && code == CLI_DONE; k++) {
    const method* m = &methods[k];
    code = study_run_problem(report, c->problem, m->scheme, m->options, 5.0, c->steps, 4);
    if (code != CLI_DONE) {
      break;
    }
    const study_series* series = named(report, c->problem, m->scheme);
    int order = m->order + (c->parabolas ? 1 : 0);
    double work = work_for(report, series, 1e-8, order);
    if (!c->parabolas && m->q_inf > 0.0) {
      snprintf(id, sizeof id, "q inf at 211 steps, %s", series->label);
      study_claim_near(report, id, study_q_inf(study_find(report, series, 211)), m->q_inf, 0.005);
    }
    if (strcmp(m->scheme, "event-driven") == 0) {
      driven = work;
    } else {
      best = fmin(best, work);
    }
    if (!(c->parabolas && strcmp(m->scheme, "event-driven") == 0)) {
      /* locating an event costs a number of steps that grows with log(1/h) only, so the error
       * falls at least as fast over the work as over 1/h */
      snprintf(id, sizeof id, "order over work, %s", series->label);
      study_claim_range(report, id, order_over_work(report, series), 0.9 * order, 2.5 * order);
    }
  }
  if (code != CLI_DONE) {
    return code;
  }
  snprintf(id, sizeof id, "force evaluations to q L1 = 1e-8, Moreau (extrapolated) / best, %s",
           c->problem);
  study_measure(report, id, constant / best);
  snprintf(id, sizeof id, "force evaluations to q L1 = 1e-8, Moreau controlled / best, %s",
           c->problem);
  study_measure(report, id, controlled / best);
  snprintf(id, sizeof id, "force evaluations to q L1 = 1e-8, event-driven / best, %s", c->problem);
  study_measure(report, id, driven / best);
  return code;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  report->over_work = true;
  report->over_forces = true;
  int code = CLI_DONE;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0] && code == CLI_DONE; k++) {
    code = run_case(report, &cases[k]);
  }
  return code;
}

const study study_acary2008_higher_order = {
    .name = "acary2008-higher-order",
    .summary = "precision over work: schemes of any order against Moreau and event-driven",
    .source = "Acary 2008 (CSMA slides), time-stepping schemes of any order",
    .run = run,
};
