/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * packings.c - how reliable and how fast the portfolio is on packings of spheres.
 *
 *   random-packings   100 packings of 200 to 2000 contacts to 1e-8; 97 have to be solved in 15 s each
 *   large-packings    10^3, 10^4, 10^5 contacts to 1e-4; the growth of the time with the contacts
 */
#include "bench.h"
#include "packing.h"

#include "saltus/problem_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct outcome {
  saltus_solve_result result;
  double check; /* residual, recomputed here */
  double seconds;
  int contacts;
  bool solved;
} outcome;

/* False when the packing could not even be made. */
static bool solve_packing(const packing* p, double tol, outcome* out) {
  *out = (outcome){.contacts = p->contacts};
  saltus_problem_file* local;
  if (saltus_global_friction_reduce(&p->problem, (saltus_log){0}, NULL, &local) != SALTUS_OK) {
    return false;
  }
  size_t rows = 3 * (size_t)p->contacts;
  double* r = calloc(2 * rows + 1, sizeof(double));
  const saltus_solver_def def = {.solver = "auto"};
  saltus_friction_solver* solver = NULL;
  bool good = r != NULL && saltus_friction_solver_create(&def, &solver) == SALTUS_OK;
  if (good) {
    double start = bench_seconds();
    good = saltus_friction_solve(solver, &local->friction, tol, r, r + rows, &out->result) ==
           SALTUS_OK;
    out->seconds = bench_seconds() - start;
    out->check = saltus_friction_residual(&local->friction, r, r + rows).normalised;
    out->solved = out->result.outcome == SALTUS_SOLVED && out->check <= tol;
  }
  saltus_friction_solver_destroy(solver);
  free(r);
  saltus_problem_file_destroy(local);
  return good;
}

/* Sizes and data of the k-th packing: even ones rest, odd ones meet with 0.01 to 0.3 m/s, one to
 * thirty times what gravity gives in the step. */
static bool draw_packing(int k, packing_def* def, packing* p) {
  uint64_t seed = UINT64_C(20000) + (uint64_t)k * UINT64_C(104729);
  for (;;) {
    *def = packing_def_default();
    def->nx = 2 + (int)(9.0 * packing_random(&seed));
    def->ny = 2 + (int)(9.0 * packing_random(&seed));
    def->nz = 1 + (int)(10.0 * packing_random(&seed));
    def->keep = 0.7 + 0.25 * packing_random(&seed);
    def->mu = 0.2 + 0.7 * packing_random(&seed);
    def->velocity = k % 2 == 0 ? 0.0 : 0.01 * pow(30.0, packing_random(&seed));
    def->seed = seed;
    if (!packing_create(def, p)) {
      return false;
    }
    if (p->contacts >= 200 && p->contacts <= 2000) {
      return true;
    }
    packing_free(p);
  }
}

static int run_random(void) {
  enum { COUNT = 100, WANTED = 97 };
  const double limit = 15.0;
  int solved = 0;
  int wrong = 0;
  double slowest = 0.0;
  for (int k = 0; k < COUNT; k++) {
    packing_def def;
    packing p;
    outcome o;
    if (!draw_packing(k, &def, &p) || !solve_packing(&p, 1e-8, &o)) {
      return 1;
    }
    bool good = o.solved && o.seconds <= limit;
    wrong += o.result.outcome == SALTUS_SOLVED && !o.solved;
    solved += good;
    slowest = o.solved && o.seconds > slowest ? o.seconds : slowest;
    if (!good) {
      printf("  packing %d: %d contacts, mu %.2f, kept %.2f, %.3f m/s: %s, residual %.1e, %.1f s\n",
             k, o.contacts, def.mu, def.keep, def.velocity, o.solved ? "too slow" : "not solved",
             o.check, o.seconds);
    }
    packing_free(&p);
  }
  printf("  %d of %d solved to 1e-8, the slowest in %.1f s; %d wrong answers\n", solved, (int)COUNT,
         slowest, wrong);
  return solved < WANTED || wrong > 0;
}

static int run_large(void) {
  static const int along[][2] = {{7, 5}, {14, 12}, {31, 25}};
  double seconds[2][3] = {{0.0}};
  int contacts[2][3] = {{0}};
  int failed = 0;
  for (int moving = 0; moving < 2; moving++) {
    for (int k = 0; k < 3; k++) {
      packing_def def = packing_def_default();
      def.nx = def.ny = along[k][0];
      def.nz = along[k][1];
      def.velocity = moving ? 0.1 : 0.0;
      packing p;
      outcome o;
      if (!packing_create(&def, &p) || !solve_packing(&p, 1e-4, &o)) {
        return 1;
      }
      seconds[moving][k] = o.seconds;
      contacts[moving][k] = o.contacts;
      failed |= !o.solved;
      printf("  %6d contacts %s: %8.1f ms, residual %.1e, %s%s\n", o.contacts,
             moving ? "impact" : "rest  ", 1e3 * o.seconds, o.check, o.result.stages,
             o.solved ? "" : ", NOT SOLVED");
      fflush(stdout);
      packing_free(&p);
    }
    printf("  %s: time grows as contacts^%.2f from 1e4 to 1e5\n", moving ? "impact" : "rest",
           log(seconds[moving][2] / seconds[moving][1]) /
               log((double)contacts[moving][2] / contacts[moving][1]));
  }
  return failed;
}

const bench bench_random_packings = {
    .name = "random-packings",
    .summary = "100 packings of 200 to 2000 contacts to 1e-8; 97 are to be solved",
    .run = run_random,
};

const bench bench_large_packings = {
    .name = "large-packings",
    .summary = "10^3 to 10^5 contacts to 1e-4; exponent of growth at most 1.3",
    .run = run_large,
};
