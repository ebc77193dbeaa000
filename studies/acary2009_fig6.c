/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2009_fig6.c - Runge-Kutta methods that capture events: implicit ones (Acary 2009, figure 6),
 * explicit ones (figure 7) and all of them on all problems, columns of balls included.
 */
#include "acary2009_fig6_tables.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The error of the method itself is the same in every correct program: 5 %. On the ball and the
 * forced ball the brackets of the events are seen, and near rounding nothing else: a factor 5. */
static void claim_row(study_report* report, const study_series* series, const event_table* table,
                      const event_table_row* row) {
  bool widths = strcmp(table->problem, "ball") == 0 || strcmp(table->problem, "forced-ball") == 0;
  double worst = 1.0;
  double worst_small = 1.0;
  for (int i = 0; i < EVENT_TABLE_GRIDS; i++) {
    double ratio = report->rows[series->first + i].error.q.inf / row->error[i];
    double off = fmax(ratio, 1.0 / ratio);
    if (widths || row->error[i] < 1e-11) {
      worst_small = fmax(worst_small, off);
    } else {
      worst = fmax(worst, off);
    }
  }
  char id[192];
  if (!widths) {
    snprintf(id, sizeof id, "q inf of the table, largest ratio, %s", series->label);
    study_claim_error(report, id, worst, 1.05);
  }
  if (worst_small > 1.0) {
    snprintf(id, sizeof id, "q inf of the table, magnitude, %s", series->label);
    study_claim_most(report, id, worst_small, 5.0);
  }
}

