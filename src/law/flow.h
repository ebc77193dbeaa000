/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flow.h - an ordinary differential equation y' = f(y) to the first guard that becomes negative, by the method of
 * Dormand and Prince of order 8, to rounding. The end is found by steps that end there: no interpolation.
 */
#ifndef SALTUSI_FLOW_H
#define SALTUSI_FLOW_H

#include "saltus/memory.h"

#include <stdbool.h>

enum { SALTUSI_FLOW_STAGES = 13, SALTUSI_FLOW_GROUPS = 4 };

typedef struct saltusi_flow {
  /* of the caller */
  int n, guards;
  void (*rate)(void* self, const double* y, double* f);
  void (*guard)(void* self, const double* y, double* g); /* [guards], positive while it goes on */
  void* self;
  const int* group;                  /* [n] components that share a scale */
  double floor[SALTUSI_FLOW_GROUPS]; /* least scale of each */
  double h;                          /* first step; then the last one */
  double* y;                         /* [n] */

  /* inside */
  int n_max, guards_max;
  double* K;     /* [STAGES x n] */
  double* y_try; /* [n] and [guards], whichever is more */
  double* y_end;
  double* g_start; /* [guards] */
  double* g_end;
  double* g_try;
} saltusi_flow;

void saltusi_flow_layout(saltusi_flow* flow, int n, int guards, saltus_arena* arena);

/* Which guard ended it; -1: no end was found. Guards that are negative at the start do not count before they were
 * positive. */
int saltusi_flow_run(saltusi_flow* flow);

#endif
