/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * clock.c - see clock.h.
 */
#include "base/clock.h"

#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double saltusi_clock_monotonic(void) {
  return seconds(CLOCK_MONOTONIC);
}

double saltusi_clock_thread(void) {
  return seconds(CLOCK_THREAD_CPUTIME_ID);
}

double saltusi_clock_cpu(void) {
  return seconds(CLOCK_PROCESS_CPUTIME_ID);
}
