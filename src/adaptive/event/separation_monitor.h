/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * separation_monitor.h - the first root of a separation monitor along a trial step, by advancing over parts free of
 * roots (docs/theory/events.md, 4).
 *
 * Around the middle of a subinterval the system gives a bound of the distance above rounding (saltus_clearance). The
 * remaining parts before and after are searched recursively, the left one first, until the distance is resolved to
 * `depth`. Where it is below zero the sign change is bracketed, and only the part before it remains: near a root the
 * remaining parts shrink quadratically.
 */
#ifndef SALTUSI_SEPARATION_MONITOR_H
#define SALTUSI_SEPARATION_MONITOR_H

#include "adaptive/adaptive.h"

typedef struct saltusi_separation_monitor {
  saltusi_search* search;
  int key;
  double begin, end; /* theta in the trial step; positive at its begin */
  double depth;      /* m, how far below zero the distance may fall undetected */
  double noise;      /* m, its rounding */
  saltus_status status;
} saltusi_separation_monitor;

/* The first root; NaN: none. False: the limit of subintervals was reached, without a result. */
bool saltusi_separation_monitor_root(saltusi_separation_monitor* s, double* root);

#endif
