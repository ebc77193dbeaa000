/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_sweep_compiled.c - sweeps whose members are compiled: the same bits with 1, 4 and 8 lanes and on devices of
 * OpenCL, the values of the interpreter to rounding, and the interpreter where a scene, a member or the machine requires it.
 */
#include "saltus/saltus.h"
#include "saltus_test.h"
#include "sweep/device.h"
#include "sweep/kernel.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 25000, COLUMNS = 8 };

static const char oscillator[] =
    "saltus: 1\n"
    "parameters: {w: 2, z: 0.05, s: 0, e: 0.8, start: -0.5}\n"
    "coordinates: {x: {start: start, velocity: 0.2}}\n"
    "kinetic: x'^2/2\npotential: x^2/2\nforces: {x: cos(w*t) - 2*z*x'}\n"
    "contacts: [{name: stop, gap: s - x, restitution: e}]\n"
    "simulate: {until: 10, scheme: moreau-jean, step: 0.005}\n";

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
    "e}\n"
    "simulate: {until: 2, scheme: moreau-jean, step: 0.001}\n";

/* Two bodies at revolute joints: a drive by a formula, a force at a point, and a tip that strikes and slides on the floor. */
static const char arm[] =
    "saltus: 1\n"
    "parameters: {k: 6, w: 5, c: 0.2, mu: 0.3, e: 0.4, floor: 0.7}\n"
    "world: {dimension: 2, gravity: [0, -9.81]}\n"
    "bodies:\n"
    "  upper: {mass: 1, inertia: 0.1, position: [0.5, 1.2]}\n"
    "  lower: {mass: 0.5, inertia: 0.05, position: [1.4, 1.2]}\n"
    "markers:\n"
    "  base: {point: [0, 1.2]}\n"
    "  root: {body: upper, point: [-0.5, 0]}\n"
    "  elbow: {body: upper, point: [0.5, 0]}\n"
    "  knee: {body: lower, point: [-0.4, 0]}\n"
    "  tip: {body: lower, point: [0.4, 0]}\n"
    "joints:\n"
    "  - {name: shoulder, type: revolute, between: [base, root], actuator: \"k*sin(w*t)\"}\n"
    "  - {name: bend, type: revolute, between: [elbow, knee]}\n"
    "forces: [{name: air, at: tip, force: [\"-c*tip.x'\", \"-c*tip.y'\"]}]\n"
    "contacts: [{name: ground, gap: tip.y - floor, slip: tip.x, friction: mu, restitution: e}]\n"
    "simulate: {until: 1, scheme: moreau-jean, step: 0.001}\n";

typedef struct table {
  saltus_status status;
  double values[MOST * COLUMNS];
  int statuses[MOST];
  char reasons[MOST][SALTUS_SWEEP_REASON];
  bool done[MOST];
  long long runs, returned;
  int columns;
  uint64_t fingerprint; /* of tables that a sweep continues */
  bool compiled;
  long long compared;
  double difference;
} table;

static table tables[4];
static char said[1000];

static void listen(void* user, saltus_level level, const char* text) {
  (void)user;
  if (level != SALTUS_LEVEL_WARNING) {
    snprintf(said, sizeof said, "%s", text);
  }
}

static bool has_compiler(void) {
  return system("command -v cc >/dev/null 2>&1") == 0;
}

static void compute(saltus_sweep_def def, const char* backend, table* t) {
  def.backend = backend;
  def.log = (saltus_log){.write = listen};
  said[0] = '\0';
  memset(t, 0, sizeof *t);
  saltus_sweep* sweep;
  t->status = saltus_sweep_create(&def, &sweep);
  if (t->status != SALTUS_OK) {
    return;
  }
  const saltus_sweep_view* view = saltus_sweep_get_view(sweep);
  static long long runs[MOST];
  assert_true(view->runs <= MOST && view->axes + view->measures <= COLUMNS);
  for (int i = 0; i < view->runs; i++) {
    runs[i] = i;
  }
  const saltus_sweep_rows rows = {
      .values = t->values, .statuses = t->statuses, .reasons = t->reasons, .done = t->done};
  t->status = saltus_sweep_compute(sweep, runs, (int)view->runs, &rows);
  t->runs = view->runs;
  t->returned = view->returned;
  t->columns = view->axes + view->measures;
  t->compiled = view->compiled;
  t->compared = view->compared;
  t->difference = view->difference;
  t->fingerprint = view->fingerprint;
  saltus_sweep_destroy(sweep);
}

