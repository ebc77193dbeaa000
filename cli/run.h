/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.h - a run of the program: files, options and the summary.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "costs.h"
#include "design.h"
#include "global_error.h"

#include "model.h"
#include "resume.h"
#include "saltus/mechanism.h"
#include "verify.h"

/* Every event of a run, for --events only. */
typedef struct run_list {
  saltus_event* events; /* malloc'd */
  long long count, room;
} run_list;

typedef struct run_job {
  cli_model model;
  cli_overrides overrides;
  cli_reference reference;
  cli_resumption resumption;
  saltus_run* run;
  saltus_recording* recording;
  const char* path;     /* of the recording; NULL: none */
  const char* events;   /* destination of the events; NULL: none */
  const char* snapshot; /* destination of the final state; NULL: none */
  run_list list;
  cli_global_error global;
  cli_costs costs;
  cli_design design;
  bool force;   /* --force */
  bool certify; /* verify the recording */
  cli_certificate certificate;
  bool warned;    /* a warning of shapes that can pass through each other was printed */
  double* bodies; /* velocities of bodies of a scene in joint coordinates */
  bool recorded;  /* the recording holds the whole run */
  bool machine;   /* --json */
  bool verbose;   /* --verbose */
} run_job;

/* As text of at most 25 lines (more with --verbose), and as JSON. */
void run_summary_print(run_job* j);
void run_summary_json(run_job* j);

#endif
