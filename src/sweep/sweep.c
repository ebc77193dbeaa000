/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep.c - the runs of a sweep. The text of the scene is parsed once. Every run has its own copy of the scene with
 * its own values and shares nothing else with others.
 */
#include "saltus/sweep.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"
#include "run/settings.h"
#include "sweep/compiled.h"
#include "sweep/measure_monitor.h"
#include "sweep/members.h"
#include "sweep/points.h"
#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of one job: few enough that the last jobs of a call end at about the same time, and many enough that
 * scheduling costs nothing. */
enum { CHUNK = 8, VALUE_TEXT = 32 };

struct saltus_sweep {
  saltusi_pool pool; /* owns all data except the scene, this struct included */
  saltus_sweep_def def;
  saltus_run_def run;
  saltusi_sweep_points points;
  saltusi_measures measures;
  saltus_scene_output* outputs; /* [output_count] formulas of the measures */
  int output_count;
  saltus_scene* scene; /* template of the scenes of all runs */
  saltus_sweep_view view;
  saltusi_thread_pool* team;
  saltusi_compiled* compiled; /* NULL: by the interpreter */
};

saltus_sweep_def saltus_sweep_def_default(void) {
  return (saltus_sweep_def){.samples = 1, .threads = 1};
}

const saltus_sweep_view* saltus_sweep_get_view(const saltus_sweep* sweep) {
  assert(sweep != NULL);
  return &sweep->view;
}

void saltus_sweep_point(const saltus_sweep* sweep, long long run, double* values) {
  assert(sweep != NULL && values != NULL && run >= 0 && run < sweep->view.runs);
  saltusi_points_at(&sweep->points, run, values);
}

/* ---- one run ---- */

/* First error of a run. */
typedef struct complaint {
  char* text; /* [SALTUS_SWEEP_REASON] */
} complaint;

static void hear(void* user, saltus_level level, const char* text) {
  const complaint* c = user;
  if (level == SALTUS_LEVEL_ERROR && c->text[0] == '\0') {
    const size_t length = strcspn(text, "\n");
    snprintf(c->text, SALTUS_SWEEP_REASON, "%.*s", (int)(length < 1000 ? length : 1000), text);
  }
}

/* Time limit of a run. */
typedef struct limit {
  double most; /* s of computing time of this thread */
  bool reached;
} limit;

static double thread_clock(void* user) {
  (void)user;
  return saltusi_clock_thread();
}

