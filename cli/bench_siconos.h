/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench_siconos.h - shared declarations of both kinds of problems for Siconos numerics.
 */
#ifndef CLI_BENCH_SICONOS_H
#define CLI_BENCH_SICONOS_H

#include "bench.h"

/* The first members of its SolverOptions. */
typedef struct siconos_options {
  int solver;
  bool set;
  int integers;
  int* integer; /* [0]: iterations at most */
  int reals;
  double* real; /* [0]: tolerance */
} siconos_options;

typedef int siconos_driver(void* problem, double* r, double* u, siconos_options* options);
typedef void siconos_around(void* problem, siconos_options* options);

struct bench_siconos {
  void* library;
  unsigned stall_limit; /* s, after which a solver is given up */
  siconos_options* (*create)(int solver);
  void (*destroy)(siconos_options* options);
  void (*set_inner)(siconos_options* options, size_t place, int solver);
  /* friction */
  void* (*read_friction)(const char* path);
  void (*free_friction)(void* problem);
  siconos_driver* spatial;
  siconos_driver* planar;
  /* complementarity, mixed or not */
  int (*read_lcp)(void* problem, const char* path);
  void (*free_lcp)(void* problem);
  siconos_driver* lcp;
  void* (*new_mixed)(void);
  int (*read_mixed)(void* problem, const char* path);
  void (*free_mixed)(void* problem);
  siconos_driver* mixed;
  siconos_around* mixed_init;
  siconos_around* mixed_reset;
  /* the last loaded problem, and its destructor */
  void* problem;
  void*
      stored; /* friction: the problem in the storage of the file, dense or sparse; NULL: only in blocks */
  void (*free_problem)(void* problem);
};

/* Options of an entrant with its own tolerance; NULL without memory. */
siconos_options* siconos_options_of(const bench_siconos* siconos, const bench_entrant* entrant,
                                    double own);

/* One call of an entrant with its own tolerance; returns the residual as measured by Saltus. */
typedef double siconos_call(bench_siconos* siconos, const bench_entrant* entrant,
                            const problem_job* j, double own, double* seconds);

/* Complementarity problems: loads one, calls a solver, checks whether a solver accepts it. */
void siconos_lcp_load(bench_siconos* siconos, const problem_job* j);
siconos_call siconos_lcp_call;
bool siconos_lcp_fits(const bench_entrant* entrant, const problem_job* j);
void siconos_lcp_enter(bench_race* race);

/* A path for a file in a new folder, which `siconos_drop` removes with it; false: none. */
typedef struct siconos_file {
  char folder[32];
  char path[64];
} siconos_file;
bool siconos_file_make(siconos_file* file, const char* name);
void siconos_file_drop(const siconos_file* file);

#endif