static double distance(const table* x, const table* y) {
  double most = 0.0;
  for (int i = 0; i < x->runs * x->columns; i++) {
    const double a = x->values[i], b = y->values[i];
    const bool equal = (isnan(a) && isnan(b)) || a == b;
    most = fmax(most, equal ? 0.0 : isnan(a - b) ? INFINITY : fabs(a - b) / fmax(1.0, fabs(b)));
  }
  return most;
}

typedef struct sweep_case {
  const char *name, *text; /* text NULL: a file of scenes/ */
  const char *axes[3], *measures[4];
  double step, until;
  int returned; /* most members, in percent */
} sweep_case;

static saltus_sweep_def def_of(const sweep_case* c, saltus_run_def* run, char path[200]) {
  *run = saltus_run_def_default();
  run->scheme = "moreau-jean";
  run->step = c->step > 0.0 ? c->step : run->step;
  run->until = c->until > 0.0 ? c->until : run->until;
  saltus_sweep_def def = saltus_sweep_def_default();
  snprintf(path, 200, "%s/%s.yaml", SALTUS_SCENES, c->name);
  def.path = path;
  def.text = c->text;
  def.axes = c->axes;
  def.measures = c->measures;
  for (; def.axis_count < 3 && c->axes[def.axis_count] != NULL; def.axis_count++) {
  }
  for (; def.measure_count < 4 && c->measures[def.measure_count] != NULL; def.measure_count++) {
  }
  def.run = run;
  def.samples = saltus_test_long() ? 10000 : 24; /* 10^5 over ten scenes */
  def.threads = 2;
  return def;
}

static saltus_sweep_def to_tolerance(const sweep_case* c, double tol, saltus_run_def* run,
                                     char path[200]) {
  saltus_sweep_def def = def_of(c, run, path);
  run->scheme = "adaptive";
  run->tol = tol;
  def.samples = saltus_test_long() ? 1000 : def.samples;
  return def;
}

static const sweep_case cases[] = {
    {"drop",
     NULL,
     {"h~uniform(0.5, 2)", "e~uniform(0.3, 0.9)"},
     {"max(y)", "n=count(impact)", "last(y)"},
     1e-3,
     2.0,
     0},
    {"oscillator-stop",
     oscillator,
     {"w~uniform(1.5, 4)", "start~uniform(-0.5, -0.1)", "e=0.5,0.8"},
     {"max(x)", "n=count(impact of stop)", "t=time(impact, 2)", "rms(x)"},
     0.0,
     0.0,
     0},
    {"woodpecker",
     NULL,
     {"mu~uniform(0.25, 0.35)", "c~uniform(0.0053, 0.0058)"},
     {"max(phiS)", "n=count(impact)", "last(y)", "min(gap of beak)"},
     1e-4,
     0.3,
     0},
    {"triple-pendulum",
     NULL,
     {"g~uniform(9.5, 10)", "a3'~uniform(0.9, 1.1)", "wall~uniform(1.0, 1.1)"},
     {"max(a1)", "mean(a3)", "n=count(impact of wall)"},
     1e-3,
     1.0,
     0},
    {"box",
     box,
     {"mu~uniform(0.25, 0.35)", "a~uniform(0.4, 0.6)", "p~uniform(0, 1)"},
     {"min(y)", "n=count(impact)", "last(p)"},
     0.0,
     0.0,
     0},
    {"pendulum-wall", NULL, {"g~uniform(9, 10)"}, {"max(q1)", "n=count(impact)"}, 1e-3, 1.0, 0},
    {"forced-ball", NULL, {"q~uniform(0, 0.5)"}, {"max(q)", "integral(q^2)"}, 1e-3, 3.0, 0},
    {"double-pendulum",
     NULL,
     {"g~uniform(9.5, 10)", "L~uniform(0.9, 1.1)", "e=0.1,0.5"},
     {"max(x1)", "n=count(impact)", "last(y2)", "min(gap of upper bob)"},
     5e-4,
     1.5,
     0},
    {"arm",
     arm,
     {"k~uniform(5, 7)", "mu~uniform(0.2, 0.4)", "floor~uniform(0.6, 0.7)"},
     {"max(lower.angle)", "n=count(impact)", "last(tip.x)", "mean(upper.angle)"},
     0.0,
     0.0,
     0},
    {"polar-wall",
     NULL,
     {"k~uniform(90, 110)", "mu~uniform(0.1, 0.3)"},
     {"max(l)", "last(phi)"},
     1e-3,
     1.0,
     0},
};

