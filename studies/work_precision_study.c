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
static const double stall_limit = 0.02;

static bool is_adaptive(const saltus_scheme_info* info) {
  return strncmp(info->name, "adaptive", 8) == 0;
}

/* Shown by name; the others only in their best. */
static const char* const shown[] = {"adaptive-dopri5", "adaptive-dop853", "moreau-jean",
                                    "trapezoidal-implicit-mean"};

/* Points of a line in the order of their time. */
static void add_line(study_report* report, const char* problem, const precision_line* line) {
  int order[PRECISION_POINTS];
  for (int i = 0; i < line->count; i++) {
    int k = i;
    for (; k > 0 && line->cpu[i] < line->cpu[order[k - 1]]; k--) {
      order[k] = order[k - 1];
    }
    order[k] = i;
  }
  double none[PRECISION_POINTS];
  double x[PRECISION_POINTS];
  double y[PRECISION_POINTS];
  for (int i = 0; i < line->count; i++) {
    none[i] = NAN;
    x[i] = line->cpu[order[i]];
    y[i] = fmax(line->error[order[i]], 1e-16); /* a figure of logarithms */
    study_note_run(report, line->steps[order[i]], line->work[order[i]]);
  }
  char label[96];
  snprintf(label, sizeof label, "%s: error of q, %s", problem,
           line->scheme != NULL ? line->scheme->name : "best of all others");
  study_add_series(report, label, line->count, x, y, none);
}

/* The least time of all others for errors of 10^-1/2, 10^-1, ...; of equal times the smallest error. */
static void add_best(study_report* report, const char* problem, const precision_line* lines,
                     int count) {
  precision_line best = {0};
  for (int k = 0; k < PRECISION_POINTS; k++) {
    double goal = pow(10.0, -0.5 * (k + 1));
    double least = INFINITY;
    const precision_line* from = NULL;
    int at = 0;
    for (int i = 0; i < count; i++) {
      for (int p = 0; !is_adaptive(lines[i].scheme) && p < lines[i].count; p++) {
        if (lines[i].error[p] <= goal && lines[i].cpu[p] < least) {
          least = lines[i].cpu[p];
          from = &lines[i];
          at = p;
        }
      }
    }
    if (from != NULL) {
      best.count -= best.count > 0 && best.cpu[best.count - 1] == least;
      best.cpu[best.count] = least;
      best.steps[best.count] = from->steps[at];
      best.work[best.count] = from->work[at];
      best.error[best.count++] = goal;
    }
  }
  add_line(report, problem, &best);
}

/* Time of the best other scheme over that of the best of the family; others that never get there are
 * given the time they were granted, so the true ratio is larger. */
static double ratio_at(const precision_line* lines, int count, double goal) {
  double ours = INFINITY;
  double others = stall_limit;
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

/* Speeds depend on the machine and on what else it does: they are measured, make bench shows them. */
static void claim_precision(study_report* report, const char* name, const precision_line* lines,
                            int count) {
  static const double goals[] = {1e-6, 1e-8, 1e-10};
  for (int k = 0; k < 3; k++) {
    char id[96];
    snprintf(id, sizeof id, "%s: time of the best other over ours at %g", name, goals[k]);
    study_measure(report, id, ratio_at(lines, count, goals[k]));
    double ours = INFINITY;
    double others = INFINITY;
    for (int i = 0; i < count; i++) {
      double* best = is_adaptive(lines[i].scheme) ? &ours : &others;
      *best = fmin(*best, precision_forces(&lines[i], goals[k]));
    }
    snprintf(id, sizeof id, "%s: evaluations of the best other over ours at %g", name, goals[k]);
    study_claim_range(report, id, others / ours, 1.0, INFINITY);
  }
}

/* Every scheme with a tolerance, against the motion of another program with its accuracy: the largest
 * error over the tolerance. One that runs with fixed steps: the smallest error it reached. */
static void claim_errors(study_report* report, const char* name, const precision_problem* problem,
                         const precision_line* lines, int count) {
  for (int i = 0; i < count; i++) {
    const precision_line* line = &lines[i];
    double worst = 0.0;
    double least = INFINITY;
    for (int k = 0; k < line->count; k++) {
      double error = fmax(0.0, line->error[k] - problem->known->accuracy);
      worst = fmax(worst, line->tol[k] > 0.0 ? error / line->tol[k] : 0.0);
      least = fmin(least, error);
    }
    char id[96];
    if (line->count > 0 && is_adaptive(line->scheme)) {
      snprintf(id, sizeof id, "%s, %s: largest error over tol", name, line->scheme->name);
      study_claim_error(report, id, worst, 10.0);
    } else if (line->count > 0) {
      snprintf(id, sizeof id, "%s, %s: smallest error", name, line->scheme->name);
      study_measure(report, id, least);
    }
  }
}

static int run_problem(study_report* report, const char* name, precision_line* lines) {
  precision_problem problem;
  saltus_status status = precision_open(name, cli_log(), &problem);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  int count = saltus_scheme_count();
  for (int i = 0; i < count; i++) {
    lines[i] = precision_sweep(&problem, saltus_scheme_at(i), stall_limit);
  }
  for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
    for (int i = 0; i < count; i++) {
      const precision_line* line = &lines[i];
      if (line->count > 1 && strcmp(line->scheme->name, shown[k]) == 0) {
        add_line(report, name, line);
      }
    }
  }
  add_best(report, name, lines, count);
  claim_errors(report, name, &problem, lines, count);
  precision_close(&problem);
  claim_precision(report, name, lines, count);
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
    .source = "docs/theory/adaptive.md, 12",
    .run = run,
};
