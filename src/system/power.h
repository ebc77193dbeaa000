/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * power.h - power of external forces and drives.
 */
#ifndef SALTUSI_POWER_H
#define SALTUSI_POWER_H

#include "system/evaluate.h"

typedef struct saltusi_power_workspace {
  double* q;      /* [nq] */
  double* F;      /* [nv] */
  double* matrix; /* [nv x nv], or NULL if the system provides its kinetic energy */
} saltusi_power_workspace;

void saltusi_power_layout(saltusi_power_workspace* room, const saltus_system* sys,
                          saltus_arena* arena);

/* The power of F, and the rates of T at fixed v and of V at fixed t, belong to external forces; the rate of
 * V at fixed q is that of a drive. `scale` lengthens the differences. The sum is right in all cases; T_t is not
 * separated. */
void saltusi_power_by_differences(const saltus_system* sys, const saltus_point* at, double scale,
                                  saltusi_power_workspace* room, double power[2]);

/* Power [2] of the system (system.h), by differences if it provides none. */
void saltusi_system_power(const saltus_system* sys, const saltus_point* at,
                          saltusi_power_workspace* room, double power[2]);

#endif