static saltus_status watch_time(void* user, double t, double t_end, long long step) {
  limit* l = user;
  (void)t;
  (void)t_end;
  (void)step;
  l->reached = l->reached || saltusi_clock_thread() > l->most;
  return l->reached ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* Data of one run. */
typedef struct job {
  saltus_sweep* sweep;
  saltusi_pool pool;
  saltus_log log;
  limit limit;
  double* values; /* [axes + measures] of its row */
  double part;    /* of the tolerances of the sweep; 0: all */
} job;

static saltus_status make_scene(job* j, saltus_scene** out) {
  const saltus_sweep* s = j->sweep;
  const int axes = s->points.count;
  saltus_override* overrides = SALTUSI_TAKE(&j->pool, saltus_override, axes);
  char* texts = saltusi_pool_take(&j->pool, (size_t)axes + 1, VALUE_TEXT);
  if (overrides == NULL || texts == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < axes; i++) {
    char* text = texts + (size_t)i * VALUE_TEXT;
    saltusi_print(text, VALUE_TEXT, "%.17g", j->values[i]);
    overrides[i] = (saltus_override){.name = s->points.axes[i].name, .value = text};
  }
  const saltus_scene_def def = {.like = s->scene,
                                .overrides = overrides,
                                .override_count = axes,
                                .outputs = s->outputs,
                                .output_count = s->output_count,
                                .log = j->log};
  return saltus_scene_create(&def, out);
}

static saltus_status simulate(job* j, const saltus_scene_view* view) {
  const saltus_sweep* s = j->sweep;
  saltus_run_def def = s->run;
  def.scene = view;
  def.log = j->log;
  if (j->part > 0.0) {
    const saltus_run_settings* own = saltusi_compiled_settings(s->compiled);
    def.tol = (double)NAN;
    def.rtol = fmax(j->part * own->rtol, 1e-14);
    def.atol = j->part * own->atol;
  }
  saltus_run_settings settings;
  saltus_status status = saltusi_run_resolve(&def, false, &j->pool, &settings);
  saltusi_measure_monitor watch;
  if (status == SALTUS_OK) {
    status = saltusi_measure_monitor_start(&watch, &s->measures, view, &j->pool);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_recorder recorder = saltusi_measure_monitor_recorder(&watch);
  const bool every = saltusi_measure_monitor_wants(&s->measures).every;
  const saltus_sim_def sim_def = {
      .system = view->system,
      .scheme = settings.scheme->name,
      .options = settings.options,
      .atol_q = view->atol_q,
      .atol_v = view->atol_v,
      .t0 = settings.start,
      .h = settings.h,
      .q0 = view->q0,
      .v0 = view->v0,
      .control = settings.control,
      .control_options = &settings.control_options,
      .recorders = &recorder,
      .recorder_count = 1,
      .record_every = every ? 1 : LLONG_MAX,
      .observables = view->observables,
      .changes = view->input_count > 0 ? view->input_changes : NULL,
      .progress = {.report = s->def.time_limit > 0.0 ? watch_time : NULL,
                   .user = &j->limit,
                   .interval = 0.1 * s->def.time_limit,
                   .clock = thread_clock},
      .cancel = s->def.cancel,
      .log = j->log,
  };
  status = saltus_sim_create(&sim_def, &watch.sim);
  if (status == SALTUS_OK) {
    j->limit.most = saltusi_clock_thread() + s->def.time_limit;
    status = settings.steps > 0 ? saltus_sim_run(watch.sim, settings.steps)
                                : saltus_sim_run_until(watch.sim, settings.until);
  }
  if (status == SALTUS_OK) {
    status = saltusi_measure_monitor_end(&watch, &j->pool, j->log, j->values + s->points.count);
  } else if (j->limit.reached) {
    saltusi_log(j->log, SALTUS_LEVEL_ERROR,
                "took more than %g s of computing time; was at t = %g s", s->def.time_limit,
                saltus_sim_time(watch.sim));
  }
  saltus_sim_destroy(watch.sim);
  saltusi_measure_monitor_free(&watch);
  return status;
}

static void compute_with(saltus_sweep* sweep, long long run, const saltus_sweep_rows* rows, int i,
                         double part) {
  const int columns = sweep->view.axes + sweep->view.measures;
  complaint reason = {.text = rows->reasons[i]};
  job j = {.sweep = sweep,
           .pool = saltusi_pool_over(sweep->def.allocator),
           .log = {.write = hear, .user = &reason},
           .values = rows->values + (size_t)i * (size_t)columns,
           .part = part};
  memset(rows->reasons[i], 0, SALTUS_SWEEP_REASON);
  saltusi_points_at(&sweep->points, run, j.values);
  for (int k = 0; k < sweep->view.measures; k++) {
    j.values[sweep->view.axes + k] = (double)NAN;
  }
  saltus_scene* scene = NULL;
  saltus_status status = make_scene(&j, &scene);
  if (status == SALTUS_OK) {
    status = simulate(&j, saltus_scene_get_view(scene));
  }
  saltus_scene_destroy(scene);
  saltusi_pool_free(&j.pool);
  if (status != SALTUS_OK && rows->reasons[i][0] == '\0') {
    snprintf(rows->reasons[i], SALTUS_SWEEP_REASON, "%s", saltus_status_text(status));
  }
  rows->statuses[i] = (int)status;
  rows->done[i] = status != SALTUS_ERR_STOPPED || j.limit.reached;
}

static void compute(saltus_sweep* sweep, long long run, const saltus_sweep_rows* rows, int i) {
  compute_with(sweep, run, rows, i, 0.0);
}

typedef struct batch {
  saltus_sweep* sweep;
  const long long* runs;
  int count;
  const saltus_sweep_rows* rows;
  double*
      differences; /* [count] of compared members in tolerances; -1: not compared. NULL: none is */
} batch;

static bool cancelled(const saltus_sweep* sweep) {
  return sweep->def.cancel != NULL && *sweep->def.cancel != 0;
}

/* A row from the items of a compiled member. */
static void fill_row(const batch* b, int i, const double* items, double* scratch) {
  const saltus_sweep* s = b->sweep;
  double* values = b->rows->values + (size_t)i * (size_t)(s->view.axes + s->view.measures);
  saltusi_points_at(&s->points, b->runs[i], values);
  if (s->measures.count > 0) {
    saltusi_run(&s->measures.program, 0.0, items, NULL, scratch, values + s->view.axes);
  }
  memset(b->rows->reasons[i], 0, SALTUS_SWEEP_REASON);
  b->rows->statuses[i] = (int)SALTUS_OK;
  b->rows->done[i] = true;
}

/* Computes the rows of a group by the kernel; rows that it cannot complete are left to the interpreter. */
static void compute_group(void* context, int number) {
  const batch* b = context;
  saltus_sweep* s = b->sweep;
  const int group = saltusi_compiled_group(s->compiled), from = number * group;
  const int left = b->count - from, count = left < group ? left : group;
  const size_t axes = (size_t)s->view.axes, items = (size_t)s->measures.item_count;
  saltusi_pool pool = saltusi_pool_over(s->def.allocator);
  double* points = SALTUSI_TAKE(&pool, double, (size_t)count* axes + 1);
  double* values = SALTUSI_TAKE(&pool, double, (size_t)count* items + 1);
  double* scratch = SALTUSI_TAKE(&pool, double, s->measures.program.registers + 1);
  bool* good = SALTUSI_TAKE(&pool, bool, count);
  for (int i = 0; i < count; i++) {
    b->rows->done[from + i] = false;
    if (!pool.failed) {
      saltusi_points_at(&s->points, b->runs[from + i], points + (size_t)i * axes);
    }
  }
  saltus_status status = SALTUS_ERR_MEMORY;
  if (!pool.failed) {
    status = saltusi_compiled_run(s->compiled, number, points, count, values, good);
  }
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    if (good[i]) {
      fill_row(b, from + i, values + (size_t)i * items, scratch);
    }
  }
  saltusi_pool_free(&pool);
}

static const char fast_end[] = "-fast";

/* Whether a backend contracts products and sums. */
static bool ends_fast(const char* backend) {
  const size_t length = backend != NULL ? strlen(backend) : 0, end = strlen(fast_end);
  return length > end && length < 16 && strcmp(backend + length - end, fast_end) == 0;
}

/* ---- members with a tolerance are compared with the interpreter ---- */

/* Of a thousand members one is compared, and at most some 1000 of a sweep. A difference of COMPARED_MOST tolerances is
 * an error of the member unless the interpreter itself is off by a tenth of it: sensitive and chaotic motions. */
enum { COMPARED_EACH = 1000, COMPARED_MOST = 10 };
static const double exact_part = 0.01;

static bool is_compared(const saltus_sweep* s, long long run) {
  const long long each = s->view.runs / COMPARED_EACH;
  return run % (each > COMPARED_EACH ? each : COMPARED_EACH) == 0;
}

static bool has_tolerance(const saltus_sweep* s) {
  return saltusi_kernel_has_events(saltusi_compiled_settings(s->compiled));
}

/* Largest difference of measures in tolerances; with a fixed step relative to max(1, |value|). */
static double difference_of(const saltus_sweep* s, const double* have, const double* want) {
  const saltus_run_settings* own = saltusi_compiled_settings(s->compiled);
  const bool tolerance = has_tolerance(s);
  double most = 0.0;
  for (int k = s->view.axes; k < s->view.axes + s->view.measures; k++) {
    const double unit =
        tolerance ? own->atol + own->rtol * fabs(want[k]) : fmax(1.0, fabs(want[k]));
    const double off = fabs(have[k] - want[k]) / unit;
    const bool equal = have[k] == want[k] || (isnan(have[k]) && isnan(want[k]));
    most = equal ? most : isnan(off) ? HUGE_VAL : fmax(most, off);
  }
  return most;
}

/* A computed row against runs of `adaptive`: to a hundredth of the tolerance, and to the tolerance where it differs. With
 * a fixed step against the interpreter, and its difference is reported alone. */
static void compare_row(batch* b, int i) {
  saltus_sweep* s = b->sweep;
  const size_t columns = (size_t)s->view.axes + (size_t)s->view.measures;
  saltusi_pool pool = saltusi_pool_over(s->def.allocator);
  double* values = SALTUSI_TAKE(&pool, double, 2 * columns);
  int statuses[2] = {0};
  bool done[2] = {false, false};
  char reasons[2][SALTUS_SWEEP_REASON];
  if (values == NULL) {
    b->rows->statuses[i] = (int)SALTUS_ERR_MEMORY;
    return;
  }
  const saltus_sweep_rows own = {
      .values = values, .statuses = statuses, .reasons = reasons, .done = done};
  const bool tolerance = has_tolerance(s);
  compute_with(s, b->runs[i], &own, 0, tolerance ? exact_part : 0.0);
  double* have = b->rows->values + (size_t)i * columns;
  const double off = difference_of(s, have, values);
  double error = 0.0;
  if (tolerance && done[0] && statuses[0] == (int)SALTUS_OK && off > COMPARED_MOST) {
    compute(s, b->runs[i], &own, 1);
    error = difference_of(s, values + columns, values);
  }
  if (!done[0] || statuses[0] != (int)SALTUS_OK) {
    b->rows->done[i] = false; /* the interpreter has no result either: its row is taken */
    compute(s, b->runs[i], b->rows, i);
  } else {
    b->differences[i] = off;
    if (tolerance && off > COMPARED_MOST && !(COMPARED_MOST * error >= off)) {
      saltusi_print(
          b->rows->reasons[i], SALTUS_SWEEP_REASON,
          "compiled: differs from adaptive by %.3g tolerances; take --backend interpreter", off);
      b->rows->statuses[i] = (int)SALTUS_ERR_ACCURACY;
      for (size_t k = (size_t)s->view.axes; k < columns; k++) {
        have[k] = (double)NAN;
      }
    }
  }
  saltusi_pool_free(&pool);
}

static void compute_rest(void* context, int number) {
  batch* b = context;
  for (int i = number * CHUNK; i < (number + 1) * CHUNK && i < b->count; i++) {
    if (!b->rows->done[i] && !cancelled(b->sweep)) {
      compute(b->sweep, b->runs[i], b->rows, i);
    } else if (b->differences != NULL && b->rows->done[i] && is_compared(b->sweep, b->runs[i])) {
      compare_row(b, i);
    }
  }
}

/* All rows of a batch. */
static void compute_batch(batch* b) {
  saltus_sweep* s = b->sweep;
  const bool sampled = s->compiled != NULL && (has_tolerance(s) || ends_fast(s->def.backend));
  saltusi_pool pool = saltusi_pool_over(s->def.allocator);
  b->differences = sampled ? SALTUSI_TAKE(&pool, double, b->count) : NULL;
  if (s->compiled != NULL) {
    const int group = saltusi_compiled_group(s->compiled);
    saltusi_thread_pool_run(s->team, (b->count + group - 1) / group, compute_group, b);
  }
  for (int i = 0; i < b->count; i++) {
    b->rows->done[i] = b->rows->done[i] && s->compiled != NULL;
    s->view.returned += s->compiled != NULL && !b->rows->done[i] && !cancelled(s);
  }
  for (int i = 0; i < b->count && b->differences != NULL; i++) {
    b->differences[i] = -1.0;
  }
  saltusi_thread_pool_run(s->team, (b->count + CHUNK - 1) / CHUNK, compute_rest, b);
  for (int i = 0; i < b->count && b->differences != NULL; i++) {
    s->view.compared += b->differences[i] >= 0.0;
    s->view.difference = fmax(s->view.difference, b->differences[i]);
  }
  if (pool.failed) {
    b->rows->statuses[0] = (int)SALTUS_ERR_MEMORY;
  }
  saltusi_pool_free(&pool);
}

saltus_status saltus_sweep_compute(saltus_sweep* sweep, const long long* runs, int count,
                                   const saltus_sweep_rows* rows) {
  assert(sweep != NULL && rows != NULL && count >= 0 && (count == 0 || runs != NULL));
  batch b = {.sweep = sweep, .runs = runs, .count = count, .rows = rows};
  const int most = SALTUSI_TEAM_JOBS * CHUNK;
  for (int from = 0; from < count; from += most) {
    b.runs = runs + from;
    b.count = count - from < most ? count - from : most;
    const int columns = sweep->view.axes + sweep->view.measures;
    const saltus_sweep_rows part = {.values = rows->values + (size_t)from * (size_t)columns,
                                    .statuses = rows->statuses + from,
                                    .reasons = rows->reasons + from,
                                    .done = rows->done + from};
    b.rows = &part;
    compute_batch(&b);
  }
  for (int i = 0; i < count; i++) {
    if (!rows->done[i]) {
      return SALTUS_ERR_STOPPED;
    }
    if (rows->statuses[i] == SALTUS_ERR_MEMORY) {
      return SALTUS_ERR_MEMORY;
    }
  }
  return SALTUS_OK;
}

/* ---- members at given values ---- */

saltus_status saltusi_sweep_compute_at(saltus_sweep* sweep, const double* values, int axes,
                                       int points, const saltus_sweep_rows* rows) {
  assert(sweep != NULL && sweep->compiled == NULL && sweep->points.grid == 1 && values != NULL &&
         axes <= sweep->points.count);
  const long long count = points * sweep->points.samples;
  long long* runs = calloc((size_t)count + 1, sizeof *runs);
  if (runs == NULL || count > INT_MAX) {
    free(runs);
    return SALTUS_ERR_MEMORY;
  }
  for (long long i = 0; i < count; i++) {
    runs[i] = i;
  }
  sweep->points.given = values;
  sweep->points.given_count = axes;
  sweep->points.grid = points;
  const saltus_status status = saltus_sweep_compute(sweep, runs, (int)count, rows);
  sweep->points.given = NULL;
  sweep->points.grid = 1;
  free(runs);
  return status;
}

saltusi_sweep_parts saltusi_sweep_get_parts(const saltus_sweep* sweep) {
  assert(sweep != NULL);
  return (saltusi_sweep_parts){.scene = sweep->scene,
                               .outputs = sweep->outputs,
                               .output_count = sweep->output_count,
                               .measures = &sweep->measures,
                               .run = &sweep->run};
}

saltus_status saltusi_sweep_scene(saltus_sweep* sweep, double* values, saltus_log log,
                                  saltus_scene** out) {
  assert(sweep != NULL && values != NULL && out != NULL);
  job j = {.sweep = sweep,
           .pool = saltusi_pool_over(sweep->def.allocator),
           .log = log,
           .values = values};
  const saltus_status status = make_scene(&j, out);
  saltusi_pool_free(&j.pool);
  return status;
}

/* ---- creation ---- */

static saltus_status read_axes(saltus_sweep* s) {
  const saltus_sweep_def* def = &s->def;
  saltusi_sweep_axis* axes = SALTUSI_TAKE(&s->pool, saltusi_sweep_axis, def->axis_count + 1);
  int* counts = SALTUSI_TAKE(&s->pool, int, def->axis_count + 1);
  bool* logs = SALTUSI_TAKE(&s->pool, bool, def->axis_count + 1);
  if (axes == NULL || counts == NULL || logs == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  double grid = 1.0;
  int drawn = 0;
  for (int i = 0; i < def->axis_count; i++) {
    const saltus_status status = saltusi_axis_parse(def->axes[i], &s->pool, def->log, &axes[i]);
    if (status != SALTUS_OK) {
      return status;
    }
    for (int k = 0; k < i; k++) {
      if (strcmp(axes[k].name, axes[i].name) == 0) {
        saltusi_log(def->log, SALTUS_LEVEL_ERROR, "axis \"%.120s\": %.80s has an axis already",
                    def->axes[i], axes[i].name);
        return SALTUS_ERR_INPUT;
      }
    }
    counts[i] = axes[i].count;
    logs[i] = axes[i].log;
    grid *= axes[i].count > 0 ? (double)axes[i].count : 1.0;
    drawn += axes[i].count == 0;
  }
  const long long samples = def->samples > 0 ? def->samples : 1;
  const char* trouble = samples > 1 && drawn == 0
                            ? "samples are of axes that are drawn (NAME~...), and there are none"
                        : !(grid * (double)samples <= 9e15) ? "more than 9e15 runs"
                        : def->sampling == SALTUS_SAMPLING_SOBOL && drawn > SALTUS_SWEEP_SOBOL_AXES
                            ? "Sobol's sequence has 21 axes at most"
                        : def->sampling == SALTUS_SAMPLING_SOBOL && samples > INT32_MAX
                            ? "Sobol's sequence has 2^31 samples at most"
                            : NULL;
  if (trouble != NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "sweep: %s", trouble);
    return SALTUS_ERR_RANGE;
  }
  s->points = (saltusi_sweep_points){.axes = axes,
                                     .count = def->axis_count,
                                     .grid = (long long)grid,
                                     .samples = samples,
                                     .sampling = def->sampling,
                                     .seed = def->seed};
  s->view.counts = counts;
  s->view.logarithmic = logs;
  return SALTUS_OK;
}

/* True for the name of an output that bodies have without a formula, such as momentum.x. */
static bool is_of_bodies(const saltus_sweep* s, const char* text) {
  const saltus_observables* o = saltus_scene_get_view(s->scene)->observables;
  for (int i = 0; o != NULL && i < o->output_count && strchr(text, '.') != NULL; i++) {
    if (strcmp(o->output_labels[i].name, text) == 0) {
      return true;
    }
  }
  return false;
}

static saltus_status read_measures(saltus_sweep* s) {
  saltus_status status = saltusi_measures_parse(s->def.measures, s->def.measure_count, &s->pool,
                                                s->def.log, &s->measures);
  s->outputs = SALTUSI_TAKE(&s->pool, saltus_scene_output, s->measures.item_count + 1);
  for (int i = 0; i < s->measures.item_count && status == SALTUS_OK; i++) {
    saltusi_item* item = &s->measures.items[i];
    item->named = item->subject == SALTUSI_OF_OUTPUT && is_of_bodies(s, item->text);
    if (item->subject == SALTUSI_OF_OUTPUT && !item->named) {
      char name[32], label[200];
      saltusi_item_label(item, name, sizeof name);
      snprintf(label, sizeof label, "measure \"%.180s\"", item->text);
      s->outputs[s->output_count++] =
          (saltus_scene_output){.name = saltusi_pool_text(&s->pool, name),
                                .formula = item->text,
                                .label = saltusi_pool_text(&s->pool, label)};
    }
  }
  return status == SALTUS_OK && s->pool.failed ? SALTUS_ERR_MEMORY : status;
}

static saltus_status open_scene(saltus_sweep* s) {
  const saltus_sweep_def* def = &s->def;
  const saltus_scene_def plain = {.path = def->path,
                                  .text = def->text,
                                  .overrides = def->overrides,
                                  .override_count = def->override_count,
                                  .log = def->log};
  return saltus_scene_create(&plain, &s->scene);
}

/* The scene with the values of the first run; errors in axes, formulas and settings are detected here. */
static saltus_status read_scene(saltus_sweep* s) {
  const saltus_sweep_def* def = &s->def;
  double* values = SALTUSI_TAKE(&s->pool, double, def->axis_count + 1);
  job j = {
      .sweep = s, .pool = saltusi_pool_over(def->allocator), .log = def->log, .values = values};
  saltusi_points_at(&s->points, 0, values);
  saltus_scene* first = NULL;
  saltus_status status = values != NULL ? make_scene(&j, &first) : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(first);
    saltus_run_def run = s->run;
    saltus_run_settings settings;
    run.scene = view;
    run.log = def->log;
    status = saltusi_run_resolve(&run, false, &j.pool, &settings);
    if (status == SALTUS_OK && settings.global) {
      saltusi_log(
          def->log, SALTUS_LEVEL_ERROR,
          "sweep: tolerances of the motion (global) are not for sweeps; give those of steps");
      status = SALTUS_ERR_UNSUPPORTED;
    }
    status = status == SALTUS_OK ? saltusi_measures_bind(&s->measures, view, def->log) : status;
  }
  saltus_scene_destroy(first);
  saltusi_pool_free(&j.pool);
  return status;
}

