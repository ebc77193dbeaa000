/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * packing.h - contact problems of any size, the same on every machine: spheres of diameter 1 m on a
 * jittered close-packed lattice in an open box, and stacks of boxes.
 */
#ifndef BENCH_PACKING_H
#define BENCH_PACKING_H

#include "saltus/contact.h"
#include "saltus/problem_file.h"

#include <stdint.h>

typedef struct packing_def {
  int nx, ny, nz;  /* spheres along each axis */
  double keep;     /* part of the contacts between neighbours that is kept: 0 .. 1 */
  double mu;       /* friction */
  double velocity; /* m/s, random velocities before the step: 0: at rest */
  uint64_t seed;
} packing_def;

/* 80 % of the contacts, mu = 0.5, at rest. */
packing_def packing_def_default(void);

/* A global problem that owns its arrays. */
typedef struct packing {
  saltus_global_friction_problem problem;
  int bodies, contacts;
  int* starts[2];     /* of M and H */
  int* columns[2];    /* of M and H */
  double* values[2];  /* of M and H */
  double* vectors[3]; /* f, w, mu */
} packing;

/* One step of 1 ms under gravity. False without memory; packing_free is right in any case. */
bool packing_create(const packing_def* def, packing* out);

/* The same step as a local problem: W, q, mu. NULL without memory. */
saltus_problem_file* packing_local(const packing_def* def);

/* Boxes of 1 m on each other, four contacts between two: more contacts than the motion needs.
 * `push`: sideways velocity of the top box in m/s. */
bool packing_stack(int boxes, double mu, double push, packing* out);

void packing_free(packing* p);

/* Two directions at right angles to n and to each other. */
void packing_tangents(const double* n, double t[2][3]);

/* Random numbers that are the same everywhere: 0 <= x < 1. */
double packing_random(uint64_t* state);

#endif
