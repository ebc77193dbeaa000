/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sim_state.h - the inside of a simulation, shared by the step loop and the snapshots.
 */
#ifndef SALTUSI_SIM_STATE_H
#define SALTUSI_SIM_STATE_H

#include "saltus/sim.h"
#include "sim/contact_workspace.h"
#include "sim/control.h"
#include "sim/ledger.h"
#include "sim/ledger_islands.h"
#include "sim/observe.h"
#include "sim/residuals.h"
#include "system/evaluate.h"

/* What went through one contact since the last frame, and whether it carries a lasting force. */
typedef struct saltusi_contact_sum {
  double lasting[3]; /* N s, part of lasting forces */
  double impulse[3]; /* N s, impacts */
  double closed;     /* 1 while a lasting force acts; a double so that snapshots are plain arrays */

  /* located impacts in a row, for accumulations */
  double impacts;   /* how many */
  double last;      /* s, time of the last */
  double flight[2]; /* s, between the last two, and between the two before */
} saltusi_contact_sum;

/* What went through one contact in the last step and is not in the sums yet. */
typedef struct saltusi_contact_part {
  double lasting[3]; /* N s */
  double impulse[3]; /* N s */
} saltusi_contact_part;

/* Where the progress callback stands. */
typedef struct saltusi_progress_state {
  bool asks;    /* a run goes on that has a callback */
  bool stopped; /* it wanted no more */
  bool between; /* no step is in progress, nor are frames of one */
  double t_end; /* s */
  double asked; /* s of the clock, last call */
  double read;  /* s of the clock, last look at it */
  int skip;     /* looks that are left out */
} saltusi_progress_state;

/* Gaps of one contact, for step control. */
typedef struct saltusi_contact_gaps {
  double at[3]; /* m; infinite: it does not exist */
} saltusi_contact_gaps;

/* Tolerances of a run that controls its error; atol 0: it does not. */
typedef struct saltusi_error_control {
  double rtol, atol;
  double atol_v; /* of velocities; 0: they are not controlled */
} saltusi_error_control;

struct saltus_sim {
  saltus_sim_def def;
  saltus_allocator memory;
  size_t bytes;
  saltus_system sys;
  saltus_scheme* scheme;
  saltusi_control* control; /* NULL: fixed steps */
  size_t control_bytes;
  double last_h; /* s, of the last step */
  long long step;
  bool begun; /* the frame of the start is reported */
  saltus_state now, next;
  saltus_step_report report;
  saltusi_progress_state progress;
  uint64_t changes;           /* of the system that the scheme knows */
  saltus_recorder* recorders; /* [recorder_count] */
  bool plain;                 /* nobody looks at the contacts of frames */
  bool unframed;              /* nobody looks at frames: there are none, and no ledger */
  double stepped;             /* time of the last call of a recorder's step; NAN: none yet */

  /* recording; carried in snapshots so that a resumed recording is the same */
  double* sums;                        /* [SALTUSI_SUM_COUNT] since the last frame */
  saltusi_contact_sum* contact_sums;   /* [nc] */
  double* joint_sums;                  /* [2 nj] N s of lasting forces, of impacts */
  saltusi_ledger* ledger;              /* one: energy since the start */
  saltusi_contact_work* contact_works; /* [nc] */
  saltusi_contact_work* shown_works;   /* [nc] at a frame */
  saltusi_contact_work* works_taken;   /* [nc] of a changing set: in the frames so far */
  saltusi_ledger_workspace ledger_room;
  saltusi_ledger_islands islands; /* with clocks of their own */
  saltusi_crossing* crossings;    /* [event functions] */
  saltusi_observe_workspace observe;
  bool switches;                /* events set inputs between steps */
  bool chosen;                  /* the scheme chooses its steps */
  saltusi_ledger_inside motion; /* of the last step */
  saltus_state ends[2];         /* of the last step, or of a half of it */
  double* forces;               /* [3 nc + nj] N, at a frame */

  double* record_times;    /* [record_time_count] */
  long long record_number; /* of the next requested time */

  saltusi_contact_part* contact_parts; /* [nc] */
  double* joint_parts;                 /* [2 nj] N s, likewise */
  saltus_state shown;                  /* state of a frame inside a step */
  double* lasting;       /* [3 nc + nj] N s, of the step up to a frame, where a scheme knows */
  double* lasting_taken; /* [3 nc + nj] N s, of the step and in the sums already */

  long long* seen; /* [nc] number of the report in which a contact was active last */
  long long reports;
  double fastest; /* largest velocity at the last report; negative: not looked for */

  /* made for a frame */
  saltusi_contact_list list;
  saltusi_row_block row;
  saltus_contact_frame* contact_frames; /* [nc] */
  double* joint_forces;                 /* [nj] */
  double* joint_impulses;               /* [nj] */
  double* joint_values;                 /* [nj] g_E */
  saltusi_row_block joint_row;          /* of the largest joint */
  saltusi_residuals residuals;
  saltusi_error_control error_control;
  double* matrix; /* [nv x nv], or nothing when the system says its energy */
  double* vector; /* [nv] */
  void* scratch;
  saltus_failure failure; /* of callbacks while the motion is observed */

