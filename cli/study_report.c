/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * study_report.c - running series of experiments and collecting rows and claims.
 */
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Capacity for one more item in a growing array; the program ends without memory. */
static void* grow(void* array, int count, int* capacity, size_t item) {
  if (count < *capacity) {
    return array;
  }
  *capacity = *capacity > 0 ? 2 * *capacity : 32;
  void* larger = realloc(array, (size_t)*capacity * item);
  if (larger == NULL) {
    cli_error("no memory");
    exit(CLI_FAILED);
  }
  return larger;
}

study_row* study_add_row(study_report* report) {
  report->rows = grow(report->rows, report->row_count, &report->row_capacity, sizeof(study_row));
  study_row* row = &report->rows[report->row_count++];
  memset(row, 0, sizeof *row);
  return row;
}

static void describe_row(study_row* row, const study_plan* plan) {
  snprintf(row->problem, sizeof row->problem, "%s", plan->problem);
  snprintf(row->scheme, sizeof row->scheme, "%s", plan->scheme->name);
  snprintf(row->options, sizeof row->options, "%s", plan->options_text);
  snprintf(row->control, sizeof row->control, "%s", plan->control != NULL ? plan->control : "");
  row->t_end = plan->t_end;
}

/* The tables of Schatzman-Paoli end with a one-sided difference, for lack of a later position. */
static void end_one_sided(const saltusi_trajectory* motion, int n) {
  size_t last = (size_t)motion->count - 1;
  double h = motion->t[last] - motion->t[last - 1];
  double* v = (double*)motion->v + last * (size_t)n;
  const double* q = motion->q + last * (size_t)n;
  for (int i = 0; i < n; i++) {
    v[i] = (q[i] - q[i - n]) / h;
  }
}

/* One run: a number of equal steps, or a tolerance. */
static int run_one(study_report* report, const study_plan* plan, long long steps, double tol) {
  saltus_control_options control = {0};
  if (plan->control != NULL) {
    saltus_options_defaults(&saltus_control_find(plan->control)->options, &control);
    control.atol = tol;
    control.rtol = 0.0;
  }
  saltus_splitting_options height = {.rebound_height = tol};
  const saltusi_experiment_def def = {
      .system = plan->system,
      .q0 = plan->q0,
      .v0 = plan->v0,
      .scheme = plan->scheme->name,
      .options = plan->height_from_tolerance ? &height : plan->options,
      .t0 = plan->t0,
      .t_end = plan->t_end,
      .steps = steps,
      .jumps = plan->jumps,
      .control = plan->control,
      .control_options = plan->control != NULL ? &control : NULL,
      .log = cli_log(),
  };
  const saltusi_reference* reference = plan->reference;
  if (plan->reference_of != NULL) {
    const int code = plan->reference_of(plan->user, steps, &reference);
    if (code != CLI_DONE) {
      return code;
    }
  }
  saltusi_experiment run;
  saltus_status status = saltusi_experiment_run(&def, &run);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  study_row* row = study_add_row(report);
  describe_row(row, plan);
  row->tol = tol;
  row->steps = run.motion.count - 1;
  row->rejections = run.rejections;
  row->h = run.h;
  row->work = run.work;
  row->cpu = run.cpu;
  if (plan->one_sided_end) {
    end_one_sided(&run.motion, plan->system->dims.nq);
  }
  status = saltusi_errors_against(reference, &run.motion, saltus_graph_tolerance_default(), NULL,
                                  &row->error);
  saltusi_experiment_free(&run);
  if (status != SALTUS_OK) {
    cli_error("%s with %lld step%s cannot be measured: %s", plan->problem, steps, cli_plural(steps),
              saltus_status_text(status));
  }
  return cli_exit_code(status);
}

/* Rates against the row before in the same series. */
static void take_rates(study_report* report, const study_series* series) {
  for (int i = series->first; i < series->first + series->count; i++) {
    int before = i > series->first ? i - 1 : i;
    const double h[2] = {report->rows[before].h, report->rows[i].h};
    const saltusi_errors errors[2] = {report->rows[before].error, report->rows[i].error};
    saltusi_errors rates[2];
    saltusi_rates(2, h, errors, rates);
    report->rows[i].rate = rates[1];
  }
}

