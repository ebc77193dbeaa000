/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.h - keeps the energy of a simulation; see saltus/ledger.h for the terms.
 */
#ifndef SALTUSI_LEDGER_H
#define SALTUSI_LEDGER_H

#include "saltus/ledger.h"
#include "saltus/scheme.h"
#include "system/evaluate.h"

/* Work of one contact since the start. */
typedef struct saltusi_contact_work {
  double friction, impact; /* J */
} saltusi_contact_work;

typedef struct saltusi_ledger {
  saltus_energy step;  /* the last step */
  saltus_energy total; /* since the start */
  double creations;    /* steps in which contacts created energy; doubles for snapshots */
  double created_at;   /* s, the first of them */
  double steps;        /* that were kept */
  double last[3];      /* t, kinetic and potential energy at the end of the last step */
} saltusi_ledger;

typedef struct saltusi_ledger_room {
  saltus_system sys;
  saltusi_row_block rows; /* three */
  double* q;              /* [nq] */
  double* u;              /* [nv] */
  double* F;              /* [nv] */
  double* matrix;         /* [nv x nv], or NULL */
  void* scratch;          /* dims.scratch bytes */
  double* v;              /* [nv] */
  double* forces;         /* [3 nc] N, of contacts */
  double power;           /* J, work of forces inside a step that is known inside */
} saltusi_ledger_room;

/* The motion inside a step of a scheme that knows its forces: state and contact forces [3 nc] at t. */
typedef struct saltusi_ledger_inside {
  saltus_status (*at)(void* who, double t, double* q, double* v, double* forces);
  void* who;
} saltusi_ledger_inside;

void saltusi_ledger_layout(saltusi_ledger_room* room, const saltus_system* sys, void* scratch,
                           saltus_arena* arena);

/* A step begins. */
void saltusi_ledger_open(saltusi_ledger* ledger);

/* What is known of a step: its ends, its report, whether events are located, and the motion inside
 * it, or NULL. */
typedef struct saltusi_ledger_step {
  const saltus_step_report* report;
  const saltus_state* x0;
  const saltus_state* x1;
  bool located;
  const saltusi_ledger_inside* inside;
} saltusi_ledger_step;

/* Adds what contacts and joints did in a report. A step may have several reports. */
void saltusi_ledger_contacts(saltusi_ledger* ledger, saltusi_ledger_room* room,
                             const saltusi_ledger_step* step, saltusi_contact_work* contacts);

/* Adds the energies and the work of forces between two states, and closes the step. */
void saltusi_ledger_close(saltusi_ledger* ledger, saltusi_ledger_room* room,
                          const saltusi_ledger_step* step);

#endif