static bool is_explicit(const char* scheme) {
  static const char* const names[] = {"explicit-euler", "midpoint", "heun-3", "rk4",
                                      "rkf45",          "dopri5"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(scheme, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* The rows of one kind of all tables. */
static int run_tables(study_report* report, bool explicit_ones) {
  const event_table* table;
  for (int k = 0; (table = event_table_at(k)) != NULL; k++) {
    for (int r = 0; r < EVENT_TABLE_ROWS; r++) {
      const event_table_row* row = &table->rows[r];
      if (is_explicit(row->scheme) != explicit_ones) {
        continue;
      }
      int code = study_run_problem(report, table->problem, row->scheme, "bracket=0.001",
                                   table->t_end, table->steps, EVENT_TABLE_GRIDS);
      if (code != CLI_DONE) {
        return code;
      }
      claim_row(report, &report->series[report->series_count - 1], table, row);
    }
  }
  return CLI_DONE;
}

static int run_implicit(const cli_args* args, study_report* report) {
  (void)args;
  return run_tables(report, false);
}

static int run_explicit(const cli_args* args, study_report* report) {
  (void)args;
  return run_tables(report, true);
}

const study study_acary2009_fig6 = {
    .name = "acary2009-fig6",
    .summary = "implicit Runge-Kutta methods through events: errors on E1 to E4",
    .source = "Acary 2009 (RR-7151), figure 6; docs/theory/event-capturing.md, 5",
    .run = run_implicit,
};

const study study_acary2009_fig7 = {
    .name = "acary2009-fig7",
    .summary = "explicit Runge-Kutta methods through events: errors on E1 to E4",
    .source = "Acary 2009 (RR-7151), figure 7; docs/theory/event-capturing.md, 5",
    .run = run_explicit,
};

/* Where the order of a method is seen: what it is there, and on which grids. On parabolas a method
 * of order 2 is exact and leaves the brackets, C h^(p+1). */
typedef struct order_case {
  const char* problem;
  double t_end;
  long long steps[3];
  bool parabolas;
} order_case;

static const order_case order_cases[] = {
    {"ball", 5.0, {23, 47, 97}, true},
    {"oscillator", 5.0, {101, 211, 401}, false},
    {"oscillator-damped", 5.0, {101, 211, 401}, false},
    {"oscillator-preload", 5.0, {101, 211, 401}, false},
    {"pendulum-wall", 3.0, {120, 240, 480}, false},
    {"forced-ball", 5.0, {101, 211, 401}, false},
};

static bool captures_events(const saltus_scheme_info* info) {
  return info->options.count > 0 && strcmp(info->options.fields[0].name, "bracket") == 0;
}

/* On the forced ball methods of order 2 jump about on these grids (docs/theory/event-capturing.md,
 * 5). */
static bool order_is_seen(const order_case* where, int order) {
  bool forced = strcmp(where->problem, "forced-ball") == 0;
  return order > 1 && (!forced || order >= 3);
}

static int run_order(study_report* report, const saltus_scheme_info* info,
                     const order_case* where) {
  int code = study_run_problem(report, where->problem, info->name, "bracket=0.001", where->t_end,
                               where->steps, 3);
  if (code != CLI_DONE || !order_is_seen(where, info->order)) {
    return code;
  }
  const study_series* series = &report->series[report->series_count - 1];
  if (report->rows[series->first + 2].error.q.inf < 2e-12) { /* rounding has taken over */
    char id[192];
    snprintf(id, sizeof id, "q inf with %lld steps, %s", where->steps[2], series->label);
    study_claim_error(report, id, report->rows[series->first + 2].error.q.inf, 2e-12);
    return code;
  }
  char id[192];
  snprintf(id, sizeof id, "order of q inf, %s", series->label);
  double expected = info->order + (where->parabolas ? 1 : 0);
  /* a force of time alone is a quadrature, in which a method may be one order better */
  bool quadrature = strcmp(where->problem, "forced-ball") == 0;
  study_claim_range(report, id, study_order(report, series, study_q_inf), expected - 0.5,
                    expected + (quadrature ? 1.5 : 0.5));
  return code;
}

/* Largest difference of a run of a column to a fine one of another method. */
static int column_error(const saltus_known_motion* problem, const saltusi_experiment* fine,
                        long long steps, double* error) {
  int balls = saltus_known_motion_system(problem)->dims.nq;
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
                                      .scheme = "radau-iia-3",
                                      .t_end = saltus_known_motion_get_info(problem)->t_end,
                                      .steps = steps,
                                      .log = cli_log()};
  saltusi_experiment run;
  saltus_status status = saltusi_experiment_run(&def, &run);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  int stride = (fine->motion.count - 1) / (int)steps;
  *error = 0.0;
  for (int k = 0; k < run.motion.count; k++) {
    for (int b = 0; b < balls; b++) {
      *error =
          fmax(*error, fabs(run.motion.q[k * balls + b] - fine->motion.q[k * stride * balls + b]));
    }
  }
  saltusi_experiment_free(&run);
  return CLI_DONE;
}

/* Columns of balls come to rest through two accumulations in each other: order 4 of Radau IIA 3,
 * since all flights are parabolas. */
static int claim_column(study_report* report, const char* name) {
  saltus_known_motion* problem;
  if (saltus_known_motion_create(name, cli_log(), NULL, &problem) != SALTUS_OK) {
    return CLI_FAILED;
  }
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
                                      .scheme = "gauss-6",
                                      .t_end = saltus_known_motion_get_info(problem)->t_end,
                                      .steps = 2560,
                                      .log = cli_log()};
  saltusi_experiment fine;
  saltus_status status = saltusi_experiment_run(&def, &fine);
  int code = cli_exit_code(status);
  double error[2] = {NAN, NAN};
  for (int i = 0; i < 2 && code == CLI_DONE; i++) {
    code = column_error(problem, &fine, i == 0 ? 40 : 320, &error[i]);
  }
  if (status == SALTUS_OK) {
    saltusi_experiment_free(&fine);
  }
  saltus_known_motion_destroy(problem);
  if (code == CLI_DONE) {
    char id[192];
    snprintf(id, sizeof id, "order of q inf, 40 to 320 steps, %s, radau-iia-3", name);
    study_claim_range(report, id, log2(error[0] / error[1]) / 3.0, 3.25, 4.75);
  }
  return code;
}

static int run_orders(const cli_args* args, study_report* report) {
  (void)args;
  int code = CLI_DONE;
  for (int i = 0; i < saltus_scheme_count() && code == CLI_DONE; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    for (size_t k = 0; k < sizeof order_cases / sizeof order_cases[0]; k++) {
      if (captures_events(info) && code == CLI_DONE) {
        code = run_order(report, info, &order_cases[k]);
      }
    }
  }
  if (code == CLI_DONE) {
    code = claim_column(report, "column:2");
  }
  return code == CLI_DONE ? claim_column(report, "column:3") : code;
}

const study study_order_through_events = {
    .name = "order-through-events",
    .summary = "every Runge-Kutta method on every problem keeps its order through events",
    .source = "Acary 2009 (RR-7151), section 6; docs/theory/event-capturing.md, 5",
    .run = run_orders,
};
