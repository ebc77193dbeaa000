/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rods.h - mixed complementarity problems of any size, the same on every machine: a chain of point
 * masses in the plane, held together by rods, some of which meet the floor. Rows are rods first, then
 * one contact a mass:
 *
 *   rod k       d_k . (v_(k+1) - v_k) = 0,   d_k of random direction
 *   contact k   0 <= (v_k)_y  perp  impulse >= 0
 */
#ifndef BENCH_RODS_H
#define BENCH_RODS_H

#include "saltus/contact.h"

typedef struct rods_def {
  int masses;
  int copies;      /* of every rod, at least 1 */
  double disagree; /* m/s, between the copies of the first rod */
  bool saddle;     /* velocities as unknowns of their own: rods and contacts without diagonal */
} rods_def;

/* A problem that owns its arrays. */
typedef struct rods {
  saltus_lcp lcp;
  int *start, *column;
  double* values;
  double *q, *z, *w; /* z and w are for the caller, zero at first */
} rods;

/* False without memory; rods_free is right in any case. */
bool rods_create(const rods_def* def, rods* out);

/* Room for n rows with so many entries in all; the view is set up, the arrays are zero. */
bool rods_room(int n, size_t entries, rods* out);

void rods_free(rods* r);

#endif