static void lanes_have_the_same_bits(void** state) {
  (void)state;
  long long members = 0, returned = 0; /* of them by the interpreter */
  if (!has_compiler()) {
    print_message("no C compiler\n");
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const sweep_case* c = &cases[i];
    static const char* const backends[] = {"interpreter", "c:1", "c:4", "c:8"};
    char path[200];
    saltus_run_def run;
    const saltus_sweep_def def = def_of(c, &run, path);
    for (int b = 0; b < 4; b++) {
      compute(def, backends[b], &tables[b]);
      if (tables[b].status != SALTUS_OK || tables[b].compiled != (b > 0)) {
        fail_msg("%s, %s: %s", c->name, backends[b], said);
      }
    }
    const double off = distance(&tables[1], &tables[0]);
    print_message("%s: %g from the interpreter, %lld of %lld returned\n", c->name, off,
                  tables[1].returned, tables[1].runs);
    assert_true(off <= 1e-12);
    members += tables[1].runs;
    returned += tables[1].returned;
    assert_true(100 * tables[1].returned <= c->returned * tables[1].runs);
    for (int b = 2; b < 4; b++) {
      assert_memory_equal(tables[b].values, tables[1].values,
                          (size_t)(tables[1].runs * tables[1].columns) * sizeof(double));
      assert_int_equal(tables[b].returned, tables[1].returned);
    }
  }
  print_message("%lld members, %lld of them by the interpreter\n", members, returned);
  assert_true(!saltus_test_long() || members >= 100000);
}

/* Schemes with a tolerance: impacts, rest after accumulations, release by a growing force, curved gaps. Times and spreads
 * of the axes exclude members near grazing, whose errors are amplified. */
static const sweep_case events[] = {
    {"oscillator-stop",
     oscillator,
     {"w~uniform(1.5, 4)", "start~uniform(-0.5, -0.1)"},
     {"rms(x)", "n=count(impact of stop)", "t=time(impact, 2)", "last(x)"},
     0.0,
     5.0,
     0},
    {"ball",
     NULL,
     {"q~uniform(0.5, 2)", "q'~uniform(-1, 1)"},
     {"max(q)", "t=time(accumulation of floor)", "integral(q^2)"},
     0.0,
     5.0,
     0},
    {"forced-ball",
     NULL,
     {"q=0,0.3,1", "q'~uniform(0, 0.5)"},
     {"max(q)", "t=time(impact)", "mean(q)", "last(q)"},
     0.0,
     3.0,
     0},
    {"shaken-ball",
     NULL,
     {"G~uniform(0.9, 1.2)"},
     {"max(y)", "n=count(impact)", "min(gap of table)", "mean(y)"},
     0.0,
     1.0,
     0},
    {"triple-pendulum",
     NULL,
     {"g~uniform(9.5, 10)", "wall~uniform(1.0, 1.1)"},
     {"max(a1)", "n=count(impact of wall)", "mean(a3)", "min(gap of wall)"},
     0.0,
     1.5,
     0},
};

