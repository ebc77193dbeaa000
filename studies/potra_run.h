/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * potra_run.h - runs of the scenes of Potra, Anitescu, Gavrea and Trinkle 2006, for studies and tests.
 */
#ifndef POTRA_RUN_H
#define POTRA_RUN_H

#include "saltus/saltus.h"

#include <stdbool.h>

enum { POTRA_WIDTH = 8, POTRA_EVENTS = 64 };

typedef struct potra_run {
  const char* scene;                /* name of a file in scenes/, without its ending */
  const char* text;                 /* or the scene itself, when not NULL */
  const saltus_override* overrides; /* parameters */
  int override_count;
  const char* scheme;
  const char* options; /* "detection=off rest=0"; NULL: defaults */
  double t_end, h;     /* s */
  saltus_log log;
  /* After each step, or NULL. */
  void (*observe)(void* user, double t, const double* q, const double* v);
  void* user;

  /* out: */
  double q[POTRA_WIDTH], v[POTRA_WIDTH];
  saltus_event events[POTRA_EVENTS]; /* the first of them */
  int event_count;                   /* all of them */
  saltus_work work;
} potra_run;

saltus_status potra_go(potra_run* run);

/* |q - exact| over n coordinates. */
double potra_distance(int n, const double* q, const double* exact);

/* Events of one kind among the first POTRA_EVENTS; t of the i-th, NaN past the end. */
int potra_count(const potra_run* run, saltus_event_kind kind);
double potra_time(const potra_run* run, saltus_event_kind kind, int i);

/* Text of a scene that was built in; NULL: none such. Written by CMake. */
const char* potra_scene_text(const char* name);

#endif