static uint64_t hash_text(uint64_t hash, const char* text) {
  return saltusi_hash(hash, text != NULL ? text : "", (text != NULL ? strlen(text) : 0) + 1);
}

/* Hash of scene, axes, seed, measures and settings; without threads, limits and paths of files. */
static uint64_t fingerprint(const saltus_sweep* s) {
  const saltus_sweep_def* def = &s->def;
  uint64_t hash = hash_text(SALTUSI_HASH_START, saltus_scene_get_view(s->scene)->text);
  for (int i = 0; i < def->override_count; i++) {
    hash = hash_text(hash_text(hash, def->overrides[i].name), def->overrides[i].value);
  }
  for (int i = 0; i < def->axis_count; i++) {
    hash = hash_text(hash, def->axes[i]);
  }
  for (int i = 0; i < def->measure_count; i++) {
    hash = hash_text(hash, def->measures[i]);
  }
  const saltus_run_def* r = &s->run;
  hash = hash_text(hash_text(hash_text(hash, r->scheme), r->options_line), r->control);
  for (int i = 0; i < r->option_count; i++) {
    hash = hash_text(hash_text(hash, r->options[i].name), r->options[i].value);
  }
  for (int i = 0; i < r->control_option_count; i++) {
    hash = hash_text(hash_text(hash, r->control_options[i].name), r->control_options[i].value);
  }
  char text[256];
  saltusi_print(text, sizeof text, "%.17g %.17g %.17g %.17g %.17g %lld %d %" PRIu64, r->step,
                r->tol, r->rtol, r->atol, r->until, s->points.samples, (int)def->sampling,
                def->seed);
  const bool fast = s->compiled != NULL && ends_fast(def->backend);
  return hash_text(hash_text(hash, text), fast                  ? "compiled, contracted"
                                          : s->compiled != NULL ? "compiled"
                                                                : NULL);
}