/* The interpreter has a hundredth of the tolerance, so that the difference is the error of the kernel. */
static void events_are_located_to_the_tolerance(void** state) {
  (void)state;
  if (!has_compiler()) {
    print_message("no C compiler\n");
    skip();
  }
  for (size_t i = 0; i < 2 * sizeof events / sizeof events[0]; i++) {
    const sweep_case c = events[i / 2];
    const double tol = i % 2 == 0 ? 1e-6 : 1e-9;
    static const char* const backends[] = {"interpreter", "c:1", "c:8", "c:4"};
    const int count = tol > 1e-8 ? 3 : saltus_test_long() ? 4 : 2;
    for (int b = 0; b < count; b++) {
      char path[200];
      saltus_run_def run;
      compute(to_tolerance(&c, b > 0 ? tol : 0.01 * tol, &run, path), backends[b], &tables[b]);
      if (tables[b].status != SALTUS_OK || tables[b].compiled != (b > 0)) {
        fail_msg("%s, %s: %s", c.name, backends[b], said);
      }
    }
    const double off = distance(&tables[1], &tables[0]);
    print_message("%s, %g: %.2g tolerances, %lld of %lld returned\n", c.name, tol, off / tol,
                  tables[1].returned, tables[1].runs);
    assert_true(off <= 10.0 * tol);
    assert_int_equal(tables[1].returned, 0);
    for (int b = 2; b < count; b++) {
      assert_memory_equal(tables[b].values, tables[1].values,
                          (size_t)(tables[1].runs * tables[1].columns) * sizeof(double));
    }
  }
}

/* Impacts of an accumulation count while they change velocities by a tenth of the tolerance, in both alike. */
static void impacts_of_accumulations_are_counted_alike(void** state) {
  (void)state;
  const sweep_case c = {"ball", NULL, {"q~uniform(0.5, 2)"}, {"n=count(impact)"}, 0.0, 5.0, 0};
  if (!has_compiler()) {
    skip();
  }
  char path[200];
  saltus_run_def run;
  const saltus_sweep_def def = to_tolerance(&c, 1e-7, &run, path);
  compute(def, "interpreter", &tables[0]);
  compute(def, "c", &tables[1]);
  assert_true(tables[0].values[1] > 20.0);
  assert_true(distance(&tables[1], &tables[0]) == 0.0);
}

/* The least x lies just before the end of a step, below all samples and less than 1e-4 beyond the least value before. */
static void extremes_beside_ends_of_steps_are_found(void** state) {
  (void)state;
  const sweep_case c = {
      "",         oscillator, {"e=0.9,0.6696341759998001", "start=-0.36437470302388153"},
      {"min(x)"}, 0.0,        62.83185307179586,
      0};
  if (!has_compiler()) {
    skip();
  }
  char path[200];
  saltus_run_def run;
  saltus_sweep_def def = to_tolerance(&c, 1e-11, &run, path);
  def.samples = 1;
  compute(def, "interpreter", &tables[0]);
  run.tol = 1e-9;
  compute(def, "c", &tables[1]);
  assert_true(tables[1].compiled);
  assert_true(distance(&tables[1], &tables[0]) <= 1e-8);
}

/* Two bodies that both rest at the end: more than one closed contact. */
static const char two_floors[] =
    "saltus: 1\n"
    "parameters: {h: 1}\n"
    "coordinates: {x: {start: h}, y: {start: 0.5}}\n"
    "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*(x + y)\n"
    "contacts: [{name: a, gap: x, restitution: 0.5}, {name: b, gap: y, restitution: 0.5}]\n"
    "simulate: {until: 4, tol: 1e-8}\n";

static void members_with_several_closed_contacts_are_interpreted(void** state) {
  (void)state;
  const sweep_case c = {
      "", two_floors, {"h=0.5,1,100"}, {"max(x)", "t=time(accumulation of a)"}, 0.0, 0.0, 0};
  if (!has_compiler()) {
    skip();
  }
  char path[200];
  saltus_run_def run;
  saltus_sweep_def def = to_tolerance(&c, 1e-8, &run, path);
  def.samples = 1;
  compute(def, "interpreter", &tables[0]);
  compute(def, "c", &tables[1]);
  assert_true(tables[1].compiled);
  assert_int_equal(tables[1].returned, 2); /* from 100 m one is still falling */
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tables[1].statuses[i], SALTUS_OK);
  }
  assert_true(distance(&tables[1], &tables[0]) <= 1e-7);
}

/* A spike of 1 ms, shorter than the distance of samples, is found by adaptive alone. */
static const char spike[] =
    "saltus: 1\n"
    "parameters: {k: 1}\n"
    "coordinates: {x: {start: 0.5}}\n"
    "kinetic: x'^2/2\npotential: k*(x - 0.4)^2/2\n"
    "contacts: [{name: rod, gap: x - 1/(1 + ((t - 1)/0.001)^2), restitution: 0.5}]\n"
    "simulate: {until: 4, tol: 1e-6}\n";

