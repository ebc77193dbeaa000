/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * potra_figures.c - figures 4, 6 and 7 of Potra, Anitescu, Gavrea and Trinkle 2006: the velocity of
 * a block that sticks, and two carts with stiff dampers and springs (docs/theory/problems.md, 8).
 */
#include "figure/figure.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1024, CURVES = 3 };

/* One run, sampled after each step. */
typedef struct curve {
  double t[SAMPLES], first[SAMPLES], second[SAMPLES];
  int count;
  double stiffness; /* gamma of the carts */
  bool spring;      /* first is x1 - 0.2, else x2 - x1 - 5 */
  double energy, rise, spread, lowest;
  double end; /* m, the first coordinate at the end */
  saltus_work work;
} curve;

static void keep_block(void* user, double t, const double* q, const double* v) {
  curve* c = user;
  if (c->count < SAMPLES) {
    c->t[c->count] = t;
    c->first[c->count] = q[0];
    c->second[c->count++] = v[0];
  }
}

static void keep_carts(void* user, double t, const double* q, const double* v) {
  curve* c = user;
  double stretch = q[0] - 0.2;
  double energy = 0.5 * (v[0] * v[0] + v[2] * v[2]) + 0.5 * c->stiffness * stretch * stretch;
  double distance = q[2] - q[0] - 5.0;
  c->rise = fmax(c->rise, energy - c->energy);
  c->energy = energy;
  c->lowest = fmin(c->lowest, q[0]);
  c->spread = fmax(c->spread, fabs(c->spring ? stretch : distance));
  if (c->count < SAMPLES) {
    c->t[c->count] = t;
    c->first[c->count] = c->spring ? stretch : distance;
    c->second[c->count++] = energy;
  }
}

static int draw_panels(const char* name, const saltusi_plot_series* series,
                       const char* const* labels, const char* path) {
  const saltusi_panel panels[2] = {
      {.y_label = labels[0], .series_count = CURVES, .series = series},
      {.y_label = labels[1], .series_count = CURVES, .series = series + CURVES}};
  const saltusi_figure figure = {.title = name,
                                 .subtitle = "Potra, Anitescu, Gavrea and Trinkle 2006",
                                 .x_label = "time [s]",
                                 .panel_count = 2,
                                 .panels = panels};
  return cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
}

/* Both panels of three curves. */
static int draw_curves(const char* name, const curve* curves, const char* const* names,
                       const char* const* labels, const char* path) {
  saltusi_plot_series series[2 * CURVES];
  for (int i = 0; i < CURVES; i++) {
    const curve* c = &curves[i];
    series[i] =
        (saltusi_plot_series){.label = names[i], .count = c->count, .x = c->t, .y = c->first};
    series[CURVES + i] = (saltusi_plot_series){.count = c->count, .x = c->t, .y = c->second};
  }
  return draw_panels(name, series, labels, path);
}

