/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orbit.h - shared by saltus orbit and saltus map: Poincare sections of a motion, and scenes with
 * other parameters.
 */
#ifndef CLI_ORBIT_H
#define CLI_ORBIT_H

#include "model.h"
#include "saltus/event.h"

/* Poincare section: every period, or right after every event of a kind. */
typedef struct orbit_section {
  const char* formula; /* of the period; NULL: by event */
  double period;       /* s, of the scene that orbit_scene made last; 0: by event */
  int kind;            /* saltus_event_kind; of the scene's own events SALTUS_EVENT_RISE */
  int contact;         /* or number of the scene's own event; -1: any contact */
} orbit_section;

/* --period FORMULA or --section "KIND of CONTACT", "EVENT". Returns an exit code. */
int orbit_section_read(const cli_args* args, const cli_model* model, orbit_section* section);

/* Consecutive values of an axis NAME=FROM:TO:COUNT. */
typedef struct orbit_axis {
  char name[80];
  double from, to;
  int count; /* 0: no axis */
} orbit_axis;

int orbit_axis_read(const cli_args* args, const char* option, orbit_axis* axis);
double orbit_axis_at(const orbit_axis* axis, int i);

/* The scene of the model with this value of the axis, where there is one, and the period of the section in it. Returns an exit
 * code. */
int orbit_scene(const cli_model* model, const orbit_axis* axis, double value,
                orbit_section* section, saltus_scene** out);

/* A motion from one section to the next. */
typedef struct orbit_visits {
  const char* who; /* command, for messages */
  const orbit_section* section;
  double t0, from; /* s; sections before `from` are ignored */
  double tol;
  double *q, *v; /* [nq], [nv] initial state; afterwards the state at the last section */
  bool (*take)(void* user, double t, const double* q, const double* v); /* false: enough */
  void* user;
  const volatile int* cancel;
} orbit_visits;

/* Runs until `take` returns false; *reached is the time of the last section, unchanged without one. Returns an exit
 * code. */
int orbit_visit(const orbit_visits* visits, const saltus_scene_view* view, double* reached);

#endif
