/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit_studies.c - parameters from measurements (docs/fit.md).
 *
 *   fit-synthetic   intervals of parameters from 100 sets of noisy data whose parameters are known
 *   measured-cube   tosses of a real cube, ../shared/data/experiments/tosses.h5: windows held out by 5 folds, whole tosses
 *                   (data of Pfrommer, Halm and Posa, CoRL 2020)
 */
#include "figure/figure.h"
#include "saltus/fit.h"
#include "study.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- synthetic data ---- */

enum { SETS = 100, BALLS = 12, FRAMES = 30, DIGITS = 200 };
static const double g_true = 9.81, e_true = 0.6, noise = 1e-3;

static const char ball[] =
    "saltus: 1\nparameters: {g: 9, e: 0.4}\ncoordinates: {y: {start: 1}}\nkinetic: y'^2/2\n"
    "potential: g*y\ncontacts: [{name: ground, gap: y, restitution: e}]\n"
    "simulate: {until: 1, tol: 1e-10}\n"
    "fit:\n  data: {file: ball-*.csv}\n  measured: [{value: y, columns: [y], noise: 0.001}]\n"
    "  unknown: {g: {bounds: [5, 15]}, e: {bounds: [0.1, 0.95]}}\n";

/* Sum of twelve uniform numbers of a linear congruential generator (Knuth, MMIX). */
static double normal(uint64_t* state) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    sum += (double)(*state >> 11U) * 0x1p-53;
  }
  return sum;
}

/* Height of a ball from rest at 1 m until before its second impact, with noise. */
static bool write_ball(const char* folder, int ball_number, double amplitude, uint64_t* state) {
  char path[DIGITS];
  snprintf(path, sizeof path, "%.100s/ball-%02d.csv", folder, ball_number);
  FILE* file = fopen(path, "w");
  const double first = sqrt(2.0 / g_true);
  if (file == NULL) {
    return false;
  }
  fprintf(file, "t,y\n");
  for (int k = 0; k < FRAMES; k++) {
    const double t = 0.025 * k, s = t - first;
    const double y =
        s < 0.0 ? 1.0 - 0.5 * g_true * t * t : e_true * g_true * first * s - 0.5 * g_true * s * s;
    fprintf(file, "%.17g,%.17g\n", t, y + amplitude * normal(state));
  }
  return fclose(file) == 0;
}

/* Values and half widths of the intervals of both parameters from one set of data; an exit code. */
static int fit_set(const char* folder, double amplitude, uint64_t seed, double value[2],
                   double half[2]) {
  char path[DIGITS];
  saltus_fit* fit = NULL;
  snprintf(path, sizeof path, "%.100s/scene.yaml", folder);
  for (int i = 0; i < BALLS; i++) {
    if (!write_ball(folder, i, amplitude, &seed)) {
      cli_error("%s: cannot be written", folder);
      return CLI_FAILED;
    }
  }
  const saltus_fit_def def = {.path = path, .text = ball, .threads = 2, .log = cli_log()};
  saltus_status status = saltus_fit_create(&def, &fit);
  status = status == SALTUS_OK ? saltus_fit_execute(fit) : status;
  for (int k = 0; k < 2 && status == SALTUS_OK; k++) {
    const saltus_fit_view* v = saltus_fit_get_view(fit);
    value[k] = v->values[k];
    half[k] = v->factor * sqrt(v->covariance[3 * k]);
  }
  saltus_fit_destroy(fit);
  return cli_exit_code(status);
}

static void remove_balls(const char* folder) {
  char path[DIGITS];
  for (int i = 0; i < BALLS; i++) {
    snprintf(path, sizeof path, "%.100s/ball-%02d.csv", folder, i);
    (void)unlink(path);
  }
  (void)rmdir(folder);
}

/* All sets; value and half width of each, [SETS][2]. */
static int fit_sets(double value[][2], double half[][2], double exact[2]) {
  char folder[] = "/tmp/saltus-fit-XXXXXX";
  double none[2];
  if (mkdtemp(folder) == NULL) {
    cli_error("/tmp: no folder can be made");
    return CLI_FAILED;
  }
  int code = fit_set(folder, 0.0, 1, exact, none);
  for (int i = 0; i < SETS && code == CLI_DONE; i++) {
    code = fit_set(folder, noise, 1000U + (unsigned)i, value[i], half[i]);
  }
  remove_balls(folder);
  return code;
}

static int run_synthetic(const cli_args* args, study_report* report) {
  static double value[SETS][2], half[SETS][2];
  static const char* const names[] = {"g", "e"};
  const double truth[2] = {g_true, e_true};
  double exact[2];
  (void)args;
  const int code = fit_sets(value, half, exact);
  for (int k = 0; k < 2 && code == CLI_DONE; k++) {
    char id[96];
    int inside = 0;
    for (int i = 0; i < SETS; i++) {
      inside += fabs(value[i][k] - truth[k]) <= half[i][k];
    }
    snprintf(id, sizeof id, "%s from data without noise", names[k]);
    study_claim_near(report, id, exact[k], truth[k], 1e-7);
    snprintf(id, sizeof id, "95 %% intervals of %s that contain it, of 100", names[k]);
    study_claim_range(report, id, inside, 90, 99);
  }
  return code;
}

