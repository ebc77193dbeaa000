/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pile.h - spheres of about 1 m in an open box under gravity, as a system that schemes can step: they
 * fall a few centimetres and settle to a packing with more contacts than its motion needs.
 */
#ifndef BENCH_PILE_H
#define BENCH_PILE_H

#include "saltus/system.h"

#include <stdint.h>

typedef struct pile_def {
  int nx, ny, nz; /* spheres along each axis */
  double mu;      /* friction */
  double spread;  /* m, radii are 0.5 m less a random part of this */
  uint64_t seed;
} pile_def;

/* 0.4, 2 cm. */
pile_def pile_def_default(int nx, int ny, int nz);

typedef struct pile_contact {
  int first, second; /* spheres; first -1: a wall */
  double normal[3];  /* of a wall, inwards */
  double offset;     /* of a wall: points x of it have normal . x = offset */
} pile_contact;

typedef struct pile {
  saltus_system system; /* six velocities a sphere: linear, then angular */
  int spheres, contacts;
  double *radius, *mass;    /* [spheres] */
  double *q, *v;            /* [6 spheres] start */
  pile_contact* list;       /* [contacts] pairs that are or may come near, and walls */
  saltus_contact_law* laws; /* [contacts] */
} pile;

/* False without memory; pile_free is right in any case. The pile must not be moved. */
bool pile_create(const pile_def* def, pile* out);
void pile_free(pile* p);

#endif