  /* contact_workspace.c: arrays [nc] lie in a block of their own, which grows with a changing set */
  bool changing;
  void* contact_block;
  size_t contact_bytes;
  saltusi_contact_gaps* gaps; /* [nc] */
  saltusi_contact_keys keys;  /* of a changing set, and what follows */
  saltusi_step_capacity lacking;
  saltus_contact_frame* contact_rows; /* [nc] the contacts of a frame */
  int* freed;                         /* [nc] */
  saltus_step_report step_report;     /* of the last step, in keys of the simulation */
  saltus_contact_step* step_contacts;
  size_t step_contact_room;
  saltus_event* step_events;
  size_t step_event_room;
  double* by_scheme; /* numbers in keys of the scheme */
  size_t by_scheme_room;
};

enum {
  SALTUSI_SUM_TIME,
  SALTUSI_SUM_VELOCITY,
  SALTUSI_SUM_IMPULSE,
  SALTUSI_SUM_PENETRATION,
  SALTUSI_SUM_DRIFT,
  SALTUSI_SUM_PROJECTION,
  SALTUSI_SUM_ERROR,
  SALTUSI_SUM_REJECTIONS,
  SALTUSI_SUM_COUNT
};

/* Whether the caller wants no more: by the flag, or by the progress callback, which is asked when the
 * clock says so. who is the simulation. */
bool saltusi_poll(void* who);

/* snapshot.c: whether doubles that may lie anywhere are finite. */
bool saltusi_are_finite(const unsigned char* from, size_t bytes);

/* observer.c: sums, events and frames; nothing here influences the motion. */
void saltusi_observer_layout(saltus_sim* sim, saltus_arena* arena);
void saltusi_observer_start(saltus_sim* sim);
/* After the time was changed from outside. */
void saltusi_observer_resume(saltus_sim* sim);

/* A committed step from t0 to t1: its events, and the frames that were asked for inside it. */
saltus_status saltusi_observer_report(saltus_sim* sim, const saltus_step_report* report, double t0,
                                      double t1);
static inline saltus_status saltusi_observer_step(saltus_sim* sim, const saltus_step_report* report,
                                                  double t0, double t1) {
  if (sim->def.recorder_count > 0) {
    return saltusi_observer_report(sim, report, t0, t1);
  }
  if (sim->changing) {
    saltusi_sim_settle(sim, t1); /* keys that step control gave */
  }
  return SALTUS_OK;
}

/* The frame of the present instant, when it is due: on the beat of steps, or in any case. */
saltus_status saltusi_observer_show(saltus_sim* sim, bool due);
/* The state as every step leaves it, once, to those who want every step. */
saltus_status saltusi_observer_stepped(saltus_sim* sim);
static inline saltus_status saltusi_observer_frame(saltus_sim* sim, bool due) {
  return sim->def.recorder_count > 0 ? saltusi_observer_show(sim, due) : SALTUS_OK;
}

/* SALTUS_ERR_UNDEFINED with a message when a frame has a number that is not finite; what a system does
 * not say, and velocities of contacts without a direction, are not meant. */
saltus_status saltusi_frame_check(saltus_sim* sim, const saltus_frame* frame);

/* SALTUS_ERR_ACCURACY, with a message, where errors of an unstable scheme are all that is left of the motion. */
saltus_status saltusi_motion_check(saltus_sim* sim, double t);

/* The ledger at a state that the step at hand passes. */
saltus_energy saltusi_observer_ledger(saltus_sim* sim, const saltus_state* x, saltus_side side);

/* remainder.c: the tolerances of the run; SALTUS_ERR_ACCURACY, with a message, where the energy balance of the last step
 * is off by more than they allow. */
void saltusi_remainder_start(saltus_sim* sim);
void saltusi_remainder_open(saltus_sim* sim, double t); /* of the first step, at its start */
saltus_status saltusi_remainder_check(saltus_sim* sim, const saltus_step_report* report, double t0,
                                      double t1);

/* SALTUS_ERR_SYSTEM, with its text reported, when a callback failed while the motion was observed. */
saltus_status saltusi_observer_failed(saltus_sim* sim, double t);

/* The frame of the present instant, where a run ends early; not a second time. */
saltus_status saltusi_observer_leave(saltus_sim* sim);
/* Forces of joints [nj] inside the last step, or at the present state (NULL), without impacts; false: the scheme does not
 * report them. */
bool saltusi_sim_joint_forces(saltus_sim* sim, const struct saltusi_dense_query* at,
                              double* joints);

/* The new state takes the place of the old. */
static inline void saltusi_sim_exchange(saltus_sim* sim, double t) {
  saltus_state old = sim->now;
  sim->now = sim->next;
  sim->next = old;
  sim->step++;
  sim->last_h = t - old.t;
  sim->now.t = t;
}

/* advance.c. A step of a scheme that chooses its length, at most up to t_end and at most of length def.h. */
saltus_status saltusi_sim_chosen(saltus_sim* sim, double t_end);
/* A controlled step, at most up to t_end; its two halves are reported one by one. */
saltus_status saltusi_sim_controlled(saltus_sim* sim, double t_end);

#endif