static void missed_events_are_errors_of_compared_members(void** state) {
  (void)state;
  const sweep_case c = {"", spike, {"k=1,2"}, {"max(x)"}, 0.0, 0.0, 0};
  if (!has_compiler()) {
    skip();
  }
  char path[200];
  saltus_run_def run;
  saltus_sweep_def def = to_tolerance(&c, 1e-6, &run, path);
  def.samples = 1;
  compute(def, "c", &tables[0]);
  assert_true(tables[0].compiled);
  assert_int_equal(tables[0].statuses[0], SALTUS_ERR_ACCURACY);
  assert_non_null(strstr(tables[0].reasons[0], "differs from adaptive"));
  compute(def, "auto", &tables[1]);
  assert_false(tables[1].compiled);
  assert_non_null(strstr(said, "samples"));
  assert_int_equal(tables[1].statuses[0], SALTUS_OK);
  assert_true(tables[1].values[1] > 1.0);
}

static void devices_have_the_same_bits(void** state) {
  (void)state;
  const int count = saltusi_device_count(SALTUSI_DEVICE_OPENCL);
  if (count == 0 || !has_compiler()) {
    print_message("no device of OpenCL with double precision, or no C compiler\n");
    skip();
  }
  const size_t fixed = sizeof cases / sizeof cases[0],
               all = fixed + sizeof events / sizeof events[0];
  for (size_t i = 0; i < all; i += saltus_test_long() ? 1 : i < fixed ? 2 : 3) {
    char path[200], last[32];
    saltus_run_def run;
    const sweep_case c = i < fixed ? cases[i] : events[i - fixed];
    saltus_sweep_def def = i < fixed ? def_of(&c, &run, path) : to_tolerance(&c, 1e-9, &run, path);
    compute(def, "c", &tables[0]);
    compute(def, "opencl", &tables[1]);
    snprintf(last, sizeof last, "%d,%d", count - 1, count - 1);
    def.devices = last;
    compute(def, "opencl", &tables[2]);
    for (int b = 1; b < 3; b++) {
      if (tables[b].status != SALTUS_OK) {
        fail_msg("%s: %s", c.name, said);
      }
      assert_true(tables[b].compiled && tables[b].fingerprint == tables[0].fingerprint);
      assert_int_equal(tables[b].returned, tables[0].returned);
      assert_memory_equal(tables[b].values, tables[0].values,
                          (size_t)(tables[0].runs * tables[0].columns) * sizeof(double));
    }
  }
}

/* Without a GPU the sources of kernels are compiled alone. */
static void kernels_compile_for_gpus(void** state) {
  (void)state;
  const saltus_allocator memory = saltus_allocator_default();
  saltusi_bytes cubin = {.memory = &memory};
  char text[16384];
  snprintf(text, sizeof text,
           "%sKERNEL void saltus_members(GLOBAL const double* in, GLOBAL double* state, long n, "
           "double first, long steps) { ONE_LANE { store(state + at, SEL(load(in + at) > 0.0, "
           "ksin(load(in + at)), K(NAN)) + ktan(K(0.5)) + kexp(K(first)) + klog(K(2.0))); } }\n",
           saltusi_kernel_prelude);
  assert_true(strlen(text) + 1 < sizeof text);
  const char* why = saltusi_device_cubin(text, 90, false, &cubin);
  if (why != NULL && strstr(why, "libnvrtc") != NULL) {
    print_message("no NVRTC\n");
    skip();
  }
  assert_null(why);
  assert_true(cubin.count > 1000 && memcmp(cubin.at + 1, "ELF", 3) == 0);
  saltusi_bytes_free(&cubin);
}