/* Lanes and device of a backend by name; false: there is no such backend. */
static bool read_backend(const char* given, int* lanes, saltusi_device_kind* device, bool* fast) {
  char name[16];
  int end = 0;
  saltusi_print(name, sizeof name, "%.15s", given);
  *fast = ends_fast(given);
  name[*fast ? strlen(name) - strlen(fast_end) : strlen(name)] = '\0';
  *device = strcmp(name, "opencl") == 0 ? SALTUSI_DEVICE_OPENCL
            : strcmp(name, "cuda") == 0 ? SALTUSI_DEVICE_CUDA
                                        : SALTUSI_DEVICE_NONE;
  const bool wide = sscanf(name, "c:%d%n", lanes, &end) == 1 && name[end] == '\0' &&
                    (*lanes == 1 || *lanes == 4 || *lanes == 8);
  return (wide && !*fast) || *device != SALTUSI_DEVICE_NONE || strcmp(name, "c") == 0 ||
         (strcmp(name, "auto") == 0 && !*fast);
}

/* Runs from which on `auto` takes a GPU: its kernel takes longer to compile. */
enum { RUNS_OF_DEVICES = 100000 };

/* Compiles the kernel, if the definition requests one. */
static saltus_status open_compiled(saltus_sweep* s) {
  const saltus_sweep_def* def = &s->def;
  const char* backend = def->backend != NULL ? def->backend : "interpreter";
  const bool automatic = strcmp(backend, "auto") == 0;
  saltusi_device_kind device;
  int lanes = 0;
  bool fast = false;
  if (strcmp(backend, "interpreter") == 0) {
    return SALTUS_OK;
  }
  if (!read_backend(backend, &lanes, &device, &fast)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "sweep: backend \"%.40s\"; allowed: interpreter, auto, c, c:1, c:4, c:8, opencl, "
                "cuda, c-fast, opencl-fast, cuda-fast",
                backend);
    return SALTUS_ERR_INPUT;
  }
  if (automatic && s->points.grid * s->points.samples >= RUNS_OF_DEVICES &&
      saltusi_device_count(SALTUSI_DEVICE_CUDA) > 0) {
    device = SALTUSI_DEVICE_CUDA;
  }
  char text[SALTUS_SWEEP_REASON] = "";
  complaint reason = {.text = text};
  const char** names = SALTUSI_TAKE(&s->pool, const char*, s->points.count + 1);
  double* first = SALTUSI_TAKE(&s->pool, double, s->points.count + 1);
  if (names == NULL || first == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < s->points.count; i++) {
    names[i] = s->points.axes[i].name;
  }
  saltusi_points_at(&s->points, 0, first);
  saltusi_compiled_def compiled = {.scene = s->scene,
                                   .outputs = s->outputs,
                                   .output_count = s->output_count,
                                   .run = &s->run,
                                   .measures = &s->measures,
                                   .axes = names,
                                   .first = first,
                                   .axis_count = s->points.count,
                                   .lanes = lanes,
                                   .device = device,
                                   .fast = fast,
                                   .devices = def->devices,
                                   .process = def->processes > 1 ? def->process : -1,
                                   .compiler = def->compiler != NULL ? def->compiler : "cc",
                                   .cache = def->cache,
                                   .cancel = def->cancel,
                                   .proven = automatic,
                                   .log = automatic ? (saltus_log){.write = hear, .user = &reason}
                                                    : def->log};
  saltus_status status = saltusi_compiled_create(&compiled, &s->compiled);
  if (automatic && status == SALTUS_ERR_UNSUPPORTED && device != SALTUSI_DEVICE_NONE) {
    compiled.device = SALTUSI_DEVICE_NONE;
    status = saltusi_compiled_create(&compiled, &s->compiled);
  }
  if (automatic && status == SALTUS_ERR_UNSUPPORTED) {
    saltusi_log(def->log, SALTUS_LEVEL_NOTE, "sweep: members are interpreted: %s", text);
    status = SALTUS_OK;
  }
  s->view.compiled = s->compiled != NULL;
  s->view.in_tolerances = s->compiled != NULL && has_tolerance(s);
  return status;
}

