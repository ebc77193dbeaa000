/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * herk_index.c - explicit Runge-Kutta methods on a system with a joint, held on acceleration level
 * (index 1) and half-explicitly on velocity level (index 2): ordinary tableaux lose order there,
 * those made for it do not (docs/theory/event-capturing.md, 2.5).
 */
#include "study.h"

#include "scheme/event/runge_kutta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A point mass on a rod of length 1: g = (x^2 + y^2 - 1) / 2. */
static void rod_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = M[3] = 1.0;
  M[1] = M[2] = 0.0;
}

static void rod_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = 0.0;
  F[1] = -9.81;
}

static void rod_joints(const void* self, const saltus_point* at, double* g) {
  (void)self;
  g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
}

static void rod_joint(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  (void)self, (void)row;
  rows->G[0] = at->q[0];
  rows->G[1] = at->q[1];
  if (rows->c != NULL) {
    rows->c[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
  }
}

static const saltus_system_ops rod_ops = {
    .mass = rod_mass, .force = rod_force, .joints = rod_joints, .joint = rod_joint};

static const saltus_system rod = {.ops = &rod_ops,
                                  .dims = {.nq = 2, .nv = 2, .nj = 1},
                                  .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE};

/* The pendulum after 2 s, from the horizontal, without projections. */
static saltus_status swing(const saltusi_tableau* method, int steps, double q[2], double v[2]) {
  enum { BYTES = 1 << 16 };
  void* block = calloc(1, BYTES);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_arena arena = saltus_arena_over(block, BYTES);
  saltusi_eval eval = {.sys = rod};
  saltusi_rk rk = {.method = NULL};
  saltusi_eval_layout(&eval, &arena);
  saltusi_rk_layout(&rk, method, &eval, &arena);
  double h = 2.0 / steps;
  double q0[2] = {1.0, 0.0};
  double v0[2] = {0.0, 0.0};
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < steps && status == SALTUS_OK; i++) {
    const saltusi_rk_start start = {.t = i * h, .q = q0, .v = v0};
    saltusi_rk_restart(&rk);
    status = saltusi_rk_step(&rk, &eval, &start, h, q, v);
    for (int k = 0; k < 2; k++) {
      q0[k] = q[k];
      v0[k] = v[k];
    }
  }
  free(block);
  return status;
}

/* Order of q between two grids. */
static saltus_status measure(const saltusi_tableau* method, const double exact[2], int steps,
                             double* order) {
  double error[2];
  for (int i = 0; i < 2; i++) {
    double q[2] = {NAN, NAN};
    double v[2];
    saltus_status status = swing(method, steps << i, q, v);
    if (status != SALTUS_OK) {
      return status;
    }
    error[i] = fmax(fabs(q[0] - exact[0]), fabs(q[1] - exact[1]));
  }
  *order = log2(error[0] / error[1]);
  return SALTUS_OK;
}

typedef struct index_case {
  const saltusi_tableau* method;
  int steps;
  double order_1, order_2; /* expected on acceleration and on velocity level */
} index_case;

static const index_case cases[] = {
    {&saltusi_explicit_euler, 20480, 1.0, 1.0},
    {&saltusi_midpoint, 640, 2.0, 2.0},
    {&saltusi_heun_3, 640, 3.0, 2.0},
    {&saltusi_rk4, 640, 4.0, 3.0},
    {&saltusi_rkf45, 480, 5.0, 2.0},
    {&saltusi_herk_3, 320, 3.0, 3.0},
    {&saltusi_hem_4, 320, 4.0, 4.0},
};

/* Both forms as schemes, with projections, against a fine run: what the figure shows. */
static int run_schemes(study_report* report) {
  static const char* const schemes[] = {"midpoint", "heun-3", "rk4", "rkf45", "herk-3", "hem-4"};
  static const long long steps[] = {80, 160, 320, 640};
  static const double q0[2] = {1.0, 0.0};
  static const double v0[2] = {0.0, 0.0};
  const saltusi_experiment_def def = {.system = &rod,
                                      .q0 = q0,
                                      .v0 = v0,
                                      .scheme = "gauss-6",
                                      .t_end = 2.0,
                                      .steps = 2560,
                                      .log = cli_log()};
  saltusi_experiment fine;
  saltus_status status = saltusi_experiment_run(&def, &fine);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  const saltusi_stored_motion stored = {.motion = fine.motion, .nq = 2, .nv = 2};
  const saltusi_reference reference = saltusi_reference_motion(&stored);
  int code = CLI_DONE;
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0] && code == CLI_DONE; k++) {
    char label[96];
    snprintf(label, sizeof label, "pendulum on a rod to 2 s, %s", schemes[k]);
    const study_plan plan = {.label = label,
                             .problem = "rod",
                             .system = &rod,
                             .q0 = q0,
                             .v0 = v0,
                             .reference = &reference,
                             .scheme = saltus_scheme_find(schemes[k]),
                             .options_text = "",
                             .t_end = 2.0,
                             .steps = steps,
                             .step_count = 4};
    code = study_run_series(report, &plan);
    const study_series* series = &report->series[report->series_count - 1];
    char id[192];
    snprintf(id, sizeof id, "order of q inf, %s", label);
    study_claim_range(report, id, study_order(report, series, study_q_inf),
                      plan.scheme->order - 0.3, plan.scheme->order + 0.3);
  }
  saltusi_experiment_free(&fine);
  return code;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  double exact[2] = {NAN, NAN};
  double v[2];
  saltus_status status = swing(&saltusi_gauss_6, 2000, exact, v);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0] && status == SALTUS_OK; k++) {
    for (int index = 1; index <= 2 && status == SALTUS_OK; index++) {
      saltusi_tableau method = *cases[k].method;
      method.half_explicit = index == 2;
      double order = NAN;
      double expected = index == 1 ? cases[k].order_1 : cases[k].order_2;
      char id[96];
      status = measure(&method, exact, cases[k].steps, &order);
      snprintf(id, sizeof id, "order of q, pendulum on a rod, index %d, %s", index, method.name);
      study_claim_range(report, id, order, expected - 0.3, expected + 0.3);
    }
  }
  return status == SALTUS_OK ? run_schemes(report) : cli_exit_code(status);
}

const study study_herk_index = {
    .name = "herk-index",
    .summary = "explicit methods with a joint held on acceleration and on velocity level",
    .source = "Brasey and Hairer 1993; docs/theory/event-capturing.md, 5",
    .run = run,
};
