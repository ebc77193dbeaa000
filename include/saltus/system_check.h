/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * system_check.h - comparison of the derivatives and traits of a system with differences.
 */
#ifndef SALTUS_SYSTEM_CHECK_H
#define SALTUS_SYSTEM_CHECK_H

#include "saltus/system.h"

SALTUS_BEGIN_DECLS

/* The largest relative difference between each analytic derivative and central differences of sixth order at one point,
 * relative to 1 + the largest entry; NaN where the entry is missing. */
typedef struct saltus_system_check_result {
  double force_q, force_v, mass_q, kinetic_gradient;
  double rate;                             /* rate against advance */
  double normal_G, normal_b, convective_c; /* over contacts and joints */
  /* Against mass, force_q and force_v; also entries outside of the structure, and force_some */
  double blocks;
  double mass_symmetry;
  double enclosure; /* largest distance of values from their enclosures; 0: all inside */
  double power;     /* sum of `power` against the power of F and the rates of the energies */
  bool traits_hold;
  double worst;         /* largest of all members */
  const char* where;    /* name of the largest */
  double difference;    /* against advance */
  double normalise;     /* change of a q that is already normalised */
  double turn_momentum; /* against differences of difference and advance */
  double joint_hessian; /* against differences of rows; also joints_act */
} saltus_system_check_result;

/* Compares derivatives, rows and traits of a system at (t, q, v) with differences; *result has the largest relative
 * deviations. SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_system_check(const saltus_system* system, double t, const double* q,
                                             const double* v, saltus_log log,
                                             saltus_system_check_result* result);

SALTUS_END_DECLS

#endif
