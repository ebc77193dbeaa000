/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.h - a run of the program, and what is said about it at its end.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "global_error.h"
#include "model.h"
#include "observe.h"
#include "resume.h"

/* Events of a kind that the summary shows one by one. */
enum { SHOWN_EVENTS = 4 };
typedef struct run_kind {
  saltus_event first[SHOWN_EVENTS];
  saltus_event last, worst; /* worst: by the energy it brought; these need one event */
} run_kind;

/* What the summary is made of, gathered while the run goes on. */
typedef struct run_summary {
  const saltusi_reference* exact; /* NULL: not known */
  double *q, *v;                  /* exact state, [nq] and [nv] */
  double error, error_mean;       /* of the position: largest, and its integral over time */
  double last_t;
  long long compared, frames;
  long long events[SALTUS_EVENT_KINDS];
  double impact_loss; /* J */
  run_kind kinds[SALTUS_EVENT_KINDS];
  bool lists;         /* somebody wants every event */
  saltus_event* list; /* malloc'd */
  long long listed, room;
  double penetration, residual_velocity, residual_impulse;
  double drift, projection; /* of joints, and of positions back onto constraints */
  double estimate;          /* largest error estimate, in tolerances */
  long long rejections;
  double energy_start, energy_end;
  cli_observed observed;
  saltus_energy ledger; /* of the last frame */
  int nq;
} run_summary;

/* A run with everything it needs. */
typedef struct run_job {
  cli_model model;
  cli_settings settings;
  cli_reference reference;
  run_summary summary;
  saltus_recording* recording;
  const char* path;   /* of the recording; NULL: none */
  const char* events; /* where the events go; NULL: nowhere */
  saltus_sim* sim;
  long long steps;
  double h, cpu;
  cli_global_error global;
  cli_resumption resumption;
  const char* snapshot; /* where the state at the end goes; NULL: nowhere */
  bool force;           /* --force */
  bool recorded;        /* the recording holds the whole run */
  bool machine;         /* --json */
  bool requested;       /* the command line says which states to record */
} run_job;

/* Steps differ in length. */
bool run_varies(const run_job* j);

/* In plain words, and as JSON. */
void run_summary_print(const run_job* j, saltus_status status);
void run_summary_json(const run_job* j, saltus_status status);

#endif
