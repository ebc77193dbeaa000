/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_run.h - runs of mechanisms whose motion is known, for studies and tests: errors of the outputs of a scene at
 * equal distances in time, and how much the motion itself amplifies errors.
 *
 * An error is that of the worst output at the worst instant, over max(1, |output|): absolute for small numbers, relative
 * for large ones, as a tolerance rtol = atol means it.
 */
#ifndef BODIES_RUN_H
#define BODIES_RUN_H

#include "saltus/saltus.h"

enum { BODIES_WIDTH = 8, BODIES_INSTANTS = 100, BODIES_STATE = 1024 };

typedef struct bodies_case {
  const char* scene; /* name of a file in scenes/, without its ending */
  const char* text;  /* or the scene itself, when not NULL */
  double until;      /* s */
  int instants;      /* until/instants, ..., until */
  int width;         /* the first outputs of the scene are compared */
  /* What they have to be; NULL: not known, errors are 0. */
  void (*exact)(const void* who, double t, double* out);
  const void* who;
  double accuracy; /* of these numbers */
} bodies_case;

/* One of scenes/, by its name; NULL: none. */
const bodies_case* bodies_case_find(const char* scene);

/* The text of a scene with N windows of four-bars, as scenes/bodies-four-bar-1.yaml has one. */
bodies_case bodies_case_windows(const char* text, const int* windows, double until);

typedef struct bodies_run {
  const bodies_case* of;
  const char* scheme; /* NULL: adaptive */
  const char* options;
  double tol;      /* or fixed steps */
  bool global;     /* a tolerance of the motion */
  long long steps; /* a multiple of the instants; with a tolerance: so many at least */
  saltus_log log;

  /* out: */
  double error;        /* less the accuracy of the reference; at least 0 */
  double defect;       /* largest of joints, m or rad */
  double energy_drift; /* J, largest change of kinetic + potential at the instants */
  long long taken;     /* steps */
  saltus_work work;
  double cpu;                   /* s */
  saltus_run_accuracy accuracy; /* with `global` */
} bodies_run;

saltus_status bodies_go(bodies_run* run);

/* Amplification: how far velocities that are wrong by a part e at an early instant change the outputs later, over e; at
 * least 1. Measured with two runs at 1e-11; it says how errors of a tolerance grow, nothing about their size. */
saltus_status bodies_amplification(const bodies_case* of, saltus_log log, double* K);

#endif
