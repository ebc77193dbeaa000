/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * gather.h - the result of a run, from its frames and events.
 */
#ifndef SALTUSI_RUN_GATHER_H
#define SALTUSI_RUN_GATHER_H

#include "base/pool.h"
#include "saltus/run.h"

typedef struct saltusi_gather {
  saltus_run_result* result;
  int nq;
  saltus_run_exact exact;
  double *q, *v;   /* [nq], [nv] reference state; NULL: undefined */
  double last_t;   /* s, of the last state that was compared */
  double* outputs; /* [output_count] */
  int output_count;
  long long* crossings; /* [2 event_count] */
} saltusi_gather;

/* False: no memory. */
bool saltusi_gather_start(saltusi_gather* gather, const saltus_run_def* def, saltusi_pool* pool,
                          saltus_run_result* result);
void saltusi_gather_frame(saltusi_gather* gather, const saltus_frame* frame);
void saltusi_gather_event(saltusi_gather* gather, const saltus_event* event);

#endif
