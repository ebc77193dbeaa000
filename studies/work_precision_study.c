/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * work_precision_study.c - error against CPU time: the adaptive family and every other scheme of the
 * registry that can treat the problem. The figure shows the family, some well-known schemes, and the
 * best of all others at each error.
 */
#include "study.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scheme that has not reached an error after this time is out of the running [s]. */
static const double patience = 0.02;

static bool is_adaptive(const saltus_scheme_info* info) {
  return strncmp(info->name, "adaptive", 8) == 0;
}

/* Shown by name; the others only in their best. */
static const char* const shown[] = {"adaptive-dopri5", "adaptive-dop853", "moreau-jean",
                                    "trapezoidal-implicit-mean"};

/* Points in the order of their time. */
static void sort_points(int count, double* cpu, double* error) {
  for (int i = 1; i < count; i++) {
    for (int k = i; k > 0 && cpu[k] < cpu[k - 1]; k--) {
      double t = cpu[k];
      double e = error[k];
      cpu[k] = cpu[k - 1];
      error[k] = error[k - 1];
      cpu[k - 1] = t;
      error[k - 1] = e;
    }
  }
}

static void add_line(study_report* report, const char* problem, const char* name, int count,
                     const double* cpu, const double* error) {
  double none[PRECISION_POINTS];
  double x[PRECISION_POINTS];
  double y[PRECISION_POINTS];
  for (int i = 0; i < count; i++) {
    none[i] = NAN;
    x[i] = cpu[i];
    y[i] = fmax(error[i], 1e-16); /* a figure of logarithms */
  }
  sort_points(count, x, y);
  char label[96];
  snprintf(label, sizeof label, "%s: error of q, %s", problem, name);
  study_add_series(report, label, count, x, y, none);
}

/* The least time of all others for errors of 10^-1/2, 10^-1, ...; of equal times the smallest error. */
static void add_best(study_report* report, const char* problem, const precision_line* lines,
                     int count) {
  double cpu[PRECISION_POINTS];
  double error[PRECISION_POINTS];
  int n = 0;
  for (int k = 0; k < PRECISION_POINTS; k++) {
    double goal = pow(10.0, -0.5 * (k + 1));
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
      least = is_adaptive(lines[i].scheme) ? least : fmin(least, precision_time(&lines[i], goal));
    }
    if (isfinite(least)) {
      n -= n > 0 && cpu[n - 1] == least;
      cpu[n] = least;
      error[n++] = goal;
    }
  }
  add_line(report, problem, "best of all others", n, cpu, error);
}

/* Time of the best other scheme over that of the best of the family; others that never get there are
 * given the time they were granted, so the true ratio is larger. */
static double ratio_at(const precision_line* lines, int count, double goal) {
  double ours = INFINITY;
  double others = patience;
  for (int i = 0; i < count; i++) {
    double time = precision_time(&lines[i], goal);
    if (is_adaptive(lines[i].scheme)) {
      ours = fmin(ours, time);
    } else {
      others = fmin(others, time);
    }
  }
  return others / ours;
}

static int run_problem(study_report* report, const char* name, precision_line* lines) {
  precision_problem problem;
  saltus_status status = precision_open(name, cli_log(), &problem);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  int count = saltus_scheme_count();
  for (int i = 0; i < count; i++) {
    lines[i] = precision_sweep(&problem, saltus_scheme_at(i), patience);
  }
  for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
    for (int i = 0; i < count; i++) {
      const precision_line* line = &lines[i];
      if (line->count > 1 && strcmp(line->scheme->name, shown[k]) == 0) {
        add_line(report, name, shown[k], line->count, line->cpu, line->error);
      }
    }
  }
  add_best(report, name, lines, count);
  precision_close(&problem);
  static const double goals[] = {1e-6, 1e-8, 1e-10};
  for (int k = 0; k < 3; k++) {
    char id[96];
    snprintf(id, sizeof id, "%s: time of the best other over ours at %g", name, goals[k]);
    study_claim_range(report, id, ratio_at(lines, count, goals[k]), 1.0, INFINITY);
  }
  return CLI_DONE;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const problems[] = {"E1", "E2b", "E3", "joint pendulum", "woodpecker"};
  report->named = true;
  report->x_label = "CPU time [s]";
  precision_line* lines = calloc((size_t)saltus_scheme_count(), sizeof *lines);
  int code = lines != NULL ? CLI_DONE : CLI_FAILED;
  for (size_t i = 0; i < sizeof problems / sizeof problems[0] && code == CLI_DONE; i++) {
    code = run_problem(report, problems[i], lines);
  }
  free(lines);
  return code;
}

const study study_work_precision = {
    .name = "work-precision",
    .summary = "error against CPU time: schemes with a tolerance and all others",
    .source = "methods: tolerance-driven integration, section 8",
    .run = run,
};
