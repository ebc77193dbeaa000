/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_run.h - one run of a machine, for studies and tests: all its events, its state at the end, its ledger; and numbers
 * to be found in them.
 */
#ifndef MACHINE_RUN_H
#define MACHINE_RUN_H

#include "saltus/saltus.h"

enum { MACHINE_STATES = 1024, MACHINE_CONTACTS = 64, MACHINE_WORD = 40 };

typedef struct machine_run {
  const char* scene;      /* for messages */
  const char* text;       /* of the scene; NULL: `scene` is a file */
  const char* parameters; /* "mu=0.1 e=0.5"; NULL: as the scene has them */
  const char* scheme;
  const char* options; /* of the scheme: "theta=0.5"; NULL: its own */
  double tol;          /* of adaptive */
  double h;            /* s, of schemes with fixed steps; 0: tol */
  double until;        /* s */
  double least;        /* m/s: impacts that are slower are not counted */
  double after;        /* s: events before it are not counted */
  double sample;       /* s: time between samples of the first output; 0: none */
  bool mean;           /* outputs that are means since the last record are means of the run */
  saltus_log log;

  /* out, until machine_free: */
  saltus_event* events;
  int event_count, event_room;
  int states; /* outputs, velocities and coordinates, by name; the first MACHINE_STATES */
  char names[MACHINE_STATES][MACHINE_WORD];
  double values[MACHINE_STATES];
  int contacts;
  char contact_names[MACHINE_CONTACTS][MACHINE_WORD];
  double low, high, low_t, high_t; /* of the samples behind `after`, and their times, s */
  saltus_energy ledger;
  double penetration;
  long long steps, creations;
  saltus_work work;
} machine_run;

saltus_status machine_go(machine_run* run);
void machine_free(machine_run* run);

double machine_value(const machine_run* run, const char* name); /* NaN: none of that name */
/* The i-th event of a kind, from 1, of a contact; contact NULL: of any. NULL: there is none. */
const saltus_event* machine_event(const machine_run* run, saltus_event_kind kind,
                                  const char* contact, int i);

typedef enum machine_what {
  MACHINE_TIME,     /* s, of an event */
  MACHINE_APPROACH, /* m/s before it */
  MACHINE_IMPULSE,  /* N s */
  MACHINE_VALUE     /* of a coordinate, velocity or output at the end */
} machine_what;

/* A number of the literature, exact or of an independent code. */
typedef struct machine_number {
  machine_what what;
  saltus_event_kind kind;
  const char* name; /* of the contact, or of the value; NULL: any contact */
  int i;            /* of the event, from 1 */
  double expected;
  double off;        /* allowed besides: digits of the reference */
  double tolerances; /* allowed in tolerances of the run */
} machine_number;

double machine_find(const machine_run* run, const machine_number* number);
/* "impact 2 of guide.upper_left, time" */
void machine_describe(const machine_number* number, char* text, size_t size);

typedef struct machine_case {
  const char *study, *label;
  const char *scene, *parameters;
  double until, least, after;
  double tolerance[2]; /* those it is run with; 0: none */
  const machine_number* numbers;
  int count;
} machine_case;

const machine_case* machine_case_at(int i); /* NULL past the end */

#endif
