/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * work_precision.h - error against time: every scheme of the registry that can treat a problem, with
 * ever finer steps or tolerances; for the study and the benchmark.
 */
#ifndef WORK_PRECISION_H
#define WORK_PRECISION_H

#include "motions.h"
#include "tolerance_run.h"

enum { PRECISION_POINTS = 24 };

/* A problem with its motion by another program. */
typedef struct precision_problem {
  const tolerance_case* what;
  tolerance_model model;
  const motion* known;
  double times[MOTION_INSTANTS]; /* s, the last is the end */
} precision_problem;

saltus_status precision_open(const char* name, saltus_log log, precision_problem* problem);
void precision_close(precision_problem* problem);

/* One scheme: errors and what they cost, coarse first. */
typedef struct precision_line {
  const saltus_scheme_info* scheme;
  int count;                      /* 0: it cannot treat the problem */
  double error[PRECISION_POINTS]; /* largest |q error| at the instants */
  double cpu[PRECISION_POINTS];   /* s */
  double tol[PRECISION_POINTS];   /* 0: fixed steps */
  long long steps[PRECISION_POINTS];
  saltus_work work[PRECISION_POINTS];
} precision_line;

/* Runs until one takes longer than cpu_max. */
precision_line precision_sweep(const precision_problem* problem, const saltus_scheme_info* scheme,
                               double cpu_max);

/* The least time of a line at which its error is at most `goal`; infinite when it never is. */
double precision_time(const precision_line* line, double goal);

/* The same for evaluations of the forces. */
double precision_forces(const precision_line* line, double goal);

#endif
