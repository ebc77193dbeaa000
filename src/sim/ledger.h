/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.h - keeps the energy of a simulation; see saltus/ledger.h for the terms.
 *
 * A step is opened, gone through in time as far as somebody looks, and closed. What a step did until a
 * time inside it is in the sums when the ledger has been advanced to that time.
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
  double steps;        /* that were kept */
  double first;        /* J, energy at the start */
  double last[2];      /* s and J, end of the last step and the energy there */
  /* of runs to a tolerance (remainder.c) */
  double checked;   /* steps */
  double exchanged; /* J, |works| and changes of the kinetic energy, summed over steps */
  double worth;     /* J, largest energy of an error of one tolerance */
} saltusi_ledger;

/* The motion inside a step of a scheme that knows it. */
typedef struct saltusi_ledger_inside {
  void* who;
  /* State at a time; smooth: on which accumulations of impacts are closed contact. */
  saltus_status (*motion)(void* who, const saltusi_dense_query* at);
  /* [3 nc + nj] N of contacts and joints on the smooth motion; NULL: not known. */
  void (*forces)(void* who, const saltusi_dense_query* at, double* forces);
  /* The accumulation that the step passes over; false: none. */
  bool (*bounce)(void* who, const saltusi_dense_query* at, saltusi_bounce_inside* bounce);
  /* W of friction in rows that are no slip of a contact, and of what moves by itself in them; NULL: none. */
  void (*power)(void* who, const saltusi_dense_query* at, double power[2]);
  /* J, the same of the impacts of the step; NULL: none. */
  void (*strikes)(void* who, double work[2]);
} saltusi_ledger_inside;

/* What is known of a step: its ends, its report, whether events are located, and the motion inside
 * it, or NULL. */
typedef struct saltusi_ledger_step {
  const saltus_step_report* report;
  const saltus_state* x0;
  const saltus_state* x1;
  bool located;
  bool at_end; /* impacts act at the end of the step; else in its mean */
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
  saltusi_linear linear; /* M, where an impact needs its answer */
  bool answers;          /* there is room for that */

  saltusi_row_block joints; /* [nj] */
  /* joints in an impact */
  double* joint_X;  /* [nj x nv] M^-1 G */
  double* joint_W;  /* [nj x nj] */
  int* joint_pivot; /* [2 nj] */
  double* joint_P;  /* [nj] N s */

  /* an accumulation that the step passes over */
  saltusi_bounce_inside bounce;
  double* bounce_x; /* [nv] direction of v, for 1 m/s */
  bool bounces;

  bool partial; /* energies are somebody else's: the room of an island */
  /* the step at hand */
  saltusi_ledger_step step;
  bool known;   /* forces inside it are */
  bool dense;   /* else: the motion and its events are */
  bool begun;   /* what happened at its start is in the sums */
  double place; /* s, sums are up to here */
  int reported; /* events before this one are in the sums */
  double frame; /* J, energy of moving frames at this place */
  /* of a step whose forces are not known inside: what is left of it */
  saltus_energy left;
  saltusi_contact_work* left_contacts; /* [nc] */
} saltusi_ledger_workspace;

void saltusi_ledger_layout(saltusi_ledger_workspace* room, const saltus_system* sys,
                           saltus_arena* arena);

/* A step begins; first: not the second half of one. The step and what it points to stay until it is
 * closed. */
void saltusi_ledger_open(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                         const saltusi_ledger_step* step, bool first);

/* The same for the part of a step after a time inside of it. The sums are those of saltusi_ledger_frame at this time: of an
 * accumulation they contain the impacts before it. Works of contacts change in `contacts`; spare [nc] is overwritten. */
void saltusi_ledger_open_inside(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                                const saltusi_ledger_step* step, double from,
                                saltusi_contact_work* contacts, saltusi_contact_work* spare);

/* Of a step whose terms come from elsewhere: the energy at its start and at its end, first as above, and the
 * energy at a state inside compared with the terms e. */
void saltusi_ledger_begin(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                          const saltus_state* x0, bool first);
void saltusi_ledger_end(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                        const saltus_state* x1);
/* J by which projections moved the start. */
void saltusi_ledger_moved(saltusi_ledger* ledger, double start);
/* The system was switched at x: what its energy jumps by is work from outside. */
void saltusi_ledger_switch(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                           const saltus_state* x);
/* Joints that are switched on at `before` took the state to `after`: the kinetic energy of the change of velocity is lost in the
 * impact, the rest is work of drives and, of a correction of positions, work from outside. */
void saltusi_ledger_capture(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                            const saltus_state* before, const saltus_state* after);
void saltusi_ledger_compare(const saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                            const saltus_state* x, saltus_energy* e);

/* Adds what happens until a time, left or right of what happens there. */
void saltusi_ledger_advance(saltusi_ledger* ledger, saltusi_ledger_workspace* room, double t,
                            saltus_side side, saltusi_contact_work* contacts);

/* The ledger at a state that the step passes at the time it was advanced to; the works of contacts
 * go to `shown`. */
saltus_energy saltusi_ledger_frame(const saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                                   const saltus_state* x, saltus_side side,
                                   const saltusi_contact_work* contacts,
                                   saltusi_contact_work* shown);

/* Adds what is left of the step and the energy at its end. */
void saltusi_ledger_close(saltusi_ledger* ledger, saltusi_ledger_workspace* room,
                          saltusi_contact_work* contacts);

#endif
