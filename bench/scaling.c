/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scaling.c - cost of many contacts and joints.
 *
 *   scaling     piles, columns and chains of jointed rods in contact, 10^3 to 10^5 contacts, to a
 *               residual of 1e-6: time of an iteration against contacts, and its exponent
 *   joints      1000 contacts with and without a joint elsewhere; 10 000 contacts with 1000 pins
 *
 * In `scaling` the same configuration is stepped repeatedly while gravity varies by 5 % of its size and
 * a few degrees, from the impulses of the previous step. Iterations are those of Gauss-Seidel and the like; of islands
 * solved one by one the maximum, and one for each problem.
 */
#include "bench.h"
#include "pile.h"
#include "rig.h"
#include "saltus/saltus.h"
#ifdef BENCH_FIGURES
#include "figure/figure.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double h = 0.001; /* s */

typedef struct outcome {
  bool failed;
  int active, joints;         /* contacts, rows */
  double seconds, iterations; /* a step */
  double residual;            /* m/s, largest */
} outcome;

/* Gravity at a time, down and sideways. */
static void swing(double t, double* down, double* sideways) {
  *down = 9.81 * (1.0 + 0.05 * sin(700.0 * t));
  *sideways = 9.81 * 0.05 * cos(300.0 * t);
}

static void swing_rig(const void* self, const saltus_point* at, double* F) {
  const rig* r = self;
  double down;
  double sideways;
  swing(at->t, &down, &sideways);
  for (int i = 0; i < r->bodies; i++) {
    F[3 * i] = sideways * r->mass[i];
    F[3 * i + 1] = -down * r->mass[i];
    F[3 * i + 2] = 0.0;
  }
}

static void swing_pile(const void* self, const saltus_point* at, double* F) {
  const pile* p = self;
  double down;
  double sideways;
  swing(at->t, &down, &sideways);
  memset(F, 0, 6 * (size_t)p->spheres * sizeof(double));
  for (int i = 0; i < p->spheres; i++) {
    F[6 * i] = sideways * p->mass[i];
    F[6 * i + 2] = -down * p->mass[i];
  }
}

/* `steps` after a few that bring impulses to start from; `again`: from the same state each time. */
static outcome measure(const saltus_system* sys, double* q, double* v, double tol, int steps,
                       bool again) {
  enum { BEFORE = 3 };
  size_t bytes = (size_t)sys->dims.nq * sizeof(double);
  double* q0 = malloc(2 * bytes);
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.contact_tol = tol;
  options.newton_tol = fmax(options.newton_tol, tol);
  const saltus_scheme_def def = {.scheme = "moreau-jean", .options = &options, .system = sys};
  saltus_scheme* scheme = NULL;
  outcome out = {.failed = q0 == NULL || saltus_scheme_create(&def, &scheme) != SALTUS_OK,
                 .joints = sys->dims.nj};
  double start = 0.0;
  saltus_work before = {0};
  for (int k = 0; k < BEFORE + steps && !out.failed; k++) {
    if (k == 0) {
      memcpy(q0, q, bytes);
      memcpy(q0 + sys->dims.nq, v, bytes);
    }
    if (k == BEFORE) {
      before = saltus_scheme_work(scheme);
      start = bench_seconds();
    }
    if (again) {
      memcpy(q, q0, bytes);
      memcpy(v, q0 + sys->dims.nq, bytes);
    }
    saltus_state x = {h * k, q, v};
    saltus_step_report report;
    out.failed = saltus_scheme_step(scheme, h, &x, &report) != SALTUS_OK;
    if (!out.failed) {
      out.active = report.active;
      out.residual = fmax(out.residual, report.residual_velocity);
    }
  }
  if (!out.failed) {
    saltus_work work = saltus_scheme_work(scheme);
    long long solves = work.contact_solves - before.contact_solves;
    long long done = work.contact_iterations - before.contact_iterations;
    out.seconds = (bench_seconds() - start) / steps;
    out.iterations = (double)(solves + done) / steps;
  }
  saltus_scheme_destroy(scheme);
  free(q0);
  return out;
}

