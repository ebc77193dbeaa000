/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * warm_start_transfer.c - see warm_start_transfer.h.
 *
 *   P_new = sum over its ancestors of   (E_new^T E_old) P_old / |E_new|^2,     E: normal and tangents, in rows of the
 * first body, whose length laws of friction may scale
 */
#include "scheme/warm_start_transfer.h"

#include "math/matrix.h"
#include "system/contact_keys.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Cosine of the largest angle between normals of the same contact region. */
static const double same_side = 0.5;

void saltusi_warm_start_transfer_layout(saltusi_warm_start_transfer* a, const saltusi_operator* op,
                                        const saltus_system* sys, saltus_arena* arena) {
  assert(a != NULL && op != NULL && sys != NULL && arena != NULL);
  const bool serves = op->warm.each > 0 && (sys->traits & SALTUS_CHANGING_CONTACTS) != 0 &&
                      sys->ops->place != NULL && sys->dims.row_width > 0;
  a->head = NULL;
  if (serves) {
    a->head = SALTUS_PUSH(arena, int, sys->dims.nv);
    a->next = SALTUS_PUSH(arena, int, sys->dims.nc);
    a->point = SALTUS_PUSH2(arena, double, sys->dims.nc, 3);
  }
}

static const int* columns_of(const saltusi_row_block* rows, int row) {
  return rows->column + (size_t)row * (size_t)rows->stride;
}

static const double* entries_of(const saltusi_row_block* rows, int row) {
  return rows->G + (size_t)row * (size_t)rows->stride;
}

/* Active contacts by the first velocity of their rows. */
static void chain(saltusi_warm_start_transfer* a, const saltusi_operator* op, int nv) {
  memset(a->head, 0, (size_t)nv * sizeof(int));
  for (int i = op->contacts - 1; i >= 0; i--) {
    const int row = op->first[i];
    if (op->rows.entries[row] > 0) {
      int* head = &a->head[columns_of(&op->rows, row)[0]];
      a->next[i] = *head;
      *head = i + 1;
    }
    a->point[3 * i] = (double)NAN;
  }
}

static bool find_place(const saltus_system* sys, const saltus_point* at, int key,
                       saltus_contact_place* place) {
  return sys->ops->place(sys->self, at, at->keys->table.identity[key], place) == SALTUS_OK;
}

/* Whether two rows connect the same bodies, with normals on the same side. */
static bool same_place(const saltusi_row_block* rows, int x, int y, int linear) {
  const int last = rows->entries[x] - 1;
  return rows->entries[y] == last + 1 && columns_of(rows, y)[0] == columns_of(rows, x)[0] &&
         columns_of(rows, y)[last] == columns_of(rows, x)[last] &&
         saltusi_dot(linear, entries_of(rows, x), entries_of(rows, y)) > same_side;
}

/* The active contact nearest to a point, between the bodies of a row; -1: none. */
static int nearest(saltusi_warm_start_transfer* a, const saltusi_operator* op,
                   const saltus_system* sys, const saltus_point* at,
                   const saltus_contact_step* contacts, int linear, const double point[3]) {
  const int row = op->count; /* of the ancestor, behind the rows in use */
  int found = -1;
  double least = INFINITY;
  for (int link = a->head[columns_of(&op->rows, row)[0]]; link > 0; link = a->next[link - 1]) {
    const int i = link - 1;
    double* own = a->point + 3 * (size_t)i;
    saltus_contact_place place;
    if (!same_place(&op->rows, row, op->first[i], linear)) {
      continue;
    }
    if (isnan(own[0]) && find_place(sys, at, contacts[i].key, &place)) {
      memcpy(own, place.point, sizeof place.point);
    }
    const double d[3] = {own[0] - point[0], own[1] - point[1], own[2] - point[2]};
    const double distance = saltusi_dot(3, d, d);
    if (distance < least) {
      least = distance;
      found = i;
    }
  }
  return found;
}

/* Adds the impulses of the ancestor, whose `count` rows are behind the rows in use. */
static void hand_over(saltusi_operator* op, const double* kept, int count, int heir, int linear) {
  const saltusi_row_block* rows = &op->rows;
  const int row = op->first[heir], own = op->first[heir + 1] - row;
  for (int k = 0; k < own && k < count; k++) {
    double sum = 0.0;
    for (int j = 0; j < count; j++) {
      sum +=
          kept[j] * saltusi_dot(linear, entries_of(rows, row + k), entries_of(rows, op->count + j));
    }
    op->P[row + k] += op->warm.factor * sum;
  }
  if (op->has_friction && op->slip[heir] == 0.0) {
    op->slip[heir] = kept[op->warm.each - 1];
  }
}

void saltusi_warm_start_inherit(saltusi_warm_start_transfer* a, saltusi_operator* op,
                                const saltus_system* sys, const saltus_point* at,
                                const saltus_contact_step* contacts, int linear) {
  assert(a != NULL && op != NULL && sys != NULL && at != NULL);
  if (a->head == NULL || at->keys == NULL || linear == 0 || !(op->warm.factor > 0.0)) {
    return;
  }
  const saltusi_contact_table* table = &at->keys->table;
  bool chained = false;
  for (int key = 0; key < sys->dims.nc; key++) {
    const double* kept = op->warm.memory + (size_t)key * (size_t)op->warm.each;
    const bool gone = kept[0] > 0.0 && table->law[key] >= 0 && table->used[key] != table->tries;
    saltus_contact_place place;
    if (!gone || table->law[key] >= sys->law_count || !find_place(sys, at, key, &place)) {
      continue;
    }
    if (!chained) {
      chain(a, op, sys->dims.nv);
      chained = true;
    }
    int count = saltusi_operator_rows(op, &sys->laws[table->law[key]]);
    count = count > linear ? linear : count;
    saltusi_rows_peek(sys, at, key, count, &op->rows, op->count);
    const int heir = op->rows.entries[op->count] > 0
                         ? nearest(a, op, sys, at, contacts, linear, place.point)
                         : -1;
    if (heir >= 0) {
      hand_over(op, kept, count, heir, linear);
    }
  }
}
