/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.h - a run of the program: what the library does not know of it, and what is said at its end.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

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

/* What shapes cost, --costs: looked at in some steps, each for those up to the next one. */
enum { RUN_PAIRS = 64, RUN_BODY_PAIRS = 1 << 16, RUN_DEAREST = 10 };
typedef struct run_costs {
  bool wanted;
  long long steps, next; /* so far, and the next one to look at */
  double weights;        /* of those that were looked at */
  saltus_pair_cost kinds[RUN_PAIRS];
  saltus_costs costs; /* bodies: malloc'd */
} run_costs;

typedef struct run_job {
  cli_model model;
  cli_overrides overrides;
  cli_reference reference;
  cli_resumption resumption;
  saltus_run* run;
  saltus_recording* recording;
  const char* path;     /* of the recording; NULL: none */
  const char* events;   /* where the events go; NULL: nowhere */
  const char* snapshot; /* where the state at the end goes; NULL: nowhere */
  run_list list;
  cli_global_error global;
  run_costs costs;
  cli_design design;
  bool force;   /* --force */
  bool certify; /* verify the recording */
  cli_certificate certificate;
  bool warned;   /* of shapes that may pass through each other */
  bool recorded; /* the recording holds the whole run */
  bool machine;  /* --json */
} run_job;

/* In plain words, and as JSON. */
void run_summary_print(const run_job* j);
void run_summary_json(const run_job* j);

#endif
