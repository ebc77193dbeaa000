/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * chains.c - cost of many joints: chains and stars of links with hinges, in the plane
 * and in space, released from the horizontal, steps of 1/240 s with moreau-jean.
 */
#include "bench.h"
#include "links.h"

#include "saltus/scheme.h"
#include "saltus/sim.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

typedef struct outcome {
  double each, wall; /* s of a step, of the processor and of the clock */
  double iterations;
  double defect; /* of joints, m and 1 */
  double energy; /* change of it over the available potential energy */
  bool failed;
} outcome;

enum { PLANNING = 1 };

static double wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static outcome run_links(const links_def* def, const saltus_moreau_jean_options* options,
                         int steps) {
  outcome out = {.failed = true};
  saltus_mechanism* made = links_create(def);
  if (made == NULL) {
    return out;
  }
  const saltus_system* sys = saltus_mechanism_system(made);
  const double* q0 = saltus_mechanism_q0(made);
  const double* v0 = saltus_mechanism_v0(made);
  saltus_sim* sim = NULL;
  const saltus_sim_def sim_def = {.system = sys,
                                  .scheme = "moreau-jean",
                                  .options = options,
                                  .h = 1.0 / 240.0,
                                  .q0 = q0,
                                  .v0 = v0};
  double start = links_energy(sys, 0.0, q0, v0);
  if (saltus_sim_create(&sim_def, &sim) == SALTUS_OK) {
    /* the first step plans the order of the factors and touches the memory: that belongs to creation */
    out.failed = saltus_sim_run(sim, PLANNING) != SALTUS_OK;
    double planned = (double)saltus_sim_work(sim).newton_iterations;
    double begin = bench_seconds();
    double begin_wall = wall_seconds();
    out.failed |= saltus_sim_run(sim, steps) != SALTUS_OK;
    out.each = (bench_seconds() - begin) / (steps - PLANNING);
    out.wall = (wall_seconds() - begin_wall) / (steps - PLANNING);
    out.iterations =
        ((double)saltus_sim_work(sim).newton_iterations - planned) / (steps - PLANNING);
    double t = saltus_sim_time(sim);
    double scale = 0.1 * 9.81 * def->count * (def->star ? 0.15 : 0.05 * def->count);
    out.defect = links_defect(sys, t, saltus_sim_q(sim));
    out.energy = (links_energy(sys, t, saltus_sim_q(sim), saltus_sim_v(sim)) - start) / scale;
    saltus_sim_destroy(sim);
  }
  saltus_mechanism_destroy(made);
  return out;
}

static int grow(const char* name, links_def def) {
  double each[3];
  int failed = 0;
  for (int k = 0; k < 3; k++) {
    def.count = k == 0 ? 10 : k == 1 ? 100 : 1000;
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    outcome out = run_links(&def, &options, PLANNING + 60);
    each[k] = out.each;
    failed |= out.failed;
    printf("  %-22s %5d links: a step %9.4f ms, %4.1f iterations, joints to %.0e, energy %+.0e%s\n",
           name, def.count, 1e3 * out.each, out.iterations, out.defect, out.energy,
           out.failed ? ", NOT SOLVED" : "");
  }
  double exponent = log10(each[2] / each[1]);
  printf("  %-22s exponent from 100 to 1000: %.2f, from 10: %.2f\n", name, exponent,
         0.5 * log10(each[2] / each[0]));
  return failed;
}

/* Joint defects at a step of real-time simulation. */
static int run_closed(const char* name, bool twisted, int steps, double tol) {
  const links_def def = {.dimension = 3, .count = 100, .twisted = twisted};
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.project_joints = 1;
  options.newton_tol = tol;
  outcome out = run_links(&def, &options, steps);
  printf("  %s of 100 hinges, project_joints, newton_tol %.0e: %.2f s at h = 1/240 s, %.0f steps a "
         "second of the processor, %.0f of the clock, %.1f iterations, joints to %.0e, energy "
         "%+.0e%s\n",
         name, tol, steps / 240.0, 1.0 / out.each, 1.0 / out.wall, out.iterations, out.defect,
         out.energy, out.failed ? ", NOT SOLVED" : "");
  return out.failed || !(out.defect < 1e-9);
}

/* A chain in one plane cracks like a whip at 4.37 s: links turn by radians in a step of 1/240 s then, which is taken in
 * parts. The twisted one does not. */
static int run_all_closed(void) {
  int failed = 0;
  for (int k = 0; k < 2; k++) {
    double tol = k == 0 ? 1e-10 : 1e-8;
    failed |= run_closed("twisted chain", true, 1200, tol);
    failed |= run_closed("chain in space", false, 1040, tol);
    failed |= run_closed("chain in space, through the crack", false, 1200, tol);
  }
  return failed;
}

static int run_chains(void) {
  int failed = grow("chain in the plane", (links_def){.dimension = 2});
  failed |= grow("chain in space", (links_def){.dimension = 3});
  failed |= grow("twisted chain", (links_def){.dimension = 3, .twisted = true});
  failed |= grow("star in space", (links_def){.dimension = 3, .star = true});
  failed |= grow("chain with dampers", (links_def){.dimension = 3, .damping = 1e-4});
  return failed | run_all_closed();
}

const bench bench_chains = {
    .name = "chains",
    .summary = "steps of chains and stars of 10 to 1000 hinges: exponent at most 1.1",
    .run = run_chains,
};