/* Contracted members differ by rounding, are compared, and do not continue tables of strict ones. */
static void fast_members_are_compared(void** state) {
  (void)state;
  if (!has_compiler()) {
    skip();
  }
  for (size_t i = 2; i < sizeof cases / sizeof cases[0]; i += saltus_test_long() ? 1 : 3) {
    char path[200];
    saltus_run_def run;
    const saltus_sweep_def def = def_of(&cases[i], &run, path);
    compute(def, "c", &tables[0]);
    compute(def, "c-fast", &tables[1]);
    assert_int_equal(tables[1].status, SALTUS_OK);
    print_message("%s: %g\n", cases[i].name, distance(&tables[1], &tables[0]));
    assert_true(distance(&tables[1], &tables[0]) <= 1e-12); /* largest: 7.5e-15 */
    assert_true(tables[1].fingerprint != tables[0].fingerprint);
    assert_true(tables[1].compared >= 1 && tables[1].difference <= 1e-12);
  }
}

static void missing_devices_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *backend, *devices, *says;
  } wrong[] = {{"opencl", "99", ""},
               {"cuda", "63", ""},
               {"opencl", "0;1", "numbers"},
               {"opencl", "-1", "numbers"},
               {"opencl", "x", "numbers"}};
  const sweep_case c = {"", oscillator, {"e=0.5,0.8"}, {"max(x)"}, 0.0, 0.5, 0};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char path[200];
    saltus_run_def run;
    saltus_sweep_def def = def_of(&c, &run, path);
    def.samples = 1;
    def.devices = wrong[i].devices;
    compute(def, wrong[i].backend, &tables[0]);
    assert_int_equal(tables[0].status, SALTUS_ERR_UNSUPPORTED);
    assert_non_null(strstr(said, wrong[i].says));
    assert_non_null(strstr(said, wrong[i].backend));
  }
}

static void members_out_of_range_fail_as_in_the_interpreter(void** state) {
  (void)state;
  const sweep_case c = {
      "oscillator-stop", oscillator, {"e=0.5,0.9,1.5", "start=-0.5,0.5"}, {"max(x)"}, 0.0, 0.0, 0};
  if (!has_compiler()) {
    skip();
  }
  char path[200];
  saltus_run_def run;
  saltus_sweep_def def = def_of(&c, &run, path);
  def.samples = 1;
  compute(def, "interpreter", &tables[0]);
  compute(def, "c", &tables[1]);
  assert_true(tables[1].compiled);
  assert_int_equal(tables[1].returned, 4);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(tables[0].statuses[i], tables[1].statuses[i]);
    assert_string_equal(tables[0].reasons[i], tables[1].reasons[i]);
  }
  assert_int_not_equal(tables[1].statuses[2], SALTUS_OK);
  assert_true(distance(&tables[1], &tables[0]) <= 1e-12);
}

