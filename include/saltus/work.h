/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * work.h - counters of a computation: steps, evaluations, contact problems, iterations.
 */
#ifndef SALTUS_WORK_H
#define SALTUS_WORK_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_work {
  long long steps; /* attempted */
  long long force_evaluations, contact_solves, newton_iterations, factorizations;
  long long contact_iterations; /* of the contact solvers: iterations, pivots, factorisations */
  SALTUS_RESERVED(4);
} saltus_work;

/* Limit of the step size of a scheme that chooses its steps. */
typedef enum saltus_step_limit {
  SALTUS_LIMIT_NONE,     /* not reported: the scheme does not choose */
  SALTUS_LIMIT_POSITION, /* the error of a position */
  SALTUS_LIMIT_VELOCITY, /* of a velocity */
  SALTUS_LIMIT_IMPULSE,  /* of the impulse of a contact */
  SALTUS_LIMIT_EVENT,    /* it ended at an event, or a contact was about to close again */
  SALTUS_LIMIT_GROWTH,   /* bound on the ratio to the step before */
  SALTUS_LIMIT_LONGEST,  /* the longest allowed step */
  SALTUS_LIMIT_END       /* the remaining time */
} saltus_step_limit;

enum { SALTUS_LIMITS = SALTUS_LIMIT_END + 1, SALTUS_METHODS_MAX = 4 };

/* "position", "velocity", "impulse", "event", ... */
SALTUS_API const char* saltus_step_limit_name(saltus_step_limit limit);

/* Step of event capturing: length in s, and error estimate in tolerances. */
typedef struct saltus_captured_step {
  double h, error;
} saltus_captured_step;

/* Captured intervals of a run to a tolerance: event-capturing steps where events cannot be resolved one by one. */
typedef struct saltus_captured {
  long long steps;
  double time;        /* s, sum of their lengths */
  double error;       /* sum of their error estimates, in tolerances */
  double first, last; /* s, start of the first one and end of the last one */
} saltus_captured;

/* Committed steps, counted by method and by limit. */
typedef struct saltus_tally {
  long long steps, rejections;
  double h_least, h_most; /* s; 0 before the first step */
  long long limits[SALTUS_LIMITS];
  const char* methods[SALTUS_METHODS_MAX]; /* names in the order of their first step; NULL: end */
  long long method_steps[SALTUS_METHODS_MAX];
  const long long*
      position_limits; /* [nv] steps limited by the error of a position along each velocity */
  const long long* velocity_limits; /* [nv] */
  const long long* impulse_limits;  /* [nc] by contact */
  long long proven, sampled;        /* searches for events: by rigorous bounds, and by samples */
  long long dry_events; /* events of dry friction of joints: begin of slip, stick or reversal */
  saltus_captured captured;
} saltus_tally;

SALTUS_END_DECLS

#endif
