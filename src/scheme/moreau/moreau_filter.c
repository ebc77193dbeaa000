/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_filter.c - see moreau_filter.h.
 */
#include "scheme/moreau/moreau_filter.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Compacts the list to the remaining contacts. */
static void close_up(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_operator* op = &w->op;
  saltusi_row_block* rows = &op->rows;
  int contacts = 0, next = op->first[0];
  for (int i = 0; i < s->report->active; i++) {
    if (w->filtered[i].redundant) {
      continue;
    }
    const int from = op->first[i], count = op->first[i + 1] - from;
    for (int k = 0; k < count && next != from; k++) {
      const size_t a = (size_t)next + (size_t)k, b = (size_t)from + (size_t)k;
      const size_t n = (size_t)rows->stride;
      memcpy(rows->G + a * n, rows->G + b * n, n * sizeof(double));
      memcpy(rows->column + a * n, rows->column + b * n, n * sizeof(int));
      rows->entries[a] = rows->entries[b];
      rows->b[a] = rows->b[b];
      op->P[a] = op->P[b];
      w->u0[a] = w->u0[b];
      w->b0[a] = w->b0[b];
    }
    op->mu[contacts] = op->mu[i];
    if (op->has_friction) {
      op->slip[contacts] = op->slip[i];
    }
    w->offset[contacts] = w->offset[i];
    w->aim[contacts] = w->aim[i];
    w->rebounds[contacts] = w->rebounds[i];
    s->contacts[contacts] = s->contacts[i];
    op->first[contacts++] = next;
    next += count;
  }
  op->first[contacts] = next;
  op->contacts = contacts;
  op->count = next;
  w->rows = next;
  s->report->active = contacts;
}

void saltusi_moreau_filter(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                           const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  const saltusi_row_block* rows = &w->op.rows;
  const int active = s->report->active;
  if (o->filter == SALTUS_FILTER_NO || rows->column == NULL || active < 2) {
    return;
  }
  for (int i = 0; i < active; i++) {
    const int which = s->contacts[i].law, row = w->op.first[i];
    const saltus_contact_law* law = &s->eval->sys.laws[which];
    const double rebound = w->rebounds[i] ? law->e_N * w->u0[row] : 0.0;
    w->filtered[i] =
        (saltusi_filtered_contact){.row = row,
                                   .kind = 2 * which + (law->e_T != 0.0 && w->rebounds[i] ? 1 : 0),
                                   .term = w->offset[i] + w->op.rows.b[row] + rebound,
                                   .friction = w->op.mu[i] > 0.0};
  }
  const double size = fmax(1.0, saltusi_max_abs(s->eval->sys.dims.nq, s->q0));
  if (saltusi_find_redundant(rows, active, w->filtered, w->body_width,
                             o->filter == SALTUS_FILTER_FLAT, 64.0 * DBL_EPSILON * size / s->h)) {
    close_up(w, s);
  }
}