static void other_scenes_are_refused_or_interpreted(void** state) {
  (void)state;
  static const struct {
    sweep_case c;
    const char* says;
  } wrong[] = {
      {{"", arm, {"mu=0.2,0.3"}, {"max(shoulder.force.x)"}, 0.0, 0.1, 0}, "measures"},
      {{"", arm, {"upper.y=1.2,1.3"}, {"n=count(impact)"}, 0.0, 0.1, 0}, "starts of bodies"},
      {{"machine-press", NULL, {"mu=0.2,0.3"}, {"n=count(impact)"}, 1e-3, 0.01, 0}, ""},
      {{"", oscillator, {"e=0.5,0.8"}, {"sum(impulse of stop)"}, 0.0, 0.1, 0}, "measures"},
      {{"", oscillator, {"e=0.5,0.8"}, {"max(atan(x))"}, 0.0, 0.1, 0}, "function"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char path[200];
    saltus_run_def run;
    saltus_sweep_def def = def_of(&wrong[i].c, &run, path);
    def.samples = 1;
    compute(def, "interpreter", &tables[0]);
    if (tables[0].status != SALTUS_OK) {
      continue; /* this scene has no such parameter */
    }
    compute(def, "c", &tables[1]);
    assert_int_equal(tables[1].status, SALTUS_ERR_UNSUPPORTED);
    assert_non_null(strstr(said, wrong[i].says));
    compute(def, "auto", &tables[2]);
    assert_int_equal(tables[2].status, SALTUS_OK);
    assert_false(tables[2].compiled);
    assert_non_null(strstr(said, "interpreted"));
    assert_true(distance(&tables[2], &tables[0]) == 0.0);
  }
}

static void without_a_compiler_members_are_interpreted(void** state) {
  (void)state;
  char path[200];
  saltus_run_def run;
  const sweep_case c = {"", oscillator, {"e=0.5,0.8"}, {"max(x)"}, 0.0, 0.5, 0};
  saltus_sweep_def def = def_of(&c, &run, path);
  def.samples = 1;
  def.compiler = "/no/such/compiler";
  compute(def, "c", &tables[0]);
  assert_int_equal(tables[0].status, SALTUS_ERR_UNSUPPORTED);
  compute(def, "auto", &tables[0]);
  assert_int_equal(tables[0].status, SALTUS_OK);
  assert_false(tables[0].compiled);
  compute(def, "quantum", &tables[0]);
  assert_int_equal(tables[0].status, SALTUS_ERR_INPUT);
  assert_non_null(strstr(said, "allowed"));
}

/* Errors of the elementary functions of kernels in units of the last place, against long double. */
static void elementary_functions_have_the_stated_errors(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double low, high, ulp;
    long double (*exact)(long double);
  } functions[] = {{"ksin", -100.0, 100.0, 1.6, sinl}, {"kcos", -100.0, 100.0, 1.6, cosl},
                   {"ksin", -1e5, 1e5, 2.5, sinl},     {"kcos", -1e5, 1e5, 2.5, cosl},
                   {"ktan", -1.5, 1.5, 3.0, tanl},     {"kexp", -600.0, 600.0, 1.0, expl},
                   {"klog", 1e-3, 1e3, 1.0, logl}};
  char folder[] = "/tmp/saltus-k-XXXXXX", file[100], command[400];
  if (!has_compiler() || sizeof(long double) <= sizeof(double)) {
    skip();
  }
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/k.c", folder);
  FILE* out = fopen(file, "w");
  fputs(saltusi_kernel_prelude, out);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    fprintf(out, "double f%d(double x) { return %s(x); }\n", (int)i, functions[i].name);
  }
  fclose(out);
  snprintf(command, sizeof command,
           "cc -std=gnu11 -O2 -w -ffp-contract=off -fPIC -shared -o %s/k.so %s -lm", folder, file);
  assert_int_equal(system(command), 0);
  snprintf(file, sizeof file, "%s/k.so", folder);
  void* library = dlopen(file, RTLD_NOW);
  assert_non_null(library);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    char name[8];
    snprintf(name, sizeof name, "f%d", (int)i);
    double (*f)(double) = (double (*)(double))(uintptr_t)dlsym(library, name);
    double worst = 0.0;
    const int count = saltus_test_long() ? 10000000 : 200000;
    for (int k = 0; k < count; k++) {
      const double part = fmod(k * 0.6180339887498949, 1.0);
      const double x = functions[i].low + part * (functions[i].high - functions[i].low);
      const long double want = functions[i].exact((long double)x);
      int power;
      (void)frexpl(want, &power);
      worst = fmax(worst, (double)(fabsl((long double)f(x) - want) / ldexpl(1.0L, power - 53)));
    }
    print_message("%s: %.3f ulp\n", functions[i].name, worst);
    assert_true(worst <= functions[i].ulp);
    assert_true(isnan(f(i < 5 ? 1e6 : i == 5 ? 800.0 : -1.0)) || i == 4);
  }
  dlclose(library);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_have_the_same_bits),
      cmocka_unit_test(events_are_located_to_the_tolerance),
      cmocka_unit_test(impacts_of_accumulations_are_counted_alike),
      cmocka_unit_test(extremes_beside_ends_of_steps_are_found),
      cmocka_unit_test(members_with_several_closed_contacts_are_interpreted),
      cmocka_unit_test(missed_events_are_errors_of_compared_members),
      cmocka_unit_test(devices_have_the_same_bits),
      cmocka_unit_test(kernels_compile_for_gpus),
      cmocka_unit_test(fast_members_are_compared),
      cmocka_unit_test(missing_devices_are_refused),
      cmocka_unit_test(members_out_of_range_fail_as_in_the_interpreter),
      cmocka_unit_test(other_scenes_are_refused_or_interpreted),
      cmocka_unit_test(without_a_compiler_members_are_interpreted),
      cmocka_unit_test(elementary_functions_have_the_stated_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
