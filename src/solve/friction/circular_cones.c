/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * circular_cones.c - see circular_cones.h.
 */
#include "solve/friction/circular_cones.h"

#include <assert.h>
#include <string.h>

enum { ROWS_EACH = 3 };

static int smaller(int a, int b) {
  return a < b ? a : b;
}

void saltusi_circular_layout(saltusi_circular_cones* c, int units, int rows, saltus_arena* arena) {
  assert(c != NULL && arena != NULL);
  /* a single contact or dry row has no others to depend on: a thousand islands of one keep no workspace */
  const int n = units > 1 ? smaller(units, SALTUSI_CIRCULAR_UNITS) : 0;
  c->units_max = n;
  c->rows_max = smaller(rows + n, ROWS_EACH * n);
  saltusi_friction_step_layout(&c->step, n, ROWS_EACH, c->rows_max, arena);
  c->first = SALTUS_PUSH(arena, int, n + 1);
  c->mu = SALTUS_PUSH(arena, double, n);
  c->W = SALTUS_PUSH2(arena, double, c->rows_max, c->rows_max);
  c->q = SALTUS_PUSH(arena, double, c->rows_max);
  c->r = SALTUS_PUSH(arena, double, c->rows_max);
}

static bool is_circular(const saltus_cone* cone) {
  return cone->balls <= 1 &&
         (cone->dry ? cone->rows[0] == 1
                    : cone->balls == 0 || (cone->rows[0] <= 2 && cone->held[0] == 0.0));
}

/* Writes the constraint blocks of c; false: other cones, or too large. */
static bool put_units(saltusi_circular_cones* c, const saltus_cone_problem* p) {
  if (p->units > c->units_max) {
    return false;
  }
  c->first[0] = 0;
  for (int i = 0; i < p->units; i++) {
    const saltus_cone* cone = &p->cone[i];
    if (!is_circular(cone)) {
      return false;
    }
    c->mu[i] = cone->dry ? 1.0 : cone->balls > 0 ? cone->mu[0] : 0.0;
    c->first[i + 1] = c->first[i] + p->offset[i + 1] - p->offset[i] + (cone->dry ? 1 : 0);
  }
  return c->first[p->units] <= c->rows_max;
}

/* The row of c of the first row of unit i. */
static int row_of(const saltusi_circular_cones* c, const saltus_cone_problem* p, int i) {
  return c->first[i] + (p->cone[i].dry ? 1 : 0);
}

static void put_unit(saltusi_circular_cones* c, const saltus_cone_problem* p, int i,
                     const double* r) {
  const size_t n = (size_t)c->first[p->units], rows = (size_t)p->rows;
  const int to = row_of(c, p, i), at = p->offset[i], d = p->offset[i + 1] - at;
  for (int k = 0; k < d; k++) {
    c->q[to + k] = p->q[at + k];
    c->r[to + k] = r[at + k];
    for (int j = 0; j < p->units; j++) {
      memcpy(c->W + (size_t)(to + k) * n + (size_t)row_of(c, p, j),
             p->W + (size_t)(at + k) * rows + (size_t)p->offset[j],
             (size_t)(p->offset[j + 1] - p->offset[j]) * sizeof(double));
    }
  }
  if (p->cone[i].dry) {
    const double w = p->W[(size_t)at * (rows + 1)], h = p->cone[i].held[0];
    c->W[(size_t)(to - 1) * (n + 1)] = w;
    c->q[to - 1] = -w * h;
    c->r[to - 1] = h;
  }
}

bool saltusi_circular_solve(saltusi_circular_cones* c, const saltus_cone_problem* problem,
                            double* r) {
  assert(c != NULL && problem != NULL && r != NULL);
  if (!put_units(c, problem)) {
    return false;
  }
  const size_t n = (size_t)c->first[problem->units];
  memset(c->W, 0, n * n * sizeof(double));
  for (int i = 0; i < problem->units; i++) {
    put_unit(c, problem, i, r);
  }
  const bool solved =
      saltusi_friction_step_solve(&c->step, problem->units, c->first, c->mu, c->W, c->q, c->r);
  for (int i = 0; i < problem->units; i++) {
    memcpy(r + problem->offset[i], c->r + row_of(c, problem, i),
           (size_t)(problem->offset[i + 1] - problem->offset[i]) * sizeof(double));
  }
  return solved;
}
