/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * work_precision.h - error against time: every scheme of the registry that can treat a problem, with
 * ever finer steps or tolerances; for the study and the benchmark.
 */
#ifndef WORK_PRECISION_H
#define WORK_PRECISION_H

#include "tolerance_run.h"

enum { PRECISION_INSTANTS = 16, PRECISION_POINTS = 24 };

/* A problem with its motion at equal distances in time. */
typedef struct precision_problem {
  const tolerance_case* what;
  tolerance_model model;
  double times[PRECISION_INSTANTS]; /* s, the last is the end */
  double q[PRECISION_INSTANTS][TOLERANCE_WIDTH];
} precision_problem;

saltus_status precision_open(const char* name, saltus_log log, precision_problem* problem);
void precision_close(precision_problem* problem);

/* One scheme: errors and seconds, coarse first. */
typedef struct precision_line {
  const saltus_scheme_info* scheme;
  int count;                      /* 0: it cannot treat the problem */
  double error[PRECISION_POINTS]; /* largest |q error| at the instants */
  double cpu[PRECISION_POINTS];   /* s */
} precision_line;

/* Runs until one takes longer than cpu_max. */
precision_line precision_sweep(const precision_problem* problem, const saltus_scheme_info* scheme,
                               double cpu_max);

/* The least time of a line at which its error is at most `goal`; infinite when it never is. */
double precision_time(const precision_line* line, double goal);

#endif
