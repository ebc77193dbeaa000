/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * work.h - what a computation cost, counted.
 */
#ifndef SALTUS_WORK_H
#define SALTUS_WORK_H

typedef struct saltus_work {
  long long steps; /* attempted */
  long long force_evaluations, contact_solves, newton_iterations, factorizations;
} saltus_work;

#endif