/* Bodies are given sideways velocities up to this, so that contacts slide or begin to. */
static void push(rig* r, double speed) {
  unsigned state = 1;
  for (int i = 0; i < r->bodies; i++) {
    state = state * 1664525u + 1013904223u;
    r->v[3 * i] = speed * ((double)(state >> 8) / 8388608.0 - 1.0);
  }
}

/* Spheres in a box, most of which touch twelve others and walls: 13 contacts for two of them. */
static outcome run_pile(int contacts, int steps) {
  int layers = (int)(cbrt(contacts / 6.5) + 0.5);
  int width = (int)(sqrt(contacts / (6.5 * layers)) + 0.5);
  pile_def def = pile_def_default(width, width, layers);
  def.spread = 0.0;
  pile p;
  outcome out = {.failed = !pile_create(&def, &p)};
  if (!out.failed) {
    saltus_system_ops ops = *p.system.ops;
    ops.force = swing_pile;
    p.system.ops = &ops;
    out = measure(&p.system, p.q, p.v, 1e-6, steps, true);
  }
  pile_free(&p);
  return out;
}

/* Of a rig that was made or not. */
static outcome run_rig(rig* r, bool made, double tol, int steps, bool swings) {
  outcome out = {.failed = !made};
  if (made) {
    saltus_system system = *rig_system(r);
    saltus_system_ops ops = *system.ops;
    ops.force = swings ? swing_rig : ops.force;
    system.ops = &ops;
    out = measure(&system, r->q, r->v, tol, steps, swings);
  }
  rig_free(r);
  return out;
}

static outcome run_columns(int contacts, int steps) {
  rig r;
  bool made = rig_columns(&r, contacts, 100, 0.5);
  return run_rig(&r, made, 1e-6, steps, true);
}

static outcome run_short_chains(int contacts, int steps) {
  rig r;
  bool made = rig_chains(&r, contacts, 10, 5, 0.5);
  return run_rig(&r, made, 1e-6, steps, true);
}

static outcome run_long_chains(int contacts, int steps) {
  rig r;
  bool made = rig_chains(&r, contacts, 100, 5, 0.5);
  return run_rig(&r, made, 1e-6, steps, true);
}

enum { SIZES = 3 };

typedef struct series {
  const char* name;
  outcome (*run)(int contacts, int steps);
  double contacts[SIZES];
  double each[SIZES]; /* s, one iteration */
  double exponent;
} series;

