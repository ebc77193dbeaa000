/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger_impact.h - the work of impulses at one instant.
 */
#ifndef SALTUSI_LEDGER_IMPACT_H
#define SALTUSI_LEDGER_IMPACT_H

#include "sim/ledger.h"

/* Destination of works. */
typedef struct saltusi_account {
  saltus_energy* energy;
  saltusi_contact_work* contacts; /* [nc] */
} saltusi_account;

/* Impulses of contacts at one instant: their work, and its size without cancellation. */
typedef struct saltusi_impact {
  saltus_point at; /* t and q */
  double work, size;
  bool any;
} saltusi_impact;

void saltusi_impact_layout(saltusi_ledger_workspace* room, saltus_arena* arena);

saltusi_impact saltusi_impact_open(saltusi_ledger_workspace* room, double t, const double* q);

/* Impulses of one contact between relative velocities before and after, three each. */
void saltusi_impact_contact(saltusi_ledger_workspace* room, saltusi_account account,
                            saltusi_impact* impact, int key, const double P[3], const double U[6]);

/* Likewise between two velocities of the system. */
void saltusi_impact_between(saltusi_ledger_workspace* room, saltusi_account account,
                            saltusi_impact* impact, int key, const double P[3], const double* v[2]);

/* Impulses of a contact whose work is counted elsewhere: the reaction of joints alone. */
void saltusi_impact_push(saltusi_ledger_workspace* room, saltusi_impact* impact, int key,
                         const double P[3]);

/* Adds the work of the reaction of joints and of moving frames. Impulses of joints are left in room->joint_P. */
void saltusi_impact_close(saltusi_ledger_workspace* room, saltusi_account account,
                          const saltusi_impact* impact);

/* Number of rows of a contact: normal and tangents of its law. */
int saltusi_ledger_rows(const saltus_system* sys, int law);
int saltusi_ledger_law(const saltusi_ledger_workspace* room, int key);

#endif
