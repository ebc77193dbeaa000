/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - outputs at a state, and the zeros of event functions inside a step.
 */
#ifndef SALTUSI_OBSERVE_H
#define SALTUSI_OBSERVE_H

#include "saltus/sim.h"

/* Where an event function stands; carried in snapshots. */
typedef struct saltusi_crossing {
  double sign;    /* -1 or 1 on this side of zero since it left it last; 0: it never did */
  double largest; /* |g| so far, where observables do not bound its errors */
  double band;    /* |g| up to this is still the zero of its last event */
  double rank;    /* of its last switching among those of all; 0: it never did */
} saltusi_crossing;

/* A time with a value. */
typedef struct saltusi_event_sample {
  double t, g;
} saltusi_event_sample;

/* Where a function has changed its side by less than its noise: a zero of it if it goes on. */
typedef struct saltusi_bracket {
  saltusi_event_sample from, to;
  bool open;
} saltusi_bracket;

typedef struct saltusi_observe_workspace {
  double* outputs; /* [output_count] */
  double *q, *v;   /* state inside a step */
  double* samples; /* [4 x event_count]: last, between, new, and one more for the search */
  saltus_event* found;
  int found_count, found_reported;
  void* scratch;
  int* pending;           /* [event_count] switching that is due: 1 rising, -1 falling */
  int* ahead;             /* [event_count] the same in a step that was tried */
  saltusi_crossing* kept; /* [event_count] */
  double* noise;    /* [event_count] |g| up to this is zero, at some state of a part of the step */
  double *dq, *dv;  /* [nq], [nv] errors of that state */
  bool noise_known; /* of the present part */
  saltusi_bracket* bracket; /* [event_count] */
  double* joints;           /* [4 nj] values and rates of joints before and after a switch */
} saltusi_observe_workspace;

/* The zeros of one step, one after the other. */
typedef struct saltusi_crossing_search {
  saltus_sim* sim;
  const saltus_step_report* report;
  double at, end; /* s, time of the last sample, and end of the step */
  double spacing; /* s, between samples */
  int jump;       /* event of the report at which v may jump next */
  bool whole;     /* no dense output: the step has one sample, at its end */
  bool done;
  bool tried; /* of the step that was tried, not of the last one */
  saltus_status status;
} saltusi_crossing_search;

/* Bounds of |g| for functions that are zero, at a state, into observe.noise. */
void saltusi_event_noise(saltus_sim* sim, const saltus_state* x);

void saltusi_observe_layout(saltus_sim* sim, saltus_arena* arena);

/* Signs at the first state. */
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
/* When the first of them is in the step that was tried, from t0 to t1, and which are then, in observe.ahead; t1 when there is
 * none. */
double saltusi_switch_ahead(saltus_sim* sim, double t0, double t1);
/* The present state is that zero, although g is a little away from it. */
void saltusi_switch_meet(saltus_sim* sim, int event, double sign);
/* Notes an event that is reported. */
void saltusi_switch_note(saltus_sim* sim, const saltus_event* event);
/* Does what is due at the present state, and what follows from it. */
saltus_status saltusi_switch_all(saltus_sim* sim);
/* The system may be changed from outside between steps: values of joints at the end of a step, and an error where one that the
 * change has closed does not hold. */
void saltusi_switch_keep(saltus_sim* sim);
saltus_status saltusi_switch_outside(saltus_sim* sim);
/* Inputs at the start: as written, then by the events of the definition's past. */
void saltusi_switch_past(saltus_sim* sim);
/* Inputs as they were when the snapshot was saved whose crossings are here now. */
void saltusi_switch_restore(saltus_sim* sim);

/* Event functions at the present state: signs that have changed, one after the other, as events. */
bool saltusi_observe_jumps(saltus_sim* sim, int* next, saltus_event* event);
saltus_status saltusi_observer_event(saltus_sim* sim, const saltus_event* event);

/* From now on somebody looks at the contacts of frames. */
void saltusi_sim_show_contacts(saltus_sim* sim);

/* remainder.c: a warning where a run without a tolerance has lost or gained a hundredth of its energy without a force. */
void saltusi_remainder_warn(saltus_sim* sim);

#endif