int study_run_series(study_report* report, const study_plan* plan) {
  report->series =
      grow(report->series, report->series_count, &report->series_capacity, sizeof(study_series));
  study_series* series = &report->series[report->series_count++];
  *series = (study_series){.first = report->row_count};
  snprintf(series->label, sizeof series->label, "%s", plan->label);
  int code = CLI_DONE;
  for (int i = 0; i < plan->step_count && code == CLI_DONE; i++) {
    code = run_one(report, plan, plan->steps[i], 0.0);
  }
  for (int i = 0; i < plan->tolerance_count && code == CLI_DONE; i++) {
    code = run_one(report, plan, 0, plan->tolerances[i]);
  }
  series->count = report->row_count - series->first;
  take_rates(report, series);
  return code;
}

void study_add_series(study_report* report, const char* label, int count, const double* h,
                      const double* e_q, const double* e_v) {
  report->series =
      grow(report->series, report->series_count, &report->series_capacity, sizeof(study_series));
  study_series* series = &report->series[report->series_count++];
  *series = (study_series){.first = report->row_count, .count = count};
  snprintf(series->label, sizeof series->label, "%s", label);
  for (int i = 0; i < count; i++) {
    study_row* row = study_add_row(report);
    snprintf(row->problem, sizeof row->problem, "%.63s", label);
    row->h = h[i];
    row->error.q = (saltusi_error_norms){e_q[i], e_q[i], e_q[i], NAN};
    row->error.v = (saltusi_error_norms){e_v[i], e_v[i], e_v[i], NAN};
    if (report->cost_count >= count) {
      const study_cost* cost = &report->costs[report->cost_count - count + i];
      row->steps = cost->steps;
      row->work = cost->work;
    }
  }
  take_rates(report, series);
}

void study_note_run(study_report* report, long long steps, saltus_work work) {
  report->costs =
      grow(report->costs, report->cost_count, &report->cost_capacity, sizeof(study_cost));
  report->costs[report->cost_count++] = (study_cost){steps, work};
}

void study_add_to_run(study_report* report, long long steps, saltus_work work) {
  study_cost* cost = &report->costs[report->cost_count - 1];
  cost->steps += steps;
  cost->work.steps += work.steps;
  cost->work.force_evaluations += work.force_evaluations;
  cost->work.contact_solves += work.contact_solves;
  cost->work.newton_iterations += work.newton_iterations;
  cost->work.factorizations += work.factorizations;
  cost->work.contact_iterations += work.contact_iterations;
}

void study_begin_series(study_report* report, const char* label) {
  report->series =
      grow(report->series, report->series_count, &report->series_capacity, sizeof(study_series));
  study_series* series = &report->series[report->series_count++];
  *series = (study_series){.first = report->row_count};
  snprintf(series->label, sizeof series->label, "%s", label);
}

void study_end_series(study_report* report) {
  study_series* series = &report->series[report->series_count - 1];
  series->count = report->row_count - series->first;
}

/* Opens the problem and derives the rest of the plan from the names. */
static int run_named(study_report* report, const char* problem_name, const char* scheme_name,
                     study_plan* plan) {
  saltus_known_motion* problem;
  saltus_status status = saltus_known_motion_create(problem_name, cli_log(), NULL, &problem);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  const saltus_scheme_info* scheme = saltus_scheme_find(scheme_name);
  void* options = scheme != NULL ? calloc(1, scheme->options.size + 1) : NULL;
  int code = CLI_FAILED;
  if (options != NULL) {
    saltus_options_defaults(&scheme->options, options);
    status = saltus_options_set_line(&scheme->options, options, scheme->name, plan->options_text,
                                     cli_log());
  }
  if (options != NULL && status == SALTUS_OK) {
    saltusi_reference reference = saltusi_reference_problem(problem);
    plan->problem = problem_name;
    plan->system = saltus_known_motion_system(problem);
    plan->q0 = saltus_known_motion_q0(problem);
    plan->v0 = saltus_known_motion_v0(problem);
    plan->reference = &reference;
    plan->scheme = scheme;
    plan->options = options;
    code = study_run_series(report, plan);
    plan->reference = NULL; /* it lives here */
  }
  free(options);
  saltus_known_motion_destroy(problem);
  return code;
}

int study_run_problem(study_report* report, const char* problem_name, const char* scheme_name,
                      const char* options_text, double t_end, const long long* steps,
                      int step_count) {
  char label[128];
  bool plain = strcmp(scheme_name, "moreau-jean") == 0;
  snprintf(label, sizeof label, "%s to %g s, %s%s%s", problem_name, t_end, plain ? "" : scheme_name,
           plain || options_text[0] == '\0' ? "" : " ", options_text);
  study_plan plan = {.label = label,
                     .options_text = options_text,
                     .t_end = t_end,
                     .steps = steps,
                     .step_count = step_count,
                     .one_sided_end = strcmp(scheme_name, "schatzman-paoli") == 0};
  return run_named(report, problem_name, scheme_name, &plan);
}

