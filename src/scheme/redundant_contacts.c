/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * redundant_contacts.c - see redundant_contacts.h.
 *
 *   redundant     g_i = sum a_j g_j,  a_j >= 0   (normal rows)   and   sum a_j s_j <= s_i,   s = term of its law added to U
 *
 * Then U_i + s_i >= 0 follows from the others, and an impulse at i is one at the others: without friction velocities
 * do not change. With friction this holds of contacts with one normal and one law inside of the hull of others, except
 * for bodies that slide and rotate, where friction of inner contacts has another direction. That is the criterion of
 * Potra, Anitescu, Gavrea and Trinkle (International Journal for Numerical Methods in Engineering 66 (2006) 1079-1124,
 * 10.4) for flat faces, and a choice of the model.
 *
 * The a_j are sought by nonnegative least squares (math/nonnegative.h), contacts from the last one down.
 */
#include "scheme/redundant_contacts.h"

#include "math/matrix.h"
#include "math/nonnegative.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Entries of a row between two bodies in space, and most contacts of a patch. */
enum { WIDTH = SALTUSI_NONNEGATIVE_WIDTH, MOST = 48 };

const char* const saltusi_filter_names[] = {"no", "exact", "flat", NULL};

/* Relative size of rounding in a row. */
static const double rounding = 1e-12;

/* Contacts with the same velocities in their rows. */
typedef struct patch {
  int count, width;
  int linear, body; /* velocities of a body along axes, and all of them */
  int contact[MOST];
  double row[MOST][WIDTH]; /* normal rows, lengths in units of the patch */
  double term[MOST];
  bool gone[MOST];
  double rounding; /* m/s, of terms */
} patch;

int saltusi_body_width(const saltus_system* sys) {
  assert(sys != NULL);
  const saltus_structure* structure = sys->structure;
  if (structure == NULL || structure->blocks == 0 || sys->dims.row_width == 0) {
    return 0;
  }
  const int width = structure->start[1];
  for (int k = 1; k < structure->blocks; k++) {
    if (structure->start[k + 1] - structure->start[k] != width) {
      return 0;
    }
  }
  return width;
}

/* Whether contact i of the patch is redundant given the remaining ones; same: only those with its
 * normal. */
static bool follows(const patch* p, int i, bool same) {
  const double* row = p->row[i];
  const double size = sqrt(saltusi_dot(p->width, row, row));
  bool unused[MOST];
  for (int j = 0; j < p->count; j++) {
    unused[j] = j == i || p->gone[j];
    for (int k = 0; k < p->linear && same && !unused[j]; k++) { /* its normal comes first */
      unused[j] = fabs(p->row[j][k] - row[k]) > rounding;
    }
  }
  saltusi_nonnegative sum;
  saltusi_nonnegative_sum(p->width, p->count, p->row, unused, row, &sum);
  double term = 0.0, scale = fabs(p->term[i]);
  for (int k = 0; k < sum.count; k++) {
    term += sum.a[k] * p->term[sum.column[k]];
    scale += fabs(sum.a[k] * p->term[sum.column[k]]);
  }
  return sum.count > 0 && sum.left <= rounding * size &&
         term <= p->term[i] + rounding * scale + p->rounding;
}

/* Velocities in a row: all where rows are dense. */
static int width_of(const saltusi_row_block* rows, int r) {
  return rows->column != NULL ? rows->entries[r] : rows->stride;
}

static bool same_velocities(const saltusi_row_block* rows, int a, int b) {
  const int width = width_of(rows, a);
  const size_t n = (size_t)rows->stride;
  return width == width_of(rows, b) &&
         (rows->column == NULL || memcmp(rows->column + (size_t)a * n, rows->column + (size_t)b * n,
                                         (size_t)width * sizeof(int)) == 0);
}

/* Contacts of the kind and the velocities of contact i and a larger index; lengths in units of the largest arm. */
static void gather(const saltusi_row_block* rows, int count,
                   const saltusi_filtered_contact* contacts, int i, patch* p) {
  p->count = 0;
  p->width = width_of(rows, contacts[i].row);
  double arm = 0.0;
  for (int j = i; j < count && p->count < MOST; j++) {
    const saltusi_filtered_contact* contact = &contacts[j];
    if (contact->redundant || contact->kind != contacts[i].kind ||
        !same_velocities(rows, contacts[i].row, contact->row)) {
      continue;
    }
    double* row = p->row[p->count];
    memset(row, 0, WIDTH * sizeof(double));
    memcpy(row, rows->G + (size_t)contact->row * (size_t)rows->stride,
           (size_t)p->width * sizeof(double));
    for (int k = 0; k < p->width; k++) {
      arm = k % p->body >= p->linear ? fmax(arm, fabs(row[k])) : arm;
    }
    p->term[p->count] = contact->term;
    p->gone[p->count] = false;
    p->contact[p->count++] = j;
  }
  for (int j = 0; j < p->count && arm > 0.0; j++) {
    for (int k = 0; k < p->width; k++) {
      p->row[j][k] /= k % p->body >= p->linear ? arm : 1.0;
    }
  }
}

bool saltusi_find_redundant(const saltusi_row_block* rows, int count,
                            saltusi_filtered_contact* contacts, int body_width, bool flat,
                            double accuracy) {
  assert(rows != NULL && count >= 0 && accuracy >= 0.0);
  enum { PLANE = 3, SPACE = 6 };
  patch p = {.linear = body_width == PLANE ? 2 : 3,
             .body = body_width == PLANE ? PLANE : SPACE,
             .rounding = accuracy};
  bool any = false;
  for (int i = 0; i < count; i++) {
    contacts[i].redundant = contacts[i].visited = false;
  }
  for (int i = 0; i < count; i++) {
    const bool friction = contacts[i].friction;
    if (contacts[i].visited || width_of(rows, contacts[i].row) > WIDTH || (friction && !flat)) {
      continue;
    }
    gather(rows, count, contacts, i, &p);
    for (int k = p.count - 1; k >= 0; k--) {
      contacts[p.contact[k]].visited = true;
      p.gone[k] = p.count > 2 && follows(&p, k, friction);
      contacts[p.contact[k]].redundant = p.gone[k];
      any = any || p.gone[k];
    }
  }
  return any;
}
