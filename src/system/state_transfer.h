/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * state_transfer.h - doubles that a scheme keeps, some of them by contact, described once: to count them, to move
 * them when the capacity grows, and to delete one contact.
 *
 *   saltusi_transfer_plain(carry, 1);         1 double
 *   saltusi_transfer_each(carry, 3);          3 doubles for each contact, by key
 */
#ifndef SALTUSI_STATE_TRANSFER_H
#define SALTUSI_STATE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct saltusi_state_transfer {
  const double* from; /* NULL: no copy */
  double* to;         /* NULL: only counts */
  int contacts_from, contacts_to;
  const bool* forgotten; /* [contacts_to] keys whose doubles in `to` become zero; NULL: none */
  size_t count;          /* doubles of `to` so far */
} saltusi_state_transfer;

void saltusi_transfer_plain(saltusi_state_transfer* carry, size_t count);
void saltusi_transfer_each(saltusi_state_transfer* carry, size_t count);

#endif
