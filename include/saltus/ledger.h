/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger.h - where the energy of a simulation goes, step by step and contact by contact.
 *
 *   change = given + friction + impact + remainder
 *
 *   change     kinetic and potential energy after minus before
 *   given      work of forces without a potential, along the step, and of moving surfaces and driven
 *              joints:  int F . dq + T(q_1, u) - T(q_0, u) + V(q_1) - V(q_0)  with u = (q_1 - q_0) / h,
 *              on the straight line from q_0 to q_1;  -P . b of what moves by itself
 *   friction   work of tangential impulses,  P_T . (U_T- + U_T+) / 2
 *   impact     work of normal impulses,      P_N (U_N- + U_N+) / 2
 *   remainder  what is left: the error of the scheme
 *
 * A scheme that knows its forces inside a step (adaptive) may take long ones; there the same terms are
 * integrals of power along its own motion.
 *
 * Each term is computed on its own. T(q_1, u) - T(q_0, u) is the work that the kinetic energy does
 * through the configuration, which F contains with the opposite sign; for a conservative system
 * `given` vanishes at every pair of states, whatever the step.
 */
#ifndef SALTUS_LEDGER_H
#define SALTUS_LEDGER_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_energy {
  double change;    /* J */
  double given;     /* J */
  double friction;  /* J, negative for a loss */
  double impact;    /* J, negative for a loss */
  double remainder; /* J */
  double created;   /* J that contacts created in steps with an impact; 0: none did */
} saltus_energy;

/* Contacts of an impact create energy when the sum of their work is positive by more than this part
 * of the sum of |P . U-| + |P . U+|. */
#define SALTUS_ENERGY_CREATED 1e-9

SALTUS_END_DECLS

#endif
