/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run_statistics.h - the result of a run, from its frames and events.
 */
#ifndef SALTUSI_RUN_RUN_STATISTICS_H
#define SALTUSI_RUN_RUN_STATISTICS_H

#include "base/pool.h"
#include "saltus/run.h"

typedef struct saltusi_run_statistics {
  saltus_run_result* result;
  int nq;
  saltus_run_exact exact;
  double *q, *v;   /* [nq], [nv] reference state; NULL: undefined */
  double last_t;   /* s, of the last state that was compared */
  double* outputs; /* [output_count] */
  int output_count;
  long long* crossings; /* [2 event_count] */
} saltusi_run_statistics;

/* False: no memory. */
bool saltusi_run_statistics_start(saltusi_run_statistics* gather, const saltus_run_def* def,
                                  saltusi_pool* pool, saltus_run_result* result);
void saltusi_run_statistics_frame(saltusi_run_statistics* gather, const saltus_frame* frame);
void saltusi_run_statistics_event(saltusi_run_statistics* gather, const saltus_event* event);

#endif