static saltus_status open_team(saltus_sweep* s) {
  saltus_arena arena = saltus_arena_counting();
  (void)saltusi_thread_pool_layout(&arena);
  void* room = saltusi_pool_take(&s->pool, arena.used + SALTUS_ALIGNMENT, 1);
  if (room == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(room, arena.used);
  s->team = saltusi_thread_pool_layout(&arena);
  saltusi_thread_pool_open(s->team, s->def.threads);
  return SALTUS_OK;
}

static saltus_status create(saltus_sweep* s) {
  saltus_status status = read_axes(s);
  status = status == SALTUS_OK ? open_scene(s) : status;
  status = status == SALTUS_OK ? read_measures(s) : status;
  status = status == SALTUS_OK ? read_scene(s) : status;
  status = status == SALTUS_OK ? open_compiled(s) : status;
  const int columns = s->points.count + s->measures.count;
  const char** names = SALTUSI_TAKE(&s->pool, const char*, columns + 1);
  if (status != SALTUS_OK || names == NULL) {
    return status != SALTUS_OK ? status : SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < columns; i++) {
    names[i] =
        i < s->points.count ? s->points.axes[i].name : s->measures.names[i - s->points.count];
  }
  s->view.grid = s->points.grid;
  s->view.samples = s->points.samples;
  s->view.runs = s->points.grid * s->points.samples;
  s->view.axes = s->points.count;
  s->view.measures = s->measures.count;
  s->view.columns = names;
  s->view.fingerprint = fingerprint(s);
  return open_team(s);
}

saltus_status saltus_sweep_create(const saltus_sweep_def* def, saltus_sweep** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_sweep_def", def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  if ((def->path == NULL && def->text == NULL) || def->axis_count < 0 || def->measure_count < 0 ||
      def->samples < 0 || !(def->time_limit >= 0.0) || def->threads < 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "sweep: a scene is needed, and counts, samples, threads and time_limit from 0 on");
    return SALTUS_ERR_RANGE;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_sweep* s = SALTUSI_TAKE(&pool, saltus_sweep, 1);
  if (s == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "sweep: no memory");
    return SALTUS_ERR_MEMORY;
  }
  s->pool = pool;
  s->def = *def;
  s->run = def->run != NULL ? *def->run : saltus_run_def_default();
  status = create(s);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "sweep: no memory");
  }
  if (status != SALTUS_OK) {
    saltus_sweep_destroy(s);
    return status;
  }
  *out = s;
  return SALTUS_OK;
}

void saltus_sweep_destroy(saltus_sweep* sweep) {
  if (sweep != NULL) {
    if (sweep->team != NULL) {
      saltusi_thread_pool_close(sweep->team);
    }
    saltusi_compiled_destroy(sweep->compiled);
    saltus_scene_destroy(sweep->scene);
    saltusi_pool pool = sweep->pool;
    saltusi_pool_free(&pool);
  }
}
