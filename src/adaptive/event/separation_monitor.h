/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * separation_monitor.h - the first root of a watch along an attempt, by advancing over what is known to be free of roots
 * (docs/theory/events.md, 4).
 *
 * Around the middle of a piece the system says how far the watch is above rounding (saltus_clearance). What that leaves of
 * the piece, before and behind, is searched in turn, the left part first, until the watch is known to `depth`. Where it is
 * found below zero the change of its sign is closed in on, and what lies before that is all that remains: near a root the
 * parts that are left shrink like their squares.
 */
#ifndef SALTUSI_SEPARATION_MONITOR_H
#define SALTUSI_SEPARATION_MONITOR_H

#include "adaptive/adaptive.h"

typedef struct saltusi_separation_monitor {
  saltusi_search* search;
  int key;
  double begin, end; /* places of the attempt; positive at its begin */
  double depth;      /* m, how far below zero it may go unseen */
  double noise;      /* m, its rounding */
  saltus_status status;
} saltusi_separation_monitor;

/* The first root; NaN: there is none. False: it took too long, and nothing is known. */
bool saltusi_separation_monitor_root(saltusi_separation_monitor* s, double* root);

#endif
