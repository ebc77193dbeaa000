/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rods.c - see rods.h. W = G M^-1 G^T with the directions of rods and contacts as rows of G.
 */
#include "rods.h"

#include "packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries of one row besides those of the copies of rods. */
enum { WIDEST = 12 };

/* A row of G: at most two masses, two directions each. */
typedef struct row {
  int mass[2];
  double x[2], y[2];
} row;

bool rods_room(int n, size_t entries, rods* c) {
  c->start = calloc((size_t)n + 1, sizeof(int));
  c->column = calloc(entries, sizeof(int));
  c->values = calloc(entries, sizeof(double));
  c->q = calloc((size_t)n, sizeof(double));
  c->z = calloc((size_t)n, sizeof(double));
  c->w = calloc((size_t)n, sizeof(double));
  c->lcp = (saltus_lcp){.n = n, .sparse = {n, n, c->start, c->column, c->values}, .q = c->q};
  return c->start != NULL && c->column != NULL && c->values != NULL && c->q != NULL &&
         c->z != NULL && c->w != NULL;
}

void rods_free(rods* r) {
  free(r->start);
  free(r->column);
  free(r->values);
  free(r->q);
  free(r->z);
  free(r->w);
  *r = (rods){0};
}

/* G and the free velocities: rods first, copies one after the other, then contacts. */
static void fill_rows(const rods_def* def, row* rows, double* v, double* mass) {
  int rod_rows = (def->masses - 1) * def->copies;
  uint64_t seed = 21;
  for (int k = 0; k < def->masses; k++) {
    mass[k] = 0.5 + packing_random(&seed);
    v[2 * k] = 2.0 * packing_random(&seed) - 1.0;
    v[2 * k + 1] = packing_random(&seed) - 0.7;
    rows[rod_rows + k] = (row){{k, -1}, {0.0, 0.0}, {1.0, 0.0}};
  }
  for (int k = 0; k + 1 < def->masses; k++) {
    double angle = 1.2 * packing_random(&seed) - 0.6;
    for (int c = 0; c < def->copies; c++) {
      rows[k * def->copies + c] =
          (row){{k, k + 1}, {-cos(angle), cos(angle)}, {-sin(angle), sin(angle)}};
    }
  }
}

static double product(const row* a, const row* b, const double* mass) {
  double sum = 0.0;
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      if (a->mass[i] >= 0 && a->mass[i] == b->mass[j]) {
        sum += (a->x[i] * b->x[j] + a->y[i] * b->y[j]) / mass[a->mass[i]];
      }
    }
  }
  return sum;
}

static double velocity(const row* a, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < 2; i++) {
    sum += a->mass[i] >= 0 ? a->x[i] * v[2 * a->mass[i]] + a->y[i] * v[2 * a->mass[i] + 1] : 0.0;
  }
  return sum;
}

/* W = G M^-1 G^T, q = G v */
static bool fill_operator(rods* c, const rods_def* def, const row* rows, const double* mass,
                          const double* v) {
  int rod_rows = (def->masses - 1) * def->copies;
  int n = rod_rows + def->masses;
  if (!rods_room(n, (size_t)n * (size_t)(3 * def->copies + WIDEST), c)) {
    return false;
  }
  c->lcp.bilateral = rod_rows;
  int used = 0;
  for (int i = 0; i < n; i++) {
    int first = rows[i].mass[0] - 1; /* masses whose rods may meet this row */
    int last = rows[i].mass[1] >= 0 ? rows[i].mass[1] : rows[i].mass[0];
    for (int side = 0; side < 2; side++) {
      int from = side == 0 ? first * def->copies : rod_rows + first + 1;
      int to = side == 0 ? (last + 1) * def->copies : rod_rows + last + 1;
      from = from > (side == 0 ? 0 : rod_rows) ? from : (side == 0 ? 0 : rod_rows);
      to = to < (side == 0 ? rod_rows : n) ? to : (side == 0 ? rod_rows : n);
      for (int j = from; j < to; j++) {
        double value = product(&rows[i], &rows[j], mass);
        if (value != 0.0) {
          c->column[used] = j;
          c->values[used++] = value;
        }
      }
    }
    c->start[i + 1] = used;
    c->q[i] = velocity(&rows[i], v);
  }
  c->q[0] += def->disagree;
  return true;
}

/* m v' - G^T z = m v;  rods G v' = 0;  contacts 0 <= G v' perp z >= 0 */
static bool fill_saddle(rods* c, const rods_def* def, const row* rows, const double* mass,
                        const double* v) {
  int masses = def->masses;
  int rod_rows = (masses - 1) * def->copies;
  int n = 2 * masses + rod_rows + masses;
  if (!rods_room(n, (size_t)n * (size_t)(2 * def->copies + WIDEST), c)) {
    return false;
  }
  c->lcp.bilateral = 2 * masses + rod_rows;
  int used = 0;
  for (int i = 0; i < 2 * masses; i++) {
    int k = i / 2;
    c->column[used] = i;
    c->values[used++] = mass[k];
    /* rods of the mass below and of this one, then its contact */
    int first = k > 0 ? (k - 1) * def->copies : 0;
    int end = (k + 1) * def->copies < rod_rows ? (k + 1) * def->copies : rod_rows;
    for (int r = first; r <= end; r++) {
      int at = r < end ? r : rod_rows + k;
      for (int e = 0; e < 2; e++) {
        const row* g = &rows[at];
        double entry = g->mass[e] == k ? (i % 2 == 0 ? g->x[e] : g->y[e]) : 0.0;
        if (entry != 0.0) {
          c->column[used] = 2 * masses + at;
          c->values[used++] = -entry;
        }
      }
    }
    c->start[i + 1] = used;
    c->q[i] = -mass[k] * v[i];
  }
  for (int r = 0; r < rod_rows + masses; r++) {
    for (int e = 0; e < 2 && rows[r].mass[e] >= 0; e++) {
      c->column[used] = 2 * rows[r].mass[e];
      c->values[used++] = rows[r].x[e];
      c->column[used] = 2 * rows[r].mass[e] + 1;
      c->values[used++] = rows[r].y[e];
    }
    c->start[2 * masses + r + 1] = used;
  }
  c->q[2 * masses] += def->disagree;
  return true;
}

bool rods_create(const rods_def* def, rods* out) {
  *out = (rods){0};
  size_t count = (size_t)def->masses;
  double* v = calloc(3 * count, sizeof(double));
  row* rows = calloc((size_t)def->copies * count + count, sizeof *rows);
  bool good = v != NULL && rows != NULL;
  if (good) {
    double* mass = v + 2 * count;
    fill_rows(def, rows, v, mass);
    good =
        def->saddle ? fill_saddle(out, def, rows, mass, v) : fill_operator(out, def, rows, mass, v);
  }
  free(rows);
  free(v);
  return good;
}
