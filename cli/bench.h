/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench.h - saltus bench solvers: times of solvers on a collection of problems, as performance
 * profiles (Dolan & More, Math. Program. 91 (2002) 201-213): the part of the problems that a solver
 * solves within tau times the time of the fastest one.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"
#include "problem_job.h"

enum { BENCH_ENTRANTS = 48, BENCH_TAUS = 6 };

/* A time is the least of so many calls, or of those that fit into so many seconds. */
enum { BENCH_REPEATS = 2000 };
#define BENCH_SECONDS 0.03

/* The time that one call in twenty is shorter than, the smallest of fewer than twenty: the kernel's
 * account of CPU time jumps now and then, and the smallest of many would be such a jump. Sorts. */
double bench_least(double* seconds, int count);

/* A solver of ours or of Siconos. */
typedef struct bench_entrant {
  const char* name; /* as printed: "siconos nsgs" */
  int siconos;      /* its number there; 0: one of ours */
  int rows;         /* Siconos: 2, 3: contacts of so many rows only; complementarity: 1, 2 mixed */
  int inner;        /* Siconos: number of the solver inside; 0: the default one */
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

/* Ours against the best of Siconos, problem by problem. */
void bench_print_ratios(const bench_race* race);

/* Both races as panels of one figure. CLI exit code. */
int bench_draw(const bench_race* races, int count, const char* path, double tol);

/* Siconos, loaded when it is installed. NULL with a message otherwise. */
typedef struct bench_siconos bench_siconos;
bench_siconos* bench_siconos_open(void);
void bench_siconos_close(bench_siconos* siconos);

/* Entrants of Siconos appended to the races. */
void bench_siconos_enter(bench_race* friction, bench_race* complementarity);

/* Hands a problem over, through a file; the next times are of it. */
void bench_siconos_load(bench_siconos* siconos, const problem_job* j);

/* Seconds of the fastest of many calls that bring the residual, measured by us, to tol; INFINITY
 * when none does. Its own tolerance is tightened until it does. ours: the time of the portfolio, which
 * bounds the time of the others to 2 s and a hundred times that, at most 10 s. */
double bench_siconos_time(bench_siconos* siconos, const bench_entrant* entrant,
                          const problem_job* j, double tol, double ours);

#endif
