/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_breaker.c - the opening time of a circuit breaker of seven parts: by schemes of every family, and over the clearance
 * of its pins and their friction.
 */
#include "figure/figure.h"
#include "machine_run.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* From the release of the latch until the arm has turned by 0.3 rad; NaN: it did not. */
static double opening_time(const machine_run* run) {
  const saltus_event* release = NULL;
  const saltus_event* opened = NULL;
  for (int i = 0; i < run->event_count; i++) {
    const saltus_event* event = &run->events[i];
    if (event->kind == SALTUS_EVENT_RISE) {
      *(event->contact == 0 ? &release : &opened) = event;
    }
  }
  return release != NULL && opened != NULL ? opened->t - release->t : (double)NAN;
}

typedef struct setting {
  const char* scheme;
  const char* parameters;
  double tol, h;
} setting;

static saltus_status open_breaker(study_report* report, const setting* with, double* time,
                                  double* remainder) {
  machine_run run = {.scene = "machine-breaker",
                     .text = potra_scene_text("machine-breaker"),
                     .parameters = with->parameters,
                     .scheme = with->scheme,
                     .tol = with->tol,
                     .h = with->h,
                     .until = 0.0125,
                     .log = cli_log()};
  const saltus_status status = machine_go(&run);
  if (status == SALTUS_OK) {
    study_note_run(report, run.steps, run.work);
    *time = opening_time(&run);
    *remainder = run.ledger.remainder;
  }
  machine_free(&run);
  return status;
}

static int run_schemes(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const schemes[] = {"moreau-jean",
                                        "moreau-midpoint",
                                        "variational",
                                        "rattle",
                                        "splitting-rkf45",
                                        "splitting-rkf45-contact",
                                        "trapezoidal-implicit-mean",
                                        "trapezoidal-implicit-end",
                                        "midpoint",
                                        "heun-3",
                                        "rk4",
                                        "herk-3"};
  double exact = 0.0, coarse = 0.0, remainder = 0.0;
  char id[128];
  saltus_status status =
      open_breaker(report, &(setting){.scheme = "adaptive", .tol = 1e-10}, &exact, &remainder);
  if (status == SALTUS_OK) {
    study_claim_most(report, "adaptive, tol 1e-10: remainder of the energy [J]", fabs(remainder),
                     1e-9);
    study_measure(report, "opening time [s]", exact);
    status =
        open_breaker(report, &(setting){.scheme = "adaptive", .tol = 1e-6}, &coarse, &remainder);
    study_claim_error(report, "adaptive, tol 1e-6: opening time", fabs(coarse - exact), 1e-8);
  }
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0] && status == SALTUS_OK; k++) {
    double h[2] = {2e-6, 1e-6}, error[2] = {0.0, 0.0};
    for (int i = 0; i < 2 && status == SALTUS_OK; i++) {
      double time = 0.0;
      status = open_breaker(report, &(setting){.scheme = schemes[k], .h = h[i]}, &time, &remainder);
      error[i] = fabs(time - exact);
    }
    if (status != SALTUS_OK) {
      break;
    }
    /* fixed steps know when it is open to a step: two of them besides */
    snprintf(id, sizeof id, "%s: opening time, step 1e-6 [s]", schemes[k]);
    study_claim_error(report, id, error[1], 5e-5);
    snprintf(id, sizeof id, "%s: it converges, excess over two steps [s]", schemes[k]);
    study_claim_most(report, id, error[1] - 0.75 * error[0] - 2.0 * h[1], 0.0);
    study_add_series(report, schemes[k], 2, h, error, error);
  }
  report->first_label = "error of the opening time [s]";
  report->one_number = true;
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}

/* ---- over clearance and friction ---- */

enum { SIZES = 4, ROUGH = 5 };

typedef struct spread {
  double c[SIZES], friction[ROUGH];
  double time[ROUGH][SIZES];  /* s, from the release until it is open */
  double delay[ROUGH][SIZES]; /* s, against no friction */
} spread;