static int draw_synthetic(const char* path) {
  static double value[SETS][2], half[SETS][2];
  double exact[2], x[3 * SETS], y[3 * SETS], centre[SETS], number[SETS];
  const int code = fit_sets(value, half, exact);
  for (int i = 0; i < SETS; i++) {
    number[i] = x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = i + 1;
    centre[i] = value[i][1];
    y[3 * i] = value[i][1] - half[i][1];
    y[3 * i + 1] = value[i][1] + half[i][1];
    y[3 * i + 2] = (double)NAN;
  }
  const double ends[2] = {1, SETS}, truth[2] = {e_true, e_true};
  const saltusi_plot_series series[] = {
      {.label = "95 % interval", .count = 3 * SETS, .x = x, .y = y},
      {.label = "estimate", .kind = SALTUSI_SERIES_DOTS, .count = SETS, .x = number, .y = centre},
      {.label = "true", .count = 2, .x = ends, .y = truth, .dashed = true}};
  const saltusi_panel panel = {
      .y_label = "coefficient of restitution", .series_count = 3, .series = series};
  const saltusi_figure figure = {.title = "Intervals from 100 sets of data",
                                 .x_label = "set",
                                 .panel_count = 1,
                                 .panels = &panel};
  return code == CLI_DONE ? cli_exit_code(saltusi_figure_write(&figure, path, cli_log())) : code;
}

/* ---- the measured cube ---- */

static const char tosses[] = "../shared/data/experiments/tosses.h5";

static const char cube[] =
    "saltus: 1\nparameters: {mu: 0.2, mui: 0.2, e: 0.2, r: 0.005, h: 0, s: 0.98, half: 0.0524}\n"
    "world: {dimension: 3, gravity: [0, 0, -9.81*s], shapes: [{half-space: {}, position: [0, 0, "
    "h]}]}\n"
    "materials: {default: {friction: mu, impact_friction: mui, restitution: e, impact: "
    "path-poisson}}\n"
    "bodies:\n  cube: {position: [0, 0, 1], mass: 0.37, inertia: [0.00081*s^2, 0.00081*s^2, "
    "0.00081*s^2],\n"
    "    shapes: [{box: {size: [2*(half*s-r), 2*(half*s-r), 2*(half*s-r)], radius: r}}]}\n"
    "simulate: {tol: 1e-6, until: 1}\n"
    "fit:\n  data: {file: tosses.h5, table: cube/frames, index: cube/tosses, rate: 148}\n"
    "  experiments: {where: good > 0 and copy_of < 0, key: id}\n"
    "  measured: [{value: cube, kind: pose, columns: [x, y, z, qw, qx, qy, qz], arm: half, scale: "
    "0.005}]\n"
    "  start: {cube: {columns: [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz]}}\n"
    "  unknown:\n    mui: {bounds: [0.01, 1]}\n    e: {bounds: [0, 0.95], prior: {normal: [0.3, "
    "0.2]}}\n"
    "    r: {bounds: [0.0005, 0.02]}\n    h: {bounds: [-0.005, 0.005], prior: {normal: [0, "
    "5e-4]}}\n"
    "  window: {from: contact, frames: 10}\n  loss: {kind: soft-l1}\n";

enum { CUBE_VALUES = 5 };

/* Published values; friction of sliding is that of flat sliding. */
static const saltus_override published[CUBE_VALUES] = {{.name = "mu", .value = "0.218"},
                                                       {.name = "mui", .value = "0.167"},
                                                       {.name = "e", .value = "0.265"},
                                                       {.name = "r", .value = "0.0085"},
                                                       {.name = "h", .value = "0.0011"}};

/* Of whole tosses, fitted to the 177 of them with numbers below 250 (window start:all, steps of differences 0.005, 0.005,
 * 0.01, 0.5 mm, 0.3 mm). */
static const saltus_override by_half[CUBE_VALUES] = {{.name = "mu", .value = "0.1988"},
                                                     {.name = "mui", .value = "0.1695"},
                                                     {.name = "e", .value = "0.1614"},
                                                     {.name = "r", .value = "0.01014"},
                                                     {.name = "h", .value = "0.0011"}};
static const char other_half[] = "good > 0 and copy_of < 0 and id >= 250";

/* A fit of the tosses; where NULL: of all that are no copies. False: the data are absent. */
static bool open_cube(const saltus_override* values, const char* where, saltus_fit** fit,
                      int* code) {
  *fit = NULL;
  *code = CLI_DONE;
  if (access(tosses, R_OK) != 0) {
    fprintf(stderr, "measured-cube: %s is not there: skipped\n", tosses);
    return false;
  }
  const saltus_fit_def def = {.text = cube,
                              .overrides = values,
                              .override_count = CUBE_VALUES,
                              .threads = 2,
                              .where = where,
                              .data = tosses,
                              .log = cli_log()};
  *code = cli_exit_code(saltus_fit_create(&def, fit));
  return *code == CLI_DONE;
}

