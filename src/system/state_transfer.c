/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * state_transfer.c - see state_transfer.h.
 */
#include "system/state_transfer.h"

#include <assert.h>
#include <string.h>

/* Copies some doubles and advances both sides by their counts. */
static void walk(saltusi_state_transfer* carry, size_t copied, size_t there, size_t here) {
  if (carry->from != NULL && carry->to != NULL && copied > 0) {
    memcpy(carry->to, carry->from, copied * sizeof(double));
  }
  carry->from = carry->from != NULL ? carry->from + there : NULL;
  carry->to = carry->to != NULL ? carry->to + here : NULL;
  carry->count += here;
}

void saltusi_transfer_plain(saltusi_state_transfer* carry, size_t count) {
  assert(carry != NULL);
  walk(carry, count, count, count);
}

void saltusi_transfer_each(saltusi_state_transfer* carry, size_t count) {
  assert(carry != NULL);
  for (int key = 0; carry->forgotten != NULL && carry->to != NULL && key < carry->contacts_to;
       key++) {
    if (carry->forgotten[key]) {
      memset(carry->to + (size_t)key * count, 0, count * sizeof(double));
    }
  }
  size_t there = count * (size_t)carry->contacts_from;
  size_t here = count * (size_t)carry->contacts_to;
  walk(carry, there < here ? there : here, there, here);
}
