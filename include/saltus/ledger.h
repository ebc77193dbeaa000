/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.h - energy balance of a simulation, by step and by contact.
 *
 *   change = external + drive + friction + impact + remainder
 *
 *   change     kinetic and potential energy after minus before
 *   external   work of forces without a potential, the integral of Q . v, and `start`: work of
 *              projections of the given state onto joints and closed contacts in the first
 *              instant (of schemes with dense output)
 *   drive      work of prescribed motions: of moving surfaces and driven joints, the integral of
 *              -lambda . b and -P . b of impulses; of time in the energies, the integral of V_t - T_t and
 *              the change of 2 T - v . T_v
 *   friction   work of tangential forces, the integral of lambda_T . U_T, and P_T . (U_T- + U_T+) / 2
 *   impact     work of normal impulses,   P_N (U_N- + U_N+) / 2
 *   remainder errors of the scheme and of later projections only
 *
 * Each term except the remainder is a sum of works, not a difference of energies. Integrals use
 * the dense output of a scheme that has it for forces (adaptive), and the straight line between the
 * ends of a step otherwise. docs/ledger.md derives the terms.
 */
#ifndef SALTUS_LEDGER_H
#define SALTUS_LEDGER_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_energy {
  double change;    /* J */
  double external;  /* J */
  double drive;     /* J */
  double friction;  /* J, negative for a loss */
  double impact;    /* J, negative for a loss */
  double remainder; /* J */
  double created;   /* J, energy created by contacts in steps with an impact; 0: none */
  double start;     /* J, part of external: projection of the start onto its constraints */
  SALTUS_RESERVED(1);
} saltus_energy;

/* Contacts of an impact create energy when the sum of their work is positive by more than this fraction of the sum of
 * |P . U-| + |P . U+|. */
#define SALTUS_ENERGY_CREATED 1e-9

SALTUS_END_DECLS

#endif
