/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * members.c - members of sweeps: compiled ones, of one lane and in vectors, beside those of the interpreter. Members are
 * alike in time where their number of steps is. The rows of all are compared.
 */
#include "bench.h"
#include "saltus/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MEMBERS = 512, COLUMNS = 4 };

typedef struct members_case {
  const char *name, *file, *text; /* file of scenes/, or a text */
  const char *axis, *measure, *scheme;
  double step, tol, until; /* step NaN: a tolerance */
} members_case;

static const char box[] =
    "saltus: 1\n"
    "parameters: {a: 0.5, b: 0.3, mu: 0.4, e: 0.3, g: 9.81, J: (a^2 + b^2)/3}\n"
    "coordinates:\n  x: {start: 0, velocity: 0.5}\n  y: {start: 1.2}\n  p: {start: 0.3, velocity: "
    "1}\n"
    "kinetic: (x'^2 + y'^2 + J*p'^2)/2\npotential: g*y\n"
    "contacts:\n"
    "  - {gap: y + a*sin(p) - b*cos(p), slip: x + a*cos(p) + b*sin(p), friction: mu, restitution: "
    "e}\n"
    "  - {gap: y - a*sin(p) - b*cos(p), slip: x - a*cos(p) + b*sin(p), friction: mu, restitution: "
    "e}\n"
    "  - {gap: y + a*sin(p) + b*cos(p), slip: x + a*cos(p) - b*sin(p), friction: mu, restitution: "
    "e}\n"
    "  - {gap: y - a*sin(p) + b*cos(p), slip: x - a*cos(p) - b*sin(p), friction: mu, restitution: "
    "e}\n";

static const char oscillator[] =
    "saltus: 1\n"
    "parameters: {w: 2, z: 0.05, s: 0, e: 0.8}\n"
    "coordinates: {x: {start: -0.5, velocity: 0.2}}\n"
    "kinetic: x'^2/2\npotential: x^2/2\nforces: {x: cos(w*t) - 2*z*x'}\n"
    "contacts: [{name: stop, gap: s - x, restitution: e}]\n";

static const members_case cases[] = {
    {"ball", "ball", NULL, "q~uniform(0.5, 2)", "max(q)", "moreau-jean", 1e-3, NAN, 5.0},
    {"oscillator", NULL, oscillator, "e~uniform(0.5, 0.9)", "max(x)", "moreau-jean", 5e-3, NAN,
     10.0},
    {"woodpecker", "woodpecker", NULL, "mu~uniform(0.25, 0.35)", "max(phiS)", "moreau-jean", 1e-4,
     NAN, 0.1},
    {"pendulum", "triple-pendulum", NULL, "g~uniform(9.5, 10)", "max(a1)", "moreau-jean", 1e-3, NAN,
     0.2},
    {"box", NULL, box, "a~uniform(0.4, 0.6)", "min(y)", "moreau-jean", 1e-3, NAN, 0.7},
    {"oscillator to 1e-9", NULL, oscillator, "e~uniform(0.5, 0.9)", "max(x)", "adaptive", NAN, 1e-9,
     5.0},
    {"pendulum to 1e-9", "triple-pendulum", NULL, "g~uniform(9.5, 10)", "max(a1)", "adaptive", NAN,
     1e-9, 0.5},
};

typedef struct table {
  double values[MEMBERS * COLUMNS];
  int statuses[MEMBERS];
  char reasons[MEMBERS][SALTUS_SWEEP_REASON];
  bool done[MEMBERS];
  double seconds, compiling; /* of computing, per member; to create the sweep */
  long long returned;
} table;

static double wall(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One thread. False: the backend is not available. */
static bool compute(const members_case* c, const char* backend, table* t) {
  char path[300];
  snprintf(path, sizeof path, SALTUS_SCENES "/%s.yaml", c->file != NULL ? c->file : "text");
  saltus_run_def run = saltus_run_def_default();
  run.scheme = c->scheme;
  run.step = isnan(c->step) ? run.step : c->step;
  run.tol = isnan(c->tol) ? run.tol : c->tol;
  run.until = c->until;
  saltus_sweep_def def = saltus_sweep_def_default();
  def.path = path;
  def.text = c->text;
  def.run = &run;
  def.axes = &c->axis;
  def.measures = &c->measure;
  def.axis_count = def.measure_count = 1;
  def.samples = MEMBERS;
  def.backend = backend;
  saltus_sweep* sweep;
  const double start = wall();
  if (saltus_sweep_create(&def, &sweep) != SALTUS_OK) {
    return false;
  }
  t->compiling = wall() - start;
  long long runs[MEMBERS];
  for (int i = 0; i < MEMBERS; i++) {
    runs[i] = i + 1 < MEMBERS ? i + 1 : 1; /* run 0 is compared with the interpreter */
  }
  const saltus_sweep_rows rows = {
      .values = t->values, .statuses = t->statuses, .reasons = t->reasons, .done = t->done};
  double best = 1e300;
  for (int k = 0; k < 3; k++) {
    const double from = bench_seconds();
    (void)saltus_sweep_compute(sweep, runs, MEMBERS, &rows);
    best = fmin(best, bench_seconds() - from);
  }
  t->seconds = best / MEMBERS;
  t->returned = saltus_sweep_get_view(sweep)->returned / 3;
  saltus_sweep_destroy(sweep);
  return true;
}

static double difference(const table* a, const table* b) {
  double most = 0.0;
  for (int i = 0; i < MEMBERS; i++) {
    const double off = fabs(a->values[2 * i + 1] - b->values[2 * i + 1]);
    most = off <= most ? most : off;
  }
  return most;
}

static int run(void) {
  table* tables = calloc(3, sizeof *tables);
  int failed = tables == NULL;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !failed; i++) {
    const members_case* c = &cases[i];
    if (!compute(c, "interpreter", &tables[0]) || !compute(c, "c:1", &tables[1]) ||
        !compute(c, "c", &tables[2])) {
      printf("  no C compiler\n");
      break;
    }
    const double off = fmax(difference(&tables[1], &tables[0]), difference(&tables[2], &tables[0]));
    printf("  %-18s %8.3g us a member; compiled %6.1f times as fast, in vectors %6.1f times; "
           "created in %.2f s; "
           "%lld of %d returned, difference %.1e\n",
           c->name, 1e6 * tables[0].seconds, tables[0].seconds / tables[1].seconds,
           tables[0].seconds / tables[2].seconds, tables[2].compiling, tables[2].returned, MEMBERS,
           off);
    failed = !(off <= (isnan(c->tol) ? 1e-12 : 10.0 * c->tol));
  }
  free(tables);
  return failed;
}

const bench bench_members = {
    .name = "members",
    .summary = "members of sweeps: compiled beside interpreted",
    .run = run,
};
