/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * redundant_contacts.h - active contacts whose conditions follow from those of others (docs/theory/contact-geometry.md,
 * 9).
 */
#ifndef SALTUSI_REDUNDANT_CONTACTS_H
#define SALTUSI_REDUNDANT_CONTACTS_H

#include "saltus/scheme.h"
#include "system/evaluate.h"

/* One active contact. */
typedef struct saltusi_filtered_contact {
  int row;     /* its normal in the block of rows */
  int kind;    /* a contact follows only from others of its kind */
  double term; /* m/s, added to U by its law */
  bool friction;
  bool redundant; /* out */
  bool visited;
} saltusi_filtered_contact;

/* Velocities of a body where all have as many, else 0. */
int saltusi_body_width(const saltus_system* sys);

extern const char* const saltusi_filter_names[]; /* of saltus_contact_filter */

/* Finds redundant contacts, from the last one down; body_width: velocities of each body, 0: unknown. With flat also
 * those with friction inside of flat patches of bodies; accuracy of `term`, m/s. Returns whether there are any. */
bool saltusi_find_redundant(const saltusi_row_block* rows, int count,
                            saltusi_filtered_contact* contacts, int body_width, bool flat,
                            double accuracy);

#endif
