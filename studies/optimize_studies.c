/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * optimize_studies.c - optimisation beside closed forms (docs/optimize.md).
 *
 *   optimise-valve    softest spring of a follower on a cam that does not float: k = (m A w^2 - F0)/(2 A)
 *   optimise-breaker  opening time of a contact arm against its rebound, at a limited speed of impact
 */
#include "figure/figure.h"
#include "saltus/optimize.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The follower on A (1 - cos w t): the force m A w^2 cos + k A (1 - cos) + F0 is least at the top of the lift. */
static const char valve[] =
    "saltus: 1\nparameters: {m: 0.1, A: 0.005, w: 300, F0: 20, k: 6000}\ncoordinates: {x: {}}\n"
    "kinetic: m*x'^2/2\npotential: k*x^2/2 + F0*x\n"
    "contacts: [{name: follower, gap: x - A*(1 - cos(w*t)), restitution: 0.2}]\n"
    "simulate: {until: 2*pi/w, tol: 1e-11}\n";

/* The arm opens from 0.6 rad to its stop at 0 under a spring k (phi + p). */
static const char arm[] =
    "saltus: 1\nparameters: {J: 2e-5, k: 0.05, p: 0.5}\ncoordinates: {phi: {start: 0.6}}\n"
    "kinetic: J*phi'^2/2\npotential: k*(phi + p)^2/2\n"
    "contacts: [{name: stop, gap: phi, restitution: 0.4}]\nevents: {opened: phi - 0.3}\n"
    "simulate: {until: 0.4, tol: 1e-11}\n"
    "optimize:\n  variables: [\"k=0.005:0.3 log\", p=0.05:2]\n  minimize: time(opened)\n";

static const double speed = 25.0; /* rad/s, most at the stop */

/* The answer of a search in values; an exit code. */
static int solve(saltus_optimize_def* def, double* values, bool* derivatives) {
  saltus_optimize* optimize = NULL;
  def->log = cli_log();
  saltus_status status = saltus_optimize_create(def, &optimize);
  status = status == SALTUS_OK ? saltus_optimize_execute(optimize) : status;
  if (status == SALTUS_OK) {
    const saltus_optimize_view* v = saltus_optimize_get_view(optimize);
    for (int i = 0; i < v->variables; i++) {
      values[i] = v->values[i];
    }
    *derivatives = v->gradient != NULL;
  }
  saltus_optimize_destroy(optimize);
  return cli_exit_code(status);
}

/* ---- the valve ---- */

static double softest(double w) {
  return (0.1 * 0.005 * w * w - 20.0) / (2.0 * 0.005);
}

static int find_spring(double w, double* k) {
  static const char* const variables[] = {"k=500:20000"};
  char value[40];
  bool derivatives;
  snprintf(value, sizeof value, "%.17g", w);
  const saltus_override override = {.name = "w", .value = value};
  saltus_optimize_def def = saltus_optimize_def_default();
  def.text = valve;
  def.overrides = &override;
  def.override_count = 1;
  def.variables = variables;
  def.variable_count = 1;
  def.find = "count(open of follower) = 0";
  def.tolerance = 1e-10;
  return solve(&def, k, &derivatives);
}

enum { SPEEDS = 5 };

static int run_valve(const cli_args* args, study_report* report) {
  (void)args;
  int code = CLI_DONE;
  for (int i = 0; i < SPEEDS && code == CLI_DONE; i++) {
    const double w = 260.0 + 50.0 * i;
    double k = 0.0;
    char id[96];
    code = find_spring(w, &k);
    snprintf(id, sizeof id, "softest spring without float at w = %g/s [N/m]", w);
    if (code == CLI_DONE) {
      study_claim_near(report, id, k, softest(w), 1e-6);
    }
  }
  return code;
}

/* Largest gap over the stiffness at w = 300/s. */
static int draw_valve(const char* path) {
  enum { COUNT = 121 };
  static const char* const axes[] = {"k=1900:3100:121"};
  static const char* const measures[] = {"max(gap of follower)"};
  saltus_sweep_def def = saltus_sweep_def_default();
  def.text = valve;
  def.axes = axes;
  def.axis_count = 1;
  def.measures = measures;
  def.measure_count = 1;
  def.log = cli_log();
  double values[2 * COUNT], k[COUNT], gap[COUNT];
  int statuses[COUNT];
  static char reasons[COUNT][SALTUS_SWEEP_REASON];
  bool done[COUNT];
  long long runs[COUNT];
  const saltus_sweep_rows rows = {
      .values = values, .statuses = statuses, .reasons = reasons, .done = done};
  saltus_sweep* sweep = NULL;
  for (int i = 0; i < COUNT; i++) {
    runs[i] = i;
  }
  saltus_status status = saltus_sweep_create(&def, &sweep);
  status = status == SALTUS_OK ? saltus_sweep_compute(sweep, runs, COUNT, &rows) : status;
  saltus_sweep_destroy(sweep);
  for (int i = 0; i < COUNT && status == SALTUS_OK; i++) {
    k[i] = values[2 * i];
    gap[i] = 1e6 * values[2 * i + 1];
    status = (saltus_status)statuses[i];
  }
  const saltusi_plot_series series = {
      .kind = SALTUSI_SERIES_LINE, .count = COUNT, .x = k, .y = gap};
  const saltusi_panel panel = {.y_label = "largest gap [um]", .series_count = 1, .series = &series};
  const saltusi_plot_mark mark = {.x = softest(300.0), .label = "(m A w^2 - F0)/(2 A)"};
  const saltusi_figure figure = {.title = "Float of a follower on its cam",
                                 .x_label = "stiffness of the spring [N/m]",
                                 .panel_count = 1,
                                 .panels = &panel,
                                 .mark_count = 1,
                                 .marks = &mark};
  return cli_exit_code(status == SALTUS_OK ? saltusi_figure_write(&figure, path, cli_log())
                                           : status);
}