static saltus_status measure_spread(study_report* report, spread* all) {
  for (int j = 0; j < ROUGH; j++) {
    all->friction[j] = 0.05 * j;
    for (int i = 0; i < SIZES; i++) {
      char parameters[80];
      double remainder = 0.0;
      all->c[i] = 5e-6 * pow(2.0, i);
      snprintf(parameters, sizeof parameters, "c=%.17g mu=%.17g", all->c[i], all->friction[j]);
      const setting with = {.scheme = "adaptive", .parameters = parameters, .tol = 1e-6};
      const saltus_status status = open_breaker(report, &with, &all->time[j][i], &remainder);
      if (status != SALTUS_OK) {
        return status;
      }
      all->delay[j][i] = all->time[j][i] - all->time[0][i];
    }
    char label[64];
    snprintf(label, sizeof label, "friction %g", all->friction[j]);
    study_add_series(report, label, SIZES, all->c, all->time[j], all->delay[j]);
  }
  return SALTUS_OK;
}

static int run_spread(const cli_args* args, study_report* report) {
  (void)args;
  spread all;
  const saltus_status status = measure_spread(report, &all);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  char id[128];
  for (int j = 0; j < ROUGH; j++) {
    snprintf(id, sizeof id, "friction %g: opening time at 0.005 mm [s]", all.friction[j]);
    study_claim_range(report, id, all.time[j][0], 1e-3, 5e-3);
  }
  for (int i = 0; i < SIZES; i++) {
    double least = INFINITY; /* that 0.05 more friction costs */
    for (int j = 1; j < ROUGH; j++) {
      least = fmin(least, all.time[j][i] - all.time[j - 1][i]);
    }
    snprintf(id, sizeof id, "clearance %g m: 0.05 more friction opens later [s]", all.c[i]);
    study_claim_range(report, id, least, 0.0, 1e-3);
  }
  return CLI_DONE;
}

/* Opening times, and below them what friction adds. */
static int draw_spread(const char* path) {
  spread all;
  study_report report = {.study = "machine-breaker-spread"};
  const saltus_status status = measure_spread(&report, &all);
  free(report.rows);
  free(report.costs);
  free(report.series);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  saltusi_series series[2 * ROUGH];
  char labels[ROUGH][32];
  for (int j = 0; j < ROUGH; j++) {
    for (int i = 0; i < SIZES; i++) {
      all.time[j][i] *= 1e3;
      all.delay[j][i] *= 1e6;
    }
    snprintf(labels[j], sizeof labels[j], "friction %g", all.friction[j]);
    series[j] = (saltusi_series){.label = labels[j],
                                 .kind = SALTUSI_SERIES_MARKERS,
                                 .count = SIZES,
                                 .x = all.c,
                                 .y = all.time[j]};
    series[ROUGH + j] = series[j];
    series[ROUGH + j].label = NULL;
    series[ROUGH + j].y = all.delay[j];
  }
  const saltusi_panel panels[2] = {
      {.y_label = "opening time [ms]", .series_count = ROUGH, .series = series},
      {.y_label = "added by friction [us]", .series_count = ROUGH, .series = series + ROUGH}};
  const saltusi_figure figure = {.title = "circuit breaker: adaptive",
                                 .subtitle = "study machine-breaker-spread",
                                 .x_label = "clearance of the pins [m]",
                                 .log_x = true,
                                 .panel_count = 2,
                                 .panels = panels};
  return cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
}

const study study_machine_breaker = {"machine-breaker",
                                     "the opening time of a circuit breaker by twelve schemes",
                                     "agreement of schemes",
                                     false,
                                     run_schemes,
                                     NULL};
const study study_machine_breaker_spread = {"machine-breaker-spread",
                                            "its opening time over clearance and friction",
                                            "own runs",
                                            false,
                                            run_spread,
                                            draw_spread};
