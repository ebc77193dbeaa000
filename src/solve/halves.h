/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * halves.h - W of many equal contacts, made small and cut in two for the first-order methods.
 *
 * Contacts are put in a new order: first half, second half, interface. No block of W couples the
 * halves with each other, so both can be swept at once; the interface follows. Of the symmetric W
 * only the blocks above the diagonal are kept, in single precision: a quarter of the memory that
 * every sweep has to fetch. Whoever uses it judges the answer by the true W.
 *
 * "place" is an index in the new order.
 */
#ifndef SALTUSI_HALVES_H
#define SALTUSI_HALVES_H

#include "solve/friction_case.h"

/* Fewer contacts are served as well by the other methods. */
enum { SALTUSI_HALVES_LEAST = 500 };

typedef struct saltusi_halves {
  bool numbered;    /* for this pattern */
  int units;        /* 0: not made for this problem */
  int d;            /* rows of every contact: 2 or 3 */
  int first[4];     /* first place of either half and of the interface; units */
  int* unit;        /* [units] of the problem, by place */
  int* place;       /* [units] by unit */
  int* start;       /* [units + 1] blocks above the diagonal */
  int* column;      /* [start[units]] place */
  int* next;        /* [units] scratch */
  float* values;    /* [start[units] x d^2] row major */
  double* diagonal; /* [units x d^2] */
  double* q;        /* [units x d]; these by place as well */
  double* mu;       /* [units] */
  double* rho;      /* [units] */
  double* local;    /* [units x saltusi_one_contact_room(d)] */
  double* slip;     /* [units] */
} saltusi_halves;

/* Nothing is taken from the arena for problems that are too small or have unequal contacts. */
void saltusi_halves_layout(saltusi_halves* halves, const saltus_friction_problem* problem,
                           saltus_arena* arena);

/* Order and pattern, once per pattern and only when they are needed; units stays 0 where the layout
 * took nothing or the pattern is unsymmetric. */
void saltusi_halves_number(saltusi_halves* halves, const saltusi_friction_pattern* pattern);

/* The values; false when W is not symmetric to single precision or out of its range. */
bool saltusi_halves_fill(saltusi_halves* halves, const saltusi_friction_case* in);

#endif
