/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep_studies.c - many runs, derivatives of runs and periodic orbits, beside closed forms (docs/theory/sensitivity.md, 5 to 8).
 *
 *   sweep-ball       impacts of a ball and their accumulation: 3 sqrt(h) and (1 + e)/(1 - e), by runs and by derivatives
 *   sweep-shaken     a ball on a shaken table: where it bounces once a period, multipliers, period doubling, the cascade
 *   sweep-grazing    what a grazing impact does grows with the root of the distance (Nordmark 1991)
 *   sweep-woodpecker the cycle of the woodpecker from ten starts, and its multipliers
 */
#include "figure/figure.h"
#include "potra_run.h"
#include "saltus/saltus.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static const char ball[] = "saltus: 1\n"
                           "parameters: {e: 1/2, h0: 1}\n"
                           "coordinates: {q: {start: h0}}\n"
                           "kinetic: q'^2/2\n"
                           "potential: 2*q\n"
                           "contacts: [{name: floor, gap: q, restitution: e}]\n"
                           "simulate: {until: 40}\n";

static const char shaken[] = "saltus: 1\n"
                             "parameters: {g: 9.81, e: 0.8, w: 50, G: 1, A: G*g/w^2}\n"
                             "coordinates: {y: {start: 0.0158, velocity: -0.378}}\n"
                             "kinetic: y'^2/2\n"
                             "potential: g*y\n"
                             "contacts: [{name: table, gap: y - A*sin(w*t), restitution: e}]\n";

/* x'' + x = F cos(w t) against a wall that is nearer than the oscillation goes by mu; it starts on the free oscillation. */
static const char grazing[] = "saltus: 1\n"
                              "parameters: {w: 2.5, mu: 0, free: 1}\n"
                              "coordinates: {x: {start: -free}}\n"
                              "kinetic: x'^2/2\n"
                              "potential: x^2/2\n"
                              "forces: {x: -free*(1 - w^2)*cos(w*t)}\n"
                              "contacts: [{name: wall, gap: free - mu - x, restitution: 0.8}]\n";

/* ---- sweeps ---- */

typedef struct table {
  double* values;
  long long runs;
  int columns;
} table;

static int compute(const saltus_sweep_def* def, table* out) {
  saltus_sweep* sweep = NULL;
  *out = (table){0};
  saltus_status status = saltus_sweep_create(def, &sweep);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  const saltus_sweep_view* view = saltus_sweep_get_view(sweep);
  const size_t runs = (size_t)view->runs;
  out->runs = view->runs;
  out->columns = view->axes + view->measures;
  out->values = calloc(runs * (size_t)out->columns, sizeof(double));
  const saltus_sweep_rows rows = {.values = out->values,
                                  .statuses = calloc(runs, sizeof(int)),
                                  .reasons = calloc(runs, SALTUS_SWEEP_REASON),
                                  .done = calloc(runs, sizeof(bool))};
  long long* list = calloc(runs, sizeof *list);
  int code = CLI_FAILED;
  if (out->values != NULL && rows.statuses != NULL && rows.reasons != NULL && rows.done != NULL &&
      list != NULL) {
    for (size_t i = 0; i < runs; i++) {
      list[i] = (long long)i;
    }
    code = cli_exit_code(saltus_sweep_compute(sweep, list, (int)runs, &rows));
    for (size_t i = 0; i < runs && code == CLI_DONE; i++) {
      if (rows.statuses[i] != SALTUS_OK) {
        cli_error("run %zu: %s", i, rows.reasons[i]);
        code = CLI_FAILED;
      }
    }
  }
  free(rows.statuses);
  free(rows.reasons);
  free(rows.done);
  free(list);
  saltus_sweep_destroy(sweep);
  return code;
}

static double at(const table* t, long long run, int column) {
  return t->values[(size_t)run * (size_t)t->columns + (size_t)column];
}

/* ---- derivatives ---- */

typedef struct derived {
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* of;
} derived;

static void derived_free(derived* d) {
  saltus_sensitivity_destroy(d->of);
  saltus_scene_directions_destroy(d->directions);
  saltus_scene_destroy(d->scene);
}

