/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flow.h - integrates an ordinary differential equation y' = f(y) to the first guard that becomes negative, by the
 * method of Dormand and Prince of order 8, to rounding. The end is located by shortened steps, without interpolation.
 */
#ifndef SALTUSI_FLOW_H
#define SALTUSI_FLOW_H

#include "saltus/memory.h"

#include <stdbool.h>

enum { SALTUSI_FLOW_STAGES = 13, SALTUSI_FLOW_GROUPS = 4 };

typedef struct saltusi_flow {
  /* set by the caller */
  int n, guards;
  void (*rate)(void* self, const double* y, double* f);
  void (*guard)(void* self, const double* y, double* g); /* [guards], positive before the end */
  void* self;
  const int* group;                  /* [n] components that share a scale */
  double floor[SALTUSI_FLOW_GROUPS]; /* smallest scale of each */
  double h;                          /* first step; then the last one */
  double* y;                         /* [n] */

  /* inside */
  int n_max, guards_max;
  double* K;     /* [STAGES x n] */
  double* y_try; /* max(n, guards) */
  double* y_end;
  double* g_start; /* [guards] */
  double* g_end;
  double* g_try;
} saltusi_flow;

void saltusi_flow_layout(saltusi_flow* flow, int n, int guards, saltus_arena* arena);

/* Index of the guard that ended the integration; -1: none did. A guard that is negative at the start counts after
 * it has been positive. */
int saltusi_flow_run(saltusi_flow* flow);

#endif
