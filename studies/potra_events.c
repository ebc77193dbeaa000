/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * potra_events.c - events of the linearly implicit trapezoidal schemes: located transitions, impacts by
 * Poisson's law, Painleve's rod (docs/theory/problems.md, 8.2 and 8.4).
 */
#include "figure/figure.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

static const char* const schemes[2] = {"trapezoidal-implicit-mean", "trapezoidal-implicit-end"};

/* Errors at 4 s of a block under 20 cos t, which reverses at 2.14278213537747 s. */
static int reversal(study_report* report, const char* scheme, const char* options) {
  enum { COUNT = 5 };
  const saltus_override push = {"a", "20"};
  double h[COUNT];
  double e_x[COUNT];
  double e_v[COUNT];
  for (int k = 0; k < COUNT; k++) {
    h[k] = ldexp(1.0, -4 - k);
    potra_run run = {.scene = "block-stick-slip",
                     .overrides = &push,
                     .override_count = 1,
                     .scheme = scheme,
                     .options = options,
                     .t_end = 4.0,
                     .h = h[k],
                     .log = cli_log()};
    saltus_status status = potra_go(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    study_note_run(report, run.work.steps, run.work);
    e_x[k] = fabs(run.q[0] - 0.358650744762581);
    e_v[k] = fabs(run.v[0] + 17.3771583030433);
  }
  char text[128];
  snprintf(text, sizeof text, "reversal, %s, %s", scheme, options);
  study_add_series(report, text, COUNT, h, e_x, e_v);
  bool on = options[10] == 'o' && options[11] == 'n';
  for (int k = 1; k < COUNT && on; k++) {
    snprintf(text, sizeof text, "%s: ratio at 2^-%d", scheme, 4 + k);
    study_claim_range(report, text, e_x[k - 1] / e_x[k], 3.95, 4.05);
  }
  static const double independent[COUNT] =
      /* another program */ {1.29e-2, 3.24e-3, 8.11e-4, 2.03e-4, 5.07e-5};
  for (int k = 0; k < COUNT && on; k++) {
    snprintf(text, sizeof text, "%s: error of x at 2^-%d", scheme, 4 + k);
    study_claim_near(report, text, e_x[k], independent[k], 0.01);
  }
  if (!on) {
    snprintf(text, sizeof text, "%s without detection: error of x at 2^-8", scheme);
    study_claim_range(report, text, e_x[COUNT - 1], 5e-3, 1e-1);
  }
  return CLI_DONE;
}

/* A mass under 4 t - 9.81 leaves the floor at 2.4525 s. */
static int take_off(study_report* report, const char* scheme) {
  enum { COUNT = 4 };
  static const double expected[COUNT] = {1.99e-3, 5.00e-4, 1.26e-4, 3.15e-5};
  double h[COUNT];
  double e_y[COUNT];
  double e_v[COUNT];
  char text[128];
  for (int k = 0; k < COUNT; k++) {
    h[k] = ldexp(1.0, -4 - k);
    potra_run run = {
        .scene = "take-off", .scheme = scheme, .t_end = 4.0, .h = h[k], .log = cli_log()};
    saltus_status status = potra_go(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    study_note_run(report, run.work.steps, run.work);
    e_y[k] = fabs(run.q[0] - 2.470590197917);
    e_v[k] = fabs(run.v[0] - 4.7895125);
    snprintf(text, sizeof text, "%s: |take-off - 2.4525| at 2^-%d", scheme, 4 + k);
    study_claim_most(report, text, fabs(potra_time(&run, SALTUS_EVENT_OPEN, 0) - 2.4525), 1e-10);
    snprintf(text, sizeof text, "%s: error of y at 2^-%d", scheme, 4 + k);
    study_claim_near(report, text, e_y[k], expected[k], 0.01);
    snprintf(text, sizeof text, "%s: error of y' at 2^-%d", scheme, 4 + k);
    study_claim_most(report, text, e_v[k], 3e-14);
  }
  snprintf(text, sizeof text, "take-off, %s", scheme);
  study_add_series(report, text, COUNT, h, e_y, e_v);
  return CLI_DONE;
}

static int run_detector(const cli_args* args, study_report* report) {
  (void)args;
  int code = CLI_DONE;
  for (int i = 0; i < 2 && code == CLI_DONE; i++) {
    code = reversal(report, schemes[i], "detection=on");
    if (code == CLI_DONE) {
      code = reversal(report, schemes[i], "detection=off");
    }
    if (code == CLI_DONE) {
      code = take_off(report, schemes[i]);
    }
  }
  return code;
}

/* An impact of the rod: first as printed, then with Coulomb's friction of the restituted impulse. */
typedef struct impact {
  const char* label;
  saltus_override set[6];
  double after[2][3];
} impact;

static const impact impacts[] = {
    {"flat, e = .5 .5",
     {{"mu", "0"}, {"e1", ".5"}, {"e2", ".5"}, {"phi0", "0"}, {"vx", "0"}, {"w", "0"}},
     {{0, .5, 0}, {0, .5, 0}}},
    {"flat, e = .5 0",
     {{"mu", "0"}, {"e1", ".5"}, {"e2", "0"}, {"phi0", "0"}, {"vx", "0"}, {"w", "0"}},
     {{0, .375, -.375}, {0, .375, -.375}}},
    {"flat, mu = .3",
     {{"mu", ".3"}, {"e1", ".5"}, {"e2", ".5"}, {"phi0", "0"}, {"vx", "2"}, {"w", "0"}},
     {{1.7, .5, 0}, {1.55, .5, 0}}},
    {"flat, turning, mu = .3, e = .5 .2",
     {{"mu", ".3"}, {"e1", ".5"}, {"e2", ".2"}, {"phi0", "0"}, {"vx", "2"}, {"w", ".5"}},
     {{1.68125, .4375, -.4375}, {1.56875, .4375, -.4375}}},
    {"tilted by 30 degrees",
     {{"mu", "0"}, {"e1", ".5"}, {"e2", ".5"}, {"phi0", "pi/6"}, {"vx", "1"}, {"w", "0"}},
     {{1, -.53846154, -1.1991121}, {1, -.53846154, -1.1991121}}},
    {"tilted by 30 degrees, mu = .3",
     {{"mu", ".3"}, {"e1", ".5"}, {"e2", ".5"}, {"phi0", "pi/6"}, {"vx", "1"}, {"w", "0"}},
     {{.91757588, -.58787942, -1.19435686}, {.87636382, -.58787942, -1.25617495}}},
};

static int run_poisson(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const readings[2] = {"decompression=printed", "decompression=coulomb"};
  for (size_t i = 0; i < sizeof impacts / sizeof impacts[0]; i++) {
    for (int k = 0; k < 2; k++) {
      potra_run run = {.scene = "rod-impact",
                       .overrides = impacts[i].set,
                       .override_count = 6,
                       .scheme = schemes[1],
                       .options = readings[k],
                       .t_end = 1e-10,
                       .h = 1e-10,
                       .log = cli_log()};
      saltus_status status = potra_go(&run);
      if (status != SALTUS_OK) {
        return cli_exit_code(status);
      }
      char id[128];
      double miss = 0.0;
      for (int r = 0; r < 3; r++) {
        miss = fmax(miss, fabs(run.v[r] - impacts[i].after[k][r]));
      }
      snprintf(id, sizeof id, "v+ of the rod, %s, %s", impacts[i].label, readings[k]);
      study_claim_error(report, id, miss, 1e-8);
      double nothing = NAN;
      study_note_run(report, run.work.steps, run.work);
      study_add_series(report, id, 1, &run.h, &miss, &nothing);
    }
  }
  return CLI_DONE;
}

/* Normal velocity and kinetic energy after an impact on the tilted rod over mu, both readings. */
static int draw_poisson(const char* path) {
  enum { POINTS = 41 };
  double mu[POINTS];
  double normal[2][POINTS];
  double energy[2][POINTS];
  for (int i = 0; i < 2 * POINTS; i++) {
    int k = i / POINTS;
    int j = i % POINTS;
    char text[32];
    mu[j] = 0.025 * j;
    snprintf(text, sizeof text, "%.3f", mu[j]);
    const saltus_override set[] = {{"mu", text}, {"phi0", "pi/6"}, {"vx", "1"}};
    potra_run run = {.scene = "rod-impact",
                     .overrides = set,
                     .override_count = 3,
                     .scheme = schemes[1],
                     .options = k == 0 ? "decompression=printed" : "decompression=coulomb",
                     .t_end = 1e-10,
                     .h = 1e-10,
                     .log = cli_log()};
    saltus_status status = potra_go(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    normal[k][j] = run.v[1] - sqrt(0.75) * run.v[2];
    energy[k][j] = 0.5 * (run.v[0] * run.v[0] + run.v[1] * run.v[1] + run.v[2] * run.v[2] / 3.0);
  }
  const saltusi_plot_series series[4] = {
      {.label = "friction as printed", .count = POINTS, .x = mu, .y = normal[0]},
      {.label = "Coulomb's friction", .count = POINTS, .x = mu, .y = normal[1]},
      {.count = POINTS, .x = mu, .y = energy[0]},
      {.count = POINTS, .x = mu, .y = energy[1]}};
  const saltusi_panel panels[2] = {
      {.y_label = "U_{N} after [m/s]", .series_count = 2, .series = series},
      {.y_label = "energy after [J]", .series_count = 2, .series = series + 2}};
  const saltusi_figure figure = {.title = "An impact on a tilted rod by Poisson's law",
                                 .subtitle =
                                     "e = 0.5, 30 degrees, v = (1, -1, 0), energy 1 J before",
                                 .x_label = "friction coefficient",
                                 .panel_count = 2,
                                 .panels = panels};
  return cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
}

static int run_painleve(const cli_args* args, study_report* report) {
  (void)args;
  enum { COUNT = 5 };
  for (int i = 0; i < 2; i++) {
    double h[COUNT];
    double miss[COUNT];
    double tip[COUNT];
    char id[128];
    for (int k = 0; k < COUNT; k++) {
      h[k] = pow(10.0, -2 - k);
      potra_run run = {.scene = "painleve-rod",
                       .scheme = schemes[i],
                       .t_end = h[k],
                       .h = h[k],
                       .log = cli_log()};
      saltus_status status = potra_go(&run);
      if (status != SALTUS_OK) {
        return cli_exit_code(status);
      }
      study_note_run(report, run.work.steps, run.work);
      double impulse = run.v[1] + 9.81 * h[k]; /* vertical momentum that the tip gave */
      miss[k] = fabs(impulse - 0.3);
      tip[k] = fabs(run.v[0] + sin(atan(2.0)) * run.v[2]);
      snprintf(id, sizeof id, "%s: warnings of Painleve's region, h = 1e-%d", schemes[i], 2 + k);
      study_claim_range(report, id, potra_count(&run, SALTUS_EVENT_PAINLEVE), 1, 1);
    }
    snprintf(id, sizeof id, "%s: |impulse - 0.3|, h = 1e-6", schemes[i]);
    study_claim_error(report, id, miss[COUNT - 1], 1e-5);
    snprintf(id, sizeof id, "%s: order of the impulse", schemes[i]);
    study_claim_range(report, id, log10(miss[1] / miss[3]) / 2.0, 0.95, 1.05);
    snprintf(id, sizeof id, "%s: speed of the tip, h = 1e-6", schemes[i]);
    study_claim_most(report, id, tip[COUNT - 1], 1e-6);
    snprintf(id, sizeof id, "Painleve's rod, %s: |impulse - 0.3|, speed of the tip", schemes[i]);
    study_add_series(report, id, COUNT, h, miss, tip);
  }
  return CLI_DONE;
}

const study study_potra2006_detector = {
    .name = "potra2006-detector",
    .summary = "located reversal and take-off: order 2 with detection, irregular without",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, section 7.5",
    .run = run_detector,
};

const study study_potra2006_poisson = {
    .name = "potra2006-poisson",
    .summary = "impacts on a rod by Poisson's law, both readings of decompression friction",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, section 7.3",
    .run = run_poisson,
    .draw = draw_poisson,
};

const study study_potra2006_painleve = {
    .name = "potra2006-painleve",
    .summary = "a rod that jams: the impulse is finite as the step goes to zero",
    .source = "Painleve 1895; Potra, Anitescu, Gavrea and Trinkle 2006",
    .run = run_painleve,
};
