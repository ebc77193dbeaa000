/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.h - energy balance of a simulation; see saltus/ledger.h for the terms.
 *
 * A step is opened, advanced in time as far as frames are requested, and closed. After an advance to a time inside of
 * the step the sums contain the works up to that time.
 */
#ifndef SALTUSI_LEDGER_H
#define SALTUSI_LEDGER_H

#include "saltus/ledger.h"
#include "saltus/scheme.h"
#include "scheme/scheme_ops.h"
#include "system/linear.h"
#include "system/power.h"

/* Work of one contact since the start. */
typedef struct saltusi_contact_work {
  double friction, impact; /* J */
} saltusi_contact_work;

typedef struct saltusi_ledger {
  saltus_energy step;  /* the last step */
  saltus_energy total; /* since the start */
  double creations;    /* steps in which contacts created energy; doubles for snapshots */
  double created_at;   /* s, the first of them */
  double steps;        /* number of steps */
  double first;        /* J, energy at the start */
  double last[2];      /* s and J, end of the last step and the energy there */
  /* runs to a tolerance (remainder.c) */
  double checked;   /* steps */
  double exchanged; /* J, |works| and changes of the kinetic energy, summed over steps */
  double worth;     /* J, largest energy of an error of one tolerance */
  double captured;  /* J, remainders of steps of event capturing */
} saltusi_ledger;

/* Motion inside of a step, for schemes with dense output. */
typedef struct saltusi_ledger_inside {
  void* who;
  /* State at a time; smooth: with accumulations of impacts replaced by closed contact. */
  saltus_status (*motion)(void* who, const saltusi_dense_query* at);
  /* [3 nc + nj] N of contacts and joints on the smooth motion; NULL: not available. */
  void (*forces)(void* who, const saltusi_dense_query* at, double* forces);
  /* The accumulation that the step passes over; false: none. */
  bool (*bounce)(void* who, const saltusi_dense_query* at, saltusi_bounce_inside* bounce);
  /* W of friction in rows that are no slip of a contact, and of prescribed motion in these rows; NULL: none. */
  void (*power)(void* who, const saltusi_dense_query* at, double power[2]);
  /* J, likewise of the impacts of the step; NULL: none. */
  void (*strikes)(void* who, double work[2]);
} saltusi_ledger_inside;

/* Data of a step: its ends, its report, whether events are located, and the motion inside of it, or NULL. */
typedef struct saltusi_ledger_step {
  const saltus_step_report* report;
  const saltus_state* x0;
  const saltus_state* x1;
  bool located;
  bool at_end;      /* impacts act at the end of the step; else in the middle */
  int smooth_order; /* of the position without impacts */
  const saltusi_ledger_inside* inside;
} saltusi_ledger_step;

typedef struct saltusi_ledger_workspace {
  saltusi_eval eval;
  saltusi_row_block rows; /* three */
  saltusi_power_workspace power;
  double* q;             /* [nq] */
  double* u;             /* [nv] */
  double* v;             /* [nv] */
  double* forces;        /* [3 nc + nj] N */
  double* push;          /* [nv] N s, of an impact */
  saltusi_linear linear; /* M, for the reaction of joints to an impact */
  bool answers;          /* its memory is laid out */

  saltusi_row_block joints; /* [nj] */
  /* joints in an impact */
  double* joint_X;  /* [nj x nv] M^-1 G */
  double* joint_W;  /* [nj x nj] */
  int* joint_pivot; /* [2 nj] */
  double* joint_P;  /* [nj] N s */

  /* accumulation that the step passes over */
  saltusi_bounce_inside bounce;
  double* bounce_x; /* [nv] direction of v, for 1 m/s */
  bool bounces;

  bool partial; /* energies are computed elsewhere: workspace of an island */
  /* the present step */
  saltusi_ledger_step step;
  bool known;   /* forces inside of it are available */
  bool dense;   /* else: motion and events are */
  bool begun;   /* works at its start are in the sums */
  double place; /* s, the sums contain works up to here */
  int reported; /* events before this one are in the sums */
  double frame; /* J, energy of moving frames at `place` */
  /* remaining works of a step without forces inside */
  saltus_energy left;
  saltusi_contact_work* left_contacts; /* [nc] */
} saltusi_ledger_workspace;

void saltusi_ledger_layout(saltusi_ledger_workspace* room, const saltus_system* sys, void* scratch,
                           saltus_arena* arena);

/* Opens a step; first: not the second half of one. The step and its data have to remain valid until it is closed. */
void saltusi_ledger_open(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                         const saltusi_ledger_step* step, bool first);

/* Likewise for the part of a step after a time inside of it. The sums are those of saltusi_ledger_frame at this
 * time; of an accumulation they contain the impacts before it. Works of contacts change in `contacts`; spare [nc]
 * is overwritten. */
void saltusi_ledger_open_inside(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                                const saltusi_ledger_step* step, double from,
                                saltusi_contact_work* contacts, saltusi_contact_work* spare);

/* For a step whose terms are computed elsewhere: energy at its start and at its end (first as above), and the
 * energy at a state inside of it compared with the terms e. */
void saltusi_ledger_begin(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                          const saltus_state* x0, bool first);
void saltusi_ledger_end(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                        const saltus_state* x1);
/* J by which projections changed the initial energy. */
void saltusi_ledger_moved(saltusi_ledger* ledger, double start);
/* The system was switched at x: the jump of its energy is external work. */
void saltusi_ledger_switch(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                           const saltus_state* x);
/* Joints that were switched on at `before` changed the state to `after`. The kinetic energy of the change of
 * velocity is dissipated in the impact; the rest is work of drives and, for a correction of positions, external
 * work. */
void saltusi_ledger_capture(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                            const saltus_state* before, const saltus_state* after);
void saltusi_ledger_compare(const saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                            const saltus_state* x, saltus_energy* e);

/* Adds works up to a time, before or after impacts at that time. */
void saltusi_ledger_advance(saltusi_ledger* ledger, saltusi_ledger_workspace* room, double t,
                            saltus_side side, saltusi_contact_work* contacts);

/* The energy balance at a state of the step at the time of the last advance; works of contacts go to `shown`. */
saltus_energy saltusi_ledger_frame(const saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                                   const saltus_state* x, saltus_side side,
                                   const saltusi_contact_work* contacts,
                                   saltusi_contact_work* shown);

/* Adds the remaining works of the step and the energy at its end. */
void saltusi_ledger_close(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                          saltusi_contact_work* contacts);

#endif