static int derive(const char* text, const char* const* names, int count, double until, derived* d) {
  *d = (derived){0};
  const saltus_scene_def scene = {.text = text, .log = cli_log()};
  saltus_status status = saltus_scene_create(&scene, &d->scene);
  if (status == SALTUS_OK) {
    status = saltus_scene_directions_create(d->scene, names, count, cli_log(), &d->directions);
  }
  if (status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(d->scene);
    saltus_sensitivity_def def = saltus_sensitivity_def_default();
    def.system = view->system;
    def.q0 = view->q0;
    def.v0 = view->v0;
    def.until = until;
    def.tol = 1e-12;
    def.directions = saltus_scene_directions_get_view(d->directions);
    def.direction_count = count;
    def.log = cli_log();
    status = saltus_sensitivity_create(&def, &d->of);
  }
  return cli_exit_code(status);
}

static int run_ball(const cli_args* args, study_report* report) {
  (void)args;
  const char* axes[] = {"e=0.1:0.9:17", "h0~loguniform(0.1, 2)"};
  const char* measures[] = {"time(accumulation)", "time(impact, 3)", "max(q)"};
  saltus_run_def run = saltus_run_def_default();
  run.tol = 1e-10;
  saltus_sweep_def def = saltus_sweep_def_default();
  def.text = ball;
  def.axes = axes;
  def.axis_count = 2;
  def.measures = measures;
  def.measure_count = 3;
  def.samples = 40;
  def.sampling = SALTUS_SAMPLING_SOBOL;
  def.run = &run;
  def.log = cli_log();
  table t;
  int code = compute(&def, &t);
  double end = 0.0, third = 0.0, top = 0.0;
  for (long long i = 0; i < t.runs && code == CLI_DONE; i++) {
    const double e = at(&t, i, 0), s = sqrt(at(&t, i, 1));
    end = fmax(end, fabs(at(&t, i, 2) - s * (1.0 + e) / (1.0 - e)));
    third = fmax(third, fabs(at(&t, i, 3) - s * (1.0 + 2.0 * e + 2.0 * e * e)));
    top = fmax(top, fabs(at(&t, i, 4) - s * s));
  }
  free(t.values);
  if (code != CLI_DONE) {
    return code;
  }
  study_claim_range(report, "runs", (double)t.runs, 680, 680);
  study_claim_error(report, "ends of accumulations beside sqrt(h) (1 + e)/(1 - e) [s]", end, 1e-8);
  study_claim_error(report, "third impacts beside sqrt(h) (1 + 2e + 2e^2) [s]", third, 1e-9);
  study_claim_error(report, "largest heights beside h [m]", top, 1e-15);
  const char* names[] = {"h0", "e"};
  derived d;
  code = derive(ball, names, 2, 4.0, &d);
  for (long long i = 0; code == CLI_DONE && i < saltus_sensitivity_get_view(d.of)->event_count;
       i++) {
    const saltus_sensitive_event* e = &saltus_sensitivity_get_view(d.of)->events[i];
    if (e->event.kind == SALTUS_EVENT_ACCUMULATION) {
      study_claim_near(report, "d(t_inf)/dh at h = 1, e = 1/2", e->dt[0], 1.5, 1e-10);
      study_claim_near(report, "d(t_inf)/de", e->dt[1], 8.0, 1e-10);
    }
  }
  derived_free(&d);
  /* height of the n-th bounce e^(2n) h, at the time of its top */
  for (int n = 1; n <= 5 && code == CLI_DONE; n++) {
    double sum = 0.0;
    for (int i = 1; i < n; i++) {
      sum += pow(0.5, i);
    }
    const double top_time = 1.0 + 2.0 * sum + pow(0.5, n);
    code = derive(ball, names, 1, top_time, &d);
    if (code == CLI_DONE) {
      char id[96];
      snprintf(id, sizeof id, "d(height after %d impact%s)/dh", n, n == 1 ? "" : "s");
      study_claim_near(report, id, saltus_sensitivity_get_view(d.of)->dq[0], pow(0.25, n), 1e-10);
    }
    derived_free(&d);
  }
  return code;
}

/* ---- the shaken ball ---- */

