/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * capobianco.c - energy of a spring pendulum that swings against a wall without loss (Capobianco &
 * Eugster 2018, figure 2; docs/theory/problems.md, 7.1), and the orders of its band with and
 * without the wall. e = (E - E0) / E0 with the potential zero at the pivot, E0 = -7.130389 J.
 */
#include "energy_run.h"
#include "figure/figure.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Energy over time, and its extremes. */
typedef struct track {
  double E0;
  double before[2]; /* the node before */
  double low, high, end;
  double side_low, side_high; /* of E(q_k, u_k) */
  bool nodes;                 /* sampled between nodes: E((q_k + q_{k+1}) / 2, u_k) */
  double *t, *e;              /* room for `most` points, or NULL */
  int count, most;
} track;

static void note(track* k, double t, double e) {
  k->low = fmin(k->low, e);
  k->high = fmax(k->high, e);
  k->end = e;
  if (k->t != NULL && k->count < k->most) {
    k->t[k->count] = t;
    k->e[k->count++] = 100.0 * e;
  }
}

static void observe(energy_run* run, const saltus_sim* sim) {
  track* k = run->user;
  const double* q = saltus_sim_q(sim);
  double t = saltus_sim_time(sim);
  if (k->E0 == 0.0) {
    k->E0 = energy_of(run, run->view->q0, run->view->v0);
    memcpy(k->before, run->view->q0, sizeof k->before);
  }
  if (!k->nodes) {
    note(k, t, (energy_of(run, q, saltus_sim_v(sim)) - k->E0) / k->E0);
    return;
  }
  double mid[2];
  double u[2];
  for (int i = 0; i < 2; i++) {
    mid[i] = 0.5 * (k->before[i] + q[i]);
    u[i] = (q[i] - k->before[i]) / run->h;
  }
  double side = (energy_of(run, k->before, u) - k->E0) / k->E0;
  k->side_low = fmin(k->side_low, side);
  k->side_high = fmax(k->side_high, side);
  note(k, t - 0.5 * run->h, (energy_of(run, mid, u) - k->E0) / k->E0);
  memcpy(k->before, q, sizeof k->before);
}

static const char without_wall[] =
    "saltus: 1\nparameters: {m: 1, k: 100, l0: 1, g: 9.81}\n"
    "coordinates: {l: {start: 1.1}, phi: {start: pi/4}}\n"
    "kinetic: m/2*(l'^2 + l^2*phi'^2)\npotential: k/2*(l - l0)^2 - m*g*l*cos(phi)\n";

typedef struct method {
  const char *label, *scheme, *options;
} method;

static int swing(study_report* report, const method* m, bool wall, double h, double until,
                 track* k) {
  energy_run run = {.scene = wall ? "spring-pendulum" : NULL,
                    .text = wall ? NULL : without_wall,
                    .scheme = m->scheme,
                    .options = m->options,
                    .h = h,
                    .until = until,
                    .observe = observe,
                    .user = k};
  int code = energy_go(&run);
  if (report != NULL) {
    study_note_run(report, run.steps, run.work);
  }
  return code;
}

static const method explicit_moreau = {"Moreau, velocity of the start", "moreau-midpoint",
                                       "velocity=start"};
static const method mean_moreau = {"Moreau, mean velocity", "moreau-midpoint", "velocity=mean"};
static const method variational = {"variational", "variational", NULL};
static const method rattle = {"rattle", "rattle", NULL};

static const double steps[] = {.004, .002, .001};

/* ---- figure 2 ---------------------------------------------------------------------------- */