/* Least squares in logarithms. */
static double slope(int n, const double* x, const double* y) {
  double sx = 0.0;
  double sy = 0.0;
  double sxx = 0.0;
  double sxy = 0.0;
  for (int i = 0; i < n; i++) {
    sx += log(x[i]);
    sy += log(y[i]);
    sxx += log(x[i]) * log(x[i]);
    sxy += log(x[i]) * log(y[i]);
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static int run_series(series* s) {
  int contacts = 1000;
  for (int k = 0; k < SIZES; k++, contacts *= 10) {
    outcome out = s->run(contacts, k == 0 ? 50 : k == 1 ? 10 : 4);
    s->contacts[k] = out.active;
    s->each[k] = out.seconds / out.iterations;
    printf(
        "  %-27s %6d contacts, %6d rows of joints: a step %9.3f ms, %7.1f iterations of %8.4f ms, "
        "residual %.0e m/s%s\n",
        s->name, out.active, out.joints, 1e3 * out.seconds, out.iterations, 1e3 * s->each[k],
        out.residual, out.failed ? ", NOT SOLVED" : "");
    fflush(stdout);
    if (out.failed) {
      return 1;
    }
  }
  s->exponent = slope(SIZES, s->contacts, s->each);
  printf("  %-28s time of an iteration goes with contacts^%.2f\n", s->name, s->exponent);
  return s->exponent > 1.1;
}

static int draw(const series* all, int count) {
#ifdef BENCH_FIGURES
  const char* path = "results/scaling.svg";
  saltusi_plot_series curves[4];
  double ms[4][SIZES];
  char labels[4][64];
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < SIZES; k++) {
      ms[i][k] = 1e3 * all[i].each[k];
    }
    snprintf(labels[i], sizeof labels[i], "%s, exponent %.2f", all[i].name, all[i].exponent);
    curves[i] = (saltusi_plot_series){.label = labels[i],
                                      .kind = SALTUSI_SERIES_MARKERS,
                                      .count = SIZES,
                                      .x = all[i].contacts,
                                      .y = ms[i]};
  }
  const saltusi_slope linear = {.order = 1.0, .label = "in proportion"};
  const saltusi_panel panel = {.y_label = "one iteration [ms]",
                               .log_y = true,
                               .series_count = count,
                               .series = curves,
                               .slope_count = 1,
                               .slopes = &linear};
  const saltusi_figure figure = {.title = "Cost of an iteration",
                                 .subtitle = "Moreau-Jean, warm, residual 1e-6",
                                 .x_label = "contacts",
                                 .log_x = true,
                                 .panel_count = 1,
                                 .panels = &panel};
  mkdir("results", 0777);
  saltus_status status = saltusi_figure_write(&figure, path, (saltus_log){0});
  printf("  %s %s\n", status == SALTUS_OK ? "drawn:" : "not drawn:", path);
  return status != SALTUS_OK;
#else
  (void)all, (void)count;
  return 0;
#endif
}

static int run_scaling(void) {
  series all[] = {{.name = "pile of spheres", .run = run_pile},
                  {.name = "columns of 100 discs", .run = run_columns},
                  {.name = "chains of 10 jointed rods", .run = run_short_chains},
                  {.name = "chains of 100 jointed rods", .run = run_long_chains}};
  enum { COUNT = sizeof all / sizeof all[0] };
  int failed = 0;
  for (int i = 0; i < COUNT; i++) {
    failed |= run_series(&all[i]);
  }
  return draw(all, COUNT) | failed;
}

/* The fastest of three: other load on the machine varies. */
static outcome rest(bool pendulum, double mu) {
  outcome best = {.failed = true};
  for (int k = 0; k < 3; k++) {
    rig r;
    bool made = rig_floor(&r, 1000, mu, pendulum);
    outcome out = run_rig(&r, made, 0.0, 200, false);
    best = best.failed || out.seconds < best.seconds ? out : best;
  }
  return best;
}

static int run_joints(void) {
  int failed = 0;
  for (int k = 0; k < 2; k++) {
    double mu = 0.4 * k;
    outcome without = rest(false, mu);
    outcome with = rest(true, mu);
    double ratio = with.seconds / without.seconds;
    printf("  %d discs at rest, mu = %g: a step %.4f ms, with a pendulum elsewhere %.4f ms, %.2f "
           "times\n",
           without.active, mu, 1e3 * without.seconds, 1e3 * with.seconds, ratio);
    failed |= without.failed || with.failed || ratio > 1.3;
  }
  rig r;
  bool made = rig_chains(&r, 10000, 2, 5, 0.4);
  if (made) {
    push(&r, 0.01);
  }
  outcome out = run_rig(&r, made, 1e-6, 5, false);
  printf("  %d contacts with %d pins: a step %.2f ms, %.1f iterations, residual %.0e m/s%s\n",
         out.active, out.joints / 2, 1e3 * out.seconds, out.iterations, out.residual,
         out.failed ? ", NOT SOLVED" : "");
  return failed | out.failed;
}

const bench bench_scaling = {
    .name = "scaling",
    .summary = "time of an iteration for 10^3 to 10^5 contacts: exponent at most 1.1",
    .run = run_scaling,
};

const bench bench_joints = {
    .name = "joints",
    .summary = "a joint elsewhere costs contacts at most 1.3 times; 10^4 contacts with pins",
    .run = run_joints,
};
