/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * progress.c - see progress.h.
 */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The one mutable variable of the program: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void remember(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

static double wall(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
  cli_progress* p = user;
  if (interrupted) {
    return SALTUS_ERR_STOPPED;
  }
  double now = p->shown ? wall() : 0.0;
  if (p->shown && now - p->last > 0.1) {
    p->last = now;
    draw(p, t, t_end, now);
  }
  return SALTUS_OK;
}

saltus_progress cli_progress_start(cli_progress* progress, double t0) {
  struct sigaction action = {.sa_handler = remember};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  *progress = (cli_progress){.shown = isatty(STDERR_FILENO) != 0, .start = wall(), .t0 = t0};
  progress->last = progress->start;
  return (saltus_progress){.report = report, .user = progress, .every = 256};
}

void cli_progress_end(cli_progress* progress) {
  if (progress->shown) {
    fprintf(stderr, "\r%*s\r", 90, "");
  }
}

bool cli_interrupted(void) {
  return interrupted != 0;
}