static int claim_ranges(study_report* report) {
  static const double moreau[] = {-1.4504, -0.3863, -0.0118};
  static const double middle[] = {-0.604e-2, -0.302e-2, -0.150e-2};
  static const double side[][2] = {
      {-0.790e-2, 0.253e-2}, {-0.395e-2, 0.127e-2}, {-0.198e-2, 0.068e-2}};
  char text[128];
  for (int i = 0; i < 3; i++) {
    const method* methods[] = {&explicit_moreau, &mean_moreau, &variational};
    track k[3] = {{.nodes = false}, {.nodes = false}, {.nodes = true}};
    study_cost costs[3];
    for (int m = 0; m < 3; m++) {
      int code = swing(report, methods[m], true, steps[i], 250.0, &k[m]);
      if (code != CLI_DONE) {
        return code;
      }
      costs[m] = report->costs[report->cost_count - 1];
    }
    for (int m = 0; m < 3; m++) {
      const double low = fabs(k[m].low);
      const double high = fabs(k[m].high);
      snprintf(text, sizeof text, "%s, h = %g: |e| at its lowest; at its highest",
               methods[m]->label, steps[i]);
      study_note_run(report, costs[m].steps, costs[m].work);
      study_add_series(report, text, 1, &steps[i], &low, &high);
    }
    snprintf(text, sizeof text, "Moreau, start: e(250) at h = %g", steps[i]);
    study_claim_near(report, text, k[0].end, moreau[i], 0.03);
    snprintf(text, sizeof text, "Moreau, mean: largest |e| at h = %g", steps[i]);
    study_claim_range(report, text, fmax(-k[1].low, k[1].high), 0.6 * steps[i], 0.8 * steps[i]);
    snprintf(text, sizeof text, "variational: lowest e at h = %g, middle", steps[i]);
    study_claim_near(report, text, k[2].low, middle[i], 0.03);
    snprintf(text, sizeof text, "variational: highest e at h = %g, middle", steps[i]);
    study_claim_most(report, text, k[2].high, 6e-5);
    snprintf(text, sizeof text, "variational: lowest e at h = %g, one-sided", steps[i]);
    study_claim_near(report, text, k[2].side_low, side[i][0], 0.03);
    snprintf(text, sizeof text, "variational: highest e at h = %g, one-sided", steps[i]);
    study_claim_near(report, text, k[2].side_high, side[i][1], 0.03);
  }
  return CLI_DONE;
}

/* Ten times as long: the band does not widen. */
static int claim_long(study_report* report) {
  track k = {.nodes = true};
  int code = swing(report, &variational, true, .002, 2500.0, &k);
  study_claim_range(report, "variational: lowest e in 2500 s", k.low, -0.303e-2, -0.29e-2);
  study_claim_range(report, "variational: highest e in 2500 s", k.high, 0.0, 0.00135e-2);
  return code;
}

/* Three runs with h = 2 ms, every step a point. */
static int draw_runs(track k[3], const char* path) {
  const method* methods[] = {&explicit_moreau, &mean_moreau, &variational};
  saltusi_plot_series lines[5];
  for (int m = 0; m < 3; m++) {
    k[m].nodes = m == 2;
    int code = swing(NULL, methods[m], true, .002, 250.0, &k[m]);
    if (code != CLI_DONE) {
      return code;
    }
    lines[m] = (saltusi_plot_series){.label = methods[m]->label,
                                     .x = k[m].t,
                                     .y = k[m].e,
                                     .count = k[m].count,
                                     .colour = (saltusi_colour)(SALTUSI_COLOUR_BLUE + m)};
  }
  lines[3] = lines[1];
  lines[4] = lines[2];
  const saltusi_panel panels[] = {
      {.y_label = "(E - E0) / E0 [%]", .series = lines, .series_count = 3},
      {.y_label = "the two that stay [%]", .series = lines + 3, .series_count = 2}};
  const saltusi_figure figure = {
      .title = "Spring pendulum against a wall, 219 impacts without loss",
      .subtitle = "h = 2 ms; E0 = -7.13 J is negative: below zero the energy has grown",
      .footnote = "after Capobianco & Eugster 2018, figure 2",
      .x_label = "time [s]",
      .panel_count = 2,
      .panels = panels};
  saltus_status status = saltusi_figure_write(&figure, path, cli_log());
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}

