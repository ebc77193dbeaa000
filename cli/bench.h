/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench.h - saltus bench solvers: times of solvers on a collection of problems, as performance
 * profiles (Dolan & More, Math. Program. 91 (2002) 201-213): the fraction of problems that a solver solves within tau
 * times the time of the fastest one.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"
#include "problem_job.h"

enum { BENCH_ENTRANTS = 48, BENCH_TAUS = 6 };

/* A time is the least of this many calls, or of those within this many seconds. */
enum { BENCH_REPEATS = 2000 };
#define BENCH_SECONDS 0.03

/* 5 % quantile of the times; the minimum of fewer than twenty. CPU times of the kernel jump occasionally, and the
 * minimum of many would be such a jump. Sorts the array. */
double bench_least(double* seconds, int count);

/* A solver of Saltus or of Siconos. */
typedef struct bench_entrant {
  const char* name; /* as printed: "siconos nsgs" */
  int siconos;      /* its number in Siconos; 0: a solver of Saltus */
  int rows; /* Siconos: 2, 3: only contacts with this number of rows; complementarity: 1, 2 mixed */
  int inner; /* Siconos: number of the solver inside; 0: the default one */
  struct {
    int at, value;
  } integer[2]; /* Siconos: integer parameters; at = 0: none */
} bench_entrant;

typedef struct bench_problem {
  const char* name; /* file without folder */
  int contacts;
} bench_problem;

/* All times of one kind of problem. */
typedef struct bench_race {
  const char* title; /* "friction" */
  int entrants;
  bench_entrant entrant[BENCH_ENTRANTS];
  int problems;
  bench_problem* problem; /* [problems] */
  double* seconds;        /* [problems x entrants] INFINITY: not solved */
} bench_race;

void bench_print(const bench_race* race);

/* Saltus against the best solver of Siconos, problem by problem. */
void bench_print_ratios(const bench_race* race);

/* Both races as panels of one figure. CLI exit code. */
int bench_draw(const bench_race* races, int count, const char* path, double tol);

/* Siconos, loaded when it is installed. NULL with a message otherwise. */
typedef struct bench_siconos bench_siconos;
bench_siconos* bench_siconos_open(void);
void bench_siconos_close(bench_siconos* siconos);

/* Entrants of Siconos appended to the races. */
void bench_siconos_enter(bench_race* friction, bench_race* complementarity);

/* Passes a problem by a file; the next times are those of this problem. */
void bench_siconos_load(bench_siconos* siconos, const problem_job* j);

/* Seconds of the fastest of many calls that bring the residual, measured by Saltus, to tol; INFINITY if none does. The
 * tolerance of the solver is tightened until it does. ours: time of the portfolio; the others may take 2 s plus a
 * hundred times that, at most 10 s. */
double bench_siconos_time(bench_siconos* siconos, const bench_entrant* entrant,
                          const problem_job* j, double tol, double ours);

#endif