int study_run_controlled(study_report* report, const study_controlled* what) {
  char label[128];
  snprintf(label, sizeof label, "%s to %g s, %s %s", what->problem, what->t_end,
           strcmp(what->scheme, "moreau-jean") == 0 ? "control" : what->scheme, what->control);
  bool splitting = strncmp(what->scheme, "splitting", 9) == 0;
  study_plan plan = {.label = label,
                     .options_text = what->options,
                     .t_end = what->t_end,
                     .control = what->control,
                     .tolerances = what->tolerances,
                     .tolerance_count = what->tolerance_count,
                     .height_from_tolerance = splitting};
  return run_named(report, what->problem, what->scheme, &plan);
}

double study_order(const study_report* report, const study_series* series, study_pick pick) {
  double* h = calloc((size_t)series->count + 1, sizeof(double));
  double* e = calloc((size_t)series->count + 1, sizeof(double));
  double order = NAN;
  if (h != NULL && e != NULL) {
    for (int i = 0; i < series->count; i++) {
      h[i] = report->rows[series->first + i].h;
      e[i] = pick(&report->rows[series->first + i]);
    }
    order = saltus_slope(series->count, h, e);
  }
  free(h);
  free(e);
  return order;
}

static study_claim* add_claim(study_report* report, const char* id, double measured) {
  report->claims =
      grow(report->claims, report->claim_count, &report->claim_capacity, sizeof(study_claim));
  study_claim* claim = &report->claims[report->claim_count++];
  *claim =
      (study_claim){.measured = measured, .least = -INFINITY, .most = INFINITY, .accepted = NAN};
  snprintf(claim->id, sizeof claim->id, "%s", id);
  return claim;
}

void study_measure(study_report* report, const char* id, double measured) {
  study_claim* claim = add_claim(report, id, measured);
  claim->holds = true;
  claim->only_measured = true;
}

void study_claim_range(study_report* report, const char* id, double measured, double lo,
                       double hi) {
  study_claim* claim = add_claim(report, id, measured);
  snprintf(claim->expected, sizeof claim->expected, "%g .. %g", lo, hi);
  claim->holds = measured >= lo && measured <= hi;
  claim->least = lo;
  claim->most = hi;
}

void study_claim_near(study_report* report, const char* id, double measured, double expected,
                      double relative) {
  study_claim* claim = add_claim(report, id, measured);
  snprintf(claim->expected, sizeof claim->expected, "%g within %g %%", expected, 100.0 * relative);
  claim->holds = fabs(measured - expected) <= relative * fabs(expected);
  claim->accepted = expected;
  claim->least = expected - relative * fabs(expected);
  claim->most = expected + relative * fabs(expected);
  claim->number = true;
}

void study_claim_most(study_report* report, const char* id, double measured, double most) {
  study_claim* claim = add_claim(report, id, measured);
  snprintf(claim->expected, sizeof claim->expected, "at most %g", most);
  claim->holds = measured <= most;
  claim->most = most;
}

void study_claim_error(study_report* report, const char* id, double error, double most) {
  study_claim_most(report, id, error, most);
  report->claims[report->claim_count - 1].number = true;
}

double study_q_inf(const study_row* row) {
  return row->error.q.inf;
}

double study_q_l1(const study_row* row) {
  return row->error.q.l1;
}

double study_q_l2(const study_row* row) {
  return row->error.q.l2;
}

double study_q_graph(const study_row* row) {
  return row->error.q.hausdorff;
}

double study_v_l1(const study_row* row) {
  return row->error.v.l1;
}

double study_v_l2(const study_row* row) {
  return row->error.v.l2;
}

double study_v_graph(const study_row* row) {
  return row->error.v.hausdorff;
}

long long study_work(const study_report* report, const study_row* row) {
  return report->over_forces ? row->work.force_evaluations : row->work.steps;
}

const study_row* study_find(const study_report* report, const study_series* series,
                            long long steps) {
  for (int i = series->first; i < series->first + series->count; i++) {
    if (report->rows[i].steps == steps) {
      return &report->rows[i];
    }
  }
  return NULL;
}
