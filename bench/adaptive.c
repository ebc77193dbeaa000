/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.c - runs to a tolerance: how long the double pendulum at a wall and the woodpecker take,
 * and the time of the best other scheme of the registry at equal error.
 */
#include "bench.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run in a simulation. */
typedef struct job {
  const precision_problem* problem;
  saltus_adaptive_options options;
  const char* scheme;
  double q[TOLERANCE_WIDTH];
  bool failed;
} job;

static void run_job(void* user) {
  job* j = user;
  const saltus_sim_def def = {.system = j->problem->model.system,
                              .scheme = j->scheme,
                              .options = &j->options,
                              .q0 = j->problem->model.q0,
                              .v0 = j->problem->model.v0};
  saltus_sim* sim;
  j->failed = saltus_sim_create(&def, &sim) != SALTUS_OK;
  if (!j->failed) {
    j->failed = saltus_sim_run_until(sim, j->problem->what->t_end) != SALTUS_OK;
    memcpy(j->q, saltus_sim_q(sim), (size_t)def.system->dims.nq * sizeof(double));
    saltus_sim_destroy(sim);
  }
}

/* Prints time and error of one problem at one tolerance; 1: it failed. */
static int one(const char* name, double tol, double limit_ms) {
  static const char* const schemes[] = {"adaptive-dopri5", "adaptive-dop853", "adaptive"};
  precision_problem problem;
  if (precision_open(name, (saltus_log){0}, &problem) != SALTUS_OK) {
    return 1;
  }
  int failed = 0;
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    job j = {
        .problem = &problem, .scheme = schemes[i], .options = saltus_adaptive_options_default()};
    j.options.rtol = tol;
    j.options.atol = tol;
    double ms = 1e3 * bench_fastest(run_job, &j, 30);
    double error = 0.0;
    for (int k = 0; k < problem.model.system->dims.nq; k++) {
      error = fmax(error, fabs(j.q[k] - motion_q(problem.known, MOTION_INSTANTS - 1)[k]));
    }
    printf("  %-14s %-16s tol %.0e: %7.3f ms (limit %g ms), error at the end %.1e\n", name,
           schemes[i], tol, ms, limit_ms, error);
    failed |= j.failed;
  }
  precision_close(&problem);
  return failed;
}

static int run_speed(void) {
  return one("E3", 1e-8, 2.0) | one("woodpecker", 1e-6, 5.0);
}

static void print_ratio(const char* name, const precision_line* lines, int count, double goal,
                        double stall_limit) {
  const precision_line* ours = NULL;
  const precision_line* other = NULL;
  for (int i = 0; i < count; i++) {
    bool family = strncmp(lines[i].scheme->name, "adaptive", 8) == 0;
    const precision_line** best = family ? &ours : &other;
    double time = precision_time(&lines[i], goal);
    if (isfinite(time) && (*best == NULL || time < precision_time(*best, goal))) {
      *best = &lines[i];
    }
  }
  if (ours == NULL) {
    printf("  %-14s %.0e: not reached\n", name, goal);
    return;
  }
  double own = precision_time(ours, goal);
  double theirs = other != NULL ? precision_time(other, goal) : stall_limit;
  printf("  %-14s %.0e: %-16s %8.3f ms, %-26s %8.3f ms, ratio %s%.1f\n", name, goal,
         ours->scheme->name, 1e3 * own, other != NULL ? other->scheme->name : "nothing else within",
         1e3 * theirs, other != NULL ? "" : "above ", theirs / own);
}

static int run_ratios(void) {
  static const char* const problems[] = {"E1", "E2b", "E3", "joint pendulum", "woodpecker"};
  static const double stall_limit = 0.1; /* s */
  int count = saltus_scheme_count();
  precision_line* lines = calloc((size_t)count, sizeof *lines);
  int failed = lines == NULL;
  for (size_t p = 0; p < sizeof problems / sizeof problems[0] && !failed; p++) {
    precision_problem problem;
    failed = precision_open(problems[p], (saltus_log){0}, &problem) != SALTUS_OK;
    for (int i = 0; i < count && !failed; i++) {
      lines[i] = precision_sweep(&problem, saltus_scheme_at(i), stall_limit);
    }
    for (double goal = 1e-4; goal > 1e-11 && !failed; goal *= 1e-2) {
      print_ratio(problems[p], lines, count, goal, stall_limit);
    }
    precision_close(&problem);
  }
  free(lines);
  return failed;
}

const bench bench_adaptive_speed = {
    .name = "adaptive-speed",
    .summary = "pendulum at a wall at 1e-8, woodpecker at 1e-6",
    .run = run_speed,
};

const bench bench_adaptive_ratios = {
    .name = "adaptive-ratios",
    .summary = "time of the best other scheme over the adaptive one at equal error",
    .run = run_ratios,
};