/* The block in 10 s: end velocity, mean velocity, mean velocity with detection. */
static int run_block(curve* curves) {
  static const char* const schemes[CURVES] = {
      "trapezoidal-implicit-end", "trapezoidal-implicit-mean", "trapezoidal-implicit-mean"};
  static const char* const options[CURVES] = {"detection=off", "detection=off", "detection=on"};
  for (int i = 0; i < CURVES; i++) {
    potra_run run = {.scene = "block-stick-slip",
                     .scheme = schemes[i],
                     .options = options[i],
                     .t_end = 10.0,
                     .h = 0.01,
                     .observe = keep_block,
                     .user = &curves[i],
                     .log = cli_log()};
    saltus_status status = potra_go(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    curves[i].end = run.q[0];
    curves[i].work = run.work;
  }
  return CLI_DONE;
}

/* Largest |v| while the block sticks for the first time, two steps away from both ends. */
static double sticking_speed(const curve* c) {
  double largest = 0.0;
  for (int k = 0; k < c->count; k++) {
    if (c->t[k] > 0.338608184671980617 + 0.02 && c->t[k] < 2.94634679122386296 - 0.02) {
      largest = fmax(largest, fabs(c->second[k]));
    }
  }
  return largest;
}

static int claim_block(study_report* report, const curve* curves) {
  static const char* const labels[CURVES] = {"at 10 s, end velocity", "at 10 s, mean velocity",
                                             "at 10 s, mean velocity with detection"};
  for (int i = 0; i < CURVES; i++) { /* exact: docs/theory/problems.md, 8.2 */
    double h = 0.01;
    double error = fabs(curves[i].end - 2.99130283311503152);
    double speed = sticking_speed(&curves[i]);
    study_note_run(report, curves[i].work.steps, curves[i].work);
    study_add_series(report, labels[i], 1, &h, &error, &speed);
    char id[96];
    snprintf(id, sizeof id, "error of x %s", labels[i]);
    if (i == 2) {
      study_claim_near(report, id, error, 7.510e-6, 0.01);
    } else { /* irregular; 0.5 h^2 */
      study_claim_error(report, id, error, 5e-5);
    }
  }
  study_claim_most(report, "largest |v| in stick, end velocity", sticking_speed(&curves[0]), 1e-15);
  /* the mean velocity keeps what the first sticking step left: about 0.1 h */
  study_claim_range(report, "largest |v| in stick, mean velocity, no detection",
                    sticking_speed(&curves[1]), 1e-4, 2e-3);
  study_claim_most(report, "largest |v| in stick, mean velocity, detection",
                   sticking_speed(&curves[2]), 1e-14);
  double apart = 0.0;
  for (int k = 0; k < curves[0].count && k < curves[1].count; k++) {
    apart = fmax(apart, fabs(curves[0].first[k] - curves[1].first[k]));
  }
  study_claim_most(report, "largest distance of the two positions without detection", apart, 1e-4);
  return CLI_DONE;
}

/* Runs the curves of a study and claims, or draws; NULL: no figure. */
typedef int (*carts_runner)(curve* curves, study_report* report);

static int claim_carts(study_report* report, const char* stiff, const curve* c) {
  char id[96];
  snprintf(id, sizeof id, "largest rise of the energy in a step, %s", stiff);
  study_claim_most(report, id, c->rise, 1e-12);
  snprintf(id, sizeof id, "deepest penetration of the stopper, %s", stiff);
  study_claim_most(report, id, fmax(0.0, -c->lowest), 1e-12);
  return CLI_DONE;
}

/* A row: the errors of both carts at the end. */
static void add_carts(study_report* report, const char* what, const char* stiff, const curve* c,
                      const double error[2]) {
  char label[96];
  double h = 0.01;
  snprintf(label, sizeof label, "error of %s = %s", what, stiff);
  study_note_run(report, c->work.steps, c->work);
  study_add_series(report, label, 1, &h, &error[0], &error[1]);
}

static saltus_status go_carts(curve* c, const saltus_override* set, double t_end,
                              const char* options, double* q) {
  potra_run run = {.scene = "carts",
                   .overrides = set,
                   .override_count = 4,
                   .scheme = "trapezoidal-implicit-mean",
                   .options = options,
                   .t_end = t_end,
                   .h = 0.01,
                   .observe = keep_carts,
                   .user = c,
                   .log = cli_log()};
  saltus_status status = potra_go(&run);
  q[0] = run.q[0];
  q[1] = run.q[2];
  c->work = run.work;
  return status;
}

/* gamma = 100; the true positions of an event-driven integration, the rigid limit for 1e6. */
static int run_dampers(curve* curves, study_report* report) {
  static const struct {
    const char* delta;
    double x[2], margin;
  } cases[CURVES] = {{"1e2", {.19825723, 5.17866113}, 0.01},
                     {"1e3", {.21569625, 5.21345818}, 0.01},
                     {"1e6", {.22100859, 5.22100859}, 0.04}};
  for (int i = 0; i < CURVES; i++) {
    const saltus_override set[4] = {
        {"delta", cases[i].delta}, {"gamma", "100"}, {"x0", "0.1"}, {"v0", "-2"}};
    curves[i] = (curve){.stiffness = 100.0, .energy = 4.5, .lowest = 1.0};
    double q[2];
    saltus_status status = go_carts(&curves[i], set, 4.0, NULL, q);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    if (report != NULL) {
      char id[96];
      claim_carts(report, cases[i].delta, &curves[i]);
      snprintf(id, sizeof id, "delta max |x2 - x1 - 5|, delta = %s", cases[i].delta);
      study_claim_range(report, id, strtod(cases[i].delta, NULL) * curves[i].spread, 3.3, 4.6);
      double error[2];
      for (int k = 0; k < 2; k++) {
        error[k] = fabs(q[k] - cases[i].x[k]);
        snprintf(id, sizeof id, "|x%d(4) - true|, delta = %s", k + 1, cases[i].delta);
        study_claim_error(report, id, error[k], cases[i].margin);
      }
      add_carts(report, "x1(4); x2(4), delta", cases[i].delta, &curves[i], error);
    }
  }
  return CLI_DONE;
}

/* delta = 10; positions of the methods, 3.7. The printed factor (h/2) F_q v explodes. */
static int run_springs(curve* curves, study_report* report) {
  static const struct {
    const char* gamma;
    double x[2];
  } cases[CURVES] = {
      {"1e2", {.20453, 4.90215}}, {"1e4", {.20002, 4.91851}}, {"1e6", {.1992, 4.9202}}};
  for (int i = 0; i < CURVES; i++) {
    const saltus_override set[4] = {
        {"gamma", cases[i].gamma}, {"delta", "10"}, {"x0", "0.2"}, {"v0", "-3"}};
    double gamma = strtod(cases[i].gamma, NULL);
    curves[i] = (curve){.stiffness = gamma, .spring = true, .energy = 9.0, .lowest = 1.0};
    double q[2];
    saltus_status status = go_carts(&curves[i], set, 2.0, "detection=off", q);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    if (report == NULL) {
      continue;
    }
    char id[96];
    claim_carts(report, cases[i].gamma, &curves[i]);
    double error[2];
    for (int k = 0; k < 2; k++) {
      error[k] = fabs(q[k] - cases[i].x[k]);
      snprintf(id, sizeof id, "|x%d(2) - expected|, gamma = %s", k + 1, cases[i].gamma);
      study_claim_error(report, id, error[k], 5e-3);
    }
    add_carts(report, "x1(2); x2(2), gamma", cases[i].gamma, &curves[i], error);
    curve printed = {.stiffness = gamma, .spring = true, .energy = 9.0, .lowest = 1.0};
    status = go_carts(&printed, set, 2.0, "detection=off force_term=printed", q);
    if (status == SALTUS_OK && i > 0) {
      snprintf(id, sizeof id, "rise of the energy with (h/2) F_q v, gamma = %s", cases[i].gamma);
      study_claim_range(report, id, printed.rise, 100.0, INFINITY);
    }
  }
  return CLI_DONE;
}

static int run_block_study(curve* curves, study_report* report) {
  int code = run_block(curves);
  return code == CLI_DONE && report != NULL ? claim_block(report, curves) : code;
}

/* Runs with room for three curves; draws when there is a path. */
static int with_curves(carts_runner runner, study_report* report, const char* name,
                       const char* const* names, const char* const* labels, const char* path) {
  curve* curves = calloc(CURVES, sizeof *curves);
  if (curves == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  int code = runner(curves, report);
  if (code == CLI_DONE && path != NULL) {
    code = draw_curves(name, curves, names, labels, path);
  }
  free(curves);
  return code;
}

static int run_fig4(const cli_args* args, study_report* report) {
  (void)args;
  return with_curves(run_block_study, report, NULL, NULL, NULL, NULL);
}

static int run_fig6(const cli_args* args, study_report* report) {
  (void)args;
  return with_curves(run_dampers, report, NULL, NULL, NULL, NULL);
}

static int run_fig7(const cli_args* args, study_report* report) {
  (void)args;
  return with_curves(run_springs, report, NULL, NULL, NULL, NULL);
}

static int draw_fig4(const char* path) {
  static const char* const names[] = {"end velocity", "mean velocity", "mean, with detection"};
  static const char* const labels[] = {"position [m]", "velocity [m/s]"};
  return with_curves(run_block_study, NULL, "A block that sticks and slips", names, labels, path);
}

static int draw_fig6(const char* path) {
  static const char* const names[] = {"delta = 10^2", "delta = 10^3", "delta = 10^6"};
  static const char* const labels[] = {"x_{2} - x_{1} - 5 [m]", "energy [J]"};
  return with_curves(run_dampers, NULL, "Two carts with a stiff damper", names, labels, path);
}

static int draw_fig7(const char* path) {
  static const char* const names[] = {"gamma = 10^2", "gamma = 10^4", "gamma = 10^6"};
  static const char* const labels[] = {"x_{1} - 0.2 [m]", "energy [J]"};
  return with_curves(run_springs, NULL, "Two carts with a stiff spring", names, labels, path);
}

const study study_potra2006_fig4 = {
    .name = "potra2006-fig4",
    .summary = "velocity of a block that sticks: end and mean velocity, detection",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, figure 4",
    .run = run_fig4,
    .draw = draw_fig4,
};

const study study_potra2006_fig6 = {
    .name = "potra2006-fig6",
    .summary = "two carts, damper to 1e6: distance and energy",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, figure 6",
    .run = run_fig6,
    .draw = draw_fig6,
};

const study study_potra2006_fig7 = {
    .name = "potra2006-fig7",
    .summary = "two carts, spring to 1e6: stretch and energy; the printed factor explodes",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, figure 7",
    .run = run_fig7,
    .draw = draw_fig7,
};
