/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * stepping_state.h - data of a simulation advanced by its caller, for stepping.c and stepping_snapshot.c.
 */
#ifndef SALTUSI_STEPPING_STATE_H
#define SALTUSI_STEPPING_STATE_H

#include "sim/sim_state.h"
#include "sim/stepping.h"

typedef struct saltusi_stepping {
  size_t bytes;
  double t_last;               /* s, end of the last step at most; infinite: none */
  saltus_state now;            /* state of the caller */
  saltus_state left;           /* left limit at the event of the last advance */
  saltusi_crossing* crossings; /* at the start of the last step */
  saltus_event* events;        /* of the last step by time; a separate block */
  size_t capacity;
  int count, passed; /* the first `passed` are reported to the caller */
  saltus_event event;
  bool dense;    /* steps may end beyond the caller */
  bool arriving; /* the caller arrives at the end of the step: switches are executed */
} saltusi_stepping;

#endif