/* ---- the breaker ---- */

/* Preload and stiffness at which rebound and speed have their limits, and the opening time:
 * (r + p)^2 = p^2 + e^2 (0.36 + 1.2 p), speed^2 = k/J (0.36 + 1.2 p), cos(w t) = (0.3 + p)/(0.6 + p). */
static double exact(double rebound, double values[2]) {
  const double e2 = 0.16;
  const double p = (0.36 * e2 - rebound * rebound) / (2.0 * rebound - 1.2 * e2);
  const double w = speed / sqrt(0.36 + 1.2 * p);
  values[0] = 2e-5 * w * w;
  values[1] = p;
  return acos((0.3 + p) / (0.6 + p)) / w;
}

static int open_arm(double rebound, const char* method, double values[2], bool* derivatives) {
  char limit[120], most[40];
  const char* constraints[] = {limit, most};
  snprintf(limit, sizeof limit, "sqrt(last(p)^2 + last(J/k)*max(phi')^2) - last(p) <= %.17g",
           rebound);
  snprintf(most, sizeof most, "max(-phi') <= %.17g", speed);
  saltus_optimize_def def = saltus_optimize_def_default();
  def.text = arm;
  def.constraints = constraints;
  def.constraint_count = 2;
  def.method = method;
  def.tolerance = 1e-9;
  def.evaluations = 5000;
  return solve(&def, values, derivatives);
}

static int run_breaker(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const methods[] = {"gradient", "local"};
  double best[2];
  int code = CLI_DONE;
  exact(0.15, best);
  for (int i = 0; i < 2 && code == CLI_DONE; i++) {
    double values[2] = {0.0};
    bool derivatives = false;
    char id[96];
    code = open_arm(0.15, methods[i], values, &derivatives);
    snprintf(id, sizeof id, "stiffness at a rebound of 0.15 rad, %s [N m/rad]", methods[i]);
    if (code == CLI_DONE) {
      study_claim_near(report, id, values[0], best[0], 1e-6);
      snprintf(id, sizeof id, "preload, %s [rad]", methods[i]);
      study_claim_near(report, id, values[1], best[1], 1e-6);
      snprintf(id, sizeof id, "derivatives, %s", methods[i]);
      study_claim_range(report, id, derivatives, i == 0, i == 0);
    }
  }
  return code;
}

static int draw_breaker(const char* path) {
  enum { POINTS = 9, LINE = 81 };
  double r[POINTS], t[POINTS], x[LINE], y[LINE], values[2];
  int code = CLI_DONE;
  for (int i = 0; i < LINE; i++) {
    x[i] = 0.12 + 0.001 * i;
    y[i] = 1e3 * exact(x[i], values);
  }
  for (int i = 0; i < POINTS && code == CLI_DONE; i++) {
    bool derivatives;
    r[i] = 0.12 + 0.01 * i;
    code = open_arm(r[i], "gradient", values, &derivatives);
    t[i] = 1e3 * acos((0.3 + values[1]) / (0.6 + values[1])) / sqrt(values[0] / 2e-5);
  }
  const saltusi_plot_series series[] = {
      {.label = "in closed form", .kind = SALTUSI_SERIES_LINE, .count = LINE, .x = x, .y = y},
      {.label = "optimised", .kind = SALTUSI_SERIES_POINTS, .count = POINTS, .x = r, .y = t}};
  const saltusi_panel panel = {.y_label = "opening time [ms]", .series_count = 2, .series = series};
  const saltusi_figure figure = {.title = "Contact arm of a breaker",
                                 .subtitle = "speed at the stop at most 25 rad/s",
                                 .x_label = "largest rebound [rad]",
                                 .panel_count = 1,
                                 .panels = &panel};
  return code == CLI_DONE ? cli_exit_code(saltusi_figure_write(&figure, path, cli_log())) : code;
}

const study study_optimise_valve = {.name = "optimise-valve",
                                    .summary = "softest spring of a follower that does not float",
                                    .source = "closed form",
                                    .run = run_valve,
                                    .draw = draw_valve};

const study study_optimise_breaker = {.name = "optimise-breaker",
                                      .summary = "opening time against rebound of a contact arm",
                                      .source = "closed form",
                                      .run = run_breaker,
                                      .draw = draw_breaker};
