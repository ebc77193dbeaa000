/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2009_fig3.c - Schatzman-Paoli and the projected scheme on the academic examples (Acary 2009,
 * figure 3 and section 2), how they rest, and why the printed projection does not.
 */
#include "low_order_tables.h"

#include <math.h>
#include <stdio.h>

/* Largest and smallest velocity of the ball after t = 4 s, when it lies on the floor. */
static int resting_velocity(const char* scheme, const void* options, double range[2]) {
  saltus_known_motion* problem;
  if (saltus_known_motion_create("ball", cli_log(), NULL, &problem) != SALTUS_OK) {
    return CLI_FAILED;
  }
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
                                      .scheme = scheme,
                                      .options = options,
                                      .t_end = 5.0,
                                      .steps = 1000,
                                      .log = cli_log()};
  saltusi_experiment run;
  saltus_status status = saltusi_experiment_run(&def, &run);
  range[0] = INFINITY;
  range[1] = -INFINITY;
  for (int k = 0; status == SALTUS_OK && k < run.motion.count; k++) {
    if (run.motion.t[k] > 4.0) {
      range[0] = fmin(range[0], run.motion.v[k]);
      range[1] = fmax(range[1], run.motion.v[k]);
    }
  }
  if (status == SALTUS_OK) {
    saltusi_experiment_free(&run);
  }
  saltus_known_motion_destroy(problem);
  return cli_exit_code(status);
}

static int claim_rest(study_report* report) {
  static const char* const schemes[] = {"moreau-jean", "moreau-jean-projected", "schatzman-paoli",
                                        "splitting-rkf45-contact"};
  double range[2];
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    int code = resting_velocity(schemes[i], NULL, range);
    if (code != CLI_DONE) {
      return code;
    }
    char id[128];
    snprintf(id, sizeof id, "largest |v| of the ball after 4 s, %s", schemes[i]);
    study_claim_most(report, id, fmax(fabs(range[0]), fabs(range[1])), 1e-12);
  }
  /* as printed: a cycle of velocities -|f| h / (1 + e) and e |f| h / (1 + e), here f = -2, e = 1/2 */
  saltus_moreau_projected_options printed = saltus_moreau_projected_options_default();
  printed.activation = 1;
  int code = resting_velocity("moreau-jean-projected", &printed, range);
  study_claim_near(report, "smallest v after 4 s, projection as printed", range[0],
                   -2.0 * 0.005 / 1.5, 0.01);
  study_claim_near(report, "largest v after 4 s, projection as printed", range[1],
                   0.5 * 2.0 * 0.005 / 1.5, 0.01);
  return code;
}

/* The double pendulum, L1 of q: docs/theory/position-schemes.md, 5. Two digits are given: 2.5 %. */
static int claim_pendulum(study_report* report) {
  static const long long grids[] = {480, 960, 1920, 3840};
  static const double expected[] = {3.0e-2, 1.6e-2, 7.1e-3, 4.5e-3};
  int code =
      study_run_problem(report, "pendulum-wall", "schatzman-paoli", "theta=0", 3.0, grids, 4);
  const study_series* series = &report->series[report->series_count - 1];
  for (int i = 0; code == CLI_DONE && i < 4; i++) {
    char id[128];
    snprintf(id, sizeof id, "pendulum-wall, Schatzman-Paoli, N = %lld, q L1", grids[i]);
    study_claim_near(report, id, report->rows[series->first + i].error.q.l1, expected[i], 0.025);
  }
  if (code == CLI_DONE) {
    study_claim_range(report, "order of q L1, pendulum-wall, Schatzman-Paoli",
                      study_order(report, series, study_q_l1), 0.9, 1.0);
  }
  return code;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  int code = low_order_run(report, "schatzman-paoli");
  if (code == CLI_DONE) {
    code = low_order_run(report, "moreau-jean-projected");
  }
  if (code == CLI_DONE) {
    code = claim_pendulum(report);
  }
  return code == CLI_DONE ? claim_rest(report) : code;
}

const study study_acary2009_fig3 = {
    .name = "acary2009-fig3",
    .summary = "Schatzman-Paoli and the projected scheme: errors, orders, rest",
    .source = "Acary 2009 (RR-7151), figure 3 and section 2",
    .run = run,
};
