/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * saltus-bench: runs the benchmarks.
 *
 *   saltus-bench [--list | --run NAME]
 */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const bench* const registry[] = {
    &bench_moreau_ball,
    &bench_formula_ball,
    &bench_formula_pendulum,
    &bench_scene_chain,
    &bench_enclosures,
    &bench_graph_distance,
    &bench_precision,
    &bench_smooth_step,
    &bench_one_contact,
    &bench_beads,
    &bench_rods,
    &bench_small_problems,
    &bench_random_packings,
    &bench_large_packings,
    &bench_warm_start,
    &bench_joints,
    &bench_scaling,
    &bench_adaptive_speed,
    &bench_adaptive_ratios,
    &bench_adaptive_balls,
    &bench_adaptive_hills,
    &bench_adaptive_memory,
    &bench_adaptive_chains,
    &bench_chains,
    &bench_boxes,
    &bench_members,
};
enum { COUNT = sizeof registry / sizeof registry[0] };

double bench_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_fastest(void (*job)(void* user), void* user, int repeats) {
  double best = 1e300;
  for (int i = 0; i < repeats; i++) {
    double start = bench_seconds();
    job(user);
    double taken = bench_seconds() - start;
    best = taken < best ? taken : best;
  }
  return best;
}

int main(int argc, char** argv) {
  const char* wanted = argc == 3 && strcmp(argv[1], "--run") == 0 ? argv[2] : NULL;
  bool found = wanted == NULL;
  if (argc > 1 && wanted == NULL && strcmp(argv[1], "--list") != 0) {
    fprintf(stderr, "usage: saltus-bench [--list | --run NAME]\n");
    return 2;
  }
  int failed = 0;
  for (int i = 0; i < COUNT; i++) {
    if (argc == 2) {
      printf("%-20s %s\n", registry[i]->name, registry[i]->summary);
      continue;
    }
    if (wanted != NULL && strcmp(wanted, registry[i]->name) != 0) {
      continue;
    }
    found = true;
    printf("%s: %s\n", registry[i]->name, registry[i]->summary);
    failed |= registry[i]->run();
    fflush(stdout);
  }
  if (!found) {
    fprintf(stderr, "saltus-bench: no benchmark \"%s\"; see --list\n", wanted);
  }
  return found ? failed : 2;
}
