/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger_islands.h - the ledger of a step whose islands have clocks of their own: each keeps one from event to event
 * of its own, and at common times they are added to that of all.
 */
#ifndef SALTUSI_LEDGER_ISLANDS_H
#define SALTUSI_LEDGER_ISLANDS_H

#include "scheme/scheme_ops.h"
#include "sim/ledger.h"

typedef struct saltusi_ledger_island {
  saltusi_ledger ledger; /* since the start of the step */
  saltusi_ledger_workspace room;
  saltus_energy sum;           /* works of the last step */
  const int* velocities;       /* [nv] in the whole */
  const int* contacts;         /* [nc] in the whole */
  saltusi_contact_work* works; /* [nc] since the start of the step */
  saltusi_contact_work* shown; /* [nc] */
  int step;                    /* the one at hand, of those of the island */
  saltusi_island_step at;
  saltusi_ledger_inside inside;
} saltusi_ledger_island;

typedef struct saltusi_ledger_islands {
  saltus_scheme* scheme;
  int count; /* 0: one clock */
  saltusi_ledger_island* island;
  double end; /* s, of the common step */
  void* block;
  size_t bytes;
} saltusi_ledger_islands;

/* SALTUS_ERR_MEMORY; nothing for a scheme with one clock. */
saltus_status saltusi_ledger_islands_create(saltusi_ledger_islands* islands, saltus_scheme* scheme,
                                            const saltus_allocator* memory);
void saltusi_ledger_islands_release(saltusi_ledger_islands* islands,
                                    const saltus_allocator* memory);

/* A committed step from t to end. */
void saltusi_ledger_islands_open(saltusi_ledger_islands* islands, double t, double end);
/* All islands to a time, left or right of what happens there. */
void saltusi_ledger_islands_advance(saltusi_ledger_islands* islands, double t, saltus_side side);
/* Adds their sums, as they show at the time that they were advanced to, to a sum and to works by contact. */
void saltusi_ledger_islands_show(saltusi_ledger_islands* islands, double t, saltus_side side,
                                 saltus_energy* sum, saltusi_contact_work* works);
/* To the end of the step, and into the ledger of all. */
void saltusi_ledger_islands_close(saltusi_ledger_islands* islands, saltusi_ledger* ledger,
                                  saltusi_contact_work* works);
/* The island with the largest remainder in the closed step between two states of the whole; -1: there are none. Requires a
 * potential. */
int saltusi_ledger_islands_worst(saltusi_ledger_islands* islands, const saltus_state ends[2]);
/* What a callback said that failed; NULL: none did. */
saltus_failure* saltusi_ledger_islands_failure(const saltusi_ledger_islands* islands);

#endif
