/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * graphs.c - the Hausdorff distance of two long graphs with jumps.
 */
#include "bench.h"
#include "saltus/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 100000 };

typedef struct pair {
  double* a;
  double* b;
  double distance;
} pair;

/* A saw tooth with jumps, as a velocity through many impacts. */
static void saw(double* points, double shift) {
  for (int i = 0; i < POINTS; i++) {
    int tooth = i / 100;
    double part = (i % 100) / 99.0;
    points[2 * i] = tooth + part + shift;
    points[2 * i + 1] = 1.0 - 2.0 * part;
  }
}

static void compute(void* user) {
  pair* p = user;
  const saltus_graph a = {.count = POINTS, .n = 1, .points = p->a};
  const saltus_graph b = {.count = POINTS, .n = 1, .points = p->b};
  if (saltus_hausdorff(&a, &b, saltus_graph_tolerance_default(), NULL, &p->distance) != SALTUS_OK) {
    p->distance = NAN;
  }
}

static int run(void) {
  pair p = {.a = malloc(2 * POINTS * sizeof(double)), .b = malloc(2 * POINTS * sizeof(double))};
  if (p.a == NULL || p.b == NULL) {
    return 1;
  }
  saw(p.a, 0.0);
  saw(p.b, 0.01);
  double taken = bench_fastest(compute, &p, 3);
  printf("  two graphs of %d points: %.0f ms, distance %.6g (a shift of 0.01)\n", (int)POINTS,
         1e3 * taken, p.distance);
  free(p.a);
  free(p.b);
  return 0;
}

const bench bench_graph_distance = {
    .name = "graph-distance",
    .summary = "Hausdorff distance of graphs of 100 000 points; to stay under a second",
    .run = run,
};
