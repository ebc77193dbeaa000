/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive_chains.c - runs to a tolerance of one island: chains of jointed links that fall, stacks of blocks that
 * rest, with sparse rows and, as long as that takes no patience, with dense ones.
 */
#include "bench.h"
#include "one_island.h"
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>

typedef struct usage {
  size_t now, most;
  saltus_allocator inside;
} usage;

static void* count_alloc(size_t bytes, void* user) {
  usage* u = user;
  void* block = u->inside.alloc(bytes, u->inside.user);
  u->now += block != NULL ? bytes : 0;
  u->most = u->now > u->most ? u->now : u->most;
  return block;
}

static void count_free(void* block, size_t bytes, void* user) {
  usage* u = user;
  u->now -= block != NULL ? bytes : 0;
  u->inside.free(block, bytes, u->inside.user);
}

/* One run; prints it, and the exponent of the time of a stage between two sizes. */
static bool run(const char* kind, links* l, double until, double* last, int* last_count) {
  usage u = {.inside = saltus_allocator_default()};
  const saltus_allocator allocator = {.alloc = count_alloc, .free = count_free, .user = &u};
  const saltus_integrator_def def = {.system = &l->system,
                                     .q0 = l->q,
                                     .v0 = l->v,
                                     .rtol = 1e-6,
                                     .atol = 1e-6,
                                     .dense_steps = 1,
                                     .allocator = &allocator};
  saltus_integrator* it;
  if (saltus_integrator_create(&def, &it) != SALTUS_OK) {
    return false;
  }
  double start = bench_seconds();
  bool good = saltus_integrator_advance(it, until, SALTUS_STOP_NEVER, NULL) == SALTUS_OK;
  double seconds = bench_seconds() - start;
  const saltus_integrator_cost cost = saltus_integrator_costs(it);
  double each = seconds / (double)cost.work.force_evaluations;
  double exponent =
      *last > 0.0 ? log(each / *last) / log((double)l->count / *last_count) : (double)NAN;
  printf("  %-34s %5d: %9.2f ms, %4lld steps, %9.2f us a stage, exponent %5.2f, %6.2f MB%s\n", kind,
         l->count, 1e3 * seconds, cost.tally->steps, 1e6 * each, exponent, 1e-6 * (double)u.most,
         good ? "" : ", FAILED");
  fflush(stdout);
  *last = each;
  *last_count = l->count;
  saltus_integrator_destroy(it);
  return good;
}

static int run_chains(void) {
  bool good = true;
  for (int dense = 0; dense < 2; dense++) {
    double last = 0.0;
    int count = 0;
    for (int n = 10; n <= (dense != 0 ? 40 : 1000) && good; n *= dense != 0 ? 2 : 10) {
      links l = {.count = n, .dense = dense != 0};
      good = links_open_chain(&l) &&
             run(dense != 0 ? "links, dense rows" : "links", &l, 1.0, &last, &count);
      links_close(&l);
    }
  }
  return good ? 0 : 1;
}

static int run_stacks(void) {
  static const struct {
    const char* name;
    int supports;
    double mu;
  } kinds[] = {{"blocks without friction", 1, 0.0},
               {"blocks with friction", 1, 0.5},
               {"blocks on two supports, friction", 2, 0.5}};
  bool good = true;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    double last = 0.0;
    int count = 0;
    for (int n = 10; n <= 1000 && good; n *= 10) {
      links l = {.count = n, .supports = kinds[k].supports, .half = 0.4, .mu = kinds[k].mu};
      good = links_open_stack(&l) && run(kinds[k].name, &l, 0.1, &last, &count);
      links_close(&l);
    }
  }
  return good ? 0 : 1;
}

static int run_all(void) {
  return run_chains() | run_stacks();
}

const bench bench_adaptive_chains = {
    .name = "adaptive-chains",
    .summary =
        "one island of 10 to 1000 links or blocks, to a tolerance of 1e-6: time per stage, memory",
    .run = run_all,
};
