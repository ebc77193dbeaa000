/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Sweeps: points that are a function of the run alone, measures against closed forms, tables that survive being cut.
 *
 * The ball falls from h with acceleration 2 onto a floor with restitution 1/2: impacts at s (3 - 2^(1-n)), s = sqrt(h), their
 * accumulation at 3 s, and the integral of its height is h^(3/2) (2/3 + 4/21).
 */
#include "saltus/saltus.h"
#include "saltus_test.h"
#include "sweep/points.h"
#include "sweep/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ball[] = "saltus: 1\n"
                           "parameters: {e: 1/2, h0: 1}\n"
                           "coordinates: {q: {start: h0}}\n"
                           "kinetic: q'^2/2\n"
                           "potential: 2*q\n"
                           "contacts: [{name: floor, gap: q, restitution: e}]\n"
                           "events: {low: q - h0/2}\n"
                           "simulate: {until: 5}\n";

enum { MOST = 4096 };

static saltus_sweep_rows make_rows(int columns) {
  return (saltus_sweep_rows){.values = calloc((size_t)MOST * (size_t)columns, sizeof(double)),
                             .statuses = calloc(MOST, sizeof(int)),
                             .reasons = calloc(MOST, SALTUS_SWEEP_REASON),
                             .done = calloc(MOST, sizeof(bool))};
}

static void free_rows(saltus_sweep_rows* r) {
  free(r->values);
  free(r->statuses);
  free(r->reasons);
  free(r->done);
}

/* What the log said last. */
static char said[1000];

static void listen(void* user, saltus_level level, const char* text) {
  (void)user;
  (void)level;
  snprintf(said, sizeof said, "%s", text);
}

static saltus_sweep_def def_of(const char* const* axes, int axis_count, const char* const* measures,
                               int measure_count, saltus_run_def* run) {
  *run = saltus_run_def_default();
  run->tol = 1e-10;
  saltus_sweep_def def = saltus_sweep_def_default();
  def.text = ball;
  def.axes = axes;
  def.axis_count = axis_count;
  def.measures = measures;
  def.measure_count = measure_count;
  def.run = run;
  def.log = (saltus_log){.write = listen};
  return def;
}

/* ---- random numbers ---- */

