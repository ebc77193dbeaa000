/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * progress.h - a progress bar with the time left, on a terminal only, and a clean stop on Ctrl-C.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "saltus/sim.h"

typedef struct cli_progress {
  bool shown;   /* the standard error is a terminal */
  double start; /* wall clock, s */
  double last;  /* when it was drawn */
  double t0;    /* s, simulated */
} cli_progress;

/* Catches SIGINT and SIGTERM from here on: the run then stops at the next report. */
saltus_progress cli_progress_start(cli_progress* progress, double t0);
void cli_progress_end(cli_progress* progress); /* wipes the bar */
bool cli_interrupted(void);

#endif
