/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sim_state.h - data of a simulation, for the step loop and the snapshots.
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

/* Impulses of one contact since the last frame, and whether it bears a non-impulsive force. */
typedef struct saltusi_contact_sum {
  double lasting[3]; /* N s, of non-impulsive forces */
  double impulse[3]; /* N s, of impacts */
  double
      closed; /* 1 while a non-impulsive force acts; a double so that snapshots are plain arrays */

  /* consecutive located impacts, for accumulations */
  double impacts;   /* number */
  double last;      /* s, time of the last */
  double flight[2]; /* s, between the last two, and between the two before */
} saltusi_contact_sum;

/* Impulses of one contact in the last step that are not in the sums yet. */
typedef struct saltusi_contact_part {
  double lasting[3]; /* N s */
  double impulse[3]; /* N s */
} saltusi_contact_part;

/* State of progress reports. */
typedef struct saltusi_progress_state {
  bool asks;    /* a run with a callback is in progress */
  bool stopped; /* the callback has requested a stop */
  bool between; /* no step is in progress, nor are its frames */
  double t_end; /* s */
  double asked; /* s of the clock, last call */
  double read;  /* s of the clock, last reading */
  int skip;     /* readings to be skipped */
} saltusi_progress_state;

/* Gaps of one contact, for step control and passages. */
typedef struct saltusi_contact_gaps {
  double at[3]; /* m; infinite: not present */
} saltusi_contact_gaps;

