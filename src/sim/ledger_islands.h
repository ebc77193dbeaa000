/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger_islands.h - energy balance of a step of asynchronous islands. Each island has a ledger over its own steps;
 * the sums of all are added to the common ledger at common times.
 */
#ifndef SALTUSI_LEDGER_ISLANDS_H
#define SALTUSI_LEDGER_ISLANDS_H

#include "scheme/scheme_ops.h"
#include "sim/ledger.h"

typedef struct saltusi_ledger_island {
  saltusi_ledger ledger; /* since the start of the step */
  saltusi_ledger_workspace room;
  saltus_energy sum;           /* works of the last step */
  const int* velocities;       /* [nv] in the whole system */
  const int* contacts;         /* [nc] in the whole system */
  saltusi_contact_work* works; /* [nc] since the start of the step */
  saltusi_contact_work* shown; /* [nc] */
  int step;                    /* number of the present step of the island */
  saltusi_island_step at;
  saltusi_ledger_inside inside;
} saltusi_ledger_island;

typedef struct saltusi_ledger_islands {
  saltus_scheme* scheme;
  int count; /* 0: not asynchronous */
  saltusi_ledger_island* island;
  double end; /* s, of the common step */
  void* block;
  size_t bytes;
} saltusi_ledger_islands;

/* SALTUS_ERR_MEMORY; allocates nothing for other schemes. */
saltus_status saltusi_ledger_islands_create(saltusi_ledger_islands* islands, saltus_scheme* scheme,
                                            const saltus_allocator* memory);
void saltusi_ledger_islands_release(saltusi_ledger_islands* islands,
                                    const saltus_allocator* memory);

/* A committed step from t to end. */
void saltusi_ledger_islands_open(saltusi_ledger_islands* islands, double t, double end);
/* Advances all islands to a time, before or after impacts at that time. */
void saltusi_ledger_islands_advance(saltusi_ledger_islands* islands, double t, saltus_side side);
/* Adds the sums at the time of the last advance to a sum and to works by contact. */
void saltusi_ledger_islands_show(saltusi_ledger_islands* islands, double t, saltus_side side,
                                 saltus_energy* sum, saltusi_contact_work* works);
/* Advances to the end of the step and adds the sums to the common ledger. */
void saltusi_ledger_islands_close(saltusi_ledger_islands* islands, saltusi_ledger* ledger,
                                  saltusi_contact_work* works);
/* Island with the largest remainder in the closed step between two states of the whole system; -1: there are none.
 * Requires a potential. */
int saltusi_ledger_islands_worst(saltusi_ledger_islands* islands, const saltus_state ends[2]);
/* Failure of a callback; NULL: none failed. */
saltus_failure* saltusi_ledger_islands_failure(const saltusi_ledger_islands* islands);

#endif
