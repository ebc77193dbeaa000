/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * work_precision.c - see work_precision.h. Schemes have their default options; those with a tolerance
 * are swept over it, the others over the number of steps.
 */
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

saltus_status precision_open(const char* name, saltus_log log, precision_problem* problem) {
  *problem = (precision_problem){.what = tolerance_case_find(name)};
  if (problem->what == NULL) {
    return SALTUS_ERR_NAME;
  }
  saltus_status status = tolerance_open(problem->what, log, &problem->model);
  if (status != SALTUS_OK) {
    return status;
  }
  problem->known = motion_find(name);
  for (int k = 0; k < MOTION_INSTANTS && problem->known != NULL; k++) {
    problem->times[k] = motion_time(problem->known, k);
  }
  return problem->known != NULL ? SALTUS_OK : SALTUS_ERR_NAME;
}

void precision_close(precision_problem* problem) {
  tolerance_close(&problem->model);
}

/* One way to run a problem. */
typedef struct attempt {
  const precision_problem* problem;
  const saltus_scheme_info* scheme;
  const void* options;
  long long steps; /* 0: the scheme chooses */
  int next;        /* instant */
  double error;
  long long taken; /* steps */
  saltus_work work;
} attempt;

static void note_error(attempt* a, const double* q) {
  int n = a->problem->model.system->dims.nq;
  for (int i = 0; i < n; i++) {
    double off = fabs(q[i] - motion_q(a->problem->known, a->next)[i]);
    a->error = off <= a->error ? a->error : off; /* NaN stays */
  }
  a->next++;
}

static saltus_status take_frame(void* user, const saltus_frame* frame) {
  attempt* a = user;
  if (a->next < MOTION_INSTANTS && frame->t >= a->problem->times[a->next]) {
    note_error(a, frame->q);
  }
  return SALTUS_OK;
}

static saltus_sim_def definition(const attempt* a) {
  return (saltus_sim_def){
      .system = a->problem->model.system,
      .scheme = a->scheme->name,
      .options = a->options,
      .h = a->steps > 0 ? a->problem->what->t_end / (double)a->steps : 0.0,
      .q0 = a->problem->model.q0,
      .v0 = a->problem->model.v0,
  };
}

/* The error at the instants: fixed steps end on them, the others have dense output. */
static saltus_status measure_error(attempt* a) {
  const saltus_recorder recorder = {.frame = take_frame, .user = a};
  saltus_sim_def def = definition(a);
  if (a->steps == 0) {
    def.recorders = &recorder;
    def.recorder_count = 1;
    def.record_times = a->problem->times;
    def.record_time_count = MOTION_INSTANTS;
  }
  a->next = 0;
  a->error = 0.0;
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status != SALTUS_OK) {
    return status;
  }
  if (a->steps == 0) {
    status = saltus_sim_run_until(sim, a->problem->what->t_end);
  }
  for (int k = 1; a->steps > 0 && k <= MOTION_INSTANTS && status == SALTUS_OK; k++) {
    status = saltus_sim_run(sim, a->steps * k / MOTION_INSTANTS);
    note_error(a, saltus_sim_q(sim));
  }
  a->taken = saltus_sim_steps_done(sim);
  a->work = saltus_sim_work(sim);
  saltus_sim_destroy(sim);
  return status;
}

/* The run alone, without observers; the shortest of some. */
static saltus_status measure_time(const attempt* a, double* cpu) {
  saltus_sim_def def = definition(a);
  saltus_status status = SALTUS_OK;
  *cpu = INFINITY;
  for (int k = 0; k < 5 && status == SALTUS_OK && (k == 0 || *cpu < 2e-3); k++) {
    double start = seconds();
    saltus_sim* sim;
    status = saltus_sim_create(&def, &sim);
    if (status == SALTUS_OK) {
      status = a->steps > 0 ? saltus_sim_run(sim, a->steps)
                            : saltus_sim_run_until(sim, a->problem->what->t_end);
      saltus_sim_destroy(sim);
    }
    *cpu = fmin(*cpu, seconds() - start);
  }
  return status;
}

/* Options with a tolerance, and what else is needed to get through accumulations. */
static saltus_status set_tolerance(const saltus_scheme_info* scheme, double tol, void* options) {
  char text[32];
  snprintf(text, sizeof text, "%g", tol);
  const saltus_field_table* table = &scheme->options;
  saltus_options_defaults(table, options);
  if (!scheme->chooses_step) { /* event-driven */
    saltus_status status =
        saltus_options_set(table, options, scheme->name, "tolerance", text, (saltus_log){0});
    return status != SALTUS_OK ? status
                               : saltus_options_set(table, options, scheme->name, "at_accumulation",
                                                    "capture", (saltus_log){0});
  }
  saltus_status status =
      saltus_options_set(table, options, scheme->name, "rtol", text, (saltus_log){0});
  return status != SALTUS_OK
             ? status
             : saltus_options_set(table, options, scheme->name, "atol", text, (saltus_log){0});
}

static bool has_tolerance(const saltus_scheme_info* scheme) {
  return scheme->chooses_step || strcmp(scheme->name, "event-driven") == 0;
}

precision_line precision_sweep(const precision_problem* problem, const saltus_scheme_info* scheme,
                               double cpu_max) {
  precision_line line = {.scheme = scheme};
  void* options = calloc(1, scheme->options.size);
  bool tolerant = has_tolerance(scheme);
  int most = tolerant ? 10 : PRECISION_POINTS - 4;
  for (int k = 0; options != NULL && k < most; k++) {
    attempt a = {.problem = problem, .scheme = scheme, .options = options};
    saltus_options_defaults(&scheme->options, options);
    if (tolerant && set_tolerance(scheme, pow(10.0, -3.0 - k), options) != SALTUS_OK) {
      break;
    }
    if (!scheme->chooses_step) {
      a.steps = tolerant ? 4 * MOTION_INSTANTS : (long long)MOTION_INSTANTS << (k / 2);
      a.steps = !tolerant && k % 2 == 1 ? a.steps * 3 / 2 : a.steps;
    }
    double cpu;
    /* coarse steps may fail where finer ones do not */
    if (measure_error(&a) == SALTUS_OK && isfinite(a.error) &&
        measure_time(&a, &cpu) == SALTUS_OK) {
      line.error[line.count] = a.error;
      line.tol[line.count] = tolerant ? pow(10.0, -3.0 - k) : 0.0;
      line.steps[line.count] = a.taken;
      line.work[line.count] = a.work;
      line.cpu[line.count++] = cpu;
      if (cpu > cpu_max) {
        break;
      }
    }
  }
  free(options);
  return line;
}

double precision_time(const precision_line* line, double goal) {
  double least = INFINITY;
  for (int k = 0; k < line->count; k++) {
    least = line->error[k] <= goal ? fmin(least, line->cpu[k]) : least;
  }
  return least;
}

double precision_forces(const precision_line* line, double goal) {
  double least = INFINITY;
  for (int k = 0; k < line->count; k++) {
    double forces = (double)line->work[k].force_evaluations;
    least = line->error[k] <= goal ? fmin(least, forces) : least;
  }
  return least;
}
