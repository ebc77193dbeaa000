/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench.c - saltus bench solvers DIR: every solver on every problem of a folder. The time is that
 * of the solve with a solver already set up, as in a simulation: the least of many, less the cost
 * of reading the clock.
 */
#include "bench.h"

#include "base/clock.h"
#include "figure/figure.h"
#include "json.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRICTION, COMPLEMENTARITY, RACES };

typedef struct bench_job {
  double tol;
  bench_race races[RACES];
  bench_siconos* siconos; /* NULL: not requested */
  int read, refused;
  double clock; /* s, subtracted from every time */
} bench_job;

static bool is_problem(const char* name) {
  const char* dot = strrchr(name, '.');
  return dot != NULL && (strcmp(dot, ".dat") == 0 || strcmp(dot, ".hdf5") == 0);
}

static int by_name(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

/* Names of the problem files in the folder, sorted; the caller frees them. */
static char** list_files(const char* folder, int* count) {
  *count = 0;
  DIR* dir = opendir(folder);
  if (dir == NULL) {
    return NULL;
  }
  char** names = NULL;
  int room = 0;
  for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    if (!is_problem(entry->d_name)) {
      continue;
    }
    if (*count == room) {
      room = room > 0 ? 2 * room : 64;
      char** more = realloc(names, (size_t)room * sizeof *names);
      if (more == NULL) {
        break;
      }
      names = more;
    }
    names[*count] = strdup(entry->d_name);
    *count += names[*count] != NULL;
  }
  closedir(dir);
  if (*count > 0) {
    qsort(names, (size_t)*count, sizeof *names, by_name);
  }
  return names;
}

/* Solvers of Saltus: the selected ones, or all; the portfolio first. */
static void enter_ours(const cli_args* args, bench_job* job) {
  for (int kind = 0; kind < RACES; kind++) {
    bench_race* race = &job->races[kind];
    race->title = kind == FRICTION ? "friction" : "complementarity";
    race->entrant[race->entrants++] = (bench_entrant){.name = "auto"};
    int count = kind == FRICTION ? saltus_friction_solver_count() : saltus_lcp_solver_count();
    bool chosen = cli_has(args, "--solver");
    for (int i = 0; i < count && race->entrants < BENCH_ENTRANTS; i++) {
      const saltus_solver_info* info =
          kind == FRICTION ? saltus_friction_solver_at(i) : saltus_lcp_solver_at(i);
      bool wanted = !chosen;
      for (int k = 0; k < args->given_count; k++) {
        wanted = wanted || (strcmp(args->given[k].option->name, "--solver") == 0 &&
                            strcmp(args->given[k].value, info->name) == 0);
      }
      if (wanted && strcmp(info->name, "auto") != 0) {
        race->entrant[race->entrants++] = (bench_entrant){.name = info->name};
      }
    }
  }
  if (job->siconos != NULL) {
    bench_siconos_enter(&job->races[FRICTION], &job->races[COMPLEMENTARITY]);
  }
}

static int by_size(const void* a, const void* b) {
  double x = *(const double*)a;
  double y = *(const double*)b;
  return (x > y) - (x < y);
}

double bench_least(double* seconds, int count) {
  if (count == 0) {
    return INFINITY;
  }
  qsort(seconds, (size_t)count, sizeof *seconds, by_size);
  return seconds[count / 20];
}

/* Cost of reading the clock: as much as the solution of a small problem. */
static double clock_cost(void) {
  double seconds[BENCH_REPEATS];
  for (int k = 0; k < BENCH_REPEATS; k++) {
    double start = saltusi_clock_cpu();
    seconds[k] = saltusi_clock_cpu() - start;
  }
  return bench_least(seconds, BENCH_REPEATS);
}

/* Least time of a solver of Saltus; INFINITY if its solution is not accurate. */
static double time_ours(problem_job* j, const char* solver, double tol) {
  double seconds[BENCH_REPEATS];
  double spent = 0.0;
  int count = 0;
  while (count < BENCH_REPEATS && spent < BENCH_SECONDS) {
    if (problem_solve(j, solver, tol) != SALTUS_OK || j->result.outcome != SALTUS_SOLVED) {
      return INFINITY;
    }
    seconds[count++] = j->cpu;
    spent += j->cpu;
  }
  return bench_least(seconds, count);
}

static bool grow(bench_race* race) {
  size_t next = (size_t)race->problems + 1;
  bench_problem* problem = realloc(race->problem, next * sizeof *problem);
  if (problem != NULL) {
    race->problem = problem;
  }
  double* seconds = realloc(race->seconds, next * (size_t)race->entrants * sizeof *seconds);
  if (seconds != NULL) {
    race->seconds = seconds;
  }
  return problem != NULL && seconds != NULL;
}