static void philox_gives_the_published_answers(void** state) {
  (void)state;
  /* known answers of the authors' library: all zeros, all ones, digits of pi */
  const uint32_t counters[3][4] = {{0, 0, 0, 0},
                                   {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                                   {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
  const uint32_t keys[3][2] = {{0, 0}, {0xffffffff, 0xffffffff}, {0xa4093822, 0x299f31d0}};
  const uint32_t answers[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                  {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                  {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (int i = 0; i < 3; i++) {
    uint32_t out[4];
    saltusi_philox(counters[i], keys[i], out);
    for (int k = 0; k < 4; k++) {
      assert_int_equal(out[k], answers[i][k]);
    }
  }
}

static void quantiles_invert_the_normal_distribution(void** state) {
  (void)state;
  for (int i = 1; i < 2000; i++) {
    const double p = i < 1000 ? pow(10.0, -0.3 * i) : (i - 999.5) / 1001.0;
    if (p < 1e-290) {
      continue;
    }
    const double x = saltusi_normal_quantile(p);
    /* x is to rounding: p moves by |x| times as much, relatively, in the tail */
    assert_true(fabs(0.5 * erfc(-x / sqrt(2.0)) - p) <= 4e-15 * p * (1.0 + x * x));
  }
  assert_true(fabs(saltusi_normal_quantile(0.975) - 1.959963984540054) < 1e-14);
}

static void places_are_a_permutation(void** state) {
  (void)state;
  const int counts[] = {1, 2, 3, 5, 64, 1000, 4096};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    bool seen[4096] = {false};
    int moved = 0;
    for (int i = 0; i < counts[c]; i++) {
      const uint64_t place = saltusi_random_place(7, 3, (uint64_t)counts[c], (uint64_t)i);
      assert_true(place < (uint64_t)counts[c]);
      assert_false(seen[place]);
      seen[place] = true;
      moved += place != (uint64_t)i;
    }
    assert_true(counts[c] < 64 || moved > counts[c] / 2);
  }
}

/* Every elementary interval of volume 2^-8 holds one of the first 2^8 points in the plane of the first two axes; in every other
 * axis every interval of length 2^-8 does. */
static void sobol_points_are_a_net(void** state) {
  (void)state;
  enum { M = 8, N = 1 << M };
  for (int k = 0; k <= M; k++) {
    int count[N] = {0};
    for (uint32_t i = 0; i < N; i++) {
      const uint32_t a = k > 0 ? saltusi_sobol(0, i) >> (32 - k) : 0;
      const uint32_t b = k < M ? saltusi_sobol(1, i) >> (32 - (M - k)) : 0;
      count[a << (M - k) | b]++;
    }
    for (int i = 0; i < N; i++) {
      assert_int_equal(count[i], 1);
    }
  }
  for (int axis = 0; axis < SALTUS_SWEEP_SOBOL_AXES; axis++) {
    int count[N] = {0};
    for (uint32_t i = 0; i < N; i++) {
      count[saltusi_sobol(axis, i) >> (32 - M)]++;
    }
    for (int i = 0; i < N; i++) {
      assert_int_equal(count[i], 1);
    }
  }
}

/* ---- points ---- */

static void points_of_a_grid_and_samples(void** state) {
  (void)state;
  const char* axes[] = {"e=0.1:0.9:5", "h0~uniform(1, 2)", "q=1,2,pi/2", "q'=1:100:3 log"};
  const char* measures[] = {"last(q)"};
  saltus_run_def run;
  saltus_sweep_def def = def_of(axes, 4, measures, 1, &run);
  def.samples = 7;
  def.sampling = SALTUS_SAMPLING_LATIN;
  saltus_sweep* sweep;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  const saltus_sweep_view* view = saltus_sweep_get_view(sweep);
  assert_int_equal(view->runs, 5 * 3 * 3 * 7);
  assert_int_equal(view->grid, 45);
  double v[4];
  bool strata[7] = {false};
  for (long long i = 0; i < view->runs; i++) {
    saltus_sweep_point(sweep, i, v);
    assert_true(v[0] == 0.1 + (0.9 - 0.1) * ((double)(i % 5) / 4.0) || i % 5 == 4);
    assert_true(i % 5 != 4 || v[0] == 0.9);
    const double q[3] = {1.0, 2.0, 2.0 * atan(1.0)};
    assert_true(v[2] == q[i / 5 % 3]);
    assert_true(fabs(v[3] - pow(10.0, (double)(i / 15 % 3))) < 1e-12 * v[3]);
    if (i % 45 == 0) {
      const int stratum = (int)((v[1] - 1.0) * 7.0);
      assert_false(strata[stratum]);
      strata[stratum] = true;
    }
  }
  saltus_sweep_destroy(sweep);
}

static void wrong_axes_and_measures_are_refused(void** state) {
  (void)state;
  const char* axes[][2] = {{"e", "an axis is"},
                           {"e=1:2", "an axis is"},
                           {"e=1:2:0", "whole number"},
                           {"e=1:2:2.5", "whole number"},
                           {"e=-1:2:3 log", "positive"},
                           {"e~gauss(0,1)", "an axis is"},
                           {"e~normal(0,-1)", "negative"},
                           {"e~uniform(2,1)", "above"},
                           {"e=1,x", "an axis is"},
                           {"f=1:2:3", "no parameter"}};
  saltus_run_def run;
  saltus_sweep* sweep;
  const char* measure[] = {"last(q)"};
  for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
    saltus_sweep_def def = def_of(axes[i], 1, measure, 1, &run);
    said[0] = '\0';
    assert_int_not_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
    assert_null(sweep);
    assert_non_null(strstr(said, axes[i][1]));
  }
  const char* measures[][2] = {{"q", "nothing in it is of a run"},
                               {"max(q", "not closed"},
                               {"max()", "nothing stands between"},
                               {"last(x)", "unknown name"},
                               {"time(impact of wall)", "no contact"},
                               {"time(bang)", "no event"},
                               {"time(impact, 0)", "whole number"},
                               {"sum(q)", "integral"},
                               {"max(force of pin)", "contact or joint"},
                               {"max(q) +", ""},
                               {"max(q)*x", "unknown name"}};
  const char* axis[] = {"e=0.5"};
  for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) {
    saltus_sweep_def def = def_of(axis, 1, measures[i], 1, &run);
    said[0] = '\0';
    assert_int_not_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
    assert_non_null(strstr(said, measures[i][1]));
    assert_true(said[0] != '\0');
  }
}

/* ---- measures ---- */

static void measures_have_the_values_of_closed_forms(void** state) {
  (void)state;
  const char* axes[] = {"h0=0.25,1,1.7"};
  const char* measures[] = {"time(accumulation of floor)",
                            "max(q)",
                            "min(q)",
                            "integral(q)",
                            "n=count(low)",
                            "max(q')",
                            "min(q')",
                            "time(impact,3)",
                            "time(impact)",
                            "first(impulse of floor)",
                            "sum(impulse of floor)",
                            "max(q)/last(h0) + 1",
                            "mean(force of floor)",
                            "last(q)",
                            "wear(floor)",
                            "rms(q - h0)",
                            "max(-abs(t - 0.3))",
                            "time(low, -1)"};
  enum { COUNT = sizeof measures / sizeof measures[0] };
  saltus_run_def run;
  saltus_sweep_def def = def_of(axes, 1, measures, COUNT, &run);
  saltus_sweep* sweep;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  const saltus_sweep_rows r = make_rows(1 + COUNT);
  const long long runs[] = {0, 1, 2};
  assert_int_equal(saltus_sweep_compute(sweep, runs, 3, &r), SALTUS_OK);
  for (int i = 0; i < 3; i++) {
    const double* v = r.values + (size_t)i * (1 + COUNT);
    const double h = v[0], s = sqrt(h), area = h * s * (2.0 / 3.0 + 4.0 / 21.0);
    const double near = 1e-9;
    assert_int_equal(r.statuses[i], SALTUS_OK);
    assert_true(fabs(v[1] - 3.0 * s) < near);
    assert_true(v[2] == h);
    assert_true(fabs(v[3]) < near);
    assert_true(fabs(v[4] - area) < near);
    assert_true(v[5] == 1.0); /* h/2 is passed once: it comes back to h/4 */
    assert_true(fabs(v[6] - s) < near);
    assert_true(fabs(v[7] + 2.0 * s) < near);
    assert_true(fabs(v[8] - s * (1.0 + 1.0 + 0.5)) < near);
    assert_true(fabs(v[9] - s) < near);
    assert_true(fabs(v[10] - 3.0 * s) < near);
    /* momentum: impulses and lasting force carry the weight, and what it had fallen with */
    assert_true(fabs(v[11] + 5.0 * v[13] - 10.0) < 1e-7);
    assert_true(fabs(v[11] - 6.0 * s) < 1e-7);
    assert_true(v[12] == 2.0);
    assert_true(fabs(v[14]) < near);
    assert_true(v[15] == 0.0);
    /* (q - h)^2: fall s^5/5, a bounce v^5/30 - h v^3/3 + h^2 v for v = s, s/2, ..., rest h^2 */
    const double s5 = h * h * s;
    const double square =
        s5 * (1.0 / 5.0 + 32.0 / 930.0 - 8.0 / 21.0 + 2.0) + h * h * (5.0 - 3.0 * s);
    assert_true(fabs(v[16] - sqrt(square / 5.0)) < near);
    assert_true(fabs(v[17]) < 1e-9); /* a kink inside a step */
    assert_true(fabs(v[18] - sqrt(h / 2.0)) < near);
  }
  saltus_sweep_destroy(sweep);
  saltus_sweep_rows freed = r;
  free_rows(&freed);
}

/* A scheme without dense output has the values at the ends of its steps, and first order. */
static void measures_of_fixed_steps_converge(void** state) {
  (void)state;
  const char* axes[] = {"h0=1"};
  const char* measures[] = {"integral(q)", "min(q')"};
  double error[2];
  for (int k = 0; k < 2; k++) {
    saltus_run_def run;
    saltus_sweep_def def = def_of(axes, 1, measures, 2, &run);
    run.tol = NAN;
    run.scheme = "moreau-jean";
    run.step = k == 0 ? 1e-3 : 1e-4;
    saltus_sweep* sweep;
    assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
    saltus_sweep_rows r = make_rows(3);
    const long long first = 0;
    assert_int_equal(saltus_sweep_compute(sweep, &first, 1, &r), SALTUS_OK);
    error[k] = fabs(r.values[1] - (2.0 / 3.0 + 4.0 / 21.0));
    assert_true(fabs(r.values[2] + 2.0) <= 3.0 * run.step);
    free_rows(&r);
    saltus_sweep_destroy(sweep);
  }
  assert_true(error[0] < 5e-3 && error[1] < 0.2 * error[0]);
}

static void any_number_of_threads_gives_the_same_bits(void** state) {
  (void)state;
  const char* axes[] = {"e~uniform(0.1, 0.9)", "h0=0.5:1.5:10"};
  const char* measures[] = {"time(accumulation)", "max(q')", "integral(q)"};
  enum { RUNS = 200, COLUMNS = 5 };
  saltus_sweep_rows r[3];
  long long runs[RUNS];
  for (int k = 0; k < 3; k++) {
    saltus_run_def run;
    saltus_sweep_def def = def_of(axes, 2, measures, 3, &run);
    run.tol = 1e-6;
    def.samples = 20;
    def.seed = 99;
    def.threads = k + 1;
    saltus_sweep* sweep;
    assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
    r[k] = make_rows(COLUMNS);
    for (int i = 0; i < RUNS; i++) {
      runs[i] = k == 2 ? RUNS - 1 - i : i;
    }
    assert_int_equal(saltus_sweep_compute(sweep, runs, RUNS, &r[k]), SALTUS_OK);
    saltus_sweep_destroy(sweep);
  }
  assert_memory_equal(r[0].values, r[1].values, RUNS * COLUMNS * sizeof(double));
  for (int i = 0; i < RUNS; i++) {
    assert_memory_equal(r[0].values + (size_t)i * COLUMNS,
                        r[2].values + (size_t)(RUNS - 1 - i) * COLUMNS, COLUMNS * sizeof(double));
  }
  for (int k = 0; k < 3; k++) {
    free_rows(&r[k]);
  }
}

static void runs_that_fail_say_why(void** state) {
  (void)state;
  const char* axes[] = {"h0=1,-1,2"}; /* the second starts below the floor */
  const char* measures[] = {"last(q)"};
  saltus_run_def run;
  saltus_sweep_def def = def_of(axes, 1, measures, 1, &run);
  saltus_sweep* sweep;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  saltus_sweep_rows r = make_rows(2);
  const long long runs[] = {0, 1, 2};
  assert_int_equal(saltus_sweep_compute(sweep, runs, 3, &r), SALTUS_OK);
  assert_int_equal(r.statuses[0], SALTUS_OK);
  assert_int_equal(r.statuses[1], SALTUS_ERR_INPUT);
  assert_int_equal(r.statuses[2], SALTUS_OK);
  assert_true(r.reasons[0][0] == '\0');
  assert_non_null(strstr(r.reasons[1], "floor"));
  assert_true(isnan(r.values[3]) && r.values[2] == -1.0);
  free_rows(&r);
  saltus_sweep_destroy(sweep);
}

static void a_run_that_takes_too_long_is_ended(void** state) {
  (void)state;
  const char* axes[] = {"h0=1"};
  const char* measures[] = {"last(q)"};
  saltus_run_def run;
  saltus_sweep_def def = def_of(axes, 1, measures, 1, &run);
  run.tol = NAN;
  run.scheme = "moreau-jean";
  run.step = 1e-9; /* 5e9 steps */
  def.time_limit = 0.05;
  saltus_sweep* sweep;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  saltus_sweep_rows r = make_rows(2);
  const long long first = 0;
  assert_int_equal(saltus_sweep_compute(sweep, &first, 1, &r), SALTUS_OK);
  assert_int_equal(r.statuses[0], SALTUS_ERR_STOPPED);
  assert_true(r.done[0]);
  assert_non_null(strstr(r.reasons[0], "0.05 s of computing time"));
  free_rows(&r);
  saltus_sweep_destroy(sweep);
}

/* ---- tables ---- */

static void a_table_keeps_whole_rows_and_no_others(void** state) {
  (void)state;
  const char* axes[] = {"e=0.1:0.9:9", "h0~uniform(1,2)"};
  const char* measures[] = {"a=time(accumulation)", "last(q)"};
  enum { RUNS = 27, COLUMNS = 4 };
  saltus_run_def run;
  saltus_sweep_def def = def_of(axes, 2, measures, 2, &run);
  run.tol = 1e-4;
  def.samples = 3;
  saltus_sweep* sweep;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  saltus_sweep_rows r = make_rows(COLUMNS), back = make_rows(COLUMNS);
  long long runs[RUNS];
  for (int i = 0; i < RUNS; i++) {
    runs[i] = i;
  }
  assert_int_equal(saltus_sweep_compute(sweep, runs, RUNS, &r), SALTUS_OK);
  char path[] = "/tmp/saltus-test-sweep-XXXXXX";
  const int made = mkstemp(path);
  assert_true(made >= 0);
  close(made);
  const saltus_log log = {.write = listen};
  saltus_sweep_table* table;
  assert_int_equal(
      saltus_sweep_table_create(path, saltus_sweep_get_view(sweep), "text\n", log, &table),
      SALTUS_ERR_IO); /* a file is there */
  unlink(path);
  assert_int_equal(
      saltus_sweep_table_create(path, saltus_sweep_get_view(sweep), "text\n", log, &table),
      SALTUS_OK);
  for (int i = RUNS - 1; i >= 0; i -= 2) { /* every other one, the last first */
    assert_int_equal(saltus_sweep_table_write(table, i, &r, i), SALTUS_OK);
  }
  assert_int_equal(saltus_sweep_table_close(table), SALTUS_OK);

  assert_int_equal(saltus_sweep_table_open(path, true, log, &table), SALTUS_OK);
  const saltus_sweep_head* head = saltus_sweep_table_head(table);
  assert_int_equal(head->runs, RUNS);
  assert_int_equal(head->grid, 9);
  assert_int_equal(head->counts[0], 9);
  assert_int_equal(head->counts[1], 0);
  assert_string_equal(head->columns[1], "h0");
  assert_string_equal(head->columns[2], "a");
  assert_string_equal(head->about, "text\n");
  assert_true(head->fingerprint == saltus_sweep_get_view(sweep)->fingerprint);
  assert_int_equal(saltus_sweep_table_read(table, 0, RUNS, &back), SALTUS_OK);
  for (int i = 0; i < RUNS; i++) {
    assert_int_equal(back.done[i], i % 2 == 0);
    if (back.done[i]) {
      assert_memory_equal(back.values + i * COLUMNS, r.values + i * COLUMNS,
                          COLUMNS * sizeof(double));
    }
  }
  saltus_sweep_table* other;
  assert_int_equal(saltus_sweep_table_open(path, true, log, &other), SALTUS_ERR_IO); /* locked */
  assert_int_equal(saltus_sweep_table_close(table), SALTUS_OK);

  /* cut inside the last row, and one byte of another changed: both do not count any more */
  FILE* file = fopen(path, "r+b");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  const long end = ftell(file);
  const long bytes = 16 + SALTUS_SWEEP_REASON + 8 * COLUMNS;
  fseek(file, end - 3 * bytes + 40, SEEK_SET);
  fputc('x', file);
  fclose(file);
  assert_int_equal(truncate(path, end - 5), 0);
  assert_int_equal(saltus_sweep_table_open(path, false, log, &table), SALTUS_OK);
  assert_int_equal(saltus_sweep_table_read(table, 0, RUNS, &back), SALTUS_OK);
  assert_false(back.done[RUNS - 1]);
  assert_false(back.done[RUNS - 3]);
  assert_true(back.done[RUNS - 5]);
  assert_int_equal(saltus_sweep_table_close(table), SALTUS_OK);

  /* heads that are cut or changed are refused */
  for (long size = 0; size < 4096; size += 97) {
    assert_int_equal(truncate(path, size), 0);
    assert_int_equal(saltus_sweep_table_open(path, false, log, &table), SALTUS_ERR_INPUT);
    assert_null(table);
  }
  unlink(path);
  free_rows(&r);
  free_rows(&back);
  saltus_sweep_destroy(sweep);
}

/* x = R cos(w t - angle) after the force is switched off at x = 1: extremes of formulas between samples, at any place of the
 * steps, and through a switch. R^2 = 1 + v^2/k with v^2 from the energy at x = 1. */
static void extremes_are_found_at_the_edges_of_steps_and_through_switches(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {k: 4, F: 3}\ninputs: {on: 1}\ncoordinates: {x: {start: 0.2}}\n"
      "kinetic: x'^2/2\npotential: k*x^2/2\nforces: {x: F*on}\n"
      "events: {off: {formula: x - 1, direction: rising, set: {on: 0}}}\nsimulate: {until: 3}\n";
  const char* axes[] = {"k=2:5:61"};
  const char* measures[] = {"max(x)", "min(x)", "max(-x)", "max(x')"};
  saltus_run_def run;
  saltus_sweep_def def = def_of(axes, 1, measures, 4, &run);
  def.text = text;
  saltus_sweep* sweep;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  saltus_sweep_rows rows = make_rows(5);
  long long runs[61];
  for (int i = 0; i < 61; i++) {
    runs[i] = i;
  }
  assert_int_equal(saltus_sweep_compute(sweep, runs, 61, &rows), SALTUS_OK);
  for (int i = 0; i < 61; i++) {
    const double* row = rows.values + (ptrdiff_t)5 * i;
    const double k = row[0], v2 = 2.0 * 3.0 * 0.8 - k * (1.0 - 0.04), R = sqrt(1.0 + v2 / k);
    const double turn = 2.0 * atan(1.0);
    const double w = sqrt(k), off = acos((1.0 - 3.0 / k) / (0.2 - 3.0 / k)) / w;
    assert_true(fabs(row[1] - R) < 1e-8);
    if (off + (2.0 * turn + acos(1.0 / R)) / w < 3.0) { /* it comes to the other side */
      assert_true(fabs(row[2] + R) < 1e-8 && fabs(row[3] - R) < 1e-8);
    }
    /* fastest while it is driven, through F/k, if that is below 1; else at x = 1 */
    const double fastest = 3.0 / k < 1.0 ? (3.0 / k - 0.2) * w : sqrt(v2);
    assert_true(row[4] > fastest - 1e-8);
  }
  free_rows(&rows);
  saltus_sweep_destroy(sweep);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extremes_are_found_at_the_edges_of_steps_and_through_switches),
      cmocka_unit_test(philox_gives_the_published_answers),
      cmocka_unit_test(quantiles_invert_the_normal_distribution),
      cmocka_unit_test(places_are_a_permutation),
      cmocka_unit_test(sobol_points_are_a_net),
      cmocka_unit_test(points_of_a_grid_and_samples),
      cmocka_unit_test(wrong_axes_and_measures_are_refused),
      cmocka_unit_test(measures_have_the_values_of_closed_forms),
      cmocka_unit_test(measures_of_fixed_steps_converge),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(runs_that_fail_say_why),
      cmocka_unit_test(a_run_that_takes_too_long_is_ended),
      cmocka_unit_test(a_table_keeps_whole_rows_and_no_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
