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
#include <string.h>

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
  const char* options;
  const char* parameters;
  double tol, h;
} setting;

static saltus_status open_breaker(study_report* report, const setting* with, double* time,
                                  double* remainder) {
  machine_run run = {.scene = "machine-breaker",
                     .text = potra_scene_text("machine-breaker"),
                     .parameters = with->parameters,
                     .scheme = with->scheme,
                     .options = with->options,
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

/* Every scheme of fixed steps. The larger step is one with which Newton's iterations converge: a pin of 0.02 mm is crossed at 5
 * m/s, and methods that have no parts of a step see it from one side and the other. */
static const setting schemes[] = {
    {.scheme = "moreau-jean", .h = 2e-6},
    {.scheme = "moreau-jean-projected", .h = 1e-6},
    {.scheme = "moreau-midpoint", .h = 2e-6},
    {.scheme = "variational", .h = 2e-6},
    {.scheme = "rattle", .h = 2e-6},
    {.scheme = "schatzman-paoli", .h = 2.5e-7},
    {.scheme = "splitting-rkf45", .h = 2e-6},
    {.scheme = "splitting-rkf45-contact", .h = 2e-6},
    {.scheme = "dg-minus", .h = 5e-7},
    {.scheme = "dg-plus", .h = 5e-7},
    {.scheme = "trapezoidal-implicit-mean", .h = 2e-6},
    {.scheme = "trapezoidal-implicit-end", .h = 2e-6},
    {.scheme = "explicit-euler", .h = 5e-7},
    {.scheme = "midpoint", .h = 2e-6},
    {.scheme = "heun-3", .h = 2e-6},
    {.scheme = "rk4", .h = 2e-6},
    {.scheme = "rkf45", .h = 2e-6},
    {.scheme = "dopri5", .h = 1e-6}, /* see docs/machines/breaker.md */
    {.scheme = "radau-iia-1", .h = 2e-6},
    {.scheme = "radau-iia-3", .h = 4e-6},
    {.scheme = "radau-iia-5", .h = 4e-6},
    {.scheme = "lobatto-iiia-2", .h = 2e-6},
    {.scheme = "lobatto-iiia-4", .h = 4e-6},
    {.scheme = "lobatto-iiia-6", .h = 4e-6},
    {.scheme = "gauss-2", .h = 2e-6},
    {.scheme = "gauss-4", .h = 4e-6},
    {.scheme = "gauss-6", .h = 4e-6},
    {.scheme = "herk-3", .h = 2e-6},
    {.scheme = "hem-4", .h = 2e-6},
    /* bounces of the arm accumulate, where it stops unless it is told to go on */
    {.scheme = "event-driven", .options = "at_accumulation=capture", .h = 1e-6}, /* as dopri5 */
};

/* With a step and with half of it. */
static saltus_status compare_scheme(study_report* report, const setting* of, double exact) {
  double h[2] = {of->h, 0.5 * of->h}, error[2] = {0.0, 0.0};
  char id[128];
  for (int i = 0; i < 2; i++) {
    double time = 0.0, remainder = 0.0;
    setting with = *of;
    with.h = h[i];
    const saltus_status status = open_breaker(report, &with, &time, &remainder);
    if (status != SALTUS_OK) {
      return status;
    }
    error[i] = fabs(time - exact);
  }
  /* fixed steps know when it is open to a step: two of them besides */
  snprintf(id, sizeof id, "%s: opening time, step %g [s]", of->scheme, h[1]);
  study_claim_error(report, id, error[1], 2e-5);
  snprintf(id, sizeof id, "%s: it converges, excess over two steps [s]", of->scheme);
  study_claim_most(report, id, error[1] - 0.75 * error[0] - 2.0 * h[1], 0.0);
  study_add_series(report, of->scheme, 2, h, error, error);
  return SALTUS_OK;
}

static bool has_steps(const char* name) {
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
    if (strcmp(schemes[k].scheme, name) == 0) {
      return true;
    }
  }
  return false;
}

/* Those that choose their steps: every other scheme of the registry, so that none is left out. */
static saltus_status compare_tolerances(study_report* report, double exact) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < saltus_scheme_count() && status == SALTUS_OK; i++) {
    const char* name = saltus_scheme_at(i)->name;
    if (has_steps(name)) {
      continue;
    }
    char id[128];
    double time = 0.0, remainder = 0.0;
    status = open_breaker(report, &(setting){.scheme = name, .tol = 1e-8}, &time, &remainder);
    snprintf(id, sizeof id, "%s, tol 1e-8: opening time [s]", name);
    study_claim_error(report, id, fabs(time - exact), 1e-8);
  }
  return status;
}

static int run_schemes(const cli_args* args, study_report* report) {
  (void)args;
  double exact = 0.0, coarse = 0.0, remainder = 0.0;
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
  status = status == SALTUS_OK ? compare_tolerances(report, exact) : status;
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0] && status == SALTUS_OK; k++) {
    status = compare_scheme(report, &schemes[k], exact);
  }
  report->first_label = "error of the opening time [s]";
  report->one_number = true;
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}

/* ---- over clearance and friction ---- */

enum { SIZES = 4, ROUGH = 5 };
static const double spread_tolerance = 1e-8;

typedef struct spread {
  double c[SIZES], friction[ROUGH];
  double time[ROUGH][SIZES];  /* s, from the release until it is open */
  double delay[ROUGH][SIZES]; /* s, against no friction */
} spread;

static saltus_status measure_spread(study_report* report, double tol, spread* all) {
  for (int j = 0; j < ROUGH; j++) {
    all->friction[j] = 0.05 * j;
    for (int i = 0; i < SIZES; i++) {
      char parameters[80];
      double remainder = 0.0;
      all->c[i] = 5e-6 * pow(2.0, i);
      snprintf(parameters, sizeof parameters, "c=%.17g mu=%.17g", all->c[i], all->friction[j]);
      const setting with = {.scheme = "adaptive", .parameters = parameters, .tol = tol};
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

static void free_report(study_report* report) {
  free(report->rows);
  free(report->costs);
  free(report->series);
}

static int run_spread(const cli_args* args, study_report* report) {
  (void)args;
  spread all, fine;
  study_report beside = {.study = "machine-breaker-spread"};
  saltus_status status = measure_spread(report, spread_tolerance, &all);
  if (status == SALTUS_OK) {
    status = measure_spread(&beside, 0.01 * spread_tolerance, &fine);
  }
  free_report(&beside);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  char id[128];
  for (int j = 0; j < ROUGH; j++) {
    double worst = 0.0;
    for (int i = 0; i < SIZES; i++) {
      worst = fmax(worst, fabs(all.time[j][i] - fine.time[j][i]));
    }
    /* parts that rattle amplify whatever is there: 0.5 us is what tolerances from 1e-8 to 1e-11 differ by */
    snprintf(id, sizeof id, "friction %g: opening times beside a hundredth of the tolerance [s]",
             all.friction[j]);
    study_claim_error(report, id, worst, 1e-6);
  }
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
  const saltus_status status = measure_spread(&report, spread_tolerance, &all);
  free_report(&report);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  saltusi_plot_series series[2 * ROUGH];
  char labels[ROUGH][32];
  for (int j = 0; j < ROUGH; j++) {
    for (int i = 0; i < SIZES; i++) {
      all.time[j][i] *= 1e3;
      all.delay[j][i] *= 1e6;
    }
    snprintf(labels[j], sizeof labels[j], "friction %g", all.friction[j]);
    series[j] = (saltusi_plot_series){.label = labels[j],
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
                                     "the opening time of a circuit breaker by every scheme",
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
