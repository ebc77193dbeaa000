/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.h - integration to a tolerance, through impacts, accumulations, sliding and sticking.
 */
#ifndef SALTUS_ADAPTIVE_H
#define SALTUS_ADAPTIVE_H

#include "saltus/event.h"
#include "saltus/scheme.h"

SALTUS_BEGIN_DECLS

/* "adaptive", "adaptive-dopri5", "adaptive-dop853", "adaptive-radau5". The local error of positions,
 * velocities and contact impulses stays below atol + rtol |x| in every step: positions hold at all times, velocities
 * as graphs including their jumps. */
typedef struct saltus_adaptive_options {
  double rtol;
  double atol;          /* positions */
  double atol_velocity; /* 0: the same number as atol */
  double h_max;         /* s; 0: none */
  double h_first;       /* s; 0: chosen */
  int on_energy_gain;   /* saltus_energy_gain */
  int accept_degraded; /* 1: captured intervals may exceed the tolerance; 0: such a run ends with an error */
} saltus_adaptive_options;

SALTUS_API saltus_adaptive_options saltus_adaptive_options_default(void);

SALTUS_END_DECLS

#endif