/* Its orbit of period one at acceleration G; the guess comes from the closed form. */
static int shaken_orbit(double G, saltus_scene** scene, saltus_orbit** orbit) {
  const double g = 9.81, e = 0.8, w = 50.0;
  const double cosine = pi * (1.0 - e) / (1.0 + e) / G,
               sine = sqrt(fmax(0.0, 1.0 - cosine * cosine));
  const double T = 2.0 * pi / w, U = 0.5 * g * T, left = T - acos(fmin(cosine, 1.0)) / w;
  const double q0 = G * g / (w * w) * sine + U * left - 0.5 * g * left * left, v0 = U - g * left;
  char value[40];
  snprintf(value, sizeof value, "%.17g", G);
  const saltus_override override = {.name = "G", .value = value};
  const saltus_scene_def def = {
      .text = shaken, .overrides = &override, .override_count = 1, .log = cli_log()};
  *orbit = NULL;
  saltus_status status = saltus_scene_create(&def, scene);
  if (status == SALTUS_OK) {
    const double guess_q = q0 + 1e-5, guess_v = v0 - 1e-4;
    saltus_orbit_def d = saltus_orbit_def_default();
    d.system = saltus_scene_get_view(*scene)->system;
    d.q0 = &guess_q;
    d.v0 = &guess_v;
    d.period = T;
    d.log = cli_log();
    status = saltus_orbit_create(&d, orbit);
  }
  return cli_exit_code(status);
}

/* prod (multiplier - at): 0 at period doubling for -1, at the end of the orbit for 1. */
static int limit_test(double G, double at, double* value) {
  saltus_scene* scene = NULL;
  saltus_orbit* orbit = NULL;
  const int code = shaken_orbit(G, &scene, &orbit);
  if (code == CLI_DONE) {
    const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
    *value = (o->re[0] - at) * (o->re[1] - at) - o->im[0] * o->im[1];
  }
  saltus_orbit_destroy(orbit);
  saltus_scene_destroy(scene);
  return code;
}

static int run_shaken(const cli_args* args, study_report* report) {
  (void)args;
  const double e = 0.8, first = pi * (1.0 - e) / (1.0 + e);
  const double second = sqrt(first * first + pow(2.0 * (1.0 + e * e) / ((1.0 + e) * (1.0 + e)), 2));
  int code = CLI_DONE;
  double sum_error = 0.0, product_error = 0.0;
  for (int k = 0; k < 8 && code == CLI_DONE; k++) {
    const double G = first * 1.05 + 0.12 * k;
    saltus_scene* scene = NULL;
    saltus_orbit* orbit = NULL;
    code = shaken_orbit(G, &scene, &orbit);
    if (code == CLI_DONE) {
      const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
      const double sine = sqrt(1.0 - first * first / (G * G));
      sum_error = fmax(
          sum_error, fabs(o->re[0] + o->re[1] - (1.0 + e * e - (1.0 + e) * (1.0 + e) * G * sine)));
      product_error = fmax(product_error, fabs(o->re[0] * o->re[1] - o->im[0] * o->im[1] - e * e));
    }
    saltus_orbit_destroy(orbit);
    saltus_scene_destroy(scene);
  }
  double a = 1.0, b = 1.15, fa = 0.0, fb = 0.0;
  code = code == CLI_DONE ? limit_test(a, -1.0, &fa) : code;
  code = code == CLI_DONE ? limit_test(b, -1.0, &fb) : code;
  for (int i = 0; i < 40 && code == CLI_DONE && fabs(b - a) > 1e-12; i++) { /* secants */
    const double x = b - fb * (b - a) / (fb - fa);
    a = b;
    fa = fb;
    b = x;
    code = limit_test(b, -1.0, &fb);
  }
  /* prod (1 - multiplier) goes to 0 like the root of what is left of G^2 */
  double near = 0.0, far = 0.0;
  code = code == CLI_DONE ? limit_test(0.36, 1.0, &near) : code;
  code = code == CLI_DONE ? limit_test(0.4, 1.0, &far) : code;
  if (code != CLI_DONE) {
    return code;
  }
  const double lowest = (0.1296 * far * far - 0.16 * near * near) / (far * far - near * near);
  study_claim_error(report, "sums of multipliers beside 1 + e^2 - (1 + e)^2 G sin(phase)",
                    sum_error, 1e-8);
  study_claim_error(report, "products beside e^2", product_error, 1e-8);
  study_claim_near(report, "acceleration of period doubling [g]", b, second, 1e-8);
  study_claim_near(report, "acceleration from which it bounces once a period [g]", sqrt(lowest),
                   first, 1e-8);
  /* beside it: runs stay on the orbit or leave it */
  const char* measures[] = {"last(y)"};
  for (int k = 0; k < 2 && code == CLI_DONE; k++) {
    double heights[4] = {0};
    const double G = second * (k == 0 ? 0.98 : 1.02);
    for (int i = 0; i < 4 && code == CLI_DONE; i++) {
      char axis[40];
      snprintf(axis, sizeof axis, "G=%.17g", G);
      const char* axes[] = {axis};
      saltus_run_def run = saltus_run_def_default();
      run.tol = 1e-9;
      run.until = 2.0 * pi / 50.0 * (400 + i);
      saltus_sweep_def def = saltus_sweep_def_default();
      def.text = shaken;
      def.axes = axes;
      def.axis_count = 1;
      def.measures = measures;
      def.measure_count = 1;
      def.run = &run;
      def.log = cli_log();
      table t;
      code = compute(&def, &t);
      heights[i] = code == CLI_DONE ? at(&t, 0, 1) : 0.0;
      free(t.values);
    }
    if (k == 0) {
      study_claim_error(report, "2 % below: heights one period apart [m]",
                        fabs(heights[1] - heights[0]), 1e-5);
    } else {
      study_claim_range(report, "2 % above: heights one period apart [m]",
                        fabs(heights[1] - heights[0]), 1e-3, 1.0);
      study_claim_error(report, "two periods apart [m]", fabs(heights[2] - heights[0]), 1e-6);
    }
  }
  return code;
}

