/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity_state.h - the inside of a sensitivity.
 */
#ifndef SALTUSI_SENSITIVITY_STATE_H
#define SALTUSI_SENSITIVITY_STATE_H

#include "saltus/integrator.h"
#include "sensitivity/vary.h"

enum { SALTUSI_GROUP_MOST = 64 };

/* The last impact of a contact, for the end of an accumulation. */
typedef struct saltusi_last_impact {
  bool known;
  double t;
  double* z;     /* [n] after it */
  double* total; /* [directions x n] of the state after it, at its own time */
  double* dt;    /* [directions] */
} saltusi_last_impact;

struct saltus_sensitivity {
  saltusi_pool pool;
  saltus_sensitivity_def def;
  saltus_sensitivity_view view;
  saltus_integrator* run;
  saltusi_vary vary;
  double* y;                 /* [size] state and derivatives now */
  double* after;             /* [n] state after the event at hand */
  double* total;             /* [directions x n] its derivatives at the time of the event */
  double* dt;                /* [directions] of that event */
  double *rates, *hdot;      /* [n + 4], [n + directions + 4] */
  double* force;             /* [3 nc] */
  int* set;                  /* [nc] contacts of an impact */
  saltusi_last_impact* last; /* [nc] */
  saltus_event group[SALTUSI_GROUP_MOST];
  int group_count;
  long long sections; /* that were met */
  bool met;           /* the one that is wanted, in this group */
  saltus_sensitive_event* events;
  size_t event_count, event_room;
  double* output_values; /* [output_count] */
  void* output_scratch;
};

/* Outputs at the end t and their derivatives, into the view; NaN where one has none, as the force of a joint. False: no memory. */
bool saltusi_sensitivity_outputs(saltus_sensitivity* s, double t);

#endif
