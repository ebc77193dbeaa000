/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_filter.c - see moreau_filter.h (docs/theory/contact-geometry.md, 9).
 *
 *   superfluous   g_i = sum a_j g_j,  a_j >= 0   (normal rows)   and   sum a_j s_j <= s_i,   s = what its law adds to U
 *
 * Then U_i + s_i >= 0 follows from the others, and an impulse at i is one at the others: without friction velocities
 * do not change. With friction this holds of contacts with one normal and one law inside of the hull of others, but
 * for bodies that slide and turn: friction of those inside points elsewhere. That is the criterion of Potra, Anitescu,
 * Gavrea and Trinkle (International Journal for Numerical Methods in Engineering 66 (2006) 1079-1124, 10.4) for flat
 * faces, and a choice of the model.
 *
 * The a_j are sought by Lawson and Hanson's method of nonnegative least squares, contacts from the last one down.
 */
#include "scheme/moreau/moreau_filter.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Entries of a row between two bodies in space, and contacts between them that are looked at together. */
enum { WIDTH = 12, MOST = 48 };

/* Part of a row that is rounding. */
static const double rounding = 1e-12;

/* Contacts that touch the same velocities. */
typedef struct patch {
  int count, width;
  int contact[MOST];
  double row[MOST][WIDTH]; /* normal rows, lengths in units of the patch */
  double rest[MOST];       /* s */
  bool gone[MOST];
  double rounding; /* m/s, of s */
} patch;

/* A basis of the columns in use, by Gram and Schmidt twice. */
typedef struct basis {
  int count;
  int column[WIDTH];
  double Q[WIDTH][WIDTH], R[WIDTH][WIDTH]; /* column k of each in [k] */
} basis;

static bool extend(basis* b, const patch* p, int column) {
  double* q = b->Q[b->count];
  double* r = b->R[b->count];
  memcpy(q, p->row[column], sizeof p->row[column]);
  memset(r, 0, sizeof b->R[0]);
  const double size = sqrt(saltusi_dot(p->width, q, q));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < b->count; k++) {
      const double part = saltusi_dot(p->width, b->Q[k], q);
      r[k] += part;
      saltusi_add_scaled(p->width, -part, b->Q[k], q);
    }
  }
  const double left = sqrt(saltusi_dot(p->width, q, q));
  if (!(left > 1e-9 * size)) {
    return false;
  }
  for (int i = 0; i < p->width; i++) {
    q[i] /= left;
  }
  r[b->count] = left;
  b->column[b->count++] = column;
  return true;
}

/* a of the columns in use for a row. */
static void solve(const basis* b, int width, const double* row, double* a) {
  for (int k = b->count - 1; k >= 0; k--) {
    double sum = saltusi_dot(width, b->Q[k], row);
    for (int j = k + 1; j < b->count; j++) {
      sum -= b->R[j][k] * a[j];
    }
    a[k] = sum / b->R[k][k];
  }
}

/* Takes columns out of the basis whose a would be negative, going from `a` towards the solution as far as it goes. */
static void retreat(basis* b, const patch* p, const double* row, double* a) {
  for (int tries = 0; tries < WIDTH; tries++) {
    double to[WIDTH], way = 1.0;
    solve(b, p->width, row, to);
    for (int k = 0; k < b->count; k++) {
      if (to[k] <= 0.0) {
        const double most = a[k] / (a[k] - to[k]);
        way = most < way ? most : way;
      }
    }
    double kept_a[WIDTH] = {0.0};
    int kept[WIDTH], count = 0;
    for (int k = 0; k < b->count; k++) {
      const double value = a[k] + way * (to[k] - a[k]);
      if (way == 1.0 || value > rounding) {
        kept[count] = b->column[k];
        kept_a[count++] = value;
      }
    }
    memcpy(a, kept_a, sizeof kept_a);
    if (way == 1.0) {
      return;
    }
    b->count = 0;
    for (int k = 0; k < count; k++) {
      (void)extend(b, p, kept[k]);
    }
  }
}

/* Whether contact i of the patch follows from others that are still there; same: only from those with its normal. */
static bool follows(const patch* p, int i, bool same) {
  const double* row = p->row[i];
  const double size = sqrt(saltusi_dot(p->width, row, row));
  basis b = {.count = 0};
  double a[WIDTH] = {0.0}, left[WIDTH];
  memcpy(left, row, sizeof left);
  for (int round = 0; round < 2 * MOST; round++) {
    int best = -1;
    double most = rounding * size * size;
    for (int j = 0; j < p->count; j++) {
      bool used = j == i || p->gone[j];
      for (int k = 0; k < 3 && same && !used; k++) { /* its normal is its first three entries */
        used = fabs(p->row[j][k] - row[k]) > rounding;
      }
      const double slope = used ? 0.0 : saltusi_dot(p->width, p->row[j], left);
      if (slope > most) {
        most = slope;
        best = j;
      }
    }
    if (best < 0 || b.count == WIDTH || !extend(&b, p, best)) {
      break;
    }
    a[b.count - 1] = 0.0;
    retreat(&b, p, row, a);
    memcpy(left, row, sizeof left);
    for (int k = 0; k < b.count; k++) {
      saltusi_add_scaled(p->width, -a[k], p->row[b.column[k]], left);
    }
  }
  double rest = 0.0, scale = fabs(p->rest[i]);
  for (int k = 0; k < b.count; k++) {
    rest += a[k] * p->rest[b.column[k]];
    scale += fabs(a[k] * p->rest[b.column[k]]);
  }
  return b.count > 0 && sqrt(saltusi_dot(p->width, left, left)) <= rounding * size &&
         rest <= p->rest[i] + rounding * scale + p->rounding;
}

/* What the law of the i-th active contact adds to U. */
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

/* Contacts with the law and the velocities of contact i that come after it; lengths in units of the largest arm. */
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

/* The contacts that stay, one after the other. */
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
