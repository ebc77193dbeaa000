/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * packings.c - how reliable and how fast the portfolio is on packings of spheres.
 *
 *   random-packings   100 packings of 200 to 2000 contacts to 1e-8; 97 have to be solved in 15 s each
 *   large-packings    10^3, 10^4, 10^5 contacts to 1e-4; the growth of the time with the contacts,
 *                     and the gain of a second thread; bitwise identity with 3 and 8
 */
#include "bench.h"
#include "packing.h"

#include "saltus/problem_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double large_tol = 1e-4;

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

/* Sizes and data of the k-th packing: even ones rest, odd ones approach with 0.01 to 0.3 m/s, one to
 * thirty times the velocity increment by gravity. */
static bool draw_packing(int k, packing_def* def, packing* p) {
  uint64_t seed = UINT64_C(27182818) + (uint64_t)k * UINT64_C(104729);
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

/* Times of one packing with one thread and with two; the smallest of a few each. */
typedef struct timed {
  outcome one;
  double cpu[2];  /* s, one thread and two */
  double wall[2]; /* s, likewise */
  double own;     /* part of the work of two threads that the first did, in their fastest run */
  bool same;      /* every bit */
} timed;

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One solve; r [2 x rows] takes impulses and velocities. False on an error. */
static bool time_solve(const saltus_friction_problem* problem, int threads, double* r, timed* t) {
  size_t rows = 3 * (size_t)problem->W.units;
  const saltus_friction_auto_options options = {.threads = threads};
  const saltus_solver_def def = {.solver = "auto", .options = &options};
  saltus_friction_solver* solver;
  if (saltus_friction_solver_create(&def, &solver) != SALTUS_OK) {
    return false;
  }
  memset(r, 0, 2 * rows * sizeof(double));
  double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  double own = seconds(CLOCK_THREAD_CPUTIME_ID);
  double wall = seconds(CLOCK_MONOTONIC);
  bool good =
      saltus_friction_solve(solver, problem, large_tol, r, r + rows, &t->one.result) == SALTUS_OK;
  wall = seconds(CLOCK_MONOTONIC) - wall;
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  if (threads <= 2) {
    t->own =
        threads == 2 && wall < t->wall[1] ? (seconds(CLOCK_THREAD_CPUTIME_ID) - own) / cpu : t->own;
    t->wall[threads - 1] = fmin(t->wall[threads - 1], wall);
    t->cpu[threads - 1] = fmin(t->cpu[threads - 1], cpu);
  }
  saltus_friction_solver_destroy(solver);
  return good;
}

/* One thread and two alternately, under the same load; then more, for bitwise identity. */
static bool time_packing(const packing_def* def, int repeats, timed* t) {
  packing p;
  saltus_problem_file* local = NULL;
  static const int more[] = {3, 8};
  *t = (timed){.cpu = {INFINITY, INFINITY}, .wall = {INFINITY, INFINITY}, .same = true};
  if (!packing_create(def, &p)) {
    return false;
  }
  size_t rows = 3 * (size_t)p.contacts;
  double* r = calloc(4 * rows + 1, sizeof(double));
  bool good = r != NULL &&
              saltus_global_friction_reduce(&p.problem, (saltus_log){0}, NULL, &local) == SALTUS_OK;
  for (int k = 0; k < repeats && good; k++) {
    good =
        time_solve(&local->friction, 2, r + 2 * rows, t) && time_solve(&local->friction, 1, r, t);
    t->same = t->same && memcmp(r, r + 2 * rows, 2 * rows * sizeof(double)) == 0;
  }
  for (int k = 0; k < 2 && good; k++) {
    good = time_solve(&local->friction, more[k], r + 2 * rows, t);
    t->same = t->same && memcmp(r, r + 2 * rows, 2 * rows * sizeof(double)) == 0;
  }
  if (good) {
    t->one.contacts = p.contacts;
    t->one.check = saltus_friction_residual(&local->friction, r, r + rows).normalised;
    t->one.solved = t->one.result.outcome == SALTUS_SOLVED && t->one.check <= large_tol;
  }
  free(r);
  saltus_problem_file_destroy(local);
  packing_free(&p);
  return good;
}

static int run_large(void) {
  static const int along[][3] = {{7, 5, 5}, {14, 12, 5}, {31, 25, 2}}; /* width, height, repeats */
  const double limit = 10.0;                                           /* s, 10^5 contacts */
  const double growth_limit = 1.3;
  int failed = 0;
  for (int moving = 0; moving < 2; moving++) {
    timed t[3];
    for (int k = 0; k < 3; k++) {
      packing_def def = packing_def_default();
      def.nx = def.ny = along[k][0];
      def.nz = along[k][1];
      def.velocity = moving ? 0.1 : 0.0;
      if (!time_packing(&def, along[k][2], &t[k])) {
        return 1;
      }
      failed |= !t[k].one.solved || !t[k].same;
      printf("  %6d contacts %s: %8.1f ms of one core; two threads: %.2f times as fast by the "
             "clock, %.2f times the work, %.0f %% of it by the first; %s for 1, 2, 3, 8; residual "
             "%.1e, %s%s\n",
             t[k].one.contacts, moving ? "impact" : "rest  ", 1e3 * t[k].cpu[0],
             t[k].wall[0] / t[k].wall[1], t[k].cpu[1] / t[k].cpu[0], 100.0 * t[k].own,
             t[k].same ? "same bits" : "OTHER BITS", t[k].one.check, t[k].one.result.stages,
             t[k].one.solved ? "" : ", NOT SOLVED");
      fflush(stdout);
    }
    double growth =
        log(t[2].cpu[0] / t[1].cpu[0]) / log((double)t[2].one.contacts / (double)t[1].one.contacts);
    failed |= growth > growth_limit || t[2].cpu[0] > limit;
    printf("  %s: time grows as contacts^%.2f from 1e4 to 1e5; the clock ran %.2f times as long as "
           "the core worked (above 1: others did as well)\n",
           moving ? "impact" : "rest", growth, t[2].wall[0] / t[2].cpu[0]);
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
    .summary = "10^3 to 10^5 contacts to 1e-4 with one and two threads; 10 s, growth at most 1.3",
    .run = run_large,
};
