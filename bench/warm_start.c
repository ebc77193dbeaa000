/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * warm_start.c - value of the impulses of the last step as initial guess of the next: piles of
 * spheres and a column of balls at rest, Moreau-Jean with and without warm start in one run.
 */
#include "bench.h"
#include "pile.h"
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE = 5, STEPS = 50 };

typedef struct outcome {
  bool failed;
  int active;
  double seconds, iterations; /* a step */
  double residual;            /* m/s, largest */
  double speed;               /* m/s, largest at the end: all is at rest */
} outcome;

static outcome lie(const saltus_system* sys, const double* q0, saltus_warm_start warm) {
  size_t bytes = (size_t)sys->dims.nq * sizeof(double);
  double* q = malloc(bytes);
  double* v = calloc((size_t)sys->dims.nv, sizeof(double));
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.warm_start = (int)warm;
  const saltus_scheme_def def = {.scheme = "moreau-jean", .options = &options, .system = sys};
  saltus_scheme* scheme = NULL;
  outcome out = {.failed =
                     q == NULL || v == NULL || saltus_scheme_create(&def, &scheme) != SALTUS_OK};
  long long before = 0;
  double start = 0.0;
  for (int k = 0; k < SETTLE + STEPS && !out.failed; k++) {
    if (k == 0) {
      memcpy(q, q0, bytes);
    }
    if (k == SETTLE) {
      before = saltus_scheme_work(scheme).contact_iterations;
      start = bench_seconds();
    }
    saltus_state x = {0.005 * k, q, v};
    saltus_step_report report;
    out.failed = saltus_scheme_step(scheme, 0.005, &x, &report) != SALTUS_OK;
    out.active = report.active;
    out.residual = fmax(out.residual, report.residual_velocity);
  }
  if (!out.failed) {
    out.seconds = (bench_seconds() - start) / STEPS;
    out.iterations = (double)(saltus_scheme_work(scheme).contact_iterations - before) / STEPS;
    for (int i = 0; i < sys->dims.nv; i++) {
      out.speed = fmax(out.speed, fabs(v[i]));
    }
  }
  saltus_scheme_destroy(scheme);
  free(q);
  free(v);
  return out;
}

static int compare(const char* what, const saltus_system* sys, const double* q0) {
  outcome cold = lie(sys, q0, SALTUS_WARM_START_NO);
  outcome warm = lie(sys, q0, SALTUS_WARM_START_YES);
  printf("  %-34s %4d contacts, a step: %8.3f ms, %6.1f iterations cold; %8.3f ms, %4.1f warm; "
         "%.1f times faster, %.0f times fewer; residual %.0e, speed %.0e m/s\n",
         what, warm.active, 1e3 * cold.seconds, cold.iterations, 1e3 * warm.seconds,
         warm.iterations, cold.seconds / warm.seconds, cold.iterations / warm.iterations,
         fmax(cold.residual, warm.residual), fmax(cold.speed, warm.speed));
  return cold.failed || warm.failed;
}

static int run_pile(int width, int layers, double mu) {
  pile_def def = pile_def_default(width, width, layers);
  def.spread = 0.0;
  def.mu = mu;
  pile p;
  char what[64];
  snprintf(what, sizeof what, "%d spheres in a box, mu = %g", width * width * layers, mu);
  int failed = !pile_create(&def, &p) || compare(what, &p.system, p.q);
  pile_free(&p);
  return failed;
}

static int run_warm(void) {
  int failed =
      run_pile(3, 2, 0.4) | run_pile(4, 4, 0.4) | run_pile(7, 6, 0.4) | run_pile(3, 2, 0.0);
  saltus_known_motion* problem = NULL;
  failed |= saltus_known_motion_create("stack:1000", (saltus_log){0}, NULL, &problem) != SALTUS_OK;
  if (problem != NULL) {
    failed |= compare("column of 1000 balls", saltus_known_motion_system(problem),
                      saltus_known_motion_q0(problem));
  }
  saltus_known_motion_destroy(problem);
  return failed;
}

const bench bench_warm_start = {
    .name = "warm-start",
    .summary =
        "steps of piles and a column at rest, from the impulses of the last step and from zero",
    .run = run_warm,
};
