/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lab_figure.c - the impulse plane of one planar contact, P_T to the right and P_N upwards:
 *
 *   cone                 |P_T| = mu P_N
 *   line of sticking     U_T- + W_TN P_N + W_TT P_T = 0
 *   end of compression   U_N- + W_NN P_N + W_NT P_T = 0
 *
 * with the path of an impact, along the directions of the cone and then along the line of sticking or beside it, and
 * the end point of each law.
 */
#include "figure/figure.h"
#include "lab.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = SALTUS_PHASES + 2 };

/* The part of the line a + b P_N + c P_T = 0 within P_N 0..high and |P_T| <= wide; returns the number of points. */
static int clip_line(double a, double b, double c, double high, double wide, double* x, double* y) {
  int count = 0;
  for (int k = 0; k <= 400 && count < 2; k++) { /* first and last point inside */
    double at = high * k / 400.0;
    double T = c != 0.0 ? -(a + b * at) / c : NAN;
    if (fabs(T) <= wide) {
      x[0] = T, y[0] = at;
      count = 1;
      for (int m = 400; m > k; m--) {
        double end = high * m / 400.0;
        double there = -(a + b * end) / c;
        if (fabs(there) <= wide) {
          x[1] = there, y[1] = end;
          return 2;
        }
      }
    }
  }
  if (count < 2 && b != 0.0) { /* level */
    double at = -(a + c * -wide) / b;
    double end = -(a + c * wide) / b;
    if (at >= 0.0 && at <= high && end >= 0.0 && end <= high) {
      x[0] = -wide, y[0] = at, x[1] = wide, y[1] = end;
      return 2;
    }
  }
  return count;
}

/* The path of a law: friction of each phase follows from its motion. */
static int trace(const lab_case* c, const lab_answer* a, double* x, double* y) {
  const double* W = c->W;
  double mu = c->contact[0].mu;
  double first = c->u[1] > 0.0 ? 1.0 : -1.0;
  int n = 1;
  x[0] = y[0] = 0.0;
  for (int i = 0; i < a->result.phase_count && i < SALTUS_PHASES; i++) {
    const saltus_path_phase* phase = &a->result.phase[i];
    double back = c->u[1] != 0.0 ? -first : W[1] > 0.0 ? 1.0 : -1.0;
    double tau = phase->motion == SALTUS_MOTION_STICK     ? -W[1] / W[3]
                 : phase->motion == SALTUS_MOTION_REVERSE ? -mu * back
                 : phase->motion == SALTUS_MOTION_WITHOUT ? 0.0
                                                          : -mu * first;
    x[n] = x[n - 1] + tau * phase->impulse;
    y[n] = y[n - 1] + phase->impulse;
    n++;
  }
  return n;
}

saltus_status lab_draw(const lab_case* c, const lab_answer* answers, int count, const char* path,
                       saltus_log log) {
  const double* W = c->W;
  double high = 0.0;
  double wide = 0.0;
  for (int i = 0; i < count; i++) {
    if (answers[i].status == SALTUS_OK) {
      high = fmax(high, 1.15 * answers[i].P[0]);
      wide = fmax(wide, 1.3 * fabs(answers[i].P[1]));
    }
  }
  wide = fmax(wide, 0.4 * high);
  double mu = c->contact[0].mu;
  double top = mu * high > wide ? wide / mu : high;
  double cone_x[3] = {-mu * top, 0.0, mu * top}, cone_y[3] = {top, 0.0, top};
  double stick_x[2], stick_y[2], turn_x[2], turn_y[2];
  int stick = clip_line(c->u[1], W[1], W[3], high, wide, stick_x, stick_y);
  int turn = clip_line(c->u[0], W[0], W[1], high, wide, turn_x, turn_y);
  double path_x[POINTS], path_y[POINTS];
  int traced = 0;
  saltusi_plot_series series[LAB_LAWS + 4];
  int n = 0;
  series[n++] = (saltusi_plot_series){.label = "cone",
                                      .count = 3,
                                      .x = cone_x,
                                      .y = cone_y,
                                      .colour = SALTUSI_COLOUR_BLACK,
                                      .path = true};
  series[n++] = (saltusi_plot_series){.label = "line of sticking",
                                      .count = stick,
                                      .x = stick_x,
                                      .y = stick_y,
                                      .colour = SALTUSI_COLOUR_GREY,
                                      .path = true};
  series[n++] = (saltusi_plot_series){.label = "end of compression",
                                      .count = turn,
                                      .x = turn_x,
                                      .y = turn_y,
                                      .colour = SALTUSI_COLOUR_GREY,
                                      .dashed = true,
                                      .path = true};
  int longest = -1; /* longest of the paths, which coincide up to their ends */
  for (int i = 0; i < count; i++) {
    bool along = answers[i].status == SALTUS_OK && answers[i].result.phase_count > 0;
    longest = along && (longest < 0 || answers[i].P[0] > answers[longest].P[0]) ? i : longest;
  }
  if (longest >= 0) {
    traced = trace(c, &answers[longest], path_x, path_y);
  }
  if (traced > 0) {
    series[n++] = (saltusi_plot_series){.label = "path of the impact",
                                        .count = traced,
                                        .x = path_x,
                                        .y = path_y,
                                        .colour = SALTUSI_COLOUR_BLUE,
                                        .path = true};
  }
  static const saltusi_colour colours[] = {
      SALTUSI_COLOUR_VERMILION, SALTUSI_COLOUR_GREEN, SALTUSI_COLOUR_PURPLE, SALTUSI_COLOUR_BLUE,
      SALTUSI_COLOUR_ORANGE,    SALTUSI_COLOUR_SKY,   SALTUSI_COLOUR_BLACK,  SALTUSI_COLOUR_GREY};
  int drawn = 0;
  for (int i = 0; i < count && drawn < 8; i++) {
    if (answers[i].status != SALTUS_OK) {
      continue;
    }
    series[n++] = (saltusi_plot_series){.label = answers[i].name,
                                        .kind = SALTUSI_SERIES_POINTS,
                                        .count = 1,
                                        .x = &answers[i].P[1],
                                        .y = &answers[i].P[0],
                                        .colour = colours[drawn++]};
  }
  char title[160];
  snprintf(title, sizeof title, "impulses of an impact, mu = %g, e = %g", mu, c->contact[0].e_N);
  const saltusi_panel panel = {
      .y_label = "normal impulse [N s]", .series_count = n, .series = series};
  const saltusi_figure figure = {.title = title,
                                 .x_label = "tangential impulse [N s]",
                                 .panel_count = 1,
                                 .panels = &panel,
                                 .height_cm = 11.0};
  return saltusi_figure_write(&figure, path, log);
}
