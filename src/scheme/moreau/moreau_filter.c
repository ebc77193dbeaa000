/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_filter.c - see moreau_filter.h (docs/theory/contact-geometry.md, 9).
 *
 *   redundant     g_i = sum a_j g_j,  a_j >= 0   (normal rows)   and   sum a_j s_j <= s_i,   s = term of its law added to U
 *
 * Then U_i + s_i >= 0 follows from the others, and an impulse at i is one at the others: without friction velocities
 * do not change. With friction this holds of contacts with one normal and one law inside of the hull of others, except
 * for bodies that slide and rotate, where friction of inner contacts has another direction. That is the criterion of
 * Potra, Anitescu,
 * Gavrea and Trinkle (International Journal for Numerical Methods in Engineering 66 (2006) 1079-1124, 10.4) for flat
 * faces, and a choice of the model.
 *
 * The a_j are sought by nonnegative least squares (math/nonnegative.h), contacts from the last one down.
 */
#include "scheme/moreau/moreau_filter.h"

#include "math/matrix.h"
#include "math/nonnegative.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Entries of a row between two bodies in space, and most contacts of a patch. */
enum { WIDTH = SALTUSI_NONNEGATIVE_WIDTH, MOST = 48 };

/* Relative size of rounding in a row. */
static const double rounding = 1e-12;

/* Contacts with the same velocities in their rows. */
typedef struct patch {
  int count, width;
  int contact[MOST];
  double row[MOST][WIDTH]; /* normal rows, lengths in units of the patch */
  double rest[MOST];       /* s */
  bool gone[MOST];
  double rounding; /* m/s, of s */
} patch;

/* Whether contact i of the patch is redundant given the remaining ones; same: only those with its
 * normal. */
static bool follows(const patch* p, int i, bool same) {
  const double* row = p->row[i];
  const double size = sqrt(saltusi_dot(p->width, row, row));
  bool unused[MOST];
  for (int j = 0; j < p->count; j++) {
    unused[j] = j == i || p->gone[j];
    for (int k = 0; k < 3 && same && !unused[j]; k++) { /* its normal is its first three entries */
      unused[j] = fabs(p->row[j][k] - row[k]) > rounding;
    }
  }
  saltusi_nonnegative sum;
  saltusi_nonnegative_sum(p->width, p->count, p->row, unused, row, &sum);
  double rest = 0.0, scale = fabs(p->rest[i]);
  for (int k = 0; k < sum.count; k++) {
    rest += sum.a[k] * p->rest[sum.column[k]];
    scale += fabs(sum.a[k] * p->rest[sum.column[k]]);
  }
  return sum.count > 0 && sum.left <= rounding * size &&
         rest <= p->rest[i] + rounding * scale + p->rounding;
}

/* Term that the law of the i-th active contact adds to U. */
static double rest_of(const saltusi_moreau* w, const saltusi_step* s, int i) {
  const saltus_contact_law* law = &s->eval->sys.laws[s->contacts[i].law];
  const int row = w->op.first[i];
  return w->offset[i] + w->op.rows.b[row] + (w->rebounds[i] ? law->e_N * w->u0[row] : 0.0);
}

static bool same_velocities(const saltusi_row_block* rows, int a, int b) {
  const int width = rows->entries[a];
  return width == rows->entries[b] &&
         memcmp(rows->column + (size_t)a * (size_t)rows->stride,
                rows->column + (size_t)b * (size_t)rows->stride, (size_t)width * sizeof(int)) == 0;
}

/* Contacts with the law and the velocities of contact i and a larger index; lengths in units of the
 * largest arm. */
static void gather(const saltusi_moreau* w, const saltusi_step* s, int i, patch* p) {
  const saltusi_row_block* rows = &w->op.rows;
  const int half = 3;
  p->count = 0;
  const double size = saltusi_max_abs(s->eval->sys.dims.nq, s->q0);
  p->rounding = 64.0 * DBL_EPSILON * fmax(1.0, size) / s->h;
  p->width = rows->entries[w->op.first[i]];
  const bool tangential = s->eval->sys.laws[s->contacts[i].law].e_T != 0.0;
  double arm = 0.0;
  for (int j = i; j < s->report->active && p->count < MOST; j++) {
    if (w->dropped[j] || s->contacts[j].law != s->contacts[i].law ||
        (tangential && w->rebounds[j] != w->rebounds[i]) ||
        !same_velocities(rows, w->op.first[i], w->op.first[j])) {
      continue;
    }
    double* row = p->row[p->count];
    memset(row, 0, WIDTH * sizeof(double));
    memcpy(row, rows->G + (size_t)w->op.first[j] * (size_t)rows->stride,
           (size_t)p->width * sizeof(double));
    for (int k = 0; k < p->width; k++) {
      arm = k / half % 2 == 1 ? fmax(arm, fabs(row[k])) : arm;
    }
    p->rest[p->count] = rest_of(w, s, j);
    p->gone[p->count] = false;
    p->contact[p->count++] = j;
  }
  for (int j = 0; j < p->count && arm > 0.0; j++) {
    for (int k = 0; k < p->width; k++) {
      p->row[j][k] /= k / half % 2 == 1 ? arm : 1.0;
    }
  }
}

/* Compacts the list to the remaining contacts. */
static void close_up(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_operator* op = &w->op;
  saltusi_row_block* rows = &op->rows;
  int contacts = 0, next = op->first[0];
  for (int i = 0; i < s->report->active; i++) {
    if (w->dropped[i]) {
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
  bool any = false;
  memset(w->dropped, 0, (size_t)active * sizeof(bool));
  memset(w->met, 0, (size_t)active * sizeof(bool));
  for (int i = 0; i < active; i++) {
    const bool friction = w->op.mu[i] > 0.0;
    if (w->met[i] || rows->entries[w->op.first[i]] > WIDTH ||
        (friction && o->filter != SALTUS_FILTER_FLAT)) {
      continue;
    }
    patch p;
    gather(w, s, i, &p);
    for (int k = p.count - 1; k >= 0; k--) {
      w->met[p.contact[k]] = true;
      p.gone[k] = p.count > 2 && follows(&p, k, friction);
      w->dropped[p.contact[k]] = p.gone[k];
      any = any || p.gone[k];
    }
  }
  if (any) {
    close_up(w, s);
  }
}