enum { CASCADE = 240, KEPT = 60, SKIPPED = 200 };

/* Heights at the beginning of periods, up to where the ball begins to rest on the table. */
static int draw_cascade(const char* path) {
  double* x = malloc(2UL * CASCADE * KEPT * sizeof(double));
  if (x == NULL) {
    return CLI_FAILED;
  }
  double* y = x + (ptrdiff_t)CASCADE * KEPT;
  double q = 0.0158, v = -0.378;
  int count = 0, code = CLI_DONE;
  for (int i = 0; i < CASCADE && code == CLI_DONE; i++) {
    const double G = 0.95 + 0.3 * i / (CASCADE - 1);
    char value[40];
    snprintf(value, sizeof value, "%.17g", G);
    const saltus_override override = {.name = "G", .value = value};
    const saltus_scene_def def = {
        .text = shaken, .overrides = &override, .override_count = 1, .log = cli_log()};
    saltus_scene* scene = NULL;
    saltus_integrator* it = NULL;
    saltus_status status = saltus_scene_create(&def, &scene);
    if (status == SALTUS_OK) {
      const saltus_integrator_def run = {.system = saltus_scene_get_view(scene)->system,
                                         .q0 = &q,
                                         .v0 = &v,
                                         .rtol = 1e-8,
                                         .atol = 1e-8,
                                         .log = cli_log()};
      status = saltus_integrator_create(&run, &it);
    }
    for (int k = 1; k <= SKIPPED + KEPT && status == SALTUS_OK; k++) {
      status = saltus_integrator_advance(it, 2.0 * pi / 50.0 * k, SALTUS_STOP_NEVER, NULL);
      if (status == SALTUS_OK && k > SKIPPED) {
        x[count] = G;
        y[count++] = saltus_integrator_q(it)[0];
      }
    }
    if (status == SALTUS_OK) {
      q = saltus_integrator_q(it)[0];
      v = saltus_integrator_v(it)[0];
    }
    saltus_integrator_destroy(it);
    saltus_scene_destroy(scene);
    code = cli_exit_code(status);
  }
  const saltusi_plot_series series = {.kind = SALTUSI_SERIES_DOTS, .count = count, .x = x, .y = y};
  const saltusi_panel panel = {
      .y_label = "height at the beginning of a period [m]", .series_count = 1, .series = &series};
  const saltusi_plot_mark mark = {.x = 1.070836468247907, .label = "2, in closed form"};
  const saltusi_figure figure = {
      .title = "A ball on a shaken table",
      .subtitle = "60 periods after 200, each acceleration from where the last one ended",
      .x_label = "acceleration of the table [g]",
      .panel_count = 1,
      .panels = &panel,
      .mark_count = 1,
      .marks = &mark};
  if (code == CLI_DONE) {
    code = cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
  }
  free(x);
  return code;
}

/* ---- grazing ---- */