/* Whole tosses that the fit has not seen. */
static int run_other_half(study_report* report) {
  saltus_fit* fit;
  saltus_fit_summary all;
  int code;
  if (!open_cube(by_half, other_half, &fit, &code)) {
    return code;
  }
  code = cli_exit_code(saltus_fit_evaluate(fit, NULL, &all));
  saltus_fit_destroy(fit);
  if (code == CLI_DONE) {
    study_claim_range(report, "tosses of the other half", all.experiments, 197, 197);
    study_claim_range(report, "failed runs, other half", all.failed, 0, 0);
    study_claim_most(report, "position over whole tosses, other half [%]", all.position, 11.5);
    study_claim_most(report, "rotation over whole tosses, other half [degrees]", all.rotation,
                     14.5);
    study_claim_range(report, "right face, other half", all.face, 0.87, 1.0);
  }
  return code;
}

static int run_cube(const cli_args* args, study_report* report) {
  saltus_fit* fit;
  saltus_fit_summary all, held;
  int code;
  (void)args;
  if (!open_cube(published, NULL, &fit, &code)) {
    return code;
  }
  code = cli_exit_code(saltus_fit_evaluate(fit, NULL, &all));
  if (code == CLI_DONE) {
    study_claim_range(report, "tosses that are no copies", all.experiments, 374, 374);
    study_claim_range(report, "failed runs", all.failed, 0, 0);
    study_claim_most(report, "position 10 frames after the first contact [%]", all.window_position,
                     3.4);
    study_claim_most(report, "rotation there [degrees]", all.window_rotation, 7.3);
    study_claim_most(report, "position over whole tosses, same values [%]", all.position, 11.7);
    study_claim_most(report, "rotation over whole tosses [degrees]", all.rotation, 14.5);
    study_measure(report, "right face", all.face);
    study_claim_most(report, "computing time of a window [s]", all.window_cpu, 2e-3);
    code = cli_exit_code(saltus_fit_validate(fit, 5, 1, NULL, &held));
  }
  if (code == CLI_DONE) {
    study_claim_range(report, "failed runs, held out", held.failed, 0, 0);
    study_claim_most(report, "position 10 frames after contact, held out by 5 folds [%]",
                     held.window_position, 3.4);
    study_claim_most(report, "rotation there, held out [degrees]", held.window_rotation, 7.3);
    study_claim_most(report, "position over whole tosses, held out [%]", held.position, 11.7);
  }
  saltus_fit_destroy(fit);
  return code == CLI_DONE ? run_other_half(report) : code;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Errors of all tosses in ascending order. */
static int draw_cube(const char* path) {
  enum { MOST = 400 };
  static saltus_fit_score scores[MOST];
  saltus_fit_summary all;
  saltus_fit* fit;
  double part[MOST], window[MOST], whole[MOST];
  int code;
  if (!open_cube(published, NULL, &fit, &code)) {
    return code;
  }
  const int count = saltus_fit_get_view(fit)->experiments;
  code = count <= MOST ? cli_exit_code(saltus_fit_evaluate(fit, scores, &all)) : CLI_FAILED;
  saltus_fit_destroy(fit);
  for (int i = 0; i < count && code == CLI_DONE; i++) {
    part[i] = 100.0 * (i + 0.5) / count;
    window[i] = scores[i].window_position;
    whole[i] = scores[i].position;
  }
  qsort(window, (size_t)count, sizeof *window, by_value);
  qsort(whole, (size_t)count, sizeof *whole, by_value);
  const saltusi_plot_series series[] = {
      {.label = "10 frames after the first contact", .count = count, .x = part, .y = window},
      {.label = "mean over the toss", .count = count, .x = part, .y = whole}};
  const saltusi_panel panel = {
      .y_label = "error of the position [% of the width]", .series_count = 2, .series = series};
  const saltusi_figure figure = {.title = "Tosses of a measured cube",
                                 .x_label = "part of the tosses [%]",
                                 .panel_count = 1,
                                 .panels = &panel};
  return code == CLI_DONE ? cli_exit_code(saltusi_figure_write(&figure, path, cli_log())) : code;
}

const study study_fit_synthetic = {.name = "fit-synthetic",
                                   .summary = "intervals of parameters from noisy data",
                                   .source = "data in closed form",
                                   .run = run_synthetic,
                                   .draw = draw_synthetic};

const study study_measured_cube = {.name = "measured-cube",
                                   .summary = "tosses of a real cube, windows held out",
                                   .source = "Pfrommer, Halm, Posa, CoRL 2020",
                                   .run = run_cube,
                                   .draw = draw_cube};
