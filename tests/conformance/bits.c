/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bits.c - prints a fingerprint of runs through impacts, accumulations, curved contact and a pile of
 * spheres that settles. Built at -O0 and as users build it; both have to print the same.
 */
#include "../../bench/pile.h"
#include "base/hash.h"
#include "saltus/saltus.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t run(const char* problem_name, const char* scheme, long long steps) {
  saltus_log quiet = {0};
  saltus_known_motion* problem;
  uint64_t hash = SALTUSI_HASH_START;
  if (saltus_known_motion_create(problem_name, quiet, NULL, &problem) != SALTUS_OK) {
    return 0;
  }
  const saltus_system* sys = saltus_known_motion_system(problem);
  const saltus_sim_def def = {.system = sys,
                              .scheme = scheme,
                              .h = saltus_known_motion_get_info(problem)->t_end / (double)steps,
                              .q0 = saltus_known_motion_q0(problem),
                              .v0 = saltus_known_motion_v0(problem)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) == SALTUS_OK) {
    for (long long i = 0; i < steps && saltus_sim_step(sim) == SALTUS_OK; i++) {
      hash = saltusi_hash(hash, saltus_sim_q(sim), (size_t)sys->dims.nq * sizeof(double));
      hash = saltusi_hash(hash, saltus_sim_v(sim), (size_t)sys->dims.nv * sizeof(double));
    }
  }
  saltus_sim_destroy(sim);
  saltus_known_motion_destroy(problem);
  return hash;
}

/* Friction problems of up to 41 contacts by all kinds of stages, from the impulses of the last step. */
static uint64_t settle(void) {
  const pile_def def = pile_def_default(3, 3, 2);
  uint64_t hash = SALTUSI_HASH_START;
  pile p;
  saltus_scheme* scheme = NULL;
  if (pile_create(&def, &p)) {
    const saltus_scheme_def scheme_def = {.scheme = "moreau-jean", .system = &p.system};
    saltus_status status = saltus_scheme_create(&scheme_def, &scheme);
    saltus_state x = {0.0, p.q, p.v};
    for (int i = 0; i < 300 && status == SALTUS_OK; i++) {
      status = saltus_scheme_step(scheme, 0.005, &x, NULL);
      hash = saltusi_hash(hash, p.v, (size_t)p.system.dims.nv * sizeof(double));
    }
  }
  saltus_scheme_destroy(scheme);
  pile_free(&p);
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
  printf("pile %016" PRIx64 "\n", settle());
  return 0;
}