static int run_grazing(const cli_args* args, study_report* report) {
  (void)args;
  enum { COUNT = 9 };
  const char* axes[] = {"mu=1e-10:1e-6:9 log"};
  const char* measures[] = {"last(x)", "last(x')", "count(impact)"};
  saltus_run_def run = saltus_run_def_default();
  run.tol = 1e-12;
  run.until = 2.0 * pi / 2.5; /* one period; the wall is met in its middle */
  saltus_sweep_def def = saltus_sweep_def_default();
  def.text = grazing;
  def.axes = axes;
  def.axis_count = 1;
  def.measures = measures;
  def.measure_count = 3;
  def.run = &run;
  def.log = cli_log();
  table t;
  int code = compute(&def, &t);
  if (code != CLI_DONE) {
    free(t.values);
    return code;
  }
  double mu[COUNT], off[COUNT];
  for (int i = 0; i < COUNT; i++) {
    mu[i] = at(&t, i, 0);
    off[i] = hypot(at(&t, i, 1) + 1.0, at(&t, i, 2));
  }
  study_claim_range(report, "impacts of the run that is nearest to grazing", at(&t, 0, 3), 1, 1);
  study_claim_range(report, "exponent of what an impact changes over the distance",
                    saltus_slope(COUNT, mu, off), 0.48, 0.52);
  /* approach sqrt(2 |a| mu), |a| = 1 w^2 at the wall; the impact adds (1 + e) of it, seen half a period later */
  study_claim_near(report, "factor of the root", off[0] / sqrt(mu[0]), 1.8 * sqrt(2.0) * 2.5, 1e-3);
  study_add_series(report, "change after one period", COUNT, mu, off, off);
  report->x_label = "distance that the wall is nearer [m]";
  report->first_label = "change of the state";
  report->one_number = true;
  free(t.values);
  return CLI_DONE;
}

/* ---- the woodpecker ---- */

static int run_woodpecker(const cli_args* args, study_report* report) {
  (void)args;
  const saltus_scene_def def = {.text = potra_scene_text("woodpecker"), .log = {0}};
  saltus_scene* scene = NULL;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  const double q[3] = {0.0, 0.0894, 0.12}, v[3] = {-0.0938, 22.88, -8.456};
  const bool drifts[3] = {true, false, false};
  double period[10], drift[10], largest[10];
  for (int k = 0; k < 10 && status == SALTUS_OK; k++) {
    const double part = 0.01 * (k % 2 == 0 ? 1.0 : -1.0) * k;
    const double q0[3] = {0.0, q[1] * (1.0 + part), q[2]};
    const double v0[3] = {v[0] * (1.0 - part), v[1] * (1.0 + part), v[2] * (1.0 - part)};
    saltus_orbit_def d = saltus_orbit_def_default();
    d.system = saltus_scene_get_view(scene)->system;
    d.q0 = q0;
    d.v0 = v0;
    d.drifts = drifts;
    d.section_contact = 0;
    d.log = cli_log();
    saltus_orbit* orbit = NULL;
    status = saltus_orbit_create(&d, &orbit);
    if (status == SALTUS_OK) {
      const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
      period[k] = o->period;
      drift[k] = o->drift[0];
      largest[k] = o->re[0];
    }
    saltus_orbit_destroy(orbit);
  }
  saltus_scene_destroy(scene);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  double apart = 0.0, multipliers = 0.0;
  for (int k = 1; k < 10; k++) {
    apart = fmax(apart, fabs(period[k] - period[0]));
    multipliers = fmax(multipliers, fabs(largest[k] - largest[0]));
  }
  study_claim_error(report, "periods from ten starts beside each other [s]", apart, 1e-9);
  study_claim_error(report, "largest multipliers from ten starts beside each other", multipliers,
                    1e-6);
  study_claim_near(report, "period [s] (Leine, Glocker, van Campen 2001: 0.146)", period[0], 0.146,
                   1e-3);
  study_claim_near(report, "way down in a period [m] (19.45 mm)", -drift[0], 0.01945, 1e-3);
  study_measure(report, "largest multiplier", largest[0]);
  return CLI_DONE;
}

const study study_sweep_ball = {
    "sweep-ball",   "impacts of a ball over height and restitution, and their derivatives",
    "closed forms", false,
    run_ball,       NULL};
const study study_sweep_shaken = {
    "sweep-shaken",
    "a ball on a shaken table: orbit, multipliers, period doubling, cascade",
    "closed form; Holmes, J. Sound Vib. 84 (1982)",
    false,
    run_shaken,
    draw_cascade};
const study study_sweep_grazing = {"sweep-grazing",
                                   "an impact at grazing changes the motion by a square root",
                                   "Nordmark, J. Sound Vib. 145 (1991)",
                                   false,
                                   run_grazing,
                                   NULL};
const study study_sweep_woodpecker = {
    "sweep-woodpecker",
    "the cycle of the woodpecker from ten starts, and its multipliers",
    "Leine, Glocker, van Campen 2001",
    false,
    run_woodpecker,
    NULL};
