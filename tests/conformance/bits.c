/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bits.c - prints a fingerprint of runs through impacts, accumulations and curved contact. Built at
 * -O0 and at -O2; both have to print the same.
 */
#include "base/hash.h"
#include "saltus/saltus.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t run(const char* problem_name, const char* scheme, long long steps) {
  saltus_log quiet = {0};
  saltus_problem* problem;
  uint64_t hash = SALTUSI_HASH_START;
  if (saltus_problem_create(problem_name, quiet, NULL, &problem) != SALTUS_OK) {
    return 0;
  }
  const saltus_system* sys = saltus_problem_system(problem);
  const saltus_sim_def def = {.system = sys,
                              .scheme = scheme,
                              .h = saltus_problem_about(problem)->t_end / (double)steps,
                              .q0 = saltus_problem_q0(problem),
                              .v0 = saltus_problem_v0(problem)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) == SALTUS_OK) {
    for (long long i = 0; i < steps && saltus_sim_step(sim) == SALTUS_OK; i++) {
      hash = saltusi_hash(hash, saltus_sim_q(sim), (size_t)sys->dims.nq * sizeof(double));
      hash = saltusi_hash(hash, saltus_sim_v(sim), (size_t)sys->dims.nv * sizeof(double));
    }
  }
  saltus_sim_destroy(sim);
  saltus_problem_destroy(problem);
  return hash;
}

int main(void) {
  static const char* const problems[] = {"ball", "oscillator-preload", "pendulum-wall",
                                         "forced-ball", "column:10"};
  for (int k = 0; k < saltus_scheme_count(); k++) {
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
      const saltus_scheme_info* scheme = saltus_scheme_at(k);
      long long steps = scheme->order > 1 ? 211 : 2003; /* high orders work more in a step */
      printf("%s %s %016" PRIx64 "\n", scheme->name, problems[i],
             run(problems[i], scheme->name, steps));
    }
  }
  return 0;
}