static int draw_fig2(const char* path) {
  enum { POINTS = 125000 };
  double* room = calloc(6 * (size_t)POINTS, sizeof(double));
  if (room == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  track k[3] = {{.most = POINTS}, {.most = POINTS}, {.most = POINTS}};
  for (int m = 0; m < 3; m++) {
    k[m].t = room + 2 * (size_t)m * POINTS;
    k[m].e = k[m].t + POINTS;
  }
  int code = draw_runs(k, path);
  free(room);
  return code;
}

static int run_fig2(const cli_args* args, study_report* report) {
  (void)args;
  int code = claim_ranges(report);
  return code == CLI_DONE ? claim_long(report) : code;
}

const study study_capobianco_fig2 = {
    .name = "capobianco-fig2",
    .summary = "energy of a spring pendulum at a wall over 250 s and 2500 s",
    .source = "Capobianco & Eugster 2018, figure 2",
    .run = run_fig2,
    .draw = draw_fig2,
};

/* ---- orders ------------------------------------------------------------------------------ */

enum { LEVELS = 4 };

/* Largest |e| of each grid as a series. */
static int band(study_report* report, const method* m, bool wall, double until, double* slope) {
  double h[LEVELS];
  double e[LEVELS];
  double none[LEVELS];
  for (int i = 0; i < LEVELS; i++) {
    track k = {.nodes = wall && strcmp(m->scheme, "variational") == 0};
    h[i] = .004 / (1 << i);
    int code = swing(report, m, wall, h[i], until, &k);
    if (code != CLI_DONE) {
      return code;
    }
    e[i] = fmax(-k.low, k.high);
    none[i] = NAN;
  }
  char text[128];
  snprintf(text, sizeof text, "%s, %s", wall ? "wall" : "no wall", m->label);
  study_add_series(report, text, LEVELS, h, e, none);
  *slope = saltus_slope(LEVELS, h, e);
  return CLI_DONE;
}

static int run_order(const cli_args* args, study_report* report) {
  (void)args;
  static const double expected[] = {2.00e-5, 5.01e-6, 1.25e-6};
  const method* methods[] = {&variational, &rattle, &mean_moreau};
  report->first_label = "largest |E - E0| / |E0|";
  report->one_number = true;
  for (int i = 0; i < 3; i++) { /* H(q_k, p_k) over 50 s (docs/theory/problems.md, 7.1) */
    track k = {.nodes = false};
    int code = swing(report, &variational, false, steps[i], 50.0, &k);
    char text[128];
    snprintf(text, sizeof text, "variational, no wall: largest |e| at h = %g", steps[i]);
    study_claim_near(report, text, fmax(-k.low, k.high), expected[i], 0.03);
    if (code != CLI_DONE) {
      return code;
    }
  }
  for (int m = 0; m < 3; m++) {
    double slope = NAN;
    char text[128];
    int code = band(report, methods[m], false, 50.0, &slope);
    snprintf(text, sizeof text, "%s, no wall: order of the band", methods[m]->label);
    study_claim_range(report, text, slope, 1.9, 2.1);
    if (code == CLI_DONE) {
      code = band(report, methods[m], true, 250.0, &slope);
    }
    static const double independent[] = {0.604e-2, 0.302e-2, 0.150e-2}; /* another program */
    for (int i = 0; i < 3 && m == 0 && code == CLI_DONE; i++) {
      const study_series* series = &report->series[report->series_count - 1];
      snprintf(text, sizeof text, "variational, wall: largest |e| at h = %g", steps[i]);
      study_claim_near(report, text, report->rows[series->first + i].error.q.inf, independent[i],
                       0.03);
    }
    snprintf(text, sizeof text, "%s, wall: order of the band", methods[m]->label);
    study_claim_range(report, text, slope, 0.85, 1.15);
    if (code != CLI_DONE) {
      return code;
    }
  }
  return CLI_DONE;
}

const study study_variational_order = {
    .name = "variational-order",
    .summary = "band of the energy against the step, with and without impacts",
    .source = "Capobianco & Eugster 2018; Hairer, Lubich & Wanner 2006, chapter IX",
    .run = run_order,
};
