/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * carry.h - doubles that a scheme keeps, some of them by contact, described once: to count them, to move
 * them when the capacity grows, and to delete one contact.
 *
 *   saltusi_carry_plain(carry, 1);         1 double
 *   saltusi_carry_each(carry, 3);          3 doubles for each contact, by key
 */
#ifndef SALTUSI_CARRY_H
#define SALTUSI_CARRY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct saltusi_carry {
  const double* from; /* NULL: nothing is copied */
  double* to;         /* NULL: it is only counted */
  int contacts_from, contacts_to;
  const bool* forgotten; /* [contacts_to] keys whose doubles in `to` become zero; NULL: none */
  size_t count;          /* doubles of `to` so far */
} saltusi_carry;

void saltusi_carry_plain(saltusi_carry* carry, size_t count);
void saltusi_carry_each(saltusi_carry* carry, size_t count);

#endif