static void run_problem(bench_job* job, const char* folder, const char* name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  problem_job j = {.path = path};
  if (problem_open(&j) != SALTUS_OK) {
    job->refused++;
    problem_close(&j);
    return;
  }
  job->read++;
  bool lcp = problem_is_lcp(&j);
  bench_race* race = &job->races[lcp ? COMPLEMENTARITY : FRICTION];
  if (grow(race)) {
    if (job->siconos != NULL) {
      bench_siconos_load(job->siconos, &j);
    }
    double* row = race->seconds + (size_t)race->problems * (size_t)race->entrants;
    for (int e = 0; e < race->entrants; e++) {
      const bench_entrant* entrant = &race->entrant[e];
      double taken = entrant->siconos != 0
                         ? bench_siconos_time(job->siconos, entrant, &j, job->tol, row[0])
                         : time_ours(&j, entrant->name, job->tol);
      row[e] = fmax(taken - job->clock, 1e-9);
      /* the portfolio is timed as often as all rivals together, so that the least times are comparable */
      if (entrant->siconos != 0 && isfinite(taken)) {
        row[0] = fmin(row[0], fmax(time_ours(&j, "auto", job->tol) - job->clock, 1e-9));
      }
    }
    race->problem[race->problems++] = (bench_problem){.name = name, .contacts = j.contacts};
  }
  problem_close(&j);
}

static void print_json(const bench_job* job) {
  json out = {.file = stdout};
  json_open(&out, NULL, '[');
  for (int kind = 0; kind < RACES; kind++) {
    const bench_race* race = &job->races[kind];
    for (int p = 0; p < race->problems; p++) {
      json_open(&out, NULL, '{');
      json_text(&out, "file", race->problem[p].name);
      json_text(&out, "kind", race->title);
      json_integer(&out, "contacts", race->problem[p].contacts);
      json_open(&out, "seconds", '{');
      for (int e = 0; e < race->entrants; e++) {
        double taken = race->seconds[(size_t)p * (size_t)race->entrants + (size_t)e];
        if (isfinite(taken)) {
          json_number(&out, race->entrant[e].name, taken);
        }
      }
      json_close(&out, '}');
      json_close(&out, '}');
    }
  }
  json_close(&out, ']');
}

static int report(const bench_job* job, const cli_args* args) {
  if (cli_has(args, "--json")) {
    print_json(job);
  } else {
    for (int kind = 0; kind < RACES; kind++) {
      if (job->races[kind].problems > 0) {
        bench_print(&job->races[kind]);
      }
    }
    for (int kind = 0; kind < RACES && job->siconos != NULL; kind++) {
      if (job->races[kind].problems > 0) {
        bench_print_ratios(&job->races[kind]);
      }
    }
  }
  const char* figure = cli_value(args, "-o");
  return figure != NULL ? bench_draw(job->races, RACES, figure, job->tol) : CLI_DONE;
}

static int run_folder(bench_job* job, const cli_args* args, const char* folder) {
  int count;
  char** names = list_files(folder, &count);
  if (count == 0) {
    cli_error("bench: no problem files (.dat, .hdf5) in \"%s\"", folder);
    free(names);
    return CLI_USAGE;
  }
  for (int k = 0; k < count; k++) {
    run_problem(job, folder, names[k]);
  }
  int code = job->read > 0 ? report(job, args) : CLI_USAGE;
  for (int k = 0; k < count; k++) {
    free(names[k]);
  }
  free(names);
  return code != CLI_DONE || job->refused == 0 ? code : CLI_FAILED;
}

int cli_bench(const cli_args* args) {
  bench_job job = {.tol = 1e-8, .clock = clock_cost()};
  if (strcmp(args->positional[0], "solvers") != 0) {
    cli_error("bench: there is no benchmark \"%s\"; there is: solvers", args->positional[0]);
    return CLI_USAGE;
  }
  int code = cli_number(args, "--tol", 0.0, 1.0, &job.tol);
  const char* figure = cli_value(args, "-o");
  if (code == CLI_DONE && figure != NULL &&
      saltusi_figure_path_check(figure, cli_log()) != SALTUS_OK) {
    code = CLI_USAGE;
  }
  if (code == CLI_DONE && cli_has(args, "--siconos")) {
    job.siconos = bench_siconos_open();
    code = job.siconos != NULL ? CLI_DONE : CLI_FAILED;
  }
  if (code == CLI_DONE) {
    enter_ours(args, &job);
    code = run_folder(&job, args, args->positional[1]);
  }
  for (int kind = 0; kind < RACES; kind++) {
    free(job.races[kind].problem);
    free(job.races[kind].seconds);
  }
  bench_siconos_close(job.siconos);
  return code;
}
