/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * warm_start.c - see warm_start.h.
 */
#include "scheme/warm_start.h"

#include <assert.h>
#include <string.h>

const char* const saltusi_warm_start_names[] = {"yes", "no", NULL};

/* Smallest number of contacts of a system that keeps impulses. */
enum { CONTACTS_MIN = 3 };

/* Doubles of one contact: its impulse, and with friction its slip parameter; with friction laws
 * beyond Coulomb's their state variables. */
static int kept_each(int warm_start, const saltus_system* sys) {
  if (saltusi_frictions_special(sys)) {
    return SALTUS_CONE_ROWS + 1 + SALTUSI_FRICTION_STATE;
  }
  bool changing =
      (sys->traits & SALTUS_CHANGING_CONTACTS) != 0; /* the number of contacts may grow */
  if (warm_start != SALTUS_WARM_START_YES || (sys->dims.nc < CONTACTS_MIN && !changing)) {
    return 0;
  }
  int rows = 1;
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    int own = saltusi_friction_rows(&sys->laws[i]);
    rows = own > rows ? own : rows;
  }
  return rows > 1 ? rows + 1 : 1;
}

size_t saltusi_warm_count(int warm_start, const saltus_system* sys) {
  assert(sys != NULL);
  int each = kept_each(warm_start, sys);
  return each > 0 ? 1 + (size_t)each * (size_t)sys->dims.nc : 0;
}

void saltusi_warm_transfer(int warm_start, const saltus_system* sys,
                           saltusi_state_transfer* carry) {
  assert(sys != NULL && carry != NULL);
  int each = kept_each(warm_start, sys);
  if (each > 0) {
    saltusi_transfer_plain(carry, 1);
    saltusi_transfer_each(carry, (size_t)each);
  }
}

void saltusi_warm_layout(saltusi_operator* op, int warm_start, const saltus_system* sys) {
  assert(op != NULL && sys != NULL);
  op->warm.each = kept_each(warm_start, sys);
}

void saltusi_warm_open(saltusi_operator* op, const double* memory, double size) {
  assert(op != NULL);
  saltusi_warm* warm = &op->warm;
  if (warm->each > 0) {
    warm->memory = memory + 1;
    warm->factor = memory[0] > 0.0 ? size / memory[0] : 0.0;
    op->laws.fresh = !(memory[0] > 0.0);
  }
  op->laws.span = size;
}

void saltusi_warm_guess(saltusi_operator* op, int i, int key, int row, int count) {
  assert(op != NULL && key >= 0 && row >= 0 && count >= 0);
  const saltusi_warm* warm = &op->warm;
  if (warm->each == 0) {
    return;
  }
  const double* kept = warm->memory + (size_t)key * (size_t)warm->each;
  for (int k = 0; k < count; k++) {
    op->P[row + k] = warm->factor * kept[k];
  }
  if (op->has_friction) {
    op->slip[i] = kept[warm->each - 1];
  }
  if (op->laws.any) {
    memcpy(op->laws.state + (size_t)i * SALTUSI_FRICTION_STATE, kept + SALTUS_CONE_ROWS,
           SALTUSI_FRICTION_STATE * sizeof(double));
  }
}

void saltusi_warm_clear(const saltusi_operator* op, int nc, double size, double* memory) {
  assert(op != NULL && nc >= 0);
  size_t each = (size_t)op->warm.each;
  if (each > 0) {
    memory[0] = size;
    memset(memory + 1, 0, each * (size_t)nc * sizeof(double));
  }
}

void saltusi_warm_keep(const saltusi_operator* op, int i, int key, const double* P, int count,
                       double* memory) {
  assert(op != NULL && key >= 0 && count >= 0);
  size_t each = (size_t)op->warm.each;
  if (each == 0) {
    return;
  }
  double* kept = memory + 1 + (size_t)key * each;
  memcpy(kept, P, (size_t)count * sizeof(double));
  if (op->has_friction) {
    kept[each - 1] = op->slip[i];
  }
  if (op->laws.any) {
    memcpy(kept + SALTUS_CONE_ROWS, op->laws.after + (size_t)i * SALTUSI_FRICTION_STATE,
           SALTUSI_FRICTION_STATE * sizeof(double));
  }
}
