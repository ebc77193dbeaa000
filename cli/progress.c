/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * progress.c - see progress.h.
 */
#include "progress.h"

#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Variables of the signal handler; the only file-scope variables of the program. */
static volatile int caught;         /* number of the first signal during a run; else 0 */
static volatile sig_atomic_t holds; /* a run is in progress that polls the flag */

/* Exit code 128 + number, the convention of shells. */
static void on_signal(int number) {
  if (holds != 0 && caught == 0) {
    caught = number;
    return;
  }
  static const char text[] = "saltus: ended by a signal\n";
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written; /* write errors cannot be reported here */
  _exit(128 + number);
}

void cli_signals_start(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) { /* nohup */
    sigaction(SIGHUP, &action, NULL);
  }
  /* a file beyond its size limit is a write error, with a message */
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGXFSZ, &ignore, NULL);
}

const volatile int* cli_signals_hold(void) {
  holds = 1;
  return &caught;
}

void cli_signals_release(void) {
  holds = 0;
}

int cli_signals_caught(void) {
  return caught;
}

static void draw(const cli_progress* p, double t, double t_end, double now) {
  enum { WIDTH = 40 };
  double part = (t - p->t0) / (t_end - p->t0);
  int filled = (int)(part * WIDTH);
  char bar[WIDTH + 1];
  for (int i = 0; i < WIDTH; i++) {
    bar[i] = i < filled ? '#' : '.';
  }
  bar[WIDTH] = '\0';
  double left = part > 0.0 ? (now - p->start) * (1.0 - part) / part : 0.0;
  fprintf(stderr, "\r[%s] %3.0f %%  t = %-10.5g s  %.0f s left   ", bar, 100.0 * part, t, left);
  fflush(stderr);
}

static saltus_status report(void* user, double t, double t_end, long long step) {
  (void)step;
  draw(user, t, t_end, saltusi_clock_monotonic());
  return SALTUS_OK;
}

saltus_progress cli_progress_make(cli_progress* progress) {
  *progress = (cli_progress){.shown = isatty(STDERR_FILENO) != 0};
  return (saltus_progress){.report = progress->shown ? report : NULL, .user = progress};
}

void cli_progress_begin(cli_progress* progress, double t0) {
  progress->start = saltusi_clock_monotonic();
  progress->t0 = t0;
}

void cli_progress_end(cli_progress* progress) {
  if (progress->shown) {
    fprintf(stderr, "\r%*s\r", 90, "");
  }
}
