/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * progress.h - a progress bar with the time left, on a terminal only, and the handling of signals.
 *
 * SIGINT, SIGTERM and SIGHUP end the program with 128 + their number: at once, or, during a run, by
 * a flag that the run polls, so that its last state is recorded. A second signal ends the run at
 * once.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "saltus/sim.h"

typedef struct cli_progress {
  bool shown;   /* the standard error is a terminal */
  double start; /* s of the clock, where it began */
  double t0;    /* s, simulated then */
} cli_progress;

/* For a planned run; started with it. */
saltus_progress cli_progress_make(cli_progress* progress);
void cli_progress_begin(cli_progress* progress, double t0);
void cli_progress_end(cli_progress* progress); /* wipes the bar */

void cli_signals_start(void);
/* From here on the first signal only sets the flag, which is given to saltus_run_def.cancel. */
const volatile int* cli_signals_hold(void);
void cli_signals_release(void);
int cli_signals_caught(void); /* its number; 0: none */

#endif
