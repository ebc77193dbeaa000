/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - outputs at a state, and the zeros of event functions inside of a step.
 */
#ifndef SALTUSI_OBSERVE_H
#define SALTUSI_OBSERVE_H

#include "saltus/sim.h"

/* State of an event function; stored in snapshots. */
typedef struct saltusi_crossing {
  double
      sign; /* -1 or 1: side of zero since the last crossing; 0: no value outside of the noise yet */
  double largest; /* largest |g| so far; scales the noise where observables give no bound */
  double band;    /* |g| up to this still belongs to the zero of the last event */
  double rank;    /* order of its last switching among all; 0: none yet */
} saltusi_crossing;

/* A time with a value. */
typedef struct saltusi_event_sample {
  double t, g;
} saltusi_event_sample;

/* The sign has changed by less than the noise: a zero if the function leaves the noise on the other side. */
typedef struct saltusi_bracket {
  saltusi_event_sample from, to;
  bool open;
} saltusi_bracket;

typedef struct saltusi_observe_workspace {
  double* outputs; /* [output_count] */
  double *q, *v;   /* state inside a step */
  double* samples; /* [4 x event_count]: last, middle, new, and one for the search */
  saltus_event* found;
  int found_count, found_reported;
  void* scratch;
  int* pending;           /* [event_count] switching to be done: 1 rising, -1 falling */
  int* ahead;             /* [event_count] likewise in a trial step */
  saltusi_crossing* kept; /* [event_count] */
  double* noise;   /* [event_count] |g| up to this counts as zero, at a state of the present part */
  double *dq, *dv; /* [nq], [nv] errors of that state */
  bool noise_known;         /* it is that of the present part */
  saltusi_bracket* bracket; /* [event_count] */
  double* joints;           /* [4 nj] values and rates of joints before and after a switch */
  bool gaps_known;          /* gaps[].at[0] are those before a change by the caller */
} saltusi_observe_workspace;

/* Search for the zeros of one step, in order of time. */
typedef struct saltusi_crossing_search {
  saltus_sim* sim;
  const saltus_step_report* report;
  double at, end; /* s, time of the last sample, and end of the step */
  double spacing; /* s, between samples */
  int jump;       /* event of the report at which v may jump next */
  bool whole;     /* no dense output: the step has one sample, at its end */
  bool done;
  bool tried; /* search in a trial step instead of the last step */
  saltus_status status;
} saltusi_crossing_search;

/* Evaluates bounds of |g| at zeros of the functions, at a state, into observe.noise. */
void saltusi_event_noise(saltus_sim* sim, const saltus_state* x);

void saltusi_observe_layout(saltus_sim* sim, saltus_arena* arena);

/* Sets the signs at the initial state. */
void saltusi_observe_start(saltus_sim* sim);

/* Outputs at a state; NULL when there are none. */
const double* saltusi_observe_outputs(saltus_sim* sim, const saltus_state* x,
                                      const double* joint_forces);

saltusi_crossing_search saltusi_crossings_of(saltus_sim* sim, const saltus_step_report* report,
                                             double t0, double t1);

/* The next event in time; false when there is none left or the search failed. */
bool saltusi_crossings_next(saltusi_crossing_search* search, saltus_event* event);

/* ---- events that switch (switches.c) ---- */

bool saltusi_sim_switches(const saltus_sim* sim);
/* Time of the first switching event in the trial step from t0 to t1, and the events at that time in observe.ahead;
 * t1 if there is none. */
double saltusi_switch_ahead(saltus_sim* sim, double t0, double t1);
/* Event functions at a state, [event_count]; true if one that switches has changed its sign since the last step. */
bool saltusi_switch_passed(saltus_sim* sim, const saltus_state* x, double* g);
/* The first zero of such functions by linear interpolation from samples[0 ..) at 0 to samples[event_count ..) at 1, values
 * weighted. */
double saltusi_switch_root(const saltus_sim* sim, double weight0, double weight1);
/* Sets the present state as this zero, although g differs slightly from zero. */
void saltusi_switch_meet(saltus_sim* sim, int event, double sign);
/* Records a reported event. */
void saltusi_switch_note(saltus_sim* sim, const saltus_event* event);
/* Executes pending switches at the present state, and those that they cause. */
saltus_status saltusi_switch_all(saltus_sim* sim);
/* The caller may change the system between steps: _keep stores joints and gaps at the end of a step, _outside
 * returns an error if a joint or contact that the change has closed is violated. */
saltus_status saltusi_switch_keep(saltus_sim* sim);
saltus_status saltusi_switch_outside(saltus_sim* sim);
/* Inputs at the start: initial values, then the past events of the definition. */
void saltusi_switch_past(saltus_sim* sim);
/* Inputs at the time of the snapshot whose crossings have been loaded. */
void saltusi_switch_restore(saltus_sim* sim);

/* Event functions at the present state: changed signs as events, one per call. */
bool saltusi_observe_jumps(saltus_sim* sim, int* next, saltus_event* event);
saltus_status saltusi_observer_event(saltus_sim* sim, const saltus_event* event);

/* Contacts of frames are requested from now on. */
void saltusi_sim_show_contacts(saltus_sim* sim);

/* remainder.c: warns when a run without a tolerance has lost or gained a hundredth of its energy without a force. */
void saltusi_remainder_warn(saltus_sim* sim);

#endif
