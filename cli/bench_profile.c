/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench_profile.c - tables and figures of the times.
 */
#include "bench.h"
#include "cli.h"
#include "figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Problems with at least this many contacts enter the geometric mean. */
enum { LARGE_ENOUGH = 20, CURVE_POINTS = 161 };

static double fastest(const bench_race* race, int p) {
  double best = INFINITY;
  for (int e = 0; e < race->entrants; e++) {
    best = fmin(best, race->seconds[p * race->entrants + e]);
  }
  return best;
}

/* Fraction of problems that entrant e solves within tau times the fastest; tau INFINITY: without a limit. */
static double profile(const bench_race* race, int e, double tau) {
  int within = 0;
  for (int p = 0; p < race->problems; p++) {
    double taken = race->seconds[p * race->entrants + e];
    within += isfinite(taken) && (isinf(tau) || taken <= tau * fastest(race, p));
  }
  return race->problems > 0 ? (double)within / race->problems : 0.0;
}

void bench_print(const bench_race* race) {
  static const double taus[BENCH_TAUS] = {1.0, 2.0, 5.0, 20.0, 100.0, INFINITY};
  printf("%s, %d problem%s: fraction solved within tau times the fastest, and in total\n",
         race->title, race->problems, cli_plural(race->problems));
  printf("  %-22s %7s %7s %7s %7s %7s %7s\n", "solver", "1", "2", "5", "20", "100", "solved");
  for (int e = 0; e < race->entrants; e++) {
    printf("  %-22s", race->entrant[e].name);
    for (int t = 0; t < BENCH_TAUS; t++) {
      printf(" %6.0f%%", 100.0 * profile(race, e, taus[t]));
    }
    printf("\n");
  }
}

void bench_print_ratios(const bench_race* race) {
  double sum = 0.0;
  int counted = 0;
  int slower = 0;
  printf("%-48s %8s %12s %12s %8s\n", "problem", "contacts", "auto [ms]", "siconos [ms]", "ratio");
  for (int p = 0; p < race->problems; p++) {
    const double* row = race->seconds + (size_t)p * (size_t)race->entrants;
    double ours = INFINITY;
    double theirs = INFINITY;
    const char* best = "-";
    for (int e = 0; e < race->entrants; e++) {
      if (race->entrant[e].siconos != 0 && row[e] < theirs) {
        theirs = row[e];
        best = race->entrant[e].name;
      }
      if (e == 0) {
        ours = row[e];
      }
    }
    printf("%-48.48s %8d %12.4g %12.4g %8.3g  %s\n", race->problem[p].name,
           race->problem[p].contacts, 1e3 * ours, 1e3 * theirs, theirs / ours, best);
    slower += theirs < ours;
    if (race->problem[p].contacts >= LARGE_ENOUGH && isfinite(theirs) && isfinite(ours)) {
      sum += log(theirs / ours);
      counted++;
    }
  }
  printf(
      "auto is slower on %d of %d problem%s; geometric mean of the ratio over %d problem%s of %d "
      "contacts or more: %.3g\n",
      slower, race->problems, cli_plural(race->problems), counted, cli_plural(counted),
      (int)LARGE_ENOUGH, counted > 0 ? exp(sum / counted) : 0);
}

/* x = tau from 1 to 1000 on a log axis. */
static void fill_curves(const bench_race* race, double* x, double* y, saltusi_plot_series* series) {
  for (int k = 0; k < CURVE_POINTS; k++) {
    x[k] = pow(10.0, 3.0 * k / (CURVE_POINTS - 1));
  }
  for (int e = 0; e < race->entrants; e++) {
    double* curve = y + (size_t)e * CURVE_POINTS;
    for (int k = 0; k < CURVE_POINTS; k++) {
      curve[k] = 100.0 * profile(race, e, x[k]);
    }
    series[e] = (saltusi_plot_series){.label = race->entrant[e].name,
                                      .kind = SALTUSI_SERIES_STEPS,
                                      .count = CURVE_POINTS,
                                      .x = x,
                                      .y = curve,
                                      .dashed = race->entrant[e].siconos != 0};
  }
}

int bench_draw(const bench_race* races, int count, const char* path, double tol) {
  enum { RACES = 2 };
  static double x[CURVE_POINTS];
  saltusi_plot_series series[RACES][BENCH_ENTRANTS];
  saltusi_panel panels[RACES];
  char labels[RACES][64];
  char subtitle[128];
  double* y = calloc((size_t)RACES * BENCH_ENTRANTS * CURVE_POINTS, sizeof(double));
  if (y == NULL) {
    return CLI_FAILED;
  }
  int used = 0;
  for (int k = 0; k < count && k < RACES; k++) {
    if (races[k].problems == 0) {
      continue;
    }
    fill_curves(&races[k], x, y + (size_t)used * BENCH_ENTRANTS * CURVE_POINTS, series[used]);
    snprintf(labels[used], sizeof labels[used], "%s, solved [%%]", races[k].title);
    panels[used] = (saltusi_panel){.y_label = labels[used],
                                   .series_count = races[k].entrants,
                                   .series = series[used],
                                   .weight = 1.0};
    used++;
  }
  snprintf(subtitle, sizeof subtitle,
           "Fraction of the problems solved to %.0e within \xcf\x84 times the fastest", tol);
  saltusi_figure figure = {.title = "Contact solvers",
                           .subtitle = subtitle,
                           .x_label = "\xcf\x84, time over that of the fastest solver",
                           .log_x = true,
                           .panel_count = used,
                           .panels = panels,
                           .height_cm = used == 1 ? 11.0 : 19.0};
  saltus_status status = saltusi_figure_write(&figure, path, cli_log());
  free(y);
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}