/* Tolerances of a run with error control; atol 0: without. */
typedef struct saltusi_error_control {
  double rtol, atol;
  double atol_v; /* of velocities; 0: not controlled */
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
  bool begun; /* the initial frame is reported */
  saltus_state now, next;
  saltus_step_report report;
  saltusi_progress_state progress;
  uint64_t changes; /* counter of changes of the system at the last restart of the scheme */
  saltus_recorder* recorders; /* [recorder_count] */
  bool plain;                 /* no recorder requests the contacts of frames */
  bool unframed;              /* no recorder requests frames: no frames and no ledger */
  double stepped;             /* time of the last call of a recorder's step; NAN: none yet */

  /* recording; stored in snapshots, so that a continued recording is identical */
  double* sums;                        /* [SALTUSI_SUM_COUNT] since the last frame */
  saltusi_contact_sum* contact_sums;   /* [nc] */
  double* joint_sums;                  /* [2 nj] N s of non-impulsive forces, of impacts */
  saltusi_ledger* ledger;              /* [1] energy since the start */
  saltusi_contact_work* contact_works; /* [nc] */
  saltusi_contact_work* shown_works;   /* [nc] at a frame */
  saltusi_contact_work* works_taken;   /* [nc] of a time-varying set: in the frames so far */
  saltusi_ledger_workspace ledger_room;
  saltusi_ledger_islands islands; /* asynchronous ones */
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
  saltus_state shown;                  /* state of a frame inside of a step */
  double* lasting; /* [3 nc + nj] N s, of the step up to a frame, if the scheme reports them */
  double* lasting_taken; /* [3 nc + nj] N s, part of the array above that is already in the sums */

  long long* seen; /* [nc] number of the last report in which a contact was active */
  long long reports;
  double fastest; /* largest velocity at the last report; negative: not evaluated */

  /* workspace of frames */
  saltusi_contact_list list;
  saltusi_row_block row;
  saltus_contact_frame* contact_frames; /* [nc] */
  double* joint_forces;                 /* [nj] */
  double* joint_impulses;               /* [nj] */
  double* joint_values;                 /* [nj] g_E */
  saltusi_row_block joint_row;          /* of the largest joint */
  saltusi_residuals residuals;
  saltusi_error_control error_control;
  double* matrix; /* [nv x nv]; empty if the system computes its energy */
  double* vector; /* [nv] */
  void* scratch;
  saltus_failure failure; /* of callbacks while the motion is observed */

  /* contact_workspace.c: arrays [nc] are in a separate block that grows with a time-varying set */
  bool changing;
  void* contact_block;
  size_t contact_bytes;
  saltusi_contact_gaps* gaps;      /* [nc] */
  saltusi_contact_gaps* step_gaps; /* [nc] at the last three ends of steps, for passages */
  double step_end;                 /* s, the last of them */
  bool passed;                     /* the warning has been given */
  bool gained;                     /* the same, of energy created in impacts */
  saltusi_contact_keys keys;       /* of a time-varying set, as are the members below */
  saltusi_step_capacity lacking;
  saltus_contact_frame* contact_rows; /* [nc] contacts of a frame */
  int* freed;                         /* [nc] */
  saltus_step_report step_report;     /* of the last step, in keys of the simulation */
  saltus_contact_step* step_contacts;
  size_t step_contact_room;
  saltus_event* step_events;
  size_t step_event_room;
  double* by_scheme; /* numbers with keys of the scheme */
  size_t by_scheme_room;

  struct saltusi_stepping* stepping; /* NULL: runs go to their end */
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

/* True if a stop is requested: by the flag, or by the progress callback, which is called in intervals of time. who
 * is the simulation. */
bool saltusi_poll(void* who);

/* snapshot.c: true if unaligned doubles are finite. */
bool saltusi_are_finite(const unsigned char* from, size_t bytes);

/* observer.c: sums, events and frames; they do not influence the motion. */
void saltusi_observer_layout(saltus_sim* sim, saltus_arena* arena);
void saltusi_observer_start(saltus_sim* sim);
/* To be called after the time was changed from outside. */
void saltusi_observer_resume(saltus_sim* sim);

/* Reports a committed step from t0 to t1: its events, and requested frames inside of it. */
saltus_status saltusi_observer_report(saltus_sim* sim, const saltus_step_report* report, double t0,
                                      double t1);
static inline saltus_status saltusi_observer_step(saltus_sim* sim, const saltus_step_report* report,
                                                  double t0, double t1) {
  if (sim->def.recorder_count > 0) {
    return saltusi_observer_report(sim, report, t0, t1);
  }
  if (sim->changing) {
    saltusi_sim_settle(sim, t1); /* keys assigned by step-size control */
  }
  return SALTUS_OK;
}

/* Reports the frame of the present state if it is due by the number of steps, or in any case (due). */
saltus_status saltusi_observer_show(saltus_sim* sim, bool due);
/* Reports the state at the end of a step, once, to recorders that request every step. */
saltus_status saltusi_observer_stepped(saltus_sim* sim);
static inline saltus_status saltusi_observer_frame(saltus_sim* sim, bool due) {
  return sim->def.recorder_count > 0 ? saltusi_observer_show(sim, due) : SALTUS_OK;
}

/* SALTUS_ERR_UNDEFINED with a message if a frame has a number that is not finite. Quantities that the system does
 * not provide, and velocities of contacts without a direction, are exempt. */
saltus_status saltusi_frame_check(saltus_sim* sim, const saltus_frame* frame);

/* SALTUS_ERR_ACCURACY, with a message, if the energy of the motion has diverged. */
saltus_status saltusi_motion_check(saltus_sim* sim, double t);

/* Energy balance at a state inside of the present step. */
saltus_energy saltusi_observer_ledger(saltus_sim* sim, const saltus_state* x, saltus_side side);

/* remainder.c: SALTUS_ERR_ACCURACY, with a message, if errors of captured intervals exceed the tolerance. */
saltus_status saltusi_captured_check(const saltus_sim* sim);
/* remainder.c: tolerances of the run; SALTUS_ERR_ACCURACY, with a message, if the remainder of the energy balance
 * of the last step exceeds them. */
void saltusi_remainder_start(saltus_sim* sim);
void saltusi_remainder_open(saltus_sim* sim, double t); /* at the start of the first step */
saltus_status saltusi_remainder_check(saltus_sim* sim, const saltus_step_report* report, double t0,
                                      double t1);
/* remainder.c: warns once if the last step has most of its kinetic energy from impact laws that create energy. */
void saltusi_gain_warn(saltus_sim* sim);

/* passage.c: warns once if the last step passed through the surface of a contact without an impulse. */
void saltusi_passage_check(saltus_sim* sim, const saltus_step_report* report);

/* SALTUS_ERR_SYSTEM, with its text reported, if a callback failed while the motion was observed. */
saltus_status saltusi_observer_failed(saltus_sim* sim, double t);

/* Reports the frame of the present state at an early end of a run, unless it is reported already. */
saltus_status saltusi_observer_leave(saltus_sim* sim);
/* Forces of joints [nj] inside of the last step, or at the present state (NULL), without impacts; false: the
 * scheme does not report them. */
bool saltusi_sim_joint_forces(saltus_sim* sim, const struct saltusi_dense_query* at,
                              double* joints);

/* Replaces the state by the new one. */
static inline void saltusi_sim_exchange(saltus_sim* sim, double t) {
  saltus_state old = sim->now;
  sim->now = sim->next;
  sim->next = old;
  sim->step++;
  sim->last_h = t - old.t;
  sim->now.t = t;
}

/* sim.c: one step of any kind, not beyond t_end if its length is variable. */
saltus_status saltusi_sim_advance(saltus_sim* sim, double t_end);
bool saltusi_sim_has_fixed_steps(const saltus_sim* sim);

/* advance.c: a step of a scheme that chooses its length, at most up to t_end and at most of length def.h. */
saltus_status saltusi_sim_chosen(saltus_sim* sim, double t_end);
/* A controlled step, at most up to t_end; its two halves are reported one by one. */
saltus_status saltusi_sim_controlled(saltus_sim* sim, double t_end);

#endif
