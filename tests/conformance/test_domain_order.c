/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_domain_order.c - accelerated sweeps by coloured domains against the order of the problem: how many
 * they take. The published problems (folder SALTUS_PROBLEMS, by default ../shared/data/contact-problems
 * beside the source tree; skipped without it) and packings, all cut into domains although they are small.
 */
#include "saltus_test.h"

#include "../../bench/packing.h"
#include "saltus/problem_file.h"
#include "solve/friction/domains.h"
#include "solve/friction/gauss_seidel.h"

#include <stdio.h>
#include <stdlib.h>

enum { SWEEPS = 3000 };

/* Measured: 1.23 on the published problems, from 0.9 to 2.1 on each; the domains are a tenth of those in
 * use, and what they cost shrinks with their number. */
static const double most = 1.5;

typedef struct prepared {
  saltusi_friction_pattern pattern;
  saltusi_friction_case in;
  saltusi_domains domains;
  saltusi_gauss_seidel_work work;
  double* r;
} prepared;

static void lay_out(prepared* p, const saltus_friction_problem* problem, saltus_arena* arena) {
  int units = problem->W.units;
  int rows = problem->W.offset[units];
  saltusi_friction_pattern_layout(&p->pattern, problem, arena);
  saltusi_friction_case_layout(&p->in, problem, arena);
  saltusi_domains_layout(&p->domains, units, saltusi_friction_unit_max(problem), arena);
  saltusi_gauss_seidel_layout(&p->work, rows, arena);
  p->r = SALTUS_PUSH(arena, double, rows);
}

/* Sweeps in the order of the problem and by 8 to 64 domains; SWEEPS: not solved. False
 * when the problem cannot be cut. */
static bool count_sweeps(const saltus_friction_problem* problem, double tol, int sweeps[2]) {
  prepared p = {0};
  saltus_arena arena = saltus_arena_counting();
  lay_out(&p, problem, &arena);
  void* block = malloc(arena.used + SALTUS_ALIGNMENT);
  assert_non_null(block);
  arena = saltus_arena_over(block, arena.used + SALTUS_ALIGNMENT);
  lay_out(&p, problem, &arena);
  assert_int_equal(saltusi_friction_pattern_fill(&p.pattern, problem, (saltus_log){0}), SALTUS_OK);
  int least = p.pattern.units / 8 < 30 ? p.pattern.units / 8 : 30;
  saltusi_domains_number(&p.domains, &p.pattern, least);
  p.in.pattern = &p.pattern;
  p.in.values = problem->W.values;
  p.in.q = problem->q;
  p.in.mu = problem->mu;
  for (int k = 0; k < 2 && p.domains.count > 1; k++) {
    const saltusi_gauss_seidel_settings settings = {.sweeps = SWEEPS, .tol = tol, .anderson = true};
    p.in.domains = k == 1 ? &p.domains : NULL;
    saltusi_friction_case_prepare(&p.in);
    memset(p.r, 0, (size_t)p.pattern.rows * sizeof(double));
    sweeps[k] = saltusi_gauss_seidel(&p.work, &p.in, &settings, p.r).iterations;
  }
  free(block);
  return p.domains.count > 1;
}

/* What many problems took together; one that neither order solves says nothing. */
typedef struct tally {
  int problems, total[2], unsolved[2];
  double mean; /* sum of logarithms of the ratio */
} tally;

static void add(tally* t, const char* name, const saltus_friction_problem* problem, double tol) {
  int sweeps[2];
  if (problem->W.units < 40 || !count_sweeps(problem, tol, sweeps)) {
    return;
  }
  print_message("%-44s %5d units: %4d sweeps, by domains %4d\n", name, problem->W.units, sweeps[0],
                sweeps[1]);
  t->problems++;
  for (int k = 0; k < 2; k++) {
    t->total[k] += sweeps[k];
    t->unsolved[k] += sweeps[k] == SWEEPS;
  }
  t->mean += log((double)sweeps[1] / sweeps[0]);
}

static double mean_ratio(const tally* t) {
  double mean = exp(t->mean / t->problems);
  print_message("%d problems: %d sweeps, by domains %d; mean ratio %.2f; %d and %d not solved\n",
                t->problems, t->total[0], t->total[1], mean, t->unsolved[0], t->unsolved[1]);
  return mean;
}

static void packings_take_as_many_sweeps(void** state) {
  (void)state;
  tally t = {0};
  for (int k = 0; k < 8; k++) {
    packing_def def = packing_def_default();
    def.nx = 4 + k % 3;
    def.ny = 5;
    def.nz = 4 + k;
    def.velocity = k % 2 == 0 ? 0.0 : 0.02;
    def.seed = (uint64_t)(7 + k);
    saltus_problem_file* local = packing_local(&def);
    assert_non_null(local);
    add(&t, k % 2 == 0 ? "packing at rest" : "packing in an impact", &local->friction, 1e-3);
    saltus_problem_file_destroy(local);
  }
  assert_int_equal(t.problems, 8);
  assert_true(mean_ratio(&t) <= most);
}

static void published_problems_take_as_many_sweeps(void** state) {
  (void)state;
  static const char* const names[] = {"Box_Stacks-i0122-82-5.hdf5",
                                      "BoxesStack1-i100000-32.hdf5.dat",
                                      "Capsules-i100-1090.dat",
                                      "Capsules-i101-404.dat",
                                      "Capsules-i122-1617.dat",
                                      "Confeti-ex03-Fc3D-SBM.dat",
                                      "FrictionContactProblem00071.dat",
                                      "KaplasTower-i1061-4.hdf5.dat",
                                      "Spheres-i099-356-679.hdf5",
                                      "fc2d_granularflowonwall_02020_00213.dat",
                                      "gfc2d_granularflowonwall_00069_00350.dat"};
  const char* given = getenv("SALTUS_PROBLEMS");
  tally t = {0};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", given != NULL ? given : SALTUS_PUBLISHED, names[i]);
    saltus_problem_file* file;
    if (saltus_problem_file_read(path, (saltus_log){0}, NULL, &file) != SALTUS_OK) {
      continue;
    }
    saltus_problem_file* local = NULL;
    if (file->kind == SALTUS_PROBLEM_GLOBAL_FRICTION &&
        saltus_global_friction_reduce(&file->global, (saltus_log){0}, NULL, &local) == SALTUS_OK) {
      add(&t, names[i], &local->friction, 1e-6);
    } else if (file->kind == SALTUS_PROBLEM_FRICTION) {
      add(&t, names[i], &file->friction, 1e-6);
    }
    saltus_problem_file_destroy(local);
    saltus_problem_file_destroy(file);
  }
  if (t.problems == 0) {
    print_message("no published problems at %s: skipped\n",
                  given != NULL ? given : SALTUS_PUBLISHED);
    skip();
  }
  assert_true(mean_ratio(&t) <= most);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packings_take_as_many_sweeps),
      cmocka_unit_test(published_problems_take_as_many_sweeps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
