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
  double largest; /* |g| so far */
} saltusi_crossing;

typedef struct saltusi_observe_room {
  double* outputs; /* [output_count] */
  double *q, *v;   /* state inside a step */
  double* samples; /* [4 x event_count]: last, between, new, and one more for the search */
  saltus_event* found;
  int found_count, found_reported;
  void* scratch;
} saltusi_observe_room;

/* The zeros of one step, one after the other. */
typedef struct saltusi_crossing_search {
  saltus_sim* sim;
  const saltus_step_report* report;
  double at, end; /* s, time of the last sample, and end of the step */
  double spacing; /* s, between samples */
  int jump;       /* event of the report at which v may jump next */
  bool whole;     /* no dense output: the step has one sample, at its end */
  bool done;
  saltus_status status;
} saltusi_crossing_search;

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

/* From now on somebody looks at the contacts of frames. */
void saltusi_sim_show_contacts(saltus_sim* sim);

#endif
